"""Adversarial neighbours where a row comes or goes, or moves to another group, and for ranks.

Each whole call runs once on either table; draws are then from the very samplers that it made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from types import ModuleType
from typing import Any

import numpy as np

import tukeydp as td
from tukeydp.audit.adversarial_pairs import REFUSED, Drawn, Pair
from tukeydp.audit.forced_samplers import forced
from tukeydp.depth.notions import AxisAligned
from tukeydp.trusted import points as boxem
from tukeydp.trusted import points as grouped_centre
from tukeydp.trusted import ranks as quantiles
from tukeydp.trusted.bits import Keystream, derived_key
from tukeydp.trusted.boxes import whole_grid
from tukeydp.trusted.ranks import RankLaw
from tukeydp.trusted.rem.evidence import Plan, evidence_of
from tukeydp.trusted.rem.safety import Graded, passes
from tukeydp.trusted.rows import Grid
from tukeydp.trusted.sampling.draws import DepthSampler
from tukeydp.trusted.sizes.of_depth import sizes_of

EPSILON = 3
# A value goes from the upper end to the lower: the ranks of all points below the median come nearer to it by one, those
# of the points above go farther away. Without the bits that break ties these have a share of 0.21 or 0.015.
_RANKED = ([0.0, 40.0, 40.0, 52.0], [0.0, 0.0, 40.0, 40.0])


def _line(last: int) -> dict[str, Any]:
    return {"bounds": (0, last), "resolution": 1, "randomness": td.seeded(1)}


def _made(module: ModuleType, name: str, call: Callable[[], object]) -> list[Any]:
    """What a call makes under this name of a module: its samplers."""
    made: list[Any] = []
    make = vars(module)[name]

    def kept(*given: Any, **options: Any) -> Any:
        made.append(make(*given, **options))
        return made[-1]

    with forced((module, name, kept)):
        call()
    return made


@contextmanager
def _boxem() -> Iterator[Pair]:
    """No row, or one: the point where it lies is drawn with probability 0.008 or 0.143, a loss of 2.85."""
    draws: list[Drawn] = []
    for rows in (np.empty((0, 1)), np.array([[120.0]])):

        def call(rows: Any = rows) -> object:
            return td.boxem(rows, epsilon=EPSILON, depth=td.AxisAligned(), neighbours="add-remove", **_line(120))

        (sampler,) = _made(boxem, "point_sampler", call)

        def draw(key: bytes, sampler: DepthSampler = sampler) -> float:
            return float(sampler.draw(key)[0])

        draws.append(draw)
    yield Pair(float(EPSILON), 0.0, (draws[0], draws[1]))


@contextmanager
def _rem() -> Iterator[Pair]:
    """Four or five equal rows: a refusal has probability 0.63 or 0.04, to which delta adds 0.05; a loss of 0.88."""
    plan = Plan(8, 3, Fraction(1), Fraction(2), Fraction(1, 20), 2, tuple(range(9)), "add-remove")
    draws: list[Drawn] = []
    for rows in ([0, 0, 0, 0], [0, 0, 0, 0, 0]):
        table = np.array(rows, dtype=float)[:, np.newaxis]
        prepared, within = _on_line(table)
        evidence = evidence_of(sizes_of(prepared, within, plan.threshold, slack=plan.test / 64), plan)
        sampler = DepthSampler(prepared, within=within, epsilon=2 * plan.release, lowest=plan.threshold)

        def draw(key: bytes, evidence: Any = evidence, sampler: DepthSampler = sampler) -> float:
            if not passes(Graded(), evidence, Keystream(derived_key("coin", key)).bits(0)):
                return REFUSED
            return float(sampler.draw(key)[0])

        draws.append(draw)
    yield Pair(float(plan.epsilon), float(plan.delta), (draws[0], draws[1]))


def _on_line(table: Any) -> tuple[Any, Any]:
    line = Grid((Fraction(0),), (Fraction(1),), (3,))
    return AxisAligned().prepare(line.snap(table), line, bytes(32), lowest=1), whole_grid(line)


@contextmanager
def _groups() -> Iterator[Pair]:
    """The upper of two rows at the ends goes to another group, which was empty, and to its lower end.

    That both points lie at the lower end has probability 0.004 or 0.11: a loss of 3.3 for epsilon = 4, half of it in
    either group.
    """
    lowest = whole_grid(Grid((Fraction(0),), (Fraction(1),), (15,))).low[0]
    draws: list[Drawn] = []
    for moved in (0, 1):
        rows = np.array([[0.0], [0.0 if moved else 15.0]])

        def call(rows: Any = rows, moved: int = moved) -> object:
            return td.boxem(rows, by=[0, moved], keys=[0, 1], epsilon=4, depth=td.AxisAligned(), **_line(15))

        first, second = _made(grouped_centre, "point_sampler", call)

        def draw(key: bytes, first: DepthSampler = first, second: DepthSampler = second) -> float:
            left, came = first.draw(derived_key("first", key))[0], second.draw(derived_key("second", key))[0]
            return float((left == lowest) + 2 * (came == lowest))

        draws.append(draw)
    yield Pair(4.0, 0.0, (draws[0], draws[1]))


@contextmanager
def _quantiles() -> Iterator[Pair]:
    """The median: a value that goes from below to above moves the ranks of all points between."""
    draws: list[Drawn] = []
    for column in _RANKED:

        def call(column: Any = column) -> object:
            return td.quantiles(column, [Fraction(1, 2)], epsilon=EPSILON, **_line(52))

        (law,) = _made(quantiles, "RankLaw", call)

        def draw(key: bytes, law: RankLaw = law) -> float:
            return float(law.draw(Keystream(key).bits(0)))

        draws.append(draw)
    yield Pair(float(EPSILON), 0.0, (draws[0], draws[1]))


RELATIONS: dict[str, Callable[[], Any]] = {
    "boxem, add-remove": _boxem,
    "rem, add-remove": _rem,
    "boxem by groups": _groups,
    "quantiles": _quantiles,
}
