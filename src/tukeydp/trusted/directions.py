"""Directions as integer vectors: drawn, rounded, and checked against overflow. No data is involved."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from tukeydp.trusted.bits import Keystream
from tukeydp.trusted.exact.vectors import spanning_rows
from tukeydp.trusted.parameters import FloatArray, IntArray, ParameterError
from tukeydp.trusted.rows import LIMIT, Grid

# Length, in grid units, that drawn directions are rounded to: 18 bits beside a grid of 44 make 62. Shorter than
# SHORTEST they would no longer be spread over the sphere. Any value keeps the guarantee; the overflow check is apart.
LONGEST, SHORTEST = 2**18, 2**8


def unit_vectors(count: int, d: int, key: bytes) -> FloatArray:
    """Uniform on the sphere: Gaussian coordinates (Box-Muller) divided by their length."""
    words = Keystream(key).words(0, 2 * count * d).reshape(2, count, d)
    uniform = ((words >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53
    gauss = np.sqrt(-2.0 * np.log(uniform[0])) * np.cos(2.0 * math.pi * uniform[1])
    return gauss / np.linalg.norm(gauss, axis=1, keepdims=True)


def integers_along(vector: Sequence[Fraction], extent: Sequence[int]) -> list[int]:
    """Integers parallel to `vector`: exactly if they fit below the limit, else rounded to the most that do."""
    common = math.lcm(*(v.denominator for v in vector))
    whole = [int(v * common) for v in vector]
    shrink = math.gcd(*whole)
    exact = [v // shrink for v in whole]
    span = sum(abs(v) * r for v, r in zip(exact, extent, strict=True))
    if span < LIMIT:
        return exact
    room = LIMIT - 1 - sum(extent)  # rounding moves each entry by at most one half
    rounded = [round(Fraction(v * room, span)) for v in exact]
    if max(map(abs, rounded)) < SHORTEST:
        raise ParameterError("resolution", "must leave 8 bits for the directions: make it coarser", "too fine a grid")
    return rounded


def fitting(directions: Any, grid: Grid) -> IntArray:
    """The directions as int64, once no projection of a grid point can reach the limit."""
    if isinstance(directions, np.ndarray):
        spans = np.abs(directions).astype(np.float64) @ np.array(grid.extent, dtype=np.float64)
        if spans.max() < LIMIT / 2:  # far enough below for float rounding to be harmless
            return directions
        directions = directions.tolist()
    rows = directions
    for row in rows:
        if sum(abs(v) * r for v, r in zip(row, grid.extent, strict=True)) >= LIMIT:
            rule = "must be coarse enough that every projection stays below 2**62"
            raise ParameterError("resolution", rule, f"{max(grid.cells)} steps between the bounds")
    return np.array(rows, dtype=np.int64)


def require_spanning(directions: IntArray) -> None:
    """Refuse directions that leave a line of points equally deep: a grid without bounds has no deepest part then."""
    d = directions.shape[1]
    rank = len(spanning_rows(directions.tolist(), d))
    if rank < d:
        rule = f"must have directions that span all {d} columns where there are no bounds"
        raise ParameterError("depth", rule, f"{len(directions)} directions that span {rank}")


def as_fractions(vectors: IntArray) -> list[list[Fraction]]:
    return [[Fraction(c) for c in row] for row in vectors.tolist()]
