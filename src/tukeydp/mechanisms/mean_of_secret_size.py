"""The mean of a table whose number of rows is secret: plans are made for `rows`, a public number, and never see n.

With bounds: depth of the means of blocks that rows draw by themselves, depth of the rows where blocks would be too
small, or noised sums over noised numbers of values, whichever should come closest; without: REM on such blocks or on
the rows (docs/proofs/add-remove.md, sections 3, 4 and 7).
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from tukeydp.data.relation import Relation
from tukeydp.data.tables import Table
from tukeydp.forecast.rem import on_blocks
from tukeydp.mechanisms.cliff import SAFE, log_odds
from tukeydp.mechanisms.clipped_sum import CountedMean
from tukeydp.mechanisms.mean_plans import MeanPlan, SubsetMean
from tukeydp.mechanisms.mean_ways import known_widths, way_error
from tukeydp.mechanisms.mean_without_bounds import UNBOUNDED_NOTE, blocks_for_rem
from tukeydp.mechanisms.rem import rem
from tukeydp.mechanisms.rem_choice import require_range
from tukeydp.mechanisms.subset_means import block_shift, dealings_for, grid_steps, scatter, shifted
from tukeydp.mechanisms.two_step import DOUBT
from tukeydp.results.noise_quantiles import median_of_noise
from tukeydp.results.release import Refused, Release
from tukeydp.trusted.account import ApproxDP
from tukeydp.trusted.bits import Keystream, Randomness
from tukeydp.trusted.block_steps import SubsetPlan, corrected_means
from tukeydp.trusted.blocks import drawn_block_table, drawn_blocks, secret_order
from tukeydp.trusted.parameters import FloatArray, ParameterError, brief, checked_choice, checked_integer
from tukeydp.trusted.release import PartOf, Spends, reserve
from tukeydp.trusted.rows import BoundedColumns

ROWS_NOTE = (
    "What is estimated is the arithmetic mean of each column, by the centre of the rows: for means of blocks there are "
    "too few, so that skewed columns are off. Columns of few values, such as yes/no, need many rows: give their bounds."
)
MECHANISMS = ("auto", "subset", "cube")
# Rows of a block, on average, that are worth drawing for with REM, whose test needs filled blocks: with fewer too many
# stay empty. Accuracy only.
_FEWEST_FOR_REM = 4
_FEWEST_BLOCKS = 16


def require_planned_for_secret_size(mechanism: str) -> None:
    """What divides by the number of rows is refused in words before the table is touched."""
    if mechanism not in MECHANISMS:
        rule = "must be auto, subset or cube with neighbours='add-remove': two-step divides by the number of rows"
        raise ParameterError("mechanism", rule, brief(mechanism))


def secret_size_plan(
    rows: int | None,
    columns: BoundedColumns,
    epsilon: Fraction,
    *,
    mechanism: str,
    sd: Any = None,
    blocks: Any = None,
    partitions: Any = None,
) -> MeanPlan:
    """The plan asked for by name, or the one with the smallest predicted error for so many rows."""
    checked_choice("mechanism", mechanism, MECHANISMS)
    widths = known_widths(columns, sd)
    for name, value in (("blocks", blocks), ("partitions", partitions)):
        if mechanism == "cube" and value is not None:
            raise ParameterError(name, "must be left out with mechanism='cube'", brief(value))
    noised = CountedMean(epsilon)
    if mechanism == "cube":
        return noised
    if rows is None:
        rule = "must be given with neighbours='add-remove', about how many there are, unless mechanism is cube"
        raise ParameterError("rows", rule, "none")
    if blocks is not None:
        blocks = _checked_blocks(blocks, rows)
    if partitions is not None:
        partitions = checked_integer("partitions", partitions, least=1, most=1000)
    forced = mechanism == "subset" or (blocks, partitions) != (None, None)
    subset = drawn_plan(rows, columns.d, epsilon, widths, blocks, partitions, 1.0 if sd is None else DOUBT, forced)
    if subset is None:
        return noised
    by_depth = SubsetMean(epsilon, subset)
    noise = float(np.median(widths)) * median_of_noise(2 * columns.d) / (2.0 * float(epsilon) * rows)
    closer = way_error(by_depth, rows, widths) * (1.0 if sd is None else DOUBT) < noise
    return by_depth if forced or closer else noised


def drawn_plan(
    rows: int,
    d: int,
    epsilon: Fraction,
    widths: FloatArray,
    blocks: int | None = None,
    partitions: int | None = None,
    doubt: float = 1.0,
    forced: bool = False,
) -> SubsetPlan | None:
    """The fewest blocks that keep a safe distance from the cliff, or the rows by themselves; None if too few for both.

    Few rows do better by themselves, with twice the epsilon in the exponent, unless skewness is the larger error. With
    `forced` they count by themselves even if they are too few: the release then says so.
    """
    width = doubt * math.exp(float(np.log(widths).mean()))
    found = []
    count = blocks or fewest_drawn_blocks(rows, d, float(epsilon), width)
    # As for a public number of rows: shifts make up for ties, in blocks that nobody has asked for by number.
    smooth = (blocks, partitions) == (None, None)
    shift = block_shift(rows / count if count else 1.0) if smooth else 0.0
    if shift:
        count = fewest_drawn_blocks(rows, d, float(epsilon), width / math.hypot(1.0, shift))
    if count is not None:
        steps = grid_steps(scatter(rows, d, float(epsilon), count), widths)
        plan = SubsetPlan(count, partitions or dealings_for(count), steps, dealing="draws")
        found.append(shifted(plan, rows, shift, widths) if shift else plan)
    twice = 2.0 * float(epsilon)
    if blocks is None and (forced or log_odds(rows, d, twice) - d * math.log(width) >= SAFE):
        found.append(SubsetPlan(rows, 1, grid_steps(scatter(rows, d, twice, rows), widths), dealing="rows"))
    return min(found, key=lambda plan: way_error(SubsetMean(epsilon, plan), rows, widths), default=None)


def fewest_drawn_blocks(rows: int, d: int, epsilon: float, width: float) -> int | None:
    """As few as the cliff allows, those that stay empty left out; None if there are too few rows for as many blocks."""

    def safe(blocks: int) -> bool:
        filled = blocks * -math.expm1(-rows / blocks)
        return log_odds(int(filled), d, epsilon) - d * math.log(width * math.sqrt(rows / blocks)) >= SAFE

    low, high = _FEWEST_BLOCKS - 1, rows
    if high < _FEWEST_BLOCKS or not safe(high):
        return None
    while low + 1 < high:
        middle = (low + high) // 2
        low, high = (low, middle) if safe(middle) else (middle, high)
    return high


def without_bounds_of_secret_size(
    table: Table,
    guarantee: ApproxDP,
    relation: Relation,
    blocks: Any,
    bits: Randomness,
    accountant: Spends | None = None,
) -> Release | Refused:
    """REM on the means of the blocks of one drawing, a swap in whose table a row more or less is; or on the rows."""
    require_range(guarantee.epsilon, guarantee.delta)  # rem would say so after all is spent
    rows = relation.require_rows("without bounds")
    count = rem_blocks(rows, table.d, guarantee) if blocks is None else _checked_blocks(blocks, rows)
    settings = {"blocks": count, **relation.settings}
    public = {**relation.public(table), "settings": settings}
    run = reserve({"rem": guarantee}, mechanism="rem", source=bits, accountant=accountant, parameters=public)
    budget: dict[str, Any] = {"epsilon": guarantee.epsilon, "delta": guarantee.delta, "randomness": bits}
    if count is None:
        outcome = rem(table, **budget, neighbours="add-remove", rows=rows, accountant=PartOf(run.charge("rem")))
        assert outcome.rehearsal is not None
        forecast, told = on_blocks(outcome.rehearsal, rows, rows), {**outcome.settings, "blocks": None}
        return replace(outcome, seal=run.seal, settings=told, notes=(ROWS_NOTE,), rehearsal=forecast)
    numbers = drawn_blocks(table.n, count, Keystream(run.secret("blocks")))
    order = secret_order(table.n, Keystream(run.secret("order")))
    means = drawn_block_table(table.cells, count, numbers, order, corrected_means)
    # A row more or less is a swap of one block's mean, and REM's price for that swap is the same.
    inner = PartOf(run.charge("rem"), on_blocks=True)
    outcome = rem(replace(table, cells=means), check=False, accountant=inner, **budget)
    assert outcome.rehearsal is not None
    return replace(
        outcome,
        n=None,
        seal=run.seal,
        settings={**outcome.settings, **settings},
        notes=(UNBOUNDED_NOTE,),
        rehearsal=on_blocks(outcome.rehearsal, rows, count),
    )


def _checked_blocks(blocks: Any, rows: int) -> int:
    return checked_integer("blocks", blocks, least=1, most=rows)


def rem_blocks(rows: int, d: int, guarantee: ApproxDP) -> int | None:
    """So many that REM's test finds enough of them filled; None where rows by themselves do better."""
    needed = blocks_for_rem(d, guarantee)
    share = -math.expm1(-_FEWEST_FOR_REM)  # of blocks that are filled at least, if there are enough rows
    count = math.ceil(needed / share)
    return count if rows >= _FEWEST_FOR_REM * count else None
