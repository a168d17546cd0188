"""`td.look` and `tukeydp look`: what the reader makes of a table or file. NOT private: for the data's owner alone."""

from __future__ import annotations

import gzip
import math
import os
import re
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from tukeydp.data.dictionary import FIELDS, FILE_OPTIONS, Column, Dictionary
from tukeydp.data.files import FileTable, format_of, read_file
from tukeydp.data.numbers import PLAIN, NumberRule, number
from tukeydp.data.readers.dialects import guess_dialect, guess_rows, unit_in
from tukeydp.data.readers.excel import NO_RESULT, about_sheets, sheet_rows
from tukeydp.data.readers.labelled import columns_of, schema_of
from tukeydp.data.readers.options import ReadOptions
from tukeydp.data.readers.sources import KIND_NAMES, InMemory, kind_of, name_of, opened
from tukeydp.data.tables import read_table
from tukeydp.extras import missing
from tukeydp.results.escaping import csv_text, escaped, in_html, printable
from tukeydp.trusted.parameters import FloatArray, ParameterError
from tukeydp.trusted.rows import checked_bounds

# What `look` found, as a value, as text and as HTML. NOT private, and every line says so.

MARK = "NOT PRIVATE"
NOTE = "Not private: it tells about the data itself. For the data's owner alone, not for publication."
CHOOSING = "bounds come from what is known of a quantity, not from these data: numbers looked up here would leak"


@dataclass(frozen=True)
class ColumnLook:
    """One column: its kind, how its cells read, and what may go wrong with it."""

    name: str
    kind: str
    readable: int
    missing: int
    outside: int | None = None
    distinct: int | None = None
    skewness: float | None = None
    remarks: tuple[str, ...] = ()
    label: str | None = None
    unit: str | None = None
    categories: tuple[tuple[str, str], ...] = ()  # that the file itself declares; never read off cells
    codes: tuple[str, ...] = ()  # for no value, that were declared
    limits: tuple[str, ...] = ()  # of detection, that were declared

    @property
    def drafted(self) -> dict[str, str]:
        """Its line of a dictionary, for the owner to fill in: bounds and what is read off cells stay empty."""
        few = self.distinct is not None and self.distinct <= _FEW_TEXTS
        kind = "number" if self.kind == "numbers" and _ID not in self.remarks else "text"
        if self.categories or (self.kind == "text" and few and (self.distinct or 0) * 2 < self.readable + self.missing):
            kind = "category"
        listed = " | ".join(f"{code}, {called}" for code, called in self.categories)
        named = {"column": self.name, "label": self.label or "", "unit": self.unit or ""}
        declared = {"missing": " | ".join(self.codes), "detection": " | ".join(self.limits)}
        return {**named, **declared, "type": kind, "categories": listed}


@dataclass(frozen=True)
class Look:
    """What was read. NOT private. Where `question` has to be answered first, there is no `command`."""

    source: str
    rows: int
    columns: tuple[ColumnLook, ...]
    evidence: tuple[str, ...] = ()
    command: str | None = None
    options: ReadOptions | None = None
    question: str | None = None
    advice: tuple[str, ...] = ()  # what else could come next

    def _lines(self) -> Iterator[str]:
        yield f"{self.source}: {self.rows} rows, {len(self.columns)} columns"
        yield from self.evidence
        width = max((len(column.name) for column in self.columns), default=0)
        for column in self.columns:
            yield f"{column.name:{width}s}  {'; '.join(_facts(column))}"
        yield CHOOSING
        yield from self.advice
        if self.question is not None:
            yield self.question

    def __str__(self) -> str:
        # A name may hold ends of line, and what comes after one would have no mark.
        lines = [f"{MARK}  {printable(line)}" for line in self._lines()]
        if self.command is not None:
            # Without the mark, so that it can be pasted: it holds names and the dialect, and no cell.
            lines += [f"{MARK}  if this is how the file is written, next:", self.command]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{h}</th>" for h in ("", "column", "what was read"))
        rows = "".join(
            f"<tr><td><b>{MARK}</b></td><td>{in_html(c.name)}</td><td>{in_html('; '.join(_facts(c)))}</td></tr>"
            for c in self.columns
        )
        said = (*self.evidence, CHOOSING, *(() if self.question is None else (self.question,)))
        notes = "".join(f"<li><b>{MARK}</b> {in_html(line)}</li>" for line in said)
        command = "" if self.command is None else f"<pre>{in_html(self.command)}</pre>"
        caption = in_html(f"{self.source}: {self.rows} rows. {NOTE}")
        return f"<table><caption>{caption}</caption><tr>{head}</tr>{rows}</table><ul>{notes}</ul>{command}"

    def to_dict(self) -> dict[str, Any]:
        return {
            "private": False,
            "note": NOTE,
            "source": self.source,
            "rows": self.rows,
            "columns": [{f.name: _plain(getattr(c, f.name)) for f in fields(c)} for c in self.columns],
            "evidence": list(self.evidence),
            "options": None if self.options is None else declared(self.options),
            "command": self.command,
            "question": self.question,
        }


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _facts(column: ColumnLook) -> Iterator[str]:
    yield column.kind
    if column.kind != "text":  # where the remarks say what stands there
        yield f"{column.readable} cells read, {column.missing} missing"
    if column.outside is not None:
        yield f"{column.outside} outside the bounds"
    if column.skewness is not None:
        yield f"skewness {column.skewness:.1f}"
    yield from column.remarks


def declared(options: ReadOptions) -> dict[str, Any]:
    """The options that differ from the defaults."""
    usual = ReadOptions()
    pairs = ((f.name, getattr(options, f.name)) for f in fields(options))
    return {name: value for name, value in pairs if value != getattr(usual, name) and value not in ((), {}, [])}


def flags(options: ReadOptions) -> list[str]:
    """The options as the command line has them."""
    names = {"units": "unit"}
    words = []
    for name, value in declared(options).items():
        flag = f"--{names.get(name, name)}"
        if name == "header":
            words += ["--header-rows", str(value)] if value else ["--no-header"]
        elif name == "separator" and value == ",":
            continue
        else:
            words += [word for text in _values(value) for word in (flag, text)]
    return words


def _values(value: Any) -> list[str]:
    if isinstance(value, Mapping):
        pairs = [(name, [v] if isinstance(v, str) else v) for name, v in value.items()]
        return [f"{name}={text}" for name, texts in pairs for text in texts]
    if isinstance(value, Sequence) and not isinstance(value, str):
        return list(value)
    return ["tab" if value == "\t" else "none" if value == "" else str(value)]


_WORDS = {",": "comma", ";": "semicolon", "|": "bar", " ": "space", ".": "point", "'": "apostrophe", False: "0"}


def _word(value: Any) -> str:
    """An option as a dictionary has it: marks by their names, which no spreadsheet takes for anything else."""
    return _WORDS.get(value) or _values(value)[0]


def next_command(path: str, columns: Sequence[str], bounds: Mapping[str, str], options: ReadOptions) -> str:
    """The whole command line, with blanks to fill in for bounds that were not given."""
    words = ["tukeydp", "mean", path]
    together = not any("," in column for column in columns)
    words += ["--columns", ",".join(columns)] if together else [w for c in columns for w in ("--columns", c)]
    words += ["--epsilon", "1"]
    words += [w for c in columns for w in ("--bounds", f"{c}={bounds.get(c, 'LOWER,UPPER')}")]
    # What is declared for a column that is not read would be refused.
    return " ".join(escaped(word, "shell") for word in [*words, *flags(options.only(columns))])


def table_command(path: str, dictionary: str, options: ReadOptions | None) -> str:
    """The command line of a Table 1, whose columns the dictionary knows; no options where it knows the file, too."""
    words = ["tukeydp", "table1", path, "--dictionary", dictionary]
    # Those of columns are in the dictionary.
    layout = [] if options is None else flags(replace(options, units={}, missing={}, detection={}))
    words += [*layout, "--epsilon", "1", "--out", "table1.docx"]
    return " ".join(escaped(word, "shell") for word in words)


# `td.look` and `tukeydp look`: what the reader makes of a table or file. NOT private: for the data's owner alone.

_MOST_ROWS = 100_000  # rows of a text file whose cells are looked at as texts
_FEW = 10  # different values: a column that is rather a choice than a measurement
_SKEWED = 2.0  # skewness from which the centre of a column is clearly not its mean; the exponential distribution has 2
# That people write where there is no value.
_CODES = (
    *(-1.0, -7.0, -8.0, -9.0, -88.0, -99.0, -999.0, -9999.0),
    *(7.0, 8.0, 9.0, 77.0, 88.0, 97.0, 98.0, 99.0, 777.0, 888.0, 999.0, 9999.0, 99999.0),
)
_FEW_TEXTS = 20  # different texts: a column that is rather a choice than an id or a remark

_THOUSAND = 1000.0
_IN_THREES = re.compile(r"[+-]?[1-9]\d{0,2}(?:([.,])\d{3})?|0")

# Names of columns that say who a row is about, and texts that are dates: their cells repeat, too, for other reasons.
_WHO = re.compile(r"(?i)(^|[^a-z])(id|pid|mrn|nr)([^a-z]|$)|patient|person|subject|respond|particip|proband|pseudonym")
_DATE = re.compile(r"9+[-./]9+[-./]9+.*")
_MOST_WORDS = 3  # different texts in a column of numbers of which each may be a word for no value

_BEFORE_THREE = "is always before three digits"
_ID = "whole numbers in a row, all different: an id?"

_LOOKED_AT = ", ".join(KIND_NAMES.values())

Bounds = Mapping[str, tuple[float, float]]


def look(x: Any, bounds: Any = None) -> Look:
    """What the library reads in `x`, an array, data frame or path: NOT private, for the data's owner alone.

    >>> print(look([[1, "2"], [3, "n/a"]]).columns[1].missing)
    1
    """
    if isinstance(x, str | os.PathLike):
        return look_at_file(Path(x), bounds=bounds)
    if isinstance(x, FileTable):
        return look_at_file(x.path, x.options, bounds)
    table = read_table(x)
    cells, odd = table.cells, table.unreadable
    names = table.columns or tuple(f"column {j}" for j in range(table.d))
    within = _by_name(names, bounds)
    columns = [
        _column(name, cells[:, j], within, odd=0 if odd is None else int(odd[j])) for j, name in enumerate(names)
    ]
    return Look(type(x).__name__, len(cells), tuple(columns))


def drafted(seen: Look) -> str:
    """A dictionary in CSV with every column of the table, for the owner to fill in; above it how the file is read."""
    told = {} if seen.options is None else declared(seen.options)
    rest = [""] * (len(FIELDS) - 2)
    file = [[f"# {name}", _word(told[name]), *rest] for name in FILE_OPTIONS if name in told]
    return csv_text([*file, FIELDS, *([column.drafted.get(field, "") for field in FIELDS] for column in seen.columns)])


def look_at_file(
    path: Path | str, options: ReadOptions | None = None, bounds: Any = None, *, marks_stated: bool = False,
    known: Dictionary | None = None,
) -> Look:  # fmt: skip
    """What a file (or standard input, `-`) is and how to read it, guessed with evidence where `options` do not say.

    `marks_stated`: the decimal mark in `options` is meant, also where it is the usual one. `known`: what a dictionary
    says, which is compared with what is there.
    """
    options = ReadOptions() if options is None else options
    named = format_of(path, options)
    if named not in KIND_NAMES:
        raise ParameterError("FILE", f"must be {_LOOKED_AT} to be looked at", name_of(path))
    with opened(path) as stream:
        content = stream.read()
    kind = kind_of(content[:16])
    if kind is not None and kind[1] == "":
        raise ParameterError("FILE", f"must be a table but begins like {kind[0]}: {kind[2]}", name_of(path))
    form = options.format or (kind[1] if kind is not None else "csv") or named
    if form == "csv.gz":
        try:
            content = gzip.decompress(content)
        except (OSError, EOFError, zlib.error):
            rule = "must be whole; its gzip data is damaged or cut off"
            raise ParameterError("FILE", rule, name_of(path)) from None
    told = options if named == form or form == "text" else replace(options, format=form)
    found = [f"kind: {KIND_NAMES.get(form, 'text (CSV)')}"]
    marks_stated = marks_stated or (options.decimal, options.thousands) != (".", None)
    if form in ("parquet", "arrow"):
        return _look_at_schema(path, content, form, told, bounds, found)
    if form in ("spss", "stata", "sas"):
        return _look_at_labelled(path, content, form, told, bounds, found)
    if form == "excel":
        found, told, rows, merged = _sheet_of(path, content, told, found)
        dialect = guess_rows(rows, told, found, marks_stated=marks_stated)
        evidence = (*dialect.evidence, *_merged(merged, dialect.options))
        seen = _from_texts(path, dialect.names, dialect.rows, dialect.options, bounds, evidence, known)
        return _asking(seen, dialect.question, stated=marks_stated)
    dialect = guess_dialect(content, told, _MOST_ROWS, marks_stated=marks_stated)
    if len(dialect.names) == 1 and not content.rstrip(b"\0").endswith((b"\n", b"\r")):
        found.append("last line: without an end, and so no row of a file of one column; add one")
    evidence = (*found, *dialect.evidence)
    seen = _from_texts(path, dialect.names, dialect.rows, dialect.options, bounds, evidence, known)
    return _asking(seen, dialect.question, stated=marks_stated)


def _asking(seen: Look, question: str | None, *, stated: bool) -> Look:
    """No command where the owner has to say first what marks mean."""
    doubts = (remark for column in seen.columns for remark in column.remarks if _BEFORE_THREE in remark)
    if question is None and not stated and (doubt := next(doubts, None)) is not None:
        question = f"{doubt}; if it does not, --decimal {doubt[1]}: look again with the one that is right"
    return seen if question is None else replace(seen, command=None, question=question)


def _sheet_of(
    path: Path | str, content: bytes, told: ReadOptions, found: list[str]
) -> tuple[list[str], ReadOptions, list[tuple[Any, ...]], list[int]]:
    """What to say of the sheets, which of them it is, its rows, and the last row of each merged cell."""
    shown, hidden, merged = about_sheets(content, told.sheet, path)
    if told.sheet is None and len(shown) != 1:
        found.append(f"sheets: {', '.join(map(repr, shown))}; this is the first")
        told = replace(told, sheet=shown[0] if shown else None)
    if hidden:
        found.append(f"hidden sheets: {', '.join(map(repr, hidden))}")
    return found, told, [tuple(row) for row in sheet_rows(content, told, path)], merged


def _merged(last: Sequence[int], options: ReadOptions) -> list[str]:
    """Merged cells in titles and in the header do no harm."""
    below = sum(row >= options.skip + int(options.header) for row in last)
    return [
        f"{below} merged cell{'s' * (below > 1)} below the header: only the first cell of each has its value, and the "
        "others are missing: undo the merging and fill in every row"
    ] * (below > 0)


def _look_at_labelled(
    path: Path | str, content: bytes, form: str, told: ReadOptions, bounds: Any, found: list[str]
) -> Look:
    schema = schema_of(content, form, told, path)
    cells = columns_of(content, form, schema.names, schema, path)
    rows = list(zip(*cells.values(), strict=True))
    seen = _from_texts(path, schema.names, rows, told, bounds, tuple(found))
    listed = [
        replace(
            column,
            label=schema.labels.get(column.name, column.label),
            categories=tuple(schema.values.get(column.name, {}).items()),
            kind="dates" if column.name in schema.dates else column.kind,
        )
        for column in seen.columns
    ]
    return replace(seen, columns=tuple(listed))


def _from_texts(
    path: Path | str, names: Sequence[str], rows: Sequence[tuple[Any, ...]], options: ReadOptions, bounds: Any,
    evidence: tuple[str, ...], known: Dictionary | None = None,
) -> Look:  # fmt: skip
    within = _by_name(names, bounds)
    options = options.only(names)
    readable = [name for name in names if list(names).count(name) == 1]
    looks, good = [], []
    everything = _whole_columns(path, readable, options)
    for j, name in enumerate(names):
        texts = [row[j] if j < len(row) else None for row in rows]
        if name not in readable:
            looks.append(ColumnLook(name, "refused: its name occurs twice, rename one in the file", 0, len(rows)))
            continue
        values = everything.get(name)
        if values is None:
            values = np.array([number(text, options.rule(name)) for text in texts])
        column = _column(name, values, within, texts, rule=options.rule(name))
        told = known.columns.get(name) if known is not None else None
        column = _compared(column, texts, told)
        label, unit = unit_in(name)
        column = replace(column, label=label, unit=options.unit(name) or unit)
        if column.kind == "numbers":
            codes, limits = options.declared_of(name)
            column = replace(column, codes=codes, limits=limits)
        looks.append(column)
        if column.kind == "numbers" and _ID not in column.remarks:
            good.append(name)
    strangers = [] if known is None else [name for name in known.columns if name not in names]
    if strangers:
        evidence = (*evidence, f"columns of the dictionary that are not in the file: {', '.join(strangers)}")
    given = {name: f"{a:g},{b:g}" for name, (a, b) in within.items()}
    command = next_command(str(path), good, given, options) if good else None
    count = len(next(iter(everything.values()))) if everything else len(rows)
    return Look(name_of(path), count, tuple(looks), evidence, command, options)


def _whole_columns(path: Path | str, names: Sequence[str], options: ReadOptions) -> dict[str, FloatArray]:
    """The columns as a release would read them; none where the file cannot be read twice."""
    if not names or not (isinstance(path, InMemory) or (str(path) != "-" and Path(path).is_file())):
        return {}
    known = {name for name in names if name}
    try:
        table = read_file(path, sorted(known), options.only(sorted(known)))
    except ParameterError:
        return {}
    return {name: table.cells[:, j] for j, name in enumerate(sorted(known))}


def _look_at_schema(
    path: Path | str, content: bytes, form: str, told: ReadOptions, bounds: Any, found: list[str]
) -> Look:
    try:
        import pyarrow as pa
        import pyarrow.feather
        import pyarrow.parquet

        if form == "parquet":
            table = pyarrow.parquet.read_table(pa.BufferReader(content))
        elif content.startswith(b"ARROW1"):
            table = pa.ipc.open_file(pa.BufferReader(content)).read_all()
        else:
            table = pa.ipc.open_stream(pa.BufferReader(content)).read_all()
    except ImportError:
        raise missing("FILE", "pyarrow", "files", name_of(path)) from None
    except MemoryError:
        raise
    except Exception:
        raise ParameterError("FILE", f"must be {KIND_NAMES[form]} that can be read", name_of(path)) from None
    seen = look(table, bounds)
    good = [c.name for c in seen.columns if c.kind == "numbers"]
    given = {name: f"{a:g},{b:g}" for name, (a, b) in _by_name([c.name for c in seen.columns], bounds).items()}
    command = next_command(str(path), good, given, told) if good else None
    return replace(seen, source=name_of(path), evidence=tuple(found), command=command, options=told)


def _column(
    name: str,
    values: FloatArray,
    within: Bounds,
    texts: Sequence[Any] = (),
    odd: int = 0,
    rule: NumberRule = PLAIN,
) -> ColumnLook:
    """`odd`: how many cells are not numbers, where there are no texts to show."""
    read = ~np.isnan(values)
    finite = values[np.isfinite(values)]
    distinct = len(np.unique(finite))
    remarks = [*_strange(texts, values, rule), *_limits(name, texts, rule)]
    remarks += [*(codes := _codes(name, finite)), *_thousands(texts, values)]
    filled = sum(text is not None and not rule.is_empty(_said(text)) for text in texts)
    kind = "numbers" if filled and read[: len(texts)].sum() * 2 > filled else "text" if filled else "empty"
    if texts == () and kind == "empty":
        kind = "text" if odd > read.sum() else "numbers" if read.any() else "empty"
        remarks += [f"{odd} not numbers"] * (odd > 0)
    if kind == "numbers" and 0 < distinct <= _FEW and len(finite) > 2 * distinct:
        remarks.append(f"{distinct} different value{'s' * (distinct > 1)} only")
    whole = bool((finite == np.rint(finite)).all()) and distinct == len(finite) > _FEW
    if kind == "numbers" and whole and (np.diff(np.sort(finite)) == 1).all():
        remarks.append(_ID)
    remarks += _words(name, texts, values, rule) if kind == "numbers" else []
    remarks += _who(name, texts, finite, kind)
    skewness = _skewness(finite) if kind == "numbers" else None
    if skewness is not None and abs(skewness) > _SKEWED and not codes:  # which may be all that skews it
        remarks.append("skewed: its mean and its centre differ")
    if kind == "text":
        distinct = len({str(text).strip() for text in texts if text not in ("", None)})
        if 0 < distinct <= _FEW_TEXTS:
            remarks.append(f"{distinct} different text{'s' * (distinct > 1)} only")
    outside = None
    if name in within:
        low, high = within[name]
        outside = int(((values < low) | (values > high)).sum())
    return ColumnLook(
        name, kind, int(read.sum()), int((~read).sum()), outside, distinct, skewness, tuple(remarks)
    )  # fmt: skip


def _strange(texts: Sequence[Any], values: FloatArray, rule: NumberRule) -> list[str]:
    """What unreadable cells look like: the commonest forms, each with its first example."""
    pairs = zip(texts, np.isnan(values[: len(texts)]), strict=False)
    said = [_said(text) for text, missing in pairs if missing and text is not None]
    odd = [text for text in said if not rule.is_empty(text)]
    forms, examples = Counter(map(_form, odd)), {_form(text): text for text in reversed(odd)}
    shown = ", ".join(f"{examples[form][:30]!r} ({often})" for form, often in forms.most_common(3))
    if NO_RESULT in odd:
        shown += ": open the workbook in a spreadsheet and save it, which stores results"
    short = sum(text is None for text in texts)
    remarks = [f"{len(odd)} not numbers, such as {shown}"] if odd else []
    return [*remarks, *([f"{short} lines too short to hold it"] if short else [])]


def _words(name: str, texts: Sequence[Any], values: FloatArray, rule: NumberRule) -> list[str]:
    """Words in a column of numbers, if they are few: perhaps each stands for no value."""
    pairs = zip(texts, np.isnan(values[: len(texts)]), strict=False)
    odd = Counter(_said(text).strip() for text, missing in pairs if missing and text is not None)
    if texts and texts[0] is not None and odd[first := _said(texts[0]).strip()] == 1:
        del odd[first]  # a second row of names
    words = {word: n for word, n in odd.items() if not rule.is_empty(word) and not re.search(r"[\d=]", word)}
    if not 0 < len(words) <= _MOST_WORDS:
        return []
    told = " ".join(f"--missing {escaped(f'{name}={word}', 'shell')}" for word in words)
    return [f"if {' or '.join(map(repr, words))} stands for no value, pass {told}"]


def _who(name: str, texts: Sequence[Any], finite: FloatArray, kind: str) -> list[str]:
    """Whether a column may be that of persons, of which some have several rows."""
    if kind == "numbers":
        count, distinct = len(finite), len(np.unique(finite))
        likely = _WHO.search(name) is not None and bool((finite == np.rint(finite)).all())
    else:
        cells = [str(text).strip() for text in texts if text not in ("", None)]
        count, distinct = len(cells), len(set(cells))
        likely = not any(_DATE.fullmatch(_form(cell)) for cell in cells[:_FEW_TEXTS])
    if not likely or not _FEW_TEXTS < distinct < count or distinct * 10 < count:
        return []
    told = escaped(name, "shell")
    return [f"{distinct} different in {count} cells: if they say who a row is about, pass --person {told}"]


def _compared(column: ColumnLook, texts: Sequence[Any], known: Column | None) -> ColumnLook:
    """What a dictionary says of a column, beside what is in it: cells in none of its categories would be missing."""
    if known is None or known.categories is None:
        return column
    others = others_than([code for code, _ in known.categories] + list(known.missing), texts)
    missed = [f"{said_of(others)} in none of its categories: they count as missing"] if others else []
    read = sum(not _is_nothing(text) for text in texts) - others.total()
    return replace(
        column, kind="categories", readable=read, missing=len(texts) - read, skewness=None, remarks=tuple(missed)
    )


def others_than(listed: Iterable[str], cells: Sequence[Any]) -> Counter[str]:
    """The cells that hold something else than what is listed, and how often."""
    codes = {_as_key(code) for code in listed}
    said = (_said(cell).strip() for cell in cells if not _is_nothing(cell))
    return Counter(cell for cell in said if _as_key(cell) not in codes)


def said_of(others: Counter[str]) -> str:
    """How many cells, and the commonest of them."""
    shown = ", ".join(f"{cell[:30]!r} ({often})" for cell, often in others.most_common(3))
    return f"{others.total()} cell{'s' * (others.total() > 1)}, such as {shown},"


def _is_nothing(cell: Any) -> bool:
    return cell is None or PLAIN.is_empty(_said(cell))


def _as_key(cell: str) -> str:
    """1, 1.0 and 01 are the same key."""
    value = PLAIN.number(cell)
    return cell if math.isnan(value) else f"{value:.17g}"


def _said(cell: Any) -> str:
    """A cell as people write it: workbooks keep 99 as 99.0, which a declared code is not."""
    return f"{cell:g}" if isinstance(cell, float) else str(cell)


def _form(text: str) -> str:
    """A text but for its digits and letters: 1,234 and 56,789 are written alike."""
    return re.sub(r"[^\W\d_]+", "a", re.sub(r"\d+", "9", text))


def _limits(name: str, texts: Sequence[Any], rule: NumberRule) -> list[str]:
    """Cells such as <0.3 that are not declared: the commonest limit with what to pass."""
    bare = NumberRule(rule.decimal, rule.thousands)
    stated = [rule.without_unit(text) for text in texts if isinstance(text, str) and text.strip()[:1] in ("<", ">")]
    found = Counter(
        f"{text[0]}{bare.number(text[1:]):.10g}"
        for text in stated
        if math.isnan(rule.number(text)) and not math.isnan(bare.number(text[1:]))
    )
    return [
        f"{often} cells say {limit}, a limit of detection: pass --detection {escaped(f'{name}={limit}', 'shell')}, or "
        f"{limit}/2 for half of it"
        for limit, often in found.most_common(2)
    ]


def _codes(name: str, finite: FloatArray) -> list[str]:
    """Numbers that people write where there is no value and that stand far from all others.

    Only ever for this column: the same number may be a value in the next.
    """
    others = finite[~np.isin(finite, _CODES)]
    if len(others) < 4:
        return []
    low, high = float(others.min()), float(others.max())
    found = []
    for code in _CODES:
        often = int((finite == code).sum())
        apart = max(low - code, code - high)
        # Beyond all others by more than half of what they span, or the only one below zero.
        if often and (apart > (high - low) / 2 or (code < 0 <= low and apart > 0)):
            times = f"in {often} cell{'s' * (often > 1)}, far from all others"
            told = escaped(f"{name}={code:g}", "shell")
            found.append(f"{code:g} {times}: if it stands for no value, pass --missing {told}")
    return found


def _thousands(texts: Sequence[Any], values: FloatArray) -> list[str]:
    """Marks that were read as decimal ones, and all stand before three digits beside whole numbers below a thousand.

    Three decimals would be there in every cell: 1.808 beside 987 is rather 1808.
    """
    marks: set[str] = set()
    plain = 0
    for text, value in zip(texts, values[: len(texts)].tolist(), strict=False):
        found = _IN_THREES.fullmatch(text.strip()) if isinstance(text, str) else None
        if found is None or (found[1] and abs(value) >= _THOUSAND):
            if not math.isnan(value):
                return []
        elif found[1]:
            marks.add(found[1])
        else:
            plain += 1
    if not plain or len(marks) != 1:
        return []
    mark, other = (".", ",") if marks == {"."} else (",", ".")
    return [f"{mark!r} {_BEFORE_THREE}: if it marks thousands, pass --thousands {mark} --decimal {other}"]


def _skewness(finite: FloatArray) -> float | None:
    if len(finite) < 3:
        return None
    with np.errstate(all="ignore"):
        scale = np.abs(finite).max()
        centred = finite / scale - np.mean(finite / scale)
        skewness = float(np.mean(centred**3) / np.mean(centred**2) ** 1.5)
    return skewness if math.isfinite(skewness) else None


def _by_name(names: Sequence[str], bounds: Any) -> dict[str, tuple[float, float]]:
    """Bounds as everywhere, or a dict by column."""
    if bounds is None:
        return {}
    if isinstance(bounds, Mapping):
        wrong = [name for name in bounds if name not in names]
        if wrong:
            raise ParameterError("bounds", "must be given for columns of the table", repr(wrong[0]))
        ends = {name: checked_bounds(1, pair) for name, pair in bounds.items()}
        return {name: (float(a[0]), float(b[0])) for name, (a, b) in ends.items()}
    lows, highs = checked_bounds(len(names), bounds)
    return {name: (float(a), float(b)) for name, a, b in zip(names, lows, highs, strict=True)}
