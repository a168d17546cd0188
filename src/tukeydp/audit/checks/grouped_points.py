"""Points of all groups together: depth of rows, depth of block means, noised sums and counts, for all moves."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from types import ModuleType
from typing import Any

import numpy as np

import tukeydp as td
from tukeydp.audit.check import Check, Effort, Result, Tally
from tukeydp.audit.checks.group_sums import loss
from tukeydp.audit.dealt_tables import HEADS_OR_TAILS, Recorded, Script, draw_law, named_keys, recording
from tukeydp.audit.forced_samplers import forced
from tukeydp.audit.oracles import groups as oracle
from tukeydp.audit.oracles.laws import Dataset, count_of_pairs, datasets, swap_groups
from tukeydp.mechanisms import grouped_ways
from tukeydp.mechanisms.grouped_ways import BlocksOfGroups, GroupWay, RowsOfGroups, SumsOfGroups
from tukeydp.trusted import block_steps, steps
from tukeydp.trusted.account import PureDP
from tukeydp.trusted.bits import derived_key, seeded
from tukeydp.trusted.parameters import FloatArray, IntArray
from tukeydp.trusted.release import rehearsed_charge

_ROUNDING = 1e-6  # of sums in steps of 2^-30; the floats that add up probabilities are far better
EPSILON = Fraction(5, 4)
KEYS = ("A", "B")
STEPS = 4  # of the grid of one column
OF_BLOCKS = 32  # the same for block means: a coarser grid hides part of what is lost
ONE: tuple[oracle.Row, ...] = (
    *(((Fraction(cell),), key) for cell in (-1, 1) for key in KEYS),
    ((Fraction(0),), "A"),
    ((None,), "B"),
    ((Fraction(1),), None),
)
TWO: tuple[oracle.Row, ...] = (
    *(((Fraction(-1), Fraction(1)), key) for key in KEYS),
    *(((Fraction(1), None), key) for key in KEYS),
    ((None, None), "A"),
    ((Fraction(0), Fraction(-1)), None),
)
Tables = tuple[Recorded, ...]  # of all groups
Law = dict[Tables, Fraction]


def run(effort: Effort) -> Result:
    tally = Tally(bound=1.0 + _ROUNDING)
    quick = effort.quick
    for kinds, n in ((ONE, 2), (TWO, 2)) if quick else ((ONE, 4), (TWO, 3)):
        rows(kinds, n, tally)
        centres(kinds, n, tally)
    for n, blocks, partitions in ((3, 2, 1),) if quick else ((3, 2, 1), (3, 3, 1), (4, 2, 1), (2, 2, 2)):
        block_means(n, blocks, partitions, tally)
    sums(2 if quick else 3, tally)
    counts(3 if quick else 4, tally)
    return tally.result()


def _parts(x: Sequence[oracle.Row]) -> tuple[FloatArray, IntArray]:
    cells = np.array([[np.nan if cell is None else float(cell) for cell in cells] for cells, _ in x])
    return cells, np.array([KEYS.index(key) if key in KEYS else -1 for _, key in x])


def _joint(weighed: Law) -> list[float]:
    """All groups' points together: given the tables each group draws by itself."""
    total: list[float] = []
    for tables, p in weighed.items():
        chances = [float(p)]
        for table in tables:
            chances = [a * b for a in chances for b in draw_law(table)]
        total = [a + b for a, b in zip(total or [0.0] * len(chances), chances, strict=True)]
    return total


def _examine(
    kinds: Sequence[oracle.Row],
    n: int,
    law: Callable[[Sequence[oracle.Row]], Law],
    defined: Callable[[Sequence[oracle.Row]], dict[Any, Fraction]],
    tally: Tally,
) -> None:
    laws: dict[Dataset, list[float]] = {}
    for x in datasets(len(kinds), n):
        table = [kinds[i] for i in x]
        weighed = law(table)
        found: defaultdict[Any, Fraction] = defaultdict(Fraction)
        for tables, p in weighed.items():
            found[tuple(one.from_the_lower_bound for one in tables)] += p
        tally.require(dict(found) == defined(table), "a group's table is not that of the definition")
        laws[x] = _joint(weighed)
    for group in swap_groups(len(kinds), n):
        for chances in zip(*(laws[x] for x in group), strict=True):
            tally.found(math.log(max(chances) / min(chances)) / float(EPSILON))
    tally.saw(datasets=len(laws), pairs=count_of_pairs(len(kinds), n))


@contextmanager
def _scripted(script: Script, *modules: ModuleType) -> Iterator[None]:
    with named_keys(*modules), forced(*((m, "Keystream", script.stream) for m in modules)):
        yield


def _drawn(way: GroupWay, relative: FloatArray, groups: IntArray) -> None:
    way.draw(relative, groups, len(KEYS), derived_key("public"), rehearsed_charge(way.guarantee, b""))


def rows(kinds: Sequence[oracle.Row], n: int, tally: Tally) -> None:
    """td.mean's rows: missing cells of a row that has others lie at either end, by coins of its place in the table."""
    d = len(kinds[0][0])
    way = RowsOfGroups(EPSILON, (STEPS,) * d)
    tally.require(way.guarantee.epsilon == EPSILON, "rows: another epsilon is stated")

    def law(x: Sequence[oracle.Row]) -> Law:
        relative, groups = _parts(x)
        holes = np.flatnonzero(np.isnan(relative)).tolist()
        found: defaultdict[Tables, Fraction] = defaultdict(Fraction)
        script = Script([])
        with _scripted(script, block_steps), recording() as seen:
            for words in itertools.product([word for word, _ in HEADS_OR_TAILS], repeat=len(holes)):
                script.coins = dict(zip(holes, words, strict=True))
                seen.clear()
                _drawn(way, relative, groups)
                found[tuple(seen)] += Fraction(1, 2 ** len(holes))
        return dict(found)

    _examine(kinds, n, law, lambda x: oracle.tables_of_rows(x, KEYS, STEPS), tally)


def centres(kinds: Sequence[oracle.Row], n: int, tally: Tally) -> None:
    """td.boxem by groups, whole calls: a row with a missing cell counts nowhere."""

    def law(x: Sequence[oracle.Row]) -> Law:
        relative, _ = _parts(x)
        with recording() as seen:
            found: Any = td.boxem(
                relative, by=[key for _, key in x], keys=list(KEYS), epsilon=EPSILON, bounds=(-1, 1),
                resolution=Fraction(2, STEPS), depth=td.AxisAligned(), randomness=seeded(1),
            )  # fmt: skip
        tally.require(found.guarantee.epsilon == EPSILON, "boxem: another epsilon is stated")
        return {tuple(seen): Fraction(1)}

    def defined(x: Sequence[oracle.Row]) -> dict[Any, Fraction]:
        whole = [row for row in x if None not in row[0]]
        return oracle.tables_of_rows(whole, KEYS, STEPS)

    _examine(kinds, n, law, defined, tally)


def block_means(n: int, blocks: int, partitions: int, tally: Tally) -> None:
    """Numbers are drawn by the rows of the whole table, once for all groups in each dealing."""
    way = BlocksOfGroups(EPSILON, blocks, partitions, (OF_BLOCKS,))
    tally.require(way.guarantee.epsilon == EPSILON, "blocks: another epsilon is stated")
    every = list(itertools.product(itertools.product(range(blocks), repeat=n), repeat=partitions))

    def law(x: Sequence[oracle.Row]) -> Law:
        relative, groups = _parts(x)
        found: defaultdict[Tables, Fraction] = defaultdict(Fraction)
        for numbers in every:
            script = _Numbers(numbers)
            with _scripted(script, block_steps), recording() as seen:
                _drawn(way, relative, groups)
            found[tuple(seen)] += Fraction(1, len(every))
        return dict(found)

    _examine(ONE, n, law, lambda x: oracle.tables_of_blocks(x, KEYS, blocks, partitions, OF_BLOCKS), tally)


class _Numbers(Script):
    """Numbers of the rows in each dealing; rows stay in the order of the table."""

    def words(self, name: tuple[Any, ...], count: int) -> Any:
        if name[0] == "numbers":
            return np.array(self.orders[name[1][1]], dtype=np.uint64)
        if name[0] == "order":
            return np.arange(count, dtype=np.uint64)
        return super().words(name, count)


def sums(n: int, tally: Tally) -> None:
    """What the cube noise of td.mean is added to in each group."""
    known: dict[Dataset, list[tuple[float, list[float]]]] = {}
    for x in datasets(len(ONE), n):
        table = [ONE[i] for i in x]
        known[x] = _noised(table)
        expected = oracle.group_sums(table, KEYS, (-1,), (1,))
        for (_, ours), theirs in zip(known[x], expected, strict=True):
            right = all(abs(a - float(b)) < _ROUNDING for a, b in zip(ours, theirs[0], strict=False))
            tally.require(right and len(ours) == 2, "a group's sums are not those of the definition")
    for group in swap_groups(len(ONE), n):
        for ours_, theirs_ in itertools.combinations(group, 2):
            tally.found(loss(known[ours_], known[theirs_]) / float(EPSILON))
    tally.saw(datasets=len(known), pairs=count_of_pairs(len(ONE), n))


def _noised(x: Sequence[oracle.Row]) -> list[tuple[float, list[float]]]:
    scales: list[float] = []
    found: list[Any] = []
    noised = steps.noised_sums

    def none(count: int, scale: Fraction, bits: object) -> list[int]:
        scales.append(float(scale) / steps.HALF)
        return [0] * count

    def spied(*given: Any) -> Any:
        found.append(noised(*given))
        return found[-1]

    with forced((steps, "cube_noise", none), (grouped_ways, "noised_sums", spied)):
        _drawn(SumsOfGroups(EPSILON), *_parts(x))
    return [(scale, [float(v) for v in row]) for scale, row in zip(scales, found[0], strict=True)]


def counts(n: int, tally: Tally) -> None:
    """Numbers of rows of the groups, each with noise of its own."""
    keys = (0, 1, 2, -1)
    for group in swap_groups(len(keys), n):
        runs = [_counted([keys[i] for i in x]) for x in group]
        for ours, theirs in itertools.combinations(runs, 2):
            moved = sum(abs(a - b) / scale for (a, scale), (b, _) in zip(ours, theirs, strict=True))
            tally.found(moved / float(EPSILON))
    tally.saw(datasets=len(datasets(len(keys), n)), pairs=count_of_pairs(len(keys), n))


def _counted(groups: Sequence[int]) -> list[tuple[int, float]]:
    scales: list[float] = []

    def none(scale: Fraction, bits: object) -> int:
        scales.append(float(scale))
        return 0

    with forced((steps, "discrete_laplace", none)):
        found = steps.noised_group_counts(np.array(groups), 3, rehearsed_charge(PureDP(EPSILON), derived_key("secret")))
    return list(zip(found, scales, strict=True))


CHECK = Check(
    name="groups: enumeration",
    claim="The points of all groups together keep epsilon, by depth of rows, by depth of block means and by noised "
    "sums, also where a row goes to another group or to none; so do noised numbers of rows.",
    measure="largest log ratio of probabilities, over epsilon",
    run=run,
)
