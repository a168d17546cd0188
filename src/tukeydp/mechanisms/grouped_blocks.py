"""Rows of every group dealt to blocks by secret draws, and the means of the blocks (docs/proofs/groups.md, section 7).

Every row of the table draws its block number by itself, before its group is looked at. A number by the row's place
within its group would shift for all later rows when one leaves. So one row that is swapped, or moves from one group to
another, changes at most one block of each of the two groups.
"""

from __future__ import annotations

import numpy as np

from tukeydp.arrays import FloatArray, IntArray
from tukeydp.data.dealing import drawn_blocks, filled_at_the_ends, secret_order
from tukeydp.mechanisms.block_statistics import Moments, corrected
from tukeydp.randomness import Keystream, derived_key


def grouped_block_means(
    relative: FloatArray, groups: IntArray, count: int, blocks: int, partitions: int, secret_key: bytes
) -> FloatArray:
    """For each of `count` groups a table of partitions times blocks rows, shape (count, rows, d); NaN is missing.

    A row of the data moves at most `partitions` rows of one group's table. Rows with a group of -1 are in none.
    """
    dealt = [
        _one_dealing(relative, groups, count, blocks, derived_key("dealing", i, secret_key)) for i in range(partitions)
    ]
    return np.concatenate(dealt, axis=1)


def _one_dealing(relative: FloatArray, groups: IntArray, count: int, blocks: int, key: bytes) -> FloatArray:
    """Rows are shuffled first, so that the order in which a block is summed tells nothing of a file's order."""
    n, d = relative.shape
    order = secret_order(n, Keystream(derived_key("order", key)))
    numbers = drawn_blocks(n, blocks, Keystream(derived_key("numbers", key)))
    members = groups[order] >= 0
    places = (groups[order] * blocks + numbers)[members]
    cells = relative[order][members]
    means = np.column_stack([block_means(cells[:, j], places, count * blocks) for j in range(d)])
    return means.reshape(count, blocks, d)


@np.errstate(all="ignore")  # no cell may warn
def block_means(cells: FloatArray, places: IntArray, count: int) -> FloatArray:
    """The mean of each block, corrected for skewness; NaN where a block has no value.

    Sums run over a block's own rows in the order of `cells`, one after the other (`np.bincount` adds so): what comes
    out for a block depends on its own rows and on nothing else, to the last digit.
    """
    there = ~np.isnan(cells)
    values, places = cells[there], places[there]
    present = np.bincount(places, minlength=count).astype(np.float64)
    mean = np.where(present > 0, _sums(places, values, count) / present, np.nan)
    centred = values - mean[places]
    low, high = np.full(count, np.inf), np.full(count, -np.inf)
    np.minimum.at(low, places, values)
    np.maximum.at(high, places, values)
    # Products, not powers: a product is the same float wherever in an array it stands.
    squares = centred * centred
    second, third = _sums(places, squares, count), _sums(places, squares * centred, count)
    return corrected(Moments(present, mean, second, third, low, high))


def _sums(places: IntArray, values: FloatArray, count: int) -> FloatArray:
    return np.asarray(np.bincount(places, values, count), dtype=np.float64)


def partly_filled(table: FloatArray, stream: Keystream) -> FloatArray:
    """Missing cells at either end, by a secret coin for each place, but for rows without any value: those stay missing.

    Each row of the result is a function of the same row and of its place (docs/proofs/mean.md, section 2).
    """
    nothing = np.isnan(table).all(axis=1, keepdims=True)
    return np.where(nothing, np.nan, filled_at_the_ends(table, stream))
