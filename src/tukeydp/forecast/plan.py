"""`td.plan`: what a release would be like, before there are any data."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

from tukeydp.blas import on_one_thread
from tukeydp.forecast.options import all_options, epsilon_for, recommended_mean, rows_for
from tukeydp.forecast.plan_words import meaning, recommendation
from tukeydp.forecast.question import PlanFacts, Question, asked, checked_budget, checked_n
from tukeydp.results.accuracy import sampling_error
from tukeydp.trusted.parameters import ParameterError, brief

_USUAL_EPSILON = Fraction(1)  # where neither epsilon nor an error is given; the plan says so


class Plan(PlanFacts):
    """What to expect of each mechanism, for public numbers. It involves no data, and costs no privacy.

    Print it; `recommendation`, `options`, `recommended` and the other fields are those of `PlanFacts`.
    """

    def __str__(self) -> str:
        from tukeydp.forecast.plan_words import as_text

        return as_text(self)

    def _repr_html_(self) -> str:
        from tukeydp.forecast.plan_words import as_html

        return as_html(self)

    def plot(self, file: Any = None, *, against: str = "rows") -> Any:
        """Draw the predicted error of each mechanism, and the sampling error, against "rows" or "epsilon".

        With `file` the picture is written there too: .png, .svg or .html. The latter two follow the reader's dark or
        light scheme; .html has the whole plan in it.

        Returns
        -------
        A matplotlib `Figure`, bound to no window. Needs matplotlib: ``pip install "tukeydp[plots]"``.
        """
        from tukeydp.forecast.plan_words import checked_path, drawn, written

        path = None if file is None else checked_path(file)
        figure = drawn(self, against)
        if path is not None:
            written(self, figure, path)
        return figure


@on_one_thread
def plan(
    n: Any = None,
    *,
    d: Any = None,
    columns: Any = None,
    epsilon: Any = None,
    error: Any = None,
    delta: Any = None,
    bounds: Any = None,
    sd: Any = None,
    by: Any = None,
    missing: Any = None,
) -> Plan:
    """Say what accuracy each mechanism would have, and which to take, before there are any data.

    Of `n`, `epsilon` and `error` give two: the third is found. With n alone epsilon is 1.

    Parameters
    ----------
    n
        Rows: persons.
    d, columns
        The number of columns; or their names, or a dict of name -> (lower, upper).
    epsilon
        Privacy budget, > 0.
    error
        A wish: 95 of 100 released means shall be this close to the table's own mean. A number is in standard deviations
        of a column; ``{"systolic": 2}`` is in that column's units and needs its `sd`. It is about what privacy adds;
        the sampling error comes on top.
    delta
        For mechanisms that need one: without bounds, and the baselines.
    bounds, sd
        As for `td.mean`; also by name, `sd` for some columns only (`td.mean` takes it for all or none).
    by
        A number of groups of about equal size: predictions for the mean of each of them by `td.mean(by=..., keys=...)`,
        which takes bounds. All groups together cost epsilon once.
    missing
        Share of cells that are feared to be missing.

    Returns
    -------
    Plan
        Print it; `.recommendation`, `.options`, `.to_dict()`, `.to_json()`, `.plot()`.

    Privacy
    -------
    No data are involved: plan as often as you like, with numbers that are known without the data.

    Cost
    ----
    Well below a second for bounds, about one with delta and a wish. The predictions are formulas, fitted to simulated
    releases: ranges over five shapes of columns (docs/guide/planning.md).

    Examples
    --------
    >>> import tukeydp as td
    >>> plan = td.plan(n=300, columns={"systolic": (60, 240), "pulse": (30, 200)}, epsilon=1)
    >>> plan.recommended.mechanism, plan.recommended.estimand
    ('subset', 'mean')
    >>> print(plan.meaning)
    Whoever would guess something about one person with 50 % can be sure to at most 73 % after the release.
    >>> td.plan(d=2, bounds=(0, 100), epsilon=1, error=0.1).solved
    'rows'
    """
    _require_two_of_three(n, epsilon, error)
    budget = None if epsilon is None else checked_budget(epsilon)
    rows = None if n is None else checked_n(n)
    question = asked(d, columns, bounds, delta, sd, error, by, missing, budget)
    solved = None
    if rows is not None and rows < question.groups:
        raise ParameterError("n", f"must be at least the number of groups, {question.groups}", rows)
    if question.wished and rows is None:
        assert budget is not None
        solved, rows = "rows", rows_for(question, budget)
    elif question.wished:
        assert rows is not None
        solved, budget = "epsilon", epsilon_for(question, rows)
    assert rows is not None
    usual = budget is None
    return _planned(question, rows, _USUAL_EPSILON if budget is None else budget, solved, usual)


def _require_two_of_three(n: Any, epsilon: Any, error: Any) -> None:
    if n is None and error is None:
        raise ParameterError("n", "must be given: how many rows? (or epsilon and error, to find out)", "none")
    if n is None and epsilon is None:
        raise ParameterError("n", "or epsilon must be given with error: the other is found", "neither")
    if n is not None and epsilon is not None and error is not None:
        rule = "must be left out with n and epsilon: of the three, two are given and the third is found"
        raise ParameterError("error", rule, brief(error))


def _planned(question: Question, n: int, epsilon: Fraction, solved: str | None, usual: bool) -> Plan:
    left = question.left(n, epsilon)
    options = [replace(option, epsilon=epsilon) for option in all_options(question, n, left)]
    chosen = replace(recommended_mean(question, n, left), epsilon=epsilon)
    return Plan(
        n=n,
        epsilon=epsilon,
        recommendation=recommendation(question, chosen, options),
        meaning=meaning(epsilon),
        recommended=chosen,
        options=options,
        sampling=sampling_error(max(1, n // question.groups), question.missing),
        solved=solved,
        usual=usual,
        question=question,
    )
