"""Which sizes REM's test uses for a notion of depth on one dataset."""

from __future__ import annotations

from fractions import Fraction

from tukeydp.trusted.boxes import Box
from tukeydp.trusted.prepared import PreparedDepth
from tukeydp.trusted.sizes.exact_depth_sizes import ExactSizes
from tukeydp.trusted.sizes.level_sizes import Sizes
from tukeydp.trusted.sizes.level_sizes import sizes_of as sizes_along

# Relative error of a lower size of exact depth, at most. It costs epsilon (docs/proofs/rem.md, section 7); smaller ones
# cost more depths. The public share of the test's epsilon that is given as `slack` bounds it too.
_LARGEST_SLACK = Fraction(1, 256)


def sizes_of(depth: PreparedDepth, within: Box, base: int, slack: Fraction) -> Sizes:
    """Sizes of the level sets; `base` is the lowest level whose lower size is wanted, `slack` a public tolerance."""
    if depth.decide is None:
        return sizes_along(depth.levels, within, base)
    return ExactSizes(depth.decide, depth.along_public(), depth.levels, within, base, min(_LARGEST_SLACK, slack))
