"""The benchmark's tables, as they are printed."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rich.table import Table

from tables.summary import Goal, Line, geometric_mean
from tukeydp.paper.experiments.contenders import MEAN, WITH_SD
from tukeydp.paper.experiments.tables import TABLES, real_table


def _number(value: float | None) -> str:
    return "" if value is None or math.isnan(value) else f"{value:.3g}"


def _ratio(value: float) -> str:
    if math.isnan(value):
        return ""
    return f"[red]{value:.2f}[/red]" if value > 1 else f"{value:.2f}"


def _named(line: Line) -> str:
    n, d = real_table(line.table).shape
    return f"{line.table}{' *' if TABLES[line.table].fresh else ''}, {n} x {d}"


def _empty(title: str, columns: Sequence[str], words: int = 1) -> Table:
    table = Table(title=title, title_justify="left")
    for i, column in enumerate(columns):
        table.add_column(column, justify="left" if i < words else "right")
    return table


def error_table(lines: Sequence[Line], times: float) -> Table:
    """Every method on every table; the least of each row is bold."""
    methods = list(dict.fromkeys(method for line in lines for method in line.errors))
    table = _empty(f"Errors in standard deviations, bounds {times:g} x range", ["table", *methods])
    for line in lines:
        least = min(line.errors.values())
        cells = [
            f"[bold]{_number(error)}[/bold]" if error == least else _number(error)
            for error in (line.errors.get(method) for method in methods)
        ]
        table.add_row(_named(line), *cells)
    return table


def ratio_table(lines: Sequence[Line], times: float) -> Table:
    """td.mean over the best of the others; ratios above 1 are red."""
    columns = ["table", "ran", "best pure-DP other", "best other", "td.mean", "/ pure", "/ best"]
    columns += [f"{method.removeprefix('td.mean ')} / best" for method in WITH_SD]
    columns += ["best way in hindsight", "lost by choice", "claimed", "happens / claimed"]
    table = _empty(f"td.mean beside the others, bounds {times:g} x range", columns, words=4)
    for line in lines:
        others = [f"{name} {_number(line.errors[name])}" if name else "" for name in (line.pure, line.best)]
        ratios = [line.ratio(MEAN, line.pure), line.ratio(MEAN, line.best)]
        ratios += [line.ratio(method, line.best) for method in WITH_SD]
        table.add_row(
            _named(line),
            line.mechanism,
            *others,
            _number(line.errors[MEAN]),
            *map(_ratio, ratios),
            line.best_way or "",
            _ratio(line.lost),
            "nothing" if line.claimed is None else " to ".join(dict.fromkeys(map(_number, line.claimed))),
            _ratio(line.honesty),
        )
    table.add_section()
    for name, chosen in (("all", lines), ("*: chosen by name beforehand", [x for x in lines if TABLES[x.table].fresh])):
        means = [geometric_mean(line.ratio(MEAN, line.pure) for line in chosen)]
        means += [geometric_mean(line.ratio(method, line.best) for line in chosen) for method in (MEAN, *WITH_SD)]
        lost = geometric_mean(line.lost for line in chosen)
        table.add_row(f"geometric mean, {name}", "", "", "", "", *map(_ratio, means), "", _ratio(lost), "", "")
    return table


def goal_table(goals: Sequence[Goal]) -> Table:
    table = _empty("Goals", ["what", "asked: at most", "measured", "measured / asked", "above it, or largest"])
    for goal in goals:
        share = f"{goal.measured / goal.asked:.2f}"
        table.add_row(
            goal.what,
            _number(goal.asked),
            _number(goal.measured),
            share if goal.met else f"[red]{share}[/red]",
            goal.where,
        )
    return table
