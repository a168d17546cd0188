"""`tukeydp reproduce`: run, draw, judge, report."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryFile

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from tukeydp.extras import missing
from tukeydp.paper.experiments.catalogue import EXPERIMENTS, named
from tukeydp.paper.experiments.experiment import FAILS, HOLDS, OPEN, Experiment, judge, tally
from tukeydp.paper.experiments.figures import save
from tukeydp.paper.experiments.report import Section, write_claims, write_report
from tukeydp.paper.experiments.runner import reproduce, tasks_of, versions
from tukeydp.trusted.parameters import ParameterError, checked_integer

_NEEDED = {"matplotlib": "matplotlib", "joblib": "joblib", "sklearn": "scikit-learn"}


def run(name: str, out: Path, *, quick: bool, jobs: int | None, seed: int) -> list[Section]:
    """Run an experiment, or all of them, and write results, figures and report.html under `out`."""
    chosen = (
        list(EXPERIMENTS)
        if name == "all"
        else [named(n) for n in dict.fromkeys(part.strip() for part in name.split(","))]
    )
    if jobs is not None:
        checked_integer("jobs", jobs, least=1)
    for module, package in _NEEDED.items():
        if importlib.util.find_spec(module) is None:
            raise missing("reproduce", package, "reproduce")
    try:
        for folder in ("parts", "results", "figures"):
            (out / folder).mkdir(parents=True, exist_ok=True)
            with TemporaryFile(dir=out / folder):
                pass
    except OSError as error:
        raise ParameterError("out", "must be a folder that can be written", f"{out} ({error.strerror})") from None
    return _sections(chosen, out, quick, jobs, seed)


def _sections(chosen: Sequence[Experiment], out: Path, quick: bool, jobs: int | None, seed: int) -> list[Section]:
    total = sum(len(tasks_of(experiment, quick, seed)) for experiment in chosen)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, TextColumn("left"), TimeRemainingColumn(), console=Console(stderr=True)) as progress:
        bar = progress.add_task("running", total=total)
        results = reproduce(
            chosen,
            out,
            quick=quick,
            jobs=jobs,
            seed=seed,
            advance=lambda name: progress.update(bar, advance=1, description=f"{name:<20}"),
        )
    sections = []
    for experiment in chosen:
        found = results[experiment.name]
        pictures = save(experiment.draw(found), out / "figures", experiment.name)
        verdicts = tuple(judge(claim, found) for claim in experiment.claims)
        sections.append(Section(experiment, found, verdicts, pictures))
    facts: dict[str, object] = {"seed": seed, "quick": "yes" if quick else "no", **versions()}
    write_claims(out / "results" / "claims.json", sections, facts)
    write_report(out / "report.html", sections, facts)
    return sections


def summarise(sections: Sequence[Section], out: Path) -> None:
    """The verdicts, one line each, and where to look."""
    table = Table(box=None, pad_edge=False)
    for column in ("experiment", "verdict", "claim"):
        table.add_column(column)
    styles = {True: "green", False: "red", None: "yellow"}
    for section in sections:
        for verdict in section.verdicts:
            word = Text(verdict.word, style=styles[verdict.holds])
            table.add_row(section.experiment.name, word, Text(verdict.sentence))
    console = Console()
    console.print(table)
    for whose, counts in tally([verdict for section in sections for verdict in section.verdicts]).items():
        said = ", ".join(f"{counts[word]} {word}" for word in (HOLDS, FAILS, OPEN) if counts[word])
        if said:
            console.print(Text(f"\nClaims, {whose}: {said}."), soft_wrap=True, end="")
    console.print(Text(f"\n\nFigures, tables and numbers: {out / 'report.html'}"), soft_wrap=True)
