"""Shifted block means: what a row of the data can move, and what shifts are good for."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.charges import charge
from tukeydp.forecast.shapes import SHAPES, made_up
from tukeydp.mechanisms.subset_means import subset_plan
from tukeydp.trusted import block_steps as subset_means
from tukeydp.trusted.bits import derived_key
from tukeydp.trusted.block_steps import SubsetPlan, counted_means, subset_point
from tukeydp.trusted.rows import relative_grid

CELLS = st.sampled_from([-1.0, -0.3, -0.0, 0.0, 1e-300, 0.1, 0.7, 1.0, float("nan")])


@given(
    rows=st.lists(st.tuples(CELLS, CELLS), min_size=3, max_size=12),
    other=st.tuples(CELLS, CELLS),
    place=st.integers(0, 11),
    blocks=st.integers(1, 12),
    half=st.integers(1, 3),
    key=st.integers(0, 50),
)
@settings(max_examples=150, deadline=None)
def test_one_row_moves_as_many_rows_as_there_are_partitions(rows, other, place, blocks, half, key):
    x = np.array(rows)
    y = x.copy()
    y[place % len(x)] = other
    plan = SubsetPlan(min(blocks, len(x)), 2 * half, (8, 8), (0.2, 0.05))
    tables = [counted_means(cells, plan, derived_key("key", key)) for cells in (x, y)]
    assert tables[0].shape == (plan.blocks * plan.partitions, 2)
    moved = sum(a.tobytes() != b.tobytes() for a, b in zip(*tables, strict=True))
    assert moved <= plan.partitions


@given(
    rows=st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=12),
    blocks=st.integers(1, 12),
    half=st.integers(1, 3),
    key=st.integers(0, 50),
)
@settings(max_examples=100, deadline=None)
def test_so_does_a_row_less_where_rows_draw_their_blocks(rows, blocks, half, key):
    """The last row leaves; others keep their block numbers, and here, by a fixed order, their places in the blocks."""
    x = np.array(rows)
    plan = SubsetPlan(blocks, 2 * half, (8, 8), (0.2, 0.05), dealing="draws")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(subset_means, "secret_order", lambda n, stream: np.arange(n))
        tables = [counted_means(cells, plan, derived_key("key", key)) for cells in (x, x[:-1])]
    assert tables[0].shape == tables[1].shape == (plan.blocks * plan.partitions, 2)
    moved = sum(a.tobytes() != b.tobytes() for a, b in zip(*tables, strict=True))
    assert moved <= plan.partitions


def test_shifts_by_the_tables_own_spread_would_move_every_row():
    """Control: the same count, with shifts that all rows decide on together."""
    x = np.random.default_rng(1).uniform(-0.5, 0.5, size=(12, 2))
    y = x.copy()
    y[0] = 0.9
    plan = SubsetPlan(12, 2, (8, 8), (0.2, 0.05))
    tables = [
        counted_means(cells, replace(plan, shifts=tuple(cells.std(axis=0).tolist())), derived_key("key"))
        for cells in (x, y)
    ]
    assert sum(a.tobytes() != b.tobytes() for a, b in zip(*tables, strict=True)) > plan.partitions


def test_shifts_go_to_both_sides_alike():
    x = np.random.default_rng(2).uniform(-0.1, 0.1, size=(40, 3))
    table = counted_means(x, SubsetPlan(20, 4, (8,) * 3, (0.01, 0.02, 0.03)), derived_key("key"))
    first, second = table[:20], table[20:40]
    middle = (first + second) / 2
    assert np.allclose(np.sort(middle.mean(axis=0)), np.sort(x.mean(axis=0)), atol=1e-12)
    assert 0.005 < ((first - second) / 2)[:, 0].std() < 0.015


@pytest.mark.parametrize("shape", [SHAPES[2], SHAPES[6]])
def test_shifts_make_means_of_a_few_rows_more_accurate(shape):
    """Skewed and yes/no columns in blocks of two: over twenty seeded tables the typical error is clearly smaller."""
    n, d, width = 400, 4, 40.0
    typical = []
    for smooth in (True, False):
        errors = []
        for i in range(20):
            relative = np.clip(made_up(shape, n, d, i) * 2 / width, -1, 1)
            plan = subset_plan(n, d, Fraction(1), np.full(d, width), blocks=200, smooth=smooth)
            assert bool(plan.shifts) == smooth
            y = subset_point(relative, charge(1, derived_key("s", i)), plan, derived_key("p", i))
            errors.append((relative_grid(plan.steps).point(y) - relative.mean(axis=0)) * width / 2)
        typical.append(float(np.median(np.abs(errors))))
    assert typical[0] < 0.8 * typical[1]


def test_an_odd_number_of_partitions_is_kept_and_not_shifted():
    plan = subset_plan(400, 4, Fraction(1), np.full(4, 40.0), blocks=200, partitions=3, smooth=True)
    assert plan.partitions == 3
    assert not plan.shifts
