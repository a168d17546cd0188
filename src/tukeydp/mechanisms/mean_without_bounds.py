"""The mean of any table without bounds: REM on the means of secretly dealt blocks (docs/proofs/mean.md, section 7)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from tukeydp.data.tables import Table
from tukeydp.forecast.rem import RemInputs, on_blocks
from tukeydp.mechanisms.interval_without_bounds import (
    AT_THE_FLOOR,
    WIDE_OCTAVES,
    IntervalPlan,
    Spending,
    rem_interval,
    spread_for,
)
from tukeydp.mechanisms.rem import rem
from tukeydp.mechanisms.rem_choice import require_range
from tukeydp.results.interval import Calibration
from tukeydp.results.release import Refused, Release
from tukeydp.trusted.account import ApproxDP, Guarantee, bounded_range
from tukeydp.trusted.bits import Keystream, Randomness
from tukeydp.trusted.block_steps import SpreadPlan, corrected_means, spread_octaves
from tukeydp.trusted.blocks import block_table, secret_order
from tukeydp.trusted.parameters import ParameterError, checked_integer, show
from tukeydp.trusted.release import PartOf, Run, Spends, reserve
from tukeydp.trusted.rows import Grid, per_column

# Blocks that REM's test passes with on bell-shaped block means, at epsilon = 1 and delta = 1e-6: a little more than
# measured (docs/proofs/rem.md), growing with d. Fewer are refused more often; more cost accuracy on skewed columns.
_BLOCKS, _BLOCKS_PER_COLUMN, _LOG_DELTA = 250.0, 27.0, math.log(1e6)
# Beyond so many columns each asks for more: blocks of one or two skewed rows were refused without.
_FEW_COLUMNS, _MORE_PER_COLUMN = 5, 16.0

UNBOUNDED_NOTE = (
    "What is estimated is the arithmetic mean of each column, missing cells left out, by the centre of means of blocks "
    "of rows. Columns of few values, such as yes/no, need many rows to a block for that: give their bounds."
)


def without_bounds(
    table: Table, guarantee: ApproxDP, blocks: Any, bits: Randomness, accountant: Spends | None = None
) -> Release | Refused:
    """REM on the means of one dealing: further dealings would multiply delta."""
    return _by_rem(table, guarantee, blocks, bits, accountant, {}, {})[0]


def _by_rem(
    table: Table,
    guarantee: ApproxDP,
    blocks: Any,
    bits: Randomness,
    accountant: Spends | None,
    beside: Mapping[str, Guarantee],
    about: Mapping[str, Any],
) -> tuple[Release | Refused, Run]:
    """The same in a run that pays for further parts; `about` is what its entry says of them."""
    require_range(guarantee.epsilon, guarantee.delta)  # rem would say so after all is spent
    if blocks is None:
        count = min(table.n, blocks_for_rem(table.d, guarantee))
    else:
        count = checked_integer("blocks", blocks, least=1, most=table.n)
    public = {**table.public, "settings": {"blocks": count}, **about}
    parts = {"rem": guarantee, **beside}
    run = reserve(parts, mechanism="rem", source=bits, accountant=accountant, parameters=public)
    means = block_table(table.cells, count, secret_order(table.n, Keystream(run.secret("dealing"))), corrected_means)
    given: dict[str, Any] = {"epsilon": guarantee.epsilon, "delta": guarantee.delta, "randomness": bits}
    given["accountant"] = PartOf(run.charge("rem"))
    outcome = rem(replace(table, cells=means), check=False, **given)  # checked once, or not, by whoever was called
    assert outcome.rehearsal is not None
    told = replace(
        outcome,
        seal=run.seal,
        n=table.n,
        settings={**outcome.settings, "blocks": count},
        notes=(UNBOUNDED_NOTE,),
        rehearsal=on_blocks(outcome.rehearsal, table.n, count),
    )
    return told, run


def blocks_for_rem(d: int, guarantee: ApproxDP) -> int:
    """How many blocks REM's test wants; public."""
    wanted = _BLOCKS + _BLOCKS_PER_COLUMN * d + _MORE_PER_COLUMN * max(0, d - _FEW_COLUMNS)
    return math.ceil(wanted * log_delta_share(guarantee) / float(guarantee.epsilon))


def log_delta_share(guarantee: ApproxDP) -> float:
    """ln(1/delta), in that of 1e-6: so many times as many blocks are wanted."""
    log_delta = -math.log(float(guarantee.delta)) if guarantee.delta > Fraction(1, 10**300) else 700.0
    return log_delta / _LOG_DELTA


def without_bounds_with_interval(
    table: Table,
    guarantee: ApproxDP,
    blocks: Any,
    bits: Randomness,
    *,
    sd: Any,
    confidence: float,
    joint: bool,
    accountant: Spends | None = None,
) -> Release | Refused:
    """The same, and the spread of every column unless it is public: their epsilons add up.

    A refusal has spent all of the guarantee, although no spread was drawn then.
    """
    known = None if sd is None else _checked_deviations(sd, table.d)
    share, plan = (Fraction(0), None) if known else spread_for(table.n, table.d, guarantee.epsilon)
    for_spread = share * guarantee.epsilon
    for_mean = guarantee.epsilon - for_spread
    own = ApproxDP(for_mean, guarantee.delta)
    beside = {} if plan is None else {"spread": bounded_range(for_spread)}
    about = {} if plan is None else {"epsilon_spread": for_spread}
    outcome, run = _by_rem(table, own, blocks, bits, accountant, beside, about)
    split = {"epsilon_mean": for_mean, "epsilon_spread": for_spread} if plan is not None else {}
    settings = {"confidence": confidence, "joint": joint, **split, **outcome.settings}
    outcome = replace(outcome, settings=settings)
    if not isinstance(outcome, Release):
        return outcome
    assert outcome.rehearsal is not None
    (inputs,) = outcome.rehearsal.inputs
    assert isinstance(inputs, RemInputs)
    found, floor = known or (), 0.0
    if plan is not None:
        found, floor = _spread(table, inputs.grid, plan, run)
    interval = IntervalPlan(Spending(table.n, inputs, plan, for_spread), known is not None, confidence, joint, floor)
    return replace(outcome, calibration=Calibration(rem_interval, (interval, tuple(outcome.point.tolist()), found)))


def _spread(table: Table, grid: Grid, plan: SpreadPlan, run: Run) -> tuple[tuple[float, ...], float]:
    """Standard deviations in the columns' own units, within the grid, and the smallest that is believed."""
    half = float(-grid.lower[0])
    with np.errstate(all="ignore"):  # no cell may warn
        relative = np.clip(table.cells / half, -1.0, 1.0)
    public_key = run.public("directions of the spread")
    octaves = spread_octaves(relative, run.charge("spread", secret="spread"), plan, public_key)
    return tuple((2.0 * half * 2.0**octaves).tolist()), AT_THE_FLOOR * 2.0 * half * 2.0**-WIDE_OCTAVES


def _checked_deviations(sd: Any, d: int) -> tuple[float, ...]:
    values = per_column("sd", sd, d)
    for value in values:
        if value <= 0:
            raise ParameterError("sd", "must be > 0", show(value))
    return tuple(float(value) for value in values)
