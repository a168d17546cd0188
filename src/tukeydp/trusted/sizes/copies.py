"""Copies of a body inside another: volumes of exact depth's level sets from below, certified in integers."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from tukeydp.trusted.boxes import Box
from tukeydp.trusted.hinted import asked, finite_rows
from tukeydp.trusted.levels import LevelSets
from tukeydp.trusted.matrices import Integers, integers
from tukeydp.trusted.parameters import FloatArray
from tukeydp.trusted.rows import LIMIT
from tukeydp.trusted.sizes.grid_points import tight_ends
from tukeydp.trusted.sizes.inner_points import FLOATS_GAVE_OUT, inner_point
from tukeydp.trusted.sizes.linear_programs import Region, in_units

# Speed only, all of them: the bound holds whatever the floats did.
_BITS = 64  # of the weights, next to the longest normal
_NEGLIGIBLE = 1e-14  # weights that pull less than this part of what the largest pulls are left out
_GAP = 2.0**-10  # between copy and bound, relative, where the caller does not say
_FEW = 24  # halfspaces held from the start, for each column; and those added at a time


@dataclass(frozen=True, eq=False)
class Template:
    """Integer corners of Q, symmetric about zero; `radius` times every unit vector is among them; its volume."""

    corners: Integers
    radius: int
    volume: Fraction


@cache
def template(d: int) -> Template:
    """Points with whole coordinates on a sphere: twelve in the plane, thirty in space, the 24-cell, cross-polytopes."""
    if d == 2:
        return Template(_all_signs((5, 0), (3, 4)), 5, Fraction(74))
    if d == 3:
        return Template(_all_signs((3, 0, 0), (1, 2, 2)), 3, Fraction(272, 3))
    if d == 4:
        return Template(_all_signs((2, 0, 0, 0), (1, 1, 1, 1)), 2, Fraction(32))
    return Template(_all_signs((1, *([0] * (d - 1)))), 1, Fraction(2**d, math.factorial(d)))


def _all_signs(*shapes: tuple[int, ...]) -> Integers:
    found = {
        tuple(s * v for s, v in zip(signs, order, strict=True))
        for shape in shapes
        for order in itertools.permutations(shape)
        for signs in itertools.product((1, -1), repeat=len(shape))
    }
    return integers(np.array(sorted(found), dtype=np.int64))


@dataclass(frozen=True, eq=False)
class Copy:
    """Centre and B as integers over 2^bits, and a bound on the product of the diagonal of any copy inside."""

    centre: Integers
    factor: Integers
    bits: int
    most: Fraction

    @property
    def diagonal(self) -> Fraction:
        product = 1
        for j in range(len(self.centre)):
            product *= int(self.factor[j, j])
        return Fraction(product, 1 << (self.bits * len(self.centre)))


def largest_copy(
    region: Region,
    low: Integers,
    high: Integers,
    bits: int,
    shape: FloatArray | None = None,
    gap: float = _GAP,
    near: Copy | None = None,
) -> tuple[Copy, FloatArray] | None:
    """About the largest copy inside the region, and its B in floats; None if the region has no inner point.

    `low` and `high` are the ends of a box that contains the region; `shape` is the B of a similar one and `near` the
    copy in a similar region, both hints. The copy is inside up to rounding, and about a factor 1 + gap from the bound;
    the bound holds whatever the floats did.
    """
    inner = (_inner_of(region, near) if near is not None else None) or inner_point(region)
    if inner is None:
        return None
    centre, fine = inner
    for attempt in itertools.count():
        try:
            with np.errstate(all="ignore"):
                if shape is None:
                    centre, shape, _ = _solved(region, centre, fine, np.diag(region.scale / 4.0**attempt), gap)
                centre, found, weights = _solved(region, centre, fine, shape, gap)
                factor = integers([[in_units(v, bits) for v in row] for row in found.tolist()])
                if np.triu(factor, 1).any() or not (np.diag(factor) >= 0).all():
                    raise ArithmeticError("a copy whose diagonal does not tell its volume")
                most = _bound(region, centre, fine, weights, low, high)
        except FLOATS_GAVE_OUT:
            shape = None  # an exception or a warning would tell something about the data
            continue
        rounded = integers([(int(v) << bits) >> fine for v in centre])
        return Copy(rounded, factor, bits, most), found
    raise AssertionError("counting never ends")


def _inner_of(region: Region, copy: Copy) -> tuple[Integers, int] | None:
    """The copy's centre, if it is inside, with room for more digits."""
    room = region.offsets * (1 << copy.bits) - region.normals @ copy.centre
    return (copy.centre * (1 << _BITS), copy.bits + _BITS) if room.min() > 0 else None


def _solved(
    region: Region, centre: Integers, fine: int, start: FloatArray, gap: float
) -> tuple[Integers, FloatArray, FloatArray]:
    """A barrier method in coordinates y = centre + start z: centre, B, and the weights u of all pairs (a, w)."""
    d = region.d
    corners = template(d).corners.astype(np.float64)
    slack = np.array([int(v) / (1 << fine) for v in region.offsets * (1 << fine) - region.normals @ centre])
    seen = (region.normals.astype(np.float64) @ start) / slack[:, np.newaxis]
    # Of many halfspaces few touch the copy: the closest first, then those that it violates.
    held = np.argsort(-np.linalg.norm(seen, axis=1), kind="stable")[: _FEW * d]
    while True:
        answer = asked("largest_in_floats", seen[held], corners, gap)
        shift, factor, found = _usable(answer, d, (len(held), len(corners)))
        farthest = (seen @ (shift[:, np.newaxis] + factor @ corners.T)).max(axis=1)
        farthest[held] = 0.0
        fresh = np.argsort(-farthest, kind="stable")[:_FEW]
        fresh = fresh[farthest[fresh] > 1.0]
        if not len(fresh):
            break
        held = np.append(held, fresh)
    weights = np.zeros((len(seen), len(corners)))
    weights[held] = found
    away = integers([in_units(v, fine) for v in (start @ shift).tolist()])
    while (region.offsets * (1 << fine) - region.normals @ (centre + away)).min() <= 0:
        away = np.sign(away) * (np.abs(away) // 2)  # towards zero: -1, rounded down, would stay what it is
    return centre + away, start @ factor, weights / slack[:, np.newaxis]


def _usable(answer: Any, d: int, pairs: tuple[int, int]) -> tuple[FloatArray, FloatArray, FloatArray]:
    """A solver's shift, B and weights of all pairs; raises where it has none."""
    if isinstance(answer, tuple) and len(answer) == 3:
        shift, factor = finite_rows([answer[0]], d), finite_rows(answer[1], d)
        weights = finite_rows(answer[2], pairs[1])
        triangular = not np.triu(factor, 1).any() and bool((np.diag(factor) > 0).all())  # else no diagonal tells det B
        if (shift.shape, factor.shape, weights.shape) == ((1, d), (d, d), pairs) and triangular:
            return shift[0], factor, weights
    raise ArithmeticError("floats gave out")


def _bound(region: Region, centre: Integers, fine: int, weights: FloatArray, low: Integers, high: Integers) -> Fraction:
    """No copy inside the region has a larger product of diagonal entries; in integers, for any weights."""
    d = region.d
    shape = template(d)
    largest = weights.max()
    # Normals of very different lengths have weights of very different sizes: enough bits for all of them.
    lengths = np.abs(region.normals).max(axis=1).astype(np.float64)
    bits = _BITS + int(np.abs(region.normals).max()).bit_length()
    felt = weights * lengths[:, np.newaxis]
    kept = np.argwhere(felt > felt.max() * _NEGLIGIBLE)
    scaled = integers([in_units(float(weights[i, j] / largest), bits) for i, j in kept])
    normals, corners = region.normals[kept[:, 0]], shape.corners[kept[:, 1]]
    slack = (region.offsets * (1 << fine) - region.normals @ centre)[kept[:, 0]]
    pull = (normals * scaled[:, np.newaxis]).T @ corners
    residual = scaled @ normals
    farthest = np.where(residual > 0, centre - low * (1 << fine), centre - high * (1 << fine))
    total = Fraction(int(scaled @ slack + residual @ farthest), 1 << fine)
    for j in range(d):
        for k in range(j):
            # c* +- radius B* e_k lie in the box, so |B*_jk| is at most half its width over the radius.
            total += abs(int(pull[j, k])) * Fraction(int(high[j] - low[j]), 2 * shape.radius)
    product = math.prod(int(pull[j, j]) for j in range(d)) if all(pull[j, j] > 0 for j in range(d)) else 0
    if not product:
        return Fraction(math.prod(int(b - a) for a, b in zip(low, high, strict=True)), (2 * shape.radius) ** d)
    return (total / d) ** d / product


# The largest copy in a thin and slanted region, in coordinates in which it is upright.
#
# A region a trillion cells long and two cells thick takes more digits than a float has: the last ones of a slant move
# the copy's corners by more than they may be off. In coordinates z with y = M z, M lower triangular with ones on its
# diagonal, a copy c + B Q is one of the same volume, and its bound is the same (docs/proofs/rem.md, section 7).


_UPRIGHT_BITS = 64  # of the entries of M. Speed only: any M will do


def upright_copy(region: Region, shape: FloatArray, bits: int, gap: float) -> tuple[Copy, FloatArray] | None:
    """As `largest_copy`, where a copy with this B is already known to be about the largest one."""
    slant = _slant(shape)
    upright = _seen_upright(region, slant, shape)
    ends = tight_ends(upright)
    if ends is None:
        return None
    low, high = integers([a - 1 for a in ends[0]]), integers([b + 1 for b in ends[1]])
    found = largest_copy(upright, low, high, bits, np.diag(np.diag(shape)), gap)
    if found is None:
        return None
    copy, factor = found
    centre, whole = (slant @ copy.centre) >> _UPRIGHT_BITS, (slant @ copy.factor) >> _UPRIGHT_BITS
    return Copy(centre, whole, bits, copy.most), slant.astype(np.float64) / 2.0**_UPRIGHT_BITS @ factor


def _slant(shape: FloatArray) -> Integers:
    """M times 2^_UPRIGHT_BITS: the columns of B over their diagonal entries."""
    with np.errstate(all="ignore"):
        columns = np.tril(shape / np.diag(shape), -1)
    columns = np.where(np.isfinite(columns), columns, 0.0) + np.eye(len(shape))
    return integers([[in_units(v, _UPRIGHT_BITS) for v in row] for row in columns.tolist()])


def _seen_upright(region: Region, slant: Integers, shape: FloatArray) -> Region:
    """The region in coordinates z, inside a box there."""
    d = region.d
    units = integers(np.eye(d, dtype=np.int64))
    centre, far = list(region.centre), np.maximum(np.abs(region.offsets[-2 * d : -d]), np.abs(region.offsets[-d:]))
    for j in range(d):
        # z_j is y_j less what those before it contribute.
        centre[j] -= int(slant[j, :j] @ integers(centre[:j])) >> _UPRIGHT_BITS
        far[j] += (int(np.abs(slant[j, :j]) @ far[:j]) >> _UPRIGHT_BITS) + 1
    return Region(
        np.concatenate([region.normals @ slant, units, -units]),
        np.concatenate([region.offsets * (1 << _UPRIGHT_BITS), far, far]),
        integers(centre),
        2.0 * template(d).radius * np.diag(shape),
    )


# Halfspaces around the level sets of exact depth, more of them as they are found.
#
# For any normal the level-th largest projection of the rows, ranked in integers, bounds the level set.


class DeepEnvelope:
    """What is known to hold the level sets within a box. It only shrinks. Not private: all of this is the data."""

    def __init__(self, levels: LevelSets, within: Box, centre: Integers, scale: FloatArray) -> None:
        """`centre` and `scale` are about those of the level sets: hints."""
        self._levels, self._within = levels, within
        self._place = centre, scale
        self.known: set[tuple[int, ...]] = set()  # normals that were added
        self._long: list[tuple[Integers, list[int]]] = []  # those beyond 64 bits, and sorted projections on them

    @property
    def d(self) -> int:
        return self._levels.d

    def extended(self, normals: list[list[int]]) -> bool:
        """Whether there are any among these that were not known; they are now."""
        fresh = sorted({tuple(v) for v in normals} - self.known)
        self.known.update(fresh)
        short = [v for v in fresh if self._fits(v)]
        if short:
            self._levels = self._levels.with_directions(np.array(short, dtype=np.int64))
        rows = integers(self._levels.table)
        self._long += [(integers(v), sorted((rows @ integers(v)).tolist())) for v in fresh if not self._fits(v)]
        return bool(fresh)

    def _fits(self, normal: tuple[int, ...]) -> bool:
        extent = max(max(abs(a), abs(b)) for a, b in zip(self._within.low, self._within.high, strict=True))
        return sum(map(abs, normal)) * extent < LIMIT

    def halfspaces(self, level: int) -> tuple[FloatArray, FloatArray]:
        """Normals and offsets in floats, those that 64 bits hold: hints."""
        low, high = self._levels.offsets(level)
        directions = self._levels.directions.astype(np.float64)
        return np.concatenate([directions, -directions]), np.concatenate([high, -low]).astype(np.float64)

    def region(self, level: int) -> Region | None:
        """All halfspaces of a level; None if no grid point is so deep."""
        if not 1 <= level <= self._levels.highest_unbroken():
            return None
        low, high = self._levels.offsets(level)
        directions = integers(self._levels.directions)
        units = integers(np.eye(directions.shape[1], dtype=np.int64))
        normals, offsets = [directions, -directions], [integers(high), -integers(low)]
        for normal, projections in self._long:
            normals.append(np.stack([normal, -normal]))
            offsets.append(integers([projections[-level], -projections[level - 1]]))
        bounds = integers([*self._within.high, *(-a for a in self._within.low)])
        return Region(np.concatenate([*normals, units, -units]), np.concatenate([*offsets, bounds]), *self._place)
