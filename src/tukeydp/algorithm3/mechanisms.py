"""Algorithm 3, run: REM and BoxEM with any volume oracle and any uniform sampler (docs/proofs/algorithm3.md).

These are for building on the paper, where proven oracles are what is missing; `td.boxem` needs no volumes at all and is
better in every way.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from math import lcm
from typing import Any, TypeVar

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
from tukeydp.data.grid import bounded_grid
from tukeydp.data.tables import Table, read_table
from tukeydp.depth.choice import notion, require_memory
from tukeydp.depth.notions import Exact, Notion
from tukeydp.errors import ParameterError
from tukeydp.exact.level_draw import Group, LevelDraw
from tukeydp.mechanisms.rem_test.safety import tail
from tukeydp.parameters import checked_integer, positive_rational, rational, show
from tukeydp.privacy import ApproxDP, Guarantee
from tukeydp.randomness import Bits, Keystream, derived_key, source
from tukeydp.release import Refused, Release

P = TypeVar("P", bound=DrawParameters)
_PREFIX = 64


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
    depth: Notion | Exact | None = None,
    resolution: Any = None,
    padding: Any = "1/10",
    oracle: VolumeOracle | None = None,
    sampler: UniformSampler | None = None,
    randomness: Any = None,
) -> Release:
    """BoxEM with estimated sizes of level sets and an approximate sampler.

    Parameters
    ----------
    x, epsilon, bounds, depth, resolution, randomness
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
    oracle, sampler = _roles(oracle, sampler)
    run = _prepared(
        "boxem", read_table(x), parameters, boxem_cost, (epsilon, delta), bounds, depth, resolution, padding,
        oracle, sampler, randomness, {},
    )  # fmt: skip
    return run.draw(sampler, 0, parameters.epsilon_draw)


def approximate_rem(
    x: Any,
    *,
    epsilon: Any,
    delta: Any,
    bounds: Any,
    threshold: int | None = None,
    depth: Notion | Exact | None = None,
    resolution: Any = None,
    padding: Any = "1/10",
    oracle: VolumeOracle | None = None,
    sampler: UniformSampler | None = None,
    randomness: Any = None,
) -> Release | Refused:
    """The paper's Algorithm 3, its errata repaired: REM with estimated sizes and an approximate sampler.

    Parameters
    ----------
    threshold
        The lowest level t, from 1 to n; the paper's n/4 unless given. Public: choose it without the data.
    x, epsilon, delta, bounds, depth, resolution, padding, oracle, sampler, randomness
        As for `approximate_boxem`. Bounds may be as wide as you like: only level 0 sees them.

    Privacy
    -------
    (epsilon, delta)-DP if oracle and sampler promise what they are asked for; otherwise `guarantee` is None.
    """
    parameters = rem_parameters(epsilon, delta)
    oracle, sampler = _roles(oracle, sampler)
    table = read_table(x)
    usual = max(1, table.n // 4)
    lowest = usual if threshold is None else checked_integer("threshold", threshold, least=1, most=table.n)
    run = _prepared(
        "rem", table, parameters, rem_cost, (epsilon, delta), bounds, depth, resolution, padding,
        oracle, sampler, randomness, {"threshold": lowest},
    )  # fmt: skip
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


def _prepared(
    mechanism: str, table: Table, parameters: P, cost: Callable[[P], Cost], budget: tuple[Any, Any], bounds: Any,
    depth: Notion | Exact | None, resolution: Any, padding: Any, oracle: VolumeOracle, sampler: UniformSampler,
    randomness: Any, settings: dict[str, Any],
) -> _Run:  # fmt: skip
    padding = rational("padding", padding)
    if padding < 0:
        raise ParameterError("padding", "must be >= 0", show(padding))
    if isinstance(depth, Exact):
        raise ParameterError("depth", "must name finitely many directions", repr(depth))
    bits = source(randomness)
    chosen = notion(depth, table.n, table.d)
    require_memory(chosen, table.n, table.d)
    grid = bounded_grid(table.d, bounds=bounds, resolution=resolution, bits=chosen.grid_bits(table.d))
    public_key, secret_key = bits.key(), bits.key()
    directions = chosen.on_grid(grid, key=public_key)
    asked = VolumePromise(parameters.eta, parameters.beta)
    sampling = SamplingPromise(parameters.tau, parameters.zeta)
    setting = PublicSetting(table.n // 2, padding)
    guarantee = _guarantee(parameters, cost, budget, oracle.promise(asked, setting), sampler.promise(sampling, setting))
    sets = padded_levels(grid.snap(table.cells), directions, grid, padding=padding, highest=setting.levels)
    sizes = [max(Fraction(v), Fraction(0)) for v in oracle.sizes(sets, asked, derived_key("volumes", secret_key))]
    if len(sizes) != setting.levels + 1:  # without some levels the law would be another, and the cost too
        raise ParameterError("oracle", f"must give {setting.levels + 1} sizes", len(sizes))
    public = {
        "guarantee": guarantee,
        "unproven": "oracle or sampler" if guarantee is None else None,
        "mechanism": mechanism,
        "seeded": not bits.private,
        **table.public,
        "notion": repr(chosen),
        "directions": directions,
        "grid": grid,
        "settings": {**settings, "padding": padding, "oracle": repr(oracle), "sampler": repr(sampler)},
    }
    return _Run(sets, sizes, sampling, public, secret_key)


def _guarantee(
    parameters: P,
    cost: Callable[[P], Cost],
    budget: tuple[Any, Any],
    volumes: VolumePromise | None,
    sampling: SamplingPromise | None,
) -> Guarantee | None:
    """The budget, if what is promised costs no more than it; nothing without both promises."""
    if volumes is None or sampling is None:
        return None
    if volumes.eta > parameters.eta:  # the score's threshold is made for what was asked, whatever the cost says
        return None
    epsilon, delta = (positive_rational(name, v) for name, v in zip(("epsilon", "delta"), budget, strict=True))
    try:
        promised = replace(parameters, eta=volumes.eta, beta=volumes.beta, tau=sampling.tau, zeta=sampling.zeta)
    except ParameterError:  # promises outside the theorem's domain
        return None
    return ApproxDP(epsilon, delta) if cost(promised).within(epsilon, delta) else None
