"""Certified boxes contain every point of their level set, whatever the hint."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support import oracle
from support.hints import Garbage
from tukeydp.hints import boxes as boxes_module
from tukeydp.hints.envelope import Envelope
from tukeydp.hints.linear_programs import LinearPrograms
from tukeydp.hints.simplex_programs import SimplexPrograms
from tukeydp.trusted.boxes import Box
from tukeydp.trusted.certificates import Multipliers, proves_empty, upper_bound
from tukeydp.trusted.covers import Covers
from tukeydp.trusted.levels import level_sets

SIDE = 7
POINTS = list(itertools.product(range(-3, 4), repeat=2))
WITHIN = Box((-3, -3), (3, 3))


class Nothing:
    """No hint at all."""

    def __init__(self, levels):
        self._d = levels.d

    def emptiness(self, level):
        return Multipliers((), ())

    def supports(self, levels, objectives, within=None):
        return [[(Multipliers((), ()), Multipliers((), ()))] * len(objectives) for _ in levels]

    def shape(self, level):
        return None

    def middle(self, level):
        return None


class WrongSign(LinearPrograms):
    """The solver's answer to the opposite question."""

    def emptiness(self, level):
        found = super().emptiness(level)
        return Multipliers(found.rows, [-v for v in found.values])

    def supports(self, levels, objectives, within=None):
        return [[(down, up) for up, down in level] for level in super().supports(levels, objectives, within)]


rows_of = st.lists(st.sampled_from(POINTS), min_size=1, max_size=12)
direction = st.tuples(st.integers(-4, 4), st.integers(-4, 4)).filter(any)
directions_of = st.lists(direction, min_size=1, max_size=6)


@pytest.mark.parametrize("hints", [LinearPrograms, SimplexPrograms, Garbage, Nothing, WrongSign])
@given(rows_of, directions_of)
def test_boxes_contain_their_level_sets(hints, rows, directions):
    levels = level_sets(np.array(rows), np.array(directions))
    depths = {y: oracle.depth(rows, y, directions) for y in POINTS}
    envelope = Envelope(Covers(levels, WITHIN), hints(levels))
    assert envelope.top >= max(depths.values())
    envelope.refine(range(1, envelope.top + 1))
    assert envelope.top >= max(depths.values())
    for level, box in envelope.boxes.items():
        assert box.meet(WITHIN) == box
        for y, t in depths.items():
            assert levels.contains(y, level) == (t >= level)
            if t >= level:
                assert all(a <= c <= b for a, c, b in zip(box.low, y, box.high, strict=True))


@given(rows_of, directions_of, st.data())
def test_any_multipliers_give_a_valid_bound(rows, directions, data):
    levels = level_sets(np.array(rows), np.array(directions))
    number = st.floats(allow_nan=True, allow_infinity=True)
    weights = data.draw(st.lists(number, min_size=len(directions), max_size=len(directions)))
    multipliers = Multipliers(range(len(directions)), weights)
    objective = data.draw(st.tuples(st.integers(-5, 5), st.integers(-5, 5)))
    level = data.draw(st.integers(1, len(rows)))
    bound = upper_bound(levels, level, objective, multipliers, WITHIN)
    deep = [y for y in POINTS if levels.contains(y, level)]
    assert all(objective[0] * y[0] + objective[1] * y[1] <= bound for y in deep)
    if proves_empty(levels, level, multipliers, WITHIN):
        assert not deep


@pytest.mark.parametrize("seed", range(4))
def test_multipliers_of_either_sign_give_valid_and_sometimes_tight_bounds(seed):
    """Objectives that are combinations of directions, so that nothing is left to the box: each sign has its own end."""
    rng = np.random.default_rng(seed)
    tight = 0
    for _ in range(150):
        rows = rng.integers(-3, 4, size=(9, 2))
        directions = rng.integers(-3, 4, size=(4, 2))
        levels = level_sets(rows, directions)
        values = rng.permutation([rng.choice([-2, -1, 1, 2]), rng.choice([-1, 0, 0, 1]), 0, 0])
        objective = (values @ directions).tolist()
        for level in (1, 2, 3):
            bound = upper_bound(levels, level, objective, Multipliers(range(4), values.tolist()), WITHIN)
            deep = [y for y in POINTS if oracle.depth(rows.tolist(), y, directions.tolist()) >= level]
            reached = max((objective[0] * a + objective[1] * b for a, b in deep), default=-math.inf)
            assert reached <= bound
            tight += reached == bound
    assert tight > 50


@pytest.mark.parametrize("hints", [LinearPrograms, SimplexPrograms, Garbage, WrongSign])
@given(rows_of, directions_of)
def test_slanted_boxes_contain_their_level_sets(hints, rows, directions):
    levels = level_sets(np.array(rows), np.array(directions))
    depths = {y: oracle.depth(rows, y, directions) for y in POINTS}
    envelope = Envelope(Covers(levels, WITHIN), hints(levels))
    envelope.refine(range(1, envelope.top + 1))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(boxes_module, "_WORTHWHILE", -math.inf)
        envelope.rebase()
    assert envelope.top >= max(depths.values())
    for level, (box,) in ((level, cover.parts) for level, cover in envelope._slanted.items()):
        assert box.basis is not None
        for y, t in depths.items():
            if t >= level:
                z = [sum(a * c for a, c in zip(row, y, strict=True)) for row in box.basis.matrix]
                assert all(a <= c <= b for a, c, b in zip(box.low, z, box.high, strict=True))
                assert box.point(z) == list(y)


@pytest.mark.parametrize("hints", [LinearPrograms, Garbage])
@pytest.mark.parametrize("most_points", [1, 5, 49])
@given(rows_of, directions_of)
def test_settling_keeps_the_invariant_and_finds_the_deepest_point(hints, most_points, rows, directions):
    levels = level_sets(np.array(rows), np.array(directions))
    depths = {y: oracle.depth(rows, y, directions) for y in POINTS}
    envelope = Envelope(Covers(levels, WITHIN), hints(levels))
    envelope.settle(most_points)
    assert envelope.top >= max(depths.values())
    if most_points == 49:
        assert envelope.top == max(depths.values())
    for group, box in envelope.groups(0):
        for y, t in depths.items():
            if t >= group.lowest:
                assert all(a <= c <= b for a, c, b in zip(box.low, y, box.high, strict=True))


@pytest.mark.parametrize("hints", [LinearPrograms, Garbage, Nothing, WrongSign])
@given(rows_of, directions_of, st.sampled_from([1e2, 1e5, 1e9]))
def test_a_point_is_in_exactly_one_slice_of_each_of_its_levels(hints, rows, directions, proposals):
    levels = level_sets(np.array(rows), np.array(directions))
    envelope = Envelope(Covers(levels, WITHIN), hints(levels))
    envelope.refine([level for level in (1, 2, 4) if level <= envelope.top])
    envelope.slice(0, 0.5, proposals, 1.0)
    depths = {y: oracle.depth(rows, y, directions) for y in POINTS}
    assert envelope.top >= max(depths.values())
    groups = envelope.groups(0)
    assert all(group.size == box.size > 0 for group, box in groups)
    for y, t in depths.items():
        holding = [level for group, box in groups if box.holds(y) for level in range(group.lowest, group.highest + 1)]
        assert sorted(level for level in holding if level <= t) == list(range(t + 1))


@pytest.mark.slow
def test_slices_save_proposals_where_sets_are_round_and_only_if_that_pays_off():
    rng = np.random.default_rng(0)
    rows = np.rint(rng.normal(size=(300, 6)) * 1000).astype(np.int64)
    directions = np.rint(rng.normal(size=(40, 6)) * 100).astype(np.int64)
    levels = level_sets(rows, directions)
    envelope = Envelope(Covers(levels, Box((-9999,) * 6, (9999,) * 6)), LinearPrograms(levels))
    level = envelope.top - 20
    envelope.refine([level])

    def size() -> int:
        return sum(box.size for group, box in envelope.groups(0) if group.lowest == level)

    whole = size()
    envelope.slice(0, 0.5, 1e4, 1e3)
    assert size() == whole  # not worth it
    envelope.slice(0, 0.5, 1e6, 1e3)
    once = size()
    assert once < 0.7 * whole
    envelope.slice(0, 0.5, 1e8, 1e3)
    assert size() < 0.7 * once


def test_slices_of_boxes_that_no_float_can_count():
    rng = np.random.default_rng(0)
    directions = np.rint(rng.normal(size=(60, 30)) * 100).astype(np.int64)
    levels = level_sets(np.rint(rng.normal(size=(80, 30)) * 2**42).astype(np.int64), directions)
    envelope = Envelope(Covers(levels, Box((-(2**46),) * 30, (2**46,) * 30)), Nothing(levels))
    envelope.refine([1])
    assert envelope.boxes[1].size > 2**1024
    envelope.slice(0, 0.5, 1e9, 1e3)
    assert sum(box.size for group, box in envelope.groups(0) if group.lowest == 1) == envelope.boxes[1].size


@pytest.mark.parametrize("half_epsilon", [1e-320, 5e299, math.inf])
def test_slices_at_astronomical_epsilons(half_epsilon):
    rows, directions = [(0, 0), (1, 2), (2, 1), (1, 1)], [(1, 0), (0, 1), (1, 1)]
    levels = level_sets(np.array(rows), np.array(directions))
    envelope = Envelope(Covers(levels, WITHIN), LinearPrograms(levels))
    envelope.refine([1, 2])
    envelope.slice(0, half_epsilon, 1e300, 1.0)
    for y in POINTS:
        t = oracle.depth(rows, y, directions)
        holding = [group.lowest for group, box in envelope.groups(0) if 0 < group.lowest <= t and box.holds(y)]
        assert len(holding) == len({group.lowest for group, _ in envelope.groups(0) if 0 < group.lowest <= t})


@pytest.mark.parametrize("hints", [LinearPrograms, SimplexPrograms])
def test_good_hints_make_tight_boxes_and_find_the_top(hints):
    """Tightness is only speed, but losing it would be a bug: compare with brute force on a round cloud."""
    rows = np.rint(np.random.default_rng(3).normal(size=(60, 2)) * 40).astype(np.int64)
    directions = np.array([(1, 0), (0, 1), (1, 1), (1, -1), (2, 1), (1, 2), (-2, 1), (-1, 2)])
    levels = level_sets(rows, directions)
    envelope = Envelope(Covers(levels, Box((-200, -200), (200, 200))), hints(levels))
    plane = np.array(list(itertools.product(range(-120, 121), repeat=2)))
    projected = plane @ directions.T
    for level in (3, 12, 20):
        low, high = levels.offsets(level)
        deep = plane[((low <= projected) & (projected <= high)).all(axis=1)]
        envelope.refine([level])
        box = envelope.boxes[level]
        assert np.abs(np.array(box.low) - deep.min(axis=0)).max() <= 1
        assert np.abs(np.array(box.high) - deep.max(axis=0)).max() <= 1
    deepest = max(t for t in range(1, 31) if envelope_level_nonempty(levels, plane, projected, t))
    assert deepest <= envelope.top <= deepest + 1


def envelope_level_nonempty(levels, plane, projected, level):
    low, high = levels.offsets(level)
    return ((low <= projected) & (projected <= high)).all(axis=1).any()


def test_groups_cover_every_level_once():
    rows = np.random.default_rng(5).integers(-50, 50, size=(80, 3))
    levels = level_sets(rows, np.vstack([np.eye(3, dtype=np.int64), [[1, 1, 1], [1, -1, 2]]]))
    envelope = Envelope(Covers(levels, Box((-50,) * 3, (50,) * 3)), LinearPrograms(levels))
    envelope.refine([2, 9, envelope.top])
    groups = [group for group, _ in envelope.groups(0)]
    covered = [level for group in groups for level in range(group.lowest, group.highest + 1)]
    assert covered == list(range(envelope.top + 1))
    assert all(group.size == box.size > 0 for group, box in envelope.groups(0))
    assert groups[0].size == 101**3
