"""The lines of a table, from what its steps have released and public numbers: post-processing.

A mean is the centre plus a noised sum over a noised number of values; its interval allows for the noise of both, whose
laws are known, and for sampling by the normal approximation. Coverage is empirical (benchmarks/table1.py).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

import numpy as np

from tukeydp.mechanisms.clipped_interval import Level, clipped_interval, deviations, interval_note, likely_deviation
from tukeydp.mechanisms.clipped_mean import Transcript, strength
from tukeydp.mechanisms.table_plan import NormPlan, TablePlan, left_out
from tukeydp.mechanisms.table_spread import (
    CANDIDATES,
    Spread,
    between_bounds,
    between_ends,
    laplace_likelihood,
    lengthened,
    likely,
    mean_sizes,
)
from tukeydp.results.interval import nominal
from tukeydp.results.noise_quantiles import mixed_quantile, quantile_of_noise
from tukeydp.results.summary_cells import NO_SPREAD, SHARE, TOO_FEW, Line
from tukeydp.trusted.rows import BoundedColumns

_TOLD = 0.98  # of noise alone: a number below its quantile cannot be told from none, but for a chance of 1 in 100
_ALL = 0.95  # the level that digits are made for


@dataclass(frozen=True)
class NormSummed:
    """What the steps of bounded records have released: centre, scale, radius, and sums of values and sizes in radii."""

    plan: NormPlan
    places: tuple[int, ...]
    centre: tuple[float, ...]
    scale: tuple[float, ...]
    radius: float
    sums: tuple[tuple[Fraction, ...], ...]
    sizes: Sizes | None


@dataclass(frozen=True)
class Sizes:
    """Sums of sizes of distances from the centre, of all groups together, in radii: how far columns spread."""

    plan: NormPlan
    epsilon: Fraction
    centre: tuple[float, ...]
    scale: tuple[float, ...]
    radius: float
    sums: tuple[Fraction, ...]
    many: float  # records, about
    usual: tuple[tuple[float, float], ...]  # what is known of spreads beforehand: one, and how roughly

    def spread(self, i: int, away: Sequence[tuple[float, float]]) -> Spread:
        """Of bell-shaped groups: how many values each has, and how far their mean is from the centre."""
        unit = self.radius / self.scale[i] * lengthened(float(sum(self.sums)) / self.many)
        expected = sum((n * mean_sizes(a, CANDIDATES) for n, a in away), np.zeros(len(CANDIDATES)))
        scale = strength(self.plan.neighbours) / float(self.epsilon) * unit
        likelihood = laplace_likelihood(float(self.sums[i]) * unit, expected, scale)
        return likely(likelihood, *self.usual[i])


@dataclass(frozen=True)
class Counted:
    """Numbers of every group, noised together: shares, categories, records, and values of columns that lack many."""

    epsilon: Fraction
    shares: tuple[int, ...]
    levels: tuple[tuple[int, int], ...]
    records: bool
    counted: tuple[int, ...]
    numbers: tuple[tuple[Fraction, ...], ...]

    @property
    def width(self) -> int:
        return max(1, len(self.numbers[0])) if self.numbers else 1

    def of(self, g: int, kind: str, what: object = None) -> float:
        first = {"shares": 0, "levels": len(self.shares), "records": len(self.shares) + len(self.levels)}
        first["counted"] = first["records"] + self.records
        listed: Sequence[object] = getattr(self, kind) if kind != "records" else (None,)
        return float(self.numbers[g][first[kind] + list(listed).index(what)])


class _Number(NamedTuple):
    """How many values a group has, whether that could be told from none, and by how much it is noised."""

    values: float
    told: bool
    noised: bool


@dataclass(frozen=True, eq=False)
class TableSource:
    """What was released, and what is public: all lines come from here."""

    plan: TablePlan
    columns: BoundedColumns
    n: int | None
    means: Transcript | NormSummed | None
    counts: Counted | None
    quartiles: Mapping[int, list[list[float]]]
    keys: tuple[str | None, ...]
    order: tuple[str, ...]
    level: Level | None
    known: tuple[float, ...] | None = None
    public_sd: bool = False

    # Numbers of records and values.

    @cached_property
    def _scale(self) -> float:
        assert self.counts is not None
        return strength(self.plan.neighbours) / float(self.counts.epsilon)

    @property
    def _unit(self) -> float:
        """Weights are shares of the largest."""
        return self.plan.layout.weight or 1.0

    def size(self, g: int) -> float:
        """Records of a group, or the sum of their weights; at least one."""
        if isinstance(self.means, Transcript):
            return max(1.0, self._records[g])
        if self.counts is not None and self.counts.records:
            return max(1.0, self._records[g]) * self._unit
        assert self.n is not None
        return float(self.n)

    @cached_property
    def _records(self) -> list[float]:
        """Of every group; together no more than the public number, where there is one."""
        groups = range(len(self.keys))
        if isinstance(self.means, Transcript):
            found = [float(self.means.size(g)) for g in groups]
        else:
            assert self.counts is not None
            found = [self.counts.of(g, "records") for g in groups]
        if self.n is None or self.plan.layout.weight is not None:
            return found
        return at_most(found, float(self.n))

    def number(self, g: int, place: int) -> _Number:
        """Values at a place, in the unit of sums."""
        if isinstance(self.means, Transcript) and place < self.columns.d:
            found = float(self.means.values(g, place))
            return _Number(found, self.means.told(g, place), self.means.plan.secret or place in self.means.counted)
        size = self.size(g) / self._unit
        noised = self.counts is not None and self.counts.records
        told = not noised or self._tells(self.size(g) / self._unit)
        if self.counts is not None and place in self.counts.counted:
            number = self.counts.of(g, "counted", place)
            return _Number(min(max(1.0, number), size), told and self._tells(number), True)
        if isinstance(self.means, Transcript):
            told = self.means.told(g, 0) if self.means.plan.secret else True
        return _Number(size, told, noised)

    def _tells(self, number: float) -> bool:
        assert self.counts is not None
        return number > self._scale * quantile_of_noise(self.counts.width, _TOLD)

    # Lines.

    def lines(self) -> tuple[Line, ...]:
        """All groups of the first column, then of the second: groups are to be compared."""
        found = []
        for name in self.order:
            groups = [self._variable(g, name) for g in range(len(self.keys))]
            found += [line for same in zip(*groups, strict=True) for line in same]
        return tuple(found)

    def _variable(self, g: int, name: str) -> list[Line]:
        layout = self.plan.layout
        if name not in layout.names:
            i = [one.title for one in layout.categories].index(name)
            return self._levels(g, i)
        j = layout.names.index(name)
        if j in layout.medians:
            return [self._median(g, j)] if j in self.quartiles else []
        if isinstance(self.means, Transcript):
            return [self._clipped(g, j)]
        return [self._share(g, j) if j in layout.shares else self._mean(g, j)]

    def _of_one(self) -> float:
        shown = Level(_ALL) if self.level is None else self.level
        layout = self.plan.layout
        lines = len(layout.names) + sum(len(one.names) for one in layout.categories)
        return shown.of_one(lines * len(self.keys))

    def _hidden(self, line: Line) -> Line:
        """Without an interval where none is wanted; digits are made for it all the same."""
        if line.lower is None or line.upper is None:
            return line
        half = (line.upper - line.lower) / 2.0
        return replace(line, half=half) if self.level else replace(line, half=half, lower=None, upper=None)

    def _missing(self, g: int, place: int) -> int | None:
        """Where they stand out from the noise; else None."""
        counted = self.counts is not None and place in self.counts.counted
        if isinstance(self.means, Transcript) and place < self.columns.d:
            counted = place in self.means.counted
        if not counted:
            return None
        return max(0, round(self.size(g) - self._unit * self.number(g, place).values))

    def _empty(self, g: int, name: str, share: bool, number: _Number) -> Line:
        return Line(
            self.keys[g], name, share, max(0, round(number.values * self._unit)), None, None, None, None, False,
            (TOO_FEW,),
        )  # fmt: skip

    def _clipped(self, g: int, j: int) -> Line:
        found, columns = self.means, self.columns
        assert isinstance(found, Transcript)
        share, key, name = columns.between_0_and_1(j), self.keys[g], self.plan.layout.names[j]
        if not found.told(g, j):
            count = max(0, round(found.numbers(g, j)))
            return Line(key, name, share, count, None, None, None, None, False, (TOO_FEW,))
        level = Level(_ALL) if self.level is None else self.level
        if g not in self._intervals:
            self._intervals[g] = clipped_interval(found, columns, g, self.known, level).ends.tolist()
        mean = float(columns.in_units(found.means()[g])[j])
        lower, upper = self._intervals[g][j]
        number = round(found.values(g, j) if j in found.counted else self.size(g))
        wide = float(columns.widths[j]) / 2.0
        sd: Spread | None
        reasons: tuple[str, ...]
        if j not in self.plan.layout.means:
            sd, reasons = None, (SHARE,)
        elif self.known is not None:
            sd, reasons = Spread(*(self.known[j] * wide,) * 3), ()
        else:
            sd, reasons = self._shown(j, likely_deviation(found, j).scaled(wide))
        public = self.public_sd and sd is not None
        line = Line(
            key, name, share, number, mean, None if sd is None else sd.middle, lower, upper, public, reasons,
            sd_range=None if sd is None or public else (sd.low, sd.high),
        )  # fmt: skip
        return self._hidden(replace(line, missing=self._missing(g, j)))

    @cached_property
    def _intervals(self) -> dict[int, list[list[float]]]:
        return {}

    def _mean(self, g: int, j: int) -> Line:
        found, name, number = self.means, self.plan.layout.names[j], self.number(g, j)
        assert isinstance(found, NormSummed)
        if not number.told:
            return self._empty(g, name, False, number)
        i = found.places.index(j)
        unit = found.radius / found.scale[i]  # a radius, in relative units
        away = float(found.sums[g][i]) / number.values
        noise = unit * strength(self.plan.neighbours) / float(found.plan.sums) / number.values
        shown = between_ends(found.centre[i] + unit * away, noise)
        mean = max(-1.0, min(1.0, found.centre[i] + unit * away))
        half_width = float(self.columns.widths[j]) / 2.0
        spread = self._spread(i) if self.known is None else Spread(*(self.known[j],) * 3)
        values = number.values * (1.0 if self.plan.layout.weight is None else 0.5)  # few weigh as much as the largest
        half = mixed_quantile(
            self._of_one(),
            noise,
            abs(mean - found.centre[i]) * (self._scale if number.noised else 0.0) / number.values,
            1 if self.counts is None else self.counts.width,
            spread.high / math.sqrt(values),
        )
        ends = [max(-1.0, mean - half), min(1.0, mean + half)]
        low, wide = float(self.columns.lower[j]), half_width
        sd, reasons = self._shown(j, spread.scaled(wide))
        line = Line(
            self.keys[g], name, False, round(number.values * self._unit), low + (1.0 + shown) * wide,
            None if sd is None else sd.middle, low + (1.0 + ends[0]) * wide, low + (1.0 + ends[1]) * wide,
            self.known is not None, reasons, missing=self._missing(g, j),
            sd_range=None if sd is None or self.known is not None else (sd.low, sd.high),
        )  # fmt: skip
        return self._hidden(line)

    def _shown(self, j: int, spread: Spread) -> tuple[Spread | None, tuple[str, ...]]:
        """None where it was left out, and named, before anything was spent."""
        return (None, (NO_SPREAD,)) if left_out(self.plan, j) else (spread, ())

    @cached_property
    def _spreads(self) -> dict[int, Spread]:
        return {}

    def _spread(self, i: int) -> Spread:
        """The standard deviation within groups, in half widths of the bounds."""
        if i not in self._spreads:
            self._spreads[i] = self._spread_within(i)
        return self._spreads[i]

    def _spread_within(self, i: int) -> Spread:
        found = self.means
        assert isinstance(found, NormSummed)
        assert found.sizes is not None
        unit = found.radius / found.scale[i]
        numbers = [self.number(g, found.places[i]).values for g in range(len(self.keys))]
        means = [unit * float(sums[i]) / n for sums, n in zip(found.sums, numbers, strict=True)]
        offset = found.centre[i] - found.sizes.centre[i]
        own = unit * math.sqrt(2.0) * strength(self.plan.neighbours) / float(found.plan.sums)
        # Noise makes distances of the groups' means from the centre too large.
        away = [
            (n, math.sqrt(max(0.0, (offset + a) ** 2 - (own / n) ** 2))) for n, a in zip(numbers, means, strict=True)
        ]
        bell = found.sizes.spread(i, away)
        mean = found.centre[i] + sum(n * a for n, a in zip(numbers, means, strict=True)) / sum(numbers)
        return Spread(*(between_bounds(mean, one) for one in bell))

    def _share(self, g: int, j: int) -> Line:
        """A column between 0 and 1: from -1 to 1 in sums."""
        name, number = self.plan.layout.names[j], self.number(g, j)
        if not number.told:
            return self._empty(g, name, True, number)
        assert self.counts is not None
        share = 0.5 + self.counts.of(g, "shares", j) / number.values / 2.0
        line = self._of_share(g, j, name, None, share, number)
        return replace(line, reasons=(SHARE,), count=None)

    def _of_share(self, g: int, place: int, name: str, level: str | None, share: float, number: _Number) -> Line:
        share = max(0.0, min(1.0, share))
        beside = (share - 0.5) ** 2 if number.noised else 0.0
        scale = self._scale * math.sqrt(0.25 + beside) / number.values
        width = 1 if self.counts is None else self.counts.width
        values = number.values * (1.0 if self.plan.layout.weight is None else 0.5)
        half = mixed_quantile(self._of_one(), 0.0, scale, width, math.sqrt(max(share * (1 - share), 1e-4) / values))
        total = number.values * self._unit
        line = Line(
            self.keys[g], name, True, round(total), share, None, max(0.0, share - half), min(1.0, share + half),
            level=level, count=round(total * share), missing=self._missing(g, place),
        )  # fmt: skip
        return replace(self._hidden(line), half=half)

    def _levels(self, g: int, i: int) -> list[Line]:
        layout = self.plan.layout
        one, place = layout.categories[i], layout.first_category + i
        number = self.number(g, place)
        if not number.told:
            return [replace(self._empty(g, one.title, True, number), level=name) for name in one.shown]
        assert self.counts is not None
        listed = [level for at, level in self.counts.levels if at == place]
        shares = [0.5 + self.counts.of(g, "levels", (place, level)) / number.values / 2.0 for level in listed]
        if len(one.names) == 2:
            shares.append(1.0 - shares[0])
        elif len(one.names) > 2:
            # Every value is in one of them: what they lack together is divided among them.
            shares = [share + (1.0 - sum(shares)) / len(shares) for share in shares]
            kept = [max(0.0, share) for share in shares]
            shares = [share / sum(kept) for share in kept] if sum(kept) > 0 else shares
        return [
            self._of_share(g, place, one.title, name, share, number)
            for name, share in zip(one.shown, shares, strict=True)
        ]

    def _median(self, g: int, j: int) -> Line:
        name, number = self.plan.layout.names[j], self.number(g, j)
        if not number.told:
            return self._empty(g, name, False, number)
        low, middle, high = self.quartiles[j][g]
        return Line(
            self.keys[g], name, False, round(number.values * self._unit), None, None, None, None,
            quartiles=(low, middle, high), missing=self._missing(g, j), half=max((high - low) / 10.0, 1e-12),
        )  # fmt: skip

    @property
    def measured(self) -> tuple[str, ...]:
        return self.plan.layout.names

    def interval_note(self) -> str | None:
        if self.level is None:
            return None
        if isinstance(self.means, Transcript):
            return interval_note(self.means, deviations(self.means, self.known), self.level, self.public_sd)
        together = "for all of them together" if self.level.joint else "each by itself"
        return (
            f"A {nominal(self.level.confidence)} for the population's mean or share, sampling and privacy together, "
            f"{together}, from noise of a known law and the normal approximation. Its coverage is empirical. Missing "
            "cells are taken to be missing at random."
        )


def at_most(numbers: Sequence[float], total: float) -> list[float]:
    """The nearest numbers that are not negative and at most so many together."""
    kept = [max(0.0, one) for one in numbers]
    while sum(kept) > total * (1.0 + 1e-12):
        some = sum(one > 0.0 for one in kept)
        less = (sum(kept) - total) / some
        kept = [max(0.0, one - less) for one in kept]
    return kept
