"""Whole mechanisms with all their secret coins: every table, swap, dealing and coin of tiny tables, in rationals.

The account (`support/whole_mean_oracle.py`) imports nothing from the package. Then the package is held against it: its
tables for every dealing and every coin, its weights, sums and counts, and the law of two steps with a private spread
from end to end.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from support import whole_mean_oracle as oracle
from support.charges import charge
from support.fit import FALSE_ALARM, g_test
from tukeydp.mechanisms import clipped_sum, two_step
from tukeydp.mechanisms.two_step import TwoStepPlan, two_step_point
from tukeydp.trusted import clipped_sums
from tukeydp.trusted.bits import derived_key
from tukeydp.trusted.block_steps import (
    OCTAVES,
    SpreadPlan,
    SubsetPlan,
    at_the_ends,
    corrected_means,
    log_differences,
    subset_point,
)
from tukeydp.trusted.blocks import block_table, filled_at_the_ends
from tukeydp.trusted.clipped_sums import rows_beyond
from tukeydp.trusted.release import rehearsed
from tukeydp.trusted.rows import Grid, bounded_columns, relative_grid

Q = Fraction(2)  # e^(epsilon / 2) for each dealing and each step
ALONG = ((1,),)
CROSS = ((1, 0), (0, 1), (1, 1), (1, -1))


def cells(*values):
    return [(None if v is None else Fraction(v),) for v in values]


ONE = cells(-1, 0, 1, None)
UNLIKE = cells(-1, Fraction(-1, 3), 0, Fraction(5, 7), None)
TWO = [(*a, *b) for a, b in zip(cells(-1, 1, 0, None, 1, None), cells(-1, -1, 1, 1, None, None), strict=True)]


def worst_loss(law, rows, n, epsilon):
    """The largest log ratio over all swaps and outcomes, and whether it is at most epsilon = `epsilon` ln Q."""
    law = cache(law)
    found = max(max(p / law(swapped)[y] for y, p in law(x).items()) for x, swapped in oracle.swaps(rows, n))
    return math.log(found) / (epsilon * math.log(Q)), found <= Q**epsilon


# rows there are, n, blocks, dealings, steps of the grid, directions
CASES = {
    "unequal blocks": (ONE, 3, 2, 1, (8,), ALONG),
    "a block of three, corrected": (ONE, 5, 2, 1, (8,), ALONG),
    "single rows": (ONE, 4, 4, 1, (8,), ALONG),
    "unequal blocks, two dealings": (ONE, 4, 3, 2, (8,), ALONG),
    "two columns": (TWO, 3, 2, 1, (4, 4), CROSS),
    "two columns, two dealings": (TWO, 3, 2, 2, (4, 4), CROSS),
}


@pytest.mark.parametrize("case", CASES)
def test_subset_means_are_private_with_missing_blocks_at_the_ends(case):
    rows, n, blocks, partitions, steps, directions = CASES[case]
    loss, private = worst_loss(
        lambda x: oracle.subset_law(x, blocks, partitions, steps, directions, Q), rows, n, 2 * partitions
    )
    assert private
    assert loss > 0.5  # the enumeration sees the mechanism


@pytest.mark.parametrize(("rows", "n", "pairs"), [(UNLIKE, 3, 1), (UNLIKE, 4, 2), (ONE, 5, 2)])
def test_the_spread_is_private_with_zero_and_missing_differences_at_the_ends(rows, n, pairs):
    loss, private = worst_loss(lambda x: oracle.spread_law(x, pairs, OCTAVES, ALONG, Q), rows, n, 2)
    assert private
    assert loss > 0.3


def test_an_end_chosen_by_the_other_blocks_would_not_be_private():
    """Control: missing blocks at the end where the fewer others lie."""

    def law(x):
        def table(order):
            values = [oracle.block_mean([v]) for (v,) in order]
            end = -1 if sum(v for v in values if v is not None) > 0 else 1
            return tuple(sorted((round(4 * (1 + (end if v is None else v))),) for v in values))

        return oracle.mixture({table(x): Fraction(1)}, (8,), ALONG, Q)

    loss, private = worst_loss(law, ONE, 4, 2)
    assert not private
    assert loss > 1.4


# The package has these tables, for every dealing and every coin.


class Coins:
    """Words with chosen uppermost bits, in the place of a keystream."""

    def __init__(self, upper, bits):
        self._words = np.array(upper, dtype=np.uint64) << np.uint64(64 - bits)

    def words(self, lane, count):
        assert (lane, count) == (0, len(self._words))
        return self._words


def floats(x):
    return np.array([[np.nan if cell is None else float(cell) for cell in row] for row in x])


def counted(x, grid, made, coins, bits):
    """How often each table comes out, its rows sorted, over all orders of the rows and all coins."""
    found = Counter()
    for order in itertools.permutations(range(len(x))):
        for upper in itertools.product(range(2**bits), repeat=coins):
            table = grid.snap(made(floats(x), np.array(order), Coins(upper, bits))) - grid.low
            found[tuple(sorted(map(tuple, table.tolist())))] += 1
    return {table: Fraction(times, sum(found.values())) for table, times in found.items()}


@pytest.mark.parametrize("case", [name for name in CASES if CASES[name][3] == 1])
def test_block_tables_and_coins_are_those_of_the_oracle(case):
    rows, n, blocks, _, steps, _ = CASES[case]
    for x in list(itertools.combinations_with_replacement(rows, n))[:: 1 if n < 5 else 9]:
        found = counted(
            x,
            relative_grid(steps),
            lambda values, order, coins: filled_at_the_ends(block_table(values, blocks, order, corrected_means), coins),
            blocks * len(steps),
            1,
        )
        assert found == oracle.tables(x, blocks, lambda values: oracle.mean_choice(values, steps[0]))


@pytest.mark.parametrize(("n", "pairs", "every"), [(2, 1, 1), (3, 1, 2), (4, 2, 35)])
def test_differences_and_coins_are_those_of_the_oracle(n, pairs, every):
    grid = Grid((Fraction(-OCTAVES),), (Fraction(1, 8),), (8 * OCTAVES,))
    for x in list(itertools.combinations_with_replacement(UNLIKE, n))[::every]:
        found = counted(
            x,
            grid,
            lambda values, order, coins: at_the_ends(block_table(values, pairs, order, log_differences), coins),
            pairs,
            4,
        )
        assert found == oracle.tables(x, pairs, lambda values: oracle.difference_choice(values, OCTAVES))


@pytest.mark.parametrize(
    ("x", "blocks", "steps", "wrong"),
    [
        (cells(-1, -1, -1, 1), 1, 16, "plain means"),  # -3/8 in the place of -1/2
        (cells(-1, None, None, None), 4, 8, "missing blocks left out"),
    ],
)
def test_draws_have_the_law_with_coins_and_correction(x, blocks, steps, wrong):
    """From end to end, against the law and against that of a mechanism that leaves one of the two out."""

    def without(values):
        mean = oracle.block_mean(values)
        if wrong == "plain means":
            there = [v for v in values if v is not None]
            mean = sum(there) / len(there) if there else None
        elif mean is None:
            return ((None, Fraction(1)),)
        return oracle.place(mean, steps)

    plan = SubsetPlan(blocks, 1, (steps,))
    epsilon = Fraction(8)
    counts = np.zeros(steps + 1)
    for i in range(800):
        (y,) = subset_point(floats(x), charge(epsilon, derived_key(wrong, i)), plan, derived_key("public"))
        counts[y + steps // 2] += 1
    q = Fraction(math.exp(epsilon / 2))
    law, other = (
        oracle.mixture(oracle.tables(tuple(x), blocks, choice), (steps,), ALONG, q)
        for choice in (lambda values: oracle.mean_choice(values, steps), without)
    )
    assert g_test(counts, np.array(list(law.values()), float)) > FALSE_ALARM
    assert g_test(counts, np.array(list(other.values()), float)) < FALSE_ALARM


WILD = [-math.inf, -1e308, -0.0, 5e-324, 0.3, 1e308, math.nan]


@pytest.mark.parametrize("blocks", [2, 3])
def test_wild_cells_are_private_too(blocks):
    """The package's own floats for every dealing and coin; three rows, bounds of 1e300 and of 1."""
    columns, grid = bounded_columns(2, ([-1e300, -1], [1e300, 1])), relative_grid((4, 4))
    rows = list(zip(WILD, [*WILD[2:], *WILD[:2]], strict=True))

    @cache
    def law(x):
        relative = columns.relative(np.array(x))
        weighed = Counter()
        for order in itertools.permutations(range(len(x))):
            table = block_table(relative, blocks, np.array(order), corrected_means)
            for upper in itertools.product((0, 1), repeat=int(np.isnan(table).sum())):
                words = np.zeros(table.size, dtype=np.uint64)
                words[np.flatnonzero(np.isnan(table))] = upper
                on_grid = grid.snap(filled_at_the_ends(table, Coins(words, 1))) - grid.low
                chance = Fraction(1, math.factorial(len(x)) * 2 ** len(upper))
                weighed[tuple(sorted(map(tuple, on_grid.tolist())))] += chance
        assert sum(weighed.values()) == 1
        return oracle.mixture(weighed, (4, 4), CROSS, Q)

    named = [(Fraction(i),) for i in range(len(rows))]  # NaN is not equal to itself: rows by number
    loss, private = worst_loss(lambda x: law(tuple(rows[int(i)] for (i,) in x)), named, 3, 2)
    assert private
    assert loss > 0.5


# Two steps with a private spread.

STEPS = 4
SHARES = (Fraction(2), Fraction(12), Fraction(10), Fraction(3), Fraction(4))  # of epsilon: centre to mean
Q_CENTRE, Q_SPREAD = Fraction(math.exp(1)), Fraction(math.exp(6))  # e^(epsilon / 2) of the first two
PLAN = TwoStepPlan(SHARES, SubsetPlan(2, 1, (4,)), SpreadPlan(1), None)
MEDIAN = 0.6744897501960817


def spread_of(k):
    """The spread that grid point k of 8 x 30 stands for, in relative units, at least a hundredth of the width."""
    return 2 * max(2.0 ** (k / 8 - 30 - math.log2(MEDIAN)), 1 / 100)


def clip_range(centre, spread, i):
    reach = oracle.RADII[i] * spread
    return max(-1.0, centre - reach), min(1.0, centre + reach)


def narrowed(law):
    """A law of spreads with all those below the narrowest taken together."""
    found = Counter()
    for (k,), p in law.items():
        found[spread_of(k)] += p
    return found


def first_laws(x, q_centre, q_spread):
    """The laws of centre, in relative units, and spread."""
    centre = oracle.subset_law(x, 2, 1, (4,), ALONG, q_centre)
    spread = oracle.spread_law(x, 1, OCTAVES, ALONG, q_spread)
    return {y / 2 - 1: p for (y,), p in centre.items()}, narrowed(spread)


def radius_law(x, centre, spread):
    law = oracle.radii_law(x, [centre], [spread], float(SHARES[2]))
    return [law[i,] for i in range(len(oracle.RADII))]


def test_two_steps_with_a_private_spread_are_private_together():
    """Centre, spread, radius, shares of missing cells and mean: the five losses over all ways they can come out.

    Here the spread has the centre's epsilon.
    """
    epsilon = float(2 * SHARES[0] + sum(SHARES[2:]))
    laws = cache(lambda x: first_laws(x, Q_CENTRE, Q_CENTRE))
    radii = cache(radius_law)
    sums = cache(lambda x, y, s, i: oracle.clipped_sums(x, *([end] for end in clip_range(y, s, i)), [y], STEPS)[0])
    worst = 0.0
    for x, swapped in oracle.swaps(UNLIKE, 3):
        (centres, spreads), (others, other_spreads) = laws(x), laws(swapped)
        gone = abs(oracle.missing(x)[0] - oracle.missing(swapped)[0])
        for y, s in itertools.product(centres, list(spreads)[::4]):
            first = math.log(centres[y] / others[y]) + math.log(spreads[s] / other_spreads[s])
            for i, (ours, theirs) in enumerate(zip(radii(x, y, s), radii(swapped, y, s), strict=True)):
                moved = abs(sums(x, y, s, i) - sums(swapped, y, s, i))
                assert gone <= 1
                assert moved <= STEPS
                last = float(SHARES[3]) * gone + float(SHARES[4]) * moved / STEPS
                worst = max(worst, first + math.log(ours / theirs) + last)
    assert 0.5 * epsilon < worst <= epsilon


def cube_law(epsilon, reach):
    """Noise of one column, of scale STEPS / epsilon."""
    weights = {z: math.exp(-float(epsilon) * abs(z) / STEPS) for z in range(-reach, reach + 1)}
    return {z: w / sum(weights.values()) for z, w in weights.items()}


def released_law(x, edges, q_centre, q_spread):
    """The law of the whole two-step mean, in bins between `edges`."""
    n = len(x)
    noise, more = cube_law(SHARES[4], 30), cube_law(SHARES[3], 30)
    usual = 2 * clipped_sum.median_of_noise(1) / float(SHARES[3])
    kept = Counter()
    for z, p in more.items():
        kept[1 - max(0.0, min(0.9, (oracle.missing(x)[0] + z / STEPS - usual) / n))] += p
    z, chance = np.array(list(noise)), np.array(list(noise.values()))
    left, of = np.array(list(kept)), np.array(list(kept.values()))
    law = np.zeros(len(edges) - 1)
    centres, spreads = first_laws(x, q_centre, q_spread)
    for (y, p), (s, p_spread) in itertools.product(centres.items(), spreads.items()):
        for i, p_radius in enumerate(radius_law(x, y, s)):
            low, high = clip_range(y, s, i)
            (total,) = oracle.clipped_sums(x, [low], [high], [y], STEPS)
            mean = low + (high - low) * (total + z) / (n * STEPS)
            found = np.clip(y + (mean[:, np.newaxis] - y) / left, -1, 1)
            weights = float(p) * float(p_spread) * p_radius * chance[:, np.newaxis] * of
            law += np.histogram(found, edges, weights=weights)[0]
    return law


def test_releases_have_the_law_of_all_five_steps(monkeypatch):
    """From end to end; three times the epsilon of the centre would be noticed. Radii make up for a wrong spread."""
    monkeypatch.setattr(clipped_sums, "STEPS", STEPS)
    x = tuple(cells(-1, Fraction(-1, 3), Fraction(-1, 3), None))
    edges = np.array([-1.001, -0.999, -0.7, -0.55, -0.45, -0.35, -0.2, 0.05, 0.3, 0.6, 0.999, 1.001])
    draws = [
        float(two_step_point(floats(x), PLAN, derived_key("public"), charge(sum(SHARES), derived_key("whole", i)))[0])
        for i in range(1500)
    ]
    counts = np.histogram(draws, edges)[0]
    assert counts.sum() == len(draws)
    assert g_test(counts, released_law(x, edges, Q_CENTRE, Q_SPREAD)) > FALSE_ALARM
    assert g_test(counts, released_law(x, edges, Q_CENTRE**3, Q_SPREAD)) < FALSE_ALARM


@pytest.mark.parametrize("noise", [[0, 0], [1, -7], [60, -60]])
def test_radii_sums_and_counts_are_those_of_the_oracle(monkeypatch, noise):
    """Given centre, spread and noise, for all tables of three rows in two columns.

    Cells keep clear of ties in rounding; the largest noise leads beyond the bounds, and to nothing but missing cells.
    """
    monkeypatch.setattr(clipped_sums, "STEPS", STEPS)
    seen = []
    place = 6

    def radii(relative, centre, spread, charge):
        seen.append((rows_beyond(relative, centre, spread).tolist(), charge.epsilon))
        return np.full(2, oracle.RADII[place])

    monkeypatch.setattr(two_step, "drawn_radii", radii)
    monkeypatch.setattr(clipped_sums, "cube_noise", lambda d, scale, bits: seen.append((d, scale)) or noise)
    centre, spread = np.array([0.25, -0.5]), np.array([0.02, 0.1])  # the second range is cut at -1
    low, high = np.array([clip_range(y, s, place) for y, s in zip(centre.tolist(), spread.tolist(), strict=True)]).T
    rows = [(*a, *b) for a, b in itertools.product(cells(Fraction(1, 3), -1, None), cells("-0.51", 1, None))]
    for x in itertools.combinations_with_replacement(rows, 3):
        seen.clear()
        found = two_step.clipped_around(floats(x), centre, spread, rehearsed(PLAN.parts, bytes(32)))
        assert seen == [
            (oracle.rows_beyond(x, centre.tolist(), spread.tolist()), SHARES[2]),
            (2, STEPS / SHARES[3]),
            (2, STEPS / SHARES[4]),
        ]
        sums = oracle.clipped_sums(x, low.tolist(), high.tolist(), centre.tolist(), STEPS)
        usual = 2 * clipped_sum.median_of_noise(2) / float(SHARES[3])
        for j, gone in enumerate(oracle.missing(x)):
            mean = low[j] + (high[j] - low[j]) * (sums[j] + noise[j]) / (3 * STEPS)
            left = 1 - max(0.0, min(0.9, (gone + noise[j] / STEPS - usual) / 3))
            expected = max(-1.0, min(1.0, centre[j] + (mean - centre[j]) / left))
            assert float(found[j]) == pytest.approx(expected, abs=1e-12)


def test_a_rough_mean_counts_at_least_one_value(monkeypatch):
    """Noise may leave fewer than none: a quotient by that would turn the sign."""
    for weight in (0, -1, -(10**12)):
        monkeypatch.setattr(clipped_sums, "cube_noise", lambda d, scale, bits, z=weight: [clipped_sums.STEPS // 8, z])
        found = clipped_sums.rough_mean(np.full((3, 1), np.nan), charge(1))
        assert found.tolist() == [0.25]


def test_known_spreads_are_shares_of_a_width_of_two(monkeypatch):
    given, plain = [], two_step.second_step

    def noted(relative, centre, spread, run):
        given.append(spread.tolist())
        return plain(relative, centre, spread, run)

    monkeypatch.setattr(two_step, "second_step", noted)
    plan = TwoStepPlan(SHARES, SubsetPlan(2, 1, (4, 4)), None, (0.1, 0.25))
    assert two_step.two_step_result(np.zeros((3, 2)), plan, bytes(32), charge(sum(SHARES))).spread is None
    assert given == [[0.2, 0.5]]
