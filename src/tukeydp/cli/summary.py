"""`tukeydp summary FILE ...`: the private "Table 1" of the named columns, by group if asked."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from tukeydp.cli import check, options
from tukeydp.cli.bounds_file import BoundsFile, with_file
from tukeydp.cli.finishing import finish, printed_and_written
from tukeydp.cli.reading import Columns, File, Reading, reads_a_file
from tukeydp.cli.reports import REPORTS, checked_targets, write_files
from tukeydp.cli.sections import Account
from tukeydp.cli.words import say_lines
from tukeydp.data.files import read_file
from tukeydp.data.keys import Keys, checked_keys
from tukeydp.data.tables import Table
from tukeydp.errors import ParameterError
from tukeydp.mechanisms.readable_check import with_check
from tukeydp.padding import paced
from tukeydp.planning.forest import picture, require_matplotlib
from tukeydp.planning.summary import summary as released_summary
from tukeydp.planning.summary_result import Summary
from tukeydp.release import Refused

# What a file's ending asks for.
_KINDS: dict[str, Callable[[Summary], bytes]] = {
    ".html": lambda summary: summary.to_html().encode(),
    ".md": lambda summary: summary.to_markdown().encode(),
    ".csv": lambda summary: summary.to_csv().encode(),
    ".tex": lambda summary: summary.to_latex().encode(),
    ".json": lambda summary: (summary.to_json(indent=2) + "\n").encode(),
    ".png": lambda summary: picture(summary, ".png"),
    ".svg": lambda summary: picture(summary, ".svg"),
}
_PICTURES = (".png", ".svg")


@reads_a_file
def summary(
    context: typer.Context,
    file: File,
    reading: Reading,
    epsilon: options.Epsilon = None,
    columns: Columns = None,
    bounds: options.Bounds = None,
    bounds_file: BoundsFile = None,
    by: Annotated[str | None, typer.Option(help="Column with the key of each row's group.")] = None,
    keys: Annotated[
        list[str] | None,
        typer.Option(
            help="The groups' keys, separated by commas. May be repeated, for keys with commas. Public: known without "
            "the data."
        ),
    ] = None,
    confidence: Annotated[str, typer.Option(help="Of the intervals; none for a table without them.")] = "0.95",
    sd: Annotated[
        list[str] | None,
        typer.Option(help="Standard deviations known without the data: --sd 10 for all, --sd age=15 for one."),
    ] = None,
    out: Annotated[
        list[Path] | None,
        typer.Option(help=f"Write the table to a file besides: {', '.join(_KINDS)}. May be repeated."),
    ] = None,
    no_check: check.NoCheck = False,
    ledger: options.Ledger = None,
    pad_to: options.PadTo = None,
    seed: options.Seed = None,
    as_json: options.Json = False,
) -> None:
    """Release number of values, mean, standard deviation and interval of each column, for one epsilon.

    The table that opens a report, with a footnote ready to print; with --by and --keys for each group.
    """

    def known() -> list[Path]:
        options.refuse_strangers(context, file)
        options.require_epsilon(epsilon)
        if by is None and keys:
            raise ParameterError("by", "must be given with keys", "none")
        return _checked_targets(out, file)

    def job() -> Summary | Refused:
        names = reading.names(file, columns)
        told = with_file(bounds, bounds_file, names)
        if not told:
            raise ParameterError("bounds", "must be given: what is known of the columns without looking", "none")
        given: dict[str, Any] = {
            "bounds": options.pairs_per_column("bounds", told, names),
            "sd": options.one_per_column("sd", sd, names, "VALUE"),
            "confidence": None if confidence.lower() == "none" else confidence,
        }
        account = options.account_for(ledger, "summary", epsilon, None)
        table, groups = _read(reading, file, names, by, keys)
        run = released_summary if no_check else partial(with_check, released_summary)
        return run(table, epsilon=epsilon, randomness=options.source_for(seed), **account, **given, **groups)

    targets = options.run(known)
    found = options.run(partial(paced, pad_to, job))
    if isinstance(found, Refused):
        kept = [target for target in targets if target.suffix.lower() in REPORTS]  # no picture of what is not there
        finish(Account(found, "mean"), file, as_json=as_json, targets=kept)
    else:
        options.run(lambda: found.lines)  # calibrated here, where what fails is told by its type alone
        _finish(found, targets, as_json=as_json)


def _read(
    reading: Reading, file: Path, names: list[str], by: str | None, keys: Sequence[str] | None
) -> tuple[Table, dict[str, Any]]:
    """The table and, by groups, the key of each row. All columns are read in one go, each row by itself."""
    if by is None:
        return reading.table(file, names), {}
    if by in names:
        raise ParameterError("by", "must not be one of the columns that are summarised", repr(by))
    listed = None if not keys else [key for text in keys for key in (text.split(",") if len(keys) == 1 else [text])]
    declared = reading.declared([*names, by])
    known: Keys = checked_keys(listed, replace(declared, units=()).rule(by))
    both = read_file(file, [*names, by], replace(declared, keys={by: known}))
    places = known.places_of_codes(both.cells[:, -1])
    rows = [None if place < 0 else known.names[place] for place in places.tolist()]
    unreadable = None if both.unreadable is None else both.unreadable[:-1]
    return Table(both.cells[:, :-1], tuple(names), unreadable=unreadable), {
        "by": _Named(by, rows),
        "keys": list(known.names),
    }


class _Named(list[str | None]):
    """Keys of rows under the name of their column."""

    def __init__(self, name: str, keys: Sequence[str | None]) -> None:
        super().__init__(keys)
        self.name = name


def _checked_targets(out: Sequence[Path] | None, file: Path) -> list[Path]:
    """Before the data are read: a table that cannot be kept has cost its budget all the same."""
    targets = checked_targets(out, file, _KINDS)
    if any(target.suffix.lower() in _PICTURES for target in targets):
        require_matplotlib()
    return targets


def _finish(found: Summary, targets: Sequence[Path], *, as_json: bool) -> None:
    def tell() -> None:
        if as_json:
            sys.stdout.write(found.to_json() + "\n")
        else:
            say_lines(str(found))

    files = {target: partial(_KINDS[target.suffix.lower()], found) for target in targets}
    if printed_and_written(tell, partial(write_files, files), targets, quiet=as_json):
        raise typer.Exit(options.UNEXPECTED)
