"""The draw: a level, a point of its cover, accepted if it is that deep; until a point is accepted.

An accepted point has exactly the target law, Pr[y] proportional to e^(epsilon T(y)/2) on the levels from `lowest` up,
whatever the covers (docs/proofs/boxem.md, section 4): so these may depend on the data and on points rejected before,
and any number of threads may propose. Proposals are numbered, and the accepted one of smallest number is returned.

Where levels get which covers is up to a `Planner`, which is not trusted: `checked` makes a ladder of what it returns,
and where that draws too many points in vain, or it raises, the ladder of `own_rungs` serves, which needs no hints.
"""

from __future__ import annotations

import math
import operator
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

import numpy as np

from tukeydp.trusted import records
from tukeydp.trusted.bits import Keystream
from tukeydp.trusted.boxes import Box, Union
from tukeydp.trusted.covers import Cover, Covers, Rung, Shape
from tukeydp.trusted.lanes import MANY_COLUMNS
from tukeydp.trusted.laws import WORD, Group, LevelDraw
from tukeydp.trusted.levels import LevelSets
from tukeydp.trusted.sampling import compiling
from tukeydp.trusted.sampling.many_columns import FastProposals, fast_proposals
from tukeydp.trusted.shapes import Parallelepiped, TiltedBox
from tukeydp.trusted.threads import for_each_with

# Speed only: the law is the same for all values of these, but what a seeded draw gives is not.
_LANE_WORDS = (2**11, 2**13, 2**16)  # in the lanes 0, 1, 2, ...; the first are short, because most draws end there
# Proposals in vain after which our own ladder is looked at, if a planner's still serves: about a second's worth.
_IN_VAIN = 2.0**24
_FEW_POINTS = 2**12  # of a box of our own, which are looked at one by one
_NEGLIGIBLE = 44.0  # log of more than 2^63: how much lighter than a point at the top the levels without a cover may be


@dataclass(frozen=True)
class Accepted:
    """An accepted proposal: a grid point, the level it was proposed at, and the lane it came from."""

    point: list[int]
    level: int
    lane: int


class Planner(Protocol):
    """Decides what levels are drawn from. Its answers affect speed only, and so do exceptions that it raises."""

    def plan(self, failed: bool) -> tuple[Sequence[Rung], float]:
        """Rungs from the lowest level up, and how many proposals to make from them before the next plan.

        `failed` says whether those of the last plan were all rejected.
        """
        ...


class Exponential:
    """Exact draws from the exponential mechanism over depth, restricted to depth >= lowest.

    Draws are independent given their keys. `threads` and `word_bits` affect speed only, as does the planner.
    """

    def __init__(
        self,
        covers: Covers,
        *,
        epsilon: Fraction,
        lowest: int,
        planner: Planner | None,
        threads: int,
        word_bits: int = WORD,
    ) -> None:
        self._covers, self._epsilon, self._lowest, self._planner = covers, epsilon, lowest, planner
        self._threads, self._word_bits = threads, word_bits
        self._own: list[Rung] | None = None
        self._in_vain = 0.0
        self.ignored: list[Exception] = []  # what the planner raised
        self._rungs, self._budget = self._planned(failed=False)
        self._search = self._searching()

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
        """The same and the next lane, or None after as many proposals as should have sufficed: covers are finer now."""
        if self._covers.top < self._lowest:
            raise ArithmeticError("there is no point to draw")  # for whoever asked for a level without knowing of one
        proposals = min(self._budget, _IN_VAIN)
        accepted, lane = self._search.run(stream, lane, proposals, self._threads)
        if accepted is None:
            self._in_vain, self._budget = self._in_vain + proposals, self._budget - proposals
            self._renew()
        else:
            self._in_vain = 0.0
        return accepted, lane

    def _renew(self) -> None:
        """Other covers, after proposals in vain: of a new plan, or our own."""
        fresh = self._own is None and self._in_vain >= _IN_VAIN
        if fresh:
            self._own = own_rungs(self._covers, self._lowest, self._epsilon)
        if self._budget <= 0:
            self._rungs, self._budget = self._planned(failed=True)
        elif not fresh:
            return
        self._search = self._searching()

    def _planned(self, failed: bool) -> tuple[list[Rung], float]:
        """A plan, as far as it is one."""
        if self._planner is None:
            self._own = own_rungs(self._covers, self._lowest, self._epsilon)
            return self._own, _IN_VAIN
        try:
            rungs, proposals = self._planner.plan(failed)
            return checked(self._covers, self._lowest, rungs), _patience(proposals)
        except ImportError:  # a solver that is not installed: public, and better said than worked around
            raise
        except Exception as raised:  # an exception that came through would depend on the data
            self.ignored.append(raised)
            self._own = own_rungs(self._covers, self._lowest, self._epsilon)
            return self._own, _IN_VAIN

    def _searching(self) -> Search:
        rungs = self._rungs if self._own is None else lighter(self._covers, self._lowest, self._rungs, self._own)
        groups = groups_of(self._covers, self._lowest, rungs)
        return Search(self._covers.levels, self._covers.within, groups, self._epsilon, self._word_bits)


def checked(covers: Covers, lowest: int, rungs: Any) -> list[Rung]:
    """A ladder for the levels from `lowest` up, in ascending order, out of what may be one.

    Each level is served by a cover of this table that was made for it or for a level below. What is no such rung is
    left out; levels that no rung serves are drawn from the public box.
    """
    ladder = [(lowest, covers.whole())]
    for rung in rungs if type(rungs) in (list, tuple) else ():
        if type(rung) is not tuple or len(rung) != 2:
            continue
        start, cover = rung
        if type(cover) is not Cover or type(start) is not int or cover.of is not covers or not cover.parts:
            continue
        if start == lowest and cover.level <= start and len(ladder) == 1:
            ladder = [(start, cover)]
        elif ladder[-1][0] < start <= covers.top and cover.level <= start:
            ladder.append((start, cover))
    return ladder


def groups_of(covers: Covers, lowest: int, rungs: Any, many: int | None = None) -> list[tuple[Group, Shape]]:
    """What is drawn from: groups of consecutive levels lowest ... top, with each part of their cover.

    Tables of up to `many` columns are drawn from boxes only.
    """
    ladder = _drawable(covers, checked(covers, lowest, rungs), MANY_COLUMNS if many is None else many)
    ends = [*(start - 1 for start, _ in ladder[1:]), max(covers.top, lowest)]
    return [
        (Group(start, end, part.size), part)
        for (start, cover), end in zip(ladder, ends, strict=True)
        for part in cover.parts
    ]


def _drawable(covers: Covers, ladder: list[Rung], many: int) -> list[Rung]:
    """The same with boxes in the place of covers that no loop draws from together with the others.

    Pieces are those of one tree, and no other shapes go with them; parallelepipeds do not go with tilted boxes. The
    lowest level is drawn from one part: its weight is no difference.
    """
    parts = [part for _, cover in ladder for part in cover.parts]
    pieces = next((part.pieces for part in parts if isinstance(part, Union)), None)
    tilted = any(isinstance(part, TiltedBox) for part in parts)
    boxes_only = pieces is not None or covers.levels.d <= many

    def fits(part: Shape) -> bool:
        if isinstance(part, Union):
            return part.pieces is pieces
        if isinstance(part, Parallelepiped):
            return not boxes_only and not tilted
        return isinstance(part, Box) or not boxes_only

    return [
        (start, cover if all(map(fits, cover.parts)) and (i or len(cover.parts) == 1) else covers.in_its_hull(cover))
        for i, (start, cover) in enumerate(ladder)
    ]


def own_rungs(covers: Covers, lowest: int, epsilon: Fraction) -> list[Rung]:
    """A ladder without any hint: boxes so near each other that weights hardly grow from one to the next.

    The levels further below the top than weigh anything are drawn from the public box, or that of the lowest level.
    """
    covers.unbroken()
    top = covers.own_top()
    first = covers.own(lowest) if lowest else covers.whole()
    step = max(1, math.floor(2 / epsilon))
    weighty = math.ceil(2 * Fraction(math.log(covers.within.size) + _NEGLIGIBLE) / epsilon)
    levels = range(top, max(lowest, top - weighty), -step)
    rungs = [(lowest, first), *((level, covers.own(level)) for level in reversed(levels))]
    small = next((i for i, (_, cover) in enumerate(rungs) if cover.hull.size <= _FEW_POINTS), None)
    if small is not None:
        start, cover = rungs[small]
        looked_at = [(max(level, start), found) for level, found in covers.looked_at(cover)]
        rungs = [*rungs[: small + (start == lowest)], *looked_at]
    return checked(covers, lowest, rungs)


def lighter(covers: Covers, lowest: int, rungs: Any, own: Sequence[Rung]) -> list[Rung]:
    """Of two ladders, the smaller cover of each level."""
    ladders = [checked(covers, lowest, ladder) for ladder in (rungs, list(own))]
    found = []
    for start in sorted({start for ladder in ladders for start, _ in ladder}):
        serving = [ladder[bisect_right(ladder, start, key=operator.itemgetter(0)) - 1][1] for ladder in ladders]
        found.append((start, min(serving, key=lambda cover: cover.size)))
    return found


def _patience(proposals: Any) -> float:
    """How many proposals to make before the next plan: at least one, or none would ever be made."""
    number = float(proposals)
    return max(1.0, number) if math.isfinite(number) else _IN_VAIN


class Search:
    """Proposals from groups of levels, in numbered lanes that any thread may work off.

    `groups` are those of `groups_of`: whoever makes them up decides the law.
    """

    def __init__(
        self,
        levels: LevelSets,
        within: Box,
        groups: Sequence[tuple[Group, Shape]],
        epsilon: Fraction,
        word_bits: int = WORD,
        many: int | None = None,
    ) -> None:
        self._levels, self._within = levels, within
        self._boxes = [box for _, box in groups]
        self._law = LevelDraw([group for group, _ in groups], epsilon)
        plain = [box if isinstance(box, Box | Union) else within for box in self._boxes]
        self._proposals = records.proposals(self._law.word_table(word_bits), plain, within)
        # With more columns than `many`, where that is possible.
        self._coarse: FastProposals | None = None
        if levels.d > (MANY_COLUMNS if many is None else many):
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
