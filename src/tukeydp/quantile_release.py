"""What `td.quantiles` hands back: a value for each share and column, ordered, with one guarantee for all of them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tukeydp.parameters import Bounds, show
from tukeydp.privacy import PureDP
from tukeydp.release import SEEDED_CAVEAT
from tukeydp.views.frames import pandas_for
from tukeydp.views.html import table_html
from tukeydp.views.sentences import guarantee_sentence
from tukeydp.views.table import Shown, number, printable
from tukeydp.views.text import lines

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
    """

    values_by_share: NDArray[np.float64]
    shares: tuple[Fraction, ...]
    guarantee: PureDP
    seeded: bool
    n: int
    columns: tuple[str, ...] | None
    units: tuple[str | None, ...] | None
    bounds: Bounds
    settings: Mapping[str, Any] = field(default_factory=dict)
    mechanism: str = "quantiles"

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
        """False for seeded randomness: such a release is a rehearsal."""
        return not self.seeded

    @property
    def names(self) -> list[str]:
        return list(self.columns or [f"column {j}" for j in range(self.values_by_share.shape[1])])

    @property
    def caveats(self) -> tuple[str, ...]:
        return (QUANTILE_NOTE, *((SEEDED_CAVEAT,) if self.seeded else ()))

    def to_dict(self) -> dict[str, Any]:
        """Everything public about the run, ready for JSON."""
        lower, upper = self.bounds
        return {
            "mechanism": self.mechanism,
            "released": True,
            "quantiles": {show(q): row for q, row in zip(self.shares, self.values_by_share.tolist(), strict=True)},
            "columns": None if self.columns is None else list(self.columns),
            "units": None if self.units is None else list(self.units),
            "guarantee": self.guarantee.to_dict(),
            "private": self.private,
            "n": self.n,
            "bounds": {"lower": [float(v) for v in lower], "upper": [float(v) for v in upper]},
            "settings": {name: show(v) if isinstance(v, Fraction) else v for name, v in self.settings.items()},
            "caveats": list(self.caveats),
        }

    def to_json(self, *, indent: int | None = None) -> str:
        return json.dumps(self.to_dict(), indent=indent)

    def to_frame(self) -> Any:
        """A pandas DataFrame: a row for each share, a column for each column."""
        pandas = pandas_for("to_frame")
        index = pandas.Index([float(share) for share in self.shares], name="quantile")
        return pandas.DataFrame(self.values_by_share, index=index, columns=self.names)

    def shown(self) -> Shown:
        units = self.units or (None,) * len(self.names)
        pairs = zip(map(printable, self.names), units, strict=True)
        titles = [name if unit is None else f"{name} ({printable(unit)})" for name, unit in pairs]
        rows = [
            [show(q), *(number(v) for v in row)]
            for q, row in zip(self.shares, self.values_by_share.tolist(), strict=True)
        ]
        return Shown(["quantile", *titles], rows, ("quantile",))

    @property
    def headline(self) -> str:
        return f"Quantiles of {self.n} row{'' if self.n == 1 else 's'}, released with differential privacy"

    def __str__(self) -> str:
        seeded = "; SEEDED REHEARSAL: NOT PRIVATE, not for publication" if self.seeded else ""
        return "\n".join([self.headline, *lines(self.shown()), f"{self.guarantee}{seeded}"])

    def _repr_html_(self) -> str:
        seeded = "<p><b>SEEDED REHEARSAL: NOT PRIVATE. Do not publish this result.</b></p>" if self.seeded else ""
        said = escape(f"{guarantee_sentence(self.guarantee)} {QUANTILE_NOTE}")
        return f"<div><p><b>{escape(self.headline)}</b></p>{seeded}{table_html(self.shown())}<p>{said}</p></div>"

    def __repr__(self) -> str:
        shares = ", ".join(show(share) for share in self.shares)
        return f"QuantileRelease({shares}; guarantee={self.guarantee}, private={self.private})"
