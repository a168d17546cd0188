"""`tukeydp audit`: the guarantees of the installed package, checked where it is installed."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from tukeydp.cli import options
from tukeydp.cli.words import console, say
from tukeydp.trusted.parameters import ParameterError

if TYPE_CHECKING:
    from tukeydp.audit.running import Outcome


def audit(
    quick: Annotated[bool, typer.Option("--quick", help="Smaller cases and fewer draws: under a minute.")] = False,
    only: Annotated[
        list[str] | None, typer.Option(help="Only checks with this in their name. May be repeated.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Equal seeds give equal draws.")] = 0,
    jobs: Annotated[int, typer.Option(help="Processes. What is found does not depend on it.", min=1)] = 2,
    html: Annotated[Path | None, typer.Option(help="Write the result to this HTML file too.")] = None,
    verbose: Annotated[
        bool, typer.Option("--verbose", help="Say of each check what must hold and what its numbers measure.")
    ] = False,
    as_json: options.Json = False,
) -> None:
    """Try to break the guarantees of this installation: enumeration, replay of all bits, draws, hill climbing.

    No data are involved. Exit code 1 if any check fails.
    """
    # Late: other commands need none of this.
    from tukeydp.audit.catalogue import NOT_COVERED, chosen
    from tukeydp.audit.check import Effort
    from tukeydp.audit.report import MEANING, as_object, as_page, environment, summary
    from tukeydp.audit.running import run_checks

    checks = options.run(lambda: chosen(only))
    if html is not None:
        options.run(lambda: _require_folder(html))
    effort = Effort(quick, seed)
    kind = "a quick run" if quick else "the full run, some minutes"
    if not as_json:
        say(f"Audit of {environment()}: {len(checks)} checks, {kind}.\n")
    with progress(len(checks)) as done:
        outcomes = run_checks(checks, effort, jobs, done)
    if html is not None:
        options.run(lambda: html.write_text(as_page(outcomes, effort), encoding="utf-8"))
    if as_json:
        sys.stdout.write(json.dumps(as_object(outcomes, effort), indent=2) + "\n")
    else:
        _print(outcomes, verbose)
        say(f"\n{summary(outcomes)}\n\n{MEANING} {NOT_COVERED}")
        if html is not None:
            say(f"Wrote {html}.")
    if any(outcome.result.failed for outcome in outcomes):
        raise typer.Exit(options.UNEXPECTED)


def _print(outcomes: Sequence[Outcome], verbose: bool) -> None:
    from tukeydp.audit.report import HEADER, cells

    table = Table(box=None, pad_edge=False)
    for header in HEADER:
        left = header in ("check", "")
        table.add_column(header, justify="left" if left else "right", overflow="fold", no_wrap=not left)
    for outcome in outcomes:
        table.add_row(*map(Text, cells(outcome)))
    console().print(table)
    for outcome in outcomes:
        if verbose:
            say(f"\n{outcome.check.name}: {outcome.check.claim} Worst: {outcome.check.measure}.")
        for failure in outcome.result.failures:
            say(f"{outcome.check.name}: {failure}.")


@contextmanager
def progress(count: int) -> Iterator[Callable[[Outcome], None]]:
    """A bar on a terminal, a line for each check in a log; both on standard error."""
    terminal = console(stderr=True)
    ended = 0
    columns = SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    with Progress(*columns, console=terminal, transient=True, disable=not terminal.is_terminal) as bar:
        task = bar.add_task("starting", total=count)

        def done(outcome: Outcome) -> None:
            nonlocal ended
            ended += 1
            verdict = outcome.result.verdict
            if terminal.is_terminal:
                bar.update(task, advance=1, description=f"{verdict}: {outcome.check.name}")
            else:
                line = f"{ended}/{count} {verdict} {outcome.check.name} ({outcome.cpu_seconds:.0f} s)"
                terminal.print(Text(line), soft_wrap=True)

        yield done


def _require_folder(html: Path) -> None:
    """Before minutes of work: a name that cannot be written is refused."""
    if html.is_dir() or not html.parent.is_dir():
        raise ParameterError("html", "must be a file in a folder that is there", str(html))
