"""Proposals whose first bytes are looked at: none that could be accepted is dropped, and the law stays."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support import oracle
from support.fit import FALSE_ALARM, g_test
from support.tiny_plane import DEPTHS, DIRECTIONS, PLANE, ROWS
from tukeydp.trusted import exponential, lanes, records
from tukeydp.trusted.bits import Bits, Keystream, derived_key
from tukeydp.trusted.boxes import Box, Union
from tukeydp.trusted.exponential import Search
from tukeydp.trusted.laws import Group, LevelDraw
from tukeydp.trusted.levels import level_sets
from tukeydp.trusted.matrices import Basis
from tukeydp.trusted.sampling import loops, many_columns
from tukeydp.trusted.sampling.draws import Sampler
from tukeydp.trusted.sampling.many_columns import filter_of, suits

WITHIN = Box((0, 0), (4, 4))
SHEAR = Basis(((1, 0), (1, 1)), ((1, 0), (-1, 1)))
EPSILON = Fraction(3, 2)
DRAWS = 8_000


def small_lanes(monkeypatch):
    """First bytes of narrow boxes too, a few proposals at a time."""
    monkeypatch.setattr(many_columns, "_WIDE", 0)
    monkeypatch.setattr(lanes, "IN_LANES", (4, 8))


def coarse(monkeypatch, **options):
    """A sampler whose every proposal is made from first bytes, on a grid where these tell little."""
    small_lanes(monkeypatch)
    monkeypatch.setattr(exponential, "MANY_COLUMNS", 0)
    levels = level_sets(np.array(ROWS), np.array(DIRECTIONS), lowest=options.pop("held", 1))
    sampler = Sampler(levels, within=WITHIN, epsilon=EPSILON, threads=1, **options)
    assert sampler._draws._search._coarse is not None
    return sampler


def pmf(epsilon=EPSILON, lowest=0):
    kept = [t for t in DEPTHS if t >= lowest]
    probabilities = iter(oracle.law(kept, Fraction(math.exp(epsilon / 2))))
    return np.array([float(next(probabilities)) if t >= lowest else 0.0 for t in DEPTHS])


def counts(sampler):
    tally = dict.fromkeys(PLANE, 0)
    for i in range(DRAWS):
        tally[tuple(sampler.draw(derived_key("coarse", i)))] += 1
    return np.array([tally[y] for y in PLANE])


@pytest.mark.parametrize(
    "options", [{}, {"word_bits": 5}, {"lowest": 2, "held": 4}], ids=["plain", "undecided words", "restricted"]
)
def test_draws_follow_the_exponential_mechanism(options, monkeypatch):
    observed = counts(coarse(monkeypatch, **options))
    assert g_test(observed, pmf(lowest=options.get("lowest", 0))) > FALSE_ALARM
    # The same test tells a slightly wrong law apart.
    assert g_test(observed, pmf(EPSILON * Fraction(3, 2), options.get("lowest", 0))) < FALSE_ALARM


def test_a_filter_that_drops_too_much_would_be_noticed(monkeypatch):
    sampler = coarse(monkeypatch)
    narrow = sampler._draws._search._coarse._filter
    narrow.largest[:] -= (narrow.largest - narrow.smallest) // 3
    assert g_test(counts(sampler), pmf()) < FALSE_ALARM


def slanted_search(monkeypatch, within):
    """Levels from 1 on from a slanted box around the whole plane, which extends beyond it."""
    small_lanes(monkeypatch)
    levels = level_sets(np.array(ROWS), np.array(DIRECTIONS))
    slanted = Box((0, 0), (4, 8), SHEAR)
    groups = [(Group(0, 0, within.size), within), (Group(1, max(DEPTHS), slanted.size), slanted)]
    search = Search(levels, within, groups, EPSILON, many=0)
    assert search._coarse is not None
    assert len(search._coarse._filter.box) >= 2
    return search


def slanted_counts(search):
    tally = dict.fromkeys(PLANE, 0)
    for i in range(DRAWS):
        accepted, _ = search.run(Keystream(derived_key("slanted bytes", i)), 0, 1e6, 1)
        tally[tuple(accepted.point)] += 1
    return np.array([tally[y] for y in PLANE])


@pytest.mark.parametrize("within", [WITHIN, Box((1, 0), (3, 4))], ids=["all rows", "rows beyond the public box"])
def test_first_bytes_in_slanted_boxes_leave_the_law_alone(within, monkeypatch):
    observed = slanted_counts(slanted_search(monkeypatch, within))
    inside = np.array([within.holds(y) for y in PLANE])
    assert not observed[~inside].any()
    weights = np.where(inside, np.exp(float(EPSILON) / 2 * np.array(DEPTHS)), 0.0)
    assert g_test(observed, weights / weights.sum()) > FALSE_ALARM
    steeper = weights**1.5
    assert g_test(observed, steeper / steeper.sum()) < FALSE_ALARM


def test_directions_that_were_not_turned_with_the_box_would_be_noticed(monkeypatch):
    monkeypatch.setattr(many_columns, "_turned", lambda directions, box: directions)
    assert g_test(slanted_counts(slanted_search(monkeypatch, WITHIN)), pmf()) < FALSE_ALARM


def proposals_in(levels, within, groups, epsilon=Fraction(1)):
    law = LevelDraw([group for group, _ in groups], epsilon)
    return law, records.proposals(law.word_table(), [box for _, box in groups], within)


def made(levels, proposals, boxes, stream, count):
    """What the kernel finds: numbers of candidates, and for every proposal its level, box and first bytes."""
    d = levels.d
    words = stream.words(0, count + -(-count * d // 8))
    found = loops.room(count, d)
    order = loops.Order(np.arange(len(levels.directions)), *np.zeros((2, len(levels.directions)), np.int64))
    table = loops.words_of(proposals.first, proposals.last)
    test = filter_of(levels, proposals, boxes)
    left = loops.candidates(words[:count], words[count:].view(np.uint8), table, test, order, found)
    # The bytes are dealt out level by level: learned from a filter that drops nothing.
    open_test = test._replace(
        smallest=np.full_like(test.smallest, -(2**31)), largest=np.full_like(test.largest, 2**31 - 1)
    )
    everything = loops.room(count, d)
    whole = loops.candidates(words[:count], words[count:].view(np.uint8), table, open_test, order, everything)
    assert sorted(everything.number[:whole].tolist()) == list(range(count))
    return set(found.number[:left].tolist()), everything


small = st.integers(-40, 40)


@settings(max_examples=60)
@given(
    st.lists(st.tuples(small, small), min_size=3, max_size=12),
    st.lists(st.tuples(st.integers(-9, 9), st.integers(-9, 9)).filter(any), min_size=1, max_size=5),
    st.integers(0, 2**32),
)
def test_no_proposal_is_dropped_that_some_further_bits_would_put_into_its_level(rows, directions, seed):
    levels = level_sets(np.array(rows), np.array(directions))
    within = Box((-40, -40), (40, 300))
    one = Box((-20, 3), (9, 3))  # a column of one point
    slanted = Box((-25, -60), (20, 50), SHEAR)
    groups = [
        (Group(0, 1, within.size), within),
        (Group(2, 2, one.size), one),
        (Group(3, max(3, levels.rows), slanted.size), slanted),
    ]
    _, proposals = proposals_in(levels, within, groups)
    boxes = [box for _, box in groups]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(many_columns, "_WIDE", 0)
        candidates, everything = made(levels, proposals, boxes, Keystream(derived_key("bytes", seed)), 48)
    for number, row, drawn, first_bytes in zip(*everything[:4], strict=True):
        if not drawn or int(number) in candidates:
            continue
        box, level = boxes[proposals.box[row]], int(proposals.level[row])
        spans = [
            range(a + t * (b - a + 1) // 256, a - (-(t + 1) * (b - a + 1) // 256))
            for t, a, b in zip(first_bytes.tolist(), box.low, box.high, strict=True)
        ]
        assert all(oracle.depth(rows, box.point(z), directions) < level for z in itertools.product(*spans))


@pytest.mark.parametrize("candidates", [loops.candidates, loops._candidates], ids=["compiled", "plain"])
@pytest.mark.parametrize("d", [3, 5])
def test_candidates_are_those_that_the_definition_says_with_their_own_bytes(d, candidates):
    """Small coefficients and narrow ranges: many sums lie on an end, which is inside; some words tell no level."""
    rng, n = np.random.default_rng(d), 3000
    first = np.array([0, 2**62, 2**63], dtype=np.uint64)
    last = np.array([2**62 - 1, 2**63 - 2**59, 2**64 - 1], dtype=np.uint64)
    words, stream = rng.integers(2**64, size=n, dtype=np.uint64), rng.integers(9, size=n * d).astype(np.uint8)
    slot, box = np.array([1, 0, -1]), np.array([1, 0])  # the last row of the table is not tested
    coefficients = rng.integers(-3, 4, size=(2, 4, d)).astype(np.int32)
    smallest, largest = np.full((2, 4), -12, dtype=np.int32), np.full((2, 4), 12, dtype=np.int32)
    test = loops.Filter(slot, box, coefficients, smallest, largest)
    order = loops.Order(np.arange(4), *np.zeros((2, 4), dtype=np.int64))
    found = loops.room(n, d)
    count = candidates(words, stream, loops.words_of(first, last), test, order, found)
    rows = [next((r for r in range(3) if first[r] <= word <= last[r]), loops.NO_ROW) for word in words]
    wanted, at = {p: None for p in range(n) if rows[p] in (2, loops.NO_ROW)}, 0
    for s, row in ((0, 1), (1, 0)):  # bytes are dealt out slot by slot, and column by column for 2048 proposals
        members = [p for p in range(n) if rows[p] == row]
        drawn = stream[at : at + d * len(members)].reshape(d, -1).T
        at += d * len(members)
        inside = (np.abs(drawn.astype(np.int64) @ coefficients[box[s]].T) <= 12).all(axis=1)
        wanted |= {p: drawn[i].tolist() for i, p in enumerate(members) if inside[i]}
        assert 0.02 < inside.mean() < 0.95
    known = zip(*(part[:count].tolist() for part in found[:4]), strict=True)
    assert {p: bytes_ if drawn else None for p, _, drawn, bytes_ in known} == wanted
    assert all(rows[p] == row for p, row in zip(found.number[:count], found.row[:count], strict=True))
    assert loops.NO_ROW in rows


def wide_proposals():
    rng = np.random.default_rng(5)
    rows = np.rint(2**30 * rng.standard_normal((60, 3))).astype(np.int64)
    directions = np.rint(2**10 * rng.standard_normal((40, 3))).astype(np.int64)
    levels = level_sets(rows, directions)
    box = Box((-(2**31),) * 3, (2**31 - 1,) * 3)
    groups = [(Group(0, 0, 1), box), (Group(1, 10, box.size), box)]
    _, proposals = proposals_in(levels, box, groups, Fraction(4))
    candidates, everything = made(levels, proposals, [box, box], Keystream(bytes(32)), 4096)
    drawn = everything.drawn
    dropped = np.array([number not in candidates for number in everything.number.tolist()])
    return levels, proposals.level[everything.row], everything.first_bytes.astype(np.int64), drawn, dropped


def test_what_is_dropped_is_out_of_reach_along_some_direction():
    levels, level, first_bytes, drawn, dropped = wide_proposals()
    least = -(2**31) + first_bytes * 2**24
    most = least + 2**24 - 1
    smallest, largest = (np.array([levels.offsets(int(at))[side] for at in np.maximum(level, 1)]) for side in (0, 1))
    up, down = np.maximum(levels.directions, 0).T, np.minimum(levels.directions, 0).T
    missed = (least @ up + most @ down > largest) | (most @ up + least @ down < smallest)
    assert missed.any(axis=1)[drawn & dropped].all()
    assert not dropped[~drawn].any()


def test_where_boxes_are_wide_nearly_all_that_is_left_is_accepted():
    levels, level, first_bytes, drawn, dropped = wide_proposals()
    middle = -(2**31) + (2 * first_bytes + 1) * 2**23
    accepted = sum(levels.contains(y, int(at)) for y, at in zip(middle[drawn], level[drawn], strict=True))
    assert 20 < accepted <= (drawn & ~dropped).sum() < 1.5 * accepted


class Given(Bits):
    """Bits that were chosen."""

    def __init__(self, words):
        self._words = iter(words)

    def take(self, count):
        assert count == 64
        return next(self._words)


word = st.integers(0, 2**64 - 1)


@given(st.integers(0, 255), st.integers(1, 2**62), st.lists(word | st.sampled_from([0, 2**64 - 1]), min_size=8))
def test_a_coordinate_is_where_its_uniform_number_says(first, width, words):
    theta = Fraction(first, 256)
    for i, word in enumerate(words):
        theta += Fraction(word, 2 ** (8 + 64 * (i + 1)))
    try:
        found = many_columns._scaled(first, 8, width, Given(words))
    except StopIteration:  # the words do not tell: further bits could lead to the next coordinate
        most = theta + Fraction(1, 2 ** (8 + 64 * len(words)))
        assert math.ceil(most * width) - 1 > math.floor(theta * width)
        return
    assert found == math.floor(theta * width)


def test_a_coordinate_is_not_taken_before_its_bits_tell_it():
    """Three points: one third is 0.010101... in binary, and 64 bits of it leave open on which side it lies."""
    third = (2**72 - 1) // 3
    words = [third % 2**64, 2**64 - 1]
    assert many_columns._scaled(third >> 64, 8, 3, Given(words)) == 1
    assert many_columns._scaled(third >> 64, 8, 3, Given([words[0], 0])) == 0


def test_boxes_are_taken_unless_many_proposals_come_from_some_that_bytes_tell_little_of():
    """Or from some of which products with directions are too large for a word."""
    levels = level_sets(np.array([(0, 0), (10**5, 10), (5, 10**5)]), np.array([(1, 0), (0, 1), (2**20, 3)]))
    wide, narrow = Box((0, 0), (10**6, 10**6)), Box((0, 0), (10**6, 7))
    far = 2**27
    steep = Basis(((1, far), (0, 1)), ((1, -far), (0, 1)))

    def taken(box, size=None):
        groups = [(Group(0, 1, wide.size), wide), (Group(2, 3, size or box.size), box)]
        return suits(levels, proposals_in(levels, wide, groups)[1], [wide, box])

    assert taken(wide)
    assert taken(Box((0, 5), (10**6, 5)))
    assert taken(Box(wide.low, wide.high, SHEAR))
    assert taken(narrow, size=1)
    assert not taken(narrow)
    assert taken(Box((0, 0), (10**4, 10**4), steep), size=10**12)
    assert not taken(Box((0, 0), (10**5, 10**5), steep), size=10**12)
    assert not suits(levels, None, [wide, Union(None, 1)])


def test_any_number_of_threads_gives_the_same_draw():
    rng = np.random.default_rng(3)
    rows = np.rint(2**20 * rng.standard_normal((300, 12))).astype(np.int64)
    directions = np.vstack([np.eye(12, dtype=np.int64), rng.integers(-50, 50, (60, 12))])
    levels, within = level_sets(rows, directions), Box((-(2**23),) * 12, (2**23,) * 12)
    drawn = set()
    for threads in (1, 3):
        sampler = Sampler(levels, within=within, epsilon=Fraction(1, 4), threads=threads)
        assert sampler._draws._search._coarse is not None
        drawn.add(tuple(tuple(sampler.draw(derived_key("threads", i))) for i in range(3)))
    assert len(drawn) == 1
