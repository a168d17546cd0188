"""Rows of measurements with the few questions that figures and claims ask of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from tukeydp.arrays import FloatArray
from tukeydp.views.escaping import csv_text

Row = dict[str, Any]


class NotMeasured(LookupError):
    """A question about something this run has not measured."""


class Results:
    """Rows in a fixed order. A value that was not measured is None."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self.rows = list(rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def where(self, **wanted: Any) -> Results:
        return Results(row for row in self.rows if all(row.get(k) == v for k, v in wanted.items()))

    def distinct(self, column: str, /, **wanted: Any) -> list[Any]:
        """The values of a column, in order of first appearance."""
        return list(dict.fromkeys(row[column] for row in self.where(**wanted) if row.get(column) is not None))

    def values(self, column: str, /, **wanted: Any) -> FloatArray:
        """A column of numbers, one per trial; raises `NotMeasured` where there is none, or where one is missing."""
        found = [row.get(column) for row in self.where(**wanted)]
        if not found or any(value is None for value in found):
            described = ", ".join(f"{k} = {v}" for k, v in wanted.items())
            raise NotMeasured(f"no {column} for {described or 'this run'}")
        return np.array(found, dtype=np.float64)

    def columns(self) -> list[str]:
        return list(dict.fromkeys(name for row in self.rows for name in row))

    def write_csv(self, path: Path) -> None:
        names = self.columns()
        rows = ([row.get(name) for name in names] for row in self.rows)
        path.write_text(csv_text([names, *rows], line_end="\n"), encoding="utf-8", newline="")
