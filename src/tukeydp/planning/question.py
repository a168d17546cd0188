"""What is planned for: public numbers, checked before anything is predicted. No data anywhere."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from tukeydp.accuracy import ASSUMED_WIDTH
from tukeydp.arrays import FloatArray
from tukeydp.data.bounded import BoundedColumns, bounded_columns
from tukeydp.errors import ParameterError
from tukeydp.mechanisms.clipped_sum import MOST_ROWS
from tukeydp.mechanisms.cube import checked_epsilon
from tukeydp.mechanisms.mean_choice import known_widths
from tukeydp.parameters import brief, checked_integer, positive_rational, show
from tukeydp.privacy import ApproxDP

MOST_COLUMNS = 1000  # more would make a table that nobody reads, and take minutes
MOST_GROUPS = 10_000  # likewise nobody's table


@dataclass(frozen=True)
class Wish:
    """An error that 95 of 100 releases shall keep within; in data units, or in standard deviations."""

    size: float
    in_units: bool


@dataclass(frozen=True)
class Question:
    """Everything public that a prediction depends on, but for n and epsilon, one of which may be asked for.

    `sd` has None where a column's standard deviation is not known; `wishes` where nothing is wished for a column.
    """

    d: int
    names: tuple[str, ...] | None
    columns: BoundedColumns | None
    delta: Fraction | None
    sd: tuple[Fraction | None, ...]
    wishes: tuple[Wish | None, ...]
    groups: int
    missing: float

    @property
    def labels(self) -> tuple[str, ...]:
        return self.names or tuple(f"column {j}" for j in range(self.d))

    @property
    def known_sd(self) -> list[Fraction] | None:
        """Standard deviations as `td.mean` takes them: of all columns, or none."""
        known = [value for value in self.sd if value is not None]
        return known if len(known) == self.d else None

    @property
    def widths(self) -> FloatArray:
        """The bounds in standard deviations, known or assumed, column by column."""
        if self.columns is None:
            return np.full(self.d, ASSUMED_WIDTH)
        assumed = known_widths(self.columns, None)
        if self.known_sd is not None:
            return known_widths(self.columns, self.known_sd)
        pairs = zip(self.columns.widths, self.sd, assumed, strict=True)
        return np.array([w / float(s) if s is not None else a for w, s, a in pairs])

    @property
    def width(self) -> float:
        """Geometric mean: what the cliff depends on."""
        return math.exp(float(np.log(self.widths).mean()))

    @property
    def wished(self) -> bool:
        return any(wish is not None for wish in self.wishes)


def asked(
    d: Any, columns: Any, bounds: Any, delta: Any, sd: Any, error: Any, by: Any, missing: Any, epsilon: Any
) -> Question:
    """Check all but n; `epsilon` only together with delta."""
    names, bounds = _named(columns, bounds)
    count = _number_of_columns(d, names, bounds)
    between = None if bounds is None else bounded_columns(count, bounds, names)
    if between is None and delta is None:
        raise ParameterError("bounds", "must be given, or delta in their place", "neither")
    if between is None and by is not None:
        raise ParameterError("bounds", "must be given with by: without bounds there are no means by group", "none")
    if missing is not None and (isinstance(missing, bool) or not isinstance(missing, int | float)):
        raise ParameterError("missing", "must be a share, at least 0 and below 1", brief(missing))
    if missing is not None and not 0 <= missing < 1:
        raise ParameterError("missing", "must be a share, at least 0 and below 1", brief(missing))
    deviations = _deviations(sd, count, names, between)
    return Question(
        d=count,
        names=names,
        columns=between,
        delta=None if delta is None else ApproxDP(Fraction(1) if epsilon is None else epsilon, delta).delta,
        sd=deviations,
        wishes=_wishes(error, count, names, deviations),
        groups=1 if by is None else checked_integer("by", by, least=2, most=MOST_GROUPS),
        missing=float(missing or 0.0),
    )


def checked_n(n: Any) -> int:
    return checked_integer("n", n, least=1, most=MOST_ROWS - 1)


def checked_budget(epsilon: Any) -> Fraction:
    return checked_epsilon(epsilon)


def _named(columns: Any, bounds: Any) -> tuple[tuple[str, ...] | None, Any]:
    """`columns` are names, or names with bounds."""
    if columns is None:
        return None, bounds
    if isinstance(columns, Mapping):
        if bounds is not None:
            raise ParameterError("bounds", "must be left out where columns= has them", brief(bounds))
        return tuple(str(name) for name in columns), {str(name): pair for name, pair in columns.items()}
    if isinstance(columns, str) or not isinstance(columns, Iterable):
        rule = "must be names, or {name: (lower, upper), ...}; a number of columns is d="
        raise ParameterError("columns", rule, brief(columns))
    names = tuple(str(name) for name in columns)
    if len(set(names)) < len(names):
        raise ParameterError("columns", "must have different names", brief(list(names)))
    return names, bounds


def _number_of_columns(d: Any, names: Sequence[str] | None, bounds: Any) -> int:
    if names is not None and d is not None:
        raise ParameterError("d", "must be left out where columns= names them", brief(d))
    if names is not None:
        return checked_integer("columns", len(names), least=1, most=MOST_COLUMNS)
    if d is None and isinstance(bounds, Mapping):
        raise ParameterError("columns", "must be given with bounds by name", "none (columns={name: (lower, upper)})")
    if d is None:
        raise ParameterError("d", "must be given, or columns in its place", "neither")
    return checked_integer("d", d, least=1, most=MOST_COLUMNS)


def per_name(parameter: str, value: Any, d: int, names: Sequence[str] | None) -> list[Any]:
    """One for all, one for each, or by name: a list with None where a dict says nothing."""
    if isinstance(value, Mapping):
        if names is None:
            raise ParameterError(parameter, "must not be by name: the columns have no names", brief(value))
        given = {str(name): v for name, v in value.items()}
        for name in given:
            if name not in names:
                raise ParameterError(parameter, f"must name one of the columns {', '.join(names)}", brief(name))
        return [given.get(name) for name in names]
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, str) or not isinstance(value, Iterable):
        return [value] * d
    values = list(value)
    if len(values) != d:
        raise ParameterError(parameter, f"must be a number or one for each of the {d} columns", brief(values))
    return values


def _deviations(
    sd: Any, d: int, names: Sequence[str] | None, columns: BoundedColumns | None
) -> tuple[Fraction | None, ...]:
    values = per_name("sd", sd, d, names)
    found = tuple(None if v is None else positive_rational("sd", v) for v in values)
    for j, value in enumerate(found):
        if columns is not None and value is not None and value > columns.upper[j] - columns.lower[j]:
            raise ParameterError("sd", "must be > 0 and at most upper - lower", show(value))
    return found


def _wishes(error: Any, d: int, names: Sequence[str] | None, sd: Sequence[Fraction | None]) -> tuple[Wish | None, ...]:
    """A number is in standard deviations; by name, in that column's units."""
    if error is None:
        return (None,) * d
    in_units = isinstance(error, Mapping)
    if in_units and not error:
        raise ParameterError("error", "must be a number, or {name: error in its units}", "{}")
    if not in_units and isinstance(error, Iterable) and not isinstance(error, str):
        raise ParameterError("error", "must be a number, or {name: error in its units}", brief(error))
    values = per_name("error", error, d, names)
    for j, value in enumerate(values):
        if in_units and value is not None and sd[j] is None:
            label = names[j] if names else f"column {j}"
            rule = f"in the units of a column needs its standard deviation (sd={{{label!r}: ...}})"
            raise ParameterError("error", rule, brief(value))
    return tuple(None if v is None else Wish(float(positive_rational("error", v)), in_units) for v in values)
