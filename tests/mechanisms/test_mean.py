"""td.mean and td.cube: parameters first, public numbers only, silence about the data, exact guarantees."""

from __future__ import annotations

import itertools
import math
import warnings
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import tukeydp as td
from tukeydp.data.tables import Table
from tukeydp.mechanisms.cube import checked_rows
from tukeydp.mechanisms.mean_ways import MECHANISMS

BOUNDED = [name for name in MECHANISMS if name != "auto"]


def rows(n, d, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


def run(x, mechanism, **options):
    """One seeded release by a mechanism, "rem" being the one without bounds."""
    if mechanism == "rem":
        return td.mean(x, **{"epsilon": 1, "delta": 1e-6, "randomness": td.seeded(1), **options})
    return td.mean(
        x, **{"epsilon": 1, "bounds": (-5, 5), "mechanism": mechanism, "randomness": td.seeded(1), **options}
    )


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"epsilon": -1}, "epsilon must be > 0; got -1"),
        ({"epsilon": 1e-10}, "epsilon must be from 1e-09 to 1000000 for means; got 1e-10"),
        ({"epsilon": 1e7}, "epsilon must be from 1e-09 to 1000000 for means; got 10000000"),
        ({"epsilon": "much"}, "epsilon must be a finite number"),
        ({"bounds": None}, r"bounds must be given: bounds=\(lower, upper\), .* or delta= instead; got neither"),
        ({"bounds": None, "mechanism": "cube"}, "bounds must be given with mechanism='cube'"),
        ({"bounds": None, "delta": 2}, "delta must be < 1; got 2"),
        ({"bounds": None, "delta": 1e-6, "partitions": 2}, "partitions must be left out without bounds; got 2"),
        ({"bounds": None, "delta": 1e-6, "sd": 1}, "sd must be left out without bounds; got 1"),
        ({"bounds": None, "delta": 1e-6, "blocks": 31}, "blocks must be an integer from 1 to 30; got 31"),
        ({"delta": 0}, "delta must be > 0; got 0"),
        ({"bounds": (1, 0)}, "bounds must have lower < upper"),
        ({"bounds": (1, 2, 3)}, "bounds must be a tuple"),
        ({"bounds": ([0, 0, 0], 1)}, "bounds must be a number or one number for each of the 2 columns"),
        ({"mechanism": "laplace"}, "mechanism must be auto, subset, two-step or cube; got 'laplace'"),
        ({"mechanism": None}, "mechanism must be auto, subset, two-step or cube; got None"),
        ({"bounds": None, "delta": 1e-6, "mechanism": 3}, "mechanism must be auto, .* or rem; got 3"),
        ({"blocks": 0}, "blocks must be an integer from 1 to 30; got 0"),
        ({"blocks": 31}, "blocks must be an integer from 1 to 30; got 31"),
        ({"blocks": 3.0}, "blocks must be an integer from 1 to 30; got 3.0"),
        ({"blocks": True}, "blocks must be an integer from 1 to 30; got True"),
        ({"partitions": 0}, "partitions must be an integer from 1 to 1000; got 0"),
        ({"mechanism": "cube", "blocks": 3}, "blocks must be left out with mechanism='cube'; got 3"),
        ({"mechanism": "two-step", "partitions": 2}, "partitions must be left out with mechanism='two-step'; got 2"),
        ({"sd": 0}, "sd must be > 0 and at most upper - lower; got 0"),
        ({"sd": 11}, "sd must be > 0 and at most upper - lower; got 11"),
        ({"sd": [1, 2, 3]}, "sd must be a number or one number for each of the 2 columns"),
        ({"sd": 1e-290, "bounds": (-1e300, 1e300)}, "sd must be at least upper - lower over 1e.300; got 1e-290"),
        ({"randomness": 7}, "randomness must be None or td.seeded"),
    ],
)
def test_parameters_are_checked_by_name_rule_and_value(wrong, message):
    """On a table of nothing but missing cells: no cell was needed to tell."""
    with pytest.raises(td.ParameterError, match=message):
        td.mean(np.full((30, 2), np.nan), **{"epsilon": 1, "bounds": (-5, 5), **wrong})


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"epsilon": 0}, "epsilon must be > 0; got 0"),
        ({"fill": 7}, "fill must lie between the bounds; got 7"),
        ({"fill": [1, 2, 3]}, "fill must be a number or one number for each of the 2 columns"),
        ({"fill": math.nan}, "fill must be a finite number"),
        ({"bounds": None}, "bounds must be given"),
    ],
)
def test_cubes_parameters_are_checked(wrong, message):
    with pytest.raises(td.ParameterError, match=message):
        td.cube(np.full((30, 2), np.nan), **{"epsilon": 1, "bounds": (-5, 5), **wrong})


def test_more_rows_than_sums_have_room_for_are_refused():
    many = Table(np.broadcast_to(0.0, (2**31, 1)))
    with pytest.raises(td.ParameterError, match="x must have fewer than 2147483648 rows; got 2147483648"):
        checked_rows(many)
    assert checked_rows(Table(np.broadcast_to(0.0, (2**31 - 1, 1)))).n == 2**31 - 1


@pytest.mark.parametrize("mechanism", [*MECHANISMS, "rem"])
def test_seeds_reproduce_and_the_system_does_not(mechanism):
    x = rows(600, 2)
    first, second = (run(x, mechanism) for _ in range(2))
    assert first.to_dict() == second.to_dict()
    assert not first.private
    fresh = [run(x, mechanism, randomness=None) for _ in range(3)]
    assert all(r.private for r in fresh)
    points = {None if r.point is None else tuple(r.point.tolist()) for r in fresh}
    assert len(points) > 1


@pytest.mark.parametrize("mechanism", [*MECHANISMS, "rem"])
def test_the_table_is_never_modified(mechanism):
    x = rows(300, 2)
    x[::7, 0] = np.nan
    for layout in (x, np.asfortranarray(x)):
        before = layout.tobytes()
        layout.flags.writeable = False
        run(layout, mechanism)
        assert layout.tobytes() == before


@pytest.mark.parametrize("mechanism", [*MECHANISMS, "rem"])
def test_frames_lists_and_arrays_are_one_table(mechanism):
    x = rows(300, 2)
    frame = pd.DataFrame(x, columns=["a", "b"])
    named = run(frame, mechanism, check=False)
    assert named.columns == ("a", "b")
    point = named.point.tolist() if named.released else None
    for other in (run(x, mechanism), run(x.tolist(), mechanism, check=False)):
        assert (other.point.tolist() if other.released else None) == point
    one = run(x[:, 0], mechanism)
    assert one.d == 1
    assert not one.released or one.point.shape == (1,)


def wild_tables(n, d):
    x = rows(n, d)
    sign = np.where(np.arange(n)[:, np.newaxis] % 2, 1.0, -1.0)
    tables = {
        "some missing": np.where(rows(n, d, 1) > 0.5, np.nan, x),
        "a column missing": np.where(np.arange(d) == 0, np.nan, x),
        "all missing": np.full((n, d), np.nan),
        "infinite": sign * math.inf * np.ones(d),
        "equal": np.ones((n, d)),
        "huge": sign * 1.7e308 * np.ones(d),
        "one huge": np.where(np.arange(n)[:, np.newaxis] == 0, 1.7e308, x),
        "tiny": sign * 5e-324 * np.ones(d),
        "yes or no": (x > 0).astype(float),
    }
    return list(tables.values())[:: 1 if d < 30 else 3]  # each takes a second in thirty columns


@pytest.mark.parametrize(
    ("n", "d", "mechanism"),
    [
        *itertools.product([1, 2], [1], [*MECHANISMS, "rem", "rem on one block"]),
        *itertools.product([3, 300], [2], [*MECHANISMS, "rem", "rem on one block"]),
        *itertools.product([40], [30], MECHANISMS),  # rem takes minutes in thirty columns
    ],
)
def test_no_cell_raises_warns_or_prints(n, d, mechanism, capsys):
    """Not even where the caller has turned numpy's warnings into errors."""
    for x in wild_tables(n, d):
        with np.errstate(all="raise"), warnings.catch_warnings():
            warnings.simplefilter("error")
            r = run(x, "rem", blocks=1) if mechanism == "rem on one block" else run(x, mechanism)
        if r.released:
            assert r.point.shape == (d,)
            assert np.isfinite(r.point).all()
            assert "rem" in mechanism or (np.abs(r.point) <= 5).all()
    printed = capsys.readouterr()
    assert printed.out + printed.err == ""


def test_text_cells_are_read_one_by_one():
    x = [["1.5", "n/a"], ["many", None], [2, "1e3"]] * 40
    numbers = [[1.5, np.nan], [np.nan, np.nan], [2, 1000]] * 40
    for mechanism in BOUNDED:
        assert run(x, mechanism).point.tolist() == run(numbers, mechanism).point.tolist()


@pytest.mark.parametrize("bounds", [(-1e300, 1e300), (0, 1e-290), ([-1, 1e6], [1e300, 1000001])])
@pytest.mark.parametrize("epsilon", ["1e-9", "1e-6", 1, "1e4", "1e6"])
def test_extreme_bounds_and_epsilons_end_within_the_bounds(bounds, epsilon):
    for mechanism in BOUNDED:
        for sd in (None, "1e-291"):
            if sd is not None and bounds != (0, 1e-290):
                continue
            with np.errstate(all="raise"):
                point = run(rows(60, 2), mechanism, bounds=bounds, epsilon=epsilon, sd=sd).point
            assert (np.array(bounds[0]) <= point).all()
            assert (point <= np.array(bounds[1])).all()


# The slow ones rehearse for seconds.
SHAPES = [pytest.param((40, 30), marks=pytest.mark.slow), (300, 2), (3000, 2), (150, 4), (500, 1)]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("options", [{}, {"sd": 1}, {"mechanism": "subset"}, {"mechanism": "two-step"}])
def test_all_but_the_point_follows_from_public_numbers(shape, options):
    """Tables of one shape, as unlike as can be: everything else on the release is the same."""
    tables = [rows(*shape), *wild_tables(*shape)]
    said = []
    for x in tables:
        everything = td.mean(x, epsilon=1, bounds=(-5, 5), randomness=td.seeded(1), **options).to_dict()
        assert len(everything.pop("point")) == shape[1]
        said.append(everything)
    assert all(each == said[0] for each in said)


def test_the_choice_changes_with_public_numbers():
    choices = {
        run(rows(n, d), "auto", bounds=bounds).mechanism
        for n, d, bounds in [(100, 1, (0, 1)), (300, 2, (-50, 50)), (4000, 2, (-50, 50)), (60, 13, (-5, 5))]
    }
    assert choices >= {"cube", "two-step"}


@pytest.mark.parametrize("epsilon", ["0.1", "1/3", 1, 0.3])
@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("sd", [None, 1])
def test_guarantees_are_exact_and_their_parts_add_up(epsilon, mechanism, sd):
    if epsilon == "1/3":
        epsilon = Fraction(1, 3)
    r = run(rows(800, 2), mechanism, epsilon=epsilon, sd=sd)
    exact = epsilon if isinstance(epsilon, Fraction) else Fraction(str(epsilon))
    assert r.guarantee == td.PureDP(exact)
    parts = [part for name, part in r.settings.items() if name.startswith("epsilon")]
    assert all(isinstance(part, Fraction) and part > 0 for part in parts)
    assert sum(parts) == (0 if r.mechanism == "subset" else exact)
    if r.mechanism == "two-step":
        assert ("epsilon_scale" in r.settings or "epsilon_spread" in r.settings) == (sd is None)
    assert r.mechanism == mechanism or mechanism == "auto"


def test_without_bounds_the_guarantee_has_a_delta():
    r = run(rows(2000, 2), "rem")
    assert r.released
    assert r.guarantee == td.ApproxDP(1, Fraction(1, 10**6))
    assert (r.mechanism, r.n, r.settings["blocks"]) == ("rem", 2000, 304)
    few = run(rows(20, 2), "rem")
    assert not few.released
    assert few.guarantee == r.guarantee
    assert few.n == 20


def test_blocks_and_partitions_are_used_as_given():
    x = rows(300, 2)
    for asked in ({"blocks": 20, "partitions": 3}, {"blocks": 300}, {"partitions": 2}):
        r = run(x, "auto", **asked)
        assert r.mechanism == "subset"
        assert asked.items() <= dict(r.settings).items()
    too_few = run(rows(20, 2), "subset", epsilon="0.01", partitions=3)
    assert dict(too_few.settings) == {"blocks": 20, "partitions": 3}
    assert run(x, "rem", blocks=250).settings["blocks"] == 250


def test_cube_with_a_public_fill_has_all_of_epsilon_for_the_mean():
    x = rows(300, 2)
    assert dict(td.cube(x, epsilon=1, bounds=(-5, 5), fill=0).settings) == {"epsilon_mean": 1}
    assert dict(td.cube(x, epsilon=1, bounds=(-5, 5)).settings) == {
        "epsilon_missing": Fraction(1, 10),
        "epsilon_mean": Fraction(9, 10),
    }


@pytest.mark.parametrize("mechanism", BOUNDED)
def test_means_are_near_and_say_which_estimand_they_are(mechanism):
    """The median of nine errors below 0.05 standard deviations, of exponential columns whose median is 0.3 off."""
    x = np.random.default_rng(1).exponential(size=(3000, 2)) * [1, 100]
    releases = [run(x, mechanism, bounds=([0, 0], [40, 4000]), randomness=td.seeded(s)) for s in range(9)]
    errors = np.abs([(r.point - x.mean(axis=0)) / x.std(axis=0) for r in releases])
    assert np.median(errors) < 0.05
    assert all("arithmetic mean" in r.caveats[0] for r in releases)
