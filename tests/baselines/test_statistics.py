"""What gets noise: clipped sums and counts. Their sensitivity, in integers, over random swaps."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tukeydp.baselines.clipping import STEPS, ClippingBall, ClippingBox, lengths, relative
from tukeydp.baselines.huang_liang_yi import rotation, turned
from tukeydp.baselines.search import Counts

cell = st.one_of(
    st.floats(-3, 3),
    st.sampled_from([math.nan, math.inf, -math.inf, 1e300, -1e308, 0.0, 1.0, 5e-324, 0.6, 0.8]),
)
row = st.tuples(cell, cell, cell)
rows = st.lists(row, min_size=1, max_size=7)
REGIONS = [
    ClippingBox((Fraction(0),) * 3, (Fraction(1), Fraction(2), Fraction(1, 3))),
    ClippingBall((Fraction(0),) * 3, (Fraction(1),) * 3),
    ClippingBall((Fraction(1), Fraction(-1, 3), Fraction(0)), (Fraction(1, 10), Fraction(5), Fraction(10**20))),
]


def swapped(x, new, place):
    place %= len(x)
    return np.array(x, dtype=float), np.array([*x[:place], new, *x[place + 1 :]], dtype=float)


def integers(x, region):
    return region.integers(relative(x, region))


@pytest.mark.parametrize("region", REGIONS)
@given(rows, row, st.integers(0, 6))
def test_a_swap_moves_a_clipped_sum_by_at_most_the_diameter(region, x, new, place):
    before, after = swapped(x, new, place)
    a, b = integers(before, region), integers(after, region)
    moved = [int(v) for v in a.sum(axis=0) - b.sum(axis=0)]
    assert sum(v * v for v in moved) <= region.squared_diameter
    # Every row but one is where it was.
    assert (a != b).any(axis=1).sum() <= 1


@pytest.mark.parametrize("region", REGIONS)
@given(rows)
def test_rows_are_inside_exactly_and_missing_ones_at_the_centre(region, x):
    x = np.array(x, dtype=float)
    z = integers(x, region)
    for given_row, image in zip(x, z.tolist(), strict=True):
        if isinstance(region, ClippingBall):
            assert sum(v * v for v in image) <= STEPS**2
        assert max(map(abs, image)) <= STEPS
        if np.isnan(given_row).any():
            assert image == [0, 0, 0]
    # A row alone is what it is among others.
    assert all((integers(x[i : i + 1], region)[0] == z[i]).all() for i in range(len(x)))


def test_the_diameter_is_reached():
    for region in REGIONS:
        far = np.full((1, 3), 1e300)
        a, b = integers(far, region), integers(-far, region)
        moved = sum(int(v) ** 2 for v in (a - b)[0])
        assert moved == pytest.approx(region.squared_diameter, rel=1e-8)


def test_rounding_alone_would_leave_the_ball():
    """The control: without the check in integers, some clipped rows end outside by rounding."""
    x = np.random.default_rng(0).normal(size=(4000, 3)) * 10
    ball = REGIONS[1]
    naive = np.rint(ball.clipped(relative(x, ball)) * STEPS).astype(np.int64)
    assert ((naive**2).sum(axis=1) > STEPS**2).any()
    assert not ((integers(x, ball) ** 2).sum(axis=1) > STEPS**2).any()


def test_clipping_keeps_what_is_inside_and_the_direction_of_what_is_not():
    x = np.array([[0.3, -0.4, 0.0], [3.0, -4.0, 0.0], [30, -40, 0]])
    z = integers(x, REGIONS[1]) / STEPS
    assert z == pytest.approx(np.array([[0.3, -0.4, 0], [0.6, -0.8, 0], [0.6, -0.8, 0]]), abs=3e-9)


@given(rows, row, st.integers(0, 6), st.tuples(st.floats(-2, 2), st.floats(-2, 2), st.floats(-2, 2)))
def test_a_swap_moves_a_doubled_count_by_at_most_two(x, new, place, at):
    before, after = swapped(x, new, place)
    turn = rotation(3, bytes(32))
    for image in (
        lambda w: w,
        lambda w: turned(w, turn),
        lambda w: np.abs(w - np.array(at)),
        lambda w: np.nan_to_num(lengths(w))[:, np.newaxis],
    ):
        a, b = (image(REGIONS[0].clipped(relative(w, REGIONS[0]))) for w in (before, after))
        threshold = np.array(at)[: a.shape[1]]
        doubled = [np.array(Counts(w).doubled(threshold)) for w in (a, b)]
        assert np.abs(doubled[0] - doubled[1]).max() <= 2
        assert doubled[0].tolist() == (2 * (a <= threshold).sum(axis=0) + np.isnan(a).sum(axis=0)).tolist()


def test_the_rotation_is_orthogonal_public_and_uniform_in_sign():
    turn = rotation(5, bytes(32))
    assert turn @ turn.T == pytest.approx(np.eye(5), abs=1e-12)
    assert (rotation(5, bytes(32)) == turn).all()
    first = np.array([rotation(3, i.to_bytes(32, "big"))[0, 0] for i in range(2000)])
    # An entry of a uniform rotation in three dimensions is uniform on -1 ... 1.
    from scipy.stats import kstest, uniform

    from support.fit import FALSE_ALARM

    assert kstest(first, uniform(-1, 2).cdf).pvalue > FALSE_ALARM
    assert kstest(np.abs(first), uniform(-1, 2).cdf).pvalue < FALSE_ALARM
