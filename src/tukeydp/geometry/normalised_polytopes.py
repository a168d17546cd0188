"""Any bounded polytope {y : A y <= b} in coordinates of its own size, and its volume up to rounding."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from tukeydp.arrays import FloatArray
from tukeydp.errors import ParameterError
from tukeydp.exact.float_programs import add_rows, quiet_solver
from tukeydp.geometry.chebyshev_balls import FLAT, chebyshev_ball
from tukeydp.geometry.polytopes import polytope

# Half the side of the box that is added around a polytope whose bounding box is [-1, 1]^d. The excess is more than the
# solver's rounding, so that the box cuts nothing off; a larger one only guards less against rows opened by rounding.
_UNIT_BOX = 1.0 + 1e-9


@dataclass(frozen=True, eq=False)
class NormalisedPolytope:
    """A polytope with inner points, scaled so that its bounding box is [-1, 1]^d; unit normals."""

    normals: FloatArray
    offsets: FloatArray
    inside: FloatArray
    log_unit: float

    def in_units(self, log_volume: float) -> float:
        """A volume in the caller's units, infinite where no float holds it."""
        total = log_volume + self.log_unit
        return math.exp(total) if total < math.log(np.finfo(np.float64).max) else math.inf


def normalised(A: Any, b: Any) -> NormalisedPolytope | None:
    """The polytope {y : A y <= b} in coordinates of its own size; None if it is empty or flat to floats."""
    unit_normals, distances = _unit_rows(A, b)
    unit = _unit_of_length(distances)
    scaled = _in_unit_box(unit_normals, distances / unit)
    if scaled is None:
        return None
    normals, offsets, log_unit = scaled
    ball = chebyshev_ball(normals, offsets)
    if not ball.radius > FLAT:
        return None
    return NormalisedPolytope(normals, offsets, ball.centre, log_unit + normals.shape[1] * math.log(unit))


def exact_log_volume(body: NormalisedPolytope) -> float:
    """From the vertices: correct up to rounding."""
    shape = polytope(body.normals, body.offsets, body.inside)
    if shape is None:
        raise ParameterError("A, b", "must describe a polytope that floats can resolve", "one that they cannot")
    return math.log(shape.volume)


def require_bounded(normals: FloatArray, offsets: FloatArray) -> None:
    """Refuse a polytope that is unbounded, unless it is empty or flat. Two linear programs for each column."""
    unit_normals, distances = _unit_rows(normals, offsets)
    _in_unit_box(unit_normals, distances / _unit_of_length(distances))


def _unit_rows(a: Any, b: Any) -> tuple[FloatArray, FloatArray]:
    """The halfspaces with normals of length one, without those that hold everywhere."""
    try:
        normals, offsets = np.array(a, dtype=np.float64), np.array(b, dtype=np.float64)
    except (TypeError, ValueError):
        raise ParameterError("A, b", "must be arrays of numbers", type(a).__name__) from None
    if normals.ndim != 2 or offsets.shape != normals.shape[:1] or not normals.size:
        rule = "must have shapes (m, d) and (m,), m and d at least 1"
        raise ParameterError("A, b", rule, f"{normals.shape} and {offsets.shape}")
    if not (np.isfinite(normals).all() and np.isfinite(offsets).all()):
        raise ParameterError("A, b", "must be finite", "an infinite or missing entry")
    sizes = np.abs(normals).max(axis=1)
    if (offsets[sizes == 0.0] < 0.0).any():
        return np.zeros((1, normals.shape[1])), -np.ones(1)
    normals, offsets, sizes = normals[sizes > 0.0], offsets[sizes > 0.0], sizes[sizes > 0.0]
    normals, offsets = normals / sizes[:, np.newaxis], offsets / sizes
    lengths = np.linalg.norm(normals, axis=1)
    return normals / lengths[:, np.newaxis], offsets / lengths


def _unit_of_length(offsets: FloatArray) -> float:
    """A power of two by which to divide offsets that are all small or all large.

    To a solver numbers below 1e-9 are nothing, and from 1e20 on infinite. Offsets to both sides of 1 stay as they are:
    the large ones may be of rows that do not matter.
    """
    sizes = np.abs(offsets[offsets != 0.0])
    if not len(sizes):
        return 1.0
    return 2.0 ** math.floor(math.log2(float(np.clip(1.0, sizes.min(), sizes.max()))))


def _in_unit_box(normals: FloatArray, offsets: FloatArray) -> tuple[FloatArray, FloatArray, float] | None:
    """The polytope in coordinates in which its bounding box is [-1, 1]^d, and log of the unit; None without volume.

    Two linear programs for each column.
    """
    import highspy

    m, d = normals.shape
    unbounded = np.full(d, np.inf)
    solver = quiet_solver(-unbounded, unbounded)
    if m:
        add_rows(solver, normals, np.full(m, -np.inf), offsets)
    solver.run()
    if solver.getModelStatus() == highspy.HighsModelStatus.kInfeasible:
        return None
    ends = np.empty((2, d))
    for column in range(d):
        for side, sign in enumerate((1.0, -1.0)):
            solver.changeColCost(column, sign)
            solver.run()
            if solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
                _require_flat(normals, offsets)
                return None
            ends[side, column] = sign * solver.getInfo().objective_function_value
        solver.changeColCost(column, 0.0)
    half = 0.5 * (ends[1] - ends[0])
    if not (half > FLAT * np.abs(ends).max()).all():
        return None
    seen = normals * half
    lengths = np.linalg.norm(seen, axis=1)
    inward = (offsets - normals @ (0.5 * (ends[0] + ends[1]))) / lengths
    box = np.vstack([np.eye(d), -np.eye(d)])
    # The box's own rows change nothing, and keep rounding in nearly parallel rows from opening the polytope.
    return (
        np.vstack([seen / lengths[:, np.newaxis], box]),
        np.append(inward, np.full(2 * d, _UNIT_BOX)),
        float(np.log(half).sum()),
    )


def _require_flat(normals: FloatArray, offsets: FloatArray) -> None:
    """An unbounded polytope has no volume if it is flat; otherwise it is refused."""
    if not len(normals) or chebyshev_ball(normals, offsets).radius > FLAT:
        raise ParameterError("A, b", "must describe a bounded polytope", "one that is unbounded in some direction")
