"""The mechanisms by the names they have on the command line, and which options each of them takes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tukeydp import baselines
from tukeydp.errors import ParameterError
from tukeydp.mechanisms.boxem import boxem
from tukeydp.mechanisms.rem import rem
from tukeydp.release import Refused, Release


@dataclass(frozen=True)
class Mechanism:
    """A function, the options it cannot do without, and those it also takes."""

    run: Callable[..., Release | Refused]
    needs: tuple[str, ...]
    takes: tuple[str, ...] = ()


MECHANISMS = {
    "boxem": Mechanism(boxem, ("bounds",), ("depth", "resolution", "unproven")),
    "rem": Mechanism(rem, ("delta",), ("depth", "resolution", "threshold", "test", "unproven")),
    "gaussian": Mechanism(baselines.gaussian, ("bounds", "delta")),
    "analytic-gaussian": Mechanism(baselines.analytic_gaussian, ("bounds", "delta")),
    "coinpress": Mechanism(baselines.coinpress, ("bounds", "delta", "deviation")),
    "huang-liang-yi": Mechanism(baselines.huang_liang_yi, ("bounds", "delta")),
    "plan": Mechanism(baselines.plan, ("bounds", "delta")),
}


def mechanism_named(name: str) -> Mechanism:
    if name not in MECHANISMS:
        raise ParameterError("mechanism", f"must be one of {', '.join(MECHANISMS)}", repr(name))
    return MECHANISMS[name]


def options_for(name: str, given: dict[str, Any]) -> dict[str, Any]:
    """The options that were given (not None), once it is clear that the mechanism takes them and lacks none."""
    mechanism = mechanism_named(name)
    present = {option: value for option, value in given.items() if value is not None}
    for option in mechanism.needs:
        if option not in present:
            raise ParameterError(option, f"must be given with --mechanism {name}", "none")
    for option in present:
        if option not in mechanism.needs + mechanism.takes:
            raise ParameterError(option, f"must be left out with --mechanism {name}", repr(present[option])[:60])
    return present
