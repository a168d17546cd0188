"""BoxEM on tiny grids: all datasets, all swaps, in rationals, with every kind of box."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from tukeydp.audit.check import Check, Effort, Result, Tally
from tukeydp.audit.forced_samplers import (
    AnyShape,
    Garbage,
    Membership,
    accepted_weight,
    branched_if_any,
    forced,
    slanted_if_any,
    slice_everything,
    sliced_parts,
)
from tukeydp.audit.oracles import laws as oracle
from tukeydp.audit.oracles.laws import Dataset, count_of_pairs, datasets, worst_ratio
from tukeydp.depth.notions import Directions, Exact, Notion
from tukeydp.hints import boxes as boxes_module
from tukeydp.hints import envelope as envelope_module
from tukeydp.hints import slices
from tukeydp.hints.envelope import Envelope
from tukeydp.hints.frames import Frames
from tukeydp.hints.linear_programs import Hints, LinearPrograms
from tukeydp.trusted.boxes import whole_grid
from tukeydp.trusted.covers import Covers
from tukeydp.trusted.levels import LevelSets
from tukeydp.trusted.rows import Grid

Q = Fraction(21, 20)  # e^(epsilon/2), that is epsilon = 0.0976; rational, so that nothing is rounded
WAYS = ("plain", "settled", "sliced", "slanted", "tilted", "branches", "garbage hints")


@dataclass(frozen=True)
class Case:
    """A grid of `side` points in each of d columns, n rows, directions (None: all of them)."""

    side: int
    d: int
    n: int
    directions: tuple[oracle.Point, ...] | None
    ways: tuple[str, ...] = WAYS

    @property
    def rows(self) -> list[oracle.Row]:
        return [*itertools.product(range(self.side), repeat=self.d), None]

    @property
    def grid(self) -> Grid:
        return Grid((Fraction(0),) * self.d, (Fraction(1),) * self.d, (self.side - 1,) * self.d)


AXES = ((1, 0), (0, 1))
CROSS = (*AXES, (1, 1), (1, -1))
SPACE = ((1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 1))
QUICK = (
    Case(4, 1, 4, ((1,),), WAYS[:2]),
    Case(3, 2, 2, CROSS),
    Case(3, 2, 3, ((2, 1),), ("sliced",)),
    Case(3, 2, 2, None, ("plain",)),
)
FULL = (
    Case(4, 1, 6, ((1,),), WAYS[:2]),
    Case(6, 1, 5, ((1,),), WAYS[:2]),
    Case(3, 2, 3, AXES, WAYS[:2]),
    Case(3, 2, 3, CROSS),
    Case(3, 2, 3, ((2, 1),)),
    Case(4, 2, 3, (*AXES, (1, 2), (3, -1)), ("sliced", "slanted", "tilted", "branches")),
    Case(3, 2, 4, CROSS, ("plain",)),
    Case(2, 3, 4, SPACE, ("plain", "sliced", "branches")),
    Case(3, 2, 3, None, ("plain",)),
)


def run(effort: Effort) -> Result:
    tally = Tally(bound=1.0)
    for case in QUICK if effort.quick else FULL:
        for way in case.ways:
            examine(case, way, tally)
    return tally.result()


def examine(case: Case, way: str, tally: Tally) -> None:
    """The package's law of every dataset, its worst loss between neighbours, and whether it is q^depth."""
    rows, points = case.rows, list(itertools.product(range(case.side), repeat=case.d))
    directions = case.directions or oracle.all_directions(case.side - 1)
    laws: dict[Dataset, list[Fraction]] = {}
    choose = np.random.default_rng(0)
    for x in datasets(len(rows), case.n):
        table = [rows[i] for i in x]
        weights = _weights(case, table, way, choose, tally)
        tally.require(
            weights == [Q ** oracle.depth(table, y, directions) for y in points],
            f"{way} boxes, n = {case.n}, d = {case.d}: a point is accepted with another weight than q^depth",
        )
        total = sum(weights)
        laws[x] = [w / total for w in weights]
    if not all(w > 0 for law in laws.values() for w in law):
        tally.found(math.inf)  # a point that one dataset never gives and its neighbour does
        return
    ratio = worst_ratio(laws.__getitem__, len(rows), case.n)
    tally.found(math.log(ratio) / math.log(Q**2))
    tally.require(ratio <= Q**2, "a ratio of probabilities above e^epsilon")
    tally.saw(datasets=len(laws), pairs=count_of_pairs(len(rows), case.n))


def _weights(
    case: Case, table: Sequence[oracle.Row], way: str, choose: np.random.Generator, tally: Tally
) -> list[Fraction]:
    complete = np.array([row for row in table if row is not None], dtype=np.int64).reshape(-1, case.d)
    low = case.grid.low
    notion: Notion = Exact() if case.directions is None else Directions(case.directions)
    prepared = notion.prepare(complete + low, case.grid, bytes(32))
    within = whole_grid(case.grid)
    kinds: dict[str, Callable[[LevelSets], Hints]] = {"garbage hints": Garbage, "slanted": AnyShape}
    hints = kinds.get(way, LinearPrograms)(prepared.levels)
    member = Membership(prepared.levels, within, prepared.decide)
    changes = [
        (boxes_module, "_WORTHWHILE", -math.inf),
        (slices, "_SLICES", 2),
        (envelope_module, "_WORTH_SHAPING", -math.inf),
        (envelope_module, "_LIGHT", math.inf),
        (Frames, "around", lambda *_: []),  # points of boxes can be enumerated, rounded ones cannot
        *([(Envelope, "_best", slanted_if_any)] if way == "slanted" else []),
        *([(Envelope, "_parts", sliced_parts)] if way == "sliced" else []),
        *([(Envelope, "branched", branched_if_any)] if way == "branches" else []),
    ]
    with forced(*changes):
        envelope = Envelope(Covers(prepared.levels, within), hints)
        # Any choice of levels with boxes must give the same law.
        wanted = range(1, envelope.top + 1)
        envelope.refine([level for level in wanted if way != "plain" or choose.random() < 0.6])
        if way == "settled":
            envelope.settle(int(choose.integers(1, within.size + 1)))
        if way == "slanted":
            envelope.rebase()
        if way == "tilted":
            envelope._shaped_by = envelope._tilted
            envelope.reshape(0, math.log(Q))
        if way == "branches":
            envelope.branch(0, math.log(Q), int(choose.integers(0, 40)), 0.0)
        if way == "sliced":
            slice_everything(envelope, 0)
        groups = envelope.groups(0)
    points = itertools.product(range(case.side), repeat=case.d)
    found = [accepted_weight(member, groups, tuple((np.array(y) + low).tolist()), Q) for y in points]
    tally.require(member.agrees, "the compiled loop and LevelSets.contains disagree on membership")
    return found


CHECK = Check(
    name="boxem: enumeration",
    claim="Swapping a row changes no probability of boxem by more than e^epsilon, and the law is q^depth exactly, "
    "whatever the boxes (plain, settled, sliced, slanted, of branch and bound, from garbage hints), and for exact "
    "depth too.",
    measure="largest log ratio of probabilities, over epsilon",
    run=run,
)
