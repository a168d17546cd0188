"""Sizes in any number of columns, by tight boxes and John ellipsoids (docs/proofs/rem.md, sections 5 and 6)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from itertools import count
from typing import Any

import numpy as np

from tukeydp.trusted.boxes import Box
from tukeydp.trusted.hinted import asked, finite_rows
from tukeydp.trusted.laws import rounded_down
from tukeydp.trusted.levels import LevelSets
from tukeydp.trusted.matrices import Integers, determinant, integers, inverse
from tukeydp.trusted.parameters import FloatArray, IntArray
from tukeydp.trusted.sizes.boxed import SLACK, Boxed
from tukeydp.trusted.sizes.grid_points import units
from tukeydp.trusted.sizes.inner_points import FLOATS_GAVE_OUT, inner_point
from tukeydp.trusted.sizes.linear_programs import Region, in_units, maximum

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


# The John ellipsoid of a region, the largest one inside it, with an integer proof of how close to the largest it is.
#
# Floats solve (`hints/ellipsoid_solver.py`), integers certify (`certified`); the floats are asked again until the
# certified gap is as small as wanted.


_RIDGE = 1e-13  # of the largest entry: keeps the triangular factor from being singular. Speed only
# Parts of the gap: how exact the floats are, and what is given up so that rows may be violated by it, over d.
_CLOSE, _SHRUNK = 1e-3, 1 / 8
_PULLING = 1e-6  # of the largest weight: rows with more are held from the start next time. Speed only
_CROWDED = 8.0  # times as long as a row that touches the unit ball: too close a row to start beside. Speed only
_FINE_BITS = 60  # the proposal is written in steps below 2^-60 of the least slack. Fewer cost attempts only


def largest_ellipsoid(region: Region, gap: Fraction, ends: Ends, similar: Ellipsoid | None = None) -> Ellipsoid | None:
    """An inscribed ellipsoid within a factor 1 + gap of the largest; None if there is no inner point. Exact.

    `similar` is that of a region with the same normals: a hint.
    """
    start = _start(region) if similar is None else _near(region, similar)
    if start is None:
        return None
    centre, bits, shape = start
    for attempt in count(1):
        # Seen from the last attempt as the unit ball, every region is well conditioned: attempts only get better.
        try:
            with np.errstate(all="ignore"):
                proposal = _pulled_inside(region, centre, bits, _solved(region, centre, bits, shape, gap, attempt))
                found = certified(region, proposal, ends)
        except FLOATS_GAVE_OUT:
            # An exception or a warning would tell something about the data.
            shape = Shape.of(np.diag(region.scale / 4.0**attempt))
            continue
        if found is not None and found.gap <= gap:
            return found
        centre, bits = proposal.centre, proposal.bits
        shape = proposal.shape if found is not None else shape
    raise AssertionError("counting never ends")


def _start(region: Region, shape: Shape | None = None) -> tuple[Integers, int, Shape] | None:
    """A point with room on every side, and a shape; None if there is no such point. Exact."""
    inner = inner_point(region)
    return None if inner is None else (*inner, shape or Shape.of(np.diag(region.scale)))


def _near(region: Region, similar: Ellipsoid) -> tuple[Integers, int, Shape] | None:
    """The same from a similar region's ellipsoid: its centre, if there is room for some of it here."""
    centre, bits, shape = similar.proven.centre, similar.proven.bits, similar.proven.shape
    slack = slack_of(region, centre, bits)
    if slack.min() > 0 and np.abs(_seen(region, shape, slack, bits)).max() < _CROWDED:
        return centre, bits, shape
    return _start(region, shape)


def _pulled_inside(region: Region, centre: Integers, bits: int, proposal: Proposal) -> Proposal:
    """The proposal with its centre moved halfway back to an inner point, as often as it takes to be one."""
    while slack_of(region, proposal.centre, proposal.bits).min() <= 0:
        halfway = proposal.centre + centre * (1 << (proposal.bits - bits))
        proposal = replace(proposal, centre=halfway, bits=proposal.bits + 1)
    return proposal


def _solved(region: Region, centre: Integers, bits: int, start: Shape, gap: Fraction, attempt: int = 1) -> Proposal:
    """One float solution in coordinates z with y = centre + start z, a little smaller than the largest."""
    d = region.d
    smaller = float(gap) * _SHRUNK / d
    slack = slack_of(region, centre, bits)
    seen = _seen(region, start, slack, bits)
    # Once more, so that the rows are about equally long in every direction; never singular.
    ridge = np.abs(seen).max() * _RIDGE * np.eye(d)
    upper: FloatArray = np.asarray(np.linalg.qr(np.vstack([seen / math.sqrt(len(seen)), ridge]), mode="r"))
    rows: FloatArray = np.asarray(np.linalg.solve(upper.T, seen.T).T, dtype=np.float64)
    answer = asked("newton_with_few_rows", rows, float(gap) * _CLOSE, smaller, attempt, start.touching)
    shift, inner, weights = _usable(answer, *rows.shape)
    # Steps of 2^-fine are below 2^-_FINE_BITS of the least slack, whatever the row.
    least = int(slack.min()).bit_length() - bits
    fine = max(bits, _FINE_BITS - least + int(np.abs(region.normals).sum(axis=1).max()).bit_length())
    moved = start.times(np.asarray(np.linalg.solve(upper, shift)), fine)
    factor = start.times((1.0 - smaller) * np.linalg.solve(upper, np.linalg.cholesky(inner)), fine)
    shape = Shape(factor, fine, np.flatnonzero(weights > weights.max() * _PULLING))
    return Proposal(centre * (1 << (fine - bits)) + moved, fine, shape, weights / in_floats(slack, bits))


def _usable(answer: Any, m: int, d: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """A solver's centre, matrix and weights of m rows; raises where it has none."""
    if isinstance(answer, tuple) and len(answer) == 3:
        shapes = ((1, d), (d, d), (1, m))
        centre, matrix, weights = (
            finite_rows(part if np.ndim(part) == 2 else [part], columns)
            for part, (_, columns) in zip(answer, shapes, strict=True)
        )
        if (centre.shape, matrix.shape, weights.shape) == shapes:
            return centre[0], matrix, weights[0]
    raise ArithmeticError("floats gave out")


def _seen(region: Region, shape: Shape, slack: Integers, bits: int) -> FloatArray:
    """The rows over their slacks, seen from the shape as the unit ball; correctly rounded but for a bit."""
    spread = region.normals @ shape.matrix if shape.spread is None else shape.spread
    return in_floats(spread, shape.bits) / in_floats(slack, bits)[:, np.newaxis]


# Rationals below and above pi: wrong digits would break the bounds.
_PI = (Fraction(314159265358979323846, 10**20), Fraction(314159265358979323847, 10**20))
_ROOT_BITS = 64  # of a square root, rounded down and up. Fewer make the bound above larger, and REM refuse more


class BoxesAndEllipsoids(Boxed):
    """Any number of columns: largest inscribed ellipsoids.

    Above: the largest one in the set grown by half a cell, times what a simplex exceeds its own by, or the tight box,
    whichever is less. Below: the largest one in the set shrunk by half a cell.
    """

    def __init__(self, levels: LevelSets, within: Box, base: int) -> None:
        super().__init__(levels, within, base)
        self._ellipsoids: dict[int, Ellipsoid] = {}

    def _above(self, level: int, boxed: Fraction) -> Fraction:
        d = self._regions.d
        # The ellipsoid of the grown set holds that of any smaller, shrunk one: often enough to see that it is no use.
        if boxed <= _excess(d)[0] * self._below(max(level, self._base)):
            return boxed
        return min(boxed, _excess(d)[1] * self._grown(level))

    def _below(self, level: int) -> Fraction:
        """A little less than the volume of the largest ellipsoid in the set shrunk by half a cell."""
        box = None if level > self.top else self._box(min(level, self._base))
        if box is None:
            return Fraction(0)
        ends = integers([2 * a - 2 for a in box.low]), integers([2 * b + 2 for b in box.high])
        found = largest_ellipsoid(self._half_cells(level, -1), SLACK / 2, lambda: ends, self._nearest(level))
        if found is None:
            return Fraction(0)
        self._ellipsoids[level] = found
        return rounded_down(_ball(self._regions.d, _PI[0]) * found.determinant)

    def _grown(self, level: int) -> Fraction:
        """A little more than the volume of the largest ellipsoid in the set grown by half a cell."""
        region = self._half_cells(level, +1)

        def ends() -> tuple[Integers, Integers]:
            best = [maximum(region, objective, self._bases.get(i)) for i, objective in enumerate(units(region.d))]
            high, low = ([math.ceil(end.value) for end in best[i::2] if end is not None] for i in range(2))
            return -integers(low), integers(high)

        found = largest_ellipsoid(region, SLACK / 2, ends, self._nearest(level))
        assert found is not None  # a cell around any point of the level set is inside
        return _ball(self._regions.d, _PI[1]) * (1 + SLACK / 2) * found.determinant

    def _nearest(self, level: int) -> Ellipsoid | None:
        """That of the nearest level."""
        if not self._ellipsoids:
            return None
        return self._ellipsoids[min(self._ellipsoids, key=lambda known: abs(known - level))]


@cache
def _excess(d: int) -> tuple[Fraction, Fraction]:
    """Rationals below and above the volume of a regular simplex over that of its largest ball.

    No convex body exceeds its largest ellipsoid by more (Ball 1991, Volume ratios and a reverse isoperimetric
    inequality): sqrt(d^d (d+1)^(d+1)) / d! over the volume of the unit ball, 7.6 for d = 4, 5.8e3 for d = 10.
    """
    square = d**d * (d + 1) ** (d + 1) << (2 * _ROOT_BITS)
    root = math.isqrt(square)
    whole = math.factorial(d) << _ROOT_BITS
    # _ball is in half cells: the unit ball has 2^d times as much.
    least, most = (2**d * _ball(d, pi) for pi in _PI)
    return Fraction(root, whole) / most, Fraction(root + 1, whole) / least


def _ball(d: int, pi: Fraction) -> Fraction:
    """The volume of a ball of half cells with radius one, in cells."""
    half = d // 2
    if d % 2 == 0:
        return pi**half / (math.factorial(half) * 2**d)
    return 2 * math.factorial(half) * (4 * pi) ** half / (math.factorial(d) * 2**d)
