"""BoxEM: the exponential mechanism over depth on a public box (docs/proofs/boxem.md)."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

from tukeydp.blas import on_one_thread
from tukeydp.data.keys import require_by
from tukeydp.data.relation import checked_relation
from tukeydp.depth.choice import require_fitting
from tukeydp.depth.notions import Notion
from tukeydp.forecast.centre import centre_rehearsal
from tukeydp.mechanisms.certificate import checked_share, depth_certificate
from tukeydp.mechanisms.cliff import drawn_notion
from tukeydp.mechanisms.found_bounds import finds_bounds
from tukeydp.mechanisms.grouped_centre import grouped_boxem
from tukeydp.mechanisms.grouped_mean import refuse_with_groups
from tukeydp.mechanisms.per_person import of_persons
from tukeydp.mechanisms.readable_check import checked
from tukeydp.mechanisms.streaming import on_grid, refuse_streams, require_room_for_ranks, table_or_stream
from tukeydp.mechanisms.unproven import require_swaps, unproven_boxem
from tukeydp.padding import padded
from tukeydp.results.release import Release
from tukeydp.spending import require_room
from tukeydp.trusted.account import PureDP, bounded_range, cost_of
from tukeydp.trusted.bits import source
from tukeydp.trusted.parameters import ParameterError, brief, positive_rational
from tukeydp.trusted.points import deep_point
from tukeydp.trusted.prices import DEPTH, kappa
from tukeydp.trusted.release import Spends, reserve
from tukeydp.trusted.rows import bounded_grid, checked_bounds, require_bounds


@padded
@of_persons
@checked(whole_rows=True)
@finds_bounds
@on_one_thread
def boxem(
    x: Any,
    *,
    epsilon: Any,
    bounds: Any = None,
    depth: Notion | None = None,
    resolution: Any = None,
    by: Any = None,
    keys: Any = None,
    counts: Any = None,
    person: Any = None,
    per_person: Any = "mean",
    certify: Any = None,
    neighbours: str = "swap",
    rows: Any = None,
    accountant: Spends | None = None,
    unproven: Any = None,
    check: Any = None,
    pad_to: Any = None,
    randomness: Any = None,
) -> Release:
    """Release a deep point of `x` by the exponential mechanism on a box.

    Every grid point y of the box is released with probability proportional to e^(epsilon T(y) / 2), where T(y) is
    the depth of y in the data: exactly, in integer arithmetic. With neighbours="add-remove" to e^(epsilon T(y)).

    Parameters
    ----------
    x
        Array-like of shape (n, d) or (n,), or a pandas, polars or Arrow table; one row per person. Never modified.
        A row with a missing or unreadable cell counts in no halfspace; an infinite cell lies beyond its bound.
        For more rows than memory holds, `td.chunks(...)`: the same release, in several passes.
    epsilon
        Privacy budget, > 0. A float means its shortest decimal: 0.1 is 1/10.
    bounds
        (lower, upper), scalars or one per column, or a dict of column name -> (lower, upper): what is known of the
        columns without looking. Rows outside are moved to the edge. Wide bounds cost little.
    depth
        `td.Spread(k)` (default: with a number of directions that grows with d), `td.Random(k)`, `td.AxisAligned()`
        (default for more than 20 columns and no more rows than columns), `td.Directions(vectors)`, or `td.Exact()`: all
        directions, practical for up to four columns. By default more than 25 columns come in blocks of up to 20, each
        with directions of its own, and T is the mean over columns of the depth in a column's block
        (docs/proofs/boxem.md, section 9); or along the axes alone, where rows are too few for blocks.
    resolution
        Step of the public grid, a scalar, one per column, or a dict of column name -> step; unless given,
        the width over 2**44, and over 2**30 for
        exact depth (finer ones make it slow on data that nearly lie in a plane). Give the true step
        of columns that hold few different values (1 for counts) in up to 20 columns. Beyond, whole numbers may take
        very long where columns are skewed: leave it out there, and round the release, which costs no privacy.
    by, keys, counts
        As for `td.mean`: a centre for each group, all of them for one epsilon.
    person, per_person
        As for `td.mean`: one row for each person, and a guarantee about persons.
    certify
        A share of epsilon, say 0.1, for a depth certificate: `release.certificate` then says how many rows lie on every
        side of the point at least, with 95 percent confidence. The point is drawn with the rest of epsilon.
    neighbours
        "swap": one row is replaced, and the number of rows is public. "add-remove": one row more or less, and their
        number stays secret. Against a swap, which is one row less and one more, that is 2 epsilon; for it the
        error is smaller by a fifth to a third (docs/proofs/add-remove.md).
    rows
        With "add-remove": about how many rows there are, **known without the data**. Settles the default directions of
        large tables, and what `expected_error` is rehearsed with; without it there is none.
    accountant
        None, or a `td.Accountant` that pays for the run before the data are touched, or refuses it.
    unproven
        None, or "mcmc" for an experiment **without any guarantee**: level volumes are estimated by random walks and the
        point is the end of one, as in the paper's figure for ten columns. How many steps a walk needs is known from
        experience only, so the release has `guarantee` None, `private` False, and must not be published. For comparison
        with the paper; the proven mode is faster and better. A column of equal values has no volume: its levels
        count as empty, and the point is as if from no data at all.
    check
        As for `td.mean`.
    pad_to
        None, or seconds: the call ends only at multiples of them, so that how long it takes tells at most which
        (docs/threat-model.md, "Time").
    randomness
        None for the operating system's, or `td.seeded(seed)` for tests: the release then is not private.

    Returns
    -------
    Release
        `point`, `guarantee` and what is public about the run. With `by` a `GroupedRelease`: a dict of releases by key.

    Privacy
    -------
    Pure epsilon-DP for `neighbours`; d, the column names and all parameters are public, n too under the swap of one
    row. How long the call takes depends on the data: see docs/threat-model.md.

    Cost
    ----
    The middle of n (d + k) projections, sorted, and a few dozen small linear programs; milliseconds up to d = 5, about
    a tenth of a second at d = 10. Memory: two copies of the table and the projections that are kept, which are all of
    them, 8 n (d + k) bytes, up to 4096 rows and where levels far from the deepest have weight, and few otherwise.

    Examples
    --------
    >>> import numpy as np, tukeydp as td
    >>> x = np.random.default_rng(1).normal(size=(500, 2))
    >>> release = td.boxem(x, epsilon=1, bounds=(-10, 10), randomness=td.seeded(7))
    >>> bool(np.abs(release.point - x.mean(axis=0)).max() < 0.5)
    True
    >>> print(release.guarantee)
    epsilon = 1 (pure differential privacy, one row swapped)
    >>> release = td.boxem(x, epsilon=1, bounds=(-10, 10), neighbours="add-remove", randomness=td.seeded(7))
    >>> print(release.n, release.guarantee)
    None epsilon = 1 (pure differential privacy, one row added or removed)
    """
    budget = positive_rational("epsilon", epsilon)
    relation = checked_relation(neighbours, rows)
    refuse_streams(x, by=by, unproven=unproven)
    if require_by(by, keys, counts):
        refuse_with_groups(unproven=unproven)
        require_bounds(bounds, "td.rem(x, epsilon=..., delta=..., by=...) does without")
        return grouped_boxem(  # type: ignore[return-value]
            x, relation, epsilon=budget, by=by, keys=keys, counts=counts, certify=certify, bounds=bounds, depth=depth,
            resolution=resolution, accountant=accountant, randomness=randomness,
        )  # fmt: skip
    share = Fraction(0) if certify is None else checked_share(certify)
    for_certificate = share * budget
    for_point = budget - for_certificate
    parts = {"point": bounded_range(for_point, neighbours)}
    if for_certificate:
        parts["certificate"] = PureDP(for_certificate, neighbours=neighbours)
    require_bounds(bounds, "wide ones cost little, and td.rem(x, epsilon=..., delta=...) does without")
    require_swaps(relation, unproven)
    require_room(accountant, cost_of(parts), unproven)
    bits = source(randomness)
    table = table_or_stream(x, relation)
    size = relation.size(table)
    in_sampler = 2 * kappa(for_point, *DEPTH, neighbours)
    notion = drawn_notion(depth, size, table.d, in_sampler)
    ends = checked_bounds(table.d, bounds, table.columns)
    grid = bounded_grid(
        table.d, bounds=ends, resolution=resolution, bits=notion.grid_bits(table.d), columns=table.columns
    )
    require_room_for_ranks(table, notion, grid, in_sampler, size)
    if unproven is not None:
        if certify is not None:
            raise ParameterError("certify", "must be left out with unproven", brief(certify))
        options = {"epsilon": budget, "grid": grid, "depth": notion, "randomness": bits}
        return replace(unproven_boxem(unproven, table, **options), bounds=ends)
    if depth is not None or resolution is not None:
        require_fitting(notion, grid)
    split = {"epsilon_point": for_point, "epsilon_certificate": for_certificate} if for_certificate else {}
    settings = {**split, **relation.settings}
    told = relation.public(table)
    public = {**told, "bounds": ends, "notion": repr(notion), "grid": grid.to_dict(), "settings": settings}
    run = reserve(parts, mechanism="boxem", source=bits, accountant=accountant, parameters=public)
    prepared = notion.prepared_to_draw(on_grid(table, grid), grid, run.public("directions"))
    y = deep_point(prepared, grid, run.charge("point"))
    certificate = None
    if for_certificate:
        charge = run.charge("certificate", "certificate")
        certificate = depth_certificate(prepared, y, charge, every=not len(prepared.directions))
    return Release(
        point=grid.point(y),
        seal=run.seal,
        mechanism="boxem",
        seeded=not bits.private,
        **told,
        notion=repr(notion),
        directions=prepared.directions,
        grid=grid,
        settings=settings,
        bounds=ends,
        certificate=certificate,
        rehearsal=None if size is None else centre_rehearsal(notion, grid, size, in_sampler),
    )
