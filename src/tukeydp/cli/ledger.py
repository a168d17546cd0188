"""`tukeydp ledger create|show|export FILE`: a budget for several releases, kept in a file."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from tukeydp.accounts.accountant import Accountant
from tukeydp.accounts.exports import FORMATS, exported
from tukeydp.cli import options
from tukeydp.cli.words import print_table, say
from tukeydp.mechanisms.per_person import PERSONS
from tukeydp.results.escaping import printable
from tukeydp.results.views import Shown
from tukeydp.trusted.account import delta_of
from tukeydp.trusted.parameters import ParameterError, show

ledger = typer.Typer(help="Budgets for several releases, kept in a file.", no_args_is_help=True)

LedgerFile = Annotated[Path, typer.Argument(help="The ledger.")]


@ledger.command()
def create(
    file: LedgerFile,
    epsilon: Annotated[str, typer.Option(help="Budget for all releases together, > 0.")],
    delta: Annotated[
        str, typer.Option(help="Budget of deltas. With one, many small releases cost less than their sum.")
    ] = "0",
    conversion: Annotated[
        str | None,
        typer.Option(help="Part of delta for adding up by zCDP, the rest for releases with a delta; usually left out."),
    ] = None,
    neighbours: options.Neighbours = None,
    persons: Annotated[
        bool, typer.Option("--persons", help="For releases with --person: guarantees about persons, not rows.")
    ] = False,
) -> None:
    """Make a ledger. `tukeydp mean` and `tukeydp centre` then spend from it with --ledger FILE."""

    def job() -> Accountant:
        if persons and neighbours is not None:
            raise ParameterError("persons", "must be left out with neighbours", neighbours)
        about = PERSONS if persons else neighbours or "swap"
        return Accountant.open(file, epsilon=epsilon, delta=delta, conversion=conversion, neighbours=about)

    account = options.run(job)
    say(f"{file}: epsilon = {show(account.epsilon)}, delta = {show(account.delta)} for all releases together.")


@ledger.command("show")
def show_ledger(file: LedgerFile) -> None:
    """Print the budget, what is left, and every release that was paid for."""
    account = options.run(lambda: Accountant.open(file))
    history, left = options.run(lambda: (account.history, account.remaining()))
    say(f"Budget  epsilon = {show(account.epsilon)}, delta = {show(account.delta)}, for all releases together.")
    say(f"Left    {options.left_in_words(left)}\n")
    rows = []
    for entry in history:
        name = (entry.mechanism or "by hand") + (" (seeded, not for publication)" if entry.seeded else "")
        costs = show(entry.guarantee.epsilon), show(delta_of(entry.guarantee))
        columns = ", ".join(entry.parameters.get("columns") or ())
        rows.append([str(entry.number), entry.time[:19], *map(printable, (name, *costs, columns))])
    if rows:
        print_table(
            Shown(
                ["", "time (UTC)", "mechanism", "epsilon", "delta", "columns"],
                rows,
                ("time (UTC)", "mechanism", "columns"),
            )
        )
    else:
        say("Nothing was spent yet.")


@ledger.command()
def export(
    file: LedgerFile,
    form: Annotated[
        str, typer.Option("--format", help=f"{', '.join(FORMATS)}; yaml is a draft for OpenDP's deployments registry.")
    ] = "json",
) -> None:
    """Write the whole account to standard output."""
    sys.stdout.write(options.run(lambda: exported(Accountant.open(file), form, file.stem)))
