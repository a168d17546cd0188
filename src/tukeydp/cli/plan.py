"""`tukeydp plan`: what a release would be like, before there are any data."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from tukeydp.cli import options
from tukeydp.cli.words import say_lines
from tukeydp.forecast.plan import Plan
from tukeydp.forecast.plan import plan as planned
from tukeydp.trusted.parameters import ParameterError

_SHAPE = "NAME=LOWER:UPPER, or NAME alone without bounds"
# What a range with a dash looks like: 60-240, -5--1, 1.5 - 2.
_DASHED = re.compile(r"^\s*([-+]?[\d.]+)\s*(?:-|\u2013|to|\.\.)\s*([-+]?[\d.]+)\s*$")
# Names that Python has and the command line has not.
_FLAGS = {"n": "--rows", "d": "--columns", "bounds": "bounds (--columns NAME=LOWER:UPPER)"}


def plan(
    rows: Annotated[str | None, typer.Option(help="Number of rows: persons. Left out: found from --error.")] = None,
    columns: Annotated[
        list[str] | None,
        typer.Option(help="systolic=60:240,pulse=30:200; names alone without bounds; or a number of columns."),
    ] = None,
    epsilon: Annotated[
        str | None, typer.Option(help="Privacy budget, > 0. Left out: 1, or found from --error.")
    ] = None,
    error: Annotated[
        list[str] | None,
        typer.Option(
            help="A wish for 95 of 100 releases: --error 0.1 in standard deviations, --error systolic=2 in units."
        ),
    ] = None,
    delta: Annotated[str | None, typer.Option(help="In place of bounds, and for the baselines: say 1e-6.")] = None,
    bounds: Annotated[
        list[str] | None, typer.Option(help="As for tukeydp mean: --bounds=0,100 for all, --bounds age=0,120 for one.")
    ] = None,
    sd: Annotated[
        list[str] | None,
        typer.Option(help="Standard deviations known without the data: --sd 10 for all, --sd systolic=15 for one."),
    ] = None,
    by: Annotated[str | None, typer.Option(help="A number of groups of equal size, as for tukeydp mean --by.")] = None,
    missing: Annotated[str | None, typer.Option(help="Share of cells feared to be missing: 0.1.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw error against rows: .png, .svg or .html.")] = None,
    against: Annotated[str, typer.Option(help="What --plot draws against: rows or epsilon.")] = "rows",
    as_json: options.Json = False,
) -> None:
    """Say what accuracy to expect of each mechanism, and which to take. No data are involved.

    Of --rows, --epsilon and --error give two: the third is found.
    """

    def job() -> Plan:
        names, pairs, count = _columns(columns)
        if bounds and pairs:
            raise ParameterError("bounds", "must be left out where --columns has them", repr(bounds[0]))
        given: Any = pairs or (options.pairs_per_column("bounds", bounds, names or ["all"]) if bounds else None)
        if bounds and not names and not isinstance(given, str):
            given = tuple(ends[0] for ends in given)
        found = planned(
            None if rows is None else _whole("rows", rows),
            d=count,
            columns=(given if isinstance(given, dict) else names) or None,
            bounds=None if isinstance(given, dict) else given,
            epsilon=epsilon,
            error=_by_name("error", error, names),
            delta=delta,
            sd=_by_name("sd", sd, names),
            by=None if by is None else _whole("by", by),
            missing=None if missing is None else _share(missing),
        )
        if plot is not None:
            found.plot(plot, against=against)
        return found

    found = options.run(lambda: _in_flags(job))
    if as_json:
        sys.stdout.write(found.to_json() + "\n")
        return
    say_lines(str(found))
    if plot is not None:
        say_lines(f"\nWrote {plot}.")


def _in_flags(job: Any) -> Plan:
    """Errors name the options of the command line."""
    try:
        return job()
    except ParameterError as error:
        name = _FLAGS.get(error.parameter)
        if name is None:
            raise
        raise ParameterError(name, error.rule, error.value) from None


def _columns(given: list[str] | None) -> tuple[list[str], dict[str, tuple[str, str]], int | None]:
    """Names, bounds by name, or a number of columns."""
    if not given:
        raise ParameterError("columns", f"must be given: {_SHAPE}; or a number of columns", "none")
    parts = [part.strip() for text in given for part in text.split(",") if part.strip()]
    if len(parts) == 1 and parts[0].isdecimal():
        return [], {}, int(parts[0])
    names, pairs = [], {}
    for part in parts:
        name, separator, ends = part.partition("=")
        names.append(name.strip())
        if separator:
            pairs[names[-1]] = _ends(part, name.strip(), ends)
    if len(set(names)) < len(names):
        raise ParameterError("columns", "must have different names", repr(given[0]))
    if pairs and len(pairs) < len(names):
        bare = next(name for name in names if name not in pairs)
        raise ParameterError("columns", f"must have bounds for all or none: {_SHAPE}", f"none for {bare!r}")
    return names, pairs, None


def _ends(part: str, name: str, ends: str) -> tuple[str, str]:
    lower, colon, upper = ends.partition(":")
    if colon and lower.strip() and upper.strip() and ":" not in upper:
        return lower.strip(), upper.strip()
    dashed = _DASHED.match(ends)
    hint = f" (did you mean {name}={dashed[1]}:{dashed[2]}?)" if dashed else ""
    raise ParameterError("columns", f"must read {_SHAPE}", repr(part) + hint)


def _by_name(option: str, given: list[str] | None, names: list[str]) -> Any:
    """`--sd 10` for all, `--sd systolic=15,pulse=12` by name."""
    if not given:
        return None
    parts = [part.strip() for text in given for part in text.split(",") if part.strip()]
    named = [part for part in parts if "=" in part]
    if not named and len(parts) == 1:
        return parts[0]
    if len(named) < len(parts):
        raise ParameterError(option, "must be one VALUE for all columns, or COLUMN=VALUE for some", repr(given[0]))
    if not names:
        raise ParameterError(option, "must be one VALUE: --columns has no names", repr(given[0]))
    return {name.strip(): value.strip() for name, _, value in (part.rpartition("=") for part in named)}


def _whole(option: str, text: str) -> int:
    plain = text.replace(",", "").replace("_", "").strip()
    if not plain.isdecimal():
        raise ParameterError(option, "must be a whole number", repr(text))
    return int(plain)


def _share(text: str) -> float:
    plain, percent = text.strip().removesuffix("%").strip(), text.strip().endswith("%")
    try:
        value = float(plain)
    except ValueError:
        raise ParameterError("missing", "must be a share, at least 0 and below 1", repr(text)) from None
    if not percent and value > 1:
        raise ParameterError("missing", "must be a share, at least 0 and below 1", f"{text} (did you mean {text}%?)")
    return value / 100 if percent else value
