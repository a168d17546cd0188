"""A made-up table for demonstrations: nobody's data, so it may be shown beside its private release."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from tukeydp.data.tables import Table
from tukeydp.results.escaping import csv_text
from tukeydp.trusted.parameters import ParameterError

COLUMNS = ("systolic", "pulse", "temperature", "nights")
# Bounds that one would state without looking: what a living adult may have.
LOWER, UPPER = (60, 30, 33, 0), (240, 200, 43, 60)
BOUNDS = {name: (a, b) for name, a, b in zip(COLUMNS, LOWER, UPPER, strict=True)}


def made_up_patients(n: int = 500, seed: int = 2026) -> Table:
    """Blood pressure, pulse, temperature and nights in hospital of invented patients, with gaps and slips."""
    gauss = np.random.default_rng(seed)
    shared = gauss.normal(size=n)
    cells = np.column_stack(
        [
            np.rint(124 + 14 * (0.7 * shared + 0.71 * gauss.normal(size=n))),
            np.rint(74 + 11 * (0.3 * shared + 0.95 * gauss.normal(size=n))),
            np.round(36.8 + 0.4 * gauss.normal(size=n), 1),
            np.ceil(gauss.exponential(3.5, size=n)),
        ]
    )
    cells[::60, 1] = np.nan
    cells[5, 0], cells[17, 2] = 1200.0, 368.0
    return Table(cells, COLUMNS)


def mean_between(table: Table, lower: Sequence[float], upper: Sequence[float]) -> list[float]:
    """The means of the columns, values moved between the bounds and missing cells left out. **Not private.**"""
    return [float(v) for v in np.nanmean(np.clip(table.cells, lower, upper), axis=0)]


def made_up_csv() -> bytes:
    """The made-up patients as the content of a CSV file, each in one of two clinics."""
    patients = made_up_patients()
    clinics = np.where(np.random.default_rng(7).random(patients.n) < 0.6, "North", "South")
    rows = zip(_texts(patients), ["clinic", *clinics.tolist()], strict=True)
    return csv_text([*row, clinic] for row, clinic in rows).encode()


def _texts(table: Table) -> list[list[str]]:
    """The header and the cells as texts, missing ones empty."""
    cells = [["" if np.isnan(v) else f"{v:g}" for v in row] for row in table.cells.tolist()]
    return [list(table.columns or ()), *cells]


def write_csv(table: Table, path: Path) -> None:
    """The table as a CSV file, missing cells empty."""
    try:
        path.write_text(csv_text(_texts(table)), encoding="utf-8", newline="")
    except OSError as error:
        raise ParameterError("FILE", "must be a file that can be written", f"{path} ({error.strerror})") from None
