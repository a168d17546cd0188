"""What to expect of exactly what will be released: a mean beside its interval, or a summary. They share epsilon."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

from tukeydp.accuracy import Range
from tukeydp.data.bounded import BoundedColumns
from tukeydp.mechanisms.grouped_centre import assumed_rows
from tukeydp.mechanisms.grouped_sums import GroupPlan
from tukeydp.mechanisms.interval_plan import interval_plan
from tukeydp.mechanisms.interval_runs import RemMean
from tukeydp.mechanisms.mean_choice import mean_plan
from tukeydp.planning.groups import of_sums
from tukeydp.planning.options import of_plan, recommended_mean
from tukeydp.planning.question import Question
from tukeydp.planning.records import Option, possible
from tukeydp.planning.summary import COUNTS, SHARES


def option_of_mean(question: Question, n: int, epsilon: Fraction, confidence: Any = None) -> Option:
    """`td.mean` between bounds; an interval without public standard deviations takes part of epsilon. Raises as it."""
    if confidence is None or question.groups > 1:
        return recommended_mean(question, n, epsilon)
    assert question.columns is not None
    plan = interval_plan(n, question.columns, epsilon, confidence=confidence, sd=question.known_sd).spending.mean
    assert not isinstance(plan, RemMean)  # which is for columns without bounds
    return of_plan(question, n, plan)


def option_of_summary(
    question: Question, n: int, epsilon: Fraction, confidence: Any = None, *, grouped: bool = False
) -> Option:
    """`td.summary` between bounds, its means: by noised sums in groups, else with what numbers of values leave."""
    assert question.columns is not None
    measured = [j for j in range(question.d) if not question.columns.between_0_and_1(j)]
    if grouped:
        squared = () if question.known_sd is not None else tuple(measured)
        plan = GroupPlan(epsilon, question.groups, question.d, squared)
        rows = assumed_rows(n, question.groups)
        found = of_sums(float(epsilon) * rows, question.widths, plan.coordinates)
        return possible(question, "sums", "mean", "pure", epsilon, found, rows, runs=question.groups)
    shares = [j for j in range(question.d) if j not in measured]
    for_shares = Fraction(0) if not shares else SHARES * epsilon if measured else epsilon
    sums = of_sums(float(for_shares) * n, question.widths[shares], 2 * len(shares)) if shares else None
    if not measured:
        assert sums is not None
        return possible(question, "sums", "mean", "pure", epsilon, sums, n)
    some = _of_columns(question, measured)
    assert some.columns is not None
    for_means = epsilon - for_shares - COUNTS * epsilon
    if confidence is None:
        means = of_plan(some, n, mean_plan(n, some.columns, for_means, sd=some.known_sd))
    else:
        means = option_of_mean(some, n, for_means, confidence)
    if sums is None:
        return means
    others = _of_columns(question, shares)
    beside = possible(others, "sums", "mean", "pure", for_shares, sums, n)
    columns = dict(zip([*measured, *shares], [*means.columns, *beside.columns], strict=True))
    return replace(
        means,
        typical=_spanned(means.typical, beside.typical),
        within_95=_spanned(means.within_95, beside.within_95),
        columns=tuple(columns[j] for j in range(question.d)),
        law_known=False,
    )


def _spanned(one: Range | None, other: Range | None) -> Range:
    assert one is not None
    assert other is not None
    return min(one[0], other[0]), max(one[1], other[1])


def _of_columns(question: Question, places: list[int]) -> Question:
    """The same about some of the columns."""
    assert question.columns is not None
    lower, upper = (tuple(ends[j] for j in places) for ends in (question.columns.lower, question.columns.upper))
    return replace(
        question,
        d=len(places),
        names=tuple(question.labels[j] for j in places),
        columns=BoundedColumns(lower, upper),
        sd=tuple(question.sd[j] for j in places),
        wishes=tuple(question.wishes[j] for j in places),
    )
