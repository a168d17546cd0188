"""Hostile hints against the trusted part: every level is in its cover exactly once, the law is exact, nothing hangs."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from support import oracle
from support.covers import unproven
from tukeydp.audit.forced_samplers import _times
from tukeydp.trusted import certificates, exponential
from tukeydp.trusted import covers as covers_module
from tukeydp.trusted.boxes import Box, Union
from tukeydp.trusted.certificates import Multipliers
from tukeydp.trusted.covers import Claims, Cover, Covers, View
from tukeydp.trusted.exponential import Exponential, checked, groups_of, lighter, own_rungs
from tukeydp.trusted.levels import level_sets
from tukeydp.trusted.shapes import Parallelepiped, TiltedBox

Q = Fraction(3, 2)
EPSILONS = (Fraction(1, 100), Fraction(1), Fraction(20))
NUMBERS = (math.nan, math.inf, -math.inf, 1e300, -1e300, 1e-300, 0.0, 1.0, -1.0, 2.0, 10**30, -(2**63), 2**200, 3, True)


class Raises:
    """Every question to it raises."""

    def __getattribute__(self, name):
        raise RuntimeError("no")

    def __iter__(self):
        raise RuntimeError("no")

    def __index__(self):
        raise RuntimeError("no")

    def __float__(self):
        raise RuntimeError("no")


NONSENSE = (None, "cut", 7, 2.5, math.nan, Raises(), [Raises()], [[1, 2], [3]], [None], {}, b"", object(), [10**30] * 3)


class Table:
    """A tiny table, its depths by brute force, and hints about it drawn at random."""

    def __init__(self, seed):
        self.rng = rng = np.random.default_rng(seed)
        self.d = d = int(rng.integers(1, 4))
        side = int(rng.integers(2, 4 if d == 3 else 6))
        rows = rng.integers(0, side, size=(int(rng.integers(1, 10)), d))
        directions = rng.integers(-3, 4, size=(int(rng.integers(1, 5)), d))
        directions = directions[directions.any(axis=1)]
        if rng.random() < 0.5 or not len(directions):
            directions = np.vstack([np.eye(d, dtype=np.int64), directions])
        self.levels = level_sets(rows, directions, lowest=int(rng.integers(1, len(rows) + 1)))
        self.within = Box((0,) * d, (side - 1,) * d)
        points = list(itertools.product(range(side), repeat=d))
        self.depths = {y: oracle.depth(rows.tolist(), y, directions.tolist()) for y in points}
        self.covers = Covers(self.levels, self.within)

    def any_of(self, *kinds):
        return kinds[int(self.rng.integers(len(kinds)))]

    def mostly(self, *sense):
        """One of these, or sometimes nonsense: else hints would hardly ever get past the first check."""
        return self.any_of(*(sense if self.rng.random() < 0.85 else NONSENSE))

    def number(self):
        return float(self.rng.normal()) if self.rng.random() < 0.7 else self.any_of(*NUMBERS)

    def multipliers(self):
        if self.rng.random() < 0.2:
            return self.any_of(*NONSENSE)
        count = int(self.rng.integers(0, 5))
        rows = self.rng.integers(-2 if self.rng.random() < 0.3 else 0, len(self.levels.directions), size=count).tolist()
        return Multipliers(rows, [self.number() for _ in range(count + (self.rng.random() < 0.05))])

    def supports(self):
        if self.rng.random() < 0.2:
            return self.any_of(*NONSENSE)
        return [(self.multipliers(), self.multipliers()) for _ in range(self.d + (self.rng.random() < 0.05))]

    def level(self):
        return int(self.rng.integers(-1, self.levels.rows + 2)) if self.rng.random() < 0.9 else self.any_of(*NONSENSE)

    def matrix(self):
        if self.rng.random() < 0.2:
            return self.any_of(*NONSENSE)
        matrix = np.eye(self.d, dtype=np.int64)
        for _ in range(3):
            i, j = self.rng.integers(self.d, size=2)
            if i != j:
                matrix[i] += int(self.rng.integers(-2, 3)) * matrix[j]
        if self.rng.random() < 0.3:  # of another determinant
            matrix[0] = matrix[0] * 2
        return matrix.tolist()

    def claims(self, count):
        if self.rng.random() < 0.1:
            return self.any_of(*NONSENSE)
        shape = count, int(self.rng.integers(1, 4))
        low = -1 if self.rng.random() < 0.1 else 0
        values = self.rng.integers(-5, 6, size=shape)
        if self.rng.random() < 0.1:
            values[:] = 2**62
        rows = self.rng.integers(low, len(self.levels.directions), size=shape)
        return Claims(self.rng.integers(-2, self.levels.rows + 2, size=count), rows, values)

    def cuts(self):
        if self.rng.random() < 0.1:
            return self.any_of(*NONSENSE)
        count = 3000 if self.rng.random() < 0.01 else int(self.rng.integers(0, 12))
        made = self.rng.integers(0, [3, self.d, 4], size=(count, 3))
        made[:, 0] = np.minimum(made[:, 0], np.arange(count)) if self.rng.random() < 0.9 else made[:, 0]
        return made

    def hint(self, known):
        """One cover, or several with their levels, by a random rule from random hints."""
        rule, c = int(self.rng.integers(9)), self.covers
        level = self.level()
        if rule == 0:
            return [(level, c.boxed(level, self.supports(), known))]
        if rule == 1:
            return [(level, c.slanted(level, self.matrix(), self.supports(), known))]
        if rule == 2:
            rows = self.mostly(self.rng.integers(0, len(self.levels.directions), size=self.d).tolist())
            return [(level, c.framed(level, rows, self.supports(), known))]
        if rule == 3:
            rates = self.mostly([self.number() for _ in range(self.d)], self.rng.normal(size=self.d) * 3)
            return [(known.level, c.tilted(known, rates, self.multipliers()))]
        if rule == 4:
            starts = self.mostly(self.rng.integers(-1, 5, size=3).tolist())
            column, index = self.mostly(0, self.d - 1, 0, 99), self.mostly(0, 0, 0, 1, -1)
            slabs = self.mostly(None, [self.supports() for _ in range(int(self.rng.integers(1, 5)))])
            return [(known.level, c.sliced(known, index, column, starts, slabs))]
        if rule == 5:
            return c.looked_at(known)
        if rule == 6:
            listed = c.listed(known, self.level(), self.mostly(0, 1), 10**6, self.any_of(1, 5, 500))
            cuts = self.cuts()
            count = len(cuts) + 1 if type(cuts) is np.ndarray else 1
            return c.branched(known, cuts, self.claims(count), self.mostly(listed, listed, None))
        if rule == 7:
            c.proves_empty(level, self.multipliers())
            return [(level, c.boxed(level))]
        return [(level, c.own(level))]

    def once_each(self, cover):
        """Every point of the cover's level is in it once, and it has as many points as it says."""
        for y, depth in self.depths.items():
            times = sum(_holds(part, y) for part in cover.parts)
            assert times == 1 or depth < cover.level
            assert cover.hull.holds(y) or depth < cover.level
        for part in cover.parts:
            assert part.size == _counted(part)

    def law(self, lowest, groups):
        """The weight that every point is accepted with, as in audit/forced_samplers.py."""
        assert groups[0][0].lowest == lowest
        for y, depth in self.depths.items():
            found = sum(
                (Q**level - (Q ** (level - 1) if level > lowest else 0)) * _holds(part, y)
                for group, part in groups
                for level in range(group.lowest, group.highest + 1)
                if level <= depth
            )
            assert found == (Q**depth if depth >= lowest else 0)

    def proposals(self, lowest, groups, epsilon):
        """How many one accepted point takes, in logarithm."""
        half = float(epsilon) / 2

        def log_weight(group):
            below = -math.inf if group.lowest == lowest else half * (group.lowest - 1 - group.highest)
            return half * group.highest + math.log(-math.expm1(below)) + math.log(group.size)

        accepted = [half * depth for depth in self.depths.values() if depth >= lowest]
        return np.logaddexp.reduce([log_weight(group) for group, _ in groups]) - np.logaddexp.reduce(accepted)


def _holds(part, y):
    return 1 if isinstance(part, TiltedBox) and isinstance(part.box, Parallelepiped) else _times(part, y)


def _counted(part):
    """The points of boxes one by one; of other shapes what the parts of the package say that test_tilted.py tests."""
    if isinstance(part, Box):
        return len(list(itertools.product(*(range(a, b + 1) for a, b in zip(part.low, part.high, strict=True)))))
    if isinstance(part, Union):
        return len({tuple(part.point(part.first + i)) for i in range(part.size)})
    return part.size


class Planned:
    def __init__(self, rungs):
        self._rungs = rungs

    def plan(self, failed):
        if self._rungs is None:
            raise RuntimeError("no")
        return self._rungs, math.nan


def examine(seed):
    """Some hints for one table; how many."""
    table = Table(seed)
    covers, deepest = table.covers, max(table.depths.values())
    made, rungs = [covers.whole()], []
    for _ in range(10):
        found = table.hint(made[int(table.rng.integers(len(made)))])
        for start, cover in found:
            assert type(cover) is Cover
            table.once_each(cover)
            if cover.parts:
                made.append(cover)
            rungs.append((start, cover))
    assert covers.top >= deepest
    lowest = int(table.rng.integers(0, deepest + 1))
    hostile = [*rungs, (1, unproven(Covers(table.levels, table.within), 1, table.within)), None, (1, 2), (Raises(), 3)]
    table.rng.shuffle(hostile)
    hostile = table.any_of(hostile, hostile, sorted(rungs, key=lambda rung: str(rung[0]).zfill(3)), [], Raises())
    for many in (0, 10):
        table.law(lowest, groups_of(covers, lowest, hostile, many))
    epsilon = table.any_of(*EPSILONS)
    own = own_rungs(covers, lowest, epsilon)
    safe = groups_of(covers, lowest, lighter(covers, lowest, hostile, own))
    table.law(lowest, safe)
    # Every level has the box that its points span, or less.
    assert table.proposals(lowest, safe, epsilon) <= math.log(table.within.size) + 1e-9
    if seed % 50 == 0:
        planner = Planned(table.any_of(hostile, None))
        point = Exponential(covers, epsilon=epsilon, lowest=lowest, planner=planner, threads=1).draw(bytes(32))
        assert table.depths[tuple(point)] >= lowest
    return 10


def test_hostile_hints_make_covers_all_the_same():
    assert sum(examine(seed) for seed in range(60)) == 600


@pytest.mark.slow
def test_ten_thousand_hostile_hints():
    assert sum(examine(seed) for seed in range(1000, 2000)) == 10_000


@pytest.mark.parametrize(
    "broken",
    ["a cell too small", "a wrong size", "overlapping slices", "a tree that loses a part", "multipliers not checked"],
)
def test_what_would_be_wrong_is_noticed(broken, monkeypatch):
    """The controls: each makes the same examination fail on some table."""
    made = Covers._made
    if broken == "a cell too small":
        bound = certificates.weighted_bound
        monkeypatch.setattr(covers_module, "weighted_bound", lambda *given: bound(*given) - 1)
    if broken == "a wrong size":
        monkeypatch.setattr(
            Box,
            "size",
            property(lambda box: 2 * math.prod(max(0, b - a + 1) for a, b in zip(box.low, box.high, strict=True))),
        )
    if broken == "overlapping slices":
        monkeypatch.setattr(
            Covers, "_made", lambda self, level, parts, hull: made(self, level, [*parts, *parts[1:]], hull)
        )
    if broken == "a tree that loses a part":
        parts_of = Covers._parts_of
        monkeypatch.setattr(Covers, "_parts_of", lambda *given: tuple(ends[1:] for ends in parts_of(*given)))
    if broken == "multipliers not checked":
        monkeypatch.setattr(covers_module, "_claims_hold", lambda low, *_: np.ones(len(low), dtype=bool))
    with pytest.raises(AssertionError):
        sum(examine(seed) for seed in range(200))


def test_nobody_else_makes_a_cover():
    covers = Table(0).covers
    with pytest.raises(TypeError):
        Cover(object(), covers, 0, [covers.within], covers.within)
    with pytest.raises(AttributeError):
        covers.whole().level = 3
    with pytest.raises(TypeError):
        type("Mine", (Cover,), {})


def test_hints_cannot_write_to_what_they_see():
    table = Table(1)
    view = View(table.levels)
    for seen in (view.directions, view.sample, *view.offsets(1)):
        with pytest.raises(ValueError, match="read-only"):
            seen[...] = 0
    ranks = view.ranks(1, table.levels.rows)
    ranks.projections[:] = 99
    assert not (table.levels.offsets(1)[0] == 99).any()


def test_the_ladder_is_ours_where_a_plan_draws_in_vain(monkeypatch):
    """One rung for all levels at epsilon = 20: e^(10 n) proposals from the public box, a few from our own."""
    monkeypatch.setattr(exponential, "_IN_VAIN", 64.0)
    rows = np.random.default_rng(3).normal(size=(60, 2)) * 1000
    levels = level_sets(np.rint(rows).astype(np.int64), np.array([[1, 1], [1, -1], [2, 1]]))
    covers = Covers(levels, Box((-(2**40),) * 2, (2**40,) * 2))
    draws = Exponential(covers, epsilon=Fraction(20), lowest=0, planner=Planned([]), threads=1)
    assert levels.contains(draws.draw(bytes(32)), covers.top - 3)
    assert len(checked(covers, 0, draws._own)) > 2
