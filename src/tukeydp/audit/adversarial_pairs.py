"""Neighbouring tables that mechanisms tell apart best, with a draw on either: what lower bounds are counted from.

A new one: a function here that yields a `Pair`, and a line in `PAIRS`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from tukeydp.audit.forced_samplers import forced
from tukeydp.baselines.clipping import noised_mean, public_region
from tukeydp.baselines.curve import multiplier
from tukeydp.baselines.noise import Noise
from tukeydp.data.records import in_pieces
from tukeydp.data.tables import Table
from tukeydp.depth.notions import AxisAligned
from tukeydp.mechanisms import scale_step, spread_step, subset_means
from tukeydp.mechanisms.certificate import depth_certificate
from tukeydp.mechanisms.mean_plans import CubeMean, MeanPlan, SubsetMean, TwoStepMean
from tukeydp.mechanisms.mean_ways import ScaledMean
from tukeydp.mechanisms.readable_check import exact_counts, noisy_counts
from tukeydp.mechanisms.rem_test.evidence import Evidence, Plan
from tukeydp.mechanisms.rem_test.safety import Graded, passes
from tukeydp.mechanisms.spread_step import SpreadPlan, spread_octaves
from tukeydp.mechanisms.subset_means import SubsetPlan
from tukeydp.mechanisms.two_step import TwoStepPlan
from tukeydp.paper import algorithm3 as algorithm3
from tukeydp.paper.algorithm3 import Rejection, approximate_boxem, boxem_parameters
from tukeydp.sampling.cutting_planes import DepthSampler
from tukeydp.sizes.of_depth import sizes_of
from tukeydp.trusted.account import ApproxDP, PureDP, bounded_range
from tukeydp.trusted.bits import Keystream, derived_key, seeded
from tukeydp.trusted.boxes import Box, whole_grid
from tukeydp.trusted.laws import LevelDraw
from tukeydp.trusted.parameters import FloatArray
from tukeydp.trusted.release import rehearsed_charge
from tukeydp.trusted.rows import BoundedColumns, Grid
from tukeydp.trusted.steps import Window, WindowSums, noised_sums

REFUSED = 1e9  # in the place of a number

Drawn = Callable[[bytes], float]


@dataclass(frozen=True)
class Pair:
    """A mechanism on two neighbours: its guarantee and a draw on either."""

    epsilon: float
    delta: float
    draws: tuple[Drawn, Drawn]


# Neighbours found by enumeration: with epsilon = 1 there is an event of probability 0.128 on the one table and 0.051 on
# the other, a loss of 0.92.
_FAR = ([0, 0, 1, 1, 1], [0, 1, 1, 1, 15])
_LINE = Grid((Fraction(0),), (Fraction(1),), (15,))


def _column(values: Sequence[float]) -> FloatArray:
    return np.array(values, dtype=float)[:, np.newaxis]


@contextmanager
def _boxem() -> Iterator[Pair]:
    epsilon = Fraction(1)
    samplers = [
        DepthSampler(
            AxisAligned().prepare(_LINE.snap(_column(x)), _LINE, bytes(32)), within=whole_grid(_LINE), epsilon=epsilon
        )
        for x in _FAR
    ]
    one, other = ((lambda key, s=s: float(s.draw(key)[0])) for s in samplers)
    yield Pair(float(epsilon), 0.0, (one, other))


@contextmanager
def _rem() -> Iterator[Pair]:
    """Eight rows, nearly all of one value: a release has probability 0.58 on the one table and 0.04 on the other, to
    which delta adds 0.05; a loss of 0.85 epsilon."""
    plan = Plan(8, 3, Fraction(1), Fraction(2), Fraction(1, 20), 2, tuple(range(9)))
    line = Grid((Fraction(0),), (Fraction(1),), (3,))
    draws = []
    for x in ([0, 0, 0, 0, 0, 0, 1, 1], [0, 0, 0, 0, 0, 0, 0, 1]):
        prepared = AxisAligned().prepare(line.snap(_column(x)), line, bytes(32), lowest=1)
        within = whole_grid(line)
        evidence = Evidence(sizes_of(prepared, within, plan.threshold, slack=plan.test / 64), plan)
        sampler = DepthSampler(prepared, within=within, epsilon=plan.release, lowest=plan.threshold)

        def draw(key: bytes, evidence: Evidence = evidence, sampler: DepthSampler = sampler) -> float:
            if not passes(Graded(), evidence, Keystream(derived_key("coin", key)).bits(0)):
                return REFUSED
            return float(sampler.draw(key)[0])

        draws.append(draw)
    yield Pair(float(plan.epsilon), float(plan.delta), (draws[0], draws[1]))


@contextmanager
def _known_samplers() -> Iterator[None]:
    """Samplers of equal block tables are made once; everything else runs as always."""
    sampler = cache(
        lambda rows, shape, within, epsilon, prepared: DepthSampler(prepared.prepared, within=within, epsilon=epsilon)
    )

    def cached(prepared: Any, *, within: Box, epsilon: Fraction) -> DepthSampler:
        table = prepared.levels.table[np.lexsort(prepared.levels.table.T)]
        return sampler(table.tobytes(), table.shape, within, epsilon, _Unseen(prepared))

    with forced(*((module, "DepthSampler", cached) for module in (subset_means, spread_step, scale_step))):
        yield


@contextmanager
def _mean(plan: MeanPlan, tables: tuple[list[float], list[float]]) -> Iterator[Pair]:
    def drawn(x: list[float]) -> Drawn:
        relative = _column(x)

        def draw(key: bytes) -> float:
            return float(plan.draw(relative, derived_key("public"), rehearsed_charge(plan.guarantee, key))[0])

        return draw

    with _known_samplers():
        yield Pair(float(plan.guarantee.epsilon), 0.0, (drawn(tables[0]), drawn(tables[1])))


@contextmanager
def _spread() -> Iterator[Pair]:
    """Two equal rows, or two as far apart as can be."""
    plan = SpreadPlan(1, octaves=2)

    def drawn(x: list[float]) -> Drawn:
        relative = _column(x)

        def draw(key: bytes) -> float:
            charge = rehearsed_charge(bounded_range(2), key)
            return float(spread_octaves(relative, charge, plan, derived_key("public"))[0])

        return draw

    with _known_samplers():
        yield Pair(2.0, 0.0, (drawn([-1.0, -0.6]), drawn([-1.0, 1.0])))


class _Unseen:
    """A value that a cache takes for equal to any other: what tells tables apart stands beside it."""

    def __init__(self, prepared: Any) -> None:
        self.prepared = prepared

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Unseen)

    def __hash__(self) -> int:
        return 0


_SPLIT = ([-1.0, -1.0, math.nan, math.nan], [-1.0, 1.0, math.nan, math.nan])
_SHARES = (Fraction(1, 4), Fraction(1, 4), Fraction(1, 4), Fraction(1, 8), Fraction(1, 8))


@contextmanager
def _algorithm3() -> Iterator[Pair]:
    """Sizes are estimated once for each table: what is drawn afterwards must keep epsilon for any good estimates."""
    settings: dict[str, Any] = {"epsilon": 2, "delta": "1e-2", "bounds": (0, 15), "resolution": 1}
    runs: list[Any] = []
    prepared = algorithm3._prepared

    def spied(request: Any) -> Any:
        runs.append(prepared(request))
        return runs[-1]

    with forced((algorithm3, "_prepared", spied)):
        for x in _FAR:
            approximate_boxem(_column(x), **settings, padding="1/4", randomness=seeded(1))
    law = cache(lambda groups, epsilon: LevelDraw(groups, epsilon))
    sampler, epsilon = Rejection(), boxem_parameters(2, "1e-2").epsilon_draw
    one, other = (
        (lambda key, run=run: float(replace(run, key=key).draw(sampler, 0, epsilon).point[0])) for run in runs
    )
    with forced((algorithm3, "LevelDraw", lambda groups, epsilon: law(tuple(groups), epsilon))):
        yield Pair(2.0, 1e-2, (one, other))


@contextmanager
def _gaussian() -> Iterator[Pair]:
    guarantee = ApproxDP(Fraction(1), Fraction(1, 100))
    deviation, region = multiplier(guarantee), public_region(1, bounds=(-1, 1), centre=None, radius=None)

    def drawn(x: list[float]) -> Drawn:
        def draw(key: bytes) -> float:
            noise = Noise(guarantee, coordinates=1, bits=Keystream(key).bits(0), deviation=deviation)
            return float(noised_mean(_column(x), region, noise, Fraction(1))[0])

        return draw

    yield Pair(1.0, 1e-2, (drawn([-1.0, -1.0]), drawn([-1.0, 1.0])))


@contextmanager
def _groups() -> Iterator[Pair]:
    """A row goes from one group to the other: each group loses half of epsilon."""
    columns = BoundedColumns((Fraction(-1),), (Fraction(1),))
    sums = WindowSums(columns, Window((-1.0,), (1.0,), (0.0,)), 2, records=True)

    def drawn(group: int) -> Drawn:
        (total,) = in_pieces(np.array([[1.0, group], [0.0, np.nan]]), sums)

        def draw(key: bytes) -> float:
            (_, first), (_, second) = noised_sums(sums, total, rehearsed_charge(PureDP(Fraction(1)), key))
            return float(first - second)

        return draw

    yield Pair(1.0, 0.0, (drawn(0), drawn(1)))


@contextmanager
def _certificate() -> Iterator[Pair]:
    """Point and noised depth together."""
    half = Fraction(1)  # of epsilon, for each of the two
    draws = []
    for x in _FAR:
        prepared = AxisAligned().prepare(_LINE.snap(_column(x)), _LINE, bytes(32))
        sampler = DepthSampler(prepared, within=whole_grid(_LINE), epsilon=half)

        def draw(key: bytes, prepared: Any = prepared, sampler: DepthSampler = sampler) -> float:
            y = sampler.draw(key)
            charge = rehearsed_charge(PureDP(half), derived_key("certificate", key))
            return 1000.0 * y[0] + depth_certificate(prepared, y, charge, every=True).noised

        draws.append(draw)
    yield Pair(2.0, 0.0, (draws[0], draws[1]))


@contextmanager
def _readable_rows() -> Iterator[Pair]:
    """One unreadable cell more, and one value less: both counts move, and both are told."""

    def drawn(unreadable: int) -> Drawn:
        cells = np.array([[np.nan]] * unreadable + [[0.0]] * (4 - unreadable))
        counts = exact_counts(Table(cells, unreadable=np.array([unreadable])))

        def draw(key: bytes) -> float:
            found = noisy_counts(counts, rehearsed_charge(PureDP(Fraction(1)), key))
            return 1000.0 * found.unreadable + found.values

        return draw

    yield Pair(1.0, 0.0, (drawn(1), drawn(2)))


PAIRS: dict[str, Callable[[], Any]] = {
    "boxem": _boxem,
    "rem": _rem,
    "mean, subset": lambda: _mean(SubsetMean(Fraction(1), SubsetPlan(2, 2, (4,))), _SPLIT),
    "mean, two-step": lambda: _mean(
        TwoStepMean(Fraction(1), TwoStepPlan(_SHARES, SubsetPlan(2, 1, (4,)), SpreadPlan(1), None)), _SPLIT
    ),
    "mean, cube": lambda: _mean(CubeMean(Fraction(1)), ([-1.0, -1.0], [-1.0, 1.0])),
    "mean, scale first": lambda: _mean(ScaledMean(Fraction(2), Fraction(1), (100.0,)), ([-1.0, -1.0], [-1.0, 1.0])),
    "spread": _spread,
    "summary, groups": _groups,
    "depth certificate": _certificate,
    "readable rows": _readable_rows,
    "algorithm 3": _algorithm3,
    "gaussian baseline": _gaussian,
}
