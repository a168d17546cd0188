"""`tukeydp table1 FILE ...` and `tukeydp summary FILE ...`: the private "Table 1", by group if asked."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from tukeydp.cli import finishing, groups, options
from tukeydp.cli.counts import by_column
from tukeydp.cli.finishing import finish, printed_and_written
from tukeydp.cli.reading import Columns, File, Reading, reads_a_file
from tukeydp.cli.reports import REPORTS, checked_targets, write_files
from tukeydp.cli.sections import Account
from tukeydp.cli.words import print_table, say_lines
from tukeydp.data.dictionary import Dictionary
from tukeydp.data.files import FileTable, names_in
from tukeydp.data.readers.sources import name_of
from tukeydp.mechanisms.summary import plan_summary
from tukeydp.mechanisms.summary import summary as released_summary
from tukeydp.padding import paced
from tukeydp.results.forest import picture, require_matplotlib
from tukeydp.results.office import require_office
from tukeydp.results.release import Refused
from tukeydp.results.summary_cells import details, footnote, title
from tukeydp.results.summary_result import Summary, table
from tukeydp.trusted.parameters import ParameterError, brief

# What a file's ending asks for.
_KINDS: dict[str, Callable[[Summary], bytes]] = {
    ".html": lambda summary: summary.to_html().encode(),
    ".docx": lambda summary: summary.to_docx(),
    ".xlsx": lambda summary: summary.to_xlsx(),
    ".md": lambda summary: summary.to_markdown().encode(),
    ".csv": lambda summary: summary.to_csv().encode(),
    ".tex": lambda summary: summary.to_latex().encode(),
    ".json": lambda summary: (summary.to_json(indent=2) + "\n").encode(),
    ".png": lambda summary: picture(summary, ".png"),
    ".svg": lambda summary: picture(summary, ".svg"),
}
_PICTURES, _OFFICE = (".png", ".svg"), (".docx", ".xlsx")
_ARD = ".ard.csv"  # a CSV with this ending has one line for each statistic
_TABLE1 = "table1"


@reads_a_file
def summary(
    context: typer.Context,
    file: File,
    reading: Reading,
    epsilon: options.Epsilon = None,
    columns: Columns = None,
    bounds: options.Bounds = None,
    categories: Annotated[
        list[str] | None,
        typer.Option(help="Categories of a column, public: --categories sex=f,m. What is in none of them is missing."),
    ] = None,
    statistics: Annotated[
        list[str] | None,
        typer.Option(help="'mean (SD)' or 'median [IQR]' (or just median), for all numbers or as COLUMN=median."),
    ] = None,
    by: groups.By = None,
    keys: groups.KeyList = None,
    keys_file: groups.KeysFile = None,
    person: groups.Person = None,
    per_person: groups.PerPerson = None,
    weights: Annotated[str | None, typer.Option(help="Column with survey weights.")] = None,
    weight_bounds: Annotated[
        str | None, typer.Option(help="LEAST,MOST of the weights, known without the data; a dictionary's serve too.")
    ] = None,
    neighbours: options.Neighbours = None,
    rows: options.Rows = None,
    confidence: Annotated[
        str | None,
        typer.Option(help="Nominal, of the confidence intervals, or none: 0.95 for summary, none for table1."),
    ] = None,
    compare: Annotated[
        str | None, typer.Option(help="A last column: smd (standardised difference of the first two groups) or p.")
    ] = None,
    sd: Annotated[
        list[str] | None,
        typer.Option(help="Standard deviations known without the data: --sd 10 for all, --sd age=15 for one."),
    ] = None,
    plan: Annotated[
        int | None,
        typer.Option(
            help="Release nothing and read no data: say what to expect of each line with so many rows, or persons."
        ),
    ] = None,
    out: Annotated[
        list[Path] | None,
        typer.Option(help=f"Write the table to a file besides: {', '.join(_KINDS)}, {_ARD}. May be repeated."),
    ] = None,
    no_check: finishing.NoCheck = False,
    allow_unreadable: finishing.AllowUnreadable = None,
    allow_unlisted: finishing.AllowUnlisted = None,
    ledger: options.Ledger = None,
    pad_to: options.PadTo = None,
    seed: options.Seed = None,
    as_json: options.Json = False,
) -> None:
    """Release the table that opens a report, its groups side by side, for one epsilon.

    Numbers have mean (SD) or median [IQR], categories n (%). A dictionary says what is known of the columns; without
    one, give --columns with --bounds and --categories.
    """
    level = confidence or ("none" if context.info_name == _TABLE1 else "0.95")

    def checking() -> Any:
        return finishing.check_asked(no_check, allow_unreadable, allow_unlisted, by=by, person=person)

    def known() -> list[Path]:
        options.refuse_strangers(context, file)
        options.require_epsilon(epsilon)
        groups.check_person(person, per_person)
        _keys(reading.known, by, groups.listed_keys(by, keys, keys_file))
        checking()
        return _checked_targets(out, file)

    def question() -> tuple[dict[str, Any], list[str]]:
        apart = [name for name in (by, person, weights) if name is not None]
        names, listed = _columns(reading, file, columns, categories, apart)
        measured = [name for name in names if name not in listed]
        told = _bounds(reading, bounds, measured)
        asked: dict[str, Any] = {
            "bounds": told, "categories": listed or None, "statistics": _statistics(statistics, measured),
            "keys": _keys(reading.known, by, groups.listed_keys(by, keys, keys_file)), "epsilon": epsilon,
            "sd": options.one_per_column("sd", reading.sd(sd, measured), measured, "VALUE") if measured else None,
        }  # fmt: skip
        if weights is not None:
            asked |= {"weights": weights, "weight_bounds": _weight_bounds(reading.known, weights, weight_bounds)}
        return asked, names

    def job() -> Summary | Refused:
        asked, names = question()
        given: dict[str, Any] = {"confidence": None if level.lower() == "none" else level, "compare": compare}
        given |= {"labels": _labels(reading.known, names), **({} if rows is None else {"rows": rows})}
        given |= options.account_for(ledger, "summary", epsilon, None, neighbours, persons=person is not None)
        plain = asked["categories"] is None and asked["statistics"] is None and None not in asked["bounds"].values()
        if plain and weights is None:
            apart: dict[str, Any] = {"by": by, "keys": asked.pop("keys"), "person": person, "per_person": per_person}
            given |= {name: asked[name] for name in ("bounds", "sd", "epsilon")} | {"check": checking()}
            return groups.released(
                released_summary, reading, file, names, seed, neighbours=neighbours, **apart, **given
            )
        beside = [name for name in (by, person, weights) if name is not None]
        read = FileTable(file, (*names, *beside), tuple(names), reading.declared([*names, *beside]))
        given |= {"neighbours": neighbours or "swap", "by": by, "person": person, **groups.rules(per_person)}
        return released_summary(read, randomness=options.source_for(seed), **asked, **given)

    targets = options.run(known)
    if plan is not None:
        asked = options.run(question)[0]
        asked["sd"] = None if asked["sd"] is None else dict(zip(asked["bounds"], asked["sd"], strict=True))
        say_lines(str(options.run(lambda: plan_summary(n=plan, neighbours=neighbours or "swap", **asked))))
        return
    found = options.run(partial(paced, pad_to, job))
    if isinstance(found, Refused):
        kept = [target for target in targets if target.suffix.lower() in REPORTS]  # no picture of what is not there
        finish(Account(found, "mean"), file, as_json=as_json, targets=kept)
    else:
        options.run(lambda: found.lines)  # calibrated here, where what fails is told by its type alone
        _finish(found, targets, as_json=as_json)


# What is asked, from options and the dictionary; of the file nothing but its header.


def _columns(
    reading: Reading, file: Path, columns: Sequence[str] | None, categories: Sequence[str] | None, apart: Sequence[str]
) -> tuple[list[str], dict[str, Any]]:
    """The table's columns in order, and the categories of those that have some."""
    known = reading.known
    if columns or not known.columns:
        names = reading.names(file, columns)
    else:
        used = [*known.of_kind("number", "category"), *known.categories_of(known.columns)]
        names = [name for name in names_in(file, reading.layout) if name in used and name not in apart]
    listed: dict[str, Any] = {
        name: dict(pairs) for name, pairs in known.categories_of(names).items() if name not in apart
    }
    told = by_column("categories", categories, names) if categories else None
    listed |= told or {}
    if not names:
        rule = "must have a column of the file that is a number, yes/no or a category"
        raise ParameterError("dictionary", rule, name_of(reading.dictionary or file))
    open_ended = [n for n in known.of_kind("category") if n in names and n not in listed]
    if open_ended:
        rule = "must list the categories of a category, or call its type text to leave it out"
        raise ParameterError("dictionary", rule, ", ".join(map(brief, open_ended)))
    return names, listed


def _bounds(reading: Reading, given: Sequence[str] | None, measured: list[str]) -> dict[str, Any]:
    """Of each measured column; None where neither options nor the dictionary have them."""
    told = reading.bounds(given, measured)
    everywhere = any("=" not in text for text in told)
    named = [name for name in measured if everywhere or any(text.rpartition("=")[0].strip() == name for text in told)]
    if measured and not named and not reading.known.columns:
        raise ParameterError("bounds", "must be given: what is known of the columns without looking", "none")
    if not named and told:
        options.pairs_per_column("bounds", told, measured)  # says which name is none
    pairs = options.pairs_per_column("bounds", told, measured if everywhere else named) if told else None
    ends = {} if pairs is None else dict(zip(measured if everywhere else named, zip(*pairs, strict=True), strict=True))
    if not reading.known.columns and len(ends) < len(measured):
        options.pairs_per_column("bounds", told, measured)  # says which column has none
    return {name: ends.get(name) for name in measured}


def _keys(known: Dictionary, by: str | None, listed: list[str] | None) -> Any:
    """As they were given, by codes or by what the dictionary calls them; else all categories that it has."""
    pairs = dict(known.categories_of([by])[by]) if by is not None and known.categories_of([by]) else {}
    if listed is None:
        return pairs or None
    codes = {label: code for code, label in pairs.items()}
    if pairs and set(listed) <= set(pairs):
        return {key: pairs[key] for key in listed}
    called = len(codes) == len(pairs) and set(listed) <= set(codes)
    return {codes[label]: label for label in listed} if called else listed


def _labels(known: Dictionary, names: Sequence[str]) -> dict[str, str]:
    units = known.units_of(names)
    found = {name: known.columns[name].title for name in names if name in known.columns}
    return {name: f"{label} ({units[name]})" if name in units else label for name, label in found.items()}


def _statistics(given: Sequence[str] | None, measured: Sequence[str]) -> Any:
    shown = {"mean": "mean (SD)", "median": "median [IQR]"}
    found: dict[str, str] = {}
    for text in given or ():
        name, mark, kind = text.rpartition("=")
        for one in [name.strip()] if mark else measured:
            found[one] = shown.get(kind.strip(), kind.strip())
    return found or None


def _weight_bounds(known: Dictionary, weights: str, given: str | None) -> Any:
    if given is not None:
        return tuple(part.strip() for part in given.split(","))
    return known.bounds_of([weights]).get(weights)


def _checked_targets(out: Sequence[Path] | None, file: Path) -> list[Path]:
    """Before the data are read: a table that cannot be kept has cost its budget all the same."""
    targets = checked_targets(out, file, _KINDS)
    if any(target.suffix.lower() in _PICTURES for target in targets):
        require_matplotlib()
    for target in targets:
        if target.suffix.lower() in _OFFICE:
            require_office(target.suffix.lower())
    return targets


def _finish(found: Summary, targets: Sequence[Path], *, as_json: bool) -> None:
    def tell() -> None:
        if as_json:
            sys.stdout.write(found.to_json() + "\n")
        else:
            say_lines(f"{title(found)}\n")
            print_table(table(found))
            say_lines("\n".join(["", *footnote(found), "", *details(found)]))

    files: Mapping[Path, Callable[[], bytes]] = {target: partial(_written, found, target) for target in targets}
    if printed_and_written(tell, partial(write_files, files), targets, quiet=as_json):
        raise typer.Exit(options.UNEXPECTED)


def _written(found: Summary, target: Path) -> bytes:
    if target.name.lower().endswith(_ARD):
        return found.to_ard().encode()
    return _KINDS[target.suffix.lower()](found)
