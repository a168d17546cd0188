"""The paper's recipes with volumes and points from random walks: experiments without a privacy guarantee."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

import numpy as np

from tukeydp.data.tables import Table, read_table
from tukeydp.depth.choice import chosen_notion
from tukeydp.depth.notions import Notion, require_finite
from tukeydp.paper.nests import Nest, ScaledNest, generator, nest_log_volumes, scaled_nest
from tukeydp.paper.random_walks import USUAL_ERROR
from tukeydp.results.release import SYMMETRY_CAVEAT, Refused, Release
from tukeydp.trusted.bits import derived_key, source
from tukeydp.trusted.levels import LevelSets, level_sets
from tukeydp.trusted.parameters import FloatArray, IntArray, checked_integer
from tukeydp.trusted.rows import Grid

# Random walks as Algorithm 3's oracle and sampler. They promise nothing, so neither does a run with them.


class PaddedSets(Protocol):
    """What Algorithm 3 hands to its oracles: see `tukeydp.paper.algorithm3`."""

    @property
    def levels(self) -> LevelSets: ...

    @property
    def axes(self) -> LevelSets: ...

    @property
    def grid(self) -> Grid: ...

    @property
    def padding(self) -> Fraction: ...

    @property
    def highest(self) -> int: ...

    def box(self, level: int) -> tuple[IntArray, IntArray] | None: ...

    def box_size(self, level: int) -> int: ...


@dataclass(frozen=True)
class McmcVolumes:
    """Gaussian cooling and ratios between levels; volumes in place of counts of grid points. Proves nothing."""

    error: float = USUAL_ERROR

    def promise(self, asked: object, setting: object) -> None:
        return None

    def sizes(self, sets: PaddedSets, asked: object, key: bytes) -> list[Fraction]:
        scaled = scaled_nest(_with_axes(sets), sets.grid, highest=sets.highest)
        unit = float(np.log(scaled.scale).sum())
        logs = nest_log_volumes(scaled.nest, key, error=self.error) + unit
        volumes = [Fraction(sets.box_size(0)), *map(_exp, logs.tolist())]
        volumes += [Fraction(0)] * (sets.highest + 1 - len(volumes))
        return [v + sets.padding * sets.box_size(level) for level, v in enumerate(volumes)]


@dataclass(frozen=True)
class HitAndRun:
    """The end of one walk, rounded to the grid. Proves nothing."""

    def promise(self, asked: object, setting: object) -> None:
        return None

    def point(self, sets: PaddedSets, level: int, asked: object, key: bytes) -> list[int]:
        rng = generator(key, 0)
        scaled = scaled_nest(_with_axes(sets), sets.grid, highest=max(1, sets.highest))
        low, high = sets.box(level) or (sets.grid.low, sets.grid.high)
        solid = level <= len(scaled.nest.offsets)
        if level > 0 and (not solid or rng.random() < self._share_of_copy(sets, scaled.nest, scaled.scale, level, key)):
            return [a + int(rng.random() * (b - a + 1)) for a, b in zip(low.tolist(), high.tolist(), strict=True)]
        y = np.rint(scaled.coordinates(level, rng)).astype(np.int64) + scaled.centre
        return np.clip(y, low, high).tolist()

    def _share_of_copy(self, sets: PaddedSets, nest: Nest, scale: np.ndarray, level: int, key: bytes) -> float:
        only = Nest(nest.normals, nest.offsets[level - 1 : level], nest.inside)
        # A key of its own: the walk that comes afterwards must not go through the same numbers again.
        volume = _exp(float(nest_log_volumes(only, derived_key("share", key))[0] + np.log(scale).sum()))
        copy = sets.padding * sets.box_size(level)
        return float(copy / (copy + volume))


def _with_axes(sets: PaddedSets) -> LevelSets:
    return sets.axes.with_directions(sets.levels.directions)


def _exp(x: float) -> Fraction:
    """e^x as a rational, also where it is beyond the floats."""
    whole = math.floor(x / math.log(2))
    return Fraction(math.exp(x - whole * math.log(2))) * Fraction(2) ** whole


# The paper's recipes with volumes and points from random walks: experiments without a privacy guarantee.
#
# `mcmc_boxem` and `mcmc_rem` are what `td.boxem(..., unproven="mcmc")` and `td.rem(..., unproven="mcmc")` run. They
# follow the paper's Algorithm 2 over Lebesgue volumes, in floats, with two repairs (docs/errata.md): levels are order
# statistics, and the lowest level weighs q^t. Why there is no guarantee: the level is drawn by estimated volumes and
# the point by a walk of finitely many steps, and nobody has proven how far either is from what it stands for
# (docs/proofs/algorithm3.md).

MCMC_NOTE = (
    "Volumes of the level sets, and the released point, come from random walks (hit-and-run, Gaussian cooling). That "
    "the walks take enough steps is experience, not proof; so nothing is proven about the privacy of this result."
)
# Largest epsilon that is told from larger ones: e^-epsilon is 0 to floats long before. Larger: products overflow.
_LARGEST = 1e6


@dataclass(frozen=True, eq=False)
class _Estimated:
    """Level sets with the logarithms of their volumes."""

    sets: ScaledNest
    log_volumes: FloatArray

    def __len__(self) -> int:
        return len(self.log_volumes)

    def log_volume(self, level: int) -> float:
        if level <= 0:
            return self.sets.log_box
        return float(self.log_volumes[level - 1]) if level <= len(self) else -math.inf


def _estimated(levels: LevelSets, grid: Grid, key: bytes, *, highest: int) -> _Estimated:
    sets = scaled_nest(levels, grid, highest=highest)
    return _Estimated(sets, nest_log_volumes(sets.nest, key))


def _drawn_level(levels: _Estimated, lowest: int, epsilon: float, rng: np.random.Generator) -> int:
    """A level from `lowest` up: weight q^t V_t at the lowest, (q^l - q^(l-1)) V_l above, q = e^(epsilon/2).

    By a race of exponentials, as in the paper, in logarithms.
    """
    names = np.arange(lowest, max(len(levels), lowest) + 1)
    logs = 0.5 * epsilon * names + np.array([levels.log_volume(int(level)) for level in names])
    logs[1:] += math.log(-math.expm1(-0.5 * epsilon))
    return int(names[np.argmax(logs + rng.gumbel(size=len(logs)))])


def mcmc_boxem(table: Table, *, epsilon: Fraction, grid: Grid, depth: Notion, randomness: Any = None) -> Release:
    """BoxEM with volumes and the draw by random walks. **No guarantee**: see the module's text."""
    notion_, levels, bits, keys = _prepare(table, grid, depth, randomness)
    eps = float(min(epsilon, Fraction(_LARGEST)))
    estimated = _estimated(levels, grid, keys[0], highest=levels.rows)
    rng = generator(keys[1], 0)
    point = estimated.sets.point(_drawn_level(estimated, 0, eps, rng), rng)
    return Release(point=point, **_public("boxem", table, notion_, levels, grid, bits, {"epsilon": epsilon}))


def mcmc_rem(
    x: Any,
    *,
    epsilon: Fraction,
    delta: Fraction,
    grid: Grid,
    depth: Notion | None = None,
    threshold: int | None = None,
    randomness: Any = None,
) -> Release | Refused:
    """The paper's Algorithm 2 with volumes and the draw by random walks. **No guarantee**: see the module's text.

    Parameters
    ----------
    x
        As for `td.boxem`.
    epsilon, delta
        As the paper's algorithm takes them; here they buy no proof.
    grid
        Public and wide: rows are clipped to it and rounded; the level sets are cut at its ends.
    threshold
        The lowest level t, at least 1; the paper's n/4 unless given.

    Notes
    -----
    The test is as printed: score + Lap(1/eps_p) >= log(1/(2 delta)) / eps_p, eps_p = epsilon/4, eps_e = epsilon/2,
    delta_e = delta / e^(2 eps_p). Levels are capped at n/2 in test and draw alike.
    """
    table = read_table(x)
    notion_, levels, bits, keys = _prepare(table, grid, depth, randomness)
    usual = max(1, table.n // 4)
    t = usual if threshold is None else checked_integer("threshold", threshold, least=1, most=table.n)
    estimated = _estimated(levels, grid, keys[0], highest=min(levels.rows, table.n // 2))
    rng = generator(keys[1], 0)
    asked = {"epsilon": epsilon, "delta": delta, "threshold": t}
    public = _public("rem", table, notion_, levels, grid, bits, asked)
    eps = float(min(epsilon, Fraction(_LARGEST)))
    passed = _score(estimated, t, eps, float(delta)) + rng.laplace(scale=4 / eps) >= -math.log(2 * delta) * 4 / eps
    if not passed or estimated.log_volume(t) == -math.inf:
        return Refused(**public)
    return Release(point=estimated.sets.point(_drawn_level(estimated, t, eps / 2, rng), rng), **public)


def _score(levels: _Estimated, t: int, epsilon: float, delta: float) -> int:
    """The largest k with V_(t-k-1) / V_(t+k+g+1) e^(-g eps_e / 2) <= delta_e / (4 e^eps_e) for some g > 0; else -1."""
    eps_e = epsilon / 2
    log_limit = math.log(delta) - epsilon / 2 - math.log(4) - eps_e
    passed = -1
    for k in range(t):
        above = np.arange(t + k + 2, len(levels) + 1)
        if not len(above):
            break
        gain = levels.log_volumes[above - 1] + (above - (t + k + 1)) * eps_e / 2
        if levels.log_volume(t - k - 1) - gain.max() <= log_limit:
            passed = k
    return passed


def _prepare(table: Table, grid: Grid, depth: Notion | None, randomness: Any) -> tuple[Any, ...]:
    bits = source(randomness)
    chosen = require_finite(chosen_notion(depth, table.n, table.d))
    public_key, secret_key = bits.key(), bits.key()
    levels = level_sets(grid.snap(table.cells), chosen.on_grid(grid, key=public_key), lowest=1)
    keys = derived_key("volumes", secret_key), derived_key("draw", secret_key)
    return chosen, levels, bits, keys


def _public(
    mechanism: str, table: Table, depth: Any, levels: LevelSets, grid: Grid, bits: Any, asked: dict[str, Any]
) -> dict[str, Any]:
    return {
        "guarantee": None,
        "unproven": "mcmc",
        "mechanism": mechanism,
        "seeded": not bits.private,
        **table.public,
        "notion": repr(depth),
        "directions": levels.directions,
        "grid": grid,
        "settings": asked,
        "notes": (SYMMETRY_CAVEAT, MCMC_NOTE),
    }
