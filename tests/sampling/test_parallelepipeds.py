"""Parallelepipeds of directions: rounded real points, each grid point of a level alike often."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from support import oracle
from support.covers import replan
from support.fit import FALSE_ALARM, g_test
from support.tiny_plane import DEPTHS, DIRECTIONS, PLANE, ROWS
from tukeydp.hints import planner
from tukeydp.hints.boxes import Certifier
from tukeydp.hints.envelope import Envelope
from tukeydp.hints.frames import Frames
from tukeydp.hints.linear_programs import LinearPrograms
from tukeydp.trusted import exponential, lanes, records
from tukeydp.trusted.bits import Keystream, derived_key
from tukeydp.trusted.boxes import Box
from tukeydp.trusted.covers import Covers
from tukeydp.trusted.exponential import Search
from tukeydp.trusted.laws import Group, LevelDraw
from tukeydp.trusted.levels import level_sets
from tukeydp.trusted.sampling import many_columns
from tukeydp.trusted.sampling.draws import Sampler
from tukeydp.trusted.shapes import Parallelepiped, around, frame_of

WITHIN = Box((0, 0), (4, 4))
EPSILON = Fraction(3, 2)
DRAWS = 4_000
LAW = [float(p) for p in oracle.law(DEPTHS, Fraction(math.exp(EPSILON / 2)))]
STEEPER = [float(p) for p in oracle.law(DEPTHS, Fraction(math.exp(EPSILON * 3 / 4)))]


def shape_of(levels, level, rows):
    smallest, largest = levels.offsets(level)
    return around(frame_of(levels.directions[rows]), smallest[rows].tolist(), largest[rows].tolist())


def search(monkeypatch, shrunk=0, word_bits=64):
    """Level 0 from the whole plane, all others from parallelepipeds along the last two directions."""
    monkeypatch.setattr(lanes, "IN_LANES", (16, 32))
    levels = level_sets(np.array(ROWS), np.array(DIRECTIONS))
    groups = [(Group(0, 0, WITHIN.size), WITHIN)]
    for lowest, highest in [(1, 1), (2, max(DEPTHS))]:
        whole = shape_of(levels, lowest, [2, 3])
        low, widths = (a + shrunk for a in whole.low), (w - 2 * shrunk for w in whole.widths)
        shape = Parallelepiped(whole.frame, tuple(low), tuple(widths))
        groups.append((Group(lowest, highest, shape.size), shape))
    return Search(levels, WITHIN, groups, EPSILON, word_bits, many=0)


def counts(found):
    tally = dict.fromkeys(PLANE, 0)
    for i in range(DRAWS):
        accepted, _ = found.run(Keystream(derived_key("parallelepipeds", i)), 0, 1e9, 1)
        tally[tuple(accepted.point)] += 1
    return np.array(list(tally.values()))


@pytest.mark.parametrize("word_bits", [64, 5])
def test_draws_follow_the_exponential_mechanism(word_bits, monkeypatch):
    found = search(monkeypatch, word_bits=word_bits)
    assert (found._coarse._filter.slot >= 0).any()
    observed = counts(found)
    assert g_test(observed, LAW) > FALSE_ALARM
    # The same test tells a slightly wrong law apart.
    assert g_test(observed, STEEPER) < FALSE_ALARM


def test_a_parallelepiped_that_cuts_cubes_would_be_noticed(monkeypatch):
    assert g_test(counts(search(monkeypatch, shrunk=3)), LAW) < FALSE_ALARM


def test_a_volume_without_the_determinant_would_be_noticed(monkeypatch):
    monkeypatch.setattr(Parallelepiped, "size", property(lambda self: math.prod(self.widths)))
    monkeypatch.setattr(Parallelepiped, "keeps", lambda *_: True)
    assert g_test(counts(search(monkeypatch)), LAW) < FALSE_ALARM


def test_a_filter_that_forgets_the_rounding_would_be_noticed(monkeypatch):
    whole = many_columns._BoxTest.__init__

    def forgetful(self, stretched, first, last, down, up):
        whole(self, stretched, first, last, down, up)
        self._above, self._below = np.zeros_like(self._above), np.zeros_like(self._below)

    monkeypatch.setattr(many_columns._BoxTest, "__init__", forgetful)
    assert g_test(counts(search(monkeypatch)), LAW) < FALSE_ALARM


def test_a_whole_sampler_with_parallelepipeds_keeps_the_law(monkeypatch):
    """As in many columns after many proposals in vain."""
    monkeypatch.setattr(planner, "MANY_COLUMNS", 1)
    monkeypatch.setattr(exponential, "MANY_COLUMNS", 0)
    monkeypatch.setattr(planner, "_NOT_EASY", 1.0)
    monkeypatch.setattr(Envelope, "_framed", lambda envelope, level: envelope._frames.around(level, None)[0])
    levels = level_sets(np.array(ROWS), np.array(DIRECTIONS))
    sampler = Sampler(levels, within=WITHIN, epsilon=EPSILON, threads=1)
    sampler._planner._envelope.refine([1, 2, 3])
    sampler._planner._envelope._shaped_by = sampler._planner._envelope._framed
    sampler._planner._proposals = 64.0
    replan(sampler)
    assert any(isinstance(box, Parallelepiped) for box in sampler._draws._search._boxes)
    assert g_test(counts(sampler._draws._search), LAW) > FALSE_ALARM


def frame_around(levels, level, whole):
    """The parallelepiped that is chosen for a level, if any is."""
    found = Frames(Certifier(Covers(levels, whole), LinearPrograms(levels))).around(level, None)
    return found[0].parts[0] if found else None


vectors = st.lists(st.tuples(*[st.integers(-9, 9)] * 3), min_size=3, max_size=3)


@settings(deadline=None, derandomize=True, max_examples=60)
@given(vectors, st.tuples(*[st.integers(-50, 50)] * 3), st.tuples(*[st.integers(1, 90)] * 3), st.integers(0, 99))
def test_a_point_is_the_rounded_real_point_of_its_bits(matrix, low, widths, seed):
    frame = frame_of(np.array(matrix))
    assume(frame is not None)
    shape = Parallelepiped(frame, low, widths)
    known = [seed % 256, 7, 255]
    y = shape.point(known, 8, Keystream(derived_key(seed)).bits(0))
    bits = Keystream(derived_key(seed)).bits(0)
    theta = [Fraction((byte << 64) | bits.take(64), 2**72) for byte in known]
    s = [a + w * t for a, w, t in zip(low, widths, theta, strict=True)]
    x = [sum(n * c for n, c in zip(row, s, strict=True)) / frame.denominator for row in frame.numerators]
    assert np.array_equal(np.array(matrix) @ np.array(frame.numerators, dtype=np.int64), frame.denominator * np.eye(3))
    assert y == [math.floor(c + Fraction(1, 2)) for c in x]


def test_a_point_is_not_taken_before_its_bits_tell_it():
    """64 bits that are all ones leave open whether the point is below the half or not."""

    class Scripted:
        words: ClassVar = [2**63 - 1, 2**64 - 1, 2**63]

        def take(self, count):
            return self.words.pop(0)

    shape = Parallelepiped(frame_of(np.array([[2]])), (0,), (2,))
    assert shape.point([0], 0, Scripted()) == [0]
    assert Scripted.words == []


@settings(deadline=None, derandomize=True, max_examples=40)
@given(
    rows=st.lists(st.tuples(*[st.integers(-(2**30), 2**30)] * 2), min_size=4, max_size=9),
    entries=st.lists(st.tuples(*[st.integers(-(2**20), 2**20)] * 2), min_size=1, max_size=4),
    seed=st.integers(0, 2**32),
)
def test_no_point_of_a_level_is_dropped_for_its_first_bytes(rows, entries, seed):
    directions = np.array([(1, 0), (0, 1), *(v for v in entries if any(v))])
    levels = level_sets(np.array(rows), directions)
    level = 1 + seed % 2
    whole = Box((-(2**31),) * 2, (2**31,) * 2)
    shape = frame_around(levels, level, whole)
    assume(shape is not None)
    law = LevelDraw([Group(level, level, shape.size)], Fraction(1))
    test = many_columns.filter_of(levels, records.proposals(law.word_table(), [whole], whole), [shape])
    chosen = np.random.default_rng(seed)
    for first in chosen.integers(0, 256, size=(40, 2)):
        y = shape.point(first.tolist(), 8, Keystream(derived_key(int(first[0]), seed)).bits(0))
        sums = test.coefficients[0] @ first
        if levels.contains(y, level):
            assert (test.smallest[0] <= sums).all()
            assert (sums <= test.largest[0]).all()


def test_a_frame_of_narrow_directions_is_found():
    """Rows along a line across the axes: a box around them is wide in both columns."""
    rows = np.array([(i * 1000, i * 1000 + i % 3) for i in range(60)])
    levels = level_sets(rows, np.array([[1, 0], [0, 1], [1, 1], [1, -1]]))
    whole = Box((0, 0), (60_000, 60_000))
    shape = frame_around(levels, 5, whole)
    assert shape.size < 1000 * 60 * 10
    for y in rows.tolist():
        if levels.contains(y, 5):
            at = shape.frame.matrix @ np.array(y)
            half = np.abs(shape.frame.matrix).sum(axis=1) / 2
            assert (np.array(shape.low) <= at - half).all()
            assert (at + half <= np.array(shape.low) + np.array(shape.widths)).all()


def test_nobody_is_warned_of_a_level_that_is_far_thinner_one_way_than_another(monkeypatch):
    """Two equal columns: floats take some squared widths of the level for negative. A warning would tell of it."""
    column = np.array([-175560073, -905974572, -215327320, -872034547, -349451440, -848012364])
    levels = level_sets(np.column_stack([column, column]), np.array([[1, 0], [0, 1], [-7, 6], [-9, 8], [-1, 1]]))
    monkeypatch.setattr(LinearPrograms, "middle", lambda *_: np.full(2, column.mean()))
    whole = Box((-(2**30),) * 2, (2**30,) * 2)
    with np.errstate(all="raise"):
        shape = frame_around(levels, 1, whole)
    assert shape.size < 2**32


def test_where_no_direction_crosses_a_column_there_is_no_frame_and_no_warning():
    levels = level_sets(np.array([(0, 0, 3), (5, 2, 4), (3, 3, 9), (2, 1, 1)]), np.array([[1, 1, 0], [2, -1, 0]]))
    whole = Box((0, 0, 0), (9, 9, 9))
    with np.errstate(all="raise"):
        assert frame_around(levels, 1, whole) is None
