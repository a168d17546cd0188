"""Counts in halfspaces: notions of depth, level sets on the grid, the depth of points."""

from tukeydp.depth.of_points import is_deep, shallowest_direction, tukey_depth

__all__ = ["is_deep", "shallowest_direction", "tukey_depth"]
