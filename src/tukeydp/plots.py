"""Pictures of level sets under their public address; the code is in `tukeydp.geometry`. **Not private.**"""

from tukeydp.geometry.pictures import contours

__all__ = ["contours"]
