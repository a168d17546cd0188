"""Algorithm 3 with estimates as wrong as they may be: all datasets, all swaps, and what its parameters cost."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from tukeydp.audit.check import Check, Effort, Result, Tally
from tukeydp.audit.oracles.laws import Dataset, count_of_pairs, datasets, depth, release_law, swap_groups
from tukeydp.paper import algorithm3
from tukeydp.paper.algorithm3 import DrawParameters, RemParameters

_ROUNDING = 1e-9
# How estimates are wrong: all the same way, in turns, or only at some levels; 1 is eta too much, -1 eta too little.
WRONG = ((1,), (-1,), (1, -1), (-1, 1), (-1, -1, 1, 1), (0,))


@dataclass(frozen=True)
class Case:
    """Points on a line, where rows may lie, how many there are, threshold, parameters."""

    points: int
    places: tuple[int, ...]
    n: int
    threshold: int
    parameters: RemParameters


def _parameters(draw: str, test: str, eta: str) -> RemParameters:
    return RemParameters(
        epsilon_draw=Fraction(draw),
        eta=Fraction(eta),
        beta=Fraction(0),
        tau=Fraction(0),
        zeta=Fraction(0),
        epsilon_test=Fraction(test),
        delta_test=Fraction(1, 20),
        delta_draw=Fraction(1, 5),
    )


# Where rows may lie far from each other, one row empties all levels in between: without the test that would show.
QUICK = (
    Case(3, (0, 1, 2), 16, 1, _parameters("3", "2", "1/5")),
    Case(3, (0, 1, 2), 18, 2, _parameters("6", "2", "1/5")),
    Case(60, (0, 1, 59), 6, 2, _parameters("3", "2", "1/5")),
    Case(60, (0, 1, 59), 18, 2, _parameters("3", "2", "1/5")),
)
FULL = (
    *QUICK,
    Case(4, (0, 1, 2, 3), 16, 1, _parameters("3", "2", "1/5")),
    Case(4, (0, 1, 2, 3), 18, 2, _parameters("5", "1", "1/10")),
    Case(4, (0, 1, 2, 3), 20, 3, _parameters("6", "1", "1/3")),
    Case(200, (0, 1, 60, 199), 8, 2, _parameters("3", "2", "1/5")),
    Case(60, (0, 30, 31, 59), 14, 3, _parameters("3", "1", "1/10")),
)


def run(effort: Effort) -> Result:
    tally = Tally(bound=1.0 + _ROUNDING)
    passing = 0
    for case in QUICK if effort.quick else FULL:
        passing += _examine(case, tally)
    tally.require(passing > 0, "no dataset passes the test by itself: nothing was shown")
    _budgets(tally)
    return tally.result()


def _examine(case: Case, tally: Tally) -> int:
    """The worst delta at the epsilon that the package charges; how many estimates passed the test by themselves."""
    p, top = case.parameters, case.n // 2
    draw = algorithm3.draw_cost(p, p.delta_draw)
    growth = math.exp(p.epsilon_test * algorithm3.score_sensitivity(p) + draw.epsilon)
    delta = float(max(p.delta_test, draw.delta))
    laws: dict[Dataset, list[list[float]]] = {}
    passing = 0
    kinds = len(case.places)
    for x in datasets(kinds, case.n):
        rows = [(case.places[i],) for i in x]
        depths = [min(depth(rows, (y,), [(1,)]), top) for y in range(case.points)]
        exact = [Fraction(sum(t >= level for t in depths)) for level in range(top + 1)]
        laws[x] = []
        for pattern in WRONG:
            sizes = _estimated(exact, pattern, p.eta)
            score = algorithm3.score(sizes, case.threshold, p)
            passing += score >= 0
            short = algorithm3.release_threshold(p) - score
            rates = float(p.epsilon_test), float(p.epsilon_draw)
            laws[x].append(release_law([float(v) for v in sizes], depths, case.threshold, short, *rates))
    for group in swap_groups(kinds, case.n):
        around = np.array([law for x in group for law in laws[x]])
        above = around[:, np.newaxis] - growth * around[np.newaxis]
        tally.found(float(np.maximum(above, 0.0).sum(axis=2).max()) / delta)
    estimates = len(WRONG)
    tally.saw(datasets=len(laws) * estimates, pairs=count_of_pairs(kinds, case.n) * estimates**2)
    return passing


def _estimated(exact: Sequence[Fraction], pattern: Sequence[int], eta: Fraction) -> list[Fraction]:
    """Level 0 is public, and so is its size."""
    return [v * (1 + eta * (pattern[i % len(pattern)] if i else 0)) for i, v in enumerate(exact)]


def _budgets(tally: Tally) -> None:
    """The parameters that are chosen for a budget cost no more than it, by the theorem in floats."""
    for epsilon, delta in (
        (Fraction(1, 10), Fraction(1, 10**9)),
        (Fraction(1), Fraction(1, 10**6)),
        (Fraction(8), Fraction(1, 10)),
    ):
        rem = algorithm3.rem_parameters(epsilon, delta)
        rho = math.log((1 + rem.eta) / (1 - rem.eta))
        moved = 1 + math.ceil(4 * rho / float(rem.epsilon_draw))
        spent = float(rem.epsilon_test) * moved + float(rem.epsilon_draw) + 2 * rho
        points = (1 + math.exp(float(rem.epsilon_draw) + 2 * rho)) * float(rem.tau)
        given = max(float(rem.delta_test), math.exp(rho) * float(rem.delta_draw) + points)
        tally.found(max(spent / float(epsilon), _with_failures(rem, spent, given) / float(delta)))
        boxem = algorithm3.boxem_parameters(epsilon, delta)
        spent = float(boxem.epsilon_draw) + 2 * math.log((1 + boxem.eta) / (1 - boxem.eta))
        given = (1 + math.exp(spent)) * float(boxem.tau)
        tally.found(max(spent / float(epsilon), _with_failures(boxem, spent, given) / float(delta)))


def _with_failures(p: DrawParameters, epsilon: float, delta: float) -> float:
    bad = 2 * float(p.beta + p.zeta)
    return delta + bad * (math.exp(epsilon) / (1 - bad) + 1)


CHECK = Check(
    name="algorithm 3: enumeration",
    claim="Algorithm 3 keeps what it charges, with estimates of sizes as wrong as the oracle may make them, and its "
    "parameters cost no more than the budget.",
    measure="largest hockey-stick divergence at epsilon, over delta",
    run=run,
)
