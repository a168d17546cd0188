"""Composition rules against enumeration: what is claimed must hold, and what is wrong must show."""

from __future__ import annotations

import itertools
from fractions import Fraction

import pytest

import tukeydp as td
from support.composition_oracle import (
    excess,
    exp_above,
    exp_below,
    exponential,
    log_above,
    range_of,
    together,
    two_outcomes,
    worst_adaptive,
    worst_approximate,
)
from tukeydp.accounts import budget as conversion
from tukeydp.accounts.budget import Budget, Limits, at_delta, epsilon_of, offset_bound, rho_within, total
from tukeydp.mechanisms.mean_plans import CubeMean, SubsetMean, TwoStepMean
from tukeydp.mechanisms.two_step import TwoStepPlan
from tukeydp.trusted.account import ApproxDP, Concentrated, PureDP, bounded_range
from tukeydp.trusted.block_steps import SubsetPlan

BASE = Fraction(6, 5)  # q = e^(epsilon/2)
EPSILON = log_above(BASE**2)
# Scores of neighbours: every step moves by at most 1, in both directions, as depths do.
SCORES = [
    ((0, 1, 2, 1), (1, 0, 3, 1)),
    ((0, 1, 2, 1, 0), (0, 1, 1, 1, 0)),
    ((0, 0, 5), (1, 1, 4)),
    ((0,) * 7 + (1,), (1,) * 7 + (0,)),
]
DELTAS = [Fraction(1, 10), Fraction(1, 10**3), Fraction(1, 10**6)]


def both(pair):
    return [pair, [(q, p) for p, q in pair]]


@pytest.mark.parametrize("scores", SCORES)
@pytest.mark.parametrize("times", [1, 3, 12, 40])
def test_exponential_mechanisms_together_are_within_what_is_claimed(scores, times):
    claimed = sum(bounded_range(EPSILON) for _ in range(times))
    for pair in both(exponential(*scores, BASE)):
        assert range_of(pair) <= EPSILON
        law = together(*[pair] * times)
        for delta in DELTAS:
            assert excess(law, exp_below(at_delta(claimed, delta).epsilon)) <= delta


def test_bounded_range_claimed_for_noise_would_be_noticed():
    """The control. Laplace and cube noise reach both ends of epsilon: their log ratios range over 2 epsilon."""
    growth = exp_below(EPSILON)
    noise = two_outcomes(1 / (1 + growth), growth)
    assert range_of(noise) > EPSILON * Fraction(19, 10)
    wrong, right = (sum(kind(EPSILON) for _ in range(40)) for kind in (bounded_range, PureDP))
    law, delta = together(*[noise] * 40), Fraction(1, 10**3)
    assert excess(law, exp_below(at_delta(wrong, delta).epsilon)) > 2 * delta
    assert excess(law, exp_below(at_delta(right, delta).epsilon)) <= delta


@pytest.mark.parametrize("order", [2, 3, 5, 20, 80])
def test_renyi_divergences_are_within_rho(order):
    """E (p/q)^a <= e^(a (a-1) rho) at whole orders; twice the range would break it (the control)."""
    for scores in SCORES:
        for pair in both(exponential(*scores, BASE)):
            moment = sum(p**order / q ** (order - 1) for p, q in pair)
            assert moment <= exp_above(order * (order - 1) * bounded_range(EPSILON).zcdp.rho)
    noise = two_outcomes(1 / (1 + BASE**2), BASE**2)
    moment = sum(p**order / q ** (order - 1) for p, q in noise)
    if order <= 20:  # beyond, any pure guarantee is within this rho, by its largest ratio alone
        assert moment > exp_above(order * (order - 1) * bounded_range(EPSILON).zcdp.rho)
    assert moment <= exp_above(order * (order - 1) * PureDP(EPSILON).zcdp.rho)


@pytest.mark.parametrize("times", [2, 6])
def test_releases_with_deltas_among_others(times):
    delta = Fraction(1, 1000)
    rem = worst_approximate(BASE**2, delta)
    pair = exponential(*SCORES[0], BASE)
    law = together(*[rem] * times, *[pair] * times)
    claimed = sum([ApproxDP(EPSILON, delta)] * times) + sum([bounded_range(EPSILON)] * times)
    assert (claimed.delta, claimed.zcdp.delta) == (times * delta, times * delta)
    for extra in (Fraction(0), Fraction(1, 1000), Fraction(1, 10)):
        found = at_delta(claimed, times * delta + extra)
        assert excess(law, exp_below(found.epsilon)) <= found.delta
    # The control: their deltas left out.
    assert excess(law, exp_below(times * 2 * EPSILON)) > 0


def test_what_a_release_has_of_delta_is_not_there_for_the_conversion():
    """One release that tells all with probability 1/10, beside many small ones: only what is left of delta converts."""
    own, left = Fraction(1, 10), Fraction(1, 10**4)
    law = together(worst_approximate(BASE**2, own), *[exponential(*SCORES[3], BASE)] * 40)
    claimed = ApproxDP(EPSILON, own) + sum(bounded_range(EPSILON) for _ in range(40))
    found = at_delta(claimed, own + left)
    assert found.epsilon < claimed.epsilon  # so it is zCDP that was converted
    assert excess(law, exp_below(found.epsilon)) <= own + left
    # The control: all of delta for the conversion.
    assert excess(law, exp_below(epsilon_of(claimed.zcdp.rho, own + left))) > own + left


def test_mixing_over_a_secret_dealing_keeps_rho_but_not_the_range():
    """Averages of matched laws: Renyi divergences are quasi-convex, ranges are not."""
    first, second = exponential((3, 0, 3, 5), (2, -1, 4, 4), BASE), exponential((4, 4, 0, 2), (5, 3, 1, 3), BASE)
    rho, widest = bounded_range(EPSILON).zcdp.rho, Fraction(0)
    for weight in (Fraction(i, 8) for i in range(9)):
        mixed = [
            (weight * p + (1 - weight) * a, weight * q + (1 - weight) * b)
            for (p, q), (a, b) in zip(first, second, strict=True)
        ]
        widest = max(widest, range_of(mixed))
        for order in (2, 5, 20):
            assert sum(p**order / q ** (order - 1) for p, q in mixed) <= exp_above(order * (order - 1) * rho)
    assert widest > EPSILON * Fraction(11, 10)  # so theorems on bounded range do not apply to means of dealt blocks


# An adversary who branches on results. Two mechanisms of bounded range, and one with a delta.
_CAUTIOUS = two_outcomes(Fraction(1, 9), Fraction(61, 50))
_BOLD = two_outcomes(Fraction(43, 100), Fraction(108, 100))
_BUDGET_EPSILON, _BUDGET_DELTA = Fraction(1, 4), Fraction(55, 10**4)
_TINY = Fraction(1, 10**5)
_COSTS = [
    bounded_range(range_of(_CAUTIOUS)),
    bounded_range(range_of(_BOLD)),
    ApproxDP(log_above(1 + _TINY), _BUDGET_DELTA),
]
_CHOICES = [_CAUTIOUS, _BOLD, worst_approximate(1 + _TINY, _BUDGET_DELTA)]


def naive(made):
    """Plain sum, or zCDP with the whole delta, whichever fits by now: each is a theorem, but not the choice."""
    totals = total(_COSTS[i] for i in made)
    plain = totals.epsilon <= _BUDGET_EPSILON and totals.delta <= _BUDGET_DELTA
    return plain or (not totals.rho_delta and totals.rho <= rho_within(_BUDGET_EPSILON, _BUDGET_DELTA))


def ours(budget):
    return lambda made: budget.admits(total(_COSTS[i] for i in made))


def worst(admits, most=6):
    return worst_adaptive(_CHOICES, admits, exp_below(_BUDGET_EPSILON), most)


def test_leaving_the_choice_of_accounting_to_results_would_break_the_budget():
    """The control of the next test, and the reason for `conversion`."""
    assert worst(naive) > _BUDGET_DELTA


@pytest.mark.parametrize("conversion", [None, Fraction(0), _BUDGET_DELTA / 2, _BUDGET_DELTA])
def test_no_adaptive_adversary_exceeds_the_budget(conversion):
    budget = Budget(_BUDGET_EPSILON, _BUDGET_DELTA, conversion)
    assert worst(ours(budget)) <= _BUDGET_DELTA


def test_gaussian_releases_count_once():
    """Where delta is shared out, plain deltas of Gaussian noise beside those of rem would count twice."""
    gaussian = ApproxDP(Fraction(1, 10), Fraction(1, 100), zcdp=Concentrated(Fraction(1, 200)))
    limits = Limits(Fraction(1), Fraction(1, 50), Fraction(1, 50), Fraction(1, 8))
    assert not limits.plain(total([gaussian]))
    assert limits.concentrated(total([gaussian]))
    assert not limits.concentrated(total([gaussian] * 26))


def test_what_the_plans_of_a_mean_cost():
    epsilon = Fraction(1)
    assert SubsetMean(epsilon, SubsetPlan(10, 3, (4,))).guarantee.zcdp.rho == Fraction(1, 8)
    assert CubeMean(epsilon).guarantee.zcdp.rho == (Fraction(1, 100) + Fraction(81, 100)) / 2
    assert CubeMean(epsilon, (0.0,)).guarantee.zcdp.rho == Fraction(1, 2)
    shares = tuple(Fraction(i, 20) for i in (2, 3, 4, 5, 6))
    steps = TwoStepMean(epsilon, TwoStepPlan(shares, SubsetPlan(10, 1, (4,)), None, (0.1,))).guarantee
    assert steps == PureDP(1)
    by_depth, by_noise = (sum(e**2 for e in part) for part in (shares[:3], shares[3:]))
    assert steps.zcdp.rho == by_depth / 8 + by_noise / 2


def test_the_conversion_is_rounded_up_and_sharp():
    flint = pytest.importorskip("flint")
    flint.ctx.prec = 300
    cases = list(itertools.product(DELTAS, (Fraction(1001, 1000), Fraction(3), Fraction(10**6))))
    # Here the logarithm of delta has the widest bracket beside the others': one end of it is too low.
    cases.append((Fraction(1, 2**64 - 1), Fraction(2)))
    for delta, order in cases:
        a, log = ball(flint, order), -ball(flint, delta).log()
        assert (log + a * (1 - 1 / a).log() - (a - 1).log()) / (a - 1) < ball(flint, offset_bound(order, delta))
    for rho, delta in itertools.product((Fraction(1, 10**6), Fraction(1, 40), Fraction(3)), DELTAS):
        found = epsilon_of(rho, delta)
        orders = (1 + Fraction(2) ** (i // 8) * Fraction(2 ** (i % 8 / 8)) for i in range(-80, 160))
        best = max(Fraction(0), min(rho * a + offset_bound(a, delta) for a in orders))
        assert found <= best + Fraction(1, 2**60)
        # Gaussian noise of this rho is what zCDP is modelled on: its true delta at the epsilon found must do.
        e, sd = ball(flint, found), (2 * ball(flint, rho)).sqrt()
        tail = normal(flint, sd / 2 - e / sd) - e.exp() * normal(flint, -sd / 2 - e / sd)
        assert tail < ball(flint, delta)
        assert epsilon_of(rho_within(Fraction(1), delta), delta) <= 1 + Fraction(1, 10**9)


def test_conversions_are_rounded_to_the_safe_side(monkeypatch):
    """Balls of 600 bits at the very order that was chosen: no epsilon below the formula, no rho above it."""
    flint = pytest.importorskip("flint")
    chosen, honest = [], conversion.offset_bound

    def listening(order, delta):
        chosen.append(order)
        return honest(order, delta)

    def offset(order, delta):
        a, log = ball(flint, order), -ball(flint, delta).log()
        return (log + a * (1 - 1 / a).log() - (a - 1).log()) / (a - 1)

    monkeypatch.setattr(conversion, "offset_bound", listening)
    monkeypatch.setattr(flint.ctx, "prec", 600)
    for number, delta in itertools.product((Fraction(i, 7 * 10**j) for i in (1, 3, 11) for j in range(3)), DELTAS):
        epsilon = epsilon_of.__wrapped__(number, delta)
        order = chosen[-1]
        assert ball(flint, number) * ball(flint, order) + offset(order, delta) < ball(flint, epsilon)
        rho = rho_within.__wrapped__(number, delta)
        order = chosen[-1]
        if rho:
            assert ball(flint, rho) * ball(flint, order) + offset(order, delta) < ball(flint, number)


def normal(flint, x):
    return (-x / flint.arb(2).sqrt()).erfc() / 2


def ball(flint, number):
    return flint.arb(number.numerator) / number.denominator


def test_sums_of_guarantees_add_deltas_and_epsilons():
    """Two releases of (epsilon, delta) that fail apart: what fails in one or the other is the sum of both."""
    both = ApproxDP("1", "1e-6") + ApproxDP("0.5", "1e-7")
    assert both == ApproxDP("1.5", "1.1e-6")
    assert both.zcdp == Concentrated(Fraction(1, 2) + Fraction(1, 8), Fraction(11, 10**7))
    assert both + PureDP(2) == ApproxDP("3.5", "1.1e-6")


def test_sums_know_their_neighbours():
    with pytest.raises(td.ParameterError, match="neighbours"):
        _ = PureDP(1) + PureDP(1, neighbours="add-remove")
    assert sum([td.PureDP(1), td.ApproxDP(1, "1e-6")]) == td.ApproxDP(2, "1e-6")
    assert td.PureDP("1/3") + td.PureDP("1/6") == td.PureDP("1/2")
