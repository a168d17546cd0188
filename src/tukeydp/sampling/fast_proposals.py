"""Which loop makes the proposals of tables of many columns; None: the one for all tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tukeydp.sampling.coarse_proposals import CoarseProposals
from tukeydp.sampling.tilted_proposals import TiltedProposals
from tukeydp.trusted.boxes import Box, Union
from tukeydp.trusted.laws import LevelDraw
from tukeydp.trusted.levels import LevelSets
from tukeydp.trusted.shapes import Parallelepiped, TiltedBox

if TYPE_CHECKING:
    from tukeydp.trusted.records import Proposals

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
