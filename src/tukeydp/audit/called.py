"""Whole calls of the public functions, and neighbours of their tables: what `checks/whole_calls.py` runs.

A new call is a line in `CALLS`. Tables have two columns; calls by groups or persons find keys or ids in a third.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

import tukeydp as td
from tukeydp.arrays import FloatArray

EPSILON = Fraction(7, 5)
_OF_A_PERSON = 3  # rows
_FAR = 1e9

Tables = tuple[FloatArray, FloatArray]


def swapped(random: np.random.Generator, n: int, other: int) -> Tables:
    """One row is another, far away or partly missing."""
    x = _rows(random, n)
    y = x.copy()
    y[int(random.integers(n))] = (_FAR, np.nan) if other % 2 else (-_FAR, _FAR)
    return x, y


def one_less(random: np.random.Generator, n: int, other: int) -> Tables:
    """One row is missing: the last one, so that the others keep their secret words."""
    x = _rows(random, n)
    x[-1] = (_FAR, np.nan) if other % 2 else (-_FAR, _FAR)
    return x, x[:-1]


def moved(random: np.random.Generator, n: int, other: int) -> Tables:
    """The last column is the group, 0, 1, or one that is not asked for: a row goes to another, with other values."""
    x = np.column_stack([_rows(random, n), random.integers(0, 3, n)])
    y = x.copy()
    row = int(random.integers(n))
    x[row, 2], y[row] = 0, (-_FAR, _FAR, 1 + other % 2)
    return x, y


def another_person(random: np.random.Generator, n: int, other: int) -> Tables:
    """The last column is an id: the last person's rows are gone, and somebody else has others, and more of them."""
    x = np.column_stack([_rows(random, n), np.arange(n) // _OF_A_PERSON])
    come = np.column_stack([_FAR * _rows(random, 2 + 3 * (other % 2)), np.full(2 + 3 * (other % 2), n)])
    return x, np.concatenate([x[:-_OF_A_PERSON], come])


def _rows(random: np.random.Generator, n: int) -> FloatArray:
    x = random.normal(size=(n, 2))
    x[random.random(x.shape) < 0.1] = np.nan
    return x


@dataclass(frozen=True)
class Whole:
    """A call on tables of n rows, their neighbours, and what these are called in the guarantee.

    `width` is how far one row moves what cube noise is added to, in widths of the bounds; where a row goes to another
    group, in each of the two.
    """

    n: int
    call: Callable[[FloatArray], Any]
    tables: Callable[[np.random.Generator, int, int], Tables] = swapped
    neighbours: str = "swap"
    width: Fraction = Fraction(1)


def _options(**more: Any) -> dict[str, Any]:
    return {"epsilon": EPSILON, "bounds": (-50, 50), "randomness": td.seeded(1), **more}


def _swap(n: int, function: Callable[..., Any], **more: Any) -> Whole:
    return Whole(n, lambda x: function(x, **_options(**more)))


def _less(n: int, function: Callable[..., Any], **more: Any) -> Whole:
    def call(x: FloatArray) -> Any:
        return function(x, **_options(neighbours="add-remove", **more))

    return Whole(n, call, one_less, "add-remove", Fraction(1, 2))


def _groups(n: int, function: Callable[..., Any], **more: Any) -> Whole:
    def call(x: FloatArray) -> Any:
        return function(x[:, :2], **_options(by=x[:, 2], keys=[0, 1], **more))

    return Whole(n, call, moved, width=Fraction(1, 2))


def _persons(n: int, function: Callable[..., Any], **more: Any) -> Whole:
    def call(x: FloatArray) -> Any:
        return function(x[:, :2], **_options(person=x[:, 2], **more))

    return Whole(n, call, another_person, "swap-person")


def _largest(rows: FloatArray) -> Any:
    return np.nanmax(rows, axis=0)


def _line(x: FloatArray) -> Any:
    return td.regression(x[:, :1], x[:, 1], **_options(bounds=(-5, 5)))


CALLS: dict[str, Whole] = {
    "boxem": _swap(60, td.boxem),
    "boxem, certified": _swap(60, td.boxem, certify="0.2"),
    "spread": _swap(600, td.spread),
    "cube": _swap(60, td.cube),
    "mean": _swap(3000, td.mean),
    "mean, few rows": _swap(60, td.mean),
    "mean, subset": _swap(800, td.mean, mechanism="subset"),
    "mean, subset, spreads known": _swap(800, td.mean, mechanism="subset", sd=1),
    "mean, two-step": _swap(3000, td.mean, mechanism="two-step"),
    "mean, two-step, spreads known": _swap(3000, td.mean, mechanism="two-step", sd=1),
    "mean with interval": _swap(3000, td.mean, confidence=0.95),
    "mean with interval, subset": _swap(3000, td.mean, mechanism="subset", confidence=0.95),
    "mean with interval, spreads known": _swap(3000, td.mean, confidence=0.95, sd=1),
    "summary": _swap(3000, td.summary),
    "summary with a share": _swap(3000, td.summary, bounds=([-50, 0], [50, 1])),
    "summary of shares": _swap(60, td.summary, bounds=(0, 1)),
    "quantiles": _swap(300, td.quantiles, q=["0.05", "0.5", "0.9", "0.99"]),
    "aggregate": _swap(300, td.aggregate, statistic=_largest, blocks=40, partitions=2),
    "regression": Whole(900, _line),
    "boxem, add-remove": _less(60, td.boxem),
    "boxem, certified, add-remove": _less(60, td.boxem, certify="0.2"),
    "spread, add-remove": _less(600, td.spread, rows=600),
    "cube, add-remove": _less(60, td.cube),
    "cube with a fill, add-remove": _less(60, td.cube, fill=1),
    "mean, add-remove": _less(3000, td.mean, rows=3000),
    "mean, rows, add-remove": _less(60, td.mean, rows=60, mechanism="subset"),
    "mean, subset, add-remove": _less(800, td.mean, rows=800, blocks=100),
    "boxem by groups": _groups(60, td.boxem),
    "boxem by groups with counts": _groups(60, td.boxem, counts="0.1"),
    "mean by groups": _groups(2000, td.mean),
    "mean by groups, rows, with counts": _groups(200, td.mean, mechanism="rows", counts="0.1"),
    "mean by groups, subset": _groups(800, td.mean, mechanism="subset", blocks=60, partitions=2),
    "mean by groups, cube": _groups(60, td.mean, mechanism="cube"),
    "summary by groups": _groups(60, td.summary),
    "mean of persons": _persons(900, td.mean),
    "boxem of persons": _persons(90, td.boxem, certify="0.2"),
    "summary of persons": _persons(3000, td.summary),
}
