"""Replay: exact draws on all bit strings to a depth, and the brackets that this puts around their probabilities."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Hashable
from fractions import Fraction
from typing import Any

import numpy as np

from tukeydp.audit.bit_walk import Walked, walk, walk_monotone
from tukeydp.audit.check import Check, Effort, Result, Tally
from tukeydp.audit.oracles import laws as oracle
from tukeydp.audit.oracles import rem as rem_oracle
from tukeydp.audit.oracles.laws import depth
from tukeydp.paper.algorithm3 import noise_reaches
from tukeydp.trusted import laws as cube_noise
from tukeydp.trusted import laws as noise
from tukeydp.trusted.bits import Bits
from tukeydp.trusted.boxes import Box
from tukeydp.trusted.laws import Group, LevelDraw, WeightedDraw, WordTable
from tukeydp.trusted.levels import level_sets
from tukeydp.trusted.rem.evidence import Evidence, Plan
from tukeydp.trusted.rem.safety import Graded, Laplace, SafetyTest, passes
from tukeydp.trusted.sampling import kept, loops
from tukeydp.trusted.sampling.draws import Sampler
from tukeydp.trusted.sizes.level_sizes import Intervals

_ROUNDING = 1e-12  # of the law in floats
_MOST_OPEN = 0.98  # of the probability: a walk that leaves more undecided has shown little
LONGER = {"discrete Gaussian": 2, "cube noise, two columns": 2}  # bits more: these decide late
ROWS = ((1,), (1,), (2,), (3,), (0,))
DIRECTIONS = ((1,),)
EPSILON = Fraction(3, 2)


def run(effort: Effort) -> Result:
    tally = Tally(bound=_ROUNDING)
    bits = 16 if effort.quick else 19
    for name, (draw, law) in _noise().items():
        _bracket(name, walk(draw, bits + LONGER.get(name, 0)), law, tally)
    for name, (draw, law) in _coins().items():
        _bracket(name, walk_monotone(draw, bits), law, tally)
    _bracket("boxem's draw", *_boxem(bits), tally)
    for width in (1, 2, 3, 5, 7, 10, 2**33 - 9) if effort.quick else (*range(1, 40), 2**33 - 9, 2**40 + 1):
        _coordinates(width, tally)
    return tally.result()


def _bracket(name: str, walked: Walked, law: dict[Any, float], tally: Tally) -> None:
    tally.found(walked.distance(law))
    tally.require(walked.open < _MOST_OPEN, f"{name}: too much is left open to show anything")
    tally.saw(datasets=1)


Draw = tuple[Callable[[Bits], Hashable], dict[Any, float]]


def _noise() -> dict[str, Draw]:
    half = Fraction(1, 2)
    coin = math.exp(-5 / 3)
    return {
        "coin": (lambda bits: noise.bernoulli_exp(5, 3, bits), {True: coin, False: 1 - coin}),
        "geometric": (lambda bits: noise.geometric(half, bits), oracle.geometric(half, 20)),
        "geometric, scale 3/2": (lambda bits: noise.geometric(3 * half, bits), oracle.geometric(3 * half, 20)),
        "discrete Laplace": (lambda bits: noise.discrete_laplace(half, bits), oracle.laplace(half, 20)),
        "discrete Laplace, scale 1": (lambda bits: noise.discrete_laplace(1, bits), oracle.laplace(2 * half, 20)),
        "discrete Gaussian": (lambda bits: noise.discrete_gaussian(1, bits), oracle.gaussian(1, 20)),
        "cube noise, one column": (
            lambda bits: tuple(cube_noise.cube_noise(1, half, bits)),
            oracle.cube(1, half, 12),
        ),
        "cube noise, two columns": (
            lambda bits: tuple(cube_noise.cube_noise(2, half / 2, bits)),
            oracle.cube(2, half / 2, 5),
        ),
    }


def _coins() -> dict[str, Draw]:
    """Draws that compare one uniform number with thresholds: levels, shells, REM's tests, Algorithm 3's noise."""
    shells = WeightedDraw([3, 40, 7], [Fraction(0), Fraction(-5, 3), Fraction(-1, 2)])
    of_shells = [3.0, 40 * math.exp(-5 / 3), 7 * math.exp(-1 / 2)]
    groups = [Group(0, 1, 40), Group(2, 2, 25), Group(3, 6, 6)]
    law = LevelDraw(groups, EPSILON)
    q = math.exp(EPSILON / 2)
    weights = {
        lv: (q**lv - (q ** (lv - 1) if lv else 0)) * g.size for g in groups for lv in range(g.lowest, g.highest + 1)
    }
    total = sum(weights.values())
    reach = math.exp(-0.7 * 2) / (1 + math.exp(-0.7))
    rows = [(0,), (1,), (1,), (1,), (1,), (2,)]
    plan = Plan(6, 3, Fraction(2), Fraction(1), Fraction(1, 5), 2, tuple(range(7)))
    depths = [depth(rows, (y,), DIRECTIONS) for y in range(5)]
    worst = [rem_oracle.worst_case(depths, 3, 1.0, k) for k in range(2)]

    def coin(test: SafetyTest) -> Callable[[Bits], Hashable]:
        levels = level_sets(np.array(rows), np.array(DIRECTIONS))
        return lambda bits: passes(test, Evidence(Intervals(levels, Box((0,), (4,))), plan), bits)

    def chances(p: float) -> dict[Any, float]:
        return {True: p, False: 1 - p}

    return {
        "level": (lambda bits: law.finish(bits.take(64), bits)[0], {lv: w / total for lv, w in weights.items()}),
        "shell of a quantile": (shells.draw, {i: w / sum(of_shells) for i, w in enumerate(of_shells)}),
        "Algorithm 3's noise": (lambda bits: noise_reaches(2, Fraction(7, 10), bits), chances(reach)),
        "rem's graded test": (coin(Graded()), chances(rem_oracle.graded(worst, 1.0, 3.0, 0.2))),
        "rem's plain test": (coin(Laplace()), chances(rem_oracle.laplace(worst, 1.0, 0.2))),
    }


class _Stream:
    """One word for the level, and a script for the rest, in the place of a keystream."""

    def __init__(self, word: int, spare: Bits) -> None:
        self._word, self._spare = word, spare

    def words(self, lane: int, count: int) -> Any:
        """Words for one proposal and no more."""
        return np.full(1 + 1 + loops.SPARE, self._word, dtype=np.uint64)

    def bits(self, lane: int) -> Bits:
        return self._spare


def _boxem(bits: int) -> tuple[Walked, dict[Any, float]]:
    """One proposal of a whole sampler: its level from a word, its point from further bits, accepted or not."""
    levels = level_sets(np.array(ROWS), np.array(DIRECTIONS))
    within = Box((0,), (3,))
    sampler = Sampler(levels, within=within, epsilon=EPSILON, word_bits=1)
    search = sampler._draws._search
    prefix_bits = bits // 2

    def draw(source: Bits) -> Hashable:
        top = source.take(prefix_bits)
        outcomes = set()
        for end in (0, 2 ** (64 - prefix_bits) - 1):
            law = search._law
            outcomes.add(law.finish((top << (64 - prefix_bits)) | end, _Nothing())[0])
        if len(outcomes) > 1:
            return "open"
        stream: Any = _Stream((top << (64 - prefix_bits)) | (2 ** (63 - prefix_bits)), source)
        found = search.first_accepted(stream, 0, np.arange(1))
        return None if found is None else tuple(found.point)

    walked = walk(draw, bits)
    decided = dict(walked.decided)
    walked = Walked(decided, walked.open + decided.pop("open", 0.0))
    half = float(EPSILON) / 2
    weights = {y: math.exp(half * depth(ROWS, y, DIRECTIONS)) for y in itertools.product(range(4))}
    envelope = sum(
        (math.exp(half * level) - (math.exp(half * (level - 1)) if level else 0)) * group.size
        for group in search._law.groups
        for level in range(group.lowest, group.highest + 1)
    )
    return walked, {y: w / envelope for y, w in weights.items()}


class _Nothing(Bits):
    """More bits are never asked for, but at a boundary, which then lies inside the interval."""

    def __init__(self) -> None:
        pass

    def take(self, count: int) -> int:
        return 0


def _coordinates(width: int, tally: Tally) -> None:
    """The compiled loop draws each of `width` values from equally many words: seen at the first word of some of them.

    Words from ceil(j 2^64 / width) on mean the value j; only the first of them can be a leftover, which is redrawn.
    """
    table = WordTable(
        np.array([0], dtype=np.uint64), np.array([2**64 - 1], dtype=np.uint64), np.array([0]), np.array([0])
    )
    proposals = loops.proposals(table, [Box((0,), (width - 1,))], Box((0,), (width - 1,)))
    ranks = loops.ranks(level_sets(np.array([[0]]), np.array([[1]])))
    sizes = set()
    for j in range(width) if width < 100 else (0, 1, 2, width // 3, width // 2, width - 2, width - 1):
        start, end = -(-j * 2**64 // width), -(-(j + 1) * 2**64 // width)
        redrawn = _value(proposals, ranks, start) != j
        tally.require(_value(proposals, ranks, end - 1) == j, "a word means another value than it should")
        tally.require(_value(proposals, ranks, start + 1) == j, "more than one word of a value is redrawn")
        sizes.add(end - start - redrawn)
    tally.require(len(sizes) == 1, "values of a coordinate do not have equally many words")
    tally.saw(datasets=1)


def _value(proposals: loops.Proposals, ranks: loops.Ranks, word: int) -> int:
    """What a word means, or -1 if it is redrawn: the next one then means the largest value."""
    words = np.full(2 + loops.SPARE, 2**64 - 1, dtype=np.uint64)
    words[1] = word
    z, y = np.empty((2, 1), dtype=np.int64)
    _, cursor, _ = kept.propose(words, 0, proposals, ranks, np.arange(1), z, y)
    return int(y[0]) if cursor == 2 else -1


CHECK = Check(
    name="replay of all bit strings",
    claim="On all bit strings to a depth, exact noise, draws of levels and shells, REM's coins and boxem's proposals "
    "have masses that bracket their probabilities; compiled coordinates have equally many words for each value.",
    measure="largest distance of a probability from its bracket",
    run=run,
)
