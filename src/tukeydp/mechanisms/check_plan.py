"""What the check before a release allows, when it stops a run, and what it says: public numbers and noisy counts alone.

Thresholds and their chances: docs/proofs/readable-check.md, section 3.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

from tukeydp.errors import ParameterError
from tukeydp.exact.cube_noise import cube_deviation
from tukeydp.parameters import brief, rational, show

WARNING = "Warning: "  # what a note begins with that belongs beside the number

SHARE = Fraction(1, 20)  # of epsilon. More would cost accuracy in every run; less would need more rows.
# Share of a column's cells that may be unreadable: cells that are lost are seldom like the others (large numbers alone
# have marks of thousands), and a share p of them moves a mean by up to p of the column's width. A lower one would stop
# files with a few remarks and typing errors.
UNREADABLE = Fraction(1, 50)
# Share of rows that may be in no listed group: missing keys and groups nobody asks about. A higher one would let pass
# the misspelt key of a group with a fifth of the rows; a lower one would stop tables with many missing keys.
UNLISTED = Fraction(1, 5)
# Largest chances: of a stop where every cell reads; of going on where no cell of a column does, or where it has no
# value; of a warning where every cell reads. Rarer errors need more rows: at one stop in ten thousand, 500 rows at
# epsilon 1 let a column pass that has lost a third of its cells.
FALSE_ALARM, MISSED, WARNED = 0.015, 0.01, 0.05
# The first of them for tables that the caller holds in memory: a library has read them already, so that they are seldom
# misread, and every run would pay for more caution with a stop in 67.
FALSE_ALARM_IN_MEMORY = 1e-4


class _Quantiles(NamedTuple):
    """How far one coordinate of cube noise of scale 1 goes on one side, but for these chances; rounded up."""

    false_alarm: Fraction
    missed: Fraction
    warned: Fraction
    false_alarm_in_memory: Fraction


_QUANTILES = {
    2: _Quantiles(Fraction(4719, 1000), Fraction(5192, 1000), Fraction(3272, 1000), Fraction(10337, 1000)),
    3: _Quantiles(Fraction(5874, 1000), Fraction(6407, 1000), Fraction(4216, 1000), Fraction(12016, 1000)),
}


@dataclass(frozen=True)
class Check:
    """What may be wrong with a table before the check stops its release: public shares, chosen without the data.

    Attributes
    ----------
    unreadable
        Share of a column's cells that may hold something that is not a number.
    unlisted
        Share of the rows that may be in none of the groups listed in `keys`.
    """

    unreadable: Any = UNREADABLE
    unlisted: Any = UNLISTED

    def __post_init__(self) -> None:
        for name in ("unreadable", "unlisted"):
            given = getattr(self, name)
            share = rational(name, given)
            if not 0 <= share <= 1:
                raise ParameterError(name, "must be a share from 0 to 1", brief(given))
            object.__setattr__(self, name, share)


class Counts(NamedTuple):
    """Of one table, exact and then secret, or with noise: what a swap moves by at most 1 each."""

    unreadable: int  # cells, in the column with the most
    values: int  # in the column with the fewest
    unlisted: int | None  # rows in no listed group; None without groups


@dataclass(frozen=True)
class CheckPlan:
    """What is fixed before the data are looked at; n is None where the number of rows is secret.

    `in_memory`: a frame, series or list of the caller's, not a file that was read here. The container's kind is public.
    """

    n: int | None
    epsilon: Fraction
    allowed: Check = Check()
    grouped: bool = False
    in_memory: bool = False
    whole_rows: bool = False  # whether values are counted in rows without a missing cell only

    @property
    def _quantiles(self) -> _Quantiles:
        return _QUANTILES[3 if self.grouped else 2]

    @property
    def margin(self) -> int:
        """How far noise alone takes a count up, but for a chance of `FALSE_ALARM`, or that in memory."""
        quantiles = self._quantiles
        return math.ceil((quantiles.false_alarm_in_memory if self.in_memory else quantiles.false_alarm) / self.epsilon)

    @property
    def warned(self) -> int:
        """The same for a warning."""
        return math.ceil(self._quantiles.warned / self.epsilon)

    @property
    def least_values(self) -> int:
        """A noisy number of values below this cannot be told from none, and stops the run."""
        return math.ceil(self._quantiles.missed / self.epsilon) + 1

    @property
    def fewest_rows(self) -> int:
        """Below, no threshold keeps both errors rare."""
        return self.margin + self.least_values

    def most_unreadable(self, found: Counts) -> int:
        """A noisy number of unreadable cells above this stops the run.

        A share of the rows; where their number is secret, of the cells that hold anything, by the noisy counts.
        """
        cells = max(0, found.unreadable + found.values) if self.n is None else self.n
        return max(self.margin, math.floor(self.allowed.unreadable * cells))

    @property
    def most_unlisted(self) -> int:
        """A noisy number of rows in no listed group above this stops the run."""
        assert self.n is not None  # by groups the number of rows is public
        return max(self.margin, math.floor(self.allowed.unlisted * self.n))

    @property
    def caught(self) -> int:
        """So many unreadable cells in a column stop the run, but for a chance of `MISSED`; n is public."""
        return self.most_unreadable(Counts(0, 0, None)) + self.least_values

    @property
    def deviation(self) -> int:
        """Standard deviation of each count's noise, rounded up."""
        return math.ceil(cube_deviation(3 if self.grouped else 2) / self.epsilon)


def check_plan(
    n: int | None,
    epsilon: Fraction,
    allowed: Check | None = None,
    *,
    grouped: bool = False,
    in_memory: bool = False,
    whole_rows: bool = False,
) -> CheckPlan:
    """The check of a run with `epsilon` in all."""
    return CheckPlan(n, SHARE * epsilon, Check() if allowed is None else allowed, grouped, in_memory, whole_rows)


def told_of(plan: CheckPlan, found: Counts) -> dict[str, int]:
    """The noisy counts and what they were compared with."""
    told = {
        "unreadable_cells": found.unreadable,
        "unreadable_cells_most": plan.most_unreadable(found),
        "fewest_values": found.values,
        "fewest_values_least": plan.least_values,
    }
    if found.unlisted is not None:
        told |= {"rows_unlisted": found.unlisted, "rows_unlisted_most": plan.most_unlisted}
    return told


def reasons_to_stop(plan: CheckPlan, found: Counts) -> Iterator[str]:
    """Why the run stops, by the noisy counts and public numbers alone; nothing where it goes on."""
    noise = f"(noise: give or take {plan.deviation})"
    most = plan.most_unreadable(found)
    if found.unreadable > most:
        yield (
            f"About {_shown(plan, found.unreadable)} cells of one column do not read as numbers {noise}; at most "
            f"{most} may. The table is not written as declared, a column is text, or it holds formulas without "
            "results; --allow-unreadable SHARE (check=SHARE) allows more."
        )
    elif found.values < plan.least_values:
        yield (
            f"{_few(plan, found)} {noise}, which cannot be told from none: the result would be noise. A column is "
            "empty, or its values stand elsewhere."
        )
    if found.unlisted is not None and found.unlisted > plan.most_unlisted:
        yield (
            f"About {_shown(plan, found.unlisted)} rows are in none of the listed groups {noise}; at most "
            f"{plan.most_unlisted} may be. A key is misspelt, or groups were left out on purpose: --allow-unlisted "
            "SHARE (check=td.Check(unlisted=SHARE)) says so."
        )


def passed(plan: CheckPlan, found: Counts) -> Iterator[str]:
    """What the check says beside a release."""
    noise = f"(noise: give or take {plan.deviation})"
    if found.unreadable > plan.warned:
        yield (
            f"{WARNING}about {_shown(plan, found.unreadable)} cells of one column do not read as numbers {noise}, and "
            "count as missing. Cells that are lost are seldom like the others: the result may be biased. Who may see "
            "the data can see these cells with tukeydp look."
        )
    unlisted = "" if found.unlisted is None else f", and about {_shown(plan, found.unlisted)} rows in no listed group"
    yield (
        f"Checked first, for epsilon = {show(plan.epsilon)} of the total: about {_shown(plan, found.unreadable)} "
        f"unreadable cells in the column with the most, {_enough(plan, found)}{unlisted} "
        f"{noise}. No column has more than {_bound(plan, found)} unreadable cells, with 99 % "
        "confidence."
    )


def _shown(plan: CheckPlan, count: int) -> str:
    """Within what is possible: post-processing."""
    return f"{max(count, 0)}" if plan.n is None else f"{min(max(count, 0), plan.n)} of {plan.n}"


def _few(plan: CheckPlan, found: Counts) -> str:
    if plan.whole_rows:
        return f"About {_shown(plan, found.values)} rows have a value in every column"
    return f"One column has about {_shown(plan, found.values)} values"


def _enough(plan: CheckPlan, found: Counts) -> str:
    if plan.whole_rows:
        return f"about {_shown(plan, found.values)} rows with a value in every column"
    return f"about {_shown(plan, found.values)} values in the column with the fewest"


def _bound(plan: CheckPlan, found: Counts) -> str:
    """More unreadable cells would have shown, but for a chance of `MISSED`."""
    most = max(0, found.unreadable) + plan.least_values
    return f"{most}" if plan.n is None else f"{min(most, plan.n)} ({min(100, math.ceil(100 * most / plan.n))} %)"


def not_checked(plan: CheckPlan) -> str:
    return (
        f"Not checked whether cells read as numbers: at this epsilon that takes {plan.fewest_rows} rows. Nothing was "
        "spent on it."
    )
