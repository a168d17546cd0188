"""Level sets of exact depth that are thin: points counted, drawn and decided as by definition."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from unittest.mock import patch

import numpy as np
import pytest

import tukeydp as td
from support.fit import FALSE_ALARM, g_test
from support.grids import centred_grid
from support.thin_sets import TABLES, depths_of_all, stretched
from tukeydp.hints.hull_facets import parting_facet
from tukeydp.trusted.bits import derived_key
from tukeydp.trusted.boxes import Box
from tukeydp.trusted.exact import deciding as near_rows_module
from tukeydp.trusted.exact.deciding import near_rows
from tukeydp.trusted.levels import level_sets
from tukeydp.trusted.matrices import integers
from tukeydp.trusted.sampling import draws
from tukeydp.trusted.sampling.draws import DepthSampler, Sampler, deepest
from tukeydp.trusted.sizes import exact_depth_sizes
from tukeydp.trusted.sizes.exact_depth_sizes import ExactSizes

CASES = [(name, 0) for name in TABLES] + [("plane", 1), ("line", 1), ("a line of two", 1)]


def prepared_sizes(rows: np.ndarray) -> ExactSizes:
    d = rows.shape[1]
    prepared = td.Exact().prepare(rows, centred_grid(2**20, d), bytes(32))
    assert prepared.decide is not None
    along = level_sets(rows, np.eye(d, dtype=np.int64))
    box = Box((-(2**20),) * d, (2**20,) * d)
    return ExactSizes(prepared.decide, along, prepared.levels, box, 1, Fraction(1, 256))


@pytest.mark.parametrize(("name", "offset"), CASES)
def test_the_count_is_that_of_the_definition(name, offset):
    rows = stretched(name, 2 if len(TABLES[name][0]) == 3 else 5, offset)
    depths = list(depths_of_all(rows).values())
    sizes = prepared_sizes(np.array(rows))
    for level in range(1, max(depths) + 2):
        assert sizes.lower(level) == sum(depth >= level for depth in depths)


@pytest.mark.parametrize("name", ["plane", "scores", "two columns"])
def test_a_count_that_stops_early_is_a_bound_and_goes_on(name, monkeypatch):
    """With a few points in the place of 4096: bounds hold the count up to there, and close in on it."""
    limit = 20
    monkeypatch.setattr(exact_depth_sizes, "COUNTED", limit)
    rows = stretched(name, 3)
    depths = list(depths_of_all(rows).values())
    sizes = prepared_sizes(np.array(rows))
    wide = 0
    for level in range(1, max(depths) + 2):
        truth = sum(depth >= level for depth in depths)
        for apart in (Fraction(8), Fraction(1), Fraction(1, 4)):
            low, high = sizes._counted_between(level, apart)
            assert low <= min(limit, truth) <= high
            assert high <= low * (1 + apart) ** 2
            wide += low < high
    assert wide


@pytest.mark.parametrize("name", ["line", "plane", "scores", "two columns"])
def test_the_deepest_level_is_that_of_the_definition(name):
    rows = stretched(name, 2)
    top = max(depths_of_all(rows).values())
    prepared = td.Exact().prepare(np.array(rows), centred_grid(2**20, len(rows[0])), bytes(32))
    d = len(rows[0])
    box = Box((-(2**20),) * d, (2**20,) * d)
    for highest in (top, top + 1, len(rows)):
        levels, found = deepest(prepared.levels, prepared.decide, box, 1, highest)
        assert found == top
        assert len(levels.directions) >= len(prepared.levels.directions)


def test_facets_part_points_from_rows():
    rng = np.random.default_rng(3)
    for _ in range(200):
        d = int(rng.integers(1, 5))
        rows = rng.integers(-3, 4, size=(int(rng.integers(1, 9)), d))
        if rng.random() < 0.5:
            rows[:, -1] = rows[:, 0]  # flat
        point = rng.integers(-5, 6, size=d)
        normal = parting_facet(integers(rows), integers(point))
        if normal is not None:
            products = rows @ np.array(normal)
            assert products.max() < np.array(normal) @ point
            # Its hyperplane passes through as many rows as rows allow.
            touching = rows[products == products.max()]
            rank = np.linalg.matrix_rank(rows - rows[0])
            assert np.linalg.matrix_rank(touching - touching[0]) >= min(rank, d) - 1
        else:
            assert in_hull(rows, point)


def test_facets_in_many_columns_have_entries_that_no_float_holds():
    rng = np.random.default_rng(4)
    rows, point = rng.integers(-(2**41), 2**41, size=(27, 24)), integers(rng.integers(-(2**41), 2**41, size=24))
    normal = parting_facet(integers(rows), point)
    assert normal is not None
    products = integers(rows) @ integers(normal)
    assert products.max() < integers(normal) @ point
    assert sum(products == products.max()) >= 24


def in_hull(rows: np.ndarray, point: np.ndarray) -> bool:
    """By a linear program in floats: small integers leave no doubt."""
    from scipy.optimize import linprog

    columns = np.vstack([rows.T, np.ones(len(rows))])
    return bool(linprog(np.zeros(len(rows)), A_eq=columns, b_eq=np.append(point, 1), bounds=(0, None)).success)


def test_coordinates_of_the_rows_lead_back_to_the_grid():
    rng = np.random.default_rng(1)
    x = rng.integers(-(10**6), 10**6, size=(60, 3))
    x[:, 2] = x[:, 0] + 3 * x[:, 1] + rng.integers(-1, 2, size=60)
    near = near_rows(x)
    assert near is not None
    assert near.thin
    assert min(near.grid.cells) < 50
    assert [near.point(row) for row in near.rows.tolist()] == x.tolist()
    assert (np.abs(near.rows).max(axis=0) <= near.grid.extent).all()
    round_rows = near_rows(rng.integers(-(10**6), 10**6, size=(60, 3)))
    assert round_rows is not None
    assert not round_rows.thin


@pytest.mark.parametrize("trouble", [False, True])
def test_the_law_of_a_thin_table(trouble):
    """In the rows' own coordinates from the start, or after the first refutation; false alarms: FALSE_ALARM."""
    rows = [(0, 0), (2, 4), (3, 7), (1, 2), (4, 8), (2, 5), (1, 3), (3, 6)]
    depths, lowest, epsilon = depths_of_all(rows), 1, Fraction(3, 2)
    prepared = td.Exact().prepare(np.array(rows), centred_grid(50, 2), bytes(32))
    thin = patch.object(near_rows_module, "_THINNER", 10**6 if trouble else 0)
    with thin, patch.multiple(draws, _FEW=0, _TROUBLE=1):
        sampler = DepthSampler(prepared, within=Box((-50, -50), (50, 50)), epsilon=epsilon, lowest=lowest)
        assert (sampler._near is None) == trouble
        tally = dict.fromkeys(depths, 0)
        for i in range(4000):
            tally[tuple(sampler.draw(derived_key("thin", i)))] += 1
    observed = np.array(list(tally.values()))

    def pmf(q):
        weights = np.array([float(q) ** depth if depth >= lowest else 0.0 for depth in depths.values()])
        return weights / weights.sum()

    assert g_test(observed, pmf(math.exp(epsilon / 2))) > FALSE_ALARM
    assert g_test(observed, pmf(math.exp(epsilon))) < FALSE_ALARM


def test_proposals_in_vain_start_again_below_the_levels_without_a_grid_point(monkeypatch):
    """Levels of the envelope are empty, and no proposal from there is ever refuted; false alarms: FALSE_ALARM."""
    rows = [(0, 0), (4, 1), (1, 4), (5, 5), (2, 1), (3, 5)]
    depths, epsilon = depths_of_all(rows), Fraction(2)
    prepared = td.Exact().prepare(np.array(rows), centred_grid(50, 2), bytes(32))
    soon, tried = Sampler.accepted_soon, []

    def in_vain_at_first(self, stream, lane):
        tried.append(lane)
        return (None, lane + 1) if len(tried) <= draws._IN_VAIN else soon(self, stream, lane)

    monkeypatch.setattr(Sampler, "accepted_soon", in_vain_at_first)
    sampler = DepthSampler(prepared, within=Box((-50, -50), (50, 50)), epsilon=epsilon, lowest=1)
    tally = dict.fromkeys(depths, 0)
    for i in range(2000):
        tally[tuple(sampler.draw(derived_key("in vain", i)))] += 1
    assert sampler._highest == max(depths.values())
    weights = np.array([math.exp(epsilon / 2 * depth) * (depth >= 1) for depth in depths.values()])
    assert g_test(np.array(list(tally.values())), weights / weights.sum()) > FALSE_ALARM


@pytest.mark.parametrize("kind", ["scores", "one on a line", "a column of sums", "nearly flat"])
def test_tables_whose_deep_sets_are_thin_are_released_or_refused(kind):
    """Each of these took minutes or more: level sets in boxes of 10^17 grid points."""
    rng = np.random.default_rng(7)
    x = rng.integers(1, 6, size=(80, 3)).astype(float)
    if kind == "one on a line":
        x = np.outer(rng.integers(0, 11, 80), [1.0, 3.0, 2.0])
    if kind == "a column of sums":
        x[:, 2] = x[:, 0] + x[:, 1]
    if kind == "nearly flat":
        x = rng.normal(size=(80, 3))
        x[:, 2] = x[:, 0] + x[:, 1]
    for seed, epsilon in itertools.product(range(2), (1, 4)):
        result = td.rem(x, epsilon=epsilon, delta=0.01, depth=td.Exact(), randomness=td.seeded(seed))
        assert result.point is None or np.isfinite(result.point).all()
    assert np.isfinite(td.boxem(x, epsilon=2, bounds=(-30, 30), depth=td.Exact(), randomness=td.seeded(1)).point).all()
