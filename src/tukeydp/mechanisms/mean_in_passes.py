"""td.aggregate of a lazy frame: means of drawn blocks from one pass, by depth (docs/proofs/out-of-core.md)."""

from __future__ import annotations

from typing import Any

import numpy as np

from tukeydp.arrays import FloatArray
from tukeydp.data.bounded import BoundedColumns, bounded_columns
from tukeydp.data.lazy_tables import lazy_table
from tukeydp.depth.notions import Notion
from tukeydp.errors import ParameterError
from tukeydp.mechanisms.block_release import BlockRelease, checked_partitions, guarantee_for
from tukeydp.mechanisms.pass_plan import require_sums
from tukeydp.mechanisms.passes import BlockSums
from tukeydp.parameters import brief, checked_integer
from tukeydp.randomness import source
from tukeydp.release import Refused, Release
from tukeydp.spending import require_room
from tukeydp.trusted.release import Spends, reserve

MEANS_NOTE = "What is estimated is the centre of the means of blocks of rows, cells moved between their bounds."


def mean_in_passes(
    x: Any,
    statistic: Any,
    *,
    blocks: Any,
    epsilon: Any,
    bounds: Any,
    delta: Any,
    partitions: Any,
    columns: Any,
    clip: Any,
    depth: Notion | None,
    resolution: Any,
    accountant: Spends | None,
    randomness: Any,
) -> Release | Refused:
    """Every row draws a block for each dealing; the blocks' means are released by boxem or REM."""
    if not isinstance(statistic, str) or statistic != "mean":
        rule = "must be 'mean' for a lazy frame, whose rows are added up where they are; collect it for any other"
        raise ParameterError("statistic", rule, brief(statistic) if isinstance(statistic, str) else "a function")
    if clip is None and bounds is None:
        rule = "must be given for a lazy frame without bounds: (lower, upper) of its cells, which are added up"
        raise ParameterError("clip", rule, "none")
    guarantee = guarantee_for(epsilon, bounds, delta)
    dealings = checked_partitions(partitions, guarantee)
    require_room(accountant, guarantee)
    bits = source(randomness)
    table = lazy_table(x)
    count = checked_integer("blocks", blocks, least=1, most=table.n)
    require_sums(count, dealings, table.d)
    names = _names(columns, table.columns)
    cells = (
        bounded_columns(table.d, clip, table.columns) if clip is not None else bounded_columns(table.d, bounds, names)
    )
    drawn = BlockRelease(guarantee, count, dealings, table.d, names, bounds, depth, resolution)
    public = {**table.public, "columns": names, "bounds": drawn.ends, "settings": drawn.settings}
    parts = {"draw": guarantee}
    run = reserve(parts, mechanism="aggregate", source=bits, accountant=accountant, parameters=public)
    sums = BlockSums(cells, count, dealings, run.secret("dealings"))
    (found,) = table.total(sums)
    means = np.concatenate([_in_units(cells, part) for part, _ in sums.tables(found)])
    return drawn.release(means, table.n, bits, run, "aggregate", (MEANS_NOTE,))


def _names(columns: Any, own: tuple[str, ...]) -> tuple[str, ...]:
    if columns is None:
        return own
    given = tuple(str(name) for name in columns)
    if len(given) != len(own) or len(set(given)) != len(own):
        raise ParameterError("columns", f"must be {len(own)} different names: as many as the frame has", brief(columns))
    return given


def _in_units(columns: BoundedColumns, relative: FloatArray) -> FloatArray:
    """Block means in data units: elementwise, so that each is a function of its own block."""
    ends = [(float(a), float(b)) for a, b in zip(columns.lower, columns.upper, strict=True)]
    middle = np.array([a / 2 + b / 2 for a, b in ends])
    half = np.array([b / 2 - a / 2 for a, b in ends])
    return np.asarray(middle + half * relative)
