"""What `td.quantiles` hands back: a value for each share and column, ordered, with one guarantee for all of them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from textwrap import wrap
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tukeydp.results.accuracy import ExpectedError, Rehearsal
from tukeydp.results.accuracy_words import accuracy_sentences
from tukeydp.results.escaping import in_html, printable
from tukeydp.results.interval import nominal
from tukeydp.results.release import SEEDED_CAVEAT, UNPROVEN_CAVEAT
from tukeydp.results.views import Shown, cell_with, guarantee_sentence, lines, number, pandas_for, table_html
from tukeydp.trusted.account import PureDP, stated
from tukeydp.trusted.parameters import Bounds, in_order, show
from tukeydp.trusted.release import Seal, vouched

_WIDEST = 100  # characters of a line of words
QUANTILE_NOTE = (
    "The quantiles of the values that are there, moved between the bounds; missing cells rank nowhere. In each column "
    "they are in order."
)


@dataclass(frozen=True, eq=False, kw_only=True)
class QuantileRelease(Mapping[float, NDArray[np.float64]]):
    """A dict from shares, such as 0.25, to the released quantile of each column.

    Attributes
    ----------
    values_by_share
        Shape (number of shares, d): a row for each share, in ascending order.
    shares
        Exact rationals, ascending.
    intervals
        Ends of nominal confidence intervals for the population's quantiles, shape (number of shares, d, 2), where a
        `confidence` was asked for; else None. An end at a bound says nothing on that side.
    caveats
        What to know before using the result: how wide bounds may be for so many rows, and when ties are found.
    expected_error
        What accuracy to expect; from public inputs only, simulated on made-up columns when asked for (about a second).
    """

    values_by_share: NDArray[np.float64]
    intervals: NDArray[np.float64] | None = None
    shares: tuple[Fraction, ...]
    guarantee: PureDP | None = None
    seeded: bool
    n: int | None
    columns: tuple[str, ...] | None
    units: tuple[str | None, ...] | None
    bounds: Bounds
    settings: Mapping[str, Any] = field(default_factory=dict)
    mechanism: str = "quantiles"
    notes: tuple[str, ...] = ()
    rehearsal: Rehearsal | None = field(default=None, repr=False)
    seal: Seal | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        vouched(self)

    def __getitem__(self, share: Any) -> NDArray[np.float64]:
        found = [i for i, one in enumerate(self.shares) if float(one) == float(share)]
        if not found:
            raise KeyError(f"no quantile {share!r}; there are {', '.join(show(one) for one in self.shares)}")
        return self.values_by_share[found[0]].copy()

    def __iter__(self) -> Iterator[float]:
        return iter(float(share) for share in self.shares)

    def __len__(self) -> int:
        return len(self.shares)

    @property
    def released(self) -> bool:
        return True

    @property
    def private(self) -> bool:
        """False for seeded randomness, where the release is a rehearsal, and for one that nobody has paid for."""
        return not self.seeded and self.guarantee is not None

    @property
    def d(self) -> int:
        return int(self.values_by_share.shape[1])

    @property
    def names(self) -> list[str]:
        return list(self.columns or [f"column {j}" for j in range(self.values_by_share.shape[1])])

    @property
    def interval_note(self) -> str | None:
        """What the intervals are; None without."""
        if self.intervals is None:
            return None
        together = ", for all of them together" if self.settings["joint"] else ""
        return (
            f"A {nominal(self.settings['confidence'])} for the population's quantile{together}: between further "
            "quantiles, of shares so far from the asked one that sampling and the draws rarely reach beyond. An end at "
            "a bound says nothing. Coverage is empirical, for values that are round numbers or lie close."
        )

    @property
    def caveats(self) -> tuple[str, ...]:
        width = () if self.rehearsal is None or self.rehearsal.caveat is None else (self.rehearsal.caveat,)
        unproven = (UNPROVEN_CAVEAT,) if self.guarantee is None else ()
        note = () if self.interval_note is None else (self.interval_note,)
        return (QUANTILE_NOTE, *width, *note, *self.notes, *unproven, *((SEEDED_CAVEAT,) if self.seeded else ()))

    @property
    def expected_error(self) -> ExpectedError | None:
        return None if self.rehearsal is None else self.rehearsal.usual

    @property
    def widest(self) -> float | None:
        """How many standard deviations wide bounds may be for these rows, columns and quantiles."""
        return None if self.rehearsal is None else self.rehearsal.widest

    def rehearse(self, *, sd: Any = None, missing: float = 0.0) -> ExpectedError | None:
        """What accuracy to expect under other public assumptions, as `Release.rehearse`."""
        known = in_order("sd", sd, self.columns)
        return None if self.rehearsal is None else self.rehearsal(sd=known, missing=missing)

    def to_dict(self, *, verbose: bool = True) -> dict[str, Any]:
        """Everything public about the run, ready for JSON; `expected_error`, which takes a second, if `verbose`."""
        lower, upper = self.bounds
        error = self.expected_error if verbose else None
        return {
            "mechanism": self.mechanism,
            "released": True,
            "quantiles": {show(q): row for q, row in zip(self.shares, self.values_by_share.tolist(), strict=True)},
            **self._intervals(),
            "columns": None if self.columns is None else list(self.columns),
            "units": None if self.units is None else list(self.units),
            "guarantee": None if self.guarantee is None else self.guarantee.to_dict(),
            "private": self.private,
            "n": self.n,
            "bounds": {"lower": [float(v) for v in lower], "upper": [float(v) for v in upper]},
            "settings": {name: show(v) if isinstance(v, Fraction) else v for name, v in self.settings.items()},
            "caveats": list(self.caveats),
            **({"expected_error": None if error is None else error.to_dict()} if verbose else {}),
        }

    def _intervals(self) -> dict[str, Any]:
        if self.intervals is None:
            return {}
        return {"intervals": {show(q): rows for q, rows in zip(self.shares, self.intervals.tolist(), strict=True)}}

    def to_json(self, *, verbose: bool = False, indent: int | None = None) -> str:
        return json.dumps(self.to_dict(verbose=verbose), indent=indent)

    def to_frame(self) -> Any:
        """A pandas DataFrame: a row for each share, a column for each column, and for the ends of its intervals."""
        pandas = pandas_for("to_frame")
        index = pandas.Index([float(share) for share in self.shares], name="quantile")
        frame = pandas.DataFrame(self.values_by_share, index=index, columns=self.names)
        if self.intervals is not None:
            for j, name in enumerate(self.names):
                for end, what in enumerate(("lower", "upper")):
                    frame[f"{name} ({what})"] = self.intervals[:, j, end]
        return frame

    def pairs(self) -> list[list[list[float] | None]]:
        """For each share and column the ends of its interval; None where there is none."""
        if self.intervals is None:
            return [[None] * self.d for _ in self.shares]
        found: list[list[list[float] | None]] = self.intervals.tolist()
        return found

    def shown(self) -> Shown:
        units = self.units or (None,) * len(self.names)
        pairs = zip(map(printable, self.names), units, strict=True)
        titles = [name if unit is None else f"{name} ({printable(unit)})" for name, unit in pairs]
        rows = [
            [show(q), *(number(v) if ends is None else cell_with(v, ends) for v, ends in zip(row, pairs, strict=True))]
            for q, row, pairs in zip(self.shares, self.values_by_share.tolist(), self.pairs(), strict=True)
        ]
        return Shown(["quantile", *titles], rows, ("quantile",))

    @property
    def headline(self) -> str:
        rows = "" if self.n is None else f" of {self.n} row{'' if self.n == 1 else 's'}"
        return f"Quantiles{rows}, released with differential privacy"

    def __str__(self) -> str:
        seeded = "; SEEDED REHEARSAL: NOT PRIVATE, not for publication" if self.seeded else ""
        width = [] if self.rehearsal is None or self.rehearsal.caveat is None else wrap(self.rehearsal.caveat, _WIDEST)
        note = (
            []
            if self.interval_note is None
            else wrap(f"In brackets: {self.interval_note[0].lower()}{self.interval_note[1:]}", _WIDEST)
        )
        return "\n".join([self.headline, *lines(self.shown()), *width, *note, f"{stated(self.guarantee)}{seeded}"])

    def _repr_html_(self) -> str:
        seeded = "<p><b>SEEDED REHEARSAL: NOT PRIVATE. Do not publish this result.</b></p>" if self.seeded else ""
        told = 1 + (self.widest is not None) + (self.intervals is not None)
        paragraphs = [guarantee_sentence(self.guarantee), *self.caveats[:told], *self.notes]
        if self.rehearsal is not None and self.rehearsal.ready:
            paragraphs.append(" ".join(accuracy_sentences(self.n, self.rehearsal.usual)))
        said = "".join(f"<p>{in_html(text)}</p>" for text in paragraphs)
        return f"<div><p><b>{in_html(self.headline)}</b></p>{seeded}{table_html(self.shown())}{said}</div>"

    def __repr__(self) -> str:
        shares = ", ".join(show(share) for share in self.shares)
        return f"QuantileRelease({shares}; guarantee={self.guarantee}, private={self.private})"
