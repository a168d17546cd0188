"""Pictures: `contours` of level sets (**not private**: the data are on them), `forest` of what was released."""

from tukeydp.paper.level_sets import contours
from tukeydp.results.forest import forest

__all__ = ["contours", "forest"]
