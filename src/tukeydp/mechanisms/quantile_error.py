"""What accuracy to expect of quantiles: the forecast, and how it is said."""

from __future__ import annotations

from dataclasses import dataclass

from tukeydp.accuracy import ExpectedError, Range
from tukeydp.views.accuracy_words import of_100, span

_RARE, _OFTEN = 0.005, 0.3  # shares of releases that are far off: worth a word, worth a warning
_APART = 1.5  # times as far off: worth a word of its own
_MOST_SHARES = 9  # said one by one; a forecast has all
_COARSE = 0.01  # standard deviations: a step that is no longer too fine for values that are equal
_GIVE_RESOLUTION = (
    "A released value may lie between two values that occur, or between them and a bound: give the true step of such "
    "columns (resolution)."
)


@dataclass(frozen=True)
class ShareOfError:
    """One quantile's error in standard deviations of its column: least and most over the shapes of measurements."""

    share: float
    typical: Range
    within_95: Range


@dataclass(frozen=True)
class QuantileError(ExpectedError):
    """What accuracy to expect of quantiles.

    Errors are distances from the table's own quantiles (those that `numpy.quantile` interpolates). `typical`,
    `within_95` and `far` are over all shares and columns, for the shapes of measurements; `shapes` has those with ties.

    Attributes
    ----------
    shares
        The same for each quantile: those near the ends are farther off.
    ties, ties_95
        Half, and 95 of 100, of the released values of columns with ties are at most so far off: the worst shape.
    ties_far
        Share of releases more than 3 standard deviations off, for the worst of these shapes.
    step
        Of the finest grid, in standard deviations.
    """

    shares: tuple[ShareOfError, ...] = ()
    ties: float = 0.0
    ties_95: float = 0.0
    ties_far: float = 0.0
    step: float = 0.0

    def sentences(self) -> list[str]:
        """In words, as other forecasts are said."""
        assert self.typical is not None
        assert self.within_95 is not None
        said = [
            f"Half of the released values are within {span(self.typical)} {self.units} of the table's own quantiles, "
            f"95 of 100 within {span(self.within_95)}, by the shape of the column."
        ]
        if self.columns is not None:
            pairs = "; ".join(f"{span(column.typical)} and {span(column.within_95)}" for column in self.columns)
            said.append(f"In the columns' own units, one after the other: {pairs}.")
        said += [*self._by_share(), *self._far_off(), *self._ties()]
        if not self.missing:
            said.append("Columns with missing cells do worse.")
        return [
            *said,
            f"By chance alone, half of all tables of so many rows have quantiles more than {self.sampling:g} standard "
            "deviations from the truth (bell-shaped columns).",
        ]

    def _by_share(self) -> list[str]:
        worst = max(self.shares, key=lambda one: one.typical[1])
        best = min(self.shares, key=lambda one: one.typical[1])
        if worst.typical[1] <= _APART * best.typical[1]:
            return []
        told = self.shares if len(self.shares) <= _MOST_SHARES else (best, worst)
        each = "; ".join(f"{one.share:g}: {span(one.typical)}" for one in told)
        return [f"Half within, quantile by quantile: {each}."]

    def _far_off(self) -> list[str]:
        if self.far <= _RARE:
            return []
        guess = "" if self.known or self.widths is None else f" between bounds {max(self.widths):g} of them wide"
        said = f"Up to {of_100(self.far)} releases have a value more than 3 standard deviations off{guess}."
        if self.far > _OFTEN:
            said += (
                " Such a release is mostly noise. More rows, fewer columns, fewer quantiles, narrower bounds or a "
                "larger epsilon help; each further run spends its own epsilon."
            )
        return [said]

    def _ties(self) -> list[str]:
        """Where many values are equal, if that is worse."""
        assert self.typical is not None
        assert self.within_95 is not None
        worse = self.ties > _APART * self.typical[1] or self.ties_95 > _APART * self.within_95[1]
        if not worse and self.ties_far <= max(_RARE, _APART * self.far):
            return []
        far = f", and up to {of_100(self.ties_far)} releases are far off" if self.ties_far > _RARE else ""
        said = (
            "Where many values are equal (scores, yes/no answers, counts with many zeros) half are within "
            f"{self.ties:g}, 95 of 100 within {self.ties_95:g}{far}."
        )
        return [said if self.step > _COARSE else f"{said} {_GIVE_RESOLUTION}"]
