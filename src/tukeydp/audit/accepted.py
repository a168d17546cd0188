"""What the package's sampler accepts each grid point with, in rationals: its boxes, its groups, its membership.

A proposal at level l is drawn uniformly from the boxes of the level's group, so a point is accepted with probability
proportional to the sum of the weights w_l over the levels whose boxes hold it and that it belongs to. Membership is
asked of the compiled loop.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from tukeydp.audit.oracles.depths import Point
from tukeydp.depth.deciding import GridDepth
from tukeydp.depth.levels import LevelSets
from tukeydp.exact.boxes import Box, Union
from tukeydp.exact.level_draw import Group, WordTable
from tukeydp.exact.parallelepipeds import Parallelepiped
from tukeydp.exact.tilted_boxes import SHARES, TiltedBox
from tukeydp.hints import slices
from tukeydp.hints.envelope import Envelope
from tukeydp.sampling import kept, kernels
from tukeydp.trusted.covers import Cover, Shape

# Every word decides: the one level of the table.
_ALL_WORDS = np.array([0], dtype=np.uint64), np.array([2**64 - 1], dtype=np.uint64)


class Membership:
    """Whether the compiled loop takes a point for as deep as a level; each question is asked once."""

    def __init__(self, levels: LevelSets, within: Box, decide: GridDepth | None = None) -> None:
        self._levels, self._within, self._decide = levels, within, decide
        self._known: dict[tuple[Point, int], bool] = {}
        self.agrees = True  # with `LevelSets.contains`, which other parts of the package use

    def __call__(self, y: Point, level: int) -> bool:
        if (y, level) not in self._known:
            inside = self._compiled(y, level)
            self.agrees &= inside == self._levels.contains(y, level)
            if inside and self._decide is not None:
                inside = self._decide.refute(y, level) is None
            self._known[y, level] = inside
        return self._known[y, level]

    def _compiled(self, y: Point, level: int) -> bool:
        """A proposal at this level from a box with this one point: accepted or not."""
        if level > self._levels.rows:
            return self._levels.contains(y, level)
        self._levels.ensure(max(1, level))
        table = WordTable(*_ALL_WORDS, np.array([level]), np.array([0]))
        proposals = kernels.proposals(table, [Box(y, y)], self._within)
        d = self._levels.d
        words = np.zeros(1 + d + kernels.SPARE, dtype=np.uint64)
        scratch = np.empty((2, d), dtype=np.int64)
        order = np.arange(len(self._levels.directions))
        status, _, _ = kept.propose(words, 0, proposals, kernels.ranks(self._levels), order, scratch[0], scratch[1])
        return bool(status == kernels.ACCEPTED)


def accepted_weight(member: Membership, groups: Sequence[tuple[Group, Shape]], y: Point, q: Fraction) -> Fraction:
    total = Fraction(0)
    lowest = groups[0][0].lowest
    for group, box in groups:
        times = _times(box, y)
        if not times:
            continue
        for level in range(group.lowest, group.highest + 1):
            if member(y, level):
                total += times * (q**level - (q ** (level - 1) if level > lowest else 0))
    return total


def _times(box: Shape, y: Point) -> Fraction | int:
    """How often the box holds the point: the boxes of a union might overlap, and must not.

    Of a tilted one, its size times the probability that the point is drawn and kept, if it is wanted.
    """
    if isinstance(box, Parallelepiped):
        return int(_holds_cube(box, y))
    if isinstance(box, TiltedBox):
        return _times(box.box, y) and _kept(box, y)
    if isinstance(box, Union):
        low, high = (ends[box.start : box.count].tolist() for ends in (box.pieces.low, box.pieces.high))
        return sum(_between(a, y, b) for a, b in zip(low, high, strict=True))
    z = y if box.basis is None else [sum(a * c for a, c in zip(row, y, strict=True)) for row in box.basis.matrix]
    return int(_between(box.low, z, box.high))


def _holds_cube(shape: Parallelepiped, y: Point) -> bool:
    """Whether the unit cube around a point is in the parallelepiped: else it is drawn less often."""
    for row, low, width in zip(shape.frame.matrix.tolist(), shape.low, shape.widths, strict=True):
        at, half = sum(a * c for a, c in zip(row, y, strict=True)), Fraction(sum(map(abs, row)), 2)
        if not low <= at - half <= at + half <= low + width:
            return False
    return True


def _kept(box: TiltedBox, y: Point) -> Fraction:
    """One, or less if the bound on the point's heights is wrong."""
    assert isinstance(box.box, Box)
    rarity = Fraction(1)
    basis = box.box.basis
    z = y if basis is None else [sum(a * c for a, c in zip(row, y, strict=True)) for row in basis.matrix]
    for c, starts, ends in zip(z, box.cells.starts.tolist(), box.cells.ends.tolist(), strict=True):
        cell = max(i for i, start in enumerate(starts[:-1]) if start <= c and ends[i] < ends[i + 1])
        rarity *= Fraction(SHARES * (starts[cell + 1] - starts[cell]), ends[cell + 1] - ends[cell])
    return min(Fraction(1), box.size / rarity)


def _between(low: Sequence[int], z: Sequence[int], high: Sequence[int]) -> bool:
    return all(a <= c <= b for a, c, b in zip(low, z, high, strict=True))


def slice_everything(envelope: Envelope, lowest: int, *_: object) -> None:
    """In the place of `Envelope.slice`: cut every box, whether it pays off or not."""
    for level in list(envelope.covers):
        if level > lowest and level not in envelope._slices:
            envelope._slices[level] = slices.slices(envelope._certifier, envelope._parts(level), 0)


def sliced_parts(envelope: Envelope, level: int) -> slices.Sliced:
    """In the place of `Envelope._parts`: the slices even if one box were smaller."""
    return envelope._slices.get(level) or slices.Sliced(envelope._best(level), (0,))


def slanted_if_any(envelope: Envelope, level: int) -> Cover:
    """In the place of `Envelope._best`: the slanted box even if it is larger."""
    return envelope._slanted.get(level, envelope.covers[level])


def branched_if_any(envelope: Envelope, lowest: int) -> bool:
    """In the place of `Envelope.branched`: the boxes of branch and bound even if they make more proposals."""
    return envelope.tree is not None and envelope.tree.base <= envelope.top
