"""Which boxes are so small that every grid point in them can be looked at.

On a coarse grid the level sets near the top are polytopes without a single grid point, which no linear program can tell
from others: without this, nearly all proposals would be made for levels that hold no point.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Protocol

import numpy as np

from tukeydp.trusted.boxes import Box
from tukeydp.trusted.covers import Cover, View


class Refinable(Protocol):
    """Boxes at some levels, and more of them when asked; a level that turns out to be empty lowers the top."""

    covers: dict[int, Cover]

    @property
    def top(self) -> int: ...

    def refine(self, wanted: Sequence[int]) -> None: ...


def lowest_small(envelope: Refinable, most_points: int) -> int | None:
    """The lowest level whose box has at most so many points; box sizes fall as levels rise."""
    low, high, step = 0, None, 1
    probe = envelope.top
    while probe > low:
        envelope.refine([probe])
        if probe > envelope.top:  # it turned out to be empty, and so are those above
            high, probe = None, _highest_filled(envelope, low)
        elif envelope.covers[probe].size <= most_points:
            high, probe, step = probe, max(probe - step, (low + probe) // 2), 2 * step
        else:
            low = probe
            probe = low if high is None else (low + high) // 2
    return high if high in envelope.covers else None


def _highest_filled(envelope: Refinable, low: int) -> int:
    """The highest level above `low` that is not proven empty, or `low`: by steps that double, then by halving.

    On coarse grids of many rows thousands of levels below the top are empty. Boxes on the way are not kept.
    """
    at, step = envelope.top, 1
    while at > low and not _filled(envelope, at):
        at, step = max(low, at - step), 2 * step
    while at < envelope.top:
        middle = (at + envelope.top + 1) // 2
        if _filled(envelope, middle):
            at = middle
    return at


def _filled(envelope: Refinable, level: int) -> bool:
    """Whether a level is not proven empty; if it is, the top is lowered."""
    if level not in envelope.covers:
        envelope.refine([level])
        return envelope.covers.pop(level, None) is not None
    return True


def base_level(envelope: Refinable, levels: View, within: Box, lowest: int, half_epsilon: float) -> int | None:
    """A level with a box of its own, so low that the levels below it have little weight: branch and bound starts there.

    Little next to the weight of one point of the depth that the middle of the sample has.
    """
    if envelope.top <= lowest:
        return None
    middle = np.clip(levels.sample[len(levels.sample) // 2], within.low, within.high)
    depth = int(levels.depths(middle[np.newaxis], max(1, lowest))[0])
    base = max(lowest + 1, depth - math.ceil(min(float(depth), math.log(within.size) / half_epsilon)))
    envelope.refine([base])
    return base if base in envelope.covers else None
