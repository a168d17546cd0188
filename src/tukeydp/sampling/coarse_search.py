"""Proposals for tables of many columns: most are rejected by the first byte of each coordinate.

A coordinate of a box of w points is floor(theta w) above its low end, theta uniform in [0, 1). Its bits are revealed as
far as needed: the first byte in the kernel, further ones for candidates only. The law is that of proposals with all bits
known (docs/proofs/boxem.md, section 6).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tukeydp.exact.boxes import Box, Union
from tukeydp.exact.level_draw import WORD
from tukeydp.randomness import Bits, Keystream
from tukeydp.sampling.sampler import Accepted, Search

if TYPE_CHECKING:
    from tukeydp.sampling.coarse_kernels import Candidates, Order

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


class CoarseSearch(Search):
    """Proposals from boxes along the axes."""

    def __init__(self, *arguments: Any) -> None:
        from tukeydp.sampling import coarse_filter, coarse_kernels

        super().__init__(*arguments)
        k = len(self._levels.directions)
        self._words = coarse_kernels.Words(self._proposals.first, self._proposals.last, self._proposals.guide)
        self._filter = coarse_filter.filter_of(self._levels, self._proposals, self._boxes)
        counts = np.zeros((2, k), dtype=np.int64)
        self._order: Any = TriedOrder(coarse_kernels.Order(np.arange(k), *counts))

    def first_accepted(self, stream: Keystream, lane: int, order: Any) -> Accepted | None:
        from tukeydp.sampling import coarse_kernels

        d, count = self._levels.d, _in_lane(lane)
        words = stream.words(2 * lane, count + -(-count * d // 8))
        spare = stream.bits(2 * lane + 1)
        found = coarse_kernels.room(count, d)
        left = coarse_kernels.candidates(
            words[:count], words[count:].view(np.uint8), self._words, self._filter, order.arrays, found
        )
        order.renew()
        # In the order of the proposals: the first that is accepted is the lane's.
        for i in np.argsort(found.number[:left]).tolist():
            accepted = self._finished(found, i, words, spare, lane)
            if accepted is not None:
                return accepted
        return None

    def _finished(self, found: Candidates, i: int, words: Any, spare: Bits, lane: int) -> Accepted | None:
        """A candidate with all its bits, if it is accepted."""
        row = int(found.row[i])
        if row < 0:
            level, group = self._law.finish(int(words[found.number[i]]), spare)
        else:
            level, group = int(self._proposals.level[row]), int(self._proposals.box[row])
        box = self._boxes[group]
        assert isinstance(box, Box)
        drawn = bool(found.drawn[i])
        known = [(t, 8) for t in found.first_bytes[i].tolist()] if drawn else [(0, 0)] * len(box.low)
        point = [
            a + _scaled(bits, have, b - a + 1, spare)
            for (bits, have), a, b in zip(known, box.low, box.high, strict=True)
        ]
        return Accepted(point, level, lane) if self._levels.contains(point, level) else None

    def _lane_words(self, lane: int) -> int:
        return _in_lane(lane) * (1 + self._levels.d)


def _in_lane(lane: int) -> int:
    return _LANE_PROPOSALS[min(lane, len(_LANE_PROPOSALS) - 1)]


def _scaled(bits: int, have: int, width: int, spare: Bits) -> int:
    """floor(theta * width) for the theta that starts with so many bits: uniform below the width."""
    while True:
        bits, have = (bits << WORD) | spare.take(WORD), have + WORD
        least, most = bits * width >> have, ((bits + 1) * width - 1) >> have
        if least == most:
            return least
