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
from tukeydp.mechanisms import quantiles as module
from tukeydp.mechanisms import quantiles as rank_draw
from tukeydp.mechanisms.quantile_levels import level_weight, number_of_levels
from tukeydp.mechanisms.quantiles import RankLaw, checked_shares, halved, tie_broken
from tukeydp.trusted.bits import Keystream, derived_key

SHARES = {
    "median": (Fraction(1, 2),),
    "quartiles": (Fraction(1, 4), Fraction(1, 2), Fraction(3, 4)),
    "thirds": (Fraction(1, 3), Fraction(2, 3)),
    "uneven": (Fraction(1, 10), Fraction(1, 2), Fraction(4, 5)),
}
ROUNDING = 1e-9  # of laws in floats


def worst(shares, n, highest, weights):
    """The largest loss over all tables of n rows, as multisets, of which one is swapped; None is a missing cell."""
    cells = [*range(highest + 1), None]
    laws = {}
    for table in itertools.combinations_with_replacement(range(len(cells)), n):
        values = tuple(cells[i] for i in table if cells[i] is not None)
        laws[table] = oracle.joint(values, highest, shares, weights)
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
    starts = law.starts().tolist()
    assert law.interval(starts[-1]) == (0, 12)
    for most in range(starts[-1] + 1):
        low, high = law.interval(most)
        assert [low <= y <= high for y in range(13)] == [score <= most for score in scores]
        assert law.interval(max(c for c in starts if c <= most)) == (low, high)


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
    values, share, weight = (0, 1, 1, 4, 6, 9, 9, 9), Fraction(3, 7), Fraction(1)
    law = RankLaw(np.array(values), 0, 9, share, weight)
    assert len(rank_draw._thinned(law.starts())) < len(law.starts())
    bits = Keystream(derived_key("one quantile")).bits(0)
    seen = Counter(law.draw(bits) for _ in range(DRAWS))
    counts = np.array([seen[y] for y in range(10)])
    assert g_test(counts, np.array(oracle.law(values, 0, 9, share, weight))) > FALSE_ALARM
    assert g_test(counts, np.array(oracle.law(values, 0, 9, share, 2 * weight))) < FALSE_ALARM


def test_quantiles_drawn_together_have_the_joint_law():
    shares, values, epsilon = SHARES["uneven"], (0, 1, 2, 2, 4), Fraction(2)
    weights = oracle.weights(shares, epsilon)
    drawn = Counter(
        tuple(halved(np.array(values), 4, shares, charge(2 * epsilon, derived_key("joint", i)).for_any_law()))
        for i in range(DRAWS // 3)
    )
    outcomes = sorted(oracle.joint(values, 4, shares, weights))
    assert all(tuple(sorted(y)) == y for y in drawn)
    counts = np.array([drawn[y] for y in outcomes])
    law, other = (
        np.array([oracle.joint(values, 4, shares, some)[y] for y in outcomes])
        for some in (weights, [w * Fraction(3, 2) for w in weights])
    )
    assert g_test(counts, law) > FALSE_ALARM
    assert g_test(counts, other) < FALSE_ALARM


def test_each_level_and_column_has_its_part_of_epsilon(monkeypatch):
    seen = []

    def spied(values, low, high, share, weight):
        seen.append(weight)
        return RankLaw(values, low, high, share, weight)

    monkeypatch.setattr(module, "RankLaw", spied)
    x = np.random.default_rng(1).normal(size=(50, 2))
    found = td.quantiles(x, epsilon=3, bounds=(-5, 5), randomness=td.seeded(1))
    assert seen == [Fraction(3, 8)] * 6  # 3 over two columns and two levels, half of it for a rank
    assert found.guarantee.epsilon == 3
    assert found.guarantee.zcdp.rho == 4 * Fraction(3, 4) ** 2 / 8


def test_ties_are_broken_by_bits_that_are_cut_off_again():
    steps = np.array([5, 5, 5, 7])
    fine = tie_broken(steps, Keystream(derived_key("ties")))
    assert (fine >> module.TIE_BITS).tolist() == steps.tolist()
    assert len(set(fine.tolist())) == 4
    same = td.quantiles(np.full(400, 7.0), epsilon=2, bounds=(0, 100), resolution=1, randomness=td.seeded(1))
    assert same.values_by_share.ravel().tolist() == [7.0, 7.0, 7.0]


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
