"""Which boxes are cut into slices, and where: near its ends a level is narrower than in the middle."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from tukeydp.hints.boxes import Certifier
from tukeydp.trusted.boxes import Box
from tukeydp.trusted.covers import Cover, Shape

# Speed only, all of them: which boxes are cut, and into how many parts.
_SLICES = 8  # parts a box is cut into; more cost more programs, fewer are wider and so not much smaller together
_SLICE_COST = 2.0  # in boxes: its programs cannot go on where those of the last level ended
_SAVED = 0.6  # of the proposals from a box, about so many are saved by slicing it
_POOR = 4, 5  # slices with more than this share of their box's points, 4/5, are not kept: they would not pay off


@dataclass(frozen=True, eq=False)
class Sliced:
    """A level's cover, and for each of its parts the column to cut it along next; None if that is no use."""

    cover: Cover
    columns: tuple[int | None, ...]


@dataclass(frozen=True, eq=False)
class Stretch:
    """Levels start ... end, which are drawn from the same disjoint parts."""

    start: int
    end: int
    sliced: Sliced


@dataclass(frozen=True)
class Heaviest:
    """Which part of which level's box, and its share of all proposals."""

    level: int
    index: int
    share: float

    def worth_slicing(self, proposals: float, box_cost: float) -> bool:
        """Whether programs at `box_cost` proposals a box pay off for a point that takes so many proposals.

        No where the share is not a number, because epsilon is astronomical.
        """
        return self.share * proposals * _SAVED >= _SLICES * _SLICE_COST * box_cost


def heaviest(stretches: Sequence[Stretch], half_epsilon: float) -> Heaviest | None:
    """The box that most proposals come from, among those that may be cut, and its share."""
    places = [
        (stretch.start, i, part, column)
        for stretch in stretches
        for i, (part, column) in enumerate(zip(stretch.sliced.cover.parts, stretch.sliced.columns, strict=True))
    ]
    ends = [(stretch.start, stretch.end, part.size) for stretch in stretches for part in stretch.sliced.cover.parts]
    weights = log_weights(ends, half_epsilon)
    whole = [i for i, (*_, part, column) in enumerate(places) if column is not None and _upright(part)]
    if not whole:
        return None
    most = max(weights)
    total = math.fsum(math.exp(weight - most) for weight in weights)
    best = max(whole, key=lambda i: weights[i])
    return Heaviest(*places[best][:2], math.exp(weights[best] - most) / total)


def log_weights(parts: Sequence[tuple[int, int, int]], half_epsilon: float) -> list[float]:
    """About the log of the weight of each part (start, end, points): (q^end - q^(start - 1)) times its points."""
    weights: list[float] = []
    for start, end, size in parts:
        count = half_epsilon * (end - start + 1)
        weights.append(half_epsilon * end + (math.log(-math.expm1(-count)) if count else 0.0) + math.log(size))
    return weights


def _upright(part: Shape) -> bool:
    return isinstance(part, Box) and part.basis is None


def worthwhile_slices(certifier: Certifier, sliced: Sliced, index: int) -> Sliced:
    """One part cut into slices; as it was, marked as such, if they are hardly smaller."""
    before, fresh = sliced.cover, slices(certifier, sliced, index)
    part = before.parts[index].size
    after = fresh.cover.size - (before.size - part)
    if after * _POOR[1] > part * _POOR[0]:  # in integers: no float holds the size of some
        whole = certifier.covers.sliced(before, index, 0, [])  # the last one now, uncut
        return Sliced(whole, (*_without(sliced.columns, index), None))
    return fresh


def slices(certifier: Certifier, sliced: Sliced, index: int) -> Sliced:
    """One part cut into slabs of about equal width."""
    column, part = sliced.columns[index], sliced.cover.parts[index]
    assert column is not None
    assert isinstance(part, Box)
    low, high = part.low[column], part.high[column]
    count = min(_SLICES, high - low + 1)
    ends = [low + (high - low + 1) * i // count for i in range(count + 1)]
    supports = []
    for first, behind in pairwise(ends):
        slab = Box(_with(part.low, column, first), _with(part.high, column, behind - 1))
        supports.append(certifier.supports_within(sliced.cover.level, slab))
    cover = certifier.covers.sliced(sliced.cover, index, column, ends[1:-1], supports)
    others = _without(sliced.columns, index)
    following = (column + 1) % len(part.low)
    return Sliced(cover, (*others, *[following] * (len(cover.parts) - len(others))))


def _without(columns: Sequence[int | None], index: int) -> tuple[int | None, ...]:
    return (*columns[:index], *columns[index + 1 :])


def _with(ends: tuple[int, ...], column: int, value: int) -> tuple[int, ...]:
    return (*ends[:column], value, *ends[column + 1 :])
