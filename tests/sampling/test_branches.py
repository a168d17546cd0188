"""Branch and bound: caps hold for every grid point, boxes stay disjoint, and the law is left alone."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support import oracle
from support.covers import planted_in, tree_groups
from tukeydp.hints import branches as branches_module
from tukeydp.hints import envelope as envelope_module
from tukeydp.hints.envelope import Envelope
from tukeydp.hints.linear_programs import LinearPrograms
from tukeydp.hints.programs import Slopes
from tukeydp.trusted.bits import Keystream, derived_key
from tukeydp.trusted.boxes import Box, Pieces, Union
from tukeydp.trusted.covers import Covers
from tukeydp.trusted.levels import level_sets
from tukeydp.trusted.sampling.draws import Sampler

POINTS = list(itertools.product(range(-3, 4), repeat=2))
WITHIN = Box((-3, -3), (3, 3))
FAR = (10**6, -(10**6))

rows_of = st.lists(st.sampled_from([*POINTS, FAR]), min_size=1, max_size=12)
direction = st.tuples(st.integers(-4, 4), st.integers(-4, 4)).filter(any)
directions_of = st.lists(direction, min_size=1, max_size=6)


def tree_of(rows, directions, base, *, held=1):
    levels = level_sets(np.array(rows), np.array(directions), lowest=held)
    return planted_in(levels, WITHIN, base, 0.5)


@pytest.mark.parametrize("held", [1, 6])
@given(rows_of, directions_of, st.integers(0, 60), st.integers(1, 3))
def test_no_point_is_deeper_than_the_cap_of_its_box(held, rows, directions, steps, base):
    base = min(base, len(rows))
    tree = tree_of(rows, directions, base, held=held)
    tree.grow(steps, 0.0)
    count, nodes = tree._count, tree._nodes
    for y in POINTS:
        holding = np.flatnonzero(((nodes.low[:count] <= y) & (y <= nodes.high[:count])).all(axis=1))
        assert len(holding) == 1
        assert oracle.depth(rows, y, directions) <= max(nodes.cap[holding[0]], base - 1)


@given(rows_of, directions_of)
def test_a_full_grown_tree_finds_the_deepest_grid_point(rows, directions):
    tree = tree_of(rows, directions, 1)
    tree.grow(10_000, 0.0)
    assert tree.top == max(oracle.depth(rows, y, directions) for y in POINTS)


@given(rows_of, directions_of, st.integers(0, 60))
def test_every_point_is_in_each_of_its_levels_once(rows, directions, steps):
    levels = level_sets(np.array(rows), np.array(directions))
    envelope = Envelope(Covers(levels, WITHIN), LinearPrograms(levels))
    envelope.branch(0, 0.5, steps, 0.0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Envelope, "branched", lambda self, lowest: self.tree is not None)
        groups = envelope.groups(0)
    assert all(group.size == box.size > 0 for group, box in groups)
    for y in POINTS:
        depth = oracle.depth(rows, y, directions)
        holding = [level for group, box in groups if box.holds(y) for level in range(group.lowest, group.highest + 1)]
        assert sorted(level for level in holding if level <= depth) == list(range(depth + 1))


def test_a_union_numbers_its_points():
    low, high = np.array([[0, 0], [5, 5], [9, 0]]), np.array([[1, 2], [5, 6], [9, 0]])
    pieces = Pieces(low, high, np.cumsum(np.prod(high - low + 1, axis=1)))
    everything = [tuple(Union(pieces, 3).point(i)) for i in range(9)]
    wanted = {(x, y) for x in (0, 1) for y in (0, 1, 2)} | {(5, 5), (5, 6), (9, 0)}
    assert len(everything) == 9
    assert set(everything) == wanted
    first = Union(pieces, 2)
    bits = Keystream(derived_key("union")).bits(0)
    assert first.size == 8
    assert {tuple(first.uniform(bits)) for _ in range(500)} == wanted - {(9, 0)}
    assert all(first.holds(y) == (y in wanted - {(9, 0)}) for y in itertools.product(range(10), repeat=2))


def test_numbers_that_do_not_fit_in_words_plant_no_tree():
    rows = np.array([(0, 0), (1, 2), (2, 1), (1, 1)])
    levels = level_sets(rows, np.array([(1, 0), (0, 1), (2**40, 2**40 - 1)]))
    assert planted_in(levels, WITHIN, 1, 0.5) is not None
    assert planted_in(levels, Box((-(2**31), -(2**31)), (2**31, 2**31)), 1, 0.5) is None  # too many points
    assert planted_in(levels, Box((-(2**25), 0), (2**25, 0)), 1, 0.5) is None  # too large projections


@pytest.mark.parametrize("weight", [math.nan, math.inf, 1e300, 1.6])
def test_weights_that_a_solver_cannot_have_count_for_nothing(weight):
    from tukeydp.hints.programs import _rounded

    found = np.full(2, 7, dtype=np.int64)
    slopes = Slopes(np.eye(2), np.ones(2), 1024.0)
    _rounded(found, np.array([0, 1, 4], dtype=np.int32), np.array([0.5, weight, 0.0]), slopes)
    assert found.tolist() == [0, 0]


@pytest.mark.parametrize("d", [12, 15])
def test_skewed_scores_on_their_own_grid_need_few_tries(d, monkeypatch):
    """Levels near the top hold no grid point. Counted in proposals and programs, not in seconds; without lists."""
    monkeypatch.setattr(envelope_module, "MANY_COLUMNS", d)
    rng = np.random.default_rng(0)
    rows = rng.choice(5, p=[0.05, 0.1, 0.2, 0.4, 0.25], size=(1000, d))
    directions = np.vstack([np.eye(d, dtype=np.int64), np.rint(rng.normal(size=(300, d)) * 1000).astype(np.int64)])
    levels = level_sets(rows, directions)
    envelope = Envelope(Covers(levels, Box((0,) * d, (4,) * d)), LinearPrograms(levels))
    before = envelope.top
    envelope.branch(0, 0.5, 20_000, 40.0)
    assert envelope.top < before - 60
    assert envelope.branched(0)
    assert envelope.tree.tries < 40 * envelope.tree.steps < 2e5


def test_the_lowest_level_is_drawn_from_its_own_box():
    """Not from the public one of 2^50 steps: beyond ten columns a tree may be planted before any level has a box."""
    rows = np.random.default_rng(0).integers(1, 6, size=(200, 11))
    levels = level_sets(rows, np.vstack([np.eye(11, dtype=np.int64), np.ones((1, 11), dtype=np.int64)]))
    public = Box((-(2**49),) * 11, (2**49,) * 11)
    sampler = Sampler(levels, within=public, epsilon=Fraction(1), lowest=20)
    assert levels.contains(sampler.draw(bytes(32)), 20)


def test_a_full_tree_keeps_what_it_has(monkeypatch):
    monkeypatch.setattr(branches_module, "_MEMORY", 172 * 40)  # forty nodes in two columns
    monkeypatch.setattr(branches_module, "_FIRST_ROOM", 16)
    rows = np.random.default_rng(1).integers(-3, 4, size=(60, 2))
    levels = level_sets(rows, np.array([(1, 0), (0, 1), (1, 2), (3, -1)]))
    tree = planted_in(levels, WITHIN, 1, 1e-6)
    tree.grow(10_000, 0.0)
    assert tree._count <= 40
    assert sum(box.size for group, box in tree_groups(tree) if group.lowest == 1) <= 49
