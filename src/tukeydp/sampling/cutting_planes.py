"""Exact depth by cutting planes: the sampler of finite directions, sharpened wherever a proposal exposes it.

Finitely many directions give an envelope T_env >= T of the exact depth T, hence level sets and boxes that contain the
exact ones. A proposal that the envelope accepts at level l is put to the exact test T(y) >= l. If it fails, halfspaces
through y with fewer than l rows join the envelope, and proposals go on: each is a rejection step of its own, so an
accepted point has exactly the target law whatever the envelope (docs/proofs/boxem.md, section 4).
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from tukeydp.arrays import FloatArray, IntArray
from tukeydp.data.grid import LIMIT, Grid
from tukeydp.depth.exact_depth import Vectors, exact_row, least_weight
from tukeydp.depth.levels import level_sets
from tukeydp.depth.notions import LONGEST, starting_directions, unit_vectors
from tukeydp.errors import ParameterError
from tukeydp.exact.boxes import Box
from tukeydp.randomness import Keystream, derived_key
from tukeydp.sampling.sampler import Sampler


def require_exact_differences(grid: Grid) -> None:
    """Differences of two grid points must be whole numbers that a float holds; checked from public numbers."""
    if max(grid.cells) >= 2**52:
        rule = "must give fewer than 2**52 steps between the bounds for exact depth"
        raise ParameterError("resolution", rule, f"{max(grid.cells)} steps")


class CuttingPlanes:
    """Exact draws from the exponential mechanism over exact Tukey depth, restricted to depth >= lowest."""

    def __init__(
        self, rows: IntArray, *, within: Box, epsilon: Fraction, lowest: int = 0, threads: int | None = None
    ) -> None:
        self._rows, self._within, self._epsilon, self._lowest = rows, within, epsilon, lowest
        self._threads = threads
        self._distinct, self._weights = merged(rows)
        self._levels = level_sets(rows, first_envelope(rows, within))
        self._sampler = self._sharpened()

    def draw(self, key: bytes) -> list[int]:
        stream = Keystream(key)
        lane = 0
        while True:
            found = self._sampler.next_accepted(stream, lane)
            lane = found.lane + 1
            refuting = self._refuting(found.point, found.level)
            if refuting is None:
                return found.point
            if len(refuting):
                self._levels = self._levels.with_directions(refuting)
                self._sampler = self._sharpened()

    def _sharpened(self) -> Sampler:
        return Sampler(
            self._levels,
            within=self._within,
            epsilon=self._epsilon,
            lowest=self._lowest,
            threads=self._threads,
        )

    def _refuting(self, y: list[int], level: int) -> IntArray | None:
        """None if the exact depth of y is at least `level`; otherwise directions that show the envelope it is not."""
        offsets = self._distinct - np.array(y, dtype=np.int64)
        nonzero = (offsets != 0).any(axis=1)
        here = int(self._weights[~nonzero].sum())
        if level <= here:
            return None
        away, weights = offsets[nonzero], self._weights[nonzero]
        # Differences of grid coordinates are below 2^53 here: the floats are exact.
        vectors = Vectors(away.astype(np.float64), weights, lambda j: away[j].tolist())
        answer = least_weight(vectors, level - here, self._threads)
        if here + answer.least >= level:
            return None
        found = self._rounded_refutations(answer.directions, away, weights, level - here)
        if not len(found):
            # No hint survived being rounded: the very halfspace, with all the digits that fit.
            _, normal = exact_row(vectors, answer.place)
            largest = max(map(abs, normal))
            exact = np.array([[c / largest for c in normal]])
            found = self._rounded_refutations(exact, away, weights, level - here, most_digits=True)
        return found

    def _rounded_refutations(
        self, normals: FloatArray, away: IntArray, weights: IntArray, level: int, most_digits: bool = False
    ) -> IntArray:
        """The normals as integers, those that still have less than `level` in their closed halfspace."""
        rounded = np.unique(rounded_normals(normals, self._within, None if most_digits else LONGEST), axis=0)
        # Products of a direction and a difference of two grid points: below 2^63 by the public check.
        inside = (rounded @ away.T >= 0) @ weights
        return rounded[inside < level]


def merged(rows: IntArray) -> tuple[IntArray, IntArray]:
    distinct, weights = np.unique(rows, axis=0, return_counts=True)
    return distinct, weights.astype(np.int64)


def first_envelope(rows: IntArray, within: Box) -> IntArray:
    """The axes, and directions that are round with respect to the data, so that stretched data costs no more."""
    d = rows.shape[1]
    axes = np.eye(d, dtype=np.int64)
    units = unit_vectors(starting_directions(d), d, derived_key("envelope", d))
    round_units = units @ _whitening(rows).T
    # Some plain ones too, in case the covariance is ruled by outliers.
    plain = len(units) // 5
    rounded = rounded_normals(np.vstack([round_units[plain:], units[:plain]]), within)
    return np.unique(np.vstack([axes, rounded]), axis=0)


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
        shrink = 1.0 / np.sqrt(np.maximum(values, values.max() * 1e-12))
    return frame * shrink if np.isfinite(shrink).all() else np.eye(d)


def rounded_normals(normals: FloatArray, within: Box, longest: int | None = LONGEST) -> IntArray:
    """Integer vectors along the normals, as long as the overflow check allows and at most `longest`."""
    d = normals.shape[1]
    reach = max(max(abs(a), abs(b)) for a, b in zip(within.low, within.high, strict=True))
    room = (LIMIT - 1) // max(1, reach * d) - 1
    scale = float(min(room, longest or 2**50))
    lengths = np.abs(normals).max(axis=1, keepdims=True)
    usable = np.isfinite(lengths[:, 0]) & (lengths[:, 0] > 0)
    return np.rint(normals[usable] / lengths[usable] * scale).astype(np.int64)
