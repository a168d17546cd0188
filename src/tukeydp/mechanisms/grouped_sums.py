"""Noised numbers of rows of every group, paid for by a share of epsilon (docs/proofs/groups.md, section 8)."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from tukeydp.trusted.parameters import ParameterError, positive_rational, show


def checked_counts(counts: Any) -> Fraction:
    """The share of epsilon that goes to the counts; 0 where none are asked for."""
    if counts is None:
        return Fraction(0)
    share = positive_rational("counts", counts)
    if share >= 1:
        raise ParameterError("counts", "must be a share of epsilon below 1, such as 0.1", show(share))
    return share


def rows_told(noised: list[int], n: int | None, epsilon: Fraction) -> list[bool]:
    """Which groups' numbers of rows can be told from none, with 99 percent confidence: post-processing.

    All of them where equal parts of the table would be too few to be told; n is public, None where no number is.
    """
    least = 2 * math.log(50) / float(epsilon)  # 1 percent of the noise, of scale 2 / epsilon, lies above
    few = n is not None and n < 2 * least * len(noised)
    return [few or count >= least for count in noised]


def too_few(estimand: str) -> str:
    """What is said where some groups may have no result."""
    return (
        f"No {estimand} is given where the noised number of values, or of rows, cannot be told from none: is the key "
        "spelt as in the data?"
    )
