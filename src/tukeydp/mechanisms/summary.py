"""The private "Table 1": numbers, means, standard deviations, quartiles and shares, by group or not, for one epsilon.

One plan for all lines, made from public numbers (`table_plan`); the steps are those of docs/proofs/groups.md, sections
4 and 11, and docs/proofs/mean.md, section 10. What is shown is post-processing of what they release (`table_lines`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from tukeydp.blas import on_one_thread
from tukeydp.data.categories import Apart, Categories, Question, category_records, questions
from tukeydp.data.keys import checked_keys, require_by
from tukeydp.data.lazy_tables import from_path, is_lazy
from tukeydp.data.records import Records
from tukeydp.data.records import records as open_records
from tukeydp.data.relation import Relation, checked_relation
from tukeydp.data.tables import Source, Table, width_of_rows
from tukeydp.mechanisms.clipped_interval import Level, checked_confidence, checked_joint
from tukeydp.mechanisms.clipped_mean import ClippedMean, Transcript
from tukeydp.mechanisms.cube import checked_epsilon
from tukeydp.mechanisms.found_bounds import drawn_bounds
from tukeydp.mechanisms.mean_ways import known_widths
from tukeydp.mechanisms.per_person import OfPersons, of_persons, person_note
from tukeydp.mechanisms.readable_check import asked, checked
from tukeydp.mechanisms.table_lines import Counted, NormSummed, Sizes, TableSource
from tukeydp.mechanisms.table_plan import (
    CELLS,
    GRID,
    MOST_LIGHTER,
    NOTICED,
    QUARTILES,
    RADII_BELOW,
    STATISTICS,
    UNSEEN_RADIUS,
    Forecast,
    Layout,
    LeftOut,
    NormPlan,
    TablePlan,
    affords_magnitudes,
    forecast,
    scaled_radii,
    table_plan,
    table_windows,
    usual_radius,
)
from tukeydp.mechanisms.table_spread import GIVEN, WINDOW
from tukeydp.padding import padded
from tukeydp.results.noise_quantiles import quantile_of_noise
from tukeydp.results.summary_cells import COMPARISONS
from tukeydp.results.summary_result import Summary
from tukeydp.spending import least_cost, require_room
from tukeydp.trusted.bits import Randomness, source
from tukeydp.trusted.parameters import (
    FloatArray,
    IntArray,
    ParameterError,
    brief,
    checked_choice,
    checked_integer,
    in_order,
    rational,
)
from tukeydp.trusted.ranks import (
    HeldValues,
    drawn_quantiles,
    number_of_levels,
    paid_units,
    round_numbers,
    steps_of,
)
from tukeydp.trusted.release import Charge, Run, Spends, reserve
from tukeydp.trusted.rows import BoundedColumns, bounded_columns
from tukeydp.trusted.steps import (
    HALF,
    CellCounts,
    NormBeyond,
    NormSums,
    TableCounts,
    joint_rungs,
    noised_counts,
    noised_norm_sums,
    noised_sums,
    rung,
)
from tukeydp.trusted.sums import Kernel


@padded
def summary(
    x: Any,
    *,
    epsilon: Any,
    bounds: Any = None,
    categories: Any = None,
    statistics: Any = None,
    by: Any = None,
    keys: Any = None,
    person: Any = None,
    per_person: Any = "mean",
    weights: Any = None,
    weight_bounds: Any = None,
    sd: Any = None,
    confidence: Any = 0.95,
    joint: bool = False,
    labels: Any = None,
    compare: Any = None,
    neighbours: str = "swap",
    rows: Any = None,
    accountant: Spends | None = None,
    check: Any = None,
    pad_to: Any = None,
    randomness: Any = None,
) -> Summary:
    """Release the table that opens a report, its groups side by side, for one epsilon.

    Numbers have mean (SD) or median [IQR], categories n (%). `summary.to_html()`, `to_docx()`, `to_xlsx()`,
    `to_markdown()`, `to_latex()`, `to_csv()`, `to_ard()`, `to_frame()`, `plot()`.

    Parameters
    ----------
    x, epsilon, neighbours, rows, accountant, check, pad_to, randomness
        As for `td.mean`; a lazy frame is read in passes. Tables with categories are not checked: what is in none of
        them counts as missing, and is told.
    bounds
        As for `td.mean`: of columns that hold numbers. In a dict None stands for bounds that nobody knows; without any
        all numbers are such. Their magnitudes are then found first, for a part of epsilon.
    categories
        A dict of column name -> list of its categories, or a dict from what stands in the cells to what it is called.
        Public, as for `td.counts`; "declared" for those that you declared for the frame's column. What is in none of
        them is missing.
    statistics
        "mean (SD)" or "median [IQR]", for all numbers, or a dict of column name -> one of them; the mean unless given.
    by
        A column of `x` with the key of each row's group, or one key for each row. Each group then has a column.
    keys
        The groups' keys. They are public and must be given with `by`: keys read off the data would tell who is there.
        Rows with another key, or none, belong to no group. Keys that are numbers are compared as numbers, others as
        texts. A dict gives them names.
    person, per_person
        As for `td.mean`: one record for each person, and a guarantee about persons. A person's category is that of
        their rows if these agree.
    weights, weight_bounds
        The name of a column with survey weights, and public bounds (0, most): means and shares are then weighted ones.
    sd
        Public standard deviations, as for `td.mean`. They are shown as given, and save the budget for finding them.
    confidence
        The nominal level of the confidence intervals; None for a table without them.
    joint
        Whether the confidence is for all lines together, rather than for each by itself.
    labels
        A dict of column name -> what the table calls it.
    compare
        "smd" or "p": a last column with the standardised difference of the first two groups, or with p-values; made
        from what was released.

    Privacy
    -------
    Pure epsilon-DP for `neighbours`, for all lines together; with groups also where the row goes to another group. The
    table's number of rows is public under the swap of one row, the groups' sizes are not.

    Accuracy
    --------
    `td.plan_summary` says beforehand how far each line is typically off. Where records suffice, columns are clipped
    where the records are; else every record is bounded in all columns at once, around a rough centre. One noised number
    of records for each group, and one standard deviation for all groups together, that within them. Lines that
    epsilon does not suffice for are left out, and named.

    Examples
    --------
    >>> import numpy as np, tukeydp as td
    >>> rng = np.random.default_rng(1)
    >>> x = np.column_stack([rng.normal(120, 15, 4000), rng.random(4000) < 0.3])
    >>> arm = np.where(rng.random(4000) < 0.5, "A", "B")
    >>> table = td.summary(
    ...     x, by=arm, keys=["A", "B"], epsilon=2, bounds=([60, 0], [240, 1]), randomness=td.seeded(7)
    ... )
    >>> [(line.group, line.column, round(line.mean, 1)) for line in table.lines]
    [('A', 'column 0', 119.2), ('B', 'column 0', 120.6), ('A', 'column 1', 0.3), ('B', 'column 1', 0.3)]
    >>> table.guarantee
    PureDP(epsilon=Fraction(2, 1))
    """
    named = isinstance(keys, Mapping)
    told: dict[str, Any] = {"labels": {str(k): str(v) for k, v in (labels or {}).items()}}
    told["key_labels"] = {str(k): str(v) for k, v in keys.items()} if named else {}
    told["compare"] = None if compare is None else checked_choice("compare", compare, tuple(COMPARISONS))
    shared: dict[str, Any] = {
        "epsilon": epsilon, "bounds": bounds, "sd": sd, "confidence": confidence, "joint": joint, "by": by,
        "keys": list(keys) if named else keys, "neighbours": neighbours, "rows": rows, "accountant": accountant,
        "randomness": randomness, "person": person, "per_person": per_person, "check": check,
    }  # fmt: skip
    known = bounds is not None and not (isinstance(bounds, Mapping) and None in bounds.values())
    if known and categories is None and statistics is None and weights is None:
        found = _of_numbers(x, **shared)
    else:
        shared |= {"categories": categories, "statistics": statistics, "weights": weights}
        found = _of_table(x, weight_bounds=weight_bounds, **shared)
    return replace(found, **told) if isinstance(found, Summary) else found


@of_persons
@checked()
@on_one_thread
def _of_numbers(
    x: Any,
    *,
    epsilon: Any,
    bounds: Any,
    confidence: Any,
    sd: Any,
    joint: bool,
    neighbours: str,
    rows: Any,
    by: Any = None,
    keys: Any = None,
    accountant: Spends | None = None,
    check: Any = None,
    randomness: Any = None,
) -> Summary:
    """Numbers between known bounds, of any kind of table."""
    asking = _Asking(epsilon, confidence, joint, neighbours, rows)
    require_by(by, keys)
    require_room(accountant, least_cost(asking.budget, None, 6, neighbours))
    bits = source(randomness)
    records = open_records(x, asking.relation, by=by, keys=keys)
    table = records.table
    columns = bounded_columns(table.d, bounds, table.columns)
    names = table.columns or tuple(f"column {j}" for j in range(table.d))
    layout = Layout(names, columns, known=_known(columns, in_order("sd", sd, table.columns)))
    return _released(records, layout, asking, bits, accountant, sd, names)


@on_one_thread
def _of_table(
    x: Any,
    *,
    epsilon: Any,
    bounds: Any,
    categories: Any,
    statistics: Any,
    by: Any,
    keys: Any,
    person: Any,
    per_person: Any,
    weights: Any,
    weight_bounds: Any,
    confidence: Any,
    sd: Any,
    joint: bool,
    neighbours: str,
    rows: Any,
    accountant: Spends | None,
    check: Any,
    randomness: Any,
) -> Summary:
    """Numbers, categories and weights: columns that are read by their names, each as it is declared."""
    asking = _Asking(epsilon, confidence, joint, neighbours, rows)
    require_by(by, keys)
    allowed, declined = asked(check)
    if allowed is not None and not declined:
        raise ParameterError("check", "must be left out with categories, weights and unknown bounds", "a check")
    if person is None and per_person != "mean":
        raise ParameterError("per_person", "must be left out without person", brief(per_person))
    x = from_path(x, None)
    apart = Apart(by, None if by is None else checked_keys(keys), person, per_person)
    grouped = _counted(x, categories)
    asked_for = _Asked(x, bounds, grouped, statistics, _weighed(weights, weight_bounds), apart)
    payer = accountant if accountant is None or person is None else OfPersons(accountant)
    require_room(payer, least_cost(asking.budget, None, 6, neighbours))
    bits = source(randomness)
    records = category_records(x, asked_for.questions, asking.relation, apart)
    layout = asked_for.layout(sd)
    left_out: tuple[LeftOut, ...] = ()
    size = records.size
    if layout.unbounded and not affords_magnitudes(layout, size or math.inf, neighbours, asking.budget):
        left_out = _without_bounds(layout, size, neighbours, asking.budget)
        asked_for = replace(asked_for, bounds={**asked_for.by_name, **dict.fromkeys(_unknown(layout), "left out")})
        layout = asked_for.layout(sd)
        if not layout.names and not layout.categories:
            raise ParameterError(
                "bounds", "must be given", f"none: without them it takes {left_out[0].needs.removeprefix(_OR_BOUNDS)}"
            )
        records = category_records(x, asked_for.questions, asking.relation, apart)
    found = _released(records, layout, asking, bits, payer, sd, asked_for.order, left_out)
    if person is None:
        return found
    assert found.seal is not None
    told = {"per_person": dict(per_person) if isinstance(per_person, Mapping) else per_person}
    note = person_note(per_person, grouped=by is not None)
    return replace(
        found, seal=found.seal.about_persons(), settings={**found.settings, **told}, notes=(*found.notes, note)
    )


# What is asked for.


class _Asking:
    """Parameters that need no table, checked before one is opened."""

    def __init__(self, epsilon: Any, confidence: Any, joint: Any, neighbours: Any, rows: Any) -> None:
        self.budget = checked_epsilon(epsilon)
        self.relation: Relation = checked_relation(neighbours, rows)
        together = checked_joint(joint)
        self.level = None if confidence is None else Level(checked_confidence(confidence), together)


@dataclass(frozen=True, eq=False)
class _Asked:
    """Which columns of a table are measured, counted or weights: from its names and the parameters alone."""

    x: Any
    bounds: Any
    grouped: tuple[Question, ...]
    statistics: Any
    weight: tuple[str | int, float] | None
    apart: Apart

    @property
    def categories(self) -> list[Categories]:
        return [one.columns[0] for one in self.grouped]

    @property
    def by_name(self) -> dict[Any, Any]:
        """Bounds of each measured column; None where nobody knows them."""
        if isinstance(self.bounds, Mapping):
            found = dict(self.bounds)
        else:
            names = self._others()
            ends = None if self.bounds is None else bounded_columns(len(names), self.bounds, names).ends
            pairs = [None] * len(names) if ends is None else list(zip(*ends, strict=True))
            found = dict(zip(names, pairs, strict=True))
        counted = {one.column for one in self.categories}
        for name in found:
            if name in counted:
                raise ParameterError("bounds", "must be of columns without categories", brief(name))
        return found

    def _others(self) -> list[Any]:
        """All columns that are nothing else."""
        names = names_of(self.x)
        if names is None:
            rule = "must be a dict with the names of columns: which others the table has is not known"
            raise ParameterError("bounds", rule, brief(self.bounds))
        taken: set[Any] = {one.column for one in self.categories}
        taken |= {name for name in (self.apart.by, self.apart.person) if isinstance(name, str)}
        if self.weight is not None:
            taken |= {self.weight[0]}
        return [name for name in names if name not in taken]

    @property
    def measured(self) -> list[Any]:
        return [name for name, ends in self.by_name.items() if not isinstance(ends, str)]

    @property
    def order(self) -> tuple[str, ...]:
        """As the table has them; else numbers first."""
        shown = [str(name) for name in [*self.measured, *(one.title for one in self.categories)]]
        names = names_of(self.x)
        listed = [] if names is None else [str(name) for name in names if str(name) in shown]
        return tuple(dict.fromkeys([*listed, *shown]))

    @property
    def questions(self) -> tuple[Question, ...]:
        ends = self.by_name
        found = []
        for name in self.measured:
            pair = ends[name]
            clipped = None if pair is None else (float(rational("bounds", pair[0])), float(rational("bounds", pair[1])))
            found.append(Categories(name, (), ends=clipped))
        if self.weight is not None:
            found.append(Categories(self.weight[0], (), ends=(0.0, self.weight[1])))
        return tuple(Question((one,)) for one in [*found, *self.categories])

    def layout(self, sd: Any) -> Layout:
        ends, names = self.by_name, self.measured
        titles = tuple(str(name) for name in names)
        known = {str(name): (-1, 1) if ends[name] is None else ends[name] for name in names}
        columns = bounded_columns(len(names), known, titles) if names else BoundedColumns((), ())
        unbounded = tuple(j for j, name in enumerate(names) if ends[name] is None)
        if sd is not None and unbounded:
            raise ParameterError("sd", "must be left out where bounds are not known", brief(sd))
        return Layout(
            titles,
            columns,
            tuple(self.categories),
            unbounded,
            tuple(j for j, kind in enumerate(_statistics(self.statistics, titles)) if kind == STATISTICS[1]),
            None if self.weight is None else self.weight[1],
            _known(columns, in_order("sd", sd, titles)),
        )


def names_of(x: Any) -> list[Any] | None:
    """Names of columns, or their places in an array; None where they are not known without reading."""
    if isinstance(x, Source):
        return list(x.names)
    if is_lazy(x):
        return list(x.collect_schema().names()) if hasattr(x, "collect_schema") else None
    listed = getattr(x, "column_names", None) or getattr(x, "columns", None)  # of Arrow, and of frames
    if listed is not None and not callable(listed):
        return list(listed)
    if isinstance(x, Mapping):
        return list(x)
    if isinstance(x, np.ndarray):
        return list(x.dtype.names) if x.dtype.names else list(range(x.shape[1] if x.ndim == 2 else 1))
    return list(range(width_of_rows(x) or 1)) if isinstance(x, list | tuple) else None


def _counted(x: Any, categories: Any) -> tuple[Question, ...]:
    if categories is None:
        return ()
    if not isinstance(categories, Mapping):
        raise ParameterError("categories", "must be a dict of column name -> list of its categories", brief(categories))
    return questions(x, None, categories, None)


def _weighed(weights: Any, bounds: Any) -> tuple[str | int, float] | None:
    if weights is None:
        if bounds is not None:
            raise ParameterError("weights", "must be given with weight_bounds", "none")
        return None
    if not isinstance(weights, str | int) or isinstance(weights, bool):
        raise ParameterError("weights", "must be the name of a column", type(weights).__name__)
    try:
        low, high = (rational("weight_bounds", end) for end in bounds)
    except (TypeError, ValueError):
        rule = "must be given with weights: a pair (least, most), known without the data"
        raise ParameterError("weight_bounds", rule, brief(bounds)) from None
    if not 0 <= low < high:
        raise ParameterError("weight_bounds", "must have 0 <= least < most", brief(bounds))
    return weights, float(high)


def _statistics(given: Any, names: Sequence[str]) -> list[str]:
    """Of each measured column."""
    if given is None or isinstance(given, str):
        kind = STATISTICS[0] if given is None else checked_choice("statistics", given, STATISTICS)
        return [kind] * len(names)
    if not isinstance(given, Mapping):
        raise ParameterError("statistics", f"must be {' or '.join(STATISTICS)}, or a dict by column", brief(given))
    for name, kind in given.items():
        checked_choice("statistics", kind, STATISTICS)
        if str(name) not in names:
            raise ParameterError("statistics", "must be of columns that hold numbers", brief(name))
    found = {str(name): kind for name, kind in given.items()}
    return [found.get(name, STATISTICS[0]) for name in names]


def _known(columns: BoundedColumns, sd: Any) -> tuple[float, ...] | None:
    """Public standard deviations relative to the bounds, whose width is then 2."""
    return None if sd is None else tuple((2.0 / known_widths(columns, sd)).tolist())


def _unknown(layout: Layout) -> list[str]:
    return [layout.names[j] for j in layout.unbounded]


_OR_BOUNDS = "bounds, or "


def _without_bounds(layout: Layout, size: int | None, neighbours: str, epsilon: Fraction) -> tuple[LeftOut, ...]:
    rows = size or 1
    while not affords_magnitudes(layout, rows, neighbours, epsilon):
        rows = math.ceil(rows * 1.2)
    said = f"{_OR_BOUNDS}about {rows} records"
    return tuple(LeftOut(name, STATISTICS[0], said) for name in _unknown(layout))


# The release.


def _released(
    records: Records,
    layout: Layout,
    asking: _Asking,
    bits: Randomness,
    accountant: Spends | None,
    sd: Any,
    order: Sequence[str],
    left_out: tuple[LeftOut, ...] = (),
) -> Summary:
    level, relation = asking.level, asking.relation
    plan = table_plan(layout, asking.budget, records.size, relation.neighbours, records.count)
    plan = replace(plan, left_out=(*left_out, *plan.left_out))
    keys_shown = None if records.keys is None else records.keys.names
    settings = {**({} if keys_shown is None else {"groups": len(keys_shown)}), **plan.settings, **relation.settings}
    public = {
        **records.public,
        "bounds": layout.columns.ends,
        "confidence": None if level is None else level.confidence,
    }
    public |= {"sd": sd, "settings": settings} | ({} if keys_shown is None else {"by": records.by, "keys": keys_shown})
    if layout.categories:
        public["categories"] = {one.title: list(one.names) for one in layout.categories}
    run = reserve(plan.parts, mechanism="summary", source=bits, accountant=accountant, parameters=public)
    columns, means, counts, quartiles = _Steps(records, plan, run).all()
    return Summary(
        seal=run.seal,
        seeded=run.seal.seeded,
        n=records.public["n"],
        columns=tuple(order),
        bounds=columns.ends,
        confidence=None if level is None else level.confidence,
        mechanism=plan.mechanism,
        source=TableSource(
            plan, columns, None if relation.secret else records.public["n"], means, counts, quartiles,
            keys_shown or (None,), tuple(order), level, layout.known, layout.known is not None,
        ),
        by=records.by,
        keys=keys_shown,
        settings=settings,
        left_out=tuple(f"{one.statistic} of {one.column}: it would take {one.needs}" for one in plan.left_out),
        weighted=layout.weight is not None,
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class _Measured:
    """A kernel of measured columns, without the others' cells."""

    kernel: Any
    measured: int
    d: int

    @property
    def length(self) -> int:
        return int(self.kernel.length)

    def __call__(self, cells: FloatArray, place: Any) -> IntArray:
        found: IntArray = self.kernel(np.concatenate([cells[:, : self.measured], cells[:, self.d :]], axis=1), place)
        return found


class _Steps:
    """The steps of a plan, one after the other, each with its charge."""

    def __init__(self, records: Records, plan: TablePlan, run: Run) -> None:
        self.records, self.plan, self.run, self.layout = records, plan, run, plan.layout
        self.columns = plan.layout.columns
        self.groups = plan.groups or 1

    def all(self) -> tuple[BoundedColumns, Any, Counted | None, dict[int, list[list[float]]]]:
        plan = self.plan
        if plan.alone:
            assert isinstance(plan.means, ClippedMean)
            return self.columns, plan.means.released(self.records, self.columns, self.run.charge("summary")), None, {}
        if plan.magnitudes:
            self.columns = self._bounded()
        many = self._stand_out()
        means: Transcript | NormSummed | None = None
        if isinstance(plan.means, ClippedMean):
            n = None if self.records.relation.secret else self.records.table.n
            means = plan.means.run(self._measured, self.columns, n, self.run.charge("means", "means"))
        elif plan.means is not None:
            means = self._norm(plan.means, self.run.charge("means", "means"))
        return self.columns, means, self._counts(many), {j: self._quartiles(j) for j in plan.medians}

    def _measured(self, *kernels: Kernel) -> list[list[int]]:
        return self.records.total(*(_Measured(one, self.columns.d, self.layout.d) for one in kernels))

    def _kernel(self, groups: int, **more: Any) -> TableCounts:
        given: dict[str, Any] = {"shares": (), "levels": (), "counted": (), "weight": self.layout.weighed} | more
        return TableCounts(self.layout.d, self.columns, sizes=self.layout.sizes, groups=groups, **given)

    def _bounded(self) -> BoundedColumns:
        """Bounds of columns where none are known: the window of magnitudes that holds most of every column's values."""
        unbounded, charge = self.layout.unbounded, self.run.charge("magnitudes", "magnitudes")
        lower, upper = list(self.columns.lower), list(self.columns.upper)
        drawn = drawn_bounds(self.records, self.layout.d, unbounded, 2, charge)
        for j, ends in zip(unbounded, drawn, strict=True):
            lower[j], upper[j] = ends
        return BoundedColumns(tuple(lower), tuple(upper))

    def _stand_out(self) -> tuple[int, ...]:
        """Places where more cells are missing than noise alone might be."""
        layout = self.layout
        measured = () if isinstance(self.plan.means, ClippedMean) else range(self.columns.d)
        places = (*measured, *range(layout.first_category, layout.d))
        if not self.plan.missing or not places:
            return ()
        kernel = self._kernel(1, counted=places, weight=None)
        (found,) = self.records.total(kernel)
        records, *values = found
        missing = [(records - one) // HALF for one in values]
        noised = noised_counts(missing, self.run.charge("missing", "missing"))
        usual = quantile_of_noise(len(places), NOTICED) / float(self.plan.missing)
        return tuple(place for place, count in zip(places, noised, strict=True) if count > usual)

    def _norm(self, plan: NormPlan, charge: Charge) -> NormSummed:
        """Looks at where columns are and how far they spread, then sums of what lies within one radius for all."""
        layout, run = self.layout, charge.split(plan.parts)
        places, many = layout.means, float(self.records.size or 1)
        centre: tuple[float, ...] = (0.0,) * len(places)
        scale = (1.0,) * len(places) if layout.known is None else tuple(1.0 / layout.known[j] for j in places)
        usual, sizes = (GIVEN,) * len(places), None
        for i, look in enumerate(plan.looks):
            own = run.charge(f"look {i}", "step", "look", i)
            if look.kind == "middle":
                centre, many = self._middle(places, own)
                continue
            if look.kind == "window":
                centre, wide = self._windows(places, own)
                usual = tuple((one / WINDOW[0], WINDOW[1]) for one in wide)
                scale = tuple(1.0 / sd for sd, _ in usual)
                continue
            # Only what is shown is weighted.
            weight = None if look.kind == "centre" else layout.weighed
            given = {"places": places, "centre": centre, "scale": scale, "weight": weight}
            radius = UNSEEN_RADIUS * usual_radius(len(places))
            if look.reach:
                radii = tuple(2.0 * sum(scale) * 2.0 ** (-k / 4) for k in range(RADII_BELOW))
                reach = run.charge(f"reach {i}", "step", "reach", i)
                radius = self._radius(radii, plan.reach_weights(look.reach), given, reach)
            (noised,) = self._norm_sums(1, given | {"radius": radius, "absolute": look.kind == "sizes"}, own)
            if look.kind == "centre":
                moved = (c + radius / a * float(s) / many for c, a, s in zip(centre, scale, noised, strict=True))
                centre = tuple(max(-1.0, min(1.0, one)) for one in moved)
            else:
                sizes = Sizes(plan, look.epsilon, centre, scale, radius, tuple(noised), many, usual)
                scale = tuple(1.0 / sizes.spread(k, ((many, 0.0),)).middle for k in range(len(places)))
        given = {"places": places, "centre": centre, "scale": scale, "weight": layout.weighed}
        weights = plan.radius_weights(len(places), min(MOST_LIGHTER, layout.lighter))
        radius = self._radius(scaled_radii(len(places)), weights, given, run.charge("radius", "step", "radius"))
        sums = self._norm_sums(self.groups, given | {"radius": radius}, run.charge("sums", "step", "sums"))
        return NormSummed(plan, places, centre, scale, radius, tuple(map(tuple, sums)), sizes)

    def _norm_sums(self, groups: int, given: dict[str, Any], charge: Charge) -> list[list[Fraction]]:
        kernel = NormSums(self.layout.d, self.columns, groups=groups, **given)
        (total,) = self.records.total(kernel)
        return noised_norm_sums(kernel, total, charge)

    def _radius(
        self, radii: tuple[float, ...], weights: tuple[int, ...], given: dict[str, Any], charge: Charge
    ) -> float:
        kernel = NormBeyond(NormSums(self.layout.d, self.columns, groups=1, radius=radii[0], **given), radii)
        (beyond,) = self.records.total(kernel)
        return radii[rung(np.array(beyond, dtype=np.int64), weights, charge)]

    def _windows(self, places: tuple[int, ...], charge: Charge) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """Middles and widths of a window of each column, from -1 to 1: those that hold most values, all at once."""
        kernel = CellCounts(self.columns, places, CELLS)
        (counted,) = self._measured(kernel)
        first, end, weights = table_windows()
        drawn = joint_rungs(kernel.outside(counted, [np.array([first, end])] * len(places)), weights, charge)
        pairs = [(2.0 * first[k] / CELLS - 1.0, 2.0 * end[k] / CELLS - 1.0) for k in drawn]
        return tuple((low + high) / 2.0 for low, high in pairs), tuple(high - low for low, high in pairs)

    def _middle(self, places: tuple[int, ...], charge: Charge) -> tuple[tuple[float, ...], float]:
        """Rough means, from -1 to 1, over a public number of records where there is one; and that number."""
        n = None if self.records.relation.secret else self.records.table.n
        kernel = self._kernel(1, shares=places, records=n is None, weight=None)
        (total,) = self.records.total(kernel)
        noised = noised_sums(kernel, total, charge)[0]
        many = max(Fraction(1), noised[-1]) if n is None else Fraction(n)
        return tuple(max(-1.0, min(1.0, float(s / many))) for s in noised[: len(places)]), float(many)

    def _counts(self, many: tuple[int, ...]) -> Counted | None:
        plan, layout = self.plan, self.layout
        shown: dict[str, Any] = {"shares": plan.shares, "levels": layout.levels, "records": plan.records}
        kernel = self._kernel(self.groups, counted=many, **shown)
        if not plan.counts or not kernel.width:
            return None
        (found,) = self.records.total(kernel)
        noised = noised_sums(kernel, found, self.run.charge("counts", "counts"))
        return Counted(plan.counts, counted=many, numbers=tuple(map(tuple, noised)), **shown)

    def _quartiles(self, j: int) -> list[list[float]]:
        if not isinstance(self.records.table, Table):
            raise ParameterError("statistics", "must be mean (SD) with a lazy frame: collect it first", STATISTICS[1])
        grid = self.columns.grid([GRID] * self.columns.d)
        points, levels = round_numbers(grid, j), number_of_levels(len(QUARTILES))
        charge, groups = self.run.charge(f"median {j}", "median", j), self.records.parts()
        values = HeldValues([np.sort(steps_of(cells[:, j], grid, j)) for _, cells in groups])
        units = paid_units(
            [charge], levels, [points], [grid.cells[j]], [QUARTILES] * len(groups), [labels for labels, _ in groups]
        )
        drawn = drawn_quantiles(values, units, levels, self.records.count)
        return [[points.value(grid, j, y) for y in row] for row in drawn]


# Before anything is spent.


@dataclass(frozen=True)
class SummaryPlan:
    """What to expect of each line of `td.summary`, from public numbers alone."""

    n: int | None
    epsilon: Fraction
    groups: int | None
    lines: tuple[Forecast, ...]

    @property
    def short(self) -> list[Forecast]:
        """Lines that are left out, or that say little, with what would do."""
        return [line for line in self.lines if line.needs is not None]

    def __str__(self) -> str:
        groups = "" if self.groups is None else f" in {self.groups} groups of equal size"
        size = "a secret number of records" if self.n is None else f"{self.n} records"
        said = [f"{size}{groups}, epsilon = {float(self.epsilon):g}: typical (median) errors by privacy alone;", ""]
        said[0] += " 95 % intervals allow for sampling, too"
        wide = max([len(line.column) for line in self.lines], default=0)
        for line in self.lines:
            told = [line.expected] if line.expected else []
            if line.needs is not None:
                told.append(f"rough: to be good it would take {line.needs}" if told else f"left out: {line.needs}")
            said.append(f"  {line.column:<{wide}}  {line.statistic:<13} {'; '.join(told)}".rstrip())
        return "\n".join(said)


def plan_summary(
    *,
    n: Any,
    epsilon: Any,
    bounds: Any = None,
    categories: Any = None,
    statistics: Any = None,
    keys: Any = None,
    weights: Any = None,
    weight_bounds: Any = None,
    sd: Any = None,
    neighbours: str = "swap",
) -> SummaryPlan:
    """Say how far each line of `td.summary` will typically be off, before any data and any spending.

    Parameters
    ----------
    n
        How many rows, or persons, there will be.
    bounds
        A dict of column name -> (lower, upper), or None for a column where they are not known.
    epsilon, categories, statistics, keys, weights, weight_bounds, sd, neighbours
        As for `td.summary`.

    Examples
    --------
    >>> import tukeydp as td
    >>> bounds = {"age": (18, 95), "crp": (0, 50)}
    >>> plan = td.plan_summary(n=560, epsilon=1, bounds=bounds, categories={"sex": ["f", "m"]}, keys=["A", "B"])
    >>> [(line.column, line.statistic, round(line.error, 3)) for line in plan.lines[:3]]
    [('age', 'mean (SD)', 0.039), ('crp', 'mean (SD)', 0.039), ('sex', 'n (%)', 0.009)]
    """
    budget = checked_epsilon(epsilon)
    relation = checked_relation(neighbours, None)
    size = checked_integer("n", n, least=1, most=2**40)
    if bounds is not None and not isinstance(bounds, Mapping):
        raise ParameterError("bounds", "must be a dict of column name -> (lower, upper)", brief(bounds))
    listed = None if keys is None else checked_keys(list(keys) if isinstance(keys, Mapping) else keys)
    grouped = _counted(None, categories)
    weighed = _weighed(weights, weight_bounds)
    told = _Asked(None, dict(bounds or {}), grouped, statistics, weighed, Apart())
    layout = told.layout(sd)
    left_out: tuple[LeftOut, ...] = ()
    if not layout.names and not layout.categories:
        raise ParameterError("bounds", "must be given, or categories", "none")
    if layout.unbounded and not affords_magnitudes(layout, size, relation.neighbours, budget):
        left_out = _without_bounds(layout, size, relation.neighbours, budget)
        known = {name: ends for name, ends in told.by_name.items() if ends is not None}
        layout = replace(told, bounds=known).layout(None)
    groups = None if listed is None else len(listed)
    lines = [Forecast(one.column, one.statistic, None, one.needs) for one in left_out]
    if layout.names or layout.categories:
        plan = table_plan(layout, budget, size, relation.neighbours, groups)
        lines = [*forecast(plan, size), *lines]
    return SummaryPlan(size, budget, groups, tuple(lines))
