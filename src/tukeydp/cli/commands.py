"""All commands under one name."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from tukeydp.cli import (
    audit,
    centre,
    contours,
    counts,
    demo,
    look,
    mean,
    page,
    plan,
    quantiles,
    regress,
    reproduce,
    summary,
)
from tukeydp.cli.first_run import announce
from tukeydp.cli.ledger import ledger
from tukeydp.version import __version__

app = typer.Typer(
    help="Private means of small, sensitive, multivariate data.",
    no_args_is_help=True,
    add_completion=True,  # --install-completion and --show-completion, for bash, zsh, fish and PowerShell
    pretty_exceptions_enable=False,  # its tracebacks show local variables: the data
)


@app.callback(invoke_without_command=True)
def version(
    context: typer.Context,
    show: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if show:
        sys.stdout.write(f"tukeydp {__version__}\n")
        raise typer.Exit
    announce(context.invoked_subcommand)


# Options that a command does not have reach it, so that it can say which command has them.
for command in (mean.mean, centre.centre, summary.summary, regress.regress, quantiles.quantiles, counts.counts):
    app.command(context_settings={"ignore_unknown_options": True, "allow_extra_args": True})(command)
app.command("table1", context_settings={"ignore_unknown_options": True, "allow_extra_args": True})(summary.summary)
for other in (plan.plan, look.look, demo.demo, contours.contours, reproduce.reproduce, audit.audit, page.app):
    app.command()(other)
app.add_typer(ledger, name="ledger")
