"""Private means of small, sensitive, multivariate data: Tukey-depth mechanisms, exact and proven."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from tukeydp.version import __version__

if TYPE_CHECKING:
    from tukeydp import baselines
    from tukeydp.accuracy import ExpectedError
    from tukeydp.data.file_tables import FileTable, read
    from tukeydp.data.look import look
    from tukeydp.data.streams import Chunks, chunks
    from tukeydp.depth.notions import AnyScale, AxisAligned, Directions, Exact, Random, Spread
    from tukeydp.depth.of_points import tukey_depth
    from tukeydp.errors import BudgetExceeded, ParameterError
    from tukeydp.geometry.level_sets import level_set, level_volumes
    from tukeydp.grouped_release import GroupedRelease
    from tukeydp.mechanisms.aggregate import aggregate
    from tukeydp.mechanisms.boxem import boxem
    from tukeydp.mechanisms.check_plan import Check
    from tukeydp.mechanisms.cube import cube
    from tukeydp.mechanisms.mean import mean
    from tukeydp.mechanisms.quantiles import quantiles
    from tukeydp.mechanisms.regression import regression
    from tukeydp.mechanisms.rem import rem
    from tukeydp.mechanisms.spread import spread
    from tukeydp.planning.accountant import Accountant
    from tukeydp.planning.plan import Plan, plan
    from tukeydp.planning.summary import summary
    from tukeydp.planning.summary_result import Summary
    from tukeydp.privacy import ApproxDP, PureDP
    from tukeydp.quantile_release import QuantileRelease
    from tukeydp.randomness import seeded
    from tukeydp.release import Refused, Release

# Where a public name lives: it is loaded when it is first asked for, so that `import tukeydp` takes milliseconds.
_HOMES = {
    "ExpectedError": "tukeydp.accuracy",
    "FileTable": "tukeydp.data.file_tables",
    "read": "tukeydp.data.file_tables",
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
    "BudgetExceeded": "tukeydp.errors",
    "ParameterError": "tukeydp.errors",
    "level_set": "tukeydp.geometry.level_sets",
    "level_volumes": "tukeydp.geometry.level_sets",
    "paper_recipe": "tukeydp.geometry.paper_recipe",
    "tukey_median": "tukeydp.geometry.tukey_median",
    "GroupedRelease": "tukeydp.grouped_release",
    "aggregate": "tukeydp.mechanisms.aggregate",
    "boxem": "tukeydp.mechanisms.boxem",
    "cube": "tukeydp.mechanisms.cube",
    "mean": "tukeydp.mechanisms.mean",
    "quantiles": "tukeydp.mechanisms.quantiles",
    "Check": "tukeydp.mechanisms.check_plan",
    "regression": "tukeydp.mechanisms.regression",
    "rem": "tukeydp.mechanisms.rem",
    "spread": "tukeydp.mechanisms.spread",
    "Accountant": "tukeydp.planning.accountant",
    "Plan": "tukeydp.planning.plan",
    "plan": "tukeydp.planning.plan",
    "summary": "tukeydp.planning.summary",
    "Summary": "tukeydp.planning.summary_result",
    "ApproxDP": "tukeydp.privacy",
    "PureDP": "tukeydp.privacy",
    "QuantileRelease": "tukeydp.quantile_release",
    "seeded": "tukeydp.randomness",
    "Refused": "tukeydp.release",
    "Release": "tukeydp.release",
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
    "cube",
    "level_set",
    "level_volumes",
    "look",
    "mean",
    "plan",
    "quantiles",
    "read",
    "regression",
    "rem",
    "seeded",
    "spread",
    "summary",
    "tukey_depth",
]
