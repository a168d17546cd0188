"""`tukeydp reproduce NAME ...`: the paper's experiments, run again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tukeydp.cli import options


def reproduce(
    name: Annotated[str, typer.Argument(help="An experiment, several separated by commas, or all.")],
    out: Annotated[Path, typer.Option(help="Folder for results, figures and report.html; a later run resumes there.")],
    quick: Annotated[bool, typer.Option("--quick", help="Few trials: minutes instead of an hour.")] = False,
    jobs: Annotated[
        int | None, typer.Option(help="Processes; all cores if left out. Results do not depend on it.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Equal seeds give equal results.")] = 0,
) -> None:
    """Run the paper's experiments again, check its claims, and write a report."""
    from tukeydp.paper.experiments.runner import run, summarise

    summarise(options.run(lambda: run(name, out, quick=quick, jobs=jobs, seed=seed)), out)
