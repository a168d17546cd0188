"""The noised means by the names they have on the command line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tukeydp.baselines.analytic_gaussian import analytic_gaussian
from tukeydp.baselines.coinpress import coinpress
from tukeydp.baselines.gaussian import gaussian
from tukeydp.baselines.huang_liang_yi import huang_liang_yi
from tukeydp.baselines.plan import plan
from tukeydp.errors import ParameterError
from tukeydp.release import Release

BASELINES: dict[str, Callable[..., Release]] = {
    "gaussian": gaussian,
    "analytic-gaussian": analytic_gaussian,
    "coinpress": coinpress,
    "huang-liang-yi": huang_liang_yi,
    "plan": plan,
}


def run(
    mechanism: str, x: Any, *, delta: Any, deviation: Any = None, left_out: dict[str, Any], **parameters: Any
) -> Release:
    """Call the named baseline. `left_out` are options of other mechanisms, which must not have been given."""
    for option, value in left_out.items():
        if value is not None:
            raise ParameterError(option, f"must be left out with --mechanism {mechanism}", value)
    if delta is None:
        raise ParameterError("delta", f"must be given with --mechanism {mechanism}", "none")
    if mechanism == "coinpress":
        if deviation is None:
            raise ParameterError("deviation", "must be given with --mechanism coinpress", "none")
        return coinpress(x, delta=delta, deviation=deviation, **parameters)
    if deviation is not None:
        raise ParameterError("deviation", "must be left out without --mechanism coinpress", deviation)
    return BASELINES[mechanism](x, delta=delta, **parameters)
