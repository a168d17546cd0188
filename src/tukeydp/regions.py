"""Level sets as polytopes under their public address; the code is in `tukeydp.geometry`. **Not private.**"""

from tukeydp.geometry.level_sets import LevelSet, level_set, level_volumes
from tukeydp.geometry.polytope_volume import polytope_volume

__all__ = ["LevelSet", "level_set", "level_volumes", "polytope_volume"]
