"""Private means of small, sensitive, multivariate data: Tukey-depth mechanisms, exact and proven."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from tukeydp.version import __version__

if TYPE_CHECKING:
    from tukeydp import baselines
    from tukeydp.accounts.accountant import Accountant
    from tukeydp.data.files import FileTable, read
    from tukeydp.data.look import look
    from tukeydp.data.streams import Chunks, chunks
    from tukeydp.depth.notions import AnyScale, AxisAligned, Directions, Exact, Random, Spread
    from tukeydp.depth.of_points import tukey_depth
    from tukeydp.forecast.plan import Plan, plan
    from tukeydp.mechanisms.aggregate import aggregate
    from tukeydp.mechanisms.boxem import boxem
    from tukeydp.mechanisms.counts import counts
    from tukeydp.mechanisms.cube import cube
    from tukeydp.mechanisms.mean import mean
    from tukeydp.mechanisms.quantiles import quantiles
    from tukeydp.mechanisms.readable_check import Check
    from tukeydp.mechanisms.regression import regression
    from tukeydp.mechanisms.rem import rem
    from tukeydp.mechanisms.spread import spread
    from tukeydp.mechanisms.summary import plan_summary, summary
    from tukeydp.paper.level_sets import level_set, level_volumes
    from tukeydp.results.accuracy import ExpectedError
    from tukeydp.results.counts_release import CountsRelease
    from tukeydp.results.grouped_release import GroupedRelease
    from tukeydp.results.quantile_release import QuantileRelease
    from tukeydp.results.release import Refused, Release
    from tukeydp.results.summary_result import Summary
    from tukeydp.trusted.account import ApproxDP, PureDP
    from tukeydp.trusted.bits import seeded
    from tukeydp.trusted.parameters import BudgetExceeded, ParameterError

# Where a public name lives: it is loaded when it is first asked for, so that `import tukeydp` takes milliseconds.
_HOMES = {
    "ExpectedError": "tukeydp.results.accuracy",
    "FileTable": "tukeydp.data.files",
    "read": "tukeydp.data.files",
    "look": "tukeydp.data.look",
    "Chunks": "tukeydp.data.streams",
    "chunks": "tukeydp.data.streams",
    "AnyScale": "tukeydp.depth.notions",
    "AxisAligned": "tukeydp.depth.notions",
    "Directions": "tukeydp.depth.notions",
    "Exact": "tukeydp.depth.notions",
    "Random": "tukeydp.depth.notions",
    "Spread": "tukeydp.depth.notions",
    "tukey_depth": "tukeydp.depth.of_points",
    "BudgetExceeded": "tukeydp.trusted.parameters",
    "ParameterError": "tukeydp.trusted.parameters",
    "level_set": "tukeydp.paper.level_sets",
    "level_volumes": "tukeydp.paper.level_sets",
    "paper_recipe": "tukeydp.paper.unproven",
    "tukey_median": "tukeydp.paper.level_sets",
    "GroupedRelease": "tukeydp.results.grouped_release",
    "aggregate": "tukeydp.mechanisms.aggregate",
    "boxem": "tukeydp.mechanisms.boxem",
    "counts": "tukeydp.mechanisms.counts",
    "CountsRelease": "tukeydp.results.counts_release",
    "cube": "tukeydp.mechanisms.cube",
    "mean": "tukeydp.mechanisms.mean",
    "quantiles": "tukeydp.mechanisms.quantiles",
    "Check": "tukeydp.mechanisms.readable_check",
    "regression": "tukeydp.mechanisms.regression",
    "rem": "tukeydp.mechanisms.rem",
    "spread": "tukeydp.mechanisms.spread",
    "Accountant": "tukeydp.accounts.accountant",
    "Plan": "tukeydp.forecast.plan",
    "plan": "tukeydp.forecast.plan",
    "plan_summary": "tukeydp.mechanisms.summary",
    "summary": "tukeydp.mechanisms.summary",
    "Summary": "tukeydp.results.summary_result",
    "ApproxDP": "tukeydp.trusted.account",
    "PureDP": "tukeydp.trusted.account",
    "QuantileRelease": "tukeydp.results.quantile_release",
    "seeded": "tukeydp.trusted.bits",
    "Refused": "tukeydp.results.release",
    "Release": "tukeydp.results.release",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        value = getattr(import_module(_HOMES[name]), name)
    else:
        value = _module(name)
    globals()[name] = value
    return value


def _module(name: str) -> Any:
    """A room, or another module of ours, as an attribute."""
    address = f"{__name__}.{name}"
    try:
        return import_module(address)
    except ModuleNotFoundError as error:
        if error.name != address:
            raise
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


__all__ = [
    "Accountant",
    "AnyScale",
    "ApproxDP",
    "AxisAligned",
    "BudgetExceeded",
    "Check",
    "Chunks",
    "CountsRelease",
    "Directions",
    "Exact",
    "ExpectedError",
    "FileTable",
    "GroupedRelease",
    "ParameterError",
    "Plan",
    "PureDP",
    "QuantileRelease",
    "Random",
    "Refused",
    "Release",
    "Spread",
    "Summary",
    "__version__",
    "aggregate",
    "baselines",
    "boxem",
    "chunks",
    "counts",
    "cube",
    "level_set",
    "level_volumes",
    "look",
    "mean",
    "plan",
    "plan_summary",
    "quantiles",
    "read",
    "regression",
    "rem",
    "seeded",
    "spread",
    "summary",
    "tukey_depth",
]
