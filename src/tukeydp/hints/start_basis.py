"""Where to start the exact simplex method: the dual simplex method in floats."""

from __future__ import annotations

import numpy as np

from tukeydp.trusted.parameters import FloatArray

# Speed only, all of them.
_FLOAT_STEPS = 5000  # pivots in floats, at most; forty columns may take two thousand
_FRESH = 30  # pivots after which the inverse of the basis is computed anew, not updated: rounding adds up
_VIOLATED = 1e-9  # what counts as a violation, or a weight, in floats; rows have length one
_TILT = 1e-6  # of the objective in floats, whose largest entry is one


def likely_basis(normals: FloatArray, offsets: FloatArray, costs: FloatArray, start: tuple[int, ...]) -> list[int]:
    """The dual simplex method in floats: where it ends is a good guess of the optimal basis.

    The objective is tilted a little. One that is parallel to a row leaves all other multipliers zero, and the method
    without a sense of direction.
    """
    basis = list(start)
    with np.errstate(all="ignore"):
        costs = costs / np.abs(costs).max()
        costs += _TILT * np.cos(np.arange(1.0, len(costs) + 1.0))
        inverted: FloatArray = np.empty((0, 0))
        for step in range(_FLOAT_STEPS):
            if step % _FRESH == 0:
                try:
                    inverted = np.asarray(np.linalg.inv(normals[basis]), dtype=np.float64)
                except np.linalg.LinAlgError:
                    break
            excess = normals @ (inverted @ offsets[basis])
            excess -= offsets
            row = int(excess.argmax())
            if not excess[row] > _VIOLATED:
                break
            weights = normals[row] @ inverted
            ratios = np.where(weights > _VIOLATED, np.maximum(costs @ inverted, 0.0) / weights, np.inf)
            out = int(ratios.argmin())
            if not ratios[out] < np.inf:
                break
            basis[out] = row
            column = inverted[:, out] / weights[out]
            inverted -= column[:, np.newaxis] * weights
            inverted[:, out] = column
    return basis
