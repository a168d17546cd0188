"""The errors a mechanism may raise: one, and a kind of it."""

from __future__ import annotations

from typing import Any

from tukeydp.views.escaping import lines_of_text

# What is passed on, whoever's code it comes from. All else that a foreign package raises may quote cells, also what is
# no Exception, such as a panic of polars.
INTERRUPTIONS = (KeyboardInterrupt, SystemExit, GeneratorExit)
# What an error says that ends a run after it has paid.
SPENT = "this run's budget is spent, and nothing was released"


class ParameterError(ValueError):
    """A parameter breaks a rule. The message names the parameter, the rule and the value, never the data."""

    def __init__(self, parameter: str, rule: str, value: object) -> None:
        self.parameter, self.rule, self.value = parameter, rule, value
        super().__init__(lines_of_text(f"{parameter} {rule}; got {value}."))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.parameter, self.rule, self.value)


class BudgetExceeded(ParameterError):
    """A release would cost more than its accountant has left. Nothing was spent, and the data were not touched."""
