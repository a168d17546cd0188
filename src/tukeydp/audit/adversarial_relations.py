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
from tukeydp.mechanisms import boxem, grouped_centre, quantiles
from tukeydp.mechanisms.quantiles import RankLaw
from tukeydp.mechanisms.rem_test.evidence import Plan
from tukeydp.mechanisms.rem_test.one_sided import evidence_of
from tukeydp.mechanisms.rem_test.safety import Graded, passes
from tukeydp.sampling.cutting_planes import DepthSampler
from tukeydp.sizes.of_depth import sizes_of
from tukeydp.trusted.bits import Keystream, derived_key
from tukeydp.trusted.boxes import whole_grid
from tukeydp.trusted.rows import Grid

LINE: dict[str, Any] = {"bounds": (0, 15), "resolution": 1, "randomness": td.seeded(1)}
# Neighbours found by enumeration: without the bits that break ties, 15 has probability 0.060 on the one table and 0.024
# on the other.
_RANKED = ([0.0, 14.0, 14.0, 15.0], [0.0, 0.0, 14.0, 14.0])


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
    """No row, or one: the point where it lies is drawn with probability 0.06 or 0.15, a loss of 0.90."""
    draws: list[Drawn] = []
    for rows in (np.empty((0, 1)), np.array([[15.0]])):

        def call(rows: Any = rows) -> object:
            return td.boxem(rows, epsilon=1, depth=td.AxisAligned(), neighbours="add-remove", **LINE)

        (sampler,) = _made(boxem, "DepthSampler", call)

        def draw(key: bytes, sampler: DepthSampler = sampler) -> float:
            return float(sampler.draw(key)[0])

        draws.append(draw)
    yield Pair(1.0, 0.0, (draws[0], draws[1]))


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
    """One of eight equal rows of a group goes to another, which was empty.

    That the first group's point lies elsewhere, and the second's where the row is now, has probability 0.013 or 0.031:
    a loss of 0.83 in both together.
    """
    draws: list[Drawn] = []
    for moved in (0, 1):
        rows = np.array([[0.0]] * 7 + [[15.0 * moved]])

        def call(rows: Any = rows, moved: int = moved) -> object:
            keys = [0] * 7 + [moved]
            return td.boxem(rows, by=keys, keys=[0, 1], epsilon=1, depth=td.AxisAligned(), **LINE)

        first, second = _made(grouped_centre, "DepthSampler", call)

        def draw(key: bytes, first: DepthSampler = first, second: DepthSampler = second) -> float:
            left, came = first.draw(derived_key("first", key))[0], second.draw(derived_key("second", key))[0]
            return float((left > -7) + 2 * (came == 8))

        draws.append(draw)
    yield Pair(1.0, 0.0, (draws[0], draws[1]))


@contextmanager
def _quantiles() -> Iterator[Pair]:
    """The median: a value that goes from below to above moves the ranks of all points between."""
    draws: list[Drawn] = []
    for column in _RANKED:

        def call(column: Any = column) -> object:
            return td.quantiles(column, [Fraction(1, 2)], epsilon=1, **LINE)

        (law,) = _made(quantiles, "RankLaw", call)

        def draw(key: bytes, law: RankLaw = law) -> float:
            return float(law.draw(Keystream(key).bits(0)))

        draws.append(draw)
    yield Pair(1.0, 0.0, (draws[0], draws[1]))


RELATIONS: dict[str, Callable[[], Any]] = {
    "boxem, add-remove": _boxem,
    "rem, add-remove": _rem,
    "boxem by groups": _groups,
    "quantiles": _quantiles,
}
