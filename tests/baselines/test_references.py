"""Centres without privacy, and the paper's own recipe as a second opinion on boxem's law."""

from __future__ import annotations

import math

import numpy as np
import pytest

import tukeydp as td
from support.fit import FALSE_ALARM, g_test
from tukeydp.paper.depth_regions import body_of
from tukeydp.paper.level_sets import centroid
from tukeydp.paper.unproven import _draw, log_weights

REFERENCES = [td.baselines.empirical_mean, td.baselines.coordinate_median, td.baselines.tukey_median]


@pytest.mark.parametrize("reference", REFERENCES)
def test_references_say_that_they_are_not_private(reference):
    x = np.random.default_rng(0).normal(size=(60, 2))
    before = x.copy()
    release = reference(x)
    assert (x == before).all()
    assert release.guarantee is None
    assert not release.private
    assert any("Not private" in caveat for caveat in release.caveats)
    assert release.to_dict()["private"] is False
    assert np.isnan(reference([[None, 1.0]]).point).all()
    gaps = np.vstack([x, [math.nan, 5.0]])
    assert reference(gaps).point == pytest.approx(release.point, abs=1e-9)


def test_the_tukey_median_is_deepest():
    for n, d in ((31, 2), (40, 2), (25, 3)):
        x = np.random.default_rng(n).normal(size=(n, d))
        point = td.baselines.tukey_median(x).point
        deepest = td.tukey_depth(point[np.newaxis], x)[0]
        tries = np.vstack([x, point + np.random.default_rng(1).normal(size=(200, d)) * 0.3])
        assert deepest >= td.tukey_depth(tries, x).max() > 1
    assert td.baselines.tukey_median([1, 2, 4, 8]).point.tolist() == [3.0]


def test_the_tukey_median_along_directions_is_close_to_the_exact_one():
    x = np.random.default_rng(3).normal(size=(300, 2))
    near = td.baselines.tukey_median(x, depth=td.Random(300, seed=1)).point
    assert near == pytest.approx(td.baselines.tukey_median(x, depth=td.Exact()).point, abs=0.05)
    many = td.baselines.tukey_median(np.random.default_rng(3).normal(size=(500, 12)))
    assert np.linalg.norm(many.point) < 0.4
    with pytest.raises(td.ParameterError, match=r"^depth must"):
        td.baselines.tukey_median(x, depth="exact")


def test_the_centroid_of_solid_and_flat_sets():
    square = np.array([[0, 0], [2, 0], [2, 2], [0, 2], [0, 1.0]])
    assert centroid(square) == pytest.approx([1, 1])
    assert centroid(np.column_stack([square, square[:, 0] + 5])) == pytest.approx([1, 1, 6])
    assert centroid(np.array([[1.0, 1], [3, 5], [2, 3], [2.5, 4]])) == pytest.approx([2, 3])
    assert centroid(np.array([[7.0, 1]])) == pytest.approx([7, 1])
    triangle = np.array([[0, 0, 0], [4, 0, 0], [0, 4, 0], [0, 0, 4.0]])
    assert centroid(triangle) == pytest.approx([1, 1, 1])


def recipe_draws(x, depth, half, epsilon, count):
    """The recipe's draws, with volumes computed once."""
    body = body_of(x, depth)
    middle, half = np.zeros(body.d), np.full(body.d, float(half))
    weights = log_weights(body.volumes(), half, epsilon / 2)
    rng = np.random.default_rng(0)
    return np.array([_draw(body, middle, half, weights, rng) for _ in range(count)])


def nested_law(volumes, q):
    """Chance of each exact depth: (volume of the level less that of the next) times q^depth."""
    rings = np.array(volumes) - np.append(volumes[1:], 0.0)
    weights = rings * q ** np.arange(len(volumes))
    return weights / weights.sum()


def misprinted(volumes, q):
    """With the factor (1 - 1/q) at the lowest level too (docs/errata.md, 1)."""
    levels = np.array(volumes) * q ** np.arange(len(volumes)) * (1 - 1 / q)
    levels /= levels.sum()
    rings = np.array(volumes) - np.append(volumes[1:], 0.0)
    return np.array([rings[t] * sum(levels[j] / volumes[j] for j in range(t + 1)) for t in range(len(volumes))])


def test_the_recipe_has_the_law_in_one_column():
    """Depth of a point is a matter of intervals: lengths 20, 9, 3, 0.5 around the rows."""
    x, epsilon = np.array([-4, -1, 0, 0.5, 2, 5.0]), 1.4
    y = recipe_draws(x, td.AxisAligned(), 10, epsilon, 1200)[:, 0]
    counts = np.bincount(np.minimum((x <= y[:, None]).sum(axis=1), (x >= y[:, None]).sum(axis=1)), minlength=4)
    volumes = [20, 9, 3, 0.5]
    assert g_test(counts, nested_law(volumes, math.exp(epsilon / 2))) > FALSE_ALARM
    assert g_test(counts, misprinted(volumes, math.exp(epsilon / 2))) < FALSE_ALARM
    # Uniform at one depth: left and right of the middle by length.
    outer = y[(y > -10) & ((y < -4) | (y > 5))]
    assert g_test([(outer < 0).sum(), (outer > 0).sum()], [6 / 11, 5 / 11]) > FALSE_ALARM


def test_the_recipe_has_the_law_in_two_columns():
    """Axis-aligned depth: rectangles, whose sides are gaps between order statistics."""
    x = np.array([[-4, 3], [-1, -2], [0, 4], [0.5, -5], [2, 0], [5, 1.0]])
    epsilon = 1.4
    points = recipe_draws(x, td.AxisAligned(), 6, epsilon, 1200)
    order = np.sort(x, axis=0)
    volumes = [144.0] + [float(np.prod(order[6 - level] - order[level - 1])) for level in (1, 2, 3)]
    counts = np.bincount(td.tukey_depth(points, x, td.AxisAligned()), minlength=4)
    assert g_test(counts, nested_law(volumes, math.exp(epsilon / 2))) > FALSE_ALARM
    assert g_test(counts, misprinted(volumes, math.exp(epsilon / 2))) < FALSE_ALARM


@pytest.mark.parametrize("depth", [td.Exact(), td.Directions([[2, 1], [-1, 3], [1, -1]])])
def test_the_recipe_and_boxem_agree(depth):
    """Both against the law on a fine lattice of points; the directions' level sets stick out of the box."""
    x = np.array([[-4, 3], [-1, -2], [0, 4], [0.5, -5], [2, 0], [5, 1.0]])
    epsilon, half = 1.4, 5.5
    axis = (np.arange(60) + 0.5) / 60 * 2 * half - half
    lattice = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    depths = td.tukey_depth(lattice, x, depth)
    uniform = np.bincount(depths) / len(depths)
    law = uniform * math.exp(epsilon / 2) ** np.arange(len(uniform))
    law /= law.sum()
    source, parameters = td.seeded(1), {"epsilon": epsilon, "bounds": (-half, half), "depth": depth}
    ours = [td.boxem(x, **parameters, randomness=source).point for _ in range(500)]
    theirs = recipe_draws(x, depth, half, epsilon, 500)
    for points in (np.array(ours), theirs):
        counts = np.bincount(td.tukey_depth(points, x, depth), minlength=len(law))
        assert g_test(counts, law) > FALSE_ALARM
        assert g_test(counts, uniform) < FALSE_ALARM


def test_the_recipe_is_a_reference():
    release = td.baselines.paper_recipe([[0, 0], [1, 99]], epsilon=1, bounds=(-5, 5))
    assert release.guarantee is None
    assert not release.private
    assert np.abs(release.point).max() <= 5
    assert any("Floating-point" in caveat for caveat in release.caveats)
    for arguments, word in (({"epsilon": 0}, "epsilon"), ({"bounds": (1, 0)}, "bounds")):
        with pytest.raises(td.ParameterError, match=f"^{word} must"):
            td.baselines.paper_recipe([[0, 0]], **{"epsilon": 1, "bounds": (-5, 5), **arguments})
    with pytest.raises(td.ParameterError, match=r"^depth must have directions that span"):
        td.baselines.paper_recipe([[0, 0], [1, 1]], epsilon=1, bounds=(-5, 5), depth=td.Directions([[1, 1]]))


def test_the_recipe_of_rem_releases_deep_points_or_refuses():
    """Algorithm 2 in two columns: n = 900 passes (680 would), n = 400 does not; points have depth n/4 at least."""
    rng, notion = np.random.default_rng(0), td.Random(30, axes=False, seed=5)
    x, source = rng.normal(size=(900, 2)) + 7, td.seeded(1)
    told = {"epsilon": 1, "delta": "1e-6", "depth": notion, "randomness": source}
    points = [td.baselines.paper_recipe(x, **told).point for _ in range(10)]
    assert td.tukey_depth(np.array(points), x, notion).min() >= len(x) // 4
    few = td.baselines.paper_recipe(x[:400], **told)
    assert not few.released
    assert few.guarantee is None
    # The threshold is the caller's: with the lowest one the whole hull counts, and no row may be swapped.
    assert not td.baselines.paper_recipe(x, threshold=1, **told).released


def test_the_recipe_wants_bounds_or_delta():
    for arguments in ({}, {"bounds": (-5, 5), "delta": "1e-6"}):
        with pytest.raises(td.ParameterError, match=r"^bounds must be given for BoxEM, delta for REM"):
            td.baselines.paper_recipe([[0, 0], [1, 1]], epsilon=1, **arguments)
    with pytest.raises(td.ParameterError, match=r"^delta must"):
        td.baselines.paper_recipe([[0, 0], [1, 1]], epsilon=1, delta=2)
    with pytest.raises(td.ParameterError, match=r"^threshold must"):
        td.baselines.paper_recipe([[0, 0], [1, 1]], epsilon=1, delta="1e-6", threshold=0)
