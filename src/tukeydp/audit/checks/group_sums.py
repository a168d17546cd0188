"""Summaries by group: what noise is added to, for all small tables, swaps and moves between groups."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from tukeydp.audit.check import Check, Effort, Result, Tally
from tukeydp.audit.forced_samplers import forced
from tukeydp.audit.oracles import groups as oracle
from tukeydp.audit.oracles.laws import Dataset, count_of_pairs, datasets, swap_groups
from tukeydp.mechanisms.clipped_mean import ClippedMean
from tukeydp.mechanisms.summary import summary
from tukeydp.trusted import steps
from tukeydp.trusted.bits import Bits, seeded

_ROUNDING = 1e-6  # of values in steps of 2^-29
EPSILON = Fraction(5, 4)
KEYS = ("A", "B")  # and rows of others, or of none
LOWER, UPPER = (-3, 0), (5, 1)
CELLS: tuple[oracle.Cell, ...] = (Fraction(-3), Fraction(1), Fraction(9, 2), Fraction(99), None)
# Noise of all groups, or of none: its scale, then what it is added to.
Sums = list[tuple[float, list[float]]]


def run(effort: Effort) -> Result:
    tally = Tally(bound=1.0 + _ROUNDING)
    cells = (CELLS[0], *CELLS[3:]) if effort.quick else CELLS
    one: list[oracle.Row] = [((cell,), key) for cell in cells for key in (*KEYS, "C", None)]
    two: list[oracle.Row] = [
        ((a, b), key)
        for a, b in itertools.product((*cells[-2:], Fraction(-3)), (Fraction(1), None))
        for key in (*KEYS, None)
    ]
    for kinds, n in ((one, 2), (two, 2)) if effort.quick else ((one, 3), (two, 2)):
        for counted in (False, True):
            _examine(kinds, n, counted, tally)
    return tally.result()


def _examine(kinds: Sequence[oracle.Row], n: int, counted: bool, tally: Tally) -> None:
    known: dict[Dataset, list[tuple[float, Sums]]] = {
        x: _steps([kinds[i] for i in x], counted, tally) for x in datasets(len(kinds), n)
    }
    for group in swap_groups(len(kinds), n):
        for ours, theirs in itertools.combinations(group, 2):
            for (epsilon, mine), (_, yours) in zip(known[ours], known[theirs], strict=True):
                tally.found(loss(mine, yours) / epsilon)
    tally.saw(datasets=len(known), pairs=count_of_pairs(len(kinds), n))


def loss(ours: Sums, theirs: Sums) -> float:
    """Noise of law e^(-max |z| / scale) for each group by itself: losses of groups add up."""
    if [scale for scale, _ in ours] != [scale for scale, _ in theirs]:
        return math.inf  # the noise tells the tables apart
    return sum(
        max(abs(a - b) for a, b in zip(mine, yours, strict=True)) / scale
        for (scale, mine), (_, yours) in zip(ours, theirs, strict=True)
    )


class _Told:
    """Noise of 0 that learns what it is added to."""

    def __init__(self) -> None:
        self.centre: Any = None

    def __radd__(self, centre: Any) -> Any:
        self.centre = centre
        return centre


def _steps(rows: Sequence[oracle.Row], counted: bool, tally: Tally) -> list[tuple[float, Sums]]:
    """What each step costs and adds noise to, by running the package without any; sums must be those of the definition.

    `counted`: as if missing cells had stood out in all columns, or in none; which they do is told by the first step.
    """
    asked: list[tuple[float, list[_Told], int]] = []

    def none(count: int, scale: Fraction, bits: Bits) -> list[_Told]:
        asked.append((float(scale) / steps.HALF, [_Told() for _ in range(count)], bits.take(64)))
        return asked[-1][1]

    honest = ClippedMean._stand_out

    def stand_out(self: Any, missing: list[int], run: Any) -> tuple[int, ...]:
        honest(self, missing, run)
        return tuple(range(len(missing))) if counted else ()

    x = np.array([[np.nan if cell is None else float(cell) for cell in cells] for cells, _ in rows])
    d = x.shape[1]
    bounds = (list(LOWER[:d]), list(UPPER[:d]))
    with forced((steps, "cube_noise", none), (ClippedMean, "_stand_out", stand_out)):
        table = summary(
            x, by=[key for _, key in rows], keys=list(KEYS), epsilon=EPSILON, bounds=bounds, randomness=seeded(1)
        )
    tally.require(len({stream for *_, stream in asked}) == 2 + len(KEYS), "two noises share their bits")
    told = [(scale, [float(Fraction(z.centre, steps.HALF)) for z in noise]) for scale, noise, _ in asked]
    for ours, theirs in zip(told, _expected(rows, d, counted), strict=True):
        right = len(ours[1]) == len(theirs) and np.allclose(ours[1], theirs, rtol=0.0, atol=_ROUNDING)
        tally.require(right, "sums are not those of the definition")
    spent = [table.settings[f"epsilon_{name}"] for name in ("missing", "squares", "mean")]
    tally.require(sum(spent) == EPSILON, "the steps do not spend epsilon")
    return list(zip(map(float, spent), (told[:1], told[1:2], told[2:]), strict=True))


def _expected(rows: Sequence[oracle.Row], d: int, counted: bool) -> list[list[float]]:
    """Missing cells, squares, and for each group its sums and numbers: of records, and of values that are counted.

    A missing cell that is not counted counts as the middle, 0, whose 2 v^2 - 1 is -1.
    """
    listed = [(cells, key) for cells, key in rows if key in KEYS]
    missing = [float(sum(cells[j] is None for cells, _ in listed)) for j in range(d)]
    sums = oracle.group_sums(rows, KEYS, LOWER[:d], UPPER[:d])
    measured = [j for j in range(d) if (LOWER[j], UPPER[j]) != (0, 1)]
    squares = [float(sum(group[j][2] for group in sums)) - (0.0 if counted else missing[j]) for j in measured]
    found = [missing, squares]
    for key, group in zip(KEYS, sums, strict=True):
        records = float(sum(own == key for _, own in rows))
        numbers = [float(column[1]) for column in group] if counted else []
        found.append([*(float(column[0]) for column in group), records, *numbers])
    return found


CHECK = Check(
    name="summary, groups: enumeration",
    claim="The noised sums of all groups together keep epsilon, also where a row goes to another group or to none; "
    "they are those of the definition, and so are the numbers of missing cells and of values.",
    measure="largest log ratio of probabilities, over epsilon",
    run=run,
)
