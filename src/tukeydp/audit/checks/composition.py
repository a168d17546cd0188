"""The accountant: what several releases come to together, and an adversary who chooses them by results."""

from __future__ import annotations

import itertools
from fractions import Fraction

from tukeydp.accounts.budget import Budget, at_delta, total
from tukeydp.audit.check import Check, Effort, Result, Tally
from tukeydp.audit.oracles import laws as oracle
from tukeydp.trusted.account import ApproxDP, Guarantee, PureDP, bounded_range

BASE = Fraction(6, 5)  # q = e^(epsilon/2)
# Scores of neighbours: every one moves by at most 1, up or down, as depths do.
SCORES: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...] = (
    ((0, 1, 2, 1), (1, 0, 3, 1)),
    ((0, 1, 2, 1, 0), (0, 1, 1, 1, 0)),
    ((0, 0, 5), (1, 1, 4)),
    ((0,) * 7 + (1,), (1,) * 7 + (0,)),
)
DELTAS = (Fraction(1, 10), Fraction(1, 10**3), Fraction(1, 10**6))
# Two mechanisms of bounded range and one with a delta, for the adversary to choose from, and his budget.
CAUTIOUS, BOLD = (
    oracle.two_outcomes(Fraction(1, 9), Fraction(61, 50)),
    oracle.two_outcomes(Fraction(43, 100), Fraction(27, 25)),
)
EPSILON, DELTA, TINY = Fraction(1, 4), Fraction(55, 10**4), Fraction(1, 10**5)


def run(effort: Effort) -> Result:
    tally = Tally(bound=1.0)
    epsilon = oracle.log_above(BASE**2)
    times = (1, 3, 12) if effort.quick else (1, 3, 12, 40)
    for scores, count in itertools.product(SCORES, times):
        pair = oracle.exponential(scores[0], scores[1], BASE)
        _together([(pair, bounded_range(epsilon))] * count, tally)
    # Noise that reaches both ends of epsilon, and releases with a delta among others.
    noise = oracle.two_outcomes(1 / (1 + BASE**2), BASE**2)
    rem = oracle.worst_approximate(BASE**2, DELTAS[1])
    mixed = oracle.exponential(SCORES[0][0], SCORES[0][1], BASE)
    for count in times[:3]:
        _together([(noise, PureDP(epsilon))] * count, tally)
        both: list[tuple[oracle.Pair, Guarantee]] = [
            (rem, ApproxDP(epsilon, DELTAS[1])),
            (mixed, bounded_range(epsilon)),
        ]
        _together(both * min(count, 4), tally)
    _adversary(4 if effort.quick else 6, tally)
    return tally.result()


def _together(runs: list[tuple[oracle.Pair, Guarantee]], tally: Tally) -> None:
    """The true delta of all runs at the epsilon that the package claims for them."""
    claimed = sum(guarantee for _, guarantee in runs)
    for flipped in (False, True):
        pairs = [[(q, p) for p, q in pair] if flipped else pair for pair, _ in runs]
        law = oracle.together(*pairs)
        for extra in DELTAS:
            delta = getattr(claimed, "delta", Fraction(0)) + extra
            found = at_delta(claimed, delta)  # type: ignore[arg-type]
            excess = oracle.excess(law, oracle.exp_below(found.epsilon))
            tally.found(float(excess / delta))
            tally.require(excess <= delta, "several releases cost more than the accountant says")
        tally.saw(pairs=1)


def _adversary(most: int, tally: Tally) -> None:
    """The largest delta that runs chosen by earlier results can reach, as long as the budget admits them."""
    choices = [CAUTIOUS, BOLD, oracle.worst_approximate(1 + TINY, DELTA)]
    costs: list[Guarantee] = [
        bounded_range(oracle.range_of(CAUTIOUS)),
        bounded_range(oracle.range_of(BOLD)),
        ApproxDP(oracle.log_above(1 + TINY), DELTA),
    ]
    for conversion in (None, Fraction(0), DELTA / 2, DELTA):
        budget = Budget(EPSILON, DELTA, conversion)

        def admits(made: tuple[int, ...], budget: Budget = budget) -> bool:
            return budget.admits(total(costs[i] for i in made))

        worst = oracle.worst_adaptive(choices, admits, oracle.exp_below(EPSILON), most)
        tally.found(float(worst / DELTA))
        tally.require(worst <= DELTA, "an adversary who chooses by results exceeds the budget")
        tally.saw(pairs=1)


CHECK = Check(
    name="accountant: composition",
    claim="Releases together cost no more than the accountant says, by plain sum and by zCDP, and nobody who chooses "
    "releases by earlier results gets beyond the budget.",
    measure="true delta at the stated epsilon, over the stated delta",
    run=run,
)
