"""Rows dealt to blocks in secret, and a statistic of each block from its own rows alone.

Invariant (docs/proofs/mean.md, sections 1 and 2): the dealing is a uniform permutation, drawn afresh and never
published; row b of a block table is a function of the rows of block b and of nothing else. So swapping one row of the
data swaps at most one row of the block table. Where the number of rows is secret every row draws its block by itself,
and one row more or less changes one row of the block table (docs/proofs/add-remove.md, section 4).
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

import numpy as np

from tukeydp.trusted.bits import Keystream
from tukeydp.trusted.parameters import FloatArray, IntArray

# (blocks, rows of a block, columns) -> (blocks, columns): every block by itself, missing cells marked by NaN.
Statistic = Callable[[FloatArray], FloatArray]


def secret_order(n: int, stream: Keystream) -> IntArray:
    """A uniform permutation of n rows, exactly: the order of n words, drawn again if two are equal."""
    for lane in count():
        words = stream.words(lane, n)
        order = np.argsort(words, kind="stable")
        ranked = words[order]
        if n < 2 or bool((ranked[1:] != ranked[:-1]).all()):
            return order
    raise AssertionError


def block_table(cells: FloatArray, blocks: int, order: IntArray, statistic: Statistic) -> FloatArray:
    """The statistic of each of `blocks` blocks; the first n mod `blocks` of them have one row more than the others.

    Blocks of one size are worked off together, elementwise over blocks: what comes out for one does not depend on the
    cells of another.
    """
    n, d = cells.shape
    size, larger = divmod(n, blocks)
    dealt = cells[order]
    parts = []
    if larger:
        parts.append(statistic(dealt[: larger * (size + 1)].reshape(larger, size + 1, d)))
    if size:
        parts.append(statistic(dealt[larger * (size + 1) :].reshape(blocks - larger, size, d)))
    else:
        parts.append(np.full((blocks - larger, d), np.nan))  # no row was left for these
    return np.concatenate(parts)


def _of_groups(
    order: IntArray, numbers: IntArray, blocks: int, groups: IntArray, count: int
) -> tuple[IntArray, IntArray, int]:
    """Blocks of every group, one group's after the other's; rows of no group are in none."""
    return order[groups[order] >= 0], groups * blocks + numbers, count * blocks


def dealt_rows(
    order: IntArray, blocks: int, numbers: IntArray | None = None, groups: IntArray | None = None, count: int = 1
) -> list[IntArray]:
    """The rows of each block, in the secret order: dealt as in `block_table`, or as in `drawn_block_table`."""
    if numbers is None:
        return list(np.array_split(order, blocks))
    if groups is not None:
        order, numbers, blocks = _of_groups(order, numbers, blocks, groups, count)
    by_block = order[np.argsort(numbers[order], kind="stable")]
    ends = np.cumsum(np.bincount(numbers[order], minlength=blocks))
    return list(np.split(by_block, ends[:-1]))


def drawn_blocks(n: int, blocks: int, stream: Keystream) -> IntArray:
    """A block number for each of n rows, drawn by itself: uniform below `blocks`, exactly."""
    most = 2**64 // blocks * blocks  # words from here on would favour the first blocks, and are drawn again
    numbers = np.full(n, -1, dtype=np.int64)
    for lane in count():
        open_ = numbers < 0
        if not open_.any():
            return numbers
        words = stream.words(lane, n)
        fair = open_ if most == 2**64 else open_ & (words < np.uint64(most))
        numbers[fair] = (words[fair] % np.uint64(blocks)).astype(np.int64)
    raise AssertionError


def drawn_block_table(
    cells: FloatArray,
    blocks: int,
    numbers: IntArray,
    order: IntArray,
    statistic: Statistic,
    groups: IntArray | None = None,
    count: int = 1,
) -> FloatArray:
    """The statistic of each block, of the rows that have drawn its number; NaN for a block that no row has drawn.

    With `groups`, the number of each row's group below `count`, negative for none, every group has blocks of its own:
    those of the first group come first. Rows of no group are in no block.

    `order` is a secret permutation: within a block rows stand in that order, so that the order of the table says
    nothing. Blocks of one size are worked off together, as in `block_table`: what comes out for one does not
    depend on how many others there are.
    """
    if groups is not None:
        order, numbers, blocks = _of_groups(order, numbers, blocks, groups, count)
    drawn = numbers[order]
    by_block = order[np.argsort(drawn, kind="stable")]
    sizes = np.bincount(drawn, minlength=blocks)
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    table = np.full((blocks, cells.shape[1]), np.nan)
    for size in np.unique(sizes[sizes > 0]).tolist():
        these = np.flatnonzero(sizes == size)
        places = starts[these][:, np.newaxis] + np.arange(size)
        table[these] = statistic(cells[by_block[places]])
    return table


def one_by_one(statistic: Statistic, blocks: FloatArray) -> FloatArray:
    """Each block by itself: a logarithm or a product may round by its place in an array, and where the number of rows
    is secret places shift."""
    return np.concatenate([statistic(block[np.newaxis]) for block in blocks])


def filled_at_the_ends(table: FloatArray, stream: Keystream) -> FloatArray:
    """Missing cells of a block table at -1 or 1, by a secret coin for each cell.

    A row that lies beyond everything in one column, on either side with equal chance, favours no side there, and still
    counts in the others: better than no row at all. A cell's coin depends on its place alone, so the rows of the result
    are functions of the rows of the table (docs/proofs/mean.md, section 2).
    """
    words = stream.words(0, table.size).reshape(table.shape)
    return np.where(np.isnan(table), np.where(words >> np.uint64(63), 1.0, -1.0), table)
