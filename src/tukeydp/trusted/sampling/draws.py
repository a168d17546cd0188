"""Exact draws, guided by hints: along finitely many directions, and for any notion of depth."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from tukeydp.trusted.bits import Keystream, derived_key
from tukeydp.trusted.boxes import Box, whole_grid
from tukeydp.trusted.covers import Covers, region_of
from tukeydp.trusted.exact.deciding import GridDepth, NearRows, first_envelope, near_rows
from tukeydp.trusted.exponential import Accepted, Exponential
from tukeydp.trusted.hinted import asked
from tukeydp.trusted.lanes import MANY_COLUMNS
from tukeydp.trusted.laws import WORD
from tukeydp.trusted.levels import LevelSets, level_sets
from tukeydp.trusted.matrices import Integers
from tukeydp.trusted.prepared import PreparedBlocks, PreparedDepth
from tukeydp.trusted.sampling import compiling
from tukeydp.trusted.sizes.slices import count_in_slices
from tukeydp.trusted.streams.streamed_levels import StreamedLevels
from tukeydp.trusted.threads import available_cores


class Sampler:
    """Exact draws from the exponential mechanism over depth, restricted to depth >= lowest.

    No point that may be drawn is deeper than `highest`, where that is known. Draws from one sampler are independent
    given their keys; they share the covers found so far, which affect
    speed only, as do `hints`, `threads`, `word_bits` and whether it is `compiled`.
    """

    def __init__(
        self,
        levels: LevelSets,
        *,
        within: Box,
        epsilon: Fraction,
        lowest: int = 0,
        highest: int | None = None,
        hints: Any = None,
        threads: int | None = None,
        word_bits: int = WORD,
        compiled: bool = True,
    ) -> None:
        # Now, whether or not the search will come to it: that depends on the rows. The number of columns is public.
        if compiled or levels.d > MANY_COLUMNS:
            compiling.keep()
            asked("compile_once")
        if levels.d > MANY_COLUMNS:
            asked("compile_for_many_columns")
        self._covers = Covers(levels, within, highest)
        self._planner = asked("planner", self._covers, epsilon=epsilon, lowest=lowest, hints=hints)
        self._draws = Exponential(
            self._covers,
            epsilon=epsilon,
            lowest=lowest,
            planner=self._planner,
            threads=threads or available_cores(),
            word_bits=word_bits,
        )

    @property
    def top(self) -> int:
        """No grid point is deeper."""
        return self._covers.top

    def draw(self, key: bytes) -> list[int]:
        """One grid point."""
        return self._draws.draw(key)

    def accepted_soon(self, stream: Keystream, lane: int) -> tuple[Accepted | None, int]:
        """The first accepted proposal from `lane` on, or None after as many as should have sufficed; the next lane."""
        return self._draws.accepted_soon(stream, lane)


# Exact draws for any notion of depth: cutting planes wherever a proposal exposes the envelope.
#
# Finitely many directions give an envelope T_env >= T of a depth T, hence level sets and boxes that contain the true
# ones. A proposal that the envelope accepts at level l is put to the notion's own test T(y) >= l. If it fails,
# halfspaces through y with fewer than l rows join the envelope, and proposals go on: each is a rejection step of its
# own, so an accepted point has exactly the target law whatever the envelope (docs/proofs/boxem.md, section 4). A
# notion of finitely many directions is its own envelope: nothing is left to test.


# Points refuted in one draw after which the exact facets between them and the level set are looked for: those of a thin
# level set cut off all of its surroundings at once, normals of a few digits never do. Speed only, but it decides what a
# seeded draw gives.
_FEW = 8
# Points refuted in one draw after which the search starts again, in the rows' own coordinates if that is possible and
# below the levels that hold no grid point. Speed only, likewise.
_TROUBLE = 24
# The same where the envelope itself rejects nearly all proposals, because its deepest levels hold no grid point: how
# often boxes are refined in vain before, and in how many columns at most: in more, counting may take longer than that.
_IN_VAIN, _FEW_COLUMNS = 5, 4
# Of rows that are streamed, ranks are found together that a sampler of rough levels asks for. What was found makes the
# next such rehearsal better; after so many the sampler asks for the rest itself, one by one. Speed only.
_REHEARSALS = 3
_BEYOND = 44.0  # log of more than 2^63: weights so much smaller than one deep point's are as good as never drawn


class DepthSampler:
    """Exact draws from the exponential mechanism over a depth, restricted to depth >= lowest.

    Pr[y] is proportional to e^(epsilon T(y)/2) over the points of `within` with T(y) >= lowest.
    """

    def __init__(
        self,
        depth: PreparedDepth,
        *,
        within: Box,
        epsilon: Fraction,
        lowest: int = 0,
        threads: int | None = None,
    ) -> None:
        self._decide, self._levels = depth.decide, depth.levels
        self._within, self._epsilon, self._lowest, self._threads = within, epsilon, lowest, threads
        widest = max(b - a for a, b in zip(within.low, within.high, strict=True))
        self._public = (len(depth.levels.directions), depth.levels.d, widest)
        self._near: NearRows | None = None
        self._highest: int | None = None
        if (near := self._near_rows()) is not None and near.thin:
            self._move(near)
        foresee(self._levels, self._within, epsilon, lowest)
        self._sampler = self._sharpened()

    def draw(self, key: bytes) -> list[int]:
        """One grid point. No cap on tries: giving up would depend on the data."""
        compiling.count_draw()
        if self._compiled:
            compiling.keep()
            asked("compile_once")
        stream = Keystream(key)
        lane = refuted = in_vain = 0
        while True:
            found, lane = self._sampler.accepted_soon(stream, lane)
            if found is None:
                in_vain += 1
                if in_vain == _IN_VAIN and self._highest is None and self._levels.d <= _FEW_COLUMNS:
                    self._start_again()
                continue
            lane, in_vain = found.lane + 1, 0
            refutation = None
            if self._decide is not None:
                refutation = self._decide.refute(found.point, found.level, threads=self._threads)
            if self._decide is None or refutation is None:
                return found.point if self._near is None else self._near.point(found.point)
            refuted += 1
            fresh = refutation.short if len(refutation.short) else refutation.longest()
            if refuted > _FEW:
                fresh = np.vstack([fresh, refutation.longest_facet()])
            if refuted == _TROUBLE:
                self._start_again()
            elif len(fresh):
                self._levels = self._levels.with_directions(fresh)
                self._sampler = self._sharpened()

    @property
    def _compiled(self) -> bool:
        """Exact depth has compiled sweeps anyway."""
        return self._decide is not None or compiling.due(*self._public)

    def _near_rows(self) -> NearRows | None:
        """The rows in coordinates of their own, if all points that may be drawn are in their hull and not there yet."""
        if self._decide is None or self._lowest < 1 or self._near is not None:
            return None
        rows = self._levels.table
        if not len(rows):
            return None
        inside = self._within.holds(rows.min(axis=0).tolist()) and self._within.holds(rows.max(axis=0).tolist())
        return near_rows(rows) if inside else None

    def _move(self, near: NearRows) -> None:
        """Go on in these coordinates: depths are the same there."""
        self._near, self._within = near, whole_grid(near.grid)
        self._levels = level_sets(near.rows, first_envelope(near.rows, near.grid))
        self._decide = GridDepth(near.rows, near.grid)

    def _start_again(self) -> None:
        """With all digits that normals have room for, and from the deepest level that holds a grid point.

        Where nothing is left to test, as it was.
        """
        if self._decide is None:
            return
        if (near := self._near_rows()) is not None:
            self._move(near)
        found = deepest(self._levels, self._decide, self._within, self._lowest, self._sampler.top)
        self._levels, self._highest = found
        self._sampler = self._sharpened()

    def _sharpened(self) -> Sampler:
        return Sampler(
            self._levels,
            within=self._within,
            epsilon=self._epsilon,
            lowest=self._lowest,
            highest=self._highest,
            threads=self._threads,
            compiled=self._compiled,
        )


class BlockSampler:
    """Exact draws from the exponential mechanism over the mean of the columns' depths, each in its column's block.

    Pr[y] is proportional to e^(epsilon/2 sum_b (d_b/d) T_b(y)) over the points of `within`: a product, so that each
    block is drawn by itself (docs/proofs/boxem.md, section 9).
    """

    def __init__(self, depth: PreparedBlocks, *, within: Box, epsilon: Fraction) -> None:
        d = depth.directions.shape[1]
        self._samplers = [
            DepthSampler(
                part,
                within=Box(within.low[columns], within.high[columns]),
                epsilon=epsilon * Fraction(columns.stop - columns.start, d),
            )
            for columns, part in depth.parts
        ]

    def draw(self, key: bytes) -> list[int]:
        """One grid point."""
        return [c for b, sampler in enumerate(self._samplers) for c in sampler.draw(derived_key("block", b, key))]


def point_sampler(
    depth: PreparedDepth | PreparedBlocks, *, within: Box, epsilon: Fraction
) -> DepthSampler | BlockSampler:
    """What deep points are drawn from, of a whole table or of blocks of its columns."""
    if isinstance(depth, PreparedBlocks):
        return BlockSampler(depth, within=within, epsilon=epsilon)
    return DepthSampler(depth, within=within, epsilon=epsilon)


def levels_with_weight(within: Box, epsilon: Fraction) -> int:
    """How many levels below the deepest may be drawn, but for a chance of 2^-63: public numbers decide."""
    return math.ceil(2 * Fraction(math.log(within.size) + _BEYOND) / epsilon)


def foresee(levels: LevelSets, within: Box, epsilon: Fraction, lowest: int) -> None:
    """Have the ranks found that a sampler for these levels is likely to ask for."""
    if not isinstance(levels, StreamedLevels):
        return
    for _ in range(_REHEARSALS):
        before, rough = levels.passes, levels.rough
        top = Sampler(rough, within=within, epsilon=epsilon, lowest=lowest, threads=1).top
        levels.foresee(rough.asked, max(1, lowest, top - levels_with_weight(within, epsilon)), max(1, top))
        if levels.passes == before:
            return


# A thin level set may hold no grid point, and still be in boxes of many: proposals from there would all be refuted.


def deepest(levels: LevelSets, depth: GridDepth, within: Box, lowest: int, top: int) -> tuple[LevelSets, int]:
    """The deepest level with a grid point in `within`, from `top` down, and level sets with what refuted the others.

    `levels` are the envelope of the depth, and no grid point is deeper than `top`. At least `lowest`.
    """
    step = 1
    empty = top + 1
    held = lowest
    while empty - step > held:
        levels, found = _holds(levels, depth, within, empty - step)
        if found:
            held = empty - step
            break
        empty, step = empty - step, 2 * step
    while held + 1 < empty:
        middle = (held + empty) // 2
        levels, found = _holds(levels, depth, within, middle)
        held, empty = (middle, empty) if found else (held, middle)
    return levels, held


def _holds(levels: LevelSets, depth: GridDepth, within: Box, level: int) -> tuple[LevelSets, bool]:
    """Whether some grid point is so deep, and the level sets with the halfspaces that showed where none is."""
    fresh: list[list[int]] = []

    def decide(point: Integers) -> tuple[Integers, Integers] | None:
        cuts = depth.cuts(point, level)
        if cuts is None:
            return None
        fresh.extend(cuts.fitting)
        return cuts.normals, cuts.offsets

    found = count_in_slices(1, region_of(levels, within, level), decide)
    if fresh:
        levels = levels.with_directions(np.unique(np.array(fresh, dtype=np.int64), axis=0))
    return levels, bool(found)
