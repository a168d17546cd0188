"""What a mechanism hands back."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tukeydp.privacy import PureDP

if TYPE_CHECKING:
    from tukeydp.grid import Grid
    from tukeydp.planner import ExpectedError

SYMMETRY_CAVEAT = (
    "What is estimated is the centre of roughly symmetric data (a multivariate median). For skewed or 0/1 "
    "columns it is not the arithmetic mean; a clipped, noised mean is the better choice there."
)
SEEDED_CAVEAT = (
    "Seeded randomness: anyone who knows the seed can undo the noise. This run is a rehearsal and must not be "
    "published; the guarantee is what a run without a seed would have."
)


@dataclass(frozen=True, eq=False, kw_only=True)
class Release:
    """A released point with its guarantee. Everything in it except `point` is public beforehand.

    Attributes
    ----------
    point
        The released centre, one float per column.
    guarantee
        What the release costs, as an exact rational.
    private
        False when the randomness was seeded: the guarantee then says what a real run would have had.
    directions
        The public directions of the depth in grid coordinates, one integer vector per row.
    expected_error
        What accuracy to expect; from public inputs only, computed when asked for.
    """

    point: NDArray[np.float64]
    guarantee: PureDP
    mechanism: str
    private: bool
    n: int
    d: int
    columns: tuple[str, ...] | None
    notion: str
    directions: NDArray[np.int64]
    grid: Grid

    @property
    def released(self) -> bool:
        return True

    @property
    def caveats(self) -> tuple[str, ...]:
        return (SYMMETRY_CAVEAT,) if self.private else (SYMMETRY_CAVEAT, SEEDED_CAVEAT)

    @cached_property
    def expected_error(self) -> ExpectedError:
        from tukeydp.planner import expected_error

        return expected_error(
            n=self.n, epsilon=self.guarantee.epsilon, directions=self.directions, cells=self.grid.cells
        )

    def to_dict(self) -> dict[str, Any]:
        """Everything public about the release, ready for JSON."""
        return {
            "mechanism": self.mechanism,
            "released": True,
            "point": self.point.tolist(),
            "columns": None if self.columns is None else list(self.columns),
            "guarantee": self.guarantee.to_dict(),
            "private": self.private,
            "n": self.n,
            "d": self.d,
            "notion": self.notion,
            "directions": self.directions.tolist(),
            "grid": self.grid.to_dict(),
            "expected_error": self.expected_error.to_dict(),
            "caveats": list(self.caveats),
        }

    def __repr__(self) -> str:
        return f"Release(point={self.point}, guarantee={self.guarantee}, private={self.private})"
