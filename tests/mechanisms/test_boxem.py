"""boxem as its users meet it."""

from __future__ import annotations

import itertools
import json
import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tukeydp as td
from tukeydp.trusted.exponential import Search


def gaussian(n, d, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


def test_accuracy_at_the_papers_setting():
    """n=200, d=2, epsilon=1, standard Gaussian: mean distance to the sample mean near 0.08.

    400 releases have a standard error of about 0.0025: the interval is 6 of them on either side of what a long run
    gives (0.077), and the control, a tenth of the budget, is far outside it.
    """

    def distance(epsilon):
        source = td.seeded(1)
        errors = []
        for i in range(400):
            x = gaussian(200, 2, seed=i)
            release = td.boxem(x, epsilon=epsilon, bounds=(-10, 10), depth=td.Random(30), randomness=source)
            errors.append(np.linalg.norm(release.point - x.mean(axis=0)))
        return np.mean(errors)

    assert distance(1) == pytest.approx(0.078, abs=0.015)
    assert distance("0.5") > 0.1


@pytest.mark.parametrize("seed", range(4))
def test_two_rows_in_thirty_columns_take_few_lanes_of_proposals(seed, monkeypatch):
    """With slanted directions some tables of two rows made 10^8 proposals and more, in vain."""
    lanes, accepted = itertools.count(1), Search.first_accepted

    def counted(*given):
        assert next(lanes) <= 8  # those of a first search among fixed rows too
        return accepted(*given)

    monkeypatch.setattr(Search, "first_accepted", counted)
    x = gaussian(2, 30, seed)
    found = td.boxem(x, epsilon=10**6, bounds=(-10, 10), randomness=td.seeded(seed)).point
    assert ((x.min(axis=0) - 1e-9 <= found) & (found <= x.max(axis=0) + 1e-9)).all()


def test_more_rows_than_noise_in_ten_columns():
    x = gaussian(1000, 10) + 3
    release = td.boxem(x, epsilon=1, bounds=(-10, 10), randomness=td.seeded(5))
    assert np.linalg.norm(release.point - x.mean(axis=0)) < 0.3


def test_columns_of_different_scale_are_each_as_accurate():
    """Column sds 1 to 20000 on one scale: with the axes each column's error is small in its own sd."""
    sds = np.array([1, 10, 1000, 20000.0])
    x = gaussian(1000, 4) * sds
    source = td.seeded(3)
    points = [td.boxem(x, epsilon=1, bounds=(-1e5, 1e5), randomness=source).point for _ in range(20)]
    errors = np.abs(np.array(points) - x.mean(axis=0)).mean(axis=0) / sds
    assert errors.max() < 0.3
    # Control: the paper's notion leaves the smallest column undetermined.
    paper = td.Random(30, axes=False)
    points = [td.boxem(x, epsilon=1, bounds=(-1e5, 1e5), depth=paper, randomness=source).point for _ in range(5)]
    assert (np.abs(np.array(points) - x.mean(axis=0)).mean(axis=0) / sds)[0] > 3


def test_the_release_says_what_is_public_and_nothing_else():
    x = gaussian(60, 2)
    release = td.boxem(x, epsilon="0.1", bounds=(-5, 5), depth=td.Random(3, seed=1))
    assert release.released
    assert release.private
    assert release.point.shape == (2,)
    assert release.guarantee == td.PureDP(Fraction(1, 10))
    public = json.loads(json.dumps(release.to_dict()))
    assert set(public) == {
        "mechanism", "released", "point", "columns", "guarantee", "private", "unproven", "n", "d", "notion",
        "directions", "grid", "settings", "expected_error", "caveats", "bounds", "units", "noise_sd", "interval",
        "certificate",
    }  # fmt: skip
    assert public["guarantee"]["epsilon_exact"] == "1/10"
    assert public["directions"][:2] == [[1, 0], [0, 1]]
    # All of it but the point is the same for any other data of the same shape.
    other = td.boxem(x * 0, epsilon="0.1", bounds=(-5, 5), depth=td.Random(3, seed=1)).to_dict()
    assert {k: v for k, v in public.items() if k != "point"} == {
        k: v for k, v in json.loads(json.dumps(other)).items() if k != "point"
    }
    again = pickle.loads(pickle.dumps(release))
    assert again.to_dict() == release.to_dict()


def test_one_column_gives_an_array_of_one():
    assert td.boxem([1.0, 2.0, 3.0], epsilon=1, bounds=(0, 5)).point.shape == (1,)


def test_seeds_repeat_and_mark_the_release():
    x = gaussian(100, 3)

    def run(seed):
        return td.boxem(x, epsilon=1, bounds=(-5, 5), randomness=td.seeded(seed))

    a, b, c = run(7), run(7), run(8)
    assert a.point.tolist() == b.point.tolist() != c.point.tolist()
    assert a.directions.tolist() == b.directions.tolist() != c.directions.tolist()
    assert not a.private
    assert any("Seeded" in caveat for caveat in a.caveats)
    source = td.seeded(7)
    first, second = (td.boxem(x, epsilon=1, bounds=(-5, 5), randomness=source).point for _ in range(2))
    assert first.tolist() == a.point.tolist() != second.tolist()


def test_unseeded_calls_differ_in_point_and_directions():
    x = gaussian(100, 2)
    # Spread directions have only eight positions in the plane, and would be the same now and then.
    a, b = (td.boxem(x, epsilon=1, bounds=(-5, 5), depth=td.Random(30)) for _ in range(2))
    assert a.point.tolist() != b.point.tolist()
    assert a.directions.tolist() != b.directions.tolist()


def test_releases_are_grid_points_inside_the_bounds():
    for i in range(50):
        release = td.boxem([[3, 0], [9, 9]], epsilon="0.01", bounds=([0, -1], [7, 1]), resolution=(2, "0.25"))
        assert release.point[0] in (0.0, 2.0, 4.0, 6.0)
        assert release.point[1] in np.arange(-1, 1.25, 0.25), i


def test_outliers_stay_in_the_box():
    x = np.vstack([gaussian(100, 2), np.full((20, 2), 50.0)])
    assert np.abs(td.boxem(x, epsilon=1, bounds=(-10, 10)).point).max() <= 10


@pytest.mark.parametrize("depth", [None, td.Random(30, axes=False), td.AxisAligned()])
@pytest.mark.parametrize("kind", ["counts", "yes or no", "mostly zero", "tenths"])
def test_columns_of_few_values(kind, depth):
    """Counts, 0/1 columns, columns that are mostly one value, temperatures in tenths: each returns, and is right."""
    rng = np.random.default_rng(0)
    x, resolution, centre = {
        "counts": (rng.poisson(1.7, size=(1000, 2)), 1, (1, 2)),
        "yes or no": (rng.random(size=(400, 3)) < 0.7, 1, (1, 1)),
        "mostly zero": (rng.normal(size=(1000, 2)) * (rng.random(size=(1000, 2)) < 0.4), None, (-0.01, 0.01)),
        "tenths": (np.round(rng.normal(6.5, 0.4, size=(300, 3)), 1), 0.1, (6.2, 6.8)),
    }[kind]
    release = td.boxem(x, epsilon=1, bounds=(-10, 20), resolution=resolution, depth=depth, randomness=td.seeded(1))
    assert ((release.point >= centre[0] - 1e-9) & (release.point <= centre[1] + 1e-9)).all()


@pytest.mark.parametrize("depth", [None, td.Random(30, axes=False)])
def test_copied_columns_and_thin_sets_return(depth):
    """Columns that are copies of each other, and an epsilon that asks for the deepest slivers."""
    column = gaussian(400, 1)
    release = td.boxem(np.repeat(column, 8, axis=1), epsilon=1, bounds=(-10, 10), depth=depth)
    assert np.abs(release.point - np.median(column)).max() < 1
    assert np.abs(td.boxem(gaussian(500, 8), epsilon=10, bounds=(-10, 10), depth=depth).point).max() < 1


@pytest.mark.parametrize("resolution", [1, None])
@pytest.mark.parametrize("depth", [None, td.AxisAligned()])
def test_many_columns(resolution, depth):
    """More columns than a numpy array may have dimensions."""
    x = np.random.default_rng(0).integers(0, 5, size=(60, 70))
    release = td.boxem(x, epsilon=1, bounds=(0, 4), resolution=resolution, depth=depth)
    assert release.point.shape == (70,)


@pytest.mark.slow
def test_an_enormous_epsilon_still_has_an_expected_error():
    release = td.boxem(gaussian(2000, 1), epsilon="1e308", bounds=(-10, 10))
    assert release.to_dict()["expected_error"]["typical"][0] >= 0


@given(
    st.integers(1, 30),
    st.integers(1, 4),
    st.sampled_from([1e-12, 1e-3, 1, 30, 1e5]),
    st.sampled_from([None, 1, 0.5, "1e-9"]),
    st.sampled_from([None, td.AxisAligned(), td.Random(0), td.Random(1, axes=False), td.Random(40), td.Spread(9)]),
    st.integers(0, 3),
)
def test_every_kind_of_data_gives_a_draw(n, d, epsilon, resolution, depth, kind):
    """All equal, collinear, integer and spread-out data; one row and many; tiny and huge epsilons."""
    rng = np.random.default_rng(n * d)
    x = [
        np.full((n, d), 2.0),
        np.outer(np.arange(n), np.ones(d)),
        rng.integers(0, 3, size=(n, d)),
        rng.normal(size=(n, d)),
    ][kind]
    release = td.boxem(x, epsilon=epsilon, bounds=(-2, 3), resolution=resolution, depth=depth)
    assert ((release.point >= -2) & (release.point <= 3)).all()


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ({"epsilon": 0}, "epsilon"),
        ({"epsilon": -1}, "epsilon"),
        ({"epsilon": float("nan")}, "epsilon"),
        ({"epsilon": None}, "epsilon"),
        ({"bounds": (1, 0)}, "bounds"),
        ({"bounds": None}, "bounds"),
        ({"resolution": 1e-30}, "resolution"),
        ({"resolution": 2.0**-60}, "resolution"),
        ({"depth": "random"}, "depth"),
        ({"depth": td.Random}, "depth"),
        ({"depth": td.Random(10**12)}, "directions"),
        ({"depth": td.Spread}, "depth"),
        ({"depth": td.Directions([[1, 2, 3]])}, "vectors"),
        ({"randomness": 7}, "randomness"),
        ({"x": [[1, 2], [3]]}, "x"),
    ],
)
def test_bad_parameters_are_named_with_rule_and_value(arguments, word):
    parameters = {"x": [[1.0, 2.0]], "epsilon": 1, "bounds": (-1, 1), **arguments}
    with pytest.raises(td.ParameterError, match=f"^{word}.* must .*; got "):
        td.boxem(parameters.pop("x"), **parameters)


def test_a_refused_call_uses_no_randomness():
    source, untouched = td.seeded(7), td.seeded(7)
    with pytest.raises(td.ParameterError):
        td.boxem([[1.0]], epsilon=1, bounds=(1, 0), randomness=source)
    assert source.key() == untouched.key()
