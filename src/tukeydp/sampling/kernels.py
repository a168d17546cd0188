"""The hot loop, compiled. Integers only: 64-bit words decide levels, coordinates and membership.

Run under plain threads (the kernel releases the GIL); numba's own threading would break forked children.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

EXHAUSTED, ACCEPTED, UNDECIDED, STARVED, SHALLOW = 0, 1, 2, 3, 4
SPARE = 16  # words kept in hand when a proposal starts, for coordinates that must be redrawn


@intrinsic
def _high_word(typingctx: Any, a: Any, b: Any) -> Any:
    """The upper 64 bits of the 128-bit product of two unsigned words."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        wide = ir.IntType(128)
        product = builder.mul(builder.zext(args[0], wide), builder.zext(args[1], wide))
        return builder.trunc(builder.lshr(product, ir.Constant(wide, 64)), ir.IntType(64))

    return types.uint64(types.uint64, types.uint64), codegen


@njit(nogil=True, cache=True)
def propose(
    words: Any,
    cursor: int,
    first: Any,
    last: Any,
    level_of: Any,
    box_of: Any,
    guide: Any,
    low: Any,
    width: Any,
    leftover: Any,
    slanted: Any,
    inverse: Any,
    floor: Any,
    ceiling: Any,
    directions: Any,
    projections: Any,
    left_out: int,
    order: Any,
    z: Any,
    y: Any,
) -> tuple[int, int, int]:
    """Run proposals on `words` from `cursor` on until one is accepted, undecided, or the words run out.

    Returns a status, the next cursor and a detail: for UNDECIDED the position of the word that did not decide
    a level, for STARVED the row of the table whose coordinates are still to be drawn, for SHALLOW a level that is not
    among the projections: with a wider window, start again from the cursor.

    `projections` are sorted for each direction, the first and last `left_out` of them left out.

    `order` lists the directions in the order they are tried. It is rearranged so that those that reject move
    forward; any order gives the same answer.
    """
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
        if level > 0 and (level <= left_out or level > rows - left_out):
            return SHALLOW, here, level
        box = box_of[i]
        for j in range(d):
            # Uniform in the box: the upper half of word * width, redrawn where the lower half falls among the
            # 2^64 mod width leftovers (Lemire 2019).
            while True:
                if cursor >= end:
                    return STARVED, cursor, i
                word = words[cursor]
                cursor += 1
                if word * width[box, j] >= leftover[box, j]:
                    break
            z[j] = low[box, j] + np.int64(_high_word(word, width[box, j]))
        accepted = True
        if slanted[box]:
            # Back to the point's own coordinates, which may lie outside the public box: test that before projecting.
            for j in range(d):
                total = np.int64(0)
                for c in range(d):
                    total += inverse[j, c] * z[c]
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


@njit(nogil=True, cache=True)
def count_inside(
    words: Any, low: Any, width: Any, leftover: Any, directions: Any, smallest: Any, largest: Any, wanted: int
) -> tuple[int, int]:
    """Draw up to `wanted` uniform points of a box; returns how many the words sufficed for, and how many of those have
    every projection between `smallest` and `largest`.

    A point whose words run out is not counted as drawn: how many words it takes does not depend on its value, so the
    points that are drawn stay uniform.
    """
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
            y[j] = low[j] + np.int64(_high_word(word, width[j]))
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
