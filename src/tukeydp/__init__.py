"""Private means of small, sensitive, multivariate data: Tukey-depth mechanisms, exact and proven."""

from tukeydp import baselines
from tukeydp.boxem import boxem
from tukeydp.depth import tukey_depth
from tukeydp.directions import AnyScale, AxisAligned, Directions, Exact, Random, Spread
from tukeydp.errors import ParameterError
from tukeydp.planner import ExpectedError
from tukeydp.privacy import ApproxDP, PureDP
from tukeydp.randomness import seeded
from tukeydp.regions import level_set, level_volumes
from tukeydp.release import Refused, Release
from tukeydp.rem import rem

__version__ = "0.1.0"
__all__ = [
    "AnyScale",
    "ApproxDP",
    "AxisAligned",
    "Directions",
    "Exact",
    "ExpectedError",
    "ParameterError",
    "PureDP",
    "Random",
    "Refused",
    "Release",
    "Spread",
    "baselines",
    "boxem",
    "level_set",
    "level_volumes",
    "rem",
    "seeded",
    "tukey_depth",
]
