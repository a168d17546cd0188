"""Blocks of rows as a statistic gets them: arrays of floats, or frames of the caller's own library.

Invariant (docs/proofs/aggregate.md, section 2): a block is a function of the names of the columns, of the types that
the caller declares, and of the block's own rows. The types that a frame has are no part of it. Libraries infer them
from all cells: one missing cell makes whole numbers floats, one text makes a column of numbers text. So every cell is
read by itself, and each block is built anew from the cells of its rows: no index, dictionary, metadata, buffer or
object comes from the table. Made-up rows of the same columns, nobody's data, serve to try a statistic out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from tukeydp.arrays import FloatArray, IntArray
from tukeydp.data.arrays_and_lists import width_of_rows
from tukeydp.data.block_cells import READERS, TYPES, Cell, plain_floats, read_each, typed
from tukeydp.data.block_frames import Library, library_of, no_frame
from tukeydp.data.grid import checked_bounds
from tukeydp.data.tables import Table, is_array, read_table
from tukeydp.errors import INTERRUPTIONS, ParameterError
from tukeydp.parameters import brief

_SEED = 14  # of made-up rows: public, any number serves


class Rows(Protocol):
    """Rows that can be handed out in blocks. `n` and `names` are public."""

    @property
    def n(self) -> int: ...
    @property
    def names(self) -> tuple[str, ...] | None: ...
    @property
    def guesses(self) -> tuple[str, ...]:
        """What made-up rows may take columns without a declared type for, the likeliest first."""
        ...

    def take(self, places: IntArray) -> Any:
        """These rows in this order, as a copy of their own."""
        ...

    def without(self, block: Any, target: Any) -> tuple[Any, Any]:
        """The block without its target column, and that column."""
        ...

    def made_up(self, rows: int, guess: str = "number") -> Iterator[Any]:
        """Blocks of made-up rows of the same columns: numbers of several kinds, as a statistic may want them."""
        ...


def rows_of(x: Any, clip: Any = None, types: Mapping[str, str] | None = None, name: str = "x") -> Rows:
    """The rows of an array, a list or a frame."""
    if isinstance(x, Table) or is_array(x) or _is_series(x):
        if types is not None:
            raise ParameterError("types", "must be left out for arrays, whose cells are numbers", brief(types))
        table = read_table(x, name)
        flat = not isinstance(x, Table) and (_is_series(x) or _is_flat(x))
        ends = None if clip is None else checked_bounds(table.d, clip, table.columns)
        return ArrayRows(table.cells, table.columns, flat, None if ends is None else _floats(ends))
    if clip is not None:
        rule = "must be left out for frames: clip inside the statistic, which sees its own block only"
        raise ParameterError("clip", rule, "one")
    return FrameRows.of(x, types, name)


def _is_flat(x: Any) -> bool:
    """One column given as such; numpy is not asked about lists, of which a cell may be a list itself."""
    if isinstance(x, list | tuple):
        return width_of_rows(x) is None
    return np.ndim(x) == 1 and getattr(getattr(x, "dtype", None), "names", None) is None  # fields are columns


def _is_series(x: Any) -> bool:
    # Of the type: asking a lazy frame for its columns warns.
    return not is_array(x) and not hasattr(type(x), "columns") and not hasattr(type(x), "column_names")


def _floats(ends: Any) -> tuple[FloatArray, FloatArray]:
    lower, upper = (np.array([float(v) for v in side]) for side in ends)
    return lower, upper


@dataclass(frozen=True)
class ArrayRows:
    """Rows of floats, NaN where a cell is missing; `flat` for one column given as such."""

    cells: FloatArray
    names: tuple[str, ...] | None
    flat: bool
    ends: tuple[FloatArray, FloatArray] | None
    guesses = ("number",)

    @property
    def n(self) -> int:
        return len(self.cells)

    def take(self, places: IntArray) -> FloatArray:
        return self._shaped(self.cells[places])

    def _shaped(self, block: FloatArray) -> FloatArray:
        if self.ends is not None:
            block = np.clip(block, *self.ends)  # cell by cell
        # Row by row in memory, whatever the table's layout: sums are rounded in the order of memory.
        return plain_floats(block[:, 0] if self.flat else block)

    def without(self, block: FloatArray, target: Any) -> tuple[FloatArray, FloatArray]:
        j = target if self.names is None or target not in self.names else self.names.index(target)
        return np.delete(block, j, axis=1), block[:, j].copy()

    def made_up(self, rows: int, guess: str = "number") -> Iterator[FloatArray]:
        for numbers in _made_up_numbers(rows, self.cells.shape[1]):
            yield self._shaped(numbers)


@dataclass(frozen=True)
class FrameRows:
    """Rows of a frame: its cells, column by column, and what builds a frame of the caller's library from some of them.

    `columns` are floats (NaN: missing) or objects (`Cell`); `declared` has None for a column without a declared type,
    whose type each block decides by its own cells.
    """

    library: type[Library]
    labels: tuple[Any, ...]
    declared: tuple[str | None, ...]
    columns: tuple[NDArray[Any], ...]
    n: int

    @classmethod
    def of(cls, x: Any, types: Mapping[str, str] | None, name: str) -> FrameRows:
        library = library_of(x, name)
        try:
            labels, n = library.schema(x)
            named = [str(label) for label in labels]
            if len(set(named)) != len(named):
                raise no_frame(x, name)
            if not n or not named:
                raise ParameterError(name, "must have at least one row and one column", f"shape {(n, len(named))}")
            declared = _declared(types, named)
            columns = [
                library.column(x, j, READERS[kind], f"{name} column {named[j]!r}") for j, kind in enumerate(declared)
            ]
        except (ParameterError, MemoryError, *INTERRUPTIONS):
            raise
        except BaseException:  # a message might quote cells
            raise no_frame(x, name) from None
        return cls(library, tuple(labels), declared, tuple(columns), n)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(str(label) for label in self.labels)

    @property
    def guesses(self) -> tuple[str, ...]:
        return ("number", "text") if None in self.declared else ("number",)

    def take(self, places: IntArray) -> Any:
        return self._built([column[places] for column in self.columns])

    def _built(self, cells: Sequence[NDArray[Any]]) -> Any:
        columns = [typed(block, kind) for block, kind in zip(cells, self.declared, strict=True)]
        return self.library.frame(self.labels, columns)

    def without(self, block: Any, target: Any) -> tuple[Any, Any]:
        return self.library.without(block, self.labels[self.names.index(target)])

    def made_up(self, rows: int, guess: str = "number") -> Iterator[Any]:
        for numbers in _made_up_numbers(rows, len(self.labels)):
            columns = [_made_up_column(kind or guess, numbers[:, j]) for j, kind in enumerate(self.declared)]
            yield self._built(columns)


def _declared(types: Any, names: Sequence[str]) -> tuple[str | None, ...]:
    if types is None:
        return (None,) * len(names)
    if not isinstance(types, Mapping) or not all(isinstance(kind, str) and kind in TYPES for kind in types.values()):
        raise ParameterError("types", f"must be a dict of column names to one of {', '.join(TYPES)}", brief(types))
    unknown = [label for label in types if str(label) not in names]
    if unknown:
        raise ParameterError("types", "must name columns of the frame", brief(unknown[0]))
    kinds = {str(label): kind for label, kind in types.items()}
    return tuple(kinds.get(label) for label in names)


def _made_up_column(kind: str, numbers: FloatArray) -> NDArray[Any]:
    """Numbers, or for any other type two or more values made from them."""
    if kind == "number":
        return numbers.copy()
    made: dict[str, Callable[[float], Cell]] = {
        "bool": lambda v: v > 0.5,
        "text": lambda v: "a" if v > 0.5 else "b",
        "date": lambda v: datetime(2000, 1, 1) + timedelta(days=round(100 * v)),
    }
    return read_each(numbers.tolist(), made[kind])


def _made_up_numbers(rows: int, columns: int) -> Iterator[FloatArray]:
    """Bell-shaped ones, shares from 0 to 1, and as many zeros as ones (labels of two classes)."""
    rng = np.random.default_rng(_SEED)
    yield rng.normal(size=(rows, columns))
    yield rng.random((rows, columns))
    labels = np.tile((np.arange(rows) % 2).astype(np.float64)[:, np.newaxis], (1, columns))
    yield rng.permuted(labels, axis=0)
