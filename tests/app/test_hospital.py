"""Exports on the page: what a row stands for, a dictionary, categories, codes, weights; settings and a zip."""

from __future__ import annotations

import io
import json
import zipfile
from functools import partial

import pytest

import tukeydp as td
from support.exports import hospital, survey
from tukeydp.app.phrases import phrases
from tukeydp.cli.page import _made

EXPORT = hospital()
NAMES = EXPORT.names
SURVEY = survey()
ASKED = {"each": "several", "person": "PatientenNr", "by": "Arm", "keys": "A\nB\nC"}


@pytest.fixture
def fresh(make_user):
    """A user whose ledger is not made yet."""
    user = make_user(td.Accountant(epsilon=3))
    user.session.pending = lambda account: account
    user.upload("visits.csv", EXPORT.files["visits.csv"])
    return user


def know(user, name, content):
    user.post("/know", file=(name, content))
    return user.get("/").text


def fields(user, **more):
    """The form of the page as it stands, with what is changed in it."""
    named = {field: NAMES.index(more[field]) for field in ("by", "person") if field in more}
    return {**user.session.typed, **more, **named}


def go_on(user, **more):
    answer = user.post("/columns", {name: text for name, text in fields(user, **more).items() if text != ""})
    assert answer.headers["location"] == "/plan", user.get("/").text


def test_a_dictionary_fills_in_all_but_what_only_the_user_knows(fresh):
    page = know(fresh, "dictionary.csv", EXPORT.files["dictionary.csv"])
    typed, j = fresh.session.typed, NAMES.index("CRP [mg/l]")
    assert (typed[f"use-{j}"], typed[f"upper-{j}"], typed[f"missing-{j}"]) == ("on", "50", "-9")
    assert typed[f"detection-{j}"] == "<0.3/2"
    assert "m, male | w, female" in page
    assert not typed[f"use-{NAMES.index('PatientenNr')}"]
    assert "must have a header" in know(fresh, "dictionary.csv", b"column,colour\na,b\n")
    assert "must be UTF-8 text" in know(fresh, "dictionary.csv", "column,label\na,ä\n".encode("cp1252"))


def test_what_a_dictionary_lacks_and_what_the_file_lacks_is_said(fresh):
    lines = b"column,type,lower,upper\nAlter [Jahre],number,18,100\nArm,category\nno such,,0,1\n"
    page = know(fresh, "d.csv", lines)
    assert "no categories for them: Arm." in page
    assert "not in the file: no such." in page


def test_table_one_of_persons_in_groups_with_categories(fresh):
    know(fresh, "dictionary.csv", EXPORT.files["dictionary.csv"])
    go_on(fresh, **ASKED, **{f"use-{NAMES.index('Arm')}": ""})
    plan = fresh.get("/plan").text
    assert "Forecast for 420 persons" in plan
    assert "share of all" in plan
    assert fresh.account is not fresh.session.account  # it is about persons now
    fresh.plan(statistic="summary", epsilon="1", confidence="0.95")
    page = fresh.release()
    assert "420 persons in 3 groups of Arm" in page
    assert page.count('class="inner"') > 5
    assert "\\xa0" not in page
    assert "\u00b7 " not in page
    found = json.loads(fresh.get("/take-away/1/result.json").text)
    assert found["guarantee"]["neighbours"].startswith("one person swapped")
    names = set(zipfile.ZipFile(io.BytesIO(fresh.get("/everything").content)).namelist())
    assert {"release-1/table.docx", "release-1/table.xlsx", "release-1/settings.json", "ledger.yaml"} <= names


def test_saved_settings_are_loaded_again(fresh, make_user):
    know(fresh, "dictionary.csv", EXPORT.files["dictionary.csv"])
    go_on(fresh, **ASKED, **{f"use-{NAMES.index('Arm')}": ""})
    fresh.plan(statistic="summary", epsilon="0.7")
    saved = fresh.get("/settings").content
    cells = {str(cell) for row in EXPORT.rows for cell in row[:1]}
    assert not any(cell in saved.decode() for cell in cells)
    other = make_user(td.Accountant(epsilon=3))
    other.session.pending = lambda account: account
    other.upload("visits.csv", EXPORT.files["visits.csv"])
    know(other, "settings.json", saved)
    go_on(other)
    assert other.session.order().choices == fresh.session.order().choices
    assert other.session.order().options == fresh.session.order().options
    for broken in (b'{"tukeydp": 1}', b'{"tukeydp": 1, "reading": {"skip": []}, "columns": {"a": 3}}', b"[1]", b"{"):
        assert 'role="alert"' in know(other, "settings.json", broken)


def test_what_a_row_stands_for_decides_what_the_budget_protects(make_user, tmp_path):
    for each, about in (("one", "swap"), ("several", "swap-person")):
        ledger = tmp_path / f"{each}.db"
        user = make_user(td.Accountant(epsilon=2))
        user.session.pending = partial(_made, ledger)
        user.upload("visits.csv", EXPORT.files["visits.csv"])
        number = NAMES.index("Alter [Jahre]")
        asked = {f"use-{number}": "on", f"lower-{number}": "18", f"upper-{number}": "100", f"type-{number}": "number"}
        go_on(user, **asked, each=each, person="PatientenNr", confidence="")
        assert not ledger.exists()
        user.release()
        account = td.Accountant.open(ledger)
        assert account.budget.neighbours == about
        assert account.totals.count == 1


def test_who_has_several_rows_must_be_said(fresh):
    number = NAMES.index("Alter [Jahre]")
    asked = {f"use-{number}": "on", f"lower-{number}": "18", f"upper-{number}": "100", "each": "several"}
    assert fresh.post("/columns", asked).headers["location"] == "/"
    assert "where a person can have several rows" in fresh.get("/").text


def test_what_would_stop_a_release_or_make_it_wrong_is_said_in_the_plan(fresh):
    """Codes and limits that were not declared, and a column of text; not where the look is hidden."""
    wrong = {}
    for name in ("Schmerz (0-10)", "CRP [mg/l]", "Raucher"):
        j = NAMES.index(name)
        wrong |= {f"use-{j}": "on", f"lower-{j}": "0", f"upper-{j}": "50", f"type-{j}": "number"}
    go_on(fresh, each="one", **wrong)
    plan = fresh.get("/plan").text
    assert phrases()["plan"]["doubts"] in plan
    for said in ("99 in", "a limit of detection", "Raucher does not hold numbers"):
        assert said in plan
    fresh.session.hidden = True
    assert phrases()["plan"]["doubts"] not in fresh.get("/plan").text
    fresh.session.hidden = False
    j, k = NAMES.index("Schmerz (0-10)"), NAMES.index("CRP [mg/l]")
    told = {
        f"missing-{j}": "99 | -9",
        f"missing-{k}": "-9",
        f"detection-{k}": "<0.3",
        f"use-{NAMES.index('Raucher')}": "",
    }
    go_on(fresh, **(wrong | told), each="one")
    assert "420 different in" in fresh.get("/plan").text
    go_on(fresh, **(wrong | told), each="several", person="PatientenNr")
    assert phrases()["plan"]["doubts"] not in fresh.get("/plan").text


def test_cells_in_no_category_and_in_no_group_are_told_in_the_plan(fresh):
    know(fresh, "dictionary.csv", EXPORT.files["dictionary.csv"])
    listed = {f"categories-{NAMES.index('Geschlecht')}": "m, male | x", "keys": "A\nb"}
    go_on(fresh, **(ASKED | listed))
    plan = fresh.get("/plan").text
    assert "in none of the listed categories" in plan
    assert "in none of the listed groups" in plan
    fresh.session.hidden = True
    assert "in none of the listed" not in fresh.get("/plan").text


def test_numbers_and_shares_of_categories_are_the_librarys(fresh):
    j = NAMES.index("Geschlecht")
    assert fresh.session.typed[f"type-{j}"] == "category"
    go_on(fresh, each="one", **{f"use-{j}": "on", f"categories-{j}": "m, male | w, female"})
    fresh.plan(statistic="counts", epsilon="1")
    assert "Every number has noise" in fresh.get("/plan").text
    fresh.release()
    found = json.loads(fresh.get("/take-away/1/result.json").text)
    cells = [row[j] for row in EXPORT.rows]
    expected = td.counts(cells, categories=["m", "w"], epsilon=1, randomness=td.seeded(7))
    assert [line["count"] for line in found["lines"]] == [line.count for line in expected.lines]
    wrong = {f"use-{j}": "on", f"type-{j}": "category"}
    assert fresh.post("/columns", {"each": "one", **wrong}).headers["location"] == "/"
    assert "must be given for every column that is counted" in fresh.get("/").text


@pytest.fixture
def weighted(make_user):
    """A survey whose weights are declared, and whose incomes have no bounds."""
    user = make_user(td.Accountant(epsilon=3))
    user.upload("survey.csv", SURVEY.files["survey.csv"])
    told = {"by": "region", "keys": "North\nSouth\nEast\nWest", "weights": "weight", "weight-most": "5"}
    income, weight = (SURVEY.names.index(name) for name in ("income", "weight"))
    codes = {f"missing-{income}": "99999", f"missing-{weight}": "-1"}
    user.choose({"age": ("16", "100"), "income": ("", ""), "weight": ("", "")}, **told, **codes)
    return user


def test_a_weighted_table_with_bounds_that_are_found_is_the_librarys(weighted, tmp_path, monkeypatch):
    plan = weighted.get("/plan").text
    assert "for a part of epsilon: those of income." in plan
    assert "Weighted by weight, from 0 to 5." in plan
    assert (
        "Not weighted by weight"
        in weighted.browser.post(
            "/plan",
            files={"proof": (None, weighted.guard.proof), "statistic": (None, "mean")},
            headers={"sec-fetch-site": "same-origin", "x-live": "1"},
        ).text
    )
    weighted.plan(statistic="summary")
    assert phrases()["plan"]["rehearsal_found"] in weighted.get("/plan?rehearse").text
    assert "Weighted by weight" in weighted.get("/release").text
    assert "weighted mean (SD)" in weighted.release()
    archive = zipfile.ZipFile(io.BytesIO(weighted.get("/everything").content))
    found = json.loads(archive.read("release-1/result.json"))
    assert {line["column"] for line in found["lines"]} == {"age", "income"}
    monkeypatch.chdir(tmp_path)
    (tmp_path / "survey.csv").write_bytes(SURVEY.files["survey.csv"])
    real = td.summary
    monkeypatch.setattr(td, "summary", lambda *a, **k: real(*a, **k, randomness=td.seeded(7)))
    names: dict = {}
    exec(archive.read("release-1/repeat.py"), names)
    assert found["lines"] == [line.to_dict() for line in names["release"].lines]
    assert json.loads(archive.read("release-1/settings.json"))["weights"] == "weight"


def test_settings_with_weights_are_loaded_again_and_older_ones_without(weighted, make_user):
    saved = weighted.get("/settings").content
    other = make_user(td.Accountant(epsilon=3))
    other.upload("survey.csv", SURVEY.files["survey.csv"])
    know(other, "settings.json", saved)
    assert other.session.order().choices == weighted.session.order().choices
    assert other.session.order().options == weighted.session.order().options
    older = {name: told for name, told in json.loads(saved).items() if not name.startswith("weight")}
    del older["columns"]["weight"]
    know(other, "settings.json", json.dumps(older).encode())
    assert other.session.choices().weights is None
    assert other.session.choices().found == ["income"]


@pytest.mark.parametrize("statistic", ["mean", "centre", "summary"])
def test_bounds_of_persons_are_found(fresh, statistic):
    told = {f"{field}-{NAMES.index('Alter [Jahre]')}": text for field, text in (("use", "on"), ("type", "number"))}
    go_on(fresh, **ASKED, **told)
    fresh.plan(statistic=statistic, epsilon="2", confidence="")
    assert "for a part of epsilon: those of Alter [Jahre]." in fresh.get("/plan").text
    fresh.release()
    assert fresh.desk.runs[-1].state == "done"
    found = json.loads(fresh.get("/take-away/1/result.json").text)
    assert found["guarantee"]["neighbours"].startswith("one person swapped")


def test_a_dictionary_without_bounds_leaves_them_to_be_found(fresh):
    lines = b"column,type,lower,upper\nAlter [Jahre],number,,\nBMI [kg/m\xc2\xb2],number,12,\n"
    page = know(fresh, "d.csv", lines)
    assert "one bound of two or no categories for them: BMI" in page
    go_on(fresh, each="one")
    assert fresh.session.choices().found == ["Alter [Jahre]"]
