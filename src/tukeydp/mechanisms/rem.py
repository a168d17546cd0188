"""REM: the exponential mechanism over deep points only, without bounds, after a test (docs/proofs/rem.md)."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

from tukeydp.blas import on_one_thread
from tukeydp.data.keys import require_by
from tukeydp.data.records import held_records
from tukeydp.data.relation import checked_relation
from tukeydp.data.tables import Table
from tukeydp.depth.choice import chosen_notion, require_fitting, require_memory
from tukeydp.depth.notions import AnyScale, Notion
from tukeydp.forecast.rem import RemInputs, rem_rehearsal
from tukeydp.mechanisms.per_person import of_persons
from tukeydp.mechanisms.readable_check import checked
from tukeydp.mechanisms.rem_choice import chosen_plan, paper_plan
from tukeydp.mechanisms.unproven import require_swaps, unproven_rem
from tukeydp.padding import padded
from tukeydp.results.grouped_release import by_group
from tukeydp.results.release import Refused, Release
from tukeydp.spending import require_room
from tukeydp.trusted.account import ApproxDP, part_of
from tukeydp.trusted.bits import source
from tukeydp.trusted.boxes import whole_grid
from tukeydp.trusted.directions import require_spanning
from tukeydp.trusted.parameters import ParameterError, brief, checked_choice, checked_integer
from tukeydp.trusted.prices import share_of_group
from tukeydp.trusted.release import Spends, reserve
from tukeydp.trusted.rem.evidence import Plan, sparse_offsets
from tukeydp.trusted.rem.safety import Graded, Laplace, Paper, SafetyTest, point_if_safe
from tukeydp.trusted.rows import unbounded_grid

_TESTS: dict[str, SafetyTest] = {"graded": Graded(), "laplace": Laplace(), "paper": Paper()}


@padded
@of_persons
@checked(whole_rows=True)
@on_one_thread
def rem(
    x: Any,
    *,
    epsilon: Any,
    delta: Any,
    depth: Notion | None = None,
    resolution: Any = Fraction(1, 10**6),
    threshold: int | None = None,
    test: str = "graded",
    by: Any = None,
    keys: Any = None,
    person: Any = None,
    per_person: Any = "mean",
    neighbours: str = "swap",
    rows: Any = None,
    accountant: Spends | None = None,
    unproven: Any = None,
    check: Any = None,
    pad_to: Any = None,
    randomness: Any = None,
) -> Release | Refused:
    """Release a deep point of `x` without knowing any bounds, or refuse.

    Points of depth at least t are released with probability proportional to e^(epsilon_e T(y) / 2), where T(y) is the
    depth of y in the data, provided that a random test finds the data safe: that no single row could change much. With
    neighbours="add-remove" to e^(epsilon_e T(y)), after a test that a third fewer rows pass.

    Parameters
    ----------
    x
        Array-like of shape (n, d) or (n,), or a pandas, polars or Arrow table; one row per person. Never modified.
        A row with a missing or unreadable cell counts in no halfspace.
    epsilon, delta
        Privacy budget, epsilon > 0 and 0 < delta < 1; delta should be far below 1/n. A float means its shortest
        decimal: 0.1 is 1/10.
    depth
        `td.AnyScale(k)` (default: with a number of directions that grows with d), `td.Spread(k)` where all columns are
        known to have about the same scale, `td.Random(k)`, `td.AxisAligned()`,
        `td.Directions(vectors)`, or `td.Exact()`: 300 rows take a tenth of a second in two columns, 0.6 in three, and
        in four from half a second to half a minute, by the coin.
    resolution
        Step of the public grid, a scalar, one per column, or a dict of column name -> step. Give the true
        step of columns that hold few different
        values (1 for counts). The grid reaches 2**49 steps to either side of zero, 2**41 for exact depth
        (`release.grid` says how far that is); rows beyond are moved to its edge.
    threshold
        t, at least 1: the least depth that may be released. None: chosen from n, d, epsilon and delta alone. To try
        several on the same data and keep the best would not be private.
    test
        "graded" (default) releases from the fewest rows; "laplace" is the plain noisy threshold; "paper" is Algorithm 2
        of the paper with its constants.
    neighbours
        "swap": one row is replaced, and the number of rows is public. "add-remove": one row more or less, and their
        number stays secret; `rows` is needed, and `test` must be "graded" (docs/proofs/add-remove.md).
    rows
        With "add-remove": about how many rows there are, **known without the data**. The threshold and the split of
        epsilon are chosen for it; a wrong number by half or twice costs little, far fewer rows are refused.
    by, keys
        As for `td.mean`: a point for each group, or a refusal, all of them for one epsilon and delta. Half of both
        counts in each: a row that goes to another changes two groups; with neighbours="add-remove" all. `threshold` is
        then from 1 to an equal part of the rows, and `test` not "paper".
    person, per_person
        Where a person may have several rows: a column of `x` with each row's person, or an id for each row. Rows of one
        person become one, their "mean" or "median", and the guarantee is about persons.
    accountant
        None, or a `td.Accountant` that pays for the run before the data are touched, or refuses it.
    unproven
        None, or "mcmc" for an experiment **without any guarantee**: Algorithm 2 of the paper with volumes and the draw
        by random walks; `test` is left out. How many steps a walk needs is known from experience only, so `guarantee`
        is None, `private` False, and the result must not be published. A column of equal values has no volume: its
        levels count as empty, and the run refuses.
    check
        As for `td.mean`.
    pad_to
        None, or seconds: the call ends only at multiples of them, so that how long it takes tells at most which
        (docs/threat-model.md, "Time").
    randomness
        None for the operating system's, or `td.seeded(seed)` for tests: the release then is not private.

    Returns
    -------
    Release or Refused
        Both carry the guarantee: a refusal has spent it too.

    Privacy
    -------
    (epsilon, delta)-DP for `neighbours`; d, the column names and all parameters are public, n too under the swap of one
    row. How long the call takes depends on the data: see docs/threat-model.md.

    Cost
    ----
    Some dozens of exact linear programs, counts, volumes or inscribed ellipsoids: with 30 directions 0.03 seconds in
    two columns, 0.1 in five, 0.2 in ten; more with more directions (0.35 in ten by default).

    Examples
    --------
    >>> import numpy as np, tukeydp as td
    >>> x = np.random.default_rng(1).normal(loc=[5, 100], scale=[1, 20], size=(500, 2))
    >>> release = td.rem(x, epsilon=1, delta=1e-6, randomness=td.seeded(7))
    >>> release.released, bool((np.abs(release.point - x.mean(axis=0)) < [0.5, 10]).all())
    (True, True)
    >>> print(release.guarantee)
    epsilon = 1, delta = 1e-06 (approximate differential privacy, one row swapped)
    >>> td.rem(x[:40], epsilon=1, delta=1e-6, randomness=td.seeded(7)).released
    False
    """
    relation = checked_relation(neighbours, rows)
    guarantee = ApproxDP(epsilon, delta, neighbours=neighbours)
    checked_choice("test", test, _TESTS)
    require_swaps(relation, unproven)
    if relation.secret and test != "graded":
        raise ParameterError("test", "must be graded with neighbours='add-remove'", brief(test))
    if require_by(by, keys):
        if unproven is not None:
            raise ParameterError(
                "unproven", "must be left out with by: walks have no price to share out", brief(unproven)
            )
        if test == "paper":
            rule = "must be graded or laplace with by: the paper's has the number of rows in it, secret in a group"
            raise ParameterError("test", rule, brief(test))
    require_room(accountant, guarantee, unproven)
    bits = source(randomness)
    if relation.secret:
        relation.require_rows("for the threshold")
    records = held_records(x, relation, by=by, keys=keys)
    table, size, each = records.table, records.size_of_group, records.size
    assert isinstance(table, Table)
    assert size is not None
    assert each is not None
    lowest = None if threshold is None else checked_integer("threshold", threshold, least=1, most=size)
    notion = chosen_notion(depth, each, table.d, AnyScale).simplest(table.d)
    require_memory(notion, each, table.d)
    own = part_of(guarantee, share_of_group(neighbours, records.count))
    assert isinstance(own, ApproxDP)
    forecast = _plan(test, size, table.d, own, lowest)
    # A group may have all rows of the table: levels are looked at as far as that.
    reaches = records.count is not None and not relation.secret
    plan = replace(forecast, offsets=sparse_offsets(each)) if reaches else forecast
    grid = unbounded_grid(table.d, resolution=resolution, bits=notion.wide_bits(table.d), columns=table.columns)
    if unproven is not None:
        if test == "laplace":
            raise ParameterError("test", "must be left out with unproven='mcmc', which runs the paper's", repr(test))
        budget = {"epsilon": guarantee.epsilon, "delta": guarantee.delta}
        return unproven_rem(unproven, table, **budget, grid=grid, depth=notion, threshold=lowest, randomness=bits)
    if depth is not None:
        require_fitting(notion, grid, spanning=True)
    settings = {
        "test": test,
        "threshold": plan.threshold,
        "epsilon_draw": plan.release,
        "epsilon_test": plan.test,
        **relation.settings,
        **records.settings,
    }
    told = records.public
    public = {**told, "notion": repr(notion), "grid": grid.to_dict(), "settings": settings, **records.public_groups}
    run = reserve({"rem": guarantee}, mechanism="rem", source=bits, accountant=accountant, parameters=public)
    public_key, charges = run.public("directions"), run.charge("rem").by_group(records.count)
    outcomes: list[Release | Refused] = []
    for (labels, cells), charge in zip(records.parts(), charges, strict=True):
        prepared = notion.prepare(grid.snap(cells), grid, public_key, lowest=1)
        directions = prepared.along_public().directions
        require_spanning(directions)
        outcome = partial(
            Refused,
            seal=run.seal,
            mechanism="rem",
            seeded=not bits.private,
            **told,
            notion=repr(notion),
            directions=directions,
            grid=grid,
            settings=settings,
            rehearsal=rem_rehearsal(RemInputs(notion, grid, forecast, _TESTS[test], size)),
        )
        y = point_if_safe(prepared, whole_grid(grid), plan, _TESTS[test], charge, run, *labels)
        outcomes.append(outcome() if y is None else Release(point=grid.point(y), **outcome.keywords))
    return by_group(outcomes, records, settings)


def _plan(test: str, n: int, d: int, guarantee: ApproxDP, threshold: int | None) -> Plan:
    if test == "paper":
        return paper_plan(n, guarantee.epsilon, guarantee.delta, threshold)
    return chosen_plan(n, d, guarantee.epsilon, guarantee.delta, threshold, guarantee.neighbours)
