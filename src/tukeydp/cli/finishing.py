"""The end of a command that releases: print, write the reports, leave with the exit code."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import typer

from tukeydp.cli.check import tell_stop
from tukeydp.cli.interrupts import held_back
from tukeydp.cli.options import REFUSED, UNEXPECTED
from tukeydp.cli.reports import write_reports
from tukeydp.cli.sections import Account
from tukeydp.cli.stops import stopped
from tukeydp.cli.words import complain, explain, print_json, say


def finish(account: Account, file: Path, *, as_json: bool, targets: Sequence[Path] = ()) -> None:
    """Print the run and write its reports."""
    told = partial(_tell, account, file, as_json=as_json)
    failed = printed_and_written(told, partial(write_reports, targets, account), targets, quiet=as_json)
    if not account.outcome.released:
        raise typer.Exit(REFUSED)
    if failed:
        raise typer.Exit(UNEXPECTED)


def printed_and_written(
    tell: Callable[[], None], write: Callable[[], dict[Path, str]], targets: Sequence[Path], *, quiet: bool
) -> dict[Path, str]:
    """What could not be written, and why. The release has cost its budget: whatever fails, the rest is still done."""
    failed: dict[Path, str] = {}
    with held_back():
        try:
            tell()
        finally:
            failed = write()
        written = [str(target) for target in targets if target not in failed]
        if written and not quiet:
            say(f"Wrote {', '.join(written)}.")
        for target, reason in failed.items():
            complain(
                f"{target} could not be written ({reason}). The result above is complete, and its budget is spent."
            )
    return failed


def _tell(account: Account, file: Path, *, as_json: bool) -> None:
    if as_json:
        print_json(account.outcome, verbose=account.verbose)
    elif stopped(account.outcome):
        tell_stop(account.outcome, file)
    else:
        explain(*account[:3], verbose=account.verbose)
