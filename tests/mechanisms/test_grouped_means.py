"""`td.mean` and `td.boxem` with `by=`: what comes back, what is refused, what stays secret, what it costs."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest

import tukeydp as td
from support.listening import listen, with_keys
from tukeydp.mechanisms.grouped_ways import enough_blocks, filled_blocks, group_ways

RNG = np.random.default_rng(5)
N, KEYS = 1200, ["A", "B", "C"]
CLINIC = np.array(KEYS)[RNG.integers(0, 3, N)]
X = np.column_stack([RNG.normal(120, 15, N) + 20 * (CLINIC == "B"), RNG.exponential(30, N)])
BOUNDS = ([60, 0], [240, 500])
GIVEN = {"keys": KEYS, "epsilon": 2, "bounds": BOUNDS}


def own(statistic):
    return np.array([statistic(X[key == CLINIC], axis=0) for key in KEYS])


def points(found):
    return np.array([release.point for release in found.values()])


@pytest.mark.parametrize("mechanism", ["auto", "subset", "cube"])
def test_means_of_groups_are_near(mechanism):
    found = td.mean(X, by=CLINIC, mechanism=mechanism, randomness=td.seeded(1), **GIVEN)
    assert list(found) == KEYS
    assert np.abs((points(found) - own(np.mean)) / [15, 30]).max() < 0.5


@pytest.mark.parametrize("call", [td.boxem, lambda *a, **k: td.mean(*a, mechanism="rows", **k)])
def test_centres_of_groups_are_near(call):
    found = call(X, by=CLINIC, randomness=td.seeded(1), **GIVEN)
    assert np.abs((points(found) - own(np.median)) / [15, 30]).max() < 0.5


def test_frames_name_the_column_of_keys():
    frame = pd.DataFrame({"systolic": X[:, 0], "clinic": CLINIC, "cost": X[:, 1]})
    expected = td.mean(X, by=CLINIC, randomness=td.seeded(1), **GIVEN)
    for table in (frame, pl.from_pandas(frame)):
        found = td.mean(table, by="clinic", check=False, randomness=td.seeded(1), **GIVEN)
        assert found.by == "clinic"
        assert found["A"].columns == ("systolic", "cost")
        assert (points(found) == points(expected)).all()


def test_the_result_is_a_dict_with_one_table():
    found = td.mean(X, by=CLINIC, counts=0.1, randomness=td.seeded(1), **GIVEN)
    assert len(found) == 3
    assert dict(found)["B"] is found["B"]
    with pytest.raises(KeyError, match="no group 'D'"):
        found["D"]
    assert found.to_frame().shape == (3, 3)
    assert all(key in str(found) for key in KEYS)
    assert "NOT PRIVATE" in str(found)
    assert "<table>" in found._repr_html_()
    told = json.loads(found.to_json())
    assert told["keys"] == KEYS
    assert told["counts"] == dict(found.counts)
    assert told["groups"]["A"]["point"] == found["A"].point.tolist()


def test_keys_with_markup_are_escaped():
    found = td.mean(X, by=["<b>"] * N, keys=["<b>"], epsilon=1, bounds=BOUNDS, randomness=td.seeded(1))
    assert "<b><b>" not in found._repr_html_().replace("&lt;", "")
    assert "&lt;b&gt;" in found._repr_html_()


@pytest.mark.parametrize("call", [td.mean, td.boxem])
@pytest.mark.parametrize("sizes", ["one group has all rows", "no row has a key"])
def test_nothing_but_the_points_depends_on_who_is_in_which_group(call, sizes):
    """Sizes of groups are secret: everything else is the same, digit by digit."""
    other = np.full(N, "A" if sizes == "one group has all rows" else "nobody")

    def public(by):
        told = call(X, by=by, randomness=td.seeded(1), **GIVEN).to_dict(verbose=False)
        for release in told["groups"].values():
            release["point"] = None
        return told

    assert public(CLINIC) == public(other)


@pytest.mark.parametrize("mechanism", ["subset", "rows", "cube"])
def test_an_empty_group_is_released_like_any_other(mechanism):
    found = td.mean(X, by=CLINIC, mechanism=mechanism, randomness=td.seeded(2), **GIVEN | {"keys": ["A", "nobody"]})
    point = found["nobody"].point
    if mechanism == "cube":
        assert np.isnan(point).all()  # by its noised number of values
        assert found.to_dict()["groups"]["nobody"]["point"] == [None, None]
    else:
        assert ((point >= BOUNDS[0]) & (point <= BOUNDS[1])).all()


def test_missing_cells_and_unlisted_keys_are_left_out_in_silence():
    holes = np.where(RNG.random(X.shape) < 0.3, np.nan, X)
    keys = np.where(RNG.random(N) < 0.3, "elsewhere", CLINIC).astype(object)
    keys[:50] = None
    for mechanism in ("subset", "rows", "cube"):
        found = td.mean(holes, by=keys.tolist(), mechanism=mechanism, randomness=td.seeded(3), **GIVEN)
        assert np.nanmax(np.abs((points(found) - own(np.mean)) / [15, 30])) < 1


@pytest.mark.parametrize(
    ("given", "parameter"),
    [
        ({"keys": None}, "keys"),
        ({"by": None}, "by"),
        ({"by": None, "keys": None, "counts": 0.1}, "by"),
        ({"counts": 1}, "counts"),
        ({"confidence": 0.95, "mechanism": "rows"}, "mechanism"),
        ({"joint": True}, "joint"),
        ({"delta": 1e-6}, "delta"),
        ({"mechanism": "cube", "blocks": 5}, "blocks"),
        ({"bounds": None}, "bounds"),
        ({"blocks": 0}, "blocks"),
    ],
)
def test_what_has_no_meaning_by_group_is_refused(given, parameter):
    with pytest.raises(td.ParameterError) as caught:
        td.mean(X, **{"by": CLINIC, **GIVEN, **given})
    assert caught.value.parameter == parameter


@pytest.mark.parametrize("given", [{"unproven": "mcmc"}, {"bounds": None}, {"keys": None}])
def test_centres_refuse_the_same(given):
    with pytest.raises(td.ParameterError) as caught:
        td.boxem(X, **{"by": CLINIC, **GIVEN, **given})
    assert caught.value.parameter == next(iter(given))


@pytest.mark.parametrize("call", [td.mean, td.boxem])
def test_an_accountant_pays_once_for_all_groups(call):
    account = td.Accountant(3)
    found = call(X, by=CLINIC, counts=Fraction(1, 4), accountant=account, randomness=td.seeded(1), **GIVEN)
    assert found.guarantee.epsilon == 2
    assert all(release.guarantee == found.guarantee for release in found.values())
    assert account.remaining().epsilon == 1
    with pytest.raises(td.BudgetExceeded):
        call(X, by=CLINIC, accountant=account, randomness=td.seeded(1), **GIVEN)
    assert account.remaining().epsilon == 1


def test_auto_takes_the_smallest_predicted_error_and_never_a_way_that_rows_do_not_suffice_for():
    widths = np.array([100.0, 100.0])
    assert set(group_ways(20, Fraction(1), widths, 1.0)) == {"cube"}
    many = group_ways(20_000, Fraction(1), widths, 1.0)
    assert min(many.values(), key=lambda way: way.error(20_000, widths)).mechanism == "subset"
    narrow = np.array([2.0])
    found = group_ways(200, Fraction(1), narrow, 1.0)
    assert min(found.values(), key=lambda way: way.error(200, narrow)).mechanism == "cube"


def test_enough_blocks_get_a_row():
    assert enough_blocks(100, None) is None
    assert enough_blocks(100, 60) is None
    for rows, needed in ((100, 30), (1000, 16), (1000, 400)):
        found = enough_blocks(rows, needed)
        assert filled_blocks(rows, found) >= needed
        assert found == 1 or filled_blocks(rows, found - 1) < needed


@pytest.mark.parametrize("mechanism", ["subset", "rows", "cube", "boxem"])
def test_every_group_and_step_reads_bits_of_its_own(mechanism, monkeypatch):
    """Directions are public and the same for all groups; every other lane is read once, and hangs on secret keys."""
    opened, holes = listen(monkeypatch), np.where(RNG.random(X.shape) < 0.1, np.nan, X)

    def lanes(*names):
        opened.clear()
        with monkeypatch.context() as patch:
            with_keys(patch, names)
            if mechanism == "boxem":
                td.boxem(holes, by=CLINIC, counts=0.1, **GIVEN)
            else:
                td.mean(holes, by=CLINIC, counts=0.1, mechanism=mechanism, **GIVEN)
        return list(opened)

    first, other_public, other_secret = lanes("p", "s", "c"), lanes("q", "s", "c"), lanes("p", "t", "d")
    public = {key for key, _ in first} & {key for key, _ in other_secret}
    secret = [lane for lane in first if lane[0] not in public]
    assert len(secret) == len(set(secret))
    assert len({key for key, _ in secret}) >= 6  # three groups: a draw and a count each
    assert {key for key, _ in secret} <= {key for key, _ in other_public}
    assert len(public) == (0 if mechanism == "cube" else 1)


@pytest.mark.parametrize(
    "call",
    [td.boxem, *(lambda *a, m=m, **k: td.mean(*a, mechanism=m, **k) for m in ("rows", "subset", "cube"))],
)
def test_no_result_of_a_group_whose_rows_cannot_be_told_from_none(call):
    """A misspelt key: its number of rows, released with noise, is beside nothing."""
    given = {**GIVEN, "keys": ["A", "B", "Z"], "counts": "0.2"}
    found = call(X, by=CLINIC, randomness=td.seeded(1), **given)
    assert found.counts["Z"] < 40 < found.counts["A"]
    assert np.isnan(found["Z"].point).all()
    assert np.isfinite(points(found)[:2]).all()
    assert any("is the key spelt as in the data?" in note for note in found.caveats)


def test_results_of_small_groups_are_given_where_no_count_could_be_told_from_none():
    """Which follows from public numbers: 40 rows in each of three groups, noised by 28."""
    given = {**GIVEN, "epsilon": 1, "counts": "0.1"}
    found = td.boxem(X[:120], by=CLINIC[:120], randomness=td.seeded(1), **given)
    assert np.isfinite(points(found)).all()
