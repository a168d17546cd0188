"""`tukeydp app`: a page in the browser for people who do not program."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from tukeydp.accounts.accountant import Accountant
from tukeydp.cli import options
from tukeydp.cli.words import say_lines
from tukeydp.extras import missing
from tukeydp.mechanisms.per_person import PERSONS
from tukeydp.padding import checked_interval
from tukeydp.trusted.account import NEIGHBOURS
from tukeydp.trusted.parameters import ParameterError

_DEMO = 3  # epsilon of the demo: room for a second release at the usual 1, which spends again and says so
_LEDGER = Path("tukeydp-ledger.db")  # in the current folder: a restart must not refill the budget


def app(
    ledger: Annotated[
        Path, typer.Option(help="The ledger that pays. Made if it is not there, with the budget of --epsilon.")
    ] = _LEDGER,
    epsilon: Annotated[
        str | None, typer.Option(help="Budget of a new ledger for all releases together; 1 if left out, 3 in a demo.")
    ] = None,
    persons: Annotated[
        bool, typer.Option("--persons", help="A new ledger is about persons, who may have several rows each.")
    ] = False,
    demo: Annotated[bool, typer.Option("--demo", help="Made-up data, and a budget in memory.")] = False,
    port: Annotated[int | None, typer.Option(help="Left out: 8477, or any free one.", min=1, max=65535)] = None,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Print the address only.")] = False,
    language: Annotated[str, typer.Option(help="Of the page.")] = "en",
    pad_to: options.PadTo = None,
    seed: Annotated[
        int | None,
        typer.Option(hidden=True, help="Rehearse with a fixed seed. The results are then NOT private."),
    ] = None,
) -> None:
    """Open a page in the browser to plan, release and take away results. For people who do not program.

    Only this machine can open it, and nothing leaves it. Stop with Ctrl-C.
    """

    def start() -> None:
        try:
            from tukeydp.app.phrases import phrases
            from tukeydp.app.release import Desk
            from tukeydp.app.server import serve
            from tukeydp.app.session import Session
        except ImportError as error:
            raise missing("app", error.name or "a package", "app") from None
        words = phrases(language)["terminal"]
        if pad_to is not None:
            checked_interval(pad_to)
        about = PERSONS if persons else "swap"
        fresh = demo or not ledger.exists()
        if demo:
            account, kept = Accountant(epsilon or _DEMO, neighbours=about), None
        elif fresh:  # the page asks whether it is about persons; it is made when it pays
            account, kept = Accountant(epsilon or 1, neighbours=about), _folder(ledger)
            _check_place(ledger)
        else:
            account, kept = _opened(ledger, epsilon, persons=persons)
        desk = Desk(account, folder=kept, ledger=None if demo else str(ledger), seed=seed, pad_to=pad_to)
        session = Session(account, desk, None if demo else ledger, demo)
        if fresh:
            session.pending = (lambda account: account) if demo else partial(_made, ledger)
        if demo:
            session.load_made_up()
        if kept is not None:
            say_lines(words["kept"].format(folder=kept))
        if seed is not None:
            say_lines("*** SEEDED REHEARSAL: NOT PRIVATE. Do not publish its results. ***")
        serve(session, port=port, browser=not no_browser, language=language, say=say_lines)

    options.run(start)


def _opened(ledger: Path, epsilon: str | None, *, persons: bool) -> tuple[Accountant, Path]:
    """The account, and the folder for its releases."""
    about = PERSONS if persons else "swap"
    if ledger.exists() and epsilon is None:
        account = Accountant.open(ledger)
    else:
        account = Accountant.open(ledger, epsilon=epsilon or 1, neighbours=about)
    found = account.budget.neighbours
    if found not in ("swap", PERSONS) or (persons and found != PERSONS):
        what = "about persons" if persons else "about rows or persons whose number is public"
        raise ParameterError("ledger", f"must be {what} for the page", NEIGHBOURS[found][1])
    return account, _folder(ledger)


def _folder(ledger: Path) -> Path:
    return ledger.with_name(f"{ledger.stem}-releases")


def _made(ledger: Path, planned: Accountant) -> Accountant:
    """The ledger with the budget that was planned with."""
    return Accountant.open(ledger, epsilon=planned.budget.epsilon, neighbours=planned.budget.neighbours)


def _check_place(ledger: Path) -> None:
    """Where no ledger can be made, it is said before anything is planned."""
    if not ledger.parent.is_dir() or not os.access(ledger.parent, os.W_OK):
        raise ParameterError("ledger", "must be a file that can be written", ledger)
