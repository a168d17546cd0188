"""What the commands say when the check before a release has stopped a run."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from tukeydp.cli.words import print_json, say, say_command
from tukeydp.mechanisms.readable_check import CHECK
from tukeydp.parameters import show
from tukeydp.release import Outcome

NoCheck = Annotated[
    bool,
    typer.Option(
        "--no-check",
        help="Do not spend 5 % of epsilon on a noisy count of readable rows, which stops a run on a misread text file.",
    ),
]


def stopped(outcome: Outcome) -> bool:
    return outcome.mechanism == CHECK


def tell_stop(outcome: Outcome, file: Path, *, as_json: bool) -> None:
    if as_json:
        print_json(outcome)
        return
    if not outcome.private:
        say("*** SEEDED REHEARSAL: NOT PRIVATE. Do not publish this result. ***\n")
    assert outcome.guarantee is not None
    spent = show(outcome.guarantee.epsilon)
    say(
        f"No release. {outcome.notes[0]}\n\n"
        "Often it is  a decimal comma (--decimal ,), marks between thousands (--thousands ,), a unit in the cells "
        "(--unit mmHg), words for no value (--missing unknown), or a column of text, which has no mean. The file's "
        "owner can see which, and gets the command that reads it:"
    )
    say_command(f"tukeydp look {shlex.quote(str(file))}")
    say(
        f"\nSpent  epsilon = {spent}, for the check; the rest is not spent. A file in which every cell reads is "
        "stopped once in ten thousand runs at most. --no-check releases without the check."
    )
