"""What was chosen on the page, from the texts of its fields, and the call of the public API that it amounts to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

import tukeydp as td
from tukeydp.data.dictionary import Categories, check_bars, detection, listed_parts, parsed_categories
from tukeydp.data.grouped_files import GroupOfRow
from tukeydp.data.tables import Source, Table
from tukeydp.forecast.options import option_of_mean
from tukeydp.forecast.plan import Plan, plan
from tukeydp.forecast.plan_words import answer
from tukeydp.forecast.question import Option
from tukeydp.forecast.shapes import SHAPES, made_up
from tukeydp.forecast.tables import MOST_CELLS
from tukeydp.spending import dry_run
from tukeydp.trusted.account import Guarantee, about_persons
from tukeydp.trusted.parameters import FloatArray, ParameterError, checked_choice, positive_rational, rational

_MOST_PLANNED = 10**8  # rows to plan for: a blank table with groups has a key for each, a gigabyte in all
# And the function of `td` that releases it.
STATISTICS = {"mean": "mean", "centre": "boxem", "summary": "summary", "counts": "counts"}
KINDS = ("number", "category")
_ENDS = ("lower", "upper")
_USUAL_WEIGHTS = 2.0  # made-up weights reach so far: 1 in the mean, as forecasts take them
_MOST_BLANK = 100_000  # rows of a dry run with categories, whose cells are texts; its price is the same for more


@dataclass(frozen=True)
class Column:
    """A column to release. All that is said of it is public: known without the data."""

    name: str
    lower: str = ""
    upper: str = ""
    unit: str = ""
    sd: str = ""
    missing: tuple[str, ...] = ()
    detection: tuple[str, ...] = ()
    categories: Categories = ()
    label: str = ""


@dataclass(frozen=True, eq=False, repr=False)
class Held(Source):
    """What was read from the file: columns of numbers, and cells of the others. For functions that take categories."""

    columns: tuple[str, ...]
    names: tuple[str, ...]
    numbers: Table
    cells: Mapping[str, list[Any]]

    def __getitem__(self, columns: Sequence[str]) -> Held:
        return replace(self, columns=tuple(columns))

    def table(self) -> Table:
        known = self.numbers.columns or ()
        places = [known.index(name) for name in self.columns if name in known]
        return Table(self.numbers.cells[:, places], tuple(known[j] for j in places))

    def with_cells(self, *named: str) -> tuple[Table, list[list[Any]]]:
        return self.table(), [self.cells[name] for name in named]


def held(numbers: Table, cells: Mapping[str, list[Any]], columns: Sequence[str]) -> Held:
    names = dict.fromkeys((*columns, *(numbers.columns or ()), *cells))  # lines of a table come in this order
    return Held(tuple(columns), tuple(names), numbers, cells)


@dataclass(frozen=True)
class Choices:
    """Everything is public. `rows` is what plans are made for: the table's own number unless another was typed."""

    numbers: tuple[Column, ...]
    categories: tuple[Column, ...]
    rows: int
    by: str = ""
    keys: tuple[str, ...] = ()
    called: tuple[str, ...] = ()  # what the groups are called; as their keys where empty
    person: str = ""
    statistic: str = "mean"
    epsilon: str = "1"
    confidence: str = "0.95"
    wish: str = ""
    wish_for: str = ""
    unreadable: str = ""
    unlisted: str = ""
    order: tuple[str, ...] = ()  # of the columns in the file, which is that of the table's lines
    weights: Column | None = None  # of Table 1; its upper bound is the largest weight

    @property
    def columns(self) -> tuple[Column, ...]:
        """Those that the chosen statistic is of."""
        every = {column.name: column for column in (*self.numbers, *self.categories)}
        order = dict.fromkeys((*(name for name in self.order if name in every), *every))
        both = {"counts": self.categories, "summary": tuple(every[name] for name in order)}
        return both.get(self.statistic, self.numbers)

    @property
    def measured(self) -> tuple[Column, ...]:
        return () if self.statistic == "counts" else self.numbers

    @property
    def weighing(self) -> tuple[Column, ...]:
        """The column of weights, where the chosen statistic is weighted."""
        return (self.weights,) if self.weights is not None and self.statistic == "summary" else ()

    @property
    def numeric(self) -> tuple[Column, ...]:
        """Columns that are read as numbers."""
        return (*self.measured, *self.weighing)

    @property
    def found(self) -> list[str]:
        """Columns whose bounds will be found."""
        return [name for name, ends in self.bounds.items() if ends is None]

    @property
    def whole(self) -> bool:
        """Whether it is a Table 1 that reads cells by the names of columns, and is not checked."""
        return bool(self.listed or self.weighing or (self.found and self.statistic == "summary"))

    @property
    def listed(self) -> dict[str, dict[str, str]]:
        """What stands in the cells of categories, and what it is called."""
        return {column.name: dict(column.categories) for column in self.columns if column.categories}

    @property
    def read(self) -> list[str]:
        """All columns that a release reads."""
        columns = (*self.columns, *self.weighing)
        return [*(column.name for column in columns), *filter(None, (self.by, self.person))]

    @property
    def labels(self) -> dict[str, str]:
        """What Table 1 calls columns, with their units."""
        told = {c.name: f"{c.label} ({c.unit})" if c.unit else c.label for c in self.columns if c.label}
        return {name: label for name, label in told.items() if label}

    @property
    def groups(self) -> list[str] | dict[str, str]:
        """The keys, with what Table 1 calls them."""
        named = self.called and self.statistic == "summary"
        return dict(zip(self.keys, self.called, strict=True)) if named else list(self.keys)

    @property
    def allowed(self) -> dict[str, str]:
        """What the check may let pass, where it was typed: public shares. Persons and whole tables are not checked."""
        told = {"unreadable": self.unreadable, "unlisted": self.unlisted if self.by else ""}
        return {} if self.person or self.whole else {name: share for name, share in told.items() if share}

    @property
    def bounds(self) -> dict[str, tuple[str, str] | None]:
        return {column.name: (column.lower, column.upper) if column.lower else None for column in self.measured}

    @property
    def sd(self) -> dict[str, str]:
        return {column.name: column.sd for column in self.measured if column.sd}

    @property
    def units(self) -> dict[str, str]:
        return {column.name: column.unit for column in self.measured if column.unit}

    @property
    def intervals(self) -> bool:
        """Means of groups have none: Table 1 has."""
        of_means = self.statistic == "mean" and not self.by
        return bool(self.confidence) and (self.statistic in ("summary", "counts") or of_means)

    @property
    def shared(self) -> bool:
        """Whether something else than means takes part of epsilon, or no mean is released."""
        return self.statistic != "mean" or (self.intervals and len(self.sd) < len(self.measured))

    def call(self) -> tuple[str, dict[str, Any]]:
        """The function of `td` and its options, but for the table, its groups or persons, and who pays."""
        options: dict[str, Any] = {"epsilon": self.epsilon, "bounds": self.bounds}
        if self.statistic == "counts":
            codes = {name: list(told) for name, told in self.listed.items()}
            options = {"epsilon": self.epsilon, "categories": codes}
        elif self.listed:
            options["categories"] = self.listed
        if self.statistic == "summary" and self.labels:
            options["labels"] = self.labels
        options |= self._weighted()
        if self.intervals or self.statistic in ("summary", "counts"):
            options["confidence"] = self.confidence or None
        takes_sd = self.statistic == "mean" or (self.statistic == "summary" and not self.found)
        if takes_sd and 0 < len(self.sd) == len(self.measured):
            options["sd"] = self.sd if self.whole else [column.sd for column in self.measured]
        return STATISTICS[self.statistic], options

    def _weighted(self) -> dict[str, Any]:
        if not self.weighing:
            return {}
        return {"weights": self.weighing[0].name, "weight_bounds": (self.weighing[0].lower, self.weighing[0].upper)}

    def plan(self) -> Plan:
        """From what is public alone: no table is at hand here."""
        return plan(self.rows, epsilon=self.epsilon, **self._planned())

    def forecast(self) -> Option | None:
        """What to expect of the release, with the shares of epsilon that it will have; None if there would be none."""
        if self.statistic in ("counts", "summary"):
            return None
        found = self.plan()
        left = found.question.left(found.n, found.epsilon)
        known = found.question, found.n, left, self.confidence if self.intervals else None
        if self.statistic == "centre":
            return next((option for option in found.options if option.estimand == "centre" and option.possible), None)
        try:
            return option_of_mean(*known)
        except ParameterError:
            return None

    def table_plan(self) -> Any:
        """How far each line of Table 1 is typically off, and which would be left out."""
        sd = self.sd if "sd" in self.call()[1] else None
        known: dict[str, Any] = {"bounds": self.bounds, "categories": self.listed or None, "sd": sd, **self._weighted()}
        return td.plan_summary(n=self.rows, epsilon=self.epsilon, keys=list(self.keys) or None, **known)

    def answers(self) -> list[str]:
        """Which epsilon, and how many rows, the wished error needs, or why none does; nothing without a wish."""
        if not self.wish or self.statistic == "counts":
            return []
        error: Any = {self.wish_for: self.wish} if self.wish_for else self.wish
        found = []
        for known in ({"n": self.rows}, {"epsilon": self.epsilon}):
            try:
                found.append(answer(plan(error=error, **known, **self._planned())))
            except ParameterError as none:
                found.append(str(none))
        return found

    def dry_run(self) -> tuple[Guarantee, str]:
        """What a release costs, and its mechanism; it raises as a release would. The table is one of blanks."""
        if self.whole:
            few = min(self.rows, _MOST_BLANK)
            return dry_run(lambda pays: self.on(self._held(few), {}, accountant=pays))
        blank = Table(np.broadcast_to(np.nan, (self.rows, len(self.measured))), tuple(self.bounds))
        cost, mechanism = dry_run(lambda pays: self.on(blank, self._groups([None] * self.rows), accountant=pays))
        return about_persons(cost) if self.person else cost, mechanism

    def rehearsal(self) -> Any:
        """The same release of made-up rows, bell-shaped between the bounds: public numbers only, nothing spent."""
        rows = min(self.rows, MOST_CELLS // len(self.columns))
        if self.whole:
            return self.on(self._held(rows, self._made_up(rows)), {})
        groups = [self.keys[i % len(self.keys)] for i in range(rows)] if self.by else []
        return self.on(Table(self._made_up(rows), tuple(self.bounds)), self._groups(groups))

    def _made_up(self, rows: int) -> FloatArray:
        if not self.measured:
            return np.empty((rows, 0))
        question = self.plan().question
        assert question.columns is not None
        lower, upper = (np.array(list(map(float, ends))) for ends in question.columns.ends)
        shaped = made_up(SHAPES[0], rows, len(self.measured), 0)
        cells: FloatArray = (lower + upper) / 2 + (upper - lower) / question.widths * shaped
        return cells

    def _groups(self, keys: Sequence[str | None]) -> dict[str, Any]:
        """The key of each row of a table of blanks or made-up rows."""
        return {"by": GroupOfRow(self.by, keys), "keys": list(self.keys)} if self.by else {}

    def _held(self, rows: int, numbers: FloatArray | None = None) -> Held:
        """Made-up or blank rows in which every combination of categories and groups comes as often as any other."""
        every = {name: list(codes) for name, codes in self.listed.items()}
        every |= {self.by: list(self.keys)} if self.by else {}
        cells, stride = dict[str, list[Any]](), 1
        for name, codes in every.items():
            cells[name] = [codes[i // stride % len(codes)] for i in range(rows)]
            stride = stride * len(codes) if stride * len(codes) <= rows else 1
        cells |= {self.person: list(range(rows))} if self.person else {}
        blank = np.full((rows, len(self.measured)), np.nan) if numbers is None else numbers
        weights = [np.linspace(0, min(_USUAL_WEIGHTS, float(Fraction(one.upper))), rows) for one in self.weighing]
        table = Table(np.column_stack([blank, *weights]), tuple(one.name for one in self.numeric))
        return held(table, cells, [column.name for column in self.columns])

    def on(self, table: Table | Held, apart: Mapping[str, Any], **more: Any) -> Any:
        """The call on a table, with each row's group and person where there are any."""
        function, options = self.call()
        allowed: dict[str, Any] = {"check": td.Check(**self.allowed)} if self.allowed else {}
        if isinstance(table, Held):
            apart = {"by": self.by or None, "person": self.person or None}
        apart = {**apart, "keys": self.groups} if self.by else apart
        return getattr(td, function)(table, **apart, **options, **allowed, **more)

    def _planned(self) -> dict[str, Any]:
        groups = len(self.keys) if len(self.keys) > 1 else None
        if not self.measured:  # for what is said of epsilon alone
            return {"columns": {column.name: ("0", "1") for column in self.columns}, "by": groups}
        return {"columns": self.bounds, "sd": self.sd or None, "by": groups}


def chosen(names: Sequence[str], rows: int, typed: Mapping[str, str]) -> Choices:
    """The fields as they were typed, checked; a column's fields have its number at their end."""
    by = _named(names, typed.get("by", ""))
    person = "" if typed.get("each") == "one" else _named(names, typed.get("person", ""))
    weights = _weight_column(names, typed, (by, person))
    # What says who a row is about, where it belongs, or what it weighs, is no line of a table, ticked or not.
    apart = by, person, "" if weights is None else weights.name
    ticked = [(name, j) for j, name in enumerate(names) if typed.get(f"use-{j}") and name not in apart]
    _check_complete(ticked, typed)
    columns = tuple(_column(name, j, typed) for name, j in ticked)
    if not columns:
        raise ParameterError("columns", "must be chosen: at least one", "none")
    measured = tuple(column for column in columns if not column.categories)
    listed = tuple(column for column in columns if column.categories)
    if typed.get("each") == "several" and not person:
        raise ParameterError("the column of persons", "must be chosen where a person can have several rows", "none")
    keys = tuple(dict.fromkeys(line.strip() for line in typed.get("keys", "").splitlines() if line.strip()))
    known = dict(parsed_categories(by, typed.get(f"categories-{names.index(by)}", "")) or ()) if by else {}
    keys = keys or tuple(known)
    called = tuple(known.get(key, key) for key in keys) if known else ()
    if bool(by) != bool(keys):
        rule = "must be given with the column of groups: one on each line, known without the data"
        raise ParameterError("keys", rule, "none" if by else "keys without a column")
    planned = typed.get("rows", "").strip()
    if planned and not (planned.isdecimal() and planned.isascii() and len(planned) < len(str(_MOST_PLANNED))):
        raise ParameterError("rows", f"must be a whole number below {_MOST_PLANNED:,}", repr(planned[:40]))
    usual = "summary" if listed or weights is not None else "mean"
    level = "" if (typed.get("statistic") or usual) == "summary" else "0.95"  # journals' Table 1 has no intervals
    statistic = checked_choice("statistic", typed.get("statistic") or usual, STATISTICS)
    if not {"counts": listed, "summary": columns}.get(statistic, measured):  # it was chosen for other columns
        statistic = usual
    wish_for = _named([column.name for column in measured if column.sd], typed.get("wish_for", ""))
    numbers: dict[str, Any] = {
        "epsilon": _number("epsilon", typed.get("epsilon") or "1"),
        "confidence": _number("confidence", typed.get("confidence", level)),
        "wish": _number("error", typed.get("wish", "")),
        "unreadable": _number("unreadable", typed.get("allow-unreadable", "")),
        "unlisted": _number("unlisted", typed.get("allow-unlisted", "")),
    }
    public: dict[str, Any] = {
        "by": by,
        "keys": keys,
        "called": called,
        "person": person,
        "statistic": statistic,
        "wish_for": wish_for,
        "order": tuple(column.name for column in columns),
        "weights": weights,
    }
    found = Choices(numbers=measured, categories=listed, rows=int(planned or rows), **public, **numbers)
    positive_rational("epsilon", found.epsilon)
    td.Check(**found.allowed)  # checks them
    found.plan()  # checks bounds and standard deviations
    return found


def _check_complete(ticked: Sequence[tuple[str, int]], typed: Mapping[str, str]) -> None:
    """All columns that lack something, in one error: nobody wants them one by one."""
    lists = [(name, j) for name, j in ticked if typed.get(f"type-{j}") == "category"]
    for name, j in ticked:
        told = (typed.get(f"{field}-{j}", "") for field in ("categories", "missing"))
        check_bars(f"column {name}", name, *told)
    bare = [name for name, j in lists if not listed_parts(typed.get(f"categories-{j}", ""))]
    if bare:
        rule = "must be given for every column that is counted: list them, or untick the column"
        raise ParameterError("categories", rule, f"none for {', '.join(map(repr, bare))}")
    measured = [(name, j) for name, j in ticked if (name, j) not in lists]
    ends = {name: [typed.get(f"{end}-{j}", "").strip() for end in _ENDS] for name, j in measured}
    open_ended = [name for name, pair in ends.items() if any(pair) and not all(pair)]
    if open_ended:
        rule = "must both be given, or both be left empty to be found for a part of epsilon"
        raise ParameterError("bounds", rule, f"one for {', '.join(map(repr, open_ended))}")


def _column(name: str, j: int, typed: Mapping[str, str]) -> Column:
    if checked_choice("type", typed.get(f"type-{j}") or "number", KINDS) == "category":
        listed = parsed_categories(name, typed.get(f"categories-{j}", ""), f"categories of {name}")
        return Column(name, categories=listed or (), label=typed.get(f"label-{j}", "").strip())
    lower, upper, sd = (_number(f"{end} of {name}", typed.get(f"{end}-{j}", "")) for end in ("lower", "upper", "sd"))
    limits = tuple(listed_parts(typed.get(f"detection-{j}", "")))
    for limit in limits:
        detection(f"limit of detection of {name}", limit)
    codes = tuple(listed_parts(typed.get(f"missing-{j}", "")))
    unit, label = (typed.get(f"{field}-{j}", "").strip() for field in ("unit", "label"))
    return Column(name, lower, upper, unit, sd, codes, limits, label=label)


def _weight_column(names: Sequence[str], typed: Mapping[str, str], others: Sequence[str]) -> Column | None:
    """With the largest weight as its upper bound: as typed, or that of a dictionary."""
    name, most = _named(names, typed.get("weights", "")), _number("largest weight", typed.get("weight-most", ""))
    if not name:
        if most:
            raise ParameterError("the column of weights", "must be chosen where a largest weight is given", "none")
        return None
    j = names.index(name)
    most = most or _number("largest weight", typed.get(f"upper-{j}", ""))
    if name in others:
        raise ParameterError("the column of weights", "must not be that of groups or persons", repr(name))
    if not most or rational("largest weight", most) <= 0:
        rule = "must be given with the column of weights, > 0: known without the data"
        raise ParameterError("largest weight", rule, most or "none")
    codes = tuple(listed_parts(typed.get(f"missing-{j}", "")))
    return Column(name, "0", most, missing=codes)


def _named(names: Sequence[str], number: str) -> str:
    """A column by its number, so that names may hold anything; none is an empty text."""
    if not number:
        return ""
    if not (number.isdecimal() and number.isascii() and int(number) < len(names)):
        raise ParameterError("column", "must be one of the file's", repr(number[:40]))
    return names[int(number)]


def _number(parameter: str, text: str) -> str:
    """A typed number: with a decimal point, or with a comma where nobody could take that for a mark of thousands."""
    plain = text.strip().replace("\u2212", "-")
    head, comma, tail = plain.partition(",")
    if comma:
        if "," in tail or "." in plain or len(tail) == 3:
            rule = "must be written without marks between thousands; the decimal mark is a point or a comma"
            raise ParameterError(parameter, rule, repr(plain[:40]))
        plain = f"{head}.{tail}"
    if plain:
        rational(parameter, plain)
    return plain
