"""What a sampler will ask of level sets whose ranks take a pass over the rows to find: learned beforehand.

A sampler is prepared for rough level sets first, which answer at once. The levels it asks about, and those that have
weight, are then found together. Speed only: the sampler proper asks for whatever else it needs.
"""

from __future__ import annotations

import math
from fractions import Fraction

from tukeydp.depth.streamed_levels import StreamedLevels
from tukeydp.sampling.sampler import Sampler
from tukeydp.trusted.boxes import Box
from tukeydp.trusted.levels import LevelSets

# What was found makes the next rehearsal better. After so many the sampler asks for the rest itself, one by one.
_REHEARSALS = 3
_BEYOND = 44.0  # log of more than 2^63: weights so much smaller than one deep point's are as good as never drawn


def levels_with_weight(within: Box, epsilon: Fraction) -> int:
    """How many levels below the deepest may be drawn, but for a chance of 2^-63: public numbers decide."""
    return math.ceil(2 * Fraction(math.log(within.size) + _BEYOND) / epsilon)


def foresee(levels: LevelSets, within: Box, epsilon: Fraction, lowest: int) -> None:
    """Have the ranks found that a sampler for these levels is likely to ask for."""
    if not isinstance(levels, StreamedLevels):
        return
    for _ in range(_REHEARSALS):
        before, rough = levels.passes, levels.rough
        top = Sampler(rough, within=within, epsilon=epsilon, lowest=lowest, threads=1).top
        levels.foresee(rough.asked, max(1, lowest, top - levels_with_weight(within, epsilon)), max(1, top))
        if levels.passes == before:
            return
