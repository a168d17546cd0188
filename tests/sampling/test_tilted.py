"""Tilted boxes: every point of a level comes from them alike often, whatever the hints and however they are tilted."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from support import oracle
from support.covers import replan, unproven
from support.fit import FALSE_ALARM, g_test
from support.hints import Garbage
from support.tiny_plane import DEPTHS, DIRECTIONS, PLANE, ROWS
from tukeydp.hints import boxes, planner, tilts
from tukeydp.hints import envelope as envelope_module
from tukeydp.hints.envelope import Envelope
from tukeydp.hints.linear_programs import LinearPrograms
from tukeydp.trusted import exponential, lanes
from tukeydp.trusted import shapes as tilted_boxes
from tukeydp.trusted.bits import Keystream, derived_key
from tukeydp.trusted.boxes import Box, Union
from tukeydp.trusted.covers import Covers
from tukeydp.trusted.exponential import Search
from tukeydp.trusted.laws import Group
from tukeydp.trusted.levels import level_sets
from tukeydp.trusted.matrices import Basis
from tukeydp.trusted.sampling import loops, many_columns
from tukeydp.trusted.sampling.draws import Sampler
from tukeydp.trusted.sampling.loops import rough_slabs
from tukeydp.trusted.shapes import SHARES, STEPS, TiltedBox, around, cut, frame_of, power, upright

WITHIN = Box((0, 0), (4, 4))
SHEAR = Basis(((1, 0), (1, 1)), ((1, 0), (-1, 1)))
EPSILON = Fraction(3, 2)
DRAWS = 4_000
LAW = [float(p) for p in oracle.law(DEPTHS, Fraction(math.exp(EPSILON / 2)))]
STEEPER = [float(p) for p in oracle.law(DEPTHS, Fraction(math.exp(EPSILON * 3 / 4)))]


def tilted(monkeypatch, levels, level, box, rates, hints=LinearPrograms):
    monkeypatch.setattr(tilts, "_rates", lambda *_: np.array(rates))
    return tilted_part(levels, WITHIN, hints, level, box)


def tilted_part(levels, within, hints, level, box):
    covers = Covers(levels, within)
    (found,) = tilts.tilted_box(boxes.Certifier(covers, hints(levels)), unproven(covers, level, box)).parts
    return found


def parallelepiped(levels, level):
    """Along the last two directions."""
    smallest, largest = (ends[2:].tolist() for ends in levels.offsets(level))
    return around(frame_of(levels.directions[2:4]), smallest, largest)


def search(monkeypatch, *, cells=2, basis=None, framed=False, rates=(2.0, -1.5), word_bits=64):
    """Level 0 from the whole plane, all others from tilted boxes, a few proposals at a time."""
    monkeypatch.setattr(tilted_boxes, "CELLS", cells)
    monkeypatch.setattr(lanes, "IN_LANES", (16, 32))
    levels = level_sets(np.array(ROWS), np.array(DIRECTIONS))
    box = WITHIN if basis is None else Box((0, 0), (4, 8), basis)
    ends = [(1, 1), (2, max(DEPTHS))]
    groups = [(Group(0, 0, WITHIN.size), WITHIN)]
    for lowest, highest in ends:
        shape = tilted(monkeypatch, levels, lowest, parallelepiped(levels, lowest) if framed else box, rates)
        groups.append((Group(lowest, highest, shape.size), shape))
    return Search(levels, WITHIN, groups, EPSILON, word_bits, many=0)


def counts(found):
    tally = dict.fromkeys(PLANE, 0)
    for i in range(DRAWS):
        accepted, _ = found.run(Keystream(derived_key("tilted", i)), 0, 1e9, 1)
        tally[tuple(accepted.point)] += 1
    return np.array(list(tally.values()))


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"cells": 512},
        {"basis": SHEAR},
        {"word_bits": 5},
        {"rates": (0.0, 0.0)},
        {"framed": True, "cells": 4},
        {"framed": True, "word_bits": 5},
    ],
    ids=[
        "cells of several points",
        "cells of one point",
        "slanted",
        "undecided words",
        "upright",
        "parallelepipeds",
        "parallelepipeds by hand",
    ],
)
def test_draws_follow_the_exponential_mechanism(options, monkeypatch):
    observed = counts(search(monkeypatch, **options))
    assert g_test(observed, LAW) > FALSE_ALARM
    # The same test tells a slightly wrong law apart.
    assert g_test(observed, STEEPER) < FALSE_ALARM


@pytest.mark.parametrize("framed", [False, True])
def test_a_bound_that_is_too_low_would_be_noticed(framed, monkeypatch):
    found = search(monkeypatch, framed=framed)
    found._coarse._tilts.highest[:] -= STEPS
    assert g_test(counts(found), LAW) < FALSE_ALARM


def test_keeping_every_point_would_be_noticed(monkeypatch):
    monkeypatch.setattr(TiltedBox, "keeps", lambda *_: True)
    found = search(monkeypatch, rates=(0.0, -4.0))
    monkeypatch.setattr(
        found._coarse, "_limits", found._coarse._limits._replace(words=np.full(9, 2**64 - 1, np.uint64))
    )
    assert g_test(counts(found), LAW) < FALSE_ALARM


def test_a_whole_sampler_with_tilted_boxes_keeps_the_law(monkeypatch):
    """As in many columns after many proposals in vain."""
    monkeypatch.setattr(planner, "MANY_COLUMNS", 1)
    monkeypatch.setattr(exponential, "MANY_COLUMNS", 0)
    monkeypatch.setattr(planner, "_NOT_EASY", 1.0)
    levels = level_sets(np.array(ROWS), np.array(DIRECTIONS))
    sampler = Sampler(levels, within=WITHIN, epsilon=EPSILON, threads=1)
    sampler._planner._envelope.refine([1, 2, 3])
    sampler._planner._envelope._shaped_by = sampler._planner._envelope._tilted
    sampler._planner._proposals = 64.0
    replan(sampler)
    assert any(isinstance(box, TiltedBox) for box in sampler._draws._search._boxes)
    assert g_test(counts(sampler._draws._search), LAW) > FALSE_ALARM


def rarity(box, y, turned=False):
    """One over the probability, or the density, with which a point is drawn; its coordinates may be given."""
    total = Fraction(1)
    basis = None if turned else box.box.basis
    z = y if basis is None else [sum(a * c for a, c in zip(row, y, strict=True)) for row in basis.matrix]
    for c, starts, ends in zip(z, box.cells.starts.tolist(), box.cells.ends.tolist(), strict=True):
        (cell,) = [i for i in range(len(starts) - 1) if starts[i] <= c < starts[i + 1]]
        total *= Fraction(SHARES * (starts[cell + 1] - starts[cell]), ends[cell + 1] - ends[cell])
    return total


small = st.integers(-6, 6)


@settings(deadline=None, derandomize=True, max_examples=60)
@given(
    rows=st.lists(st.tuples(small, small), min_size=3, max_size=12),
    rates=st.tuples(st.floats(-9, 9), st.floats(-9, 9)),
    level=st.integers(1, 4),
    cells=st.sampled_from([2, 5, 512]),
    basis=st.sampled_from([None, SHEAR]),
    hints=st.sampled_from([LinearPrograms, Garbage]),
)
@example(
    rows=[(1, -2), (2, 2), (-4, -3), (1, -4), (0, 4), (-4, 0), (2, -4), (1, 1), (0, -4), (-1, -3)],
    rates=(-3.084460152998939, 3.0866737947081706),
    level=1,
    cells=2,
    basis=SHEAR,
    hints=Garbage,
)
def test_no_point_of_the_level_is_rarer_than_the_size_says(rows, rates, level, cells, basis, hints):
    levels = level_sets(np.array(rows), np.array(DIRECTIONS))
    within = Box((-6, -6), (6, 6))
    box = within if basis is None else Box((-6, -12), (6, 12), basis)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tilted_boxes, "CELLS", cells)
        patch.setattr(tilts, "_rates", lambda *_: np.array(rates))
        found = tilted_part(levels, within, hints, level, box)
    for y in itertools.product(range(-6, 7), repeat=2):
        if levels.contains(y, level):
            assert rarity(found, y) <= found.size


@settings(deadline=None, derandomize=True, max_examples=40)
@given(
    rows=st.lists(st.tuples(small, small), min_size=3, max_size=12),
    rates=st.tuples(st.floats(-9, 9), st.floats(-9, 9)),
    level=st.integers(1, 3),
    cells=st.sampled_from([2, 5, 512]),
    hints=st.sampled_from([LinearPrograms, Garbage]),
    seed=st.integers(0, 2**32),
)
def test_no_real_point_of_a_cube_in_the_level_is_rarer_than_the_size_says(rows, rates, level, cells, hints, seed):
    levels = level_sets(np.array(rows), np.array(DIRECTIONS))
    within = Box((-6, -6), (6, 6))
    assume(level <= levels.highest_unbroken())
    shape = parallelepiped(levels, level)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tilted_boxes, "CELLS", cells)
        patch.setattr(tilts, "_rates", lambda *_: np.array(rates))
        found = tilted_part(levels, within, hints, level, shape)
    inside = [y for y in itertools.product(range(-6, 7), repeat=2) if levels.contains(y, level)]
    anywhere = np.random.default_rng(seed).integers(-500, 501, size=(20, 2))
    for y, (a, b) in itertools.product(
        inside, [*anywhere.tolist(), (500, 500), (-500, 500), (500, -500), (-500, -500)]
    ):
        x = [y[0] + Fraction(a, 1001), y[1] + Fraction(b, 1001)]
        s = [sum(v * c for v, c in zip(row, x, strict=True)) for row in shape.frame.matrix.tolist()]
        assert rarity(found, s, turned=True) <= found.size * shape.frame.denominator


@pytest.mark.parametrize("hints", [LinearPrograms, Garbage])
def test_cubes_count_as_wide_as_the_frame_makes_them(hints, monkeypatch):
    """Along vectors of large entries a unit cube is many steps wide: its corners lie far beyond the level's points."""
    levels = level_sets(np.array(ROWS), np.array([(1, 0), (0, 1), (9, 8), (-8, 9)]))
    shape = parallelepiped(levels, 1)
    matrix, points = shape.frame.matrix.tolist(), [y for y in PLANE if levels.contains(y, 1)]
    corners = list(itertools.product((Fraction(-499, 1000), Fraction(499, 1000)), repeat=2))
    largest = []
    for rates in itertools.product((-6.0, 6.0), repeat=2):
        found = tilted(monkeypatch, levels, 1, shape, rates, hints)
        for (y, z), (a, b) in itertools.product(points, corners):
            s = [first * (y + a) + second * (z + b) for first, second in matrix]
            largest.append(rarity(found, s, turned=True) / power(found.highest))
    assert Fraction(1, 4) < max(largest) <= 1  # and much lower than that it could not be


@settings(deadline=None, derandomize=True, max_examples=40)
@given(
    rows=st.lists(st.tuples(*[st.integers(-(2**30), 2**30)] * 2), min_size=4, max_size=9),
    entries=st.tuples(*[st.integers(1, 2**20)] * 4),
    seed=st.integers(0, 2**32),
)
def test_floats_reject_no_rounded_point_of_a_level(rows, entries, seed):
    a, b, c, e = entries
    levels = level_sets(np.array(rows), np.array([(1, 0), (0, 1), (a, b), (c, -e)]))
    shape = upright(parallelepiped(levels, 1))
    ranks = levels.offsets(1)
    rough = rough_slabs(levels.directions, [shape], [ranks])
    chosen = np.random.default_rng(seed)
    for _ in range(40):
        cells = [int(chosen.integers(np.count_nonzero(np.diff(ends)))) for ends in shape.cells.ends]
        words = [int(word) for word in chosen.integers(0, 2**64, size=2, dtype=np.uint64)]
        y = shape.point(cells, words, Keystream(derived_key(seed)).bits(0))
        first = np.array([starts[c] - starts[0] for starts, c in zip(shape.cells.starts, cells, strict=True)])
        width = np.array([starts[c + 1] - starts[c] for starts, c in zip(shape.cells.starts, cells, strict=True)])
        at = rough.slopes[rough.frame[0]] @ (first + width * (np.array(words, dtype=np.float64) * 2.0**-64))
        if levels.contains(y, 1):
            assert (rough.least[0] <= at).all()
            assert (at <= rough.most[0]).all()


@pytest.mark.parametrize("way", ["_tilted", "_framed"])
def test_below_a_tree_other_shapes_give_way_to_boxes(way, monkeypatch):
    """Where a tree overtakes them after more proposals in vain: no loop draws from both."""
    levels = level_sets(np.array(ROWS), np.array(DIRECTIONS))
    envelope = Envelope(Covers(levels, WITHIN), LinearPrograms(levels))
    envelope.refine([1, 2])
    monkeypatch.setattr(Envelope, "_framed", lambda envelope, level: envelope._frames.around(level, None)[0])
    monkeypatch.setattr(envelope_module, "_LIGHT", math.inf)
    monkeypatch.setattr(envelope_module, "base_level", lambda *_: 2)
    monkeypatch.setattr(Envelope, "branched", lambda *_: True)
    envelope._shaped_by = getattr(envelope, way)
    assert envelope.reshape(0, EPSILON / 2)
    envelope.branch(0, float(EPSILON) / 2, 40, 0.0)
    groups = envelope.groups(0)
    assert {type(box) for _, box in groups} == {Box, Union}
    assert g_test(counts(Search(levels, WITHIN, groups, EPSILON, many=0)), LAW) > FALSE_ALARM


def test_a_basis_that_is_singular_to_floats_is_no_error(monkeypatch):
    """As of levels that are thin across the axes, on fine grids."""
    a = 2**27
    basis = Basis(((a, a + 1), (a - 1, a)), ((a, -a - 1), (1 - a, a)))
    with pytest.raises(np.linalg.LinAlgError):
        np.linalg.inv(np.array(basis.matrix, dtype=np.float64))
    levels = level_sets(np.array(ROWS), np.array(DIRECTIONS))
    box = Box((0, 0), (8 * a, 8 * a), basis)
    found = tilted_part(levels, WITHIN, LinearPrograms, 2, box)
    for y in itertools.product(range(5), repeat=2):
        if levels.contains(y, 2):
            assert rarity(found, y) <= found.size


def test_tilting_makes_a_box_of_a_corner_small():
    """A simplex of a million points a side: one in 120 points of its box, one in two or three of the tilted one's."""
    side, d = 2**20, 5
    rows = np.vstack([np.zeros((4, d), dtype=np.int64), side * np.eye(d, dtype=np.int64)])
    levels = level_sets(rows, np.vstack([np.eye(d, dtype=np.int64), np.ones((1, d), dtype=np.int64)]))
    box = Box((0,) * d, (side,) * d)
    found = tilted_part(levels, box, LinearPrograms, 1, box)
    assert box.size / found.size > 10


@settings(deadline=None, derandomize=True, max_examples=40)
@given(rate=st.floats(-20, 20), word=st.integers(0, 2**64 - 1), places=st.tuples(*[st.integers(0, 511)] * 2))
def test_no_word_is_beyond_the_limit_that_keeps_a_point(rate, word, places):
    box = Box((0, 0), (5000, 300))
    cells = cut(box, np.array([rate, -rate / 2]))
    chosen = [places[0], places[1] % 301]
    heights = int(sum(cells.heights[j, c] for j, c in enumerate(chosen)))
    for above in (0, 100, 5000):
        found = TiltedBox(box, cells, heights + above)
        limit = int(many_columns._word_limits()[above])
        assert not found.keeps(chosen, min(2**64 - 1, limit + 1), Keystream(bytes(32)).bits(0)) or limit == 2**64 - 1
        if found.keeps(chosen, word, Keystream(bytes(32)).bits(0)):
            assert word <= limit


def test_powers_and_logarithms_are_rounded_to_the_safe_side():
    for steps in (0, 1, 5, 255, 256, 257, 3000, 12_000):
        assert (power(steps) - 1) ** STEPS < 2**steps <= power(steps) ** STEPS
    assert (power(99_999) * 2**60 // (2**60 + 1)) ** STEPS < 2**99_999 <= power(99_999) ** STEPS
    for value in (1, 2, 3, 1000, 2**44 + 1):
        steps = tilted_boxes.log_ceiling(value)
        assert 2 ** (steps - 1) < value**STEPS <= 2**steps
    values = np.array([1, 2, 3, 4, 5, 1000, SHARES - 1, SHARES])
    for value, steps in zip(values.tolist(), tilted_boxes._log_floors(values).tolist(), strict=True):
        assert 2**steps <= value**STEPS < 2 ** (steps + 1)


@pytest.mark.parametrize("test", [loops.test, loops._tested], ids=["compiled", "plain"])
@pytest.mark.parametrize(("width", "state"), [(3, loops.BY_HAND), (4, loops.PASSED)])
def test_leftover_words_decide_nothing(width, state, test):
    """Of the multiples of 3 one too many is below 2^64, that of word 0."""
    levels = level_sets(np.array([[0], [width]]), np.array([[1]]))
    box = upright(Box((0,), (width * tilted_boxes.CELLS - 1,)))
    sampler = Search(levels, box.box, [(Group(0, 1, box.size), box)], Fraction(1), many=0)._coarse
    row = int(np.flatnonzero(sampler._slots.slot == 0)[0])
    found = loops.Survivors(
        np.zeros(1, np.int64),
        np.array([row]),
        np.zeros((1, 1), np.int32),
        np.zeros((1, 1), np.int64),
        np.zeros(1, np.int8),
    )
    words = np.zeros((1, 1), dtype=np.uint64)
    test(1, words, sampler._slots, sampler._tilts, levels.directions, np.arange(1), sampler._limits, found)
    assert found.state[0] == state


@pytest.mark.parametrize("survivors", [loops.survivors, loops._survivors], ids=["compiled", "plain"])
def test_every_cell_has_its_share_to_the_last_one(survivors):
    """At the first and at the last share of each cell the kernel takes the cell that the definition has."""
    box = Box((0,), (4000,))
    cells = cut(box, np.array([9.0]))
    tilted = TiltedBox(box, cells, int(cells.heights.max()))
    levels = level_sets(np.array([[0], [4000]]), np.array([[1]]))
    sampler = Search(levels, box, [(Group(0, 1, tilted.size), tilted)], Fraction(1), many=0)._coarse
    row = int(np.flatnonzero(sampler._slots.slot == 0)[0])
    edges = cells.ends[0, :-1]
    shares = np.unique(np.concatenate([edges, cells.ends[0, 1:] - 1]))
    count = len(shares)
    found = loops.Survivors(
        *np.zeros((2, count), dtype=np.int64),
        np.zeros((count, 1), dtype=np.int32),
        np.zeros((count, 1), dtype=np.int64),
        np.zeros(count, dtype=np.int8),
    )
    words = np.full(count, sampler._words.first[row], dtype=np.uint64)
    high = (shares << (32 - tilted_boxes.SHARE_BITS)).astype(np.uint32)[:, np.newaxis]
    kept = np.zeros(count, dtype=np.uint64)
    parts = (sampler._words, sampler._slots, sampler._tilts, sampler._limits)
    assert survivors(words, kept, high, *parts, found) == count > 1000
    assert found.cells[:, 0].tolist() == (np.searchsorted(edges, shares, side="right") - 1).tolist()
