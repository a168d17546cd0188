"""`tukeydp centre FILE ...`: a private, robust centre of the named columns."""

from __future__ import annotations

from typing import Annotated

import typer

from tukeydp.cli import options
from tukeydp.cli.reading import Columns, File, Reading, reads_a_file
from tukeydp.cli.words import finish
from tukeydp.depth.notions import AnyScale, Spread
from tukeydp.mechanisms.registry import chosen
from tukeydp.release import Outcome


@reads_a_file
def centre(
    context: typer.Context,
    file: File,
    epsilon: options.Epsilon,
    columns: Columns,
    reading: Reading,
    bounds: options.Bounds = None,
    mechanism: Annotated[str, typer.Option(help=options.mechanism_help("centre"))] = "boxem",
    delta: Annotated[
        str | None,
        typer.Option(help=f"For {options.those_with('delta', 'centre')}: much smaller than 1 / rows; say 1e-6."),
    ] = None,
    threshold: Annotated[int | None, typer.Option(help="rem only: least depth released; chosen if left out.")] = None,
    test: Annotated[str | None, typer.Option(help="rem only: graded (default), laplace or paper.")] = None,
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
    ledger: options.Ledger = None,
    seed: options.Seed = None,
    as_json: options.Json = False,
) -> None:
    """Release a robust centre of the named columns with differential privacy.

    A multivariate median: little moved by outliers, and equal to the mean where columns are symmetric.

    For the average, of skewed or yes/no columns too: tukeydp mean.
    """

    def job() -> Outcome:
        options.refuse_strangers(context, file)
        names = reading.names(file, columns)
        given = {
            "bounds": options.pairs_per_column("bounds", bounds, names),
            "delta": delta,
            "depth": options.notion_for(depth, directions, axes, AnyScale if mechanism == "rem" else Spread),
            "resolution": options.one_per_column("resolution", resolution, names, "STEP"),
            "threshold": threshold,
            "test": test,
            "unproven": unproven,
        }
        way, present = chosen(mechanism, "centre", given)
        account = options.account_for(ledger, mechanism, epsilon, present.get("delta"))
        table = reading.table(file, names)
        return way.run(table, epsilon=epsilon, randomness=options.source_for(seed), **account, **present)

    outcome = options.run(job)
    finish(outcome, "centre", as_json=as_json, bounds=options.ends_for(bounds, outcome))
    options.leave(outcome)
