"""`td.counts`: the law of its noise, what one record moves, persons, groups, containers, and intervals that cover."""

from __future__ import annotations

import itertools
import json
import math
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import tukeydp as td
from support.charges import charge
from support.fit import g_test
from tukeydp.audit.oracles.laws import laplace
from tukeydp.data.categories import OTHER
from tukeydp.results.count_intervals import margin
from tukeydp.trusted.account import PureDP, rho_of_cells
from tukeydp.trusted.prices import COUNT
from tukeydp.trusted.release import Misuse, rehearsed_charge
from tukeydp.trusted.steps import CategoryCounts, noised_cells

FALSE_ALARM = 1e-6
SEX = ["f", "m"]


def kernel(groups=1, sizes=(2,), rest=True):
    places = tuple(range(len(sizes)))
    return CategoryCounts(len(sizes), places, tuple(sizes), (None,) * len(sizes), groups, rest)


def counted(one, rows):
    return one(np.array(rows, dtype=np.float64).reshape(len(rows), -1), (0,)).tolist()


# What one record moves: all tiny tables and all their neighbours.

CODES = (0.0, 1.0, math.nan, 7.0)
GROUPS = (0.0, 1.0, math.nan)


def loss(one, relation, epsilon=Fraction(1), shrink=Fraction(1)):
    """The largest log ratio between neighbours of three rows: noise of each moved cell over its scale."""
    part = PureDP(epsilon, neighbours=relation)
    scale = shrink * rehearsed_charge(part, bytes(32)).for_any_law().scale(COUNT, one.length)
    kinds = list(itertools.product(CODES, GROUPS)) if one.groups > 1 else [(code,) for code in CODES]
    tables = itertools.product(kinds, repeat=2)
    worst = Fraction(0)
    for rest in tables:
        with_each = [counted(one, [*rest, kind]) for kind in kinds]
        without = counted(one, rest)
        others = with_each if relation == "swap" else [without]
        for mine in with_each:
            for theirs in others:
                moved = sum(abs(a - b) for a, b in zip(mine, theirs, strict=True))
                worst = max(worst, moved / scale)
    return worst


@pytest.mark.parametrize("relation", ["swap", "add-remove"])
@pytest.mark.parametrize(
    "one", [kernel(), kernel(groups=2), kernel(groups=2, rest=False), kernel(sizes=(1,), rest=False)], ids=str
)
def test_all_cells_together_lose_epsilon_and_no_more(one, relation):
    assert loss(one, relation) == 1
    # The control: with noise of half the scale it would be twice as much.
    assert loss(one, relation, shrink=Fraction(1, 2)) == 2


def test_a_record_is_in_one_cell_of_a_cross_table():
    one = kernel(sizes=(2, 3))
    for codes in itertools.product(CODES, repeat=2):
        found = counted(one, [codes])
        assert sum(found) == 1
        inside = codes[0] in (0, 1) and codes[1] in (0, 1, 2)
        assert found.index(1) == (3 * codes[0] + codes[1] if inside else 6)


def test_intervals_have_their_lower_ends_and_the_last_one_both():
    one = CategoryCounts(1, (0,), (2,), ((0.0, 1.0, 2.0),))
    for value, cell in {
        0.0: 0,
        0.5: 0,
        1.0: 1,
        2.0: 1,
        -0.1: 2,
        2.1: 2,
        math.nan: 2,
        math.inf: 2,
        -math.inf: 2,
    }.items():
        assert counted(one, [value]).index(1) == cell


def test_concentrated_privacy_is_that_of_the_cells_that_move():
    """Noise at distance r scales has rho r^2 / 2; a swap moves two cells, by half of epsilon each."""
    epsilon = Fraction(3, 2)
    assert rho_of_cells(epsilon, "swap", 2) == 2 * (epsilon / 2) ** 2 / 2
    assert rho_of_cells(epsilon, "swap", 1) == epsilon**2 / 2
    assert rho_of_cells(epsilon, "add-remove", 9) == epsilon**2 / 2


def test_a_charge_for_other_neighbours_is_refused():
    one = kernel()
    with pytest.raises(Misuse, match="other neighbours"):
        noised_cells(one, [1, 2, 3], charge(1, neighbours="add-remove"), "swap")
    paid = charge(1)
    noised_cells(one, [1, 2, 3], paid, "swap")
    with pytest.raises(Misuse, match="once"):
        noised_cells(one, [1, 2, 3], paid, "swap")


# The law of the noise.


@pytest.mark.parametrize(
    ("asked", "scale"),
    [
        ({"categories": SEX}, Fraction(4)),
        ({"categories": ["f"]}, Fraction(2)),
        ({"categories": SEX, "neighbours": "add-remove"}, Fraction(2)),
    ],
)
def test_the_noise_is_discrete_laplace_of_the_stated_scale(asked, scale):
    """4,000 releases with epsilon 1/2: false alarms once in a million; a scale of a fifth more is noticed."""
    cells = np.array(["f"] * 5 + ["m"] * 3)
    randomness = td.seeded(11)
    given = {"epsilon": "0.5", "confidence": None, "randomness": randomness, **asked}
    drawn = np.array([td.counts(cells, **given).tables[0].noised[0][0] - 5 for _ in range(4000)])
    reach = 12
    seen = np.bincount(np.clip(drawn, -reach, reach) + reach, minlength=2 * reach + 1)

    def chances(one):
        law = laplace(one, 400)
        return np.array(
            [sum(p for z, p in law.items() if max(-reach, min(reach, z)) == k) for k in range(-reach, 1 + reach)]
        )

    assert g_test(seen, chances(scale)) > FALSE_ALARM
    assert g_test(seen, chances(scale * Fraction(6, 5))) < FALSE_ALARM


def test_every_cell_has_noise_of_its_own():
    found = td.counts(["a"] * 4, categories=list("abcdefgh"), epsilon="0.01", randomness=td.seeded(1))
    assert len(set(found.tables[0].noised[0])) > 6
    assert all(type(number) is int for number in found.values())


# Persons, groups, several columns.


def visits():
    rng = np.random.default_rng(5)
    ids = rng.integers(0, 400, 900)
    return pd.DataFrame(
        {
            "id": ids,
            "sex": np.where(ids % 3 == 0, "f", "m"),
            "arm": np.where(ids % 2 == 0, "A", "B"),
            "smoker": rng.choice(["yes", "no"], 900),
            "age": 20.0 + ids % 60,
        }
    )


def exact(**given):
    """With so much epsilon that noise is 0."""
    return dict(td.counts(epsilon=1000, randomness=td.seeded(1), **given))


def test_persons_count_once_and_those_whose_rows_disagree_are_others():
    rows = pd.DataFrame({"id": [1, 1, 2, 2, 3, None], "sex": ["f", "f", "f", "m", None, "m"]})
    assert exact(x=rows, column="sex", categories=SEX, person="id") == {"f": 1, "m": 0, OTHER: 2}
    assert exact(x=rows, column="sex", categories=SEX) == {"f": 3, "m": 2, OTHER: 1}
    ages = pd.DataFrame({"id": [1, 1, 2], "age": [10.0, 40.0, 50.0]})
    edges = [0, 20, 60]
    assert exact(x=ages, column="age", edges=edges, person="id") == {"[0, 20)": 0, "[20, 60]": 2, OTHER: 0}
    smallest = exact(x=ages, column="age", edges=edges, person="id", per_person="min")
    assert smallest == {"[0, 20)": 1, "[20, 60]": 1, OTHER: 0}


def test_groups_persons_and_secret_sizes_at_once():
    table = visits()
    first = table.drop_duplicates("id")
    found = td.counts(
        table, "sex", categories=SEX, by="arm", keys=["A", "B"], person="id", neighbours="add-remove", epsilon=1000
    )
    expected = {(a, s): int(((first.arm == a) & (first.sex == s)).sum()) for a in "AB" for s in SEX}
    assert {key: found[key] for key in expected} == expected
    assert found.n is None
    assert found.guarantee.neighbours == "add-remove-person"
    assert "a secret number of persons" in str(found)
    assert found.guarantee.epsilon == 1000


def test_several_columns_divide_epsilon_and_say_so():
    found = td.counts(visits(), categories={"sex": SEX, "smoker": ["yes", "no"]}, epsilon=1, randomness=td.seeded(2))
    assert found.guarantee.epsilon == 1
    assert [table.scale for table in found.tables] == [4, 4]
    assert "0.5 for each" in str(found)
    assert set(found) == {(c, v) for c, vs in (("sex", SEX), ("smoker", ["yes", "no"])) for v in (*vs, OTHER)}


def test_a_cross_table_has_all_combinations():
    table = visits()
    found = exact(x=table, column=("sex", "smoker"), categories={"sex": SEX, "smoker": ["yes", "no"]})
    assert found["f", "yes"] == int(((table.sex == "f") & (table.smoker == "yes")).sum())
    assert found[OTHER] == 0
    mixed = exact(x=table, column=("sex", "age"), categories={"sex": ["f"]}, edges={"age": [0, 50, 100]})
    assert mixed["f", "[0, 50)"] == int(((table.sex == "f") & (table.age < 50)).sum())
    assert mixed[OTHER] == int((table.sex == "m").sum())


def test_an_accountant_pays_before_and_for_persons():
    account = td.Accountant(epsilon=2, neighbours="swap-person")
    found = td.counts(visits(), "sex", categories=SEX, epsilon=1, person="id", accountant=account)
    assert account.remaining().epsilon == 1
    assert found.guarantee.neighbours == "swap-person"
    with pytest.raises(td.BudgetExceeded):
        td.counts(visits(), "sex", categories=SEX, epsilon=2, person="id", accountant=account)


# Containers.


def containers(tmp_path):
    frame = visits()[["sex", "arm", "smoker", "age"]]
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_parquet(tmp_path / "t.parquet")
    polars = pl.from_pandas(frame)
    yield "pandas", frame
    yield "polars", polars
    yield "polars, lazy", polars.lazy()
    yield "arrow", pa.Table.from_pandas(frame)
    yield "csv", td.read(tmp_path / "t.csv")
    yield "parquet", td.read(tmp_path / "t.parquet", ["age"])
    yield "path", str(tmp_path / "t.csv")
    yield "path of Parquet", tmp_path / "t.parquet"
    duckdb = pytest.importorskip("duckdb")
    yield "duckdb", duckdb.from_parquet(str(tmp_path / "t.parquet"))


QUESTIONS = {
    "one": {"column": "sex", "categories": SEX},
    "histogram": {"column": "age", "edges": [0, 40, 60, 100]},
    "cross": {"column": ("sex", "age"), "categories": {"sex": SEX}, "edges": {"age": [0, 50, 100]}},
    "several": {"categories": {"sex": SEX, "smoker": ["yes"]}, "edges": {"age": [0, 50]}},
    "groups": {"column": "sex", "categories": SEX, "by": "arm", "keys": ["A", "B"]},
    "secret": {"column": "sex", "categories": SEX, "by": "arm", "keys": ["B"], "neighbours": "add-remove"},
}


@pytest.mark.parametrize("asked", QUESTIONS.values(), ids=QUESTIONS)
def test_all_containers_give_the_same_release_for_one_seed(tmp_path, asked):
    found = {
        name: td.counts(x, **asked, epsilon=1, randomness=td.seeded(3)).to_json() for name, x in containers(tmp_path)
    }
    assert len(set(found.values())) == 1, found


def test_persons_by_the_path_of_a_file(tmp_path):
    visits().to_parquet(tmp_path / "v.parquet")
    visits().to_csv(tmp_path / "v.csv", index=False)
    given = {"column": "sex", "categories": SEX, "person": "id", "epsilon": 1}
    forms = (visits(), tmp_path / "v.parquet", tmp_path / "v.csv")
    found = [td.counts(x, **given, randomness=td.seeded(1)).to_json() for x in forms]
    assert len(set(found)) == 1


def test_lazy_frames_take_names_and_no_persons():
    lazy = pl.LazyFrame({"a": ["x"], "b": ["y"]})
    for given in ({"by": ["A"], "keys": ["A"]}, {"by": "c", "keys": ["A"]}, {"person": "b"}, {"person": ["b"]}):
        with pytest.raises(td.ParameterError):
            td.counts(lazy, "a", categories=["x"], epsilon=1, **given)
    assert td.counts(lazy.head(0), "a", categories=["x"], epsilon=1000, neighbours="add-remove")["x"] == 0


def test_arrays_and_lists_give_the_same_release():
    codes = np.random.default_rng(1).integers(0, 3, 50)
    given = {"categories": [0, 1], "epsilon": 1}
    forms = [
        (codes, None),
        (codes.tolist(), None),
        (pd.Series(codes), None),
        (pl.Series(codes), None),
        (pa.array(codes), None),
        (np.column_stack([codes, codes]), 1),
        ([[0, code] for code in codes.tolist()], 1),
        ([[0, str(code)] for code in codes.tolist()], 1),
    ]
    found = [dict(td.counts(x, column, **given, randomness=td.seeded(3))) for x, column in forms]
    assert all(one == found[0] for one in found)


def test_declared_categories_are_taken_only_where_asked_for():
    sex = pd.Categorical(["f", "m", "f"], categories=["m", "f", "x"])
    frame = pd.DataFrame({"sex": sex})
    found = td.counts(frame, "sex", categories="declared", epsilon=1)
    assert list(found) == ["m", "f", "x", OTHER]
    enum = pl.DataFrame({"sex": pl.Series(["f"], dtype=pl.Enum(["m", "f"]))})
    assert list(td.counts(enum, "sex", categories="declared", epsilon=1)) == ["m", "f", OTHER]
    lazy = td.counts(enum.lazy(), "sex", categories="declared", epsilon=1)
    assert list(lazy) == ["m", "f", OTHER]
    read_off = pl.DataFrame({"sex": pl.Series(["f"], dtype=pl.Categorical)})
    with pytest.raises(td.ParameterError, match="categories must be listed"):
        td.counts(read_off, "sex", categories="declared", epsilon=1)
    with pytest.raises(td.ParameterError, match="categories must be given"):
        td.counts(frame, "sex", epsilon=1)
    for undeclared, column in (
        (pd.DataFrame({"sex": ["f"]}), "sex"),
        (pl.DataFrame({"sex": ["f"]}), "sex"),
        (["f"], None),
    ):
        with pytest.raises(td.ParameterError, match="categories must be listed"):
            td.counts(undeclared, column, categories="declared", epsilon=1)


# No cell raises, and none but the numbers tells anything.


class Odd:
    def __str__(self):
        raise ValueError("secret")

    __hash__ = None


ODD_CELLS = [None, math.nan, Odd(), [1], {}, b"\xff", 10**400, "", " f ", pd.NaT, np.datetime64("2020-01-01"), True, 1j]


@pytest.mark.parametrize("cell", ODD_CELLS, ids=range(len(ODD_CELLS)))
@pytest.mark.parametrize("neighbours", ["swap", "add-remove"])
def test_no_cell_raises_or_warns(cell, neighbours, recwarn):
    cells = ["f", "m", cell]
    for x in (cells, np.array(cells, dtype=object), pd.Series(cells, dtype=object)):
        found = td.counts(x, categories=SEX, epsilon=1000, neighbours=neighbours)
        assert sum(found.values()) == 3
        assert found[OTHER] == (0 if cell == " f " else 1)
        assert sum(td.counts(x, edges=[0, 1], epsilon=1000, neighbours=neighbours).values()) == 3
    assert not recwarn.list


def test_nothing_tells_a_secret_size():
    """But for released numbers: two tables whose draws come out alike give the same texts, also an empty one."""
    shown = set()
    for n in (0, 1, 2):
        found = td.counts(
            np.array(["f"] * n, dtype=object), categories=SEX, epsilon=1000, neighbours="add-remove", rows=5
        )
        told = json.loads(found.to_json())
        told.pop("lines")
        shown.add(json.dumps(told))
    assert len(shown) == 1


def test_under_a_swap_an_empty_table_is_refused():
    with pytest.raises(td.ParameterError, match="at least one row"):
        td.counts([], categories=SEX, epsilon=1)


WRONG = {
    "categories must be given": {},
    "both": {"column": "a", "categories": ["x"], "edges": [0, 1]},
    "different from each other": {"column": "a", "categories": ["x", "x"]},
    "name of the last cell": {"column": "a", "categories": [OTHER]},
    "ascending": {"column": "a", "edges": [1, 0]},
    "columns that are counted; got 'b'": {"column": "a", "categories": {"b": ["x"]}},
    "dict with the names": {"column": ("a", "b"), "categories": ["x"]},
    "at most 10000 cells": {"column": ("a", "b"), "edges": {"a": list(range(102)), "b": list(range(102))}},
    "last cell says": {"column": "a", "categories": ["x"], "check": True},
    "by must be given": {"column": "a", "categories": ["x"], "keys": ["A"]},
    "keys must be given": {"column": "a", "categories": ["x"], "by": "b"},
    "by must not be one": {"column": "a", "categories": ["x"], "by": "a", "keys": ["A"]},
    "per_person must be left out": {"column": "a", "categories": ["x"], "per_person": "median"},
    "joint must be": {"column": "a", "categories": ["x"], "joint": 1},
    "confidence must be": {"column": "a", "categories": ["x"], "confidence": 2},
    "column must name a column": {"column": "z", "categories": ["x"]},
    "rows must be left out": {"column": "a", "categories": ["x"], "rows": 3},
}


@pytest.mark.parametrize("words", WRONG)
def test_wrong_parameters_are_named_and_cost_nothing(words):
    account = td.Accountant(epsilon=1)
    with pytest.raises(td.ParameterError, match=words.replace("(", "\\(")):
        td.counts(pd.DataFrame({"a": ["x"], "b": ["y"]}), epsilon=1, accountant=account, **WRONG[words])
    assert account.remaining().epsilon == 1


# Intervals.


def test_the_margin_is_the_quantile_of_the_law():
    for scale in (Fraction(1, 3), Fraction(1), Fraction(2), Fraction(40)):
        law = laplace(scale, 4000)
        for level in (0.5, 0.9, 0.95, 0.99):
            away = margin(scale, level)
            inside = [sum(p for z, p in law.items() if abs(z) <= most) for most in (away, away - 1)]
            assert inside[0] >= level - 1e-9
            assert inside[1] < level + 1e-9


COVERED = {
    "n public": {"categories": SEX},
    "one category": {"categories": ["f"]},
    "secret": {"categories": SEX, "neighbours": "add-remove"},
    "groups": {"categories": SEX, "keys": ["A", "B"]},
}


@pytest.mark.parametrize("asked", COVERED.values(), ids=COVERED)
def test_intervals_cover_numbers_and_shares(asked):
    """600 tables of 150 rows: fewer than 92 of 100 nominal 95 % intervals, of shares or numbers, come by once in 1,000.

    The control: intervals for the sample alone, without noise, do not cover numbers.
    """
    rng, randomness, runs = np.random.default_rng(8), td.seeded(9), 600
    shares = {"f": 0.3, "m": 0.6}
    held = held_share = alone = 0
    for _ in range(runs):
        sex = rng.choice([*shares, "x"], 150, p=[0.3, 0.6, 0.1])
        by = rng.choice(["A", "B"], 150)
        given = {"by": by} if "keys" in asked else {}
        found = td.counts(sex, epsilon="0.5", randomness=randomness, **asked, **given)
        key = ("A", "f") if given else "f"
        true = int(((sex == "f") & (by == "A")).sum() if given else (sex == "f").sum())
        low, high = found.intervals[key]
        held += low <= true <= high
        alone += found[key] == true
        low, high = found.share_intervals[key]
        held_share += low <= shares["f"] <= high
    fewest = 0.92 * runs  # 3.4 standard deviations of a nominal 95 %
    assert held >= fewest
    assert held_share >= fewest
    assert held_share <= 0.995 * runs  # not for being as wide as can be
    assert alone < fewest


def test_joint_intervals_are_wider_and_none_is_none():
    given = {"categories": SEX, "epsilon": 1}
    one, joint = (td.counts(["f"] * 50, joint=j, randomness=td.seeded(1), **given) for j in (False, True))
    assert dict(one) == dict(joint)
    width = [found.intervals["f"][1] - found.intervals["f"][0] for found in (one, joint)]
    assert width[0] < width[1]
    without = td.counts(["f"] * 50, confidence=None, **given)
    assert without.intervals is without.share_intervals is None


# The result.


def test_numbers_are_moved_to_what_is_possible():
    found = td.counts(["f"] * 3, categories=SEX, epsilon="0.01", randomness=td.seeded(4))
    assert all(0 <= number <= 3 for number in found.values())
    assert any(not 0 <= number <= 3 for number in found.tables[0].noised[0])
    assert all(0 <= low <= high <= 3 for low, high in found.intervals.values())


def test_forms_and_escapes():
    hostile = '<b>=1+1|"x"&_'
    found = td.counts(
        pd.DataFrame({hostile: ["a", hostile]}), hostile, categories=["a", hostile], epsilon=1, randomness=td.seeded(1)
    )
    for form in (found.to_html(), found._repr_html_()):
        assert "<b>=1" not in form
    assert "\n<b>" not in found.to_markdown()
    assert "&_" not in found.to_latex().replace(r"\&\_", "")
    assert "SEEDED" in found.to_html()
    assert "SEEDED" in str(found)
    assert not found.private
    assert list(found.to_frame()["count"]) == list(found.values())
    assert json.loads(found.to_json())["guarantee"]["epsilon_exact"] == "1"
    assert found.to_csv().count("\r\n") == 4
    with pytest.raises(KeyError, match="no cell"):
        found["z"]


def test_a_release_put_together_by_hand_has_no_guarantee():
    found = td.counts(["f"], categories=SEX, epsilon=1)
    forged = td.CountsRelease(tables=found.tables, guarantee=found.guarantee, seeded=False, n=1)
    assert found.private
    assert forged.guarantee is None
    assert not forged.private
    assert "NO GUARANTEE" in str(forged)
