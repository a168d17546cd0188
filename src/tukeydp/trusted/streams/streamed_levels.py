"""Level sets of rows that are streamed: the same answers as if all projections were sorted, by counting passes.

Edges between cells come from a sample; a pass counts exactly what lies between them; so it is proven which cell a rank
is in, and a further pass keeps that cell's projections. A cell with too many of them is cut, and counted again. The
sample can make this slow, not wrong (docs/proofs/streams.md).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence

import numpy as np

from tukeydp.trusted.levels import LevelSets, Window, level_sets, sampled
from tukeydp.trusted.parameters import FloatArray, IntArray
from tukeydp.trusted.rows import LIMIT
from tukeydp.trusted.streams.rows import StreamedRows
from tukeydp.trusted.streams.tallies import NOTHING, Passes, Question, Seen, compile_once


class RankCells:
    """One direction. The edges are hints, what is counted between them is exact. Not private: this is the data."""

    def __init__(self, edges: IntArray, counts: IntArray) -> None:
        self.edges, self.below = edges, np.concatenate([[0], np.cumsum(counts)])
        self._kept: dict[int, IntArray] = {}  # by the rank of the first: cells may be numbered anew

    @property
    def rows(self) -> int:
        return int(self.below[-1])

    @property
    def kept(self) -> int:
        """How many projections are held."""
        return sum(len(values) for values in self._kept.values())

    def forget(self) -> None:
        self._kept = {}

    def keep(self, cell: int, values: IntArray) -> None:
        """All projections of a cell, sorted."""
        self._kept[int(self.below[cell])] = values

    def cell_of(self, rank: int) -> int:
        """The cell with this rank; empty cells have none."""
        return bisect_right(self.below, rank) - 1

    def ends(self, cell: int) -> tuple[int, int]:
        """The least value that the cell may have, and the least beyond it."""
        low = int(self.edges[cell - 1]) if cell else -LIMIT
        return low, int(self.edges[cell]) if cell < len(self.edges) else LIMIT

    def missing(self, first: int, last: int) -> Iterator[int]:
        """The cells of the ranks first ... last that have not been found."""
        for cell in range(self.cell_of(first), self.cell_of(last) + 1):
            if self.below[cell] < self.below[cell + 1] and not self._known(cell):
                yield cell

    def count(self, cell: int) -> int:
        return int(self.below[cell + 1] - self.below[cell])

    def found(self, first: int, last: int) -> IntArray:
        """The projections of the ranks first ... last, all of which must have been found."""
        parts = []
        while first <= last:
            cell = self.cell_of(first)
            start, end = int(self.below[cell]), int(self.below[cell + 1])
            stop = min(last + 1, end)
            if start in self._kept:
                parts.append(self._kept[start][first - start : stop - start])
            elif self._single(cell):
                parts.append(np.full(stop - first, self.ends(cell)[0], dtype=np.int64))
            else:
                raise LookupError("a rank that has not been found")
            first = stop
        return np.concatenate(parts)

    def found_around(self, rank: int) -> tuple[int, int]:
        """The first and the last of the ranks around one that have been found, itself among them."""
        first = last = self.cell_of(rank)
        while first and (self.count(first - 1) == 0 or self._known(first - 1)):
            first -= 1
        while last + 1 < len(self.below) - 1 and (self.count(last + 1) == 0 or self._known(last + 1)):
            last += 1
        return int(self.below[first]), int(self.below[last + 1]) - 1

    def divide(self, cell: int, edges: IntArray, counts: IntArray) -> None:
        """Further edges inside a cell, and what was counted between them."""
        start, end = int(self.below[cell]), int(self.below[cell + 1])
        inner = start + np.cumsum(counts)
        if int(inner[-1]) != end:
            raise ArithmeticError("parts of a cell must have its count")
        self.edges = np.concatenate([self.edges[:cell], edges, self.edges[cell:]])
        self.below = np.concatenate([self.below[: cell + 1], inner[:-1], self.below[cell + 1 :]])

    def splits(self, cell: int, pieces: int) -> IntArray:
        """Edges that cut a cell's values, which are several, into pieces of about equal width."""
        low, high = self.ends(cell)
        inside = {low + (high - low) * i // pieces for i in range(1, pieces)} - {low, high}
        return np.array(sorted(inside), dtype=np.int64)

    def rough(self, rank: int) -> int:
        """About the projection of a rank: never outside its cell, and growing with the rank."""
        cell = self.cell_of(rank)
        start = int(self.below[cell])
        if start in self._kept:
            return int(self._kept[start][rank - start])
        low, high = self.ends(cell)
        if cell == 0:
            return high - 1
        if cell == len(self.edges):
            return low
        share = (rank - start + 0.5) / self.count(cell)
        return min(high - 1, low + int(share * (high - low)))

    def bounds_at(self, values: IntArray) -> tuple[IntArray, IntArray]:
        """For each value: no more projections than these are at most it, and at least it."""
        cells = np.searchsorted(self.edges, values, side="right")
        return self.below[cells + 1], self.rows - self.below[cells]

    def rough_at(self, values: IntArray) -> FloatArray:
        """About how many projections are below each value."""
        inner = self.below[1:-1].astype(np.float64)
        return np.asarray(np.interp(values.astype(np.float64), self.edges.astype(np.float64), inner))

    def _known(self, cell: int) -> bool:
        return self._single(cell) or int(self.below[cell]) in self._kept

    def _single(self, cell: int) -> bool:
        low, high = self.ends(cell)
        return high - low == 1


def edges_by(sample: IntArray, cells: int) -> IntArray:
    """Edges between which a sorted sample has about equally many values; a frequent value gets a cell of its own."""
    picked = sample[(np.arange(1, cells) * len(sample)) // cells]
    values, times = np.unique(picked, return_counts=True)
    return np.union1d(values, values[times > 1] + 1)


# About the level sets of rows that are streamed, without a pass over them: what searches are rehearsed on.


class RoughLevels(LevelSets):
    """About the same level sets, from counts between edges alone; `asked` are the levels asked about.

    Nested like true level sets, so that a sampler can be prepared for them: what it asks for there, it will ask for.
    """

    def __init__(
        self, cells: Sequence[RankCells], directions: IntArray, sample: IntArray, twin: LevelSets | None = None
    ) -> None:
        self._cells, self.asked, self._twin = cells, set[int](), twin
        m = cells[0].rows
        nothing = Window(np.empty((len(directions), 0), dtype=np.int64), m, 2 * m, 0)
        super().__init__(directions, np.empty((0, directions.shape[1]), dtype=np.int64), nothing, sample)

    @property
    def rows(self) -> int:
        return self._cells[0].rows

    @property
    def rough(self) -> LevelSets | None:
        """Searches over levels ask a twin first, so that the true levels' searches are rehearsed."""
        return self._twin

    def offsets(self, level: int) -> tuple[IntArray, IntArray]:
        self.asked.add(level)
        smallest = np.array([cells.rough(level - 1) for cells in self._cells], dtype=np.int64)
        return smallest, np.array([cells.rough(self.rows - level) for cells in self._cells], dtype=np.int64)

    def depths(self, points: IntArray, least: int = 1) -> IntArray:
        found = np.full(len(points), float(self.rows))
        for v, cells in zip(self.directions, self._cells, strict=True):
            below = cells.rough_at(points @ v)
            found = np.minimum(found, np.minimum(below, self.rows - below))
        return found.astype(np.int64)


# Speed and memory only, all of them: ranks are exact whatever these are.
_PILOT = 2**16  # rows, or up to twice as many, that edges are made from: fewer make cells less equal
_CELLS = 2048  # cells of a direction at first: fewer hold more rows each, more take longer to find a row's cell
# Margins around levels that may be asked about: two cells' rows over these, the first for which memory suffices.
_NARROWER = (1, 4, 16, 64, 256)
_PIECES = 256  # that a cell is cut into if it has too many rows
# Of the memory for projections: what the window may take beside those that are kept, and up to which share the whole
# table, its projections included, is simply held.
_WINDOW_SHARE, _WHOLE_SHARE = 4, 2
_BYTES = 8


def memory_for(levels: int, directions: int) -> int:
    """Bytes of memory with which a window may hold so many levels."""
    return _WINDOW_SHARE * 2 * _BYTES * levels * directions


def streamed_level_sets(rows: StreamedRows, directions: IntArray) -> LevelSets:
    """The level sets of rows that are streamed; those of a table in memory if all of it fits."""
    compile_once()  # now, whether or not all of it fits: that depends on the rows
    fits = rows.memory // (_WHOLE_SHARE * _BYTES * (rows.d + len(directions)))
    seen, pilot, whole = _survey(rows, fits)
    if whole is not None:
        return level_sets(whole, directions)
    directions = np.ascontiguousarray(directions)
    return StreamedLevels(Passes(rows, directions, seen), directions, seen.rows, pilot, rows.memory)


def _survey(rows: StreamedRows, few: int) -> tuple[Seen, IntArray, IntArray | None]:
    """The first pass: how many rows, their checksum, every so-many-th of them, and all if they are few."""
    nothing = np.empty((0, rows.d), dtype=np.int64)
    seen, pilot, picked, stride = NOTHING, [nothing], 0, 1
    whole: list[IntArray] | None = [nothing]
    for block in rows.blocks():
        some = block[-seen.rows % stride :: stride].copy()
        if len(some):
            pilot.append(some)
            picked += len(some)
        seen = seen.then(block)
        if picked >= 2 * _PILOT:
            pilot, stride = [np.concatenate(pilot)[::2]], 2 * stride
            picked = len(pilot[0])
        if whole is not None:
            whole.append(block)
            whole = whole if seen.rows <= few else None
    return seen, np.concatenate(pilot), None if whole is None else np.concatenate(whole)


class StreamedLevels(LevelSets):
    """Level sets whose ranks are found by passes over the rows when they are asked for.

    Invariant: `offsets` and `depths` give what sorted projections give. Which ranks are kept, and how many passes that
    takes, depends on what is asked.
    """

    def __init__(self, passes: Passes, directions: IntArray, rows: int, pilot: IntArray, memory: int) -> None:
        self._passes, self._count, self._memory = passes, rows, memory
        edges = [edges_by(np.sort(pilot @ v), _CELLS) for v in directions]
        sample: list[IntArray] = []
        tallies = passes.run(
            [Question(e, np.zeros(len(e) + 1, dtype=np.int64)) for e in edges],
            lambda at, block: sample.append(sampled(block, rows, at).copy()),  # a view would hold its block
        )
        self._cells = [RankCells(e, tally.counts) for e, tally in zip(edges, tallies, strict=True)]
        self._around = 1  # levels on either side of one that a window is asked for
        empty = Window(np.empty((len(directions), 0), dtype=np.int64), rows, 2 * rows, 0)
        super().__init__(directions, np.empty((0, directions.shape[1]), dtype=np.int64), empty, _sorted(sample))

    @property
    def rows(self) -> int:
        return self._count

    @property
    def table(self) -> IntArray:
        raise LookupError("rows that are streamed are not held")

    @property
    def projections(self) -> IntArray:
        raise LookupError("projections of rows that are streamed are not held")

    @property
    def rough(self) -> RoughLevels:
        """Answers from what has been counted so far."""
        twin = RoughLevels(self._cells, self.directions, self.sample)
        return RoughLevels(self._cells, self.directions, self.sample, twin)

    @property
    def passes(self) -> int:
        """Passes over the rows so far, after the first."""
        return self._passes.taken

    def with_directions(self, fresh: IntArray) -> LevelSets:
        raise LookupError("directions of rows that are streamed cannot be added to")

    def foresee(self, levels: Collection[int], first: int, last: int) -> None:
        """Find the ranks of some levels and around them, and of first ... last: in one pass or two.

        If not even the levels' own cells fit, they are cut first, and some of them are large then.
        """
        with self._widening:
            self._around = max(1, min(last - first, self._most_levels))
            spans = [(level, level) for level in levels] + [(max(first, last - self._most_levels), last)]
            room = self._memory // (2 * _BYTES)
            while self._amount(self._ranks(spans)):
                for margin in (*(2 * self.rows // (_CELLS * narrower) for narrower in _NARROWER), 0):
                    wanted = self._ranks([(a - margin, b + margin) for a, b in spans])
                    if self._amount(wanted) <= room:
                        return self._find(wanted)
                self._cut(self._missing(self._ranks(spans)), room // _PIECES)

    def offsets(self, level: int) -> tuple[IntArray, IntArray]:
        window = self._window
        if window.holds(level):
            return window.offsets(level)
        with self._widening:
            self._find(self._ranks([(level, level)]))
            return self._found(level - 1), self._found(self.rows - level)

    def ensure(self, level: int, upto: int | None = None) -> Window:
        """A window of the levels around this one that have been found; more are found if it has not been."""
        with self._widening:
            last = level if upto is None else upto
            if not (self._window.holds(level) and self._window.holds(last)):
                self._window = self._wider_window(level, last)
            return self._window

    def depths(self, points: IntArray, least: int = 1) -> IntArray:
        """Counted in passes, for the points that may be as deep as `least`."""
        most = np.full(len(points), self.rows, dtype=np.int64)
        for v, cells in zip(self.directions, self._cells, strict=True):
            below, above = cells.bounds_at(points @ v)
            most = np.minimum(most, np.minimum(below, above))
        deep = np.flatnonzero(most >= least)
        at_once = max(1, self._memory // (4 * _BYTES * len(self.directions)))
        for start in range(0, len(deep), at_once):
            some = deep[start : start + at_once]
            most[some] = self._counted_depths(points[some])
        return most

    @property
    def _most_levels(self) -> int:
        """Levels that a window may hold."""
        return max(1, self._memory // memory_for(1, len(self.directions)))

    def _counted_depths(self, points: IntArray) -> IntArray:
        at = [points @ v for v in self.directions]
        edges = [np.unique(np.concatenate([values, values + 1])) for values in at]
        tallies = self._passes.run([Question(e, np.zeros(len(e) + 1, dtype=np.int64)) for e in edges])
        least = np.full(len(points), self.rows, dtype=np.int64)
        for values, e, tally in zip(at, edges, tallies, strict=True):
            below = np.cumsum(tally.counts)  # below[i]: projections less than edge i
            least = np.minimum(least, below[np.searchsorted(e, values + 1)])
            least = np.minimum(least, self.rows - below[np.searchsorted(e, values)])
        return least

    def _wider_window(self, level: int, last: int) -> Window:
        """Of the levels that have been found around these, as many as there is room for."""
        m = self.rows
        if self._amount(self._ranks([(level, last)])):
            self._find(self._ranks([(level - self._around, last + self._around)]))
        first, highest = level - self._around, last + self._around
        for cells in self._cells:
            smallest, largest = cells.found_around(level - 1), cells.found_around(m - level)
            first = max(first, smallest[0] + 1, m - largest[1])
            highest = min(highest, smallest[1] + 1, m - largest[0])
        low = np.array([cells.found(first - 1, highest - 1) for cells in self._cells])
        high = np.array([cells.found(m - highest, m - first) for cells in self._cells])
        # Beyond the highest unbroken level ranks would not ascend from the smallest to the largest.
        broken = np.any(low > high[:, ::-1], axis=0).tolist()
        kept = max(last - first + 1, broken.index(True) if True in broken else len(broken))
        both = np.hstack([low[:, :kept], high[:, high.shape[1] - kept :]])
        return Window(both, first - 1, 2 * (first - 1 + kept), first - 1 + kept)

    def _found(self, rank: int) -> IntArray:
        """The projections of one rank, which has been found, one for each direction."""
        return np.array([cells.found(rank, rank)[0] for cells in self._cells], dtype=np.int64)

    def _ranks(self, spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
        """First and last of the ranks that levels need, on both sides."""
        m = self.rows
        inside = [(max(1, min(a, m)), max(1, min(b, m))) for a, b in spans]
        return [rank for a, b in inside for rank in ((a - 1, b - 1), (m - b, m - a))]

    def _missing(self, wanted: Sequence[tuple[int, int]]) -> list[list[int]]:
        """For each direction the cells that have not been found."""
        return [sorted({c for a, b in wanted for c in cells.missing(a, b)}) for cells in self._cells]

    def _amount(self, wanted: Sequence[tuple[int, int]]) -> int:
        """How many projections are in the cells that have not been found."""
        missing = self._missing(wanted)
        return sum(cells.count(c) for cells, here in zip(self._cells, missing, strict=True) for c in here)

    def _find(self, wanted: Sequence[tuple[int, int]]) -> None:
        """Passes until all these ranks have been found."""
        room = self._memory // _BYTES
        while amount := self._amount(wanted):
            if amount + sum(cells.kept for cells in self._cells) > room:
                for cells in self._cells:
                    cells.forget()
            missing = self._missing(wanted)
            if self._amount(wanted) <= room:
                self._keep(missing)
            else:
                self._cut(missing, room)

    def _keep(self, missing: Sequence[Sequence[int]]) -> None:
        questions = [_question(cells, here) for cells, here in zip(self._cells, missing, strict=True)]
        tallies = self._passes.run([question for question, _ in questions])
        for cells, (_, numbers), tally in zip(self._cells, questions, tallies, strict=True):
            for number, cell in numbers.items():
                cells.keep(cell, tally.kept[number])

    def _cut(self, missing: Sequence[Sequence[int]], room: int) -> None:
        """Cut cells that have more than their share of the room, and count their parts."""
        share = room // max(1, sum(map(len, missing)))
        large = [[c for c in here if cells.count(c) > share] for cells, here in zip(self._cells, missing, strict=True)]
        plans = [[cells.splits(c, _PIECES) for c in here] for cells, here in zip(self._cells, large, strict=True)]
        edges = [
            np.unique([e for c, inner in zip(here, inners, strict=True) for e in (*cells.ends(c), *inner.tolist())])
            if here
            else np.empty(0, dtype=np.int64)
            for cells, here, inners in zip(self._cells, large, plans, strict=True)
        ]
        tallies = self._passes.run([Question(e, np.zeros(len(e) + 1, dtype=np.int64)) for e in edges])
        for cells, here, inners, e, tally in zip(self._cells, large, plans, edges, tallies, strict=True):
            # From the last cell to the first: the numbers of those before it stay.
            for c, inner in reversed(list(zip(here, inners, strict=True))):
                start = int(np.searchsorted(e, cells.ends(c)[0])) + 1
                cells.divide(c, inner, tally.counts[start : start + len(inner) + 1])


def _question(cells: RankCells, wanted: Sequence[int]) -> tuple[Question, dict[int, int]]:
    """Keep some cells: their ends as edges, and which cell of the question is which of theirs."""
    ends = [cells.ends(c) for c in wanted]
    edges = np.unique(np.array([e for pair in ends for e in pair], dtype=np.int64))
    rooms = np.zeros(len(edges) + 1, dtype=np.int64)
    numbers = {}
    for c, (low, _) in zip(wanted, ends, strict=True):
        number = int(np.searchsorted(edges, low)) + 1
        rooms[number], numbers[number] = cells.count(c), c
    return Question(edges, rooms), numbers


def _sorted(sample: Sequence[IntArray]) -> IntArray:
    return np.sort(np.concatenate(sample), axis=0)
