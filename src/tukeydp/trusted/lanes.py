"""What proposals beyond ten columns have in common: how many a lane has, and which level and box a word stands for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tukeydp.trusted.bits import Bits
from tukeydp.trusted.laws import LevelDraw

if TYPE_CHECKING:
    from tukeydp.trusted.records import Proposals

# Beyond so many columns programs and proposals are made in other ways. Speed only, but what a seeded draw gives depends
# on it: multipliers differ in their last bits.
MANY_COLUMNS = 10
# Speed only: the law is the same, but what a seeded draw gives is not.
IN_LANES = (2**8, 2**12, 2**16)  # proposals in the lanes 0, 1, 2, ...


def in_lane(lane: int) -> int:
    """How many proposals a lane has."""
    return IN_LANES[min(lane, len(IN_LANES) - 1)]


def level_and_box(law: LevelDraw, proposals: Proposals, row: int, word: int, spare: Bits) -> tuple[int, int]:
    """Level and number of the box for a row of the table, or for a word that does not tell them (a negative row)."""
    if row < 0:
        return law.finish(word, spare)
    return int(proposals.level[row]), int(proposals.box[row])
