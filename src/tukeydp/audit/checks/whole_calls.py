"""Whole calls of the public functions: every use of noise is noted, and together they cost what the release says.

Neighbouring tables (`audit/called.py`) run with equal bits and equal answers in the place of noise, so that their steps
are the same. What each step alone costs is for the enumerations; here it is that none is forgotten or paid for twice.
"""

from __future__ import annotations

import itertools
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from tukeydp.arrays import FloatArray
from tukeydp.audit.called import CALLS, EPSILON, Whole
from tukeydp.audit.check import Check, Effort, Result, Tally
from tukeydp.audit.forcing import forced
from tukeydp.exact.boxes import Box
from tukeydp.exact.cube_noise import cube_noise
from tukeydp.exact.noise import discrete_laplace
from tukeydp.mechanisms.clip_radii import RADII, drawn_radii, rows_beyond
from tukeydp.mechanisms.clipped_sum import STEPS
from tukeydp.mechanisms.quantiles import TIE_BITS
from tukeydp.mechanisms.rank_draw import RankLaw
from tukeydp.sampling.cutting_planes import DepthSampler

_ROUNDING = 1e-9


@dataclass
class Used:
    """What was asked of noise, in the order of the steps."""

    tables: list[tuple[Counter[tuple[int, ...]], Fraction]] = field(default_factory=list)
    cubes: list[Fraction] = field(default_factory=list)
    counts: list[Fraction] = field(default_factory=list)
    weights: list[list[Fraction]] = field(default_factory=list)
    ranks: list[RankLaw] = field(default_factory=list)

    def cost(self, other: Used, width: Fraction) -> Fraction:
        """Tables: half of epsilon for each row that goes or comes; sums: their width; counts: one; ranks: by share."""
        total = sum((width * STEPS / scale for scale in self.cubes), Fraction(0))
        total += sum((1 / scale for scale in self.counts), Fraction(0))
        for (mine, epsilon), (yours, _) in zip(self.tables, other.tables, strict=True):
            total += epsilon * _changed(mine, yours) / 2
        for ours, theirs in zip(self.weights, other.weights, strict=True):
            total += 2 * max(abs(a - b) for a, b in zip(ours, theirs, strict=True))
        for ours_, theirs_ in zip(self.ranks, other.ranks, strict=True):
            # Without the bits that break ties: where a value is missing, later ones have other bits, of the same law.
            a, b = (Counter((law.values >> TIE_BITS).tolist()) for law in (ours_, theirs_))
            share = max(ours_.share, 1 - ours_.share)
            # A swap moves each rank by at most one; a value that goes or comes moves the wanted rank, too.
            total += 2 * ours_.weight * (share if len(ours_.values) != len(theirs_.values) else _changed(a, b) // 2)
        return total

    def same_steps(self, other: Used) -> bool:
        """As many uses of each kind, with the same public numbers."""
        ours, theirs = (
            ([e for _, e in u.tables], u.cubes, u.counts, len(u.weights), [(r.share, r.weight) for r in u.ranks])
            for u in (self, other)
        )
        return ours == theirs


def _changed(ours: Counter[Any], theirs: Counter[Any]) -> int:
    """Rows that go and rows that come."""
    return sum((ours - theirs).values()) + sum((theirs - ours).values())


def run(effort: Effort) -> Result:
    tally = Tally(bound=1.0 + _ROUNDING)
    for name, whole in CALLS.items():
        for seed in range(1 if effort.quick else 5):
            _examine(name, whole, seed, tally)
    return tally.result()


def _examine(name: str, whole: Whole, seed: int, tally: Tally) -> None:
    runs = []
    for table in whole.tables(np.random.default_rng(seed), whole.n, seed):
        with _noted() as used:
            guarantee = whole.call(table).guarantee
        runs.append(used)
    stated = (guarantee.epsilon, guarantee.neighbours) == (EPSILON, whole.neighbours)
    tally.require(stated, f"{name}: the release states another epsilon than was asked for, or other neighbours")
    same = runs[0].same_steps(runs[1])
    tally.require(same, f"{name}: steps, or what they spend, depend on the data")
    if same:
        tally.found(float(runs[0].cost(runs[1], whole.width) / guarantee.epsilon))
    tally.saw(datasets=2, pairs=1)


@contextmanager
def _noted() -> Iterator[Used]:
    """All noise of the package, wherever it is used, is noted and gives fixed answers."""
    used = Used()

    class Noted:
        def __init__(self, prepared: Any, *, within: Box, epsilon: Fraction, lowest: int = 0) -> None:
            used.tables.append((Counter(map(tuple, prepared.levels.table.tolist())), epsilon))
            self._middle = [(a + b) // 2 for a, b in zip(within.low, within.high, strict=True)]

        def draw(self, key: object) -> list[int]:
            return self._middle

    def cube(d: int, scale: Fraction, bits: object) -> list[int]:
        used.cubes.append(scale)
        return [0] * d

    def laplace(scale: Fraction, bits: object) -> int:
        used.counts.append(scale)
        return 0

    def radii(
        relative: FloatArray, centre: FloatArray, spread: FloatArray, epsilon: Fraction, bits: object
    ) -> FloatArray:
        beyond = rows_beyond(relative, centre, spread).tolist()
        places = itertools.product(*beyond)
        used.weights.append([-epsilon * max(rows) / 2 for rows in places])
        return np.full(len(beyond), RADII[5])

    class Ranks(RankLaw):
        def draw(self, bits: object) -> int:
            used.ranks.append(self)
            return (self.low + self.high) // 2

    stands = (
        (DepthSampler, Noted),
        (cube_noise, cube),
        (discrete_laplace, laplace),
        (drawn_radii, radii),
        (RankLaw, Ranks),
    )
    with forced(*(change for original, stand_in in stands for change in _everywhere(original, stand_in))):
        yield used


def _everywhere(original: Any, stand_in: Any) -> list[tuple[Any, str, Any]]:
    """Every name that the package's mechanisms know something under."""
    modules = [m for name, m in sys.modules.items() if name.startswith(("tukeydp.mechanisms", "tukeydp.planning"))]
    return [(module, name, stand_in) for module in modules for name, value in vars(module).items() if value is original]


CHECK = Check(
    name="whole calls: what is spent",
    claim="In whole calls of the public functions everything that noise is used for costs epsilon together, and the "
    "same steps are taken on neighbouring tables.",
    measure="epsilons of all steps together, over the stated epsilon",
    run=run,
)
