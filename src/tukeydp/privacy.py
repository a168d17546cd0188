"""Guarantees as frozen values with exact rationals."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tukeydp.errors import ParameterError
from tukeydp.parameters import positive_rational, show


@dataclass(frozen=True)
class PureDP:
    """Pure epsilon-differential privacy: swapping one row changes no probability by more than e^epsilon."""

    epsilon: Fraction

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", positive_rational("epsilon", self.epsilon))

    def to_dict(self) -> dict[str, Any]:
        return {
            "kind": "pure",
            "epsilon": float(self.epsilon),
            "epsilon_exact": str(self.epsilon),
            "delta": 0.0,
            "neighbours": "one row swapped, number of rows public",
        }

    def __str__(self) -> str:
        return f"epsilon = {show(self.epsilon)} (pure differential privacy, one row swapped)"


@dataclass(frozen=True)
class ApproxDP:
    """(epsilon, delta)-differential privacy: no event gains more than a factor e^epsilon and an additional delta."""

    epsilon: Fraction
    delta: Fraction

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", positive_rational("epsilon", self.epsilon))
        object.__setattr__(self, "delta", positive_rational("delta", self.delta))
        if self.delta >= 1:
            raise ParameterError("delta", "must be < 1", show(self.delta))

    def to_dict(self) -> dict[str, Any]:
        return {
            "kind": "approximate",
            "epsilon": float(self.epsilon),
            "epsilon_exact": str(self.epsilon),
            "delta": float(self.delta),
            "delta_exact": str(self.delta),
            "neighbours": "one row swapped, number of rows public",
        }

    def __str__(self) -> str:
        return (
            f"epsilon = {show(self.epsilon)}, delta = {show(self.delta)} "
            "(approximate differential privacy, one row swapped)"
        )


Guarantee = PureDP | ApproxDP
