"""Algorithm 3, run: REM and BoxEM with any volume oracle and any uniform sampler (docs/proofs/algorithm3.md).

These are for building on the paper, where proven oracles are what is missing; `td.boxem` needs no volumes at all and is
better in every way.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from math import lcm
from typing import Any, Generic, TypeVar

from tukeydp.algorithm3.accounting import (
    Cost,
    DrawParameters,
    boxem_cost,
    boxem_parameters,
    release_threshold,
    rem_cost,
    rem_parameters,
    score,
)
from tukeydp.algorithm3.oracles import (
    BoxCounting,
    PublicSetting,
    Rejection,
    SamplingPromise,
    UniformSampler,
    VolumeOracle,
    VolumePromise,
)
from tukeydp.algorithm3.padded_levels import PaddedLevels, padded_levels
from tukeydp.data.grid import bounded_grid, checked_bounds
from tukeydp.data.tables import Table, read_table
from tukeydp.depth.choice import chosen_notion, require_memory
from tukeydp.depth.notions import Notion, require_finite
from tukeydp.errors import ParameterError
from tukeydp.exact.level_draw import Group, LevelDraw
from tukeydp.mechanisms.rem_test.safety import tail
from tukeydp.parameters import checked_integer, rational, show
from tukeydp.privacy import ApproxDP, Guarantee
from tukeydp.randomness import Bits, Keystream, Randomness, derived_key, source
from tukeydp.release import Refused, Release
from tukeydp.spending import refuse_without_guarantee, require_room
from tukeydp.trusted.release import Seal, Spends, reserve

P = TypeVar("P", bound=DrawParameters)
# Random bits that are revealed before the first decision. Speed only: more are taken until the decision is certain.
_PREFIX = 64


@dataclass(frozen=True, eq=False)
class _Request(Generic[P]):
    """What is asked of one run; all of it is public but the table's cells. `cost` is what parameters of kind P cost."""

    mechanism: str
    table: Table
    budget: ApproxDP
    parameters: P
    cost: Callable[[P], Cost]
    bounds: Any
    depth: Notion | None
    resolution: Any
    padding: Any
    oracle: VolumeOracle
    sampler: UniformSampler
    accountant: Spends | None
    randomness: Any
    settings: dict[str, Any]


@dataclass(frozen=True, eq=False)
class _Run:
    """One run up to the draw: the data as sets, the estimated sizes, what is public, and a key for the rest."""

    sets: PaddedLevels
    sizes: list[Fraction]
    sampling: SamplingPromise
    public: dict[str, Any]
    key: bytes

    def draw(self, sampler: UniformSampler, lowest: int, epsilon: Fraction) -> Release:
        """Level by estimated sizes, the lowest with weight q^t; then a point of it."""
        common = lcm(*(v.denominator for v in self.sizes))
        groups = [Group(level, level, int(self.sizes[level] * common)) for level in range(lowest, len(self.sizes))]
        bits = Keystream(derived_key("level draw", self.key)).bits(0)
        level, _ = LevelDraw(groups, epsilon).finish(bits.take(_PREFIX), bits)
        y = sampler.point(self.sets, level, self.sampling, derived_key("point", self.key))
        return Release(point=self.sets.grid.point(y), **self.public)


def approximate_boxem(
    x: Any,
    *,
    epsilon: Any,
    delta: Any,
    bounds: Any,
    depth: Notion | None = None,
    resolution: Any = None,
    padding: Any = "1/10",
    oracle: VolumeOracle | None = None,
    sampler: UniformSampler | None = None,
    accountant: Spends | None = None,
    randomness: Any = None,
) -> Release:
    """BoxEM with estimated sizes of level sets and an approximate sampler.

    Parameters
    ----------
    x, epsilon, bounds, depth, resolution, accountant, randomness
        As for `td.boxem`; the axes always count among the directions, and levels end at n/2.
    delta
        Chance of what the estimates may spoil; > 0 and < 1.
    padding
        Weight, >= 0, of a point by its depth along the axes alone. With 0 the proven oracle and sampler prove nothing.
    oracle, sampler
        `BoxCounting()` and `Rejection()` unless given; any object with the methods of the Protocols.

    Privacy
    -------
    (epsilon, delta)-DP if oracle and sampler promise what they are asked for; otherwise `guarantee` is None.

    Examples
    --------
    >>> import numpy as np, tukeydp as td
    >>> x = np.random.default_rng(1).normal(size=(30, 2))
    >>> release = approximate_boxem(x, epsilon=8, delta="1e-3", bounds=(-5, 5), randomness=td.seeded(1))
    >>> print(release.guarantee)
    epsilon = 8, delta = 0.001 (approximate differential privacy, one row swapped)
    """
    parameters = boxem_parameters(epsilon, delta)
    require_room(accountant, ApproxDP(epsilon, delta))
    oracle, sampler = _roles(oracle, sampler)
    request = _Request(
        mechanism="boxem",
        table=read_table(x),
        budget=ApproxDP(epsilon, delta),
        parameters=parameters,
        cost=boxem_cost,
        bounds=bounds,
        depth=depth,
        resolution=resolution,
        padding=padding,
        oracle=oracle,
        sampler=sampler,
        accountant=accountant,
        randomness=randomness,
        settings={},
    )
    return _prepared(request).draw(sampler, 0, parameters.epsilon_draw)


def approximate_rem(
    x: Any,
    *,
    epsilon: Any,
    delta: Any,
    bounds: Any,
    threshold: int | None = None,
    depth: Notion | None = None,
    resolution: Any = None,
    padding: Any = "1/10",
    oracle: VolumeOracle | None = None,
    sampler: UniformSampler | None = None,
    accountant: Spends | None = None,
    randomness: Any = None,
) -> Release | Refused:
    """The paper's Algorithm 3, its errata repaired: REM with estimated sizes and an approximate sampler.

    Parameters
    ----------
    threshold
        The lowest level t, from 1 to n; the paper's n/4 unless given. Public: choose it without the data.
    x, epsilon, delta, bounds, depth, resolution, padding, oracle, sampler, accountant, randomness
        As for `approximate_boxem`. Bounds may be as wide as you like: only level 0 sees them.

    Privacy
    -------
    (epsilon, delta)-DP if oracle and sampler promise what they are asked for; otherwise `guarantee` is None.
    """
    parameters = rem_parameters(epsilon, delta)
    require_room(accountant, ApproxDP(epsilon, delta))
    oracle, sampler = _roles(oracle, sampler)
    table = read_table(x)
    usual = max(1, table.n // 4)
    lowest = usual if threshold is None else checked_integer("threshold", threshold, least=1, most=table.n)
    request = _Request(
        mechanism="rem",
        table=table,
        budget=ApproxDP(epsilon, delta),
        parameters=parameters,
        cost=rem_cost,
        bounds=bounds,
        depth=depth,
        resolution=resolution,
        padding=padding,
        oracle=oracle,
        sampler=sampler,
        accountant=accountant,
        randomness=randomness,
        settings={"threshold": lowest},
    )
    run = _prepared(request)
    short = release_threshold(parameters) - score(run.sizes, lowest, parameters)
    passed = noise_reaches(short, parameters.epsilon_test, Keystream(derived_key("test", run.key)).bits(0))
    # With nothing at level t a neighbour's score is -1: its pass is covered by delta_p like this refusal.
    if not passed or lowest >= len(run.sizes) or not run.sizes[lowest]:
        return Refused(**run.public)
    return run.draw(sampler, lowest, parameters.epsilon_draw)


def noise_reaches(least: int, epsilon: Fraction, bits: Bits) -> bool:
    """Whether discrete Laplace noise is >= `least`: a coin with exactly that probability."""
    precision, revealed = _PREFIX, bits.take(_PREFIX)
    while True:
        low, high = tail(epsilon, least, 2 * precision)
        unit = Fraction(1, 2**precision)
        if (revealed + 1) * unit <= low:
            return True
        if revealed * unit >= high:
            return False
        revealed = (revealed << precision) | bits.take(precision)
        precision *= 2


def _roles(oracle: VolumeOracle | None, sampler: UniformSampler | None) -> tuple[VolumeOracle, UniformSampler]:
    return BoxCounting() if oracle is None else oracle, Rejection() if sampler is None else sampler


def _prepared(request: _Request[P]) -> _Run:
    """The run up to its first decision: parameters checked, data read, sizes estimated."""
    table, parameters = request.table, request.parameters
    padding = rational("padding", request.padding)
    if padding < 0:
        raise ParameterError("padding", "must be >= 0", show(padding))
    bits = source(request.randomness)
    chosen = require_finite(chosen_notion(request.depth, table.n, table.d))
    require_memory(chosen, table.n, table.d)
    ends = checked_bounds(table.d, request.bounds, table.columns)
    grid = bounded_grid(
        table.d, bounds=ends, resolution=request.resolution, bits=chosen.grid_bits(table.d), columns=table.columns
    )
    directions = chosen.on_grid(grid, key=bits.key())  # before the run is paid: it refuses what does not fit
    setting = PublicSetting(table.n // 2, padding)
    guarantee = _guarantee(request, setting)
    roles = {"oracle": repr(request.oracle), "sampler": repr(request.sampler)}
    settings = {**request.settings, "padding": padding, **roles}
    about = {**table.public, "notion": repr(chosen), "grid": grid.to_dict(), "settings": settings}
    seal, secret_key = _paid(request, guarantee, bits, about)
    sets = padded_levels(grid.snap(table.cells), directions, grid, padding=padding, highest=setting.levels)
    public = {
        "seal": seal,
        "unproven": "oracle or sampler" if guarantee is None else None,
        "mechanism": request.mechanism,
        "seeded": not bits.private,
        **table.public,
        "notion": repr(chosen),
        "directions": directions,
        "grid": grid,
        "bounds": ends,
        "settings": settings,
    }
    sizes = _sizes(request.oracle, sets, _volumes_asked(parameters), derived_key("volumes", secret_key))
    return _Run(sets, sizes, _sampling_asked(parameters), public, secret_key)


def _paid(
    request: _Request[P], guarantee: Guarantee | None, bits: Randomness, about: dict[str, Any]
) -> tuple[Seal | None, bytes]:
    """What the release has its guarantee from, and the secret key; without promises there is nothing to pay for."""
    if guarantee is None:
        refuse_without_guarantee(request.accountant)
        return None, bits.key()
    run = reserve(
        {"draw": guarantee},
        mechanism=request.mechanism,
        source=bits,
        accountant=request.accountant,
        parameters=about,
    )
    return run.seal, run.charge("draw").for_any_law().key()


def _volumes_asked(parameters: DrawParameters) -> VolumePromise:
    return VolumePromise(parameters.eta, parameters.beta)


def _sampling_asked(parameters: DrawParameters) -> SamplingPromise:
    return SamplingPromise(parameters.tau, parameters.zeta)


def _sizes(oracle: VolumeOracle, sets: PaddedLevels, asked: VolumePromise, key: bytes) -> list[Fraction]:
    sizes = [max(Fraction(v), Fraction(0)) for v in oracle.sizes(sets, asked, key)]
    if len(sizes) != sets.highest + 1:  # without some levels the law would be another, and the cost too
        raise ParameterError("oracle", f"must give {sets.highest + 1} sizes", len(sizes))
    return sizes


def _guarantee(request: _Request[P], setting: PublicSetting) -> Guarantee | None:
    """The budget, if what oracle and sampler promise costs no more than it; nothing without both promises."""
    parameters = request.parameters
    volumes = request.oracle.promise(_volumes_asked(parameters), setting)
    sampling = request.sampler.promise(_sampling_asked(parameters), setting)
    if volumes is None or sampling is None:
        return None
    if volumes.eta > parameters.eta:  # the score's threshold is made for what was asked, whatever the cost says
        return None
    try:
        promised = replace(parameters, eta=volumes.eta, beta=volumes.beta, tau=sampling.tau, zeta=sampling.zeta)
    except ParameterError:  # promises outside the theorem's domain
        return None
    budget = request.budget
    return budget if request.cost(promised).within(budget.epsilon, budget.delta) else None
