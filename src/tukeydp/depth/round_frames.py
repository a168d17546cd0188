"""Coordinates in which vectors are about round: their products with integer normals, and how far floats may be off."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tukeydp.depth.vectors import Vectors
from tukeydp.exact.hinted import asked, finite_rows
from tukeydp.hints.round_axes import evenly_spread, principal_axes
from tukeydp.trusted.matrices import Integers, determinant, integers
from tukeydp.trusted.parameters import FloatArray

_LONGEST = 2.0**20  # largest entry of a normal. Speed only
# Integers below this are floats: products and their sums are exact. With a larger one they might not be.
_EXACT = 2.0**53
_LONGEST_ENTRY = 2.0**50  # of a matrix that parts vectors of nearly one direction. Speed only


@dataclass(frozen=True, eq=False)
class RoundFrame:
    """Independent normals, and for each vector its products with them, over the largest, and a bound of their errors.

    Vectors that lie close to a plane do not in these coordinates, if the plane's normal is among them. Invertible:
    every normal is a combination of `normals`.
    """

    normals: FloatArray
    products: FloatArray
    errors: FloatArray


def round_frame(vectors: Vectors) -> RoundFrame:
    """Normals along the axes of the vectors, stretched by powers of two until no axis is thin."""
    shadow = vectors.shadow
    d = shadow.shape[1]
    with np.errstate(all="ignore"):
        sizes = np.abs(shadow).max(axis=1)
        largest = min(_LONGEST, np.floor((_EXACT - 1) / (d * sizes.max()))) if vectors.whole else _LONGEST
        normals = _axes(shadow / sizes[:, np.newaxis], largest)
        products = shadow @ normals.T
        spread = np.sqrt(np.mean((products / sizes[:, np.newaxis]) ** 2, axis=0))
        stretch = np.exp2(-np.rint(np.log2(np.where(spread > 0, spread, 1.0))))
        products *= stretch
        longest = np.abs(products).max(axis=1)
        # Off by 2^-51 in the vector, d roundings of products, d - 1 of sums; not at all where all are whole numbers.
        exact = vectors.whole and d * np.abs(normals).max() * sizes.max() < _EXACT
        rounding = 0.0 if exact else 2.0**-53 * (d + 5) * (np.abs(normals).sum(axis=1) * stretch).max()
        errors = rounding * sizes / longest + 2.0**-53
        scaled = products / longest[:, np.newaxis]
    usable = np.isfinite(errors) & np.isfinite(scaled).all(axis=1)
    # What has no reliable product may have any.
    scaled, errors = np.where(usable[:, np.newaxis], scaled, 0.0), np.where(usable, errors, 1.0)
    return RoundFrame(normals * stretch[:, np.newaxis], scaled, errors)


def _axes(directions: FloatArray, largest: float) -> FloatArray:
    """The principal axes in integers with entries up to `largest` if those are independent, else the unit vectors."""
    d = directions.shape[1]
    if not largest >= 1:
        return np.eye(d)
    axes = finite_rows(asked(principal_axes, directions), d)
    whole = _independent(axes, np.abs(axes).max(axis=1, keepdims=True), largest)
    return np.eye(d) if whole is None else whole


def _independent(rows: FloatArray, sizes: FloatArray, largest: float) -> FloatArray | None:
    """The rows over their sizes, rounded to whole numbers up to `largest`; None unless they are d independent ones."""
    if rows.shape[0] != rows.shape[1]:
        return None
    with np.errstate(all="ignore"):
        whole = np.rint(rows / sizes * largest)
    # Integers say so: cones between dependent normals would not cover all others.
    if not np.isfinite(whole).all() or not determinant(integers(whole.astype(np.int64))):
        return None
    return np.asarray(whole)


def spread_evenly(vectors: Vectors) -> tuple[Vectors, FloatArray] | None:
    """The vectors times an integer matrix that parts those of nearly one direction, and that matrix; None without one.

    Halfspaces weigh the same in all coordinates. A normal v there is the normal v @ matrix here.
    """
    d = vectors.shadow.shape[1]
    matrix = finite_rows(asked(evenly_spread, vectors.shadow), d)
    whole = _independent(matrix, np.abs(matrix).max(initial=0.0), _LONGEST_ENTRY)
    if whole is None:
        return None
    exact: Integers = (
        integers([list(vectors.exactly(j)) for j in range(len(vectors.weights))]).reshape(-1, d)
        @ integers(whole.astype(np.int64)).T
    )
    shadow = np.array([[c / max(map(abs, v)) for c in v] for v in exact.tolist()], dtype=np.float64)
    return Vectors(shadow, vectors.weights, lambda j: exact[j].tolist()), whole
