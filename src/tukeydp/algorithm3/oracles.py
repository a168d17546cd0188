"""Volume oracles and uniform samplers for Algorithm 3: the roles, and one proven implementation of each.

An implementation says beforehand, from public numbers alone, what it can *prove* about itself: a promise, or None. The
run's guarantee follows from the promises; with None it has none. A new oracle or sampler is a class with the
two methods of its role.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import Protocol

import numpy as np

from tukeydp.algorithm3.padded_levels import PaddedLevels
from tukeydp.exact.brackets import log_between
from tukeydp.parameters import checked_integer
from tukeydp.randomness import Keystream, derived_key
from tukeydp.threads import available_cores, for_each

_LANE_WORDS = 2**16  # words of a lane that are looked at together; speed only, but seeded counts depend on it
_WITHOUT_PADDING = 100_000  # points or tries where there is no padding, and so no promise whatever their number


@dataclass(frozen=True)
class VolumePromise:
    """With probability >= 1 - beta, all sizes at once are within a factor 1 - eta to 1 + eta, whatever the data."""

    eta: Fraction
    beta: Fraction


@dataclass(frozen=True)
class SamplingPromise:
    """With probability >= 1 - zeta the point's law is within total variation tau of uniform, whatever the data."""

    tau: Fraction
    zeta: Fraction


@dataclass(frozen=True)
class PublicSetting:
    """What is public about the sets: how many levels there are above 0, and their padding."""

    levels: int
    padding: Fraction


class VolumeOracle(Protocol):
    """Sizes of all levels of a dataset."""

    def promise(self, asked: VolumePromise, setting: PublicSetting) -> VolumePromise | None:
        """What is proven about `sizes` if it is asked for this; None if nothing is."""
        ...

    def sizes(self, sets: PaddedLevels, asked: VolumePromise, key: bytes) -> list[Fraction]:
        """The sizes of the levels 0 ... highest."""
        ...


class UniformSampler(Protocol):
    """A point of one level."""

    def promise(self, asked: SamplingPromise, setting: PublicSetting) -> SamplingPromise | None: ...

    def point(self, sets: PaddedLevels, level: int, asked: SamplingPromise, key: bytes) -> list[int]: ...


@dataclass(frozen=True)
class BoxCounting:
    """Count, among uniform points of each level's box, those that belong to the level.

    How many points there are follows from eta, beta, the number of levels and the padding, never from the data: a level
    that is empty, or a sliver of its box, takes as many as any other.

    Cost
    ----
    levels * (3 + 4 eta)/(6 padding eta^2) * log(2 levels / beta) points: at epsilon = 1, delta = 1e-6 and padding 1/10
    about 190,000 a level, so seconds for hundreds of rows. With up to five columns or so level sets fill a fair share
    of their boxes; with more, the padding outweighs them and the point is as if from the axes alone.
    """

    threads: int | None = None

    def __post_init__(self) -> None:
        if self.threads is not None:
            checked_integer("threads", self.threads, least=1)

    def promise(self, asked: VolumePromise, setting: PublicSetting) -> VolumePromise | None:
        possible = setting.padding > 0 and asked.eta > 0 and asked.beta > 0
        return asked if possible else None

    def sizes(self, sets: PaddedLevels, asked: VolumePromise, key: bytes) -> list[Fraction]:
        points = self.points(asked, PublicSetting(sets.highest, sets.padding))
        inside = [0] * (sets.highest + 1)

        def work(level: int) -> None:
            inside[level] = _count(sets, level, points, Keystream(derived_key("level", key, level)))

        for_each(range(1, sets.highest + 1), work, min(self.threads or available_cores(), max(1, sets.highest)))
        whole = sets.box_size(0) * (1 + sets.padding)
        return [
            whole if level == 0 else sets.box_size(level) * (sets.padding + Fraction(inside[level], points))
            for level in range(sets.highest + 1)
        ]

    @staticmethod
    def points(asked: VolumePromise, setting: PublicSetting) -> int:
        """How many points each level takes (Bernstein's inequality, and a union over levels)."""
        if not (setting.padding > 0 and asked.eta > 0 and asked.beta > 0):
            return _WITHOUT_PADDING
        eta = min(asked.eta, Fraction(1))
        log_term = log_between(2 * max(1, setting.levels) / asked.beta)[1]
        return ceil((3 + 4 * eta) / (6 * setting.padding * eta**2) * log_term)


def _count(sets: PaddedLevels, level: int, points: int, stream: Keystream) -> int:
    """How many of so many uniform points of the level's box are in the level."""
    from tukeydp.sampling import kept, records

    box = sets.box(level)
    # For an empty box any other does: its count is multiplied by zero, and the work is the same.
    low, high = box or (sets.grid.low, sets.grid.high)
    smallest, largest = sets.levels.offsets(min(level, max(1, sets.levels.rows))) if sets.levels.rows else (low, high)
    directions = sets.levels.directions if sets.levels.rows else np.eye(sets.d, dtype=np.int64)
    draw, slabs = records.uniform_draw(low, high), records.slabs(directions, smallest, largest)
    lane_words = max(_LANE_WORDS, 4 * sets.d)  # enough for a point: else no lane would ever hold one
    drawn = inside = lane = 0
    while drawn < points:
        words = stream.words(lane, lane_words)
        more, hits = kept.count_inside(words, draw, slabs, points - drawn)
        drawn, inside, lane = drawn + more, inside + hits, lane + 1
    return inside


@dataclass(frozen=True)
class Rejection:
    """Uniform points of the level's box until one belongs to the padded level, at most a fixed number of times.

    A point is taken for the copy of the box with probability padding / (1 + padding), and then always belongs. So m
    tries all fail with probability at most (1 + padding)^-m, whatever the data; given that one does not, the point is
    uniform exactly.
    """

    def promise(self, asked: SamplingPromise, setting: PublicSetting) -> SamplingPromise | None:
        possible = setting.padding > 0 and asked.zeta > 0
        return SamplingPromise(Fraction(0), asked.zeta) if possible else None

    def point(self, sets: PaddedLevels, level: int, asked: SamplingPromise, key: bytes) -> list[int]:
        bits = Keystream(key).bits(0)
        box = sets.box(level) or (sets.grid.low, sets.grid.high)
        low, high = box[0].tolist(), box[1].tolist()
        copies, all_of_it = sets.padding.numerator, sets.padding.numerator + sets.padding.denominator
        for _ in range(self.tries(asked, sets.padding)):
            y = [a + bits.below(b - a + 1) for a, b in zip(low, high, strict=True)]
            if bits.below(all_of_it) < copies or sets.levels.contains(y, level):
                break
        return y

    @staticmethod
    def tries(asked: SamplingPromise, padding: Fraction) -> int:
        if not (padding > 0 and asked.zeta > 0):
            return _WITHOUT_PADDING
        return max(1, ceil(log_between(1 / asked.zeta)[1] / log_between(1 + padding)[0]))
