"""Clipped sums, rough means and whole compositions, proven by enumeration on few steps: all tables, all swaps.

Cube noise has probabilities proportional to e^(-epsilon max |z| / D), so a loss is a difference of whole numbers, and
the worst one over tables and outcomes is found in integers. What is enumerated is what the package sums and weighs: its
draws are replaced by a list of all that could be drawn.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from support import mean_oracle as oracle
from support.charges import charge
from support.whole_mean_oracle import RADII, radii_law
from tukeydp.mechanisms.mean_plans import CubeMean
from tukeydp.mechanisms.two_step import TwoStepPlan
from tukeydp.trusted import clipped_sums as clipped_sum
from tukeydp.trusted.block_steps import SubsetPlan
from tukeydp.trusted.clipped_sums import ClipRange, clipped_mean, rough_mean

STEPS = 4  # between the ends of a clip range, in the place of 2^30
ROWS = [(v,) for v in (-1.0, -0.6, 0.0, 0.3, 1.0, math.nan)]
PAIRS = [(-1.0, 1.0), (0.3, -1.0), (1.0, 0.0), (math.nan, 1.0), (-1.0, math.nan), (math.nan, math.nan)]


@pytest.fixture
def few_steps(monkeypatch):
    monkeypatch.setattr(clipped_sum, "STEPS", STEPS)


@pytest.fixture
def noise(monkeypatch):
    """Noise that is handed out in turn, and what was asked for: (columns, scale)."""
    script, asked = [], []

    def drawn(d, scale, bits):
        asked.append((d, scale))
        z = script.pop(0) if script else [0] * d
        assert len(z) == d
        return list(z)

    monkeypatch.setattr(clipped_sum, "cube_noise", drawn)
    return script, asked


def neighbours(rows, n):
    """All pairs of tables, as multisets, that differ in one row."""
    for rest in itertools.combinations_with_replacement(rows, n - 1):
        for ours, theirs in itertools.permutations(rows, 2):
            yield np.array([*rest, ours]), np.array([*rest, theirs])


def cube_loss(sums, swapped, outcome):
    """How many times epsilon / D the log ratio of the two laws is at an outcome."""
    return max(abs(o - s) for o, s in zip(outcome, swapped, strict=True)) - max(
        abs(o - s) for o, s in zip(outcome, sums, strict=True)
    )


def worst_cube_loss(sums, swapped, reach):
    ranges = [range(min(a, b) - reach, max(a, b) + reach + 1) for a, b in zip(sums, swapped, strict=True)]
    return max(cube_loss(sums, swapped, outcome) for outcome in itertools.product(*ranges))


def clipped_sums(x, where):
    """What the package sums, read off a run without noise."""
    mean = clipped_mean(x, where, charge(1))
    ends = zip(mean, where.low.tolist(), where.high.tolist(), strict=True)
    sums = [(value - Fraction(a)) / (Fraction(b) - Fraction(a)) * len(x) * STEPS for value, a, b in ends]
    assert all(s.denominator == 1 for s in sums)
    return [int(s) for s in sums]


RANGES = {
    "the bounds": (-1.0, 1.0, 0.0),
    "inside": (-0.7, 0.4, 0.1),
    "at the edge": (0.5, 1.0, 1.0),
    "nothing between": (0.25, 0.25, 0.25),
}


@pytest.mark.parametrize("name", RANGES)
@pytest.mark.parametrize(("rows", "n"), [(ROWS, 3), (PAIRS, 2)], ids=["one column", "two columns"])
def test_a_swap_moves_every_clipped_sum_by_at_most_the_steps(few_steps, noise, rows, n, name):
    d = len(rows[0])
    where = ClipRange(*(np.full(d, v) for v in RANGES[name]))
    if name == "nothing between":
        steps = where.steps(np.array(rows))
        assert ((steps >= 0) & (steps <= STEPS)).all()
        return
    worst = max(
        worst_cube_loss(clipped_sums(x, where), clipped_sums(swapped, where), 2) for x, swapped in neighbours(rows, n)
    )
    assert worst == STEPS  # exactly epsilon: the scale is STEPS / epsilon
    assert set(noise[1]) == {(d, Fraction(STEPS))}


def rough_sums(x, noise):
    """What is noised for the rough mean: sums from the middle, then numbers of values, each worth half the steps."""
    there = ~np.isnan(x)
    from_middle = np.rint(np.where(there, x, 0.0) * (STEPS // 2)).astype(int)
    sums = [*from_middle.sum(axis=0).tolist(), *(STEPS // 2 * there.sum(axis=0)).tolist()]
    # The package has the same: with this noise its means are quotients that only these sums give.
    d = x.shape[1]
    for z in ((0,) * 2 * d, (*range(1, d + 1), *range(7, d + 7))):
        noise[0].append(z)
        quotients = [
            max(-1.0, min(1.0, (s + a) / max(w + b, STEPS // 2)))
            for s, w, a, b in zip(sums[:d], sums[d:], z[:d], z[d:], strict=True)
        ]
        assert rough_mean(x, charge(1)).tolist() == quotients
    return sums


@pytest.mark.parametrize(("rows", "n", "reach"), [(ROWS, 3, 3), (PAIRS, 2, 1)], ids=["one column", "two columns"])
def test_the_rough_mean_is_private(few_steps, noise, rows, n, reach):
    worst = max(
        worst_cube_loss(rough_sums(x, noise), rough_sums(swapped, noise), reach) for x, swapped in neighbours(rows, n)
    )
    assert worst == STEPS
    assert set(noise[1]) == {(2 * len(rows[0]), Fraction(STEPS))}


def test_sums_not_taken_from_the_middle_would_not_be_private():
    """Values from 4 to 8 with four steps, and a missing cell that adds nothing: two epsilon."""
    raw = {-1.0: 4, 0.0: 6, 1.0: 8, None: 0}
    worst = max(
        worst_cube_loss([ours, 2 * (ours > 0)], [theirs, 2 * (theirs > 0)], 3)
        for ours, theirs in itertools.permutations(raw.values(), 2)
    )
    assert worst == 2 * STEPS


def test_unlike_numbers_of_steps_would_not_be_private():
    """Two columns of four and of eight steps under noise for four."""
    tables = list(itertools.product((0, 4), (0, 8)))
    worst = max(worst_cube_loss(ours, theirs, 2) for ours, theirs in itertools.permutations(tables, 2))
    assert worst == 2 * STEPS


def test_noise_for_each_column_by_itself_would_not_be_private():
    """Laplace noise of scale D / epsilon in each of two columns: its law falls with the sum, not with the largest."""
    sums, swapped = (0, 0), (4, 4)
    worst = max(
        sum(abs(o - s) for o, s in zip(outcome, swapped, strict=True))
        - sum(abs(o - s) for o, s in zip(outcome, sums, strict=True))
        for outcome in itertools.product(range(-3, 8), repeat=2)
    )
    assert worst == 2 * STEPS


def rough_outcome(x, sums, outcome, noise):
    """The rough mean that the package makes of noised sums."""
    noise[0].append([o - s for o, s in zip(outcome, sums, strict=True)])
    return rough_mean(x, charge(1))


def test_cube_and_its_rough_mean_together_are_private(few_steps, noise):
    """The whole mechanism: every rough mean that could come out, then every sum given what missing cells count as."""
    plan = CubeMean(Fraction(3))
    worst = Fraction(0)
    for x, swapped in neighbours(ROWS, 2):
        ours, theirs = rough_sums(x, noise), rough_sums(swapped, noise)
        for outcome in itertools.product(range(-6, 7, 2), range(-2, 7, 2)):
            filled = rough_outcome(x, ours, outcome, noise)
            assert rough_outcome(swapped, theirs, outcome, noise) == filled  # nothing but what was released
            first = plan.settings["epsilon_missing"] * cube_loss(ours, theirs, outcome) / STEPS
            where = ClipRange(np.array([-1.0]), np.array([1.0]), filled)
            second = worst_cube_loss(clipped_sums(x, where), clipped_sums(swapped, where), 1)
            worst = max(worst, first + plan.settings["epsilon_mean"] * second / STEPS)
    assert worst == plan.epsilon


@pytest.mark.parametrize("fill", [None, (0.25,)])
def test_the_scales_of_cube_add_up_to_epsilon(few_steps, noise, fill):
    plan = CubeMean(Fraction(3), fill)
    plan.draw(np.array(ROWS), b"", charge(plan.epsilon))
    assert [d for d, _ in noise[1]] == ([2, 1] if fill is None else [1])
    assert sum(STEPS / scale for _, scale in noise[1]) == plan.epsilon


def test_two_steps_with_known_spreads_are_private_together(few_steps, noise):
    """Centre, radius and mean: the sum of the three losses, over all ways they can come out, is at most epsilon."""
    shares = (Fraction(1, 2), Fraction(0), Fraction(2), Fraction(1))
    plan = TwoStepPlan(shares, SubsetPlan(2, 1, (4,)), None, (0.02,))
    q = Fraction(math.exp(float(shares[0]) / 2))
    cells = [tuple(None if math.isnan(v) else Fraction(v) for v in row) for row in ROWS]
    laws = {x: oracle.subset_law(x, 2, 1, (4,), [(1,)], q) for x in oracle.all_tables(cells, 3)}
    names = dict(zip([repr(row) for row in ROWS], cells, strict=True))

    def names_of(table):
        return [names[repr(tuple(row))] for row in table.tolist()]

    worst = 0.0
    for x, swapped in neighbours(ROWS, 3):
        ours, theirs = (laws[oracle.multiset(names_of(table), cells)] for table in (x, swapped))
        for point, (a, b) in enumerate(zip(ours, theirs, strict=True)):
            centre = np.array([point / 2 - 1])
            spread = 2 * np.array(plan.known)
            radii = [radii_law(names_of(table), centre, spread, float(shares[2])) for table in (x, swapped)]
            for i in (0, 4, 7, 10):
                low, high = (np.clip(centre + sign * RADII[i] * spread, -1, 1) for sign in (-1, 1))
                where = ClipRange(low, high, centre)
                first = math.log(a / b)
                second = math.log(radii[0][i,] / radii[1][i,])
                third = float(shares[3]) * abs(clipped_sums(x, where)[0] - clipped_sums(swapped, where)[0]) / STEPS
                worst = max(worst, first + second + third)
    assert float(sum(shares)) * 0.5 < worst <= float(sum(shares)) * (1 + 1e-12)
