"""Any statistic of a table: computed on secretly dealt blocks, released by depth (docs/proofs/aggregate.md)."""

from __future__ import annotations

from typing import Any

import numpy as np

from tukeydp.blas import on_one_thread
from tukeydp.data.dealing import secret_order
from tukeydp.data.lazy_tables import is_lazy
from tukeydp.data.row_blocks import rows_of
from tukeydp.depth.notions import Notion
from tukeydp.errors import ParameterError
from tukeydp.mechanisms.block_release import BlockRelease, checked_partitions, guarantee_for
from tukeydp.mechanisms.estimators import fitted_statistic, is_estimator
from tukeydp.mechanisms.guarded_statistic import tried
from tukeydp.mechanisms.mean_in_passes import mean_in_passes
from tukeydp.mechanisms.pass_plan import refuse_in_passes
from tukeydp.padding import padded
from tukeydp.parameters import brief, checked_integer
from tukeydp.randomness import Keystream, source
from tukeydp.release import Refused, Release
from tukeydp.spending import require_room
from tukeydp.trusted.release import Spends, reserve

AGGREGATE_NOTES = (
    "What is estimated is the centre of the statistic over blocks of rows: its value on all rows together, up to the "
    "bias that it has on blocks of that size.",
    "No expected_error: how far a statistic of a block lies from that of all rows depends on the statistic. "
    "Rehearse on made-up rows.",
)


@padded
@on_one_thread
def aggregate(
    x: Any,
    statistic: Any,
    *,
    blocks: int,
    epsilon: Any,
    bounds: Any = None,
    delta: Any = None,
    partitions: int | None = None,
    columns: Any = None,
    attribute: Any = None,
    target: Any = None,
    dummy: Any = None,
    types: Any = None,
    clip: Any = None,
    depth: Notion | None = None,
    resolution: Any = None,
    accountant: Spends | None = None,
    pad_to: Any = None,
    randomness: Any = None,
) -> Release | Refused:
    """Release any statistic of a table: a median, a correlation, the coefficients of a model.

    Rows are dealt to blocks in secret; the statistic of each block is one row of a table, whose centre is released.

    Parameters
    ----------
    x
        Array-like of shape (n, d) or (n,), or a frame (pandas, polars, Arrow) with a number, a text, a truth value or a
        date in each cell; one row per person. Never modified.
    statistic
        A function of a block of rows that returns a number, a vector, or a dict of numbers: always of the same length.
        It gets an array of floats (NaN: missing) of as many dimensions as `x`, or a frame of the caller's library with
        numbers and texts (`types`). Or an estimator as in scikit-learn, cloned and fitted to each block. For a lazy
        frame the word "mean": the mean of each column, its cells clipped to `clip`, or else to `bounds`.
    blocks
        How many blocks rows are dealt to. Without bounds about (250 + 27 d) / epsilon for d numbers at delta = 1e-6.
    epsilon
        Privacy budget, > 0. A float means its shortest decimal: 0.1 is 1/10.
    bounds
        (lower, upper) of the *statistic*, scalars or one for each of its numbers, or a dict by name: what is known
        without looking. The draw is then by `td.boxem`, otherwise by `td.rem`, which needs a delta and may refuse.
    delta
        For runs without bounds: much smaller than 1/n, say 1e-6.
    partitions
        With bounds: how many times rows are dealt, each time anew; epsilon is divided among them.
    columns
        Names of the statistic's numbers; those of the dict, or of the features, unless given.
    attribute, target
        For an estimator: what to read once it is fitted, such as "coef_" or ("intercept_", "coef_"), and which column
        it is fitted to, a name or a number; without a target it is fitted to all columns.
    dummy
        Public rows like those of `x` that the statistic is tried on. None: made-up ones, of numbers of three kinds
        where no type is declared; if it fails on these, of texts.
    types
        For frames: a dict of column names to "number" (floats), "text", "bool" or "date" (UTC); what cannot be read so
        is missing. The types that a frame has are not looked at: they depend on all of its cells. A column without a
        declared type holds floats in each block whose cells are numbers, otherwise texts; there truth values are 0 and
        1, a text that is a number is one ("007" is 7), a date is a text.
    clip
        (lower, upper) for the cells of an array, as `bounds`; None clips nothing.
    depth, resolution
        As for `td.boxem` and `td.rem`.
    accountant
        None, or a `td.Accountant` that pays for the run before the data are touched, or refuses it.
    pad_to
        None, or seconds: the call ends only at multiples of them, so that how long it takes tells at most which.
    randomness
        None for the operating system's, or `td.seeded(seed)` for tests: the release then is not private.

    Returns
    -------
    Release or Refused
        `release.columns` names the numbers.

    Privacy
    -------
    Pure epsilon-DP with bounds, (epsilon, delta)-DP without, under the swap of one row, *if the statistic is a function
    of its block*. What goes wrong on a block makes it a missing one: exceptions, wrong lengths, numbers that are not
    finite. Prints, warnings and log records are thrown away; the global generators of NumPy and Python start afresh
    with each block. What one process cannot prevent: a statistic that remembers earlier blocks in a global or a
    closure, reads `x` from outside, or writes to a file (docs/proofs/aggregate.md, section 5). How long it takes
    depends on the data.

    Cost
    ----
    The statistic once for each block of each dealing, and one call of `td.boxem` or `td.rem`.

    Examples
    --------
    >>> import numpy as np, tukeydp as td
    >>> rng = np.random.default_rng(1)
    >>> x = rng.multivariate_normal([0, 0], [[1, 0.6], [0.6, 1]], size=4000)
    >>> correlation = lambda rows: np.corrcoef(rows.T)[0, 1]
    >>> release = td.aggregate(x, correlation, blocks=200, epsilon=1, bounds=(-1, 1), randomness=td.seeded(7))
    >>> bool(abs(release.point[0] - 0.6) < 0.1)
    True
    """
    if is_lazy(x):
        refuse_in_passes(attribute=attribute, target=target, dummy=dummy, types=types)
        return mean_in_passes(
            x, statistic, blocks=blocks, epsilon=epsilon, bounds=bounds, delta=delta, partitions=partitions,
            columns=columns, clip=clip, depth=depth, resolution=resolution, accountant=accountant,
            randomness=randomness,
        )  # fmt: skip
    guarantee = guarantee_for(epsilon, bounds, delta)
    dealings = checked_partitions(partitions, guarantee)
    require_room(accountant, guarantee)
    bits = source(randomness)
    rows = rows_of(x, clip, types)
    count = checked_integer("blocks", blocks, least=1, most=rows.n)
    if is_estimator(statistic):
        compute = fitted_statistic(statistic, attribute, rows, target)
    else:
        compute = _checked_function(statistic, attribute=attribute, target=target)
    public_rows = None if dummy is None else rows_of(dummy, clip, types, "dummy")
    known = tried(compute, rows, max(1, rows.n // count), public_rows, columns)
    drawn = BlockRelease(guarantee, count, dealings, known.length, known.names, bounds, depth, resolution)
    public = {"n": rows.n, "d": known.length, "columns": known.names, "bounds": drawn.ends, "settings": drawn.settings}
    parts = {"draw": guarantee}
    run = reserve(parts, mechanism="aggregate", source=bits, accountant=accountant, parameters=public)
    orders = (secret_order(rows.n, Keystream(run.secret(f"dealing {i}"))) for i in range(dealings))
    table = np.concatenate([known.table(rows, count, order) for order in orders])
    return drawn.release(table, rows.n, bits, run, "aggregate", AGGREGATE_NOTES)


def _checked_function(statistic: Any, **for_estimators: Any) -> Any:
    if not callable(statistic) or isinstance(statistic, type):
        rule = "must be a function of a block of rows, or an estimator with a method fit"
        raise ParameterError("statistic", rule, brief(statistic))
    for name, value in for_estimators.items():
        if value is not None:
            raise ParameterError(name, "must be left out unless the statistic is an estimator", brief(value))
    return statistic
