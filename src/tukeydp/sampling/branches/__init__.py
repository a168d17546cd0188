"""Branch and bound over the grid points of a box: how deep can each part of it be?

On a coarse grid the levels near the top hold no grid point, which no linear program on the whole of them can tell. In
boxes that are small enough, programs can: each box gets a *cap* that no grid point in it is deeper than. Level l is
then drawn from the boxes of cap at least l (docs/proofs/boxem.md, section 4). The heaviest box, by
(e^(epsilon/2))^cap times its points, is cut first.
"""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from tukeydp.arrays import FloatArray, IntArray
from tukeydp.depth.levels import LevelSets, level_sets
from tukeydp.exact.boxes import Box, Pieces, Union
from tukeydp.exact.level_draw import Group
from tukeydp.sampling import compiling

if TYPE_CHECKING:
    from tukeydp.sampling.branches.nodes import Nodes
    from tukeydp.sampling.records import Ranks

_MOST_POINTS = 2**61  # of the root: numbers of points are drawn below in one 64-bit word
# A certificate's two sums are each below LARGEST_WEIGHT 2^58 and what rounding adds, less than 2^50:
# together below 2^60. With more they could leave 64 bits, and a level that has points count as empty.
_SUM_BITS = 58
# Bits of the integer multiplier of weight 1: with fewer, certificates are loose, and rounding could add more than that.
_FEWEST_BITS = 8
_MEMORY = 2**28  # bytes of nodes, at most: then the tree stays as it is, and its caps hold
_FIRST_ROOM = 2**10  # nodes that there is room for at first


class Tree:
    """Disjoint boxes that cover a box of grid points, and for each a cap on the depth of its points.

    Attributes
    ----------
    base
        The tree's box contains every grid point of depth at least `base`.
    steps
        How many programs were solved: the work so far.
    """

    def __init__(self, ranks: Ranks, root: Box, base: int, top: int, half_epsilon: float) -> None:
        from tukeydp.sampling.branches.programs import Slopes

        self.base, self.half_epsilon, self.steps = base, half_epsilon, 0
        self._ranks, self._count, self._deepest = ranks, 1, 0
        k, d = ranks.directions.shape
        lengths = _lengths(ranks.directions)
        columns = np.ascontiguousarray((ranks.directions / lengths[:, np.newaxis]).T)
        self._slopes = Slopes(columns, lengths, _scale(ranks, root))
        self._nodes = first = _room(_FIRST_ROOM, d)
        first.low[0], first.high[0], first.cap[0], first.open[0] = root.low, root.high, top, True
        # One slab and, for each column, the end that offsets its entry: multipliers >= 0 whatever the level.
        first.basis[0] = [0, *(2 * k + j + (d if columns[j, 0] > 0 else 0) for j in range(d))]

    @property
    def top(self) -> int:
        """No grid point of the root is deeper."""
        return int(self._nodes.cap[: self._count].max())

    @property
    def log_weight(self) -> float:
        """About the log of the weight of all proposals from the tree."""
        return float(np.logaddexp.reduce(self._nodes.weight[: self._count])) if self.steps else math.inf

    @property
    def tries(self) -> float:
        """About how many proposals one accepted point takes, at most: as if one found point were the only one."""
        return math.exp(min(600.0, self.log_weight - self.half_epsilon * self._deepest))

    def grow(self, steps: int, enough: float) -> None:
        """Solve programs until there have been so many in all, or `tries` is at most `enough` times their number."""
        grow = compiling.grower()
        d = self._ranks.directions.shape[1]
        most = _MEMORY // (24 * d + 64)
        chunk = 1
        while self.steps < steps and chunk and self.tries > enough * self.steps:
            if 2 * self._count >= len(self._nodes.cap):
                self._nodes = _room(min(most, 4 * self._count), d, self._nodes)
            room = len(self._nodes.cap)
            chunk = min(steps - self.steps, max(_FIRST_ROOM // 4, self.steps // 4))
            self._count, chunk, deepest = grow(
                self._nodes, self._count, room, chunk, self.half_epsilon, self._ranks, self._slopes
            )
            self.steps += chunk
            self._deepest = max(self._deepest, deepest)

    def groups(self, top: int) -> list[tuple[Group, Union]]:
        """The levels base ... top, each with the boxes of cap at least that."""
        cap = self._nodes.cap[: self._count]
        order = np.argsort(-cap, kind="stable")
        order = order[: np.count_nonzero(cap >= self.base)]
        low, high = self._nodes.low[order], self._nodes.high[order]
        pieces = Pieces(low, high, np.cumsum(np.prod(high - low + 1, axis=1)))
        found: list[tuple[Group, Union]] = []
        start = self.base
        for end in np.unique(cap[order]).tolist():
            union = Union(pieces, int(np.count_nonzero(cap >= end)))
            if start <= top:
                found.append((Group(start, min(end, top), union.size), union))
            start = end + 1
        return found


def planted(levels: LevelSets, root: Box, base: int, top: int, half_epsilon: float) -> Tree | None:
    """A tree for the levels base ... top, 1 <= base <= top, whose grid points are all in `root`.

    None if a word cannot hold what has to be counted there, or not with multipliers that are of use.
    """
    from tukeydp.sampling.records import Ranks

    # Only the ranks of these levels: a row far away makes no number large.
    out = min(base - 1, levels.rows - top)
    window = levels.ensure(out + 1, upto=top)
    kept = window.projections[:, out - window.first : window.rows - out - window.first]
    highest = min(window.highest, window.rows - out)
    ranks = Ranks(levels.directions, np.ascontiguousarray(kept), out, highest)
    if root.size > _MOST_POINTS or _scale(ranks, root) < 2.0**_FEWEST_BITS * _lengths(ranks.directions).max():
        return None
    return Tree(ranks, root, base, top, half_epsilon)


@cache
def compile_once() -> None:
    """Grow a tree for fixed rows: whether its compiled code is kept in a file must not depend on the caller's."""
    compiling.keep()
    levels = level_sets(np.array([[0, 0], [1, 2], [2, 1], [1, 1]]), np.array([[1, 0], [0, 1], [1, 1]]))
    tree = planted(levels, Box((-3, -3), (3, 3)), 1, 2, 0.5)
    assert tree is not None
    tree.grow(1, 0.0)


def _lengths(directions: IntArray) -> FloatArray:
    return np.asarray(np.linalg.norm(directions.astype(np.float64), axis=1))


def _scale(ranks: Ranks, root: Box) -> float:
    """What a weight is multiplied by, over the length of its direction, to become an integer.

    A certificate has at most d + 1 multipliers u_i, |u_i| <= LARGEST_WEIGHT scale / length_i + 1/2. Each of its two
    sums is at most sum |u_i| p_i, where p_i bounds the projections on direction i of the root's points and the ranks.
    """
    ends = np.array([max(abs(a), abs(b)) for a, b in zip(root.low, root.high, strict=True)], dtype=np.float64)
    largest = np.maximum(
        np.abs(ranks.directions.astype(np.float64)) @ ends,
        np.abs(ranks.projections[:, [0, -1]].astype(np.float64)).max(axis=1),
    )
    columns = ranks.directions.shape[1]
    return float(2.0**_SUM_BITS / ((columns + 1) * (largest / _lengths(ranks.directions)).max(initial=1.0)))


def _room(count: int, d: int, old: Nodes | None = None) -> Nodes:
    """Room for so many nodes, those of `old` first."""
    from tukeydp.sampling.branches.nodes import Nodes

    fresh = Nodes(
        low=np.zeros((count, d), dtype=np.int64),
        high=np.zeros((count, d), dtype=np.int64),
        cap=np.zeros(count, dtype=np.int64),
        basis=np.zeros((count, d + 1), dtype=np.int32),
        weight=np.zeros(count),
        open=np.zeros(count, dtype=np.bool_),
        column=np.zeros(count, dtype=np.int64),
        cut=np.zeros(count, dtype=np.int64),
        heap=np.zeros(count, dtype=np.int64),
    )
    if old is not None:
        for name in Nodes._fields:
            before = getattr(old, name)
            getattr(fresh, name)[: len(before)] = before[:count]
    return fresh
