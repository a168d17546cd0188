"""Public calls, and tables for each: what `checks/whole_calls.py` replays. A new call is a line in `CALLS`."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import tukeydp as td
from tukeydp.arrays import FloatArray
from tukeydp.audit.forcing import forced
from tukeydp.audit.neighbouring import FAR, Families, Family, another_person, moved, one_less, swapped
from tukeydp.data.files import read_file
from tukeydp.depth import choice
from tukeydp.mechanisms.mean_of_secret_size import rem_blocks
from tukeydp.privacy import ApproxDP

EPSILON = Fraction(7, 5)
_TEXT_BEYOND = 1e6  # what lies so far out is a text in frames


@dataclass(frozen=True)
class Whole:
    """A call of a table and an accountant, tables for it, and what its guarantee must say.

    `charged` is False where no accountant is given.
    """

    call: Callable[[FloatArray, Any], Any]
    families: Families
    neighbours: str = "swap"
    epsilon: Fraction = EPSILON
    charged: bool = True


def _options(accountant: Any, **more: Any) -> dict[str, Any]:
    return {"epsilon": EPSILON, "bounds": (-50, 50), "accountant": accountant, **more}


def _swap(n: int, function: Callable[..., Any], d: int = 2, **more: Any) -> Whole:
    return Whole(lambda x, account: function(x, **_options(account, **more)), swapped(n, d))


def _free(n: int, function: Callable[..., Any], d: int = 1, **more: Any) -> Whole:
    """Without bounds, on a coarse grid, with an epsilon and a delta at which so few rows are released."""
    given = {"epsilon": 8, "delta": "0.01", **more}
    families = swapped(n, d, 5.0, FAR if d == 1 else 20.0)
    return Whole(lambda x, account: function(x, **given, accountant=account), families, epsilon=Fraction(8))


def _less(n: int, function: Callable[..., Any], d: int = 2, **more: Any) -> Whole:
    def call(x: FloatArray, account: Any) -> Any:
        return function(x, **_options(account, neighbours="add-remove", **more))

    return Whole(call, one_less(n, d), "add-remove")


def _less_free(n: int, function: Callable[..., Any], d: int = 1, **more: Any) -> Whole:
    given = {"epsilon": 8, "delta": "0.01", "neighbours": "add-remove", "rows": n, **more}
    return Whole(
        lambda x, account: function(x, **given, accountant=account), one_less(n, d, 5.0), "add-remove", Fraction(8)
    )


def _groups(n: int, function: Callable[..., Any], d: int = 2, **more: Any) -> Whole:
    def call(x: FloatArray, account: Any) -> Any:
        return function(x[:, :-1], **_options(account, by=x[:, -1], keys=[0, 1], **more))

    return Whole(call, moved(n, d))


def _persons(n: int, function: Callable[..., Any], d: int = 2, **more: Any) -> Whole:
    def call(x: FloatArray, account: Any) -> Any:
        return function(x[:, :-1], **_options(account, person=x[:, -1], **more))

    return Whole(call, another_person(n, d), "swap-person")


def _persons_free(n: int, function: Callable[..., Any], **more: Any) -> Whole:
    def call(x: FloatArray, account: Any) -> Any:
        return function(x[:, :-1], person=x[:, -1], epsilon=8, delta="0.01", accountant=account, **more)

    return Whole(call, another_person(n, 1, 5.0), "swap-person", Fraction(8))


def _noised(function: Callable[..., Any], **more: Any) -> Whole:
    epsilon = Fraction(9, 10)
    given = {"epsilon": epsilon, "delta": "1e-6", "bounds": (-5, 5), **more}
    call = Whole(lambda x, account: function(x, **given, accountant=account), swapped(60), epsilon=epsilon)
    return _at_once(call)  # columns have noise of their own, and a row has one length in all of them


def _estimated(function: Callable[..., Any], **more: Any) -> Whole:
    """Algorithm 3, on a grid whose points can be listed."""
    given = {"epsilon": 1, "delta": "0.01", "bounds": (-5, 5), "resolution": 1, "depth": td.AxisAligned(), **more}
    return Whole(lambda x, account: function(x, **given, accountant=account), swapped(20, 1, 2.0), epsilon=Fraction(1))


def _checked(n: int, function: Callable[..., Any], paid: bool = True, **more: Any) -> Whole:
    """From a text file, as the commands do it: cells that are missing here read as no number there."""

    def call(x: FloatArray, account: Any) -> Any:
        names = [f"c{j}" for j in range(x.shape[1])]
        lines = (",".join("n.m." if np.isnan(v) else repr(float(v)) for v in row) for row in x)
        with TemporaryDirectory() as folder:
            path = Path(folder) / "table.csv"
            path.write_text("\n".join([",".join(names), *lines]) + "\n", encoding="utf-8")
            table = read_file(path, names)
        return function(table, **_options(account if paid else None, **more))

    return Whole(call, swapped(n), charged=paid)


def _in_chunks(n: int, **more: Any) -> Whole:
    def call(x: FloatArray, account: Any) -> Any:
        return td.boxem(td.chunks(lambda: np.array_split(x, 3), memory=1), **_options(account, **more))

    return Whole(call, swapped(n))


def _lazy(n: int, function: Callable[..., Any], **more: Any) -> Whole:
    """A lazy frame of polars, read in passes."""

    def call(x: FloatArray, account: Any) -> Any:
        import polars

        frame = polars.LazyFrame({f"c{j}": x[:, j] for j in range(x.shape[1])})
        return function(frame, **_options(account, **more))

    return Whole(call, swapped(n))


def _at_once(whole: Whole) -> Whole:
    """For draws of which a neighbour moves some or others: the parts of a column between its quantiles."""

    def families(random: np.random.Generator) -> list[Family]:
        return [replace(family, in_steps=False) for family in whole.families(random)]

    return replace(whole, families=families)


def _as_if_large(whole: Whole, rows: int) -> Whole:
    """As if tables of so many rows had fewer directions than smaller ones: their number must not hang on a group's."""

    def call(x: FloatArray, account: Any) -> Any:
        most = (rows - 1) * (td.Spread.usual(x.shape[1] - 1) // 2)
        with forced((choice, "_MOST_PROJECTIONS", most), (choice, "_FEWEST_DIRECTIONS", 1)):
            return whole.call(x, account)

    return Whole(call, whole.families)


def _largest(rows: FloatArray) -> Any:
    return np.nanmax(rows, axis=0)


def _restless(rows: FloatArray) -> Any:
    """Takes as many random numbers as the cells ask for: no other block may notice."""
    np.random.random(int(np.nansum(np.abs(rows)) % 7))  # noqa: NPY002
    return np.nansum(rows, axis=0) + np.random.random(rows.shape[1])  # noqa: NPY002


def _pandas(n: int, function: Callable[..., Any], **more: Any) -> Whole:
    """A pandas frame whose columns pandas gives a type by their cells: whole numbers, floats where one is missing, or
    objects where one is a text."""

    def call(x: FloatArray, account: Any) -> Any:
        import pandas

        columns = {f"c{j}": [_as_read(v) for v in x[:, j]] for j in range(x.shape[1])}
        return function(pandas.DataFrame(columns), **_options(account, **more))

    return Whole(call, swapped(n))


def _as_read(value: float) -> Any:
    """What a reader makes of a cell: a whole number, nothing, or a text where it is far away."""
    if np.isnan(value):
        return None
    return "131 mmHg" if abs(value) > _TEXT_BEYOND else int(value)


def _lengths(rows: Any) -> Any:
    """The issue's statistic: how long numbers are as texts, which tells their type."""
    return rows.iloc[:, :1].astype(str).map(len).mean()


def _frame(n: int, **more: Any) -> Whole:
    """A polars frame with a column of texts, each of them in a list that blocks must not see."""

    def call(x: FloatArray, account: Any) -> Any:
        import polars

        texts = [f"{v:.3g}" for v in x[:, 1]]
        frame = polars.DataFrame({"a": x[:, 0], "b": polars.Series(texts, dtype=polars.Enum(sorted(set(texts))))})
        return td.aggregate(frame, _texts_known, **_options(account, **more))

    return Whole(call, swapped(n))


def _texts_known(rows: Any) -> float:
    listed = getattr(rows["b"].dtype, "categories", None)
    return float(rows["b"].n_unique() if listed is None else len(listed))


def _line(n: int, families: Families, **more: Any) -> Whole:
    def call(x: FloatArray, account: Any) -> Any:
        return td.regression(x[:, :1], x[:, 1], accountant=account, **more)

    return Whole(call, families, epsilon=Fraction(more["epsilon"]))


_JUST_ENOUGH = next(n for n in range(10, 1000) if rem_blocks(n, 1, ApproxDP(Fraction(8), Fraction(1, 100))) is not None)
_SHARES = ([-50, 0], [50, 1])
_COARSE: dict[str, Any] = {"resolution": 1, "bounds": (-5, 5)}

CALLS: dict[str, Whole] = {
    "boxem": _swap(60, td.boxem),
    "boxem in one column": _swap(60, td.boxem, d=1),
    "boxem on a coarse grid": _swap(30, td.boxem, **_COARSE),
    "boxem, all directions": _swap(9, td.boxem, depth=td.Exact(), **_COARSE),
    "boxem, random directions": _swap(40, td.boxem, depth=td.Random(5), **_COARSE),
    "boxem, certified": _swap(60, td.boxem, certify="0.2"),
    "boxem in chunks": _in_chunks(60),
    "boxem in chunks that are not kept": _in_chunks(3000, depth=td.Spread(8)),
    "rem": _free(40, td.rem),
    "rem in two columns": _free(60, td.rem, d=2, depth=td.AxisAligned(), resolution=1),
    "rem, all directions": _free(14, td.rem, d=2, depth=td.Exact(), resolution=4),
    "rem, plain test": _free(40, td.rem, test="laplace"),
    "rem, the paper's test": _free(60, td.rem, test="paper"),
    "spread": _swap(600, td.spread),
    "spread in one column": _swap(200, td.spread, d=1),
    "cube": _swap(60, td.cube),
    "cube with a fill": _swap(60, td.cube, fill=1),
    "mean": _swap(3000, td.mean),
    "mean, few rows": _swap(60, td.mean),
    "mean in one column": _swap(500, td.mean, d=1),
    "mean, subset": _swap(800, td.mean, mechanism="subset"),
    "mean, subset in one column": _swap(300, td.mean, d=1, mechanism="subset", blocks=40, partitions=3),
    "mean, subset, spreads known": _swap(800, td.mean, mechanism="subset", sd=1),
    "mean, two-step": _swap(3000, td.mean, mechanism="two-step"),
    "mean, two-step, spreads known": _swap(3000, td.mean, mechanism="two-step", sd=1),
    "mean, cube": _swap(60, td.mean, mechanism="cube"),
    "mean with interval": _swap(3000, td.mean, confidence=0.95),
    "mean with interval, subset": _swap(3000, td.mean, mechanism="subset", confidence=0.95),
    "mean with interval, spreads known": _swap(3000, td.mean, confidence=0.95, sd=1),
    "mean with joint interval of shares": _swap(300, td.mean, confidence=0.95, joint=True, bounds=(0, 1)),
    "mean without bounds": _free(120, td.mean),
    "mean without bounds, with interval": _free(120, td.mean, confidence=0.95),
    "summary": _swap(3000, td.summary),
    "summary, spreads known": _swap(3000, td.summary, sd=1),
    "summary without intervals": _swap(3000, td.summary, confidence=None),
    "summary with a share": _swap(3000, td.summary, bounds=_SHARES),
    "summary of shares": _swap(60, td.summary, bounds=(0, 1)),
    "quantiles": _at_once(_swap(300, td.quantiles, q=["0.05", "0.5", "0.9", "0.99"])),
    "median on a coarse grid": _swap(40, td.quantiles, q=["0.5"], **_COARSE),
    "aggregate": _swap(300, td.aggregate, statistic=_largest, blocks=40, partitions=2),
    "aggregate by a statistic with random numbers": _swap(120, td.aggregate, statistic=_restless, blocks=20),
    "aggregate without bounds": _free(120, td.aggregate, statistic=_largest, blocks=40),
    "regression": _line(900, swapped(900), epsilon=EPSILON, bounds=(-5, 5)),
    "regression without bounds": _line(
        300, swapped(300), epsilon=8, delta="0.01", blocks=40, resolution="0.5", depth=td.AxisAligned()
    ),
    "boxem, add-remove": _less(60, td.boxem),
    "boxem in one column, add-remove": _less(60, td.boxem, d=1),
    "boxem, certified, add-remove": _less(60, td.boxem, certify="0.2"),
    "spread, add-remove": _less(600, td.spread, rows=600),
    "cube, add-remove": _less(60, td.cube),
    "cube with a fill, add-remove": _less(60, td.cube, fill=1),
    "mean, add-remove": _less(3000, td.mean, rows=3000),
    "mean, rows, add-remove": _less(60, td.mean, rows=60, mechanism="subset"),
    "mean, subset, add-remove": _less(800, td.mean, rows=800, blocks=100),
    "mean, cube, add-remove": _less(60, td.mean, mechanism="cube"),
    "rem, add-remove": _less_free(40, td.rem),
    "mean without bounds, rows, add-remove": _less_free(40, td.mean),
    "mean without bounds, blocks, add-remove": _less_free(_JUST_ENOUGH, td.mean),
    "boxem by groups": _groups(60, td.boxem),
    "boxem by groups with counts": _groups(60, td.boxem, counts="0.1"),
    "mean by groups": _groups(2000, td.mean),
    "mean by groups between narrow bounds": _groups(2000, td.mean, bounds=(-2, 2)),
    "mean by groups, two-step, spreads known": _groups(2000, td.mean, mechanism="two-step", sd=1),
    "mean by groups, rows, with counts": _groups(200, td.mean, mechanism="rows", counts="0.1"),
    "mean by groups, rows, as in large tables": _as_if_large(_groups(60, td.mean, mechanism="rows"), 60),
    "mean by groups, subset": _groups(800, td.mean, mechanism="subset", blocks=60, partitions=2),
    "mean by groups, cube": _groups(60, td.mean, mechanism="cube"),
    "summary by groups": _groups(60, td.summary),
    "mean of persons": _persons(900, td.mean),
    "medians of persons": _persons(90, td.mean, per_person="median", mechanism="cube"),
    "boxem of persons": _persons(90, td.boxem, certify="0.2"),
    "summary of persons": _persons(3000, td.summary),
    "rem of persons": _persons_free(120, td.rem),
    "boxem of a checked file": _checked(300, td.boxem),
    "mean of a checked file, nobody charged": _checked(300, td.mean, paid=False),
    "gaussian": _noised(td.baselines.gaussian),
    "analytic_gaussian": _noised(td.baselines.analytic_gaussian, fill=1),
    "coinpress": _noised(td.baselines.coinpress),
    "huang_liang_yi": _noised(td.baselines.huang_liang_yi),
    "plan": _noised(td.baselines.plan),
    "approximate_boxem": _estimated(td.approximate.approximate_boxem),
    "approximate_rem": _estimated(td.approximate.approximate_rem),
}
if importlib.util.find_spec("pandas") is not None:
    CALLS |= {
        "mean of a frame": _pandas(300, td.mean),
        "boxem of a frame": _pandas(300, td.boxem),
        "aggregate of a frame whose types are inferred": _pandas(60, td.aggregate, statistic=_lengths, blocks=10),
    }
if importlib.util.find_spec("polars") is not None:
    CALLS |= {
        "mean of a lazy frame": _lazy(600, td.mean),
        "mean of a lazy frame, subset": _lazy(300, td.mean, mechanism="subset", blocks=20, partitions=2),
        "mean of a lazy frame, two-step": _lazy(3000, td.mean, mechanism="two-step"),
        "spread of a lazy frame": _lazy(600, td.spread),
        "aggregate of a frame with texts": _frame(60, blocks=10),
        "aggregate of a lazy frame": _lazy(300, td.aggregate, statistic="mean", blocks=40, partitions=2),
    }
