"""What `td.quantiles` is said to be off by, and what it is off by: real tables, column by column, quartiles.

    python benchmarks/quantiles.py             # about five minutes on one core
    python benchmarks/quantiles.py --quick     # fewer releases

The forecast is `rehearse(sd=...)` with the column's own deviation, which a user would have to know; errors are in
standard deviations from `numpy.quantile`. A column has ties if a value in it occurs in more than 2 of 100 rows: it is
held against what is said of equal values, once with the grid that is taken by default and once with the column's own
step. Needs scikit-learn and statsmodels, which ship the tables.
"""

from __future__ import annotations

import math
import sys
from collections import Counter
from typing import Any, NamedTuple

import numpy as np

import tukeydp as td
from tukeydp.forecast.quantiles import QuantileError
from tukeydp.paper.experiments.tables import installed_tables, real_table
from tukeydp.trusted.parameters import FloatArray

QUARTILES = (0.25, 0.5, 0.75)
TIED = 0.02  # share of the rows that have the commonest value
WIDTHS = (2, 10)  # bounds, in ranges of the column
ROWS, EPSILONS = 500, ("1", "0.3")  # at most so many rows: with all of them there would be nothing to see
SLACK = 1.3  # Monte Carlo error of a median of so few releases


class Compared(NamedTuple):
    """Forecast and observed: half within, 95 of 100 within, share of releases far off."""

    tied: bool
    said: tuple[float, float, float]
    seen: tuple[float, float, float]

    @property
    def kept(self) -> bool:
        """Half are within what was said, allowing for the Monte Carlo error."""
        return self.seen[0] <= SLACK * self.said[0] + 1e-12

    @property
    def kept_95(self) -> bool:
        return self.seen[1] <= SLACK * self.said[1] + 1e-12


def step_of(column: FloatArray) -> float | None:
    """The step that all values are multiples of: 1, 0.5, 0.1, 0.01 or 0.001; None for finer ones."""
    for step in (1.0, 0.5, 0.1, 0.01, 0.001):
        if np.allclose(column / step, np.round(column / step), atol=1e-6):
            return step
    return None


def tied(column: FloatArray) -> bool:
    return max(Counter(column.tolist()).values()) > TIED * len(column)


def compare(column: FloatArray, times: int, epsilon: str, resolution: float | None, releases: int) -> Compared:
    low, high = float(column.min()), float(column.max())
    middle, half = (low + high) / 2, times * (high - low) / 2
    asked: dict[str, Any] = {"epsilon": epsilon, "bounds": (middle - half, middle + half)}
    if resolution is not None:
        steps = math.ceil(half / resolution)
        asked["bounds"] = (low - steps * resolution, low + steps * resolution)
        asked["resolution"] = resolution
    runs = [td.quantiles(column, QUARTILES, **asked, randomness=td.seeded(i)) for i in range(releases)]
    deviation = float(column.std())
    error = runs[0].rehearse(sd=min(deviation, half))
    assert isinstance(error, QuantileError)
    assert error.typical is not None
    assert error.within_95 is not None
    own = np.quantile(column, QUARTILES)
    sizes = np.abs([run.values_by_share[:, 0] - own for run in runs]) / deviation
    seen = float(np.median(sizes)), float(np.quantile(sizes, 0.95)), float((sizes > 3).any(axis=1).mean())
    has_ties = tied(column)
    said = (
        (error.ties, error.ties_95, error.ties_far) if has_ties else (error.typical[1], error.within_95[1], error.far)
    )
    if has_ties:  # whichever is said to be worse
        plain = (error.typical[1], error.within_95[1], error.far)
        said = tuple(max(a, b) for a, b in zip(said, plain, strict=True))  # type: ignore[assignment]
    return Compared(has_ties, said, seen)


def main() -> None:
    releases = 10 if "--quick" in sys.argv else 40
    total: dict[str, list[Compared]] = {}
    print("table, column                 rows  eps  bounds  grid      said: half, 95, far       seen: half, 95, far")
    for name in installed_tables():
        table = real_table(name)
        some = np.random.default_rng(0).permutation(len(table))[:ROWS]
        for j, column in enumerate(table[some].T):
            for epsilon in EPSILONS:
                for times in WIDTHS:
                    for resolution in (None, step_of(column)) if tied(column) and step_of(column) else (None,):
                        found = compare(column, times, epsilon, resolution, releases)
                        grid = "own step" if resolution else "default"
                        numbers = " ".join(f"{v:8.2g}" for v in (*found.said, *found.seen))
                        mark = "" if found.kept else "  HALF ARE NOT WITHIN"
                        print(f"{name[:14]:14} {j:3} {'ties' if found.tied else '':12} {len(column):5} {epsilon:4} "
                              f"{times:3}  {grid:9} {numbers}{mark}")  # fmt: skip
                        total.setdefault(f"{'ties' if found.tied else 'no ties'}, {grid} grid", []).append(found)
    for kind, all_found in total.items():
        ratio = np.median([f.seen[0] / f.said[0] for f in all_found if f.said[0] > 0])
        print(
            f"{kind}: half are within what was said in {sum(f.kept for f in all_found)} of {len(all_found)}, "
            f"95 of 100 in {sum(f.kept_95 for f in all_found)}; median of seen / said {ratio:.2f}"
        )


if __name__ == "__main__":
    main()
