"""Noised sums, squares, and numbers of rows and values in every group, for one epsilon (docs/proofs/groups.md)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from tukeydp.mechanisms.clipped_sum import STEPS
from tukeydp.results.noise_quantiles import quantile_of_noise
from tukeydp.trusted.laws import cube_noise, discrete_laplace
from tukeydp.trusted.parameters import FloatArray, IntArray, ParameterError, positive_rational, show
from tukeydp.trusted.prices import ADD_REMOVE, COUNT, sums_from_an_end, sums_from_the_middle
from tukeydp.trusted.release import Charge

# Noised numbers of rows of every group, paid for by a share of epsilon (docs/proofs/groups.md, section 8).


def checked_counts(counts: Any) -> Fraction:
    """The share of epsilon that goes to the counts; 0 where none are asked for."""
    if counts is None:
        return Fraction(0)
    share = positive_rational("counts", counts)
    if share >= 1:
        raise ParameterError("counts", "must be a share of epsilon below 1, such as 0.1", show(share))
    return share


def rows_told(noised: list[int], n: int | None, epsilon: Fraction) -> list[bool]:
    """Which groups' numbers of rows can be told from none, with 99 percent confidence: post-processing.

    All of them where equal parts of the table would be too few to be told; n is public, None where no number is.
    """
    least = 2 * math.log(50) / float(epsilon)  # 1 percent of the noise, of scale 2 / epsilon, lies above
    few = n is not None and n < 2 * least * len(noised)
    return [few or count >= least for count in noised]


def too_few(estimand: str) -> str:
    """What is said where some groups may have no result."""
    return (
        f"No {estimand} is given where the noised number of values, or of rows, cannot be told from none: is the key "
        "spelt as in the data?"
    )


def noised_group_counts(groups: IntArray, count: int, charge: Charge) -> list[int]:
    """Rows in each group, whole and from 0 to n where that is public: pure epsilon-DP for all groups together.

    A swap within a group moves no count; a row that goes to another group moves two of them by 1. One group alone has
    as much noise as several, which `rows_told` counts on.
    """
    paid = charge.for_any_law()
    scale = paid.scale(COUNT, keys=max(2, count))
    n, found = None if paid.relation == ADD_REMOVE else len(groups), list[int]()
    for g in range(count):
        noise = discrete_laplace(scale, paid.bits("count", g))
        noised = max(0, int(np.count_nonzero(groups == g)) + noise)
        found.append(noised if n is None else min(n, noised))
    return found


# How many values each column has, with noise: pure epsilon-DP (docs/proofs/groups.md, section 4).

TOLD = 0.99  # how surely a number of values must be told from none before there is a mean


def least_told(d: int, epsilon: Fraction, n: int) -> float:
    """A noised number of values below this cannot be told from none: a mean of it may be noise.

    0 where so few rows could not be told from none if every cell had a value: public, and then nothing can be said.
    """
    least = quantile_of_noise(d, 2 * TOLD - 1) / float(epsilon)
    return least if n >= 2 * least else 0.0


def value_counts(relative: FloatArray, charge: Charge) -> list[int]:
    """Noised numbers of values, whole and from 0 to n. A swap moves each by at most 1."""
    paid = charge.for_any_law()
    n, d = relative.shape
    there = (~np.isnan(relative)).sum(axis=0).tolist()
    noise = cube_noise(d, paid.scale(sums_from_an_end(STEPS)), paid.bits())
    return [max(0, min(n, round(Fraction(c * STEPS + z, STEPS)))) for c, z in zip(there, noise, strict=True)]


# Noised sums, squares and numbers of values in every group, for one epsilon (docs/proofs/groups.md).
#
# A row adds to its own group, and to no other, integers from -STEPS/2 to STEPS/2: for each column its value counted
# from the middle of the bounds, the square of that counted from the middle of *its* range, and STEPS/2 for a value that
# is there; a missing cell adds nothing. A swap within a group moves that group's sums by at most STEPS, a row that
# moves to another group changes the sums of both by at most STEPS/2: noise with law e^(-epsilon max |z| / STEPS), drawn
# for every group by itself, is pure epsilon-DP for all groups together. How many rows a group has stays secret but for
# the noised count.

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
