"""Level sets of a small table, by definition, whatever ranks were found at first."""

import numpy as np
import pytest

from support import oracle
from tukeydp.trusted import levels as levels_module
from tukeydp.trusted.levels import level_sets, middle_ranks, sampled

RNG = np.random.default_rng(5)
ROWS = RNG.integers(-9, 10, (30, 2))
DIRECTIONS = np.array([[1, 0], [0, 1], [2, -3], [1, 1]])
POINTS = [(a, b) for a in range(-9, 10, 3) for b in range(-9, 10, 3)]
ORDERED = [sorted(a * v[0] + b * v[1] for a, b in ROWS.tolist()) for v in DIRECTIONS.tolist()]
FURTHER = [-1, 4]


@pytest.mark.parametrize("lowest", [1, 2, 9, 15])
def test_ranks_and_depths_are_those_of_the_definition(lowest):
    for first in (1, 5, 14, 30):
        levels = level_sets(ROWS, DIRECTIONS, lowest=lowest)
        assert (levels.d, levels.rows, levels.held, levels.window.first) == (2, 30, lowest, lowest - 1)
        assert levels.table is ROWS
        assert levels.rough is None
        assert [ends.tolist() for ends in levels.offsets(first)] == [
            [line[first - 1] for line in ORDERED],
            [line[-first] for line in ORDERED],
        ]
        window = levels.ensure(first)
        assert window is levels.window
        assert window.holds(first)
        assert [window.holds(level) for level in (levels.held - 1, levels.held, 30 - levels.held + 1)] == [
            False,
            True,
            True,
        ]
        depths = [oracle.depth(ROWS.tolist(), y, DIRECTIONS.tolist()) for y in POINTS]
        assert [max(t, first - 1) for t in levels.depths(np.array(POINTS), first).tolist()] == [
            max(t, first - 1) for t in depths
        ]
        assert [levels.contains(y, first) for y in POINTS] == [t >= first for t in depths]
        assert levels.contains((99, 99), 0)
        assert not levels.contains(POINTS[0], 31)
        assert levels.projections.tolist() == ORDERED
        more = levels.with_directions(np.array([FURTHER]))
        assert more.directions.tolist() == [*DIRECTIONS.tolist(), FURTHER]
        assert more.depths(np.array(POINTS)).tolist() == [
            oracle.depth(ROWS.tolist(), y, more.directions.tolist()) for y in POINTS
        ]


def test_no_level_beyond_the_highest_unbroken_one_has_points():
    for rows in (ROWS, np.repeat(ROWS[:3], 10, axis=0), ROWS[:1], ROWS[:2]):
        levels = level_sets(rows, DIRECTIONS)
        unbroken = [
            level
            for level in range(1, len(rows) + 1)
            if all(low <= high for low, high in zip(*map(np.ndarray.tolist, levels.offsets(level)), strict=True))
        ]
        assert levels.highest_unbroken() == max(unbroken)


@pytest.mark.parametrize("scale", [1, 2**29, 2**50])
def test_middle_ranks_are_those_of_sorting(scale, monkeypatch):
    monkeypatch.setattr(levels_module, "_CHUNK", 7)
    monkeypatch.setattr(levels_module, "_SELECTION_SAMPLE", 8)
    rows = ROWS * scale
    for out in (1, 5, 12):
        found = middle_ranks(rows, DIRECTIONS, out)
        assert found.tolist() == [[value * scale for value in line[out:-out]] for line in ORDERED]


def test_every_row_is_in_the_sample_once_whatever_came_before():
    rows = np.arange(10**4)[:, np.newaxis]
    whole = sampled(rows, len(rows)).ravel().tolist()
    parts = [sampled(rows[a : a + 999], len(rows), a).ravel().tolist() for a in range(0, len(rows), 999)]
    assert whole == [value for part in parts for value in part]
    assert 2048 <= len(whole) < 4096
    assert set(np.diff(whole).tolist()) == {4}
