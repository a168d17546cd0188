"""The largest copy in a thin and slanted region, in coordinates in which it is upright.

A region a trillion cells long and two cells thick takes more digits than a float has: the last ones of a slant move the
copy's corners by more than they may be off. In coordinates z with y = M z, M lower triangular with ones on its
diagonal, a copy c + B Q is one of the same volume, and its bound is the same (docs/proofs/rem.md, section 7).
"""

from __future__ import annotations

import numpy as np

from tukeydp.exact.linear_programs import Region, in_units
from tukeydp.sizes.grid_points import tight_ends
from tukeydp.sizes.inscribed_copies import Copy, largest_copy, template
from tukeydp.trusted.matrices import Integers, integers
from tukeydp.trusted.parameters import FloatArray

_BITS = 64  # of the entries of M. Speed only: any M will do


def upright_copy(region: Region, shape: FloatArray, bits: int, gap: float) -> tuple[Copy, FloatArray] | None:
    """As `largest_copy`, where a copy with this B is already known to be about the largest one."""
    slant = _slant(shape)
    upright = _seen_upright(region, slant, shape)
    ends = tight_ends(upright)
    if ends is None:
        return None
    low, high = integers([a - 1 for a in ends[0]]), integers([b + 1 for b in ends[1]])
    found = largest_copy(upright, low, high, bits, np.diag(np.diag(shape)), gap)
    if found is None:
        return None
    copy, factor = found
    centre, whole = (slant @ copy.centre) >> _BITS, (slant @ copy.factor) >> _BITS
    return Copy(centre, whole, bits, copy.most), slant.astype(np.float64) / 2.0**_BITS @ factor


def _slant(shape: FloatArray) -> Integers:
    """M times 2^_BITS: the columns of B over their diagonal entries."""
    with np.errstate(all="ignore"):
        columns = np.tril(shape / np.diag(shape), -1)
    columns = np.where(np.isfinite(columns), columns, 0.0) + np.eye(len(shape))
    return integers([[in_units(v, _BITS) for v in row] for row in columns.tolist()])


def _seen_upright(region: Region, slant: Integers, shape: FloatArray) -> Region:
    """The region in coordinates z, inside a box there."""
    d = region.d
    units = integers(np.eye(d, dtype=np.int64))
    centre, far = list(region.centre), np.maximum(np.abs(region.offsets[-2 * d : -d]), np.abs(region.offsets[-d:]))
    for j in range(d):
        # z_j is y_j less what those before it contribute.
        centre[j] -= int(slant[j, :j] @ integers(centre[:j])) >> _BITS
        far[j] += (int(np.abs(slant[j, :j]) @ far[:j]) >> _BITS) + 1
    return Region(
        np.concatenate([region.normals @ slant, units, -units]),
        np.concatenate([region.offsets * (1 << _BITS), far, far]),
        integers(centre),
        2.0 * template(d).radius * np.diag(shape),
    )
