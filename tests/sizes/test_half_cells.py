"""Volumes count grid points from below only of a set shrunk by half a cell, from above only of a grown one.

Two rows on neighbouring grid lines and a direction that nearly follows the lines leave a long strip between the lines:
much volume, no grid point.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from unittest.mock import patch

import numpy as np
import pytest

import tukeydp as td
from support.grids import centred_grid
from tukeydp.trusted.boxes import Box
from tukeydp.trusted.exact.deciding import GridDepth
from tukeydp.trusted.levels import level_sets
from tukeydp.trusted.matrices import integers
from tukeydp.trusted.sizes import boxed
from tukeydp.trusted.sizes import exact_depth_sizes as exact_sizes
from tukeydp.trusted.sizes.copies import Copy, template
from tukeydp.trusted.sizes.ellipsoids import BoxesAndEllipsoids
from tukeydp.trusted.sizes.exact_depth_sizes import ExactSizes
from tukeydp.trusted.sizes.polyhedra import Polyhedra

STRIP_LEVEL = 3


def strip(d, long):
    """Rows and directions whose level 3 is |y_1| <= long, 0.1 <= y_2 + y_1 / (20 long) <= 0.9, no grid point."""
    steep = 20 * long
    rows = [(2 * long, 0), (2 * long, 0), (-2 * long, 1), (-2 * long, 1), (long, 9), (-long, -9)]
    directions = [(1, 0), (0, 1), (1, steep)]
    others = d - 2
    rows = [(*row, *([sign * long] * others)) for row, sign in zip(rows, (1, -1, 1, -1, 1, -1), strict=True)]
    directions = [(*v, *([0] * others)) for v in directions]
    directions += [tuple(int(j == c) for c in range(d)) for j in range(2, d)]
    return np.array(rows, dtype=np.int64), np.array(directions, dtype=np.int64)


@pytest.mark.parametrize("counted", [0, 4096])
@pytest.mark.parametrize(
    ("d", "kind"), [(2, BoxesAndEllipsoids), (3, BoxesAndEllipsoids), (4, BoxesAndEllipsoids), (3, Polyhedra)]
)
def test_a_strip_between_grid_lines_has_no_size_from_below(d, kind, counted):
    long = 100 if d == 2 else 6
    rows, directions = strip(d, long)
    levels = level_sets(rows, directions)
    sides = [range(-2 * long, 2 * long + 1), range(-9, 10)] + [range(-long, long + 1)] * (d - 2)
    low, high = levels.offsets(STRIP_LEVEL)
    spans = (high - low)[-1] if d == 2 else (high - low)[2]
    assert spans > 0  # there is volume
    assert not any(levels.contains(y, STRIP_LEVEL) for y in itertools.product(*sides[:2], *[(0, long)] * (d - 2)))
    with patch.object(boxed, "COUNTED", counted):
        sizes = kind(levels, Box((-(2**20),) * d, (2**20,) * d), 1)
        assert sizes.lower(STRIP_LEVEL) == 0


@pytest.mark.parametrize("kind", [BoxesAndEllipsoids, Polyhedra])
@pytest.mark.parametrize("seed", range(6))
def test_random_slivers_are_bracketed(kind, seed):
    """Few grid points in slanted level sets, so that half a cell on every side is most of the volume."""
    rng = np.random.default_rng(seed)
    bound = 7
    directions = np.vstack([np.eye(3, dtype=np.int64), rng.integers(-40, 41, size=(5, 3))])
    rows = np.clip(np.rint(rng.normal(size=(30, 3)) * 3), -bound, bound).astype(np.int64)
    levels = level_sets(rows, directions)
    points = np.array(list(itertools.product(range(-bound, bound + 1), repeat=3)))
    depth = levels.depths(points)
    with patch.object(boxed, "COUNTED", 0):
        sizes = kind(levels, Box((-bound,) * 3, (bound,) * 3), 1)
        for level in range(1, 14):
            assert sizes.lower(level) <= int((depth >= level).sum()) <= sizes.upper(level)


def exact_sizes_of(rows, far, slack=Fraction(1, 256)):
    d = rows.shape[1]
    within = Box((-far,) * d, (far,) * d)
    prepared = td.Exact().prepare(rows, centred_grid(far, d), bytes(32))
    return ExactSizes(prepared.decide, level_sets(rows, np.eye(d, dtype=np.int64)), prepared.levels, within, 1, slack)


def test_ellipsoids_bound_slanted_sets_from_above():
    """A parallelogram along a diagonal, far smaller than its box: its largest ellipse has pi / 4 of its area."""
    long, wide = 300, 15
    corners = [(long, long), (-long, -long), (wide, -wide), (-wide, wide)]
    directions = np.array([(1, 0), (0, 1), (1, 1), (1, -1)])
    levels = level_sets(np.array(corners * 2), directions)
    points = np.array(list(itertools.product(range(-long, long + 1), repeat=2)))
    for level in (1, 2):
        low, high = levels.offsets(level)
        projected = points @ directions.T
        count = int(((low <= projected) & (projected <= high)).all(axis=1).sum())
        upper = BoxesAndEllipsoids(levels, Box((-400, -400), (400, 400)), 1).upper(level)
        assert count <= upper < (2 * long + 1) ** 2


@pytest.mark.parametrize("d", [2, 4, 5])
def test_a_simplex_meets_the_bound_from_above(d):
    """No convex body exceeds its largest ellipsoid by more than a simplex does: there, a smaller factor is wrong."""
    side = 10_000
    corners = np.vstack([np.zeros((1, d), dtype=np.int64), side * np.eye(d, dtype=np.int64)])
    levels = level_sets(corners, np.vstack([np.eye(d, dtype=np.int64), np.ones((1, d), dtype=np.int64)]))
    upper = BoxesAndEllipsoids(levels, Box((-(2**20),) * d, (2**20,) * d), 1).upper(1)
    count = math.comb(side + d, d)
    assert count <= upper <= count * 1.01


@pytest.mark.parametrize("short", [0, 1, 2, 3, 5, 6, 9])
def test_the_cells_around_a_copys_corners_are_looked_at(short):
    """A copy inside a square of rows, its outermost corners `short` quarters of half a cell inside: as volume it
    counts only if the half cells around its corners are inside too."""
    side = 50
    rows = np.array(list(itertools.product((-side, side), repeat=2)))
    sizes = exact_sizes_of(rows, 2**10)
    bits, radius = 12, template(2).radius
    # In half cells over 2^bits: radius * factor is the square's half side less what the corners are short of it.
    factor = ((2 * side << bits) - (short << bits) // 4) // radius
    copy = Copy(integers([0, 0]), integers([[factor, 0], [0, factor]]), bits, Fraction(10**9))
    _, points, finer = sizes._looked_at(copy)
    refuting = sizes._shallow(points, finer, 1)
    inside = radius * factor * (1 - Fraction(1, 2**sizes._fine)) / 2**bits + 1 <= 2 * side
    assert inside == (short >= 4)
    assert (not refuting) == inside


def test_a_copy_too_small_for_the_slack_is_not_taken():
    """Whatever a solver proposes at first: what is returned is within the slack of the largest copy."""
    slack = Fraction(1, 256)
    rows = np.rint(np.random.default_rng(3).normal(size=(30, 2)) * 10**6).astype(np.int64)
    honest, calls = exact_sizes.largest_copy, []
    sharp = exact_sizes_of(rows, 2**40, slack / 64).lower(4)

    def small_at_first(*arguments):
        copy, found = honest(*arguments)
        calls.append(1)
        if len(calls) > 25:
            return copy, found
        # Each side shorter by one slack: the product of two by two of them.
        less = copy.factor * 255 // 256
        return Copy(copy.centre, less, copy.bits, copy.most), found

    with patch.object(exact_sizes, "largest_copy", small_at_first):
        usual = exact_sizes_of(rows, 2**40, slack).lower(4)
    assert len(calls) > 1
    assert sharp <= usual * (1 + slack)
    assert usual <= sharp * (1 + slack / 64)


def test_a_copy_with_shallow_corners_is_not_taken():
    """A diamond of rows, known at first by its box alone: the largest copy in the box has more volume than the diamond
    has grid points, and bounds that meet, but its corners are outside."""
    far = 200
    rows = np.array([(far, 0), (-far, 0), (0, far), (0, -far)])
    points = 2 * far * (far + 1) + 1  # |a| + |b| <= far
    box = Box((-far, -far), (far, far))
    depth = td.Exact().prepare(rows, centred_grid(far, 2), bytes(32)).decide
    axes = level_sets(rows, np.eye(2, dtype=np.int64))
    sizes = ExactSizes(depth, axes, axes, box, 1, Fraction(1, 256))
    in_the_box = sizes._largest(1, sizes._envelope.region(1), 6)
    assert template(2).volume / 4 * in_the_box.diagonal > 1.2 * points
    # Nothing but decisions: no halfspaces that are found without any.
    with patch.object(GridDepth, "parted", lambda *_, **__: np.empty((0, 2), dtype=np.int64)):
        assert points / 2 < sizes.lower(1) <= points
