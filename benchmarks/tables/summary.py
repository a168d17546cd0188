"""What the measured errors say: the best of each kind, ratios, and the goals beside them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from tukeydp.paper.experiments.contenders import APPROXIMATE, FORCED, MEAN, PURE, WITH_SD, Contender

# Asked of td.mean with bounds ten times the range, in standard deviations.
GOALS = {
    "penguins": 0.05,
    "pima": 0.06,
    "cars": 0.05,
    "diabetes": 0.08,
    "SLID": 0.006,
    "affairs": 0.007,
    "randhie": 0.0035,
    "budgets": 0.0035,
}
WIDE, TIGHT = 10.0, 2.0
OF_BEST, OF_PURE, ON_ONE_TABLE = 0.7, 0.4, 1.6  # of the best other's error, bounds ten times the range
TIGHT_OF_PURE, TIGHT_WITH_SD = 1.1, 1.2  # of the best pure-DP other's, bounds twice the range
HONEST = (0.5, 1.5)  # error that happens over error that is claimed


@dataclass(frozen=True)
class Measured:
    """One method on one table.

    Attributes
    ----------
    error
        Median over columns of the median error, in standard deviations.
    mechanism
        What ran, by the release.
    claimed
        What typical error the release states, least and most over shapes; None where it states none.
    """

    table: str
    times: float
    method: str
    error: float
    mechanism: str
    claimed: tuple[float, float] | None


@dataclass(frozen=True)
class Line:
    """td.mean on one table beside the best of the others."""

    table: str
    times: float
    errors: Mapping[str, float]
    mechanism: str
    claimed: tuple[float, float] | None
    pure: str | None
    best: str | None

    def ratio(self, method: str, other: str | None) -> float:
        """nan where one of the two was not measured."""
        if other is None or method not in self.errors:
            return math.nan
        return self.errors[method] / self.errors[other]

    @property
    def honesty(self) -> float:
        """The error over the nearest that was claimed: 1 inside the claimed range."""
        if self.claimed is None:
            return math.nan
        low, high = self.claimed
        return self.errors[MEAN] / min(max(self.errors[MEAN], low), high)

    @property
    def best_way(self) -> str | None:
        """The way to a mean that would have been best, in hindsight."""
        ways = {way: self.errors[method] for way, method in FORCED.items() if method in self.errors}
        return min(ways, key=lambda way: ways[way]) if len(ways) == len(FORCED) else None

    @property
    def lost(self) -> float:
        """What the choice cost against hindsight."""
        return math.nan if self.best_way is None else self.ratio(MEAN, FORCED[self.best_way])


def summarised(measured: Iterable[Measured], contenders: Mapping[str, Contender]) -> list[Line]:
    groups: dict[tuple[str, float], dict[str, Measured]] = {}
    for one in measured:
        groups.setdefault((one.table, one.times), {})[one.method] = one

    def least(found: Mapping[str, Measured], kinds: tuple[str, ...]) -> str | None:
        names = [name for name in found if contenders[name].kind in kinds]
        return min(names, key=lambda name: found[name].error, default=None)

    return [
        Line(
            table,
            times,
            {name: one.error for name, one in found.items()},
            found[MEAN].mechanism,
            found[MEAN].claimed,
            least(found, (PURE,)),
            least(found, (PURE, APPROXIMATE)),
        )
        for (table, times), found in groups.items()
        if MEAN in found
    ]


def geometric_mean(ratios: Iterable[float]) -> float:
    values = np.array([ratio for ratio in ratios if not math.isnan(ratio)])
    return float(np.exp(np.log(values).mean())) if len(values) else math.nan


@dataclass(frozen=True)
class Goal:
    """A number asked for, and the one measured; `where` names the table of the worst."""

    what: str
    asked: float
    measured: float
    where: str = ""

    @property
    def met(self) -> bool:
        return self.measured <= self.asked


def _worst(what: str, asked: float, ratios: Mapping[str, float]) -> list[Goal]:
    known = {table: ratio for table, ratio in ratios.items() if not math.isnan(ratio)}
    if not known:
        return []
    over = [table for table, ratio in known.items() if ratio > asked]
    return [Goal(what, asked, max(known.values()), ", ".join(over) or max(known, key=lambda table: known[table]))]


def _geometric(what: str, asked: float, ratios: Iterable[float]) -> list[Goal]:
    measured = geometric_mean(ratios)
    return [] if math.isnan(measured) else [Goal(what, asked, measured)]


def goals(lines: Iterable[Line]) -> list[Goal]:
    """Those that the measured tables, widths and methods can speak of."""
    lines = list(lines)
    wide = [line for line in lines if line.times == WIDE]
    tight = [line for line in lines if line.times == TIGHT]
    found = [
        Goal(f"{line.table}, bounds 10 x range", GOALS[line.table], line.errors[MEAN])
        for line in wide
        if line.table in GOALS
    ]
    of_best = {x.table: x.ratio(MEAN, x.best) for x in wide}
    of_pure = {x.table: x.ratio(MEAN, x.pure) for x in wide}
    tight_of_pure = {x.table: x.ratio(MEAN, x.pure) for x in tight}
    found += _geometric("of the best other, geometric mean, 10 x", OF_BEST, of_best.values())
    found += _geometric("of the best pure-DP other, geometric mean, 10 x", OF_PURE, of_pure.values())
    found += _worst("of the best other, worst table, 10 x", ON_ONE_TABLE, of_best)
    found += _geometric("of the best pure-DP other, geometric mean, 2 x", TIGHT_OF_PURE, tight_of_pure.values())
    for method in WITH_SD:
        ratios = {x.table: x.ratio(method, x.pure) for x in tight}
        found += _worst(f"{method}, of the best pure-DP other, worst table, 2 x", TIGHT_WITH_SD, ratios)
    claims = {f"{x.table} {x.times:g} x": x.honesty for x in lines if not math.isnan(x.honesty)}
    if claims:
        found += _worst("happens / claimed, largest", HONEST[1], claims)
        found += _worst(
            "claimed / happens, largest", 1 / HONEST[0], {name: 1 / ratio for name, ratio in claims.items()}
        )
    return found
