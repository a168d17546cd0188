"""What accuracy to expect of a mean or a spread, from public inputs only: the plan itself, on made-up tables."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from tukeydp.forecast.shapes import SHAPES, Shape, made_up
from tukeydp.forecast.tables import (
    DEPTH_COLUMNS,
    MOST_CELLS,
    NOISE_COLUMNS,
    ROWS_OF_DEPTH,
    Centres,
    drawn_centres,
    numbers,
    settled,
    walked_centres,
)
from tukeydp.mechanisms.cliff import widest_bounds, width_sentence
from tukeydp.mechanisms.clipped_mean import ClippedMean
from tukeydp.mechanisms.clipped_sum import CountedMean
from tukeydp.mechanisms.mean_plans import CubeMean, MeanPlan, SubsetMean, TwoStepMean
from tukeydp.mechanisms.mean_ways import ScaledMean, known_widths
from tukeydp.mechanisms.scale_step import WIDEST, released_widths
from tukeydp.mechanisms.subset_means import shifted_spread
from tukeydp.mechanisms.two_step import TwoStepPlan, at_least_narrowest, clipped_around
from tukeydp.results.accuracy import (
    FAR,
    ColumnError,
    ExpectedError,
    Rehearsal,
    noise_error,
    over_shapes,
    rounded,
    sampling_error,
    shape_error,
)
from tukeydp.results.noise_quantiles import quantile_of_noise, share_all_within
from tukeydp.trusted.account import bounded_range
from tukeydp.trusted.bits import derived_key
from tukeydp.trusted.block_steps import SpreadPlan, SubsetPlan, spread_draws
from tukeydp.trusted.parameters import FloatArray
from tukeydp.trusted.release import rehearsed, rehearsed_charge
from tukeydp.trusted.rows import BoundedColumns

# Draws from one made-up table. Those by depth cost nothing once the table is prepared; those of two steps pass over it.
_DRAWS, _PASSES = 20, 8
# Bounds in standard deviations that are just around the data: even columns have three and a half, bell-shaped ones six.
NARROW = 4.0


def mean_rehearsal(plan: MeanPlan, n: int, columns: BoundedColumns, sd: Any) -> Rehearsal:
    """The forecast that goes with a planned mean; `sd` as given to the mechanism."""
    widths = known_widths(columns, sd)
    widest = widest_for(plan, n, columns.d)
    caveat = None if widest is None else width_sentence(widest, n, widths, sd is not None)
    given = None if sd is None else tuple((columns.widths / widths).tolist())
    return Rehearsal(_mean_error, (plan, n, columns, given), widest, caveat, instant=isinstance(plan, CubeMean))


def widest_for(plan: MeanPlan, n: int, d: int, missing: float = 0.0) -> float | None:
    """How wide bounds may be for the plan's depth of subset means; None if it uses none."""
    if isinstance(plan, ScaledMean):
        if plan.windows(n, np.array(plan.assumed)) is not None:
            return None  # neither windows nor noise get lost between wide bounds
        # Blocks are chosen when the widths are known: single rows reach farthest.
        rows = max(1, int(n * (1.0 - missing)))
        return rounded(min(WIDEST, widest_bounds(rows, d, float(plan.rest))))
    steps = {
        SubsetMean: lambda p: (p.plan, p.plan.sampler_epsilon(p.epsilon)),
        TwoStepMean: lambda p: (p.plan.centre, p.plan.epsilons[0]),
    }
    if type(plan) not in steps:
        return None
    subset, epsilon = steps[type(plan)](plan)
    rows_of_block = max(1.0, n * (1.0 - missing) / subset.blocks)
    reached = widest_bounds(subset.blocks, d, float(epsilon)) * shifted_spread(subset, n)
    return rounded(reached / math.sqrt(rows_of_block))


def _mean_error(
    plan: MeanPlan, n: int, columns: BoundedColumns, given: tuple[float, ...] | None, *, sd: Any, missing: float
) -> ExpectedError:
    sd = given if sd is None else sd
    widths = known_widths(columns, sd)
    facts = {
        "estimand": "mean",
        "sampling": sampling_error(n, missing),
        "missing": missing,
        "widths": tuple(widths.tolist()),
        "known": sd is not None,
        "widest": widest_for(plan, n, columns.d, missing),
    }
    if isinstance(plan, CubeMean) and not missing:
        return _noise_alone(plan, n, columns, widths, facts)
    shapes = tuple(
        shape_error(shape, np.concatenate(table_errors(plan, n, widths, shape, missing, walked=True)))
        for shape in SHAPES
    )
    scales = None if sd is None else columns.widths / widths
    return over_shapes(shapes, **facts, scales=scales)


def table_errors(
    plan: MeanPlan, n: int, widths: FloatArray, shape: Shape, missing: float = 0.0, walked: bool = False
) -> list[FloatArray]:
    """Releases from made-up tables less the tables' own means, in standard deviations: one array for each table.

    Deep points are drawn by the mechanism itself, or, much faster, `walked` to.
    """
    d = len(widths)
    rows = min(n, max(1, MOST_CELLS // d))
    errors = []
    sizes = 2.0 / shape.widths(widths)
    by_depth = isinstance(plan, SubsetMean) or (isinstance(plan, ScaledMean) and n <= ROWS_OF_DEPTH)
    centres = walked_centres if walked else drawn_centres
    for i in numbers(d, DEPTH_COLUMNS if by_depth else NOISE_COLUMNS):
        relative = np.clip(made_up(shape, rows, d, i, missing) * sizes, -1.0, 1.0)
        way = _suited(plan, n, relative, i) if isinstance(plan, ScaledMean) else plan
        found = (_draws(way, relative, Fraction(n, rows), i, centres) - own_means(relative)) / sizes
        if isinstance(plan, ScaledMean) and isinstance(way, SubsetMean):
            found = _shrunk(way.plan, [found], rows / n)[0]
        errors.append(found)
    return _shrunk(plan.plan, errors, rows / n) if isinstance(plan, SubsetMean) else errors


def _suited(plan: ScaledMean, n: int, relative: FloatArray, number: int) -> MeanPlan:
    """The way that a made-up table's released scale leads to; of fewer rows, with an epsilon raised in proportion."""
    raised = plan.scale * n / len(relative)
    public_key, key = (derived_key("rehearsal", "scale", part, number) for part in ("public", "secret"))
    charge = rehearsed_charge(bounded_range(raised), key)
    return plan.way(n, released_widths(relative, charge, np.array(plan.assumed), public_key))


def own_means(relative: FloatArray) -> FloatArray:
    """Column means of the values that are there; 0 where there are none."""
    there = ~np.isnan(relative)
    return np.asarray(np.where(there, relative, 0.0).sum(axis=0) / np.maximum(1, there.sum(axis=0)))


def _draws(plan: MeanPlan, relative: FloatArray, raised: Fraction, number: int, centres: Centres) -> FloatArray:
    """Releases from one made-up table, one per row.

    A table with fewer rows than n has the epsilons of sums and counts `raised` in proportion: shares of the rows, and
    the noise of a mean, stay as they are.
    """
    public_key, secret_key = keys = [derived_key("rehearsal", part, number) for part in ("public", "secret")]
    if isinstance(plan, SubsetMean):
        return centres(relative, plan.epsilon, plan.plan, public_key, secret_key, _DRAWS)
    if isinstance(plan, TwoStepMean):
        centre, spread, *rest = plan.plan.epsilons
        radii, shares, mean = (raised * e for e in rest)
        steps = replace(plan.plan, epsilons=(centre, spread, radii, shares, mean))
        found = centres(relative, steps.epsilons[0], steps.centre, public_key, secret_key, _PASSES)
        return _two_step_draws(steps, relative, found, *keys)
    assert isinstance(plan, CubeMean | CountedMean | ClippedMean)
    enough = replace(plan, epsilon=raised * plan.epsilon)
    secret = (derived_key(i, keys[1]) for i in range(_PASSES))
    charges = (rehearsed_charge(enough.guarantee, key) for key in secret)
    return np.array([[float(v) for v in enough.draw(relative, keys[0], charge)] for charge in charges])


def _two_step_draws(
    steps: TwoStepPlan, relative: FloatArray, centres: FloatArray, public_key: bytes, secret_key: bytes
) -> FloatArray:
    if steps.spread is not None:
        octaves = rehearsed_spread(relative, steps.epsilons[1], steps.spread, public_key, secret_key)
    found = []
    for i, centre in enumerate(centres):
        key = derived_key(i, secret_key)
        spread = 2.0 * np.array(steps.known) if steps.known is not None else at_least_narrowest(octaves(key))
        run = rehearsed(steps.parts, key)
        found.append([float(v) for v in clipped_around(relative, centre, spread, run)])
    return np.array(found)


def rehearsed_spread(
    relative: FloatArray, epsilon: Fraction, plan: SpreadPlan, public_key: bytes, secret_key: bytes
) -> Callable[[bytes], FloatArray]:
    """As `depth_draws`."""
    pairs = min(plan.pairs, ROWS_OF_DEPTH)
    fewer = relative[: len(relative) * pairs // plan.pairs]
    return spread_draws(fewer, epsilon * plan.pairs / pairs, replace(plan, pairs=pairs), public_key, secret_key)


def _shrunk(plan: SubsetPlan, errors: list[FloatArray], share: float) -> list[FloatArray]:
    """From the rehearsed share of the rows to all: as many blocks of more rows have errors that go like 1/sqrt(n).

    Fewer blocks than planned have made the deepest point stray too far.
    """
    fewer = min(1.0, ROWS_OF_DEPTH / plan.blocks)
    return settled([e * math.sqrt(share) for e in errors], math.sqrt(fewer))


def _noise_alone(
    plan: CubeMean, n: int, columns: BoundedColumns, widths: FloatArray, facts: dict[str, Any]
) -> ExpectedError:
    """Cube noise by its exact law: nothing to rehearse, whatever the shape. In data units it needs no assumption."""
    scale = 1.0 / (float(plan.settings["epsilon_mean"]) * n)
    # Results are moved back between the bounds.
    sizes = [min(1.0, scale * quantile_of_noise(columns.d, share)) for share in (0.5, 0.95)]
    spread_out = tuple((scale * widths).tolist())
    typical, within_95 = (
        min(float(widths.max()), quantile_of_noise(columns.d, share, spread_out)) for share in (0.5, 0.95)
    )
    far = 1.0 - share_all_within(FAR / widths / scale) if widths.max() > FAR else 0.0
    in_units = [tuple(rounded(size * w) for size in sizes) for w in columns.widths.tolist()]
    exact = tuple(ColumnError((a, a), (b, b)) for a, b in in_units)
    error = over_shapes((noise_error(typical, within_95, far),), **facts, columns=exact)
    if facts["known"]:
        return error
    # In standard deviations it is anybody's guess: from bounds just around the data to those assumed.
    least = [rounded(NARROW * size) for size in sizes]
    return replace(
        error,
        typical=(min(least[0], rounded(typical)), rounded(typical)),
        within_95=(min(least[1], rounded(within_95)), rounded(within_95)),
    )


def spread_rehearsal(n: int, d: int, epsilon: Fraction, plan: SpreadPlan) -> Rehearsal:
    """The forecast that goes with a released spread."""
    return Rehearsal(_spread_error, (n, d, epsilon, plan))


def _spread_error(n: int, d: int, epsilon: Fraction, plan: SpreadPlan, *, sd: Any, missing: float) -> ExpectedError:
    """Errors as shares of the table's own standard deviation: bounds and units do not matter."""
    rows = min(n, max(1, MOST_CELLS // d))
    shapes = []
    for shape in SHAPES:
        errors = []
        for i in numbers(d):
            relative = np.clip(made_up(shape, rows, d, i, missing) / _WIDTH, -1.0, 1.0)
            draw = rehearsed_spread(
                relative, epsilon, plan, *(derived_key("rehearsal", p, i) for p in ("public", "secret"))
            )
            own = np.sqrt(own_means((relative - own_means(relative)) ** 2))
            ratios = [2.0 * 2.0 ** draw(derived_key("rehearsal", "draw", i, j)) for j in range(_DRAWS)]
            errors.append(np.array(ratios) / np.maximum(own, 1e-300) - 1.0)
        shapes.append(shape_error(shape, np.concatenate(errors)))
    facts = {"estimand": "standard deviation", "units": "shares of the standard deviation", "missing": missing}
    return over_shapes(tuple(shapes), **facts, sampling=rounded(sampling_error(n, missing) / math.sqrt(2.0)))


_WIDTH = 50.0  # half the width of the bounds in standard deviations; any will do
