"""Coordinates in which vectors are about round, or spread over all directions, in floats.

Depth is the same in all coordinates. Whoever asks rounds to integers, and sees to it that they are independent.
"""

from __future__ import annotations

import numpy as np

from tukeydp.trusted.parameters import FloatArray

# Steps towards a frame in which directions are spread evenly, and how flat it takes them for at most. Speed only.
_STEPS, _FLATTEST = 40, 2.0**-40


def principal_axes(directions: FloatArray) -> FloatArray:
    """The principal axes of vectors (m, d), one in each row."""
    return np.asarray(np.linalg.eigh(directions.T @ directions)[1].T)


def evenly_spread(vectors: FloatArray) -> FloatArray:
    """A matrix after which directions are about isotropic: a few steps to Tyler's scatter matrix (1987)."""
    directions = vectors / np.abs(vectors).max(axis=1, keepdims=True)
    m, d = directions.shape
    scatter = np.eye(d)
    for _ in range(_STEPS):
        values, axes = np.linalg.eigh(scatter)
        matrix = (axes / np.sqrt(np.maximum(values, values[-1] * _FLATTEST))).T
        moved = directions @ matrix.T
        weights = d / (m * np.einsum("ij,ij->i", moved, moved))
        scatter = (directions * weights[:, np.newaxis]).T @ directions
    return np.asarray(matrix)
