from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import tukeydp as td
from tukeydp.directions import default_directions
from tukeydp.grid import bounded_grid

KEY, OTHER = bytes(32), bytes([1] * 32)


def grid(d, **options):
    return bounded_grid(d, **{"bounds": (-10, 10), "resolution": None, **options})


def test_axes_come_first_and_can_be_left_out():
    with_axes = td.Random(7).on_grid(grid(3), KEY)
    assert with_axes.shape == (10, 3)
    assert with_axes[:3].tolist() == np.eye(3, dtype=int).tolist()
    without = td.Random(7, axes=False).on_grid(grid(3), KEY)
    assert without.tolist() == with_axes[3:].tolist()


def test_seed_fixes_directions_and_a_key_draws_fresh_ones():
    assert (td.Random(9, seed=4).on_grid(grid(4), KEY) == td.Random(9, seed=4).on_grid(grid(4), OTHER)).all()
    assert (td.Random(9, seed=4).on_grid(grid(4), KEY) != td.Random(9, seed=5).on_grid(grid(4), KEY)).any()
    assert (td.Random(9).on_grid(grid(4), KEY) != td.Random(9).on_grid(grid(4), OTHER)).any()


def test_a_seed_is_a_number_whatever_its_type():
    assert td.Random(np.int64(9), seed=np.int64(4)) == td.Random(9, seed=4)
    assert (td.Random(9, seed=np.int64(4)).on_grid(grid(4), KEY) == td.Random(9, seed=4).on_grid(grid(4), KEY)).all()


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


def test_default_number_grows_with_d():
    numbers = [default_directions(d) for d in range(1, 12)]
    assert numbers[0] == 0
    assert numbers == sorted(numbers)
    assert numbers[9] == 300


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
        lambda: td.Directions([]),
        lambda: td.Directions([[]]),
        lambda: td.Directions([[1, 2], [1]]),
        lambda: td.Directions([[0, 0]]),
        lambda: td.Directions([[float("nan"), 1]]),
        lambda: td.Directions(5),
        lambda: td.Directions([1, 2]),
        lambda: td.Directions([[1, 2, 3]]).on_grid(grid(2), KEY),
        lambda: td.Directions([[2**61, 1]]).on_grid(grid(2), KEY),
        lambda: td.Random(3).on_grid(grid(2, resolution=2.0**-55), KEY),
    ],
)
def test_bad_directions_are_refused(make):
    with pytest.raises(td.ParameterError):
        make()
