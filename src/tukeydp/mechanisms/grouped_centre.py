"""BoxEM on the rows of every group: all groups together cost epsilon (docs/proofs/groups.md, section 6)."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from tukeydp.data.keys import grouped_table
from tukeydp.depth.choice import chosen_notion, require_fitting, require_memory
from tukeydp.depth.notions import Notion
from tukeydp.depth.notions.base import PreparedDepth
from tukeydp.forecast.centre import centre_rehearsal
from tukeydp.mechanisms.grouped_sums import checked_counts, noised_group_counts, rows_told, too_few
from tukeydp.results.grouped_release import GroupedRelease
from tukeydp.results.grouped_release import one_of as one_of
from tukeydp.results.release import SYMMETRY_CAVEAT, Release
from tukeydp.sampling.cutting_planes import DepthSampler
from tukeydp.spending import require_room
from tukeydp.trusted.account import PureDP, bounded_range, cost_of
from tukeydp.trusted.bits import source
from tukeydp.trusted.boxes import whole_grid
from tukeydp.trusted.prices import DEPTH
from tukeydp.trusted.release import Spends, reserve
from tukeydp.trusted.rows import Grid, bounded_grid, checked_bounds


def grouped_boxem(
    x: Any,
    *,
    epsilon: Fraction,
    by: Any,
    keys: Any,
    counts: Any,
    bounds: Any,
    depth: Notion | None,
    resolution: Any,
    accountant: Spends | None,
    randomness: Any,
) -> GroupedRelease:
    """The centre of every group. Nothing public hangs on how many rows a group has."""
    for_counts = checked_counts(counts) * epsilon
    for_points = epsilon - for_counts
    parts = {"points": bounded_range(for_points)}
    if for_counts:
        parts["counts"] = PureDP(for_counts)
    require_room(accountant, cost_of(parts))
    bits = source(randomness)
    grouped = grouped_table(x, by, keys)
    table, names = grouped.table, grouped.keys.names
    notion = chosen_notion(depth, table.n, table.d)
    require_memory(notion, table.n, table.d)
    ends = checked_bounds(table.d, bounds, table.columns)
    grid = bounded_grid(
        table.d, bounds=ends, resolution=resolution, bits=notion.grid_bits(table.d), columns=table.columns
    )
    if depth is not None or resolution is not None:
        require_fitting(notion, grid)
    settings = group_settings(len(names), for_points, for_counts)
    public = {**table.public, "bounds": ends, "notion": repr(notion), "grid": grid.to_dict()}
    public |= {"by": grouped.by, "keys": names, "settings": settings}
    run = reserve(parts, mechanism="boxem", source=bits, accountant=accountant, parameters=public)
    public_key = run.public("directions")
    noised = noised_group_counts(grouped.groups, len(names), run.charge("counts")) if for_counts else None
    told = [True] * len(names) if noised is None else rows_told(noised, table.n, for_counts)
    rehearsal = centre_rehearsal(notion, grid, assumed_rows(table.n, len(names)), for_points)
    paid = run.charge("points").for_bounded_range()
    found = {}
    for g, name in enumerate(names):
        prepared = notion.prepare(grid.snap(table.cells[grouped.groups == g]), grid, public_key)
        y = _draw(prepared, grid, 2 * paid.weight(DEPTH, len(names)), paid.key("group", g))
        found[name] = Release(
            point=grid.point(y) if told[g] else np.full(table.d, np.nan),
            seal=run.seal,
            mechanism="boxem",
            seeded=not bits.private,
            **table.public,
            notion=repr(notion),
            directions=prepared.directions,
            grid=grid,
            settings={**settings, "by": grouped.by, "key": name},
            bounds=ends,
            notes=(SYMMETRY_CAVEAT, one_of(len(names)), *((too_few("centre"),) if for_counts else ())),
            rehearsal=rehearsal,
        )
    return GroupedRelease(
        releases=found,
        seal=run.seal,
        mechanism="boxem",
        seeded=not bits.private,
        n=table.n,
        by=grouped.by,
        counts=None if noised is None else dict(zip(names, noised, strict=True)),
        settings=settings,
    )


def _draw(prepared: PreparedDepth, grid: Grid, epsilon: Fraction, key: bytes) -> list[int]:
    return DepthSampler(prepared, within=whole_grid(grid), epsilon=epsilon).draw(key)


def assumed_rows(n: int, groups: int) -> int:
    """Rows of a group for forecasts and plans: an equal part of the table's, since the true numbers are secret."""
    return max(1, n // groups)


def group_settings(groups: int, for_points: Fraction, for_counts: Fraction) -> dict[str, Any]:
    split = {"epsilon_points": for_points, "epsilon_counts": for_counts} if for_counts else {}
    return {"groups": groups, **split}
