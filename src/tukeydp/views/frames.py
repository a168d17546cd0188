"""An outcome as a pandas Series or DataFrame."""

from __future__ import annotations

from typing import Any

from tukeydp.accuracy import ExpectedError
from tukeydp.views.table import Viewed, interval


def series_of(outcome: Viewed) -> Any:
    """The released values by column; NaN where nothing was released."""
    pandas = pandas_for("to_series")
    return pandas.Series(outcome.values(), index=_index(pandas, outcome), name="released", dtype="float64")


def frame_of(outcome: Viewed, error: ExpectedError | None) -> Any:
    """One row for each column: see `Outcome.to_frame`."""
    pandas = pandas_for("to_frame")
    return pandas.DataFrame(facts(outcome, error), index=_index(pandas, outcome))


def facts(outcome: Viewed, error: ExpectedError | None) -> dict[str, list[Any]]:
    """Numbers, without rounding, under the names they have in a data frame and in CSV; what is not known is absent."""
    found: dict[str, list[Any]] = {"released": [float("nan") if v is None else v for v in outcome.values()]}
    if outcome.units is not None:
        found["unit"] = list(outcome.units)
    intervals = interval(outcome)
    if intervals is not None:
        found["interval_lower"], found["interval_upper"] = intervals.T.tolist()
    if outcome.bounds is not None:
        found["lower"], found["upper"] = ([float(v) for v in ends] for ends in outcome.bounds)
    if outcome.noise_sd is not None:
        found["noise_sd"] = list(outcome.noise_sd)
    if error is not None and error.columns is not None:
        found["half_within"] = [column.typical[1] for column in error.columns]
        found["within_95"] = [column.within_95[1] for column in error.columns]
    return found


def _index(pandas: Any, outcome: Viewed) -> Any:
    names = range(outcome.d) if outcome.columns is None else list(outcome.columns)
    return pandas.Index(names, name="column")


def pandas_for(method: str) -> Any:
    """The library, or an error that says how to do without."""
    try:
        import pandas
    except ImportError:
        raise ImportError(
            f"{method}() needs pandas: pip install pandas. Without it: to_dict(), items(), point"
        ) from None
    return pandas
