"""The hot loops, compiled. Integers only: 64-bit words decide levels, coordinates and membership.

Run under plain threads (the kernels release the GIL); numba's own threading would break forked children.

Here they are compiled for this process only; kept.py has the same, kept in files. The loop over proposals is that of
plain_proposals.py: compiling.py says which of the three is taken.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tukeydp.sampling import plain_proposals
from tukeydp.trusted.compiled_code import COMPILES, compiled_in_memory
from tukeydp.trusted.records import (
    ACCEPTED,
    EXHAUSTED,
    SHALLOW,
    SPARE,
    STARVED,
    UNDECIDED,
    PieceTable,
    Proposals,
    Ranks,
    Slabs,
    UniformDraw,
    proposals,
    ranks,
    slabs,
    uniform_draw,
)

__all__ = [
    "ACCEPTED",
    "EXHAUSTED",
    "SHALLOW",
    "SPARE",
    "STARVED",
    "UNDECIDED",
    "PieceTable",
    "Proposals",
    "Ranks",
    "Slabs",
    "UniformDraw",
    "count_inside",
    "high_word",
    "proposals",
    "propose",
    "ranks",
    "slabs",
    "uniform_draw",
]


def high_word(a: Any, b: Any) -> Any:
    """The upper 64 bits of the 128-bit product of two unsigned words."""
    return np.uint64((int(a) * int(b)) >> 64)


if COMPILES:
    from llvmlite import ir
    from numba import types
    from numba.extending import intrinsic

    @intrinsic
    def high_word(typingctx: Any, a: Any, b: Any) -> Any:
        """The same, as one instruction."""

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            wide = ir.IntType(128)
            product = builder.mul(builder.zext(args[0], wide), builder.zext(args[1], wide))
            return builder.trunc(builder.lshr(product, ir.Constant(wide, 64)), ir.IntType(64))

        return types.uint64(types.uint64, types.uint64), codegen


@compiled_in_memory
def _place(z: Any, low: Any, width: Any, ends: Any) -> None:
    """Replace the number z[0] of a point in pieces by the point."""
    piece = np.searchsorted(ends, z[0], side="right")
    rest = z[0] - (ends[piece - 1] if piece else 0)
    for j in range(len(z)):
        z[j] = low[piece, j] + rest % width[piece, j]
        rest //= width[piece, j]


@compiled_in_memory(plain=plain_proposals.propose)
def propose(
    words: Any, cursor: int, proposals: Proposals, ranks: Ranks, order: Any, z: Any, y: Any
) -> tuple[int, int, int]:
    """Run proposals on `words` from `cursor` on until one is accepted, undecided, or the words run out.

    Returns a status, the next cursor and a detail: for UNDECIDED the position of the word that did not decide
    a level, for STARVED the row of the table whose coordinates are still to be drawn, for SHALLOW a level that is not
    among the projections: with a wider window, start again from the cursor.

    `order` lists the directions in the order they are tried. It is rearranged so that those that reject move
    forward; any order gives the same answer. The accepted point is left in `y`; `z` is scratch space.
    """
    # Taken out of the records once: inside the loop that would count references.
    first, last, level_of, box_of = proposals.first, proposals.last, proposals.level, proposals.box
    guide, slanted, inverse = proposals.guide, proposals.slanted, proposals.inverse
    low, width, leftover = proposals.boxes.low, proposals.boxes.width, proposals.boxes.leftover
    floor, ceiling, parts = proposals.floor, proposals.ceiling, proposals.parts
    piece_low, piece_width, piece_ends = proposals.pieces.low, proposals.pieces.width, proposals.pieces.ends
    directions, projections, left_out, highest = ranks.directions, ranks.projections, ranks.left_out, ranks.highest
    d = directions.shape[1]
    k = directions.shape[0]
    rows = projections.shape[1] + 2 * left_out
    end = len(words)
    while cursor + 1 + d + SPARE <= end:
        here = cursor
        word = words[cursor]
        cursor += 1
        # The last interval that starts at or below the word.
        i = guide[word >> np.uint64(56)]
        while i + 1 < len(first) and first[i + 1] <= word:
            i += 1
        if word < first[i] or word > last[i]:
            return UNDECIDED, cursor, here
        level = level_of[i]
        if level > 0 and (level <= left_out or level > highest):
            return SHALLOW, here, level
        box = box_of[i]
        for j in range(1 if parts[box] else d):
            # Uniform in the box: the upper half of word * width, redrawn where the lower half falls among the
            # 2^64 mod width leftovers (Lemire 2019).
            while True:
                if cursor >= end:
                    return STARVED, cursor, i
                word = words[cursor]
                cursor += 1
                if word * width[box, j] >= leftover[box, j]:
                    break
            z[j] = low[box, j] + np.int64(high_word(word, width[box, j]))
        if parts[box]:
            _place(z, piece_low, piece_width, piece_ends[: parts[box]])
        accepted = True
        if slanted[box]:
            # Back to the point's own coordinates, which may lie outside the public box: test that before projecting.
            for j in range(d):
                total = np.int64(0)
                for c in range(d):
                    total += inverse[box, j, c] * z[c]
                y[j] = total
                if total < floor[j] or total > ceiling[j]:
                    accepted = False
                    break
            if not accepted:
                continue
        else:
            for j in range(d):
                y[j] = z[j]
        if level == 0:
            return ACCEPTED, cursor, i
        for position in range(k):
            row = order[position]
            projected = np.int64(0)
            for j in range(d):
                projected += directions[row, j] * y[j]
            if (
                projected < projections[row, level - 1 - left_out]
                or projected > projections[row, rows - level - left_out]
            ):
                order[position] = order[position // 2]
                order[position // 2] = row
                accepted = False
                break
        if accepted:
            return ACCEPTED, cursor, i
    return EXHAUSTED, cursor, 0


@compiled_in_memory(plain=plain_proposals.count_inside)
def count_inside(words: Any, box: UniformDraw, slabs: Slabs, wanted: int) -> tuple[int, int]:
    """Draw up to `wanted` uniform points of a box; returns how many the words sufficed for, and how many of those
    lie in the slabs.

    A point whose words run out is not counted as drawn: how many words it takes does not depend on its value, so the
    points that are drawn stay uniform.
    """
    low, width, leftover = box.low, box.width, box.leftover
    directions, smallest, largest = slabs.directions, slabs.smallest, slabs.largest
    k, d = directions.shape
    y = np.empty(d, dtype=np.int64)
    cursor, drawn, inside = 0, 0, 0
    while drawn < wanted:
        for j in range(d):
            while True:
                if cursor >= len(words):
                    return drawn, inside
                word = words[cursor]
                cursor += 1
                if word * width[j] >= leftover[j]:
                    break
            y[j] = low[j] + np.int64(high_word(word, width[j]))
        drawn += 1
        hit = True
        for row in range(k):
            projected = np.int64(0)
            for j in range(d):
                projected += directions[row, j] * y[j]
            if projected < smallest[row] or projected > largest[row]:
                hit = False
                break
        inside += hit
    return drawn, inside
