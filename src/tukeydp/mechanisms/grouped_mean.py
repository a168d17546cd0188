"""The mean of every group, by the way that public numbers say comes closest (docs/proofs/groups.md)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from tukeydp.data.keys import GroupedTable, grouped_table
from tukeydp.forecast.groups import grouped_rehearsal
from tukeydp.mechanisms.cube import checked_rows
from tukeydp.mechanisms.grouped_centre import assumed_rows, group_settings, one_of
from tukeydp.mechanisms.grouped_sums import checked_counts, rows_told, too_few
from tukeydp.mechanisms.grouped_ways import (
    CENTRE_SHARES,
    BlocksOfGroups,
    GroupWay,
    RowsOfGroups,
    clipped_sums,
    group_ways,
    scaled_groups,
)
from tukeydp.mechanisms.mean_ways import known_widths
from tukeydp.mechanisms.planned import MEAN_NOTE
from tukeydp.mechanisms.subset_means import grid_steps, scatter
from tukeydp.mechanisms.two_step import DOUBT, FIRST_STEPS
from tukeydp.results.accuracy import ASSUMED_WIDTH_OF_SHARES, Rehearsal
from tukeydp.results.grouped_release import GroupedRelease
from tukeydp.results.release import Release
from tukeydp.spending import require_room
from tukeydp.trusted.account import PureDP
from tukeydp.trusted.bits import Randomness, source
from tukeydp.trusted.block_steps import Means
from tukeydp.trusted.parameters import FloatArray, ParameterError, brief, checked_choice, checked_integer, in_order
from tukeydp.trusted.release import Seal, Spends, reserve
from tukeydp.trusted.rows import BoundedColumns, bounded_columns, require_bounds
from tukeydp.trusted.steps import noised_group_counts

GROUP_MECHANISMS = ("auto", "subset", "rows", "two-step", "cube")


@dataclass(frozen=True)
class Asked:
    """What `td.mean` was asked besides `by` and `keys`."""

    epsilon: Fraction
    bounds: Any
    mechanism: str
    blocks: Any
    partitions: Any
    sd: Any
    counts: Any


def refuse_with_groups(**given: Any) -> None:
    """Options that have no meaning by groups, with what has; None and False are not given."""
    hints = {
        "delta": ": by groups means and centres take bounds, and need no delta",
        "confidence": ": td.summary(by=...) has intervals for groups",
        "joint": ": td.summary(by=...) has intervals for groups",
        "certify": "",
        "unproven": "",
    }
    for name, value in given.items():
        if value is not None and value is not False:
            raise ParameterError(name, f"must be left out with by{hints[name]}", brief(value))


def grouped_mean(
    x: Any, asked: Asked, *, by: Any, keys: Any, accountant: Spends | None, randomness: Any
) -> GroupedRelease:
    """The means of all groups: pure epsilon-DP together. Nothing public hangs on how many rows a group has."""
    checked_choice("mechanism", asked.mechanism, GROUP_MECHANISMS)
    require_bounds(asked.bounds, "without bounds there are no means by group")
    for_counts = checked_counts(asked.counts) * asked.epsilon
    for_means = asked.epsilon - for_counts
    least = BlocksOfGroups(for_means, 1, 1, ()).guarantee  # what no way costs less than
    require_room(accountant, least + PureDP(for_counts) if for_counts else least)
    bits = source(randomness)
    grouped = grouped_table(x, by, keys)
    table, names = checked_rows(grouped.table), grouped.keys.names
    columns = bounded_columns(table.d, asked.bounds, table.columns)
    sd = in_order("sd", asked.sd, table.columns)
    rows, widths = assumed_rows(table.n, len(names)), known_widths(columns, sd)
    way = chosen_way(asked, table.n, rows, for_means, widths, sd is not None)
    parts = {"means": way.guarantee, **({"counts": PureDP(for_counts)} if for_counts else {})}
    settings = {**group_settings(len(names), for_means, for_counts), **way.settings}
    public = {**table.public, "bounds": columns.ends, "by": grouped.by, "keys": names, "settings": settings}
    run = reserve(parts, mechanism=way.mechanism, source=bits, accountant=accountant, parameters=public)
    public_key, charge = run.public("directions"), run.charge("means")
    drawn = way.draw(columns.relative(table.cells), grouped.groups, len(names), public_key, charge)
    noised = None
    if for_counts:
        noised = noised_group_counts(grouped.groups, len(names), run.charge("counts", secret="counts"))
    else:
        run.secret("counts")  # unused: a check after it has the same key with counts and without
    if noised is not None:
        known = rows_told(noised, table.n, for_counts)
        drawn = [means if told else [None] * table.d for means, told in zip(drawn, known, strict=True)]
    rehearsal = grouped_rehearsal(way, table.n, rows, columns, sd)
    return GroupedRelease(
        releases=_releases(grouped, columns, way, run.seal, settings, drawn, rehearsal, bits),
        seal=run.seal,
        mechanism=way.mechanism,
        seeded=not bits.private,
        n=table.n,
        by=grouped.by,
        counts=None if noised is None else dict(zip(names, noised, strict=True)),
        settings=settings,
    )


def chosen_way(asked: Asked, n: int, rows: int, epsilon: Fraction, widths: FloatArray, known: bool) -> GroupWay:
    """The way asked for by name, or the one with the smallest predicted error: from public numbers.

    Without public standard deviations, and with enough rows, how wide the bounds are is found out first.
    """
    blocks, partitions = asked.blocks, asked.partitions
    if blocks is not None:
        blocks = checked_integer("blocks", blocks, least=1, most=10**6)
    if partitions is not None:
        partitions = checked_integer("partitions", partitions, least=1, most=1000)
    dealt = blocks is not None or partitions is not None
    if dealt and asked.mechanism not in ("auto", "subset"):
        name, value = ("blocks", blocks) if blocks is not None else ("partitions", partitions)
        raise ParameterError(name, f"must be left out with mechanism={asked.mechanism!r}", value)
    found = group_ways(rows, epsilon, widths, DOUBT if known else 1.0, blocks, partitions)
    name = "subset" if dealt else asked.mechanism
    if name in ("auto", "two-step"):
        shares = FIRST_STEPS if name == "auto" and "subset" in found else CENTRE_SHARES
        clipped = clipped_sums(n, epsilon, widths, shares) if known else scaled_groups(n, rows, epsilon, widths)
        if clipped is None and name == "two-step":
            raise ParameterError("mechanism", f"must be another than two-step for {n} rows: they are too few", name)
        if clipped is not None and (name == "two-step" or not known):
            return clipped
        if clipped is not None:
            found["two-step"] = clipped
        if ASSUMED_WIDTH_OF_SHARES in widths.tolist() and len(found) > 1:
            found.pop("rows", None)  # the median of a yes/no column is no mean
        return min(found.values(), key=lambda way: way.error(rows, widths))
    if name not in found:
        # Asked for by name although the rows are too few for it: the release's caveat says so.
        found = group_ways(rows, epsilon, widths, 1.0, max(1, rows // 2), partitions)
        error = scatter(rows, len(widths), float(epsilon), rows)
        found["rows"] = RowsOfGroups(epsilon, grid_steps(error, widths))
    return found[name]


def _releases(
    grouped: GroupedTable,
    columns: BoundedColumns,
    way: GroupWay,
    seal: Seal,
    settings: dict[str, Any],
    drawn: Means,
    rehearsal: Rehearsal | None,
    bits: Randomness,
) -> dict[str, Release]:
    names = grouped.keys.names
    notes = (
        MEAN_NOTE,
        one_of(len(names)),
        *((too_few("mean"),) if way.mechanism in ("cube", "two-step") or "epsilon_counts" in settings else ()),
    )
    found = {}
    for name, relative in zip(names, drawn, strict=True):
        point = columns.in_units([Fraction(0) if v is None else v for v in relative])
        point[[v is None for v in relative]] = np.nan
        found[name] = Release(
            point=point,
            seal=seal,
            mechanism=way.mechanism,
            seeded=not bits.private,
            **grouped.table.public,
            bounds=columns.ends,
            settings={**settings, "by": grouped.by, "key": name},
            notes=notes,
            rehearsal=rehearsal,
        )
    return found
