"""The exact sampler's law, with every rare path forced, against the exponential mechanism by definition."""

from __future__ import annotations

import itertools
import math

from tukeydp.audit.check import ALARM, Check, Effort, Result, Tally, surprise
from tukeydp.audit.forced_samplers import EPSILON, PATHS, Draws
from tukeydp.audit.oracles.laws import all_directions, depth

# Draws for each path. 3000 tell a law apart whose epsilon is off by a half, 50 000 one that is off by a tenth.
QUICK, FULL = 3000, 50_000
# Paths whose draws take milliseconds each: a new sampler, or threads, for every draw.
SLOW = {"refined in the middle of a draw": 10, "lanes shared by threads": 5}
EPSILONS = {"settled boxes": 1 / 5}


def run(effort: Effort) -> Result:
    tally = Tally(bound=ALARM)
    for name, path in PATHS.items():
        draws = (QUICK if effort.quick else FULL) // SLOW.get(name, 1)
        with path() as drawn:
            tally.found(_surprise(name, drawn, effort, draws))
            tally.require(drawn.taken(), f"{name}: the path was not taken")
        tally.saw(datasets=1, draws=draws)
    return tally.result()


def _surprise(name: str, drawn: Draws, effort: Effort, draws: int) -> float:
    points = list(itertools.product(range(drawn.side), repeat=2))
    counts = dict.fromkeys(points, 0)
    for i in range(draws):
        y = tuple(drawn.draw(effort.key("law", name, i)))
        if y not in counts:
            return math.inf
        counts[y] += 1
    directions = drawn.directions or all_directions(drawn.side - 1)
    depths = [depth(drawn.rows, y, directions) for y in points]
    half = EPSILONS.get(name, float(EPSILON)) / 2
    return surprise(list(counts.values()), [math.exp(half * t) if t >= drawn.lowest else 0.0 for t in depths])


CHECK = Check(
    name="sampler: law on rare paths",
    claim="Draws follow q^depth also where slices, slanted boxes, settled boxes, branch and bound, windowed ranks, "
    "cutting planes, levels without a box, undecided words, useless hints, refinements in mid-draw and threads are "
    "forced.",
    measure="-log10 of the p-value of a likelihood-ratio test",
    run=run,
)
