"""A made-up table for demonstrations: nobody's data, so it may be shown beside its private release."""

from __future__ import annotations

import numpy as np

from tukeydp.data.tables import Table

COLUMNS = ("systolic mmHg", "diastolic mmHg", "pulse per min", "temperature C")
# Bounds that one would state without looking: what a living adult may have.
LOWER, UPPER = (60, 30, 30, 33), (240, 150, 200, 43)


def made_up_patients(n: int = 300, seed: int = 2026) -> Table:
    """Blood pressure, pulse and temperature of n invented patients, with a few gaps and slips of the pen."""
    gauss = np.random.default_rng(seed)
    shared = gauss.normal(size=n)
    cells = np.column_stack(
        [
            np.rint(124 + 14 * (0.7 * shared + 0.71 * gauss.normal(size=n))),
            np.rint(79 + 9 * (0.7 * shared + 0.71 * gauss.normal(size=n))),
            np.rint(74 + 11 * gauss.normal(size=n)),
            np.round(36.8 + 0.4 * gauss.normal(size=n), 1),
        ]
    )
    cells[::60, 2] = np.nan
    cells[5, 0], cells[17, 3] = 1200.0, 368.0
    return Table(cells, COLUMNS)
