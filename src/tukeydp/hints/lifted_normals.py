"""Float normals of light halfspaces, from the plane of a sweep back to the whole space: hints."""

from __future__ import annotations

import numpy as np

from tukeydp.trusted.parameters import FloatArray

# Sine of the angle below which a vector counts as on a hint's edge, up to rounding. Speed only.
_ON_THE_EDGE = 1e-9


def lifted(turn: FloatArray, vectors: FloatArray, i: int, before: FloatArray | None = None, j: int = 0) -> FloatArray:
    """The normal of a swept line, in the coordinates of the vectors it was swept over; turned to leave vector i out.

    Or in those of the vectors `before` they were projected along vector j of these.
    """
    from tukeydp.trusted.exact.loops import COS, SIN

    t, side = float(turn[0]), turn[1]
    a, b = 1.0 - t, t if t < 1 else 2.0 - t
    # The halfplane is to the left of the line (a, b); undo the rotation of the plane.
    x, y = -b, a
    x, y = COS * x + SIN * y, -SIN * x + COS * y
    normal = np.array([x, y]) if side == 0 else np.array([-x, -y])
    normal /= np.linalg.norm(normal)
    normal = normal if vectors.shape[1] == 2 else lifted_along(normal, vectors, i)
    return normal if before is None else lifted_along(normal, before, j)


def lifted_along(normal: FloatArray, vectors: FloatArray, i: int) -> FloatArray:
    """Extend a normal from the quotient by vector i to the whole space, turned away from it by half of what is free."""
    u = vectors[i]
    k = int(np.argmax(np.abs(u)))
    whole = np.insert(normal, k, -float(normal @ np.delete(u, k)) / u[k])
    at, slope = vectors @ whole, vectors @ u
    # at - t * slope changes its sign at t = at / slope.
    turns = at / slope
    turns = turns[(turns > 0) & (np.abs(at) > _ON_THE_EDGE * np.linalg.norm(vectors, axis=1) * np.linalg.norm(whole))]
    whole = whole - 0.5 * turns.min(initial=np.linalg.norm(whole) / np.linalg.norm(u)) * u
    return np.asarray(whole / np.linalg.norm(whole))
