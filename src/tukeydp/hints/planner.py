"""When and how covers get finer: what a draw is assumed to take, and which covers pay off for that.

Speed only: the law of a draw is the same for every plan.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cached_property

from tukeydp.hints.envelope import Envelope
from tukeydp.hints.ladder import Ladder, plan_ladder
from tukeydp.hints.linear_programs import Hints
from tukeydp.hints.simplex_programs import hints_for
from tukeydp.trusted.covers import Covers, Rung, View
from tukeydp.trusted.lanes import MANY_COLUMNS

# Speed only: the law is the same for all values of these, but what a seeded draw gives is not.
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


class LadderPlanner:
    """Plans ladders for draws at depth >= lowest."""

    def __init__(self, covers: Covers, *, epsilon: Fraction, lowest: int, hints: Hints | None = None) -> None:
        self._levels, self._within, self._lowest = covers.view, covers.within, lowest
        self._half_epsilon = float(max(_TINY, min(epsilon, _HUGE))) / 2
        self._covers, self._hints = covers, hints
        self._proposals = min(_NOT_EASY, _EASY * _HARDER_BY_COLUMN ** max(0, covers.view.d - MANY_COLUMNS))

    @cached_property
    def _envelope(self) -> Envelope:
        """Made when it is first asked for: whatever hints raise, they raise in `plan`."""
        return Envelope(self._covers, self._hints or hints_for(self._covers.view))

    def plan(self, failed: bool = False) -> tuple[list[Rung], float]:
        """The covers that pay off if a point takes `_proposals` tries, and how long to try it."""
        if failed:
            self._proposals *= _HARDER
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
        return envelope.rungs(self._lowest), budget

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
        log_sizes = {level: envelope.log_size(level) for level in envelope.covers}
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


def _coarse(levels: View) -> bool:
    """Whether the sample is spread over few grid steps in some column."""
    quarter = len(levels.sample) // 4
    return bool((levels.sample[-1 - quarter] - levels.sample[quarter]).min() < _FEW_STEPS)


def _coarse_everywhere(levels: View) -> bool:
    """Whether nearly all of the sample is spread over few grid steps in every column."""
    edge = len(levels.sample) // 20
    return bool((levels.sample[-1 - edge] - levels.sample[edge]).max() < _FEW_STEPS)


def _box_cost(levels: View) -> float:
    """A box is 2d linear programs, each worth a few hundred proposals."""
    return 2.0 * levels.d * (_PROGRAM + _PROGRAM_ROW * len(levels.directions))
