"""Guarantees as frozen values with exact rationals, and what they cost together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from tukeydp.trusted.parameters import ParameterError, checked_choice, positive_rational, show

# Which two tables are neighbours. Guarantees under different ones never add up: convert first.
NEIGHBOURS = {
    "swap": ("one row swapped", "one row swapped, number of rows public"),
    "swap-person": (
        "one person swapped",
        "one person swapped with all their rows, number of persons public, number of rows secret",
    ),
    "add-remove": ("one row added or removed", "one row added or removed, number of rows secret"),
    "add-remove-person": (
        "one person added or removed",
        "one person added or removed with all their rows, numbers of persons and of rows secret",
    ),
}
_PERSON = "-person"  # what the name of a relation between persons ends in


@dataclass(frozen=True)
class Concentrated:
    """delta-approximate rho-zCDP (Bun and Steinke 2016): up to events of probability delta, every Renyi divergence of
    order a > 1 between neighbours is at most rho a. Both numbers add up (docs/proofs/composition.md, section 3)."""

    rho: Fraction
    delta: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        if self.rho <= 0:
            raise ParameterError("rho", "must be > 0", show(self.rho))
        if not 0 <= self.delta < 1:
            raise ParameterError("delta", "must be >= 0 and < 1", show(self.delta))

    def __add__(self, other: Concentrated) -> Concentrated:
        return Concentrated(self.rho + other.rho, self.delta + other.delta)


class _Composable:
    """What both guarantees have in common: `+` is the guarantee of two releases together.

    Epsilons and deltas add up, and so do the zCDP parts, each exactly. Valid for parameters fixed beforehand; where
    later ones depend on earlier results, spend from a `td.Accountant`.
    """

    epsilon: Fraction
    neighbours: str
    zcdp: Concentrated

    def __add__(self, other: Any) -> Any:
        if not isinstance(other, _Composable):
            return NotImplemented
        if self.neighbours != other.neighbours:
            rule = f"must be {self.neighbours!r} for both guarantees of a sum: convert one of them first"
            raise ParameterError("neighbours", rule, repr(other.neighbours))
        shared: dict[str, Any] = {"neighbours": self.neighbours, "zcdp": self.zcdp + other.zcdp}
        epsilon, delta = self.epsilon + other.epsilon, delta_of(self) + delta_of(other)
        return ApproxDP(epsilon, delta, **shared) if delta else PureDP(epsilon, **shared)

    def __radd__(self, other: Any) -> Any:
        return self if other == 0 else NotImplemented  # the start of `sum`


@dataclass(frozen=True)
class PureDP(_Composable):
    """Pure epsilon-differential privacy: between neighbours no probability changes by more than e^epsilon.

    `zcdp` is what the release's own proof says of zCDP; epsilon^2 / 2 where it says nothing more. Two guarantees that
    differ only there are equal.
    """

    epsilon: Fraction
    neighbours: str = field(default="swap", kw_only=True, repr=False)
    zcdp: Concentrated = field(default=None, kw_only=True, compare=False, repr=False)  # type: ignore[assignment]

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", positive_rational("epsilon", self.epsilon))
        checked_choice("neighbours", self.neighbours, NEIGHBOURS)
        if self.zcdp is None:
            object.__setattr__(self, "zcdp", Concentrated(self.epsilon**2 / 2))
        if self.zcdp.delta:
            raise ParameterError("zcdp", "must have no delta in a pure guarantee", show(self.zcdp.delta))

    def to_dict(self) -> dict[str, Any]:
        return {
            "kind": "pure",
            "epsilon": float(self.epsilon),
            "epsilon_exact": str(self.epsilon),
            "delta": 0.0,
            "neighbours": NEIGHBOURS[self.neighbours][1],
            "relation": self.neighbours,
        }

    def __str__(self) -> str:
        return f"epsilon = {show(self.epsilon)} (pure differential privacy, {NEIGHBOURS[self.neighbours][0]})"


@dataclass(frozen=True)
class ApproxDP(_Composable):
    """(epsilon, delta)-differential privacy: no event gains more than a factor e^epsilon and an additional delta.

    `zcdp` as for `PureDP`; delta-approximate epsilon^2 / 2 where the proof says nothing more. Where its delta is the
    same as here, the same exceptional events must serve both (docs/proofs/composition.md, section 5).
    """

    epsilon: Fraction
    delta: Fraction
    neighbours: str = field(default="swap", kw_only=True, repr=False)
    zcdp: Concentrated = field(default=None, kw_only=True, compare=False, repr=False)  # type: ignore[assignment]

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", positive_rational("epsilon", self.epsilon))
        object.__setattr__(self, "delta", positive_rational("delta", self.delta))
        checked_choice("neighbours", self.neighbours, NEIGHBOURS)
        if self.delta >= 1:
            raise ParameterError("delta", "must be < 1", show(self.delta))
        if self.zcdp is None:
            object.__setattr__(self, "zcdp", Concentrated(self.epsilon**2 / 2, self.delta))
        if self.zcdp.delta > self.delta:
            raise ParameterError("zcdp", "must have no larger delta than the guarantee", show(self.zcdp.delta))

    def to_dict(self) -> dict[str, Any]:
        return {
            "kind": "approximate",
            "epsilon": float(self.epsilon),
            "epsilon_exact": str(self.epsilon),
            "delta": float(self.delta),
            "delta_exact": str(self.delta),
            "neighbours": NEIGHBOURS[self.neighbours][1],
            "relation": self.neighbours,
        }

    def __str__(self) -> str:
        return (
            f"epsilon = {show(self.epsilon)}, delta = {show(self.delta)} "
            f"(approximate differential privacy, {NEIGHBOURS[self.neighbours][0]})"
        )


Guarantee = PureDP | ApproxDP


def cost_of(parts: Mapping[str, Guarantee]) -> Any:
    """What all parts of a run cost together."""
    return sum(parts.values())


def stated(guarantee: Guarantee | None) -> str:
    """The guarantee in words; of a result that somebody has put together, that it has none."""
    return "NO GUARANTEE: not private, not for publication" if guarantee is None else str(guarantee)


def epsilon_stated(guarantee: Guarantee | None) -> str:
    """For tables; empty where there is none."""
    return "" if guarantee is None else show(guarantee.epsilon)


def about_persons(guarantee: Any) -> Any:
    """Say a guarantee about persons, each of whom is one row of the table that it was proven for."""
    if guarantee is None or guarantee.neighbours.endswith(_PERSON):
        return guarantee
    return replace(guarantee, neighbours=guarantee.neighbours + _PERSON)


def relation_of(neighbours: str) -> str:
    """The relation of the rows that a mechanism sees: a person is one of them."""
    return neighbours.removesuffix(_PERSON)


def part_of(guarantee: Guarantee, share: Fraction) -> Guarantee:
    """So much of epsilon, delta and rho."""
    zcdp = Concentrated(share * guarantee.zcdp.rho, share * guarantee.zcdp.delta)
    told: dict[str, Any] = {"neighbours": guarantee.neighbours, "zcdp": zcdp}
    if isinstance(guarantee, ApproxDP):
        return ApproxDP(share * guarantee.epsilon, share * guarantee.delta, **told)
    return PureDP(share * guarantee.epsilon, **told)


def delta_of(guarantee: Any) -> Fraction:
    """The guarantee's delta; 0 where it is pure."""
    return guarantee.delta if isinstance(guarantee, ApproxDP) else Fraction(0)


def bounded_range(epsilon: Any, neighbours: str = "swap") -> PureDP:
    """What an exponential mechanism has whose log-ratios between neighbours span at most epsilon: rho = epsilon^2 / 8.

    On a score that a swap moves by at most 1, weights e^(epsilon score / 2) do; on one that a further row raises by 0
    or 1, weights e^(epsilon score). Not for Laplace, cube or geometric noise, nor for permute-and-flip
    (docs/proofs/composition.md, section 1; docs/proofs/add-remove.md, section 2).
    """
    number = positive_rational("epsilon", epsilon)
    return PureDP(number, neighbours=neighbours, zcdp=Concentrated(number**2 / 8))


def in_steps(draws: tuple[Fraction, ...], neighbours: str = "swap") -> PureDP:
    """What draws of bounded range have together; one of epsilon 0 is none."""
    rho = sum((e**2 / 8 for e in draws), Fraction(0))
    return PureDP(sum(draws, Fraction(0)), neighbours=neighbours, zcdp=Concentrated(rho))


def rho_of_cells(epsilon: Fraction, relation: str, cells: int) -> Fraction:
    """zCDP of discrete Laplace noise on counts in disjoint cells: a swap moves two of them by half of epsilon each."""
    return epsilon**2 / (4 if relation == "swap" and cells >= 2 else 2)
