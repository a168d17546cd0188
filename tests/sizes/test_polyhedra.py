"""Volumes in space against closed forms and against a recursion in fractions that shares nothing with them."""

from __future__ import annotations

from fractions import Fraction
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tukeydp.trusted.matrices import integers
from tukeydp.trusted.sizes import polyhedra
from tukeydp.trusted.sizes.linear_programs import Region
from tukeydp.trusted.sizes.polyhedra import volume

Halfspaces = list[tuple[tuple[Fraction, ...], Fraction]]


def region(normals, offsets, bound: int, centre=(0, 0, 0)) -> Region:
    units = np.eye(3, dtype=np.int64)
    normals = np.asarray(normals, dtype=object).reshape(-1, 3)
    return Region(
        integers(np.vstack([normals, units, -units])),
        integers([*map(int, offsets), *([bound] * 6)]),
        integers(list(centre)),
        np.full(3, max(1.0, float(bound))),
    )


def by_recursion(halfspaces: Halfspaces, d: int) -> Fraction:
    """Lasserre's formula: the sum over faces of offset times the face's size, over d; faces by substitution."""
    tightest: dict[tuple[Fraction, ...], Fraction] = {}
    for normal, offset in halfspaces:
        size = sum(map(abs, normal))
        if not size:
            if offset < 0:
                return Fraction(0)
            continue
        key = tuple(v / size for v in normal)
        tightest[key] = min(offset / size, tightest.get(key, offset / size))
    if d == 1:
        return max(Fraction(0), tightest[(Fraction(1),)] + tightest[(Fraction(-1),)])
    total = Fraction(0)
    for normal, offset in tightest.items():
        j = max(range(d), key=lambda i: abs(normal[i]))
        face: Halfspaces = []
        for other, limit in tightest.items():
            if other != normal:
                factor = other[j] / normal[j]
                rest = tuple(other[i] - factor * normal[i] for i in range(d) if i != j)
                face.append((rest, limit - factor * offset))
        total += offset / abs(normal[j]) * by_recursion(face, d - 1)
    return total / d


def true_volume(body: Region) -> Fraction:
    rows = zip(body.normals.tolist(), body.offsets.tolist(), strict=True)
    return by_recursion([(tuple(map(Fraction, normal)), Fraction(offset)) for normal, offset in rows], 3)


def assert_right(body: Region) -> None:
    low, high = volume(body)
    assert low <= true_volume(body) <= high < low + Fraction(1, 2**40)


def test_closed_forms():
    low, high = volume(region([], [], 5))
    assert low == high == 1000
    signs = np.array(list(np.ndindex(2, 2, 2))) * 2 - 1
    low, high = volume(region(signs, [9] * 8, 20))  # a cross-polytope
    assert low <= Fraction(4 * 9**3, 3) <= high
    low, high = volume(region([*(-np.eye(3, dtype=int)), [1, 1, 1]], [0, 0, 0, 10], 20))  # a simplex
    assert low <= Fraction(1000, 6) <= high


@given(st.data())
@settings(max_examples=120, deadline=None)
def test_random_halfspaces(data):
    """Small numbers: planes through corners and edges, equal and parallel ones, flat and empty sets."""
    most = data.draw(st.sampled_from([1, 3, 10**6]))
    normal = st.lists(st.integers(-most, most), min_size=3, max_size=3).filter(any)
    normals = data.draw(st.lists(normal, max_size=8))
    offsets = [data.draw(st.integers(-most, 6 * most)) for _ in normals]
    centre = data.draw(st.lists(st.integers(-9, 9), min_size=3, max_size=3))
    assert_right(region(normals, offsets, data.draw(st.integers(0, 6)), centre))


@pytest.mark.parametrize("gap", [-1, 0, 1])
def test_planes_closer_to_a_corner_than_floats_can_see(gap):
    """Five planes through one corner of a cube of 2^60, and a sixth that misses it by one part in 2^61, if at all."""
    bound = 2**60
    normals = [[1, 1, 1], [2, 1, 1], [1, 2, 1], [1, 1, 2], [3, 2, 2], [1, 1, 3]]
    offsets = [3 * bound, 4 * bound, 4 * bound, 4 * bound, 7 * bound, 5 * bound + gap]
    body = region(normals, offsets, bound)
    low, high = volume(body)
    truth = true_volume(body)
    assert low <= truth <= high
    assert (truth < (2 * bound) ** 3) == (gap < 0)
    assert (high < (2 * bound) ** 3) == (gap < 0)


def test_floats_alone_would_not_do():
    """The control to the test above: without exact signs the cut by one unit is not seen, or a face breaks."""
    bound = 2**60
    body = region([[1, 1, 1], [1, 1, 3]], [3 * bound, 5 * bound - 1], bound)
    assert volume(body)[1] < (2 * bound) ** 3
    with patch.object(polyhedra, "_ROUNDING", -1.0):
        assert volume(body)[0] == (2 * bound) ** 3


def test_empty_and_flat_sets_have_no_volume():
    assert volume(region([[1, 1, 1]], [-100], 9)) == (0, 0)
    assert volume(region([[1, 2, 3], [-1, -2, -3]], [4, -4], 9))[0] == 0
    assert volume(region([], [], -1)) == (0, 0)
    assert volume(region([], [], 0)) == (0, 0)


def test_needles_and_many_halfspaces():
    rng = np.random.default_rng(0)
    needle = [[1000, 999, 1], [-1000, -999, -1], [0, 1, 1000], [0, -1, -1000]]
    assert_right(region(needle, [7, 7, 5, 5], 10**9))
    normals = rng.integers(-9, 10, size=(14, 3))
    assert_right(region(normals, [200] * 14, 90, (50, 60, -70)))  # seen from outside
