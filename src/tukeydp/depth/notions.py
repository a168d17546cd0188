"""Notions of depth: small frozen values that name a public, finite set of directions.

A notion never sees the data. On a grid it becomes integer vectors in grid coordinates (`on_grid`), short
enough that every projection of a grid point stays below `grid.LIMIT`. For geometry without a grid it becomes
vectors in data units (`in_data_units`).
"""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Protocol

import numpy as np

from tukeydp.arrays import FloatArray, IntArray
from tukeydp.data.grid import DEFAULT_BITS, FEWEST_BITS, LIMIT, Grid
from tukeydp.errors import ParameterError
from tukeydp.parameters import rational
from tukeydp.randomness import Keystream, derived_key

# Drawn directions are rounded to integers of about this length. Shorter than `_SHORTEST` they would
# no longer be spread over the sphere.
LONGEST, _SHORTEST = 2**18, 2**8
_MOST_SPREAD = 4096
_MOST_UNLIKE = 1000.0


class Notion(Protocol):
    """Which halfspaces count. Implementations are frozen values and know nothing of the data."""

    def size(self, d: int) -> int:
        """How many directions there are in d columns, before any is drawn."""
        ...

    def grid_bits(self, d: int) -> int:
        """Bits of a column's default grid, so that the directions fit beside them."""
        ...

    def on_grid(self, grid: Grid, key: bytes) -> IntArray:
        """Integer directions in grid coordinates, one per row; `key` is public randomness."""
        ...

    def in_data_units(self, d: int, key: bytes) -> list[list[Fraction]]:
        """Directions for data without a grid, exactly."""
        ...


@dataclass(frozen=True)
class AxisAligned:
    """Depth along the d coordinate axes only: level sets are boxes."""

    def size(self, d: int) -> int:
        return d

    def grid_bits(self, d: int) -> int:
        return DEFAULT_BITS

    def on_grid(self, grid: Grid, key: bytes) -> IntArray:
        return _checked(np.eye(grid.d, dtype=np.int64), grid)

    def in_data_units(self, d: int, key: bytes) -> list[list[Fraction]]:
        return _fractions(np.eye(d, dtype=np.int64))


@dataclass(frozen=True)
class _Drawn:
    """The axes, unless they are left out, and further directions drawn from public randomness."""

    directions: int | None = None
    axes: bool = True
    seed: int | None = None

    def __post_init__(self) -> None:
        if self.directions is not None:
            object.__setattr__(self, "directions", _count("directions", self.directions, 0 if self.axes else 1))
        if self.seed is not None:
            object.__setattr__(self, "seed", _count("seed", self.seed, 0))

    def size(self, d: int) -> int:
        drawn = default_directions(d) if self.directions is None else self.directions
        return drawn + d if self.axes else max(1, drawn)

    def grid_bits(self, d: int) -> int:
        return DEFAULT_BITS

    def on_grid(self, grid: Grid, key: bytes) -> IntArray:
        d = grid.d
        # |round(B u)|_1 <= B sqrt(d) + d/2 for a unit vector u.
        scale = LONGEST
        while (scale * (math.isqrt(d) + 1) + d) * max(grid.reach) >= LIMIT:
            scale //= 2
        shortest = max(_SHORTEST, 2 * math.isqrt(d) + 2)
        if scale < shortest:
            most = (LIMIT // (shortest * (math.isqrt(d) + 1) + d)).bit_length()
            rule = f"must give fewer than 2**{most} steps between the bounds, so that projections fit in 64 bits"
            raise ParameterError("resolution", rule, f"{max(grid.cells)} steps")
        return _checked(self._integers(d, scale, key), grid)

    def in_data_units(self, d: int, key: bytes) -> list[list[Fraction]]:
        return _fractions(self._integers(d, LONGEST, key))

    def _integers(self, d: int, scale: int, key: bytes) -> IntArray:
        if self.seed is not None:
            key = derived_key("directions", self.seed, d)
        count = self.size(d) - d if self.axes else self.size(d)
        drawn = np.rint(scale * self._units(count, d, key)).astype(np.int64)
        shortened = drawn // np.gcd.reduce(drawn, axis=1, keepdims=True)
        return np.vstack([np.eye(d, dtype=np.int64), shortened]) if self.axes else shortened

    def _units(self, count: int, d: int, key: bytes) -> FloatArray:
        """So many unit vectors besides the axes."""
        raise NotImplementedError


@dataclass(frozen=True)
class Random(_Drawn):
    """The d axes and `directions` directions uniform on the sphere of grid coordinates.

    Parameters
    ----------
    directions
        How many besides the axes. None: `default_directions(d)`.
    axes
        False leaves the axes out: the random Tukey depth of the paper. With the axes the error in each column
        scales with that column's own spread.
    seed
        Fixes the directions. None draws fresh public ones for each call.

    Privacy
    -------
    The directions are drawn before and without the data, from randomness of their own, and are published.
    """

    def _units(self, count: int, d: int, key: bytes) -> FloatArray:
        return unit_vectors(count, d, key)


@dataclass(frozen=True)
class Spread(_Drawn):
    """The d axes and `directions` directions that keep as far from each other, and from the axes, as they can.

    Fewer of them than of `Random` ones make level sets as round. No two are closer than
    `tukeydp.depth.spherical_codes.least_angle(size, d)`, up to rounding. In two columns they are evenly spaced.

    Parameters
    ----------
    directions
        How many besides the axes, at most 4096. None: `default_directions(d)`. One column has only one direction.
    axes
        False leaves the axes out; the rest then have the whole sphere to spread over.
    seed
        Fixes the directions. None takes a fresh public position for each call: a random rotation or, with the
        axes, columns swapped and reflected at random (in two columns with an even number there is but one).

    Privacy
    -------
    As for `Random`: chosen before and without the data, and published.

    Cost
    ----
    Found once per process for each d and number: 10 ms for 150 in d = 5, 50 ms for 300 in d = 20, seconds for
    thousands.

    Numerics
    --------
    With the axes, equal seeds give equal directions on every machine. A random rotation may differ in the last digit
    of an entry between machines; what was used is listed in the release.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.directions is not None and self.directions > _MOST_SPREAD:
            rule = f"must be at most {_MOST_SPREAD}, since more take too long to spread: td.Random has no limit"
            raise ParameterError("directions", rule, self.directions)

    def size(self, d: int) -> int:
        return super().size(d) if d > 1 else 1

    def _units(self, count: int, d: int, key: bytes) -> FloatArray:
        from tukeydp.depth.spherical_codes import spread_lines

        if not self.axes:
            rotation = np.linalg.qr(unit_vectors(d, d, key))[0]
            return spread_lines(count, d, axes=False) @ rotation
        order, sign = Keystream(key).words(0, 2 * d).reshape(2, d)
        lines = spread_lines(count + d, d, axes=True)[d:, np.argsort(order, kind="stable")]
        return np.where(sign >> np.uint64(63), -lines, lines)


@dataclass(frozen=True)
class AnyScale(_Drawn):
    """The d axes, and for columns of unknown scale two kinds of directions: half `Spread`, half in pairs of columns.

    Where one column is a thousand times wider than another, a direction that weighs them alike sees the wider one only,
    and the narrower one is left to its axis. Those in pairs weigh one column against the other from 1 : 1000 to
    1000 : 1, so that for any two columns some see both.

    Parameters
    ----------
    directions, axes
        As for `Spread`.
    seed
        As for `Random`.

    Privacy
    -------
    As for `Random`: drawn before and without the data, and published.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        Spread(self.directions, axes=self.axes)  # has the same limits

    def size(self, d: int) -> int:
        return super().size(d) if d > 1 else 1

    def _units(self, count: int, d: int, key: bytes) -> FloatArray:
        pairs = count // 2 if d > 1 else 0
        apart = Spread(count - pairs, axes=self.axes)._units(count - pairs, d, derived_key("apart", key))
        return np.vstack([apart, pair_lines(pairs, d, derived_key("pairs", key))])


@dataclass(frozen=True, init=False)
class Directions:
    """The given directions, in data units; each counts both of its halfspaces.

    Integer vectors on columns of equal step are used exactly as given. Others are scaled, exactly where 62
    bits allow it and rounded to integers where they do not. On a grid a float means its shortest decimal; for geometry
    without a grid (`td.tukey_depth`) it means its own binary value, like the floats of the data.
    """

    vectors: tuple[tuple[Fraction, ...], ...] = field(repr=False)
    given: tuple[tuple[Fraction, ...], ...] = field(repr=False, compare=False)

    def __init__(self, vectors: Any) -> None:
        try:
            rows = [list(row) for row in vectors]
        except TypeError:
            raise ParameterError("vectors", "must be one vector per row", type(vectors).__name__) from None
        if not rows or not rows[0] or len({len(row) for row in rows}) != 1:
            raise ParameterError("vectors", "must be at least one vector, all of one length", f"{len(rows)} rows")
        exact = tuple(tuple(rational("vectors", _plain(v)) for v in row) for row in rows)
        if not all(any(row) for row in exact):
            raise ParameterError("vectors", "must not contain a zero vector", "one")
        object.__setattr__(self, "vectors", exact)
        given = (
            (Fraction(float(v)) if isinstance(v, float | np.floating) else rational("vectors", _plain(v)) for v in row)
            for row in rows
        )
        object.__setattr__(self, "given", tuple(tuple(row) for row in given))

    def __repr__(self) -> str:
        return f"Directions({len(self.vectors)} vectors in d={len(self.vectors[0])})"

    def size(self, d: int) -> int:
        if d != len(self.vectors[0]):
            raise ParameterError("vectors", f"must have one entry for each of the {d} columns", len(self.vectors[0]))
        return len(self.vectors)

    def grid_bits(self, d: int) -> int:
        self.size(d)
        lengths = [sum(map(abs, v)) for v in self.vectors if all(e.denominator == 1 for e in v)]
        room = LIMIT.bit_length() - int(max(lengths, default=Fraction(1))).bit_length()
        return max(FEWEST_BITS, min(DEFAULT_BITS, room))

    def on_grid(self, grid: Grid, key: bytes) -> IntArray:
        self.size(grid.d)
        # <v, lower + step * i> differs from <v * step, i> by a constant, which moves no count.
        equal = len(set(grid.step)) == 1
        steps = [Fraction(1)] * grid.d if equal else list(grid.step)
        rows = []
        for vector in self.vectors:
            scaled = [v * s for v, s in zip(vector, steps, strict=True)]
            given = equal and all(v.denominator == 1 for v in scaled)
            rows.append([int(v) for v in scaled] if given else _integers_along(scaled, grid.reach))
        return _checked(rows, grid)

    def in_data_units(self, d: int, key: bytes) -> list[list[Fraction]]:
        self.size(d)
        return [list(row) for row in self.given]


@dataclass(frozen=True)
class Exact:
    """Tukey depth itself: every direction counts. Unchanged by rotation and stretching of the data.

    Cost
    ----
    One depth takes n log n steps in one or two columns, n^2 log n in three, n^3 log n in four, and a factor n more for
    each further column.
    """


def default_directions(d: int) -> int:
    """How many directions go with the d axes: nearly free here, and each rounds the level sets."""
    if d == 1:
        return 0
    # Past 32 columns each further direction costs more proposals than it gains accuracy.
    return min(30 * d, 300) if d <= 32 else int(300 * (32 / d) ** 3)


def starting_directions(d: int) -> int:
    """How many directions, besides the axes, the first envelope of exact depth has."""
    return {1: 0, 2: 75, 3: 190, 4: 375}.get(d, 500)


def unit_vectors(count: int, d: int, key: bytes) -> FloatArray:
    """Uniform on the sphere: Gaussian coordinates (Box-Muller) divided by their length."""
    words = Keystream(key).words(0, 2 * count * d).reshape(2, count, d)
    uniform = ((words >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53
    gauss = np.sqrt(-2.0 * np.log(uniform[0])) * np.cos(2.0 * math.pi * uniform[1])
    return gauss / np.linalg.norm(gauss, axis=1, keepdims=True)


def pair_lines(count: int, d: int, key: bytes) -> FloatArray:
    """Unit vectors that weigh one column against another, 1 : 1000 to 1000 : 1, with either sign in turn.

    All pairs get equally many, evenly spread on a logarithmic scale; or as many pairs as there are directions for get
    one each, at random.
    """
    half = -(-count // 2)
    pairs = max(1, d * (d - 1) // 2)
    words = Keystream(key).words(0, 3 * half).reshape(3, half)
    each = np.arange(half)
    if pairs <= half:
        first, second = (side[each % pairs] for side in np.triu_indices(d, 1))
    else:
        first = (words[0] % np.uint64(d)).astype(np.int64)
        second = (first + 1 + (words[1] % np.uint64(d - 1)).astype(np.int64)) % d
    of_this_pair = half // pairs + (each % pairs < half % pairs)
    # With one or two to a pair every pair would get the same, and none would see other weights.
    within = 0.5 if half >= 3 * pairs else words[2][each % pairs] / 2.0**64
    place = (each // pairs + within) / of_this_pair
    angle = np.repeat(np.arctan(_MOST_UNLIKE ** (2.0 * place - 1.0)), 2)
    lines = np.zeros((2 * half, d))
    every = np.arange(2 * half)
    lines[every, np.repeat(first, 2)] = np.cos(angle)
    lines[every, np.repeat(second, 2)] = np.where(every % 2, -1.0, 1.0) * np.sin(angle)
    return lines[:count]


def _integers_along(vector: Sequence[Fraction], reach: Sequence[int]) -> list[int]:
    """Integers parallel to `vector`: exactly if they fit below the limit, else rounded to the most that do."""
    common = math.lcm(*(v.denominator for v in vector))
    whole = [int(v * common) for v in vector]
    shrink = math.gcd(*whole)
    exact = [v // shrink for v in whole]
    span = sum(abs(v) * r for v, r in zip(exact, reach, strict=True))
    if span < LIMIT:
        return exact
    room = LIMIT - 1 - sum(reach)  # rounding moves each entry by at most one half
    rounded = [round(Fraction(v * room, span)) for v in exact]
    if max(map(abs, rounded)) < _SHORTEST:
        raise ParameterError("resolution", "must leave 8 bits for the directions: make it coarser", "too fine a grid")
    return rounded


def _checked(directions: Any, grid: Grid) -> IntArray:
    """The directions as int64, once no projection of a grid point can reach the limit."""
    if isinstance(directions, np.ndarray):
        spans = np.abs(directions).astype(np.float64) @ np.array(grid.reach, dtype=np.float64)
        if spans.max() < LIMIT / 2:  # far enough below for float rounding to be harmless
            return directions
        directions = directions.tolist()
    rows = directions
    for row in rows:
        if sum(abs(v) * r for v, r in zip(row, grid.reach, strict=True)) >= LIMIT:
            rule = "must be coarse enough that every projection stays below 2**62"
            raise ParameterError("resolution", rule, f"{max(grid.cells)} steps between the bounds")
    return np.array(rows, dtype=np.int64)


def _fractions(vectors: IntArray) -> list[list[Fraction]]:
    return [[Fraction(c) for c in row] for row in vectors.tolist()]


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _count(parameter: str, value: Any, least: int) -> int:
    try:
        count = operator.index(value)
    except TypeError:
        count = least - 1
    if isinstance(value, bool) or count < least:
        raise ParameterError(parameter, f"must be an integer >= {least}", repr(value)[:60])
    return count
