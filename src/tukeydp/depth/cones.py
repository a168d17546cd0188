"""Is the least weight of a halfspace at least so much? Branch and bound over cones of normals.

In a cone of normals that few vectors' hyperplanes cross, most vectors are on one side for all of its normals, and their
weight bounds every count from below. Cones whose bound falls short are cut in two. Most of the sphere is settled by a
few large cones; small ones are needed only where counts come close to the least. The answer "proven" is exact, floats
have margins (docs/proofs/exact-depth.md, section 5). Anything else is left to the sweeps of `exact_depth`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tukeydp.depth.round_frames import round_frame
from tukeydp.depth.vectors import Vectors
from tukeydp.trusted.parameters import FloatArray, IntArray

# Cuts on a path, at most, for each column: a side of the cone is then about 2^-40 of what it was. Not only speed: each
# cut rounds once, and the margins allow for so many.
_CUTS = 40
_LITTLE_WORK = 2**16  # open vectors looked at in a millisecond or two
# Never more. Not only speed: what does not fit in 64 bits cannot be passed to the compiled loop, and what takes all of
# them would have another form of it compiled and kept in a file.
_MOST_WORK = 2**62
_ROOM = 16  # rows of scratch space for each vector, at first


@dataclass(frozen=True, eq=False)
class Plane:
    """All vectors in a subspace, by number, and the least weight that a halfspace has of them."""

    members: list[int]
    least: int


def proven(
    vectors: Vectors, least: int, in_plane: Callable[[Vectors, IntArray], Plane | None] = lambda *_: None
) -> bool | FloatArray | None:
    """True if every generic halfspace weighs at least `least`, a normal of one that seems lighter, or None in doubt.

    Many vectors in one plane stay open in all cones around its normal, however small. `in_plane` finds the plane of
    some vectors, if they are in one: then what all in it weigh together is counted.
    """
    from tukeydp.depth.cone_search import IN_DOUBT, NO_ROOM, PROVEN, REFUTED, search

    m, d = vectors.shadow.shape
    frame = round_frame(vectors)
    # Each cut rounds once more; twice the sum of it all.
    margins = 2 * frame.errors + 2.0**-52 * (_CUTS * d + 1)
    weights = vectors.weights.astype(np.float64)
    work = _work(m, d)
    room = _ROOM * (m + d)
    together, extra = np.zeros(m, dtype=np.int64), 0
    while True:
        pool = np.empty((room, d + 3))
        found, corner, start, end = search(
            frame.products, weights, margins, float(least), together, float(extra), work, _CUTS * d, pool
        )
        if found == NO_ROOM:
            room *= 4
        elif found == IN_DOUBT and not extra:
            plane = in_plane(vectors, pool[start:end, d + 2].astype(np.int64))
            if plane is None or not plane.least:
                return None
            together[plane.members], extra = 1, plane.least
        elif found == PROVEN:
            return True
        else:
            return np.asarray(corner @ frame.normals) if found == REFUTED else None


def _work(m: int, d: int) -> int:
    """A millisecond, or about as long as the sweeps would take: where cones stay in doubt, not much is lost."""
    return min(_MOST_WORK, max(_LITTLE_WORK, 3 * math.comb(m, d - 1)))
