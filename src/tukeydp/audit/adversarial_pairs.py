"""Neighbouring tables that mechanisms tell apart best, with a draw on either: what lower bounds are counted from.

A new one: a function here that yields a `Pair`, and a line in `PAIRS`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, partial
from typing import Any

import numpy as np

from tukeydp.audit.forced_samplers import forced
from tukeydp.baselines.clipping import noised_mean, public_region
from tukeydp.baselines.curve import multiplier
from tukeydp.baselines.noise import Noise
from tukeydp.data.tables import Table
from tukeydp.depth.notions import AxisAligned
from tukeydp.mechanisms import clipped_mean
from tukeydp.mechanisms.certificate import depth_certificate
from tukeydp.mechanisms.clipped_mean import ClippedMean, Shares
from tukeydp.mechanisms.mean_plans import CubeMean, MeanPlan, SubsetMean, TwoStepMean
from tukeydp.mechanisms.mean_ways import ScaledMean
from tukeydp.mechanisms.readable_check import exact_counts, noisy_counts
from tukeydp.mechanisms.two_step import TwoStepPlan, two_step_result
from tukeydp.paper import algorithm3 as algorithm3
from tukeydp.paper.algorithm3 import Rejection, approximate_boxem, boxem_parameters
from tukeydp.trusted import block_steps as spread_step
from tukeydp.trusted import points
from tukeydp.trusted.account import ApproxDP, PureDP, bounded_range
from tukeydp.trusted.bits import Keystream, derived_key, seeded
from tukeydp.trusted.block_steps import SpreadPlan, SubsetPlan, spread_octaves
from tukeydp.trusted.boxes import Box, whole_grid
from tukeydp.trusted.laws import LevelDraw
from tukeydp.trusted.parameters import FloatArray
from tukeydp.trusted.release import rehearsed_charge
from tukeydp.trusted.rem.evidence import Evidence, Plan
from tukeydp.trusted.rem.safety import Graded, passes
from tukeydp.trusted.rows import BoundedColumns, Grid
from tukeydp.trusted.sampling.draws import DepthSampler
from tukeydp.trusted.sizes.of_depth import sizes_of
from tukeydp.trusted.steps import CategoryCounts, Window, WindowSums, noised_cells, noised_sums
from tukeydp.trusted.sums import in_pieces

REFUSED = 1e9  # in the place of a number

Drawn = Callable[[bytes], float]


@dataclass(frozen=True)
class Pair:
    """A mechanism on two neighbours: its guarantee and a draw on either."""

    epsilon: float
    delta: float
    draws: tuple[Drawn, Drawn]


# Of most pairs. Larger ones are lost in fewer results, smaller ones need more draws.
_EPSILON = Fraction(3)
# Two rows at the ends of a line, or both at one: every point has depth 1, or one has 2 and all others 0. So this one
# gains, and nearly all others lose, as much as one row can do: of 121 points it has a share of 0.008 or 0.143, a loss
# of 2.85 for epsilon = 3. Blocks of one row each are such rows, however they are dealt.
_LAST = 120
_ENDS = ([-1.0, 1.0], [-1.0, -1.0])


def _column(values: Sequence[float]) -> FloatArray:
    return np.array(values, dtype=float)[:, np.newaxis]


def _on_a_line(last: int) -> Iterator[tuple[Any, Box]]:
    """Depth of either of these neighbours on the points 0 ... last."""
    line = Grid((Fraction(0),), (Fraction(1),), (last,))
    for x in ([0, last], [0, 0]):
        yield AxisAligned().prepare(line.snap(_column(x)), line, bytes(32)), whole_grid(line)


@contextmanager
def _boxem() -> Iterator[Pair]:
    samplers = [DepthSampler(prepared, within=within, epsilon=_EPSILON) for prepared, within in _on_a_line(_LAST)]
    one, other = ((lambda key, s=s: float(s.draw(key)[0])) for s in samplers)
    yield Pair(float(_EPSILON), 0.0, (one, other))


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

    with forced((points, "point_sampler", cached)):
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
def _two_step() -> Iterator[Pair]:
    """Nearly all of epsilon is for the sums: a row moves them from one end of whatever range was found to the other."""
    small = _EPSILON / 40
    steps = TwoStepPlan((small,) * 4 + (36 * small,), SubsetPlan(2, 1, (4,)), SpreadPlan(1), None)
    plan = TwoStepMean(_EPSILON, steps)

    def drawn(x: Sequence[float]) -> Drawn:
        relative = _column(x)

        def draw(key: bytes) -> float:
            charge = rehearsed_charge(plan.guarantee, key)
            found = two_step_result(relative, steps, derived_key("public"), charge)
            low, high = float(found.low[0]), float(found.high[0])
            return (2 * float(found.mean[0]) - low - high) / (high - low)

        return draw

    with _known_samplers():
        yield Pair(float(_EPSILON), 0.0, (drawn(_ENDS[0]), drawn(_ENDS[1])))


# A clipped mean one of whose steps has nearly all of epsilon: (epsilon, shares of the steps, weights of the radii,
# tables). Weights of radii are public; here they make what the other steps released readable.
_SMALL = Fraction(1, 40)
_CLIPPED: dict[str, tuple[Fraction, Shares, tuple[int, ...], tuple[list[float], list[float]]]] = {
    # Of 128 cells one gains.
    "centre": (Fraction(4), Shares(1 - 3 * _SMALL, _SMALL, _SMALL, Fraction(0)), (1,) * 16 + (10**6,), _ENDS),
    # Many rows at the lower end: the centre is there. Beyond the radius 1 lies the row at the upper end, if there is
    # one; beyond the radius 2 lies none.
    "radii": (
        _EPSILON,
        Shares(_SMALL, 1 - 3 * _SMALL, _SMALL, Fraction(0)),
        (3 * 10**6, 1, 10**6, *(1,) * 14),
        ([-1.0] * 401, [-1.0] * 400 + [1.0]),
    ),
    "sums": (_EPSILON, Shares(*(_SMALL,) * 3, Fraction(0)), (1,) * 17, _ENDS),
}


@contextmanager
def _clipped(step: str) -> Iterator[Pair]:
    epsilon, shares, weights, tables = _CLIPPED[step]
    plan = ClippedMean(epsilon, shares, (0,), (), weights)
    guarantee = plan.guarantee
    unit = BoundedColumns((Fraction(-1),), (Fraction(1),))

    def drawn(x: Sequence[float]) -> Drawn:
        relative = _column(x)

        def draw(key: bytes) -> float:
            charge = rehearsed_charge(guarantee, key)
            found = plan.run(lambda *kernels: in_pieces(relative, *kernels), unit, len(relative), charge)
            return float(found.sums[0][0]) if step == "sums" else found.window.high[0]

        return draw

    with forced((clipped_mean, "CELLS", 128)):
        yield Pair(float(epsilon), 0.0, (drawn(tables[0]), drawn(tables[1])))


@contextmanager
def _spread() -> Iterator[Pair]:
    """Two pairs of rows: one nearly equal, the other as far apart as can be, or nearly equal too.

    Which rows are paired is a secret that the proof conditions on: here it is known.
    """
    plan = SpreadPlan(2, octaves=10)
    near = -1.0 + 2.0**-8

    def drawn(x: list[float]) -> Drawn:
        relative = _column(x)

        def draw(key: bytes) -> float:
            charge = rehearsed_charge(bounded_range(_EPSILON), key)
            return float(spread_octaves(relative, charge, plan, derived_key("public"))[0])

        return draw

    known = (spread_step, "secret_order", lambda n, stream: np.arange(n))
    with _known_samplers(), forced(known):
        yield Pair(float(_EPSILON), 0.0, (drawn([-1.0, near, -1.0, 1.0]), drawn([-1.0, near, -1.0, near])))


class _Unseen:
    """A value that a cache takes for equal to any other: what tells tables apart stands beside it."""

    def __init__(self, prepared: Any) -> None:
        self.prepared = prepared

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Unseen)

    def __hash__(self) -> int:
        return 0


@contextmanager
def _algorithm3() -> Iterator[Pair]:
    """Sizes are estimated once for each table: what is drawn afterwards must keep epsilon for any good estimates.

    Levels end at half of the rows. One of five rows goes from one end to the other: the depth of that end falls from 2
    to 1, and that of all points but one rises from 0 to 1.
    """
    epsilon, delta, last = Fraction(4), Fraction(1, 1000), 200
    settings: dict[str, Any] = {"epsilon": epsilon, "delta": delta, "bounds": (0, last), "resolution": 1}
    runs: list[Any] = []
    prepared = algorithm3._prepared

    def spied(request: Any) -> Any:
        runs.append(prepared(request))
        return runs[-1]

    with forced((algorithm3, "_prepared", spied)):
        for x in ([0, 0, 1, 1, 1], [0, 1, 1, 1, last]):
            approximate_boxem(_column(x), **settings, padding="1/4", randomness=seeded(1))
    law = cache(lambda groups, epsilon: LevelDraw(groups, epsilon))
    sampler, weight = Rejection(), boxem_parameters(epsilon, delta).epsilon_draw
    one, other = ((lambda key, run=run: float(replace(run, key=key).draw(sampler, 0, weight).point[0])) for run in runs)
    with forced((algorithm3, "LevelDraw", lambda groups, epsilon: law(tuple(groups), epsilon))):
        yield Pair(float(epsilon), float(delta), (one, other))


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


def _nearer(found: Sequence[Any], here: Sequence[float], there: Sequence[float]) -> float:
    """How much nearer noised numbers are to the one place than to the other, by their largest coordinate: what cube
    noise says of where they come from."""
    values = np.array([float(number) for number in found])
    return float(np.abs(values - np.array(there)).max() - np.abs(values - np.array(here)).max())


@contextmanager
def _groups() -> Iterator[Pair]:
    """A row goes from one group to the other: each group's sum and number of rows move, each for half of epsilon."""
    columns = BoundedColumns((Fraction(-1),), (Fraction(1),))
    sums = WindowSums(columns, Window((-1.0,), (1.0,), (0.0,)), 2, records=True)
    one, none = (1.0, 1.0), (0.0, 0.0)

    def drawn(group: int) -> Drawn:
        (total,) = in_pieces(np.array([[1.0, group], [0.0, np.nan]]), sums)

        def draw(key: bytes) -> float:
            first, second = noised_sums(sums, total, rehearsed_charge(PureDP(_EPSILON), key))
            return _nearer(first, one, none) + _nearer(second, none, one)

        return draw

    yield Pair(float(_EPSILON), 0.0, (drawn(0), drawn(1)))


@contextmanager
def _cells() -> Iterator[Pair]:
    """A row goes from one cell of a table of counts to another."""
    counts = CategoryCounts(1, (0,), (2,), (None,), rest=False)

    def drawn(category: int) -> Drawn:
        (total,) = in_pieces(np.array([[float(category)]]), counts)

        def draw(key: bytes) -> float:
            first, second = noised_cells(counts, total, rehearsed_charge(PureDP(_EPSILON), key), "swap")
            return float(np.clip(first, 0, 1) - np.clip(second, 0, 1))

        return draw

    yield Pair(float(_EPSILON), 0.0, (drawn(0), drawn(1)))


@contextmanager
def _certificate() -> Iterator[Pair]:
    """Point and noised depth together."""
    half = Fraction(2)  # of epsilon, for each of the two
    draws = []
    for prepared, within in _on_a_line(20):
        sampler, low = DepthSampler(prepared, within=within, epsilon=half), within.low[0]

        def draw(key: bytes, prepared: Any = prepared, sampler: DepthSampler = sampler, low: int = low) -> float:
            y = sampler.draw(key)
            charge = rehearsed_charge(PureDP(half), derived_key("certificate", key))
            noised = depth_certificate(prepared, y, charge, every=True).noised
            return float(noised >= 2) + 2.0 * (y[0] == low)

        draws.append(draw)
    yield Pair(float(2 * half), 0.0, (draws[0], draws[1]))


@contextmanager
def _readable_rows() -> Iterator[Pair]:
    """One unreadable cell more, and one value less: both counts move, and both are told."""

    def drawn(unreadable: int) -> Drawn:
        cells = np.array([[np.nan]] * unreadable + [[0.0]] * (4 - unreadable))
        counts = exact_counts(Table(cells, unreadable=np.array([unreadable])))

        def draw(key: bytes) -> float:
            found = noisy_counts(counts, rehearsed_charge(PureDP(_EPSILON), key))
            return _nearer((found.unreadable, found.values), (1.0, 3.0), (2.0, 2.0))

        return draw

    yield Pair(float(_EPSILON), 0.0, (drawn(1), drawn(2)))


PAIRS: dict[str, Callable[[], Any]] = {
    "boxem": _boxem,
    "rem": _rem,
    "mean, subset": lambda: _mean(SubsetMean(_EPSILON, SubsetPlan(2, 2, (_LAST,))), _ENDS),
    "mean, two-step": _two_step,
    "mean, cube": lambda: _mean(CubeMean(_EPSILON), _ENDS),
    "mean, scale first": lambda: _mean(ScaledMean(_EPSILON, _EPSILON / 40, (100.0,)), _ENDS),
    **{f"mean, clipped: {step}": partial(_clipped, step) for step in _CLIPPED},
    "spread": _spread,
    "summary, groups": _groups,
    "counts": _cells,
    "depth certificate": _certificate,
    "readable rows": _readable_rows,
    "algorithm 3": _algorithm3,
    "gaussian baseline": _gaussian,
}
