"""`tukeydp demo`: the main job on a made-up table, explained."""

from __future__ import annotations

import numpy as np

from tukeydp.arrays import FloatArray
from tukeydp.cli import options
from tukeydp.cli.words import explain, print_json, say
from tukeydp.data.example import LOWER, UPPER, made_up_patients
from tukeydp.mechanisms.boxem import boxem


def demo(seed: options.Seed = None, as_json: options.Json = False) -> None:
    """Release the centre of a made-up table of 300 patients, and explain the result."""
    patients = made_up_patients()
    release = options.run(
        lambda: boxem(patients, epsilon=1, bounds=(LOWER, UPPER), randomness=options.source_for(seed))
    )
    if as_json:
        print_json(release)
        return
    explain(release, beside=_table_means(patients.cells))
    say(
        "The same for your own file:\n"
        "  tukeydp mean FILE --columns age,pulse --epsilon 1 --bounds age=0,120 --bounds pulse=30,220"
    )


def _table_means(cells: FloatArray) -> list[float]:
    """Means of the made-up table without its gaps and slips, to show beside the release."""
    plausible = np.where((cells >= LOWER) & (cells <= UPPER), cells, np.nan)
    return [float(v) for v in np.nanmean(plausible, axis=0)]
