"""BoxEM on the rows of every group: all groups together cost epsilon (docs/proofs/groups.md, section 6)."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from tukeydp.data.records import held_records
from tukeydp.data.relation import Relation
from tukeydp.data.tables import Table
from tukeydp.depth.choice import require_fitting, require_memory
from tukeydp.depth.notions import Notion
from tukeydp.forecast.centre import centre_rehearsal
from tukeydp.mechanisms.certificate import checked_share, depth_certificate
from tukeydp.mechanisms.cliff import drawn_notion
from tukeydp.mechanisms.grouped_sums import checked_counts, rows_told, too_few
from tukeydp.results.grouped_release import GroupedRelease, by_group
from tukeydp.results.grouped_release import one_of as one_of
from tukeydp.results.release import SYMMETRY_CAVEAT, Release
from tukeydp.spending import require_room
from tukeydp.trusted.account import PureDP, bounded_range, cost_of
from tukeydp.trusted.bits import source
from tukeydp.trusted.parameters import ParameterError, brief
from tukeydp.trusted.points import deep_points
from tukeydp.trusted.prices import DEPTH, kappa
from tukeydp.trusted.release import Spends, reserve
from tukeydp.trusted.rows import bounded_grid, checked_bounds
from tukeydp.trusted.steps import noised_group_counts


def grouped_boxem(
    x: Any,
    relation: Relation,
    *,
    epsilon: Fraction,
    by: Any,
    keys: Any,
    counts: Any,
    certify: Any,
    bounds: Any,
    depth: Notion | None,
    resolution: Any,
    accountant: Spends | None,
    randomness: Any,
) -> GroupedRelease:
    """The centre of every group. Nothing public hangs on how many rows a group has."""
    for_counts = checked_counts(counts) * epsilon
    for_certificates = Fraction(0) if certify is None else checked_share(certify) * epsilon
    for_points = epsilon - for_counts - for_certificates
    if for_points <= 0:
        raise ParameterError("certify", "must leave a part of epsilon for the points, beside counts", brief(certify))
    parts = {"points": bounded_range(for_points, relation.neighbours)}
    if for_counts:
        parts["counts"] = PureDP(for_counts, neighbours=relation.neighbours)
    if for_certificates:
        parts["certificates"] = PureDP(for_certificates, neighbours=relation.neighbours)
    require_room(accountant, cost_of(parts))
    bits = source(randomness)
    records = held_records(x, relation, by=by, keys=keys)
    table, size = records.table, records.size
    assert isinstance(table, Table)
    assert records.groups is not None
    assert records.keys is not None
    names = records.keys.names
    each = records.size_of_group
    in_sampler = 2 * kappa(for_points, *DEPTH, relation.neighbours, len(names))
    notion = drawn_notion(depth, size, table.d, in_sampler, each)
    if size is not None:
        require_memory(notion, size, table.d)
    ends = checked_bounds(table.d, bounds, table.columns)
    grid = bounded_grid(
        table.d, bounds=ends, resolution=resolution, bits=notion.grid_bits(table.d), columns=table.columns
    )
    if depth is not None or resolution is not None:
        require_fitting(notion, grid)
    settings = group_settings(len(names), for_points, for_counts)
    if for_certificates:
        settings |= {"epsilon_points": for_points, "epsilon_certificates": for_certificates}
    settings |= relation.settings
    told = records.public
    public = {**told, "bounds": ends, "notion": repr(notion), "grid": grid.to_dict(), "settings": settings}
    public |= records.public_groups
    run = reserve(parts, mechanism="boxem", source=bits, accountant=accountant, parameters=public)
    public_key = run.public("directions")
    noised = noised_group_counts(records.groups, len(names), run.charge("counts")) if for_counts else None
    enough = [True] * len(names) if noised is None else rows_told(noised, size, for_counts)
    rehearsal = None if each is None else centre_rehearsal(notion, grid, each, in_sampler)
    certificates = run.charge("certificates", "certificate").by_group(len(names)) if for_certificates else None
    groups = (notion.prepared_to_draw(grid.snap(cells), grid, public_key) for _, cells in records.parts())
    found = []
    for g, (prepared, y) in enumerate(deep_points(groups, len(names), grid, run.charge("points"))):
        certificate = None
        if certificates is not None:
            certificate = depth_certificate(prepared, y, certificates[g], every=not len(prepared.directions))
        one = Release(
            point=grid.point(y) if enough[g] else np.full(table.d, np.nan),
            seal=run.seal,
            mechanism="boxem",
            seeded=not bits.private,
            **told,
            notion=repr(notion),
            directions=prepared.directions,
            grid=grid,
            settings=settings,
            bounds=ends,
            certificate=certificate if enough[g] else None,
            notes=(SYMMETRY_CAVEAT, *((too_few("centre"),) if for_counts else ())),
            rehearsal=rehearsal,
        )
        found.append(one)
    counted = None if noised is None else dict(zip(names, noised, strict=True))
    return by_group(found, records, settings, counts=counted)


def assumed_rows(n: int, groups: int) -> int:
    """Rows of a group for forecasts and plans: an equal part of the table's, since the true numbers are secret."""
    return max(1, n // groups)


def group_settings(groups: int, for_points: Fraction, for_counts: Fraction) -> dict[str, Any]:
    split = {"epsilon_points": for_points, "epsilon_counts": for_counts} if for_counts else {}
    return {"groups": groups, **split}
