"""One row for each person: a function of that person's rows alone; the number of rows stays secret."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tukeydp as td
from tukeydp.data.persons import Ids, identity, one_row_each, person_numbers
from tukeydp.mechanisms.per_person import persons_table

ENDS = (np.array([-2.0, 0.0]), np.array([2.0, 5.0]))


def made_up(rng, persons):
    """Rows of so many persons, in any order, some cells missing or far out."""
    owners = rng.permutation(np.repeat(np.arange(persons), rng.integers(1, 5, persons)))
    cells = rng.normal(scale=3, size=(len(owners), 2))
    cells[rng.random(cells.shape) < 0.2] = np.nan
    cells[rng.random(cells.shape) < 0.05] = np.inf
    return cells, owners


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32), st.sampled_from(["mean", "median"]), st.sampled_from([ENDS, None]))
def test_a_person_that_is_swapped_changes_one_row_to_the_last_digit(seed, statistic, ends):
    rng = np.random.default_rng(seed)
    cells, owners = made_up(rng, 6)
    gone = int(rng.integers(6))
    others = owners != gone
    more = rng.normal(scale=100, size=(int(rng.integers(1, 9)), 2))
    theirs = np.concatenate([more, cells[others]]), np.concatenate([np.full(len(more), gone), owners[others]])
    order = rng.permutation(len(theirs[1]))
    ours = one_row_each(cells, owners, 6, ends, [statistic] * cells.shape[1])
    swapped = one_row_each(theirs[0][order], theirs[1][order], 6, ends, [statistic] * cells.shape[1])
    same = np.arange(6) != gone
    np.testing.assert_array_equal(ours[same], swapped[same])


def test_sums_in_the_order_of_the_file_would_differ():
    """The control: floats do not add up to the same in every order."""
    rng = np.random.default_rng(1)
    values = rng.normal(size=400)
    order = rng.permutation(400)
    assert np.bincount(np.zeros(400, int), values)[0] != np.bincount(np.zeros(400, int), values[order])[0]


def test_rows_are_those_of_a_brute_force_account():
    rng = np.random.default_rng(2)
    cells, owners = made_up(rng, 40)
    cells[np.isinf(cells)] = 1.0
    frame = pd.DataFrame(np.clip(cells, *ENDS)).groupby(owners)
    np.testing.assert_allclose(
        one_row_each(cells, owners, 40, ENDS, ["mean"] * cells.shape[1]), frame.mean(), rtol=1e-12
    )
    np.testing.assert_allclose(
        one_row_each(cells, owners, 40, ENDS, ["median"] * cells.shape[1]), frame.median(), rtol=1e-12
    )


def test_cells_are_clipped_before_they_are_averaged():
    found = one_row_each(np.array([[1e9], [0.0]]), np.array([0, 0]), 1, (np.array([0.0]), np.array([4.0])), ["mean"])
    assert found.tolist() == [[2.0]]


def test_ids_are_told_apart_to_the_last_digit():
    assert identity(2**60) != identity(2**60 + 1)
    assert identity(np.int64(7)) == identity(7.0) == 7
    assert identity("9007199254740993") == 9007199254740993 != identity("9007199254740992")
    assert identity("1" * 5000) == "1" * 5000  # longer than Python makes numbers of
    assert identity("1e999") == "1e999"
    assert identity("007") == identity("7.0") == identity(7)
    assert identity("TRUE") == identity(True)
    assert identity("NA") is identity(np.datetime64("2020-01-01")) is None
    assert person_numbers([" a", "b", None, "a", float("nan"), "", b"b"]).tolist() == [0, 1, -1, 0, -1, -1, 1]
    assert Ids().as_codes(["12345678901234567890", "12345678901234567891", "", "x"]).tolist()[:2] == [0.0, 1.0]


@pytest.fixture(scope="module")
def visits():
    rng = np.random.default_rng(3)
    ids = rng.permutation(np.repeat(np.arange(500), rng.integers(1, 4, 500)))
    return pd.DataFrame({"patient": [f"P{i}" for i in ids], "pulse": rng.normal(70, 10, len(ids)), "age": 40.0})


CALLS = {
    "mean": lambda x, **k: td.mean(x, bounds=([30, 0], [200, 120]), **k),
    "boxem": lambda x, **k: td.boxem(x, bounds=([30, 0], [200, 120]), **k),
    "rem": lambda x, **k: td.rem(x, delta=1e-6, **k),
    "without bounds": lambda x, **k: td.mean(x, delta=1e-6, **k),
}


@pytest.mark.parametrize("call", CALLS)
def test_nothing_but_the_point_depends_on_how_many_rows_there_are(visits, call):
    """As many persons, another number of rows: everything public is the same."""
    fewer = visits.drop_duplicates("patient")
    assert len(fewer) < len(visits)

    def public(x):
        found = CALLS[call](x, person="patient", epsilon=3, randomness=td.seeded(1))
        told = found.to_dict(verbose=False)
        return {name: value for name, value in told.items() if name not in ("point", "released")}

    told = public(visits)
    assert told == public(fewer)
    assert told["n"] == 500
    assert "one person swapped" in told["guarantee"]["neighbours"]


def test_a_summary_counts_persons(visits):
    asked = {"epsilon": 3, "bounds": ([30, 0], [200, 120]), "confidence": None, "randomness": td.seeded(1)}
    found = td.summary(visits, person="patient", **asked)
    assert found.n == 500
    assert found.guarantee.neighbours == "swap-person"
    assert "500 persons" in str(found)


def test_the_release_is_that_of_the_table_of_persons(visits):
    table, _ = persons_table(visits, "patient", (0, 200), "median")
    expected = td.boxem(table, epsilon=1, bounds=(0, 200), randomness=td.seeded(4))
    found = td.boxem(visits, person="patient", per_person="median", epsilon=1, bounds=(0, 200), randomness=td.seeded(4))
    assert (found.point == expected.point).all()
    assert found.guarantee.epsilon == 1
    assert found.guarantee != expected.guarantee  # about persons, not rows


def test_guarantees_about_persons_need_an_accountant_of_their_kind(visits):
    rows, persons = td.Accountant(2), td.Accountant(2, neighbours="swap-person")
    asked = {"person": "patient", "epsilon": 1, "bounds": (0, 200)}
    with pytest.raises(td.ParameterError, match="neighbours must be 'swap'"):
        td.mean(visits, accountant=rows, **asked)
    td.mean(visits, accountant=persons, **asked)
    assert (rows.remaining().epsilon, persons.remaining().epsilon) == (2, 1)


NAMELESS = pd.DataFrame({"pulse": [70.0, 80.0, 90.0]})


@pytest.mark.parametrize(
    ("given", "parameter"),
    [
        ({"person": "nobody"}, "person"),
        ({"person": [1, 2]}, "person"),
        ({"person": 5}, "person"),
        ({"person": "patient", "per_person": "largest"}, "per_person"),
        ({"per_person": "median"}, "per_person"),
        ({"person": "patient", "by": "patient", "keys": ["P1"]}, "by"),
    ],
)
@pytest.mark.parametrize("call", [td.mean, td.summary])
def test_mistakes_are_told(visits, call, given, parameter):
    with pytest.raises(td.ParameterError) as caught:
        call(visits if given.get("person") == "patient" else NAMELESS, epsilon=1, bounds=(0, 200), **given)
    assert caught.value.parameter == parameter


def test_a_table_in_which_nobody_has_an_id_is_refused():
    with pytest.raises(td.ParameterError, match="person must have an id in at least one row"):
        td.mean([[1.0], [2.0]], person=[None, ""], epsilon=1, bounds=(0, 2))
