"""Proposals from tilted boxes, lane by lane: the law is that of boxes (docs/proofs/boxem.md, section 4)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tukeydp.sampling.rough_slabs import rough_slabs
from tukeydp.trusted.bits import Bits, Keystream
from tukeydp.trusted.boxes import Box, Union
from tukeydp.trusted.lanes import in_lane, level_and_box
from tukeydp.trusted.laws import WORD, LevelDraw
from tukeydp.trusted.levels import LevelSets
from tukeydp.trusted.parameters import IntArray
from tukeydp.trusted.shapes import SHARE_BITS, STEPS, Parallelepiped, TiltedBox, power

if TYPE_CHECKING:
    from tukeydp.sampling.tilted_kernels import Slots, Tilts
    from tukeydp.trusted.records import Proposals

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
        from tukeydp.sampling.coarse_kernels import words_of
        from tukeydp.sampling.tilted_kernels import Limits

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
        from tukeydp.sampling.tilted_kernels import BY_HAND, REJECTED, Survivors, survivors, test

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
    from tukeydp.sampling.tilted_kernels import GUIDE_BITS, Tilts

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
    from tukeydp.sampling.tilted_kernels import ALONG_THE_AXES, ROUNDED, SLANTED

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
    from tukeydp.sampling.tilted_kernels import Slots

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
