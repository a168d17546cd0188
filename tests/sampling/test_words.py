"""How words become proposals, one word at a time: against big integers, where no statistic would see a difference."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from support import oracle
from support.fit import FALSE_ALARM, g_test
from tukeydp.hints.envelope import Envelope
from tukeydp.trusted.bits import Keystream, derived_key
from tukeydp.trusted.boxes import Box
from tukeydp.trusted.certificates import Multipliers
from tukeydp.trusted.covers import Covers
from tukeydp.trusted.exponential import Search
from tukeydp.trusted.laws import Group
from tukeydp.trusted.levels import level_sets
from tukeydp.trusted.matrices import Basis
from tukeydp.trusted.sampling import compiling, loops, plain_proposals

WORDS = 2**64
# Widths for which many words are leftovers, and some for which hardly any or none are.
WIDTHS = [2**62 + 1, 3 * 2**60, WORDS // 3 + 1, 5 * 2**60 + 7, 2**62, 3, 1]


def coordinate(words, low, width):
    """Lemire's method in big integers: the first word whose product's lower half is not among the leftovers."""
    for word in words:
        high, rest = divmod(word * width, WORDS)
        if rest >= WORDS % width:
            return low + high
    return None


def one_level(d):
    return level_sets(np.zeros((1, d), dtype=np.int64), np.eye(d, dtype=np.int64))


def search(levels, box, within=None):
    return Search(levels, within or box, [(Group(0, 0, box.size), box)], Fraction(1))


@pytest.mark.parametrize("width", WIDTHS)
def test_coordinates_are_those_of_big_integers_and_leftovers_are_redrawn(width):
    low, high = -(width // 2), width - 1 - width // 2
    levels = one_level(1)
    proposals = search(levels, Box((low,), (high,)))._proposals
    stream, redrawn = Keystream(derived_key("words", width)), 0
    z, y = np.empty((2, 1), dtype=np.int64)
    for lane in range(300):
        words = stream.words(lane, 64)
        status, cursor, _ = loops.propose(words, 0, proposals, loops.ranks(levels), np.arange(1), z, y)
        assert status == loops.ACCEPTED
        assert y[0] == coordinate(words[1:].tolist(), low, width)
        redrawn += cursor > 2
    # The share of leftovers, within six standard deviations.
    share = (WORDS % width) / WORDS
    assert abs(redrawn - 300 * share) <= 6 * math.sqrt(300 * share * (1 - share)) + 1e-9


@pytest.mark.parametrize("count_inside", [loops.count_inside, plain_proposals.count_inside], ids=["compiled", "plain"])
@pytest.mark.parametrize("width", WIDTHS)
def test_points_that_are_counted_are_those_of_big_integers(width, count_inside):
    """The same in the loop that counts for Algorithm 3: every point below the middle is inside."""
    low = -(width // 2)
    box = loops.uniform_draw(np.array([low]), np.array([low + width - 1]))
    slabs = loops.Slabs(np.array([[1]]), np.array([low]), np.array([-1]))
    words = Keystream(derived_key("count", width)).words(0, 600)
    expected, rest = [], words.tolist()
    kept = [w for w in rest if w * width % WORDS >= WORDS % width]
    expected = [low + w * width // WORDS for w in kept[:200]]
    assert count_inside(words, box, slabs, 200) == (len(expected), sum(y < 0 for y in expected))


class Starving(Keystream):
    """A lane whose first word is the level's, and all others leftovers."""

    def words(self, lane, count):
        found = np.zeros(count, dtype=np.uint64)
        found[0] = super().words(lane, 1)[0]
        return found


def test_a_starved_proposal_is_finished_and_not_dropped():
    """Dropped, boxes with more leftovers would be drawn from less often than they should."""
    width = 3 * 2**60
    box = Box((0, 0), (width - 1, width - 1))
    levels = one_level(2)
    searching = search(levels, box)
    starved, thirds = 0, [0, 0, 0]
    for lane in range(2000):
        stream = Starving(derived_key("starving"))
        z, y = np.empty((2, 2), dtype=np.int64)
        words = stream.words(2 * lane, 2048)
        status, _, _ = loops.propose(words, 0, searching._proposals, loops.ranks(levels), np.arange(2), z, y)
        starved += status == loops.STARVED
        found = searching.first_accepted(stream, lane, np.arange(2))
        assert found is not None
        thirds[found.point[0] // 2**60] += 1
    assert starved == 2000
    assert g_test(thirds, np.full(3, 1 / 3)) > FALSE_ALARM
    assert g_test([thirds[0] + 200, *thirds[1:]], np.full(3, 1 / 3)) < FALSE_ALARM


def test_an_undecided_proposal_is_finished_and_not_dropped():
    """One bit for three points, the middle one with a row: every proposal is accepted, and half of them are undecided.
    Dropped, the levels on both sides of the bit's boundary would be drawn less often than they should."""
    levels, whole = one_level(1), Box((-1,), (1,))
    groups = [(Group(0, 0, 3), whole), (Group(1, 1, 1), Box((0,), (0,)))]
    searching = Search(levels, whole, groups, Fraction(1), 1)
    stream, tally, undecided = Keystream(derived_key("undecided")), [0, 0, 0], 0
    for lane in range(3000):
        z, y = np.empty((2, 1), dtype=np.int64)
        words = stream.words(2 * lane, 64)
        status, _, _ = loops.propose(words, 0, searching._proposals, loops.ranks(levels), np.arange(1), z, y)
        undecided += status == loops.UNDECIDED
        found = searching.first_accepted(stream, lane, np.arange(1))
        assert found is not None
        tally[found.point[0] + 1] += 1
    assert 1000 < undecided < 2000
    q = Fraction(math.exp(0.5))
    assert g_test(tally, [float(p) for p in oracle.law([0, 1, 0], q)]) > FALSE_ALARM
    assert g_test(tally, [float(p) for p in oracle.law([0, 1, 0], q * Fraction(4, 3))]) < FALSE_ALARM


SIDE = 4
POINTS = list(itertools.product(range(SIDE), repeat=2))
SHEAR = Basis(((1, 0), (1, 1)), ((1, 0), (-1, 1)))


@pytest.mark.parametrize("word_bits", [64, 1], ids=["in the kernel", "in big integers"])
def test_points_outside_the_public_box_are_never_accepted(word_bits):
    """Slanted boxes extend beyond the public box, and with few directions so do level sets."""
    rows, directions = [(0, 0), (1, 1), (2, 2), (3, 3), (1, 2)], [(1, 1), (2, 1)]
    levels = level_sets(np.array(rows), np.array(directions))
    within = Box((0, 0), (SIDE - 1, SIDE - 1))
    depths = [oracle.depth(rows, y, directions) for y in POINTS]
    slanted = Box((0, 0), (SIDE - 1, 2 * SIDE - 2), SHEAR)
    outside = [SHEAR.point(z) for z in itertools.product(range(SIDE), range(2 * SIDE - 1))]
    assert any(not within.holds(y) and levels.contains(y, 2) for y in outside)
    groups = [(Group(0, 0, within.size), within), (Group(1, max(depths), slanted.size), slanted)]
    searching = Search(levels, within, groups, Fraction(2), word_bits)
    stream, tally, lane = Keystream(derived_key("outside")), dict.fromkeys(POINTS, 0), 0
    while sum(tally.values()) < 8000:
        found = searching.first_accepted(stream, lane, np.arange(2))
        lane += 1
        if found is not None:
            assert within.holds(found.point)
            tally[tuple(found.point)] += 1
    q = Fraction(math.e)
    observed = np.array(list(tally.values()))
    assert g_test(observed, [float(p) for p in oracle.law(depths, q)]) > FALSE_ALARM
    assert g_test(observed, [float(p) for p in oracle.law(depths, q * Fraction(5, 4))]) < FALSE_ALARM


@pytest.mark.parametrize("word_bits", [64, 1], ids=["in the kernel", "in big integers"])
@pytest.mark.parametrize("compiled", [True, False])
def test_each_slanted_box_is_turned_by_its_own_basis(word_bits, compiled, monkeypatch):
    """The levels of one table in boxes of two bases; false alarms: FALSE_ALARM."""
    if not compiled:
        monkeypatch.setattr(compiling, "proposer", lambda *_: plain_proposals.propose)
    rows, directions = [(0, 0), (1, 1), (2, 2), (3, 3), (1, 2)], [(1, 0), (0, 1), (1, -1)]
    levels = level_sets(np.array(rows), np.array(directions))
    within = Box((0, 0), (SIDE - 1, SIDE - 1))
    depths = [oracle.depth(rows, y, directions) for y in POINTS]
    sums = Box((0, 0), (SIDE - 1, 2 * SIDE - 2), SHEAR)
    differences = Box((1 - SIDE, 0), (SIDE - 1, SIDE - 1), Basis(((1, -1), (0, 1)), ((1, 1), (0, 1))))
    groups = [
        (Group(0, 0, within.size), within),
        (Group(1, 1, sums.size), sums),
        (Group(2, max(depths), differences.size), differences),
    ]
    searching = Search(levels, within, groups, Fraction(2), word_bits)
    stream, tally, lane = Keystream(derived_key("two bases")), dict.fromkeys(POINTS, 0), 0
    while sum(tally.values()) < 4000:
        found = searching.first_accepted(stream, lane, np.arange(3))
        lane += 1
        if found is not None:
            tally[tuple(found.point)] += 1
    q = Fraction(math.e)
    observed = np.array(list(tally.values()))
    assert g_test(observed, [float(p) for p in oracle.law(depths, q)]) > FALSE_ALARM
    assert g_test(observed, [float(p) for p in oracle.law(depths, q * Fraction(5, 4))]) < FALSE_ALARM


class NoHints:
    """No multipliers, so that ranges are as wide as the known box makes them."""

    def emptiness(self, level):
        return Multipliers((), ())

    def supports(self, levels, objectives, within=None):
        return [[(Multipliers((), ()), Multipliers((), ()))] * len(objectives) for _ in levels]

    def shape(self, level):
        return np.eye(2) * 2.0**60


@pytest.mark.parametrize("power", [8, 20, 29, 31, 33, 40, 45])
def test_no_slanted_box_is_kept_whose_points_overflow(power, monkeypatch):
    """A point that wrapped around would be another point, perhaps inside the public box, and be accepted."""
    far = 2**power
    rows = np.random.default_rng(power).integers(-(2**32), 2**32, size=(9, 2))
    levels = level_sets(rows, np.array([[1, 0], [0, 1], [1, 1]]))
    basis = Basis(((1, far), (0, 1)), ((1, -far), (0, 1)))
    monkeypatch.setattr("tukeydp.hints.envelope.better_basis", lambda *_: basis)
    envelope = Envelope(Covers(levels, Box((-(2**32),) * 2, (2**32,) * 2)), NoHints())
    envelope.refine([1, 2])
    envelope.rebase()
    # Small entries leave room, so that slanted boxes are there at all.
    assert bool(envelope._slanted) == (power <= 29)
    for (box,) in (cover.parts for cover in envelope._slanted.values()):
        for z in itertools.product(*zip(box.low, box.high, strict=True)):
            partial = [abs(a) * abs(c) for row in basis.inverse for a, c in zip(row, z, strict=True)]
            assert sum(partial) < 2**63
            assert max(map(abs, (*z, *basis.point(z)))) < 2**63
