"""What is typed becomes a call, or a sentence that says what is wrong; no phrase is missing."""

from __future__ import annotations

import re
from importlib.resources import files

import pytest

from tukeydp.app.choices import chosen
from tukeydp.app.phrases import languages, phrases, without_flags
from tukeydp.trusted.parameters import ParameterError

NAMES = ["age", "weight, kg", "clinic"]
TYPED = {"use-0": "on", "lower-0": "0", "upper-0": "120"}


def test_numbers_as_people_type_them():
    typed = {**TYPED, "lower-0": " 0,5 ", "upper-0": "1.2e2", "epsilon": "0,25", "sd-0": "10"}
    found = chosen(NAMES, 500, typed)
    assert found.call() == (
        "mean",
        {"epsilon": "0.25", "bounds": {"age": ("0.5", "1.2e2")}, "confidence": "0.95", "sd": ["10"]},
    )


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ({}, "columns must be chosen"),
        (
            {"use-0": "on", "lower-0": "0"},
            "bounds must both be given, or both be left empty to be found for a part of epsilon; got one for 'age'",
        ),
        ({**TYPED, "lower-0": "1,000"}, "must be written without marks between thousands"),
        ({**TYPED, "lower-0": "1,000.5"}, "must be written without marks between thousands"),
        ({**TYPED, "upper-0": "abc"}, "upper of age must be a finite number"),
        ({**TYPED, "upper-0": "-1"}, "bounds must"),
        ({**TYPED, "epsilon": "0"}, "epsilon must be > 0"),
        ({**TYPED, "epsilon": "nan"}, "epsilon must be a finite number"),
        ({**TYPED, "by": "2"}, "keys must be given with the column of groups"),
        ({**TYPED, "keys": "A"}, "keys must be given with the column of groups"),
        ({**TYPED, "weights": "1"}, "largest weight must be given with the column of weights"),
        ({**TYPED, "weights": "1", "weight-most": "0"}, "largest weight must be given with the column of weights, > 0"),
        ({**TYPED, "weight-most": "5"}, "the column of weights must be chosen"),
        ({**TYPED, "weights": "2", "weight-most": "5", "by": "2", "keys": "A"}, "must not be that of groups"),
        ({**TYPED, "weights": "0", "weight-most": "5"}, "columns must be chosen"),
        ({**TYPED, "by": "0", "keys": "1"}, "columns must be chosen"),
        ({**TYPED, "person": "0"}, "columns must be chosen"),
        ({**TYPED, "missing-0": "99; -9"}, "must have bars between codes"),
        ({**TYPED, "type-0": "category", "categories-0": "f, m"}, "must have bars between categories"),
        ({**TYPED, "by": "3"}, "column must be one of the file's"),
        ({**TYPED, "by": "-1"}, "column must be one of the file's"),
        ({**TYPED, "by": "²"}, "column must be one of the file's"),
        ({**TYPED, "rows": "many"}, "rows must be a whole number"),
        ({**TYPED, "rows": "9" * 5000}, "rows must be a whole number"),
        ({**TYPED, "rows": "100000000"}, "rows must be a whole number below 100,000,000"),
        ({**TYPED, "rows": "0"}, "n must be"),
        ({**TYPED, "statistic": "median"}, "statistic must be"),
        ({**TYPED, "sd-0": "500"}, "sd must be > 0 and at most upper - lower"),
    ],
)
def test_what_is_wrong_is_said(typed, said):
    with pytest.raises(ParameterError, match=re.escape(said)):
        chosen(NAMES, 500, typed)


def test_a_dry_run_costs_what_the_release_would():
    found = chosen(NAMES, 500, {**TYPED, "epsilon": "0.5", "confidence": ""})
    cost, mechanism = found.dry_run()
    assert (str(cost.epsilon), mechanism) == ("1/2", found.plan().recommended.mechanism)
    assert str(chosen(NAMES, 50, {**TYPED, "epsilon": "0.5"}).dry_run()[0].epsilon) == "1/2"


def test_wishes_have_answers_or_a_reason():
    asked = {**TYPED, "sd-0": "10"}
    answers = chosen(NAMES, 500, {**asked, "wish": "0.5", "wish_for": "0"}).answers()
    assert re.match(r"epsilon = [\d.]+: ", answers[0])
    assert re.match(r"[\d,]+ rows: ", answers[1])
    for wish in ("1e-12", "1e12", "0", "-1"):
        assert len(chosen(NAMES, 500, {**asked, "wish": wish}).answers()) == 2
    assert "error must be > 0" in chosen(NAMES, 500, {**asked, "wish": "0"}).answers()[0]


def test_a_dry_run_of_groups_and_of_many_rows():
    grouped = chosen(NAMES, 300, {**TYPED, "by": "2", "keys": "A\nB", "statistic": "summary"})
    assert grouped.dry_run()[1] == "summary"
    assert chosen(NAMES, 2_000_000, TYPED).dry_run()[0].epsilon == 1


def test_weights_are_those_of_table_one_alone():
    typed = {**TYPED, "use-1": "on", "weights": "1", "weight-most": "4,5", "missing-1": "99"}
    found = chosen(NAMES, 500, typed)
    weighted = {"weights": "weight, kg", "weight_bounds": ("0", "4.5")}
    assert found.call()[0] == "summary"
    assert weighted.items() <= found.call()[1].items()
    assert [column.name for column in found.columns] == ["age"]
    assert found.dry_run()[1] == "summary"
    assert found.rehearsal().weighted
    plain = chosen(NAMES, 500, {**typed, "statistic": "mean"})
    assert not weighted.keys() & plain.call()[1].keys()
    assert plain.read == ["age"]


@pytest.mark.parametrize("statistic", ["mean", "centre", "summary"])
@pytest.mark.parametrize("more", [{}, {"by": "2", "keys": "A\nB"}, {"sd-0": "10", "sd-1": "12"}])
def test_bounds_that_nobody_gave_are_found(statistic, more):
    found = chosen(NAMES, 2000, {**TYPED, "use-1": "on", "statistic": statistic, **more})
    assert found.call()[1]["bounds"] == {"age": ("0", "120"), "weight, kg": None}
    assert found.found == ["weight, kg"]
    assert str(found.dry_run()[0].epsilon) == "1"
    assert found.rehearsal().guarantee is not None
    if statistic != "summary":
        known = chosen(NAMES, 2000, {**TYPED, "use-1": "on", "upper-1": "200", "lower-1": "0", **more})
        assert found.forecast().typical is not None
        assert found.plan().question.found == (1,)
        assert not known.found


def test_what_bounds_cannot_be_found_is_left_out_or_refused_by_name():
    few = {**TYPED, "use-1": "on", "statistic": "summary", "epsilon": "0.1"}
    needs = {line.column: line.needs or "" for line in chosen(NAMES, 100, few).table_plan().lines}
    assert "bounds, or about" in needs["weight, kg"]
    assert "bounds, or about" not in needs["age"]
    with pytest.raises(ParameterError, match="without them it takes about"):
        chosen(NAMES, 100, {**few, "lower-0": "", "upper-0": ""}).dry_run()


def test_every_phrase_that_a_template_asks_for_is_there():
    words = phrases()
    templates = [file for file in (files("tukeydp.app") / "templates").iterdir() if file.name.endswith(".html")]
    asked = {
        found for file in templates for found in re.findall(r"\bt\.(\w+)\.(\w+)", file.read_text(encoding="utf-8"))
    }
    assert len(asked) > 80
    assert not {(screen, name) for screen, name in asked if name not in words[screen] and not hasattr({}, name)}
    # A name of a method would be the method, to a template.
    assert not {name for texts in words.values() for name in texts if hasattr({}, name)}


def test_languages_have_the_same_names():
    def shape(texts):
        return {name: shape(value) if isinstance(value, dict) else type(value) for name, value in texts.items()}

    assert "en" in languages()
    assert all(shape(phrases(language)) == shape(phrases("en")) for language in languages())
    with pytest.raises(ParameterError, match="language must be"):
        phrases("../en")


def test_options_of_the_command_line_have_the_names_of_fields():
    labels = phrases()["labels"]
    assert without_flags("pass --decimal , or --nothing", labels) == "pass “Decimal mark” , or “nothing”"
    assert (
        without_flags("confidence must be 1: the confidence", labels)
        == "“Confidence intervals” must be 1: the confidence"
    )
    assert without_flags("it is not: use tukeydp mean.", labels) == "it is not: use “Mean”."
    assert without_flags("check yourself (tukeydp look)", labels) == "check yourself (“What was read”)"
    assert without_flags("or come with sd= (known)", labels) == "or come with “Standard deviation” (known)"
