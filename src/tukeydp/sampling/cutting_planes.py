"""Exact draws for any notion of depth: cutting planes wherever a proposal exposes the envelope.

Finitely many directions give an envelope T_env >= T of a depth T, hence level sets and boxes that contain the true
ones. A proposal that the envelope accepts at level l is put to the notion's own test T(y) >= l. If it fails, halfspaces
through y with fewer than l rows join the envelope, and proposals go on: each is a rejection step of its own, so an
accepted point has exactly the target law whatever the envelope (docs/proofs/boxem.md, section 4). A notion of finitely
many directions is its own envelope: nothing is left to test.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from tukeydp.depth.deciding import GridDepth
from tukeydp.depth.exact_envelope import first_envelope
from tukeydp.depth.near_rows import NearRows, near_rows
from tukeydp.depth.notions import PreparedBlocks, PreparedDepth
from tukeydp.hints.branches import compile_once
from tukeydp.sampling import compiling
from tukeydp.sampling.deepest import deepest
from tukeydp.sampling.foresight import foresee
from tukeydp.sampling.sampler import Sampler
from tukeydp.trusted.bits import Keystream, derived_key
from tukeydp.trusted.boxes import Box, whole_grid
from tukeydp.trusted.levels import level_sets

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
            compile_once()
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
