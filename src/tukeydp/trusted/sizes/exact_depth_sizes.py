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

from tukeydp.trusted.boxes import Box
from tukeydp.trusted.exact.deciding import GridDepth
from tukeydp.trusted.exact.depth import CONES_ARE_QUICK
from tukeydp.trusted.hinted import asked
from tukeydp.trusted.laws import rounded_down
from tukeydp.trusted.levels import LevelSets
from tukeydp.trusted.matrices import Integers, integers, inverse
from tukeydp.trusted.parameters import FloatArray
from tukeydp.trusted.sizes.boxed import COUNTED
from tukeydp.trusted.sizes.copies import Copy, DeepEnvelope, largest_copy, template, upright_copy
from tukeydp.trusted.sizes.grid_points import Ends, tight_ends
from tukeydp.trusted.sizes.level_sizes import bounds_of
from tukeydp.trusted.sizes.linear_programs import Region
from tukeydp.trusted.sizes.slices import SliceCount

# Bits of corners below half a cell, at first; more follow where rounding was too much. Speed only.
_COARSE = 6
# Least bits of the inflation that stands in for half a cell, and by which corners get finer. A copy is shrunk by as
# much, so that a small slack needs more: with too few both bounds would never meet.
_FINE = 12
# The gap that the barrier method may leave where sizes need not be close. Speed only.
_ROUGH = 0.25
# There, halfspaces are added as long as they shrink the copy by such a part of how far apart bounds may be, and a
# smaller copy is looked at once so many were not deep. Speed only.
_WORTH_IT, _PATIENCE = Fraction(1, 40), 3
_HELPFUL = Fraction(1, 10**6)  # the part by which halfspaces must shrink a copy to be worth more of their kind
_SOONER = 2  # power of how far apart counts may be: most coins need to know only that there are some points; speed only
_NEAR = 1  # levels over which halfspaces that were looked for at one serve another; speed only
_BOXED = 3  # levels over which the box around one serves those above; speed only
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
        self._depth = depth
        self._along = bounds_of(along, within, base)
        self._envelope = DeepEnvelope(envelope, within, *self._along.place)
        gap = slack * _PART_OF_SLACK
        self._gap = float(gap)
        self._fine = max(_FINE, (math.ceil(2 * envelope.d / gap) - 1).bit_length())  # 2 d 2^-fine <= gap
        self._shape: FloatArray | None = None
        self._copies: dict[int, Copy] = {}  # the last one of a level
        self._boxes: dict[int, Ends] = {}
        self._weakest = 0
        self._counts: dict[int, SliceCount] = {}  # by level, to go on where they were left
        self._cut_at: set[int] = set()  # levels that halfspaces were looked for
        self._volume = template(envelope.d).volume / 2**envelope.d  # of a copy whose diagonal's product is 1, in cells
        self.top = self._along.top
        asked("compile_walk")

    def upper(self, level: int) -> Fraction:
        return self._along.upper(level)

    def lower(self, level: int) -> Fraction:
        bits, before = _COARSE, None
        while True:
            region = self._envelope.region(level)
            if region is None:
                return Fraction(0)
            copy = self._largest(level, region, bits)
            if copy is None or self._volume * copy.most < COUNTED:
                return Fraction(self._counted(level, region))
            smaller, points, finer = self._looked_at(_shrunk(copy, self._fine))
            helped = before is None or copy.most < before * (1 - _HELPFUL)
            before = copy.most
            if helped and self._envelope.extended(self._parted(points, finer, level)):
                continue
            refuting = self._shallow(points, finer, level)
            most, least = self._volume * copy.most, self._volume * smaller.diagonal
            if not refuting and most <= least * (1 + self.slack / 2):
                if least >= COUNTED:
                    return rounded_down(least)
                return Fraction(self._counted(level, region))
            if not self._envelope.extended(refuting):
                bits += self._fine  # nothing new to learn: the corners were rounded too much

    def lower_at_most(self, level: int) -> Fraction:
        """A number that the same is not above: no depth is proven for it."""
        near = any(abs(level - other) <= _NEAR for other in self._cut_at)
        quick = self._envelope.d <= CONES_ARE_QUICK or near
        found = self._enveloped(level, _ROUGH) if quick else self._cut(level, Fraction(8))
        return Fraction(COUNTED) if found is None else max(Fraction(COUNTED), found[1])

    def lower_between(self, level: int, apart: Fraction) -> tuple[Fraction, Fraction]:
        """The same from below and from above, apart by a factor of 1 + apart or a few times as much."""
        halvings, failures = self._halvings(apart), 0
        while True:
            found = self._cut(level, apart)
            if found is None or found[1] < COUNTED:
                return self._counted_between(level, apart)
            copy, most = found
            smaller, points, bits = self._looked_at(_shrunk(copy, halvings))
            refuting = self._shallow(points, bits, level)
            least = self._volume * smaller.diagonal
            if not refuting and least >= COUNTED:
                return rounded_down(least), most
            if not self._envelope.extended(refuting):
                break
            failures += 1
            halvings = max(1, halvings - (failures % _PATIENCE == 0))
        size = self.lower(level)
        return size, size

    def _halvings(self, apart: Fraction) -> int:
        """The least k for which a copy smaller by the part 2^-k on every side has not lost too much."""
        k = 1
        while (1 + apart / 2) * (1 - Fraction(1, 1 << k)) ** self._envelope.d < 1:
            k += 1
        return k

    def _cut(self, level: int, apart: Fraction) -> tuple[Copy, Fraction] | None:
        """The largest copy inside the envelope, once halfspaces that are found at once hardly shrink it any more."""
        gap = min(_ROUGH, float(apart) / 4)
        self._cut_at.add(level)
        found = self._enveloped(level, gap)
        while found is not None and found[1] >= COUNTED:
            _, points, bits = self._looked_at(found[0])
            if not self._envelope.extended(self._parted(points, bits, level)):
                break
            before, found = found[1], self._enveloped(level, gap)
            if found is None or found[1] > before * (1 - apart * _WORTH_IT):
                break
        return found

    def _parted(self, points: Integers, bits: int, level: int) -> list[list[int]]:
        """Normals that seem to part one of the points / 2^bits from the level set, from those of the envelope."""
        found: list[list[int]] = self._depth.parted(points, level, bits, *self._envelope.halfspaces(level)).tolist()
        return found

    def _enveloped(self, level: int, gap: float) -> tuple[Copy, Fraction] | None:
        """About the largest copy inside the envelope's level set, and a volume that none exceeds; None if none fits."""
        region = self._envelope.region(level)
        copy = None if region is None else self._largest(level, region, _COARSE, gap)
        return None if copy is None else (copy, self._volume * copy.most)

    def _shallow(self, points: Integers, bits: int, level: int) -> list[list[int]]:
        """Normals of halfspaces that refute some of the points / 2^bits; none if each of them is deep."""
        # The corner that was not deep the last time is likely not to be, again.
        order = sorted(range(len(points)), key=lambda i: i != self._weakest)
        refuting: list[list[int]] = []
        for i in order:
            if found := self._refuting(points[i], bits, level):
                self._weakest = i
                refuting += found
                if self._envelope.d > CONES_ARE_QUICK:
                    break
        return refuting

    def _largest(self, level: int, region: Region, bits: int, gap: float | None = None) -> Copy | None:
        """The largest copy inside the region shrunk by half a cell, in half cells."""
        ends = self._box(level, region)
        if ends is None:
            return None
        sizes = np.abs(region.normals).sum(axis=1)
        shrunk = Region(region.normals, 2 * region.offsets - sizes, 2 * region.centre, 2.0 * region.scale)
        low, high = integers([2 * a - 2 for a in ends[0]]), integers([2 * b + 2 for b in ends[1]])
        near = self._copies.get(level)
        gap = self._gap if gap is None else gap
        if bits > _COARSE and self._shape is not None:  # rounding was too much: that of floats, perhaps
            found = upright_copy(shrunk, self._shape, bits, gap)
        else:
            found = largest_copy(shrunk, low, high, bits, self._shape, gap, near)
        if found is None:
            return None
        self._copies[level], self._shape = found
        return self._copies[level]

    def _box(self, level: int, region: Region) -> Ends | None:
        """The ends of a box that contains the level set; None if the region is empty.

        Envelopes only shrink, and level sets are inside lower ones: what was a box for them still is one.
        """
        known = [other for other in self._boxes if level - _BOXED <= other <= level]
        if known:
            return self._boxes[max(known)]
        ends = tight_ends(region)
        if ends is not None:
            self._boxes[level] = ends
        return ends

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

    def _refuting(self, point: Integers, bits: int, level: int) -> list[list[int]]:
        """Integer normals of halfspaces around `point` / 2^bits with fewer than `level` rows; none if it is deep."""
        refutation = self._depth.refute(point, level, bits)
        if refutation is None:
            return []
        facet = refutation.facet()
        return [*refutation.short.tolist(), refutation.exact_normal() if facet is None else facet]

    def _counted_between(self, level: int, apart: Fraction) -> tuple[Fraction, Fraction]:
        """The same where no copy has the volume of `COUNTED` cells: a few points at first, more the next time."""
        region = self._envelope.region(level)
        enough = math.ceil(COUNTED / (1 + apart) ** _SOONER)
        found = 0 if region is None else self._counted(level, region, enough)
        return Fraction(found), Fraction(found if found < enough else COUNTED)

    def _counted(self, level: int, region: Region, enough: int = COUNTED) -> int:
        """How many grid points are so deep, up to `enough`; the region is the envelope's level set."""

        def decide(point: Integers) -> tuple[Integers, Integers] | None:
            cuts = self._depth.cuts(point, level)
            if cuts is None:
                return None
            self._envelope.extended(cuts.fitting)
            return cuts.normals, cuts.offsets

        if level not in self._counts:
            self._counts[level] = SliceCount(COUNTED, region, decide)
        return self._counts[level].upto(enough)


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


def _shrunk(copy: Copy, halvings: int) -> Copy:
    """The copy times 1 - 2^-halvings, about its centre."""
    bits, scale = copy.bits + halvings, 1 << halvings
    return replace(copy, factor=copy.factor * (scale - 1), bits=bits, centre=copy.centre * scale)
