"""What accuracy to expect of a release, from public inputs only: how it is said, and what it is computed by."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from functools import cached_property, lru_cache
from typing import Any, Protocol

import numpy as np

from tukeydp.blas import on_one_thread
from tukeydp.results.accuracy_words import as_text
from tukeydp.trusted.parameters import FloatArray, ParameterError, brief

# Bounds are taken to be so many standard deviations wide where nothing is known; those of shares and yes/no columns, 0
# to 1, much less. A guess that moves the stated accuracy, and the choice between mechanisms, never the guarantee.
ASSUMED_WIDTH, ASSUMED_WIDTH_OF_SHARES = 100.0, 10.0
# A value so many standard deviations off has nothing to do with the data.
FAR = 3.0
# Below this an error, or a chance, is rounding.
_NOTHING = 1e-12
# A forecast takes seconds; so many are kept, a few kilobytes each.
_KEPT = 256
# Typical size of a standard Gaussian variable: its median.
MEDIAN_OF_GAUSSIAN = 0.6744897501960817

Range = tuple[float, float]


class Named(Protocol):
    """What is said about a shape."""

    @property
    def name(self) -> str: ...

    @property
    def few_values(self) -> bool: ...


@dataclass(frozen=True)
class ShapeError:
    """What to expect if the columns have one shape; errors in the units of the whole forecast.

    Attributes
    ----------
    shape
        Name, with parameters.
    few_values
        Whether such columns have few different values: scores, yes/no answers.
    typical
        Half of the released values are closer to the estimand than this; None if nothing would be released.
    within_95
        95 of 100 released values are at most so far off.
    from_mean
        For centres: half of the released values are closer than this to the table's own *mean*.
    far
        Share of releases with some column more than 3 standard deviations off.
    refused
        Chance of a refusal, for mechanisms that may refuse.
    """

    shape: str
    few_values: bool
    typical: float | None
    within_95: float | None
    from_mean: float | None
    far: float
    refused: float | None


@dataclass(frozen=True)
class ColumnError:
    """One column's error in data units: least and most over the shapes."""

    typical: Range
    within_95: Range


@dataclass(frozen=True)
class ExpectedError:
    """What accuracy to expect, for columns of several shapes.

    Pairs are the least and the most over the shapes of measurements. Columns of few values may do much worse by depth
    where rows are few: `shapes` has them too.

    Attributes
    ----------
    estimand
        What errors are measured against: the table's own "mean", "centre" (the median of each column) or "standard
        deviation".
    units
        Of all errors but those in `columns`.
    typical
        Half of the released values are closer to the estimand than this; None if nothing would be released.
    within_95
        95 of 100 released values are at most so far off.
    from_mean
        For centres: half of the released values are closer than this to the table's own mean. On skewed columns this
        does not vanish with more rows.
    far
        Share of releases with some column more than 3 standard deviations off, for the worst shape of measurements.
    refused
        Chance of a refusal, for mechanisms that may refuse.
    sampling
        For comparison: typical difference between the table's own mean and the truth behind it, privacy or not.
    shapes
        One entry for each made-up shape.
    columns
        Errors in data units, one entry for each column, where they are known: with a public standard deviation, or if
        all there is is noise of a known size.
    missing
        Assumed share of missing cells.
    widths
        Widths of the bounds in standard deviations, one for each column; None without bounds. Columns of few values are
        rehearsed between bounds at most ten times as wide as their range.
    known
        Whether `widths` follow from given standard deviations; otherwise they are assumed.
    widest
        Bounds may be up to so many standard deviations wide for these rows and columns; beyond, a release is a random
        point between the bounds. None where depth is not used, or no bounds.

    Examples
    --------
    >>> import numpy as np, tukeydp as td
    >>> table = np.zeros((300, 1))
    >>> print(td.mean(table, epsilon=1, bounds=(0, 20), sd=1, mechanism="cube").expected_error)
    Half of the released values are within 0.051 standard deviations of the table's own mean, 95 of 100
    within 0.22. In the columns' own units, one after the other: 0.051 and 0.22. Columns with missing
    cells do worse, some many times. By chance alone, half of all tables have means more than 0.039
    standard deviations from the truth.
    Assumed: no missing cells, bounds 20 standard deviations wide (by the given standard deviations).
    """

    estimand: str
    units: str
    typical: Range | None
    within_95: Range | None
    from_mean: Range | None
    far: float
    refused: Range | None
    sampling: float
    shapes: tuple[ShapeError, ...]
    columns: tuple[ColumnError, ...] | None
    missing: float
    widths: tuple[float, ...] | None
    known: bool
    widest: float | None

    @property
    def law_known(self) -> bool:
        """Whether all of the error is noise of a known law, the same for columns of any shape."""
        return len(self.shapes) == 1

    def __str__(self) -> str:
        """In words; the fields one by one: `repr`."""
        return as_text(self)

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class Rehearsal:
    """How to forecast a release: a function of public inputs, and those inputs. Computed once for each set of them.

    Inputs are hashable, so that no array of cells can be among them. `widest` is as in `ExpectedError`, for no missing
    cells, and `caveat` says it in words. `instant`: a formula, no made-up tables.
    """

    compute: Callable[..., ExpectedError]
    inputs: tuple[Any, ...]
    widest: float | None = None
    caveat: str | None = None
    instant: bool = False

    @cached_property
    def usual(self) -> ExpectedError:
        """Without further assumptions."""
        return self()

    @property
    def ready(self) -> bool:
        """Whether `usual` takes no time: a formula, or computed before."""
        return self.instant or "usual" in self.__dict__

    @on_one_thread
    def __call__(self, *, sd: Any = None, missing: Any = 0.0) -> ExpectedError:
        if not isinstance(missing, int | float) or not 0 <= missing < 1:
            raise ParameterError("missing", "must be a share, at least 0 and below 1", brief(missing))
        values = sd.tolist() if isinstance(sd, np.ndarray | np.generic) else sd
        given = tuple(values) if isinstance(values, Iterable) and not isinstance(values, str) else values
        return _forecast(self, given, float(missing))


@lru_cache(maxsize=_KEPT)
def _forecast(rehearsal: Rehearsal, sd: Any, missing: float) -> ExpectedError:
    return rehearsal.compute(*rehearsal.inputs, sd=sd, missing=missing)


def shape_error(
    shape: Named, errors: FloatArray, from_mean: FloatArray | None = None, refused: float | None = None
) -> ShapeError:
    """Medians and quantiles over columns and releases; `errors` has one row for each release, perhaps none."""
    chance = None if refused is None else rounded(refused)
    if not len(errors):
        return ShapeError(shape.name, shape.few_values, None, None, None, 0.0, chance)
    sizes = np.abs(errors)
    return ShapeError(
        shape.name,
        shape.few_values,
        rounded(float(np.median(sizes))),
        rounded(float(np.quantile(sizes, 0.95))),
        None if from_mean is None else rounded(float(np.median(np.abs(from_mean)))),
        rounded(float((sizes > FAR).any(axis=1).mean())),
        chance,
    )


def noise_error(typical: float, within_95: float, far: float) -> ShapeError:
    """For noise whose law is known: the same for columns of any shape."""
    return ShapeError("any", False, rounded(typical), rounded(within_95), None, rounded(far), None)


def over_shapes(shapes: tuple[ShapeError, ...], **facts: Any) -> ExpectedError:
    """The forecast with its ranges over the shapes. In data units where `scales` has the columns' deviations."""
    scales = facts.pop("scales", None)
    measured = tuple(shape for shape in shapes if not shape.few_values)
    typical, within_95 = _range(measured, "typical"), _range(measured, "within_95")
    if scales is not None and typical is not None and within_95 is not None:
        facts["columns"] = tuple(ColumnError(_times(typical, s), _times(within_95, s)) for s in scales)
    return ExpectedError(
        **{"units": "standard deviations", "columns": None, "widths": None, "known": False, "widest": None, **facts},
        typical=typical,
        within_95=within_95,
        from_mean=_range(measured, "from_mean"),
        far=max((shape.far for shape in measured), default=0.0),
        refused=_range(measured, "refused"),
        shapes=shapes,
    )


def sampling_error(n: int, missing: float = 0.0) -> float:
    """Typical difference between a table's mean and the truth, in standard deviations: a median."""
    return rounded(MEDIAN_OF_GAUSSIAN / float(np.sqrt(max(1.0, n * (1.0 - missing)))))


def rounded(value: float) -> float:
    """Two digits: more would pretend to a precision that a rehearsal does not have."""
    return float(f"{value:.2g}") if value > _NOTHING else 0.0


def _range(shapes: tuple[ShapeError, ...], name: str) -> Range | None:
    found = [value for shape in shapes if (value := getattr(shape, name)) is not None]
    return (min(found), max(found)) if found else None


def _times(pair: Range, scale: float) -> Range:
    return rounded(pair[0] * scale), rounded(pair[1] * scale)
