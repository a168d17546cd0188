"""`--bounds-file FILE`: bounds by column name, as CSV, JSON or TOML. The file is public, so errors may quote it."""

from __future__ import annotations

import csv
import io
import json
import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from tukeydp.trusted.parameters import ParameterError, brief, rational

BoundsFile = Annotated[
    Path | None,
    typer.Option(
        help="File with the bounds of columns: CSV with the header column,lower,upper; or JSON or TOML with "
        "COLUMN: [LOWER, UPPER]. It may hold further columns; --bounds goes before it."
    ),
]
_OPTION = "bounds-file"
_HEADER = ["column", "lower", "upper"]

Pairs = dict[str, tuple[str, str]]


def bounds_in(path: Path) -> Pairs:
    """The bounds of each column in the file, as texts that are numbers."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "not UTF-8 text"
        raise ParameterError(_OPTION, "must be a file that can be read", f"{path} ({why})") from None
    parse = _PARSERS.get(path.suffix.lower(), _csv)
    pairs = {name: (low.strip(), high.strip()) for name, (low, high) in parse(text, path).items()}
    for name, ends in pairs.items():
        for end in ends:
            try:
                rational(_OPTION, end)
            except ParameterError:
                rule = "must have numbers with decimal points as bounds"
                raise ParameterError(_OPTION, rule, f"{brief(end)} for {brief(name)}") from None
    return pairs


def with_file(given: Sequence[str] | None, path: Path | None, names: Sequence[str]) -> list[str]:
    """The `--bounds` of a command, with those of the file before them: what is said later and by name goes first."""
    if path is None:
        return list(given or ())
    pairs = bounds_in(path)
    return [f"{name}={','.join(pairs[name])}" for name in names if name in pairs] + list(given or ())


def _csv(text: str, path: Path) -> Pairs:
    first = text.partition("\n")[0]
    separator = next((mark for mark in ";\t" if mark in first), ",")
    try:
        lines = list(csv.reader(io.StringIO(text), delimiter=separator))
    except csv.Error:
        lines = []
    rows = [[cell.strip() for cell in line] for line in lines if any(line)]
    if not rows or [name.lower() for name in rows[0]] != _HEADER:
        raise ParameterError(_OPTION, f"must have the header {','.join(_HEADER)}", path)
    for row in rows[1:]:
        if len(row) != len(_HEADER):
            raise ParameterError(_OPTION, "must have a column, its lower and its upper bound on each line", brief(row))
    return _distinct([(row[0], (row[1], row[2])) for row in rows[1:]])


def _json(text: str, path: Path) -> Pairs:
    # Numbers as they are written, so that 0.1 is 1/10.
    try:
        pairs = json.loads(text, parse_float=str, parse_int=str, object_pairs_hook=list)
    except (ValueError, RecursionError):
        raise ParameterError(_OPTION, "must be JSON, as its name says", path) from None
    return _by_name(pairs if isinstance(pairs, list) else [], path)


def _toml(text: str, path: Path) -> Pairs:
    try:
        pairs = tomllib.loads(text, parse_float=str)
    except (ValueError, RecursionError):
        raise ParameterError(_OPTION, "must be TOML, as its name says", path) from None
    return _by_name(list(pairs.items()), path)


def _by_name(pairs: list[Any], path: Path) -> Pairs:
    if not pairs or not all(isinstance(pair, tuple) for pair in pairs):
        raise ParameterError(_OPTION, "must hold COLUMN: [LOWER, UPPER] for each column", path)
    for name, ends in pairs:
        wrong = not isinstance(ends, list) or len(ends) != 2
        if wrong or any(isinstance(end, bool) or not isinstance(end, str | int) for end in ends):
            raise ParameterError(_OPTION, "must hold COLUMN: [LOWER, UPPER]", f"{brief(ends)} for {brief(name)}")
    return _distinct([(name, (str(low), str(high))) for name, (low, high) in pairs])


def _distinct(pairs: list[tuple[str, tuple[str, str]]]) -> Pairs:
    names = [name for name, _ in pairs]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise ParameterError(_OPTION, "must name each column once", f"{brief(twice[0])} twice")
    return dict(pairs)


_PARSERS: dict[str, Callable[[str, Path], Pairs]] = {".json": _json, ".toml": _toml}
