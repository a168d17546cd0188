"""Noised sums of groups, proven by enumeration: all small tables, all swaps, moves between groups and to none.

The loss of a pair of neighbours is found outcome by outcome from the law of the noise, written down here again; the
sums are the package's, at two steps in the place of 2^30.
"""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.charges import charge
from tukeydp.mechanisms import grouped_sums
from tukeydp.mechanisms import grouped_sums as value_counts
from tukeydp.mechanisms.grouped_sums import GroupPlan, contributions, group_sums, noised_group_sums

STEPS = 2
CELLS = (-1.0, 0.0, 1.0, np.nan)
KEYS = (0, 1, -1)  # two groups and none
ROWS = list(itertools.product(CELLS, KEYS))
OUTCOMES = np.array(list(itertools.product(range(-4, 5), repeat=3)))
PLAN = GroupPlan(Fraction(1), 2, 1, (0,))


@pytest.fixture
def few_steps(monkeypatch):
    monkeypatch.setattr(grouped_sums, "HALF", STEPS // 2)


def sums_of(rows, plan=PLAN):
    cells, groups = np.array([[cell] for cell, _ in rows]), np.array([key for _, key in rows])
    return [group_sums(cells, groups == g, plan) for g in range(plan.groups)]


def loss(ours, theirs):
    """The largest log-ratio of the two laws e^(-max |o - S| / scale), groups by themselves, in units of 1 / scale."""
    total = 0
    for mine, yours in zip(ours, theirs, strict=True):
        far, near = (np.abs(OUTCOMES[:, : len(mine)] - np.array(s)).max(axis=1) for s in (yours, mine))
        total += int((far - near).max())
    return total


def neighbours(n):
    """All tables of n rows, each with all tables in which its first row is another: order does not matter."""
    for rows in itertools.product(ROWS, repeat=n):
        for row in ROWS:
            yield rows, (row, *rows[1:])


def test_all_groups_together_lose_epsilon_and_no_more(few_steps):
    worst = {}
    for ours, theirs in neighbours(2):
        kind = (ours[0][1], theirs[0][1])
        worst[kind] = max(worst.get(kind, 0), loss(sums_of(ours), sums_of(theirs)))
    assert max(worst.values()) == STEPS
    assert worst[0, 0] == STEPS  # a swap within a group
    assert worst[0, 1] == STEPS  # a move: half in each of the two
    assert worst[0, -1] == STEPS // 2  # to no group
    assert worst[-1, -1] == 0


def test_sums_counted_from_the_lower_bound_would_lose_twice_epsilon(few_steps):
    """The control: values from 0 to STEPS, as in a table without groups. A move then costs epsilon in each group."""

    def from_zero(rows):
        values = {-1.0: 0, 0.0: STEPS // 2, 1.0: STEPS}
        return [
            [sum(values.get(cell, 0) for cell, key in rows if key == g), STEPS // 2 * sum(key == g for _, key in rows)]
            for g in range(2)
        ]

    losses = {(a, b): loss(from_zero(a), from_zero(b)) for a, b in neighbours(1)}
    within = max(found for (a, b), found in losses.items() if a[0][1] == b[0][1])
    assert within == STEPS
    assert max(losses.values()) == 2 * STEPS


def test_noise_has_the_stated_scale_and_is_drawn_for_each_group_by_itself(monkeypatch):
    seen = []

    def noise(d, scale, bits):
        seen.append((d, scale, bits.take(64)))
        return [0] * d

    monkeypatch.setattr(grouped_sums, "cube_noise", noise)
    plan = GroupPlan(Fraction(3, 7), 3, 2, (1,))
    noised_group_sums(np.zeros((4, 2)), np.array([0, 1, 1, -1]), plan, charge(plan.epsilon))
    assert [(d, scale) for d, scale, _ in seen] == [(5, grouped_sums.STEPS / Fraction(3, 7))] * 3
    assert len({first for _, _, first in seen}) == 3


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_a_row_adds_to_its_own_group_only_and_at_most_half_the_steps(data):
    n, d = data.draw(st.integers(1, 6)), data.draw(st.integers(1, 3))
    cell = st.one_of(st.floats(-1, 1), st.just(float("nan")))
    table = np.array(data.draw(st.lists(st.lists(cell, min_size=d, max_size=d), min_size=n, max_size=n)))
    groups = np.array(data.draw(st.lists(st.integers(-1, 2), min_size=n, max_size=n)))
    other, swapped = groups.copy(), table.copy()
    other[0] = data.draw(st.integers(-1, 2))
    swapped[0] = data.draw(st.lists(cell, min_size=d, max_size=d))
    plan = GroupPlan(Fraction(1), 3, d, tuple(range(d)))
    moved = [
        max(np.abs(np.subtract(group_sums(table, groups == g, plan), group_sums(swapped, other == g, plan))).tolist())
        for g in range(3)
    ]
    assert all(change == 0 for g, change in enumerate(moved) if g not in (groups[0], other[0]))
    assert sum(moved) <= grouped_sums.STEPS


def test_what_a_cell_adds_is_clamped_whatever_floats_do():
    found = contributions(np.array([-1.0, 1.0, 0.0, np.nan, 5.0, -np.inf, 1e-320]))
    assert all(np.abs(part).max() <= grouped_sums.HALF for part in found)
    assert [part[3] for part in found] == [0, 0, 0]


def test_numbers_of_values_have_noise_of_their_scale(monkeypatch):
    seen = []
    monkeypatch.setattr(value_counts, "cube_noise", lambda d, scale, bits: seen.append((d, scale)) or [0] * d)
    table = np.array([[0.0, np.nan], [1.0, np.nan], [np.nan, 1.0]])
    assert value_counts.value_counts(table, charge(Fraction(1, 20))) == [2, 1]
    assert seen == [(2, value_counts.STEPS / Fraction(1, 20))]
