"""A depth certificate: how it is said. Part of a release, and paid for."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tukeydp.trusted.parameters import show


@dataclass(frozen=True)
class Certificate:
    """How deep a released point is, with noise and paid for: a lower bound on the rows on every side of it.

    Attributes
    ----------
    rows
        With the stated confidence at least so many rows lie on every side that counts.
    noised
        The released number itself: the point's depth plus discrete Laplace noise.
    epsilon
        What it has cost; part of the release's guarantee.
    every
        Whether all sides count, or those of the listed directions only.
    """

    rows: int
    noised: int
    confidence: float
    epsilon: Fraction
    every: bool

    @property
    def note(self) -> str:
        sides = "every side" if self.every else "every side along the listed directions"
        rows = f"{self.rows} row{'' if self.rows == 1 else 's'}"
        return f"With {100 * self.confidence:g} % confidence at least {rows} lie on {sides} of the point."

    def to_dict(self) -> dict[str, Any]:
        return {
            "rows": self.rows,
            "noised": self.noised,
            "confidence": self.confidence,
            "epsilon": show(self.epsilon),
            "note": self.note,
        }
