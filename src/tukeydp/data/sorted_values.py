"""The values of each column in each group, in order: what stands at a rank, and which ranks a step has.

A unit is one column of one group. In memory its steps are sorted; of a lazy frame they are counted up to public or
released edges, pass by pass, until what was asked for is certain: the same answers, so that a draw does not know which
it was (docs/proofs/out-of-core.md). Not private: all of this is the data.
"""

from __future__ import annotations

import numpy as np

from tukeydp.data.lazy_tables import LazyTable
from tukeydp.data.records import Records
from tukeydp.trusted.ranks import (
    CountedValues,
    HeldValues,
    SortedValues,
    steps_of,
)
from tukeydp.trusted.rows import Grid


def sorted_values(records: Records, grid: Grid) -> SortedValues:
    """The values of all units, clipped to the bounds and rounded to the grid, each by itself; missing ones left out."""
    if isinstance(records.table, LazyTable):
        return CountedValues(records, grid)
    return HeldValues([np.sort(steps_of(cells[:, j], grid, j)) for _, cells in records.parts() for j in range(grid.d)])
