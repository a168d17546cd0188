"""Breaks, where columns of few values fall in width: found exactly, given boxes, and without a say in the law."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.covers import replan
from support.fit import FALSE_ALARM, g_test
from tukeydp.hints import ladder
from tukeydp.hints.breaks import Break, breaks, sample_places
from tukeydp.hints.envelope import Envelope
from tukeydp.trusted.bits import derived_key
from tukeydp.trusted.boxes import Box
from tukeydp.trusted.covers import Covers
from tukeydp.trusted.levels import level_sets
from tukeydp.trusted.sampling.draws import Sampler

FALL = 256  # by definition: a column is less than so many times as wide as just below


def found(rows, directions):
    levels = level_sets(rows, directions)
    ends = tuple((rows.min(axis=0) - 5).tolist()), tuple((rows.max(axis=0) + 5).tolist())
    return breaks(Covers(levels, Box(*ends)))


def by_definition(rows, columns):
    """(level, column) wherever what is left of a column without its l outermost values is so much narrower."""
    places = []
    for j in columns:
        ranked = sorted(rows[:, j].tolist())
        for level in range(2, (len(ranked) + 1) // 2 + 1):
            before, now = (ranked[-i] - ranked[i - 1] for i in (level - 1, level))
            if max(now, 1) * FALL < before:
                places.append((level, j))
    return sorted(places)


@given(
    st.lists(st.tuples(st.sampled_from([0, 1000, 10**6, 10**6 + 1]), st.integers(0, 3)), min_size=1, max_size=25),
    st.sampled_from([1, 10**9]),
)
def test_breaks_are_those_of_the_columns_with_a_direction(rows, spacing):
    """Small widths and large ones; the second column only has a slanted direction."""
    table = np.array(rows, dtype=np.int64) * [1, spacing]
    slanted = np.array([[3, 0], [1, 1]])
    assert [(b.level, b.column) for b in found(table, slanted)] == by_definition(table, [0])
    both = np.array([[1, 0], [0, -1], [1, 2]])
    assert [(b.level, b.column) for b in found(table, both)] == by_definition(table, [0, 1])


@pytest.mark.parametrize("seed", range(3))
def test_breaks_are_exact_where_the_sample_is_a_part_of_the_rows(seed):
    """One row in four is in the sample, and few ranks are held: by its account the level is about ten off."""
    rng = np.random.default_rng(seed)
    table = rng.choice([0, 2**30, 2**31], size=(9000, 3), p=(0.35, 0.4, 0.25))
    levels = level_sets(table, np.eye(3, dtype=np.int64))
    assert len(levels.sample) < 3000
    exact = by_definition(table, range(3))
    assert len(exact) == 3
    assert [(b.level, b.column) for b in found(table, np.eye(3, dtype=np.int64))] == exact
    guessed = [b.index * 9000 // len(levels.sample) + 1 for b in found(table, np.eye(3, dtype=np.int64))]
    assert guessed != [level for level, _ in exact]


def test_estimates_see_a_break():
    """Levels 1 to 3 are 1000 wide, from 4 on a column is a point; what is known below says nothing above."""
    table = np.repeat([0, 500, 1000], [3, 6, 3])[:, np.newaxis]
    levels = level_sets(table, np.array([[1]]))
    steps, at = np.arange(10), [Break(4, 0, 3)]
    assert sample_places(levels, steps, at)[:, 0].tolist() == [0, 0, 1, 2, 3, 4, 5, 5, 5, 5]
    known = {0: math.log(2000), 2: math.log(1001)}
    sizes = ladder._estimates(levels, steps, 9, known, at)
    assert sizes[1:4] == pytest.approx(math.log(1001), abs=0.01)
    assert sizes[4:] == pytest.approx(0)
    assert 4 in ladder._candidates(0, 9, known, at)


def test_a_break_leaves_the_law_alone():
    """Of depth 3 are 1001 points, of depth 9 is one: about as likely as all others together."""
    table = np.repeat([0, 500, 1000], [3, 6, 3])[:, np.newaxis]
    epsilon = Fraction(23, 10)
    sampler = Sampler(level_sets(table, np.array([[1]])), within=Box((-9,), (1009,)), epsilon=epsilon)
    sampler._planner._proposals = 512.0
    replan(sampler)
    assert 4 in sampler._planner._envelope.boxes
    draws = np.array([sampler.draw(derived_key("break", i))[0] for i in range(4000)])
    observed = np.array([np.sum((draws >= 0) & (draws < 500)), np.sum(draws == 500), np.sum(draws > 500)])

    def pmf(epsilon):
        q = math.exp(epsilon / 2)
        weights = np.array([500 * q**3, q**9, 500 * q**3 + 9])
        return weights / (weights.sum() + 9)

    assert observed.sum() >= 3990
    assert g_test(observed, pmf(float(epsilon)) / pmf(float(epsilon)).sum()) > FALSE_ALARM
    assert g_test(observed, pmf(2.4) / pmf(2.4).sum()) < FALSE_ALARM


def scores():
    """Six columns of scores on a fine grid: from some level on, each is a single point."""
    table = np.random.default_rng(1).choice(np.arange(1, 6), (600, 6), p=(0.1, 0.2, 0.4, 0.2, 0.1)) * 2**36
    others = np.random.default_rng(2).integers(-(2**12), 2**12, (60, 6))
    levels = level_sets(table, np.vstack([np.eye(6, dtype=np.int64), others]))
    return Sampler(levels, within=Box((0,) * 6, (6 * 2**36,) * 6), epsilon=Fraction(2), threads=1)


def proposals(sampler):
    for i in range(5):
        sampler.draw(derived_key("scores", i))
    return sampler._planner._proposals


def test_scores_on_a_fine_grid_take_few_proposals(monkeypatch):
    """Without breaks, boxes from below them serve the levels above, and sixty times as many proposals are assumed."""
    assert proposals(scores()) <= 512
    monkeypatch.setattr(Envelope, "breaks", ())
    assert proposals(scores()) > 10_000
