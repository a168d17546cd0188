"""Persons with several rows: whatever rows a person has, one row of the table of persons changes, bit by bit."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from tukeydp.audit.check import Check, Effort, Result, Tally
from tukeydp.audit.oracles import laws as oracle
from tukeydp.mechanisms.per_person import persons_table

_ROUNDING = 1e-12  # of means in floats
LOWER, UPPER = -1, 1
# Sums of these depend on the order in the last digit; some lie beyond a bound, some are missing.
CELLS = (0.1, 0.7, -0.3, 1e9, None)
IDS = (7, "b", "7b", " a ")
Bits = Counter[bytes]


def run(effort: Effort) -> Result:
    tally = Tally(bound=1.0)
    cells = CELLS if effort.quick else (*CELLS, 1e-17, -5.0)
    contents = [c for n in (1, 2) for c in itertools.combinations_with_replacement(cells, n)]
    contents += [(0.1, 0.7, -0.3), (0.1, 0.1, 0.7, None), (None, None, None), (1e9, 0.7, -0.3, 0.1, 0.2)]
    for statistic, bounds in itertools.product(("mean", "median"), ((LOWER, UPPER), None)):
        persons(contents, statistic, bounds, 2 if effort.quick else 6, tally)
    return tally.result()


def persons(contents: Sequence[oracle.Values], statistic: str, bounds: Any, orders: int, tally: Tally) -> None:
    """Three persons and a row of nobody: the first has any content, the others a few; files in several orders."""
    shuffle = random.Random(1)
    others = [(contents[i], contents[-1 - i]) for i in (0, 3)]
    for second, third in others:
        known: dict[oracle.Values, Bits] = {}
        for first in contents:
            # Whoever comes instead has another id, too.
            people = dict(zip((IDS[len(known) % 2], *IDS[2:]), (first, second, third), strict=True))
            known[first] = _table(people, statistic, bounds, tally)
            for _ in range(orders):
                again = _table(people, statistic, bounds, tally, shuffle)
                tally.require(again == known[first], "the order of the file matters")
        for ours, theirs in itertools.permutations(known.values(), 2):
            tally.found(sum((ours - theirs).values()))
        tally.saw(datasets=len(known), pairs=len(known) * (len(known) - 1))


def _table(
    people: dict[Any, oracle.Values], statistic: str, bounds: Any, tally: Tally, shuffle: random.Random | None = None
) -> Bits:
    """The rows of the table of persons, as bits: which stands where must not matter."""
    file = [(name, cell) for name, cells in people.items() for cell in cells] + [(None, 0.5)]
    if shuffle is not None:
        shuffle.shuffle(file)
    cells = np.array([[np.nan if cell is None else cell] for _, cell in file])
    table = persons_table(cells, [name for name, _ in file], bounds, statistic)[0].cells
    tally.require(len(table) == len(people), "the number of persons is not that of the rows")
    wanted = [oracle.row_of(values, statistic, bounds) for values in people.values()]
    tally.require(_alike(sorted(table[:, 0].tolist(), key=_last), wanted), "a row is not that of the definition")
    return Counter(row.tobytes() for row in table)


def _last(value: float) -> tuple[bool, float]:
    return value != value, value


def _alike(ours: Sequence[float], theirs: Sequence[Fraction | None]) -> bool:
    wanted = sorted((float("nan") if v is None else float(v) for v in theirs), key=_last)
    return all(
        a == b or (a != a and b != b) or abs(a - b) <= _ROUNDING * max(1.0, abs(b))
        for a, b in zip(ours, wanted, strict=True)
    )


CHECK = Check(
    name="persons: enumeration",
    claim="A person who comes instead of another, with as many rows as may be, changes one row of the table of "
    "persons, bit by bit, in whatever order the file is; the rows are those of the definition.",
    measure="rows of the table of persons that change",
    run=run,
)
