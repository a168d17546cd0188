"""Charges that nobody has paid, for tests of a primitive by itself."""

from __future__ import annotations

from tukeydp.trusted.account import PureDP
from tukeydp.trusted.prices import Score
from tukeydp.trusted.release import Charge, rehearsed_charge


def charge(epsilon, key: bytes = bytes(32), neighbours: str = "swap") -> Charge:
    """For any law, and so for one of bounded range too."""
    return rehearsed_charge(PureDP(epsilon, neighbours=neighbours), key)


def cheaper(score: Score, factor) -> Score:
    """A score that claims to move by less than it does: weights are `factor` times as large as they may be."""
    return Score(score.one / factor, score.swap / factor)
