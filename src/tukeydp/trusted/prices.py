"""What a draw or a noise may weigh, from what one record does to its score: one rule for all of them.

A score declares two numbers: `one` (A1) is by how much it changes when one record comes or goes, `swap` (R1) when one
is replaced in its group. For a draw "how much" is the range of the change, its largest less its smallest value over
all candidates; for noise it is the change in the norm that the noise falls with. `swap` is at most twice `one`.
The laws are e^(kappa score), and noise of scale 1 / kappa (docs/proofs/composition.md, section 8).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

ADD_REMOVE = "add-remove"


class Score(NamedTuple):
    """How far one record moves a score, or an exact answer that gets noise."""

    one: Fraction
    swap: Fraction


def kappa(epsilon: Fraction, one: Fraction, swap: Fraction, relation: str, keys: int | None = None) -> Fraction:
    """The weight of a score in the exponent, so that all groups together cost epsilon.

    With two keys or more a swap may take a record out of one group and put it into another: both scores change, each by
    `one`. With one key it may also leave the only group. A person is one record.
    """
    if relation == ADD_REMOVE:
        return epsilon / one
    if keys is not None and keys >= 2:
        return epsilon / (2 * one)
    return epsilon / max(swap, one)


def share_of_group(relation: str, keys: int | None) -> Fraction:
    """Of epsilon and delta, for the same step in every group, priced as if there were no others.

    A record that comes or goes changes the step of one group; one that is replaced those of two, where there are two.
    """
    moves = relation != ADD_REMOVE and keys is not None and keys >= 2
    return Fraction(1, 2) if moves else Fraction(1)


def kappa_of_parts(
    epsilon: Fraction, parts: Sequence[Score], relation: str = "swap", keys: int | None = None
) -> Fraction:
    """The same for scores of disjoint parts, in every group: the record stays in one, or goes from one to another.

    Between two groups it may go from a part to the like part of the other; under add-remove it is in one part of one.
    """
    most = max(part.one for part in parts)
    if relation == ADD_REMOVE or (keys is not None and keys >= 2):
        return kappa(epsilon, most, 2 * most, relation, keys)
    two_largest = sum(sorted((part.one for part in parts), reverse=True)[:2], Fraction(0))
    return epsilon / max(two_largest, *(part.swap for part in parts))


# Depth: a further row raises it by 0 or 1; a replaced one moves it by -1, 0 or 1.
DEPTH = Score(Fraction(1), Fraction(2))
# The most rows beyond a radius, over columns: a further row adds 0 or 1 to it, a replaced one moves it by -1, 0 or 1.
MOST_BEYOND = Score(Fraction(1), Fraction(2))
# A count, or several of which the largest change matters.
COUNT = Score(Fraction(1), Fraction(1))


def depth_of_blocks(dealings: int) -> Score:
    """Depth in a table of block values: a record moves one row of each dealing, and that row's old and new values."""
    return Score(Fraction(2 * dealings), Fraction(2 * dealings))


def sums_from_the_middle(half: int) -> Score:
    """Sums of contributions of size `half` at most in the norm that the noise falls with; a missing one is 0.

    For cube noise that is the largest coordinate's size, for Laplace noise the sum of all sizes.
    """
    return Score(Fraction(half), Fraction(2 * half))


def sums_from_an_end(most: int) -> Score:
    """Sums of contributions from 0 to `most` in every coordinate."""
    return Score(Fraction(most), Fraction(most))


def rank(share: Fraction) -> Score:
    """Distance of a rank from a share of the values that are there, in ranks."""
    return Score(2 * max(share, 1 - share), Fraction(2))
