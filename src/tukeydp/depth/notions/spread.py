"""Directions that keep as far from each other as they can."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tukeydp.depth.notions.drawn import Drawn, default_directions
from tukeydp.trusted.bits import Keystream
from tukeydp.trusted.directions import unit_vectors
from tukeydp.trusted.parameters import FloatArray, ParameterError

# Directions: spreading takes time like their square, seconds at this many. Only the error message depends on it.
_MOST = 4096
# Beyond ten columns more directions make the error smaller, by 4 percent at twelve and 8 at twenty. Up to 20 columns a
# call takes seconds at most with so many; each further column would nearly double that, so there are fewer again.
_MANY, _MANY_UPTO, _FALLING = 1000, 20, 5


@dataclass(frozen=True)
class Spread(Drawn):
    """The d axes and `directions` directions that keep as far from each other, and from the axes, as they can.

    Fewer of them than of `Random` ones make level sets as round. No two are closer than
    `tukeydp.depth.spherical_codes.least_angle(size, d)`, up to rounding. In two columns they are evenly spaced.

    Parameters
    ----------
    directions
        How many besides the axes, at most 4096. None: `Spread.usual(d)`. One column has only one direction.
    axes
        False leaves the axes out; the rest then have the whole sphere to spread over.
    seed
        Fixes the directions. None takes a fresh public position for each call: a random rotation or, with the
        axes, columns swapped and reflected at random (in two columns with an even number there is but one).

    Privacy
    -------
    As for `Random`: chosen before and without the data, and published.

    Cost
    ----
    Found once per process for each d and number: 10 ms for 150 in d = 5, 50 ms for 300 and 0.4 s for 1000 in d = 20,
    seconds for thousands.

    Numerics
    --------
    With the axes, equal seeds give equal directions on every machine. A random rotation may differ in the last digit
    of an entry between machines; what was used is listed in the release.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.directions is not None and self.directions > _MOST:
            rule = f"must be at most {_MOST}, since more take too long to spread: td.Random has no limit"
            raise ParameterError("directions", rule, self.directions)

    def size(self, d: int) -> int:
        return super().size(d) if d > 1 else 1

    @classmethod
    def usual(cls, d: int) -> int:
        """30 d up to ten columns, 1000 up to twenty, and fewer again beyond."""
        least = default_directions(d)
        return least if d <= 10 else max(least, int(_MANY * min(1.0, _MANY_UPTO / d) ** _FALLING))

    def units(self, count: int, d: int, key: bytes) -> FloatArray:
        from tukeydp.depth.spherical_codes import spread_lines

        if not self.axes:
            rotation = np.linalg.qr(unit_vectors(d, d, key))[0]
            return spread_lines(count, d, axes=False) @ rotation
        order, sign = Keystream(key).words(0, 2 * d).reshape(2, d)
        lines = spread_lines(count + d, d, axes=True)[d:, np.argsort(order, kind="stable")]
        return np.where(sign >> np.uint64(63), -lines, lines)
