"""Which loop makes the proposals of tables of many columns; None: the one for all tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tukeydp.depth.levels import LevelSets
from tukeydp.exact.boxes import Box, Union
from tukeydp.exact.level_draw import LevelDraw
from tukeydp.exact.parallelepipeds import Parallelepiped
from tukeydp.exact.tilted_boxes import TiltedBox
from tukeydp.sampling.coarse_proposals import CoarseProposals
from tukeydp.sampling.tilted_proposals import TiltedProposals

if TYPE_CHECKING:
    from tukeydp.sampling.records import Proposals

Shape = Box | Union | TiltedBox | Parallelepiped
FastProposals = CoarseProposals | TiltedProposals


def fast_proposals(
    levels: LevelSets, within: Box, law: LevelDraw, proposals: Proposals, shapes: Sequence[Shape]
) -> FastProposals | None:
    """From tilted boxes if there is one, else by first bytes, where these tell enough."""
    from tukeydp.sampling.coarse_filter import suits

    boxes = [shape for shape in shapes if not isinstance(shape, TiltedBox)]
    if len(boxes) < len(shapes):
        return TiltedProposals(levels, within, law, proposals, shapes)
    return CoarseProposals(levels, within, law, proposals, boxes) if suits(levels, proposals, boxes) else None
