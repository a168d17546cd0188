"""The choice of boxes is the cheapest there is, by its own estimates."""

from __future__ import annotations

import itertools
import math
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tukeydp.hints import ladder
from tukeydp.hints.ladder import plan_ladder
from tukeydp.trusted.levels import level_sets

ROWS = np.rint(np.random.default_rng(5).normal(size=(16, 2)) * 50).astype(np.int64)
LEVELS = level_sets(ROWS, np.array([[1, 0], [0, 1], [1, 1]]))
PUBLIC = math.log(1e6)
ROUNDING = 1e-9


@st.composite
def questions(draw):
    """Up to seven levels, the lowest with a box, some others too: smaller ones at higher levels."""
    lowest = draw(st.integers(0, 3))
    top = draw(st.integers(lowest, 6))
    drops = draw(st.dictionaries(st.integers(lowest + 1, 8), st.floats(0, 4), max_size=4))
    sizes, size = {lowest: PUBLIC}, PUBLIC
    for level, drop in sorted(drops.items()):
        size -= drop
        sizes[level] = max(size, 0.0)
    return {
        "lowest": lowest,
        "top": top,
        "log_sizes": sizes,
        "half_epsilon": draw(st.floats(1e-3, 4)),
        "box_cost": draw(st.sampled_from([0.0, 1.0, 30.0, 1e4])),
        "proposals": draw(st.sampled_from([1.0, 64.0, 1e5])),
    }


def expected_proposals(asked, chosen):
    """Proposals per accepted point with boxes at these levels: weights of groups, over the ideal."""
    steps = ladder._candidates(asked["lowest"], asked["top"], asked["log_sizes"])
    sizes = dict(zip(steps.tolist(), ladder._estimates(LEVELS, steps, asked["top"], asked["log_sizes"]), strict=True))

    def weight(starts):
        total = 0.0
        for start, end in zip(starts, [*(level - 1 for level in starts[1:]), asked["top"]], strict=True):
            below = 0.0 if start == asked["lowest"] else math.exp(asked["half_epsilon"] * (start - 1))
            total += (math.exp(asked["half_epsilon"] * end) - below) * math.exp(sizes[start])
        return total

    return asked["proposals"] * weight([asked["lowest"], *chosen]) / weight(steps.tolist())


def cost(asked, chosen):
    fresh = [level for level in chosen if level not in asked["log_sizes"]]
    return asked["box_cost"] * len(fresh) + expected_proposals(asked, chosen)


@given(questions())
def test_no_choice_of_levels_is_cheaper(asked):
    plan = plan_ladder(LEVELS, **asked)
    above = range(asked["lowest"] + 1, asked["top"] + 1)
    every = itertools.chain.from_iterable(itertools.combinations(above, size) for size in range(len(above) + 1))
    cheapest = min(cost(asked, chosen) for chosen in every)
    assert set(plan.levels) <= set(above)
    assert cost(asked, plan.levels) == pytest.approx(cheapest, rel=ROUNDING)
    assert plan.proposals == pytest.approx(expected_proposals(asked, plan.levels), rel=ROUNDING)


def test_the_brute_force_can_fail():
    """Neither all boxes nor none of them are as cheap as the plan."""
    asked = {
        "lowest": 0,
        "top": 6,
        "log_sizes": {0: PUBLIC},
        "half_epsilon": 0.5,
        "box_cost": 100.0,
        "proposals": 64.0,
    }
    plan = plan_ladder(LEVELS, **asked)
    assert 0 < len(plan.levels) < 6
    assert cost(asked, plan.levels) * (1 + 1e-3) < cost(asked, range(1, 7))
    assert cost(asked, plan.levels) * (1 + 1e-3) < cost(asked, ())


@given(questions(), st.sampled_from([1e3, 1e9, 1e300]))
def test_known_boxes_cost_nothing(asked, dear):
    """With a box at every level, no price of new ones matters: the plan is as good as it gets."""
    sizes = {level: PUBLIC - level for level in range(asked["lowest"], asked["top"] + 1)}
    plan = plan_ladder(LEVELS, **{**asked, "log_sizes": sizes, "box_cost": dear})
    assert plan.levels == tuple(range(asked["lowest"] + 1, asked["top"] + 1))
    assert plan.proposals == pytest.approx(asked["proposals"], rel=ROUNDING)


@given(questions())
def test_a_known_box_is_never_ignored_where_it_helps(asked):
    plan = plan_ladder(LEVELS, **asked)
    for level in asked["log_sizes"]:
        if asked["lowest"] < level <= asked["top"] and level not in plan.levels:
            with_it = expected_proposals(asked, sorted([*plan.levels, level]))
            assert with_it >= plan.proposals * (1 - ROUNDING)


@pytest.mark.parametrize("epsilon", [5e-324, 1e-300, 1e-12, 1e12, 1e300])
@pytest.mark.parametrize("rows", [1, 16, 100_000])
@pytest.mark.parametrize("box_cost", [0.0, 1e4, 1e300])
@pytest.mark.parametrize("lowest", [0, 1])
def test_extreme_epsilons_neither_warn_nor_raise(epsilon, rows, box_cost, lowest):
    levels = level_sets(np.arange(2 * rows).reshape(rows, 2), np.eye(2, dtype=np.int64))
    top = max(lowest, (rows + 1) // 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plan = plan_ladder(
            levels,
            lowest=lowest,
            top=top,
            log_sizes={lowest: 30 * math.log(2.0**62)},
            half_epsilon=epsilon / 2,
            box_cost=box_cost,
            proposals=1e9,
        )
    assert list(plan.levels) == sorted(set(plan.levels))
    assert all(lowest < level <= top for level in plan.levels)
    assert 0 < plan.proposals < math.inf


@pytest.mark.parametrize("top", [10, 1000, 10**6])
def test_candidates_run_from_the_lowest_level_to_the_top_with_all_known_ones(top):
    steps = ladder._candidates(2, top, {2: 0.0, 7: 0.0, top + 3: 0.0}).tolist()
    assert steps[0] == 2
    assert steps[-1] == top
    assert 7 in steps
    assert top - 1 in steps
    assert steps == sorted(set(steps))
    assert len(steps) <= ladder._CANDIDATES + 2
