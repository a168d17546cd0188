"""Well-separated lines through the origin: directions that cover the sphere more evenly than random ones.

Two columns: evenly spaced angles. More: random lines that repel each other until they have come to rest (a spherical
code up to sign). A set is found once per process, from a start of its own that is the same everywhere; calls get it
rotated at random, or, where the axes must stay, with columns swapped and reflected at random.

Numerics: only sums, products, quotients and square roots in a fixed order, which every machine rounds alike.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from tukeydp.trusted.bits import Keystream, derived_key
from tukeydp.trusted.parameters import FloatArray

_ROUNDS, _FEWEST_ROUNDS, _PAIRS = 50, 20, 5e7  # so many rounds unless there are very many pairs of lines
_PASSES = 4  # of all rounds, at most: a further one only where some lines are closer than `least_angle`
_STEP = 0.3  # of the distance to the nearest line; goes down to zero with the rounds
_DOUBLINGS = 4  # the repulsion falls with the 2 * 2^4-th power of the distance: neighbours count, others hardly do
_FEW_LINES = 128  # up to here NumPy moves them in less time than it takes to load compiled code. Speed only


def least_angle(count: int, d: int) -> float:
    """No two of `count` spread lines in d columns are closer than this, in radians: sin^(d-1) of it is 1/count.

    The lines within an angle a of a given one are at most sin^(d-1)(a) of all lines. So fewer than `count` lines leave
    room for another that is further away from each: greedy choice could always reach this angle, and repulsion does
    better. Of random lines, a number of pairs that grows with `count` are closer.
    """
    return math.asin(count ** (-1.0 / (d - 1))) if d > 1 else math.pi / 2


@lru_cache(maxsize=64)
def spread_lines(count: int, d: int, axes: bool) -> FloatArray:
    """`count` unit vectors, one per row, no two nearly parallel; the first d are the axes if `axes`."""
    if d == 1 or count <= d:
        lines = np.eye(d)[:count]
    elif d == 2:
        lines = _in_the_plane(count, axes)
    else:
        lines = _in_space(count, d, axes)
    lines.flags.writeable = False
    return lines


def smallest_angle(lines: FloatArray) -> float:
    """The smallest angle between two of the lines, in radians."""
    largest = max((float(np.abs(lines[i + 1 :] @ line).max()) for i, line in enumerate(lines[:-1])), default=0.0)
    return math.acos(min(1.0, largest))


def _in_the_plane(count: int, axes: bool) -> FloatArray:
    """Even angles; with the axes, even ones in each of the two quadrants that lines have."""
    if axes:
        first, second = (count - 1) // 2, (count - 2) // 2
        between = [np.arange(1, m + 1) / (m + 1) for m in (first, second)]
        angles = np.concatenate([[0.0, 1.0], between[0], 1.0 + between[1]]) * (math.pi / 2)
    else:
        angles = np.arange(count, dtype=np.float64) * (math.pi / count)
    return np.column_stack([np.cos(angles), np.sin(angles)])


def _in_space(count: int, d: int, axes: bool) -> FloatArray:
    fixed = d if axes else 0
    lines = np.vstack([np.eye(d)[:fixed], _start(count - fixed, d)])
    rounds = int(max(_FEWEST_ROUNDS, min(_ROUNDS, _PAIRS // count**2)))
    for _ in range(_PASSES):
        _repel(lines, fixed, rounds)
        if smallest_angle(lines) >= least_angle(count, d):
            break
    return lines


def _start(count: int, d: int) -> FloatArray:
    """Fixed lines in no particular order: sums of four uniform numbers are nearly Gaussian, and exactly rounded."""
    words = Keystream(derived_key("spread", count, d)).words(0, 4 * count * d).reshape(4, count, d)
    uniform = (words >> np.uint64(11)).astype(np.float64) * 2.0**-53 - 0.5
    lines = uniform[0] + uniform[1] + uniform[2] + uniform[3]
    squared = np.zeros(count)
    for column in lines.T:
        squared += column * column
    return lines / np.sqrt(squared)[:, np.newaxis]


def _repel(lines: FloatArray, fixed: int, rounds: int) -> None:
    """Move all lines but the first `fixed` away from their neighbours. In place."""
    if len(lines) > _FEW_LINES:
        from tukeydp.depth.repulsion import repel

        repel(lines, fixed, rounds, _STEP, _DOUBLINGS)
        return
    for done in range(rounds):
        step = _STEP * (1.0 - done / rounds)
        for i in range(fixed, len(lines)):
            _move_away(lines, i, step)


def _move_away(lines: FloatArray, i: int, step: float) -> None:
    """The innermost part of repulsion.py, with the same sums in the same order: which of the two runs does not show."""
    d = lines.shape[1]
    own = lines[i].tolist()
    cosine = np.zeros(len(lines))
    for c in range(d):
        cosine += own[c] * lines[:, c]
    cosine[i] = 0.0
    weight = 1.0 / np.maximum(1e-12, 1.0 - cosine * cosine)
    nearest = max(1.0, float(weight.max()))
    weight /= nearest
    for _ in range(_DOUBLINGS):
        weight *= weight
    weight *= cosine
    # Added up from the first to the last; np.sum would add in pairs.
    push = (-np.add.accumulate(weight[:, np.newaxis] * lines, axis=0)[-1]).tolist()
    along = 0.0
    for c in range(d):
        along += push[c] * own[c]
    push = [push[c] - along * own[c] for c in range(d)]
    length = 0.0
    for part in push:
        length += part * part
    if length > 0.0:
        stride = step / math.sqrt(length * nearest)
        push = [own[c] + stride * push[c] for c in range(d)]
        length = 0.0
        for part in push:
            length += part * part
        lines[i] = [part / math.sqrt(length) for part in push]
