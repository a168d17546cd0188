"""A plan on the command line, as a page and as a picture."""

from __future__ import annotations

import json
import re
import sys
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest

import tukeydp as td
from tukeydp.cli import main

COLUMNS = "systolic=60:240,pulse=30:200"


@pytest.fixture
def run(capsys, monkeypatch):
    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["tukeydp", "plan", *map(str, arguments)])
        with pytest.raises(SystemExit) as stopped:
            main()
        out, err = capsys.readouterr()
        return stopped.value.code or 0, out, err

    return call


@pytest.fixture(scope="module")
def plan():
    return td.plan(n=300, columns={"a<b>&": (60, 240), "pulse": (30, 200)}, epsilon=1, delta=1e-6, sd=[15, 12])


def test_the_command_says_what_python_says(run):
    code, out, err = run("--rows", "1,000", "--columns", COLUMNS, "--sd", "systolic=15", "--epsilon", 1)
    assert (code, err) == (0, "")
    columns = {"systolic": (60, 240), "pulse": (30, 200)}
    plan = td.plan(n=1000, columns=columns, sd={"systolic": 15}, epsilon=1)
    assert out.strip() == str(plan)
    code, out, err = run("--rows", 1000, "--columns", COLUMNS, "--sd", "systolic=15", "--epsilon", 1, "--json")
    assert (code, err, json.loads(out)) == (0, "", json.loads(plan.to_json()))


def test_both_directions_on_the_command_line(run):
    code, out, _ = run("--rows", 1000, "--columns", COLUMNS, "--sd", "systolic=15,pulse=12", "--error", "systolic=2")
    assert (code, "Answer       epsilon = " in out) == (0, True)
    code, out, _ = run("--columns", 2, "--bounds", "0,100", "--epsilon", 1, "--error", 0.1)
    assert (code, bool(re.search(r"Answer       [\d,]+ rows: the fewest", out))) == (0, True)
    assert run("--rows", 1000, "--columns", "a,b", "--delta", "1e-6", "--missing", "5%", "--json")[0] == 0
    assert run("--rows", 1000, "--columns", "a,b", "--bounds", "a=0,1", "--bounds", "b=0,5", "--json")[0] == 0
    assert run("--rows", 1000, "--columns", "a=0:1", "--by", 4, "--json")[0] == 0


WRONG = [
    (("--rows", 300, "--columns", "systolic=60-240"), "did you mean systolic=60:240?"),
    (("--rows", 300, "--columns", "t=-5 to -1"), "did you mean t=-5:-1?"),
    (("--columns", COLUMNS), "--rows must be given"),
    (("--rows", 300), "columns must be given: NAME=LOWER:UPPER"),
    (("--rows", "many", "--columns", COLUMNS), "rows must be a whole number; got 'many'"),
    (("--rows", 300, "--columns", COLUMNS, "--epsilon", 1, "--error", 0.1), "the third is found"),
    (("--rows", 300, "--columns", "a,b"), "must be given, or 'auto' to have them found"),
    (("--rows", 300, "--columns", "a=0:1,b"), "bounds for all or none"),
    (("--rows", 300, "--columns", "a=0:1,a=0:2"), "different names"),
    (("--rows", 300, "--columns", "a=5:1"), "lower < upper"),
    (("--rows", 300, "--columns", COLUMNS, "--bounds", "0,1"), "must be left out where --columns has them"),
    (("--rows", 300, "--columns", COLUMNS, "--sd", "puls=2"), "must name one of the columns systolic, pulse"),
    (("--rows", 300, "--columns", 2, "--bounds", "0,1", "--sd", "a=2"), "--columns has no names"),
    (("--rows", 300, "--columns", COLUMNS, "--error", "systolic=2"), "needs its standard deviation"),
    (("--rows", 300, "--columns", COLUMNS, "--missing", 10), "did you mean 10%?"),
    (("--rows", 300, "--columns", COLUMNS, "--plot", "plan.gif"), "must end in .png, .svg or .html"),
    (("--rows", 300, "--columns", COLUMNS, "--plot", "/nowhere/plan.svg"), "a file that can be written"),
    (("--rows", 300, "--columns", COLUMNS, "--plot", "plan.svg", "--against", "time"), "rows or epsilon"),
]


@pytest.mark.parametrize(("arguments", "message"), WRONG)
def test_misuse_gets_a_sentence_and_code_2(run, arguments, message):
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert message in err


class Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.text = [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.text.append(data)


def test_html_escapes_names_and_loads_nothing(plan, tmp_path):
    plan.plot(tmp_path / "plan.html")
    for html in (plan._repr_html_(), (tmp_path / "plan.html").read_text(encoding="utf-8")):
        page = Tags()
        page.feed(html)
        assert "a<b>&" in "".join(page.text)
        assert "a<b>&" not in html
        assert plan.recommendation in page.text
        assert not [attrs for tag, attrs in page.tags if tag in ("script", "link", "img", "iframe")]
        assert not re.search(r"(?:href|src)=\"(?:https?:)?//", html)


@pytest.mark.parametrize("against", ["rows", "epsilon"])
def test_the_picture_has_every_mechanism_and_both_schemes(plan, tmp_path, against):
    plan.plot(tmp_path / "plan.svg", against=against)
    text = (tmp_path / "plan.svg").read_text(encoding="utf-8")
    svg = ElementTree.fromstring(text)
    words = {"".join(node.itertext()).strip() for node in svg.iter("{http://www.w3.org/2000/svg}text")}
    chosen = plan.recommended.mechanism
    for option in plan.options:
        if option.possible:
            mark = " (recommended)" if (option.mechanism, option.estimand) == (chosen, "mean") else ""
            assert f"{option.estimand}: {option.mechanism}{mark}" in words
    assert "sampling error (no privacy)" in words
    assert "prefers-color-scheme:dark" in text
    assert "var(--plan-ink)" in text
    assert "var(--plan-paper)" in text
    # Control: no ink is left that a dark page would swallow.
    assert not re.search(r"(?:fill|stroke): ?#(?:000000|1a1a1b|ffffff|fffffe)", text)


def test_a_picture_for_print(plan, tmp_path):
    figure = plan.plot(tmp_path / "plan.png")
    assert (tmp_path / "plan.png").read_bytes()[:4] == b"\x89PNG"
    assert figure.axes[0].get_xlabel() == "rows"
