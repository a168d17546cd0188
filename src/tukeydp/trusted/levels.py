"""Level sets of one dataset under a finite set of directions, by order statistics of integer projections."""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tukeydp.trusted.parameters import IntArray
from tukeydp.trusted.threads import available_cores, for_each_with

# The middle order statistics of the projections of many rows: the few that can be among them are kept and sorted.
#
# Two values, from the projections of a sample, are taken to enclose the ranks asked for (Floyd and Rivest 1975). All
# projections are counted against them, so that a pair that does not enclose the ranks is noticed, whatever the rows
# are: then that direction is sorted without them.

# Speed and memory only, all of them.
MANY_ROWS = 2**17  # from here on the sample costs less than it saves
TOGETHER = 8  # directions whose projections are computed and counted together
_SELECTION_SAMPLE = 2**14  # rows in the sample, or up to twice as many
_ERRORS = 4.0  # how many standard errors of a sample's rank the two values are apart from it: one in 30,000 fails
_CHUNK = 2**13  # rows at a time: their projections on the directions taken together stay in the processor's cache
_EXACT_FLOAT = 2.0**53  # integers below this are floats, and so are sums of products that stay below it in any order
_SHORT = 2.0**31  # integers below this fit in 32 bits, which are sorted in half the time


def middle_ranks(rows: IntArray, directions: IntArray, out: int) -> IntArray:
    """The sorted projections on each direction without the `out` smallest and the `out` largest, 1 <= out < m / 2."""
    m = len(rows)
    computed, stored = _number_kinds(rows, directions)
    least, most = _enclosing(rows, directions, out, computed)
    below, kept = _counted(rows, directions.astype(computed), least, most, stored)
    found = np.empty((len(directions), m - 2 * out), dtype=np.int64)
    for row, v, under, some in zip(found, directions, below.tolist(), kept, strict=True):
        values = some
        if under > out or m - under - len(some) > out:
            values, under = rows @ v, 0
        first = out - under
        values.partition((first, first + m - 2 * out - 1))
        middle = values[first : first + m - 2 * out]
        middle.sort()
        row[:] = middle
    return found


def _number_kinds(rows: IntArray, directions: IntArray) -> tuple[Any, Any]:
    """What projections are computed and sorted in: floats and short integers where they are exact, which is faster."""
    largest = max(-int(rows.min()), int(rows.max()))
    span = float((np.abs(directions).astype(np.float64).sum(axis=1) * largest).max())
    if span >= _EXACT_FLOAT / 2:
        return np.int64, np.int64
    return np.float64, np.int32 if span < _SHORT / 2 else np.int64


def _enclosing(rows: IntArray, directions: IntArray, out: int, kind: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    """For each direction two values, likely ones, with at most `out` projections below the one and above the other."""
    some = directions @ np.ascontiguousarray(rows[:: max(1, len(rows) // _SELECTION_SAMPLE)].T)
    s = some.shape[1]
    margin = math.ceil(_ERRORS * math.sqrt(s) / 2.0)
    at = max(0, out * s // len(rows) - margin)
    some.partition([at, s - 1 - at], axis=1)
    return some[:, at : at + 1].astype(kind), some[:, s - 1 - at : s - at].astype(kind)


def _counted(
    rows: IntArray, directions: NDArray[Any], least: NDArray[Any], most: NDArray[Any], stored: Any
) -> tuple[IntArray, list[NDArray[Any]]]:
    """How many projections on each direction are below `least`, and those from `least` to `most`."""
    below = np.zeros(len(directions), dtype=np.int64)
    kept: list[list[NDArray[Any]]] = [[] for _ in directions]
    for start in range(0, len(rows), _CHUNK):
        some = np.ascontiguousarray(rows[start : start + _CHUNK].T).astype(directions.dtype, copy=False)
        projected = directions @ some
        inside = projected >= least
        below += some.shape[1] - np.count_nonzero(inside, axis=1)
        inside &= projected <= most
        for parts, values, chosen in zip(kept, projected, inside, strict=True):
            parts.append(np.compress(chosen, values).astype(stored, copy=False))
    return below, [np.concatenate(parts) for parts in kept]


# Level sets of one dataset under a finite set of directions, by order statistics of integer projections.
#
# Level l >= 1 is the set of grid points y with, for every direction v,
#     l-th smallest projection <= <v, y> <= l-th largest projection
# (closed halfspaces on both sides). Level 0 is everything.
#
# Of many rows only the ranks around the middle are found and kept, because only deep levels have any weight: at a
# million rows about a thousand levels out of half a million. The first question about a level further out finds the
# ranks up to there. So no answer depends on which were kept.

# Speed and memory only, all of them: which ranks are found at first, and how the work is cut up.
_SAMPLE = 2048  # rows in the sample, or up to twice as many; fewer make worse guesses, more cost time in every call
_FEW_ROWS = 4096  # up to here all levels are found at once: there is little to save
# Levels below the middle, in square roots of the number of rows: the deepest point lies one to three below it, if the
# data are symmetric. Where more are asked for, twice as many. Too few are found again, too many take time and memory.
_BELOW_MIDDLE, _WIDER = 8, 2
# On coarse grids, levels of about so many grid points are asked for (settled), and others on the way to them, in boxes
# nearly twice as wide.
_SETTLED_POINTS, _ON_THE_WAY = 2.0**12, 1.75
_BLOCK = 2**18  # projections computed at a time by each thread (2 MiB), but at least one direction
_WORTH_A_THREAD = 2**21  # projections in all; below this, starting threads takes longer than they save


@dataclass(frozen=True, eq=False)
class Window:
    """Order statistics of every direction: column j holds the (first + j)-th smallest projections, counted from 0.

    As many ranks are left out above as below: both ranks of a level are here, or none. Never changed once made, so that
    threads may read one while another finds a wider one. Ranks in the middle may be left out too, as if the table had
    only `rows` rows: then `highest` is the highest level that is here.
    """

    projections: IntArray
    first: int
    rows: int
    highest: int

    def holds(self, level: int) -> bool:
        """Whether both ranks of a level are here, level >= 1."""
        return self.first < level <= self.highest

    def offsets(self, level: int) -> tuple[IntArray, IntArray]:
        """Both ranks of a level that is here, one for each direction."""
        return self.projections[:, level - 1 - self.first], self.projections[:, self.rows - level - self.first]


class LevelSets:
    """Directions (k, d), and the order statistics of the projections of the m rows without a missing cell.

    `sample` holds some of the rows (the middle of the grid if there are none), each column sorted: a hint about
    place and shape for whoever wants to be fast, which never decides anything. Not private: all of this is the data.
    """

    def __init__(self, directions: IntArray, table: IntArray, window: Window, sample: IntArray) -> None:
        self.directions, self.sample = directions, sample
        self._table, self._window = table, window
        self._widening = threading.Lock()

    @property
    def d(self) -> int:
        return self.directions.shape[1]

    @property
    def rows(self) -> int:
        return len(self._table)

    @property
    def table(self) -> IntArray:
        """The rows themselves (m, d)."""
        return self._table

    @property
    def window(self) -> Window:
        """The ranks found so far."""
        return self._window

    @property
    def held(self) -> int:
        """The lowest level whose ranks have been found."""
        return self._window.first + 1

    @property
    def projections(self) -> IntArray:
        """All of them (k, m), sorted for each direction."""
        return self.ensure(1).projections

    @property
    def rough(self) -> LevelSets | None:
        """About the same level sets, at once, where finding ranks takes long: a hint for searches over levels."""
        return None

    def ensure(self, level: int, upto: int | None = None) -> Window:
        """A window that holds `level`, 1 <= level <= rows, and those from there `upto` another if asked for."""
        with self._widening:
            if not self._window.holds(level):
                self._window = find_ranks(self._table, self.directions, self._wider(level))
            return self._window

    def _wider(self, level: int) -> int:
        """How many ranks to leave out: few enough for `level`, and for the next questions, which may go further."""
        middle = self.rows // 2
        out = min(middle - _WIDER * (middle - self._window.first), level - 1, self.rows - level)
        return out if 2 * out > middle else 0  # what saves little is not worth being asked for more

    def with_directions(self, fresh: IntArray) -> LevelSets:
        """The level sets of the same rows under these directions and further ones."""
        window = self._window
        more = find_ranks(self._table, fresh, window.first)
        both = replace(window, projections=np.vstack([window.projections, more.projections]))
        return LevelSets(np.vstack([self.directions, fresh]), self._table, both, self.sample)

    def offsets(self, level: int) -> tuple[IntArray, IntArray]:
        """Smallest and largest projection allowed at `level`, one per direction; 1 <= level <= rows."""
        window = self._window
        return (window if window.holds(level) else self.ensure(level)).offsets(level)

    def contains(self, y: Sequence[int], level: int) -> bool:
        """Whether the grid point y has depth >= level."""
        if level <= 0:
            return True
        if level > self.rows:
            return False
        low, high = self.offsets(level)
        projected = self.directions @ np.asarray(y, dtype=np.int64)
        return bool((low <= projected).all() and (projected <= high).all())

    def depths(self, points: IntArray, least: int = 1) -> IntArray:
        """Depth of many grid points (m, d) at once; of those below `least` only that they are."""
        window = self.ensure(min(least, self.rows)) if self.rows else self._window
        found = _depths(window, self.directions, points)
        # Equal projections may run on past both ends of the window.
        if window.first and (found >= self.rows - window.first).any():
            found = _depths(self.ensure(1), self.directions, points)
        return found

    def highest_unbroken(self) -> int:
        """The highest level at which no single direction contradicts itself (smallest > largest allowed)."""
        # Up to the middle none does; beyond it only where equal projections lie on both sides of it.
        low, step = (self.rows + 1) // 2, 1
        while low + step <= self.rows and self._unbroken(low + step):
            low, step = low + step, 2 * step
        high = min(low + step, self.rows + 1)
        while low + 1 < high:
            middle = (low + high) // 2
            if self._unbroken(middle):
                low = middle
            else:
                high = middle
        return low

    def _unbroken(self, level: int) -> bool:
        smallest, largest = self.offsets(level)
        return bool((smallest <= largest).all())


def level_sets(rows: IntArray, directions: IntArray, lowest: int | None = None) -> LevelSets:
    """The level sets of the rows (m, d). Exact int64: the directions were checked for it.

    `lowest` is the lowest level expected to be asked for; None expects deep ones only. It affects speed only.
    """
    m = len(rows)
    some = sampled(rows, m) if m else np.zeros((1, rows.shape[1]), dtype=np.int64)
    sample = np.sort(some, axis=0)
    directions = np.ascontiguousarray(directions)
    if lowest is None:
        lowest = _lowest_expected(some, sample, directions, m) if m > _FEW_ROWS else 1
    window = find_ranks(rows, directions, min(lowest - 1, m // 2))
    return LevelSets(directions, rows, window, sample)


def sampled(rows: IntArray, m: int, before: int = 0) -> IntArray:
    """Those of the rows that are in the sample of a table of m rows, in which so many come `before` them."""
    stride = max(1, m // _SAMPLE)
    return rows[-before % stride :: stride]


def _lowest_expected(some: IntArray, ordered: IntArray, directions: IntArray, m: int) -> int:
    """About the depth of the centre, judging by some of the m rows: the deepest point is no shallower.

    Where grid steps are wide, that of points a few steps beside it. `ordered` has the columns of `some` sorted.
    """
    centre = ordered[len(ordered) // 2]
    above = directions @ some.T >= (directions @ centre)[:, np.newaxis]
    share = above.mean(axis=1)
    usual = m // 2 - _BELOW_MIDDLE * math.isqrt(m)
    steps = math.ceil(_ON_THE_WAY * _SETTLED_POINTS ** (1.0 / len(centre)) / 2.0)
    beside = np.minimum((some >= centre + steps).mean(axis=0), (some <= centre - steps).mean(axis=0)).min()
    return max(1, min(usual, int(m * min(share.min(), 1.0 - share.max(), beside))))


def find_ranks(rows: IntArray, directions: IntArray, out: int) -> Window:
    """Order statistics of the projections, without the `out` smallest and the `out` largest of each direction.

    Memory: the result, and a block of projections for each core.
    """
    k, m = len(directions), len(rows)
    found = np.empty((k, m - 2 * out), dtype=np.int64)
    many = 0 < 2 * out < m and m >= MANY_ROWS
    block = TOGETHER if many else max(1, _BLOCK // max(1, m))

    def scratch() -> IntArray:
        """Used again and again: memory fresh from the system costs as much time as the projections in it."""
        return np.empty((block if out and not many else 0, m), dtype=np.int64)

    def rank(start: int, space: IntArray) -> None:
        here = slice(start, min(start + block, k))
        if many:
            found[here] = middle_ranks(rows, directions[here], out)
            return
        projected = space[: here.stop - start] if out else found[here]
        np.matmul(directions[here], rows.T, out=projected)
        if out:
            projected.partition((out, m - out - 1), axis=1)
            found[here] = projected[:, out : m - out]
        found[here].sort(axis=1)

    threads = available_cores() if k * m >= _WORTH_A_THREAD else 1
    for_each_with(scratch, range(0, k, block), rank, threads)
    return Window(found, out, m, m - out)


def _depths(window: Window, directions: IntArray, points: IntArray) -> IntArray:
    """Depths as far as the window tells: a count that leaves it stops at its end."""
    m, first = window.rows, window.first
    least = np.full(len(points), m, dtype=np.int64)
    for v, ranked in zip(directions, window.projections, strict=True):
        at = points @ v
        below = first + np.searchsorted(ranked, at, side="right")
        above = m - first - np.searchsorted(ranked, at, side="left")
        least = np.minimum(least, np.minimum(below, above))
    return least
