"""Proposals for tables of many columns: most are rejected by the first byte of each coordinate.

A coordinate of a box of w points is floor(theta w) above its low end, theta uniform in [0, 1). Its bits are revealed as
far as needed: the first byte in the kernel, further ones for candidates only. The law is that of proposals with all
bits known (docs/proofs/boxem.md, section 6).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from tukeydp.depth.levels import LevelSets
from tukeydp.exact.boxes import Box, Union
from tukeydp.exact.level_draw import WORD, LevelDraw
from tukeydp.randomness import Bits, Keystream

if TYPE_CHECKING:
    from tukeydp.sampling.coarse_kernels import Order
    from tukeydp.sampling.records import Proposals

# Speed only, all of them: the law is the same, but what a seeded draw gives is not.
_LANE_PROPOSALS = (2**8, 2**12, 2**15)  # in the lanes 0, 1, 2, ...
_WIDE = 2**12  # points: of a column with fewer a byte tells too little, unless there is but one


def suits(boxes: Sequence[Box | Union]) -> bool:
    """Whether the boxes are along the axes, all of them, and none is narrow."""
    return all(
        isinstance(box, Box)
        and box.basis is None
        and all(b == a or b - a >= _WIDE for a, b in zip(box.low, box.high, strict=True))
        for box in boxes
    )


class TriedOrder:
    """The order in which directions are tried: those that reject most of what is left come first. Speed only."""

    def __init__(self, arrays: Order) -> None:
        self.arrays = arrays

    def copy(self) -> TriedOrder:
        return TriedOrder(type(self.arrays)(*(array.copy() for array in self.arrays)))

    def renew(self) -> None:
        directions, tried, rejected = self.arrays
        directions[:] = np.argsort(-rejected / np.maximum(tried, 1), kind="stable")


class CoarseProposals:
    """Proposals from boxes along the axes, lane by lane."""

    def __init__(self, levels: LevelSets, law: LevelDraw, proposals: Proposals, boxes: Sequence[Box | Union]) -> None:
        from tukeydp.sampling.coarse_filter import filter_of
        from tukeydp.sampling.coarse_kernels import Words

        self._levels, self._law, self._proposals, self._boxes = levels, law, proposals, boxes
        self._words = Words(proposals.first, proposals.last, proposals.guide)
        self._filter = filter_of(levels, proposals, boxes)

    def order(self) -> TriedOrder:
        """The directions as they are given, none of them tried so far."""
        from tukeydp.sampling.coarse_kernels import Order

        k = len(self._levels.directions)
        return TriedOrder(Order(np.arange(k), *np.zeros((2, k), dtype=np.int64)))

    def lane_words(self, lane: int) -> int:
        """As many as its proposals would take if all their bits were drawn."""
        return _in_lane(lane) * (1 + self._levels.d)

    def first_accepted(self, stream: Keystream, lane: int, order: TriedOrder) -> tuple[list[int], int] | None:
        """The first accepted point of a lane and the level it was proposed at, if any of the proposals is."""
        from tukeydp.sampling.coarse_kernels import candidates, room

        d, count = self._levels.d, _in_lane(lane)
        words = stream.words(2 * lane, count + -(-count * d // 8))
        spare = stream.bits(2 * lane + 1)
        found = room(count, d)
        left = candidates(words[:count], words[count:].view(np.uint8), self._words, self._filter, order.arrays, found)
        order.renew()
        # In the order of the proposals: the first that is accepted is the lane's.
        for i in np.argsort(found.number[:left]).tolist():
            level, box = self._row(int(found.row[i]), int(words[found.number[i]]), spare)
            known = found.first_bytes[i].tolist() if found.drawn[i] else None
            point = _finished(box, known, spare)
            if self._levels.contains(point, level):
                return point, level
        return None

    def _row(self, row: int, word: int, spare: Bits) -> tuple[int, Box]:
        """Level and box of a row of the table, or of a word that does not tell them."""
        if row < 0:
            level, group = self._law.finish(word, spare)
        else:
            level, group = int(self._proposals.level[row]), int(self._proposals.box[row])
        box = self._boxes[group]
        assert isinstance(box, Box)
        return level, box


def _finished(box: Box, first_bytes: Sequence[int] | None, spare: Bits) -> list[int]:
    """A uniform point of the box, of whose coordinates the first bytes may be known."""
    known = [(0, 0)] * len(box.low) if first_bytes is None else [(byte, 8) for byte in first_bytes]
    return [
        a + _scaled(bits, have, b - a + 1, spare) for (bits, have), a, b in zip(known, box.low, box.high, strict=True)
    ]


def _in_lane(lane: int) -> int:
    return _LANE_PROPOSALS[min(lane, len(_LANE_PROPOSALS) - 1)]


def _scaled(bits: int, have: int, width: int, spare: Bits) -> int:
    """floor(theta * width) for the theta that starts with so many bits: uniform below the width."""
    while True:
        bits, have = (bits << WORD) | spare.take(WORD), have + WORD
        least, most = bits * width >> have, ((bits + 1) * width - 1) >> have
        if least == most:
            return least
