"""The command line: `tukeydp mean FILE ...`, `contours FILE ...`, `reproduce NAME ...` and `demo`.

Exit codes: 0 released, 3 refused, 2 bad parameters, 1 anything else. Nothing about the data is printed but the release.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer
from rich.console import Console
from rich.text import Text

import tukeydp
from tukeydp.cli.words import explain, say
from tukeydp.data.example import LOWER, UPPER, made_up_patients
from tukeydp.data.files import read_csv
from tukeydp.depth.notions import NOTIONS, AnyScale, Exact, Notion, Spread
from tukeydp.errors import ParameterError
from tukeydp.mechanisms.registry import MECHANISMS, mechanism_named, options_for
from tukeydp.parameters import checked_choice
from tukeydp.randomness import seeded
from tukeydp.release import Outcome, Refused, Release

T = TypeVar("T")

_DEPTHS = ", ".join(NOTIONS)
app = typer.Typer(
    help="Private means of small, sensitive, multivariate data.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,  # its tracebacks show local variables: the data
)

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
Seed = Annotated[int | None, typer.Option(help="Rehearse with a fixed seed. The result is then NOT private.")]


@app.callback(invoke_without_command=True)
def version(
    context: typer.Context,
    show: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if show:
        sys.stdout.write(f"tukeydp {tukeydp.__version__}\n")
        raise typer.Exit


@app.command()
def mean(
    file: Annotated[Path, typer.Argument(help="CSV file with a header line; one row per person.")],
    epsilon: Annotated[str, typer.Option(help="Privacy budget, > 0; smaller is more private. 1 is common.")],
    columns: Annotated[str, typer.Option(help="Columns to release, separated by commas.")],
    bounds: Annotated[
        list[str] | None,
        typer.Option(
            help="What is known of the columns without looking: --bounds=-10,10 for all, --bounds age=0,120 for one. "
            "May be repeated. All mechanisms but rem need them."
        ),
    ] = None,
    mechanism: Annotated[
        str, typer.Option(help=f"One of {', '.join(MECHANISMS)}; rem needs no bounds but may refuse.")
    ] = "boxem",
    delta: Annotated[str | None, typer.Option(help="For all but boxem: much smaller than 1 / rows; say 1e-6.")] = None,
    threshold: Annotated[int | None, typer.Option(help="rem only: least depth released; chosen if left out.")] = None,
    test: Annotated[str | None, typer.Option(help="rem only: graded (default), laplace or paper.")] = None,
    deviation: Annotated[
        list[str] | None, typer.Option(help="coinpress only: known standard deviation, for all or COLUMN=VALUE.")
    ] = None,
    depth: Annotated[
        str | None,
        typer.Option(help=f"{_DEPTHS}. Left out: any-scale for rem, else spread."),
    ] = None,
    directions: Annotated[
        int | None,
        typer.Option(help="Directions besides the axes; chosen from the table's shape if left out."),
    ] = None,
    axes: Annotated[bool, typer.Option(help="Whether the axes are among the directions.")] = True,
    resolution: Annotated[
        list[str] | None,
        typer.Option(help="Step of the public grid: --resolution 0.1 for all, --resolution age=1 for one column."),
    ] = None,
    unproven: Annotated[
        str | None,
        typer.Option(help="mcmc: an experiment with random walks, WITHOUT ANY GUARANTEE; not for publication."),
    ] = None,
    decimal: Annotated[str, typer.Option(help="Decimal sign in the file: . or ,")] = ".",
    seed: Seed = None,
    as_json: Json = False,
) -> None:
    """Release the centre of the named columns with differential privacy."""

    def job() -> Release | Refused:
        names = [name.strip() for name in columns.split(",")]
        pairs = _per_column("bounds", bounds, names, 2) if bounds else None
        steps = _per_column("resolution", resolution, names, 1) if resolution else None
        known = _per_column("deviation", deviation, names, 1) if deviation else None
        options = options_for(
            mechanism,
            {
                "bounds": pairs and ([pair[0] for pair in pairs], [pair[1] for pair in pairs]),
                "delta": delta,
                "depth": _notion(depth, directions, axes, AnyScale if mechanism == "rem" else Spread),
                "resolution": steps and [step[0] for step in steps],
                "deviation": known and [value[0] for value in known],
                "threshold": threshold,
                "test": test,
                "unproven": unproven,
            },
        )
        table = read_csv(file, names, decimal=decimal)
        source = None if seed is None else seeded(seed)
        return mechanism_named(mechanism).run(table, epsilon=epsilon, randomness=source, **options)

    outcome = _run(job)
    _print_json(outcome) if as_json else explain(outcome)
    if not outcome.released:
        raise typer.Exit(3)


@app.command()
def demo(seed: Seed = None, as_json: Json = False) -> None:
    """Release the centre of a made-up table of 300 patients, and explain the result."""
    patients = made_up_patients()
    release = _run(
        lambda: tukeydp.boxem(
            patients, epsilon=1, bounds=(LOWER, UPPER), randomness=None if seed is None else seeded(seed)
        )
    )
    if as_json:
        _print_json(release)
        return
    explain(release, beside=_table_means(patients.cells))
    say(
        "The same for your own file:\n"
        "  tukeydp mean FILE --columns age,pulse --epsilon 1 --bounds age=0,120 --bounds pulse=30,220"
    )


@app.command()
def contours(
    file: Annotated[Path, typer.Argument(help="CSV file with a header line; one row per person.")],
    columns: Annotated[str, typer.Option(help="Two columns, or more for all their pairs, separated by commas.")],
    out: Annotated[Path, typer.Option(help="Picture to write: .png, .svg or .pdf.")],
    depth: Annotated[str, typer.Option(help=f"{_DEPTHS}.")] = "exact",
    directions: Annotated[int | None, typer.Option(help="Directions besides the axes.")] = None,
    decimal: Annotated[str, typer.Option(help="Decimal sign in the file: . or ,")] = ".",
) -> None:
    """Draw nested depth regions over the scatter of the data. NOT PRIVATE: for those who may see the data."""

    def job() -> None:
        from tukeydp.geometry.pictures import contours as draw

        if out.suffix.lower() not in (".png", ".svg", ".pdf"):
            raise ParameterError("out", "must end in .png, .svg or .pdf", str(out))
        names = [name.strip() for name in columns.split(",")]
        notion = _notion(depth, directions, axes=True) or Exact()
        figure = draw(read_csv(file, names, decimal=decimal), depth=notion)
        try:
            figure.savefig(out, dpi=150)
        except OSError as error:
            raise ParameterError("out", "must be a file that can be written", f"{out} ({error.strerror})") from None

    _run(job)
    say(f"Wrote {out}. It shows the data itself: not private, not for publication.")


@app.command()
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
    from tukeydp.experiments.command import run, summarise

    summarise(_run(lambda: run(name, out, quick=quick, jobs=jobs, seed=seed)), out)


def _table_means(cells: Any) -> list[float]:
    """Means of the made-up table without its gaps and slips, to show beside the release."""
    import numpy as np

    plausible = np.where((cells >= LOWER) & (cells <= UPPER), cells, np.nan)
    return [float(v) for v in np.nanmean(plausible, axis=0)]


def _notion(depth: str | None, directions: int | None, axes: bool, usual: type[Notion] = Spread) -> Notion | None:
    if depth is None and directions is None and axes:
        return None  # what a call without a notion gets: a number that fits the table's shape
    kind = usual if depth is None else NOTIONS[checked_choice("depth", depth, NOTIONS)]
    return kind.with_options(directions, axes)


def _per_column(option: str, given: Sequence[str], names: Sequence[str], count: int) -> list[list[str]]:
    """`--bounds=0,1` for all columns and `--bounds a=0,5` for one become one entry per column."""
    shape = "LOWER,UPPER" if count == 2 else "VALUE" if option == "deviation" else "STEP"
    found: dict[str, list[str]] = {}
    for text in given:
        name, separator, numbers = text.rpartition("=")
        values = [value.strip() for value in numbers.split(",")]
        if len(values) != count or not all(values):
            raise ParameterError(option, f"must read {shape} or COLUMN={shape}", repr(text))
        targets = [name.strip()] if separator else [name for name in names if name not in found]
        for target in targets:
            if target not in names:
                raise ParameterError(option, f"must name one of the columns {', '.join(names)}", repr(target))
            found[target] = values
    missing = [name for name in names if name not in found]
    if missing:
        raise ParameterError(option, f"must be given for every column ({shape})", f"none for {', '.join(missing)}")
    return [found[name] for name in names]


def _run(job: Callable[[], T]) -> T:
    try:
        return job()
    except ParameterError as error:
        _complain(str(error))
        raise typer.Exit(2) from None
    except Exception as error:
        if os.environ.get("TUKEYDP_DEBUG"):
            raise
        # Messages and tracebacks of other errors may quote the data.
        _complain(
            f"unexpected {type(error).__name__}; nothing was released. "
            "Set TUKEYDP_DEBUG=1 for a traceback (it may show your data) and report it, please."
        )
        raise typer.Exit(1) from None


def _complain(message: str) -> None:
    Console(stderr=True).print(Text(f"tukeydp: {message}"), soft_wrap=True)


def _print_json(outcome: Outcome) -> None:
    sys.stdout.write(json.dumps(outcome.to_dict()) + "\n")


def main() -> None:
    app(prog_name="tukeydp")


if __name__ == "__main__":
    main()
