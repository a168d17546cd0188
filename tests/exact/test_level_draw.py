"""The level draw, against python-flint's ball arithmetic."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import flint
import pytest

from support.fit import FALSE_ALARM, g_test
from tukeydp.trusted import laws as level_draw
from tukeydp.trusted.bits import Keystream, derived_key
from tukeydp.trusted.laws import Group, LevelDraw

GROUPS = [Group(0, 6, 2**40 + 1), Group(7, 7, 12345), Group(8, 30, 77), Group(31, 400, 3)]


@pytest.fixture(autouse=True)
def precision():
    before = flint.ctx.prec
    flint.ctx.prec = 2000
    yield
    flint.ctx.prec = before


def ball(x: Fraction) -> flint.arb:
    return flint.arb(flint.fmpq(x.numerator, x.denominator))


def cumulative(groups, epsilon):
    """The exact cumulative distribution in the table's own order: groups ascending, levels descending."""
    q = ball(epsilon / 2)
    weights = []
    for g in groups:
        for level in range(g.highest, g.lowest - 1, -1):
            lowest = level == groups[0].lowest
            w = (q * level).exp() if lowest else (q * level).exp() - (q * (level - 1)).exp()
            weights.append((level, w * g.size))
    total = sum((w for _, w in weights), flint.arb(0))
    running = flint.arb(0)
    ends = {}
    for level, w in weights:
        start, running = running, running + w
        ends[level] = (start / total, running / total)
    return ends


@pytest.mark.parametrize("bits", [64, 16, 7])
@pytest.mark.parametrize("epsilon", ["1", "1/10", "1e-6", "7/3", "50", "10000"])
@pytest.mark.parametrize("groups", [GROUPS, [Group(5, 5, 4), Group(6, 9, 1)], [Group(3, 60, 10**300)]])
def test_words_decide_a_level_only_where_it_is_certain(groups, epsilon, bits):
    epsilon = Fraction(epsilon)
    ends = cumulative(groups, epsilon)
    table = LevelDraw(groups, epsilon).word_table(bits)
    decided = 0
    for first, last, level, group in zip(
        table.first.tolist(), table.last.tolist(), table.level.tolist(), table.group.tolist(), strict=True
    ):
        if first > last:
            continue
        start, end = ends[level]
        # Not provably wrong: the balls of 2000 bits decide everything but exact ties at 0 and 1.
        assert not start > flint.arb(first) / 2**64
        assert not end < flint.arb(last + 1) / 2**64
        assert groups[group].lowest <= level <= groups[group].highest
        decided += last - first + 1
    if bits == 64:
        assert decided > 2**64 - 2**20


@pytest.mark.parametrize("guard", [0, 1, 4, 9])
@pytest.mark.parametrize("bits", [4, 8, 16])
@pytest.mark.parametrize("epsilon", ["1", "1/10", "1e-6", "7/3", "50"])
@pytest.mark.parametrize(
    "groups",
    [
        [Group(0, 6, 2**10 + 1), Group(7, 7, 12345), Group(8, 30, 77), Group(31, 60, 3)],
        [Group(5, 5, 4), Group(6, 9, 1)],
        [Group(3, 40, 10**30)],
        [Group(0, 2, 7), Group(3, 5, 5), Group(6, 9, 3), Group(10, 10, 2)],
    ],
)
def test_coarse_tables_enclose_the_law_too(groups, epsilon, bits, guard, monkeypatch):
    """With few guard bits every rounding shows: one to the wrong side, and some end is outside of its enclosure."""
    monkeypatch.setattr(level_draw, "_GUARD", guard)
    epsilon = Fraction(epsilon)
    ends = cumulative(groups, epsilon)
    rows = LevelDraw(groups, epsilon)._enclose(bits)
    for floor, ceiling, level in zip(rows.floor, rows.ceiling, rows.level, strict=True):
        if level is not None:
            assert not ends[level][1] * 2**bits < floor
            assert not ends[level][1] * 2**bits > ceiling


@pytest.mark.parametrize("epsilon", ["1", "1/100", "40"])
def test_undecided_prefixes_are_finished_exactly(epsilon):
    """Prefixes around every boundary: `finish` must agree with the exact distribution whatever bits follow."""
    epsilon = Fraction(epsilon)
    ends = cumulative(GROUPS, epsilon)
    draw = LevelDraw(GROUPS, epsilon)
    stream = Keystream(derived_key("prefixes"))
    for lane, (start, _) in enumerate(ends.values()):
        boundary = int((start * flint.arb(2) ** 64).lower().floor().unique_fmpz())
        for prefix in (boundary - 1, boundary, boundary + 1):
            if 0 <= prefix < 2**64:
                level, group = draw.finish(prefix, stream.bits(lane))
                low, high = ends[level]
                assert GROUPS[group].lowest <= level <= GROUPS[group].highest
                # The level's interval meets the prefix's.
                assert not low > flint.arb(prefix + 1) / 2**64
                assert not high < flint.arb(prefix) / 2**64


@pytest.mark.parametrize("work", [6, 9, 14, 30])
@pytest.mark.parametrize("x", ["1/2", "1/10", "1/1000", "7/3", "25"])
def test_powers_are_enclosed_however_few_bits(x, work):
    x = Fraction(x)
    powers = level_draw._inverse_powers(x, work, 60, work - 2)
    assert len(powers) > 1
    for i, (low, high) in enumerate(powers):
        true = (-ball(x) * i).exp() * 2**work
        assert not true < low
        assert not true > high


class Constant:
    """Bits that are all zeros, or all ones."""

    def __init__(self, bit):
        self._bit = bit

    def take(self, count):
        return self._bit * ((1 << count) - 1)


@pytest.mark.parametrize("epsilon", ["1/2", "1", "7/3"])
def test_undecided_prefixes_leave_the_masses_alone(epsilon):
    """A boundary's own word belongs to both levels: what follows decides, zeros for one and ones for the other."""
    epsilon = Fraction(epsilon)
    groups = [Group(2, 4, 40), Group(5, 5, 25), Group(6, 8, 6)]
    ends = cumulative(groups, epsilon)
    draw = LevelDraw(groups, epsilon)
    levels = list(ends)
    for before, after in pairwise(levels):
        word = int((ends[before][1] * flint.arb(2) ** 64).floor().unique_fmpz())
        assert [draw.finish(word, Constant(bit))[0] for bit in (0, 1)] == [before, after]


def test_levels_drawn_in_big_integers_follow_the_law():
    epsilon = Fraction(1, 2)
    groups = [Group(2, 4, 40), Group(5, 5, 25), Group(6, 8, 6)]
    draw = LevelDraw(groups, epsilon)
    more = Keystream(derived_key("levels")).bits(0)
    tally = dict.fromkeys(range(2, 9), 0)
    for _ in range(30_000):
        tally[draw.finish(more.take(64), more)[0]] += 1

    def pmf(epsilon):
        ends = cumulative(groups, epsilon)
        return [float((ends[level][1] - ends[level][0]).mid()) for level in range(2, 9)]

    assert g_test(list(tally.values()), pmf(epsilon)) > FALSE_ALARM
    assert g_test(list(tally.values()), pmf(epsilon * Fraction(6, 5))) < FALSE_ALARM


def test_a_group_without_points_is_never_drawn():
    draw = LevelDraw([Group(0, 3, 7), Group(4, 4, 0), Group(5, 6, 2)], Fraction(1))
    more = Keystream(derived_key("empty")).bits(0)
    assert {draw.finish(more.take(64), more)[0] for _ in range(3000)} == {0, 1, 2, 3, 5, 6}
    assert 4 not in draw.word_table().level


def test_extreme_epsilons_leave_a_usable_table():
    for epsilon in (Fraction(1, 10**280), Fraction(10**280)):
        table = LevelDraw([Group(0, 300, 2**88), Group(301, 450, 2**60)], epsilon).word_table()
        assert len(table.first) >= 1
    # At 10^280 the highest level is all but certain.
    assert table.level.tolist() == [450]
    assert math.isclose(int(table.last[0]) - int(table.first[0]), 2**64)
