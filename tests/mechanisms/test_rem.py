"""REM as a whole: (epsilon, delta) by enumeration, the law after passing, what it returns and refuses."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binom

import tukeydp as td
from support.fit import FALSE_ALARM, g_test
from support.rem_cases import TESTS, chance, grid_points, plan
from support.rem_oracle import (
    Dataset,
    brute_worst_case,
    datasets,
    depths,
    graded,
    laplace,
    outcome,
    worst_case,
    worst_delta,
)
from tukeydp.trusted.account import ApproxDP, PureDP
from tukeydp.trusted.bits import Keystream, derived_key
from tukeydp.trusted.boxes import Box, whole_grid
from tukeydp.trusted.levels import level_sets
from tukeydp.trusted.release import Misuse, rehearsed
from tukeydp.trusted.rem.evidence import Evidence, Plan
from tukeydp.trusted.rem.safety import (
    Chance,
    Graded,
    Laplace,
    Paper,
    SafetyTest,
    laplace_cut,
    paper_cut,
    passes,
    point_if_safe,
)
from tukeydp.trusted.rows import unbounded_grid
from tukeydp.trusted.sampling.draws import Sampler
from tukeydp.trusted.sizes import linear_programs
from tukeydp.trusted.sizes.ellipsoids import BoxesAndEllipsoids
from tukeydp.trusted.sizes.level_sizes import Intervals, Sizes, sizes_of


def sizes(x: Dataset, points: np.ndarray, directions: np.ndarray, base: int, counted: bool = False) -> Sizes:
    levels = level_sets(points[list(x)], directions)
    box = Box(tuple(points.min(axis=0).tolist()), tuple(points.max(axis=0).tolist()))
    if points.shape[1] == 1:
        return Intervals(levels, box)
    return sizes_of(levels, box, base) if counted else BoxesAndEllipsoids(levels, box, base)


LINE = grid_points((5,))
SQUARE = grid_points((3, 3))
CUBE = grid_points((2, 2, 2))
ASKEW = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 2, 1], [2, -1, 1]], dtype=np.int64)
SLANTED = np.array([[1, 0], [0, 1], [1, 2], [2, -1]], dtype=np.int64)
UNIT = np.ones((1, 1), dtype=np.int64)
CASES = [
    # points, directions, n, t, release, test, delta
    (LINE, UNIT, 5, 2, Fraction(1), Fraction(1, 2), Fraction(1, 10)),
    (LINE, UNIT, 6, 3, Fraction(2), Fraction(1), Fraction(1, 50)),
    (LINE, UNIT, 5, 1, Fraction(1, 2), Fraction(1, 2), Fraction(1, 5)),
    (LINE, UNIT, 6, 2, Fraction(4), Fraction(2), Fraction(3, 10)),
    (SQUARE, SLANTED, 3, 2, Fraction(2), Fraction(1), Fraction(1, 10)),
    (SQUARE, SLANTED, 4, 2, Fraction(4), Fraction(2), Fraction(1, 20)),
]
SPACE = [
    (CUBE, ASKEW, 3, 2, Fraction(2), Fraction(1), Fraction(1, 10)),
    (CUBE, ASKEW, 4, 2, Fraction(4), Fraction(2), Fraction(1, 20)),
]


@pytest.mark.parametrize("counted", [True, False])
@pytest.mark.parametrize("case", CASES + SPACE, ids=lambda case: f"d{case[0].shape[1]}n{case[2]}t{case[3]}")
def test_no_pair_of_neighbours_breaks_the_guarantee(case, counted):
    points, directions, n, t, release, part, delta = case
    fixed = plan(n, t, release, part, delta)
    evidence = {x: Evidence(sizes(x, points, directions, t, counted), fixed) for x in datasets(len(points), n)}
    for test in TESTS:

        def law(x: Dataset, test: SafetyTest = test) -> np.ndarray:
            return outcome(depths(x, points, directions), t, float(release) / 2, chance(test, evidence[x]))

        assert worst_delta(len(points), n, float(release + part), law) <= float(delta) * (1 + 1e-9)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"d{case[0].shape[1]}n{case[2]}t{case[3]}")
def test_pass_probabilities_are_those_of_the_definition(case):
    points, directions, n, t, release, part, delta = case
    for x in datasets(len(points), n):
        depth = depths(x, points, directions)
        evidence = Evidence(sizes(x, points, directions, t, counted=True), plan(n, t, release, part, delta))
        if evidence.empty:
            assert depth.max() < t
            continue
        worst = [worst_case(depth, t, float(release) / 2, k) for k in range(t - 1)]
        assert chance(Graded(), evidence) == pytest.approx(
            graded(worst, float(part), float(release + part), float(delta)), rel=1e-9
        )
        assert chance(Laplace(), evidence) == pytest.approx(laplace(worst, float(part), float(delta)), rel=1e-9)


@pytest.mark.parametrize("mistake", [None, "no terminal term", "k = 0 only", "refuse when D_0 = 1"])
def test_the_enumeration_can_fail(mistake):
    """Each of these is easily made; the enumeration must notice, at the very settings where no mistake passes."""
    points, directions, n, t, release, part, delta = LINE, UNIT, 6, 3, 2.0, 1.0, 0.02
    eta = release / 2

    def law(x: Dataset) -> np.ndarray:
        depth = depths(x, points, directions)
        worst = [worst_case(depth, t, eta, k) for k in range(t - 1)]
        passed = graded(worst, part, release + part, delta)
        if mistake == "no terminal term":
            passed = graded([*worst, *([0.0] * 20)], part, release + part, delta)
        if mistake == "k = 0 only":
            passed = graded([worst[0], *([0.0] * 20)], part, release + part, delta)
        if mistake == "refuse when D_0 = 1" and worst[0] == 1.0:
            passed = 0.0
        return outcome(depth, t, eta, passed)

    found = worst_delta(len(points), n, release + part, law)
    assert found <= delta if mistake is None else found > 1.5 * delta


def test_worst_case_is_the_supremum_over_all_functions():
    rng = np.random.default_rng(0)
    for _ in range(40):
        depth = rng.integers(0, 5, size=5).tolist()
        t, k, eta = int(rng.integers(1, 4)), int(rng.integers(0, 3)), float(rng.choice([0.2, 1.0]))
        assert worst_case(np.array(depth), t, eta, k) == pytest.approx(brute_worst_case(depth, t, eta, k))


@pytest.mark.parametrize(("d", "best"), [(1, True), (2, True), (2, False), (3, True), (3, False)])
@pytest.mark.parametrize("test", [Graded(), Laplace(), Paper()], ids=lambda test: test.name)
def test_one_swap_moves_the_chance_by_no_more_than_it_may(d, best, test):
    """p by at most e^eps_p, 1 - p by at most e^epsilon, on random tables and random swaps."""
    rng = np.random.default_rng(d)
    directions = np.vstack([np.eye(d, dtype=np.int64), rng.integers(-9, 10, size=(3, d)), np.ones((1, d), dtype=int)])
    box = Box((-60,) * d, (60,) * d)
    release = Fraction(6 if test.name == "paper" or d > 1 else 1)
    fixed = plan(24, 6, release, Fraction(1), Fraction(1, 10))

    def passed(rows: np.ndarray) -> float:
        levels = level_sets(rows, directions)
        measured = (sizes_of if best else BoxesAndEllipsoids)(levels, box, fixed.threshold)
        return chance(test, Evidence(measured, fixed))

    spread = []
    for _ in range(12):
        rows = np.rint(rng.normal(size=(24, d)) * rng.choice([1.0, 3.0, 8.0])).astype(np.int64)
        swapped = rows.copy()
        swapped[rng.integers(24)] = rng.integers(-60, 61, size=d)
        p, q = passed(rows), passed(swapped)
        spread.append(p)
        if min(p, q) > 0:
            assert abs(math.log(p / q)) <= 1 + 1e-9
            assert abs(math.log((1 - p) / (1 - q))) <= float(release) + 1 + 1e-9
        else:
            assert max(p, q) <= 0.1
    assert max(spread) > min(spread)


@pytest.mark.parametrize("test", TESTS, ids=lambda test: test.name)
def test_the_coin_has_the_stated_chance(test):
    rows = np.random.default_rng(3).integers(-3, 4, size=(40, 1))
    fixed = Plan(40, 6, Fraction(2), Fraction(1, 2), Fraction(1, 12), 5, tuple(range(41)))
    box = Box((-100,), (100,))

    def evidence() -> Evidence:
        return Evidence(Intervals(level_sets(rows, UNIT), box), fixed)

    expected = chance(test, evidence())
    heads = sum(passes(test, evidence(), Keystream(derived_key("coin", i)).bits(0)) for i in range(1000))
    assert 0.02 < expected < 0.98
    assert FALSE_ALARM < binom.cdf(heads, 1000, expected) < 1 - FALSE_ALARM
    wrong = expected + 0.15 if expected < 0.8 else expected - 0.15
    assert not FALSE_ALARM < binom.cdf(heads, 1000, wrong) < 1 - FALSE_ALARM


class Measured:
    """Evidence that says nothing until it is asked for more: then the chance is a quarter."""

    empty, known = False, False

    def refine(self, k):
        self.known = True
        return True

    def chance(self, evidence, bits):
        return Chance(Fraction(1, 4), Fraction(1, 4), None) if self.known else Chance(Fraction(0), Fraction(1), 0)


class Given:
    """A coin whose first bits are given."""

    def __init__(self, share):
        self._share = share

    def take(self, bits):
        return int(self._share * 2**bits)


@pytest.mark.parametrize(("share", "heads"), [(0, True), (0.2499, True), (0.25, False), (0.5, False), (0.9999, False)])
def test_a_coin_waits_until_its_chance_is_known(share, heads):
    """Taken at either end of what is possible before anything is measured, it would always fall on one side."""
    unknown = Measured()
    assert passes(unknown, unknown, Given(share)) == heads
    assert unknown.known


def test_after_passing_points_follow_the_restricted_law():
    rows = np.random.default_rng(8).integers(0, 9, size=(30, 1))
    fixed = Plan(30, 4, Fraction(1, 5), Fraction(1), Fraction(1, 3), 3, tuple(range(31)))
    grid = unbounded_grid(1, resolution=1, bits=20)
    prepared = td.AxisAligned().prepare(rows, grid, bytes(32))
    price = ApproxDP(fixed.epsilon, fixed.delta)
    runs = [rehearsed({"draw": price}, derived_key("a", i)) for i in range(800)]
    drawn = [point_if_safe(prepared, whole_grid(grid), fixed, Graded(), run.charge("draw"), run) for run in runs]
    points = grid_points((9,))
    depth = depths(tuple(rows[:, 0].tolist()), points, UNIT)
    assert (depth == 3).any()  # one level below the lowest: points that must not be drawn
    counts = np.bincount([y[0] for y in drawn if y is not None], minlength=9)
    weights = np.where(depth >= 4, np.exp(0.1 * depth), 0.0)
    assert counts[depth < 4].sum() == 0
    assert g_test(counts, weights / weights.sum()) > FALSE_ALARM
    # The authors' weight of the lowest level (docs/errata.md, 1).
    wrong = np.where(depth >= 4, np.exp(0.1 * depth) - np.exp(0.1 * 3), 0.0)
    assert g_test(counts, wrong / wrong.sum()) < FALSE_ALARM


@pytest.mark.parametrize("short", [ApproxDP(1, Fraction(1, 3)), ApproxDP(Fraction(6, 5), Fraction(1, 4)), PureDP(9)])
def test_a_charge_that_is_smaller_than_test_and_draw_is_refused(short):
    fixed = Plan(30, 4, Fraction(1, 5), Fraction(1), Fraction(1, 3), 3, tuple(range(31)))
    grid = unbounded_grid(1, resolution=1, bits=20)
    prepared = td.AxisAligned().prepare(np.zeros((30, 1), dtype=np.int64), grid, bytes(32))
    run = rehearsed({"draw": short}, bytes(32))
    with pytest.raises(Misuse, match="does not cover"):
        point_if_safe(prepared, whole_grid(grid), fixed, Graded(), run.charge("draw"), run)


@pytest.mark.parametrize("d", [3, 5])
def test_the_lowest_level_is_not_drawn_from_the_public_box(d):
    """Which has 2^50 steps a column: proposals from it would never be accepted."""
    levels = level_sets(
        np.rint(np.random.default_rng(d).normal(size=(100, d)) * 10**6).astype(np.int64), np.eye(d, dtype=int)
    )
    sampler = Sampler(levels, within=Box((-(2**49),) * d, (2**49,) * d), epsilon=Fraction(1, 10), lowest=20)
    assert levels.depths(np.array([sampler.draw(derived_key("lowest", i)) for i in range(5)])).min() >= 20


def test_never_a_release_without_a_deep_point():
    # Two far clusters: nothing lies deep between them in every direction.
    x = np.vstack([np.tile([0.0, 0.0], (50, 1)), np.tile([1e6, 0.0], (50, 1)), np.tile([0.0, 1e6], (50, 1))])
    for seed in range(20):
        refused = td.rem(x, epsilon=50, delta=0.9, threshold=90, randomness=td.seeded(seed))
        assert isinstance(refused, td.Refused)


def test_cuts_are_the_least_that_hold():
    for epsilon, delta in [
        (Fraction(1, 3), Fraction(1, 10**6)),
        (Fraction(2), Fraction(1, 3)),
        (Fraction(1, 50), Fraction(1, 10)),
    ]:
        m, e, small = laplace_cut(epsilon, delta), float(epsilon), float(delta)
        assert math.exp(-e * (m + 1)) / (1 + math.exp(-e)) <= small
        assert m == 0 or math.exp(-e * m) / (1 + math.exp(-e)) > small
        m = paper_cut(epsilon, delta)
        assert m >= math.log(1 / (2 * small)) / e > m - 1 or m == 0


class TestInterface:
    X = np.random.default_rng(0).normal(loc=[3, -50], scale=[1, 1000], size=(400, 2))

    def test_release(self):
        release = td.rem(self.X, epsilon="1", delta="1e-6", randomness=td.seeded(1))
        assert isinstance(release, td.Release)
        assert release.released
        assert release.guarantee == td.ApproxDP(Fraction(1), Fraction(1, 10**6))
        assert np.abs((release.point - self.X.mean(axis=0)) / [1, 1000]).max() < 0.3
        described = release.to_dict()
        assert described["guarantee"]["delta_exact"] == "1/1000000"
        assert described["settings"]["test"] == "graded"
        assert Fraction(described["settings"]["epsilon_draw"]) + Fraction(described["settings"]["epsilon_test"]) == 1
        assert described["grid"]["lower"][0] < -1e8
        assert not release.private

    def test_refusal_spends_the_budget_too(self):
        refused = td.rem(self.X[:30], epsilon=1, delta=1e-6, randomness=td.seeded(1))
        assert isinstance(refused, td.Refused)
        assert not refused.released
        assert refused.point is None
        assert refused.guarantee == td.ApproxDP(Fraction(1), Fraction(1, 10**6))
        assert refused.to_dict()["point"] is None
        assert "Refused" in repr(refused)

    @pytest.mark.parametrize("test", ["graded", "laplace", "paper"])
    @pytest.mark.parametrize("depth", [td.AxisAligned(), td.Random(20), td.Directions([[1, 0], [0, 1], [1, 1]])])
    def test_every_test_and_notion(self, test, depth):
        x = np.random.default_rng(1).normal(size=(1200, 2))
        release = td.rem(x, epsilon=1, delta=1e-6, depth=depth, test=test, randomness=td.seeded(2))
        assert release.released
        assert np.abs(release.point - x.mean(axis=0)).max() < 0.3

    @pytest.mark.parametrize("d", [1, 2, 3])
    def test_counts_and_yes_no_columns(self, d):
        rng = np.random.default_rng(d)
        counts = rng.poisson(20, size=(800, d))
        release = td.rem(counts, epsilon=1, delta=1e-6, resolution=1, randomness=td.seeded(3))
        assert release.released
        assert (release.point == np.rint(release.point)).all()
        assert np.abs(release.point - 20).max() <= 3
        # A corner of the cube has 1/2^d of the rows to itself, and no more: that is how deep it gets.
        yes_no = (rng.random(size=(500 * 2**d, d)) < 0.5).astype(int)
        release = td.rem(yes_no, epsilon=1, delta=1e-6, resolution=1, randomness=td.seeded(4))
        assert release.released
        assert set(release.point.tolist()) <= {0.0, 1.0}

    @pytest.mark.parametrize("threshold", [27, 60])
    def test_expected_error_of_a_threshold_nothing_reaches(self, threshold):
        refused = td.rem(self.X[:60], epsilon=1, delta=1e-6, threshold=threshold, randomness=td.seeded(1))
        assert refused.expected_error.refused == (1.0, 1.0)

    def test_missing_rows_and_wild_cells(self):
        x = self.X.copy()
        x[::10, 0] = np.nan
        x[1, 1], x[2, 1], x[3, 0] = np.inf, -np.inf, 1e300
        release = td.rem(x, epsilon=2, delta=1e-6, randomness=td.seeded(1))
        assert release.released
        assert np.isfinite(release.point).all()

    @pytest.mark.parametrize("rows", [1, 2, 5])
    @pytest.mark.parametrize("d", [1, 2, 4])
    def test_tiny_tables_are_refused(self, rows, d):
        assert not td.rem(np.zeros((rows, d)), epsilon=1, delta=1e-9, randomness=td.seeded(1)).released

    @pytest.mark.parametrize(
        ("name", "arguments"),
        [
            ("epsilon", {"epsilon": 0}),
            ("epsilon", {"epsilon": 1e-9}),
            ("epsilon", {"epsilon": 1e-9, "test": "paper"}),
            ("epsilon", {"epsilon": 1e300}),
            ("delta", {"delta": 0}),
            ("delta", {"delta": 1e-320}),
            ("delta", {"delta": "1e-340", "test": "paper"}),
            ("delta", {"delta": 1}),
            ("delta", {"delta": -0.1}),
            ("threshold", {"threshold": 0}),
            ("threshold", {"threshold": 401}),
            ("threshold", {"threshold": 2.5}),
            ("test", {"test": "best"}),
            ("unproven", {"unproven": "magic"}),
            ("resolution", {"resolution": 0}),
            ("resolution", {"resolution": [1, 2, 3]}),
            ("depth", {"depth": "random"}),
        ],
    )
    def test_wrong_parameters(self, name, arguments):
        with pytest.raises(td.ParameterError) as caught:
            td.rem(self.X, **{"epsilon": 1, "delta": 1e-6, **arguments})
        assert caught.value.parameter == name


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [1, 10])
def test_forty_columns_take_few_exact_inverses(epsilon, monkeypatch):
    """Two ends of each column of two levels, each from a basis that floats have found: an exact inverse takes a tenth
    of a second there, and a search by them takes minutes. From epsilon = 20 on there is still one."""
    inverses, vertex = itertools.count(1), linear_programs._vertex

    def counted(*given):
        assert next(inverses) <= 4 * 40 + 20
        return vertex(*given)

    monkeypatch.setattr(linear_programs, "_vertex", counted)
    x = np.random.default_rng(epsilon).normal(size=(200, 40))
    found = td.rem(x, epsilon=epsilon, delta="1e-6", randomness=td.seeded(epsilon))
    assert found.released == (epsilon == 10)
