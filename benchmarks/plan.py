"""Predictions of `td.plan` against simulated releases: rows, columns, epsilon, widths, shapes. Prints a table.

A simulated median or 95 % quantile is marked where it lies outside the predicted range by more than its own Monte
Carlo error. `--quick` takes the smaller cells only; everything takes about 15 minutes on one core.
"""

from __future__ import annotations

import math
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

import tukeydp as td
from tukeydp.accuracy import Range
from tukeydp.arrays import FloatArray
from tukeydp.data.shapes import SHAPES, made_up
from tukeydp.planning.records import Option
from tukeydp.randomness import SeededRandomness
from tukeydp.release import Refused, Release

# Rows, columns, epsilon, and the bounds' width in standard deviations (given as sd=; None: 100, not given).
CELLS: list[tuple[int, int, str, float | None]] = [
    (100, 1, "1", None),
    (300, 1, "1", None),
    (1000, 1, "0.5", None),
    (300, 2, "1", None),
    (300, 2, "1", 20.0),
    (300, 2, "4", None),
    (1000, 2, "1", None),
    (1000, 2, "1", 400.0),
    (3000, 2, "0.3", None),
    (200, 3, "2", None),
    (400, 3, "1", 15.0),
    (4000, 3, "1", None),
    (600, 5, "1", None),
    (1000, 5, "1", 50.0),
    (3000, 5, "0.5", None),
    (10000, 5, "1", None),
    (600, 10, "1", None),
    (2000, 10, "1", None),
]
DELTA = "1e-6"
MEASUREMENTS = [shape for shape in SHAPES if not shape.few_values]
# Values in a cell, from so many releases at least: medians are good to about 15 percent, 95 % quantiles to 25. Known
# laws have no range to hide in, and runs that take no time: more of them.
VALUES, VALUES_OF_LAWS, FEWEST = 60, 1000, 10
SLACK, SLACK_95 = 1.15, 1.25
_QUICK_CELLS = 3000  # rows times columns

Run = Callable[[FloatArray, str, SeededRandomness], Release | Refused]


@dataclass(frozen=True)
class Simulated:
    """Median and 95 % quantile of the errors in standard deviations, shares far off and refused, seconds."""

    typical: float
    within_95: float
    far: float
    refused: float
    seconds: float


def runs(width: float | None) -> dict[tuple[str, str], Run]:
    """How each option is run on rows of deviation 1 around 0."""
    half = (100.0 if width is None else width) / 2.0
    box = (-half, half)
    sd = None if width is None else 1

    def by_mean(name: str) -> Run:
        return lambda x, e, r: td.mean(x, epsilon=e, bounds=box, mechanism=name, sd=sd, randomness=r)

    baselines = td.baselines
    return {
        ("mean", "subset"): by_mean("subset"),
        ("mean", "two-step"): by_mean("two-step"),
        ("mean", "cube"): by_mean("cube"),
        ("mean", "rem"): lambda x, e, r: td.mean(x, epsilon=e, delta=DELTA, randomness=r),
        ("mean", "analytic-gaussian"): lambda x, e, r: baselines.analytic_gaussian(
            x, epsilon=e, delta=DELTA, bounds=box, randomness=r
        ),
        ("mean", "huang-liang-yi"): lambda x, e, r: baselines.huang_liang_yi(
            x, epsilon=e, delta=DELTA, bounds=box, randomness=r
        ),
        ("centre", "boxem"): lambda x, e, r: td.boxem(x, epsilon=e, bounds=box, randomness=r),
        ("centre", "rem"): lambda x, e, r: td.rem(x, epsilon=e, delta=DELTA, randomness=r),
    }


def simulate(run: Run, option: Option, shape_number: int, n: int, d: int, epsilon: str, half: float) -> Simulated:
    """Releases from fresh tables, each against its table's own mean or medians."""
    errors, refused, seconds = [], 0, []
    releases = max(FEWEST, math.ceil((VALUES_OF_LAWS if option.law_known else VALUES) / d))
    for i in range(releases):
        x = np.clip(made_up(MEASUREMENTS[shape_number], n, d, 5000 + i), -half, half)
        start = time.perf_counter()
        outcome = run(x, epsilon, td.seeded(1000 * shape_number + i))
        seconds.append(time.perf_counter() - start)
        if outcome.point is None:
            refused += 1
            continue
        errors.append(np.abs(outcome.point - (np.median(x, axis=0) if option.estimand == "centre" else x.mean(axis=0))))
    table = np.array(errors) if errors else np.full((1, d), np.nan)
    far = float((table > 3.0).any(axis=1).mean())
    typical, within_95 = (float(np.quantile(table, share)) for share in (0.5, 0.95))
    return Simulated(typical, within_95, far, refused / releases, statistics.median(seconds))


def outside(value: float, predicted: Range | None, slack: float) -> bool:
    """Whether a simulated value is beyond what was predicted, and beyond its own Monte Carlo error."""
    return predicted is not None and not predicted[0] / slack <= value <= predicted[1] * slack


def compare(option: Option, run: Run, n: int, d: int, epsilon: str, half: float) -> tuple[int, int]:
    """One line for each option; how many values were compared, and how many lie outside."""
    simulated = [simulate(run, option, s, n, d, epsilon, half) for s in range(len(MEASUREMENTS))]
    released = [s for s in simulated if s.refused < 1.0]
    wrong = sum(outside(s.typical, option.typical, SLACK) for s in released)
    wrong += sum(outside(s.within_95, option.within_95, SLACK_95) for s in released)
    medians = " ".join(f"{s.typical:8.2g}" for s in simulated)
    quantiles = " ".join(f"{s.within_95:8.2g}" for s in simulated)
    lost = f"far {option.far:g} / {max(s.far for s in simulated):.2g}"
    if option.refused is not None:
        lost += f", refused {option.refused} / {[round(s.refused, 2) for s in simulated]}"
    sys.stdout.write(
        f"  {option.estimand:6s} {option.mechanism:17s} {option.typical} <- {medians}"
        f"  {option.within_95} <- {quantiles}"
        f"  {lost}, seconds {option.seconds} / {simulated[0].seconds:.2g}{'  OUTSIDE' * bool(wrong)}\n"
    )
    sys.stdout.flush()
    return 2 * len(released), wrong


def main() -> None:
    shapes = "; ".join(shape.name for shape in MEASUREMENTS)
    sys.stdout.write(f"predicted range <- simulated, for columns of the shapes {shapes}\n")
    compared = wrong = 0
    for n, d, epsilon, width in CELLS:
        if "--quick" in sys.argv and n * d > _QUICK_CELLS:
            continue
        half = (100.0 if width is None else width) / 2.0
        plan = td.plan(n=n, d=d, epsilon=epsilon, delta=DELTA, bounds=(-half, half), sd=None if width is None else 1.0)
        sys.stdout.write(
            f"n={n} d={d} epsilon={epsilon} width={2 * half:g}: td.mean takes {plan.recommended.mechanism}\n"
        )
        for option in plan.options:
            if option.possible:
                found = compare(option, runs(width)[option.estimand, option.mechanism], n, d, epsilon, half)
                compared, wrong = compared + found[0], wrong + found[1]
    sys.stdout.write(f"{wrong} of {compared} simulated values lie outside the predicted ranges\n")


if __name__ == "__main__":
    main()
