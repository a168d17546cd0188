"""One record for each mechanism that a user could take: what to expect of it, or why it is not possible."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any

from tukeydp.accuracy import Range, rounded
from tukeydp.planning.predictions import Prediction
from tukeydp.planning.question import Question

TOO_FEW = "too few rows"

# Seconds on one slow core, once the program has started: a part for each run, for each power of the columns, and for
# each cell. Fitted to the medians of `benchmarks/plan.py`; right within a factor of 3 or so. REM plans first.
_Cost = Callable[[int, int], float]
_SECONDS: dict[str, _Cost] = {
    "subset": lambda n, d: 0.01 + 7e-4 * d**2 + 1.5e-6 * n * d,
    "two-step": lambda n, d: 0.03 + 2e-3 * d**2 + 5e-6 * n * d,
    "rows": lambda n, d: 0.01 + 7e-4 * d**2 + 1.5e-6 * n * d,
    "cube": lambda n, d: 1e-3 + 1e-7 * n * d,
    "boxem": lambda n, d: 0.005 + 2.5e-4 * d**3 + 2e-6 * n * d,
    "rem": lambda n, d: 1.0 + 1.7e-3 * d**3 + 1e-6 * n * d,
    "quantiles": lambda n, d: d * (0.02 + 1e-6 * n),
    "analytic-gaussian": lambda n, d: 0.01 + 1e-7 * n * d,
    "huang-liang-yi": lambda n, d: 0.01 + 2e-7 * n * d**2,
}


@dataclass(frozen=True)
class ColumnOption:
    """One column's errors: in its standard deviations and, where they are known, in its units."""

    column: str
    typical: Range
    within_95: Range
    typical_in_units: Range | None
    within_95_in_units: Range | None


@dataclass(frozen=True)
class Option:
    """A mechanism and what to expect of it.

    Attributes
    ----------
    mechanism, estimand
        Its name, and "mean", "centre" or "quartiles": what the errors are measured against, as the table itself has it.
    guarantee
        "pure" (epsilon alone) or "approximate" (epsilon and delta).
    epsilon
        What it runs with: all of epsilon, which all groups together cost once.
    possible
        Whether the rows suffice; if not, `why_not` says what is missing and there are no errors.
    typical, within_95
        In standard deviations of a column, from the least to the most over shapes of columns, and over columns: half
        of the released values are closer than `typical` to the table's own mean (centre), 95 of 100 than `within_95`.
    far
        Share of releases with some column more than 3 standard deviations off, for bell-shaped columns.
    refused
        Chance of a refusal, for bell-shaped and for log-normal columns; None for mechanisms that never refuse.
    widest
        Bounds may be so many standard deviations wide; beyond, a release is a random point between them. None where
        width costs accuracy in proportion, or there are no bounds.
    seconds
        About what a run takes.
    columns
        The same errors column by column.
    law_known
        Whether all of the error is noise of a known law, the same for columns of any shape.
    """

    mechanism: str
    estimand: str
    guarantee: str
    epsilon: Fraction
    possible: bool
    why_not: str | None
    typical: Range | None
    within_95: Range | None
    far: float | None
    refused: Range | None
    widest: float | None
    seconds: float | None
    columns: tuple[ColumnOption, ...]
    law_known: bool

    def to_dict(self) -> dict[str, Any]:
        return {**asdict(self), "epsilon": float(self.epsilon)}


def possible(
    question: Question,
    mechanism: str,
    estimand: str,
    guarantee: str,
    epsilon: Fraction,
    prediction: Prediction,
    n: int,
    *,
    refused: Range | None = None,
    widest: float | None = None,
    runs: int = 1,
) -> Option:
    """`runs` on n rows each make one release of all groups."""
    cost = _SECONDS.get(mechanism, _SECONDS["two-step"])
    return Option(
        mechanism=mechanism,
        estimand=estimand,
        guarantee=guarantee,
        epsilon=epsilon,
        possible=True,
        why_not=None,
        typical=_overall(prediction.typical),
        within_95=_overall(prediction.within_95),
        far=rounded(prediction.far),
        refused=None if refused is None else _short(refused),
        widest=widest,
        seconds=rounded(runs * cost(n, question.d)),
        columns=_by_column(question, prediction),
        law_known=prediction.law_known,
    )


def impossible(
    mechanism: str, estimand: str, guarantee: str, epsilon: Fraction, refused: Range | None = None
) -> Option:
    nothing: dict[str, Any] = dict.fromkeys(("typical", "within_95", "far", "widest", "seconds"))
    why = TOO_FEW if refused is None else f"{TOO_FEW}: it would refuse"
    chance = None if refused is None else _short(refused)
    return Option(
        mechanism, estimand, guarantee, epsilon, False, why, refused=chance, columns=(), law_known=False, **nothing
    )


def _overall(pairs: tuple[Range, ...]) -> Range:
    return rounded(min(low for low, _ in pairs)), rounded(max(high for _, high in pairs))


def _by_column(question: Question, prediction: Prediction) -> tuple[ColumnOption, ...]:
    scales = _scales(question, prediction.law_known)
    columns = zip(question.labels, prediction.typical, prediction.within_95, scales, strict=True)
    return tuple(
        ColumnOption(name, _short(typical), _short(within), _in_units(typical, scale), _in_units(within, scale))
        for name, typical, within, scale in columns
    )


def _scales(question: Question, law_known: bool) -> list[float | None]:
    """Data units in a standard deviation. Noise of a known law needs none: it is a share of the bounds' width."""
    if law_known and question.columns is not None:
        return list((question.columns.widths / question.widths).tolist())
    return [None if value is None else float(value) for value in question.sd]


def _short(pair: Range) -> Range:
    return rounded(pair[0]), rounded(pair[1])


def _in_units(pair: Range, scale: float | None) -> Range | None:
    return None if scale is None else _short((pair[0] * scale, pair[1] * scale))
