"""Proposals in NumPy against the compiled ones: the same statuses, words used and points, whatever the words."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import tukeydp as td
from support.covers import planted_in, tree_groups
from tukeydp.hints import branches
from tukeydp.trusted import records
from tukeydp.trusted.bits import Keystream, derived_key
from tukeydp.trusted.boxes import Box
from tukeydp.trusted.exponential import Search
from tukeydp.trusted.laws import Group
from tukeydp.trusted.levels import level_sets
from tukeydp.trusted.matrices import Basis
from tukeydp.trusted.sampling import compiling, kept, plain_proposals
from tukeydp.trusted.sampling.draws import Sampler

RNG = np.random.default_rng(11)
DIRECTIONS = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], *RNG.integers(-9, 10, (12, 3)).tolist()])
ROWS = np.rint(RNG.normal(size=(60, 3)) * 40).astype(np.int64)
PUBLIC = Box((-300, -300, -300), (300, 300, 300))


def runs(propose, words, search, levels):
    """Every status, cursor, detail and accepted point of a lane, and what was asked of shallow levels."""
    found, cursor = [], 0
    z, y = np.zeros((2, levels.d), dtype=np.int64)
    order = np.arange(len(levels.directions))
    while True:
        status, cursor, detail = propose(words, cursor, search._proposals, records.ranks(levels), order, z, y)
        found.append((status, cursor, detail, tuple(y.tolist()) if status == records.ACCEPTED else None))
        if status in (records.EXHAUSTED, records.SHALLOW):
            return found


def same(search, levels, lanes=20, words=700):
    """The statuses that came up."""
    stream = Keystream(derived_key("plain", 3))
    seen = set()
    for lane in range(lanes):
        some = stream.words(lane, words)
        plain = runs(plain_proposals.propose, some, search, levels)
        assert plain == runs(kept.propose, some, search, levels)
        seen |= {status for status, *_ in plain}
    return seen


def test_proposals_are_accepted_as_in_compiled_code():
    levels = level_sets(ROWS, DIRECTIONS)
    boxes = [PUBLIC, Box((-60, -60, -60), (60, 60, 60)), Box((-30, -30, -30), (35, 30, 28))]
    groups = [(Group(a, b, box.size), box) for (a, b), box in zip(((0, 3), (4, 12), (13, 25)), boxes, strict=True)]
    # Tables of 16-bit words leave many words undecided.
    for bits in (16, 64):
        search = Search(levels, PUBLIC, groups, Fraction(1, 3), bits)
        seen = same(search, levels)
        assert seen >= {records.ACCEPTED, records.EXHAUSTED}
        assert bits == 64 or records.UNDECIDED in seen


def test_levels_whose_ranks_are_not_held_are_asked_for_as_in_compiled_code():
    levels = level_sets(ROWS, DIRECTIONS, lowest=20)
    search = Search(levels, PUBLIC, [(Group(0, 25, PUBLIC.size), PUBLIC)], Fraction(1, 3))
    assert records.SHALLOW in same(search, levels)


@pytest.mark.parametrize("width", [2**62 + 1, 3 * 2**60, 2**63 - 1, 5])
def test_coordinates_are_redrawn_as_in_compiled_code(width):
    levels = level_sets(np.zeros((4, 2), dtype=np.int64), np.eye(2, dtype=np.int64))
    low = -(width // 2)
    wide = Box((low, low), (low + width - 1, low + width - 1))
    search = Search(levels, wide, [(Group(0, 0, wide.size), wide)], Fraction(1))
    seen = same(search, levels)
    assert records.ACCEPTED in seen
    # The last words of a lane may all be leftovers: a quarter of all words are where the width is just above 2^62.
    starved = runs(plain_proposals.propose, np.zeros(3 + records.SPARE, dtype=np.uint64), search, levels)
    assert starved == runs(kept.propose, np.zeros(3 + records.SPARE, dtype=np.uint64), search, levels)
    assert width == 5 or starved[0][0] == records.STARVED


def test_slanted_boxes_are_drawn_from_as_in_compiled_code():
    levels = level_sets(ROWS[:, :2].copy(), np.array([[1, 0], [0, 1], [1, 1], [2, -1]]))
    basis = Basis(((1, 0), (1, 1)), ((1, 0), (-1, 1)))
    public = Box((-40, -40), (40, 40))
    slanted = Box((-70, -45), (70, 45), basis)
    other = Box((-70, -45), (70, 45), Basis(((1, -1), (0, 1)), ((1, 1), (0, 1))))
    groups = [
        (Group(0, 2, public.size), public),
        (Group(3, 9, slanted.size), slanted),
        (Group(10, 20, other.size), other),
    ]
    search = Search(levels, public, groups, Fraction(1, 2))
    assert records.ACCEPTED in same(search, levels)


@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1)])
def test_a_seeded_draw_is_the_same_compiled_or_not(epsilon, monkeypatch):
    levels = level_sets(ROWS, DIRECTIONS)
    compiled = Sampler(levels, within=PUBLIC, epsilon=epsilon)
    expected = [compiled.draw(derived_key("draw", i)) for i in range(20)]
    monkeypatch.setattr(compiling, "_keeping", False)
    for short in (0, 1, 32):  # lanes in NumPy before code is compiled for the process
        monkeypatch.setattr(compiling, "_SHORT_LANES", short)
        plain = Sampler(levels, within=PUBLIC, epsilon=epsilon, compiled=False)
        assert [plain.draw(derived_key("draw", i)) for i in range(20)] == expected


def test_what_is_compiled_is_decided_by_public_numbers(monkeypatch):
    monkeypatch.setattr(compiling, "_keeping", False)
    monkeypatch.setattr(compiling, "_draws", 0)
    fine = 2**40
    for _ in range(compiling._FIRST_DRAWS):
        compiling.count_draw()
    assert not compiling.due(34, 4, fine)
    compiling.count_draw()
    assert compiling.due(34, 4, fine)
    monkeypatch.setattr(compiling, "_draws", 0)
    assert compiling.due(34, 4, 100)
    assert compiling.due(1000, 10, fine)
    compiling.keep()
    assert compiling.due(34, 4, fine)


def test_first_calls_compile_nothing(monkeypatch):
    monkeypatch.setattr(compiling, "_keeping", False)
    monkeypatch.setattr(compiling, "_draws", 0)
    monkeypatch.setattr(branches, "_grower", None)
    x = np.random.default_rng(0).normal(50, 9, (300, 4))
    assert isinstance(td.mean(x, epsilon=1, bounds=(0, 200), randomness=td.seeded(1)), td.Release)
    assert compiling._draws > 0
    assert not compiling._keeping


def test_pieces_are_drawn_from_as_in_compiled_code():
    """A point of a union takes one word, whatever the columns: so the words of all that follow are others."""
    levels = level_sets(ROWS // 8, DIRECTIONS)
    within = Box((-9, -9, -9), (9, 9, 9))
    tree = planted_in(levels, within, 2, 0.3)
    tree.grow(40, 0.0)
    groups = [(Group(0, 1, within.size), within), *tree_groups(tree)]
    assert any(box.count > 1 for _, box in groups[1:])
    search = Search(levels, within, groups, Fraction(1, 3))
    assert search._proposals.parts.any()
    assert same(search, levels) >= {records.ACCEPTED, records.EXHAUSTED}
