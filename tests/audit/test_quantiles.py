"""Quantiles by recursive halving, proven by enumeration: all small tables, all swaps, cells that go missing.

Joint laws are those of an account that imports nothing from the package (in floats: weights are not rational); the
package's scores, intervals and weights are shown to be those of that account, and its draws to have its law.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tukeydp as td
from support import quantile_oracle as oracle
from support.charges import charge
from support.fit import FALSE_ALARM, g_test
from tukeydp.mechanisms.quantiles import checked_shares
from tukeydp.trusted import ranks as module
from tukeydp.trusted import ranks as rank_draw
from tukeydp.trusted.bits import Keystream, derived_key
from tukeydp.trusted.ranks import (
    EVERY_POINT,
    HeldValues,
    Progression,
    RankLaw,
    RoundNumbers,
    Unit,
    drawn_quantiles,
    level_weight,
    number_of_levels,
    round_numbers,
)
from tukeydp.trusted.rows import bounded_grid

SHARES = {
    "median": (Fraction(1, 2),),
    "quartiles": (Fraction(1, 4), Fraction(1, 2), Fraction(3, 4)),
    "thirds": (Fraction(1, 3), Fraction(2, 3)),
    "uneven": (Fraction(1, 10), Fraction(1, 2), Fraction(4, 5)),
}
ROUNDING = 1e-9  # of laws in floats


def mixed(values, highest, shares, weights, tie_bits, points=None):
    """The joint law, mixed over all bits that break ties."""
    total = Counter()
    coins = list(itertools.product(range(1 << tie_bits), repeat=len(values)))
    for ties in coins:
        fine = tuple((v << tie_bits) + tie for v, tie in zip(values, ties, strict=True))
        for y, p in oracle.joint(fine, highest, shares, weights, tie_bits, points).items():
            total[y] += p / len(coins)
    return total


def worst(shares, n, highest, weights, tie_bits=0, points=None):
    """The largest loss over all tables of n rows, as multisets, of which one is swapped; None is a missing cell."""
    cells = [*range(highest + 1), None]
    laws = {}
    for table in itertools.combinations_with_replacement(range(len(cells)), n):
        values = tuple(cells[i] for i in table if cells[i] is not None)
        laws[table] = mixed(values, highest, shares, weights, tie_bits, points)
    lost = 0.0
    for common in itertools.combinations_with_replacement(range(len(cells)), n - 1):
        for i, j in itertools.combinations(range(len(cells)), 2):
            ours, theirs = (laws[tuple(sorted((*common, k)))] for k in (i, j))
            lost = max(lost, max(abs(math.log(ours[y] / theirs[y])) for y in ours))
    return lost


@pytest.mark.parametrize("name", SHARES)
def test_all_quantiles_together_lose_at_most_epsilon(name):
    shares = SHARES[name]
    weights = oracle.weights(shares, Fraction(1))
    assert len(weights) == number_of_levels(len(shares))
    assert 0.4 * len(weights) < worst(shares, 3, 4, weights) <= len(weights) + ROUNDING


@pytest.mark.parametrize("name", ["quartiles", "thirds"])
@pytest.mark.parametrize("points", [None, (8, 1, 1, 20)], ids=["alike", "uneven points"])
def test_cuts_and_public_weights_of_points_cost_nothing_more(name, points):
    """Values that are equal to a quantile are shared out by their ties; some points weigh more beforehand."""
    shares = SHARES[name]
    weights = oracle.weights(shares, Fraction(1))
    assert 0.3 * len(weights) < worst(shares, 3, 3, weights, 1, points) <= len(weights) + ROUNDING


def test_a_cut_at_the_full_weight_besides_would_lose_more(monkeypatch):
    """The control: equal values that are cut for nothing. What finds the quantile has 7/8 of the weight now, was 1."""
    shares, weights = SHARES["quartiles"], oracle.weights(SHARES["quartiles"], Fraction(1))
    monkeypatch.setattr(oracle, "CUT", Fraction(-1))  # twice the weight for the quantile, as much for cutting
    assert worst(shares, 4, 3, weights, 1) > len(weights)


@pytest.mark.parametrize("name", ["median", "quartiles", "thirds"])
def test_twice_the_weight_at_the_last_level_would_lose_more(name):
    shares = SHARES[name]
    weights = oracle.weights(shares, Fraction(1))
    assert worst(shares, 4, 4, [*weights[:-1], 2 * weights[-1]]) > len(weights)


def test_moves_between_uneven_parts_would_lose_more_than_swaps():
    """The control of the weight's denominator: shares 1/16, 1/2, 15/16 leave parts of 1/8 and 7/8 to be drawn.

    The row that leaves the one is alone above a gap, the row that comes to the other alone below one.
    """
    right, left = Fraction(7, 8), Fraction(1, 8)
    gap = 2000

    def lost(weight):
        upper, lower = (1,) * 7, (gap - 1,) * 7
        leaves = oracle.law((*upper, gap), 0, gap, right, weight), oracle.law(upper, 0, gap, right, weight)
        comes = oracle.law(lower, 0, gap, left, weight), oracle.law((0, *lower), 0, gap, left, weight)
        return sum(max(abs(math.log(a / b)) for a, b in zip(*pair, strict=True)) for pair in (leaves, comes))

    assert lost(Fraction(1, 2)) > 1.5
    assert lost(level_weight([left, right], Fraction(1))) <= 1 + ROUNDING


@pytest.mark.parametrize("name", SHARES)
def test_the_weights_are_those_of_the_account(name):
    shares = SHARES[name]
    found = [
        level_weight([(shares[i] - low) / (high - low) for i, low, high in level], Fraction(1, 3))
        for level in oracle.tree(shares)
    ]
    assert found == oracle.weights(shares, Fraction(1, 3))


cells = st.lists(st.integers(0, 12), max_size=9)
parts = st.fractions(Fraction(1, 20), Fraction(19, 20), max_denominator=20)


@settings(max_examples=150, deadline=None)
@given(cells, parts)
def test_scores_and_intervals_are_those_of_the_definition(values, share):
    law = RankLaw(np.sort(np.array(values, dtype=np.int64)), 0, 12, share, Fraction(1))
    scores = [law.score(y) for y in range(13)]
    assert scores == [share.denominator * oracle.score(values, share, y) for y in range(13)]
    starts = law.starts.tolist()
    assert starts == sorted({0, max(law.wanted, share.denominator * len(values) - law.wanted), *starts})
    assert law.interval(starts[-1]) == (0, 12)
    for most in range(starts[-1] + 1):
        low, high = law.interval(most)
        assert [low <= y <= high for y in range(13)] == [score <= most for score in scores]
    assert set(law.ranks.tolist()) <= set(range(len(values)))


# Round numbers

grids = st.builds(
    lambda lower, width, step: bounded_grid(1, bounds=(lower, lower + width), resolution=min(step, width)),
    st.fractions(-50, 50, max_denominator=12),
    st.fractions(Fraction(1, 2), 40, max_denominator=12),
    st.fractions(Fraction(1, 4), 7, max_denominator=12),
)


@settings(max_examples=150, deadline=None)
@given(grids, st.data())
def test_weights_of_points_are_those_of_the_multiples_that_they_are(grid, data):
    """By listing the multiples of powers of ten, and all numbers of a stretch."""
    points, cells = round_numbers(grid, 0), grid.cells[0]
    lower, step = grid.lower[0], grid.step[0]
    expected = [points.progressions[-1].weight] * (cells + 1)
    for one in points.progressions[:-1]:
        assert one.unit > step
        for m in range(math.floor(lower / one.unit) - 1, math.ceil((lower + cells * step) / one.unit) + 2):
            if lower <= m * one.unit <= lower + cells * step:
                expected[math.floor((m * one.unit - lower) / step + Fraction(1, 2))] += one.weight
    assert [points.weight(y, y) for y in range(cells + 1)] == expected
    low = data.draw(st.integers(0, cells))
    high = data.draw(st.integers(low, cells))
    assert points.weight(low, high) == sum(expected[low : high + 1])
    small = RoundNumbers(tuple(_weighing(one, 1 + i) for i, one in enumerate(points.progressions)))
    numbers = Counter(small.point(low, high, number) for number in range(small.weight(low, high)))
    assert numbers == {y: small.weight(y, y) for y in range(low, high + 1)}
    shares = points.shares_below(np.arange(cells + 2, dtype=float)) * sum(expected)
    assert np.allclose(shares, np.concatenate([[0], np.cumsum(np.array(expected, dtype=float))]), rtol=1e-9)


def _weighing(one, weight):
    return Progression(one.unit, one.first, one.count, one.up, one.offset, one.down, weight)


def test_half_of_the_weight_is_on_all_steps_and_the_rest_in_equal_parts_on_powers_of_ten():
    grid = bounded_grid(1, bounds=(0, 100), resolution=None, bits=40)
    points = round_numbers(grid, 0)
    *decimals, every = points.progressions
    assert [float(one.unit) for one in decimals] == [10.0**k for k in range(3, -8, -1)]
    assert [one.count for one in decimals[:4]] == [1, 2, 11, 101]
    whole = points.weight(0, grid.cells[0])
    assert every.weight * every.count / whole == pytest.approx(1 / 2)
    assert all(one.weight * one.count / whole == pytest.approx(1 / 2 / len(decimals)) for one in decimals)
    assert points.value(grid, 0, decimals[3].step(7)) == 7.0
    assert points.value(grid, 0, 12345) == float(12345 * grid.step[0])


@settings(max_examples=100, deadline=None)
@given(cells, parts, st.integers(0, 12))
def test_a_row_more_or_less_moves_no_score_by_more_than_the_larger_share(values, share, new):
    limit = max(share, 1 - share)
    for y in range(13):
        assert abs(oracle.score([*values, new], share, y) - oracle.score(values, share, y)) <= limit


DRAWS = 6_000


def test_draws_of_one_quantile_have_the_law_also_where_levels_share_an_interval(monkeypatch):
    monkeypatch.setattr(rank_draw, "_OWN", 2)
    monkeypatch.setattr(rank_draw, "_GROWTH", 1)
    # Shells of several ranks, with points of several scores: without them neither cut would be seen.
    values, share, weight = (0, 0, 1, 1, 2, 3, 4, 4, 5, 6, 7, 7, 8, 8, 9, 9, 9), Fraction(3, 7), Fraction(1, 2)
    uneven = RoundNumbers((Progression(Fraction(3), 0, 4, 3, 0, 1, 5), Progression(Fraction(1), 0, 10, 1, 0, 1, 1)))
    points = (6, 1, 1) * 3 + (6,)
    law = RankLaw(np.array(values), 0, 9, share, weight, uneven)
    assert len(law.starts) < 2 * len(values)
    bits = Keystream(derived_key("one quantile")).bits(0)
    seen = Counter(law.draw(bits) for _ in range(DRAWS))
    counts = np.array([seen[y] for y in range(10)])
    assert g_test(counts, np.array(oracle.law(values, 0, 9, share, weight, points))) > FALSE_ALARM
    assert g_test(counts, np.array(oracle.law(values, 0, 9, share, 2 * weight, points))) < FALSE_ALARM
    assert g_test(counts, np.array(oracle.law(values, 0, 9, share, weight))) < FALSE_ALARM


def test_quantiles_drawn_together_have_the_joint_law(monkeypatch):
    """Two bits for ties, so that the oracle can list them."""
    monkeypatch.setattr(module, "TIE_BITS", 2)
    shares, values, epsilon = SHARES["uneven"], (0, 2, 2, 4), Fraction(3)
    weights = oracle.weights(shares, epsilon)

    def drawn(i):
        paid = charge(2 * epsilon, derived_key("joint", i)).for_any_law()
        unit = Unit(EVERY_POINT, 4, shares, paid, ())
        return tuple(drawn_quantiles(HeldValues([np.array(values)]), [unit], 2)[0])

    seen = Counter(drawn(i) for i in range(DRAWS // 3))
    law, other = (mixed(values, 4, shares, some, 2) for some in (weights, [w * Fraction(3, 2) for w in weights]))
    outcomes = sorted(law)
    assert all(tuple(sorted(y)) == y for y in seen)
    counts = np.array([seen[y] for y in outcomes])
    assert g_test(counts, np.array([law[y] for y in outcomes])) > FALSE_ALARM
    assert g_test(counts, np.array([other[y] for y in outcomes])) < FALSE_ALARM


def test_each_level_and_column_has_its_part_of_epsilon(monkeypatch):
    seen = []

    def spied(values, low, high, share, weight, *points):
        seen.append(weight)
        return RankLaw(values, low, high, share, weight, *points)

    monkeypatch.setattr(module, "RankLaw", spied)
    x = np.random.default_rng(1).normal(size=(50, 2))
    found = td.quantiles(x, epsilon=3, bounds=(-5, 5), randomness=td.seeded(1))
    # 3 over two columns and two levels, half of it for a rank, of which the median has an eighth to cut at.
    assert seen == [Fraction(21, 64)] * 2 + [Fraction(3, 64)] * 2 + [Fraction(3, 8)] * 4
    assert found.guarantee.epsilon == 3
    assert found.guarantee.zcdp.rho == 4 * Fraction(3, 4) ** 2 / 8


def test_ties_are_those_of_the_words_of_a_step_and_counted_up(monkeypatch):
    """Against ties that are listed; the same from words of several lanes."""
    monkeypatch.setattr(module, "_WORDS", 3)
    steps = np.array([2, 5, 5, 5, 5, 5, 7])
    stream = Keystream(derived_key("ties"))
    part = module.Part(HeldValues([steps]), 0, 2, 7)  # without the first two
    lanes = [stream.words((5 << module.TIE_BITS) | i, count) for i, count in enumerate((3, 2))]
    ties = sorted(int(w) % 2**16 for lane in lanes for w in lane)
    tied = module.Tied(part, 5, stream)
    assert tied.at(np.arange(5)).tolist() == [*ties[1:], 2**16]
    assert tied.around(ties[2]) == (1, 2)
    assert tied.around(0) == (0, 0)
    assert tied.around(2**16 - 1) == (4, 4)


def test_values_that_are_equal_are_found_without_their_step():
    """A run of equal values, on a grid of 2^40 steps: random points of the gap beside it in 0.1.0."""
    same = td.quantiles(np.full(400, 7.0), epsilon=2, bounds=(0, 100), randomness=td.seeded(1))
    assert same.values_by_share.ravel().tolist() == [7.0, 7.0, 7.0]
    scores = np.repeat([1.0, 2.0, 3.0, 4.0, 5.0], [30, 100, 350, 370, 150])
    found = [td.quantiles(scores, epsilon=1, bounds=(0, 100), randomness=td.seeded(i)) for i in range(12)]
    assert np.mean([one[0.5][0] == 4.0 for one in found]) >= 0.75
    assert all(one[0.25][0] == 3.0 for one in found)


def test_quantiles_are_near_in_order_and_ignore_missing_cells():
    rng = np.random.default_rng(2)
    x = np.column_stack([rng.exponential(30, 3000), rng.integers(1, 6, 3000)])
    x[rng.random(x.shape) < 0.2] = np.nan
    deciles = np.arange(1, 10) / 10
    found = td.quantiles(x, deciles, epsilon=4, bounds=([0, 0], [1000, 10]), resolution=[0.01, 1],
                         randomness=td.seeded(3))  # fmt: skip
    assert (np.diff(found.values_by_share, axis=0) >= 0).all()
    ranks = [(x[:, 0] < v).sum() / (~np.isnan(x[:, 0])).sum() for v in found.values_by_share[:, 0]]
    assert np.abs(np.array(ranks) - deciles).max() < 0.06
    assert set(found.values_by_share[:, 1]) <= {1.0, 2.0, 3.0, 4.0, 5.0}


def test_the_result_is_a_dict_and_a_table():
    x = np.random.default_rng(2).normal(size=(300, 2))
    found = td.quantiles(x, [0.75, 0.25], epsilon=1, bounds=(-9, 9), randomness=td.seeded(1))
    assert list(found) == [0.25, 0.75]
    assert (found[0.25] <= found[0.75]).all()
    with pytest.raises(KeyError, match=r"no quantile 0\.5"):
        found[0.5]
    assert found.to_frame().shape == (2, 2)
    assert "NOT PRIVATE" in str(found)
    assert "<table>" in found._repr_html_()
    assert found.to_dict()["quantiles"]["0.25"] == found[0.25].tolist()


@pytest.mark.parametrize("q", [[], [0.5, 0.5], [0], [1], [0.5, 1.5], "abc", [float("nan")], [Fraction(1, 10**7)]])
def test_bad_shares_are_refused(q):
    with pytest.raises(td.ParameterError) as caught:
        checked_shares(q)
    assert caught.value.parameter == "q"


def test_an_accountant_pays_before_a_cell_is_used():
    account = td.Accountant(1)
    with pytest.raises(td.BudgetExceeded):
        td.quantiles([1.0, 2.0], epsilon=2, bounds=(0, 3), accountant=account)
    td.quantiles([1.0, 2.0], epsilon=1, bounds=(0, 3), accountant=account, randomness=td.seeded(1))
    assert account.remaining().epsilon == 0
    with pytest.raises(td.ParameterError, match="bounds must be given"):
        td.quantiles([1.0], epsilon=1)
