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
from tukeydp.mechanisms import grouped_sums
from tukeydp.mechanisms import grouped_sums as value_counts
from tukeydp.mechanisms.clipped_sum import STEPS
from tukeydp.mechanisms.summary import summary
from tukeydp.trusted.account import PureDP
from tukeydp.trusted.bits import Bits, seeded
from tukeydp.trusted.release import rehearsed_charge

_ROUNDING = 1e-6  # of sums read off floats, and of values in steps of 2^-30
EPSILON = Fraction(5, 4)
KEYS = ("A", "B")  # and rows of others, or of none
LOWER, UPPER = (-3, 0), (5, 1)
CELLS: tuple[oracle.Cell, ...] = (Fraction(-3), Fraction(1), Fraction(9, 2), Fraction(99), None)
# A group's noise: its number of values and its scale, then what it is added to, in the same order.
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
        _examine(kinds, n, tally)
    _counts(3 if effort.quick else 4, tally)
    return tally.result()


def _examine(kinds: Sequence[oracle.Row], n: int, tally: Tally) -> None:
    known: dict[Dataset, Sums] = {x: _noised([kinds[i] for i in x], tally) for x in datasets(len(kinds), n)}
    for group in swap_groups(len(kinds), n):
        for ours, theirs in itertools.combinations(group, 2):
            tally.found(loss(known[ours], known[theirs]) / float(EPSILON))
    tally.saw(datasets=len(known), pairs=count_of_pairs(len(kinds), n))


def loss(ours: Sums, theirs: Sums) -> float:
    """Noise of law e^(-max |z| / scale) for each group by itself: losses of groups add up."""
    if [scale for scale, _ in ours] != [scale for scale, _ in theirs]:
        return math.inf  # the noise tells the tables apart
    return sum(
        max(abs(a - b) for a, b in zip(mine, yours, strict=True)) / scale
        for (scale, mine), (_, yours) in zip(ours, theirs, strict=True)
    )


def _noised(rows: Sequence[oracle.Row], tally: Tally) -> Sums:
    """By running the package without noise; its sums must be those of the definition."""
    asked: list[tuple[int, float, int]] = []

    def none(count: int, scale: Fraction, bits: Bits) -> list[int]:
        asked.append((count, float(scale) / grouped_sums.HALF, bits.take(64)))
        return [0] * count

    x = np.array([[np.nan if cell is None else float(cell) for cell in cells] for cells, _ in rows])
    d = x.shape[1]
    bounds = (list(LOWER[:d]), list(UPPER[:d]))
    with forced((grouped_sums, "cube_noise", none)):
        table = summary(
            x, by=[key for _, key in rows], keys=list(KEYS), epsilon=EPSILON, bounds=bounds, randomness=seeded(1)
        )
    source: Any = table.source
    sums = source.sums
    tally.require(len({stream for *_, stream in asked}) == len(KEYS), "groups share their noise")
    found: Sums = []
    expected = oracle.group_sums(rows, KEYS, LOWER[:d], UPPER[:d])
    for g, (count, scale, _) in enumerate(asked):
        columns = zip(sums.sums[g], sums.counts[g], sums.squares[g], strict=True)
        values: list[float] = []
        for (ours, number, squares), theirs in zip(columns, expected[g], strict=True):
            shown = [ours, number] + ([] if squares is None else [squares])
            right = all(abs(a - float(b)) < _ROUNDING for a, b in zip(shown, theirs, strict=False))
            tally.require(right, "a group's sums are not those of the definition")
            values += shown
        tally.require(count == len(values), "noise is drawn for another number of sums")
        found.append((scale, values))
    return found


def _counts(n: int, tally: Tally) -> None:
    """Numbers of values beside a summary without groups."""
    kinds = list(itertools.product((0.0, np.nan), repeat=3))
    scales: list[Fraction] = []

    def none(count: int, scale: Fraction, bits: object) -> list[int]:
        scales.append(scale)
        return [0] * count

    for group in swap_groups(len(kinds), n):
        with forced((value_counts, "cube_noise", none)):
            found = [
                value_counts.value_counts(np.array([kinds[i] for i in x]), rehearsed_charge(PureDP(EPSILON), b"k" * 32))
                for x in group
            ]
        for ours, theirs in itertools.combinations(found, 2):
            moved = max(abs(a - b) for a, b in zip(ours, theirs, strict=True))
            tally.found(moved * STEPS / float(scales[0] * EPSILON))
    tally.saw(datasets=len(datasets(len(kinds), n)), pairs=count_of_pairs(len(kinds), n))


CHECK = Check(
    name="summary, groups: enumeration",
    claim="The noised sums of all groups together keep epsilon, also where a row goes to another group or to none; "
    "they are those of the definition, and so are the numbers of values.",
    measure="largest log ratio of probabilities, over epsilon",
    run=run,
)
