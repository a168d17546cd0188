"""Proposals for tables of many columns: most are rejected by the first byte of each coordinate.

A coordinate of a box of w points is floor(theta w) above its low end, theta uniform in [0, 1). Its bits are revealed as
far as needed: the first byte in the kernel, further ones for candidates only. The law is that of proposals with all
bits known (docs/proofs/boxem.md, section 6).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from tukeydp.trusted import lanes
from tukeydp.trusted.bits import Bits, Keystream
from tukeydp.trusted.boxes import Box, Union
from tukeydp.trusted.lanes import in_lane, level_and_box
from tukeydp.trusted.laws import WORD, LevelDraw
from tukeydp.trusted.levels import LevelSets
from tukeydp.trusted.shapes import Parallelepiped

if TYPE_CHECKING:
    from tukeydp.sampling.coarse_kernels import Candidates, Order
    from tukeydp.trusted.records import Proposals


class TriedOrder:
    """The order in which directions are tried: those that reject most of what is left come first. Speed only."""

    def __init__(self, arrays: Order, found: Candidates) -> None:
        self.arrays, self.found = arrays, found  # `found` is room for one thread at a time

    def copy(self) -> TriedOrder:
        from tukeydp.sampling.coarse_kernels import room

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
        from tukeydp.sampling.coarse_filter import filter_of
        from tukeydp.sampling.coarse_kernels import words_of

        self._levels, self._within, self._law = levels, within, law
        self._proposals, self._boxes = proposals, boxes
        self._words = words_of(proposals.first, proposals.last)
        self._filter = filter_of(levels, proposals, boxes)

    def order(self) -> TriedOrder:
        """The directions as they are given, none of them tried so far."""
        from tukeydp.sampling.coarse_kernels import Order, room

        k, d = self._levels.directions.shape
        return TriedOrder(Order(np.arange(k), *np.zeros((2, k), dtype=np.int64)), room(max(lanes.IN_LANES), d))

    def lane_words(self, lane: int) -> int:
        """As many as its proposals would take if all their bits were drawn."""
        return in_lane(lane) * (1 + self._levels.d)

    def first_accepted(self, stream: Keystream, lane: int, order: TriedOrder) -> tuple[list[int], int] | None:
        """The first accepted point of a lane and the level it was proposed at, if any of the proposals is."""
        from tukeydp.sampling.coarse_kernels import candidates

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
