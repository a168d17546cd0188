"""Parallelepipeds, cells and tilted boxes: every number against rationals, on small sets."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from tukeydp.trusted import shapes
from tukeydp.trusted.boxes import Box
from tukeydp.trusted.matrices import Basis
from tukeydp.trusted.shapes import (
    SHARE_BITS,
    SHARES,
    Parallelepiped,
    TiltedBox,
    around,
    cut,
    frame_of,
    least_ends,
    log_ceiling,
    power,
    upright,
    widths_of,
)

MATRIX = np.array([[2, 1], [1, -3]])
FRAME = frame_of(MATRIX)
SLANTED = Parallelepiped(FRAME, (-4, -5), (9, 12))
BOX = Box((-2, 3), (9, 3))
SHEAR = Basis(((1, 0), (1, 1)), ((1, 0), (-1, 1)))


class Given:
    """Bits that were written down: `take` gives words, `below` a number and what was asked."""

    def __init__(self, *values):
        self.values, self.asked = list(values), []

    def take(self, count):
        self.asked.append(count)
        value = self.values.pop(0)
        assert value < 2**count
        return value

    def below(self, bound):
        self.asked.append(bound)
        return min(self.values.pop(0), bound - 1)


def inside_out(point):
    """V^-1 times a point."""
    a, b = (Fraction(c) for c in point)
    return (3 * a + b) / 7, (a - 2 * b) / 7


def test_a_frame_is_a_matrix_and_its_inverse():
    assert frame_of(np.array([[1, 2], [2, 4]])) is None
    unit, directions = Fraction(FRAME.unit), np.array([[1, 0], [0, 1], [5, -7]])
    assert unit <= Fraction(1, 2**64)
    for v, turned in zip(directions.tolist(), FRAME.turned(directions).tolist(), strict=True):
        exact = [sum(c * inside_out(e)[i] for i, c in enumerate(v)) for e in ((1, 0), (0, 1))]
        for found, value in zip(turned, exact, strict=True):
            assert abs(found * unit - value) <= sum(map(abs, v)) * unit


def test_directions_are_turned_as_finely_as_the_margins_of_proposals_take_them_to_be():
    """Bounds by floats allow for roundings of floats only, beside edges of up to 2^62 (`_BoxTest`, `rough_slabs`)."""
    assert FRAME.unit == 2.0**-192


def test_a_parallelepiped_knows_its_size_and_its_corner():
    assert SLANTED.size == -(-9 * 12 // 7)
    assert SLANTED.corner() == list(inside_out((-4, -5)))
    directions = np.array([[1, 0], [3, 4], [-2, 5]])
    first, last = SLANTED.at_corner(directions)
    for v, a, b in zip(directions.tolist(), first.tolist(), last.tolist(), strict=True):
        exact = sum(c * x for c, x in zip(v, inside_out((-4, -5)), strict=True))
        assert (a, b) == (math.floor(exact), math.ceil(exact))


@pytest.mark.parametrize("value", [0, 107, 108, 111])
def test_a_wanted_point_is_kept_as_often_as_the_size_says(value):
    bits = Given(value)
    assert SLANTED.keeps(bits) == (value < 9 * 12)
    assert bits.asked == [16 * 7]


def test_a_point_is_the_real_point_of_its_bits_rounded():
    rng = np.random.default_rng(0)
    for _ in range(200):
        words = [int(w) for w in rng.integers(0, 2**64, 2, dtype=np.uint64)]
        theta = [Fraction(word, 2**64) for word in words]
        real = inside_out([a + w * t for a, w, t in zip(SLANTED.low, SLANTED.widths, theta, strict=True)])
        assert SLANTED.point([0, 0], 0, Given(*words)) == [math.floor(x + Fraction(1, 2)) for x in real]


def test_wanted_points_have_their_unit_cubes_inside():
    smallest, largest = (-3, -4), (5, 2)
    found = around(FRAME, smallest, largest)
    ends = []
    for y in itertools.product(range(-6, 7), repeat=2):
        if not all(a <= p <= b for a, p, b in zip(smallest, MATRIX @ y, largest, strict=True)):
            continue
        for half in itertools.product((-0.5, 0.5), repeat=2):
            s = MATRIX @ (np.array(y) + half)
            ends.append(s)
            assert all(a <= c <= a + w for a, c, w in zip(found.low, s, found.widths, strict=True))
    assert (np.min(ends, axis=0) - found.low < 1).all()
    assert (np.array(found.low) + found.widths - np.max(ends, axis=0) < 1).all()


@pytest.mark.parametrize("few", [3, 512])
def test_cells_part_the_box_and_their_heights_say_how_rare_their_points_are(few, monkeypatch):
    monkeypatch.setattr(shapes, "CELLS", few)
    cells = cut(BOX, np.array([2.0, -1.0]))
    for j, points in enumerate((12, 1)):
        count = min(few, points)
        starts, ends = cells.starts[j].tolist(), cells.ends[j].tolist()
        assert starts[0] == BOX.low[j]
        assert set(starts[count:]) == {BOX.high[j] + 1}
        assert (ends[0], set(ends[count:])) == (0, {SHARES})
        for c in range(count):
            width, share = starts[c + 1] - starts[c], ends[c + 1] - ends[c]
            assert min(width, share) >= 1
            rarity = Fraction(SHARES * width, share)
            height = int(cells.heights[j, c])
            assert rarity**256 <= 2**height < rarity**256 * 8
            assert cells.drawn(Given(*[ends[c]] * 2))[j] == (c if ends[c] else 0)
            assert cells.drawn(Given(*[ends[c + 1] - 1] * 2))[j] == c
            if j == 0:
                assert cells.uniform([c, 0], Given(10**9, 0)) == [starts[c + 1] - 1, 3]
    shares = np.diff(cells.ends[0])[: min(few, 12)]
    assert (np.diff(shares) < 0).all()
    assert shares[0] > 2 * shares[-1]
    assert cells.drawn(bits := Given(0, 0)) == [0, 0]
    assert bits.asked == [SHARE_BITS] * 2


@pytest.mark.parametrize("box", [BOX, SLANTED])
def test_a_point_of_a_tilted_box_is_kept_as_often_as_makes_all_alike_likely(box, monkeypatch):
    monkeypatch.setattr(shapes, "CELLS", 4)
    cells = cut(box, np.array([1.0, 0.5]))
    tilted = TiltedBox(box, cells, int(cells.heights.max(axis=1).sum()) - 100)
    volume = 7 if box is SLANTED else 1
    assert (tilted.volume, tilted.size) == (volume, -(-power(tilted.highest) // volume))
    for chosen in ([0, 0], [3, 0], [2, 0]):
        chance = Fraction(1, tilted.size * volume)
        for j, c in enumerate(chosen):
            points, share = (int(some[j, c + 1] - some[j, c]) for some in (cells.starts, cells.ends))
            chance *= Fraction(SHARES * points, share)
        word = min(math.floor(chance * 2**64), 2**64 - 1)
        assert not tilted.keeps(chosen, min(word + 1, 2**64 - 1), Given()) or chance >= 1
        assert word == 0 or tilted.keeps(chosen, word - 1, Given())
        if chance < 1:
            following = math.floor((chance * 2**64 - word) * 2**64)
            assert tilted.keeps(chosen, word, Given(following - 1)) or not following
            assert not tilted.keeps(chosen, word, Given(following + 1))


def test_points_of_a_tilted_box_lie_in_their_cells():
    cells = cut(BOX, np.zeros(2))
    assert TiltedBox(BOX, cells, 0).point([5, 0], None, Given(0, 0)) == [3, 3]
    slanted = Box((0, 0), (3, 3), SHEAR)
    assert TiltedBox(slanted, cut(slanted, np.zeros(2)), 0).point([2, 3], None, Given(0, 0)) == [2, 1]
    cells = cut(SLANTED, np.zeros(2))
    words = [2**63, 2**62]
    real = inside_out([SLANTED.low[0] + 4 + Fraction(1, 2), SLANTED.low[1] + 7 + Fraction(1, 4)])
    expected = [math.floor(x + Fraction(1, 2)) for x in real]
    assert TiltedBox(SLANTED, cells, 0).point([4, 7], words, Given(0, 0)) == expected
    assert TiltedBox(SLANTED, cells, 0).point([4, 7], None, Given(*words)) == expected


def test_widths_and_upright_boxes():
    assert (widths_of(BOX), widths_of(SLANTED)) == ((12, 1), (9, 12))
    found = upright(BOX)
    assert found.box is BOX
    assert found.highest == sum(found.cells.heights.max(axis=1).tolist())
    shares = np.diff(found.cells.ends[0])[:12]
    assert shares.max() - shares.min() <= SHARES // 2**16


@pytest.mark.parametrize("real", [False, True])
def test_the_least_end_is_that_of_all_points(real):
    cells = cut(BOX, np.array([3.0, 0.0]))
    for slopes in ([5, 7], [-5, -7], [0, 3]):
        found = least_ends(cells, slopes, 4, real)
        worst = []
        for c, d in itertools.product(range(12), range(1)):
            height = int(cells.heights[0, c] + cells.heights[1, d])
            places = [range(int(s[i]), int(s[i + 1]) + real) for s, i in zip(cells.starts, (c, d), strict=True)]
            worst += [16 * height - slopes[0] * x - slopes[1] * y for x, y in itertools.product(*places)]
        assert found == max(worst)


def test_powers_and_logarithms_are_those_of_rationals():
    for steps in (0, 1, 255, 256, 257, 5000):
        assert Fraction(power(steps)) ** 256 >= 2**steps
        assert Fraction(power(steps) - 1) ** 256 < 2**steps
    for value in (1, 2, 3, 1000, 2**30 + 1):
        steps = log_ceiling(value)
        assert 2**steps >= value**256
        assert steps == 0 or 2 ** (steps - 1) < value**256
    values = np.array([1, 2, 3, 1000, SHARES])
    for value, steps in zip(values.tolist(), shapes._log_floors(values).tolist(), strict=True):
        assert 2**steps <= value**256 < 2 ** (steps + 1)
