"""The other direction: the smallest epsilon, or the fewest rows, from which on a wished error is kept.

By the same predictions as the plan itself, and checked by them. Predictions may step up where `td.mean` changes its
mechanism: an answer holds for every larger epsilon (number of rows) that is looked at, too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TypeVar

from tukeydp.errors import ParameterError
from tukeydp.parameters import show
from tukeydp.planning.options import recommended_mean
from tukeydp.planning.question import Question
from tukeydp.planning.records import Option

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
    return meets(question, recommended_mean(question, n, epsilon))


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
