"""One row more or less: boxem, noised sums and drawn blocks, for all tables up to a size, the empty one among them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

import tukeydp as td
from tukeydp.audit.check import Check, Effort, Result, Tally
from tukeydp.audit.dealt_tables import HEADS_OR_TAILS, Recorded, by_rows, draw_law, law, recording, weighed_draws
from tukeydp.audit.forced_samplers import forced
from tukeydp.audit.oracles import means, rem
from tukeydp.audit.oracles.laws import Dataset
from tukeydp.mechanisms.mean_plans import SubsetMean
from tukeydp.trusted import block_steps as subset_means
from tukeydp.trusted import clipped_sums as counted_mean
from tukeydp.trusted.bits import derived_key, seeded
from tukeydp.trusted.block_steps import SubsetPlan, subset_point
from tukeydp.trusted.clipped_sums import STEPS
from tukeydp.trusted.parameters import FloatArray
from tukeydp.trusted.release import rehearsed_charge

_ROUNDING = 1e-6  # of sums in steps of 2^-30; the floats that add up probabilities are far better
EPSILON = Fraction(3, 2)
ONE = ((Fraction(-1),), (Fraction(0),), (Fraction(1),), (None,))
TWO = ((Fraction(-1), Fraction(-1)), (Fraction(1), Fraction(0)), (Fraction(1), None), (None, None))
CELLS = (Fraction(-1), Fraction(1, 4), Fraction(1), Fraction(3), None)  # one beyond its bound
FILL = 0.5


@dataclass(frozen=True)
class Case:
    """Rows there are, how many of them at most, blocks, dealings, steps of the grid, and how rows come to blocks."""

    kinds: tuple[means.Row, ...]
    most: int
    blocks: int
    partitions: int
    steps: int
    dealing: str = "draws"


QUICK = (Case(ONE, 3, 2, 1, 16), Case(ONE, 3, 3, 1, 8, "rows"), Case(TWO, 2, 2, 1, 4))
FULL = (
    *QUICK,
    Case(ONE, 4, 2, 1, 16),
    Case(ONE, 4, 3, 1, 8),
    Case(ONE, 2, 2, 2, 8),
    Case(TWO, 3, 2, 1, 4),
    Case(TWO, 3, 3, 1, 4, "rows"),
)


def run(effort: Effort) -> Result:
    tally = Tally(bound=1.0 + _ROUNDING)
    boxem(ONE, 3 if effort.quick else 5, tally)
    boxem(TWO, 2 if effort.quick else 4, tally)
    for columns, fill in itertools.product((1, 2), (None, FILL)):
        sums(columns, (2, 1)[columns - 1] if effort.quick else (4, 2)[columns - 1], fill, tally)
    for case in QUICK if effort.quick else FULL:
        blocks(case, tally)
    return tally.result()


def _table(rows: Sequence[means.Row], columns: int) -> FloatArray:
    cells = [[np.nan if cell is None else float(cell) for cell in row] for row in rows]
    return np.array(cells, dtype=np.float64).reshape(len(rows), columns)


def boxem(kinds: Sequence[means.Row], most: int, tally: Tally) -> None:
    """Whole calls, with the sampler's law by definition of what it is given."""
    laws: dict[Dataset, list[float]] = {}
    for x in rem.up_to(len(kinds), most):
        rows = [kinds[i] for i in x]
        with recording() as seen:
            release: Any = td.boxem(
                _table(rows, len(kinds[0])), epsilon=EPSILON, bounds=(-1, 1), resolution=1, depth=td.AxisAligned(),
                neighbours="add-remove", randomness=seeded(1),
            )  # fmt: skip
        whole = sorted(tuple(int(c) for c in row if c is not None) for row in rows if None not in row)
        tally.require(sorted(_from_the_middle(seen[0])) == whole, "boxem ranks other rows than the table's")
        tally.require(release.n is None, "boxem tells the number of rows")
        laws[x] = draw_law(seen[0])
    _ratios(laws, len(kinds), most, float(release.guarantee.epsilon), tally)


def _from_the_middle(what: Recorded) -> list[tuple[int, ...]]:
    return [tuple(c - 1 for c in row) for row in what.from_the_lower_bound]


def _ratios(laws: dict[Dataset, list[float]], kinds: int, most: int, epsilon: float, tally: Tally) -> None:
    tally.found(math.log(rem.worst_ratio(laws.__getitem__, kinds, most)) / epsilon)
    _saw(kinds, most, tally)


def _saw(kinds: int, most: int, tally: Tally) -> None:
    pairs = 2 * len(rem.up_to(kinds, most - 1)) * kinds
    tally.saw(datasets=len(rem.up_to(kinds, most)), pairs=pairs)


def sums(columns: int, most: int, fill: float | None, tally: Tally) -> None:
    """What cube noise is added to, in whole calls: sums, and numbers of values or of rows."""
    kinds = list(itertools.product(CELLS, repeat=columns))
    known: dict[Dataset, list[float]] = {}
    scales = set()
    for x in rem.up_to(len(kinds), most):
        rows = [kinds[i] for i in x]
        scale, found = _noised(_table(rows, columns), fill)
        scales.add(scale)
        expected = _defined(rows, columns, fill)
        right = all(abs(a - float(b)) < _ROUNDING for a, b in zip(found, expected, strict=True))
        tally.require(right, "noised sums are not those of the definition")
        known[x] = found
    tally.require(len(scales) == 1, "the noise depends on the table")
    for x, y in rem.one_more(len(kinds), most):
        moved = max(abs(a - b) for a, b in zip(known[x], known[y], strict=True))
        tally.found(moved / (max(scales) * float(EPSILON)))
    _saw(len(kinds), most, tally)


def _noised(table: FloatArray, fill: float | None) -> tuple[float, list[float]]:
    """Scale of the noise, and what it is added to, both in half widths of the bounds."""
    asked: list[float] = []
    exact: list[list[int]] = []
    add_up = counted_mean.counted_sums

    def spied(relative: FloatArray, filled: tuple[float, ...] | None) -> list[int]:
        exact.append(add_up(relative, filled))
        return exact[-1]

    def none(count: int, scale: Fraction, bits: object) -> list[int]:
        asked.append(float(scale))
        return [0] * count

    with forced((counted_mean, "counted_sums", spied), (counted_mean, "cube_noise", none)):
        td.cube(table, epsilon=EPSILON, bounds=(-1, 1), fill=fill, neighbours="add-remove", randomness=seeded(1))
    half = STEPS / 2
    return sum(asked) / half, [v / half for v in exact[0]]


def _defined(rows: Sequence[means.Row], columns: int, fill: float | None) -> list[Fraction]:
    """Values between the bounds, with `fill` for missing ones if there is one."""
    found: list[Fraction] = []
    there = [0] * columns
    for j in range(columns):
        cells = [row[j] for row in rows]
        values = [Fraction(fill) if cell is None and fill is not None else cell for cell in cells]
        kept = [max(Fraction(-1), min(Fraction(1), v)) for v in values if v is not None]
        found.append(sum(kept, Fraction(0)))
        there[j] = len(kept)
    return [*found, *(Fraction(v) for v in (there if fill is None else [len(rows)]))]


def blocks(case: Case, tally: Tally) -> None:
    """Means of blocks that rows draw by themselves, or the rows, over all draws and coins."""
    columns = len(case.kinds[0])
    plan = SubsetPlan(case.blocks, case.partitions, (case.steps,) * columns, dealing=case.dealing)
    guarantee = SubsetMean(EPSILON, plan).guarantee
    tally.require(guarantee.neighbours == "add-remove", "the guarantee is about other neighbours")
    draws = case.blocks if case.dealing == "draws" else 1
    laws: dict[Dataset, list[float]] = {}
    for x in rem.up_to(len(case.kinds), case.most):
        rows = tuple(case.kinds[i] for i in x)
        relative = _table(rows, columns)

        def make(relative: FloatArray = relative) -> object:
            return subset_point(relative, rehearsed_charge(guarantee, b""), plan, derived_key("public"))

        given = (len(x), draws, case.partitions, HEADS_OR_TAILS)
        found = weighed_draws(subset_means, "filled_at_the_ends", make, *given)
        if case.dealing == "draws":
            expected = rem.drawn_tables(rows, columns, case.blocks, case.steps, case.partitions)
        else:
            one_by_one = partial(means.mean_choice, steps=case.steps)
            expected = means.tables(rows, len(x), one_by_one) if x else {(): Fraction(1)}
        tally.require(by_rows(found) == expected, "block tables are not those of the definition")
        laws[x] = law(found)
    _ratios(laws, len(case.kinds), case.most, float(guarantee.epsilon), tally)


CHECK = Check(
    name="add-remove: enumeration",
    claim="With one row more or less, from the empty table on, boxem, noised sums over noised numbers of values, and "
    "means of blocks that rows draw by themselves keep epsilon; tables and sums are those of the definition.",
    measure="largest log ratio of probabilities, over epsilon",
    run=run,
)
