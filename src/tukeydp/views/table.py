"""What is public about each column of an outcome, once as numbers and once as cells of a table to show."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from tukeydp.accuracy import ExpectedError
from tukeydp.arrays import FloatArray
from tukeydp.interval import nominal_header
from tukeydp.parameters import Bounds, show
from tukeydp.privacy import Guarantee
from tukeydp.views.accuracy_words import span
from tukeydp.views.escaping import printable

# Digits of a value that is shown. Fewer would round what large columns are asked for: 249,158 is six. All that is known
# is in `point`, and in JSON.
_DIGITS = 6
# Sizes that are written without an exponent.
_SMALLEST_PLAIN, _LARGEST_PLAIN = 1e-4, 1e15
REFUSED = "none"  # in place of a number that there is not


class Viewed(Protocol):
    """What a view needs of a release or a refusal."""

    @property
    def columns(self) -> tuple[str, ...] | None: ...
    @property
    def units(self) -> tuple[str | None, ...] | None: ...
    @property
    def bounds(self) -> Bounds | None: ...
    @property
    def noise_sd(self) -> tuple[float, ...] | None: ...
    @property
    def guarantee(self) -> Guarantee | None: ...
    @property
    def seeded(self) -> bool: ...
    @property
    def mechanism(self) -> str: ...
    @property
    def n(self) -> int | None: ...
    @property
    def d(self) -> int: ...
    @property
    def released(self) -> bool: ...
    @property
    def settings(self) -> Mapping[str, Any]: ...
    @property
    def caveats(self) -> tuple[str, ...]: ...
    @property
    def forecast(self) -> bool: ...
    @property
    def quick_error(self) -> ExpectedError | None: ...
    def values(self) -> list[float | None]: ...


class Shown(NamedTuple):
    """A table of texts: `left` says which of its columns stand on the left, the others are numbers.

    The first `keys` columns name the rows.
    """

    header: list[str]
    rows: list[list[str]]
    left: tuple[str, ...] = ("column", "unit")
    keys: int = 1


def shown(
    outcome: Viewed, error: ExpectedError | None = None, beside: Mapping[str, Sequence[float]] | None = None
) -> Shown:
    """Column, unit, released value, interval, bounds and errors in the column's own units: those that there are.

    `beside` are further columns of numbers.
    """
    values = [REFUSED if v is None else number(v) for v in outcome.values()]
    cells: dict[str, list[str]] = {"column": names(outcome), "released": values}
    if outcome.units is not None:
        cells["unit"] = [printable(unit or "") for unit in outcome.units]
    intervals = interval(outcome)
    if intervals is not None:
        cells[nominal_header(outcome.settings["confidence"])] = [_between(*ends) for ends in intervals.tolist()]
    cells |= {header: [number(v) for v in more] for header, more in (beside or {}).items()}
    if outcome.bounds is not None:
        cells["bounds"] = [f"{show(a)} to {show(b)}" for a, b in zip(*outcome.bounds, strict=True)]
    if error is not None and error.columns is not None:
        cells["half within"] = [span(column.typical) for column in error.columns]
        cells["95 of 100 within"] = [span(column.within_95) for column in error.columns]
    return Shown(list(cells), [list(row) for row in zip(*cells.values(), strict=True)])


def interval(outcome: Viewed) -> FloatArray | None:
    """Lower and upper ends, where the mechanism gives an interval."""
    found = getattr(outcome, "interval", None)
    return None if found is None else np.asarray(found, dtype=np.float64)


def _between(low: float, high: float) -> str:
    """A column whose spread is not known has no interval."""
    return REFUSED if math.isnan(low) or math.isnan(high) else f"{number(low)} to {number(high)}"


def counted(outcome: Viewed) -> str:
    """What n counts: rows, or persons where the guarantee is about them; their number may be secret."""
    persons = outcome.guarantee is not None and outcome.guarantee.neighbours == "swap-person"
    one = "person" if persons else "row"
    if outcome.n is None:
        return f"a secret number of {one}s"
    return f"1 {one}" if outcome.n == 1 else f"{outcome.n} {one}s"


def rows_planned_for(outcome: Viewed) -> int | None:
    """A public number of rows: n itself, or what was declared of a secret one."""
    return outcome.n if outcome.n is not None else outcome.settings.get("rows")


def names(outcome: Viewed) -> list[str]:
    """The columns' names, fit to be printed."""
    return [printable(name) for name in outcome.columns or [f"column {j}" for j in range(outcome.d)]]


def number(value: float) -> str:
    """Six digits, without an exponent where the size is common.

    >>> number(249158.04), number(36.78261), number(1e-7), number(0.0)
    ('249158', '36.7826', '1e-07', '0')
    """
    rounded = float(f"{value:.{_DIGITS}g}")
    if _SMALLEST_PLAIN <= abs(rounded) < _LARGEST_PLAIN:
        return np.format_float_positional(rounded, trim="-")
    return f"{rounded:g}"
