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

from tukeydp.depth.notions import PreparedDepth
from tukeydp.exact.boxes import Box
from tukeydp.randomness import Keystream
from tukeydp.sampling import compiling
from tukeydp.sampling.branches import compile_once
from tukeydp.sampling.foresight import foresee
from tukeydp.sampling.sampler import Sampler

# Points refuted in one draw after which the exact facets between them and the level set are looked for: those of a thin
# level set cut off all of its surroundings at once, normals of a few digits never do. Speed only, but it decides what a
# seeded draw gives.
_FEW = 8


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
        foresee(self._levels, within, epsilon, lowest)
        self._sampler = self._sharpened()

    def draw(self, key: bytes) -> list[int]:
        """One grid point. No cap on tries: giving up would depend on the data."""
        compiling.count_draw()
        if self._compiled:
            compile_once()
        stream = Keystream(key)
        lane = refuted = 0
        while True:
            found = self._sampler.next_accepted(stream, lane)
            lane = found.lane + 1
            if self._decide is None:
                return found.point
            refutation = self._decide.refute(found.point, found.level, threads=self._threads)
            if refutation is None:
                return found.point
            refuted += 1
            fresh = refutation.short if len(refutation.short) else refutation.longest()
            if refuted > _FEW and (facet := refutation.facet()) is not None and self._decide.fits(facet):
                fresh = np.vstack([fresh, np.array([facet], dtype=np.int64)])
            if len(fresh):
                self._levels = self._levels.with_directions(fresh)
                self._sampler = self._sharpened()

    @property
    def _compiled(self) -> bool:
        """Exact depth has compiled sweeps anyway."""
        return self._decide is not None or compiling.due(*self._public)

    def _sharpened(self) -> Sampler:
        return Sampler(
            self._levels,
            within=self._within,
            epsilon=self._epsilon,
            lowest=self._lowest,
            threads=self._threads,
            compiled=self._compiled,
        )
