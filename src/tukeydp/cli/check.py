"""The options of the check before a release, and what the terminal shows when it has stopped a run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from tukeydp.cli.stops import OFTEN, spent
from tukeydp.cli.words import say, say_command
from tukeydp.errors import ParameterError
from tukeydp.mechanisms.check_plan import UNLISTED, UNREADABLE, Check
from tukeydp.release import Outcome
from tukeydp.views.escaping import escaped

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
