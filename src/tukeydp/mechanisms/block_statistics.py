"""Statistics of one block of rows, for many blocks of one size at once. NaN is a missing cell.

Each is a function of its own block (docs/proofs/mean.md, section 2): sums run over the rows of a block in the order
in which they were dealt, and no block is standardised, centred or completed by others. Without bounds cells may be
infinite or their sums too large for a float: that happens in silence, a warning would tell of the data.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tukeydp.arrays import FloatArray

# Small blocks underestimate their skewness: Johnson's correction is raised by this factor (theory: 1 for large blocks).
# It moves the bias of a skewed column's release, never the guarantee; with 2.5 some shapes get worse.
_RAISED = 1.5
_FEWEST = 3  # values, for a third moment


@np.errstate(all="ignore")  # no cell may warn, whatever the caller has set
def means(blocks: FloatArray) -> FloatArray:
    """The mean of the values that each block has in each column; NaN where it has none."""
    present, values = _parts(blocks)
    return _quotient(values.sum(axis=1), present)


@np.errstate(all="ignore")
def corrected_means(blocks: FloatArray) -> FloatArray:
    """The means, moved so that their *median* is nearer to the population's mean (Johnson 1978).

    The median of the mean of m values lies skewness / (6 m) standard deviations off; each block estimates that from its
    own values. Never beyond the block's own smallest and largest value; the plain mean where a block has fewer than
    three values or no spread.
    """
    present, values = _parts(blocks)
    mean = _quotient(values.sum(axis=1), present)
    centred = np.where(np.isnan(blocks), 0.0, blocks - mean[:, np.newaxis, :])
    # Products are correctly rounded whatever their place in an array; powers need not be.
    squared = centred * centred
    second, third = squared.sum(axis=1), (squared * centred).sum(axis=1)
    low = np.where(np.isnan(blocks), np.inf, blocks).min(axis=1, initial=np.inf)
    high = np.where(np.isnan(blocks), -np.inf, blocks).max(axis=1, initial=-np.inf)
    return corrected(Moments(present, mean, second, third, low, high))


class Moments(NamedTuple):
    """Of each block and column: number of values, mean, sums of squares and cubes around it, smallest, largest."""

    present: FloatArray
    mean: FloatArray
    second: FloatArray
    third: FloatArray
    low: FloatArray
    high: FloatArray


@np.errstate(all="ignore")
def corrected(block: Moments) -> FloatArray:
    """The means, corrected for skewness: elementwise, so that no block changes another."""
    variance = block.second / (block.present - 1)
    cumulant = block.third * block.present / ((block.present - 1) * (block.present - 2))
    shift = _RAISED * cumulant / (6 * block.present * variance)
    usable = (block.present >= _FEWEST) & np.isfinite(shift)
    moved = np.clip(block.mean + np.where(usable, shift, 0.0), block.low, block.high)
    return np.asarray(np.where(usable, moved, block.mean))


def counts(blocks: FloatArray) -> FloatArray:
    """How many values each block has in each column."""
    return _parts(blocks)[0]


def _parts(blocks: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Numbers of values (blocks, columns), and the cells with zeros for missing ones."""
    missing = np.isnan(blocks)
    return (~missing).sum(axis=1).astype(np.float64), np.where(missing, 0.0, blocks)


def _quotient(total: FloatArray, present: FloatArray) -> FloatArray:
    return np.asarray(np.where(present > 0, total / present, np.nan))
