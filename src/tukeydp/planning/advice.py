"""The recommendation in a sentence, and what epsilon means: words about public numbers.

The rule is the paper's (Conclusions, "Selecting an Algorithm"): on small tables without strong knowledge of where the
data are, depth may be the only way; REM needs no such knowledge, BoxEM hardly minds how weak it is; with more rows or
strong knowledge noise on a clipped mean is viable; depth is robust besides.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from tukeydp.accuracy import Range
from tukeydp.parameters import show
from tukeydp.planning.question import Question
from tukeydp.planning.records import Option

# In standard deviations: a mean that is off by so much in 95 of 100 says little. In words only.
USELESS = 0.5
_MUCH_CLOSER = 1.5  # how many times closer a mechanism with delta has to come to be named
_LARGEST_EPSILON = 30  # above, the guess is certain to all digits shown

_WHY = {
    "subset": "few rows between wide bounds are where depth comes closest (here: of means of blocks of rows)",
    "two-step": "there are rows enough to find out where the data are first, and to clip there",
    "cube": "noise on a mean clipped at the bounds comes closest here",
    "rem": "without bounds, depth with a test before it is the way (here: of means of blocks of rows); it may refuse",
}
_WHY_IN_GROUPS = {
    "subset": _WHY["subset"],
    "rows": "depth of single rows comes closest here, a median: no mean where columns are skewed or yes/no",
    "two-step": "there are rows enough to find out where the data are first, from all groups together, and to clip "
    "there",
    "cube": "noised sums between the bounds come closest here",
}
# Without public standard deviations what follows the scale is not known beforehand.
_SCALE_FIRST = (
    "how wide the bounds are is found out first, from all groups together, and sums are clipped where the data are if "
    "the rows suffice"
)


def recommendation(question: Question, chosen: Option, options: Sequence[Option]) -> str:
    call = _call(question)
    if not chosen.possible or chosen.within_95 is None:
        return f"For the mean: nothing yet. {_what_would_help(question, options)}"
    why = _why(question, chosen.mechanism)
    depth = [option for option in options if option.mechanism in ("subset", "rows", "two-step")]
    if chosen.mechanism == "cube" and depth and not any(option.possible for option in depth):
        why = "the rows are too few for depth, so noise on a mean clipped at the bounds is the only way"
    sentence = f"For the mean: {call}, which takes {chosen.mechanism}: {why}."
    if chosen.within_95[1] > USELESS:
        sentence += f" Expect little of it: {_what_would_help(question, options)}"
    return " ".join([sentence, *_closer(chosen, options), *_robust(options)])


def _why(question: Question, mechanism: str) -> str:
    if question.groups > 1 and mechanism == "two-step" and question.known_sd is None:
        return _SCALE_FIRST
    reasons = _WHY_IN_GROUPS if question.groups > 1 else _WHY
    return reasons.get(mechanism, "it is predicted to come closest")


def _call(question: Question) -> str:
    if question.groups > 1:
        sd = "" if question.known_sd is None else ", sd"
        return f"td.mean with bounds{sd}, by and keys (tukeydp mean --by)"
    given = "bounds" if question.columns is not None else "delta"
    sd = " and sd" if question.columns is not None and question.known_sd is not None else ""
    return f"td.mean with {given}{sd} (tukeydp mean)"


def _what_would_help(question: Question, options: Sequence[Option]) -> str:
    first = "bounds, " if question.columns is None else "narrower bounds, "
    known = "" if question.known_sd is not None or question.columns is None else ", standard deviations that are known"
    groups = "fewer groups, " if question.groups > 1 else ""
    return f"more rows, fewer columns, {groups}{first}a larger epsilon{known} would help."


def _closer(chosen: Option, options: Sequence[Option]) -> list[str]:
    """Mechanisms that ask for a delta, where they are much better."""
    if chosen.guarantee == "approximate" or chosen.within_95 is None:
        return []
    means = [option for option in options if option.estimand == "mean" and option.guarantee == "approximate"]
    sizes = [(option.within_95[1], option.mechanism) for option in means if option.within_95 is not None]
    among = [size for size in sizes if size[0] * _MUCH_CLOSER < chosen.within_95[1]]
    return [f"With delta, {min(among)[1]} should come closer, under a weaker promise."] if among else []


def _robust(options: Sequence[Option]) -> list[str]:
    centres = {option.mechanism for option in options if option.estimand == "centre" and option.possible}
    name = "boxem" if "boxem" in centres else "rem" if "rem" in centres else None
    if name is None:
        return []
    return [f"For a robust centre, unmoved by a fifth of outliers but no mean where columns are skewed: td.{name}."]


def meaning(epsilon: Fraction) -> str:
    """What epsilon does to a guess about one person: odds grow by at most e^epsilon.

    >>> meaning(Fraction(1))
    'Whoever would guess something about one person with 50 % can be sure to at most 73 % after the release.'
    """
    size = float(epsilon)
    share = 1.0 / (1.0 + math.exp(-size)) if size < _LARGEST_EPSILON else 1.0
    percent = f"{100 * share:.3g}" if share > 0.995 else f"{100 * share:.0f}"
    guess = "Whoever would guess something about one person with 50 %"
    return f"{guess} can be sure to at most {percent} % after the release."


def between(pair: Range | None) -> str:
    if pair is None:
        return "-"
    return f"{pair[0]:g}" if pair[0] == pair[1] else f"{pair[0]:g} to {pair[1]:g}"


def counted(epsilon: Fraction, delta: Fraction | None) -> str:
    return f"epsilon = {show(epsilon)}" + ("" if delta is None else f", delta = {show(delta)}")
