"""Quantiles: the joint law of all of them from the package's own recursion, scores and shells, for all swaps."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np

from tukeydp.audit.check import Check, Tally, over_cases
from tukeydp.audit.forced_samplers import forced
from tukeydp.audit.oracles import quantiles as oracle
from tukeydp.audit.oracles.laws import Dataset, count_of_pairs, datasets, swap_groups
from tukeydp.mechanisms import quantiles as module
from tukeydp.trusted import ranks
from tukeydp.trusted import ranks as rank_draw
from tukeydp.trusted.account import in_steps
from tukeydp.trusted.bits import derived_key, seeded
from tukeydp.trusted.ranks import HeldValues, RankLaw, RoundNumbers, number_of_levels, round_numbers
from tukeydp.trusted.release import rehearsed_charge
from tukeydp.trusted.rows import Grid

_ROUNDING = 1e-9  # of laws in floats
EPSILON = Fraction(3, 2)  # of a level
MEDIAN = (Fraction(1, 2),)
QUARTILES = (Fraction(1, 4), Fraction(1, 2), Fraction(3, 4))
UNEVEN = (Fraction(1, 16), Fraction(1, 2), Fraction(15, 16))
FIFTHS = tuple(Fraction(i, 5) for i in range(1, 5))


@dataclass(frozen=True)
class Case:
    """Quantiles, rows, the largest value, and secret bits that break ties."""

    shares: tuple[Fraction, ...]
    n: int
    highest: int
    tie_bits: int = 0


QUICK = (Case(MEDIAN, 4, 4), Case(QUARTILES, 3, 3), Case(UNEVEN, 3, 3), Case(QUARTILES, 2, 2, 1))
FULL = (
    *QUICK,
    Case(MEDIAN, 6, 5),
    Case(QUARTILES, 4, 4),
    Case(UNEVEN, 4, 4),
    Case(FIFTHS, 3, 3),
    Case(MEDIAN, 4, 12),
    Case(QUARTILES, 3, 2, 1),
    Case(UNEVEN, 2, 2, 2),
)


def examine(case: Case, tally: Tally) -> None:
    cells = [*(float(v) for v in range(case.highest + 1)), math.nan]
    levels = number_of_levels(len(case.shares))
    weights = oracle.weights(case.shares, EPSILON)
    tally.require(levels == len(weights), "a level of the recursion is not paid for")
    laws: dict[Dataset, oracle.Joint] = {}
    seen: dict[tuple[Any, ...], tuple[float, ...]] = {}
    with forced((rank_draw, "_OWN", 1), (rank_draw, "_GROWTH", 2)):  # shells of several scores, on tiny tables too
        for x in datasets(len(cells), case.n):
            values = [cells[i] for i in x]
            laws[x] = _joint(case, values, seen, tally)
            there = tuple(int(v) for v in values if v == v)
            expected = _expected(case, there, weights)
            right = laws[x].keys() == expected.keys() and all(
                abs(laws[x][y] - expected[y]) <= _ROUNDING * expected[y] for y in expected
            )
            tally.require(right, "the joint law is not that of the definition")
    for group in swap_groups(len(cells), case.n):
        for y in laws[group[0]]:
            chances = [laws[x].get(y, 0.0) for x in group]
            lost = math.log(max(chances) / min(chances)) if min(chances) else math.inf
            tally.found(lost / float(EPSILON * levels))
    tally.saw(datasets=len(laws), pairs=count_of_pairs(len(cells), case.n))
    _stated(case, levels, tally)


def _stated(case: Case, levels: int, tally: Tally) -> None:
    """A whole call on two columns states what its levels cost."""
    asked: list[Fraction] = []
    drawn = ranks.drawn_quantiles

    def spied(values: Any, units: Any, levels: int, keys: Any) -> list[list[int]]:
        asked.extend(unit.paid.epsilon for unit in units)
        return drawn(values, units, levels, keys)

    with forced((module, "drawn_quantiles", spied)):
        found = module.quantiles(
            [[0.0, 1.0], [1.0, 1.0]], list(case.shares), epsilon=EPSILON, bounds=(0, 1), randomness=seeded(1)
        )
    assert found.guarantee is not None
    tally.require(sum(asked) == found.guarantee.epsilon == EPSILON, "columns and levels do not add up to epsilon")


class _Open(Exception):
    """A draw that the script says nothing of."""

    def __init__(self, law: RankLaw) -> None:
        self.law = law


def _points(case: Case) -> RoundNumbers:
    return round_numbers(Grid((Fraction(0),), (Fraction(1),), (case.highest,)), 0)


def _joint(case: Case, values: Sequence[float], seen: dict[tuple[Any, ...], tuple[float, ...]], tally: Tally) -> Any:
    """All outcomes of one column, by letting each draw come out in every way there is."""
    total: defaultdict[tuple[int, ...], float] = defaultdict(float)
    steps = np.array(sorted(int(v) for v in values if v == v), dtype=np.int64)
    coins = list(itertools.product(range(1 << case.tie_bits), repeat=len(steps)))
    levels = number_of_levels(len(case.shares))

    def run_column() -> list[int]:
        charge = rehearsed_charge(in_steps((EPSILON,) * levels), derived_key("unused"))
        units = ranks.paid_units([charge], levels, [_points(case)], [case.highest], [case.shares], [()])
        return ranks.drawn_quantiles(HeldValues([steps]), units, levels)[0]

    for ties in coins:
        stream = _stream(dict(_by_step(steps.tolist(), ties)), case.tie_bits)
        with forced((ranks, "TIE_BITS", case.tie_bits), (ranks, "Keystream", stream)):
            _walk(run_column, [], 1.0 / len(coins), total, seen, tally)
    return dict(total)


def _by_step(steps: list[int], ties: Sequence[int]) -> Iterator[tuple[int, list[int]]]:
    for step, some in itertools.groupby(zip(steps, ties, strict=True), key=lambda pair: pair[0]):
        yield step, [tie for _, tie in some]


def _stream(ties: dict[int, list[int]], bits: int) -> Callable[[bytes], Any]:
    """Words that break ties as the script says."""
    return lambda key: SimpleNamespace(words=lambda lane, count: np.array(ties[lane >> bits][:count], dtype=np.uint64))


def _walk(
    run_column: Callable[[], list[int]],
    script: list[int],
    chance: float,
    total: defaultdict[tuple[int, ...], float],
    seen: dict[tuple[Any, ...], tuple[float, ...]],
    tally: Tally,
) -> None:
    """Depth first: the draws of `script`, then the next one in every way."""
    coming = iter(script)

    class Scripted(RankLaw):
        def draw(self, bits: object) -> int:
            try:
                return next(coming)
            except StopIteration:
                raise _Open(self) from None

    def together(laws: Sequence[RankLaw], bits: Sequence[Any], values: object) -> list[int]:
        return [law.draw(own) for law, own in zip(laws, bits, strict=True)]

    try:
        with forced((ranks, "RankLaw", Scripted), (ranks, "draw_together", together)):
            outcome = run_column()
    except _Open as stop:
        law = stop.law
        for y, p in zip(range(law.low, law.high + 1), _one(law, seen, tally), strict=True):
            _walk(run_column, [*script, y], chance * p, total, seen, tally)
        return
    total[tuple(outcome)] += chance


def _one(law: RankLaw, seen: dict[tuple[Any, ...], tuple[float, ...]], tally: Tally) -> tuple[float, ...]:
    """What `RankLaw.draw` gives each point: shells by their weights, a point of one, kept as its score leaves.

    Each point lies in one shell, whose least score is no more than the point's: else the chance to keep it is above 1.
    """
    values = law.values.at(np.arange(len(law.values)))
    what = (tuple(values.tolist()), law.low, law.high, law.share, law.weight, law.points)
    if what not in seen:
        unit = float(law.weight / law.share.denominator)
        given: defaultdict[int, float] = defaultdict(float)
        for shell, size, exponent in zip(law._shells, law._law._sizes, law._law._exponents, strict=True):
            for y in (y for low, high, _ in shell.stretches for y in range(low, high + 1)):
                more = law.score(y) - shell.least
                tally.require(more >= 0, "a point is kept with a chance above one")
                part = law.points.weight(y, y) / shell.size
                given[y] += math.exp(float(exponent) - unit * more) * size * part
        tally.require(sorted(given) == list(range(law.low, law.high + 1)), "shells leave out a point, or add one")
        together = sum(given.values())
        seen[what] = tuple(given[y] / together for y in range(law.low, law.high + 1))
    return seen[what]


def _expected(case: Case, there: tuple[int, ...], weights: Sequence[Fraction]) -> oracle.Joint:
    """By definition, mixed over the bits that break ties."""
    total: defaultdict[tuple[int, ...], float] = defaultdict(float)
    coins = list(itertools.product(range(1 << case.tie_bits), repeat=len(there)))
    points = tuple(_points(case).weight(y, y) for y in range(case.highest + 1))
    for ties in coins:
        fine = tuple((v << case.tie_bits) + tie for v, tie in zip(there, ties, strict=True))
        for outcome, p in oracle.joint(fine, case.highest, case.shares, weights, case.tie_bits, points).items():
            total[outcome] += p / len(coins)
    return dict(total)


CHECK = Check(
    name="quantiles: enumeration",
    claim="All quantiles of a column together keep epsilon, also where a row goes to another part of the recursion or "
    "a cell goes missing; their joint law is that of the definition.",
    measure="largest log ratio of probabilities, over epsilon",
    run=over_cases(QUICK, FULL, examine, 1.0 + _ROUNDING),
)
