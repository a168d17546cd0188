"""The one error a mechanism may raise."""

from __future__ import annotations

from typing import Any


class ParameterError(ValueError):
    """A parameter breaks a rule. The message names the parameter, the rule and the value, never the data."""

    def __init__(self, parameter: str, rule: str, value: object) -> None:
        self.parameter, self.rule, self.value = parameter, rule, value
        super().__init__(f"{parameter} {rule}; got {value}.")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.parameter, self.rule, self.value)
