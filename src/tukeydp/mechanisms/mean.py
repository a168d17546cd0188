"""The mean of any table (docs/proofs/mean.md)."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

from tukeydp.data.bounded import bounded_columns
from tukeydp.data.dealing import block_table, secret_order
from tukeydp.data.tables import Table, read_table
from tukeydp.errors import ParameterError
from tukeydp.mechanisms.block_statistics import corrected_means
from tukeydp.mechanisms.cube import checked_epsilon, checked_rows
from tukeydp.mechanisms.mean_choice import MECHANISMS, mean_plan
from tukeydp.mechanisms.planned import planned_release
from tukeydp.mechanisms.rem import rem
from tukeydp.mechanisms.rem_rehearsal import on_blocks
from tukeydp.padding import padded
from tukeydp.parameters import brief, checked_choice, checked_integer, in_order
from tukeydp.privacy import ApproxDP
from tukeydp.randomness import Keystream, Randomness, source
from tukeydp.release import Refused, Release

# Blocks that REM's test passes with on bell-shaped block means, at epsilon = 1 and delta = 1e-6: a little more than
# measured (docs/proofs/rem.md), growing with d. Fewer are refused more often; more cost accuracy on skewed columns.
_BLOCKS, _BLOCKS_PER_COLUMN, _LOG_DELTA = 250.0, 27.0, math.log(1e6)

UNBOUNDED_NOTE = (
    "What is estimated is the arithmetic mean of each column, missing cells left out, by the centre of means of blocks "
    "of rows. Columns of few values, such as yes/no, need many rows to a block for that: give their bounds."
)


@padded
def mean(
    x: Any,
    *,
    epsilon: Any,
    bounds: Any = None,
    delta: Any = None,
    mechanism: str = "auto",
    blocks: Any = None,
    partitions: Any = None,
    sd: Any = None,
    pad_to: Any = None,
    randomness: Any = None,
) -> Release | Refused:
    """Release the arithmetic mean of each column: skewed, 0/1, of several groups, with missing cells.

    Parameters
    ----------
    x
        Array-like of shape (n, d) or (n,), or a pandas, polars or Arrow table; one row per person. Never modified. A
        missing or unreadable cell is left out of its column, not its whole row.
    epsilon
        Privacy budget, > 0. A float means its shortest decimal: 0.1 is 1/10.
    bounds
        (lower, upper), scalars or one per column, or a dict of column name -> (lower, upper): what is known of the
        columns without looking. Cells outside are moved to the edge. Without bounds a delta is
        needed, and the run may refuse.
    delta
        For runs without bounds: much smaller than 1/n, say 1e-6.
    mechanism
        With bounds: "subset" (depth of subset means), "two-step" (a mean clipped where the data are), "cube" (a mean
        clipped at the bounds), or "auto": the one with the smallest predicted error, from n, d, epsilon, bounds and
        `sd` alone. `release.mechanism` says which ran.
    blocks, partitions
        For those who know better than "auto": how many blocks rows are dealt to, and how many times.
    sd
        Public standard deviations, one for all columns, one for each, or a dict of column name -> value, known without
        the data and right within a factor of 2. Makes the choice of mechanism surer, and saves the budget for
        finding them.
    pad_to
        None, or seconds: the call ends only at multiples of them, so that how long it takes tells at most which
        (docs/threat-model.md, "Time").
    randomness
        None for the operating system's, or `td.seeded(seed)` for tests: the release then is not private.

    Returns
    -------
    Release or Refused
        Only a run without bounds can refuse.

    Privacy
    -------
    With bounds pure epsilon-DP under the swap of one row, without them (epsilon, delta)-DP; n, d, the column names and
    all parameters are public. Rows are dealt to blocks in secret, afresh in each run.

    Examples
    --------
    >>> import numpy as np, tukeydp as td
    >>> incomes = np.random.default_rng(1).exponential(30, size=(3000, 2))
    >>> release = td.mean(incomes, epsilon=1, bounds=(0, 1000), randomness=td.seeded(7))
    >>> bool(np.abs(release.point - incomes.mean(axis=0)).max() < 2)
    True
    >>> release.mechanism, release.private
    ('two-step', False)
    """
    budget = checked_epsilon(epsilon)
    checked_choice("mechanism", mechanism, MECHANISMS if bounds is not None else (*MECHANISMS, "rem"))
    if delta is not None:
        ApproxDP(budget, delta)  # checks it, also where bounds make it unnecessary
    bits = source(randomness)
    table = checked_rows(read_table(x))
    sd = in_order("sd", sd, table.columns)
    if bounds is None:
        if mechanism not in ("auto", "rem"):
            raise ParameterError("bounds", f"must be given with mechanism={mechanism!r}", "none")
        for name, value in (("partitions", partitions), ("sd", sd)):
            if value is not None:
                raise ParameterError(name, "must be left out without bounds", brief(value))
        return _without_bounds(table, budget, delta, blocks, bits)
    columns = bounded_columns(table.d, bounds, table.columns)
    plan = mean_plan(table.n, columns, budget, mechanism=mechanism, sd=sd, blocks=blocks, partitions=partitions)
    return planned_release(table, columns, plan, bits, sd=sd)


def _without_bounds(table: Table, epsilon: Fraction, delta: Any, blocks: Any, bits: Randomness) -> Release | Refused:
    """REM on the means of one dealing: further dealings would multiply delta."""
    if delta is None:
        rule = "must be given: bounds=(lower, upper), what is known of the columns without looking, or delta= instead"
        raise ParameterError("bounds", rule, "neither")
    guarantee = ApproxDP(epsilon, delta)
    if blocks is None:
        count = min(table.n, blocks_for_rem(table.d, guarantee))
    else:
        count = checked_integer("blocks", blocks, least=1, most=table.n)
    means = block_table(table.cells, count, secret_order(table.n, Keystream(bits.key())), corrected_means)
    outcome = rem(Table(means, table.columns), epsilon=epsilon, delta=guarantee.delta, randomness=bits)
    assert outcome.rehearsal is not None
    return replace(
        outcome,
        n=table.n,
        settings={**outcome.settings, "blocks": count},
        notes=(UNBOUNDED_NOTE,),
        rehearsal=on_blocks(outcome.rehearsal, table.n, count),
    )


def blocks_for_rem(d: int, guarantee: ApproxDP) -> int:
    """How many blocks REM's test wants; public."""
    log_delta = -math.log(float(guarantee.delta)) if guarantee.delta > Fraction(1, 10**300) else 700.0
    return math.ceil((_BLOCKS + _BLOCKS_PER_COLUMN * d) * log_delta / _LOG_DELTA / float(guarantee.epsilon))
