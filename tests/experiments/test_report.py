"""The report: one file with every figure and verdict in it, from the command line."""

from __future__ import annotations

import base64
import io
import json
import sys
from dataclasses import replace
from html.parser import HTMLParser

import matplotlib.image
import numpy as np
import pytest

from support.browser import DESKTOP, PHONE, browser, seen
from tukeydp.cli import main
from tukeydp.paper.experiments import catalogue
from tukeydp.paper.experiments import experiment as estimates
from tukeydp.paper.experiments.experiment import (
    AFTERWARDS,
    OURS,
    PAPER,
    Claim,
    Finding,
    Results,
    Verdict,
    cell,
    judge,
    tally,
)
from tukeydp.paper.experiments.figures import new_figure, save, ticks_at
from tukeydp.paper.experiments.report import Section, write_claims, write_report
from tukeydp.paper.experiments.runner import reproduce
from tukeydp.paper.experiments.times import AUTHORS


class Page(HTMLParser):
    """Tags that are opened and closed, pictures, and whatever would be loaded from elsewhere."""

    VOID = frozenset({"meta", "img", "br", "link", "hr", "input"})

    def __init__(self):
        super().__init__()
        self.open, self.pictures, self.outside, self.text = [], [], [], []

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        if tag == "img":
            self.pictures.append(given["src"])
        address = given.get("src") or given.get("href") or ""
        if tag in ("script", "link") or (address and not address.startswith(("data:", "#"))):
            self.outside.append((tag, address[:60]))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


@pytest.fixture
def few(monkeypatch):
    """The command line with two experiments cut down to a few trials."""
    cut = {
        "error-n": lambda quick: [cell(2, n=n, d=2) for n in (60, 100)],
        "depth": catalogue.named("depth").cells,
    }
    shortened = tuple(replace(e, cells=cut[e.name]) for e in catalogue.EXPERIMENTS if e.name in cut)
    from tukeydp.paper.experiments import command

    monkeypatch.setattr(catalogue, "EXPERIMENTS", shortened)
    monkeypatch.setattr(command, "EXPERIMENTS", shortened)
    return [e.name for e in shortened]


def call(monkeypatch, capsys, *arguments):
    monkeypatch.setattr(sys, "argv", ["tukeydp", *map(str, arguments)])
    with pytest.raises(SystemExit) as stopped:
        main()
    return stopped.value.code or 0, *capsys.readouterr()


def read(path):
    page = Page()
    page.feed(path.read_text(encoding="utf-8"))
    return page


def test_the_report_holds_every_figure_and_every_claim(few, tmp_path, monkeypatch, capsys):
    code, out, _ = call(monkeypatch, capsys, "reproduce", "all", "--out", tmp_path, "--jobs", 1, "--quick")
    assert code == 0
    assert "report.html" in out
    page = read(tmp_path / "report.html")
    assert page.open == []
    assert page.outside == []
    assert len(page.pictures) == len(few)
    for name, source in zip(few, page.pictures, strict=True):  # both draw one panel
        kind, _, encoded = source.partition(",")
        assert kind == "data:image/png;base64"
        picture = matplotlib.image.imread(io.BytesIO(base64.b64decode(encoded)), format="png")
        assert picture.ndim == 3
        assert picture[..., :3].std() > 0.01  # something was drawn
        assert "<svg" in (tmp_path / "figures" / f"{name}.svg").read_text()[:1000]
    text = "".join(page.text)
    for name in few:
        for claim in catalogue.named(name).claims:
            assert claim.sentence in text


def made_up_times():
    cells = [((depth, d), n) for depth, d in AUTHORS for n in (50, 100, 500, 1000, 2000)]
    return Results(
        {"depth": depth, "d": d, "n": n, "seconds": 0.123456, "processor": 0.123456, "sort": 0.1}
        for (depth, d), n in cells
    )


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """A report with the widest table, several panels, a claim of many numbers, and long words."""
    folder = tmp_path_factory.mktemp("report")
    sections = []
    for name, results in (("times", made_up_times()), ("depth", None)):
        experiment = catalogue.named(name)
        if results is None:
            results = reproduce([experiment], folder, quick=True, jobs=1, seed=1)[name]
        verdicts = tuple(judge(claim, results) for claim in experiment.claims)
        long = Verdict("w" * 300, None, ("n" * 300,) * 9)
        sections.append(Section(experiment, results, (*verdicts, long), save(experiment.draw(results), folder, name)))
    write_report(folder / "report.html", sections, {"seed": 1})
    return (folder / "report.html").as_uri(), sum(len(section.pictures) for section in sections)


@pytest.fixture(scope="module")
def chromium():
    with browser() as started:
        yield started


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_the_report_in_a_browser_fits_the_window_and_complains_of_nothing(chromium, pages, size):
    address, pictures = pages
    page = seen(chromium, address, size)
    assert page.complaints == []
    assert len(page.pictures) == pictures == 3
    assert min(page.pictures) > 500
    assert page.sideways == 0
    assert "Table I" in page.text


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_every_picture_opens_and_closes(chromium, pages, size):
    """A click fills the window with the picture, at no less than its size on the page; the link leads back."""
    page = chromium.new_page(viewport={"width": size[0], "height": size[1]})
    page.goto(pages[0])
    page.evaluate("() => document.querySelectorAll('details').forEach(d => d.open = true)")
    sideways = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert page.evaluate(sideways) == 0
    for i in range(pages[1]):
        figure = page.locator("figure").nth(i)
        before = figure.locator("img").bounding_box()["width"]
        assert not figure.locator("a.close").is_visible()
        figure.locator("a.open").click()
        box = figure.bounding_box()
        assert (box["x"], box["y"], box["width"], box["height"]) == (0, 0, *size)
        assert figure.locator("img").bounding_box()["width"] > before
        assert page.evaluate(sideways) == 0
        figure.locator("a.close").click()
        assert figure.locator("img").bounding_box()["width"] == before
    page.close()


@pytest.mark.parametrize(
    ("arguments", "word"), [(["figure-7"], "name must be"), (["depth", "--jobs", "0"], "jobs must be an integer >= 1")]
)
def test_bad_parameters(arguments, word, tmp_path, monkeypatch, capsys):
    code, _, err = call(monkeypatch, capsys, "reproduce", *arguments, "--out", tmp_path)
    assert code == 2
    assert word in err


@pytest.mark.parametrize("blocked", [".", "parts", "figures"])
def test_a_folder_that_cannot_be_written(blocked, tmp_path, monkeypatch, capsys):
    out = tmp_path / "out"
    if blocked == ".":
        out.write_text("a file")
    else:
        out.mkdir()
        (out / blocked).write_text("a file")
    code, _, err = call(monkeypatch, capsys, "reproduce", "depth", "--out", out)
    assert code == 2
    assert "out must be a folder that can be written" in err


def test_any_integer_is_a_seed_and_a_name_counts_once(tmp_path, monkeypatch, capsys):
    from tukeydp.paper.experiments import command

    short = replace(catalogue.named("nonspherical"), cells=lambda quick: [cell(3, n=200, d=2)])
    monkeypatch.setattr(catalogue, "EXPERIMENTS", (short,))
    monkeypatch.setattr(command, "EXPERIMENTS", (short,))
    names = "nonspherical, nonspherical"
    code, *_ = call(monkeypatch, capsys, "reproduce", names, "--out", tmp_path, "--jobs", 1, "--seed", "-3")
    assert code == 0
    assert len(read(tmp_path / "report.html").pictures) == 3  # three panels, once


def test_a_missing_package_is_named(tmp_path, monkeypatch, capsys):
    import importlib.util

    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *a: None if name == "joblib" else find(name, *a))
    code, _, err = call(monkeypatch, capsys, "reproduce", "depth", "--out", tmp_path)
    assert code == 2
    assert "tukeydp[reproduce]" in err


def section(name, verdicts, rows=()):
    return Section(catalogue.named(name), Results(rows), verdicts, {})


def test_what_was_chosen_after_a_look_at_results_is_marked(tmp_path):
    verdicts = tuple(
        Verdict(word, True, ("1",), afterwards) for word, afterwards in (("first", False), ("later", True))
    )
    write_report(tmp_path / "report.html", [section("depth", verdicts)], {})
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "<span>first</span><ul" in page
    assert "<span>later</span> <small>(chosen after a first look" in page


def test_the_paper_s_claims_and_ours_are_counted_apart(tmp_path):
    verdicts = (
        Verdict("a", True, ("1",), whose=PAPER),
        Verdict("b", False, ("1",), whose=PAPER),
        Verdict("c", None, ("1",), True, whose=PAPER),
        Verdict("d", True, ("1",)),
        Verdict("e", True, ("1",)),
    )
    expected = {
        PAPER: {"borne out": 1, "not borne out": 1, "undecided": 1, AFTERWARDS: 1},
        OURS: {"borne out": 2, "not borne out": 0, "undecided": 0, AFTERWARDS: 0},
    }
    assert tally(verdicts) == expected
    write_report(tmp_path / "report.html", [section("depth", verdicts)], {})
    text = " ".join(" ".join(read(tmp_path / "report.html").text).split())
    assert "5 claims claims the paper's ours borne out 1 2 not borne out 1 0 undecided 1 0" in text
    assert f"{AFTERWARDS} 1 0" in text


def test_claims_are_written_for_other_programs(tmp_path):
    claim = Claim("x", lambda _: [Finding("a", estimates.exactly(1.0), at_most=2.0)], whose=PAPER)
    open_ended = Claim("y", lambda _: [Finding("b", estimates.mean(np.array([1.0])), at_least=0.0)], afterwards=True)
    verdicts = tuple(judge(each, Results([])) for each in (claim, open_ended))
    write_claims(tmp_path / "claims.json", [section("depth", verdicts)], {"seed": 3})
    written = json.loads((tmp_path / "claims.json").read_text(encoding="utf-8"))
    first, second = written["claims"]
    assert written["facts"] == {"seed": 3}
    assert written["tally"][PAPER]["borne out"] == 1
    assert (first["experiment"], first["claim"], first["whose"], first["verdict"]) == ("depth", "x", PAPER, "borne out")
    assert first["numbers"] == [{"label": "a", "value": 1.0, "low": 1.0, "high": 1.0, "at_least": None, "at_most": 2.0}]
    assert (second["verdict"], second["chosen_afterwards"]) == ("undecided", True)
    assert (second["numbers"][0]["low"], second["numbers"][0]["high"]) == (None, None)


def test_the_table_has_intervals_for_shares_and_says_what_it_leaves_out(tmp_path):
    rows = [{"test": "graded", "d": 2, "n": n, "released": 1} for n in range(401) for _ in range(3)]
    write_report(tmp_path / "report.html", [section("smallest-n", (), rows)], {})
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "0.2924 to 1</td>" in page  # three of three: 0.025^(1/3)
    assert "1 more lines are in results/smallest-n.csv" in page


def test_table_one_is_a_table_with_a_caption_and_heads_for_rows_and_columns(tmp_path):
    results = made_up_times()
    write_report(tmp_path / "report.html", [section("times", (), results.rows)], {})
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "<caption>Table I in seconds on the clock: here" in page
    assert '<th scope="col">exact, d = 4</th>' in page
    assert '<th scope="row">2000</th><td>here\nauthors\npaper</td><td>0.12\n14.6\n21.9</td>' in page
    assert "<td>0.12\nabout 760\n-</td>" in page


def test_labels_that_would_run_into_each_other_are_left_out():
    figure, panel = new_figure()
    ticks_at(panel, [50, 100, 101, 2000])
    assert [label.get_text() for label in panel.get_xticklabels()] == ["50", "100", "", "2000"]
    ticks_at(panel, [1e-9, 1e-3, 10, 1e10])
    assert [label.get_text() for label in panel.get_xticklabels()] == ["$10^{-9}$", "$10^{-3}$", "10", "$10^{10}$"]
    assert figure.axes == [panel]
