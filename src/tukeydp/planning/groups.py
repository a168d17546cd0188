"""Means of groups in a plan: the ways of `td.mean(by=...)`, which of them it takes, and what to expect of each.

The way is chosen by the mechanism's own function from the same public numbers. Errors are those of one group of equal
size. For depth they are those of a table of that many rows with the epsilon that a group has; sums have formulas here,
fitted to simulated releases (`benchmarks/plan.py --groups`).
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from tukeydp.accuracy import Range, rounded
from tukeydp.arrays import FloatArray
from tukeydp.mechanisms.grouped_centre import assumed_rows
from tukeydp.mechanisms.grouped_clipping import CENTRE_SHARES, ClippedSumsOfGroups, ScaledGroups, clipped_sums
from tukeydp.mechanisms.grouped_mean import GROUP_MECHANISMS, Asked, chosen_way
from tukeydp.mechanisms.grouped_rehearsal import subset_of_group
from tukeydp.mechanisms.grouped_ways import GroupWay, SumsOfGroups, group_ways
from tukeydp.mechanisms.mean_choice import known_widths
from tukeydp.mechanisms.mean_plans import TwoStepMean
from tukeydp.mechanisms.mean_rehearsal import widest_for
from tukeydp.mechanisms.scale_step import WIDEST, scale_epsilon
from tukeydp.mechanisms.two_step import DOUBT
from tukeydp.planning.predictions import Prediction, fallen, of_cube, of_mean
from tukeydp.planning.question import Question
from tukeydp.planning.records import Option, impossible, possible

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
