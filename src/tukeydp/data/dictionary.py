"""Data dictionaries: what is known of columns without the data. The file is public, so errors may quote it.

A dictionary is CSV with a header (`FIELDS`, of which only `column` is needed), YAML, JSON or TOML with the same fields
by column, or the data dictionary that REDCap exports, whose choices and validation ranges were fixed before any data.
"""

from __future__ import annotations

import csv
import io
import json
import os
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import takewhile
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

from tukeydp.extras import missing
from tukeydp.trusted.parameters import ParameterError, brief, rational, show

Kind = Literal["number", "category", "yes/no", "text", "date"]
Categories = tuple[tuple[str, str], ...]  # (what stands in the cells, what it is called)

FIELDS = ("column", "label", "type", "lower", "upper", "unit", "categories", "missing", "detection", "sd")
# How the file is read that the dictionary is of, by the names of options: lines "# decimal,comma" above the header.
FILE_OPTIONS = ("format", "separator", "quote", "decimal", "thousands", "encoding", "skip", "header", "sheet")
_OPTION = "dictionary"
TEXT = 'UTF-8 text: CSV, YAML, JSON or TOML; a spreadsheet saves it as "CSV UTF-8"'
_YES_NO: Categories = (("1", "Yes"), ("0", "No"))
_KINDS: dict[str, Kind] = {
    **dict.fromkeys(("number", "numeric", "numbers", "integer", "int", "float", "decimal", "continuous"), "number"),
    **dict.fromkeys(("category", "categories", "categorical", "factor", "nominal", "ordinal", "choice"), "category"),
    **dict.fromkeys(("yes/no", "yesno", "yes-no", "boolean", "bool", "binary", "logical", "true/false"), "yes/no"),
    **dict.fromkeys(("text", "string", "id", "identifier"), "text"),
    **dict.fromkeys(("date", "datetime", "time"), "date"),
}


@dataclass(frozen=True)
class Detection:
    """A limit of detection: cells that hold `mark` and `limit` ("<0.3") read as `value`, the limit or half of it."""

    mark: Literal["<", ">"]
    limit: Fraction
    value: Fraction

    def __str__(self) -> str:
        return f"{self.mark}{show(self.limit)}{'' if self.value == self.limit else '/2'}"


def detection(parameter: str, text: str) -> Detection:
    """A declared limit: "<0.3" reads as 0.3, "<0.3/2" as half of it.

    >>> detection("detection", "<0.3/2").value
    Fraction(3, 20)
    """
    found = re.fullmatch(r"\s*([<>])\s*([^/\s]+?)\s*(/\s*2)?\s*", text)
    if found is None:
        raise ParameterError(parameter, "must be a limit as it stands in cells: <0.3, or <0.3/2 for half of it", text)
    limit = _number(parameter, found[2], text)
    mark: Literal["<", ">"] = "<" if found[1] == "<" else ">"
    return Detection(mark, limit, limit / 2 if found[3] else limit)


@dataclass(frozen=True, kw_only=True)
class Column:
    """What is known of a column without the data: all of it public."""

    name: str
    label: str | None = None
    kind: Kind = "text"
    lower: Fraction | None = None
    upper: Fraction | None = None
    unit: str | None = None
    categories: Categories | None = None
    missing: tuple[str, ...] = ()
    detection: tuple[Detection, ...] = ()
    sd: Fraction | None = None

    def __post_init__(self) -> None:
        if self.lower is not None and self.upper is not None and self.lower >= self.upper:
            shown = f"{show(self.lower)} and {show(self.upper)} for {brief(self.name)}"
            raise ParameterError(_OPTION, "must have lower bounds below upper ones", shown)
        if self.sd is not None and self.sd <= 0:
            raise ParameterError(_OPTION, "must have an sd above 0", f"{show(self.sd)} for {brief(self.name)}")
        codes = [code for code, _ in self.categories or ()]
        if self.categories is not None and (not codes or len(set(codes)) != len(codes)):
            raise ParameterError(_OPTION, "must have each category once, and one at least", brief(self.name))

    @property
    def title(self) -> str:
        """What a table calls it."""
        return self.label or self.name


@dataclass(frozen=True)
class Dictionary:
    """Columns by name, in the file's order. What is asked for columns that it does not have is left out.

    `file` says how the file is read, as texts by `FILE_OPTIONS`.
    """

    columns: Mapping[str, Column] = field(default_factory=lambda: MappingProxyType({}))
    file: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    def bounds_of(self, names: Iterable[str]) -> dict[str, tuple[Fraction, Fraction]]:
        """Both bounds, of columns that have both."""
        pairs = {column.name: (column.lower, column.upper) for column in self._of(names)}
        return {name: (low, high) for name, (low, high) in pairs.items() if low is not None and high is not None}

    def categories_of(self, names: Iterable[str]) -> dict[str, Categories]:
        return {column.name: column.categories for column in self._of(names) if column.categories is not None}

    def missing_of(self, names: Iterable[str]) -> dict[str, tuple[str, ...]]:
        return {column.name: column.missing for column in self._of(names) if column.missing}

    def detection_of(self, names: Iterable[str]) -> dict[str, tuple[Detection, ...]]:
        return {column.name: column.detection for column in self._of(names) if column.detection}

    def sd_of(self, names: Iterable[str]) -> dict[str, Fraction]:
        return {column.name: column.sd for column in self._of(names) if column.sd is not None}

    def units_of(self, names: Iterable[str]) -> dict[str, str]:
        return {column.name: column.unit for column in self._of(names) if column.unit is not None}

    def of_kind(self, *kinds: Kind) -> list[str]:
        """The names of such columns."""
        return [column.name for column in self.columns.values() if column.kind in kinds]

    def _of(self, names: Iterable[str]) -> list[Column]:
        return [self.columns[name] for name in names if name in self.columns]


def read_dictionary(path: str | os.PathLike[str]) -> Dictionary:
    """The dictionary in a file: CSV, YAML, JSON or TOML by its ending, or REDCap's CSV by its header."""
    if not isinstance(path, str | os.PathLike):
        raise ParameterError(_OPTION, "must be a file, or what read_dictionary returns", brief(path))
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None)
        rule = "must be a file that can be read" if why else f"must be {TEXT}"
        raise ParameterError(_OPTION, rule, f"{path} ({why})" if why else str(path)) from None
    return parse_dictionary(text, path.suffix.lower(), str(path))


def parse_dictionary(text: str, ending: str, shown: str) -> Dictionary:
    """The dictionary in a text, whose file's name ends in `ending` and is shown in errors."""
    listed, file = _PARSERS.get(ending, _csv)(text, shown)
    strange = next((name for name in file if name not in FILE_OPTIONS), None)
    if strange is not None:
        rule = f"must say how the file is read by {', '.join(FILE_OPTIONS)}"
        raise ParameterError(_OPTION, rule, brief(strange))
    names = [column.name for column in listed]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ParameterError(_OPTION, "must name each column once", f"{brief(twice)} twice")
    return Dictionary(MappingProxyType({column.name: column for column in listed}), MappingProxyType(file))


# Our own: a line, or a mapping, for each column.


def _column(told: Mapping[str, str]) -> Column:
    """From the fields' texts; a column whose type is not said is what its other fields are said of."""
    name = told.get("column", "")
    listed = parsed_categories(name, told.get("categories", ""))
    ends = [_number(_OPTION, told[end], name) if told.get(end) else None for end in ("lower", "upper", "sd")]
    check_bars(_OPTION, name, told.get("categories", ""), told.get("missing", ""))
    limits = tuple(detection(_OPTION, one) for one in listed_parts(told.get("detection", "")))
    measured = any(told.get(one) for one in ("lower", "upper", "unit", "detection", "sd"))
    kind: Kind = "category" if listed else "number" if measured else "text"
    if told.get("type"):
        kind = _KINDS.get(told["type"].lower(), "text")
        if told["type"].lower() not in _KINDS:
            rule = "must have types number, category, yes/no, text or date"
            raise ParameterError(_OPTION, rule, f"{brief(told['type'])} for {brief(name)}")
    if kind == "yes/no" and listed is None:
        listed = _YES_NO
    return Column(
        name=name, label=told.get("label") or None, kind=kind, lower=ends[0], upper=ends[1],
        unit=told.get("unit") or None, categories=listed, missing=tuple(listed_parts(told.get("missing", ""))),
        detection=limits, sd=ends[2],
    )  # fmt: skip


def _number(parameter: str, text: str, name: str) -> Fraction:
    # A comma is a decimal mark where it cannot be anything else: spreadsheets write what their country does.
    try:
        return rational(parameter, text.replace(",", ".") if text.count(",") == 1 and "." not in text else text)
    except ParameterError:
        raise ParameterError(parameter, "must have numbers", f"{brief(text)} for {brief(name)}") from None


def listed_parts(text: str) -> list[str]:
    """What is listed with bars between."""
    return [part.strip() for part in text.split("|") if part.strip()]


def check_bars(parameter: str, name: str, categories: str, codes: str) -> None:
    """Slips that would read as something else: `f, m` is one category f that is called m, and `99; -9` one word."""
    parts = listed_parts(categories)
    if len(parts) == 1 and "," in parts[0]:
        rule = "must have bars between categories, A | B or 1, Male | 2, Female: what follows a comma is a name"
        raise ParameterError(parameter, rule, f"{brief(parts[0])} for {brief(name)}")
    for code in listed_parts(codes):
        pieces = re.split(r"\s*;\s*|,\s+|,(?=-)", code)
        if len(pieces) > 1 and all(re.fullmatch(r"[-+]?\d+([.,]\d+)?", piece) for piece in pieces):
            raise ParameterError(parameter, "must have bars between codes: 99 | -9", f"{brief(code)} for {brief(name)}")


def parsed_categories(name: str, text: str, parameter: str = _OPTION) -> Categories | None:
    """`1, Male | 2, Female`, or `A | B` where what stands in the cells is what it is called."""
    pairs = [part.partition(",") for part in listed_parts(text)]
    listed = tuple((code.strip(), label.strip() or code.strip()) for code, _, label in pairs)
    if any(not code for code, _ in listed):
        raise ParameterError(parameter, "must list categories as 1, Male | 2, Female or A | B", brief(name))
    return listed or None


_Parsed = tuple[list[Column], dict[str, str]]


def _csv(text: str, shown: str) -> _Parsed:
    first = next((line for line in text.splitlines() if line.strip(' "') and line.lstrip(' "')[0] != "#"), "")
    separator = next((mark for mark in ";\t" if mark in first), ",")
    try:
        rows = [[cell.strip() for cell in line] for line in csv.reader(io.StringIO(text), delimiter=separator)]
    except csv.Error:
        rows = []
    rows = [row for row in rows if any(row)]
    said = list(takewhile(lambda row: row[0].startswith("#"), rows))
    file, rows = {row[0][1:].strip(): "".join(row[1:2]) for row in said}, rows[len(said) :]
    header = [_plain(name) for name in rows[0]] if rows else []
    if _REDCAP.keys() <= set(header):
        return [column for row in rows[1:] for column in _redcap(dict(zip(header, row, strict=False)))], file
    unknown = next((name for name in header if name not in FIELDS), None)
    if "column" not in header or unknown is not None or len(set(header)) != len(header):
        rule = f"must have a header of {', '.join(FIELDS)}, of which only column is needed"
        raise ParameterError(_OPTION, rule, shown if unknown is None else brief(unknown))
    for row in rows[1:]:
        if len(row) > len(header) or not dict(zip(header, row, strict=False)).get("column"):
            raise ParameterError(_OPTION, "must have a column's name and its fields on each line", brief(row))
    return [_column(dict(zip(header, row, strict=False))) for row in rows[1:]], file


def _plain(name: str) -> str:
    """Header names without what is in brackets, case and marks: REDCap has two spellings of each."""
    return re.sub(r"[^a-z]+", "_", re.sub(r"\(.*\)", "", name).lower()).strip("_")


def _json(text: str, shown: str) -> _Parsed:
    # Numbers as they are written, so that 0.1 is 1/10.
    try:
        told = json.loads(text, parse_float=str, parse_int=str, object_pairs_hook=_once)
    except (ValueError, RecursionError):
        raise ParameterError(_OPTION, "must be JSON, as its name says, with each name once", shown) from None
    return _by_name(told, shown)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(pairs)) != len(pairs):
        raise ValueError
    return dict(pairs)


def _toml(text: str, shown: str) -> _Parsed:
    try:
        told = tomllib.loads(text, parse_float=str)
    except (ValueError, RecursionError):
        raise ParameterError(_OPTION, "must be TOML, as its name says", shown) from None
    return _by_name(told, shown)


def _yaml(text: str, shown: str) -> _Parsed:
    try:
        import yaml
    except ImportError:
        raise missing(_OPTION, "pyyaml", "files", shown) from None
    try:
        told = yaml.load(text, Loader=yaml.BaseLoader)  # texts only: 0.1 is 1/10, and no is no truth value
    except (yaml.YAMLError, RecursionError):
        raise ParameterError(_OPTION, "must be YAML, as its name says", shown) from None
    return _by_name(told, shown)


def _by_name(told: Any, shown: str) -> _Parsed:
    """Fields by column's name, or a list of columns with their names; [lower, upper] stands for a number's bounds."""
    file = dict[str, str]()
    if isinstance(told, dict) and isinstance(told.get("columns"), dict | list):
        if isinstance(told.get("file"), dict):
            file = {name: _scalar(name, value) for name, value in told["file"].items()}
        told = told["columns"]
    pairs: list[tuple[Any, Any]] = []
    if isinstance(told, dict):
        pairs = list(told.items())
    elif isinstance(told, list) and all(isinstance(one, dict) for one in told):
        pairs = [(one.get("column"), one) for one in told]
    if not pairs or not all(name and isinstance(name, str) for name, _ in pairs):
        raise ParameterError(_OPTION, "must hold the fields of each column by its name", shown)
    return [_column({"column": name, **_fields(name, fields)}) for name, fields in pairs], file


def _fields(name: str, told: Any) -> dict[str, str]:
    if isinstance(told, list) and len(told) == 2:
        told = {"lower": told[0], "upper": told[1]}
    if not isinstance(told, dict) or any(one not in FIELDS for one in told):
        rule = f"must have fields {', '.join(FIELDS[1:])}, or [lower, upper]"
        raise ParameterError(_OPTION, rule, f"{brief(told)} for {brief(name)}")
    return {key: _text(name, key, value) for key, value in told.items()}


def _text(name: str, key: str, value: Any) -> str:
    """As a cell of the CSV form: lists by bars, categories' labels behind commas."""
    if isinstance(value, dict) and key == "categories":
        return " | ".join(f"{code}, {_scalar(name, label)}" for code, label in value.items())
    if isinstance(value, list) and key in ("categories", "missing", "detection"):
        return " | ".join(_scalar(name, one) for one in value)
    return _scalar(name, value)


def _scalar(name: str, value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise ParameterError(_OPTION, "must have texts and numbers", f"{brief(value)} for {brief(name)}")
    return str(value).strip()


_PARSERS: dict[str, Callable[[str, str], _Parsed]] = {
    ".json": _json, ".toml": _toml, ".yaml": _yaml, ".yml": _yaml,
}  # fmt: skip

# REDCap's data dictionary: names of its header, as exported from the page or by its interface, and ours.
_REDCAP = {
    "field_type": "type", "field_label": "label", "text_validation_min": "lower", "text_validation_max": "upper",
}  # fmt: skip
_CHOICES = ("choices_calculations_or_slider_labels", "select_choices_or_calculations")
_VALIDATION = "text_validation_type_or_show_slider_number"
_NAMES = ("variable_field_name", "field_name")


def _redcap(told: Mapping[str, str]) -> Iterable[Column]:
    """The columns of a field: checkboxes have one for each choice, and descriptions none."""
    name = next((told[one] for one in _NAMES if told.get(one)), "")
    kind, how = told.get("field_type", "").lower(), told.get(_VALIDATION, "").lower()
    label = re.sub(r"<[^>]*>", "", told.get("field_label", "")).strip() or None
    choices = next((told[one] for one in _CHOICES if told.get(one)), "")
    if not name or kind == "descriptive":
        return []
    if kind == "checkbox":
        return [
            Column(
                name=f"{name}___{_suffix(code)}", label=f"{label or name}: {choice}", kind="yes/no", categories=_YES_NO
            )
            for code, choice in parsed_categories(name, choices) or ()
        ]
    if kind in ("radio", "dropdown"):
        return [Column(name=name, label=label, kind="category", categories=parsed_categories(name, choices))]
    if kind in ("yesno", "truefalse"):
        listed = _YES_NO if kind == "yesno" else (("1", "True"), ("0", "False"))
        return [Column(name=name, label=label, kind="yes/no", categories=listed)]
    if kind == "slider" or kind == "calc" or how.startswith(("number", "integer")):
        ends: Sequence[Fraction | None] = [_limit(told.get(f"text_validation_{end}", "")) for end in ("min", "max")]
        if kind == "slider":  # from 0 to 100 unless said otherwise
            ends = [Fraction(0) if ends[0] is None else ends[0], Fraction(100) if ends[1] is None else ends[1]]
        return [Column(name=name, label=label, kind="number", lower=ends[0], upper=ends[1])]
    return [Column(name=name, label=label, kind="date" if how.startswith(("date", "time")) else "text")]


def _suffix(code: str) -> str:
    """As REDCap names the column of a choice: small letters, and what is no letter or digit is an underscore."""
    return re.sub(r"[^a-z0-9]", "_", code.lower())


def _limit(text: str) -> Fraction | None:
    """A number; None for a formula or another field's name, which is not public by itself."""
    try:
        return _number(_OPTION, text, "") if text else None
    except ParameterError:
        return None
