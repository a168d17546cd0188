"""The mean without bounds: for every dealing a swap changes one row of what rem is given, at the stated budget."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from tukeydp.audit.check import Check, Effort, Result, Tally
from tukeydp.audit.dealt_tables import Script, floats
from tukeydp.audit.forced_samplers import forced
from tukeydp.audit.oracles import means as oracle
from tukeydp.data.tables import Table
from tukeydp.mechanisms import mean_without_bounds as module
from tukeydp.trusted.account import ApproxDP
from tukeydp.trusted.bits import seeded
from tukeydp.trusted.parameters import FloatArray

GUARANTEE = ApproxDP(Fraction(1), Fraction(1, 10**6))
KINDS: tuple[oracle.Row, ...] = (
    (Fraction(-7), Fraction(0)),
    (Fraction(1000), Fraction(3)),
    (Fraction(0), None),
    (None, Fraction(-1, 4)),
    (None, None),
)
_ROUNDING = 1e-9  # relative, of means in floats


def run(effort: Effort) -> Result:
    tally = Tally(bound=1.0)
    kinds = KINDS[1:] if effort.quick else KINDS
    for n, blocks in ((3, 2), (3, 3)) if effort.quick else ((3, 2), (3, 3), (4, 2), (4, 3)):
        _examine(kinds, n, blocks, tally)
    return tally.result()


def _examine(kinds: Sequence[oracle.Row], n: int, blocks: int, tally: Tally) -> None:
    """Tables and not multisets: a dealing is of places, and a swap changes the row in one of them."""
    orders = list(itertools.permutations(range(n)))
    known: dict[tuple[int, ...], list[FloatArray]] = {}
    for x in itertools.product(range(len(kinds)), repeat=n):
        table = tuple(kinds[i] for i in x)
        known[x] = [_given_to_rem(floats(table), blocks, order, tally) for order in orders]
        for order, found in zip(orders, known[x], strict=True):
            tally.require(_as_defined(table, blocks, order, found), "block means are not those of the definition")
    for x, tables in known.items():
        for row in range(len(kinds)):
            swapped = known[(row, *x[1:])]
            tally.found(max(_rows_moved(a, b) for a, b in zip(tables, swapped, strict=True)))
    tally.saw(datasets=len(known), pairs=len(known) * (len(kinds) - 1))


def _rows_moved(ours: FloatArray, theirs: FloatArray) -> float:
    """Rows that differ in some bit. The first row of the data is swapped; any other place is that of another order."""
    return float((ours.view(np.uint64) != theirs.view(np.uint64)).any(axis=1).sum())


def _as_defined(table: oracle.Table, blocks: int, order: Sequence[int], found: FloatArray) -> bool:
    dealt = oracle.blocks_of([table[i] for i in order], blocks)
    expected = [[oracle.block_mean([row[j] for row in block]) for j in range(len(table[0]))] for block in dealt]
    theirs = np.array([[np.nan if cell is None else float(cell) for cell in row] for row in expected])
    return bool(np.allclose(found, theirs, rtol=_ROUNDING, atol=_ROUNDING, equal_nan=True))


class _Given(Exception):
    """Ends a run at the call of rem."""

    def __init__(self, x: Any, epsilon: Fraction, delta: Fraction) -> None:
        self.cells, self.budget = x.cells, (epsilon, delta)


def _given_to_rem(cells: FloatArray, blocks: int, order: Sequence[int], tally: Tally) -> FloatArray:
    script = Script([order])

    def rem(x: Any, *, epsilon: Fraction, delta: Fraction, randomness: object, accountant: Any, check: bool) -> None:
        tally.require(check is False, "rem spends on a check of its own")
        raise _Given(x, epsilon, delta)

    names = (("dealing", 0) for _ in itertools.count())
    with forced((module, "Keystream", lambda key: script.stream(next(names))), (module, "rem", rem)):
        try:
            module.without_bounds(Table(cells), GUARANTEE, blocks, seeded(1))
        except _Given as given:
            tally.require(given.budget == (GUARANTEE.epsilon, GUARANTEE.delta), "rem is given another budget")
            return np.ascontiguousarray(given.cells)
    raise AssertionError("rem is not called")


CHECK = Check(
    name="mean, without bounds: enumeration",
    claim="Without bounds rem runs on the block means of one secret dealing, at the stated epsilon and delta; for "
    "every dealing a swap changes one row of them, bit by bit.",
    measure="rows of the block table that a swap changes",
    run=run,
)
