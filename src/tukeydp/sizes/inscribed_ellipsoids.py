"""The largest ellipsoid inside a polytope, with an integer proof of how close to the largest it is.

Floats solve, integers certify (docs/proofs/rem.md, section 6). An ellipsoid {c + B u : |u| <= 1} lies inside
{y : a_i y <= b_i} iff a_i c + |B' a_i| <= b_i for all i. For any weights w_i >= 0 and any vectors |u_i| <= 1 the
largest one, B*, obeys

    |det B*|  <=  ( max over y of  sum_i w_i (b_i - a_i y) )^d  /  ( d^d |det sum_i w_i a_i u_i'| ).

The solver proposes c, B and w; u_i = B' a_i / |B' a_i| makes the bound tight.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import count

import numpy as np

from tukeydp.arrays import FloatArray
from tukeydp.exact.linear_programs import Region, in_units, maximum
from tukeydp.exact.matrices import Integers, determinant, integers, inverse

_BITS = 64  # of the certificates' weights and unit vectors
_FEW = 160  # rows that are held from the start
_CLOSE, _STEPS = 1e-12, 60
_VIOLATED = 1e-9  # hundreds of nearly equal rows may be violated by less, and one of them stands for all
_INSIDE = 1.0 - 2.0**-34
FLOATS_GAVE_OUT = (ArithmeticError, ValueError, AssertionError)  # numpy's LinAlgError is a ValueError


@dataclass(frozen=True, eq=False)
class Ellipsoid:
    """A certified value of |det B| for some inscribed ellipsoid; no other has more than (1 + gap) times as much."""

    determinant: Fraction
    gap: Fraction


@dataclass(frozen=True, eq=False)
class Shape:
    """A square matrix of integers over 2^bits.

    In floats the rows of a needle along no axis would be differences of large numbers that nearly cancel.
    """

    matrix: Integers
    bits: int

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


def largest_ellipsoid(
    region: Region, gap: Fraction, low: Integers, high: Integers, shape: Shape | None = None
) -> tuple[Ellipsoid, Shape] | None:
    """An inscribed ellipsoid within a factor 1 + gap of the largest, and its B; None if there is no inner point. Exact.

    `low` and `high` are the ends of some box that contains the region; `shape` is the B of a similar region, a hint.
    """
    inner = inner_point(region)
    if inner is None:
        return None
    centre, bits = inner
    shape = Shape.of(np.diag(region.scale)) if shape is None else shape
    for attempt in count(1):
        # Seen from the last attempt as the unit ball, every region is well conditioned: attempts only get better.
        try:
            with np.errstate(all="ignore"):
                proposal = _pulled_inside(region, centre, bits, _solved(region, centre, bits, shape, attempt))
        except FLOATS_GAVE_OUT:
            # An exception would tell something about the data.
            shape = Shape.of(np.diag(region.scale / 4.0**attempt))
            continue
        certified = _certified(region, proposal, low, high)
        if certified is not None and certified.gap <= gap:
            return certified, proposal.shape
        centre, bits = proposal.centre, proposal.bits
        shape = proposal.shape if certified is not None else shape
    raise AssertionError("counting never ends")


def _pulled_inside(region: Region, centre: Integers, bits: int, proposal: _Proposal) -> _Proposal:
    """The proposal with its centre moved halfway back to an inner point, as often as it takes to be one."""
    while _slack(region, proposal.centre, proposal.bits).min() <= 0:
        halfway = proposal.centre + centre * (1 << (proposal.bits - bits))
        proposal = replace(proposal, centre=halfway, bits=proposal.bits + 1)
    return proposal


def inner_point(region: Region) -> tuple[Integers, int] | None:
    """A point with room on every side as integers over 2^bits, and these bits; None if there is none. Exact."""
    d = region.d
    sizes = np.abs(region.normals).sum(axis=1)
    far = int(np.abs(region.offsets).max() + (np.abs(region.normals) @ np.abs(region.offsets[-d:])).max()) + 1
    box = integers(np.eye(d + 1, dtype=np.int64))
    raised = Region(
        np.concatenate([np.column_stack([region.normals, sizes]), box, -box]),
        np.concatenate([region.offsets, region.offsets[-2 * d : -d], [far], region.offsets[-d:], [far]]),
        np.append(region.centre, 0),
        np.append(region.scale, region.scale.max()),
    )
    best = maximum(raised, [0] * d + [1])
    if best is None or best.value <= 0:
        return None
    room = best.value
    bits = _BITS + max(0, room.denominator.bit_length() - room.numerator.bit_length())
    return integers([(int(v) << bits) // best.denominator for v in best.numerators[:-1]]), bits


@dataclass(frozen=True, eq=False)
class _Proposal:
    """A centre over 2^bits, a matrix B, and weights of the rows."""

    centre: Integers
    bits: int
    shape: Shape
    weights: FloatArray


def _slack(region: Region, centre: Integers, bits: int) -> Integers:
    """How far the centre is from each row, times 2^bits."""
    return region.offsets * (1 << bits) - region.normals @ centre


def _solved(region: Region, centre: Integers, bits: int, start: Shape, attempt: int = 1) -> _Proposal:
    """One float solution in coordinates z with y = centre + start z."""
    d = region.d
    slack = _slack(region, centre, bits)
    seen = _quotients(region.normals @ start.matrix, start.bits, slack, bits)
    # Once more, so that the rows are about equally long in every direction; never singular.
    ridge = np.abs(seen).max() * 1e-13 * np.eye(d)
    upper: FloatArray = np.asarray(np.linalg.qr(np.vstack([seen / math.sqrt(len(seen)), ridge]), mode="r"))
    rows: FloatArray = np.asarray(np.linalg.solve(upper.T, seen.T).T, dtype=np.float64)
    shift, inner, weights = _newton_with_few_rows(rows, attempt)
    # Steps of 2^-fine are below 2^-60 of the least slack, whatever the row.
    least = int(slack.min()).bit_length() - bits
    fine = max(bits, 60 - least + int(np.abs(region.normals).sum(axis=1).max()).bit_length())
    moved = start.times(np.asarray(np.linalg.solve(upper, shift)), fine)
    shape = Shape(start.times(np.asarray(np.linalg.solve(upper, np.linalg.cholesky(inner))), fine), fine)
    return _Proposal(centre * (1 << (fine - bits)) + moved, fine, shape, weights / _in_floats(slack, bits))


def _quotients(values: Integers, values_bits: int, divisors: Integers, bits: int) -> FloatArray:
    """Each row of integers over 2^values_bits by its divisor over 2^bits, correctly rounded."""
    return np.array(
        [
            [(int(v) << bits) / divisor for v in row]
            for row, divisor in zip(values, (int(b) << values_bits for b in divisors), strict=True)
        ]
    )


def _in_floats(values: Integers, bits: int) -> FloatArray:
    """Integers over 2^bits as floats, correctly rounded whatever their size."""
    return np.array([int(v) / (1 << bits) for v in values])


def _newton_with_few_rows(rows: FloatArray, attempt: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Largest ellipsoid of {z : rows z <= 1}, first with the longest rows only, then with those it violates too."""
    weights = np.zeros(len(rows))
    few = min(_FEW, 20 + 10 * rows.shape[1])
    longest = np.argsort(-np.linalg.norm(rows, axis=1), kind="stable")[: few * attempt]
    held = np.union1d(longest, _on_all_sides(rows))
    while True:
        shift, inner, found = _newton(rows[held], attempt)
        reach = rows @ shift + np.sqrt(np.maximum(np.einsum("ij,jk,ik->i", rows, inner, rows), 0.0))
        reach[held] = 0.0
        fresh = np.argsort(-reach, kind="stable")[: max(2 * rows.shape[1], len(held) // 4)]
        fresh = fresh[reach[fresh] > 1.0 + _VIOLATED]
        if not len(fresh):
            weights[held] = found
            return shift, inner, weights
        held = np.append(held, fresh)


def _on_all_sides(rows: FloatArray) -> list[int]:
    """Few rows that leave no direction open: the longest may all be in a plane."""
    rest, found = rows.copy(), []
    for _ in range(rows.shape[1]):
        lengths = np.linalg.norm(rest, axis=1)
        axis = rest[np.argmax(lengths)] / max(lengths.max(), 1e-300)
        along = rest @ axis
        found += [int(np.argmax(along)), int(np.argmin(along))]
        rest -= np.outer(along, axis)
    return found


@dataclass(frozen=True, eq=False)
class _Iterate:
    """Centre c, multipliers y, slacks z, and what follows from them."""

    c: FloatArray
    y: FloatArray
    z: FloatArray
    inner: FloatArray  # B B' = (A' Y A)^-1
    products: FloatArray  # A B B' A'
    h: FloatArray  # |B' a_i|


def _newton(rows: FloatArray, attempt: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Centre, B B' and weights of the largest ellipsoid of {z : rows z <= 1}, by a primal-dual Newton method.

    With B B' = (A' Y A)^-1 and h_i = |B' a_i|, optimality says A'(y h) = 0, A c + h + z = 1 and y z = 0, y, z >= 0
    (Zhang and Gao, SIAM J. Optim. 14, 2003). The weights are y h. Later attempts go more carefully.
    """
    m, d = rows.shape
    first = _iterate(rows, np.zeros(d), np.ones(m), np.ones(m))
    assert first is not None  # the rows span: there is a box among them
    here = _iterate(rows, np.zeros(d), np.full(m, (1.25 * first.h.max()) ** 2), np.ones(m))
    assert here is not None
    here = replace(here, z=np.maximum(1.0 - here.h, 0.1))
    caution = 1.0 - 0.9 / attempt
    for _ in range(_STEPS * attempt):
        mean = float(here.y @ here.z) / m
        r1 = -rows.T @ (here.y * here.h)
        r2 = 1.0 - rows @ here.c - here.h - here.z
        if max(mean, np.abs(r1).max() / d, np.abs(r2).max()) < _CLOSE:
            break
        moved = _step(rows, here, r1, r2, max(0.1, caution) * mean)
        if moved is None:
            break
        here = moved
    return here.c, here.inner, here.y * here.h


def _step(rows: FloatArray, here: _Iterate, r1: FloatArray, r2: FloatArray, target: float) -> _Iterate | None:
    """One Newton step towards y z = target; None where the floats give out."""
    d = rows.shape[1]
    y, z, h = here.y, here.z, here.h
    r3 = target - y * z
    # dh = -J dy, J_ij = (a_i' B B' a_j)^2 / (2 h_i)
    slope = here.products**2 / (2.0 * h[:, np.newaxis])
    try:
        solved = np.linalg.solve(slope + np.diag(z / y), np.column_stack([rows, r2 - r3 / y]))
        back = rows.T @ (np.diag(h) - y[:, np.newaxis] * slope)
        dc = np.linalg.solve(back @ solved[:, :d], r1 + back @ solved[:, d])
    except np.linalg.LinAlgError:
        return None
    dy = solved[:, :d] @ dc - solved[:, d]
    dz = (r3 - z * dy) / y
    length = min(1.0, 0.95 * _reach(y, dy), 0.95 * _reach(z, dz), 0.95 * _reach(1.0 - rows @ here.c, -(rows @ dc)))
    return _iterate(rows, here.c + length * dc, y + length * dy, z + length * dz)


def _iterate(rows: FloatArray, c: FloatArray, y: FloatArray, z: FloatArray) -> _Iterate | None:
    try:
        inner: FloatArray = np.asarray(np.linalg.inv(rows.T @ (y[:, np.newaxis] * rows)), dtype=np.float64)
        np.linalg.cholesky(inner)
    except np.linalg.LinAlgError:
        return None
    products = rows @ inner @ rows.T
    h = np.sqrt(np.diag(products))
    usable = np.isfinite(products).all() and np.isfinite(c).all() and h.min() > 0 and y.min() > 0 and z.min() > 0
    return _Iterate(c, y, z, inner, products, h) if usable else None


def _reach(value: FloatArray, change: FloatArray) -> float:
    """How many times the change keeps positive values positive."""
    shrinking = change < 0
    return float((value[shrinking] / -change[shrinking]).min()) if shrinking.any() else np.inf


def _certified(region: Region, proposal: _Proposal, low: Integers, high: Integers) -> Ellipsoid | None:
    """The proposal's ellipsoid, shrunk until it surely fits, and how far it is from the largest; in integers."""
    d, bits = region.d, proposal.bits
    slack = _slack(region, proposal.centre, bits)
    if slack.min() <= 0:
        return None
    fitted = _fitted(region, slack, bits, proposal.shape)
    if fitted is None:
        return None
    factor, fine, spread, lengths = fitted
    # u_i, with |u_i| <= 1 checked, over 2^_BITS. What a row adds is its weight times its slack: a small weight may
    # matter most, and needs as many digits.
    added = proposal.weights * _in_floats(slack, bits)
    used = np.flatnonzero(added > added.max() * 2.0**-60)
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
    farthest = np.where(residual > 0, proposal.centre - low * (1 << bits), proposal.centre - high * (1 << bits))
    bound = int(weights @ slack[used] + residual @ farthest)
    inscribed = abs(determinant(factor))
    if not outer or not inscribed:
        return None
    # The weights' own unit cancels: |det B*| <= (bound / 2^bits)^d / (d^d |outer| / 2^(_BITS d)); |det B| is
    # inscribed / 2^(fine d).
    largest = Fraction(bound**d << (_BITS * d), (d**d * abs(outer)) << (bits * d))
    value = Fraction(inscribed, 1 << (fine * d))
    return Ellipsoid(value, largest / value - 1)


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
    for _ in range(4):
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
