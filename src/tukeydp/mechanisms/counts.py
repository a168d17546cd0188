"""Numbers and shares of public categories: disjoint cells with discrete Laplace noise (docs/proofs/counts.md)."""

from __future__ import annotations

import os
from fractions import Fraction
from pathlib import Path
from typing import Any

from tukeydp.data.categories import OTHER, Apart, Question, category_records, places_of, questions
from tukeydp.data.files import read
from tukeydp.data.keys import checked_keys, require_by
from tukeydp.data.lazy_tables import LazyTable, from_path
from tukeydp.data.records import Records
from tukeydp.data.relation import Relation, checked_relation
from tukeydp.mechanisms.clipped_interval import checked_confidence, checked_joint
from tukeydp.mechanisms.per_person import OfPersons
from tukeydp.mechanisms.readable_check import asked
from tukeydp.padding import padded
from tukeydp.results.counts_release import CountsRelease, CountTable
from tukeydp.spending import require_room
from tukeydp.trusted.account import Concentrated, PureDP, cost_of, rho_of_cells
from tukeydp.trusted.bits import source
from tukeydp.trusted.parameters import ParameterError, brief, positive_rational
from tukeydp.trusted.prices import COUNT, kappa
from tukeydp.trusted.release import Run, Spends, reserve
from tukeydp.trusted.steps import CategoryCounts, noised_cells


@padded
def counts(
    x: Any,
    column: Any = None,
    *,
    categories: Any = None,
    edges: Any = None,
    epsilon: Any,
    by: Any = None,
    keys: Any = None,
    person: Any = None,
    per_person: Any = "mean",
    neighbours: str = "swap",
    rows: Any = None,
    confidence: Any = 0.95,
    joint: bool = False,
    accountant: Spends | None = None,
    check: Any = None,
    pad_to: Any = None,
    randomness: Any = None,
) -> CountsRelease:
    """Release how many records are in each of several public categories, and their shares.

    Parameters
    ----------
    x
        A table, or one column of it: an array, a list, a frame, a file (its path, or `td.read`) or a lazy frame.
    column
        The name of a column, or its position in an array; a tuple of names for a cross-table. None where `x` is the
        column, or where dicts name several: each then has a table, and an equal part of epsilon.
    categories
        A list, or a dict of column name -> list. They are public and compared as keys are: numbers as numbers, others
        as texts. What is in none of them counts in a last cell, "other / missing". "declared" takes those that a pandas
        column of categories or a polars Enum declares: only if they were chosen without the data.
    edges
        In place of categories, for a histogram: public numbers, ascending. Each interval has its lower end, the last
        one both.
    epsilon, neighbours, rows, accountant, pad_to, randomness
        As for `td.mean`.
    by, keys
        As for `td.summary`: every group has its own cells. Rows without a listed key are in none.
    person, per_person
        One record for each person, whose category is that of their rows if these agree, else none. Values between
        `edges` are made by the rule `per_person`, as for `td.mean`.
    confidence
        Of the intervals; None for none. Those of counts hold the table's own number, and allow for noise alone; those
        of shares hold the population's.
    joint
        Whether the confidence is for all cells together, rather than for each by itself.
    check
        Must be None or False: the last cell says how many are in no category.

    Privacy
    -------
    Pure epsilon-DP for `neighbours`, for all cells together. A record is in one cell of each table, so that epsilon is
    not divided among cells or groups: noise has the scale 2 / epsilon under a swap, 1 / epsilon under "add-remove".

    Examples
    --------
    >>> import tukeydp as td
    >>> sex = ["f"] * 520 + ["m"] * 470 + [None] * 10
    >>> found = td.counts(sex, categories=["f", "m"], epsilon=1, randomness=td.seeded(7))
    >>> dict(found)
    {'f': 521, 'm': 468, 'other / missing': 8}
    >>> found.intervals["f"], found.guarantee
    ((515, 527), PureDP(epsilon=Fraction(1, 1)))
    """
    budget = positive_rational("epsilon", epsilon)
    relation = checked_relation(neighbours, rows)
    require_by(by, keys)
    together = checked_joint(joint)
    level = None if confidence is None else checked_confidence(confidence)
    _refuse_check(check)
    if person is None and per_person != "mean":
        raise ParameterError("per_person", "must be left out without person", brief(per_person))
    x = _opened(x, person)
    tables = questions(x, column, categories, edges)
    apart = Apart(by, None if by is None else checked_keys(keys), person, per_person)
    plan = {f"table {i}": _part(budget / len(tables), one, relation, apart) for i, one in enumerate(tables)}
    payer = accountant if accountant is None or person is None else OfPersons(accountant)
    require_room(payer, cost_of(plan))
    bits = source(randomness)
    records = category_records(x, tables, relation, apart)
    told = {} if person is None else {"per_person": per_person}
    settings = {
        **({} if level is None else {"confidence": level, "joint": together}),
        **({} if len(tables) == 1 else {"epsilon_of_table": budget / len(tables)}),
        **({} if records.keys is None else {"groups": len(records.keys)}),
        **told,
        **relation.settings,
    }
    public = {
        "n": records.public["n"],
        "categories": {one.title: [list(c.names) for c in one.columns] for one in tables},
        **({} if records.keys is None else {"by": records.by, "keys": list(records.keys.names)}),
        "settings": settings,
    }
    run = reserve(plan, mechanism="counts", source=bits, accountant=payer, parameters=public)
    return CountsRelease(
        tables=_released(records, tables, run),
        seal=run.seal if person is None else run.seal.about_persons(),
        seeded=not bits.private,
        n=records.public["n"],
        by=records.by,
        groups=None if records.keys is None else records.keys.names,
        confidence=level,
        joint=together,
        settings=settings,
    )


def _opened(x: Any, person: Any) -> Any:
    """A table by the path of its file, as for `td.mean`; for persons a single file is held in memory."""
    one_file = isinstance(x, str | os.PathLike) and Path(x).is_file()
    return read(x) if one_file and person is not None else from_path(x, None)


def _refuse_check(check: Any) -> None:
    allowed, declined = asked(check)
    if allowed is not None and not declined:
        rule = "must be left out: the last cell says how many are in no category"
        raise ParameterError("check", rule, "a check")


def _kernel(one: Question, relation: Relation, apart: Apart, places: Any = None) -> CategoryCounts:
    """A yes/no question of a public number of records is a single cell: the others are the rest."""
    groups = None if apart.keys is None else len(apart.keys)
    places = {c.column: j for j, c in enumerate(one.columns)} if places is None else places
    return CategoryCounts(
        d=len(places),
        places=tuple(places[c.column] for c in one.columns),
        sizes=tuple(len(c.names) for c in one.columns),
        edges=tuple(c.edges for c in one.columns),
        groups=groups or 1,
        rest=relation.secret or groups is not None or one.cells > 1,
    )


def _part(epsilon: Fraction, one: Question, relation: Relation, apart: Apart) -> PureDP:
    """What a table costs: known before a row is."""
    rho = rho_of_cells(epsilon, relation.neighbours, _kernel(one, relation, apart).length)
    return PureDP(epsilon, neighbours=relation.neighbours, zcdp=Concentrated(rho))


def _released(records: Records, asked_for: tuple[Question, ...], run: Run) -> tuple[CountTable, ...]:
    """All tables from one reading of the records, each with its own charge and key."""
    relation = records.relation
    columns = list({c.column: c for one in asked_for for c in one.columns}.values())
    places = places_of(columns, isinstance(records.table, LazyTable))
    apart = Apart(records.by, records.keys)
    kernels = [_kernel(one, relation, apart, places) for one in asked_for]
    found = []
    for i, (one, kernel, total) in enumerate(zip(asked_for, kernels, records.total(*kernels), strict=True)):
        charge = run.charge(f"table {i}", "table", i)
        weight = kappa(charge.epsilon, COUNT.one, COUNT.swap, relation.neighbours, kernel.length)
        noised = noised_cells(kernel, total, charge, relation.neighbours)
        rows = [noised[start : start + kernel.width] for start in range(0, kernel.length, kernel.width)]
        found.append(
            CountTable(
                titles=tuple(c.title for c in one.columns),
                categories=tuple(c.names for c in one.columns),
                noised=tuple(map(tuple, rows)),
                scale=1 / weight,
                rest=kernel.rest,
                other=OTHER,
            )
        )
    return tuple(found)
