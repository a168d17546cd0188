"""What an experiment is: cells to measure, how to measure one trial, a figure, and claims to check."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tukeydp.experiments.claims import Claim
from tukeydp.experiments.results import Results, Row
from tukeydp.randomness import SeededRandomness, seeded

Settings = Mapping[str, Any]


@dataclass(frozen=True)
class Cell:
    """One setting of an experiment and how many trials it gets."""

    settings: tuple[tuple[str, Any], ...]
    trials: int


def cell(trials: int, **settings: Any) -> Cell:
    return Cell(tuple(settings.items()), trials)


@dataclass(frozen=True)
class Seeds:
    """Randomness of one trial: streams named by labels, whatever else runs and in whichever order."""

    parts: tuple[Any, ...]

    @property
    def shared(self) -> Seeds:
        """The same for all settings of this experiment and trial: for data that settings should be compared on."""
        seed, name, _, trial = self.parts
        return Seeds((seed, name, "shared", trial))

    @property
    def trial(self) -> int:
        """The number of the trial, from 0: for what is measured once in a cell."""
        return int(self.parts[-1])

    def number(self, *labels: Any) -> int:
        return int.from_bytes(hashlib.sha256(repr((self.parts, labels)).encode()).digest()[:16], "big")

    def rng(self, *labels: Any) -> np.random.Generator:
        return np.random.default_rng(self.number(*labels))

    def source(self, *labels: Any) -> SeededRandomness:
        return seeded(self.number(*labels))


@dataclass(frozen=True)
class Table:
    """A table in the report: what it shows, its head, and rows whose first cell is their head; cells may have lines."""

    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Experiment:
    """A table or figure of the paper, or a question it left open.

    Attributes
    ----------
    place
        Where the paper has it.
    cells
        What to measure, in full or for `--quick`.
    measure
        One trial: settings and randomness to rows, usually one per method.
    draw
        A matplotlib figure of the results, or several by what they show: the panels, which a page wraps.
    table
        A table of its own for the report, as `Table`; None for none.
    across
        Columns that tell apart what the report's table averages over trials.
    shown
        The column that table shows.
    chunk
        Trials that are run, saved and resumed together.
    alone
        True where seconds are measured: nothing else runs meanwhile.
    """

    name: str
    title: str
    place: str
    cells: Callable[[bool], list[Cell]]
    measure: Callable[[Settings, Seeds], list[Row]]
    draw: Callable[[Results], Any]
    claims: tuple[Claim, ...]
    across: tuple[str, ...] = ()
    shown: str = "error"
    chunk: int = 10
    alone: bool = False
    table: Callable[[Results], Table] | None = None
    notes: tuple[str, ...] = field(default=())


_REGISTERED: dict[str, Experiment] = {}


def register(experiment: Experiment) -> None:
    """Make an experiment known by its name. The one line that a new one needs beside its module's in `catalogue`."""
    _REGISTERED[experiment.name] = experiment


def registered_in(module: str) -> list[Experiment]:
    """The experiments that a module has registered, in its order."""
    return [experiment for experiment in _REGISTERED.values() if experiment.measure.__module__ == module]
