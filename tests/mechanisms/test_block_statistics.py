"""Means of blocks against a slow account of one block at a time, in rationals."""

from __future__ import annotations

import math
import warnings
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from support import mean_oracle as oracle
from tukeydp.trusted.block_steps import corrected_means, counts, means

CELLS = st.one_of(st.floats(-1, 1, width=32), st.sampled_from([math.nan, math.nan, -1.0, 0.0, 1.0]))
SHAPES = st.tuples(st.integers(1, 5), st.integers(1, 12), st.integers(1, 3))
WILD = st.one_of(st.floats(width=64), st.sampled_from([math.nan, math.inf, -math.inf, 1.7e308, -1.7e308, 5e-324]))


def exact(statistic, blocks):
    """The oracle's answer for every block and column, NaN where it has none."""
    found = [
        [statistic([None if math.isnan(v) else Fraction(v) for v in column]) for column in block.T.tolist()]
        for block in blocks
    ]
    return np.array([[math.nan if v is None else float(v) for v in row] for row in found])


def spread_out(block, column):
    """Whether rounding leaves the skewness of a block alone: values that differ by more than their last digits."""
    values = block[:, column]
    values = values[~np.isnan(values)]
    return len(values) < 3 or np.ptp(values) == 0 or np.ptp(values) > 1e-4


@given(st.data())
def test_means_are_those_of_the_values_that_are_there(data):
    blocks = data.draw(arrays(np.float64, data.draw(SHAPES), elements=CELLS))
    assert means(blocks) == pytest.approx(exact(oracle.plain_mean, blocks), rel=1e-12, abs=1e-12, nan_ok=True)
    assert (counts(blocks) == (~np.isnan(blocks)).sum(axis=1)).all()


@given(st.data())
def test_corrected_means_are_johnsons(data):
    blocks = data.draw(arrays(np.float64, data.draw(SHAPES), elements=CELLS))
    found, expected = corrected_means(blocks), exact(oracle.corrected_mean, blocks)
    for b, j in np.ndindex(*found.shape):
        if spread_out(blocks[b], j):
            assert found[b, j] == pytest.approx(expected[b, j], rel=1e-9, abs=1e-9, nan_ok=True)


@given(st.data())
def test_corrected_means_stay_within_their_block(data):
    """Up to the rounding of a plain mean of equal values."""
    blocks = data.draw(arrays(np.float64, data.draw(SHAPES), elements=CELLS))
    found = corrected_means(blocks)
    missing = np.isnan(blocks)
    low = np.where(missing, math.inf, blocks).min(axis=1)
    high = np.where(missing, -math.inf, blocks).max(axis=1)
    empty = missing.all(axis=1)
    assert (np.isnan(found) == empty).all()
    assert (((found >= low - 1e-15) & (found <= high + 1e-15)) | empty).all()


@given(st.data())
def test_nothing_is_said_whatever_the_cells(data):
    blocks = data.draw(arrays(np.float64, data.draw(SHAPES), elements=WILD))
    with np.errstate(all="raise"), warnings.catch_warnings():
        warnings.simplefilter("error")
        for statistic in (means, corrected_means):
            assert statistic(blocks).shape == (blocks.shape[0], blocks.shape[2])


def test_infinite_and_huge_values_speak_for_their_block_only():
    blocks = np.array([[[math.inf], [1.0], [2.0]], [[math.inf], [-math.inf], [0.0]], [[1e308], [1e308], [1e308]]])
    assert corrected_means(blocks)[0, 0] == math.inf
    assert math.isnan(corrected_means(blocks)[1, 0])  # neither: the block is missing
    assert corrected_means(blocks)[2, 0] == math.inf
    assert corrected_means(np.full((1, 3, 1), 1e120))[0, 0] == pytest.approx(1e120)


def test_the_correction_takes_off_most_of_an_exponential_columns_bias():
    """Medians of 40,000 blocks of 8 (standard error 0.0022): -0.042 plain, -0.010 corrected, as the theory has it."""
    blocks = np.random.default_rng(1).exponential(size=(40_000, 8, 1)) - 1
    plain, corrected = (float(np.median(statistic(blocks))) for statistic in (means, corrected_means))
    assert plain == pytest.approx(-0.042, abs=5 * 0.0022)
    assert corrected == pytest.approx(-0.010, abs=5 * 0.0022)


def test_symmetric_columns_are_left_alone_on_average():
    blocks = np.random.default_rng(2).normal(size=(20_000, 5, 1))
    assert abs(float((corrected_means(blocks) - means(blocks)).mean())) < 5 * 0.15 / math.sqrt(20_000)
