"""Predictions of `td.plan` against simulated releases: rows, columns, epsilon, widths, shapes. Prints a table.

A simulated median or 95 % quantile is marked where it lies outside the predicted range by more than its own Monte
Carlo error. `--quick` takes the smaller cells only, `--groups` those with groups only (5 minutes); everything takes
about 20 minutes on one core.
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
from tukeydp.forecast.question import Option
from tukeydp.forecast.shapes import SHAPES, made_up
from tukeydp.results.accuracy import Range
from tukeydp.results.quantile_release import QuantileRelease
from tukeydp.results.release import Refused, Release
from tukeydp.trusted.bits import SeededRandomness
from tukeydp.trusted.parameters import FloatArray

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
# Rows, columns, groups, epsilon, and the bounds' width in standard deviations; whether sd is given.
GROUP_CELLS: list[tuple[int, int, int, str, float, bool]] = [
    (2000, 6, 4, "1", 100.0, False),
    (2000, 6, 4, "1", 100.0, True),
    (2000, 6, 4, "1", 10.0, True),
    (2000, 6, 2, "1", 100.0, False),
    (1000, 2, 2, "1", 10.0, True),
    (1000, 2, 4, "1", 100.0, False),
    (5000, 3, 12, "1", 100.0, False),
    (5000, 3, 12, "1", 10.0, True),
    (20000, 6, 12, "1", 100.0, False),
    (20000, 4, 4, "0.5", 100.0, True),
    (400, 2, 2, "1", 100.0, False),
]
GROUP_RELEASES, GROUP_RELEASES_OF_LAWS = 20, 100
DELTA = "1e-6"
MEASUREMENTS = [shape for shape in SHAPES if not shape.few_values]
# Values in a cell, from so many releases at least: medians are good to about 15 percent, 95 % quantiles to 25. Known
# laws have no range to hide in, and runs that take no time: more of them.
VALUES, VALUES_OF_LAWS, FEWEST = 60, 1000, 10
SLACK, SLACK_95 = 1.15, 1.25
_QUICK_CELLS = 3000  # rows times columns

Run = Callable[[FloatArray, str, SeededRandomness], Release | Refused | QuantileRelease]


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
        ("quartiles", "quantiles"): lambda x, e, r: td.quantiles(x, epsilon=e, bounds=box, randomness=r),
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
        if not outcome.released:
            refused += 1
            continue
        errors.append(distances(outcome, option.estimand, x))
    table = np.array(errors) if errors else np.full((1, d), np.nan)
    far = float((table > 3.0).any(axis=1).mean())
    typical, within_95 = (float(np.quantile(table, share)) for share in (0.5, 0.95))
    return Simulated(typical, within_95, far, refused / releases, statistics.median(seconds))


def distances(outcome: Release | Refused | QuantileRelease, estimand: str, x: FloatArray) -> FloatArray:
    """Of all released values from the table's own."""
    if isinstance(outcome, QuantileRelease):
        return np.asarray(np.abs(outcome.values_by_share - np.quantile(x, list(outcome), axis=0))).ravel()
    assert outcome.point is not None
    return np.asarray(np.abs(outcome.point - (np.median(x, axis=0) if estimand == "centre" else x.mean(axis=0))))


def outside(value: float, predicted: Range | None, slack: float) -> bool:
    """Whether a simulated value is beyond what was predicted, and beyond its own Monte Carlo error."""
    return predicted is not None and not predicted[0] / slack <= value <= predicted[1] * slack


def compare(option: Option, run: Run, n: int, d: int, epsilon: str, half: float) -> tuple[int, int]:
    """One line for each option; how many values were compared, and how many lie outside."""
    simulated = [simulate(run, option, s, n, d, epsilon, half) for s in range(len(MEASUREMENTS))]
    return 2 * sum(s.refused < 1.0 for s in simulated), report(option, simulated)


def report(option: Option, simulated: list[Simulated]) -> int:
    """Write the line; how many values lie outside."""
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
    return wrong


def simulate_groups(
    option: Option, shape_number: int, n: int, d: int, groups: int, epsilon: str, width: float, known: bool
) -> Simulated:
    """As `simulate`, for what `td.mean(by=...)` takes by itself; the columns' means lie at a third of the bounds."""
    errors, seconds = [], []
    for i in range(GROUP_RELEASES_OF_LAWS if option.law_known else GROUP_RELEASES):
        lower, upper = -width / 3.0, 2.0 * width / 3.0
        x = np.clip(made_up(MEASUREMENTS[shape_number], n, d, 7000 + i), lower, upper)
        by = np.random.default_rng([7, i]).integers(0, groups, n)
        start = time.perf_counter()
        found = td.mean(
            x,
            epsilon=epsilon,
            bounds=(lower, upper),
            sd=1 if known else None,
            by=by,
            keys=list(range(groups)),
            randomness=td.seeded(1000 * shape_number + i),
        )
        seconds.append(time.perf_counter() - start)
        errors += [np.abs(found[g].point - x[by == g].mean(axis=0)) for g in range(groups)]
    table = np.array(errors)
    typical, within_95 = (float(np.nanquantile(table, share)) for share in (0.5, 0.95))
    # Where no mean is given, none is close.
    far = float((~(table <= 3.0)).any(axis=1).mean())
    return Simulated(typical, within_95, far, 0.0, statistics.median(seconds))


def compare_groups() -> tuple[int, int]:
    """One line for each cell: what `td.mean(by=...)` takes, predicted and simulated."""
    compared = wrong = 0
    for n, d, groups, epsilon, width, known in GROUP_CELLS:
        if "--quick" in sys.argv and n * d > _QUICK_CELLS:
            continue
        plan = td.plan(n=n, d=d, epsilon=epsilon, bounds=(0, width), sd=1 if known else None, by=groups)
        given = ", sd" if known else ""
        sys.stdout.write(f"n={n} d={d} groups={groups} epsilon={epsilon} width={width:g}{given}\n")
        shapes = range(len(MEASUREMENTS))
        simulated = [simulate_groups(plan.recommended, s, n, d, groups, epsilon, width, known) for s in shapes]
        wrong += report(plan.recommended, simulated)
        compared += 2 * len(simulated)
    return compared, wrong


def main() -> None:
    shapes = "; ".join(shape.name for shape in MEASUREMENTS)
    sys.stdout.write(f"predicted range <- simulated, for columns of the shapes {shapes}\n")
    compared, wrong = compare_groups()
    if "--groups" not in sys.argv:
        found = compare_tables()
        compared, wrong = compared + found[0], wrong + found[1]
    sys.stdout.write(f"{wrong} of {compared} simulated values lie outside the predicted ranges\n")


def compare_tables() -> tuple[int, int]:
    """One line for each option of each table without groups."""
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
    return compared, wrong


if __name__ == "__main__":
    main()
