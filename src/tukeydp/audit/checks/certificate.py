"""Depth certificates: point and noised depth together, for all small datasets and swaps."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np

from tukeydp.audit.check import Check, Effort, Result, Tally
from tukeydp.audit.forced_samplers import forced
from tukeydp.audit.oracles import laws as oracle
from tukeydp.audit.oracles.laws import Dataset, count_of_pairs, datasets, swap_groups
from tukeydp.depth.notions import Directions, Exact
from tukeydp.mechanisms import certificate as module
from tukeydp.mechanisms.boxem import boxem
from tukeydp.mechanisms.certificate import margin
from tukeydp.trusted import points
from tukeydp.trusted import points as boxem_module
from tukeydp.trusted.bits import seeded

_ROUNDING = 1e-9
EPSILON, SHARE = Fraction(3, 2), Fraction(1, 3)
SIDE = 3
POINTS = list(itertools.product(range(SIDE), repeat=2))
CROSS = ((1, 0), (0, 1), (1, 1), (1, -1))


def run(effort: Effort) -> Result:
    tally = Tally(bound=1.0 + _ROUNDING)
    cases = [(CROSS, 2), (None, 2)] if effort.quick else [(CROSS, 3), (None, 3)]
    for directions, n in cases:
        _examine(directions, n, tally)
    for epsilon in (Fraction(1, 20), Fraction(1, 2), Fraction(3)):
        _confidence(epsilon, tally)
    return tally.result()


def _examine(directions: tuple[oracle.Point, ...] | None, n: int, tally: Tally) -> None:
    """Log probability of each point, and the depth that its certificate's noise is added to."""
    rows: list[oracle.Row] = [*POINTS, None]
    every = directions or oracle.all_directions(SIDE - 1)
    known: dict[Dataset, list[tuple[float, int]]] = {}
    spent: set[tuple[Fraction, Fraction]] = set()
    for x in datasets(len(rows), n):
        table = [rows[i] for i in x]
        depths = [oracle.depth(table, y, every) for y in POINTS]
        found = _certified(table, directions, spent)
        tally.require(found == depths, "a certificate's depth is not that of the definition")
        ((for_point, _),) = spent
        total = math.log(sum(math.exp(for_point * t / 2) for t in depths))
        known[x] = [(float(for_point * t / 2) - total, depth) for t, depth in zip(depths, found, strict=True)]
    ((_, rate),) = spent
    for group in swap_groups(len(rows), n):
        for ours, theirs in itertools.permutations(group, 2):
            pairs = zip(known[ours], known[theirs], strict=True)
            tally.found(max(p - q + float(rate) * abs(a - b) for (p, a), (q, b) in pairs) / float(EPSILON))
    tally.saw(datasets=len(known), pairs=count_of_pairs(len(rows), n))


def _certified(
    table: list[oracle.Row], directions: tuple[oracle.Point, ...] | None, spent: set[tuple[Fraction, Fraction]]
) -> list[int]:
    """What noise is added to for each point, by whole runs that draw it; and the epsilons of point and noise."""
    cells = np.array([(np.nan, 0.0) if row is None else row for row in table], dtype=float)
    found: list[int] = []
    for y in POINTS:
        epsilons: list[Fraction] = []

        class Drawn:
            def __init__(self, prepared: Any, *, within: Any, epsilon: Fraction, to: list[Fraction] = epsilons) -> None:
                to.append(epsilon)
                self._low = within.low

            def draw(self, key: bytes, y: oracle.Point = y) -> list[int]:
                return [a + c for a, c in zip(self._low, y, strict=True)]

        def noise(scale: Fraction, bits: object, to: list[Fraction] = epsilons) -> int:
            to.append(1 / scale)
            return 0

        with forced((boxem_module, "point_sampler", Drawn), (points, "discrete_laplace", noise)):
            release = boxem(
                cells,
                epsilon=EPSILON,
                bounds=(0, SIDE - 1),
                resolution=1,
                depth=Exact() if directions is None else Directions(directions),
                certify=SHARE,
                randomness=seeded(1),
            )
        spent.add((epsilons[0], epsilons[1]))
        assert release.certificate is not None
        found.append(release.certificate.noised)
    return found


def _confidence(epsilon: Fraction, tally: Tally) -> None:
    """The stated number of rows is too large with a chance of at most 5 %: summed up from the noise's definition."""
    m = margin(epsilon)
    q = math.exp(-epsilon)
    beyond = math.fsum((1 - q) / (1 + q) * q**k for k in range(m + 1, m + 1 + math.ceil(60 / epsilon)))
    tally.require(beyond <= 1 - module.CONFIDENCE + _ROUNDING, "a certificate is wrong more often than it says")


CHECK = Check(
    name="depth certificate: enumeration",
    claim="A released point and its noised depth together keep epsilon; the depth is that of the definition, and the "
    "stated number of rows is too large in at most 5 % of the certificates.",
    measure="largest log ratio of probabilities, over epsilon",
    run=run,
)
