"""Certified boxes of one dataset's levels, along the axes and slanted.

Multipliers come from the hints, bounds from `certificates`: whatever the hints, a box contains what it should.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from tukeydp.data.grid import LIMIT
from tukeydp.depth.levels import LevelSets
from tukeydp.exact.boxes import Box
from tukeydp.exact.lattice import Basis, log_gain, reduced_basis
from tukeydp.sampling.certificates import Multipliers, upper_bound
from tukeydp.sampling.hints import Hints

# For each objective, multipliers for its largest and for its smallest value.
Supports = Sequence[tuple[Multipliers, Multipliers]]

# Log of a ratio of sizes: how much smaller slanted boxes must be than those along the axes, as they cost as many
# programs again. Speed only: with a smaller value more bases are tried in vain, with a larger one good ones are missed.
_WORTHWHILE = math.log(4)


class Certifier:
    """Certifies boxes inside the public box `within`.

    `needs_programs` says whether the hints have anything to add: where all directions are parallel to axes, these say
    everything.
    """

    def __init__(self, levels: LevelSets, within: Box, hints: Hints) -> None:
        self.levels, self.hints = levels, hints
        self._within = within
        self._axes = _axis_rows(levels)
        self._units = [[int(i == j) for i in range(levels.d)] for j in range(levels.d)]
        self.needs_programs = len(self._axes) < len(levels.directions)

    @property
    def columns(self) -> list[int]:
        """Columns along which there is a direction."""
        return sorted({j for _, j, _ in self._axes})

    def along(self, levels: LevelSets) -> Certifier:
        """The same for other levels, with the same hints."""
        return Certifier(levels, self._within, self.hints)

    def supports(self, wanted: Sequence[int]) -> Sequence[Supports]:
        """Hints about the ends of the boxes at some levels."""
        return self.hints.supports(wanted, self._units) if self.needs_programs else [[] for _ in wanted]

    def box(self, level: int, supports: Supports, known: Box) -> Box:
        """The part of a box along the axes that can hold points of the level."""
        return self._tightened(level, supports, self.along_axes(level).meet(known))

    def box_within(self, level: int, slab: Box) -> Box:
        """The same, with hints about the level inside the slab alone."""
        return self._tightened(level, self.hints.supports([level], self._units, slab)[0], slab)

    def slanted_box(self, level: int, basis: Basis, supports: Supports, known: Box) -> Box:
        """A box along the basis around the points that the level has in a box along the axes."""
        return Box(*self._ranges(level, basis.matrix, supports, known), basis)

    def ends_along(
        self, level: int, objectives: Sequence[Sequence[int]], known: Box
    ) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Certified smallest and largest values of objectives on a level, which is in a known box along the axes."""
        return self._ranges(level, objectives, self.hints.supports([level], objectives)[0], known)

    def along_axes(self, level: int) -> Box:
        """What the directions parallel to an axis say, without any program."""
        low, high = list(self._within.low), list(self._within.high)
        smallest, largest = self.levels.offsets(level)
        for row, j, entry in self._axes:
            # smallest <= entry * y_j <= largest, with entry > 0 after a change of sign
            a, b = int(smallest[row]), int(largest[row])
            if entry < 0:
                a, b = -b, -a
            low[j] = max(low[j], -(-a // abs(entry)))
            high[j] = min(high[j], b // abs(entry))
        return Box(tuple(low), tuple(high))

    def _tightened(self, level: int, supports: Supports, box: Box) -> Box:
        # A residual costs its size times the known box, so a box that shrank much can shrink again.
        shrunk = True
        while shrunk and supports and box.size:
            tighter = box.meet(Box(*self._ranges(level, self._units, supports, box)))
            shrunk = tighter.size * 2 < box.size
            box = tighter
        return box

    def _ranges(
        self, level: int, objectives: Sequence[Sequence[int]], supports: Supports, known: Box
    ) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Certified smallest and largest value of each objective on the level."""
        low, high = [], []
        for objective, (largest, smallest) in zip(objectives, supports, strict=True):
            high.append(upper_bound(self.levels, level, objective, largest, known))
            low.append(-upper_bound(self.levels, level, [-c for c in objective], smallest, known))
        return tuple(low), tuple(high)


def better_basis(hints: Hints, level: int) -> Basis | None:
    """A basis of the grid in which the level's box fits much better than along the axes, if there seems to be one."""
    shape = hints.shape(level)
    basis = None if shape is None else reduced_basis(shape)
    return basis if shape is not None and basis is not None and log_gain(basis, shape) > _WORTHWHILE else None


def fits_in_words(box: Box) -> bool:
    """Whether every point of a slanted box can be computed in 64 bits, inside the public box or not."""
    largest = [max(abs(a), abs(b)) for a, b in zip(box.low, box.high, strict=True)]
    inverse = box.basis.inverse if box.basis else ()
    return max(largest) < LIMIT and all(
        max(map(abs, row)) < LIMIT and sum(abs(a) * z for a, z in zip(row, largest, strict=True)) < LIMIT
        for row in inverse
    )


def _axis_rows(levels: LevelSets) -> list[tuple[int, int, int]]:
    """(row, column, entry) of each direction parallel to an axis."""
    parallel = np.flatnonzero(np.count_nonzero(levels.directions, axis=1) == 1)
    columns = np.argmax(levels.directions[parallel] != 0, axis=1)
    return [(int(row), int(j), int(levels.directions[row, j])) for row, j in zip(parallel, columns, strict=True)]
