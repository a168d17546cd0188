"""`tukeydp mean FILE ...`: a private centre of the named columns."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tukeydp.cli import options
from tukeydp.cli.words import explain, print_json
from tukeydp.data.files import read_file
from tukeydp.depth.notions import AnyScale, Spread
from tukeydp.mechanisms.registry import MECHANISMS, mechanism_named, options_for
from tukeydp.release import Refused, Release


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
        typer.Option(help=f"{options.DEPTHS}. Left out: any-scale for rem, else spread."),
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
    decimal: options.Decimal = ".",
    seed: options.Seed = None,
    as_json: options.Json = False,
) -> None:
    """Release the centre of the named columns with differential privacy."""

    def job() -> Release | Refused:
        names = options.names_in(columns)
        given = options_for(
            mechanism,
            {
                "bounds": options.pairs_per_column("bounds", bounds, names),
                "delta": delta,
                "depth": options.notion_for(depth, directions, axes, AnyScale if mechanism == "rem" else Spread),
                "resolution": options.one_per_column("resolution", resolution, names),
                "deviation": options.one_per_column("deviation", deviation, names),
                "threshold": threshold,
                "test": test,
                "unproven": unproven,
            },
        )
        table = read_file(file, names, decimal=decimal)
        return mechanism_named(mechanism).run(table, epsilon=epsilon, randomness=options.source_for(seed), **given)

    outcome = options.run(job)
    print_json(outcome) if as_json else explain(outcome)
    if not outcome.released:
        raise typer.Exit(options.REFUSED)
