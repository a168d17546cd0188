"""One swapped row moves no depth by more than one, for every notion: by hill climbing."""

from __future__ import annotations

import itertools
import math

import numpy as np

from tukeydp.audit.check import Check, Effort, Result, Tally, climb
from tukeydp.depth.notions import AnyScale, AxisAligned, Directions, Exact, Notion, Random, Spread
from tukeydp.depth.of_points import tukey_depth
from tukeydp.trusted.parameters import FloatArray
from tukeydp.trusted.rows import bounded_grid

NOTIONS: tuple[Notion, ...] = (
    AxisAligned(),
    Random(5, seed=1),
    Random(4, axes=False, seed=2),
    Spread(5, seed=1),
    AnyScale(5, seed=3),
    Directions([[1, 1], [3, -1]]),
    Exact(),
)
# Few different values, so that ties are the rule; now and then one is missing, infinite, far outside or hard to round.
CELLS = (-2.0, -1.0, 0.0, 1.0, 2.0, 0.5, 1.4999999999999999, math.nan)
HOSTILE, OFTEN = (math.inf, -math.inf, 1e300, 1e-320, -1e-7), 0.04  # of cells: more, and big integers take all the time
POINTS = np.array([*itertools.product(np.arange(-2.0, 3.0), repeat=2), *itertools.product((-0.5, 0.5), repeat=2)])
GRID = bounded_grid(2, bounds=(-2, 2), resolution=1)
ON_GRID = np.array(list(itertools.product(range(-2, 3), repeat=2)))


def row(random: np.random.Generator) -> FloatArray:
    return np.where(random.random(2) < OFTEN, random.choice(HOSTILE, size=2), random.choice(CELLS, size=2))


def run(effort: Effort) -> Result:
    tally = Tally(bound=1.0)
    starts, steps = (2, 40) if effort.quick else (10, 120)
    for (number, notion), start in itertools.product(enumerate(NOTIONS), range(starts)):
        random = np.random.default_rng([effort.seed, number, start])

        def moved(x: FloatArray, y: FloatArray, notion: Notion = notion) -> tuple[float, float]:
            """By how much the farthest depth moves, and all of them together: that leads the climb."""
            change = np.abs(_depths(x, notion) - _depths(y, notion))
            return float(change.max()), float(change.sum())

        taken = steps // 4 if isinstance(notion, Exact) else steps  # exact depth among huge cells takes longer
        tally.found(climb(moved, int(random.integers(1, 9)), row, taken, random)[0])
        tally.saw(datasets=2 * (taken + 1), pairs=taken + 1)
    return tally.result()


def _depths(x: FloatArray, notion: Notion) -> FloatArray:
    """Of points among the rows as they are, and of grid points among the rows on the grid."""
    exact = isinstance(notion, Exact)
    among_rows = tukey_depth(POINTS[::4] if exact else POINTS, x, notion)  # exact depth takes longer
    if exact:
        return np.asarray(among_rows, dtype=float)
    prepared = notion.prepare(GRID.snap(x), GRID, bytes(32), lowest=1)
    return np.concatenate([among_rows, prepared.levels.depths(ON_GRID)]).astype(float)


CHECK = Check(
    name="sensitivity: depth",
    claim="Swapping a row moves no depth by more than 1, for every notion of depth, with ties, missing, infinite and "
    "huge cells.",
    measure="largest change of a depth",
    run=run,
)
