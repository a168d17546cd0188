"""`tukeydp summary FILE ...`: the private "Table 1" of the named columns, by group if asked."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from tukeydp.cli import finishing, groups, options
from tukeydp.cli.finishing import finish, printed_and_written
from tukeydp.cli.reading import Columns, File, Reading, reads_a_file
from tukeydp.cli.reports import REPORTS, checked_targets, write_files
from tukeydp.cli.sections import Account
from tukeydp.cli.words import print_table, say_lines
from tukeydp.mechanisms.summary import summary as released_summary
from tukeydp.padding import paced
from tukeydp.results.forest import picture, require_matplotlib
from tukeydp.results.release import Refused
from tukeydp.results.summary_cells import footnote, title
from tukeydp.results.summary_result import Summary, table
from tukeydp.trusted.parameters import ParameterError

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
    by: groups.By = None,
    keys: groups.KeyList = None,
    keys_file: groups.KeysFile = None,
    person: groups.Person = None,
    per_person: groups.PerPerson = None,
    neighbours: options.Neighbours = None,
    rows: options.Rows = None,
    confidence: Annotated[
        str, typer.Option(help="Nominal, of the confidence intervals; none for a table without them.")
    ] = "0.95",
    sd: Annotated[
        list[str] | None,
        typer.Option(help="Standard deviations known without the data: --sd 10 for all, --sd age=15 for one."),
    ] = None,
    out: Annotated[
        list[Path] | None,
        typer.Option(help=f"Write the table to a file besides: {', '.join(_KINDS)}. May be repeated."),
    ] = None,
    no_check: finishing.NoCheck = False,
    allow_unreadable: finishing.AllowUnreadable = None,
    allow_unlisted: finishing.AllowUnlisted = None,
    ledger: options.Ledger = None,
    pad_to: options.PadTo = None,
    seed: options.Seed = None,
    as_json: options.Json = False,
) -> None:
    """Release number of values, mean, standard deviation and interval of each column, for one epsilon.

    The table that opens a report, with a footnote ready to print; with --by and --keys for each group.
    """

    def checking() -> Any:
        return finishing.check_asked(no_check, allow_unreadable, allow_unlisted, by=by, person=person)

    def known() -> list[Path]:
        options.refuse_strangers(context, file)
        options.require_epsilon(epsilon)
        groups.listed_keys(by, keys, keys_file)
        groups.check_person(person, per_person)
        checking()
        return _checked_targets(out, file)

    def job() -> Summary | Refused:
        listed = groups.listed_keys(by, keys, keys_file)
        names = reading.names(file, columns)
        told = reading.bounds(bounds, names)
        if not told:
            raise ParameterError("bounds", "must be given: what is known of the columns without looking", "none")
        given: dict[str, Any] = {
            "bounds": options.pairs_per_column("bounds", told, names),
            "sd": options.one_per_column("sd", reading.sd(sd, names), names, "VALUE"),
            "confidence": None if confidence.lower() == "none" else confidence,
        }
        given |= {"epsilon": epsilon, "check": checking(), **({} if rows is None else {"rows": rows})}
        given |= options.account_for(ledger, "summary", epsilon, None, neighbours, persons=person is not None)
        apart: dict[str, Any] = {"by": by, "keys": listed, "person": person, "per_person": per_person}
        return groups.released(released_summary, reading, file, names, seed, neighbours=neighbours, **apart, **given)

    targets = options.run(known)
    found = options.run(partial(paced, pad_to, job))
    if isinstance(found, Refused):
        kept = [target for target in targets if target.suffix.lower() in REPORTS]  # no picture of what is not there
        finish(Account(found, "mean"), file, as_json=as_json, targets=kept)
    else:
        options.run(lambda: found.lines)  # calibrated here, where what fails is told by its type alone
        _finish(found, targets, as_json=as_json)


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
            say_lines(f"{title(found)}\n")
            print_table(table(found))
            say_lines("\n".join(["", *footnote(found)]))

    files = {target: partial(_KINDS[target.suffix.lower()], found) for target in targets}
    if printed_and_written(tell, partial(write_files, files), targets, quiet=as_json):
        raise typer.Exit(options.UNEXPECTED)
