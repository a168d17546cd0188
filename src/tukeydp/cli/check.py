"""The option that leaves the check before a release out, and what the terminal shows when it has stopped a run."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from tukeydp.cli.stops import OFTEN, spent
from tukeydp.cli.words import say, say_command
from tukeydp.release import Outcome

NoCheck = Annotated[
    bool,
    typer.Option(
        "--no-check",
        help="Do not spend 5 % of epsilon on a noisy count of readable rows, which stops a run on a misread text file.",
    ),
]


def tell_stop(outcome: Outcome, file: Path) -> None:
    if not outcome.private:
        say("*** SEEDED REHEARSAL: NOT PRIVATE. Do not publish this result. ***\n")
    say(
        f"No release. {outcome.notes[0]}\n\n"
        f"Often it is  {OFTEN} The file's owner can see which, and gets the command that reads it:"
    )
    say_command(f"tukeydp look {shlex.quote(str(file))}")
    say(f"\nSpent  {spent(outcome)}")
