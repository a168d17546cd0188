"""All experiments: those of the paper's tables and figures first, then what it could not do."""

from __future__ import annotations

from importlib import import_module

from tukeydp.paper.experiments.experiment import Experiment, registered_in
from tukeydp.trusted.parameters import ParameterError

_MODULES = ("times", "shapes", "errors", "notions", "theorems", "real_tables")
EXPERIMENTS: tuple[Experiment, ...] = tuple(
    experiment
    for name in _MODULES
    for experiment in registered_in(import_module(f"tukeydp.paper.experiments.{name}").__name__)
)


def named(name: str) -> Experiment:
    for experiment in EXPERIMENTS:
        if experiment.name == name:
            return experiment
    raise ParameterError("name", f"must be all or one of {', '.join(e.name for e in EXPERIMENTS)}", repr(name))
