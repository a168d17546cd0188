"""Level sets as polytopes, and volumes, under their public address. **Not private.**"""

from tukeydp.paper.level_sets import LevelSet, level_set, level_volumes
from tukeydp.paper.random_walks import polytope_volume

__all__ = ["LevelSet", "level_set", "level_volumes", "polytope_volume"]
