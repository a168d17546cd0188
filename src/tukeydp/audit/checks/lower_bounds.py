"""Empirical lower bounds on epsilon: draws on the worst neighbours known, and how far apart they provably are."""

from __future__ import annotations

from functools import partial
from itertools import pairwise

import numpy as np

from tukeydp.audit import adversarial_pairs
from tukeydp.audit.adversarial_pairs import Pair
from tukeydp.audit.adversarial_relations import RELATIONS
from tukeydp.audit.check import Check, Effort, Result, Tally, least_epsilon
from tukeydp.trusted.parameters import FloatArray

QUICK, FULL = 1000, 100_000  # draws on each side
PAIRS = {**adversarial_pairs.PAIRS, **RELATIONS}
_PILOT = 10  # one draw in so many chooses the events that the others are counted in
_CUTS = 24  # places that cut the line into events


def run(name: str, effort: Effort) -> Result:
    tally = Tally(bound=1.0, lower_bound=True)
    draws = QUICK if effort.quick else FULL
    with PAIRS[name]() as pair:
        tally.found(lower_bound(name, pair, effort, draws) / pair.epsilon)
    tally.saw(datasets=2, pairs=2, draws=2 * draws)
    return tally.result()


def lower_bound(name: str, pair: Pair, effort: Effort, draws: int) -> float:
    """Epsilon is at least this, but for a false alarm of one in a million."""
    found = [
        np.array([draw(effort.key("lower bound", name, side, i)) for i in range(draws)])
        for side, draw in enumerate(pair.draws)
    ]
    few = draws // _PILOT
    cuts = np.unique(np.quantile(np.concatenate([side[:few] for side in found]), np.linspace(0, 1, _CUTS)))
    counts = [events(side[few:], cuts) for side in found]
    return least_epsilon(counts[0], counts[1], draws - few, pair.delta)


def events(values: FloatArray, cuts: FloatArray) -> list[int]:
    """How many values are at each cut, below it and above it, and between it and the next."""
    at = [int((values == cut).sum()) for cut in cuts]
    below, above = [int((values < cut).sum()) for cut in cuts], [int((values > cut).sum()) for cut in cuts]
    between = [int(((values > a) & (values < b)).sum()) for a, b in pairwise(cuts)]
    return [*at, *below, *above, *between]


CHECKS = tuple(
    Check(
        name=f"lower bound by draws: {name}",
        claim="Draws on adversarial neighbours do not prove that epsilon is larger than stated.",
        measure="largest lower bound on epsilon (Clopper-Pearson), over epsilon",
        run=partial(run, name),
    )
    for name in PAIRS
)
