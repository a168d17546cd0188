"""The paper's recipes without a privacy guarantee: volumes and points by random walks, or exactly but in floats."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

import numpy as np

from tukeydp.data.tables import Table, read_table
from tukeydp.depth.choice import chosen_notion
from tukeydp.depth.notions import Exact, Notion, require_finite
from tukeydp.paper.depth_regions import Body, body_of
from tukeydp.paper.random_walks import USUAL_ERROR, Nest, ScaledNest, generator, nest_log_volumes, scaled_nest
from tukeydp.results.release import SYMMETRY_CAVEAT, Refused, Release
from tukeydp.trusted.account import ApproxDP
from tukeydp.trusted.bits import derived_key, source
from tukeydp.trusted.levels import LevelSets, level_sets
from tukeydp.trusted.parameters import FloatArray, IntArray, ParameterError, checked_integer
from tukeydp.trusted.rows import Grid, checked_bounds

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


def _estimated(levels: LevelSets, grid: Grid, key: bytes, *, highest: int) -> tuple[ScaledNest, FloatArray]:
    """Level sets, and the logarithms of their volumes from level 0, the box, up."""
    sets = scaled_nest(levels, grid, highest=highest)
    return sets, np.append(sets.log_box, nest_log_volumes(sets.nest, key))


def _drawn_level(log_volumes: FloatArray, lowest: int, epsilon: float, rng: np.random.Generator) -> int:
    """A level from `lowest` up: weight q^t V_t at the lowest, (q^l - q^(l-1)) V_l above, q = e^(epsilon/2).

    By a race of exponentials, as in the paper, in logarithms.
    """
    names = np.arange(lowest, max(len(log_volumes), lowest + 1))
    logs = 0.5 * epsilon * names + log_volumes[lowest:]
    logs[1:] += math.log(-math.expm1(-0.5 * epsilon))
    return int(names[np.argmax(logs + rng.gumbel(size=len(logs)))])


def mcmc_boxem(table: Table, *, epsilon: Fraction, grid: Grid, depth: Notion, randomness: Any = None) -> Release:
    """BoxEM with volumes and the draw by random walks. **No guarantee**: see the module's text."""
    notion_, levels, bits, keys = _prepare(table, grid, depth, randomness)
    eps = float(min(epsilon, Fraction(_LARGEST)))
    sets, log_volumes = _estimated(levels, grid, keys[0], highest=levels.rows)
    rng = generator(keys[1], 0)
    point = sets.point(_drawn_level(log_volumes, 0, eps, rng), rng)
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
    t = _threshold(threshold, table.n)
    sets, log_volumes = _estimated(levels, grid, keys[0], highest=min(levels.rows, table.n // 2))
    rng = generator(keys[1], 0)
    asked = {"epsilon": epsilon, "delta": delta, "threshold": t}
    public = _public("rem", table, notion_, levels, grid, bits, asked)
    eps = float(min(epsilon, Fraction(_LARGEST)))
    if not _passes(log_volumes, t, eps, float(delta), rng):
        return Refused(**public)
    return Release(point=sets.point(_drawn_level(log_volumes, t, eps / 2, rng), rng), **public)


def _threshold(threshold: int | None, n: int) -> int:
    return max(1, n // 4) if threshold is None else checked_integer("threshold", threshold, least=1, most=n)


def _passes(log_volumes: FloatArray, t: int, epsilon: float, delta: float, rng: np.random.Generator) -> bool:
    """Algorithm 2's test, in floats; never where level t has no volume to draw from."""
    noised = score_of_volumes(log_volumes, t, epsilon, delta) + rng.laplace(scale=4 / epsilon)
    passed = bool(noised >= -math.log(2 * delta) * 4 / epsilon)
    return passed and t < len(log_volumes) and log_volumes[t] > -math.inf


def score_of_volumes(log_volumes: FloatArray, t: int, epsilon: float, delta: float) -> int:
    """The largest k with V_(t-k-1) / V_(t+k+g+1) e^(-g eps_e / 2) <= delta_e / (4 e^eps_e) for some g > 0; else -1."""
    eps_e = epsilon / 2
    log_limit = math.log(delta) - epsilon / 2 - math.log(4) - eps_e
    passed = -1
    for k in range(t):
        above = np.arange(t + k + 2, len(log_volumes))
        if not len(above):
            break
        gain = log_volumes[above] + (above - (t + k + 1)) * eps_e / 2
        if log_volumes[t - k - 1] - gain.max() <= log_limit:
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


# BoxEM as the paper prints it: all volumes, a race between the levels, rejection inside a box. Floats throughout.

NOTE = (
    "Floating-point volumes and floating-point samples: the law is that of boxem on real numbers only up to rounding, "
    "which known attacks can exploit (Mironov 2012). For comparison with td.boxem and td.rem, which are exact."
)
_BATCH = 8  # points of the box that are drawn at a time; speed only, but seeded draws depend on it


def paper_recipe(
    x: Any,
    *,
    epsilon: Any,
    bounds: Any = None,
    delta: Any = None,
    threshold: int | None = None,
    depth: Notion | None = None,
    randomness: Any = None,
) -> Release | Refused:
    """Run the paper's BoxEM (`bounds`) or REM (`delta`) as it is printed. A reference: it has **no guarantee**.

    The volume of every level set is computed, a level is drawn by racing, and a uniform point of the level set by
    rejection from its bounding box. The lowest level weighs q^t and not q^t (1 - 1/q), q = e^(epsilon/2)
    (docs/errata.md, 1). BoxEM: a point outside the box starts the draw afresh, and the law is that of `td.boxem` on an
    infinitely fine grid. REM: Algorithm 2 with its constants and true volumes; **floats decide whether the test
    passes**, where `td.rem(test="paper")` has proven bounds of the volumes, from four columns on rough ones, and
    refuses more often. **When to prefer it:** to check `td.boxem` and `td.rem` against an independent route; never for
    a real release.

    Parameters
    ----------
    x, epsilon, bounds, randomness
        As for `td.boxem`.
    delta
        As for `td.rem`; in place of `bounds`.
    threshold
        With `delta`: the least depth that is released; n/4 unless given.
    depth
        As for `td.level_set`: exact depth unless given.

    Cost
    ----
    That of `td.level_volumes`: seconds to hours, and practical in up to four or five columns only.

    Examples
    --------
    >>> import tukeydp as td
    >>> x = [[0, 0], [4, 0], [0, 4], [1, 1], [2, 1]]
    >>> release = td.baselines.paper_recipe(x, epsilon=4, bounds=(-5, 5), randomness=td.seeded(7))
    >>> release.point.shape, release.private
    ((2,), False)
    >>> td.baselines.paper_recipe(x, epsilon=4, delta=1e-6, randomness=td.seeded(7)).released
    False
    """
    if (bounds is None) == (delta is None):
        given = "neither" if bounds is None else "both"
        raise ParameterError("bounds", "must be given for BoxEM, delta for REM, and not both", given)
    budget = ApproxDP(epsilon, Fraction(1, 2) if delta is None else delta)
    bits = source(randomness)
    table = read_table(x)
    box = None if bounds is None else checked_bounds(table.d, bounds, table.columns)
    cells = table.cells
    if box is not None:
        ends = list(zip(*box, strict=True))
        middle = np.array([float((a + b) / 2) for a, b in ends])
        half = np.array([float((b - a) / 2) for a, b in ends])
        cells = np.clip(cells, middle - half, middle + half)
    body = body_of(cells, Exact() if depth is None else depth)
    if body.unbounded:
        raise ParameterError("depth", "must have directions that span all columns", repr(depth)[:60])
    rng = np.random.default_rng(list(bits.key()))
    public: dict[str, Any] = {
        "guarantee": None,
        "mechanism": "paper-recipe",
        "seeded": not bits.private,
        "notion": repr(Exact() if depth is None else depth),
        "notes": (SYMMETRY_CAVEAT, NOTE),
        **table.public,
    }
    eps = float(min(budget.epsilon, Fraction(_LARGEST)))
    if box is not None:
        weights = log_weights(body.volumes(), half, eps / 2)
        return Release(point=_draw(body, middle, half, weights, rng), **public, bounds=box)
    t = _threshold(threshold, table.n)
    with np.errstate(divide="ignore"):
        log_volumes = np.log(body.volumes()[: table.n // 2 + 1])
    if not _passes(log_volumes, t, eps, float(budget.delta), rng):
        return Refused(**public)
    return Release(point=_uniform(body, _drawn_level(log_volumes, t, eps / 2, rng), rng), **public)


def log_weights(volumes: FloatArray, half: FloatArray, rate: float) -> FloatArray:
    """ln p_l up to a constant: Vol(level l) e^(rate l) (1 - e^-rate), and just Vol(box) at level 0."""
    with np.errstate(divide="ignore"):
        weights = np.log(np.where(np.isinf(volumes), 1.0, volumes)) + rate * np.arange(len(volumes))
    weights[1:] += math.log(-math.expm1(-rate))
    weights[0] = float(np.log(2.0 * half).sum())
    return np.asarray(weights)


def _draw(
    body: Body, middle: FloatArray, half: FloatArray, weights: FloatArray, rng: np.random.Generator
) -> FloatArray:
    while True:
        level = _race(weights, rng)
        y = middle + half * rng.uniform(-1.0, 1.0, len(half)) if level == 0 else _uniform(body, level, rng)
        if (np.abs(y - middle) <= half).all():
            return y


def _race(weights: FloatArray, rng: np.random.Generator) -> int:
    """The level whose exponential clock of rate e^weight rings first (Mironov's racing)."""
    return int(np.argmin(np.log(rng.exponential(size=len(weights))) - weights))


def _uniform(body: Body, level: int, rng: np.random.Generator) -> FloatArray:
    shape = body.shape(level)
    assert shape is not None
    low, high = shape.vertices.min(axis=0), shape.vertices.max(axis=0)
    while True:
        points = rng.uniform(low, high, size=(_BATCH, len(low)))
        inside = body.decide(points, level)
        if inside.any():
            return np.asarray(points[np.argmax(inside)])
