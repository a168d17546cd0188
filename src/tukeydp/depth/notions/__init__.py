"""Notions of depth, one file each. A new one is one file and one line in `NOTIONS`."""

from tukeydp.depth.notions.any_scale import AnyScale
from tukeydp.depth.notions.axis_aligned import AxisAligned
from tukeydp.depth.notions.base import FiniteNotion, Notion, require_finite
from tukeydp.depth.notions.drawn import default_directions
from tukeydp.depth.notions.exact import Exact
from tukeydp.depth.notions.given import Directions
from tukeydp.depth.notions.in_blocks import InBlocks
from tukeydp.depth.notions.random import Random
from tukeydp.depth.notions.spread import Spread
from tukeydp.trusted.prepared import PreparedBlocks, PreparedDepth

# By their names on the command line.
NOTIONS: dict[str, type[Notion]] = {
    "spread": Spread,
    "any-scale": AnyScale,
    "random": Random,
    "axis-aligned": AxisAligned,
    "exact": Exact,
}

__all__ = [
    "NOTIONS",
    "AnyScale",
    "AxisAligned",
    "Directions",
    "Exact",
    "FiniteNotion",
    "InBlocks",
    "Notion",
    "PreparedBlocks",
    "PreparedDepth",
    "Random",
    "Spread",
    "default_directions",
    "require_finite",
]
