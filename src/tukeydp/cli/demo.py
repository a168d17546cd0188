"""`tukeydp demo`: the main job on a made-up table, explained."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tukeydp.cli import options
from tukeydp.cli.mean import how_and_why
from tukeydp.cli.words import explain, print_json, say, say_command
from tukeydp.forecast.example import BOUNDS, LOWER, UPPER, made_up_patients, mean_between, write_csv
from tukeydp.mechanisms.boxem import boxem
from tukeydp.mechanisms.mean import mean
from tukeydp.results.escaping import escaped


def demo(
    save: Annotated[Path | None, typer.Option(help="Write the made-up table to this CSV file and stop.")] = None,
    seed: options.Seed = None,
    as_json: options.Json = False,
    verbose: options.Verbose = False,
) -> None:
    """Release the mean of a made-up table of 500 patients, with the robust centre beside it, and explain the result."""
    patients = made_up_patients()
    if save is not None:
        options.run(lambda: write_csv(patients, save))
        file = escaped(str(save), "shell")
        say(f"Wrote {save}: {patients.n} made-up patients. What is in it, for those who may see it (not private):")
        say_command(f"tukeydp look {file}")
        say("A release, for example:")
        say_command(_COMMAND.format(file=file))
        return
    source = options.source_for(seed)
    release = options.run(lambda: mean(patients, epsilon=1, bounds=BOUNDS, randomness=source))
    if as_json:
        print_json(release, verbose=verbose)
        return
    centre = options.run(lambda: boxem(patients, epsilon=1, bounds=BOUNDS, randomness=source))
    assert centre.point is not None
    beside = {
        "the table's own mean": mean_between(patients, LOWER, UPPER),
        "centre, released": centre.point.tolist(),
    }
    explain(release, "mean", how_and_why("auto", release), beside, verbose=verbose)
    say(
        "\n"
        "The table's own mean can be shown because the table is made up. Gross errors hardly move the centre (tukeydp "
        "centre, for another epsilon = 1); but of skewed columns, such as nights, it is no mean.\n"
        "The same for your own file:"
    )
    say_command(_COMMAND.format(file="FILE"))


_COMMAND = "tukeydp mean {file} --columns systolic,pulse --epsilon 1 --bounds systolic=60,240 --bounds pulse=30,200"
