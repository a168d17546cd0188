"""Parameters, checked: numbers as exact rationals, integers, choices; and the errors that a mechanism may raise."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from numbers import Rational, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

# The errors a mechanism may raise: one, and a kind of it.

# What is passed on, whoever's code it comes from. All else that a foreign package raises may quote cells, also what is
# no Exception, such as a panic of polars.
INTERRUPTIONS = (KeyboardInterrupt, SystemExit, GeneratorExit)
# What an error says that ends a run after it has paid.
SPENT = "this run's budget is spent, and nothing was released"


def printable(text: str) -> str:
    """Line ends, codes that terminals obey and marks that turn the direction of writing become visible.

    >>> printable("a\\tb"), printable("größe"), printable("\\u202egpj")
    ('a\\\\tb', 'größe', '\\\\u202egpj')
    """
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def lines_of_text(text: str) -> str:
    """For a terminal: line ends stay, all else that it would obey becomes visible."""
    return "\n".join(printable(line) for line in text.split("\n"))


class ParameterError(ValueError):
    """A parameter breaks a rule. The message names the parameter, the rule and the value, never the data."""

    def __init__(self, parameter: str, rule: str, value: object) -> None:
        self.parameter, self.rule, self.value = parameter, rule, value
        super().__init__(lines_of_text(f"{parameter} {rule}; got {value}."))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.parameter, self.rule, self.value)


class BudgetExceeded(ParameterError):
    """A release would cost more than its accountant has left. Nothing was spent, and the data were not touched."""


# The two kinds of arrays that are passed around.

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]


# Parameters, checked: numbers as exact rationals, integers, choices. Each rule is stated in one place.

# A rational is kept exactly, so its digits are work: "1e1000000" would hang before any check could speak.
# Every float passes both limits.
_MOST_DIGITS = 350
_MOST_BITS = 1200

# All lower and all upper ends, one of each per column.
Bounds = tuple[tuple[Fraction, ...], tuple[Fraction, ...]]


def rational(parameter: str, value: Any) -> Fraction:
    """Return `value` as an exact rational; a float means its shortest decimal, so 0.1 is 1/10.

    >>> rational("epsilon", 0.1)
    Fraction(1, 10)
    """
    error = ParameterError(parameter, "must be a finite number in the range of a float", brief(value))
    if isinstance(value, bool) or not isinstance(value, Real | Decimal | str):
        raise error
    if isinstance(value, str) and not _modest(value):
        raise error
    if isinstance(value, Decimal) and value.is_finite() and abs(value.adjusted()) > _MOST_DIGITS:
        raise error
    try:
        if isinstance(value, Rational):
            number = Fraction(int(value.numerator), int(value.denominator))  # numpy's integers would overflow
        elif isinstance(value, str | Decimal):
            number = Fraction(value)
        else:
            # repr of a numpy float names its type; repr of the equal-precision Python float does not.
            number = Fraction(repr(float(value)) if type(value).__name__ != "float32" else str(value))
        float(number)
    except (ValueError, OverflowError, ZeroDivisionError, TypeError):
        raise error from None
    if max(number.numerator.bit_length(), number.denominator.bit_length()) > _MOST_BITS:
        raise error
    return number


def brief(value: Any) -> str:
    """The start of a parameter's repr, for messages."""
    try:
        text = repr(value)
    except ValueError:  # an integer with too many digits to print
        text = f"a {type(value).__name__}"
    return text if len(text) <= 60 else text[:57] + "..."


def _modest(text: str) -> bool:
    """Whether a decimal's exponent is small enough to be written out."""
    exponent = text.strip().lower().partition("e")[2]
    try:
        return len(text) <= _MOST_DIGITS and abs(int(exponent or "0")) <= _MOST_DIGITS
    except ValueError:
        return False


def positive_rational(parameter: str, value: Any) -> Fraction:
    if isinstance(value, float) and math.isnan(value):
        raise ParameterError(parameter, "must be > 0", "NaN")
    number = rational(parameter, value)
    if number <= 0:
        raise ParameterError(parameter, "must be > 0", value)
    return number


def checked_integer(parameter: str, value: Any, *, least: int | None = None, most: int | None = None) -> int:
    """`value` as an integer from `least` to `most`, where these are given; numpy's integers count, True and 3.0 do not.

    >>> checked_integer("level", 3, least=1)
    3
    """
    error = ParameterError(parameter, f"must be an integer{_range(least, most)}", brief(value))
    if isinstance(value, bool):
        raise error
    try:
        whole = operator.index(value)
    except TypeError:
        raise error from None
    if (least is not None and whole < least) or (most is not None and whole > most):
        raise error
    return whole


def _range(least: int | None, most: int | None) -> str:
    if least is None:
        return "" if most is None else f" <= {most}"
    return f" >= {least}" if most is None else f" from {least} to {most}"


def checked_choice(parameter: str, value: Any, choices: Iterable[str]) -> str:
    """`value`, if it is one of the names.

    >>> checked_choice("test", "graded", ("graded", "paper"))
    'graded'
    """
    names = list(choices)
    if not isinstance(value, str) or value not in names:
        listed = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"
        raise ParameterError(parameter, f"must be {listed}", brief(value))
    return value


def in_order(parameter: str, value: Any, columns: Sequence[str] | None) -> Any:
    """A dict of column name -> value as a list in the columns' order; anything else as it is.

    It may name further columns: one dict serves several tables of a study.

    >>> in_order("sd", {"pulse": 12, "age": 15, "weight": 10}, ("age", "pulse"))
    [15, 12]
    """
    if not isinstance(value, Mapping):
        return value
    if columns is None:
        raise ParameterError(parameter, "must not be a dict: the columns have no names", brief(value))
    named = {str(name): given for name, given in value.items()}
    for name in columns:
        if name not in named:
            raise ParameterError(parameter, "must name all columns", f"none for {brief(name)}")
    return [named[name] for name in columns]


def show(number: Fraction) -> str:
    """A short decimal where it is exact, the fraction otherwise.

    >>> show(Fraction(1, 10)), show(Fraction(1, 3))
    ('0.1', '1/3')
    """
    decimal = f"{float(number):.12g}"
    return decimal if Fraction(decimal) == number else str(number)
