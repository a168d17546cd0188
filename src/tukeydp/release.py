"""What a mechanism hands back: a point, or a refusal. Both carry their guarantee, and both have spent it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from tukeydp.accuracy import ExpectedError, Rehearsal
from tukeydp.errors import ParameterError
from tukeydp.parameters import in_order, show
from tukeydp.privacy import Guarantee

SYMMETRY_CAVEAT = (
    "What is estimated is the centre of roughly symmetric data (a multivariate median). For skewed or 0/1 "
    "columns it is not the arithmetic mean; a clipped, noised mean is the better choice there."
)
SEEDED_CAVEAT = (
    "Seeded randomness: anyone who knows the seed can undo the noise. This run is a rehearsal and must not be "
    "published; the guarantee is what a run without a seed would have."
)
UNPROVEN_CAVEAT = (
    "No guarantee: this mode is for experiments. Nobody has proven that it is private, and its result must not be "
    "published."
)


class PublicGrid(Protocol):
    """What a release tells about its grid."""

    def to_dict(self) -> dict[str, Any]: ...


@dataclass(frozen=True, eq=False, kw_only=True)
class Outcome:
    """What is public about a run, whether a point was released or not.

    Attributes
    ----------
    guarantee
        What the run has cost, in exact rationals; None for modes without a proof.
    private
        False when the randomness was seeded (the guarantee then says what a real run would have had) and for modes
        without a proof.
    unproven
        What there is no proof for, such as "mcmc"; an outcome that says so cannot be given a guarantee.
    directions
        The public directions of the depth in grid coordinates, one integer vector per row.
    settings
        What else was fixed beforehand, such as a threshold or a split of epsilon.
    caveats
        What to know before using the result.
    expected_error
        What accuracy to expect; from public inputs only, computed when asked for.
    """

    guarantee: Guarantee | None
    mechanism: str
    seeded: bool
    n: int
    d: int
    columns: tuple[str, ...] | None
    notion: str | None = None
    directions: NDArray[np.int64] | None = field(default=None, repr=False)
    grid: PublicGrid | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = (SYMMETRY_CAVEAT,)
    unproven: str | None = None
    rehearsal: Rehearsal | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        # Also on the way through dataclasses.replace.
        if self.unproven is not None and self.guarantee is not None:
            raise ParameterError("guarantee", f"must be None for a run with unproven={self.unproven!r}", self.guarantee)

    @property
    def released(self) -> bool:
        raise NotImplementedError

    @property
    def private(self) -> bool:
        return not self.seeded and self.guarantee is not None

    @property
    def caveats(self) -> tuple[str, ...]:
        width = () if self.rehearsal is None or self.rehearsal.caveat is None else (self.rehearsal.caveat,)
        unproven = (UNPROVEN_CAVEAT,) if self.guarantee is None else ()
        return self.notes + width + unproven + ((SEEDED_CAVEAT,) if self.seeded else ())

    @property
    def expected_error(self) -> ExpectedError | None:
        return self.rehearse()

    @property
    def widest(self) -> float | None:
        """How many standard deviations wide bounds may be for these rows and columns; None if depth is not used."""
        return None if self.rehearsal is None else self.rehearsal.widest

    def rehearse(self, *, sd: Any = None, missing: float = 0.0) -> ExpectedError | None:
        """What accuracy to expect under other public assumptions than those of `expected_error`.

        Parameters
        ----------
        sd
            Standard deviations known without the data, one for all columns, one for each, or a dict by name, in data
            units.
        missing
            Share of cells that are missing, known or feared without a look at the data.
        """
        known = in_order("sd", sd, self.columns)
        return None if self.rehearsal is None else self.rehearsal(sd=known, missing=missing)

    def to_dict(self) -> dict[str, Any]:
        """Everything public about the run, ready for JSON."""
        point = getattr(self, "point", None)
        return {
            "mechanism": self.mechanism,
            "released": self.released,
            "point": None if point is None else point.tolist(),
            "columns": None if self.columns is None else list(self.columns),
            "guarantee": None if self.guarantee is None else self.guarantee.to_dict(),
            "private": self.private,
            "unproven": self.unproven,
            "n": self.n,
            "d": self.d,
            "notion": self.notion,
            "directions": None if self.directions is None else self.directions.tolist(),
            "grid": None if self.grid is None else self.grid.to_dict(),
            "settings": {name: show(v) if isinstance(v, Fraction) else v for name, v in self.settings.items()},
            "expected_error": None if self.expected_error is None else self.expected_error.to_dict(),
            "caveats": list(self.caveats),
        }


@dataclass(frozen=True, eq=False, kw_only=True)
class Release(Outcome):
    """A released point with its guarantee. Everything in it is public beforehand, except `point`.

    (And, from a text file on the command line, the noisy count of readable rows in `settings`, which is paid for too.)

    Attributes
    ----------
    point
        The released centre, one float per column.
    """

    point: NDArray[np.float64]

    @property
    def released(self) -> bool:
        return True

    def __repr__(self) -> str:
        return f"Release(point={self.point}, guarantee={self.guarantee}, private={self.private})"


@dataclass(frozen=True, eq=False, kw_only=True)
class Refused(Outcome):
    """No point: the mechanism's own test did not pass. The budget is spent all the same.

    That it refused is an output like any other: it was drawn at random, says little about any one row, and running
    the mechanism again spends the budget again.
    """

    @property
    def released(self) -> bool:
        return False

    @property
    def point(self) -> None:
        return None

    def __repr__(self) -> str:
        return f"Refused(guarantee={self.guarantee}, private={self.private})"
