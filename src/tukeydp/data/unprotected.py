"""Facts about a table without any privacy, as releases that say so. For comparison only."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tukeydp.data.tables import Table, finite_rows
from tukeydp.results.release import Release
from tukeydp.trusted.parameters import FloatArray

NOT_PRIVATE = "Not private: computed from the rows without any noise, for comparison only."


def unprotected(
    mechanism: str, table: Table, centre: Callable[[FloatArray], FloatArray], notion: str | None = None
) -> Release:
    """What `centre` makes of the rows without a missing or infinite cell; no guarantee."""
    rows = finite_rows(table.cells)
    return Release(
        point=np.asarray(centre(rows), dtype=np.float64) if len(rows) else np.full(table.d, np.nan),
        guarantee=None,
        mechanism=mechanism,
        seeded=False,
        notion=notion,
        notes=(NOT_PRIVATE,),
        **table.public,
    )
