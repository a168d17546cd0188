"""Noised sums, squares and numbers of values in every group, for one epsilon (docs/proofs/groups.md).

A row adds to its own group, and to no other, integers from -STEPS/2 to STEPS/2: for each column its value counted from
the middle of the bounds, the square of that counted from the middle of *its* range, and STEPS/2 for a value that is
there; a missing cell adds nothing. A swap within a group moves that group's sums by at most STEPS, a row that moves to
another group changes the sums of both by at most STEPS/2: noise with law e^(-epsilon max |z| / STEPS), drawn for every
group by itself, is pure epsilon-DP for all groups together. How many rows a group has stays secret but for the noised
count.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from tukeydp.arrays import FloatArray, IntArray
from tukeydp.exact.cube_noise import cube_noise
from tukeydp.mechanisms.clipped_sum import STEPS
from tukeydp.trusted.prices import sums_from_the_middle
from tukeydp.trusted.release import Charge

HALF = STEPS // 2


@dataclass(frozen=True)
class GroupPlan:
    """What is fixed beforehand: `squared` are the columns whose squares are summed too."""

    epsilon: Fraction
    groups: int
    d: int
    squared: tuple[int, ...]

    @property
    def coordinates(self) -> int:
        """Numbers that are released for each group; the noise grows with it."""
        return 2 * self.d + len(self.squared)


@dataclass(frozen=True)
class GroupSums:
    """What is released, in rows: one entry for each group and column. Noise is in all of them.

    Attributes
    ----------
    sums
        Of relative values: numbers from -1 at the lower bound to 1 at the upper.
    counts
        How many values there are.
    squares
        Of 2 v^2 - 1 for relative values v; None for columns that are not squared.
    """

    sums: tuple[tuple[float, ...], ...]
    counts: tuple[tuple[float, ...], ...]
    squares: tuple[tuple[float | None, ...], ...]


def noised_group_sums(relative: FloatArray, groups: IntArray, plan: GroupPlan, charge: Charge) -> GroupSums:
    """Sums of every group with cube noise: pure epsilon-DP for all of them together."""
    if relative.shape[1] != plan.d:
        raise ValueError("the plan is for another number of columns")
    paid = charge.for_any_law()
    scale = paid.scale(sums_from_the_middle(HALF), plan.groups)
    found = []
    for g in range(plan.groups):
        exact = group_sums(relative, groups == g, plan)
        noise = cube_noise(plan.coordinates, scale, paid.bits("group", g))
        found.append([float(Fraction(s + z, HALF)) for s, z in zip(exact, noise, strict=True)])
    d, places = plan.d, {j: i for i, j in enumerate(plan.squared)}
    return GroupSums(
        sums=tuple(tuple(row[:d]) for row in found),
        counts=tuple(tuple(row[d : 2 * d]) for row in found),
        squares=tuple(tuple(row[2 * d + places[j]] if j in places else None for j in range(d)) for row in found),
    )


def group_sums(relative: FloatArray, members: FloatArray | IntArray, plan: GroupPlan) -> list[int]:
    """Sums over the rows of one group: of values, of numbers of values, of squares. Exact: below 2^60."""
    columns = [contributions(relative[members, j]) for j in range(plan.d)]
    order = [column[0] for column in columns] + [column[1] for column in columns]
    return [int(part.sum()) for part in (*order, *(columns[j][2] for j in plan.squared))]


def contributions(relative: FloatArray) -> tuple[IntArray, IntArray, IntArray]:
    """What each row adds for one column: value, presence and square, each by itself and from -HALF to HALF."""
    there = ~np.isnan(relative)
    with np.errstate(all="ignore"):
        filled = np.where(there, relative, 0.0)
        values = np.clip(np.rint(filled * HALF).astype(np.int64), -HALF, HALF)
        squares = np.clip(np.rint((2.0 * filled * filled - 1.0) * HALF).astype(np.int64), -HALF, HALF)
    return values, there * np.int64(HALF), np.where(there, squares, 0)
