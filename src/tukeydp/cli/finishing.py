"""The end of a command that releases: print, write the reports, leave with the exit code."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Annotated, Any

import typer

from tukeydp.cli.options import REFUSED, UNEXPECTED
from tukeydp.cli.reports import GROUP_REPORTS, write_reports, write_texts
from tukeydp.cli.sections import OFTEN, Account, GroupAccount, group_headline, group_sections, spent, stopped
from tukeydp.cli.words import complain, explain, print_json, print_section, print_table, say, say_command
from tukeydp.mechanisms.readable_check import UNLISTED, UNREADABLE, Check
from tukeydp.results.escaping import escaped
from tukeydp.results.release import Outcome
from tukeydp.results.views import shown_groups
from tukeydp.trusted.parameters import ParameterError

# Ctrl-C once the budget is spent: held back until the release is printed and written; a second one ends at once.


@contextmanager
def held_back() -> Iterator[None]:
    """Half a release would be lost with its budget, or be taken for a whole one.

    Signals are the main thread's; elsewhere, and where somebody else handles them, nothing is changed.
    """
    usual = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or usual is not signal.default_int_handler:
        yield
        return
    asked = False

    def remember(number: int, frame: FrameType | None) -> None:
        nonlocal asked
        if asked:
            signal.default_int_handler(number, frame)
        asked = True

    signal.signal(signal.SIGINT, remember)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, usual)
        if asked:
            raise KeyboardInterrupt


# The options of the check before a release, and what the terminal shows when it has stopped a run.

NoCheck = Annotated[
    bool,
    typer.Option(
        "--no-check",
        help="Do not spend 5 % of epsilon on noisy counts of unreadable cells, values and rows in no listed group, "
        "which stop a run on a misread text file or a misspelt key.",
    ),
]
AllowUnreadable = Annotated[
    str | None,
    typer.Option(
        help="Share of a column's cells that may be unreadable, chosen without the data; "
        f"{float(UNREADABLE):g} if left out."
    ),
]
AllowUnlisted = Annotated[
    str | None,
    typer.Option(
        help="With --by: share of the rows that may be in no listed group, chosen without the data; "
        f"{float(UNLISTED):g} if left out."
    ),
]


def check_asked(no_check: bool, unreadable: str | None, unlisted: str | None = None, **given: Any) -> Any:
    """The parameter `check`; `given` are `by` and `person`. Before a file of data is read."""
    told = {"unreadable": unreadable, "unlisted": unlisted}
    told = {name: share for name, share in told.items() if share is not None}
    for name, share in told.items():
        for option, there in (("no-check", no_check), ("person", given.get("person") is not None)):
            if there:
                raise ParameterError(f"allow-{name}", f"must be left out with --{option}", share)
    if unlisted is not None and given.get("by") is None:
        raise ParameterError("by", "must be given with allow-unlisted", "none")
    return False if no_check else Check(**told) if told else None


def tell_stop(outcome: Outcome, file: Path) -> None:
    if not outcome.private:
        say("*** SEEDED REHEARSAL: NOT PRIVATE. Do not publish this result. ***\n")
    say(
        f"No release. {outcome.notes[0]}\n\n"
        f"Often it is  {OFTEN} The file's owner can see which, and gets the command that reads it:"
    )
    say_command(f"tukeydp look {escaped(str(file), 'shell')}")
    say(f"\nSpent  {spent(outcome)}")


# The end of a command that releases: print, write the reports, leave with the exit code.


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


# The end of a command that releases by groups: print, write the reports, leave with the exit code.


def finish_groups(account: GroupAccount, *, as_json: bool, targets: Sequence[Path] = ()) -> None:
    """The release has cost its budget: whatever fails, the rest is still done."""
    try:
        if as_json:
            sys.stdout.write(account.found.to_json(verbose=account.verbose) + "\n")
        else:
            _explain(account)
    finally:
        failed = write_texts(targets, lambda ending: GROUP_REPORTS[ending](account))
    written = [str(target) for target in targets if target not in failed]
    if written and not as_json:
        say(f"Wrote {', '.join(written)}.")
    for target, reason in failed.items():
        complain(f"{target} could not be written ({reason}). The result above is complete, and its budget is spent.")
    if failed:
        raise typer.Exit(UNEXPECTED)


def _explain(account: GroupAccount) -> None:
    if account.found.seeded:
        say("*** SEEDED REHEARSAL: NOT PRIVATE. Do not publish this result. ***\n")
    say(f"{group_headline(account)}\n")
    print_table(shown_groups(account.found))
    say()
    for section in group_sections(account):
        print_section(section)
