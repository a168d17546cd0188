"""Lists of deep points: none is missing, none is there twice, and the law is left alone."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support import oracle
from support.covers import planted_in
from support.fit import FALSE_ALARM, g_test
from support.tiny_plane import DEPTHS, DIRECTIONS, PLANE, ROWS
from tukeydp.hints import branches as branches_module
from tukeydp.hints import envelope as envelope_module
from tukeydp.hints.branches import compile_lists, compile_once
from tukeydp.hints.envelope import Envelope
from tukeydp.hints.linear_programs import LinearPrograms
from tukeydp.trusted.bits import Keystream, derived_key
from tukeydp.trusted.boxes import Box, Pieces, Union
from tukeydp.trusted.covers import Covers
from tukeydp.trusted.levels import level_sets
from tukeydp.trusted.sampling import compiling
from tukeydp.trusted.sampling.draws import Sampler

POINTS = list(itertools.product(range(-3, 4), repeat=2))
WITHIN = Box((-3, -3), (3, 3))
FAR = (10**6, -(10**6))
EPSILON = Fraction(3, 2)
DRAWS = 8_000

rows_of = st.lists(st.sampled_from([*POINTS, FAR]), min_size=1, max_size=12)
direction = st.tuples(st.integers(-4, 4), st.integers(-4, 4)).filter(any)
directions_of = st.lists(direction, min_size=1, max_size=6)
start = st.sampled_from(POINTS)
half_epsilon = st.sampled_from([1e-6, 0.3, 2.0, 1e300])


@pytest.fixture(autouse=True, scope="module")
def _compiled():
    compile_once()
    compile_lists()


def tree_of(rows, directions, base, half_epsilon, *, within=WITHIN, held=1):
    levels = level_sets(np.array(rows), np.array(directions), lowest=held)
    return planted_in(levels, within, base, half_epsilon)


@pytest.mark.parametrize("held", [1, 6])
@pytest.mark.parametrize("tries", [1.0, 2.0**14])
@given(rows_of, directions_of, st.integers(1, 3), start, half_epsilon)
def test_the_list_has_every_point_from_its_level_on_and_no_other(tries, held, rows, directions, base, start, q):
    base = min(base, len(rows))
    tree = tree_of(rows, directions, base, q, held=held)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(branches_module, "_FEW_TRIES", tries)  # one asks for long lists, the other for short ones
        assert tree.list_points(np.array(start))
    listed, level = Counter(map(tuple, tree._listed.points.tolist())), tree._listed.level
    assert base <= level
    depths = {y: oracle.depth(rows, y, directions) for y in POINTS}
    assert {y for y in POINTS if depths[y] >= level} <= listed.keys()
    assert all(times == 1 for times in listed.values())
    for y, cap in zip(map(tuple, tree._listed.points.tolist()), tree._listed.caps.tolist(), strict=True):
        assert cap >= max(level, depths[y])
        assert cap == depths[y] or held > 1 or base > 1  # ranks that are left out may not tell
    assert tree._nodes.cap[0] == level - 1
    assert tree.top >= max(depths.values()) or max(depths.values()) < base


@given(rows_of, directions_of, start, half_epsilon, st.integers(0, 20))
def test_every_point_is_in_each_of_its_levels_once_and_stays_there_if_boxes_are_cut(rows, directions, start, q, steps):
    levels = level_sets(np.array(rows), np.array(directions))
    envelope = Envelope(Covers(levels, WITHIN), LinearPrograms(levels))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(envelope_module, "MANY_COLUMNS", 0)
        patch.setattr(Envelope, "branched", lambda self, lowest: self.tree is not None)
        envelope.branch(0, q, 0, 0.0)
        if envelope.tree is None:
            return
        assert envelope.tree.steps
        envelope.branch(0, q, envelope.tree.steps + steps, 0.0)
        groups = envelope.groups(0)
    assert all(group.size == box.size > 0 for group, box in groups)
    for y in POINTS:
        depth = oracle.depth(rows, y, directions)
        holding = [level for group, box in groups if box.holds(y) for level in range(group.lowest, group.highest + 1)]
        assert sorted(level for level in holding if level <= depth) == list(range(depth + 1))


@pytest.mark.parametrize("room", [1, 2, 5])
@given(rows=rows_of, directions=directions_of, start=start)
def test_a_list_without_room_starts_at_a_higher_level(room, rows, directions, start):
    tree = tree_of(rows, directions, 1, 1e-6)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(branches_module, "_LISTED", room)
        patch.setattr(branches_module, "_SHARE", 1.0)
        assert tree.list_points(np.array(start))
    assert len(tree._listed.points) <= room
    deep = {y for y in POINTS if oracle.depth(rows, y, directions) >= tree._listed.level}
    assert deep == set(map(tuple, tree._listed.points.tolist()))


def answers(d):
    """Forty persons' answers to d yes/no questions, and random directions."""
    rng = np.random.default_rng(d)
    rows = (rng.random((40, d)) < np.linspace(0.2, 0.7, d)).astype(np.int64)
    return rows, np.vstack([np.eye(d, dtype=np.int64), rng.integers(-30, 31, (40, d))])


def test_deep_answers_to_eleven_questions_are_those_that_brute_force_finds():
    rows, directions = answers(11)
    points = np.array(list(itertools.product((0, 1), repeat=11)))
    at, below = directions @ points.T, directions @ rows.T
    depths = np.minimum(
        (below[:, :, np.newaxis] <= at[:, np.newaxis]).sum(axis=1),
        (below[:, :, np.newaxis] >= at[:, np.newaxis]).sum(axis=1),
    ).min(axis=0)
    tree = tree_of(rows, directions, 1, 0.5, within=Box((0,) * 11, (1,) * 11))
    assert tree.list_points(np.ones(11, dtype=np.int64))
    level = tree._listed.level
    assert 1 <= level <= depths.max()
    wanted = Counter((tuple(y), t) for y, t in zip(points.tolist(), depths.tolist(), strict=True) if t >= level)
    assert Counter(zip(map(tuple, tree._listed.points.tolist()), tree._listed.caps.tolist(), strict=True)) == wanted


@pytest.mark.parametrize("d", [12, 15])
def test_lists_of_skewed_scores_take_little_and_leave_few_tries(d):
    """Counted in proposals and visits, not in seconds."""
    rng = np.random.default_rng(0)
    rows = rng.choice(5, p=[0.05, 0.1, 0.2, 0.4, 0.25], size=(1000, d))
    directions = np.vstack([np.eye(d, dtype=np.int64), np.rint(rng.normal(size=(300, d)) * 1000).astype(np.int64)])
    levels = level_sets(rows, directions)
    envelope = Envelope(Covers(levels, Box((0,) * d, (4,) * d)), LinearPrograms(levels))
    envelope.branch(0, 0.5, 0, 0.0)
    assert envelope.tree._listed.level <= envelope.top
    assert envelope.branched(0)
    assert envelope.tree.tries < 2**15
    assert envelope.tree.steps < 100


def test_where_a_list_would_take_long_there_is_none(monkeypatch):
    rows, directions = answers(11)
    levels = level_sets(rows, directions)
    within = Box((0,) * 11, (1,) * 11)
    trees = [planted_in(levels, within, 1, 0.5) for _ in range(2)]
    monkeypatch.setattr(branches_module, "_MOST_VISITS", 100)
    assert not trees[0].list_points(np.zeros(11, dtype=np.int64))
    climb, _, find = compiling.lister()
    monkeypatch.setattr(compiling, "lister", lambda: (climb, lambda *_: 0.0, find))  # an estimate that is far too low
    assert not trees[0].list_points(np.zeros(11, dtype=np.int64))
    for tree in trees:
        tree.grow(50, 0.0)
    assert (trees[0]._nodes.cap[:20] == trees[1]._nodes.cap[:20]).all()
    assert trees[0]._listed is None


def listing_sampler(monkeypatch, **options):
    """Draws of which those from level 1 on come from a list, but for the levels below it."""
    monkeypatch.setattr(Envelope, "branched", lambda self, lowest: self.tree is not None)
    monkeypatch.setattr(envelope_module, "MANY_COLUMNS", 0)
    monkeypatch.setattr(branches_module, "_FEW_TRIES", 4.0)
    monkeypatch.setattr(branches_module, "_SHARE", 1.0)
    levels = level_sets(np.array(ROWS), np.array(DIRECTIONS), lowest=options.pop("held", 1))
    sampler = Sampler(levels, within=Box((0, 0), (4, 4)), epsilon=EPSILON, threads=1, **options)
    sampler._planner._envelope.branch(sampler._draws._lowest, 0.75, 0, 0.0)
    assert sampler._planner._envelope.tree._listed.level > sampler._planner._envelope.tree.base or "lowest" in options
    return drawn_again(sampler)


def drawn_again(sampler):
    sampler._draws._rungs = sampler._planner._envelope.rungs(sampler._draws._lowest)
    sampler._draws._search = sampler._draws._searching()
    assert any(isinstance(box, Union) and not box.start for box in sampler._draws._search._boxes)
    return sampler


def pmf(epsilon=EPSILON, lowest=0):
    kept = [t for t in DEPTHS if t >= lowest]
    probabilities = iter(oracle.law(kept, Fraction(math.exp(epsilon / 2))))
    return np.array([float(next(probabilities)) if t >= lowest else 0.0 for t in DEPTHS])


def counts(sampler):
    tally = dict.fromkeys(PLANE, 0)
    for i in range(DRAWS):
        tally[tuple(sampler.draw(derived_key("listed", i)))] += 1
    return np.array([tally[y] for y in PLANE])


@pytest.mark.parametrize(
    "options",
    [{}, {"word_bits": 4}, {"held": 4}, {"lowest": 1}],
    ids=["plain", "undecided words", "few ranks held", "restricted"],
)
def test_lists_leave_the_law_alone(options, monkeypatch):
    options = dict(options)
    observed = counts(listing_sampler(monkeypatch, **options))
    lowest = options.get("lowest", 0)
    assert g_test(observed, pmf(lowest=lowest)) > FALSE_ALARM
    # The same test tells a slightly wrong law apart.
    assert g_test(observed, pmf(EPSILON * Fraction(3, 2), lowest)) < FALSE_ALARM


def test_a_point_that_the_list_has_not_would_be_noticed(monkeypatch):
    sampler = listing_sampler(monkeypatch)
    tree = sampler._planner._envelope.tree
    tree._listed.points, tree._listed.caps = tree._listed.points[1:], tree._listed.caps[1:]
    sampler._planner._envelope._branched = tree.rungs()
    assert g_test(counts(drawn_again(sampler)), pmf()) < FALSE_ALARM


def test_a_union_may_begin_behind_other_pieces():
    low, high = np.array([[0, 0], [5, 5], [9, 0]]), np.array([[1, 2], [5, 6], [9, 0]])
    pieces = Pieces(low, high, np.cumsum(np.prod(high - low + 1, axis=1)))
    last = Union(pieces, 3, 1)
    wanted = {(5, 5), (5, 6), (9, 0)}
    bits = Keystream(derived_key("union behind others")).bits(0)
    assert last.size == 3
    assert {tuple(last.uniform(bits)) for _ in range(200)} == wanted
    assert all(last.holds(y) == (y in wanted) for y in itertools.product(range(10), repeat=2))
