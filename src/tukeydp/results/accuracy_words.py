"""What accuracy to expect, in words: the same on the command line, on pages and where a forecast is printed."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import fill
from typing import Protocol

# Shares of releases that are far off, or refused: worth a word, and worth a warning.
_RARE, _OFTEN = 0.005, 0.3
_WIDEST = 100  # characters of a line of words: longer ones are hard to read

Pair = tuple[float, float]


class ColumnSaid(Protocol):
    """What is said of one column, in its own units."""

    @property
    def typical(self) -> Pair: ...
    @property
    def within_95(self) -> Pair: ...


class ShapeSaid(Protocol):
    """What is said of one shape of columns."""

    @property
    def shape(self) -> str: ...
    @property
    def few_values(self) -> bool: ...
    @property
    def typical(self) -> float | None: ...
    @property
    def far(self) -> float: ...


class Forecast(Protocol):
    """What is said of `accuracy.ExpectedError`."""

    @property
    def estimand(self) -> str: ...
    @property
    def units(self) -> str: ...
    @property
    def typical(self) -> Pair | None: ...
    @property
    def within_95(self) -> Pair | None: ...
    @property
    def from_mean(self) -> Pair | None: ...
    @property
    def far(self) -> float: ...
    @property
    def refused(self) -> Pair | None: ...
    @property
    def sampling(self) -> float: ...
    @property
    def shapes(self) -> Sequence[ShapeSaid]: ...
    @property
    def columns(self) -> Sequence[ColumnSaid] | None: ...
    @property
    def missing(self) -> float: ...
    @property
    def widths(self) -> Sequence[float] | None: ...
    @property
    def known(self) -> bool: ...
    @property
    def law_known(self) -> bool: ...


def span(pair: Pair) -> str:
    return f"{pair[0]:g}" if pair[0] == pair[1] else f"{pair[0]:g} to {pair[1]:g}"


def of_100(share: float) -> str:
    """
    >>> of_100(0.0123), of_100(1.0)
    ('1.2 of 100', '100 of 100')
    """
    return f"{100 * share:.2g} of 100" if share < 0.095 else f"{100 * share:.0f} of 100"


def as_text(error: Forecast) -> str:
    """The forecast by itself, without a table of the release beside it."""
    said = accuracy_sentences(None, error, beside_table=False) or ["By rehearsal nothing would be released."]
    return "\n".join(fill(" ".join(part), _WIDEST) for part in (said, assumptions(error)))


def accuracy_sentences(n: int | None, error: Forecast, beside_table: bool = True) -> list[str]:
    """How far off to expect a release, how often it fails, and what chance does anyway.

    `beside_table`: a table of the columns' errors is shown as well.
    """
    if (own_words := getattr(error, "sentences", None)) is not None:
        return list(own_words())
    if error.typical is None or error.within_95 is None:
        return []
    own = "centre (the middle value of each column)" if error.estimand == "centre" else error.estimand
    if error.law_known and not error.known:
        # What the noise is in data units is certain; what that is in standard deviations is a guess.
        said = [
            f"In each column, half of the releases are no farther from the table's own {own} than 'half within' says, "
            "95 of 100 no farther than '95 of 100 within', in the column's own units: all of the error is noise of a "
            "known law."
            if beside_table
            else f"All of the error is noise of a known law. Half of the released values are within the first of two "
            f"numbers of the table's own {own}, 95 of 100 within the second."
        ]
    else:
        said = [
            f"Half of the released values are within {span(error.typical)} {error.units} of the table's own {own}, "
            f"95 of 100 within {span(error.within_95)}{'' if error.law_known else ', by the shape of the column'}."
        ]
    if error.columns is not None and not (error.law_known and beside_table):
        pairs = "; ".join(f"{span(column.typical)} and {span(column.within_95)}" for column in error.columns)
        said.append(f"In the columns' own units, one after the other: {pairs}.")
    said += [*_beyond(error), *_few_values(error), *_share_far_off(error)]
    if error.from_mean is not None:
        said.append(f"From the table's own mean, half are within {span(error.from_mean)}.")
    if error.refused is not None and error.refused[1] > _RARE:
        said.append(f"Chance of a refusal: {span(error.refused)}.")
    tables = "tables" if n is None else f"tables of {n} rows"
    if error.estimand == "standard deviation":
        off = f"standard deviations that are off by more than {error.sampling:g} of the true one"
    else:
        off = f"means more than {error.sampling:g} standard deviations from the truth"
    return [*said, f"By chance alone, half of all {tables} have {off}."]


def _beyond(error: Forecast) -> list[str]:
    """For which columns the forecast is too hopeful, whatever it says."""
    more = ["more skewed columns"] * (not error.law_known) + ["columns with missing cells"] * (not error.missing)
    return [f"{' and '.join(more).capitalize()} do worse, some many times."] if more else []


def _few_values(error: Forecast) -> list[str]:
    """Where scores or yes/no answers do worse than measurements."""
    few = [shape for shape in error.shapes if shape.few_values]
    far = max((shape.far for shape in few), default=0.0)
    if far > _OFTEN:
        return [f"In columns of few values, such as yes/no, up to {100 * far:.0f} of 100 releases are mostly noise."]
    worst = max((shape.typical for shape in few if shape.typical is not None), default=0.0)
    if error.typical is not None and worst > error.typical[1]:
        return [f"In columns of few values, such as yes/no, half are within {worst:g}."]
    return []


def _share_far_off(error: Forecast) -> list[str]:
    if error.far <= _RARE:
        return []
    worst = ", ".join(shape.shape for shape in error.shapes if shape.far > _RARE and not shape.few_values)
    where = "" if error.law_known else f" if columns are of the shape: {worst}"
    guess = "" if error.known or error.widths is None else f" between bounds {error.widths[0]:g} of them wide"
    said = f"Up to {of_100(error.far)} releases have a value more than 3 standard deviations off{guess}{where}."
    if error.far > _OFTEN:
        said += (
            " Such a release is mostly noise. More rows, fewer columns, narrower bounds or a larger epsilon help; each "
            "further run spends its own epsilon."
        )
    return [said]


def assumptions(error: Forecast) -> list[str]:
    """By which shapes and under which assumptions the accuracy was rehearsed."""
    said = []
    if not error.law_known:
        measured, few = (_shapes(error, few_values) for few_values in (False, True))
        said += [
            f"Half within, by shape of measurements: {measured}.",
            *([f"Columns of few values: {few}."] if few else []),
        ]
    assumed = f"{100 * error.missing:g} % of the cells missing" if error.missing else "no missing cells"
    if error.widths is not None:
        widths = sorted({f"{w:.3g}" for w in error.widths}, key=float)
        how = "by the given standard deviations" if error.known else "a guess"
        assumed += f", bounds {' and '.join(widths)} standard deviations wide ({how})"
    return [*said, f"Assumed: {assumed}."]


def _shapes(error: Forecast, few_values: bool) -> str:
    said = []
    for shape in error.shapes:
        if shape.few_values == few_values:
            noise = f" (mostly noise, {100 * shape.far:.0f} of 100 far off)" if shape.far > _OFTEN else ""
            said.append(f"{shape.shape} {'-' if shape.typical is None else format(shape.typical, 'g')}{noise}")
    return "; ".join(said)
