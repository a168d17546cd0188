"""Boxes cut into slices, each with certified ends of its own: near its ends a level is narrower than in the middle."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from tukeydp.exact.boxes import Box
from tukeydp.exact.parallelepipeds import Parallelepiped
from tukeydp.exact.tilted_boxes import TiltedBox
from tukeydp.sampling.envelope.boxes import Certifier

# Speed only, all of them: which boxes are cut, and into how many parts.
_SLICES = 8  # parts a box is cut into; more cost more programs, fewer are wider and so not much smaller together
_SLICE_COST = 2.0  # in boxes: its programs cannot go on where those of the last level ended
_SAVED = 0.6  # of the proposals from a box, about so many are saved by slicing it
_POOR = 4, 5  # slices with more than this share of their box's points, 4/5, are not kept: they would not pay off


Shape = Box | TiltedBox | Parallelepiped


@dataclass(frozen=True, eq=False)
class Slice:
    """A part of a level's box, and the column to cut it along next; None if that is no use, or if it is no box."""

    box: Shape
    column: int | None


@dataclass(frozen=True, eq=False)
class Stretch:
    """Levels start ... end, which are drawn from the same disjoint parts."""

    start: int
    end: int
    parts: Sequence[Slice]


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
    weights = log_weights(stretches, half_epsilon)
    places = [(stretch.start, i, part) for stretch in stretches for i, part in enumerate(stretch.parts)]
    whole = [
        i
        for i, (*_, part) in enumerate(places)
        if part.column is not None and isinstance(part.box, Box) and part.box.basis is None
    ]
    if not whole:
        return None
    most = max(weights)
    total = math.fsum(math.exp(weight - most) for weight in weights)
    best = max(whole, key=lambda i: weights[i])
    return Heaviest(*places[best][:2], math.exp(weights[best] - most) / total)


def log_weights(stretches: Sequence[Stretch], half_epsilon: float) -> list[float]:
    """About the log of the weight of each part: (q^end - q^(start - 1)) times its points."""
    weights: list[float] = []
    for stretch in stretches:
        count = half_epsilon * (stretch.end - stretch.start + 1)
        weight = half_epsilon * stretch.end + (math.log(-math.expm1(-count)) if count else 0.0)
        weights.extend(weight + math.log(part.box.size) for part in stretch.parts)
    return weights


def worthwhile_slices(certifier: Certifier, level: int, part: Slice) -> list[Slice]:
    """Slices of what a level has in a box along the axes; the box alone, marked as such, if they are hardly smaller."""
    fresh = slices(certifier, level, part)
    after = sum(other.box.size for other in fresh)
    if after * _POOR[1] > part.box.size * _POOR[0]:  # in integers: no float holds the size of some
        return [Slice(part.box, None)]
    return fresh


def slices(certifier: Certifier, level: int, part: Slice) -> list[Slice]:
    """Certified boxes of what a level has in equal slices of a box."""
    assert part.column is not None
    assert isinstance(part.box, Box)
    column = part.column
    low, high = part.box.low[column], part.box.high[column]
    count = min(_SLICES, high - low + 1)
    ends = [low + (high - low + 1) * i // count for i in range(count + 1)]
    following = (column + 1) % len(part.box.low)
    found = []
    for first, behind in pairwise(ends):
        slab = Box(_with(part.box.low, column, first), _with(part.box.high, column, behind - 1))
        box = certifier.box_within(level, slab)
        if box.size:
            found.append(Slice(box, following))
    return found


def _with(ends: tuple[int, ...], column: int, value: int) -> tuple[int, ...]:
    return (*ends[:column], value, *ends[column + 1 :])
