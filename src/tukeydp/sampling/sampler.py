"""Exact draws, planned by hints."""

from __future__ import annotations

from fractions import Fraction

from tukeydp.hints.branches import compile_once
from tukeydp.hints.linear_programs import Hints
from tukeydp.hints.planner import LadderPlanner
from tukeydp.sampling.compiling_many import compile_for_many_columns
from tukeydp.trusted.bits import Keystream
from tukeydp.trusted.boxes import Box
from tukeydp.trusted.covers import Covers
from tukeydp.trusted.exponential import Accepted, Exponential
from tukeydp.trusted.lanes import MANY_COLUMNS
from tukeydp.trusted.laws import WORD
from tukeydp.trusted.levels import LevelSets
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
        hints: Hints | None = None,
        threads: int | None = None,
        word_bits: int = WORD,
        compiled: bool = True,
    ) -> None:
        # Now, whether or not the search will come to it: that depends on the rows. The number of columns is public.
        if compiled or levels.d > MANY_COLUMNS:
            compile_once()
        if levels.d > MANY_COLUMNS:
            compile_for_many_columns()
        self._covers = Covers(levels, within, highest)
        self._planner = LadderPlanner(self._covers, epsilon=epsilon, lowest=lowest, hints=hints)
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

    def next_accepted(self, stream: Keystream, lane: int) -> Accepted:
        """The first accepted proposal from `lane` on."""
        return self._draws.next_accepted(stream, lane)

    def accepted_soon(self, stream: Keystream, lane: int) -> tuple[Accepted | None, int]:
        """The same and the next lane, or None after as many proposals as should have sufficed: covers are finer now."""
        return self._draws.accepted_soon(stream, lane)
