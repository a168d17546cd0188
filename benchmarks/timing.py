"""How long calls take on neighbouring tables, and what a clock could tell of the one row. Prints tables.

For each pair: proposals, programs of branch and bound, and seconds on either table, and how well the best threshold on
the seconds tells the tables apart: its advantage, the share of right guesses on one table less that of wrong guesses on
the other (0: nothing, 1: everything). The threshold is found on half of the runs and judged on the others; the lower
bound is exact (Clopper and Pearson) at 99.9 %. `pad_to` repeats the last column with calls that end at multiples.
"""

from __future__ import annotations

import math
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import beta

import tukeydp as td
from tukeydp.hints.branches import Tree, compile_once
from tukeydp.trusted.parameters import FloatArray
from tukeydp.trusted.sampling import kept

RUNS = 60  # on each table, half of them to find a threshold
ERROR = 0.001  # of the lower bound, one side
Call = Callable[..., Any]


@dataclass
class Work:
    """What a call did: proposals (about: words over words each) and programs of branch and bound."""

    proposals: float = 0.0
    programs: int = 0


@contextmanager
def counted(d: int) -> Iterator[Work]:
    """Count the work of the sampler while inside. Slower, so no seconds are taken there."""
    work = Work()
    propose, grow = kept.propose, Tree.grow

    def counting(words: Any, cursor: int, *rest: Any) -> Any:
        status, after, detail = propose(words, cursor, *rest)
        work.proposals += (after - cursor) / (1 + d)
        return status, after, detail

    def growing(tree: Tree, *given: Any) -> None:
        before = tree.steps
        grow(tree, *given)
        work.programs += tree.steps - before

    kept.propose, Tree.grow = counting, growing  # type: ignore[method-assign,assignment]
    try:
        yield work
    finally:
        kept.propose, Tree.grow = propose, grow  # type: ignore[method-assign]


def scores(n: int, d: int) -> FloatArray:
    rng = np.random.default_rng(0)
    return rng.choice([1.0, 2, 3, 4, 5], p=[0.05, 0.1, 0.2, 0.4, 0.25], size=(n, d))


def with_row(x: FloatArray, row: float) -> FloatArray:
    changed = x.copy()
    changed[0] = row
    return changed


def pairs() -> Iterator[tuple[str, Call, FloatArray, FloatArray]]:
    gauss = np.random.default_rng(0).normal(size=(500, 5))
    flat = gauss.copy()
    flat[1:] = 0.0  # all rows but one the same: the other one decides whether the table has a spread at all
    likert = scores(300, 6)

    def boxem(**options: Any) -> Call:
        return lambda x, **more: td.boxem(x, epsilon=1, **options, **more)

    yield "boxem, Gaussian, one row far out", boxem(bounds=(-100, 100)), gauss, with_row(gauss, 99.0)
    yield "boxem, Gaussian, one row missing", boxem(bounds=(-100, 100)), gauss, with_row(gauss, math.nan)
    yield "boxem, equal rows but one", boxem(bounds=(-100, 100)), with_row(flat, 0.0), with_row(flat, 99.0)
    yield "boxem, scores, resolution=1", boxem(bounds=(1, 5), resolution=1), likert, with_row(likert, 1.0)
    plane = np.column_stack([gauss[:, :2], gauss[:, 0] + gauss[:, 1]])[:200]
    exact = boxem(bounds=(-10, 10), depth=td.Exact(), resolution="0.001")
    yield "boxem, exact depth, rows in a plane but one", exact, with_row(np.round(plane, 3), 0.0), with_row(plane, 9.0)

    def rem(x: Any, **more: Any) -> Any:
        return td.rem(x, epsilon=1, delta=1e-6, depth=td.Random(30), **more)

    yield "rem, Gaussian, one row far out", rem, gauss[:, :2], with_row(gauss[:, :2], 1e6)
    yield "rem, equal rows but one", rem, with_row(flat[:, :2], 0.0), with_row(flat[:, :2], 99.0)

    def mean(x: Any, **more: Any) -> Any:
        return td.mean(x, epsilon=1, bounds=(-100, 100), **more)

    yield "mean, Gaussian, one row far out", mean, gauss, with_row(gauss, 99.0)


def seconds(call: Call, x: FloatArray, y: FloatArray, **options: Any) -> tuple[list[float], list[float]]:
    """Seconds on both tables in turn, so that what else the machine does falls on both."""
    taken: tuple[list[float], list[float]] = ([], [])
    for _ in range(RUNS + 1):
        for table, where in ((x, taken[0]), (y, taken[1])):
            start = time.perf_counter()
            call(table, **options)
            where.append(time.perf_counter() - start)
    return taken[0][1:], taken[1][1:]


def advantage(first: list[float], second: list[float]) -> tuple[float, float]:
    """Of the best threshold on the even runs, judged on the odd ones: the estimate and its lower bound."""
    a, b = np.array(first), np.array(second)
    cuts = np.unique(np.concatenate([a[::2], b[::2]]))
    gain = [(a[::2] <= cut).mean() - (b[::2] <= cut).mean() for cut in cuts]
    cut = cuts[int(np.argmax(np.abs(gain)))]
    low, high = (a, b) if gain[int(np.argmax(np.abs(gain)))] > 0 else (b, a)
    right, wrong, runs = int((low[1::2] <= cut).sum()), int((high[1::2] <= cut).sum()), len(low[1::2])
    at_least = beta.ppf(ERROR / 2, right, runs - right + 1) if right else 0.0
    at_most = beta.ppf(1 - ERROR / 2, wrong + 1, runs - wrong) if wrong < runs else 1.0
    return (right - wrong) / runs, max(0.0, float(at_least - at_most))


def work_on(call: Call, x: FloatArray) -> Work:
    with counted(x.shape[1]) as work:
        for seed in range(5):
            call(x, randomness=td.seeded(seed))
    return Work(work.proposals / 5, work.programs // 5)


def main() -> None:
    out = sys.stdout
    compile_once()  # as after many draws; before, NumPy draws, and nothing is counted here
    out.write(f"{RUNS} runs on each table, in turn; proposals and programs: means of 5\n")
    out.write(f"{'pair':<46}{'proposals':>18}{'programs':>14}{'median ms':>16}{'advantage':>22}{'padded':>22}\n")
    for name, call, x, y in pairs():
        first, second = work_on(call, x), work_on(call, y)
        a, b = seconds(call, x, y)
        # About twice the usual duration, and a round number that could have been chosen without the data.
        interval = 2.0 ** math.ceil(math.log2(2.0 * statistics.median(a + b)))
        told, hidden = advantage(a, b), advantage(*seconds(call, x, y, pad_to=interval))
        out.write(
            f"{name:<46}{first.proposals:>9.0f}{second.proposals:>9.0f}{first.programs:>7}{second.programs:>7}"
            f"{1000 * statistics.median(a):>8.1f}{1000 * statistics.median(b):>8.1f}"
            f"{told[0]:>9.2f} (>= {told[1]:.2f}){hidden[0]:>9.2f} (>= {hidden[1]:.2f})\n"
        )
        out.flush()


if __name__ == "__main__":
    main()
