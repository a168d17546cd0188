"""Columns of an outcome by name or position, as in a dict."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from difflib import get_close_matches
from typing import Any

import numpy as np

from tukeydp.arrays import FloatArray


class ByColumn:
    """What a release and a refusal have of a dict: the columns' names lead to released values.

    Where columns have no names, their positions 0, 1, ... are the keys. A position always works too.
    """

    columns: tuple[str, ...] | None
    d: int

    def values(self) -> list[Any]:
        """The released values, column by column; None for each where nothing was released."""
        raise NotImplementedError

    def keys(self) -> list[str] | list[int]:
        """The columns' names; positions where there are none."""
        return list(range(self.d)) if self.columns is None else list(self.columns)

    def items(self) -> list[tuple[str | int, Any]]:
        """Pairs of name and released value."""
        return list(zip(self.keys(), self.values(), strict=True))

    def __len__(self) -> int:
        return self.d

    def __iter__(self) -> Iterator[str | int]:
        return iter(self.keys())

    def __contains__(self, key: object) -> bool:
        return key in self.keys()

    def __getitem__(self, key: str | int) -> Any:
        return self.values()[self._place(key) if isinstance(key, str) else _position(key, self.d)]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> FloatArray:
        """The released values, NaN where nothing was released; else numpy would make an array of the names."""
        return np.array(self.values(), dtype=np.float64 if dtype is None else dtype)

    def _place(self, name: str) -> int:
        if self.columns is None:
            raise KeyError(f"the columns have no names; use a position from 0 to {self.d - 1}, not {name!r}")
        found = [j for j, column in enumerate(self.columns) if column == name]
        if len(found) == 1:
            return found[0]
        if found:
            raise KeyError(f"{name!r} names {len(found)} columns; use a position")
        alike = [column for column in self.columns if column.casefold() == name.casefold()]
        close = alike or get_close_matches(name, self.columns, n=1)
        hint = f"; did you mean {close[0]!r}?" if close else f"; there are {', '.join(map(repr, self.columns))}"
        raise KeyError(f"no column {name!r}{hint}")


def _position(key: Any, d: int) -> int:
    try:
        place = operator.index(key)
    except TypeError:
        raise TypeError(f"a column is found by its name or position, not by {type(key).__name__}") from None
    if not -d <= place < d:
        raise IndexError(f"there are {d} columns: a position is at most {d - 1}; got {place}")
    return place
