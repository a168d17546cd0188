"""Cells to integers: the public grid, and columns between public bounds. Each row by itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from tukeydp.trusted.parameters import Bounds, FloatArray, IntArray, ParameterError, brief, in_order, rational, show

# The public integer grid: rows become int64 coordinates, a grid point becomes floats again.
#
# The grid is fixed by bounds and resolution alone. Column j has the points lower_j + i * step_j for i = 0 ... cells_j;
# inside the library a point is counted from the middle of its column, so that coordinates are as small as they can be
# and projections have the most room (`LIMIT`).

# Every projection of a grid point stays below this in absolute value, so int64 sums and differences of two
# projections cannot overflow. Checked from public numbers before any data is touched.
LIMIT = 2**62
# Steps of a column, as a power of two: by default, with 18 of the 62 bits left for directions, and the fewest that long
# directions may push it down to. Accuracy only: the overflow check is apart.
DEFAULT_BITS = 44
FEWEST_BITS = 16
LARGEST_BOUND = 10**300  # so that no difference of floats in the box overflows
SMALLEST_STEP = 1e-300  # below it a float division by the step loses digits, and at last is 0/0
_ROWS_AT_A_TIME = 2**12  # so that the floats in between stay in the cache; speed and memory only
_A_PAIR = "a tuple (lower, upper), each a number or one per column, or a dict of column name -> (lower, upper)"


@dataclass(frozen=True)
class Grid:
    """The points lower + i * step, i = 0 ... cells, column by column. All numbers are public."""

    lower: tuple[Fraction, ...]
    step: tuple[Fraction, ...]
    cells: tuple[int, ...]

    @property
    def d(self) -> int:
        return len(self.cells)

    def of(self, columns: slice) -> Grid:
        """The grid of some columns."""
        return Grid(self.lower[columns], self.step[columns], self.cells[columns])

    @property
    def low(self) -> IntArray:
        """Smallest coordinate of each column, counted from the middle."""
        return np.array([-(c // 2) for c in self.cells], dtype=np.int64)

    @property
    def high(self) -> IntArray:
        return np.array([c - c // 2 for c in self.cells], dtype=np.int64)

    @property
    def extent(self) -> tuple[int, ...]:
        """Largest absolute coordinate of each column."""
        return tuple(c - c // 2 for c in self.cells)

    def snap(self, cells: FloatArray) -> IntArray:
        """Clip every row to the box and round it to the nearest grid point, dropping rows with a missing cell.

        Each row is mapped by itself: subtraction, division, rounding and clipping are correctly rounded
        elementwise, so a row's coordinates cannot depend on its neighbours or its place in the table.
        Infinite cells are beyond every bound and are clipped.
        """
        lower = np.array([float(v) for v in self.lower])
        step = np.array([float(v) for v in self.step])
        last = np.array(self.cells, dtype=np.int64)
        count = last.astype(np.float64)
        rows = np.empty(cells.shape, dtype=np.int64)
        filled = 0
        for start in range(0, len(cells), _ROWS_AT_A_TIME):
            some = cells[start : start + _ROWS_AT_A_TIME]
            missing = np.isnan(some)
            complete = some[~missing.any(axis=1)] if missing.any() else some
            with np.errstate(all="ignore"):
                index = complete - lower
                index /= step
                np.rint(index, out=index)
                np.clip(index, 0.0, count, out=index)
            mapped = rows[filled : filled + len(index)]
            np.minimum(index.astype(np.int64), last, out=mapped)
            mapped += self.low
            filled += len(mapped)
        return rows[:filled]

    def point(self, coordinates: Sequence[int]) -> FloatArray:
        """The grid point as floats; post-processing, each the float nearest to the exact rational."""
        return np.array([float(v) for v in self.rational_point(coordinates)], dtype=np.float64)

    def rational_point(self, coordinates: Sequence[int]) -> list[Fraction]:
        """The grid point without rounding."""
        offsets = (int(c) + cells // 2 for c, cells in zip(coordinates, self.cells, strict=True))
        return [a + i * s for a, i, s in zip(self.lower, offsets, self.step, strict=True)]

    def to_dict(self) -> dict[str, Any]:
        upper = [a + c * s for a, c, s in zip(self.lower, self.cells, self.step, strict=True)]
        return {
            "lower": [float(v) for v in self.lower],
            "upper": [float(v) for v in upper],
            "step": [float(v) for v in self.step],
            "steps": list(self.cells),
        }


def bounded_grid(
    d: int, *, bounds: Any, resolution: Any, bits: int = DEFAULT_BITS, columns: Sequence[str] | None = None
) -> Grid:
    """The grid on the box `bounds`; without a resolution each column gets 2**bits steps."""
    lows, highs = checked_bounds(d, bounds, columns)
    widths = [b - a for a, b in zip(lows, highs, strict=True)]
    if resolution is None:
        steps = [w / 2**bits for w in widths]
    else:
        steps = per_column("resolution", resolution, d, columns)
    for s, w in zip(steps, widths, strict=True):
        if not 0 < s <= w:
            raise ParameterError("resolution", "must be > 0 and at most upper - lower", show(s))
        if float(s) < SMALLEST_STEP:
            raise ParameterError("resolution", f"must be at least {SMALLEST_STEP}", show(s))
        if w // s >= LIMIT:
            raise ParameterError("resolution", "must give fewer than 2**62 steps between the bounds", show(s))
    cells = tuple(w // s for w, s in zip(widths, steps, strict=True))
    return Grid(lower=lows, step=tuple(steps), cells=cells)


def require_bounds(bounds: Any, otherwise: str) -> None:
    """Bounds that were left out, in words; `otherwise` says what else there is."""
    if bounds is None:
        rule = f"must be given: bounds=(lower, upper), what is known of the columns without looking; {otherwise}"
        raise ParameterError("bounds", rule, "none")


def checked_bounds(d: int, bounds: Any, columns: Sequence[str] | None = None) -> Bounds:
    """Lower and upper ends, one of each per column.

    `bounds` is (lower, upper), scalars or one per column, or a dict of column name -> (lower, upper) where the table
    has names, or a data frame with the columns `lower` and `upper`, and `column` or an index for the names. A list of
    pairs is refused: for two columns it could mean either.

    >>> lows, highs = checked_bounds(2, {"age": (0, 120), "pulse": (30, 220)}, ("age", "pulse"))
    >>> [str(v) for v in (*lows, *highs)]
    ['0', '30', '120', '220']
    """
    bounds = _of_frame(bounds)
    if isinstance(bounds, Mapping):
        lower, upper = _ends_by_name(bounds, columns)
    else:
        if _is_list_of_pairs(d, bounds):
            raise ParameterError("bounds", f"must be {_A_PAIR}; a list of pairs is ambiguous", brief(bounds))
        try:
            ends: Any = () if isinstance(bounds, Iterator) else bounds
            lower, upper = ends
        except (TypeError, ValueError):
            raise ParameterError("bounds", f"must be {_A_PAIR}", brief(bounds)) from None
    lows, highs = tuple(per_column("bounds", lower, d)), tuple(per_column("bounds", upper, d))
    for a, b in zip(lows, highs, strict=True):
        if max(abs(a), abs(b)) > LARGEST_BOUND:
            raise ParameterError("bounds", f"must be at most {float(LARGEST_BOUND)} in size", f"({show(a)}, {show(b)})")
        if a >= b:
            raise ParameterError("bounds", "must have lower < upper in every column", f"({show(a)}, {show(b)})")
    return lows, highs


def _of_frame(bounds: Any) -> Any:
    """A data frame of bounds as a dict; anything else as it is."""
    listed = getattr(bounds, "columns", None)
    if listed is None or not {"lower", "upper"} <= {str(name) for name in listed}:
        return bounds
    names = bounds["column"] if "column" in {str(name) for name in listed} else getattr(bounds, "index", ())
    ends = zip(names, bounds["lower"], bounds["upper"], strict=True)
    return {str(name): (lower, upper) for name, lower, upper in ends}


def _is_list_of_pairs(d: int, bounds: Any) -> bool:
    """Whether `bounds` seems to hold (lower, upper) column by column.

    Two pairs for two columns are ambiguous: as a list they are refused, as a tuple they are (lower, upper).
    """
    if not isinstance(bounds, list | tuple) or not all(isinstance(v, list | tuple) and len(v) == 2 for v in bounds):
        return False
    return isinstance(bounds, list) if d == len(bounds) == 2 else d != 2 and len(bounds) > 0


def _ends_by_name(bounds: Mapping[Any, Any], columns: Sequence[str] | None) -> tuple[list[Any], list[Any]]:
    pairs = in_order("bounds", bounds, columns)
    for name, pair in zip(columns or (), pairs, strict=True):
        if not isinstance(pair, list | tuple | np.ndarray) or len(pair) != 2:
            raise ParameterError("bounds", "must be {name: (lower, upper), ...}", f"{brief(pair)} for {brief(name)}")
    return [pair[0] for pair in pairs], [pair[1] for pair in pairs]


def unbounded_grid(d: int, *, resolution: Any, bits: int, columns: Sequence[str] | None = None) -> Grid:
    """The grid around zero with 2**bits steps in each column, for data without bounds."""
    steps = per_column("resolution", resolution, d, columns)
    for s in steps:
        if s <= 0 or float(s) < SMALLEST_STEP or s * 2**bits > LARGEST_BOUND:
            raise ParameterError("resolution", f"must be > 0 and in the range {SMALLEST_STEP} to 1e280", show(s))
    return Grid(lower=tuple(-s * 2 ** (bits - 1) for s in steps), step=tuple(steps), cells=(2**bits,) * d)


def per_column(parameter: str, value: Any, d: int, columns: Sequence[str] | None = None) -> list[Fraction]:
    """A scalar for all columns, one number for each, or a dict of column name -> number where columns have names."""
    value = in_order(parameter, value, columns)
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, str) or not isinstance(value, Iterable):
        return [rational(parameter, value)] * d
    # An iterator would be empty for whoever asks next: a parameter that was checked, and paid for, would be wrong.
    values = [] if isinstance(value, Iterator) else list(value)
    if len(values) != d:
        raise ParameterError(parameter, f"must be a number or one number for each of the {d} columns", brief(value))
    return [rational(parameter, v) for v in values]


# Columns between public bounds: cells become numbers from -1 to 1, and results become data units again.

_LARGEST = Fraction(10**300)  # what noise beyond all measure becomes: the largest float there is to show


@dataclass(frozen=True)
class BoundedColumns:
    """The bounds of each column. All numbers are public."""

    lower: tuple[Fraction, ...]
    upper: tuple[Fraction, ...]

    @property
    def d(self) -> int:
        return len(self.lower)

    @property
    def ends(self) -> Bounds:
        """As a release records them."""
        return self.lower, self.upper

    @property
    def widths(self) -> FloatArray:
        return np.array([float(b - a) for a, b in zip(self.lower, self.upper, strict=True)])

    def between_0_and_1(self, j: int) -> bool:
        """Whether column j is declared to hold shares, or yes/no answers."""
        return self.lower[j] == 0 and self.upper[j] == 1

    def relative(self, cells: FloatArray) -> FloatArray:
        """Cells moved between their bounds, -1 at the lower and 1 at the upper; missing ones stay missing.

        Elementwise, so that what a cell becomes depends on no other.
        """
        ends = [(float(a), float(b)) for a, b in zip(self.lower, self.upper, strict=True)]
        middle = np.array([a / 2 + b / 2 for a, b in ends])
        half = np.array([b / 2 - a / 2 for a, b in ends])
        with np.errstate(all="ignore"):
            return np.asarray(np.clip((cells - middle) / half, -1.0, 1.0))

    def grid(self, steps: Sequence[int]) -> Grid:
        """So many steps between the bounds of each column."""
        step = tuple((b - a) / s for a, b, s in zip(self.lower, self.upper, steps, strict=True))
        return Grid(self.lower, step, tuple(steps))

    def in_units(self, relative: Sequence[Fraction]) -> FloatArray:
        """A released point in data units: post-processing, each the float nearest to the exact rational."""
        exact = (a + (b - a) * (1 + v) / 2 for a, b, v in zip(self.lower, self.upper, relative, strict=True))
        return np.array([float(max(-_LARGEST, min(v, _LARGEST))) for v in exact])


def bounded_columns(d: int, bounds: Any, names: Sequence[str] | None = None) -> BoundedColumns:
    lows, highs = checked_bounds(d, bounds, names)
    for a, b in zip(lows, highs, strict=True):
        if not float(b) / 2 - float(a) / 2 >= SMALLEST_STEP:  # a division by less loses digits, and at last is 0/0
            rule = f"must be apart as floats, by {2 * SMALLEST_STEP} at least"
            raise ParameterError("bounds", rule, f"({show(a)}, {show(b)})")
    return BoundedColumns(lows, highs)


def relative_grid(steps: Sequence[int]) -> Grid:
    """The grid from -1 to 1 with so many steps in each column."""
    return Grid((Fraction(-1),) * len(steps), tuple(Fraction(2, s) for s in steps), tuple(steps))
