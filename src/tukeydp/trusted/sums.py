"""Exact sums of what kernels make of pieces of rows: in memory, or batch by batch wherever the rows are.

Where rows are cut does not depend on the batches they come in (docs/proofs/out-of-core.md, section 1).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from tukeydp.trusted.parameters import FloatArray, IntArray

# Rows that are worked off at once: the floats in between stay in the cache, and sums of their integers, at most 2^30 in
# size, stay below 2^53, where floats that hold integers add up exactly.
PIECE = 2**16
# Sums travel as two numbers, so many bits apart: the sum of a piece fits in 64 bits, that of 2^40 rows need not.
_LIMB = 31
Place = tuple[int, ...]  # of a piece of rows within its pass: no two pieces have the same


class Kernel(Protocol):
    """What a piece of rows adds to a pass: integers, to each of which a row adds at most 2^30 in size."""

    @property
    def length(self) -> int:
        """How many integers; public."""
        ...

    def __call__(self, cells: FloatArray, place: Place) -> IntArray:
        """A flat array. Secret draws come from the kernel's own key and the place."""
        ...


@dataclass(frozen=True)
class Pass:
    """Several kernels at once, over batches that have these columns."""

    kernels: tuple[Kernel, ...]
    columns: tuple[str, ...]
    keys: tuple[Any, ...] = ()  # of the last columns, which are compared with them

    def of(self, batches: Iterable[FloatArray], *place: int) -> IntArray:
        """How many rows there are, and the kernels' integers in two limbs, for batches that share a place."""
        total = np.zeros(1 + 2 * sum(kernel.length for kernel in self.kernels), dtype=np.int64)
        for i, piece in enumerate(_pieces(self._checked(batches))):
            total += self._limbs(piece, (*place, i))
        return total

    def _checked(self, batches: Iterable[FloatArray]) -> Iterator[FloatArray]:
        for cells in batches:
            if cells.ndim != 2 or cells.shape[1] != len(self.columns):
                raise ValueError("a batch has other columns than its table")
            yield cells

    def _limbs(self, piece: FloatArray, place: Place) -> IntArray:
        found = np.concatenate([np.empty(0, dtype=np.int64), *(kernel(piece, place) for kernel in self.kernels)])
        return np.concatenate([[len(piece)], found >> _LIMB, found & (2**_LIMB - 1)])

    def whole(self, total: IntArray) -> tuple[int, list[list[int]]]:
        """The number of rows and the integers of each kernel, from limbs that were added up."""
        limbs: list[int] = total.tolist()
        half = len(limbs) // 2
        found = [(high << _LIMB) + low for high, low in zip(limbs[1 : half + 1], limbs[half + 1 :], strict=True)]
        parts, start = [], 0
        for kernel in self.kernels:
            parts.append(found[start : start + kernel.length])
            start += kernel.length
        return limbs[0], parts


def _pieces(batches: Iterable[FloatArray]) -> Iterator[FloatArray]:
    """The same rows in pieces of `PIECE`, the last one shorter: where they are cut does not depend on the batches."""
    waiting: list[FloatArray] = []
    rows = 0
    for cells in batches:
        start = 0
        while rows + len(cells) - start >= PIECE:
            end = start + PIECE - rows
            yield _by_columns([*waiting, cells[start:end]])
            waiting, rows, start = [], 0, end
        if start < len(cells):
            waiting.append(cells[start:])
            rows += len(cells) - start
    if waiting:
        yield _by_columns(waiting)


def _by_columns(parts: list[FloatArray]) -> FloatArray:
    """One matrix whose columns lie whole in memory: sums down a column are twice to four times as fast as across."""
    return np.asfortranarray(np.concatenate(parts))


def in_pieces(cells: FloatArray, *kernels: Kernel) -> list[list[int]]:
    """What each kernel gives, added up over all rows."""
    one = Pass(kernels, tuple(map(str, range(cells.shape[1]))))
    return one.whole(one.of([cells]))[1]
