"""What an inscribed ellipsoid proves about the largest one, in integers (docs/proofs/rem.md, section 6).

An ellipsoid {c + B u : |u| <= 1} lies inside {y : a_i y <= b_i} iff a_i c + |B' a_i| <= b_i for all i. For any weights
w_i >= 0 and any vectors |u_i| <= 1 the largest one, B*, obeys

    |det B*|  <=  ( max over y of  sum_i w_i (b_i - a_i y) )^d  /  ( d^d |det sum_i w_i a_i u_i'| ).

u_i = B' a_i / |B' a_i| makes the bound tight.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from tukeydp.exact.linear_programs import Region, in_units
from tukeydp.trusted.matrices import Integers, determinant, integers, inverse
from tukeydp.trusted.parameters import FloatArray, IntArray

# Fewer bits, or shrinking by more, make the certified gap larger: then the solver is asked again, without end if the
# gap cannot be met. The bound holds whatever they are.
_BITS = 64  # of weights and unit vectors
_NEGLIGIBLE = 2.0**-60  # rows that add less than this part of what the largest adds are left out
_INSIDE = 1.0 - 2.0**-34  # by what a proposal that sticks out is shrunk beyond its excess
_SHRINKINGS = 4  # each is off by the rounding of floats only; one is enough as a rule

# Both ends of a box that holds the region. Called only if they matter: for balanced weights they do not.
Ends = Callable[[], tuple[Integers, Integers]]


@dataclass(frozen=True, eq=False)
class Shape:
    """A square matrix of integers over 2^bits.

    In floats the rows of a needle along no axis would be differences of large numbers that nearly cancel. `touching`
    are the numbers of the rows that pull at the ellipsoid, if known; `spread` is the product of normals and matrix.
    """

    matrix: Integers
    bits: int
    touching: IntArray | None = None
    spread: Integers | None = None

    @staticmethod
    def of(values: FloatArray) -> Shape:
        """The floats, exactly but for what is below 2^-64 of a step."""
        return Shape(integers([[in_units(v, _BITS) for v in row] for row in values.tolist()]), _BITS)

    def times(self, values: FloatArray, bits: int) -> Integers:
        """The product with a matrix or vector of floats, over 2^bits, rounded down."""
        digits = _BITS + max(0, -int(np.frexp(np.abs(values).max())[1]))
        scaled = integers([in_units(v, digits) for v in values.ravel().tolist()]).reshape(values.shape)
        product, excess = self.matrix @ scaled, self.bits + digits - bits
        return product >> excess if excess >= 0 else product << -excess


@dataclass(frozen=True, eq=False)
class Proposal:
    """A centre over 2^bits, a matrix B, and weights of the rows."""

    centre: Integers
    bits: int
    shape: Shape
    weights: FloatArray


@dataclass(frozen=True, eq=False)
class Ellipsoid:
    """A certified value of |det B| for some inscribed ellipsoid; no other has more than (1 + gap) times as much."""

    determinant: Fraction
    gap: Fraction
    proven: Proposal


def slack_of(region: Region, centre: Integers, bits: int) -> Integers:
    """How far the centre is from each row, times 2^bits."""
    return region.offsets * (1 << bits) - region.normals @ centre


def certified(region: Region, proposal: Proposal, ends: Ends) -> Ellipsoid | None:
    """The proposal's ellipsoid, shrunk until it surely fits, and how far it is from the largest; in integers."""
    d, bits, centre = region.d, proposal.bits, proposal.centre
    slack = slack_of(region, centre, bits)
    if slack.min() <= 0:
        return None
    fitted = _fitted(region, slack, bits, proposal.shape)
    if fitted is None:
        return None
    factor, fine, spread, lengths = fitted
    # u_i, with |u_i| <= 1 checked, over 2^_BITS. What a row adds is its weight times its slack: a small weight may
    # matter most, and needs as many digits.
    added = proposal.weights * in_floats(slack, bits)
    used = np.flatnonzero(added > added.max() * _NEGLIGIBLE)
    if not len(used):
        return None
    scaled = proposal.weights[used] / proposal.weights[used].max()
    fraction = _BITS + max(0, -int(np.frexp(scaled.min())[1]))
    weights = integers([in_units(w, fraction) for w in scaled.tolist()])
    units = spread[used] * ((1 << _BITS) - 1) // (lengths[used] + 1)[:, np.newaxis]
    units = np.where(units < 0, units + 1, units)
    if (np.einsum("ij,ij->i", units, units) > 1 << 2 * _BITS).any():
        return None
    normals = region.normals[used]
    weights = _balanced(weights, normals, units.astype(np.float64) * added[used, np.newaxis])
    outer = determinant((normals * weights[:, np.newaxis]).T @ units)
    residual = weights @ normals
    bound = int(weights @ slack[used])
    if residual.any():
        low, high = ends()
        bound += int(np.where(residual > 0, centre - low * (1 << bits), centre - high * (1 << bits)) @ residual)
    inscribed = abs(determinant(factor))
    if not outer or not inscribed:
        return None
    # The weights' own unit cancels: |det B*| <= (bound / 2^bits)^d / (d^d |outer| / 2^(_BITS d)); |det B| is
    # inscribed / 2^(fine d).
    largest = Fraction(bound**d << (_BITS * d), (d**d * abs(outer)) << (bits * d))
    value = Fraction(inscribed, 1 << (fine * d))
    fitting = Shape(factor, fine, proposal.shape.touching, spread)
    return Ellipsoid(value, largest / value - 1, replace(proposal, shape=fitting))


def _balanced(weights: Integers, normals: Integers, sizes: FloatArray) -> Integers:
    """The weights, in another unit and changed a little at d rows so that the weighted normals add up to zero.

    Unchanged if that would take a weight below zero. `sizes` says which rows to change: large and independent ones.
    """
    d = normals.shape[1]
    chosen: list[int] = []
    rest = sizes.copy()
    for _ in range(d):
        lengths = np.linalg.norm(rest, axis=1)
        chosen.append(int(np.argmax(lengths)))
        axis = rest[chosen[-1]] / max(lengths.max(), 1e-300)
        rest -= np.outer(rest @ axis, axis)
    inverted = inverse(normals[chosen].T)
    if inverted is None:
        return weights
    adjugate, positive = inverted
    changed = weights * positive
    changed[chosen] -= adjugate @ (weights @ normals)
    return changed if changed.min() >= 0 else weights


def _fitted(
    region: Region, slack: Integers, bits: int, shape: Shape
) -> tuple[Integers, int, Integers, Integers] | None:
    """B as integers over 2^fine such that |B' a_i| <= slack_i for all i; also B' a_i and its length, rounded down."""
    fine = max(bits, shape.bits)
    whole = shape.matrix * (1 << (fine - shape.bits))
    room = slack * (1 << (fine - bits))
    scale = 1.0
    for _ in range(_SHRINKINGS):
        factor = whole * in_units(scale, _BITS) >> _BITS
        spread = region.normals @ factor
        squares = np.einsum("ij,ij->i", spread, spread)
        if (squares <= room * room).all():
            return factor, fine, spread, _roots(squares)
        ratio = max(int(s) / int(r * r) for s, r in zip(squares, room, strict=True))
        scale *= _INSIDE / math.sqrt(ratio)
    return None


def _roots(squares: Integers) -> Integers:
    return integers([math.isqrt(int(s)) for s in squares])


def in_floats(values: Integers, bits: int) -> FloatArray:
    """Integers over 2^bits as floats, correctly rounded whatever their size."""
    try:
        return np.asarray(np.ldexp(values.astype(np.float64), -bits))
    except OverflowError:
        return np.array([int(v) / (1 << bits) for v in values.ravel()]).reshape(values.shape)
