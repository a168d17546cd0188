"""Which first bytes of a proposal's coordinates cannot belong to a point of its level: thresholds in integers.

For direction v, a box with ends low and widths w, and y = low + floor(theta w) where theta_j starts with the byte t_j,

    256 <v, y - low> = sum_j v_j w_j (t_j + e_j) - 256 sum_j v_j f_j,    0 <= e_j < 1,  0 <= f_j < 1.

With integers c_j such that |v_j w_j - 2^s c_j| <= 2^s, and X = sum_j c_j t_j,

    2^(8-s) <v, y - low>  is at most   X + 255 d + sum_j max(0, c_j + 1) + 2^(8-s) sum_j max(0, -v_j),
                          at least     X - 255 d - sum_j max(0, 1 - c_j) - 2^(8-s) sum_j max(0, v_j).

So where X lies too far from the level's two ranks, y is not in the level whatever the further bits. In a slanted box
the same is said of z = U y and of the direction v U^-1, since <v, y> = <v U^-1, z>; in a parallelepiped of s = V x and
of v V^-1, where y is x but for at most half a step in each column, in place of the f_j.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tukeydp.sampling.coarse_kernels import Filter
from tukeydp.trusted.boxes import Box, Union
from tukeydp.trusted.levels import LevelSets
from tukeydp.trusted.parameters import FloatArray, IntArray
from tukeydp.trusted.records import Proposals
from tukeydp.trusted.shapes import Parallelepiped

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
