"""Where float solvers start: a point with room on every side of a region."""

from __future__ import annotations

import numpy as np

from tukeydp.trusted.matrices import Integers, integers
from tukeydp.trusted.sizes.linear_programs import Region, maximum

# What floats may raise; numpy's LinAlgError is a ValueError. Whoever calls them must catch these: an exception would
# tell something about the data.
FLOATS_GAVE_OUT = (ArithmeticError, ValueError, AssertionError)
# Bits of the point below the room that it has. Fewer move the point, which costs speed only.
_BITS = 64


def inner_point(region: Region) -> tuple[Integers, int] | None:
    """A point with room on every side as integers over 2^bits, and these bits; None if there is none. Exact."""
    d = region.d
    sizes = np.abs(region.normals).sum(axis=1)
    far = int(np.abs(region.offsets).max() + (np.abs(region.normals) @ np.abs(region.offsets[-d:])).max()) + 1
    box = integers(np.eye(d + 1, dtype=np.int64))
    raised = Region(
        np.concatenate([np.column_stack([region.normals, sizes]), box, -box]),
        np.concatenate([region.offsets, region.offsets[-2 * d : -d], [far], region.offsets[-d:], [far]]),
        np.append(region.centre, 0),
        np.append(region.scale, region.scale.max()),
    )
    best = maximum(raised, [0] * d + [1])
    if best is None or best.value <= 0:
        return None
    room = best.value
    bits = _BITS + max(0, room.denominator.bit_length() - room.numerator.bit_length())
    return integers([(int(v) << bits) // best.denominator for v in best.numerators[:-1]]), bits
