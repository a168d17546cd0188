"""Which mechanisms these rows, bounds and budgets allow, and what to expect of each: predictions by formulas."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any, TypeVar

import numpy as np

from tukeydp.forecast.groups import TABLES, grouped_errors, subset_of_group
from tukeydp.forecast.mean import table_errors, widest_for
from tukeydp.forecast.predictions import (
    QUARTILES,
    Prediction,
    chance_of_lost_quartiles,
    chance_of_noise,
    fallen,
    level_epsilon,
    of_analytic_gaussian,
    of_centre,
    of_cube,
    of_huang_liang_yi,
    of_mean,
    of_quartiles,
    of_rem_mean,
)
from tukeydp.forecast.question import Option, Question, impossible, possible
from tukeydp.forecast.shapes import SHAPES
from tukeydp.mechanisms.cliff import MEANINGFUL, widest_bounds, widest_for_ranks
from tukeydp.mechanisms.clipped_mean import ClippedMean, clipped_plan
from tukeydp.mechanisms.grouped_centre import assumed_rows
from tukeydp.mechanisms.grouped_mean import GROUP_MECHANISMS, Asked, chosen_way
from tukeydp.mechanisms.grouped_ways import (
    CENTRE_SHARES,
    ClippedSumsOfGroups,
    GroupWay,
    ScaledGroups,
    SumsOfGroups,
    clipped_sums,
    group_ways,
)
from tukeydp.mechanisms.mean_plans import MeanPlan, TwoStepMean
from tukeydp.mechanisms.mean_ways import MECHANISMS, known_widths, mean_plan, ways_between
from tukeydp.mechanisms.mean_without_bounds import blocks_for_rem
from tukeydp.mechanisms.rem_choice import gaussian_strength
from tukeydp.mechanisms.scale_step import WIDEST, scale_epsilon
from tukeydp.mechanisms.two_step import DOUBT
from tukeydp.results.accuracy import FAR, Range, rounded
from tukeydp.trusted.account import ApproxDP
from tukeydp.trusted.parameters import FloatArray, ParameterError, show

# Means of groups in a plan: the ways of `td.mean(by=...)`, which of them it takes, and what to expect of each.
#
# The way is chosen by the mechanism's own function from the same public numbers. Errors are those of one group of equal
# size. For depth they are those of a table of that many rows with the epsilon that a group has; sums have formulas
# here, fitted to simulated releases (`benchmarks/plan.py --groups`).

# A mean of a group is a noised sum over a noised number: so much more error than by the sum alone, where the mean lies
# three quarters of the way from the middle of the bounds to an end. In the middle of the bounds it is none.
_QUOTIENT = 1.25
# Sums within a range that was found, as multiples of the way's own prediction: the least over the shapes, and the most
# by that prediction for the whole table in standard deviations. The less noise, the more what is clipped counts.
_CLIPPED, _CLIPPED_95 = 0.37, 1.1
_NOISE = (0.0003, 0.0008, 0.0045, 0.012, 0.04, 0.1)
_CLIPPED_MOST, _CLIPPED_MOST_95 = (5.0, 2.9, 2.2, 1.7, 1.2, 0.9), (22.0, 20.0, 10.0, 8.0, 6.0, 3.5)
_RANGE = 8.0  # standard deviations: a range that was found around bell-shaped columns


def group_options(question: Question, n: int, epsilon: Fraction) -> list[Option]:
    """The ways of `td.mean(by=...)`, each by its own name; all cost epsilon for all groups together."""
    named = [name for name in GROUP_MECHANISMS if name != "auto"]
    return [
        impossible(name, "mean", "pure", epsilon)
        if _too_few(name, question, n, epsilon)
        else _of_way(question, n, _way(question, n, epsilon, name))
        for name in named
    ]


def recommended_in_groups(question: Question, n: int, epsilon: Fraction) -> Option:
    """What `td.mean(by=...)` would take for these public numbers."""
    return _of_way(question, n, _way(question, n, epsilon, "auto"))


def _way(question: Question, n: int, epsilon: Fraction, name: str) -> GroupWay:
    asked = Asked(epsilon, None, name, None, None, question.known_sd, None)
    known = question.known_sd is not None
    return chosen_way(asked, n, assumed_rows(n, question.groups), epsilon, _believed(question), known)


def _too_few(name: str, question: Question, n: int, epsilon: Fraction) -> bool:
    """Whether "auto" would not think of it: the rows are too few to find anything."""
    known = question.known_sd is not None
    if name == "two-step" and not known:
        return scale_epsilon(n, epsilon) is None
    if name == "two-step":
        return clipped_sums(n, epsilon, _believed(question), CENTRE_SHARES) is None
    rows = assumed_rows(n, question.groups)
    return name not in group_ways(rows, epsilon, _believed(question), DOUBT if known else 1.0)


def _believed(question: Question) -> FloatArray:
    """Widths as `td.mean` takes them: by the standard deviations of all columns, or assumed."""
    assert question.columns is not None
    return known_widths(question.columns, question.known_sd)


def _of_way(question: Question, n: int, way: GroupWay) -> Option:
    rows = assumed_rows(n, question.groups)
    values = max(1, round(rows * (1.0 - question.missing)))
    pooled = isinstance(way, ClippedSumsOfGroups | ScaledGroups)  # nearly all of its time goes to all rows together
    return possible(
        question,
        way.mechanism,
        "mean",
        "pure",
        way.epsilon,
        of_group_way(way, n, values, question.widths),
        n if pooled else rows,
        widest=_widest(way, n, rows, question),
        runs=1 if pooled else question.groups,
    )


def _widest(way: GroupWay, n: int, rows: int, question: Question) -> float | None:
    subset = subset_of_group(way, rows)
    if subset is not None:
        return widest_for(subset, rows, question.d, question.missing)
    if isinstance(way, ClippedSumsOfGroups):
        return widest_for(TwoStepMean(way.epsilon, way.plan), n, question.d, question.missing)
    # With the scale found no range is looked for that cannot be found; sums between the bounds have no limit.
    return rounded(WIDEST) if isinstance(way, ScaledGroups) else None


def of_group_way(way: GroupWay, n: int, rows: int, widths: FloatArray) -> Prediction:
    """For groups of `rows` rows that have a value, in a table of n rows."""
    if isinstance(way, ScaledGroups):
        return of_group_way(way.way(widths), n, rows, widths)  # what it would find out is what is assumed here
    subset = subset_of_group(way, rows)
    if subset is not None:
        return of_mean(subset, rows, widths)
    if isinstance(way, ClippedSumsOfGroups):
        return _of_clipped_sums(way, n, rows, widths)
    assert isinstance(way, SumsOfGroups)
    return of_sums(float(way.epsilon) * rows, widths, 2 * len(widths))


def of_sums(strength: float, widths: FloatArray, coordinates: int) -> Prediction:
    """Cube noise on so many sums and numbers of values; `strength` is epsilon times rows."""
    law = of_cube(strength, widths, coordinates)
    typical, within_95 = (
        tuple(_quotient(size, width) for (size, _), width in zip(sizes, widths.tolist(), strict=True))
        for sizes in (law.typical, law.within_95)
    )
    return Prediction(typical, within_95, law.far, law_known=True)


def _quotient(size: float, width: float) -> Range:
    # A result is moved back between the bounds.
    return size, min(width, _QUOTIENT * size)


def _of_clipped_sums(way: ClippedSumsOfGroups, n: int, rows: int, widths: FloatArray) -> Prediction:
    d, middle = len(widths), way.error(rows, widths)
    most, most_95 = (
        float(np.interp(math.log(middle * rows / n), np.log(_NOISE), of)) for of in (_CLIPPED_MOST, _CLIPPED_MOST_95)
    )
    # A range that was found is never wider than the bounds, and a result lies in it.
    typical, within_95 = (
        tuple((min(w, low * middle), min(w, high * middle)) for w in widths.tolist())
        for low, high in ((_CLIPPED, most), (_CLIPPED_95, most_95))
    )
    lost = fallen(TwoStepMean(way.epsilon, way.plan), n, widths)
    noise = of_cube(float(way.for_sums) * rows, np.minimum(widths, _RANGE), 2 * d).far
    return Prediction(typical, within_95, 1.0 - (1.0 - lost) * (1.0 - noise))


# How often REM would refuse: its graded test on a bell-shaped population, by a few plans instead of all.

# Thresholds, as shares of the rows, and parts of epsilon for the test that are tried: the strength found is within a
# third of a nat of the best one's. More cost time.
_THRESHOLDS, _PARTS = (0.05, 0.08, 0.11, 0.14, 0.17, 0.2, 0.25), (0.25, 0.325, 0.375, 0.425)
# The plan is chosen for this strength first (nats), and then for other tables: no more is counted on.
_SURE = 1.2
# Part of epsilon that the draw has; between 0.6 where rows just suffice and 0.9 where they abound.
DRAW = Fraction(13, 20)
# Log-normal columns are refused like bell-shaped ones with fewer rows: by so much for each column, up to so much.
# Fitted to runs with 2, 5 and 10 columns.
_SKEWED, _MOST = 0.025, 0.3


def chance_of_refusal(rows: int, d: int, epsilon: float, delta: float, rows_of_block: float = 1.0) -> Range:
    """For bell-shaped columns, and for log-normal ones: they are refused more often, above all if there are many.

    For means of blocks `rows` are the blocks. Skewness of block means falls like one over the root of their rows.
    """
    fewer = max(1, int(rows * (1.0 - min(_MOST, _SKEWED * d) / math.sqrt(rows_of_block))))
    bell = _chance(rows, d, epsilon, delta)
    return bell, max(bell, _chance(fewer, d, epsilon, delta))


@lru_cache(maxsize=4096)
def _chance(rows: int, d: int, epsilon: float, delta: float) -> float:
    strengths = [
        (gaussian_strength(rows, d, max(1, round(share * rows)), part * epsilon, (1 - part) * epsilon, delta), part)
        for share in _THRESHOLDS
        for part in _PARTS
    ]
    strength, part = max(strengths)
    return 1.0 - _graded(min(strength, _SURE), 1.0 / part)


def _graded(log_strength: float, rho: float) -> float:
    """The graded test's probability of a release (docs/proofs/rem.md, section 4), in floats."""
    turn = math.log(rho / (1.0 + rho))
    if log_strength <= turn:
        return math.exp(log_strength)
    return 1.0 - math.exp(rho * (turn - log_strength)) / (1.0 + rho)


# Which mechanisms these rows, bounds and budgets allow, and what to expect of each.

# Odds below which depth is called too far over the cliff to be an option: those at which bounds are called meaningful.
_MOST_NOISE = 1.0 / (1.0 + math.exp(MEANINGFUL))
_MOST_REFUSED = 0.5  # chance of a refusal above which REM is called impossible


def all_options(question: Question, n: int, epsilon: Fraction) -> list[Option]:
    """Every mechanism that these inputs allow; the mean's first."""
    if question.groups > 1:
        centres = _centres(question, assumed_rows(n, question.groups), epsilon)
        return [*group_options(question, n, epsilon), *centres]
    found = []
    if question.columns is not None:
        found += mean_options(question, n, epsilon)
    if question.delta is not None:
        found += [*_with_delta(question, n, epsilon), rem_mean(question, n, epsilon)]
    return [*found, *_centres(question, n, epsilon), *_quartiles(question, n, epsilon)]


def recommended_mean(question: Question, n: int, epsilon: Fraction) -> Option:
    """What `td.mean` would take for these public numbers."""
    if question.groups > 1:
        return recommended_in_groups(question, n, epsilon)
    if question.columns is None:
        return rem_mean(question, n, epsilon)
    return of_plan(question, n, mean_plan(n, question.columns, epsilon, sd=question.known_sd))


def mean_options(question: Question, n: int, epsilon: Fraction) -> list[Option]:
    """The ways of `td.mean` between bounds, each by its own plan, and the one it takes if that is none of them."""
    assert question.columns is not None
    found = []
    for name in MECHANISMS:
        if name == "auto":
            continue
        if too_few(name, question, n, epsilon):
            found.append(impossible(name, "mean", "pure", epsilon))
        else:
            plan = mean_plan(n, question.columns, epsilon, mechanism=name, sd=question.known_sd)
            found.append(of_plan(question, n, plan))
    chosen = recommended_mean(question, n, epsilon)
    return found if chosen.mechanism in [option.mechanism for option in found] else [chosen, *found]


def too_few(name: str, question: Question, n: int, epsilon: Fraction) -> bool:
    """Whether "auto" would not think of it: depth would find nothing."""
    assert question.columns is not None
    known = question.known_sd is not None
    widths = question.widths if known else _assumed(question)
    if name == "two-step" and not known:
        return scale_epsilon(n, epsilon) is None
    return name not in ways_between(question.columns, n, epsilon, widths, known)


def _assumed(question: Question) -> FloatArray:
    assert question.columns is not None
    return known_widths(question.columns, None)


def of_plan(question: Question, n: int, plan: MeanPlan) -> Option:
    values = max(1, round(n * (1.0 - question.missing)))
    return possible(
        question,
        plan.mechanism,
        "mean",
        "pure",
        plan.epsilon,
        of_mean(plan, values, question.widths),
        n,
        widest=widest_for(plan, n, question.d, question.missing),
    )


def _with_delta(question: Question, n: int, epsilon: Fraction) -> list[Option]:
    """Baselines. A missing cell would count at a centre, and pull the mean there: not offered then."""
    if question.columns is None or question.missing or question.delta is None:
        return []
    guarantee = ApproxDP(epsilon, question.delta)
    gaussian = of_analytic_gaussian(n, guarantee, question.widths)
    ball = of_huang_liang_yi(n, guarantee, question.d)
    found = [possible(question, "analytic-gaussian", "mean", "approximate", epsilon, gaussian, n)]
    name = "huang-liang-yi"
    if ball is None:
        return [*found, impossible(name, "mean", "approximate", epsilon)]
    return [*found, possible(question, name, "mean", "approximate", epsilon, ball, n)]


def rem_mean(question: Question, n: int, epsilon: Fraction) -> Option:
    """`td.mean` without bounds: REM on means of blocks."""
    assert question.delta is not None
    guarantee = ApproxDP(epsilon, question.delta)
    blocks = min(n, blocks_for_rem(question.d, guarantee))
    refused = chance_of_refusal(blocks, question.d, float(epsilon), float(question.delta), n / blocks)
    name = "rem"
    if refused[0] > _MOST_REFUSED:
        return impossible(name, "mean", "approximate", epsilon, refused)
    values = max(1, round(n * (1.0 - question.missing)))
    prediction = of_rem_mean(values, question.d, min(blocks, values), DRAW * epsilon)
    return possible(question, name, "mean", "approximate", epsilon, prediction, n, refused=refused)


def _centres(question: Question, n: int, epsilon: Fraction) -> list[Option]:
    """Rows with a missing cell count nowhere."""
    d, size = question.d, float(epsilon)
    complete = max(1, math.floor(n * (1.0 - question.missing) ** d))
    found = []
    if question.columns is not None:
        noise = chance_of_noise(complete, d, size, question.width)
        if noise > _MOST_NOISE:
            found.append(impossible("boxem", "centre", "pure", epsilon))
        else:
            widest = rounded(widest_bounds(complete, d, size))
            prediction = of_centre(complete, d, size, noise)
            found.append(possible(question, "boxem", "centre", "pure", epsilon, prediction, n, widest=widest))
    if question.delta is not None and question.groups == 1:
        refused = chance_of_refusal(complete, d, size, float(question.delta))
        if refused[0] > _MOST_REFUSED:
            found.append(impossible("rem", "centre", "approximate", epsilon, refused))
        else:
            prediction = of_centre(complete, d, size * float(DRAW), 0.0)
            found.append(possible(question, "rem", "centre", "approximate", epsilon, prediction, n, refused=refused))
    return found


def _quartiles(question: Question, n: int, epsilon: Fraction) -> list[Option]:
    """`td.quantiles` as it is by default; it takes bounds, and knows no groups."""
    if question.columns is None:
        return []
    values, name = max(1, round(n * (1.0 - question.missing))), "quantiles"
    lost = chance_of_lost_quartiles(values, question.d, epsilon, question.widths)
    if lost > _MOST_NOISE:
        return [impossible(name, "quartiles", "pure", epsilon)]
    widest = rounded(widest_for_ranks(values, QUARTILES, level_epsilon(question.d, epsilon)))
    prediction = of_quartiles(values, question.d, epsilon, lost)
    return [possible(question, name, "quartiles", "pure", epsilon, prediction, n, widest=widest)]


# The other direction: the smallest epsilon, or the fewest rows, from which on a wished error is kept.
#
# By the same predictions as the plan itself, and checked by them. Predictions may step up where `td.mean` changes its
# mechanism: an answer holds for every larger epsilon (number of rows) that is looked at, too.

# Answers have three digits, so many to a factor of ten; more would pretend to precision. The first look is at every
# tenth of them.
_PER_DECADE, _STEP = 60, 6
_SMALLEST_EPSILON, _LARGEST_EPSILON = -3, 1  # powers of ten: more than 10 protects nobody by much
_FEWEST_ROWS, _MOST_ROWS = 1, 8
# Shares of releases far off, or refused, above which a wish for 95 of 100 is not met.
_TOO_OFTEN = 0.05

T = TypeVar("T", int, Fraction)


def epsilon_for(question: Question, n: int) -> Fraction:
    """The smallest epsilon that n rows need."""
    places = range(_SMALLEST_EPSILON * _PER_DECADE, _LARGEST_EPSILON * _PER_DECADE + 1)
    found = _first([_epsilon(i) for i in places], lambda epsilon: keeps(question, n, epsilon))
    if found is None:
        rule = f"must be within reach: {n} rows do not keep it even with epsilon = {10**_LARGEST_EPSILON}; plan for"
        raise ParameterError("error", f"{rule} more rows, narrower bounds or a larger error", said(question))
    return found


def rows_for(question: Question, epsilon: Fraction) -> int:
    """The fewest rows that epsilon needs; of all groups together."""
    places = range(_FEWEST_ROWS * _PER_DECADE, _MOST_ROWS * _PER_DECADE + 1)
    counts = sorted({question.groups * _rows(i) for i in places})
    found = _first(counts, lambda n: keeps(question, n, epsilon))
    if found is None:
        rule = f"must be within reach: {counts[-1]:,} rows do not keep it with epsilon = {show(epsilon)}; plan for"
        raise ParameterError("error", f"{rule} a larger epsilon or a larger error", said(question))
    return found


def keeps(question: Question, n: int, epsilon: Fraction) -> bool:
    """Whether 95 of 100 values that `td.mean` releases are predicted to be as close as wished, in every column."""
    return meets(question, recommended_mean(question, n, question.left(n, epsilon)))


def meets(question: Question, option: Option) -> bool:
    lost = max(option.far or 0.0, 0.0 if option.refused is None else option.refused[1])
    if not option.possible or lost > _TOO_OFTEN:
        return False
    for wish, column in zip(question.wishes, option.columns, strict=True):
        if wish is None:
            continue
        within = column.within_95_in_units if wish.in_units else column.within_95
        if within is None or within[1] > wish.size:
            return False
    return True


def said(question: Question) -> str:
    """The wish in words."""
    wishes = zip(question.labels, question.wishes, strict=True)
    sizes = {
        f"{wish.size:g} in units of {name}" if wish.in_units else f"{wish.size:g} standard deviations"
        for name, wish in wishes
        if wish is not None
    }
    return " and ".join(sorted(sizes))


def _first(places: Sequence[T], kept: Callable[[T], bool]) -> T | None:
    """The smallest place from which on all are kept: those of a first look, and bisection below it."""
    looked = [*range(0, len(places), _STEP)]
    if looked[-1] != len(places) - 1:
        looked.append(len(places) - 1)
    low, high = -1, len(places)
    for i in reversed(looked):
        if not kept(places[i]):
            low = i
            break
        high = i
    if high == len(places):
        return None
    while low + 1 < high:
        middle = (low + high) // 2
        low, high = (low, middle) if kept(places[middle]) else (middle, high)
    return places[high]


def _epsilon(place: int) -> Fraction:
    return Fraction(f"{10.0 ** (place / _PER_DECADE):.3g}")


def _rows(place: int) -> int:
    return int(float(f"{10.0 ** (place / _PER_DECADE):.3g}"))


# What to expect of exactly what will be released: a mean beside its interval, or a summary. They share epsilon.


def option_of_mean(question: Question, n: int, epsilon: Fraction, confidence: Any = None) -> Option:
    """`td.mean` between bounds; an interval takes part of epsilon."""
    return recommended_mean(question, n, epsilon) if confidence is None else _of_clipped(question, n, epsilon)


def option_of_summary(question: Question, n: int, epsilon: Fraction, *, grouped: bool = False) -> Option:
    """`td.summary` between bounds: its means, beside standard deviations and numbers of records."""
    return _of_clipped(question, n, epsilon, spread=True, grouped=grouped)


def _of_clipped(
    question: Question, n: int, epsilon: Fraction, *, spread: bool = False, grouped: bool = False
) -> Option:
    assert question.columns is not None
    groups = question.groups if grouped or question.groups > 1 else None
    widths = None if question.known_sd is None else question.widths.tolist()
    options: dict[str, Any] = {"groups": groups, "widths": widths, "interval": True, "spread": spread}
    plan = clipped_plan(n, question.columns, epsilon, **options)
    rows = n if groups is None else assumed_rows(n, groups)
    found = clipped_prediction(plan, n, rows, tuple(question.widths.tolist()), question.missing)
    return possible(question, plan.mechanism, "mean", "pure", epsilon, found, rows)


@lru_cache(maxsize=64)
def clipped_prediction(plan: ClippedMean, n: int, rows: int, widths: tuple[float, ...], missing: float) -> Prediction:
    """By the plan itself on made-up tables: errors of each column, from the least to the most over the shapes."""
    wide = np.array(widths)
    halves, most, far = [], [], 0.0
    for shape in SHAPES:
        if shape.few_values:
            continue
        tables = (
            table_errors(plan, n, wide, shape, missing)
            if plan.groups is None
            else [grouped_errors(plan, n, rows, wide, shape, missing, i) for i in range(TABLES)]
        )
        errors = np.abs(np.concatenate(tables))
        halves.append(np.median(errors, axis=0))
        most.append(np.quantile(errors, 0.95, axis=0))
        far = max(far, float((errors > FAR).any(axis=1).mean()))
    typical, within_95 = (
        tuple((float(low), float(high)) for low, high in zip(np.min(found, axis=0), np.max(found, axis=0), strict=True))
        for found in (halves, most)
    )
    return Prediction(typical, within_95, far)
