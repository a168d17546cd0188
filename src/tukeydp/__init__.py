"""Private means of small, sensitive, multivariate data: Tukey-depth mechanisms, exact and proven."""

from tukeydp import baselines
from tukeydp.accuracy import ExpectedError
from tukeydp.data.look import look
from tukeydp.data.streams import Chunks, chunks
from tukeydp.depth.notions import AnyScale, AxisAligned, Directions, Exact, Random, Spread
from tukeydp.depth.of_points import tukey_depth
from tukeydp.errors import BudgetExceeded, ParameterError
from tukeydp.geometry.level_sets import level_set, level_volumes
from tukeydp.geometry.paper_recipe import paper_recipe
from tukeydp.geometry.tukey_median import tukey_median
from tukeydp.grouped_release import GroupedRelease
from tukeydp.mechanisms.aggregate import aggregate
from tukeydp.mechanisms.boxem import boxem
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
from tukeydp.version import __version__

baselines.paper_recipe, baselines.tukey_median = paper_recipe, tukey_median

__all__ = [
    "Accountant",
    "AnyScale",
    "ApproxDP",
    "AxisAligned",
    "BudgetExceeded",
    "Chunks",
    "Directions",
    "Exact",
    "ExpectedError",
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
    "regression",
    "rem",
    "seeded",
    "spread",
    "summary",
    "tukey_depth",
]
