"""Sizes of the level sets of exact depth (docs/proofs/rem.md, section 7).

Above: the upper size of the level set along finitely many public directions, which contains the exact one. Below: the
number of grid points up to `COUNTED`, and the largest copy of a fixed polytope inside the set shrunk by half a cell.
An envelope of finitely many halfspaces bounds the copies from above; a copy whose corners are deep is one from below.
Corners that are not deep add halfspaces to the envelope, until both bounds meet.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np

from tukeydp.arrays import FloatArray
from tukeydp.data.grid import LIMIT
from tukeydp.depth.deciding import GridDepth
from tukeydp.depth.exact_depth import CONES_ARE_QUICK
from tukeydp.depth.levels import LevelSets
from tukeydp.exact.boxes import Box
from tukeydp.exact.brackets import rounded_down
from tukeydp.exact.linear_programs import Region
from tukeydp.exact.matrices import Integers, integers, inverse
from tukeydp.exact.slices import SliceCount
from tukeydp.sizes.boxed import COUNTED
from tukeydp.sizes.grid_points import tight_ends
from tukeydp.sizes.inscribed_copies import Copy, largest_copy, template
from tukeydp.sizes.level_sizes import bounds_of

# Bits of corners below half a cell, at first; more follow where rounding was too much. Speed only.
_COARSE = 6
# Least bits of the inflation that stands in for half a cell, and by which corners get finer. A copy is shrunk by as
# much, so that a small slack needs more: with too few both bounds would never meet.
_FINE = 12
# The gap that the barrier method may leave where sizes need not be close. Speed only.
_ROUGH = 0.25
# There, each corner that is not deep adds so many halfspaces, as long as that shrinks the copy by such a part of how
# far apart bounds may be; then copies shrink by such parts until they are deep, so many for one look. Speed only.
_CUTS, _WORTH_IT, _PARTS, _COPIES = 2, Fraction(1, 40), 16, 2
_SOONER = 2  # power of how far apart counts may be: most coins need to know only that there are some points; speed only
_NEAR = 3  # levels over which halfspaces that were looked for at one serve another; speed only
_SWEEPS_ARE_QUICK = 2  # columns up to which corners are decided one by one; speed only
# The inflation in d columns, and the gap that the barrier method leaves, may take this part of the slack each.
_PART_OF_SLACK = Fraction(1, 4)


class ExactSizes:
    """Sizes for exact depth in any number of columns."""

    exact = False

    def __init__(
        self, depth: GridDepth, along: LevelSets, envelope: LevelSets, within: Box, base: int, slack: Fraction
    ) -> None:
        """`along` has public directions; `base` is the lowest level whose `lower` is wanted."""
        self.slack = slack
        self._depth, self._within = depth, within
        self._along = bounds_of(along, within, base)
        self._envelope = envelope
        gap = slack * _PART_OF_SLACK
        self._gap = float(gap)
        self._fine = max(_FINE, (math.ceil(envelope.d / gap) - 1).bit_length())  # d 2^-fine <= gap
        self._known: set[tuple[int, ...]] = set()
        self._long: list[tuple[Integers, list[int]]] = []  # normals beyond 64 bits, and sorted projections on them
        self._shape: FloatArray | None = None
        self._parts, self._weakest = _PARTS, 0
        self._counts: dict[int, SliceCount] = {}  # by level, to go on where they were left
        self._cut_at: set[int] = set()  # levels that halfspaces were looked for
        self._volume = template(envelope.d).volume / 2**envelope.d  # of a copy whose diagonal's product is 1, in cells
        self.top = self._along.top

    def upper(self, level: int) -> Fraction:
        return self._along.upper(level)

    def lower(self, level: int) -> Fraction:
        bits = _COARSE
        while True:
            region = self._region(level)
            if region is None:
                return Fraction(0)
            ends = tight_ends(region)
            if ends is None:
                return Fraction(0)
            copy = self._largest(region, ends, bits)
            if copy is None or self._volume * copy.most < COUNTED:
                return Fraction(self._counted(level, region))
            inside, refuting = self._checked(copy, level)
            most, least = self._volume * copy.most, self._volume * inside
            if not refuting and most <= least * (1 + self.slack / 2):
                if least >= COUNTED:
                    return rounded_down(least)
                return Fraction(self._counted(level, region))
            if not self._extended(refuting):
                bits += self._fine  # nothing new to learn: the corners were rounded too much

    def lower_at_most(self, level: int) -> Fraction:
        """A number that the same is not above: no depth is proven for it."""
        near = any(abs(level - other) <= _NEAR for other in self._cut_at)
        quick = self._envelope.d <= CONES_ARE_QUICK or near
        found = self._enveloped(level, _ROUGH) if quick else self._cut(level, Fraction(8))
        return Fraction(COUNTED) if found is None else max(Fraction(COUNTED), found[1])

    def lower_between(self, level: int, apart: Fraction) -> tuple[Fraction, Fraction]:
        """The same from below and from above, apart by a factor of 1 + apart or what a few copies leave."""
        least, most = Fraction(0), Fraction(0)
        for _ in range(_COPIES):
            found = self._cut(level, apart)
            if found is None or found[1] < COUNTED:
                return self._counted_between(level, apart)
            copy, most = found
            inside, refuting = self._deep_part(copy, level)
            least = max(least, self._volume * inside)
            if most <= least * (1 + apart):
                break
            self._extended(refuting)
        if least < COUNTED:
            least = most = self.lower(level)
            return least, most
        return rounded_down(least), most

    def _cut(self, level: int, apart: Fraction) -> tuple[Copy, Fraction] | None:
        """The largest copy inside the envelope, once halfspaces that are found at once hardly shrink it any more."""
        gap = min(_ROUGH, float(apart) / 4)
        self._cut_at.add(level)
        found = self._enveloped(level, gap)
        chosen: list[int] | None = None  # corners that were not deep the last time: likely they are not, again
        while found is not None and found[1] >= COUNTED:
            _, points, bits = self._looked_at(found[0])
            corners = range(len(points)) if chosen is None or max(chosen, default=0) >= len(points) else chosen
            refuting = {i: self._refuting(points[i], bits, level, quick=True)[:_CUTS] for i in corners}
            chosen = [i for i, normals in refuting.items() if normals]
            if not self._extended([normal for normals in refuting.values() for normal in normals]):
                break
            before, found = found[1], self._enveloped(level, gap)
            if found is None or found[1] > before * (1 - apart * _WORTH_IT):
                break
        return found

    def _enveloped(self, level: int, gap: float) -> tuple[Copy, Fraction] | None:
        """About the largest copy inside the envelope's level set, and a volume that none exceeds; None if none fits."""
        region = self._region(level)
        ends = None if region is None else tight_ends(region)
        copy = None if region is None or ends is None else self._largest(region, ends, _COARSE, gap)
        return None if copy is None else (copy, self._volume * copy.most)

    def _deep_part(self, copy: Copy, level: int) -> tuple[Fraction, list[list[int]]]:
        """The diagonal of a smaller copy about the same centre that is deep, if any; what made it smaller."""
        refuting: list[list[int]] = []
        for parts in range(self._parts, 0, -1):
            smaller, points, bits = self._looked_at(_shrunk(copy, parts))
            found = self._shallow(points, bits, level)
            if not found:
                self._parts = min(_PARTS, parts + 1)
                return smaller.diagonal, refuting
            refuting += found[:_CUTS]
        return Fraction(0), refuting

    def _shallow(self, points: Integers, bits: int, level: int) -> list[list[int]]:
        """Normals of halfspaces that refute one of the points / 2^bits; none if all are deep."""
        # The corner that was not deep the last time is likely not to be, again.
        order = sorted(range(len(points)), key=lambda i: i != self._weakest)
        if self._envelope.d > _SWEEPS_ARE_QUICK:
            if found := self._refuting(points[order[0]], bits, level, quick=True):
                return found
            decided = self._depth.all_deep(points, level, bits)
            if decided is True:
                return []
            if decided is not None:
                order.sort(key=lambda i: i != decided)
        for i in order:
            if found := self._refuting(points[i], bits, level):
                self._weakest = i
                return found
        return []

    def _largest(
        self, region: Region, ends: tuple[tuple[int, ...], tuple[int, ...]], bits: int, gap: float | None = None
    ) -> Copy | None:
        """The largest copy inside the region shrunk by half a cell, in half cells."""
        sizes = np.abs(region.normals).sum(axis=1)
        shrunk = Region(region.normals, 2 * region.offsets - sizes, 2 * region.centre, 2.0 * region.scale)
        low, high = integers([2 * a - 2 for a in ends[0]]), integers([2 * b + 2 for b in ends[1]])
        found = largest_copy(shrunk, low, high, bits, self._shape, self._gap if gap is None else gap)
        if found is None:
            return None
        copy, self._shape = found
        return copy

    def _checked(self, copy: Copy, level: int) -> tuple[Fraction, list[list[int]]]:
        """The diagonal of a slightly smaller copy, and halfspaces that show that it is not in the level set, if so."""
        smaller, points, bits = self._looked_at(copy)
        refuting = [normal for point in points for normal in self._refuting(point, bits, level, quick=True)]
        return smaller.diagonal, refuting or self._shallow(points, bits, level)

    def _looked_at(self, copy: Copy) -> tuple[Copy, Integers, int]:
        """A slightly smaller copy, and points whose hull holds it and half a cell around, over 2^bits in half cells."""
        d = len(copy.centre)
        # 1 - 2^-fine, in integers over 2^(bits + fine).
        fine = self._fine
        factor, bits = copy.factor * ((1 << fine) - 1), copy.bits + fine
        smaller = replace(copy, factor=factor, bits=bits, centre=copy.centre * (1 << fine))
        corners = smaller.centre + template(d).corners @ factor.T
        if _holds_half_a_cell(copy, fine):
            # Larger again by the factor 1 + 2^-fine, which is more than half a cell on every side.
            points = corners + template(d).corners @ (copy.factor.T)
        else:
            cell = integers(np.array(list(np.ndindex(*([2] * d)))) * 2 - 1) * (1 << bits)
            points = np.concatenate([corner + cell for corner in corners])
        return smaller, points, bits + 1

    def _refuting(self, point: Integers, bits: int, level: int, quick: bool = False) -> list[list[int]]:
        """Integer normals of halfspaces around `point` / 2^bits with fewer than `level` rows; none if it is deep."""
        refutation = self._depth.refute(point, level, bits, quick=quick)
        if refutation is None:
            return []
        return refutation.short.tolist() or [refutation.exact_normal()]

    def _counted_between(self, level: int, apart: Fraction) -> tuple[Fraction, Fraction]:
        """The same where no copy has the volume of `COUNTED` cells: a few points at first, more the next time."""
        region = self._region(level)
        enough = math.ceil(COUNTED / (1 + apart) ** _SOONER)
        found = 0 if region is None else self._counted(level, region, enough)
        return Fraction(found), Fraction(found if found < enough else COUNTED)

    def _counted(self, level: int, region: Region, enough: int = COUNTED) -> int:
        """How many grid points are so deep, up to `enough`; the region is the envelope's level set."""

        def decide(point: Integers) -> tuple[Integers, Integers] | None:
            cuts = self._depth.cuts(point, level)
            if cuts is None:
                return None
            self._extended(cuts.fitting)
            return cuts.normals, cuts.offsets

        if level not in self._counts:
            self._counts[level] = SliceCount(COUNTED, region, decide)
        return self._counts[level].upto(enough)

    def _extended(self, refuting: list[list[int]]) -> bool:
        """Whether there were halfspaces among these that the envelope did not have; it has them now."""
        normals = sorted({tuple(v) for v in refuting} - self._known)
        self._known.update(normals)
        short = [v for v in normals if self._fits(v)]
        if short:
            self._envelope = self._envelope.with_directions(np.array(short, dtype=np.int64))
        rows = integers(self._envelope.table)
        self._long += [(integers(v), sorted((rows @ integers(v)).tolist())) for v in normals if not self._fits(v)]
        return bool(normals)

    def _fits(self, normal: tuple[int, ...]) -> bool:
        extent = max(max(abs(a), abs(b)) for a, b in zip(self._within.low, self._within.high, strict=True))
        return sum(map(abs, normal)) * extent < LIMIT

    def _region(self, level: int) -> Region | None:
        """The envelope's level set."""
        if not 1 <= level <= self._envelope.highest_unbroken():
            return None
        low, high = self._envelope.offsets(level)
        directions = integers(self._envelope.directions)
        units = integers(np.eye(directions.shape[1], dtype=np.int64))
        normals, offsets = [directions, -directions], [integers(high), -integers(low)]
        for normal, projections in self._long:
            normals.append(np.stack([normal, -normal]))
            offsets.append(integers([projections[-level], -projections[level - 1]]))
        bounds = integers([*self._within.high, *(-a for a in self._within.low)])
        centre, scale = self._along.place
        return Region(np.concatenate([*normals, units, -units]), np.concatenate([*offsets, bounds]), centre, scale)


def _holds_half_a_cell(copy: Copy, fine: int) -> bool:
    """Whether 2^-fine times the copy, less what shrinking took, contains half a cell: then no corners need a look."""
    inverted = inverse(copy.factor)
    if inverted is None:
        return False
    adjugate, determinant = inverted
    d = len(copy.centre)
    # The copy of the cross-polytope inside Q contains the cube [-1, 1]^d if |B^-1| sums up to at most its radius.
    total = Fraction(int(np.abs(adjugate).sum()) << copy.bits, determinant)
    return total <= Fraction(template(d).radius, 1 << fine)


def _shrunk(copy: Copy, parts: int) -> Copy:
    """The copy times parts / _PARTS, about its centre."""
    bits = copy.bits + _PARTS.bit_length() - 1
    return replace(copy, factor=copy.factor * parts, bits=bits, centre=copy.centre * _PARTS)
