"""Multipliers for the ends of boxes, and bases of the grid in which boxes fit better: what is asked of the programs."""

from __future__ import annotations

import math
from collections.abc import Sequence

from tukeydp.hints.linear_programs import Hints
from tukeydp.trusted.boxes import Box
from tukeydp.trusted.certificates import Multipliers
from tukeydp.trusted.covers import Cover, Covers
from tukeydp.trusted.matrices import Basis, log_gain, reduced_basis

# For each objective, multipliers for its largest and for its smallest value.
Supports = Sequence[tuple[Multipliers, Multipliers]]

# Log of a ratio of sizes: how much smaller slanted boxes must be than those along the axes, as they cost as many
# programs again. Speed only: with a smaller value more bases are tried in vain, with a larger one good ones are missed.
_WORTHWHILE = math.log(4)


class Certifier:
    """Asks hints about levels, and has covers made with the answers.

    `needs_programs` says whether the hints have anything to add: where all directions are parallel to axes, these say
    everything.
    """

    def __init__(self, covers: Covers, hints: Hints) -> None:
        self.covers, self.hints = covers, hints
        d = covers.view.d
        self._units = [[int(i == j) for i in range(d)] for j in range(d)]
        self.needs_programs = not covers.along_axes_only

    def supports(self, wanted: Sequence[int]) -> Sequence[Supports | None]:
        """Hints about the ends of the boxes at some levels."""
        return self.hints.supports(wanted, self._units) if self.needs_programs else [None for _ in wanted]

    def supports_within(self, level: int, slab: Box) -> Supports:
        """The same about a level inside a slab alone."""
        return self.hints.supports([level], self._units, slab)[0]

    def box(self, level: int, supports: Supports | None, known: Cover | None = None) -> Cover:
        """A box along the axes that holds the level."""
        return self.covers.boxed(level, supports, known)


def better_basis(hints: Hints, level: int) -> Basis | None:
    """A basis of the grid in which the level's box fits much better than along the axes, if there seems to be one."""
    shape = hints.shape(level)
    basis = None if shape is None else reduced_basis(shape)
    return basis if shape is not None and basis is not None and log_gain(basis, shape) > _WORTHWHILE else None
