"""Branch and bound over the grid points of a box: how deep can each part of it be?

On a coarse grid the levels near the top hold no grid point, which no linear program on the whole of them can tell. In
boxes that are small enough, programs can: each box gets a *cap* that no grid point in it is deeper than. Level l is
then drawn from the boxes of cap at least l (docs/proofs/boxem.md, section 4). The heaviest box, by
(e^(epsilon/2))^cap times its points, is cut first. Where the whole box is small, its deep points are simply listed.

A tree is a list of cuts, and for each part a claim: a cap and the multipliers that prove it. `Covers.branched` makes
the parts and checks the claims.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from tukeydp.trusted.boxes import Box
from tukeydp.trusted.compiled_code import compiled
from tukeydp.trusted.covers import Claims, Cover, Covers, Listed, Rung, walk_of
from tukeydp.trusted.levels import level_sets
from tukeydp.trusted.parameters import FloatArray, IntArray
from tukeydp.trusted.sampling import compiling

if TYPE_CHECKING:
    from tukeydp.hints.nodes import Nodes
    from tukeydp.trusted.records import Ranks

_MOST_POINTS = 2**61  # of the root: numbers of points are drawn below in one 64-bit word
# A certificate's two sums are each below LARGEST_WEIGHT 2^58 and what rounding adds, less than 2^50:
# together below 2^60. With more they could leave 64 bits, and a level that has points count as empty.
_SUM_BITS = 58
# Bits of the integer multiplier of weight 1: with fewer, certificates are loose, and rounding could add more than that.
_FEWEST_BITS = 8
_MEMORY = 2**28  # bytes of nodes, at most: then the tree stays as it is, and its caps hold
_FIRST_ROOM = 2**10  # nodes that there is room for at first
# Lists of deep points, speed only. Visits at most, a second or so, judging by a few; with more of them programs are
# faster, one of which takes as long as about _VISITS.
_MOST_VISITS, _FEW_VISITS, _VISITS = 2**22, 2**13, 2**10
_LISTED = 2**16  # points at most, some 30 MiB in twenty columns
# Levels that are not listed may take so many proposals, a millisecond or two, and so many times those of the levels
# below the base, which are made in any case.
_FEW_TRIES, _SHARE = 2.0**14, 4.0


class Tree:
    """Disjoint boxes that cover a box of grid points, and for each a cap on the depth of its points.

    Attributes
    ----------
    base
        The tree's box contains every grid point of depth at least `base`.
    steps
        How many programs were solved, or what took as long: the work so far.
    """

    def __init__(self, covers: Covers, root: Cover, ranks: Ranks, half_epsilon: float) -> None:
        from tukeydp.hints.programs import Slopes

        top, box = covers.top, root.hull
        self.base, self.half_epsilon, self.steps = root.level, half_epsilon, 0
        # The points of depth at least `_listed_from`, the deepest first; nodes serve the levels below.
        self._listed: Listed | None = None
        self._covers, self._root, self._top = covers, root, top
        self._ranks, self._count, self._deepest = ranks, 1, 0
        k, d = ranks.directions.shape
        lengths = _lengths(ranks.directions)
        columns = np.ascontiguousarray((ranks.directions / lengths[:, np.newaxis]).T)
        self._slopes = Slopes(columns, lengths, _scale(ranks, box))
        self._nodes = first = _room(_FIRST_ROOM, d)
        first.low[0], first.high[0], first.cap[0], first.open[0] = box.low, box.high, top, True
        # One slab and, for each column, the end that offsets its entry: multipliers >= 0 whatever the level.
        first.basis[0] = [0, *(2 * k + j + (d if columns[j, 0] > 0 else 0) for j in range(d))]

    @property
    def _caps(self) -> IntArray:
        """Of the listed points."""
        return np.empty(0, dtype=np.int64) if self._listed is None else self._listed.caps

    @property
    def top(self) -> int:
        """No grid point of the root is deeper, if all claims hold."""
        return int(max(self._nodes.cap[: self._count].max(), self._caps.max(initial=0)))

    @property
    def log_weight(self) -> float:
        """About the log of the weight of all proposals from the tree."""
        weights = np.append(self._nodes.weight[: self._count], self.half_epsilon * self._caps)
        return float(np.logaddexp.reduce(weights)) if self.steps else math.inf

    @property
    def tries(self) -> float:
        """About how many proposals one accepted point takes, at most: as if one found point were the only one."""
        return math.exp(min(600.0, self.log_weight - self.half_epsilon * self._deepest))

    @property
    def few_tries(self) -> float:
        """Proposals that are worth making before the tree grows: where there is a list, as many as it was made for."""
        return _FEW_TRIES if self._listed is not None and self._listed.level <= self._top else 0.0

    def grow(self, steps: int, enough: float) -> None:
        """Solve programs until there have been so many in all, or `tries` is at most `enough` times their number."""
        grow = _grower()
        d = self._ranks.directions.shape[1]
        most = _MEMORY // (36 * d + 100)
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

    def list_points(self, start: IntArray) -> bool:
        """List the deep points of the root, if it is small; False if that would take too long.

        `start` is any of its points, better a deep one.
        """
        nodes, q = self._nodes, self.half_epsilon
        low, high, top = nodes.low[0].copy(), nodes.high[0].copy(), int(nodes.cap[0])
        log_points = float(np.log(high - low + 1.0).sum())
        climb, estimate, _ = compiling.lister()
        deepest = min(top, climb(start, low, high, self._ranks))
        margin = math.floor(max(0.0, min(top, (log_points - math.log(_FEW_TRIES)) / q)))
        light = self.base + math.floor(min(top, math.log(_SHARE) / q))
        level = max(self.base, min(deepest, max(deepest - margin, light)))
        if estimate(walk_of(low, high, self._ranks.directions), level, _FEW_VISITS, self._ranks) > _MOST_VISITS:
            return False
        room = round(min(_LISTED, math.exp(log_points) + 1.0))
        found = self._covers.listed(self._root, level, margin, 2 * _MOST_VISITS, room)
        if found is None:
            return False
        self.steps += -(-found.visits // _VISITS)
        self._listed = found
        self._deepest = int(found.caps[0]) if len(found.caps) else min(deepest, found.level - 1)
        nodes.cap[0] = min(top, found.level - 1)
        if nodes.cap[0] < self.base:  # there is nothing left to prove
            nodes.open[0], nodes.column[0] = False, -1
        nodes.weight[0] = q * nodes.cap[0] + log_points
        return True

    def rungs(self) -> list[Rung]:
        """The levels from the base up, each with the listed points of that level or the boxes of cap at least that."""
        nodes, count = self._nodes, self._count
        cuts = np.column_stack([nodes.parent[1:count], nodes.along[1:count], nodes.at[1:count]])
        claims = Claims(nodes.cap[:count], nodes.rows[:count], nodes.values[:count])
        return self._covers.branched(self._root, cuts, claims, self._listed)


def planted(covers: Covers, root: Cover, half_epsilon: float) -> Tree | None:
    """A tree for the levels from a cover's own, at least 1, up to the top.

    None if a word cannot hold what has to be counted there, or not with multipliers that are of use.
    """
    if not 1 <= root.level <= covers.top:
        return None
    ranks = covers.view.ranks(root.level, covers.top)
    few_bits = _scale(ranks, root.hull) < 2.0**_FEWEST_BITS * _lengths(ranks.directions).max()
    if root.hull.size > _MOST_POINTS or few_bits:
        return None
    return Tree(covers, root, ranks, half_epsilon)


@cache
def _kept() -> Callable[..., tuple[int, int, int]]:
    """The loop of branch and bound, its code kept in a file."""
    from tukeydp.hints import nodes

    return compiled(nodes.grow.py_func)


def _grower() -> Callable[..., tuple[int, int, int]]:
    if compiling.keeping():
        return _kept()
    from tukeydp.hints import nodes

    return nodes.grow


@cache
def compile_once() -> None:
    """Grow a tree for fixed rows: whether its compiled code is kept in a file must not depend on the caller's."""
    compiling.keep()
    levels = level_sets(np.array([[0, 0], [1, 2], [2, 1], [1, 1]]), np.array([[1, 0], [0, 1], [1, 1]]))
    covers = Covers(levels, Box((-3, -3), (3, 3)))
    covers.unbroken()
    tree = planted(covers, covers.boxed(1), 0.5)
    assert tree is not None
    tree.grow(1, 0.0)


@cache
def compile_lists() -> None:
    """The same for lists of points."""
    levels = level_sets(np.array([[0, 0], [1, 2], [2, 1], [1, 1]]), np.array([[1, 0], [0, 1], [1, 1]]))
    covers = Covers(levels, Box((-3, -3), (3, 3)))
    covers.unbroken()
    tree = planted(covers, covers.boxed(1), 0.5)
    assert tree is not None
    tree.list_points(np.array([1, 1]))


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
    from tukeydp.hints.nodes import Nodes

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
        parent=np.zeros(count, dtype=np.int64),
        along=np.zeros(count, dtype=np.int64),
        at=np.zeros(count, dtype=np.int64),
        rows=np.zeros((count, d + 1), dtype=np.int64),
        values=np.zeros((count, d + 1), dtype=np.int64),
    )
    if old is not None:
        for name in Nodes._fields:
            before = getattr(old, name)
            getattr(fresh, name)[: len(before)] = before[:count]
    return fresh
