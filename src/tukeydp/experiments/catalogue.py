"""All experiments, in the order of the paper; then what it could not do."""

from __future__ import annotations

from tukeydp.errors import ParameterError
from tukeydp.experiments import (
    asymptotic,
    dimensions,
    directions,
    errors,
    exact_four,
    geometry,
    outliers,
    real_data,
    scales,
    scaling,
    smallest_rows,
    ten_columns,
    times,
    univariate,
)
from tukeydp.experiments.experiment import Experiment

EXPERIMENTS: tuple[Experiment, ...] = (
    times.TIMES,
    geometry.DEPTH,
    geometry.NONSPHERICAL,
    errors.AGAINST_ROWS,
    errors.AGAINST_RANGE,
    directions.DIRECTIONS,
    outliers.FRACTION,
    outliers.LOCATION,
    ten_columns.TEN,
    univariate.UNIVARIATE,
    asymptotic.ASYMPTOTIC,
    scaling.SCALING,
    dimensions.DIMENSIONS,
    ten_columns.FOURTEEN,
    exact_four.EXACT_FOUR,
    smallest_rows.SMALLEST_ROWS,
    scales.SCALES,
    real_data.REAL_DATA,
)


def named(name: str) -> Experiment:
    for experiment in EXPERIMENTS:
        if experiment.name == name:
            return experiment
    raise ParameterError("name", f"must be all or one of {', '.join(e.name for e in EXPERIMENTS)}", repr(name))
