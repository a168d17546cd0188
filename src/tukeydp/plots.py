"""Pictures: `contours` of level sets (**not private**: the data are on them), `forest` of what was released."""

from tukeydp.geometry.pictures import contours
from tukeydp.planning.forest import forest

__all__ = ["contours", "forest"]
