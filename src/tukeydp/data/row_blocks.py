"""Blocks of rows as the caller has them: arrays of floats, or frames of the caller's own kind.

Each block is a fresh copy that shares nothing with the table or with another block: no index, no list of categories, no
attributes, no mutable cell. Made-up rows of the same columns, nobody's data, serve to try a statistic out.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from tukeydp.arrays import FloatArray, IntArray
from tukeydp.data.grid import checked_bounds
from tukeydp.data.tables import is_array, read_table
from tukeydp.errors import ParameterError

_SEED = 14  # of made-up rows: public, any number serves


class Rows(Protocol):
    """Rows that can be handed out in blocks. `n` and `names` are public."""

    @property
    def n(self) -> int: ...
    @property
    def names(self) -> tuple[str, ...] | None: ...

    def take(self, places: IntArray) -> Any:
        """These rows in this order, as a copy of their own."""
        ...

    def without(self, block: Any, target: Any) -> tuple[Any, Any]:
        """The block without its target column, and that column."""
        ...

    def made_up(self, rows: int) -> Iterator[Any]:
        """Blocks of made-up rows of the same columns: numbers of several kinds, as a statistic may want them."""
        ...


def rows_of(x: Any, clip: Any = None, name: str = "x") -> Rows:
    """The rows of an array, a list or a frame."""
    if is_array(x) or _is_series(x):
        table = read_table(x, name)
        flat = _is_series(x) or _is_flat(x)
        ends = None if clip is None else checked_bounds(table.d, clip, table.columns)
        return ArrayRows(table.cells, table.columns, flat, None if ends is None else _floats(ends))
    if clip is not None:
        rule = "must be left out for frames: clip inside the statistic, which sees its own block only"
        raise ParameterError("clip", rule, "one")
    return FrameRows.of(x, name)


def _is_flat(x: Any) -> bool:
    """One column given as such. Of a list the first element tells: all are rows or none is, as the reader has seen.

    numpy is not asked about lists: a cell that is a list itself would make it raise.
    """
    return not isinstance(x[0], list | tuple) and np.ndim(x[0]) == 0 if isinstance(x, list | tuple) else np.ndim(x) == 1


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

    @property
    def n(self) -> int:
        return len(self.cells)

    def take(self, places: IntArray) -> FloatArray:
        return self._shaped(self.cells[places])

    def _shaped(self, block: FloatArray) -> FloatArray:
        if self.ends is not None:
            block = np.clip(block, *self.ends)  # cell by cell
        return block[:, 0].copy() if self.flat else block

    def without(self, block: FloatArray, target: Any) -> tuple[FloatArray, FloatArray]:
        j = target if self.names is None or target not in self.names else self.names.index(target)
        return np.delete(block, j, axis=1), block[:, j].copy()

    def made_up(self, rows: int) -> Iterator[FloatArray]:
        for numbers in _made_up_numbers(rows, self.cells.shape[1]):
            yield self._shaped(numbers)


@dataclass(frozen=True)
class FrameRows:
    """Rows of a frame, as narwhals sees it, under the type that the caller has."""

    frame: Any

    @classmethod
    def of(cls, x: Any, name: str) -> FrameRows:
        import narwhals.stable.v2 as nw

        try:
            # A list of categories is made from all rows of a table: a block may know the values of its own only.
            frame = nw.from_native(_plain_pandas(x) if _is_pandas(x) else x, eager_only=True)
            listed = [c for c, kind in frame.schema.items() if isinstance(kind, nw.Categorical | nw.Enum)]
            if listed:
                frame = frame.with_columns(*(nw.col(c).cast(nw.String) for c in listed))
        except Exception:  # a message might quote cells
            rule = "must be an array or a frame with distinct column names that is held in memory"
            raise ParameterError(name, rule, type(x).__name__) from None
        if not len(frame) or not frame.columns:
            raise ParameterError(name, "must have at least one row and one column", f"shape {frame.shape}")
        return cls(frame)

    @property
    def n(self) -> int:
        return len(self.frame)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(str(c) for c in self.frame.columns)

    def take(self, places: IntArray) -> Any:
        return _own(self.frame[places.tolist()].to_native())

    def without(self, block: Any, target: Any) -> tuple[Any, Any]:
        import narwhals.stable.v2 as nw

        frame = nw.from_native(block, eager_only=True)
        return frame.drop(target).to_native(), frame[target].to_native()

    def made_up(self, rows: int) -> Iterator[Any]:
        import narwhals.stable.v2 as nw

        schema = self.frame.schema
        for numbers in _made_up_numbers(rows, len(schema)):
            made = {c: _made_up_column(kind, numbers[:, j]) for j, (c, kind) in enumerate(schema.items())}
            frame = nw.from_dict(made, backend=self.frame.implementation)
            known = [c for c, kind in schema.items() if not isinstance(kind, nw.Object | nw.Unknown)]
            yield _own(frame.with_columns(*(nw.col(c).cast(schema[c]) for c in known)).to_native())


def _is_pandas(x: Any) -> bool:
    return type(x).__module__.partition(".")[0] == "pandas"


def _plain_pandas(x: Any) -> Any:
    """The same cells without attributes, categories as the values they stand for."""
    import pandas as pd

    x = x.copy(deep=False)
    x.attrs = {}
    for j, kind in enumerate(x.dtypes):
        if isinstance(kind, pd.CategoricalDtype):
            x.isetitem(j, x.iloc[:, j].astype(object))
    return x


def _own(block: Any) -> Any:
    """Without what pandas carries along: the index (a row's place), attributes, and cells that are shared objects."""
    if not _is_pandas(block):
        return block
    block = block.reset_index(drop=True).copy()
    block.attrs = {}
    for j, kind in enumerate(block.dtypes):
        if kind == np.dtype(object):
            block.isetitem(j, copy.deepcopy(block.iloc[:, j].tolist()))
    return block


def _made_up_column(kind: Any, numbers: FloatArray) -> list[Any]:
    import narwhals.stable.v2 as nw

    if kind.is_float() or isinstance(kind, nw.Object | nw.Unknown):
        return list(numbers.tolist())
    if kind.is_numeric():  # whole numbers: two values, which serve as counts and as labels of classes
        return [int(v > 0.5) for v in numbers.tolist()]
    if isinstance(kind, nw.Boolean):
        return [bool(v > 0.5) for v in numbers.tolist()]
    if isinstance(kind, nw.String):
        return ["a" if v > 0.5 else "b" for v in numbers.tolist()]
    return [None] * len(numbers)


def _made_up_numbers(rows: int, columns: int) -> Iterator[FloatArray]:
    """Bell-shaped ones, shares from 0 to 1, and as many zeros as ones (labels of two classes)."""
    rng = np.random.default_rng(_SEED)
    yield rng.normal(size=(rows, columns))
    yield rng.random((rows, columns))
    labels = np.tile((np.arange(rows) % 2).astype(np.float64)[:, np.newaxis], (1, columns))
    yield rng.permuted(labels, axis=0)
