"""The exact sampler: propose from certified boxes, accept by depth, until a proposal is accepted.

Whatever the envelope, an accepted proposal has exactly the target law, Pr[y] proportional to e^(epsilon T(y)/2)
on the levels from `lowest` up (docs/proofs/boxem.md). So the envelope may be refined between proposals, and any
number of threads may propose: proposals are numbered, and the accepted one of smallest number is returned.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from tukeydp.depth.levels import LevelSets
from tukeydp.exact.boxes import Box, Union
from tukeydp.exact.level_draw import WORD, Group, LevelDraw
from tukeydp.randomness import Keystream
from tukeydp.sampling import compiling, records
from tukeydp.sampling.branches import compile_once
from tukeydp.sampling.compiling_many import compile_for_many_columns
from tukeydp.sampling.envelope import Envelope
from tukeydp.sampling.envelope.slices import Shape
from tukeydp.sampling.fast_proposals import FastProposals, fast_proposals
from tukeydp.sampling.hints import Hints
from tukeydp.sampling.ladder import Ladder, plan_ladder
from tukeydp.sampling.simplex_hints import MANY_COLUMNS, hints_for
from tukeydp.threads import available_cores, for_each_with

Groups = Sequence[tuple[Group, Shape | Union]]

# Speed only: the law is the same for all values of these, but what a seeded draw gives is not.
_LANE_WORDS = (2**11, 2**13, 2**16)  # in the lanes 0, 1, 2, ...; the first are short, because most draws end there
# Proposals for one accepted point: assumed at first, and by which factor more each time they do not suffice. The more
# are assumed, the more boxes are worth their price.
_EASY, _HARDER = 64.0, 8.0
# Beyond MANY_COLUMNS, by which factor more at first for each further column, and how many at most: judging by round
# tables, which take about 10^6 proposals in twenty columns.
_HARDER_BY_COLUMN, _NOT_EASY = 2.3, 2.0**18
_PATIENCE = 8.0  # tries before boxes are refined, over those expected: if that is right, all fail with chance e^-8
_WORTH_A_BASIS = 10_000  # assumed proposals from which slanted boxes are looked for: they cost many programs
# In proposals, what certifying a box takes: for each linear program, and more for each direction in it; for each column
# where no program is needed.
_PROGRAM, _PROGRAM_ROW, _NO_PROGRAM = 400.0, 4.0, 4.0
# A grid is coarse where the middle half of a column spans fewer steps than this: then levels may hold no grid point.
_FEW_STEPS = 256
_FEW_POINTS, _MANY_POINTS = 2**12, 2**20  # grid points looked at one by one: at first, and at most (8 MiB a column)
# Branch and bound: in proposals, what one of its small programs takes, and how many of them are worth a try at once.
_SMALL_PROGRAM, _FEW_PROGRAMS = 40.0, 1000
_HUGE, _TINY = Fraction(10**300), Fraction(1, 10**300)  # epsilons beyond count as these in estimates, which are floats


@dataclass(frozen=True)
class Accepted:
    """An accepted proposal: a grid point, the level it was proposed at, and the lane it came from."""

    point: list[int]
    level: int
    lane: int


class Sampler:
    """Exact draws from the exponential mechanism over depth, restricted to depth >= lowest.

    No point that may be drawn is deeper than `highest`, where that is known. Draws from one sampler are independent
    given their keys; they share the boxes found so far, which affect
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
            compile_for_many_columns(Search)
        self._levels, self._within, self._epsilon, self._lowest = levels, within, epsilon, lowest
        self._half_epsilon = float(max(_TINY, min(epsilon, _HUGE))) / 2
        self._threads, self._word_bits = threads or available_cores(), word_bits
        self._envelope = Envelope(levels, within, hints or hints_for(levels), highest)
        self._proposals = min(_NOT_EASY, _EASY * _HARDER_BY_COLUMN ** max(0, levels.d - MANY_COLUMNS))
        self._search, self._budget = self._refined()

    @property
    def top(self) -> int:
        """No grid point is deeper."""
        return self._envelope.top

    def draw(self, key: bytes) -> list[int]:
        """One grid point."""
        return self.next_accepted(Keystream(key), 0).point

    def next_accepted(self, stream: Keystream, lane: int) -> Accepted:
        """The first accepted proposal from `lane` on. No cap on tries: giving up would depend on the data."""
        while True:
            accepted, lane = self.accepted_soon(stream, lane)
            if accepted is not None:
                return accepted

    def accepted_soon(self, stream: Keystream, lane: int) -> tuple[Accepted | None, int]:
        """The same and the next lane, or None after as many proposals as should have sufficed: boxes are finer now."""
        accepted, lane = self._search.run(stream, lane, self._budget, self._threads)
        if accepted is None:
            self._proposals *= _HARDER
            self._search, self._budget = self._refined()
        return accepted, lane

    def _refined(self) -> tuple[Search, float]:
        """A search with the boxes that pay off if a point takes `_proposals` tries, and how long to try it."""
        envelope, levels, tries = self._envelope, self._levels, self._proposals
        half_epsilon = self._half_epsilon
        if tries > _EASY and _coarse_everywhere(levels):
            self._box_lowest()
            envelope.branch(self._lowest, half_epsilon, int(max(_FEW_PROGRAMS, tries / _SMALL_PROGRAM)), _SMALL_PROGRAM)
        if envelope.tree is not None and envelope.branched(self._lowest):
            # As long as the tree took, at most.
            budget = min(_PATIENCE * envelope.tree.tries, max(tries, _PATIENCE * envelope.tree.few_tries))
        else:
            budget = _PATIENCE * self._boxed(half_epsilon)
        return Search(levels, self._within, envelope.groups(self._lowest), self._epsilon, self._word_bits), budget

    def _boxed(self, half_epsilon: float) -> float:
        """Refine the boxes of the levels; about how many tries that makes, at least as many as were assumed."""
        envelope, levels = self._envelope, self._levels
        if self._proposals > _EASY or _coarse(levels):
            most = _FEW_POINTS if envelope.tree else _MANY_POINTS
            envelope.settle(int(min(most, max(_FEW_POINTS, self._proposals))))
        if self._proposals > _WORTH_A_BASIS:
            envelope.rebase()
        self._box_lowest()
        ladder = self._ladder()
        if levels.d > MANY_COLUMNS and self._proposals > _NOT_EASY:
            while envelope.reshape(self._lowest, half_epsilon):
                ladder = self._ladder()
        # The plan's own estimate may be astronomical; what has been tried in vain never is.
        envelope.slice(
            self._lowest, half_epsilon, min(ladder.proposals, _PATIENCE * self._proposals), _box_cost(levels)
        )
        return max(ladder.proposals, self._proposals)

    def _box_lowest(self) -> None:
        """The public box may be astronomically larger than the lowest level's own."""
        if 0 < self._lowest <= self._envelope.top:
            self._envelope.refine([self._lowest])

    def _ladder(self) -> Ladder:
        """The boxes that pay off, certified."""
        ladder = self._plan()
        # They may turn out larger than the plan took them for, above all near the top: then it wants others besides.
        while self._envelope.lacks(ladder.levels):
            self._envelope.refine(ladder.levels)
            ladder = self._plan()
        return ladder

    def _plan(self) -> Ladder:
        """The boxes that pay off, judging by those there are."""
        envelope, levels = self._envelope, self._levels
        log_sizes = {level: envelope.log_size(level) for level in envelope.boxes}
        log_sizes.setdefault(self._lowest, math.log(self._within.size))
        return plan_ladder(
            levels,
            lowest=self._lowest,
            top=max(envelope.top, self._lowest),
            log_sizes=log_sizes,
            half_epsilon=self._half_epsilon,
            box_cost=_box_cost(levels) if envelope.needs_programs else _NO_PROGRAM * levels.d,
            proposals=self._proposals,
            breaks=envelope.breaks if self._proposals > _EASY else (),
        )


def _coarse(levels: LevelSets) -> bool:
    """Whether the sample is spread over few grid steps in some column."""
    quarter = len(levels.sample) // 4
    return bool((levels.sample[-1 - quarter] - levels.sample[quarter]).min() < _FEW_STEPS)


def _coarse_everywhere(levels: LevelSets) -> bool:
    """Whether nearly all of the sample is spread over few grid steps in every column."""
    edge = len(levels.sample) // 20
    return bool((levels.sample[-1 - edge] - levels.sample[edge]).max() < _FEW_STEPS)


def _box_cost(levels: LevelSets) -> float:
    """A box is 2d linear programs, each worth a few hundred proposals."""
    return 2.0 * levels.d * (_PROGRAM + _PROGRAM_ROW * len(levels.directions))


class Search:
    """Proposals from one envelope, in numbered lanes that any thread may work off."""

    def __init__(
        self,
        levels: LevelSets,
        within: Box,
        groups: Groups,
        epsilon: Fraction,
        word_bits: int = WORD,
        many: int = MANY_COLUMNS,
    ) -> None:
        self._levels, self._within = levels, within
        self._boxes = [box for _, box in groups]
        self._law = LevelDraw([group for group, _ in groups], epsilon)
        plain = [box if isinstance(box, Box | Union) else within for box in self._boxes]
        self._proposals = records.proposals(self._law.word_table(word_bits), plain, within)
        # With more columns than `many`, where that is possible.
        self._coarse: FastProposals | None = None
        if levels.d > many:
            self._coarse = fast_proposals(levels, within, self._law, self._proposals, self._boxes)
        self._order: Any = self._coarse.order() if self._coarse else np.arange(len(levels.directions))

    def run(self, stream: Keystream, lane: int, proposals: float, threads: int) -> tuple[Accepted | None, int]:
        """The first accepted point from `lane` on, or None after about so many proposals; and the next lane."""
        words = proposals * (1 + self._levels.d)
        # Most draws end in the short lanes, before threads would have started.
        while lane < len(_LANE_WORDS) - 1 and words > 0:
            accepted = self.first_accepted(stream, lane, self._order)
            words -= self._lane_words(lane)
            lane += 1
            if accepted is not None:
                return accepted, lane
        count = math.ceil(max(0.0, words) / self._lane_words(lane))
        if not count:
            return None, lane
        return self._in_parallel(stream, lane, count, threads), lane + count

    def _in_parallel(self, stream: Keystream, start: int, count: int, threads: int) -> Accepted | None:
        """Hand out lanes in order; of the accepted points, the one from the smallest lane is the answer."""
        accepted: dict[int, Accepted] = {}
        orders: list[Any] = []

        def own_order() -> Any:
            orders.append(self._order.copy())
            return orders[-1]

        def work(lane: int, order: Any) -> None:
            found = self.first_accepted(stream, lane, order)
            if found is not None:
                accepted[lane] = found

        # A lane once handed out is always finished: it may hold a smaller number than the one found.
        for_each_with(own_order, range(start, start + count), work, min(threads, count), until=lambda: accepted)
        self._order = orders[-1]
        return accepted[min(accepted)] if accepted else None

    def first_accepted(self, stream: Keystream, lane: int, order: Any) -> Accepted | None:
        """The first accepted point of a lane, if any of its proposals is."""
        if self._coarse is not None:
            found = self._coarse.first_accepted(stream, lane, order)
            return None if found is None else Accepted(*found, lane)
        propose = compiling.proposer(lane, bool(self._proposals.parts.any()))
        words = stream.words(2 * lane, self._lane_words(lane))
        spare = stream.bits(2 * lane + 1)
        z, y = np.empty((2, self._levels.d), dtype=np.int64)
        cursor = 0
        while True:
            # Read anew each time: the window is wider after a level that was not among the ranks.
            status, cursor, detail = propose(words, cursor, self._proposals, records.ranks(self._levels), order, z, y)
            if status == records.ACCEPTED:
                return Accepted(y.tolist(), int(self._proposals.level[detail]), lane)
            if status == records.EXHAUSTED:
                return None
            if status == records.SHALLOW:
                self._levels.ensure(detail)
                continue
            if status == records.UNDECIDED:
                level, group = self._law.finish(int(words[detail]), spare)
            else:
                level, group = int(self._proposals.level[detail]), int(self._proposals.box[detail])
            box = self._boxes[group]
            assert isinstance(box, Box | Union)
            point = box.uniform(spare)
            if self._within.holds(point) and self._levels.contains(point, level):
                return Accepted(point, level, lane)

    def _lane_words(self, lane: int) -> int:
        """Words in a lane: at least enough for a few proposals."""
        if self._coarse is not None:
            return self._coarse.lane_words(lane)
        return max(_LANE_WORDS[min(lane, len(_LANE_WORDS) - 1)], 4 * (self._levels.d + 32))
