"""What a mechanism hands back: a point, or a refusal. Both carry their guarantee, and both have spent it."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from tukeydp.results.accuracy import ExpectedError, Rehearsal
from tukeydp.results.certificate import Certificate
from tukeydp.results.difference import Difference, between_columns, two_of, with_intervals
from tukeydp.results.interval import Calibration, Interval, nominal
from tukeydp.results.views import ByColumn, frame_of, html_of, names, series_of, text_of
from tukeydp.trusted.account import Guarantee
from tukeydp.trusted.parameters import Bounds, ParameterError, in_order, show
from tukeydp.trusted.release import Seal, vouched

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
class Outcome(ByColumn):
    """What is public about a run, whether a point was released or not.

    Behaves like a dict from column names to released values: `release["age"]`, `for name, value in release.items()`,
    `dict(release)`. A position works in place of a name, and is the key where columns have no names. A refusal has
    None for every column.

    Attributes
    ----------
    guarantee
        What the run has cost, in exact rationals: what its `seal` says was reserved. None for modes without a proof,
        and for whatever was made without a seal, whoever says otherwise.
    private
        False when the randomness was seeded (the guarantee then says what a real run would have had) and for modes
        without a proof.
    n
        How many rows there were; None where that is secret (neighbours="add-remove").
    unproven
        What there is no proof for, such as "mcmc"; an outcome that says so cannot be given a guarantee.
    directions
        The public directions of the depth in grid coordinates, one integer vector per row.
    settings
        What else was fixed beforehand, such as a threshold or a split of epsilon.
    bounds
        All lower and all upper bounds as exact rationals, as every mechanism takes them; None without bounds.
    units
        Declared unit of each column, None where there is none.
    noise_sd
        Standard deviation of the noise in each column, in data units, where a mechanism adds noise of a public size;
        None for depth, and where the size of the noise was found from the data.
    caveats
        What to know before using the result.
    expected_error
        What accuracy to expect; from public inputs only, computed when asked for.
    """

    guarantee: Guarantee | None = None
    mechanism: str
    seeded: bool
    n: int | None
    d: int
    columns: tuple[str, ...] | None
    notion: str | None = None
    directions: NDArray[np.int64] | None = field(default=None, repr=False)
    grid: PublicGrid | None = None
    bounds: Bounds | None = None
    units: tuple[str | None, ...] | None = None
    noise_sd: tuple[float, ...] | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = (SYMMETRY_CAVEAT,)
    unproven: str | None = None
    rehearsal: Rehearsal | None = field(default=None, repr=False)
    seal: Seal | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        # Also on the way through dataclasses.replace.
        if self.unproven is not None and self.guarantee is not None:
            raise ParameterError("guarantee", f"must be None for a run with unproven={self.unproven!r}", self.guarantee)
        vouched(self)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.__dict__.setdefault("seal", None)  # a pickle of 0.1.0
        vouched(self)

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
        return None if self.rehearsal is None else self.rehearsal.usual

    @property
    def quick_error(self) -> ExpectedError | None:
        """`expected_error` where it is a formula; None where it would take seconds."""
        return self.expected_error if self.rehearsal is not None and self.rehearsal.instant else None

    @property
    def forecast(self) -> bool:
        """Whether there is an `expected_error`."""
        return self.rehearsal is not None

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

    def to_dict(self, *, verbose: bool = True) -> dict[str, Any]:
        """Everything public about the run, ready for JSON.

        `verbose=False` leaves out what is long or slow: `directions`, and `expected_error` unless it is a formula.
        """
        details, certificate = (getattr(self, name, None) for name in ("interval_details", "certificate"))
        found: dict[str, Any] = {
            "mechanism": self.mechanism,
            "released": self.released,
            "point": [v if math.isfinite(v) else None for v in self.values()] if self.released else None,
            "columns": None if self.columns is None else list(self.columns),
            "units": None if self.units is None else list(self.units),
            "guarantee": None if self.guarantee is None else self.guarantee.to_dict(),
            "private": self.private,
            "unproven": self.unproven,
            "n": self.n,
            "d": self.d,
            "bounds": None
            if self.bounds is None
            else {end: [float(v) for v in ends] for end, ends in zip(("lower", "upper"), self.bounds, strict=True)},
            "noise_sd": None if self.noise_sd is None else list(self.noise_sd),
            "notion": self.notion,
            "grid": None if self.grid is None else self.grid.to_dict(),
            "settings": {name: show(v) if isinstance(v, Fraction) else v for name, v in self.settings.items()},
            "interval": None if details is None else details.to_dict(),
            "certificate": None if certificate is None else certificate.to_dict(),
            "caveats": list(self.caveats),
        }
        if verbose:
            found["directions"] = None if self.directions is None else self.directions.tolist()
        error = self.expected_error if verbose else self.quick_error
        if verbose or error is not None:
            found["expected_error"] = None if error is None else error.to_dict()
        return found

    def to_json(self, *, verbose: bool = False, indent: int | None = None) -> str:
        """`to_dict` as a text, without `directions` and without a forecast that takes seconds unless `verbose`."""
        return json.dumps(self.to_dict(verbose=verbose), indent=indent)

    def to_series(self) -> Any:
        """The released values as a pandas Series by column; NaN where nothing was released."""
        return series_of(self)

    def to_frame(self, *, verbose: bool = False) -> Any:
        """A pandas DataFrame with a row for each column.

        Its columns, where they are known: `released`, `unit`, `interval_lower`, `interval_upper`, `lower` and `upper`
        (bounds), `noise_sd`, `half_within` and `within_95` (expected error in data units, for the worst shape; if it
        takes seconds, only when `verbose`).
        """
        return frame_of(self, self.expected_error if verbose else self.quick_error)

    def __str__(self) -> str:
        return text_of(self)

    def _repr_html_(self) -> str:
        ready = self.rehearsal is not None and self.rehearsal.ready
        return html_of(self, self.expected_error if ready else None)


@dataclass(frozen=True, eq=False, kw_only=True)
class Release(Outcome):
    """A released point with its guarantee. Everything in it is public beforehand, or released with the point.

    (From a text file on the command line, the noisy count of readable rows in `settings` too, which is paid for.)

    Attributes
    ----------
    point
        The released centre, one float per column.
    certificate
        How deep the point is, where `certify=` has asked and paid for it.
    """

    point: NDArray[np.float64]
    calibration: Calibration | None = field(default=None, repr=False)
    certificate: Certificate | None = None

    @property
    def released(self) -> bool:
        return True

    def values(self) -> list[Any]:
        return list(self.point.tolist())

    @property
    def caveats(self) -> tuple[str, ...]:
        if self.calibration is None:
            return super().caveats
        said = f"The interval is a {nominal(self.settings['confidence'])}; its coverage is empirical."
        return (said, *super().caveats)

    @property
    def interval_details(self) -> Interval | None:
        """The interval with what it rests on: computed when first asked for, from released and public numbers."""
        return None if self.calibration is None else self.calibration()

    @property
    def interval(self) -> NDArray[np.float64] | None:
        """The ends of a nominal confidence interval for the population's mean, shape (d, 2).

        None unless a `confidence` was asked for. Its coverage is empirical: `interval_note`.
        """
        return None if self.interval_details is None else self.interval_details.ends.copy()

    @property
    def interval_note(self) -> str | None:
        """How sure the interval is, for which columns, and how that is known."""
        return None if self.interval_details is None else self.interval_details.note

    def difference(self, first: Any, second: Any) -> Difference:
        """One column's mean less another's, of the same records, with its confidence interval: costs nothing.

        How the two depend on each other is not released, so that the interval holds for the worst case: where the
        difference is what matters, put it into the table as a column of its own.
        """
        asked = with_intervals(self.settings)
        known = names(self)
        of = two_of(known, first, second, "columns")
        at = [known.index(name) for name in of]
        return between_columns(of, self.point[at].tolist(), np.asarray(self.interval)[at], asked)

    @property
    def spread(self) -> NDArray[np.float64] | None:
        """The standard deviations that the interval rests on, in the columns' own units."""
        return None if self.interval_details is None else self.interval_details.spread.copy()

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

    def values(self) -> list[Any]:
        return [None] * self.d

    def __repr__(self) -> str:
        return f"Refused(guarantee={self.guarantee}, private={self.private})"
