"""Tables and their neighbours, hostile ones first: what `called.py` runs public calls on.

Tables by groups or persons have keys or ids in their last column.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tukeydp.arrays import FloatArray

FAR = 1e9
_OF_A_PERSON = 3  # rows


@dataclass(frozen=True, eq=False)
class Neighbour:
    """A table that differs in one row, or person. `removed`: which of how many rows is gone."""

    name: str
    y: FloatArray
    removed: tuple[int, int] | None = None


@dataclass(frozen=True, eq=False)
class Family:
    """A table and neighbours of it.

    `in_steps`: the draws on it are one step after the other, so that each may meet the neighbour that is worst for it.
    Not so for groups: what one of them loses where a row leaves it, another cannot lose to another neighbour besides.
    `quick`: also in a quick run.
    """

    name: str
    x: FloatArray
    neighbours: tuple[Neighbour, ...]
    in_steps: bool = True
    quick: bool = True


Families = Callable[[np.random.Generator], list[Family]]


def rows_of(random: np.random.Generator, n: int, d: int) -> FloatArray:
    """Rows around 0, a tenth of their cells missing."""
    x = random.normal(size=(n, d))
    x[random.random(x.shape) < 0.1] = np.nan
    return x


def swapped(n: int, d: int = 2, scale: float = 1.0, far: float = FAR) -> Families:
    """One row is another: far out, missing, infinite; also in tables of ties, of one value, of nothing."""

    def families(random: np.random.Generator) -> list[Family]:
        ends = far * (-1.0) ** np.arange(d)
        infinite = np.full(d, np.inf if far == FAR else far)
        missing, middle = np.full(d, np.nan), np.zeros(d)
        tied = scale * random.integers(0, 3, size=(n, d)).astype(np.float64)
        others = {
            "at the other end": ends,
            "missing": missing,
            "partly missing": np.where(np.arange(d) % 2, np.nan, far),
            "infinite": infinite,
            "in the middle": middle,
            "any other": scale * random.normal(size=d),
        }
        x = scale * rows_of(random, n, d)
        rest = {"at the other end": ends, "missing": missing}
        return [
            _family(random, "a far row", x, -ends, others),
            _family(random, "one row alone", np.full((n, d), np.nan), middle + scale, rest),
            replace(_family(random, "ties", tied, middle, {"at the other end": middle + 2.0 * scale}), quick=False),
            replace(_family(random, "rows all equal", np.full((n, d), scale), middle + scale, rest), quick=False),
        ]

    return families


def _family(
    random: np.random.Generator, name: str, x: FloatArray, row: Any, others: dict[str, Any], in_steps: bool = True
) -> Family:
    """One row of x, and others in its place."""
    x, place = x.copy(), int(random.integers(len(x)))
    x[place] = row
    return Family(name, x, tuple(Neighbour(other, _with(x, place, value)) for other, value in others.items()), in_steps)


def _with(x: FloatArray, place: int, row: Any) -> FloatArray:
    y = x.copy()
    y[place] = row
    return y


def one_less(n: int, d: int = 2, scale: float = 1.0) -> Families:
    """One row is not there: far out, missing, one of many equal ones, or the only one."""

    def families(random: np.random.Generator) -> list[Family]:
        x = scale * rows_of(random, n, d)
        ends = FAR * (-1.0) ** np.arange(d)
        gone = {
            "a far row less": ends,
            "a missing row less": np.full(d, np.nan),
            "a row less that is partly missing": np.where(np.arange(d) % 2, np.nan, FAR),
            "any row less": scale * random.normal(size=d),
        }
        places = random.choice(n, len(gone), replace=False).tolist()
        x[places] = np.array(list(gone.values()))
        equal = np.full((n, d), scale)
        return [
            Family("rows", x, tuple(_without(name, x, i) for name, i in zip(gone, places, strict=True))),
            Family("rows all equal", equal, (_without("one less", equal, n // 2),)),
            Family("one row alone", equal[:1], (_without("no row left", equal[:1], 0),)),
        ]

    return families


def _without(name: str, x: FloatArray, place: int) -> Neighbour:
    return Neighbour(name, np.delete(x, place, axis=0), (place, len(x)))


def moved(n: int, d: int = 2) -> Families:
    """The last column is the group, 0, 1, or one that is not asked for."""

    def families(random: np.random.Generator) -> list[Family]:
        ends = (FAR * (-1.0) ** np.arange(d)).tolist()
        other_ends, missing, middle = [-v for v in ends], [np.nan] * d, [0.0] * d
        x = np.column_stack([rows_of(random, n, d), random.integers(0, 3, n)])
        few = np.column_stack([rows_of(random, n, d), np.zeros(n)])
        away = {"in another group": [*other_ends, 1], "in no group": [*ends, 2], "missing": [*missing, 0]}
        within = {"at the other end": [*other_ends, 0], "missing": [*missing, 0], "in the middle": [*middle, 0]}
        return [
            _family(random, "a row of a group", x, [*ends, 0], away, False),
            _family(random, "a row that stays in its group", x, [*ends, 0], within),
            _family(random, "the only row of a group", few, [*ends, 1], {"in another": [*ends, 0]}, False),
        ]

    return families


def another_person(n: int, d: int = 2, scale: float = 1.0) -> Families:
    """The last column is an id: somebody has other rows, and more or fewer of them."""

    def families(random: np.random.Generator) -> list[Family]:
        x = np.column_stack([scale * rows_of(random, n, d), np.arange(n) // _OF_A_PERSON])
        person = int(random.integers(n // _OF_A_PERSON))
        mine = x[:, -1] == person
        ends = FAR * (-1.0) ** np.arange(d)
        x[mine, :-1] = -ends
        neighbours = [
            Neighbour("forty rows at the other end", _of_person(x, mine, np.tile(ends, (40, 1)))),
            Neighbour("no value", _of_person(x, mine, np.full((1, d), np.nan))),
            Neighbour("one row in the middle", _of_person(x, mine, np.zeros((1, d)))),
        ]
        return [Family("a person far out", x, tuple(neighbours))]

    return families


def _of_person(x: FloatArray, mine: Any, rows: FloatArray) -> FloatArray:
    """The first in the place of their first row, since persons are numbered as they appear; the others at the end."""
    come = np.column_stack([rows, np.full(len(rows), x[mine][0, -1])])
    first = int(np.flatnonzero(mine)[0])
    return np.concatenate([x[:first], come[:1], x[first:][~mine[first:]], come[1:]])
