"""Affine maps that make a polytope round, so that hit-and-run gets about in it quickly.

First the ellipsoid of the logarithmic barrier at the analytic centre, which fits within a factor of the number of rows;
then the covariance of a walk, again and again until it is nearly the identity.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tukeydp.arrays import FloatArray
from tukeydp.errors import ParameterError
from tukeydp.mcmc.walks import walk_on

# Effort. A polytope that is not round makes walks forget their start more slowly; nothing breaks at once.
_NEWTON_STEPS = 60  # towards the analytic centre, at most
_CENTRAL = 1e-3  # Newton decrement at which to stop: any point near the analytic centre will do
_ROUNDS = 12  # of walks, at most
_ROUND_ENOUGH = 3.0  # ratio of the largest to the smallest variance at which to stop
_SWEEPS = 40  # points of a walk, per dimension and round: fewer make the covariance noisy
# Eigenvalues are raised to this part of the largest: what rounding leaves of zero. Smaller: the inverse root is noise.
_THIN = 1e-15


@dataclass(frozen=True, eq=False)
class Rounded:
    """{y : A y <= b} seen through y = centre + shape z: the set {z : normals z <= offsets}, with the origin inside."""

    normals: FloatArray
    offsets: FloatArray
    centre: FloatArray
    shape: FloatArray

    @property
    def log_scale(self) -> float:
        """Logarithm of how many units of volume one unit in z is."""
        return float(np.linalg.slogdet(self.shape)[1])

    def through(self, normals: FloatArray, offsets: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Other halfspaces over y, or other offsets (one row of them for each polytope), seen in z."""
        return normals @ self.shape, offsets - normals @ self.centre

    def outwards(self, z: FloatArray) -> FloatArray:
        return self.centre + z @ self.shape.T


def make_round(normals: FloatArray, offsets: FloatArray, inside: FloatArray, rng: np.random.Generator) -> Rounded:
    """Round a bounded polytope around a point strictly inside it."""
    d = normals.shape[1]
    centre = analytic_centre(normals, offsets, inside)
    slack = offsets - normals @ centre
    scaled = normals / slack[:, np.newaxis]
    shape = _power(scaled.T @ scaled, -0.5)  # the barrier's ellipsoid becomes the unit ball
    z = np.zeros(d)
    for _ in range(_ROUNDS):
        seen = Rounded(normals @ shape, offsets - normals @ centre, centre, shape)
        samples = walk_on(seen.normals, seen.offsets, z, rng, samples=_SWEEPS * d, thin=d)[d:]
        if not np.isfinite(samples).all():
            raise ParameterError("normals, offsets", "must describe a bounded polytope", "one without end")
        covariance = np.atleast_2d(np.cov(samples.T))
        # The mean of points inside is inside.
        centre = centre + shape @ samples.mean(axis=0)
        shape = shape @ _power(covariance, 0.5)
        variances = np.linalg.eigvalsh(covariance)
        z = np.zeros(d)
        if variances[-1] < _ROUND_ENOUGH * variances[0]:
            break
    return Rounded(normals @ shape, offsets - normals @ centre, centre, shape)


def analytic_centre(normals: FloatArray, offsets: FloatArray, inside: FloatArray) -> FloatArray:
    """Newton's method for the largest product of slacks; any point near it will do."""
    y = np.array(inside, dtype=np.float64)
    for _ in range(_NEWTON_STEPS):
        slack = offsets - normals @ y
        scaled = normals / slack[:, np.newaxis]
        # The gradient is scaled^T 1 and the Hessian scaled^T scaled: Newton's step solves a least-squares problem.
        step = -np.linalg.lstsq(scaled, np.ones(len(scaled)), rcond=None)[0]
        decrement = float(np.linalg.norm(scaled @ step))
        # The damped step stays within the barrier's ellipsoid, hence inside.
        y = y + step / (1.0 + decrement)
        if decrement < _CENTRAL:
            break
    return y


def _power(matrix: FloatArray, exponent: float) -> FloatArray:
    """A power of a symmetric positive matrix; eigenvalues that rounding left negative are raised."""
    values, vectors = np.linalg.eigh(matrix)
    lifted = np.maximum(values, max(values[-1] * _THIN, 1e-300))
    return (vectors * lifted**exponent) @ vectors.T
