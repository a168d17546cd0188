"""Proposals for tables of many columns: first bytes that cannot belong to a level, and tilted boxes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tukeydp.trusted import lanes
from tukeydp.trusted.bits import Bits, Keystream
from tukeydp.trusted.boxes import Box, Union
from tukeydp.trusted.lanes import in_lane, level_and_box
from tukeydp.trusted.laws import WORD, LevelDraw
from tukeydp.trusted.levels import LevelSets
from tukeydp.trusted.parameters import FloatArray, IntArray
from tukeydp.trusted.shapes import SHARE_BITS, STEPS, Parallelepiped, TiltedBox, power

if TYPE_CHECKING:
    from tukeydp.trusted.records import Proposals
    from tukeydp.trusted.sampling.loops import Candidates, Filter, Order, Slots, Tilts

# Bits of a direction's coefficients together. A byte has 8, so sums stay below 2^31; fewer make the test less sharp.
_BITS = 22
_FAR = 2**40  # beyond every sum: thresholds further out are cut off here, where they have no effect either
_WORD_LIMIT = 2**31 - 1
# The share of proposals, at most, that are made for levels without a test of their own. Each costs as much as hundreds
# of others, each test as much as a few thousand. Speed only.
_UNTESTED = 2.0**-17
_WIDE = 2**12  # points: of a column with fewer a byte tells too little, unless there is but one. Speed only
# Products with directions of a slanted box must be exact in 64 bits, and so their differences with ranks, below 2^62.
_LARGEST = 2.0**61


def suits(levels: LevelSets, proposals: Proposals, boxes: Sequence[Box | Union | Parallelepiped]) -> bool:
    """Whether first bytes tell enough: nearly all proposals are from boxes that can be tested.

    Points of parallelepipeds are drawn in no other way.
    """
    if any(isinstance(box, Parallelepiped) for box in boxes):
        return True
    if any(isinstance(box, Union) for box in boxes):
        return False
    share = _shares(proposals)
    return bool(share[~_testable(levels, proposals, boxes)].sum() <= _UNTESTED)


def filter_of(levels: LevelSets, proposals: Proposals, boxes: Sequence[Box | Union | Parallelepiped]) -> Filter:
    """Tests for the levels that most proposals are made for; level 0 has nothing to test."""
    from tukeydp.trusted.sampling.loops import Filter

    rows = _frequent(np.where(_testable(levels, proposals, boxes), _shares(proposals), 0.0))
    used = np.unique(proposals.box[rows])
    slot = np.full(len(proposals.level), -1, dtype=np.int64)
    slot[rows] = np.arange(len(rows))
    turned: dict[int, FloatArray] = {}
    tests = {int(box): _test_of(levels.directions, boxes[box], turned) for box in used}
    thresholds = [tests[int(proposals.box[row])].thresholds(*levels.offsets(int(proposals.level[row]))) for row in rows]
    k, d = levels.directions.shape
    return Filter(
        slot,
        np.searchsorted(used, proposals.box[rows]),
        np.array([test.coefficients for test in tests.values()], dtype=np.int32).reshape(-1, k, d),
        np.array([smallest for smallest, _ in thresholds], dtype=np.int32).reshape(-1, k),
        np.array([largest for _, largest in thresholds], dtype=np.int32).reshape(-1, k),
    )


def _shares(proposals: Proposals) -> FloatArray:
    """About the share of words that mean each row of the table; 0 for level 0."""
    share: FloatArray = np.where(
        proposals.level > 0, (proposals.last - proposals.first).astype(np.float64) / 2.0**64, 0.0
    )
    share[proposals.last < proposals.first] = 0.0
    return share


def _frequent(share: FloatArray) -> IntArray:
    """Rows of the table, in its order, that all but few of these words mean."""
    heaviest = np.argsort(-share, kind="stable")
    rest = share.sum() - np.cumsum(share[heaviest])
    kept = heaviest[: int(np.count_nonzero(rest > _UNTESTED)) + 1]
    return np.sort(kept[share[kept] > 0])


def _testable(
    levels: LevelSets, proposals: Proposals, boxes: Sequence[Box | Union | Parallelepiped]
) -> NDArray[np.bool_]:
    """For each row of the table, whether first bytes tell something about the points of its box."""
    wide = [
        isinstance(box, Parallelepiped)
        or (
            all(b == a or b - a >= _WIDE for a, b in zip(box.low, box.high, strict=True))
            and _exact(levels.directions, box)
        )
        for box in boxes
        if not isinstance(box, Union)
    ]
    return np.asarray(np.array(wide)[proposals.box])


def _exact(directions: IntArray, box: Box) -> bool:
    """Whether products with the directions in a slanted box's own coordinates are exact in 64 bits."""
    if box.basis is None:
        return True
    ends = np.array([max(abs(a), abs(b)) + 1 for a, b in zip(box.low, box.high, strict=True)], dtype=np.float64)
    inverse = np.abs(np.array(box.basis.inverse, dtype=np.float64))
    return bool((np.abs(directions).astype(np.float64) @ (inverse @ ends)).max() < _LARGEST)


def _turned(directions: IntArray, box: Box) -> IntArray:
    """The directions in the coordinates of a box along the axes or of a slanted one for which that is exact."""
    if box.basis is None:
        return directions
    return np.asarray(directions @ np.array(box.basis.inverse, dtype=np.int64))


def _test_of(directions: IntArray, box: Box | Union | Parallelepiped, turned: dict[int, FloatArray]) -> _BoxTest:
    """The test for a box; `turned` are the directions in the frames seen so far."""
    assert not isinstance(box, Union)
    if isinstance(box, Parallelepiped):
        frame = box.frame
        if id(frame) not in turned:
            turned[id(frame)] = frame.turned(directions).astype(np.float64) * frame.unit
        half = -(-np.abs(directions).sum(axis=1) // 2)
        stretched = turned[id(frame)] * np.array(box.widths, dtype=np.float64)
        return _BoxTest(stretched, *box.at_corner(directions), half, half)
    directions = _turned(directions, box)
    low = np.array(box.low, dtype=np.int64)
    widths = np.array(box.high, dtype=np.int64) - low + 1
    moving = np.where(widths > 1, directions, 0)  # a column of one point has nothing to draw
    up, down = np.maximum(moving, 0).sum(axis=1), np.maximum(-moving, 0).sum(axis=1)
    start = directions @ low
    return _BoxTest(moving * widths.astype(np.float64), start, start, up, down)


class _BoxTest:
    """Coefficients of all directions for one box, and how far the sums may be off.

    `stretched` is what each coordinate adds from one end of the box to the other, within three roundings; `first` and
    `last` enclose the product with the box's low corner; rounding to grid points lowers products by at most `down`, and
    raises them by at most `up`.
    """

    def __init__(self, stretched: FloatArray, first: IntArray, last: IntArray, down: IntArray, up: IntArray) -> None:
        # Floats are exact enough: three roundings of a part in 2^53 each, of numbers below 2^22 after scaling.
        self._shift = np.maximum(np.frexp(np.abs(stretched).sum(axis=1))[1].astype(np.int64) - _BITS, 0)
        self.coefficients = np.rint(np.ldexp(stretched, -self._shift[:, np.newaxis])).astype(np.int64)
        self._first, self._last = first, last
        off = 255 * stretched.shape[1]
        self._above = off + np.maximum(self.coefficients + 1, 0).sum(axis=1) - self._scaled(-up)
        self._below = off + np.maximum(1 - self.coefficients, 0).sum(axis=1) - self._scaled(-down)

    def thresholds(self, smallest: IntArray, largest: IntArray) -> tuple[IntArray, IntArray]:
        """The least and the largest sum that a point of the level can have."""
        least = -self._scaled(self._last - smallest) - self._above
        most = self._scaled(largest - self._first) + self._below
        return np.clip(least, -_WORD_LIMIT, _WORD_LIMIT), np.clip(most, -_WORD_LIMIT, _WORD_LIMIT)

    def _scaled(self, values: IntArray) -> IntArray:
        """floor(2^(8 - shift) values), cut off far out."""
        near = np.clip(values, -_FAR, _FAR) << np.maximum(8 - self._shift, 0)
        scaled = np.where(self._shift < 8, near, values >> np.maximum(self._shift - 8, 0))
        return np.asarray(np.clip(scaled, -_FAR, _FAR))


# Proposals for tables of many columns: most are rejected by the first byte of each coordinate.
#
# A coordinate of a box of w points is floor(theta w) above its low end, theta uniform in [0, 1). Its bits are
# revealed as far as needed: the first byte in the kernel, further ones for candidates only. The law is that of
# proposals with all bits known (docs/proofs/boxem.md, section 6).


class TriedOrder:
    """The order in which directions are tried: those that reject most of what is left come first. Speed only."""

    def __init__(self, arrays: Order, found: Candidates) -> None:
        self.arrays, self.found = arrays, found  # `found` is room for one thread at a time

    def copy(self) -> TriedOrder:
        from tukeydp.trusted.sampling.loops import room

        return TriedOrder(
            type(self.arrays)(*(array.copy() for array in self.arrays)), room(*self.found.first_bytes.shape)
        )

    def renew(self) -> None:
        directions, tried, rejected = self.arrays
        directions[:] = np.argsort(-rejected / np.maximum(tried, 1), kind="stable")


class CoarseProposals:
    """Proposals from boxes, lane by lane."""

    def __init__(
        self,
        levels: LevelSets,
        within: Box,
        law: LevelDraw,
        proposals: Proposals,
        boxes: Sequence[Box | Union | Parallelepiped],
    ) -> None:
        from tukeydp.trusted.sampling.loops import words_of

        self._levels, self._within, self._law = levels, within, law
        self._proposals, self._boxes = proposals, boxes
        self._words = words_of(proposals.first, proposals.last)
        self._filter = filter_of(levels, proposals, boxes)

    def order(self) -> TriedOrder:
        """The directions as they are given, none of them tried so far."""
        from tukeydp.trusted.sampling.loops import Order, room

        k, d = self._levels.directions.shape
        return TriedOrder(Order(np.arange(k), *np.zeros((2, k), dtype=np.int64)), room(max(lanes.IN_LANES), d))

    def lane_words(self, lane: int) -> int:
        """As many as its proposals would take if all their bits were drawn."""
        return in_lane(lane) * (1 + self._levels.d)

    def first_accepted(self, stream: Keystream, lane: int, order: TriedOrder) -> tuple[list[int], int] | None:
        """The first accepted point of a lane and the level it was proposed at, if any of the proposals is."""
        from tukeydp.trusted.sampling.loops import candidates

        d, count = self._levels.d, in_lane(lane)
        words = stream.words(2 * lane, count + -(-count * d // 8))
        spare = stream.bits(2 * lane + 1)
        found = order.found
        left = candidates(words[:count], words[count:].view(np.uint8), self._words, self._filter, order.arrays, found)
        order.renew()
        # In the order of the proposals: the first that is accepted is the lane's.
        for i in np.argsort(found.number[:left]).tolist():
            level, box = self._row(int(found.row[i]), int(words[found.number[i]]), spare)
            point = _finished(box, found.first_bytes[i].tolist() if found.drawn[i] else None, spare)
            # Points of slanted boxes may lie outside the public box: test that before projecting.
            if not (self._within.holds(point) and self._levels.contains(point, level)):
                continue
            if not isinstance(box, Parallelepiped) or box.keeps(spare):
                return point, level
        return None

    def _row(self, row: int, word: int, spare: Bits) -> tuple[int, Box | Parallelepiped]:
        """Level and box of a row of the table, or of a word that does not tell them."""
        level, group = level_and_box(self._law, self._proposals, row, word, spare)
        box = self._boxes[group]
        assert not isinstance(box, Union)
        return level, box


def _finished(box: Box | Parallelepiped, first_bytes: Sequence[int] | None, spare: Bits) -> list[int]:
    """The point of uniform coordinates in the box, of which the first bytes may be known."""
    known, have = ([0] * len(box.low), 0) if first_bytes is None else (first_bytes, 8)
    if isinstance(box, Parallelepiped):
        return box.point(known, have, spare)
    ends = zip(known, box.low, box.high, strict=True)
    return box.point([a + _scaled(bits, have, b - a + 1, spare) for bits, a, b in ends])


def _scaled(bits: int, have: int, width: int, spare: Bits) -> int:
    """floor(theta * width) for the theta that starts with so many bits: uniform below the width."""
    while True:
        bits, have = (bits << WORD) | spare.take(WORD), have + WORD
        least, most = bits * width >> have, ((bits + 1) * width - 1) >> have
        if least == most:
            return least


# Proposals from tilted boxes, lane by lane: the law is that of boxes (docs/proofs/boxem.md, section 4).


# Speed only: the law is the same, but what a seeded draw gives is not.
_LIGHT = 2.0**-20  # the share of proposals below which a level's are made one by one
_POINTS = 2**63  # lanes of the keystream from here on are for the points of survivors: no search comes so far


class TiltedProposals:
    """Proposals from boxes of which some are tilted: from those fast, from the others one by one."""

    def __init__(
        self,
        levels: LevelSets,
        within: Box,
        law: LevelDraw,
        proposals: Proposals,
        boxes: Sequence[Box | Union | TiltedBox | Parallelepiped],
    ) -> None:
        from tukeydp.trusted.sampling.loops import Limits, words_of

        self._levels, self._within, self._law = levels, within, law
        self._proposals, self._boxes = proposals, boxes
        self._words = words_of(proposals.first, proposals.last)
        self._tilts, places = _tilts_of(boxes)
        self._slots = _slots_of(levels, proposals, places, boxes)
        self._limits = Limits(_word_limits(), *(np.array(ends, dtype=np.int64) for ends in (within.low, within.high)))

    def order(self) -> IntArray:
        """The directions as they are given."""
        return np.arange(len(self._levels.directions))

    def lane_words(self, lane: int) -> int:
        """As many as its proposals would take if all their points were drawn."""
        return in_lane(lane) * (1 + self._levels.d)

    def first_accepted(self, stream: Keystream, lane: int, order: IntArray) -> tuple[list[int], int] | None:
        """The first accepted point of a lane and the level it was proposed at, if any of the proposals is."""
        from tukeydp.trusted.sampling.loops import BY_HAND, REJECTED, Survivors, survivors, test

        d, count = self._levels.d, in_lane(lane)
        words = stream.words(2 * lane, 2 * count + -(-count * d // 2))
        keeping, spare = words[count : 2 * count], stream.bits(2 * lane + 1)
        shares = words[2 * count :].view(np.uint32)[: count * d].reshape(count, d)
        found = Survivors(
            np.empty(count, dtype=np.int64),
            np.empty(count, dtype=np.int64),
            np.empty((count, d), dtype=np.int32),
            np.empty((count, d), dtype=np.int64),
            np.empty(count, dtype=np.int8),
        )
        left = survivors(words[:count], keeping, shares, self._words, self._slots, self._tilts, self._limits, found)
        points = stream.words(_POINTS + lane, left * d).reshape(left, d)
        test(left, points, self._slots, self._tilts, self._levels.directions, order, self._limits, found)
        # In the order of the proposals: the first that is accepted is the lane's.
        for i in np.flatnonzero(found.state[:left] != REJECTED).tolist():
            number, row = int(found.number[i]), int(found.row[i])
            level, box = self._row(row, int(words[number]), spare)
            cells = found.cells[i].tolist()
            if found.state[i] == BY_HAND:
                known = (cells, points[i].tolist()) if row >= 0 and self._slots.slot[row] >= 0 else None
                point, cells = _drawn(box, known, spare)
                # Points of slanted boxes may lie outside the public box: test that before projecting.
                if not (self._within.holds(point) and self._levels.contains(point, level)):
                    continue
            else:
                point = found.points[i].tolist()
            if not isinstance(box, TiltedBox) or box.keeps(cells, int(keeping[number]), spare):
                return point, level
        return None

    def _row(self, row: int, word: int, spare: Bits) -> tuple[int, Box | TiltedBox]:
        """Level and box of a row of the table, or of a word that does not tell them."""
        level, group = level_and_box(self._law, self._proposals, row, word, spare)
        box = self._boxes[group]
        assert isinstance(box, Box | TiltedBox)
        return level, box


def _drawn(
    box: Box | TiltedBox, known: tuple[Sequence[int], Sequence[int]] | None, spare: Bits
) -> tuple[list[int], Sequence[int]]:
    """A point of a box and its cells; these, and words that a rounded point starts with, may be known."""
    if not isinstance(box, TiltedBox):
        return box.uniform(spare), ()
    cells, words = (box.cells.drawn(spare), None) if known is None else known
    return box.point(cells, words, spare), cells


def _tilts_of(boxes: Sequence[Box | Union | TiltedBox | Parallelepiped]) -> tuple[Tilts, IntArray]:
    """The tilted ones among the boxes, and for each box its place among them, -1 for others."""
    from tukeydp.trusted.sampling.loops import GUIDE_BITS, Tilts

    tilted = [box for box in boxes if isinstance(box, TiltedBox)]
    place = np.full(len(boxes), -1)
    place[[isinstance(box, TiltedBox) for box in boxes]] = np.arange(len(tilted))
    ends = np.array([box.cells.ends for box in tilted], dtype=np.int32)
    leading = np.arange(2**GUIDE_BITS) << (SHARE_BITS - GUIDE_BITS)
    guide = [[np.searchsorted(column, leading, side="right") - 1 for column in box] for box in ends]
    unit = np.eye(ends.shape[1], dtype=np.int64)
    return (
        Tilts(
            starts=np.array([box.cells.starts for box in tilted], dtype=np.int64),
            ends=ends,
            heights=np.array([box.cells.heights for box in tilted], dtype=np.int32),
            guide=np.array(guide, dtype=np.int32),
            highest=np.array([box.highest for box in tilted], dtype=np.int64),
            kind=np.array([_kind(box.box) for box in tilted]),
            inverse=np.array([_inverse(box.box, unit) for box in tilted], dtype=np.int64),
        ),
        place,
    )


def _kind(box: Box | Parallelepiped) -> int:
    from tukeydp.trusted.sampling.loops import ALONG_THE_AXES, ROUNDED, SLANTED

    if isinstance(box, Parallelepiped):
        return ROUNDED
    return ALONG_THE_AXES if box.basis is None else SLANTED


def _inverse(box: Box | Parallelepiped, unit: IntArray) -> Any:
    """From coordinates to points; for those that are rounded the kernel has no use for it."""
    return unit if isinstance(box, Parallelepiped) or box.basis is None else box.basis.inverse


def _slots_of(
    levels: LevelSets, proposals: Proposals, place: IntArray, boxes: Sequence[Box | Union | TiltedBox | Parallelepiped]
) -> Slots:
    """The rows of the table that are drawn from tilted boxes at levels that are not quite without weight."""
    from tukeydp.trusted.sampling.loops import Slots, rough_slabs

    share = (proposals.last - proposals.first).astype(np.float64) / 2.0**WORD
    rows = np.flatnonzero(
        (place[proposals.box] >= 0) & (proposals.level > 0) & (proposals.last >= proposals.first) & (share > _LIGHT)
    )
    slot = np.full(len(proposals.level), -1, dtype=np.int64)
    slot[rows] = np.arange(len(rows))
    ranks = [levels.offsets(int(level)) for level in proposals.level[rows]]
    k = len(levels.directions)
    return Slots(
        slot,
        place[proposals.box[rows]],
        np.array([smallest for smallest, _ in ranks], dtype=np.int64).reshape(-1, k),
        np.array([largest for _, largest in ranks], dtype=np.int64).reshape(-1, k),
        rough_slabs(levels.directions, [boxes[group] for group in proposals.box[rows]], ranks),
    )


@cache
def _word_limits() -> NDArray[np.uint64]:
    """For each number of steps below the highest, the largest word that may keep a point: all beyond are 0."""
    return np.array([power(STEPS * WORD - steps) - 1 for steps in range(STEPS * WORD + 1)], dtype=np.uint64)


# Which loop makes the proposals of tables of many columns; None: the one for all tables.


Shape = Box | Union | TiltedBox | Parallelepiped
FastProposals = CoarseProposals | TiltedProposals


def fast_proposals(
    levels: LevelSets, within: Box, law: LevelDraw, proposals: Proposals, shapes: Sequence[Shape]
) -> FastProposals | None:
    """From tilted boxes if there is one, else by first bytes, where these tell enough."""
    boxes = [shape for shape in shapes if not isinstance(shape, TiltedBox)]
    if len(boxes) < len(shapes):
        return TiltedProposals(levels, within, law, proposals, shapes)
    return CoarseProposals(levels, within, law, proposals, boxes) if suits(levels, proposals, boxes) else None
