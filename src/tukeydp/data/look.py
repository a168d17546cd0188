"""`td.look` and `tukeydp look`: what the reader makes of a table or file. NOT private: for the data's owner alone."""

from __future__ import annotations

import gzip
import math
import os
import re
import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from tukeydp.arrays import FloatArray
from tukeydp.data.files import format_of, read_file
from tukeydp.data.frames import read_frame
from tukeydp.data.grid import checked_bounds
from tukeydp.data.look_report import ColumnLook, Look, next_command
from tukeydp.data.numbers import number
from tukeydp.data.readers.dialects import guess_dialect, guess_header
from tukeydp.data.readers.excel import sheet_names, sheet_rows
from tukeydp.data.readers.options import ReadOptions
from tukeydp.data.readers.sources import KIND_NAMES, InMemory, kind_of, name_of, opened
from tukeydp.data.tables import is_array, read_table
from tukeydp.errors import ParameterError
from tukeydp.extras import missing

_MOST_ROWS = 100_000  # rows of a text file whose cells are looked at as texts
_FEW = 10  # different values: a column that is rather a choice than a measurement
_SKEWED = 2.0  # skewness from which the centre of a column is clearly not its mean; the exponential distribution has 2
_CODES = (-9.0, -99.0, -999.0, -9999.0, 99.0, 999.0, 9999.0, 99999.0)  # that people write where there is no value
_FAR = 5.0  # interquartile ranges from the quartiles: such a code is not one of the values

_THOUSAND = 1000.0
_IN_THREES = re.compile(r"[+-]?[1-9]\d{0,2}(?:([.,])\d{3})?|0")

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
    refused: dict[str, str] = {}
    if is_array(x):
        table = read_table(x)
        cells, names = table.cells, table.columns
    else:
        cells, names = read_frame(x.collect() if hasattr(x, "collect_schema") else x, "x", refused)
    names = names or tuple(f"column {j}" for j in range(cells.shape[1]))
    within = _by_name(names, bounds)
    columns = [
        ColumnLook(name, f"refused: {refused[name]}", 0, len(cells))
        if name in refused
        else _column(name, cells[:, j], within)
        for j, name in enumerate(names)
    ]
    return Look(type(x).__name__, len(cells), tuple(columns))


def look_at_file(path: Path | str, options: ReadOptions | None = None, bounds: Any = None) -> Look:
    """What a file (or standard input, `-`) is and how to read it, guessed with evidence where `options` do not say."""
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
    if form in ("parquet", "arrow"):
        return _look_at_schema(path, content, form, told, bounds, found)
    if form == "excel":
        return _look_at_workbook(path, content, told, bounds, found)
    return _look_at_text(path, content, told, bounds, found)


def _look_at_text(path: Path | str, content: bytes, told: ReadOptions, bounds: Any, found: list[str]) -> Look:
    dialect = guess_dialect(content, told, _MOST_ROWS)
    return _from_texts(path, dialect.names, dialect.rows, dialect.options, bounds, (*found, *dialect.evidence))


def _look_at_workbook(path: Path | str, content: bytes, told: ReadOptions, bounds: Any, found: list[str]) -> Look:
    sheets = sheet_names(content, path)
    if told.sheet is None and len(sheets) != 1:
        found.append(f"sheets: {', '.join(map(repr, sheets))}; this is the first")
        told = replace(told, sheet=sheets[0] if sheets else None)
    rows = [tuple(row) for row in sheet_rows(content, told, path)][told.skip :]
    header, why = guess_header(rows[0], told) if rows else (told.header, "")
    if why:
        found.append(why)
        told = replace(told, header=header)
    names = tuple(str(cell).strip() if header else str(i + 1) for i, cell in enumerate(rows[0])) if rows else ()
    body = [row for row in rows[header:] if any(cell != "" for cell in row)]
    return _from_texts(path, names, body, told, bounds, tuple(found))


def _from_texts(
    path: Path | str, names: Sequence[str], rows: Sequence[tuple[Any, ...]], options: ReadOptions, bounds: Any,
    evidence: tuple[str, ...],
) -> Look:  # fmt: skip
    within = _by_name(names, bounds)
    readable = [name for name in names if list(names).count(name) == 1]
    looks, good = [], []
    everything = _whole_columns(path, readable, options)
    for j, name in enumerate(names):
        texts = [row[j] if j < len(row) else "" for row in rows]
        if name not in readable:
            looks.append(ColumnLook(name, "refused: its name occurs twice", 0, len(rows)))
            continue
        values = everything.get(name)
        if values is None:
            values = np.array([number(text, options.rule(name)) for text in texts])
        column = _column(name, values, within, texts)
        looks.append(column)
        if column.kind == "numbers" and _ID not in column.remarks:
            good.append(name)
    given = {name: f"{a:g},{b:g}" for name, (a, b) in within.items()}
    command = next_command(str(path), good, given, options) if good else None
    count = len(next(iter(everything.values()))) if everything else len(rows)
    return Look(name_of(path), count, tuple(looks), evidence, command, options)


def _whole_columns(path: Path | str, names: Sequence[str], options: ReadOptions) -> dict[str, FloatArray]:
    """The columns as a release would read them; none where the file cannot be read twice."""
    if not names or not (isinstance(path, InMemory) or (str(path) != "-" and Path(path).is_file())):
        return {}
    known = {name for name in names if name}
    units = {n: u for n, u in options.units.items() if n in known} if isinstance(options.units, Mapping) else None
    options = options if units is None else replace(options, units=units)
    try:
        table = read_file(path, sorted(known), options)
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
    except Exception:
        raise ParameterError("FILE", f"must be {KIND_NAMES[form]} that can be read", name_of(path)) from None
    seen = look(table, bounds)
    good = [c.name for c in seen.columns if c.kind == "numbers"]
    given = {name: f"{a:g},{b:g}" for name, (a, b) in _by_name([c.name for c in seen.columns], bounds).items()}
    command = next_command(str(path), good, given, told) if good else None
    return replace(seen, source=name_of(path), evidence=tuple(found), command=command, options=told)


def _column(name: str, values: FloatArray, within: Bounds, texts: Sequence[Any] = ()) -> ColumnLook:
    read = ~np.isnan(values)
    finite = values[np.isfinite(values)]
    distinct = len(np.unique(finite))
    remarks = [*_strange(texts, values), *_codes(finite), *_thousands(texts, values)]
    kind = "numbers" if read.sum() * 2 > len(values) else "empty" if not any(t != "" for t in texts) else "text"
    if texts == () and kind == "empty":
        kind = "numbers" if read.any() else "empty"
    if kind == "numbers" and 0 < distinct <= _FEW and len(finite) > 2 * distinct:
        remarks.append(f"{distinct} different value{'s' * (distinct > 1)} only")
    whole = bool((finite == np.rint(finite)).all()) and distinct == len(finite) > _FEW
    if kind == "numbers" and whole and (np.diff(np.sort(finite)) == 1).all():
        remarks.append(_ID)
    skewness = _skewness(finite) if kind == "numbers" else None
    if skewness is not None and abs(skewness) > _SKEWED:
        remarks.append("skewed: its mean and its centre differ")
    outside = None
    if name in within:
        low, high = within[name]
        outside = int(((values < low) | (values > high)).sum())
    return ColumnLook(
        name, kind, int(read.sum()), int((~read).sum()), outside, distinct, skewness, tuple(remarks)
    )  # fmt: skip


def _strange(texts: Sequence[Any], values: FloatArray) -> list[str]:
    """The commonest texts that are no numbers."""
    pairs = zip(texts, np.isnan(values[: len(texts)]), strict=False)
    odd = Counter(str(text) for text, missing in pairs if missing and text not in ("", None))
    if not odd:
        return []
    shown = ", ".join(f"{text[:30]!r} ({often})" for text, often in odd.most_common(3))
    return [f"{odd.total()} not numbers: {shown}"]


def _codes(finite: FloatArray) -> list[str]:
    if len(finite) < 4:
        return []
    low, high = np.quantile(finite, [0.25, 0.75])
    far = _FAR * max(high - low, 1e-300)
    codes = [code for code in _CODES if (finite == code).sum() > 1 and not low - far <= code <= high + far]
    return [f"{code:g} may stand for no value: then pass --missing {code:g}" for code in codes]


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
    return [f"{mark!r} is always before three digits: if it marks thousands, pass --thousands {mark} --decimal {other}"]


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
