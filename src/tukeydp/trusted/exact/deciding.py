"""Is this point at least so deep? Decided exactly, for grid points and for points between them.

Every decision of exact depth goes one way: rows at the point itself count in every halfspace, vectors lead to all
others, and `least_weight` bounds their least count in integers (docs/proofs/exact-depth.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from tukeydp.trusted.bits import derived_key
from tukeydp.trusted.directions import LONGEST, unit_vectors
from tukeydp.trusted.exact.depth import Answer, Vectors, exact_row, least_weight
from tukeydp.trusted.exact.vectors import normals_of_hull
from tukeydp.trusted.hinted import asked, finite_rows, integer_vector
from tukeydp.trusted.matrices import Basis, Integers, integers, log_gain, reduced_basis
from tukeydp.trusted.parameters import FloatArray, IntArray, ParameterError
from tukeydp.trusted.rows import LIMIT, Grid

# Speed only, all of them: depths are the same in all coordinates.
_WORTHWHILE = 0.5  # log of how much smaller the rows' box must be in another basis
_THIN, _THINNER = 2**12, 8  # steps of a column of few values, and by which factor fewer than along the axes
_MOST_STEPS = 2**52  # of a column: differences must be whole numbers that a float holds


@dataclass(frozen=True, eq=False)
class NearRows:
    """The rows (m, d) in these coordinates, which are those of `grid`; `thin` if some column now takes few values."""

    rows: IntArray
    grid: Grid
    thin: bool
    _origin: Integers
    _inverse: Integers

    def point(self, coordinates: Sequence[int]) -> list[int]:
        """The grid point with these coordinates."""
        return [int(c) for c in self._inverse @ (integers(list(coordinates)) + self._origin)]


def near_rows(rows: IntArray) -> NearRows | None:
    """The rows in coordinates of their own; None if they have no room there."""
    d = rows.shape[1]
    if len(rows) == 0:
        return None
    basis = _basis(rows)
    matrix = integers(np.eye(d, dtype=np.int64)) if basis is None else integers(list(basis.matrix))
    moved = integers(rows) @ matrix.T
    low, high = moved.min(axis=0), moved.max(axis=0)
    cells = high - low
    if max(cells) >= _MOST_STEPS or (LIMIT - 1) // (max(1, max(cells)) * d) <= 1:
        return None
    origin = low + cells // 2
    before = int(np.ptp(rows, axis=0).min()) + 1
    thin = basis is not None and min(cells) < _THIN and (min(cells) + 1) * _THINNER <= before
    grid = Grid((Fraction(0),) * d, (Fraction(1),) * d, tuple(int(c) for c in cells))
    inverted = matrix if basis is None else integers(list(basis.inverse))
    return NearRows((moved - origin).astype(np.int64), grid, bool(thin), origin, inverted)


def _basis(rows: IntArray) -> Basis | None:
    """A basis of the grid in which the rows' box is much smaller than along the axes, if there seems to be one."""
    away = rows.astype(np.float64) - rows.mean(axis=0)
    shape = away.T @ away / len(rows)
    basis = reduced_basis(shape)
    return basis if basis is not None and log_gain(basis, shape) > _WORTHWHILE else None


# Entries of a normal, at most, where all digits that fit are wanted: beyond 2^50 a float has none to give.
_MOST_DIGITS = 2**50


@dataclass(frozen=True, eq=False)
class Surroundings:
    """A point among weighted rows: what weighs at the point itself, and the vectors to all others."""

    here: int
    vectors: Vectors

    def depth(self, at_least: int = 0) -> int:
        """The depth of the point, or any number below `at_least` if it is below."""
        return self.here + least_weight(self.vectors, at_least - self.here).least

    def refuted(self, level: int, threads: int | None = None) -> Answer | None:
        """What shows that the point is less than `level` deep; None if it is that deep."""
        if level <= self.here:
            return None
        answer = least_weight(self.vectors, level - self.here, threads, enough=True)
        return None if self.here + answer.least >= level else answer


@dataclass(frozen=True, eq=False)
class Refutation:
    """Halfspaces around a point with fewer rows than its level asks for.

    `short` are their integer normals as far as they survived being rounded to a few digits, perhaps none.
    """

    short: IntArray
    _depth: GridDepth
    _point: Integers
    _bits: int
    _level: int
    _vectors: Vectors
    _answer: Answer

    def exact_normal(self) -> list[int]:
        """The normal of such a halfspace with all its digits."""
        if self._answer.normal is not None:
            return self._answer.normal
        return [int(c) for c in exact_row(self._vectors, self._answer.place)[1]]

    def longest(self) -> IntArray:
        """The same, exactly or with as many digits as projections leave room for; none if that is not enough."""
        return self._with_room(self.exact_normal())

    def longest_facet(self) -> IntArray:
        """The normal of `facet` likewise."""
        facet = self.facet()
        return np.empty((0, self.short.shape[1]), dtype=np.int64) if facet is None else self._with_room(facet)

    def _with_room(self, normal: list[int]) -> IntArray:
        if self._depth.fits(normal):
            return np.array([normal], dtype=np.int64)
        largest = max(map(abs, normal))
        floats = np.array([[c / largest for c in normal]])
        return self._depth.lighter(floats, self._point, self._bits, self._level, _MOST_DIGITS)

    def facet(self) -> list[int] | None:
        """The normal of such a halfspace whose edge passes through rows, as many as fix it; None if there is none.

        Without the rows of a halfspace that refutes, the hull of the others still holds the level set. That it refutes,
        too, is counted in integers.
        """
        normal = self.short[0].tolist() if len(self.short) else self.exact_normal()
        facet = self._depth.parting_facet(integers(normal), self._point, self._bits)
        if facet is None or self._depth.exact_weight_beyond(integers(facet), self._point, self._bits) >= self._level:
            return None
        return facet


@dataclass(frozen=True, eq=False)
class Cuts:
    """Integer normals and offsets of halfspaces around a level set; `fitting` are directions that 64 bits hold."""

    normals: Integers
    offsets: Integers
    fitting: list[list[int]]


class GridDepth:
    """Exact depth in one dataset on a grid. Not private: all of this is the data."""

    def __init__(self, rows: IntArray, grid: Grid) -> None:
        distinct, counts = np.unique(rows, axis=0, return_counts=True)
        self._distinct, self._weights = distinct, counts.astype(np.int64)
        self._largest = int(np.abs(rows).max(initial=1))
        self._grid = grid

    def refute(
        self,
        point: Sequence[int] | IntArray | Integers,
        level: int,
        bits: int = 0,
        threads: int | None = None,
    ) -> Refutation | None:
        """Why `point` / 2^bits is less than `level` deep; None if it is that deep."""
        where = integers(point)
        around = self._around(where, bits)
        answer = around.refuted(level, threads)
        if answer is None:
            return None
        short = self.lighter(answer.directions, where, bits, level, LONGEST)
        return Refutation(short, self, where, bits, level, around.vectors, answer)

    def parted(
        self, points: Integers, level: int, bits: int, normals: FloatArray, offsets: FloatArray | None = None
    ) -> IntArray:
        """Normals that seem to part one of the `points` / 2^bits from all that is so deep, by walks from other ones.

        What is so deep is known to be in <normal, y> <= offset; where there are no offsets it seems not to be beyond
        all points.
        """
        d = len(self._grid.cells)
        try:
            middle = points.sum(axis=0) // len(points)
            away, vectors = (points - middle).astype(np.float64), self._around(middle, bits).vectors
            exact = integers([list(vectors.exactly(j)) for j in range(len(vectors.weights))]).reshape(-1, d)
            rows = vectors.shadow if vectors.whole else exact.astype(np.float64)  # else up to a factor each
            with np.errstate(all="ignore"):
                ends = (away @ normals.T).max(axis=0)
                if offsets is not None:
                    ends = (offsets - normals @ np.array([int(c) / (1 << bits) for c in middle])) * float(1 << bits)
                known = normals / ends[:, np.newaxis]
        except OverflowError:  # beyond what floats hold
            return np.empty((0, d), dtype=np.int64)
        usable = np.isfinite(known).all(axis=1) & (ends > 0)
        found = asked("facets_before", away, rows, vectors.weights.astype(np.float64), level, known[usable])
        return np.unique(rounded_normals(finite_rows(found, d), self._grid, _MOST_DIGITS), axis=0)

    def cuts(self, point: Integers, level: int) -> Cuts | None:
        """Halfspaces that hold the level set, one of them without the grid point; None if it is that deep."""
        refutation = self.refute(point, level)
        if refutation is None:
            return None
        facet = refutation.facet()
        found = [*refutation.short.tolist(), *([] if facet is None else [facet])] or [refutation.exact_normal()]
        normals = integers(found)
        ends = [self._ranked(normal, level) for normal in normals]
        offsets = integers([*(high for _, high in ends), *(-low for low, _ in ends)])
        return Cuts(np.concatenate([normals, -normals]), offsets, [v for v in found if self.fits(v)])

    def _ranked(self, normal: Integers, level: int) -> tuple[int, int]:
        """The level-th smallest and the level-th largest projection of the rows; 1 <= level <= rows."""
        projections = integers(self._distinct) @ normal
        order = np.argsort(projections, kind="stable")
        counts = np.cumsum(self._weights[order])
        low, high = np.searchsorted(counts, [level, counts[-1] - level + 1])
        return int(projections[order[low]]), int(projections[order[high]])

    def depth(self, point: Sequence[int]) -> int:
        """How deep a grid point is."""
        return self._around(integers(point), 0).depth()

    def _around(self, where: Integers, bits: int) -> Surroundings:
        if self._largest << bits < LIMIT and int(np.abs(where).max()) < LIMIT:
            away = self._distinct * (1 << bits) - where.astype(np.int64)
        else:
            away = integers(self._distinct) * (1 << bits) - where
        nonzero = (away != 0).any(axis=1)
        others = away[nonzero]
        whole = others.dtype == np.int64 and int(np.abs(others).max(initial=0)) < 2**53
        vectors = Vectors(_shadow(others), self._weights[nonzero], lambda j: others[j].tolist(), whole)
        return Surroundings(int(self._weights[~nonzero].sum()), vectors)

    def fits(self, normal: Sequence[int]) -> bool:
        """Whether every projection of a grid point on it is below the limit."""
        return sum(abs(c) * extent for c, extent in zip(normal, self._grid.extent, strict=True)) < LIMIT

    def lighter(self, normals: FloatArray, point: Integers, bits: int, level: int, longest: int) -> IntArray:
        """The normals rounded to integers, those that have fewer than `level` rows in their closed halfspace."""
        rounded = np.unique(rounded_normals(normals, self._grid, longest), axis=0)
        light = [v for v in rounded if self._weight_beyond(v, point, bits) < level]
        return np.array(light, dtype=np.int64).reshape(len(light), rounded.shape[1])

    def parting_facet(self, normal: Integers, point: Integers, bits: int) -> list[int] | None:
        """A facet of the hull of the rows that are not beyond the point, between them and the point: a hint."""
        others = (integers(self._distinct) @ normal) << bits < int(normal @ point)
        kept = integers(self._distinct[others.astype(np.bool_)]) * (1 << bits)
        return integer_vector(asked("parting_facet", kept, point), len(point))

    def exact_weight_beyond(self, normal: Integers, point: Integers, bits: int) -> int:
        """Rows in the closed halfspace with `point` / 2^bits on its edge, for a normal of any length."""
        beyond = (integers(self._distinct) @ normal) << bits >= int(normal @ point)
        return int(self._weights[beyond.astype(np.bool_)].sum())

    def _weight_beyond(self, normal: IntArray, point: Integers, bits: int) -> int:
        """Rows in the closed halfspace whose edge passes through the point; projections are below the limit."""
        at = -(-int(integers(normal) @ point) >> bits)
        return int(self._weights[self._distinct @ normal >= at].sum())


def _shadow(vectors: IntArray | Integers) -> FloatArray:
    """The vectors as floats; long integers up to a positive factor each, since no float holds some of them."""
    if vectors.dtype == np.int64:
        return vectors.astype(np.float64)
    scaled = [[c / max(map(abs, v)) for c in v] for v in vectors.tolist()]
    return np.array(scaled, dtype=np.float64).reshape(vectors.shape)


def rounded_normals(normals: FloatArray, grid: Grid, longest: int = LONGEST) -> IntArray:
    """Integer vectors along the normals, as long as the overflow check allows and at most `longest`."""
    room = (LIMIT - 1) // max(1, max(grid.extent) * normals.shape[1]) - 1
    scale = float(min(room, longest))
    lengths = np.abs(normals).max(axis=1, keepdims=True)
    usable = np.isfinite(lengths[:, 0]) & (lengths[:, 0] > 0)
    return np.rint(normals[usable] / lengths[usable] * scale).astype(np.int64)


# Finitely many directions to start exact depth from: their level sets contain the exact ones, and fit them roughly.


# Directions besides the axes, by number of columns: enough that a handful of exact depths settle a draw. Speed only.
_STARTING, _STARTING_BEYOND = {1: 0, 2: 75, 3: 190, 4: 375}, 500
# One in so many directions ignores the covariance, in case outliers rule it. Speed only.
_PLAIN = 5
# Smallest eigenvalue that whitening believes, relative to the largest: flatter data count as this flat. Speed only.
_FLATTEST = 1e-12


def starting_directions(d: int) -> int:
    """How many directions, besides the axes, the first envelope of exact depth has."""
    return _STARTING.get(d, _STARTING_BEYOND)


def require_exact_differences(grid: Grid) -> None:
    """Differences of two grid points must be whole numbers that a float holds; checked from public numbers."""
    if max(grid.cells) >= 2**52:
        rule = "must give fewer than 2**52 steps between the bounds for exact depth"
        raise ParameterError("resolution", rule, f"{max(grid.cells)} steps")
    # Normals are rounded to integers of at least one digit, `rounded_normals`.
    if (LIMIT - 1) // (max(grid.extent) * grid.d) <= 1:
        rule = f"must give fewer steps between the bounds for exact depth in {grid.d} columns"
        raise ParameterError("resolution", rule, f"{max(grid.cells)} steps")


def first_envelope(rows: IntArray, grid: Grid) -> IntArray:
    """The axes, and directions that are round with respect to the data, so that stretched data costs no more."""
    d = rows.shape[1]
    axes = np.eye(d, dtype=np.int64)
    units = unit_vectors(starting_directions(d), d, derived_key("envelope", d))
    round_units = units @ _whitening(rows).T
    plain = len(units) // _PLAIN
    rounded = rounded_normals(np.vstack([round_units[plain:], units[:plain]]), grid)
    # Along these all rows have one projection, so that level sets lie in the plane of the rows, if that is one.
    hull = [v for v in normals_of_hull(rows) if sum(abs(c) * r for c, r in zip(v, grid.extent, strict=True)) < LIMIT]
    flat = np.array(hull, dtype=np.int64).reshape(len(hull), d)
    return np.unique(np.vstack([axes, rounded, flat]), axis=0)


def _whitening(rows: IntArray) -> FloatArray:
    """A matrix that makes the rows about round; the identity where the covariance is no use."""
    d = rows.shape[1]
    if len(rows) <= d:
        return np.eye(d)
    with np.errstate(all="ignore"):
        centred = rows.astype(np.float64)
        centred -= centred.mean(axis=0)
        try:
            values, frame = np.linalg.eigh(centred.T @ centred)
        except np.linalg.LinAlgError:
            return np.eye(d)
        shrink = 1.0 / np.sqrt(np.maximum(values, values.max() * _FLATTEST))
    return frame * shrink if np.isfinite(shrink).all() else np.eye(d)
