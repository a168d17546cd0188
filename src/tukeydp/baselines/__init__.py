"""Other private means, and centres without privacy, to compare with and to prefer where they are better.

Noised means are (epsilon, delta)-DP with exact discrete noise: `gaussian`, `analytic_gaussian`, `coinpress`,
`huang_liang_yi`, `plan`. References without a guarantee: `empirical_mean`, `coordinate_median`, `tukey_median`,
`paper_recipe`. Proofs: docs/proofs/baselines.md.
"""

from collections.abc import Callable
from importlib import import_module
from typing import Any

from tukeydp.baselines.analytic_gaussian import analytic_gaussian
from tukeydp.baselines.coinpress import coinpress
from tukeydp.baselines.gaussian import gaussian
from tukeydp.baselines.huang_liang_yi import huang_liang_yi
from tukeydp.baselines.plan import plan
from tukeydp.baselines.references import coordinate_median, empirical_mean
from tukeydp.results.release import Refused, Release

# Geometry computes these two, and nothing proven imports geometry: the package above knows where they are.
paper_recipe: Callable[..., Release | Refused]
tukey_median: Callable[..., Release]


def __getattr__(name: str) -> Any:
    if name in ("paper_recipe", "tukey_median"):
        return getattr(import_module("tukeydp"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [
    "analytic_gaussian",
    "coinpress",
    "coordinate_median",
    "empirical_mean",
    "gaussian",
    "huang_liang_yi",
    "paper_recipe",
    "plan",
    "tukey_median",
]
