"""From one of our mechanisms to an OpenDP measurement: checked, priced and fixed before there are any data.

Why that is enough for OpenDP, which takes a measurement's word: docs/proofs/opendp.md, section 4. Nothing is spent on
the check of readable rows: a measurement costs what its privacy map says, in one step.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from opendp.measurements import make_user_measurement
from opendp.mod import Measurement

from tukeydp.data.tables import Table
from tukeydp.integrations.opendp.losses import checked_epsilon, measure_for, privacy_map
from tukeydp.integrations.opendp.spaces import Space, nothing_quoted, space
from tukeydp.padding import checked_interval
from tukeydp.results.release import Refused, Release
from tukeydp.trusted.account import Guarantee
from tukeydp.trusted.bits import seeded
from tukeydp.trusted.parameters import ParameterError, brief

Mechanism = Callable[..., Release | Refused]
DEFAULT_STEP = Fraction(1, 10**6)  # td.rem's resolution unless given, in units of the data


class _Quoted(Exception):
    """Ends a run that was begun to learn its guarantee."""


class _Quote:
    """An accountant that hears what a run would cost and ends it: nothing but a table's shape is used before."""

    guarantee: Guarantee

    def require(self, guarantee: Guarantee) -> None:
        pass

    def spend(self, guarantee: Guarantee, **about: Any) -> None:
        self.guarantee = guarantee
        raise _Quoted


@dataclass(frozen=True)
class _Agreed:
    """An accountant that lets a run pass only at the guarantee that the privacy map was made of."""

    guarantee: Guarantee

    def require(self, guarantee: Guarantee) -> None:
        pass

    def spend(self, guarantee: Guarantee, **about: Any) -> None:
        if (guarantee, guarantee.zcdp) != (self.guarantee, self.guarantee.zcdp):
            raise RuntimeError("the run would cost something else than its privacy map says")


@dataclass(frozen=True)
class Run:
    """A mechanism with all its parameters, for the tables of a space."""

    mechanism: Mechanism
    space: Space
    columns: tuple[str, ...] | None
    options: Mapping[str, Any]
    pad_to: Any

    def quote(self, epsilon: Fraction) -> Guarantee:
        """Check every parameter, as a run on a table of this shape would, and say what it costs."""
        quote, blank = _Quote(), self.space.blank(self.columns)
        try:
            given = {"epsilon": epsilon, "neighbours": self.space.neighbours, "check": False, **self.options}
            self.mechanism(blank, accountant=quote, **given)
        except _Quoted:
            return quote.guarantee
        raise RuntimeError("a mechanism ran without spending")

    def try_depth(self) -> None:
        """Directions and grids of the caller's own are checked only when they are used: on an empty table, here.

        Whether they fit does not depend on rows or epsilon. Defaults always fit.
        """
        step = self.options.get("resolution")
        usual = step is None or (isinstance(step, Fraction) and step == DEFAULT_STEP)
        if usual and self.options.get("depth") is None:
            return
        options = {**self.options, "rows": self.space.size or self.options.get("rows")}
        if "test" in options:
            options |= {"test": "graded", "threshold": None}
        empty = Table(np.empty((0, self.space.d)), self.columns)
        options |= {"epsilon": 1, "neighbours": "add-remove", "check": False}
        self.mechanism(empty, randomness=seeded(0), **options)

    def on(self, x: Any, epsilon: Fraction, agreed: _Agreed) -> Release | Refused:
        """The release."""
        fixed = {"neighbours": self.space.neighbours, "pad_to": self.pad_to, "check": False}
        given = {"epsilon": epsilon, **fixed, **self.options}
        with nothing_quoted():
            return self.mechanism(self.space.table(x, self.columns), accountant=agreed, **given)


def measurement(
    mechanism: Mechanism,
    input_domain: Any,
    input_metric: Any,
    epsilon: Any,
    /,
    *,
    columns: Any,
    rows: Any,
    pad_to: Any,
    output_measure: Any,
    price: Callable[[Fraction, str], Guarantee] | None = None,
    **options: Any,
) -> Measurement:
    """The mechanism on the tables of a domain, with its privacy map.

    Parameters are copied: what the caller changes later changes nothing here. Randomness is the operating system's;
    there is no other, because the map would not be true of a seeded run. `price` checks an epsilon and says what it
    costs, for a mechanism that takes long to plan: a Context's search for epsilon asks a hundred times.
    """
    tables = space(input_domain, input_metric)
    if pad_to is not None:
        checked_interval(pad_to)
    if rows is not None:
        if tables.size is not None:
            raise ParameterError("rows", "must be left out for a domain with a size", brief(rows))
        options["rows"] = rows
    run = Run(mechanism, tables, _names(columns, tables.d), deepcopy(options), pad_to)
    try:
        budget = checked_epsilon(epsilon)
    except ParameterError:
        run.quote(Fraction(1))  # a Context's search begins at 0: what else is wrong is what the caller has to hear
        raise
    guarantee = run.quote(budget if price is None else Fraction(1))
    if price is not None:
        guarantee = price(budget, tables.neighbours)
    run.try_depth()
    if guarantee.epsilon != budget:
        raise RuntimeError("a mechanism would spend another epsilon than it was given")
    measure, agreed = measure_for(guarantee, output_measure), _Agreed(guarantee)
    return make_user_measurement(
        input_domain=input_domain,
        input_metric=input_metric,
        output_measure=measure,
        function=lambda x: run.on(x, budget, agreed),
        privacy_map=privacy_map(guarantee, tables, measure),
    )


def _names(columns: Any, d: int) -> tuple[str, ...] | None:
    if columns is None:
        return None
    names = tuple(columns) if isinstance(columns, list | tuple) else ()
    if len(names) != d or len(set(names)) != d or not all(isinstance(name, str) for name in names):
        raise ParameterError("columns", f"must be {d} different names, one for each column", brief(columns))
    return names
