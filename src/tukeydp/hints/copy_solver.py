"""The largest copy of a polytope inside {z : rows z <= 1} in floats, by a barrier method.

Proposes only: `trusted/sizes/copies.py` says in integers what a proposal is worth. All constants cost speed
only.
"""

from __future__ import annotations

import math

import numpy as np

from tukeydp.trusted.parameters import FloatArray

_GAP = 2.0**-10  # a wanted gap above this is rough: the pressure need not fall to its finest
_FINEST, _FALL = 1e-8, 0.05  # the barrier's last pressure at most, and by what it falls from one to the next
_STEPS = 60  # Newton steps for each pressure
# Newton decrement, in pressures, at which steps end: on the way, and for the last pressure.
_ROUGH, _CENTRED = 0.1, 1e-9


def largest_in_floats(rows: FloatArray, corners: FloatArray, gap: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Shift, B and weights of the largest copy inside {z : rows z <= 1}."""
    d = rows.shape[1]
    below = [(j, k) for j in range(d) for k in range(j + 1)]
    # One row of `terms` for each pair: its coefficients of the shift and of the entries of B.
    entries = np.stack([np.outer(rows[:, j], corners[:, k]).ravel() for j, k in below], axis=1)
    terms = np.hstack([np.repeat(rows, len(corners), axis=0), entries])
    diagonal = [d + i for i, (j, k) in enumerate(below) if j == k]
    here = np.zeros(terms.shape[1])
    here[diagonal] = 0.5 / max(1e-300, np.abs(entries).sum(axis=1).max())
    pressure = 1.0
    # The duality gap is the last pressure times the number of pairs.
    last = gap / (4 * len(terms)) if gap > _GAP else min(_FINEST, gap / (4 * len(terms)))
    while pressure > last:
        pressure *= _FALL
        # Only the last centre matters; those on the way there may be rough.
        here = _centred(terms, here, diagonal, pressure, _ROUGH if pressure > last else _CENTRED)
    factor = np.zeros((d, d))
    for value, (j, k) in zip(here[d:], below, strict=True):
        factor[j, k] = value
    weights = pressure / np.maximum(1.0 - terms @ here, 1e-300)
    others = np.delete(np.arange(terms.shape[1]), diagonal)
    weights = _balanced(weights, terms[:, others]).reshape(len(rows), len(corners))
    return here[:d], factor, weights


def _balanced(weights: FloatArray, terms: FloatArray) -> FloatArray:
    """The weights, changed a little in proportion to themselves so that the weighted terms add up to zero.

    At the optimum they do, and what they add up to otherwise weakens the bound. Slacks near zero are differences of
    numbers near one: the weights that follow from them are off by far more than rounding.
    """
    pull = weights[:, np.newaxis] * terms
    try:
        change = pull @ np.linalg.solve(pull.T @ pull, weights @ terms)
    except np.linalg.LinAlgError:
        return weights
    return np.asarray(weights * np.maximum(1.0 - change, 0.0))


def _centred(terms: FloatArray, here: FloatArray, diagonal: list[int], pressure: float, close: float) -> FloatArray:
    """Newton steps with a line search for: maximise sum of log B_jj + pressure * sum of log(1 - terms x)."""

    def value(at: FloatArray) -> float:
        slack = 1.0 - terms @ at
        if slack.min() <= 0 or at[diagonal].min() <= 0:
            return -math.inf
        return float(np.log(at[diagonal]).sum() + pressure * np.log(slack).sum())

    best = value(here)
    for _ in range(_STEPS):
        slack = 1.0 - terms @ here
        gradient = -pressure * (terms.T @ (1.0 / slack))
        gradient[diagonal] += 1.0 / here[diagonal]
        hessian = pressure * (terms.T @ (terms / slack[:, np.newaxis] ** 2))
        hessian[diagonal, diagonal] += 1.0 / here[diagonal] ** 2
        try:
            step = np.linalg.solve(hessian, gradient)
        except np.linalg.LinAlgError:
            return here
        decrement = float(gradient @ step)
        if not decrement > close * pressure:
            return here
        length, moved = 1.0, -math.inf
        while length > 1e-12 and not moved > best + 1e-4 * length * decrement:
            moved = value(here + length * step)
            length /= 2
        if not moved > best:
            return here
        here, best = here + 2 * length * step, moved
    return here
