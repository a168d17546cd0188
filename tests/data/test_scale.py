"""Hints about place and size: of the middle of each column, and of more of it where the middle is one value."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tukeydp.data.scale import middle_range
from tukeydp.trusted.sizes.linear_programs import centre_and_scale


def test_the_middle_half_where_it_varies_and_more_of_the_column_where_it_does_not():
    columns = np.array([[0, 0, 7, -50], [1, 5, 7, 5], [2, 5, 7, 5], [4, 5, 7, 5], [8, 5, 7, 5], [16, 6, 7, 5]])
    # Cut 1 and 0 rows on either side: 8 - 1; nothing, then 6 - 0; nothing at all; nothing, then the whole range.
    assert middle_range(columns).tolist() == [7, 6, 0, 55]


def test_wild_values_leave_the_scale_alone():
    ordered = np.sort(np.append(np.arange(100), [-(2**60)] * 20 + [2**60] * 20))[:, np.newaxis]
    assert middle_range(ordered)[0] < 100
    centre, scale = centre_and_scale(np.arange(101)[:, np.newaxis])
    assert centre.tolist() == [50]
    assert scale.tolist() == [50]


def test_the_scale_of_a_column_of_mostly_one_value_is_a_part_of_its_range():
    ordered = np.sort(np.append(np.zeros(99, dtype=np.int64), [3_000_000]))[:, np.newaxis]
    assert centre_and_scale(ordered)[1].tolist() == [3000]
    assert centre_and_scale(ordered[:90])[1].tolist() == [1]


@given(st.lists(st.tuples(st.integers(-9, 9), st.integers(-9, 9)), min_size=1, max_size=40))
def test_scales_are_ranges_of_the_column(rows):
    ordered = np.sort(np.array(rows), axis=0)
    found, whole = middle_range(ordered), ordered[-1] - ordered[0]
    assert ((found > 0) == (whole > 0)).all()
    assert (found <= whole).all()
    assert (middle_range(ordered * 4) == 4 * found).all()
