"""Finitely many directions to start exact depth from: their level sets contain the exact ones, and fit them roughly."""

from __future__ import annotations

import numpy as np

from tukeydp.depth.deciding import rounded_normals
from tukeydp.depth.directions import unit_vectors
from tukeydp.depth.flats import normals_of_hull
from tukeydp.trusted.bits import derived_key
from tukeydp.trusted.parameters import FloatArray, IntArray, ParameterError
from tukeydp.trusted.rows import LIMIT, Grid

# Directions besides the axes, by number of columns: enough that a handful of exact depths settle a draw. Speed only.
_STARTING, _STARTING_BEYOND = {1: 0, 2: 75, 3: 190, 4: 375}, 500
# One in so many directions ignores the covariance, in case outliers rule it. Speed only.
_PLAIN = 5
# Smallest eigenvalue that whitening believes, relative to the largest: flatter data count as this flat. Speed only.
_FLATTEST = 1e-12


def starting_directions(d: int) -> int:
    """How many directions, besides the axes, the first envelope of exact depth has."""
    return _STARTING.get(d, _STARTING_BEYOND)


def require_exact_differences(grid: Grid) -> None:
    """Differences of two grid points must be whole numbers that a float holds; checked from public numbers."""
    if max(grid.cells) >= 2**52:
        rule = "must give fewer than 2**52 steps between the bounds for exact depth"
        raise ParameterError("resolution", rule, f"{max(grid.cells)} steps")
    # Normals are rounded to integers of at least one digit, `rounded_normals`.
    if (LIMIT - 1) // (max(grid.extent) * grid.d) <= 1:
        rule = f"must give fewer steps between the bounds for exact depth in {grid.d} columns"
        raise ParameterError("resolution", rule, f"{max(grid.cells)} steps")


def first_envelope(rows: IntArray, grid: Grid) -> IntArray:
    """The axes, and directions that are round with respect to the data, so that stretched data costs no more."""
    d = rows.shape[1]
    axes = np.eye(d, dtype=np.int64)
    units = unit_vectors(starting_directions(d), d, derived_key("envelope", d))
    round_units = units @ _whitening(rows).T
    plain = len(units) // _PLAIN
    rounded = rounded_normals(np.vstack([round_units[plain:], units[:plain]]), grid)
    # Along these all rows have one projection, so that level sets lie in the plane of the rows, if that is one.
    hull = [v for v in normals_of_hull(rows) if sum(abs(c) * r for c, r in zip(v, grid.extent, strict=True)) < LIMIT]
    flat = np.array(hull, dtype=np.int64).reshape(len(hull), d)
    return np.unique(np.vstack([axes, rounded, flat]), axis=0)


def _whitening(rows: IntArray) -> FloatArray:
    """A matrix that makes the rows about round; the identity where the covariance is no use."""
    d = rows.shape[1]
    if len(rows) <= d:
        return np.eye(d)
    with np.errstate(all="ignore"):
        centred = rows.astype(np.float64)
        centred -= centred.mean(axis=0)
        try:
            values, frame = np.linalg.eigh(centred.T @ centred)
        except np.linalg.LinAlgError:
            return np.eye(d)
        shrink = 1.0 / np.sqrt(np.maximum(values, values.max() * _FLATTEST))
    return frame * shrink if np.isfinite(shrink).all() else np.eye(d)
