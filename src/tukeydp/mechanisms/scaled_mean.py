"""A mean in two steps: how spread the columns are in general, then the mean in the way that suits that.

Both steps are pure DP, the second given what the first has released, so that their epsilons add up
(docs/proofs/mean.md, section 6). What the first has found stays inside: only the mean is handed out.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from tukeydp.arrays import FloatArray
from tukeydp.mechanisms.mean_ways import Way, best_way, way_error, ways
from tukeydp.mechanisms.scale_step import ScaleFirst, released_widths
from tukeydp.randomness import derived_key
from tukeydp.trusted.release import Charge

# Released spreads are right within this factor, mostly: other ways than cube noise are taken if they win by it.
_DOUBT = 1.3


@dataclass(frozen=True)
class ScaledMean(ScaleFirst):
    """Scale first. `assumed` are widths of the bounds in standard deviations, public."""

    assumed: tuple[float, ...]
    mechanism: str = "two-step"

    def noise_sd(self, n: int, widths: FloatArray) -> None:
        """Not public: it follows from what was found."""
        return None

    def draw(self, relative: FloatArray, public_key: bytes, charge: Charge) -> list[Fraction]:
        run = charge.split(self.parts)
        scale_key, scale = derived_key("scale", public_key), run.charge("scale", "step", 0)
        widths = released_widths(relative, scale, np.array(self.assumed), scale_key)
        return self.way(len(relative), widths).draw(relative, public_key, run.charge("rest", "step", 1))

    def way(self, n: int, widths: FloatArray) -> Way:
        """How the mean is taken between bounds of these widths: of public and released numbers."""
        return best_way(ways(n, len(widths), self.rest, widths, known=True), n, widths, _DOUBT)

    def error(self, n: int, widths: FloatArray) -> float:
        """Predicted median error in standard deviations, if the bounds are so wide."""
        return way_error(self.way(n, widths), n, widths)
