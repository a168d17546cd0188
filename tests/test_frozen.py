"""Seeded outputs of the public functions, compared with those stored in frozen.json.

Code may move and be rewritten; a release with a given seed must stay the same. Where a change is meant, freeze anew
with `python tests/test_frozen.py --write`.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
import sys
import tempfile
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import tukeydp as td
from tukeydp import baselines, mcmc
from tukeydp.approximate import approximate_boxem, approximate_rem
from tukeydp.cli import app
from tukeydp.depth import is_deep, shallowest_direction
from tukeydp.regions import polytope_volume

STORED = Path(__file__).with_name("frozen.json")
COMMAND = "python tests/test_frozen.py --write"
DIGITS = 8  # of pure float geometry
CASES: dict[str, Callable[[], Any]] = {}


def case(name: str, compute: Callable[..., Any], *arguments: Any, **options: Any) -> None:
    assert name not in CASES, name
    CASES[name] = partial(compute, *arguments, **options)


# --- data -----------------------------------------------------------------------------------------------------------


def plain(rng: np.random.Generator, n: int, d: int) -> Any:
    return rng.normal(size=(n, d)) + np.arange(d)


def skewed(rng: np.random.Generator, n: int, d: int) -> Any:
    return rng.exponential(size=(n, d)) * (1 + np.arange(d))


def whole(rng: np.random.Generator, n: int, d: int) -> Any:
    return rng.poisson(6, size=(n, d)).astype(float)


def gaps(rng: np.random.Generator, n: int, d: int) -> Any:
    """One cell in twenty is missing, one in a hundred infinite."""
    x, chance = plain(rng, n, d), rng.random((n, d))
    x[chance < 0.05] = np.nan
    x[chance > 0.99] = np.inf
    return x


def gaps_only(rng: np.random.Generator, n: int, d: int) -> Any:
    x = gaps(rng, n, d)
    return np.where(np.isinf(x), np.nan, x)


def outliers(rng: np.random.Generator, n: int, d: int) -> Any:
    x = plain(rng, n, d)
    x[rng.random(n) < 0.1] += 1000
    return x


def repeated(rng: np.random.Generator, n: int, d: int) -> Any:
    """Rows drawn from seven different ones."""
    return plain(rng, 7, d)[rng.integers(7, size=n)]


def slanted(rng: np.random.Generator, n: int, d: int) -> Any:
    """Standard deviations from 1e-4 to 1 along random axes: d reflections in random planes."""
    x = rng.normal(size=(n, d)) * np.geomspace(1e-4, 1, d)
    for normal in rng.normal(size=(d, d)):
        x = x - np.outer((x * normal).sum(axis=1) * 2 / (normal**2).sum(), normal)
    return x


def nearly_equal(rng: np.random.Generator, n: int, d: int) -> Any:
    """Columns that differ by 1e-4 only."""
    return rng.normal(size=(n, 1)) + 1e-4 * rng.normal(size=(n, d))


def unlike(rng: np.random.Generator, n: int, d: int) -> Any:
    """Every column is ten times as wide as the one before."""
    return rng.normal(size=(n, d)) * 10.0 ** np.arange(-1, d - 1)


@cache
def data(kind: Callable[..., Any], n: int, d: int, seed: int = 0) -> Any:
    """Rounded, so that the last digit of a logarithm does not matter."""
    x = np.round(kind(np.random.default_rng([seed, n, d]), n, d), 12)
    x.flags.writeable = False
    return x


# --- what is frozen -------------------------------------------------------------------------------------------------


# What a release repeats of its parameters, and of the public size of its noise: other tests compare these.
REPEATED = ("bounds", "centre", "radius", "units", "noise_sd")


def public(outcome: Any, *, expected: bool = False) -> dict[str, Any]:
    """Everything that a run says, the slow estimate of its error only where wanted."""
    return without_repeated((outcome if expected else dataclasses.replace(outcome, rehearsal=None)).to_dict())


# What a run has only where it was asked for, and other tests compare.
ASKED_FOR = ("interval", "certificate")


def without_repeated(told: dict[str, Any]) -> dict[str, Any]:
    assert all(told.pop(name) is None for name in ASKED_FOR)
    told["settings"] = {name: value for name, value in told["settings"].items() if name not in REPEATED}
    return {name: value for name, value in told.items() if name not in REPEATED}


def run(mechanism: Callable[..., Any], x: Any, *, draws: int = 1, expected: bool = False, **options: Any) -> Any:
    """The first run in full, and the points of further ones."""
    outcomes = [mechanism(x, randomness=td.seeded(seed), **options) for seed in range(1, draws + 1)]
    points = [None if outcome.point is None else outcome.point.tolist() for outcome in outcomes[1:]]
    return {**public(outcomes[0], expected=expected), "further": points}


def in_floats(mechanism: Callable[..., Any], x: Any, **options: Any) -> Any:
    """A run whose point is made of floats, such as the end of a walk."""
    return rounded(run(mechanism, x, **options))


def reference(mechanism: Callable[..., Any], x: Any, **options: Any) -> Any:
    return rounded(public(mechanism(x, **options)))


def rounded(value: Any) -> Any:
    """Floats to a few significant digits, in whatever is made of lists and dictionaries."""
    if isinstance(value, dict):
        return {key: rounded(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [rounded(entry) for entry in value]
    if isinstance(value, np.ndarray | np.generic):
        return rounded(value.tolist())
    if isinstance(value, float) and math.isfinite(value):
        return float(f"{value:.{DIGITS}g}") + 0.0
    return value


def depths(depth: Any) -> Any:
    """Of some rows, their mean, and points further out, in tables of one to four columns."""
    tables = [data(plain, 50, 1), data(plain, 60, 2), data(plain, 40, 3), data(plain, 20, 4), data(gaps, 60, 2)]
    return [depths_in(x, depth) for x in tables if not isinstance(depth, td.Directions) or x.shape[1] == 3]


def depths_in(x: Any, depth: Any) -> Any:
    points = np.vstack([x[:12], np.nanmean(np.where(np.isfinite(x), x, np.nan), axis=0), x[:1] + 1])
    return td.tukey_depth(points, x, depth).tolist()


def deep(x: Any, level: int) -> Any:
    return is_deep(x[:25], x, level).tolist()


def shallowest(x: Any, row: int) -> Any:
    """The depth of the middle of two rows, and a direction that shows it."""
    least, direction = shallowest_direction((x[row] + x[row + 1]) / 2, x)
    return {"depth": int(least), "direction": rounded([float(v) for v in direction])}


def levels(x: Any, depth: Any) -> Any:
    """Volumes of all levels, and three of them in full."""
    return {
        "volumes": rounded(td.level_volumes(x, depth)),
        "sets": [region(x, level, depth) for level in (1, 3, 5)],
    }


def region(x: Any, level: int, depth: Any) -> Any:
    found = td.level_set(x, level, depth)
    # Rounding to fewer digits before sorting keeps vertices with equal coordinates in one order.
    vertices = sorted(rounded(found.vertices), key=lambda vertex: [round(v, 5) for v in vertex])
    return {"volume": rounded(found.volume), "vertices": vertices, "inside": found.contains(x[:30]).tolist()}


def polytope(d: int, k: int) -> tuple[Any, Any]:
    """The cube from -1 to 1 with corners cut off."""
    normals = np.round(np.random.default_rng([d, k]).normal(size=(k, d)), 9)
    eye = np.eye(d)
    return np.vstack([eye, -eye, normals]), np.append(np.ones(2 * d), np.sqrt((normals**2).sum(axis=1)))


def volume(d: int, k: int, **options: Any) -> Any:
    return rounded(polytope_volume(*polytope(d, k), **options))


def volume_by_walks(d: int, k: int, error: float, seed: int = 3) -> Any:
    return rounded(polytope_volume(*polytope(d, k), "mcmc", error=error, randomness=td.seeded(seed)))


def estimate(d: int, k: int, directions: str) -> Any:
    rng = np.random.default_rng(5)
    found = mcmc.polytope_estimate(*polytope(d, k), np.zeros(d), rng, error=0.2, directions=directions)
    return rounded(dataclasses.asdict(found))


def steps(d: int, k: int, **options: Any) -> Any:
    points = mcmc.walk(*polytope(d, k), np.zeros(d), np.random.default_rng(6), samples=20, thin=3, **options)
    return rounded(points)


def volumes_of_levels_by_walks(x: Any, depth: Any, error: float) -> Any:
    return rounded(mcmc.mcmc_level_volumes(x, depth, error=error, randomness=td.seeded(4)))


def command(x: Any, name: str, *arguments: str) -> Any:
    """What the command line prints for a file with the columns a, b, c, ..., and its exit code."""
    names = ",".join("abcdefgh"[: x.shape[1]])
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "table.csv"
        lines = [",".join("" if math.isnan(v) else repr(v) for v in row) for row in x.tolist()]
        file.write_text("\n".join([names, *lines]) + "\n", encoding="utf-8")
        asked = [name, str(file), "--columns", names, "--seed=5", "--no-check", "--json", "--verbose", *arguments]
        result = CliRunner().invoke(app, asked)
    return {**without_repeated(json.loads(result.stdout)), "exit": result.exit_code}


def rounded_command(x: Any, name: str, *arguments: str) -> Any:
    return rounded(command(x, name, *arguments))


# --- cases ----------------------------------------------------------------------------------------------------------


def late(compute: Callable[..., Any], table: tuple[Callable[..., Any], int, int]) -> Callable[..., Any]:
    """The computation on a table that is made when the case runs."""
    return lambda *arguments, **options: compute(data(*table), *arguments, **options)


WIDE = (-50, 60)
NOTIONS = {
    "default": None,
    "spread": td.Spread(40),
    "spread-no-axes": td.Spread(24, axes=False),
    "random": td.Random(30),
    "random-no-axes": td.Random(20, axes=False),
    "any-scale": td.AnyScale(40),
    "axes": td.AxisAligned(),
}
FIXED = {
    "exact": td.Exact(),
    "axes": td.AxisAligned(),
    "random": td.Random(12, seed=1),
    "random-no-axes": td.Random(12, axes=False, seed=2),
    "spread": td.Spread(10, seed=3),
    "any-scale": td.AnyScale(10, seed=4),
}


def given(d: int) -> td.Directions:
    """Whole numbers, and one that needs rounding on a grid."""
    vectors = np.vstack([np.eye(d), np.tri(d) + np.eye(d), np.full((1, d), 0.1) + np.eye(d)[:1] / 3])
    return td.Directions(vectors.tolist())


def neighbours(d: int) -> td.Directions:
    """The axes, and differences of neighbouring columns."""
    eye = np.eye(d, dtype=int)
    return td.Directions([*eye.tolist(), *(eye[1:] - eye[:-1]).tolist()])


def short_name(depth: Any) -> str:
    return "default" if depth is None else type(depth).__name__.lower()


def boxem_cases() -> None:
    release = partial(run, td.boxem)
    for d in range(1, 7):
        for name, depth in NOTIONS.items():
            if d > 1 or name != "spread-no-axes":
                kind = (plain, skewed)[d % 2]
                x = (kind, 60 + 40 * d, d)
                case(
                    f"boxem/{name}/d{d}/{kind.__name__}", late(release, x), epsilon=1, bounds=WIDE, depth=depth, draws=2
                )
        x = (plain, 90, d)
        case(f"boxem/given/d{d}/plain", late(release, x), epsilon=1, bounds=WIDE, depth=given(d), draws=2)
    for epsilon in (0.1, 1, 5, "1/3", 1000):
        name = str(epsilon).replace("/", "-")
        case(f"boxem/epsilon/{name}", late(release, (plain, 200, 3)), epsilon=epsilon, bounds=WIDE, draws=3)
    for n in (1, 2, 3):
        for d in (1, 3):
            case(f"boxem/tiny/n{n}/d{d}", late(release, (plain, n, d)), epsilon=1, bounds=WIDE, draws=3)
    for kind in (gaps, outliers, repeated, unlike):
        for d in (1, 3):
            case(f"boxem/{kind.__name__}/d{d}", late(release, (kind, 250, d)), epsilon=1, bounds=(-2000, 3000), draws=2)
    for d in (1, 2, 5):
        x = (whole, 150, d)
        case(f"boxem/whole/d{d}", late(release, x), epsilon=1, bounds=(0, 30), resolution=1, draws=3)
    x = (whole, 80, 2)
    case("boxem/whole/coarse", late(release, x), epsilon=1, bounds=(0, 30), resolution=5, draws=3)
    case("boxem/whole/exact", late(release, x), epsilon=1, bounds=(0, 30), resolution=1, depth=td.Exact(), draws=3)
    bounds = ([-1, -100, 0], [1, 1000, 1e6])
    case("boxem/unlike-bounds", late(release, (unlike, 300, 3)), epsilon=1, bounds=bounds, draws=3)
    steps_of = ["0.001", "0.5", 10]
    x = (unlike, 300, 3)
    case("boxem/unlike-steps", late(release, x), epsilon=1, bounds=bounds, resolution=steps_of, draws=2)
    case("boxem/unlike-given", late(release, x), epsilon=1, bounds=bounds, resolution=steps_of, depth=given(3))
    case("boxem/outside-bounds", late(release, (plain, 100, 2)), epsilon=1, bounds=(0, 0.5), draws=3)
    for d in (1, 2, 3):
        x = (plain, 80, d)
        case(f"boxem/expected-error/d{d}", late(release, x), epsilon=1, bounds=WIDE, expected=True)


def hard_boxem_cases() -> None:
    """Slanted boxes, slices, many columns, many rows, exact depth."""
    release = partial(run, td.boxem)
    for d, depth in ((2, None), (6, None), (10, td.AxisAligned()), (10, td.Random(300))):
        name = f"boxem/slanted/{short_name(depth)}/d{d}"
        case(name, late(release, (slanted, 1000, d)), epsilon=1, bounds=(-10, 10), depth=depth)
    for d, depth in ((2, neighbours(2)), (3, neighbours(3)), (5, neighbours(5))):
        name = f"boxem/nearly-equal/{short_name(depth)}/d{d}"
        case(name, late(release, (nearly_equal, 300, d)), epsilon=1, bounds=(-10, 10), depth=depth, draws=2)
    for d, n, depth in ((10, 500, None), (16, 1000, td.Spread(60)), (16, 600, td.AxisAligned())):
        case(f"boxem/columns/d{d}/n{n}", late(release, (plain, n, d)), epsilon=1, bounds=WIDE, depth=depth)
    for d, k in ((13, 30), (14, 36)):
        depth = td.Random(k, axes=False, seed=1)
        case(f"boxem/sliced/d{d}/k{k}", late(release, (plain, 1000, d)), epsilon=1, bounds=WIDE, depth=depth)
    for n, d, depth in ((6000, 1, None), (6000, 3, None), (20000, 2, td.Spread(20)), (20000, 5, td.Random(15))):
        x = (plain, n, d)
        case(f"boxem/rows/n{n}/d{d}", late(release, x), epsilon=1, bounds=WIDE, depth=depth, draws=2)
    case("boxem/rows/low-epsilon", late(release, (plain, 6000, 2)), epsilon=0.001, bounds=WIDE)
    case("boxem/rows/gaps", late(release, (gaps, 6000, 2)), epsilon=1, bounds=WIDE)
    for d, n in ((1, 100), (2, 150), (3, 50), (4, 16)):
        case(f"boxem/exact/d{d}/n{n}", late(release, (plain, n, d)), epsilon=1, bounds=WIDE, depth=td.Exact())
    case("boxem/exact/slanted", late(release, (slanted, 60, 2)), epsilon=1, bounds=WIDE, depth=td.Exact())
    case("boxem/exact/gaps", late(release, (gaps, 60, 2)), epsilon=2, bounds=WIDE, depth=td.Exact())


def rem_cases() -> None:
    release = partial(run, td.rem, epsilon=1, delta="1e-6")
    rows = {1: 800, 2: 900, 3: 900, 5: 900}
    for test in ("graded", "laplace", "paper"):
        for d, n in rows.items():
            case(
                f"rem/{test}/many/d{d}",
                late(release, (plain, n, d)),
                test=test,
                depth=td.AnyScale(40) if d == 5 else None,
            )
        for d in (1, 3):
            case(f"rem/{test}/few/d{d}", late(release, (plain, 30, d)), test=test)
        # About as many rows as it takes: some of the draws are refused.
        border = {"graded": 220, "laplace": 340, "paper": 680}[test]
        case(f"rem/{test}/border", late(release, (plain, border, 2)), test=test, draws=4)
    for name, depth in NOTIONS.items():
        if name not in ("default",):
            case(f"rem/{name}/d2", late(release, (plain, 500, 2)), depth=depth)
    case("rem/given/d2", late(release, (plain, 500, 2)), depth=given(2))
    for kind in (gaps, outliers, unlike, skewed, slanted):
        case(f"rem/{kind.__name__}/d3", late(release, (kind, 800, 3)))
    case("rem/whole/d2", late(release, (whole, 500, 2)), resolution=1, draws=2)
    case("rem/threshold/d2", late(release, (plain, 500, 2)), threshold=60, draws=2)
    case("rem/rows/n6000", late(release, (plain, 6000, 2)))
    case("rem/expected-error/d1", late(release, (plain, 400, 1)), expected=True)
    for d, n, epsilon in ((2, 200, 5), (2, 12, 5), (3, 25, 20), (3, 12, 5)):
        loose = {"epsilon": epsilon, "delta": "0.01", "depth": td.Exact()}
        case(f"rem/exact/d{d}/n{n}", late(partial(run, td.rem), (plain, n, d)), **loose)
    case("rem/exact/d1", late(release, (plain, 400, 1)), depth=td.Exact())


def walk_cases() -> None:
    """Nothing in here is proven; what is seeded must repeat all the same."""
    for d in (1, 2, 3):
        x = (plain, 60, d)
        options = {"epsilon": 1, "bounds": WIDE, "depth": td.Random(10, seed=1), "unproven": "mcmc"}
        case(f"mcmc/boxem/d{d}", late(partial(in_floats, td.boxem), x), **options)
    for d, n in ((1, 150), (2, 150), (2, 20)):
        options = {"epsilon": 4, "delta": "0.01", "depth": td.Random(10, seed=1), "unproven": "mcmc"}
        case(f"mcmc/rem/d{d}/n{n}", late(partial(in_floats, td.rem), (plain, n, d)), **options)
    for d in (2, 5, 8):
        case(f"mcmc/polytope-volume/d{d}", volume_by_walks, d, 3 * d, 0.2)
        for directions in ("coordinate", "random"):
            case(f"mcmc/estimate/{directions}/d{d}", estimate, d, 3 * d, directions)
    for d in (2, 3, 4):
        along = td.Random(12, seed=1)
        case(f"mcmc/level-volumes/d{d}", late(volumes_of_levels_by_walks, (plain, 40, d)), along, 0.2)
    for directions in ("coordinate", "random"):
        for sharpness in (0.0, 1.5):
            options = {"directions": directions, "sharpness": sharpness}
            case(f"mcmc/walk/{directions}/sharpness{sharpness}", steps, 4, 9, **options)


def algorithm3_cases() -> None:
    loose = {"epsilon": 8, "delta": "1e-3", "bounds": (-5, 5), "padding": "1/4"}
    for name, mechanism in (("boxem", approximate_boxem), ("rem", approximate_rem)):
        proven = partial(run, mechanism, **loose, depth=td.Random(5, seed=1))
        for n in (8, 40):
            for d in (1, 2):
                case(f"algorithm3/{name}/d{d}/n{n}", late(proven, (plain, n, d)))
        by_walks = partial(in_floats, mechanism, **loose, depth=td.Random(5, seed=1))
        oracle = {"oracle": mcmc.McmcVolumes(0.2), "sampler": mcmc.HitAndRun()}
        case(f"algorithm3/{name}/by-walks", late(by_walks, (plain, 30, 2)), **oracle)
        case(f"algorithm3/{name}/no-padding", late(partial(run, mechanism), (plain, 20, 2)), **{**loose, "padding": 0})
    for d, n in ((1, 200), (2, 250)):
        case(f"algorithm3/rem/d{d}/n{n}", late(partial(run, approximate_rem), (plain, n, d)), **loose)


def baseline_cases() -> None:
    budget = {"epsilon": 1, "delta": "1e-6"}
    names = ("gaussian", "analytic_gaussian", "coinpress", "huang_liang_yi", "plan")
    for name in names:
        # The public rotation of huang_liang_yi is made of floats that may differ in the last digit between machines.
        repeat = in_floats if name == "huang_liang_yi" else run
        release = partial(repeat, getattr(baselines, name), **budget)
        for d in (1, 6):
            case(f"baselines/{name}/d{d}", late(release, (plain, 500, d)), bounds=WIDE, draws=2)
        case(f"baselines/{name}/gaps", late(release, (gaps, 400, 2)), bounds=([-9, -5], [9, 50]))
        case(f"baselines/{name}/ball", late(release, (plain, 300, 2)), centre=[1, 2], radius=20, expected=True)
    stepwise = partial(run, baselines.coinpress, **budget, deviation=[1, 2], steps=3)
    case("baselines/coinpress/steps", late(stepwise, (plain, 300, 2)), bounds=WIDE)
    for name in ("empirical_mean", "coordinate_median", "tukey_median"):
        for kind in (plain, gaps, whole):
            case(f"baselines/{name}/{kind.__name__}", late(partial(reference, getattr(baselines, name)), (kind, 60, 2)))
    for d, depth in ((3, None), (3, td.AxisAligned()), (5, td.Random(20, seed=1))):
        median = partial(reference, baselines.tukey_median, depth=depth)
        case(f"baselines/tukey_median/{short_name(depth)}/d{d}", late(median, (plain, 40, d)))
    for d, depth in ((1, None), (2, td.Exact()), (2, td.Random(8, seed=1)), (3, td.Random(8, axes=False, seed=1))):
        recipe = partial(in_floats, baselines.paper_recipe, epsilon=1, bounds=WIDE, depth=depth)
        case(f"baselines/paper_recipe/{short_name(depth)}/d{d}", late(recipe, (plain, 80, d)), draws=3)


def geometry_cases() -> None:
    for name, depth in {**FIXED, "given": given(3)}.items():
        case(f"depth/{name}", depths, depth)
    for name, depth in FIXED.items():
        for d, n in ((2, 60), (3, 40), (4, 20)):
            case(f"levels/{name}/d{d}", late(levels, (plain, n, d)), depth)
        case(f"levels/{name}/whole", late(levels, (whole, 60, 2)), depth)
    case("levels/given/d3", late(levels, (plain, 40, 3)), given(3))
    case("levels/exact/repeated", late(levels, (repeated, 40, 2)), td.Exact())
    case("levels/exact/gaps", late(levels, (gaps, 40, 2)), td.Exact())
    for d, level in ((1, 10), (2, 8), (3, 5), (4, 2)):
        case(f"is-deep/d{d}", late(deep, (whole, 40, d)), level)
        case(f"shallowest-direction/d{d}", late(shallowest, (plain, 30, d)), 4)
    for d, k in ((2, 7), (3, 12), (4, 16), (6, 12)):
        case(f"polytope-volume/d{d}/k{k}", volume, d, k)


def command_cases() -> None:
    between = ("--epsilon=1", "--bounds=-50,60")
    boxem = ("centre", *between)
    case("command/boxem", late(command, (plain, 100, 2)), *boxem)
    case("command/boxem/gaps", late(command, (gaps_only, 100, 2)), *boxem, "--bounds", "a=-9,9", "--resolution=0.01")
    case("command/boxem/random", late(command, (plain, 80, 2)), *boxem, "--depth=random", "--directions=9", "--no-axes")
    for depth in ("spread", "any-scale", "axis-aligned", "exact"):
        case(f"command/boxem/{depth}", late(command, (plain, 50, 2)), *boxem, f"--depth={depth}")
    case("command/boxem/mcmc", late(rounded_command, (plain, 40, 2)), *boxem, "--unproven=mcmc", "--directions=6")
    rem = ("centre", "--mechanism=rem", "--epsilon=1", "--delta=1e-6")
    case("command/rem", late(command, (plain, 500, 1)), *rem)
    case("command/rem/refused", late(command, (plain, 30, 1)), *rem)
    case("command/rem/paper", late(command, (plain, 700, 1)), *rem, "--test=paper", "--threshold=150")
    for mechanism in ("gaussian", "analytic-gaussian", "coinpress", "huang-liang-yi", "plan"):
        known = ("--sd=1",) if mechanism == "coinpress" else ()
        options = ("mean", f"--mechanism={mechanism}", "--delta=1e-6", *between, *known)
        repeat = rounded_command if mechanism == "huang-liang-yi" else command
        case(f"command/{mechanism}", late(repeat, (plain, 300, 2)), *options)


for add_cases in (
    boxem_cases, hard_boxem_cases, rem_cases, walk_cases, algorithm3_cases, baseline_cases, geometry_cases,
    command_cases,
):  # fmt: skip
    add_cases()


# --- comparison -----------------------------------------------------------------------------------------------------


def frozen(name: str) -> dict[str, str]:
    result = CASES[name]()
    text = json.dumps(result, sort_keys=True, separators=(",", ":"))
    return {"digest": hashlib.sha256(text.encode()).hexdigest()[:16], "summary": summary(result)}


def summary(result: Any) -> str:
    """The first few numbers, for people."""
    if isinstance(result, dict) and "released" in result:
        points = [result["point"], *result.get("further", [])]
        return " ".join("refused" if point is None else short(point) for point in points)
    return short(numbers(result))


def short(values: list[float]) -> str:
    shown = ", ".join(f"{v:.6g}" for v in values[:6])
    return f"[{shown}]" if len(values) <= 6 else f"[{shown}, ... {len(values)} numbers]"


def numbers(value: Any) -> list[float]:
    if isinstance(value, dict):
        value = list(value.values())
    return [v for entry in value for v in numbers(entry)] if isinstance(value, list) else [float(value)]


@cache
def stored() -> dict[str, dict[str, str]]:
    return json.loads(STORED.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", CASES)
def test_seeded_output_is_as_stored(name):
    before, now = stored()[name], frozen(name)
    if before == now:
        return
    where = "in the summary" if before["summary"] != now["summary"] else "beyond the summary"
    pytest.fail(
        f"{name} differs {where}.\n  stored: {before['summary']}\n  now:    {now['summary']}\n"
        f"If that is meant: {COMMAND}",
        pytrace=False,
    )


def test_every_stored_case_is_run():
    assert set(stored()) == set(CASES)


def write() -> None:
    found = {name: frozen(name) for name in CASES}
    STORED.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    sys.stdout.write(f"{len(found)} cases written to {STORED.name}\n")


if __name__ == "__main__":
    if sys.argv[1:] != ["--write"]:
        sys.exit(f"usage: {COMMAND}")
    write()
