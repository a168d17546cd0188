"""`tukeydp summary FILE ...`: the private "Table 1" of the named columns, by group if asked."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

import typer

from tukeydp.cli import groups, options
from tukeydp.cli.bounds_file import BoundsFile, with_file
from tukeydp.cli.reading import Columns, File, Reading, reads_a_file
from tukeydp.cli.words import complain, say, say_lines
from tukeydp.errors import ParameterError
from tukeydp.planning.forest import picture, require_matplotlib
from tukeydp.planning.summary import summary as released_summary
from tukeydp.planning.summary_result import Summary

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
    by: groups.By = None,
    keys: groups.KeyList = None,
    keys_file: groups.KeysFile = None,
    confidence: Annotated[str, typer.Option(help="Of the intervals; none for a table without them.")] = "0.95",
    sd: Annotated[
        list[str] | None,
        typer.Option(help="Standard deviations known without the data: --sd 10 for all, --sd age=15 for one."),
    ] = None,
    out: Annotated[
        list[Path] | None,
        typer.Option(help=f"Write the table to a file besides: {', '.join(_KINDS)}. May be repeated."),
    ] = None,
    ledger: options.Ledger = None,
    seed: options.Seed = None,
    as_json: options.Json = False,
) -> None:
    """Release number of values, mean, standard deviation and interval of each column, for one epsilon.

    The table that opens a report, with a footnote ready to print; with --by and --keys for each group.
    """

    def job() -> Summary:
        options.refuse_strangers(context, file)
        options.require_epsilon(epsilon)
        listed = groups.listed_keys(by, keys, keys_file)
        _check_targets(out or (), file)
        names = reading.names(file, columns)
        told = with_file(bounds, bounds_file, names)
        if not told:
            raise ParameterError("bounds", "must be given: what is known of the columns without looking", "none")
        given: dict[str, Any] = {
            "bounds": options.pairs_per_column("bounds", told, names),
            "sd": options.one_per_column("sd", sd, names, "VALUE"),
            "confidence": None if confidence.lower() == "none" else confidence,
        }
        account: dict[str, Any] = {**options.account_for(ledger, "summary", epsilon, None)}
        table, grouped = groups.read_groups(reading, file, names, by, listed)
        source = options.source_for(seed)
        return released_summary(table, epsilon=epsilon, randomness=source, **account, **given, **grouped)

    found = options.run(job)
    if as_json:
        sys.stdout.write(found.to_json() + "\n")
    else:
        say_lines(str(found))
    _write(found, out or (), quiet=as_json)


def _check_targets(targets: Sequence[Path], file: Path) -> None:
    """Before the data are read: a table that cannot be kept has cost its budget all the same."""
    for target in targets:
        if target.suffix.lower() not in _KINDS:
            raise ParameterError("out", f"must end in {', '.join(_KINDS)}", str(target))
        if target.exists() and file.exists() and target.samefile(file):
            raise ParameterError("out", "must not be the file that is read", str(target))
        if not os.access(target if target.exists() else target.parent, os.W_OK) or target.is_dir():
            raise ParameterError("out", "must be a file that can be written", str(target))
        if target.suffix.lower() in _PICTURES:
            require_matplotlib()


def _write(found: Summary, targets: Sequence[Path], *, quiet: bool) -> None:
    """Every file; whatever fails, the rest is still done: the budget is spent, and the table is printed above."""
    failed = False
    for target in targets:
        try:
            _replace(target, _KINDS[target.suffix.lower()](found))
            if not quiet:
                say(f"Wrote {target}.")
        except Exception as error:  # its message might quote anything
            reason = error.strerror if isinstance(error, OSError) else type(error).__name__
            complain(f"{target} could not be written ({reason}). The table above is complete, its budget is spent.")
            failed = True
    if failed:
        raise typer.Exit(options.UNEXPECTED)


def _replace(target: Path, content: bytes) -> None:
    """All of the file or nothing of it: a temporary file in the same folder, then renamed."""
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".part")
    try:
        with open(handle, "wb") as stream:
            stream.write(content)
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(name, target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~mask)
        os.replace(name, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(name)
        raise
