"""What covers are made of: each part by itself, against brute force on a small plane."""

import math
from fractions import Fraction
from itertools import count

import numpy as np
import pytest

from support.tiny_plane import DEPTHS, DIRECTIONS, PLANE, ROWS
from tukeydp.trusted import covers as made
from tukeydp.trusted import exponential
from tukeydp.trusted.bits import Keystream, derived_key
from tukeydp.trusted.boxes import Box
from tukeydp.trusted.certificates import SHIFT
from tukeydp.trusted.covers import Covers, View, coordinates_of, fits_in_words, region_of, tilt, walk_of
from tukeydp.trusted.exponential import Exponential, Search, checked, groups_of, lighter
from tukeydp.trusted.laws import Group
from tukeydp.trusted.levels import level_sets
from tukeydp.trusted.matrices import Basis
from tukeydp.trusted.shapes import TiltedBox, around, frame_of
from tukeydp.trusted.sizes.copies import DeepEnvelope

LEVELS = level_sets(np.array(ROWS), np.array(DIRECTIONS))
WITHIN = Box((0, 0), (4, 4))
DEEP = dict(zip(PLANE, DEPTHS, strict=True))
TOP = max(DEPTHS)
SHEAR = Basis(((1, 0), (1, 1)), ((1, 0), (-1, 1)))
NONSENSE = (None, "12", 3, object(), [1.5], {1: 2}, [[1], [2, 3]])


def covers():
    return Covers(LEVELS, WITHIN)


def deep(level):
    return [y for y, depth in DEEP.items() if depth >= level]


def test_plain_data_is_taken_and_nothing_else():
    assert made._plain((1, 2)) == [1, 2]
    assert made._integer_array([[1, 2]], 2).tolist() == [[1, 2]]
    given = np.array([1, 2], dtype=np.int32)
    copied = made._integer_array(given, 1)
    copied[0] = 9
    assert (given.tolist(), copied.dtype) == ([1, 2], np.int64)
    assert made._integer_rows([[1, 2], [3, 2**62 - 1]], 2) == ((1, 2), (3, 2**62 - 1))
    for wrong in (*NONSENSE, [1, 2]):
        assert made._integer_array(wrong, 2) is None
        assert made._integer_rows(wrong, 2) is None
    assert made._integer_array(np.array([[True]]), 2) is None
    assert made._integer_rows([[1, 2], [3, 2**62]], 2) is None
    assert made._rates([1, -1e9], 2).tolist() == [1.0, -600.0]
    for wrong in (*NONSENSE, [1.0], [1.0, math.nan], [math.inf, 1.0]):
        assert made._rates(wrong, 2) is None
    with pytest.raises(TypeError):
        made._plain(iter((1, 2)))


def test_small_parts():
    assert (made._rough(Fraction(1, 2)), made._rough(Fraction(10**400))) == (0.5, math.inf)
    assert made._with((1, 2, 3), 1, 9) == (1, 9, 3)
    values = np.array([1, 2])
    with pytest.raises(ValueError, match="read-only"):
        made._read_only(values)[0] = 3
    assert values.flags.writeable
    found = made._points_in(Box((-1, 2), (1, 3)))
    assert sorted(map(tuple, found.tolist())) == [(a, b) for a in (-1, 0, 1) for b in (2, 3)]
    assert made._axis_rows(level_sets(np.array(ROWS), np.array([[0, -2], [1, 1], [3, 0]]))) == [(0, 1, -2), (2, 0, 3)]
    assert View(LEVELS).rough is LEVELS.rough
    assert coordinates_of(WITHIN) is None
    assert coordinates_of(Box((0, 0), (4, 4), SHEAR)) == SHEAR.matrix
    assert coordinates_of(around(frame_of(np.array([[1, 2], [3, -1]])), (0, 0), (4, 4))) == [[1, 2], [3, -1]]


@pytest.mark.parametrize("level", range(1, TOP + 2))
def test_members_of_a_level_and_its_region(level):
    points = np.array(PLANE)
    assert sorted(map(tuple, made._members(LEVELS, points, level).tolist())) == sorted(deep(level))
    assert len(made._members(LEVELS, points, len(ROWS) + 1)) == 0
    region = region_of(LEVELS, WITHIN, level)
    inside = [y for y in PLANE if all(region.normals @ np.array(y) <= region.offsets)]
    assert sorted(inside) == sorted(deep(level))
    assert region.offsets[-4:].tolist() == [4, 4, 0, 0]


def test_slanted_points_fit_in_words_or_not():
    assert fits_in_words(Box((0, 0), (9, 9), SHEAR))
    assert not fits_in_words(Box((0, 0), (2**61, 2**61), SHEAR))
    assert not fits_in_words(Box((-(2**62), 0), (0, 0), SHEAR))


def test_a_tilt_is_a_slope_for_each_column_and_what_bounds_it():
    steps = 256 / math.log(2.0)
    rates = np.array([1.0, -2.0])
    slopes, objective, off = tilt(WITHIN, rates)
    assert slopes == objective
    assert off == 0
    for slope, rate in zip(slopes, rates.tolist(), strict=True):
        assert slope / 2**64 == pytest.approx(rate * steps / 5, rel=1e-12)
    slopes, objective, off = tilt(Box((0, 0), (4, 8), SHEAR), rates)
    assert (objective, off) == ([slopes[0] + slopes[1], slopes[1]], 0)
    slanted = around(frame_of(np.array([[1, 2], [3, -1]])), (0, 0), (4, 4))
    slopes, objective, off = tilt(slanted, rates)
    assert objective == [slopes[0] + 3 * slopes[1], 2 * slopes[0] - slopes[1]]
    assert off == (3 * abs(slopes[0]) + 4 * abs(slopes[1])) // 2 + 1


def test_a_walk_goes_through_columns_of_more_than_a_point():
    walk = walk_of(np.array([0, 2]), np.array([4, 2]), LEVELS.directions)
    assert walk.columns.tolist() == [0]
    assert walk.slopes.tolist() == [LEVELS.directions[:, 0].tolist()]
    assert walk.start.tolist() == (LEVELS.directions @ np.array([0, 2])).tolist()
    assert walk_of(np.array([0, 0]), np.array([1, 4]), LEVELS.directions).columns.tolist() == [1, 0]
    assert walk_of(np.array([3, 3]), np.array([3, 3]), LEVELS.directions).columns.tolist() == [0]


@pytest.mark.parametrize(("lowest", "highest"), [(1, 8), (2, 3), (3, 4), (5, 6)])
def test_caps_and_claims_hold_for_every_point_of_a_box(lowest, highest):
    ranks = made._ranks(LEVELS, lowest, highest)
    out = min(lowest - 1, 8 - highest)
    assert (ranks.left_out, ranks.projections.shape[1]) == (out, 8 - 2 * out)
    assert ranks.highest == 8 - out
    ordered = [sorted(a * v[0] + b * v[1] for a, b in ROWS) for v in DIRECTIONS]
    assert ranks.projections.tolist() == [line[out : 8 - out] for line in ordered]
    largest = made._largest_projections(ranks, WITHIN)
    for v, line, bound in zip(DIRECTIONS, ordered, largest, strict=True):
        sizes = [abs(v[0] * a + v[1] * b) for a, b in PLANE] + [abs(p) for p in line[out : 8 - out]]
        assert max(sizes) <= bound <= 4 * sum(map(abs, v))
    rng = np.random.default_rng(lowest)
    low = rng.integers(0, 5, (300, 2))
    high = np.minimum(low + rng.integers(0, 3, (300, 2)), 4)
    caps, own = rng.integers(-1, 9, 300), made._own_caps(low, high, ranks, TOP)
    rows, values = rng.integers(-1, 5, (300, 2)), rng.integers(-3, 4, (300, 2))
    proven = made._claims_hold(low, high, caps, rows, values, ranks, WITHIN)
    for a, b, cap, ours, holds in zip(low.tolist(), high.tolist(), caps, own, proven, strict=True):
        depths = [depth for y, depth in DEEP.items() if Box(tuple(a), tuple(b)).holds(y)]
        assert ours >= max(depths) or ours >= TOP
        assert not holds or max(depths) <= cap
    assert proven.sum() > 5
    single = np.array(PLANE)
    alone = made._own_caps(single, single, ranks, TOP)
    assert all(cap == depth or depth <= out for cap, depth in zip(alone.tolist(), DEPTHS, strict=True))


def test_levels_and_covers_that_are_none_are_the_whole():
    ours, other = covers(), covers()
    assert [ours._checked(level) for level in (3, -1, 99, "3", None)] == [3, 0, 9, 0, 0]
    box = ours.boxed(2)
    assert ours._ours(box) is box
    assert ours._ours(other.boxed(2)).hull == WITHIN
    assert ours._ours("cover").level == 0
    assert (ours._hull(box, 2), ours._hull(box, 3), ours._hull(box, 1)) == (box.hull, box.hull, WITHIN)
    inside = ours.in_its_hull(ours.slanted(2, SHEAR.matrix, None, box))
    assert (inside.level, inside.parts, inside.hull) == (2, (box.hull,), box.hull)


def test_pairs_bases_and_frames_are_checked():
    ours = covers()
    one = type("Multipliers", (), {"rows": [0], "values": [0.5]})
    assert ours._pairs([(one, None)] * 2, 2) == [([(0, 1 << (SHIFT - 1))], [])] * 2
    for wrong in (None, [(one, None)], [one, one], iter([(one, None)] * 2)):
        assert ours._pairs(wrong, 2) is None
    assert ours._basis([[1, 0], [1, 1]]) == SHEAR
    for wrong in ([[2, 0], [0, 1]], [[1, 1], [1, 1]], [[1, 0]], None):
        assert ours._basis(wrong) is None
    chosen, frame = ours._frame([0, 2])
    assert (chosen, frame.matrix.tolist()) == ((0, 2), [[1, 0], [1, 2]])
    for wrong in ([0], [0, 9], [-1, 0], None, [0.5, 1]):
        assert ours._frame(wrong) == ((), None)


def test_ranges_hold_every_point_and_multipliers_make_them_tight():
    ours = covers()
    for level in range(1, TOP + 1):
        points = np.array(deep(level))
        low, high = ours._ranges(level, [[1, 2], [3, -1]], None, WITHIN)
        assert (np.array(low) <= (points @ [[1, 3], [2, -1]]).min(axis=0)).all()
        assert (np.array(high) >= (points @ [[1, 3], [2, -1]]).max(axis=0)).all()
        exact = [([(2, 1 << SHIFT)], [(2, -1 << SHIFT)])]
        smallest, largest = LEVELS.offsets(level)
        assert ours._ranges(level, [[1, 2]], exact, WITHIN) == ((int(smallest[2]),), (int(largest[2]),))
        pairs = [([(0, 1 << SHIFT)], [(0, -1 << SHIFT)]), ([(1, 1 << SHIFT)], [(1, -1 << SHIFT)])]
        assert ours._tightened(level, pairs, WITHIN) == ours.box_along_axes(level)
        assert ours._tightened(level, None, WITHIN) == WITHIN


def test_the_top_without_hints_is_that_of_the_region():
    for directions in (DIRECTIONS, [(1, 2), (3, -1)]):
        levels = level_sets(np.array(ROWS), np.array(directions))
        ours = Covers(levels, WITHIN)
        ours.unbroken()
        top = ours.own_top()
        assert top == ours.top
        assert top >= max(levels.depths(np.array(PLANE)))
        assert Covers(levels, WITHIN, highest=2).own_top() == 2


def test_of_numbered_lanes_the_first_that_accepts_is_taken(monkeypatch):
    monkeypatch.setattr(exponential, "_LANE_WORDS", (60, 60, 60))
    plane = Box((-6, -6), (10, 10))
    search = Search(LEVELS, plane, [(Group(TOP, TOP, plane.size), plane)], Fraction(1))
    assert [search._lane_words(lane) for lane in (0, 2, 9)] == [4 * (2 + 32)] * 3
    seen = set()
    for i in range(40):
        stream = Keystream(derived_key("lanes", i))
        accepted = (search.first_accepted(stream, lane, search._order.copy()) for lane in count())
        first = next(found for found in accepted if found is not None)
        for threads in (1, 2):
            found, after = search.run(stream, 0, 1e6, threads)
            assert found == first
            assert after > first.lane
        seen.add(first.lane)
        nothing, after = search.run(stream, first.lane + 1, 0, 1)
        assert (nothing, after) == (None, first.lane + 1)
    assert {0, 1, 2, 3} <= seen


def test_a_level_without_points_is_not_drawn_and_patience_is_at_least_one_proposal():
    ours = covers()
    ours.unbroken()
    ours.own_top()
    with pytest.raises(ArithmeticError, match="no point"):
        Exponential(ours, epsilon=Fraction(1), lowest=TOP + 1, planner=None, threads=1).draw(bytes(32))
    deepest = Exponential(ours, epsilon=Fraction(1), lowest=TOP, planner=None, threads=1).draw(bytes(32))
    assert DEEP[tuple(deepest)] == TOP
    assert [exponential._patience(number) for number in (0, 7, math.inf)] == [1.0, 7.0, exponential._IN_VAIN]


def test_normals_that_fit_are_told_from_longer_ones():
    envelope = DeepEnvelope(LEVELS, Box((-8, 0), (4, 4)), np.zeros(2), np.ones(2))
    assert envelope._fits((2**58, 0))
    assert not envelope._fits((2**58, -(2**58)))
    assert not envelope._fits((2**59, 0))


def test_a_ladder_is_made_of_covers_of_their_levels_alone():
    ours, other = covers(), covers()
    boxes = {level: ours.boxed(level) for level in range(1, TOP + 1)}

    def ladder(lowest, rungs):
        return [(start, cover.level, cover.hull) for start, cover in checked(ours, lowest, rungs)]

    whole = (0, 0, WITHIN)
    assert ladder(0, [(2, boxes[2]), (3, boxes[3])]) == [whole, (2, 2, boxes[2].hull), (3, 3, boxes[3].hull)]
    assert ladder(2, [(2, boxes[2])]) == [(2, 2, boxes[2].hull)]
    assert ladder(0, [(3, boxes[2])]) == [whole, (3, 2, boxes[2].hull)]  # made for a level below
    wrong = (
        (2, boxes[3]),
        (2, other.boxed(2)),
        (TOP + 9, boxes[2]),
        (True, boxes[1]),
        [2, boxes[2]],
        (2, WITHIN),
        None,
    )
    for rung in wrong:
        assert ladder(0, [rung]) == [whole]
    assert ladder(2, [(2, boxes[3])]) == [(2, 0, WITHIN)]
    assert ladder(0, [(3, boxes[3]), (2, boxes[2])]) == [whole, (3, 3, boxes[3].hull)]
    for none in (None, iter([(2, boxes[2])]), {2: boxes[2]}):
        assert ladder(0, none) == [whole]


def test_groups_are_consecutive_and_the_lowest_level_has_one_part():
    ours = covers()
    first = ours.boxed(1)
    sliced = ours.sliced(first, 0, 0, [2])
    assert len(sliced.parts) == 2
    ((group, part),) = groups_of(ours, 1, [(1, sliced)])
    assert (group, part) == (Group(1, ours.top, first.hull.size), first.hull)
    found = groups_of(ours, 0, [(1, sliced), (3, ours.boxed(3))])
    assert [(g.lowest, g.highest) for g, _ in found] == [(0, 0), (1, 2), (1, 2), (3, ours.top)]
    assert [g.size for g, _ in found] == [part.size for _, part in found]
    tilted = ours.tilted(ours.boxed(2), [1.0, 1.0])
    assert [type(part) for _, part in groups_of(ours, 0, [(2, tilted)], 2)] == [Box, Box]
    assert [type(part) for _, part in groups_of(ours, 0, [(2, tilted)], 0)] == [Box, TiltedBox]


def test_of_two_ladders_each_level_has_the_smaller_cover():
    ours = covers()
    one, two = ours.boxed(1), ours.boxed(2)
    found = lighter(ours, 0, [(0, ours.whole()), (2, one)], [(0, ours.whole()), (1, one), (3, two)])
    assert [(start, cover.level) for start, cover in found] == [(0, 0), (1, 1), (2, 1), (3, 2)]
    assert two.size < one.size < WITHIN.size
