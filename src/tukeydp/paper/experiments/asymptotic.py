"""The table of asymptotic running times, checked by measured exponents in n, k and d."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

import tukeydp as td
from tukeydp.paper.experiments.experiment import (
    Cell,
    Check,
    Claim,
    Experiment,
    Finding,
    Results,
    Row,
    Seeds,
    Settings,
    cell,
    register,
    slope,
)
from tukeydp.paper.experiments.figures import WORDS, averages, new_figure, ticks_at
from tukeydp.paper.experiments.methods import RADIUS
from tukeydp.regions import polytope_volume

# job, what varies, its values in full, how many of them --quick takes, and what else is fixed
_GRIDS: dict[str, tuple[str, tuple[int, ...], int, dict[str, int]]] = {
    "exact depth, d = 2": ("n", (20_000, 40_000, 80_000, 160_000), 3, {"d": 2}),
    "exact depth, d = 3": ("n", (500, 1000, 2000, 4000), 3, {"d": 3}),
    "exact depth, d = 4": ("n", (60, 120, 240, 480), 3, {"d": 4}),
    "all exact polytopes, d = 2": ("n", (50, 100, 200, 400), 3, {"d": 2}),
    "all random polytopes: n": ("n", (50_000, 100_000, 200_000, 400_000), 3, {"d": 3, "k": 30}),
    "all random polytopes: k": ("k", (50, 100, 200, 400), 3, {"n": 50_000, "d": 3}),
    "all random polytopes: d": ("d", (2, 4, 8, 16), 3, {"n": 100_000, "k": 50}),
    "exact volume, d = 3": ("k", (50, 100, 200, 400), 3, {"d": 3}),
    "exact volume, d = 4": ("k", (20, 40, 80, 160), 3, {"d": 4}),
    "volume by hit-and-run: k": ("k", (40, 80, 160, 320), 3, {"d": 5}),
    "volume by hit-and-run: d": ("d", (4, 6, 8, 12), 3, {"k": 40}),
    "boxem: n": ("n", (50_000, 100_000, 200_000, 400_000), 3, {"d": 3, "k": 30}),
}


def _cells(quick: bool) -> list[Cell]:
    cells = []
    for job, (name, grid, few, fixed) in _GRIDS.items():
        for value in grid[:few] if quick else grid:
            cells.append(cell(6 if quick else 12, job=job, **(fixed | {name: value})))
    return cells


def _depth(settings: Settings, rng: np.random.Generator) -> Callable[[], Any]:
    x = rng.normal(size=(settings["n"], settings["d"]))
    point = 0.3 * rng.normal(size=(1, settings["d"]))
    return lambda: td.tukey_depth(point, x, td.Exact())


def _exact_polytopes(settings: Settings, rng: np.random.Generator) -> Callable[[], Any]:
    x = rng.normal(size=(settings["n"], settings["d"]))
    return lambda: td.level_volumes(x, td.Exact())


def _random_polytopes(settings: Settings, rng: np.random.Generator) -> Callable[[], Any]:
    """Halfspaces of all levels at once: projections, sorted."""
    from tukeydp.trusted.levels import level_sets

    rows = np.rint(rng.normal(size=(settings["n"], settings["d"])) * 2**30).astype(np.int64)
    directions = np.rint(rng.normal(size=(settings["k"], settings["d"])) * 2**10).astype(np.int64)
    return lambda: level_sets(rows, directions, lowest=1)


def _volume(method: str) -> Callable[[Settings, np.random.Generator], Callable[[], Any]]:
    def prepare(settings: Settings, rng: np.random.Generator) -> Callable[[], Any]:
        normals = rng.normal(size=(settings["k"], settings["d"]))
        normals /= np.linalg.norm(normals, axis=1, keepdims=True)
        normals = np.vstack([normals, -normals])
        offsets = 1 + 0.1 * rng.random(len(normals))
        options: dict[str, Any] = {"randomness": td.seeded(int(rng.integers(2**31)))} if method == "mcmc" else {}
        return lambda: polytope_volume(normals, offsets, method=method, **options)

    return prepare


def _boxem(settings: Settings, rng: np.random.Generator) -> Callable[[], Any]:
    x = rng.normal(size=(settings["n"], settings["d"]))
    depth, source = td.Random(settings["k"]), td.seeded(int(rng.integers(2**31)))
    return lambda: td.boxem(x, epsilon=1, bounds=(-RADIUS, RADIUS), depth=depth, randomness=source)


_JOBS: dict[str, Callable[[Settings, np.random.Generator], Callable[[], Any]]] = {
    "exact depth": _depth,
    "all exact polytopes": _exact_polytopes,
    "all random polytopes": _random_polytopes,
    "exact volume": _volume("exact"),
    "volume by hit-and-run": _volume("mcmc"),
    "boxem": _boxem,
}


def _prepared(settings: Settings, rng: np.random.Generator) -> Callable[[], Any]:
    return _JOBS[settings["job"].replace(":", ",").split(",")[0]](settings, rng)


@cache
def _compile(settings: tuple[tuple[str, Any], ...]) -> None:
    """One call that does not count, in every process: a resumed run begins at any trial."""
    _prepared(dict(settings), np.random.default_rng(0))()


def _measure(settings: Settings, seeds: Seeds) -> list[Row]:
    _compile(tuple(settings.items()))
    job = _prepared(settings, seeds.rng("data"))
    start, spent = time.perf_counter(), time.process_time()
    job()
    seconds, processor = time.perf_counter() - start, time.process_time() - spent
    return [{"method": settings["job"], "seconds": seconds, "processor": processor}]


def _exponent(job: str, most: float) -> Check:
    def check(results: Results) -> list[Finding]:
        name = _GRIDS[job][0]
        grid = results.distinct(name, job=job)
        found = slope(grid, [results.values("processor", job=job, **{name: value}) for value in grid])
        return [Finding(f"exponent of {name}, {job}", found, at_most=most + _SLACK)]

    return check


_SLACK = 0.5  # logarithms, caches that overflow, other jobs on the machine
_TABLE = {
    "exact depth, d = 2": ("n^(d-1) = n", 1.0),
    "exact depth, d = 3": ("n^(d-1) = n^2", 2.0),
    "exact depth, d = 4": ("n^(d-1) = n^3", 3.0),
    "all exact polytopes, d = 2": ("n^d = n^2", 2.0),
    "all random polytopes: n": ("n k d: n", 1.0),
    "all random polytopes: k": ("n k d: k", 1.0),
    "all random polytopes: d": ("n k d: d", 1.0),
    "exact volume, d = 3": ("k^d = k^3", 3.0),
    "exact volume, d = 4": ("k^d = k^4", 4.0),
    "volume by hit-and-run: k": ("k d^5: k", 1.0),
    "volume by hit-and-run: d": ("k d^5: d^5", 5.0),
    "boxem: n": ("n k d: n (a whole release; not in the table)", 1.0),
}


def _draw(results: Results) -> Any:
    figures = {}
    for job, (name, *_) in _GRIDS.items():
        points = averages(results.where(job=job), job, name, "processor", math.inf)
        if not points:
            continue
        figures[f"{job[0].upper()}{job[1:]}"], panel = new_figure(height=3.2)
        places, values, halves, _ = (np.array(column) for column in zip(*points, strict=True))
        panel.errorbar(places, values, yerr=np.minimum(halves, 0.9 * values), marker="o", markersize=4, capsize=3)
        panel.plot(places, values[0] * (places / places[0]) ** _TABLE[job][1], color="0.6", linestyle=":")
        panel.set_yscale("log")
        ticks_at(panel, places.tolist())
        panel.set_xlabel(WORDS[name])
        panel.set_ylabel("processor seconds")
        panel.grid(alpha=0.25)
    return figures


ASYMPTOTIC = Experiment(
    name="asymptotic",
    title="Asymptotic running times",
    place="Table of the appendix, for what is implemented here (dotted: the table's exponent)",
    cells=_cells,
    measure=_measure,
    draw=_draw,
    across=("job", "n", "k", "d"),
    shown="processor",
    chunk=1,
    alone=True,
    claims=tuple(
        Claim(f"{job}: no steeper than {word}.", _exponent(job, most)) for job, (word, most) in _TABLE.items()
    ),
    notes=(
        "Processor seconds of this machine, which other programs disturb least; only exponents are compared.",
        f"An exponent passes if its interval ends below the table's plus {_SLACK:g}: logarithms are not in the table, "
        "and small sizes are flat because set-up dominates. What the table has and this library does not (ball walk, "
        "the best-known volume algorithm) is left out.",
    ),
)
register(ASYMPTOTIC)
