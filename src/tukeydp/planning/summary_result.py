"""What `td.summary` hands back: lines, one guarantee for all of them, and the ways to show them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

from tukeydp.parameters import show
from tukeydp.planning import summary_formats as formats
from tukeydp.planning.forest import forest_of
from tukeydp.planning.summary_lines import Line, Source
from tukeydp.planning.summary_words import footnote
from tukeydp.privacy import PureDP
from tukeydp.trusted.release import Seal, vouched
from tukeydp.version import __version__


@dataclass(frozen=True, eq=False, kw_only=True)
class Summary:
    """A private "Table 1". Everything in it is public beforehand, or released.

    Attributes
    ----------
    guarantee
        What all of it has cost together.
    n
        Rows of the table, a public number; the lines have noised numbers of values.
    columns, bounds, by, keys, confidence, settings
        What was fixed beforehand.
    notes
        What else belongs into the footnote.
    mechanism
        How the means were made: "subset", "two-step", "cube" or "grouped sums".
    """

    guarantee: PureDP | None = None
    seeded: bool
    n: int
    columns: tuple[str, ...]
    bounds: tuple[tuple[Fraction, ...], tuple[Fraction, ...]]
    by: str | None
    keys: tuple[str, ...] | None
    confidence: float | None
    mechanism: str
    settings: Mapping[str, Any]
    source: Source = field(repr=False)
    notes: tuple[str, ...] = ()
    seal: Seal | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        vouched(self)

    @property
    def private(self) -> bool:
        """False for seeded randomness, where the table is a rehearsal, and for one that nobody has paid for."""
        return not self.seeded and self.guarantee is not None

    @cached_property
    def lines(self) -> tuple[Line, ...]:
        """One for each column (and group). Intervals are calibrated when first asked for, which may take seconds."""
        return self.source.lines()

    @property
    def interval_note(self) -> str | None:
        """How sure the intervals are, for which columns, and how that is known."""
        return self.source.interval_note()

    @property
    def footnote(self) -> str:
        """What was released, what it cost, how it was made and what the intervals hold for; ready to print."""
        return " ".join(footnote(self))

    def to_dict(self) -> dict[str, Any]:
        """Everything public about the summary, ready for JSON."""
        lower, upper = self.bounds
        return {
            "mechanism": self.mechanism,
            "lines": [line.to_dict() for line in self.lines],
            "guarantee": None if self.guarantee is None else self.guarantee.to_dict(),
            "private": self.private,
            "n": self.n,
            "columns": list(self.columns),
            "bounds": {"lower": [float(v) for v in lower], "upper": [float(v) for v in upper]},
            "by": self.by,
            "keys": None if self.keys is None else list(self.keys),
            "confidence": self.confidence,
            "settings": {name: show(v) if isinstance(v, Fraction) else v for name, v in self.settings.items()},
            "footnote": footnote(self),
            "version": __version__,
        }

    def to_json(self, *, indent: int | None = None) -> str:
        return json.dumps(self.to_dict(), indent=indent)

    def to_frame(self) -> Any:
        """A pandas DataFrame with all digits: one row for each line."""
        try:
            import pandas
        except ImportError:
            raise ImportError("to_frame() needs pandas: pip install pandas. Without it: lines, to_dict()") from None
        return pandas.DataFrame([line.to_dict() for line in self.lines])

    def to_html(self) -> str:
        """A page of its own: no scripts, nothing loaded, dark or light, fit for paper and for a phone."""
        return formats.html_page(self)

    def to_markdown(self) -> str:
        return formats.markdown(self)

    def to_latex(self) -> str:
        """A `table` for the package booktabs."""
        return formats.latex(self)

    def to_csv(self) -> str:
        """One line for each column (and group) with all digits, what it cost, and whether it may be published."""
        return formats.csv_text(self)

    def plot(self, *, dark: bool = False) -> Any:
        """A forest plot, a matplotlib `Figure`: the mean with its interval, column by column in its own units."""
        return forest_of(self, dark=dark)

    def __str__(self) -> str:
        return formats.text(self)

    def _repr_html_(self) -> str:
        return formats.html_piece(self)
