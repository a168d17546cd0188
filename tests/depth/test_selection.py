"""The middle ranks of many rows, whatever the sample makes of them: those of sorted projections."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tukeydp.trusted import levels as levels_module
from tukeydp.trusted import levels as selection
from tukeydp.trusted.levels import find_ranks

# Projections computed in floats and sorted as 32-bit integers, in floats only, and in neither.
SIZES = {"short": 3, "long": 2**40, "longest": 2**58}


@pytest.fixture(autouse=True)
def few_rows_count_as_many(monkeypatch):
    monkeypatch.setattr(levels_module, "MANY_ROWS", 1)
    monkeypatch.setattr(selection, "_CHUNK", 5)


def expected(rows, directions, out):
    """By the definition, in Python's integers."""
    projected = [sorted(sum(a * b for a, b in zip(v, row, strict=True)) for row in rows) for v in directions]
    return [ordered[out : len(rows) - out] for ordered in projected]


@pytest.mark.parametrize("size", SIZES.values(), ids=SIZES)
@given(st.data())
def test_ranks_are_those_of_sorted_projections(size, data):
    cell = st.integers(-size, size)
    rows = data.draw(st.lists(st.tuples(cell, cell), min_size=2, max_size=25))
    directions = data.draw(st.lists(st.tuples(st.integers(-4, 4), st.integers(-4, 4)), min_size=1, max_size=5))
    out = data.draw(st.integers(1, len(rows) // 2))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(selection, "_SELECTION_SAMPLE", data.draw(st.sampled_from([1, 4, 10**6])))
        patch.setattr(selection, "_ERRORS", data.draw(st.sampled_from([0.0, 0.5, 4.0])))
        found = find_ranks(np.array(rows), np.array(directions), out).projections
    assert found.tolist() == expected(rows, directions, out)


@pytest.mark.parametrize("size", SIZES.values(), ids=SIZES)
def test_a_sample_that_says_nothing_about_the_rows_costs_time_only(size, monkeypatch):
    """Every fifth row, which are the ones sampled, lies far out on one side."""
    monkeypatch.setattr(selection, "_SELECTION_SAMPLE", 8)
    monkeypatch.setattr(selection, "_ERRORS", 0.5)
    rows = np.random.default_rng(0).integers(-size, size, (40, 2)) // 4
    rows[::5] = size
    directions = np.array([[1, 0], [1, 1], [-1, 2]])
    least, _ = selection._enclosing(rows, directions[:1], 18, np.int64)
    assert (rows[:, 0] < least[0]).sum() > 18  # the case is there: the ranks asked for are not enclosed
    assert find_ranks(rows, directions, 18).projections.tolist() == expected(rows.tolist(), directions.tolist(), 18)


def test_numbers_are_computed_in_floats_only_where_floats_are_exact():
    rows = np.array([[2**40, 0], [0, -(2**40)]])
    assert selection._number_kinds(rows, np.array([[2, 1]])) == (np.float64, np.int64)
    assert selection._number_kinds(rows, np.array([[2**12, 1]])) == (np.int64, np.int64)
    assert selection._number_kinds(rows // 2**20, np.array([[-2, 1]])) == (np.float64, np.int32)
