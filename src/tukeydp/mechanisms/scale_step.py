"""How wide the bounds are in standard deviations, found out first, so that the mean can be taken in the way that suits.

One number is released: by what factor all columns are more or less spread than assumed. Rows are paired in secret; a
pair gives the geometric mean, over the columns in which its rows differ, of their difference over the assumed one, less
where they differ in few. The middle of the pairs' logarithms, on a grid of eighths of an octave, is released by depth
in one column: pure epsilon-DP (docs/proofs/mean.md, section 6).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from tukeydp.depth.choice import chosen_notion
from tukeydp.trusted.account import PureDP, bounded_range, cost_of
from tukeydp.trusted.bits import Keystream
from tukeydp.trusted.blocks import block_table, secret_order
from tukeydp.trusted.boxes import whole_grid
from tukeydp.trusted.parameters import FloatArray
from tukeydp.trusted.prices import depth_of_blocks
from tukeydp.trusted.release import Charge
from tukeydp.trusted.rows import Grid
from tukeydp.trusted.sampling.draws import DepthSampler

# Shares of epsilon for it, the smallest that the rows suffice for; with more than the last the mean itself is
# noticeably worse than without.
_SHARES = (Fraction(1, 50), Fraction(1, 25), Fraction(3, 50), Fraction(2, 25), Fraction(1, 10), Fraction(3, 25))
# The factor is found if epsilon times rows is this much: of 60 made-up runs none was off by more than 3; with
# half of it one in ten was.
_ENOUGH = 60
# Octaves by which spreads may differ from those assumed, down and up, and steps of an octave.
_DOWN, _UP, _STEPS = 4, 6, 8
# Chance of the lower end, in sixteenths, for pairs of equal rows. Mostly the upper one: where most pairs are equal, the
# spread is anybody's guess, and bounds that seem narrow lead to noise, which is safe. With 9 such tables (rare yes/no
# columns, nearly all zeros) had any scale, then blocks that are too few, and six of ten releases were random points
# between the bounds. With 0 tables of common yes/no columns seem more spread than they are.
_EQUAL_LOW = 2
# ln of the median of a geometric mean of d Gaussian differences, in standard deviations of a difference: the limit, and
# what one column has more.
_LIMIT, _ONE_MORE = -0.635, 0.241
_NARROWEST, WIDEST = 2.0, 512.0  # bounds in standard deviations: nothing beyond is believed


@dataclass(frozen=True)
class ScaleFirst:
    """Means that spend `scale` of epsilon on the scale, and the rest on means in the way that suits it."""

    epsilon: Fraction
    scale: Fraction

    @property
    def rest(self) -> Fraction:
        """What is left for the means."""
        return self.epsilon - self.scale

    @property
    def parts(self) -> dict[str, PureDP]:
        """The second step may turn out to be noise, which has no bounded range."""
        return {"scale": bounded_range(self.scale), "rest": PureDP(self.rest)}

    @property
    def guarantee(self) -> PureDP:
        return cost_of(self.parts)

    @property
    def settings(self) -> Mapping[str, Any]:
        return {"epsilon_scale": self.scale, "epsilon_mean": self.rest}


def scale_epsilon(n: int, epsilon: Fraction) -> Fraction | None:
    """What is spent on the scale; None if n rows are too few for it: whatever epsilon is, a pair takes two."""
    return None if n < 2 else next((share * epsilon for share in _SHARES if share * epsilon * n >= _ENOUGH), None)


def released_widths(relative: FloatArray, charge: Charge, assumed: FloatArray, public_key: bytes) -> FloatArray:
    """Widths of the bounds in standard deviations, all by one factor from the `assumed`, which are public: pure DP."""
    paid = charge.for_bounded_range()
    n, d = relative.shape
    order = secret_order(n, Keystream(paid.key("dealing")))
    # Columns become one, so that a pair is a row of one number.
    pairs = block_table(relative, n // 2, order, lambda blocks: log_factors(blocks, assumed)[:, np.newaxis])
    table = _at_the_ends(pairs, Keystream(paid.key("coins")))
    grid = Grid((Fraction(-_DOWN),), (Fraction(1, _STEPS),), ((_DOWN + _UP) * _STEPS,))
    prepared = chosen_notion(None, len(table), 1).prepare(grid.snap(table), grid, public_key)
    weight = paid.weight(depth_of_blocks(1))
    y = DepthSampler(prepared, within=whole_grid(grid), epsilon=2 * weight).draw(paid.key("draw"))
    factor = 2.0 ** float(grid.point(y)[0]) / math.exp(_LIMIT + _ONE_MORE / d)
    return np.asarray(np.clip(assumed / factor, _NARROWEST, WIDEST))


def log_factors(blocks: FloatArray, assumed: FloatArray) -> FloatArray:
    """log2 of a pair's differences over those assumed, averaged over the columns in which its two rows differ.

    Half of log2 of the share of columns that differ is added: a yes/no column differs by 1 in a share of the pairs that
    is twice its variance, and would look too spread. A third row of a block is left out. -inf where all comparable
    columns are equal, NaN where none can be compared.
    """
    first, second = blocks[:, 0], blocks[:, 1]
    with np.errstate(all="ignore"):
        # Relative cells run from -1 to 1, twice the share of the width, and differ by sqrt(2) standard deviations.
        logs = np.log2(np.abs(first - second) * (assumed / 2.0 / math.sqrt(2.0)))
    differ, there = np.isfinite(logs).sum(axis=1), (~np.isnan(logs)).sum(axis=1)
    total = np.where(np.isfinite(logs), logs, 0.0).sum(axis=1)
    some = np.maximum(1, differ)
    equal = np.where(there == 0, np.nan, -np.inf)
    return np.asarray(np.where(differ > 0, total / some + np.log2(some / np.maximum(1, there)) / 2.0, equal))


def _at_the_ends(table: FloatArray, stream: Keystream) -> FloatArray:
    """Pairs that say nothing at one end of the range, by a secret coin for each place."""
    sixteenths = stream.words(0, table.size).reshape(table.shape) >> np.uint64(60)
    low = sixteenths < np.where(np.isnan(table), 8, _EQUAL_LOW).astype(np.uint64)
    return np.where(np.isfinite(table), table, np.where(low, -float(_DOWN), float(_UP)))
