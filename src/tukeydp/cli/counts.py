"""`tukeydp counts FILE ...`: numbers and shares of public categories, cross-tables and histograms."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from tukeydp.cli import groups, options
from tukeydp.cli.finishing import printed_and_written
from tukeydp.cli.reading import File, Reading, reads_a_file
from tukeydp.cli.reports import checked_targets, write_files
from tukeydp.cli.words import print_table, say, say_lines
from tukeydp.data.files import FileTable
from tukeydp.mechanisms.counts import counts as released_counts
from tukeydp.padding import paced
from tukeydp.results.counts_release import CountsRelease
from tukeydp.results.views import guarantee_sentence, warnings
from tukeydp.trusted.parameters import ParameterError

# What a file's ending asks for.
_KINDS: dict[str, Callable[[CountsRelease], str]] = {
    ".html": CountsRelease.to_html,
    ".md": CountsRelease.to_markdown,
    ".csv": CountsRelease.to_csv,
    ".tex": CountsRelease.to_latex,
    ".json": lambda found: found.to_json(indent=2) + "\n",
}


@reads_a_file
def counts(
    context: typer.Context,
    file: File,
    reading: Reading,
    epsilon: options.Epsilon = None,
    column: Annotated[
        list[str] | None,
        typer.Option(
            help="Column to count. May be repeated: epsilon is then divided among the columns. Always needed."
        ),
    ] = None,
    categories: Annotated[
        list[str] | None,
        typer.Option(
            help="Its categories, separated by commas: --categories f,m; with several columns COLUMN=f,m for each. "
            "Public: known without the data. Anything else counts as other / missing."
        ),
    ] = None,
    edges: Annotated[
        list[str] | None,
        typer.Option(help="In place of categories, for a histogram: --edges 0,18,65,120, or COLUMN=0,18,65,120."),
    ] = None,
    cross: Annotated[
        bool, typer.Option("--cross", help="One table of all combinations of the columns, in place of one for each.")
    ] = False,
    by: groups.By = None,
    keys: groups.KeyList = None,
    keys_file: groups.KeysFile = None,
    person: groups.Person = None,
    per_person: groups.PerPerson = None,
    neighbours: options.Neighbours = None,
    rows: options.Rows = None,
    confidence: Annotated[str, typer.Option(help="Of the intervals; none for a table without them.")] = "0.95",
    joint: Annotated[bool, typer.Option("--joint", help="The confidence is for all intervals together.")] = False,
    out: Annotated[
        list[Path] | None,
        typer.Option(help=f"Write the table to a file besides: {', '.join(_KINDS)}. May be repeated."),
    ] = None,
    ledger: options.Ledger = None,
    pad_to: options.PadTo = None,
    seed: options.Seed = None,
    as_json: options.Json = False,
) -> None:
    """Release how many rows, or persons, are in each of several public categories, and their shares.

    With --by and --keys for each group; with --edges a histogram; with --cross a cross-table.
    """

    def known() -> list[Path]:
        options.refuse_strangers(context, file)
        options.require_epsilon(epsilon)
        groups.listed_keys(by, keys, keys_file)
        groups.check_person(person, per_person)
        _asked(column, categories, edges, cross)
        return checked_targets(out, file, _KINDS)

    def job() -> CountsRelease:
        names, asked = _asked(column, categories, edges, cross)
        apart = [name for name in (by, person) if name is not None]
        table = FileTable(file, (*names, *apart), tuple(names), reading.declared([*names, *apart]))
        given: dict[str, Any] = {"confidence": None if confidence.lower() == "none" else confidence, "joint": joint}
        given |= {"neighbours": neighbours or "swap", "rows": rows, "person": person, **groups.rules(per_person)}
        given |= {"by": by, "keys": groups.listed_keys(by, keys, keys_file), "randomness": options.source_for(seed)}
        given |= options.account_for(ledger, "counts", epsilon, None, neighbours, persons=person is not None)
        return released_counts(table, epsilon=epsilon, **asked, **given)

    targets = options.run(known)
    found = options.run(partial(paced, pad_to, job))
    options.run(lambda: found.lines)  # intervals are found here, where what fails is told by its type alone
    _finish(found, targets, as_json=as_json)


def _asked(
    column: Sequence[str] | None, categories: Sequence[str] | None, edges: Sequence[str] | None, cross: bool
) -> tuple[list[str], dict[str, Any]]:
    """The columns, and what `td.counts` is asked."""
    if not column:
        raise ParameterError("column", "must be given: a name in the header (--column sex)", "none")
    names = [name.strip() for name in column]
    if cross and len(names) < 2:
        raise ParameterError("cross", "must be left out unless there are several columns", "one column")
    asked: dict[str, Any] = {
        "categories": by_column("categories", categories, names),
        "edges": by_column("edges", edges, names),
    }
    told = [name for lists in asked.values() for name in lists or ()]
    missing = [name for name in names if told.count(name) != 1]
    if missing:
        rule = "must be given for every column, or edges, and not both"
        raise ParameterError("categories", rule, f"none, or both, for {missing[0]}")
    return names, {"column": tuple(names), **asked} if cross else asked


def by_column(option: str, given: Sequence[str] | None, names: list[str]) -> dict[str, list[str]] | None:
    """`f,m` where there is one column, `sex=f,m` for one of several."""
    found: dict[str, list[str]] = {}
    for text in given or ():
        name, mark, listed = text.partition("=")
        if not mark or name.strip() not in names:
            if len(names) > 1:
                raise ParameterError(option, f"must read COLUMN=LIST, of {', '.join(names)}", repr(text))
            name, listed = names[0], text
        if name.strip() in found:
            raise ParameterError(option, "must be given once for a column", repr(text))
        found[name.strip()] = [part.strip() for part in listed.split(",")]
    return found or None


def _finish(found: CountsRelease, targets: Sequence[Path], *, as_json: bool) -> None:
    def tell() -> None:
        if as_json:
            sys.stdout.write(found.to_json() + "\n")
            return
        for text in warnings(found):  # type: ignore[arg-type]
            say(f"*** {text} ***\n")
        say_lines(f"{found.headline}\n")
        print_table(found.shown())
        say()
        for text in (guarantee_sentence(found.guarantee), *found.said):
            say(text)

    files = {target: partial(_written, found, target.suffix.lower()) for target in targets}
    if printed_and_written(tell, partial(write_files, files), targets, quiet=as_json):
        raise typer.Exit(options.UNEXPECTED)


def _written(found: CountsRelease, ending: str) -> bytes:
    return _KINDS[ending](found).encode()
