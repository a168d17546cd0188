"""The private "Table 1": number of values, mean, standard deviation and interval of each column, by group or not.

One plan of clipped means for all lines (docs/proofs/groups.md, section 4; docs/proofs/mean.md, section 10).
"""

from __future__ import annotations

from typing import Any

from tukeydp.blas import on_one_thread
from tukeydp.data.keys import require_by
from tukeydp.data.records import records as open_records
from tukeydp.data.relation import checked_relation
from tukeydp.mechanisms.clipped_interval import Level, checked_confidence, checked_joint
from tukeydp.mechanisms.cube import checked_epsilon
from tukeydp.mechanisms.per_person import of_persons
from tukeydp.mechanisms.planned import Wanted
from tukeydp.mechanisms.readable_check import checked
from tukeydp.padding import padded
from tukeydp.results.summary_cells import Means
from tukeydp.results.summary_result import Summary
from tukeydp.spending import least_cost, require_room
from tukeydp.trusted.bits import source
from tukeydp.trusted.parameters import in_order
from tukeydp.trusted.release import Spends, reserve
from tukeydp.trusted.rows import bounded_columns, require_bounds


@padded
@of_persons
@checked()
@on_one_thread
def summary(
    x: Any,
    *,
    epsilon: Any,
    bounds: Any,
    by: Any = None,
    keys: Any = None,
    confidence: Any = 0.95,
    person: Any = None,
    per_person: Any = "mean",
    sd: Any = None,
    joint: bool = False,
    neighbours: str = "swap",
    rows: Any = None,
    accountant: Spends | None = None,
    check: Any = None,
    pad_to: Any = None,
    randomness: Any = None,
) -> Summary:
    """Release number of values, mean, standard deviation and interval of each column, for one epsilon.

    The "Table 1" of a report, with a footnote ready to print: `summary.to_html()`, `to_markdown()`, `to_latex()`,
    `to_csv()`, `to_frame()`, `plot()`.

    Parameters
    ----------
    x, epsilon, bounds, neighbours, rows, accountant, check, pad_to, randomness
        As for `td.mean`; a lazy frame is read in passes.
    by
        A column of `x` with the key of each row's group, or one key for each row. Each group then has its own lines.
    keys
        The groups' keys. They are public and must be given with `by`: keys read off the data would tell who is there.
        Rows with another key, or none, belong to no group. Keys that are numbers are compared as numbers, others as
        texts.
    confidence
        The nominal level of the confidence intervals; None for a table without them.
    joint
        Whether the confidence is for all lines together, rather than for each by itself.
    person, per_person
        As for `td.mean`: one record for each person, and a guarantee about persons.
    sd
        Public standard deviations, as for `td.mean`. They are shown as given, and save the budget for finding them.

    Privacy
    -------
    Pure epsilon-DP for `neighbours`, for all lines together; with groups also where the row goes to another group. The
    table's number of rows is public under the swap of one row, the groups' sizes are not.

    Accuracy
    --------
    Columns are clipped where the records of all groups are, and every group's sums get noise: one number of records for
    each group, and one standard deviation for all groups together, that within them. With few records columns are
    clipped at the bounds: narrow bounds matter then.

    Examples
    --------
    >>> import numpy as np, tukeydp as td
    >>> rng = np.random.default_rng(1)
    >>> x = np.column_stack([rng.normal(120, 15, 4000), rng.random(4000) < 0.3])
    >>> arm = np.where(rng.random(4000) < 0.5, "A", "B")
    >>> table = td.summary(
    ...     x, by=arm, keys=["A", "B"], epsilon=2, bounds=([60, 0], [240, 1]), randomness=td.seeded(7)
    ... )
    >>> [(line.group, line.column, round(line.mean, 1)) for line in table.lines]
    [('A', 'column 0', 119.2), ('B', 'column 0', 120.6), ('A', 'column 1', 0.3), ('B', 'column 1', 0.3)]
    >>> table.guarantee
    PureDP(epsilon=Fraction(2, 1))
    """
    budget = checked_epsilon(epsilon)
    relation = checked_relation(neighbours, rows)
    require_by(by, keys)
    together = checked_joint(joint)
    level = None if confidence is None else Level(checked_confidence(confidence), together)
    require_bounds(bounds, "a table needs them")
    require_room(accountant, least_cost(budget, None, 6, neighbours))
    bits = source(randomness)
    records = open_records(x, relation, by=by, keys=keys)
    table = records.table
    columns = bounded_columns(table.d, bounds, table.columns)
    any_level = Level(0.95) if level is None else level
    wanted = Wanted(budget, columns, any_level, in_order("sd", sd, table.columns), spread=True)
    plan, known = wanted.plan(records), wanted.known
    keys_shown = None if records.keys is None else records.keys.names
    settings = {**({} if keys_shown is None else {"groups": len(keys_shown)}), **plan.settings, **relation.settings}
    public = {**records.public, "bounds": columns.ends, "confidence": None if level is None else level.confidence}
    public |= {"sd": sd, "settings": settings} | ({} if keys_shown is None else {"by": records.by, "keys": keys_shown})
    parts = {"summary": plan.guarantee}
    run = reserve(parts, mechanism="summary", source=bits, accountant=accountant, parameters=public)
    found = plan.released(records, columns, run.charge("summary"))
    names = table.columns or tuple(f"column {j}" for j in range(table.d))
    return Summary(
        seal=run.seal,
        seeded=run.seal.seeded,
        n=records.public["n"],
        columns=names,
        bounds=columns.ends,
        confidence=None if level is None else level.confidence,
        mechanism=plan.mechanism,
        source=Means(found, columns, names, keys_shown or (None,), known, level),
        by=records.by,
        keys=keys_shown,
        settings=settings,
    )
