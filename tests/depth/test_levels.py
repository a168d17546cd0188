"""Order statistics found a few at a time, in blocks, by threads: the same answers as sorting everything."""

from __future__ import annotations

import itertools
import tracemalloc
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tukeydp as td
from support import oracle
from tukeydp.hints.envelope import Envelope
from tukeydp.hints.linear_programs import LinearPrograms
from tukeydp.trusted import exponential
from tukeydp.trusted import levels as levels_module
from tukeydp.trusted import rows as grid_module
from tukeydp.trusted.bits import Keystream, derived_key
from tukeydp.trusted.boxes import Box
from tukeydp.trusted.covers import Covers
from tukeydp.trusted.exponential import Search
from tukeydp.trusted.laws import Group
from tukeydp.trusted.levels import find_ranks, level_sets
from tukeydp.trusted.rows import bounded_grid
from tukeydp.trusted.sampling import kept, loops
from tukeydp.trusted.sampling.draws import Sampler

POINTS = list(itertools.product(range(-3, 4), repeat=2))
rows_of = st.lists(st.sampled_from(POINTS), min_size=1, max_size=14)
direction = st.tuples(st.integers(-4, 4), st.integers(-4, 4)).filter(any)
directions_of = st.lists(direction, min_size=1, max_size=6)


@pytest.fixture
def crumbs(monkeypatch):
    """Blocks of one direction, several threads, whatever the size of the table."""
    monkeypatch.setattr(levels_module, "_BLOCK", 1)
    monkeypatch.setattr(levels_module, "_WORTH_A_THREAD", 0)
    monkeypatch.setattr(levels_module, "available_cores", lambda: 3)


@pytest.mark.parametrize("block", [1, 40, 10**9])
@pytest.mark.parametrize("cores", [1, 3])
@given(rows_of, directions_of, st.data())
def test_ranks_are_those_of_sorted_projections(block, cores, rows, directions, data):
    out = data.draw(st.integers(0, len(rows) // 2))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(levels_module, "_BLOCK", block)
        patch.setattr(levels_module, "_WORTH_A_THREAD", 0)
        patch.setattr(levels_module, "available_cores", lambda: cores)
        window = find_ranks(np.array(rows), np.array(directions), out)
    for v, found in zip(directions, window.projections.tolist(), strict=True):
        ordered = sorted(v[0] * a + v[1] * b for a, b in rows)
        assert found == ordered[out : len(rows) - out]


@given(rows_of, directions_of, st.data())
def test_whatever_is_held_at_first_every_question_gets_the_same_answer(rows, directions, data):
    levels = level_sets(np.array(rows), np.array(directions), lowest=data.draw(st.integers(1, len(rows))))
    depths = [oracle.depth(rows, y, directions) for y in POINTS]
    least = data.draw(st.integers(1, len(rows)))
    found = levels.depths(np.array(POINTS), least)
    assert [max(t, least - 1) for t in found.tolist()] == [max(t, least - 1) for t in depths]
    for level in data.draw(st.permutations(range(1, len(rows) + 1))):
        assert [levels.contains(y, level) for y in POINTS] == [t >= level for t in depths]
    assert levels.depths(np.array(POINTS)).tolist() == depths
    assert (
        levels.projections.tolist() == level_sets(np.array(rows), np.array(directions), lowest=1).projections.tolist()
    )


@given(rows_of, directions_of, st.integers(1, 14))
def test_the_highest_unbroken_level_and_the_top_do_not_depend_on_what_is_held(rows, directions, lowest):
    rows, directions = np.array(rows), np.array(directions)
    ordered = np.sort(directions @ rows.T, axis=1)
    unbroken = max(
        (level for level in range(1, len(rows) + 1) if (ordered[:, level - 1] <= ordered[:, -level]).all()), default=0
    )
    tops = set()
    for levels in (level_sets(rows, directions, lowest=1), level_sets(rows, directions, lowest=lowest)):
        assert levels.highest_unbroken() == unbroken
        tops.add(Envelope(Covers(levels, Box((-3, -3), (3, 3))), LinearPrograms(levels)).top)
    assert len(tops) == 1


@given(rows_of, directions_of, directions_of, st.integers(1, 14))
def test_further_directions_join_those_there_are(rows, directions, fresh, lowest):
    rows = np.array(rows)
    joined = level_sets(rows, np.array(directions), lowest=lowest).with_directions(np.array(fresh))
    whole = level_sets(rows, np.array(directions + fresh), lowest=1)
    assert joined.directions.tolist() == whole.directions.tolist()
    for level in range(len(rows), 0, -1):
        assert [side.tolist() for side in joined.offsets(level)] == [side.tolist() for side in whole.offsets(level)]


@pytest.mark.parametrize("lowest", range(1, 7))
def test_equal_projections_that_run_past_the_window_count(lowest):
    rows = np.array([[5]] * 9 + [[0], [6], [7]])
    levels = level_sets(rows, np.array([[1]]), lowest=lowest)
    assert levels.depths(np.array([[5], [6]]), least=6).tolist()[0] == 10
    assert levels.highest_unbroken() == 10


@pytest.mark.parametrize("level", range(1, 13))
@pytest.mark.parametrize("lowest", range(1, 7))
def test_the_kernel_reads_the_ranks_of_its_level_wherever_the_window_ends(level, lowest):
    """One level at a time, with no box but the whole line: it accepts exactly the points that are deep enough."""
    rows = np.array([[5]] * 9 + [[0], [6], [7]])
    within = Box((-2,), (9,))
    deep = {y for y in range(-2, 10) if oracle.depth([tuple(r) for r in rows.tolist()], (y,), [(1,)]) >= level}
    found = set()
    for i in range(200 if deep else 0):
        levels = level_sets(rows, np.array([[1]]), lowest=lowest)
        search = Search(levels, within, [(Group(level, level, within.size), within)], Fraction(1))
        found.add(search.first_accepted(Keystream(derived_key("line", i)), 0, np.arange(1)).point[0])
    assert found == deep


def cloud(n=3000, d=3):
    return np.rint(np.random.default_rng(4).normal(size=(n, d)) * 2**30).astype(np.int64)


CUBE = Box((-(2**34),) * 3, (2**34,) * 3)
AROUND = td.Random(12, seed=3)._integers(3, 2**16, b"")


def draws(levels, epsilon, count=30, **options):
    sampler = Sampler(levels, within=CUBE, epsilon=epsilon, **options)
    return [sampler.draw(derived_key("levels", i)) for i in range(count)]


@pytest.mark.parametrize("epsilon", [Fraction(1), Fraction(1, 30), Fraction(1, 400)])
@pytest.mark.parametrize("threads", [1, 3])
def test_a_seeded_draw_does_not_depend_on_what_is_held(epsilon, threads, crumbs, monkeypatch):
    """Held at first: two ranks in the middle, or all. At the smallest epsilon draws ask for more, in every thread."""
    monkeypatch.setattr(exponential, "_LANE_WORDS", (64,))
    monkeypatch.setattr(levels_module, "_WIDER", 1)
    wide = draws(level_sets(cloud(), AROUND, lowest=1), epsilon)
    narrow = level_sets(cloud(), AROUND, lowest=1500)
    statuses = []
    plain = kept.propose
    monkeypatch.setattr(kept, "propose", lambda *a: statuses.append((answer := plain(*a))[0]) or answer)
    assert draws(narrow, epsilon, threads=threads) == wide
    assert narrow.held > 1 or epsilon < 1  # a strong draw asks for deep levels only
    assert epsilon > Fraction(1, 400) or loops.SHALLOW in statuses


def test_many_rows_are_held_in_part_and_release_the_same(crumbs, monkeypatch):
    x = np.random.default_rng(7).normal(size=(9000, 3)) ** 3 + 0.5
    x[::17, 1] = np.nan

    def release():
        return td.boxem(x, epsilon=1, bounds=(-9, 9), depth=td.Spread(20), randomness=td.seeded(3)).point.tolist()

    in_part = release()
    assert level_sets(np.rint(x[1:17] * 100).astype(np.int64), np.eye(3, dtype=np.int64)).held == 1
    assert level_sets(cloud(9000), AROUND).held > 3000
    monkeypatch.setattr(levels_module, "_FEW_ROWS", 10**9)
    monkeypatch.setattr(grid_module, "_ROWS_AT_A_TIME", 10**9)
    assert release() == in_part


@pytest.mark.parametrize("at_a_time", [1, 3, 7, 100])
def test_rows_are_mapped_to_the_grid_in_blocks_of_any_size(at_a_time, monkeypatch):
    x = np.random.default_rng(0).normal(size=(23, 2)) * 3
    x[[0, 3, 4, 11, 22], [0, 1, 0, 1, 1]] = np.nan
    grid = bounded_grid(2, bounds=(-4, 4), resolution=0.5)
    whole = grid.snap(x).tolist()
    monkeypatch.setattr(grid_module, "_ROWS_AT_A_TIME", at_a_time)
    assert grid.snap(x).tolist() == whole
    assert whole == [row for one in x for row in grid.snap(one[np.newaxis]).tolist()]


@given(st.permutations(range(len(AROUND))), st.integers(0, 20))
def test_the_order_in_which_directions_are_tested_changes_no_draw(order, i):
    search = Sampler(level_sets(cloud(400), AROUND), within=CUBE, epsilon=Fraction(1, 30))._draws._search
    stream = Keystream(derived_key("order", i))
    order = np.array(order)
    assert search.first_accepted(stream, 3, order) == search.first_accepted(stream, 3, np.arange(len(AROUND)))
    assert sorted(order.tolist()) == list(range(len(AROUND)))


def test_directions_that_reject_are_tested_first_from_then_on():
    """Of 41 directions only the last tells the proposals, from a box far too long in one column, from deep points."""
    levels = level_sets(cloud(400, d=2), np.vstack([np.tile([[1, 0]], (40, 1)), [[0, 1]]]))
    within = Box((-(2**20), -(2**40)), (2**20, 2**40))
    search = Search(levels, within, [(Group(1, 100, within.size), within)], Fraction(1, 10))
    order = np.arange(41)
    search.first_accepted(Keystream(derived_key("rejecting")), 3, order)
    assert order[0] == 40


def peak(make):
    tracemalloc.start()
    try:
        make()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_memory_stays_below_the_projections(monkeypatch):
    """100,000 rows, 3 + 27 directions. Sorting everything takes as much as the projections, which is the control."""
    monkeypatch.setattr(levels_module, "available_cores", lambda: 2)
    x = np.random.default_rng(0).normal(size=(100_000, 3))
    projections = 8 * 30 * len(x)
    depth = td.Random(27, seed=1)
    td.boxem(x[:100], epsilon=1, bounds=(-9, 9), depth=depth)
    rows = bounded_grid(3, bounds=(-9, 9), resolution=None).snap(x)
    directions = depth.on_grid(bounded_grid(3, bounds=(-9, 9), resolution=None), b"")
    assert peak(lambda: td.boxem(x, epsilon=1, bounds=(-9, 9), depth=depth)) < 0.6 * projections
    assert projections <= peak(lambda: level_sets(rows, directions, lowest=1)) < 1.1 * projections
