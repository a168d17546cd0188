"""The spread of every column, by depth of log differences between halves, or parts, of secretly dealt blocks.

The halves of a block give u = |difference of means| / sqrt(1/m_a + 1/m_b), whose median is 0.6745 standard deviations
where block means are about Gaussian, whatever is missing. More than two parts give the standard deviation between
them, which scatters less. Both are functions of the block's own rows. The deepest point of their logarithms, on a grid
of eighths of an octave, is released by `boxem`: pure epsilon-DP (docs/proofs/mean.md, section 5).
"""

from __future__ import annotations

import math
from fractions import Fraction

from tukeydp.mechanisms.cliff import SAFE, log_odds
from tukeydp.trusted.block_steps import (
    OCTAVES,
    SpreadPlan,
)

# Width of that range in standard deviations of what is ranked, by the number of parts of a block: log differences of
# two halves spread over an octave or so, those of more parts over less (logarithms of chi variables). Too small a
# number here and releases fall off the cliff; a larger one asks for more rows.
_ASSUMED_WIDTHS = {2: 25.0, 3: 43.0, 4: 57.0, 5: 69.0, 6: 78.0}
MOST_PARTS = max(_ASSUMED_WIDTHS)
_FEWEST_PAIRS = 16


def spread_plan(n: int, d: int, epsilon: Fraction, parts: int = 2, octaves: int = OCTAVES) -> SpreadPlan | None:
    """The fewest blocks that keep a safe distance from the cliff; None if n rows are too few."""
    width = _ASSUMED_WIDTHS[parts] * octaves / OCTAVES

    def safe(pairs: int) -> bool:
        return log_odds(pairs, d, float(epsilon)) - d * math.log(width) >= SAFE

    low, high = _FEWEST_PAIRS - 1, n // parts
    if high < _FEWEST_PAIRS or not safe(high):
        return None
    while low + 1 < high:
        middle = (low + high) // 2
        low, high = (low, middle) if safe(middle) else (middle, high)
    return SpreadPlan(high, parts, octaves)
