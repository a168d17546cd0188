"""Add/remove neighbours, proven by enumeration: all multisets of rows up to a size, each with one row more.

Each proof has controls at the same settings: what is easily done wrong must be noticed.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

import tukeydp as td
from support import oracle
from support.add_remove_oracle import (
    all_laws,
    brute_harm,
    drawn_law,
    drawn_tables,
    harm,
    one_more,
    one_sided_chance,
    renyi,
    up_to,
    worst_cases,
    worst_delta,
    worst_ratio,
)
from support.charges import charge
from support.fit import FALSE_ALARM, g_test
from support.mean_oracle import on_grid
from support.rem_cases import chance, grid_points
from support.rem_oracle import Dataset, depths, graded, outcome, swaps, worst_case
from tukeydp.mechanisms.clipped_sum import CountedMean
from tukeydp.trusted import clipped_sums as counted_mean
from tukeydp.trusted.block_steps import corrected_means
from tukeydp.trusted.blocks import drawn_block_table
from tukeydp.trusted.boxes import Box
from tukeydp.trusted.clipped_sums import STEPS, counted_sums
from tukeydp.trusted.levels import level_sets
from tukeydp.trusted.rem.evidence import Evidence, OneSided, Plan, evidence_of
from tukeydp.trusted.rem.safety import Graded
from tukeydp.trusted.sizes.ellipsoids import BoxesAndEllipsoids
from tukeydp.trusted.sizes.level_sizes import sizes_of

# Depth -----------------------------------------------------------------------------------------------------------

LINE = [(i,) for i in range(4)]
PLANE = list(itertools.product(range(3), repeat=2))
DEPTHS = {
    "d=1": (LINE, [(1,)], 4),
    "d=2": (PLANE, [(1, 0), (0, 1), (1, 1), (1, -1)], 3),
}
Q = Fraction(21, 20)  # e^epsilon


def depth_laws(case, q):
    points, directions, most = DEPTHS[case]
    rows = [*points, None]

    def law(x):
        return oracle.law([oracle.depth([rows[i] for i in x], y, directions) for y in points], q)

    return all_laws(len(rows), most, law), len(rows), most


@pytest.mark.parametrize("case", DEPTHS)
def test_weights_of_all_of_epsilon_are_private_under_add_remove_and_not_under_swap(case):
    laws, kinds, most = depth_laws(case, Q)
    assert 1 + (Q - 1) / 2 < worst_ratio(laws, kinds, most) <= Q
    swapped = max(
        a / b for x in laws if len(x) == most for y in swaps(x, kinds) for a, b in zip(laws[x], laws[y], strict=True)
    )
    assert Q < swapped <= Q**2


@pytest.mark.parametrize("case", DEPTHS)
def test_a_further_row_raises_every_depth_by_nothing_or_one(case):
    points, directions, most = DEPTHS[case]
    rows = [*points, None]
    for x, y in one_more(len(rows), most):
        for point in points:
            before, after = (oracle.depth([rows[i] for i in z], point, directions) for z in (x, y))
            assert 0 <= after - before <= 1


@pytest.mark.slow
def test_their_renyi_divergences_are_within_an_eighth_of_epsilon_squared():
    epsilon, rho = float(math.log(Q)), float(math.log(Q)) ** 2 / 8
    laws, kinds, most = depth_laws("d=1", Q)
    floats = {x: [float(v) for v in law] for x, law in laws.items()}
    pairs = [pair for x, y in one_more(kinds, most) for pair in ((x, y), (y, x))]
    for order in (1.5, 2.0, 8.0, 64.0):
        worst = max(renyi(floats[x], floats[y], order) for x, y in pairs)
        assert worst <= rho * order
        assert worst > epsilon**2 / 32 * order or order != 2.0  # half the epsilon would not do
    assert td.boxem(np.ones((1, 1)), epsilon=1, bounds=(0, 2), neighbours="add-remove").guarantee.zcdp.rho == Fraction(
        1, 8
    )


def test_boxem_draws_from_that_law():
    """False alarms once in a million; with epsilon/2 in the exponent, the law under swap, the same draws must fail."""
    rows, epsilon = np.array([[0.0], [1.0], [1.0], [3.0], [3.0]]), 2
    source = td.seeded(1)
    draws = [
        td.boxem(rows, epsilon=epsilon, bounds=(0, 3), resolution=1, neighbours="add-remove", randomness=source).point[
            0
        ]
        for _ in range(500)
    ]
    counts = np.bincount(np.array(draws, dtype=np.int64), minlength=4)
    depth = [oracle.depth([tuple(map(int, row)) for row in rows], y, [(1,)]) for y in LINE]
    for share, fits in ((1.0, True), (0.5, False)):
        weights = np.exp(share * epsilon * np.array(depth))
        assert (g_test(counts, weights / weights.sum()) > FALSE_ALARM) == fits


# Sums ------------------------------------------------------------------------------------------------------------

CELLS = (-1.0, -0.25, 1.0, 3.0, np.nan)  # one beyond its bound, whatever lets it through
HALF = STEPS // 2


def table_of(x, rows):
    return np.array([rows[i] for i in x], dtype=np.float64).reshape(len(x), len(rows[0]))


@pytest.mark.parametrize("fill", [None, (0.5, -1.0)])
def test_one_row_moves_every_noised_number_by_at_most_half_the_steps(fill):
    rows = list(itertools.product(CELLS, repeat=2))
    worst = from_the_lower_end = 0
    for x, y in one_more(len(rows), 2):
        before, after = (counted_sums(table_of(z, rows), fill) for z in (x, y))
        moved = [abs(a - b) for a, b in zip(after, before, strict=True)]
        worst = max(worst, *moved)
        # Counted from the lower bound a value adds up to all steps.
        from_the_lower_end = max(from_the_lower_end, abs(after[0] - before[0] + after[2] - before[2]))
    assert worst == HALF
    assert from_the_lower_end > HALF


@pytest.mark.parametrize("fill", [None, (0.5, -1.0)])
def test_the_noise_is_that_of_half_the_steps(fill, monkeypatch):
    asked = []
    real = counted_mean.cube_noise
    monkeypatch.setattr(counted_mean, "cube_noise", lambda *a: asked.append(a[:2]) or real(*a))
    CountedMean(Fraction(3, 7), fill).draw(np.zeros((5, 2)), b"", charge(Fraction(3, 7), neighbours="add-remove"))
    assert asked == [(4 if fill is None else 3, Fraction(HALF) / Fraction(3, 7))]


@pytest.mark.parametrize("fill", [None, (0.5, -1.0)])
def test_the_quotient_is_of_noised_numbers_alone(fill, monkeypatch):
    """Exact numbers of values below the noised sums would be a second, unpaid release."""
    relative, noise = np.array([[0.5, -0.25], [0.25, np.nan], [-1.0, 1.0]]), [HALF // 2, -HALF, 2 * HALF, HALF // 4]
    monkeypatch.setattr(counted_mean, "cube_noise", lambda d, *_: noise[:d])
    noised = [s + z for s, z in zip(counted_sums(relative, fill), noise, strict=False)]
    found = CountedMean(Fraction(1), fill).draw(relative, b"", charge(1, neighbours="add-remove"))
    assert found == [Fraction(noised[0], noised[2]), Fraction(noised[1], noised[-1])]
    assert noised[2] == 5 * HALF  # three rows, and noise as of two


def test_sums_beyond_one_batch_are_exact(monkeypatch):
    monkeypatch.setattr(counted_mean, "_ROWS_AT_A_TIME", 3)
    relative = np.random.default_rng(0).uniform(-1, 1, size=(10, 2))
    relative[4, 1] = np.nan
    parts = [counted_sums(relative[i : i + 1], None) for i in range(10)]
    assert counted_sums(relative, None) == [sum(column) for column in zip(*parts, strict=True)]


# Subset means -----------------------------------------------------------------------------------------------------

VALUES = [(Fraction(-1),), (Fraction(0),), (Fraction(1),), (None,)]
STEP = (8,)
ROOT = Fraction(21, 20)  # e^(epsilon/2)


def subset_laws(blocks, q, most):
    def law(x):
        return drawn_law(tuple(VALUES[i] for i in x), blocks, STEP, [(1,)], q)

    return all_laws(len(VALUES), most, law)


@pytest.mark.parametrize(("blocks", "most"), [(2, 4), (3, 4)])
def test_depth_of_drawn_blocks_is_private_with_half_of_epsilon_in_the_exponent_only(blocks, most):
    assert worst_ratio(subset_laws(blocks, ROOT, most), len(VALUES), most) <= ROOT**2
    assert worst_ratio(subset_laws(blocks, ROOT**2, most), len(VALUES), most) > ROOT**2


def test_a_number_of_blocks_from_the_true_number_of_rows_would_not_be_private():
    def law(x, blocks):
        return drawn_law(((Fraction(0),),) * len(x), blocks, STEP, [(1,)], ROOT)

    assert worst_ratio(all_laws(1, 5, lambda x: law(x, 6)), 1, 5) <= ROOT**2
    assert worst_ratio(all_laws(1, 5, lambda x: law(x, 1 if len(x) < 5 else 6)), 1, 5) > ROOT**2


def test_block_tables_are_those_of_the_oracle_for_every_draw():
    x = [VALUES[i] for i in (0, 1, 2, 2, 3)]
    cells = np.array([[np.nan if c is None else float(c) for c in row] for row in x])
    order = np.array([3, 1, 4, 0, 2])
    draws = itertools.product(range(3), repeat=len(x))
    for numbers, wanted in zip(draws, drawn_tables(tuple(x), 3, (8,)), strict=True):
        found = drawn_block_table(cells, 3, np.array(numbers), order, corrected_means)
        rows = [tuple(None if math.isnan(v) else Fraction(float(v)) for v in row) for row in found.tolist()]
        assert tuple(on_grid(row, (8,)) for row in rows) == wanted


# REM --------------------------------------------------------------------------------------------------------------

UNIT = np.ones((1, 1), dtype=np.int64)
SLANTED = np.array([[1, 0], [0, 1], [1, 2], [2, -1]], dtype=np.int64)
SHORT, LONGER, SQUARE = grid_points((3,)), grid_points((4,)), grid_points((2, 2))
REM = [
    # points, directions, most rows, t, eta, epsilon of the test, delta
    (SHORT, UNIT, 6, 1, Fraction(1), Fraction(1), Fraction(1, 5)),
    (SHORT, UNIT, 7, 2, Fraction(1), Fraction(1), Fraction(1, 10)),
    (SHORT, UNIT, 8, 3, Fraction(6, 5), Fraction(4, 5), Fraction(1, 20)),
    (LONGER, UNIT, 7, 2, Fraction(6, 5), Fraction(9, 5), Fraction(1, 20)),
    (LONGER, UNIT, 8, 3, Fraction(2), Fraction(2), Fraction(1, 50)),
    (SQUARE, SLANTED, 5, 2, Fraction(1), Fraction(1), Fraction(1, 10)),
]


def name(case):
    return f"d{case[0].shape[1]}n{case[2]}t{case[3]}" if isinstance(case, tuple) else "counted" if case else "bounded"


def evidence(x: Dataset, case, counted=True) -> Evidence:
    points, directions, most, t, eta, test, delta = case
    box = Box(tuple(points.min(axis=0).tolist()), tuple(points.max(axis=0).tolist()))
    levels = level_sets(points[list(x)].reshape(len(x), points.shape[1]), directions)
    sizes = sizes_of(levels, box, t) if counted else BoxesAndEllipsoids(levels, box, t)
    plan = Plan(most, t, eta, test, delta, t - 1, tuple(range(most + 1)), "add-remove")
    assert plan.eta == eta
    assert isinstance(evidence_of(sizes, plan), OneSided)
    return evidence_of(sizes, plan)


@pytest.mark.parametrize(
    ("case", "counted"), [*((case, True) for case in REM), (REM[0], False), (REM[1], False), (REM[-1], False)], ids=name
)
def test_rem_is_private_between_tables_of_different_sizes(case, counted):
    points, directions, most, t, eta, test, delta = case

    def law(x: Dataset) -> np.ndarray:
        passed = chance(Graded(), evidence(x, case, counted))
        return outcome(depths(x, points, directions), t, float(eta), passed)

    laws = all_laws(len(points), most, law)
    found = worst_delta(laws, len(points), most, float(eta + test))
    assert found <= float(delta) * (1 + 1e-9)
    assert max(1 - law[-1] for law in laws.values()) > delta or t == 1  # something is released


@pytest.mark.parametrize("case", REM, ids=name)
def test_its_chances_are_those_of_the_definition(case):
    points, directions, most, t, eta, test, delta = case
    for x in up_to(len(points), most):
        depth = depths(x, points, directions).tolist()
        wanted = one_sided_chance(depth, t, float(eta), float(test), float(delta), t - 1)
        assert chance(Graded(), evidence(x, case)) == pytest.approx(wanted, rel=1e-9)


@pytest.mark.parametrize("depth", [(0, 1, 2, 3, 1), (2, 2, 3), (0, 4, 5, 1)])
def test_the_harm_is_the_worst_over_all_functions_between(depth):
    for t, removed, added in itertools.product((1, 2, 3), (0, 1, 2), (0, 1, 2)):
        assert harm(depth, t, 0.7, removed, added) == pytest.approx(brute_harm(depth, t, 0.7, removed, added))


MISTAKES = [None, "threshold from n", "edge on one side only", "additions only", "more rows taken to be harmless"]


@pytest.mark.parametrize("mistake", MISTAKES)
def test_rems_enumeration_can_fail(mistake):
    points, directions, most, t, eta, test, delta = LONGER, UNIT, 8, 3, 1.0, 2.0, 0.05

    def law(x: Dataset) -> np.ndarray:
        depth = depths(x, points, directions)
        lowest = (2 if len(x) < 6 else 4) if mistake == "threshold from n" else t
        worst = worst_cases(depth.tolist(), lowest, eta, lowest - 1)
        if mistake == "edge on one side only":
            worst = [_at_threshold(depth, lowest, eta, k) for k in range(lowest - 1)]
        if mistake == "additions only":
            worst = [harm(depth.tolist(), lowest, eta, 0, k) for k in range(lowest - 1)]
        if mistake == "more rows taken to be harmless":
            worst += [0.0] * 20
        passed = graded(worst, test, eta + test, delta) if depth.max() >= lowest else 0.0
        return outcome(depth, lowest, eta, passed)

    found = worst_delta(all_laws(len(points), most, law), len(points), most, eta + test)
    assert found <= delta * (1 + 1e-9) if mistake is None else found > 1.5 * delta


def _at_threshold(depth, t, eta, k):
    """D+ alone: what a row more can do, forgetting what a row less can."""
    found = 0.0
    for a in range(k + 1):
        outer = int((depth >= t - 1 - (k - a)).sum() - (depth >= t + a).sum())
        left = math.exp(-eta * a) * float(np.exp(eta * depth[depth >= t + a]).sum())
        harmful = math.exp(eta * (t - 1)) * outer
        found = max(found, harmful / (harmful + left) if harmful + left else 1.0)
    return found


@pytest.mark.parametrize(("claimed", "holds"), [(2, True), (1, False)])
def test_the_two_sided_test_with_eta_for_the_draw_instead_of_2_eta_would_not_be_private_under_swap(claimed, holds):
    points, directions, n, t, eta, test, delta = SHORT, UNIT, 20, 6, 3.0, 0.6, 0.05

    def law(x: Dataset) -> np.ndarray:
        depth = depths(x, points, directions)
        worst = [worst_case(depth, t, eta, k) for k in range(t - 1)]
        passed = graded(worst, test, claimed * eta + test, delta) if depth.max() >= t else 0.0
        return outcome(depth, t, eta, passed)

    laws = {x: law(x) for x in itertools.combinations_with_replacement(range(len(points)), n)}
    factor = math.exp(claimed * eta + test)
    found = max(float(np.maximum(laws[x] - factor * laws[y], 0.0).sum()) for x in laws for y in swaps(x, len(points)))
    assert found <= delta if holds else found > 1.5 * delta
