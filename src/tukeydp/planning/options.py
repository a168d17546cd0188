"""Which mechanisms these rows, bounds and budgets allow, and what to expect of each."""

from __future__ import annotations

import math
from fractions import Fraction

from tukeydp.accuracy import rounded
from tukeydp.arrays import FloatArray
from tukeydp.mechanisms.cliff import MEANINGFUL, widest_bounds, widest_for_ranks
from tukeydp.mechanisms.grouped_centre import assumed_rows
from tukeydp.mechanisms.mean_choice import MECHANISMS, known_widths, mean_plan
from tukeydp.mechanisms.mean_plans import MeanPlan
from tukeydp.mechanisms.mean_rehearsal import widest_for
from tukeydp.mechanisms.mean_ways import ways
from tukeydp.mechanisms.mean_without_bounds import blocks_for_rem
from tukeydp.mechanisms.scale_step import scale_epsilon
from tukeydp.planning.groups import group_options, recommended_in_groups
from tukeydp.planning.predictions import (
    QUARTILES,
    chance_of_lost_quartiles,
    chance_of_noise,
    level_epsilon,
    of_analytic_gaussian,
    of_centre,
    of_huang_liang_yi,
    of_mean,
    of_quartiles,
    of_rem_mean,
)
from tukeydp.planning.question import Question
from tukeydp.planning.records import Option, impossible, possible
from tukeydp.planning.refusals import DRAW, chance_of_refusal
from tukeydp.privacy import ApproxDP

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
    return name not in ways(n, question.d, epsilon, widths, known)


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
