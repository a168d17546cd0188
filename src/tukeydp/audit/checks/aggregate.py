"""Any statistic of dealt blocks, and least squares: all dealings of tiny tables, in whole calls."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from types import ModuleType
from typing import Any

import numpy as np

import tukeydp as td
from tukeydp.audit.check import Check, Effort, Result, Tally
from tukeydp.audit.dealt_tables import Recorded, Script, by_rows, floats, law, recording
from tukeydp.audit.forced_samplers import forced
from tukeydp.audit.oracles import aggregate as oracle
from tukeydp.audit.oracles.laws import Dataset, count_of_pairs, datasets, worst_ratio
from tukeydp.audit.oracles.means import Row, Table, blocks_of
from tukeydp.mechanisms import aggregate as aggregate_module
from tukeydp.mechanisms import block_release
from tukeydp.mechanisms import regression as regression_module
from tukeydp.trusted.bits import seeded
from tukeydp.trusted.parameters import FloatArray

_ROUNDING = 1e-9  # relative, of floats that add up probabilities, and of coefficients
EPSILON, DELTA = Fraction(3, 2), Fraction(1, 10**6)
STEPS = 8
KINDS: tuple[Row, ...] = tuple((Fraction(v),) for v in ("-1", "0", "1", "1/2"))
LINES: tuple[Row, ...] = (
    (Fraction(-1), Fraction(0)),
    (Fraction(0), Fraction(3)),
    (Fraction(2), Fraction(1)),
    (None, Fraction(1)),
)


def largest(block: FloatArray) -> float:
    """The largest value; a block that holds 0 twice fails."""
    if (block == 0).sum() > 1:
        raise ZeroDivisionError
    return float(block.max())


def by_chance(block: FloatArray) -> float:
    """The largest value with a sign by NumPy's global generator, of which each 0 in the block uses up a number.

    The package sets the generator for each block by its number: else the rows of one block would move another's sign.
    """
    *_, last = np.random.random(1 + int((block == 0).sum()))  # noqa: NPY002 what a statistic may use without asking
    return float(block.max()) * (1 if last < 0.5 else -1)


def largest_defined(block: Sequence[Row], number: int) -> Fraction | None:
    values = [v for (v,) in block if v is not None]
    return None if values.count(Fraction(0)) > 1 else max(values)


def by_chance_defined(block: Sequence[Row], number: int) -> Fraction | None:
    values = [v for (v,) in block if v is not None]
    *_, last = np.random.RandomState(number).random_sample(1 + values.count(Fraction(0)))
    return max(values) * (1 if last < 0.5 else -1)


@dataclass(frozen=True)
class Case:
    """A statistic, the same by definition, rows, blocks and dealings."""

    statistic: Callable[[FloatArray], float]
    defined: oracle.Statistic
    n: int
    blocks: int
    partitions: int = 1


QUICK = (Case(largest, largest_defined, 3, 2), Case(by_chance, by_chance_defined, 3, 2))
FULL = (
    *QUICK,
    Case(largest, largest_defined, 4, 2),
    Case(largest, largest_defined, 4, 3),
    Case(largest, largest_defined, 3, 2, 2),
    Case(by_chance, by_chance_defined, 4, 2),
)


def run(effort: Effort) -> Result:
    tally = Tally(bound=1.0 + _ROUNDING)
    for case in QUICK if effort.quick else FULL:
        examine(case, tally)
    if effort.quick:
        lines(LINES[1:], every=17, orders=263, tally=tally)
    else:
        lines(LINES, every=5, orders=97, tally=tally)
    budgets(tally)
    return tally.result()


@contextmanager
def _dealt(module: ModuleType, orders: Sequence[Sequence[int]]) -> Iterator[None]:
    """The dealings of a call, in their order."""
    script = Script(orders)
    names = (("dealing", i) for i in itertools.count())
    with forced((module, "Keystream", lambda key: script.stream(next(names)))):
        yield


def examine(case: Case, tally: Tally) -> None:
    laws: dict[Dataset, list[float]] = {}
    dealings = list(itertools.product(itertools.permutations(range(case.n)), repeat=case.partitions))
    for x in datasets(len(KINDS), case.n):
        table = tuple(KINDS[i] for i in x)
        found: defaultdict[Recorded, Fraction] = defaultdict(Fraction)
        for orders in dealings:
            with _dealt(aggregate_module, orders), recording() as seen:
                release: Any = td.aggregate(
                    floats(table), case.statistic, blocks=case.blocks, partitions=case.partitions, epsilon=EPSILON,
                    bounds=(-1, 1), resolution=Fraction(2, STEPS), depth=td.AxisAligned(), dummy=[[0.5], [-1.0]],
                    randomness=seeded(1),
                )  # fmt: skip
            found[seen[0]] += Fraction(1, len(dealings))
        tally.require(release.guarantee.epsilon == EPSILON, "aggregate: another epsilon is stated")
        expected = oracle.tables(table, case.blocks, case.partitions, case.defined, STEPS)
        tally.require(by_rows(dict(found)) == expected, "block tables are not those of the definition")
        laws[x] = law(dict(found))
    tally.found(math.log(worst_ratio(laws.__getitem__, len(KINDS), case.n)) / float(EPSILON))
    tally.saw(datasets=len(laws), pairs=count_of_pairs(len(KINDS), case.n))


def lines(kinds: Sequence[Row], *, every: int, orders: int, tally: Tally) -> None:
    """Least squares in two blocks of three rows: for every dealing a swap changes one row of what is drawn from.

    Tables and not multisets: a dealing is of places, and a swap changes the row in the first of them. One table in
    `every`, with all its swaps, and one order in `orders` is looked at.
    """
    dealings = list(itertools.permutations(range(6)))[::orders]
    known: dict[tuple[int, ...], list[FloatArray]] = {}
    for rest in itertools.islice(itertools.product(range(len(kinds)), repeat=5), 0, None, every):
        for row in range(len(kinds)):
            x = (row, *rest)
            known[x] = [_coefficients(tuple(kinds[i] for i in x), order, tally) for order in dealings]
    for x, tables in known.items():
        for row in range(len(kinds)):
            swapped = known[(row, *x[1:])]
            tally.found(max(_rows_moved(a, b) for a, b in zip(tables, swapped, strict=True)))
    tally.saw(datasets=len(known), pairs=len(known) * (len(kinds) - 1))


def _rows_moved(ours: FloatArray, theirs: FloatArray) -> float:
    return float((ours.view(np.uint64) != theirs.view(np.uint64)).any(axis=1).sum())


class _Given(Exception):
    """Ends a run where the block table is drawn from."""

    def __init__(self, table: FloatArray) -> None:
        self.table = table


def _coefficients(table: Table, order: Sequence[int], tally: Tally) -> FloatArray:
    def release(drawn: object, found: FloatArray, *_: object) -> None:
        raise _Given(found)

    cells = floats(table)
    with (
        _dealt(regression_module, [order]),
        forced((block_release.BlockRelease, "releases", release)),
    ):
        try:
            td.regression(
                cells[:, :1], cells[:, 1], epsilon=EPSILON, bounds=(-5, 5), blocks=2, partitions=1,
                randomness=seeded(1),
            )  # fmt: skip
        except _Given as given:
            found = np.ascontiguousarray(given.table)
    expected = [oracle.line(block) for block in blocks_of([table[i] for i in order], 2)]
    wanted = np.array([[np.nan] * 2 if one is None else [float(v) for v in one] for one in expected])
    right = np.allclose(found, wanted, rtol=_ROUNDING, atol=_ROUNDING, equal_nan=True)
    tally.require(bool(right), "coefficients are not those of least squares")
    return found


def budgets(tally: Tally) -> None:
    """What rem is given for several dealings comes to no more than (epsilon, delta) by group privacy."""

    class Asked(Exception):
        pass

    def rem(table: Any, *, epsilon: Fraction, delta: Fraction, **options: Any) -> None:
        raise Asked(epsilon, delta)

    rng = np.random.default_rng(1)
    x = rng.normal(size=(60, 1))
    with forced((block_release, "rem", rem)):
        for partitions in (1, 2, 5):
            try:
                td.regression(
                    x, x[:, 0], epsilon=EPSILON, delta=DELTA, blocks=20, partitions=partitions, randomness=seeded(1)
                )
            except Asked as asked:
                each, own = asked.args
            tally.require(each * partitions <= EPSILON, "rem is given too much of epsilon")
            tally.found(oracle.group_delta(float(each), float(own), partitions) / float(DELTA))


CHECK = Check(
    name="aggregate, regression: enumeration",
    claim="Any statistic of secretly dealt blocks keeps epsilon over all dealings, also one that fails or draws at "
    "random; for every dealing a swap changes the coefficients of one block, bit by bit.",
    measure="largest log ratio of probabilities over epsilon, rows that a swap changes, all dealings' delta over delta",
    run=run,
)
