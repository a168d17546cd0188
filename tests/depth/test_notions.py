from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import tukeydp as td
from tukeydp.depth.choice import chosen_notion
from tukeydp.depth.notions import default_directions
from tukeydp.depth.notions.any_scale import pair_lines
from tukeydp.trusted.rows import bounded_grid, unbounded_grid

KEY, OTHER = bytes(32), bytes([1] * 32)


def grid(d, **options):
    return bounded_grid(d, **{"bounds": (-10, 10), "resolution": None, **options})


drawn = pytest.mark.parametrize("kind", [td.Random, td.Spread, td.AnyScale])


@drawn
def test_axes_come_first_and_can_be_left_out(kind):
    with_axes = kind(7).on_grid(grid(3), KEY)
    assert with_axes.shape == (10, 3)
    assert with_axes[:3].tolist() == np.eye(3, dtype=int).tolist()
    assert kind(7, axes=False).on_grid(grid(3), KEY).shape == (7, 3)


def test_random_directions_are_the_same_with_axes_and_without():
    with_axes = td.Random(7).on_grid(grid(3), KEY)
    assert td.Random(7, axes=False).on_grid(grid(3), KEY).tolist() == with_axes[3:].tolist()


@drawn
@pytest.mark.parametrize("axes", [True, False])
def test_seed_fixes_directions_and_a_key_draws_fresh_ones(kind, axes):
    def directions(key, seed=None):
        return kind(9, axes=axes, seed=seed).on_grid(grid(4), key)

    assert (directions(KEY, seed=4) == directions(OTHER, seed=4)).all()
    assert (directions(KEY, seed=4) != directions(KEY, seed=5)).any()
    assert (directions(KEY) != directions(OTHER)).any()
    assert (directions(KEY) == directions(KEY)).all()


@drawn
def test_a_seed_is_a_number_whatever_its_type(kind):
    assert kind(np.int64(9), seed=np.int64(4)) == kind(9, seed=4)
    assert (kind(9, seed=np.int64(4)).on_grid(grid(4), KEY) == kind(9, seed=4).on_grid(grid(4), KEY)).all()


@drawn
@pytest.mark.parametrize("d", [1, 2, 3, 7])
@pytest.mark.parametrize("axes", [True, False])
@pytest.mark.parametrize("directions", [None, 1, 2, 12])
def test_there_are_as_many_as_announced_on_the_grid_and_off_it(kind, d, axes, directions):
    depth = kind(directions, axes=axes, seed=3)
    on_grid = depth.on_grid(grid(d, resolution=1), KEY)
    assert on_grid.shape == (depth.size(d), d)
    assert on_grid.any(axis=1).all()
    # So coarse a grid leaves room for the longest directions, and both are the same integers.
    assert depth.in_data_units(d, KEY) == on_grid.tolist()


@drawn
def test_a_grid_that_is_too_fine_is_refused(kind):
    with pytest.raises(td.ParameterError, match="resolution"):
        kind(3).on_grid(grid(2, resolution=2.0**-55), KEY)


def test_notions_of_different_kinds_are_different():
    assert td.Random(9) != td.Spread(9)
    assert repr(td.Spread(9, axes=False)) == "Spread(directions=9, axes=False, seed=None)"


def test_random_directions_are_uniform_on_the_sphere():
    """Second and fourth moments of a uniform unit vector in d=3 are 1/3 and 1/5; tolerance 6 standard errors."""
    v = td.Random(20_000, axes=False, seed=0).on_grid(grid(3), KEY).astype(float)
    unit = v / np.linalg.norm(v, axis=1, keepdims=True)
    assert np.abs(unit.mean(axis=0)).max() < 6 * (1 / 3 / 20_000) ** 0.5
    assert np.abs((unit**2).mean(axis=0) - 1 / 3).max() < 6 * (4 / 45 / 20_000) ** 0.5
    assert np.abs((unit**4).mean(axis=0) - 1 / 5).max() < 6 * (1 / 9 / 20_000) ** 0.5
    # Control: a cube's corners blown up to the sphere are not uniform.
    cube = np.random.default_rng(0).uniform(-1, 1, size=(20_000, 3))
    cube /= np.linalg.norm(cube, axis=1, keepdims=True)
    assert np.abs((cube**4).mean(axis=0) - 1 / 5).max() > 6 * (1 / 9 / 20_000) ** 0.5


def test_the_default_notion_is_spread_and_takes_fewer_directions_for_huge_tables():
    assert chosen_notion(None, 1000, 1).size(1) == 1
    assert chosen_notion(None, 1000, 5) == td.Spread(150)
    assert chosen_notion(None, 200_000, 5) == td.Spread(100)
    assert chosen_notion(None, 10**7, 5) == td.Spread(30)


def test_no_more_rows_than_columns_are_looked_at_along_the_axes_where_columns_are_many():
    """By public numbers alone; a secret number of rows is none."""
    assert chosen_notion(None, 2, 30) == chosen_notion(None, 21, 21) == td.AxisAligned()
    for n, d in ((22, 21), (20, 20), (2, 5), (None, 30)):
        assert isinstance(chosen_notion(None, n, d), td.Spread)
    assert chosen_notion(td.Spread(7), 2, 30) == td.Spread(7)


def closest_weights(directions: np.ndarray, sds: np.ndarray) -> float:
    """For the worst-off pair of columns: the largest share that the lesser of the two has in any direction's spread."""
    weight = np.abs(directions * sds)
    share = weight / weight.max(axis=1, keepdims=True)
    d = len(sds)
    return min(float(np.minimum(share[:, i], share[:, j]).max()) for i in range(d) for j in range(i))


@pytest.mark.parametrize("d", [2, 3, 4, 5])
def test_whatever_the_scales_some_directions_see_both_columns_of_a_pair(d):
    """On REM's own grid, whose directions are short. Control: spread directions see the wider column only."""
    rem_grid = unbounded_grid(d, resolution="1e-6", bits=50)
    for key in (KEY, b"1" * 32, b"2" * 32):
        for sds in (np.ones(d), np.geomspace(1, 1000, d), np.geomspace(1000, 1, d), 10.0 ** (np.arange(d) % 3)):
            ours = closest_weights(td.AnyScale(default_directions(d)).on_grid(rem_grid, key), sds)
            assert ours > 0.08
            if sds.max() == 1000 and d > 2:
                assert closest_weights(td.Spread(default_directions(d)).on_grid(rem_grid, key), sds) < 0.5 * ours


def test_pairs_are_drawn_where_there_are_too_many():
    lines = pair_lines(41, 30, KEY)
    assert lines.shape == (41, 30)
    assert (np.count_nonzero(lines, axis=1) == 2).all()
    assert np.linalg.norm(lines, axis=1) == pytest.approx(1.0)
    assert len({tuple(np.flatnonzero(line)) for line in lines}) > 15
    assert pair_lines(0, 3, KEY).shape == (0, 3)
    assert td.AnyScale().on_grid(grid(1), KEY).tolist() == [[1]]


def test_without_bounds_scales_are_unknown():
    rows = np.random.default_rng(0).normal(size=(40, 3))
    assert td.rem(rows, epsilon=1, delta=1e-6, randomness=td.seeded(0)).notion == repr(td.AnyScale(90))
    assert td.boxem(rows, epsilon=1, bounds=(-9, 9), randomness=td.seeded(0)).notion == repr(td.Spread(90))


def test_default_number_grows_with_d():
    numbers = [default_directions(d) for d in range(1, 12)]
    assert numbers[0] == 0
    assert numbers == sorted(numbers)
    assert numbers[9] == 300


def test_spread_takes_more_directions_from_eleven_columns_on_until_that_takes_too_long():
    numbers = {d: td.Spread.usual(d) for d in range(1, 60)}
    assert all(numbers[d] == default_directions(d) == td.AnyScale.usual(d) for d in (*range(1, 11), *range(26, 60)))
    assert all(numbers[d] == 1000 for d in range(11, 21))
    assert sorted((numbers[d] for d in range(20, 60)), reverse=True) == [numbers[d] for d in range(20, 60)]
    assert td.Spread().size(12) == 1012
    rows = np.random.default_rng(0).normal(size=(40, 11))
    assert td.boxem(rows, epsilon=1, bounds=(-9, 9), randomness=td.seeded(0)).notion == repr(td.Spread(1000))


def test_integer_vectors_are_used_exactly_as_given():
    vectors = [[1, 0], [2, 2], [-3, 1]]
    assert td.Directions(vectors).on_grid(grid(2, resolution=0.5), KEY).tolist() == vectors
    assert td.Directions(np.array(vectors)).on_grid(grid(2), KEY).tolist() == vectors
    long = [[10**9, 1]]
    depth = td.Directions(long)
    assert depth.on_grid(grid(2, bits=depth.grid_bits(2)), KEY).tolist() == long


def test_vectors_are_in_data_units():
    columns = grid(2, bounds=([0, 0], [10, 1000]), resolution=[1, 10])
    # x + y in data units is i + 10 j in grid coordinates.
    assert td.Directions([[1, 1]]).on_grid(columns, KEY).tolist() == [[1, 10]]
    assert td.Directions([[Fraction(1, 3), 0.25]]).on_grid(grid(2), KEY).tolist() == [[4, 3]]
    rounded = td.Directions([[2**0.5, 1]]).on_grid(grid(2), KEY)[0]
    assert rounded[0] / rounded[1] == pytest.approx(2**0.5, rel=1e-4)


@pytest.mark.parametrize(
    "make",
    [
        lambda: td.Random(-1),
        lambda: td.Random(2.5),
        lambda: td.Random(True),
        lambda: td.Random(0, axes=False),
        lambda: td.Random(3, seed=-1),
        lambda: td.Spread(-1),
        lambda: td.Spread(2.5),
        lambda: td.Spread(0, axes=False),
        lambda: td.Spread(3, seed="a"),
        lambda: td.Spread(10**6),
        lambda: td.AnyScale(-1),
        lambda: td.AnyScale(10**6),
        lambda: td.Directions([]),
        lambda: td.Directions([[]]),
        lambda: td.Directions([[1, 2], [1]]),
        lambda: td.Directions([[0, 0]]),
        lambda: td.Directions([[float("nan"), 1]]),
        lambda: td.Directions(5),
        lambda: td.Directions([1, 2]),
        lambda: td.Directions([[1, 2, 3]]).on_grid(grid(2), KEY),
        lambda: td.Directions([[2**61, 1]]).on_grid(grid(2), KEY),
    ],
)
def test_bad_directions_are_refused(make):
    with pytest.raises(td.ParameterError):
        make()
