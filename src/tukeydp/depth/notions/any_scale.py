"""Directions for columns of unknown scale."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tukeydp.depth.notions.drawn import Drawn
from tukeydp.depth.notions.spread import Spread
from tukeydp.trusted.bits import Keystream, derived_key
from tukeydp.trusted.parameters import FloatArray

# Weights of one column against another, at most: columns more unlike than this are left to their axes.
_MOST_UNLIKE = 1000.0


@dataclass(frozen=True)
class AnyScale(Drawn):
    """The d axes, and for columns of unknown scale two kinds of directions: half `Spread`, half in pairs of columns.

    Where one column is a thousand times wider than another, a direction that weighs them alike sees the wider one only,
    and the narrower one is left to its axis. Those in pairs weigh one column against the other from 1 : 1000 to
    1000 : 1, so that for any two columns some see both.

    Parameters
    ----------
    directions, axes
        As for `Spread`.
    seed
        As for `Random`.

    Privacy
    -------
    As for `Random`: drawn before and without the data, and published.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        Spread(self.directions, axes=self.axes)  # has the same limits

    def size(self, d: int) -> int:
        return super().size(d) if d > 1 else 1

    def units(self, count: int, d: int, key: bytes) -> FloatArray:
        pairs = count // 2 if d > 1 else 0
        apart = Spread(count - pairs, axes=self.axes).units(count - pairs, d, derived_key("apart", key))
        return np.vstack([apart, pair_lines(pairs, d, derived_key("pairs", key))])


def pair_lines(count: int, d: int, key: bytes) -> FloatArray:
    """Unit vectors that weigh one column against another, 1 : 1000 to 1000 : 1, with either sign in turn.

    All pairs get equally many, evenly spread on a logarithmic scale; or as many pairs as there are directions for get
    one each, at random.
    """
    half = -(-count // 2)
    pairs = max(1, d * (d - 1) // 2)
    words = Keystream(key).words(0, 3 * half).reshape(3, half)
    each = np.arange(half)
    if pairs <= half:
        first, second = (side[each % pairs] for side in np.triu_indices(d, 1))
    else:
        first = (words[0] % np.uint64(d)).astype(np.int64)
        second = (first + 1 + (words[1] % np.uint64(d - 1)).astype(np.int64)) % d
    of_this_pair = half // pairs + (each % pairs < half % pairs)
    # With one or two to a pair every pair would get the same, and none would see other weights.
    within = 0.5 if half >= 3 * pairs else words[2][each % pairs] / 2.0**64
    place = (each // pairs + within) / of_this_pair
    angle = np.repeat(np.arctan(_MOST_UNLIKE ** (2.0 * place - 1.0)), 2)
    lines = np.zeros((2 * half, d))
    every = np.arange(2 * half)
    lines[every, np.repeat(first, 2)] = np.cos(angle)
    lines[every, np.repeat(second, 2)] = np.where(every % 2, -1.0, 1.0) * np.sin(angle)
    return lines[:count]
