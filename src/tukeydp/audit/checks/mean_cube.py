"""The cube mean: what its noise is added to, for all small tables and swaps, missing cells among them."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from tukeydp.audit.check import Check, Effort, Result, Tally
from tukeydp.audit.dealt_tables import floats
from tukeydp.audit.forced_samplers import forced
from tukeydp.audit.oracles.laws import Dataset, count_of_pairs, datasets, swap_groups
from tukeydp.audit.oracles.means import Cell, Table
from tukeydp.mechanisms.mean_plans import CubeMean
from tukeydp.trusted import clipped_sums
from tukeydp.trusted.account import PureDP
from tukeydp.trusted.bits import derived_key
from tukeydp.trusted.release import rehearsed_charge

EPSILON = Fraction(7, 4)
CELLS: tuple[Cell, ...] = (Fraction(-1), Fraction(-1, 4), Fraction(1, 2), Fraction(1), None)
_FAR = 1000  # noise in half widths, far beyond any sum here
_ROUNDING = 1e-6  # of sums read off floats, in half widths


@dataclass(frozen=True)
class Statistic:
    """What one noise vector is added to, in units of its scale: the largest difference is the loss."""

    values: tuple[float, ...]

    def loss(self, other: Statistic) -> float:
        return max(abs(a - b) for a, b in zip(self.values, other.values, strict=True))


def run(effort: Effort) -> Result:
    tally = Tally(bound=1.0 + _ROUNDING)
    one: list[tuple[Cell, ...]] = [(cell,) for cell in CELLS]
    two: list[tuple[Cell, ...]] = list(itertools.product((CELLS[0], CELLS[1], CELLS[3], None), repeat=2))
    cases = [(one, 3), (two, 2)] if effort.quick else [(one, 5), (two, 3)]
    for kinds, n in cases:
        for fill in (None, (0.375,) * len(kinds[0])):
            _examine(kinds, n, fill, tally)
    return tally.result()


def _examine(kinds: Sequence[tuple[Cell, ...]], n: int, fill: tuple[float, ...] | None, tally: Tally) -> None:
    known: dict[Dataset, list[Statistic]] = {}
    epsilon = float(CubeMean(EPSILON, fill).guarantee.epsilon)
    for x in datasets(len(kinds), n):
        known[x] = statistics(tuple(kinds[i] for i in x), fill, tally)
    for group in swap_groups(len(kinds), n):
        for ours, theirs in itertools.combinations(group, 2):
            losses = [a.loss(b) for a, b in zip(known[ours], known[theirs], strict=True)]
            tally.found(sum(losses) / epsilon)
    tally.saw(datasets=len(known), pairs=count_of_pairs(len(kinds), n))


def statistics(x: Table, fill: tuple[float, ...] | None, tally: Tally, epsilon: Fraction = EPSILON) -> list[Statistic]:
    """By running the package with chosen noise, and reading off what it was added to."""
    half = clipped_sums.STEPS // 2
    columns = list(zip(*x, strict=True))
    scales = _scales(x, fill, epsilon)
    found = []
    if fill is None:
        sums, weights = _rough(x)
        there = [[v for v in column if v is not None] for column in columns]
        expected = [float(sum(column)) for column in there] + [float(len(column)) for column in there]
        tally.require(_close([*sums, *weights], expected), "the rough mean's sums or counts are not those of the table")
        found.append(Statistic(tuple(v * half / scales[0] for v in (*sums, *weights))))
    # A rough mean was released by now: any value of it, the same for both tables.
    filler = fill or tuple(0.25 for _ in columns)
    sums = [float(m * len(x)) for m in _clipped(x, filler)]
    filled = [sum(Fraction(f) if v is None else v for v in column) for f, column in zip(filler, columns, strict=True)]
    tally.require(_close(sums, [float(s) for s in filled]), "the clipped sums are not those of the table")
    found.append(Statistic(tuple(s * half / scales[-1] for s in sums)))
    return found


def _close(ours: Sequence[float], expected: Sequence[float]) -> bool:
    return all(abs(a - b) < _ROUNDING for a, b in zip(ours, expected, strict=True))


def _scales(x: Table, fill: tuple[float, ...] | None, epsilon: Fraction) -> list[float]:
    """Of all noise in a whole run, in the order of its steps."""
    seen: list[float] = []

    def none(count: int, scale: Fraction, bits: object) -> list[int]:
        seen.append(float(scale))
        return [0] * count

    with forced((clipped_sums, "cube_noise", none)):
        _drawn(CubeMean(epsilon, fill), x)
    return seen


def _rough(x: Table) -> tuple[list[float], list[float]]:
    """Sums and numbers of values that the rough mean is made of, in half widths."""
    n, d, half = len(x), len(x[0]), clipped_sums.STEPS // 2
    relative = floats(x)

    def rough(noise: list[int]) -> list[float]:
        with forced((clipped_sums, "cube_noise", lambda count, scale, bits: noise)):
            charge = rehearsed_charge(PureDP(EPSILON), derived_key("unused"))
            return list(clipped_sums.rough_mean(relative, charge).tolist())

    # With all weights far below zero the sums are divided by half a width: those within it show.
    sums = [0.0] * d
    for shift in range(-n, n + 1):
        for j, value in enumerate(rough([-shift * half] * d + [-_FAR * half] * d)):
            if abs(value) < 1:
                sums[j] = value + shift
    shown = rough([_FAR * half] * d + [2 * _FAR * half] * d)
    return sums, [(_FAR + s) / value - 2 * _FAR for s, value in zip(sums, shown, strict=True)]


def _clipped(x: Table, fill: tuple[float, ...]) -> list[Fraction]:
    """The clipped mean without noise, in half widths."""
    with forced((clipped_sums, "cube_noise", lambda count, scale, bits: [0] * count)):
        return _drawn(CubeMean(EPSILON, fill), x)


def _drawn(plan: CubeMean, x: Table) -> list[Fraction]:
    return plan.draw(floats(x), derived_key("public"), rehearsed_charge(plan.guarantee, derived_key("secret")))


CHECK = Check(
    name="mean, cube: enumeration",
    claim="A swap moves what cube noise is added to by no more than epsilon in all: the rough mean's sums and counts, "
    "and the clipped sums, whatever is missing.",
    measure="largest sum of log ratios, over epsilon",
    run=run,
)
