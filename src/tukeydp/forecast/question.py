"""What is planned for, and what a plan holds: public numbers, checked before anything is predicted. No data."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from tukeydp.forecast.predictions import Prediction
from tukeydp.mechanisms.clipped_sum import MOST_ROWS
from tukeydp.mechanisms.cube import checked_epsilon
from tukeydp.mechanisms.found_bounds import AUTO, asks_for_bounds, known_bounds, share_for_bounds
from tukeydp.mechanisms.mean_ways import known_widths
from tukeydp.results.accuracy import ASSUMED_WIDTH, Range, rounded
from tukeydp.trusted.account import ApproxDP
from tukeydp.trusted.parameters import FloatArray, ParameterError, brief, checked_integer, positive_rational, show
from tukeydp.trusted.rows import BoundedColumns, bounded_columns

# What is planned for: public numbers, checked before anything is predicted. No data anywhere.

MOST_COLUMNS = 1000  # more would make a table that nobody reads, and take minutes
MOST_GROUPS = 10_000  # likewise nobody's table
SWAP = "swap"
# Bounds that will be found: any, and about how many standard deviations they are then wide (on real tables 10 to 60).
_ASSUMED, _FOUND_WIDTH = (Fraction(0), Fraction(2**10)), 32


@dataclass(frozen=True)
class Wish:
    """An error that 95 of 100 releases shall keep within; in data units, or in standard deviations."""

    size: float
    in_units: bool


@dataclass(frozen=True)
class Question:
    """Everything public that a prediction depends on, but for n and epsilon, one of which may be asked for.

    `sd` has None where a column's standard deviation is not known; `wishes` where nothing is wished for a column.
    `found` are the places of columns whose bounds will be found: `columns` has any bounds for these.
    """

    d: int
    names: tuple[str, ...] | None
    columns: BoundedColumns | None
    delta: Fraction | None
    sd: tuple[Fraction | None, ...]
    wishes: tuple[Wish | None, ...]
    groups: int
    missing: float
    found: tuple[int, ...] = ()

    def left(self, n: int, epsilon: Fraction) -> Fraction:
        """What finding bounds leaves of epsilon."""
        return epsilon * (1 - share_for_bounds(len(self.found), n, epsilon, SWAP)) if self.found else epsilon

    @property
    def labels(self) -> tuple[str, ...]:
        return self.names or tuple(f"column {j}" for j in range(self.d))

    @property
    def known_sd(self) -> list[Fraction] | None:
        """Standard deviations as `td.mean` takes them: of all columns, or none."""
        known = [value for value in self.sd if value is not None]
        return known if len(known) == self.d else None

    @property
    def widths(self) -> FloatArray:
        """The bounds in standard deviations, known or assumed, column by column."""
        if self.columns is None:
            return np.full(self.d, ASSUMED_WIDTH)
        assumed = known_widths(self.columns, None)
        assumed[list(self.found)] = _FOUND_WIDTH
        if self.known_sd is not None:
            return known_widths(self.columns, self.known_sd)
        pairs = zip(self.columns.widths, self.sd, assumed, strict=True)
        return np.array([w / float(s) if s is not None else a for w, s, a in pairs])

    @property
    def width(self) -> float:
        """Geometric mean: what the cliff depends on."""
        return math.exp(float(np.log(self.widths).mean()))

    @property
    def wished(self) -> bool:
        return any(wish is not None for wish in self.wishes)


def asked(
    d: Any, columns: Any, bounds: Any, delta: Any, sd: Any, error: Any, by: Any, missing: Any, epsilon: Any
) -> Question:
    """Check all but n; `epsilon` only together with delta."""
    names, bounds = _named(columns, bounds)
    count = _number_of_columns(d, names, bounds)
    unknown: list[int] = []
    if asks_for_bounds(bounds):
        known, unknown = known_bounds(bounds, count, names)
        told = _deviations(sd, count, names, None)
        assumed = [_ASSUMED if one is None else (Fraction(0), _FOUND_WIDTH * one) for one in told]
        bounds = tuple(zip(*(pair or guess for pair, guess in zip(known, assumed, strict=True)), strict=True))
    between = None if bounds is None else bounded_columns(count, bounds, names)
    if between is None and delta is None:
        rule = "must be given, or 'auto' to have them found for a part of epsilon, or delta in their place"
        raise ParameterError("bounds", rule, "neither")
    if between is None and by is not None:
        raise ParameterError("bounds", "must be given with by: without bounds there are no means by group", "none")
    if missing is not None and (isinstance(missing, bool) or not isinstance(missing, int | float)):
        raise ParameterError("missing", "must be a share, at least 0 and below 1", brief(missing))
    if missing is not None and not 0 <= missing < 1:
        raise ParameterError("missing", "must be a share, at least 0 and below 1", brief(missing))
    deviations = _deviations(sd, count, names, between)
    return Question(
        d=count,
        names=names,
        columns=between,
        delta=None if delta is None else ApproxDP(Fraction(1) if epsilon is None else epsilon, delta).delta,
        sd=deviations,
        wishes=_wishes(error, count, names, deviations),
        groups=1 if by is None else checked_integer("by", by, least=2, most=MOST_GROUPS),
        missing=float(missing or 0.0),
        found=tuple(unknown),
    )


def checked_n(n: Any) -> int:
    return checked_integer("n", n, least=1, most=MOST_ROWS - 1)


def checked_budget(epsilon: Any) -> Fraction:
    return checked_epsilon(epsilon)


def _named(columns: Any, bounds: Any) -> tuple[tuple[str, ...] | None, Any]:
    """`columns` are names, or names with bounds."""
    if columns is None:
        return None, bounds
    if isinstance(columns, Mapping):
        if bounds is not None:
            raise ParameterError("bounds", "must be left out where columns= has them", brief(bounds))
        return tuple(str(name) for name in columns), {str(name): pair for name, pair in columns.items()}
    if isinstance(columns, str) or not isinstance(columns, Iterable):
        rule = "must be names, or {name: (lower, upper), ...}; a number of columns is d="
        raise ParameterError("columns", rule, brief(columns))
    names = tuple(str(name) for name in columns)
    if len(set(names)) < len(names):
        raise ParameterError("columns", "must have different names", brief(list(names)))
    return names, bounds


def _number_of_columns(d: Any, names: Sequence[str] | None, bounds: Any) -> int:
    if names is not None and d is not None:
        raise ParameterError("d", "must be left out where columns= names them", brief(d))
    if names is not None:
        return checked_integer("columns", len(names), least=1, most=MOST_COLUMNS)
    if d is None and isinstance(bounds, Mapping):
        raise ParameterError("columns", "must be given with bounds by name", "none (columns={name: (lower, upper)})")
    if d is None:
        raise ParameterError("d", "must be given, or columns in its place", "neither")
    return checked_integer("d", d, least=1, most=MOST_COLUMNS)


def per_name(parameter: str, value: Any, d: int, names: Sequence[str] | None) -> list[Any]:
    """One for all, one for each, or by name: a list with None where a dict says nothing."""
    if isinstance(value, Mapping):
        if names is None:
            raise ParameterError(parameter, "must not be by name: the columns have no names", brief(value))
        given = {str(name): v for name, v in value.items()}
        for name in given:
            if name not in names:
                raise ParameterError(parameter, f"must name one of the columns {', '.join(names)}", brief(name))
        return [given.get(name) for name in names]
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, str) or not isinstance(value, Iterable):
        return [value] * d
    values = list(value)
    if len(values) != d:
        raise ParameterError(parameter, f"must be a number or one for each of the {d} columns", brief(values))
    return values


def _deviations(
    sd: Any, d: int, names: Sequence[str] | None, columns: BoundedColumns | None
) -> tuple[Fraction | None, ...]:
    values = per_name("sd", sd, d, names)
    found = tuple(None if v is None else positive_rational("sd", v) for v in values)
    for j, value in enumerate(found):
        if columns is not None and value is not None and value > columns.upper[j] - columns.lower[j]:
            raise ParameterError("sd", "must be > 0 and at most upper - lower", show(value))
    return found


def _wishes(error: Any, d: int, names: Sequence[str] | None, sd: Sequence[Fraction | None]) -> tuple[Wish | None, ...]:
    """A number is in standard deviations; by name, in that column's units."""
    if error is None:
        return (None,) * d
    in_units = isinstance(error, Mapping)
    if in_units and not error:
        raise ParameterError("error", "must be a number, or {name: error in its units}", "{}")
    if not in_units and isinstance(error, Iterable) and not isinstance(error, str):
        raise ParameterError("error", "must be a number, or {name: error in its units}", brief(error))
    values = per_name("error", error, d, names)
    for j, value in enumerate(values):
        if in_units and value is not None and sd[j] is None:
            label = names[j] if names else f"column {j}"
            rule = f"in the units of a column needs its standard deviation (sd={{{label!r}: ...}})"
            raise ParameterError("error", rule, brief(value))
    return tuple(None if v is None else Wish(float(positive_rational("error", v)), in_units) for v in values)


# One record for each mechanism that a user could take: what to expect of it, or why it is not possible.

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
    if law_known and question.columns is not None and not question.found:
        return list((question.columns.widths / question.widths).tolist())
    return [None if value is None else float(value) for value in question.sd]


def _short(pair: Range) -> Range:
    return rounded(pair[0]), rounded(pair[1])


def _in_units(pair: Range, scale: float | None) -> Range | None:
    return None if scale is None else _short((pair[0] * scale, pair[1] * scale))


# What a plan holds: public numbers, a record for each mechanism, and sentences.


@dataclass(frozen=True)
class PlanFacts:
    """What to expect of each mechanism, for public numbers: `Plan` without the ways to show it.

    Attributes
    ----------
    n, epsilon
        The rows and the budget that are planned for. `solved` names the one that was asked for, "epsilon" or "rows";
        None if both were given. `usual` if no epsilon was given, and 1 is planned with.
    recommendation
        In a sentence, for the mean; it names the centre beside it.
    meaning
        What epsilon means, in words.
    recommended
        The option that `td.mean` takes.
    options
        One record for each mechanism.
    sampling
        For comparison: typical distance, in standard deviations, between a table's own mean (of one group) and the
        truth behind it, privacy or not.
    question
        The other public inputs.
    """

    n: int
    epsilon: Fraction
    recommendation: str
    meaning: str
    recommended: Option
    options: list[Option] = field(repr=False)
    sampling: float
    solved: str | None
    usual: bool
    question: Question = field(repr=False)

    def to_dict(self) -> dict[str, Any]:
        """Everything, ready for JSON; errors in standard deviations unless a name says units."""
        asked_for = self.question
        columns = asked_for.columns
        wishes = zip(asked_for.labels, asked_for.wishes, strict=True)
        return {
            "n": self.n,
            "d": asked_for.d,
            "columns": list(asked_for.labels),
            "bounds": AUTO if asked_for.found else None if columns is None else _ends(columns),
            "sd": [None if s is None else float(s) for s in asked_for.sd],
            "widths": None if columns is None else asked_for.widths.tolist(),
            "epsilon": show(self.epsilon),
            "delta": None if asked_for.delta is None else show(asked_for.delta),
            "error": {name: wish.size for name, wish in wishes if wish is not None} or None,
            "error_in_units": any(wish is not None and wish.in_units for wish in asked_for.wishes),
            "solved": self.solved,
            "groups": asked_for.groups,
            "missing": asked_for.missing,
            "recommendation": self.recommendation,
            "recommended": self.recommended.mechanism,
            "meaning": self.meaning,
            "sampling": self.sampling,
            "options": [option.to_dict() for option in self.options],
        }

    def to_json(self) -> str:
        return json.dumps(self.to_dict())


def _ends(columns: BoundedColumns) -> list[list[float]]:
    return [[float(a), float(b)] for a, b in zip(columns.lower, columns.upper, strict=True)]
