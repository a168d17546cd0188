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
from support.claims import claim as named_claim
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
from tukeydp.paper.experiments.figures import dress, new_figure, save
from tukeydp.paper.experiments.report import Section, claims_text, report_text
from tukeydp.paper.experiments.runner import reproduce
from tukeydp.paper.experiments.sentences import SENTENCES
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
    from tukeydp.paper.experiments import runner

    monkeypatch.setattr(catalogue, "EXPERIMENTS", shortened)
    monkeypatch.setattr(runner, "EXPERIMENTS", shortened)
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
    stems = ["depth", "error-n-1", "error-n-2"]
    assert len(page.pictures) == len(stems)
    for name, source in zip(stems, page.pictures, strict=True):
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
        {"depth": depth, "d": d, "n": n, "seconds": 0.123456, "processor": 0.123456, "sort": 0.1, "mix": 0.1}
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
        long = Verdict(Claim("long", "w" * 300, list), None, ("n" * 300,) * 9)
        sections.append(Section(experiment, results, (*verdicts, long), save(experiment.draw(results), folder, name)))
    (folder / "report.html").write_text(report_text(sections, {"seed": 1}), encoding="utf-8")
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
    from tukeydp.paper.experiments import runner

    short = replace(catalogue.named("nonspherical"), cells=lambda quick: [cell(3, n=200, d=2)])
    monkeypatch.setattr(catalogue, "EXPERIMENTS", (short,))
    monkeypatch.setattr(runner, "EXPERIMENTS", (short,))
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


def said(sentence, holds=True, **options):
    return Verdict(Claim(sentence, sentence, list, **options), holds, ("1",))


def test_what_was_chosen_after_a_look_at_results_is_marked():
    page = report_text([section("depth", (said("first"), said("later", afterwards=True)))], {})
    assert "<span>first</span><ul" in page
    assert "<span>later</span> <small>(chosen after a first look" in page


def test_what_of_the_paper_is_in_question_stands_on_top_with_its_place_and_its_number():
    def measured(name, value, whose=PAPER):
        found = [
            Finding("near", estimates.exactly(1.9), at_most=2.0),
            Finding("far", estimates.exactly(value), 1.0, 2.0),
        ]
        return judge(replace(named_claim(f"depth/{name}"), check=lambda _: found, whose=whose), Results([]))

    top = report_text([section("depth", (measured("hull", 9.0), measured("nested", 1.5)))], {}).partition(
        "<section id"
    )[0]
    assert "What the paper says and this run does not bear out" in top
    assert "far: 9, needed 1 to 2" in top
    assert "section 1, figure 1" in top
    assert "depth--hull" in top
    assert "depth--nested" not in top
    for fine in (measured("hull", 1.5), measured("hull", 9.0, whose=OURS)):
        assert "does not bear out" not in report_text([section("depth", (fine,))], {})


def test_the_number_that_tells_is_one_beyond_its_range_if_there_is_one():
    def told(*values):
        findings = [Finding(str(i), estimates.exactly(value), 1.0, 2.0) for i, value in enumerate(values)]
        return judge(Claim("x", "X.", lambda _: findings), Results([])).telling

    assert told(1.5, 1.99).startswith("1: 1.99")
    assert told(1.99, 0.2, 5.0).startswith("2: 5")
    assert judge(named_claim("depth/hull"), Results([])).telling.startswith("not part of this run")


def test_what_is_not_borne_out_in_a_small_place_is_called_not_seen_there():
    page = report_text([section("depth", (said("x", False, limits="at n = 9"), said("y", limits="at n = 9")))], {})
    assert "<span>x</span> <small>(not seen at n = 9)</small>" in page
    assert "<span>y</span><ul" in page


def test_every_sentence_is_in_the_report_with_what_became_of_it():
    verdicts = (Verdict(named_claim("depth/hull"), True, ("1",)),)
    page = Page()
    page.feed(report_text([section("depth", verdicts)], {}))
    text = " ".join(" ".join(page.text).split())
    assert page.open == []
    for sentence in SENTENCES:
        assert " ".join(sentence.quote.split()) in text
        assert " ".join(sentence.reason.split()) in text
    assert "borne out depth/hull" in text
    assert "not part of this run depth/nested" in text


def test_the_paper_s_claims_and_ours_are_counted_apart(tmp_path):
    verdicts = (
        said("a", True, whose=PAPER),
        said("b", False, whose=PAPER),
        said("c", None, afterwards=True, whose=PAPER),
        said("d"),
        said("e"),
    )
    expected = {
        PAPER: {"borne out": 1, "not borne out": 1, "undecided": 1, AFTERWARDS: 1},
        OURS: {"borne out": 2, "not borne out": 0, "undecided": 0, AFTERWARDS: 0},
    }
    assert tally(verdicts) == expected
    (tmp_path / "report.html").write_text(report_text([section("depth", verdicts)], {}), encoding="utf-8")
    text = " ".join(" ".join(read(tmp_path / "report.html").text).split())
    assert "5 claims claims the paper's ours borne out 1 2 not borne out 1 0 undecided 1 0" in text
    assert f"{AFTERWARDS} 1 0" in text


def test_claims_are_written_for_other_programs():
    claim = Claim("x", "X.", lambda _: [Finding("a", estimates.exactly(1.0), at_most=2.0)], whose=PAPER)
    single = estimates.mean(np.array([1.0]))
    open_ended = Claim("y", "Y.", lambda _: [Finding("b", single, at_least=0.0)], afterwards=True)
    verdicts = tuple(judge(each, Results([])) for each in (claim, open_ended))
    written = json.loads(claims_text([section("depth", verdicts)], {"seed": 3}))
    first, second = written["claims"]
    assert written["facts"] == {"seed": 3}
    assert written["tally"][PAPER]["borne out"] == 1
    assert (first["id"], first["claim"], first["whose"], first["verdict"]) == ("depth/x", "X.", PAPER, "borne out")
    assert first["numbers"] == [{"label": "a", "value": 1.0, "low": 1.0, "high": 1.0, "at_least": None, "at_most": 2.0}]
    assert (second["verdict"], second["chosen_afterwards"]) == ("undecided", True)
    assert (second["numbers"][0]["low"], second["numbers"][0]["high"]) == (None, None)
    assert len(written["sentences"]) == len(SENTENCES)


def test_the_table_has_intervals_for_shares_and_says_what_it_leaves_out():
    rows = [{"test": "graded", "d": 2, "n": n, "released": 1} for n in range(401) for _ in range(3)]
    page = report_text([section("smallest-n", (), rows)], {})
    assert "0.2924 to 1</td>" in page  # three of three: 0.025^(1/3)
    assert "1 more lines are in results/smallest-n.csv" in page


def test_table_one_is_a_table_with_a_caption_and_heads_for_rows_and_columns():
    page = report_text([section("times", (), made_up_times().rows)], {})
    assert "<caption>Table I in seconds on the clock: here" in page
    assert '<th scope="col">exact, d = 4</th>' in page
    assert '<th scope="row">2000</th><td>here\nauthors\npaper</td><td>0.12\n14.6\n21.9</td>' in page
    assert "<td>0.12\nabout 760\n-</td>" in page


@pytest.mark.parametrize(
    ("ends", "expected"),
    [
        ((50, 2000), ["50", "100", "200", "500", "1000", "2000"]),
        ((10, 1e10), ["10", "100", "1000", *(f"$10^{{{e}}}$" for e in range(4, 11))]),
        ((1e-9, 1e-3), [f"$10^{{{e}}}$" for e in range(-9, -2)]),
        ((50_000, 200_000), [r"$5\cdot 10^{4}$", r"$7\cdot 10^{4}$", "$10^{5}$", r"$2\cdot 10^{5}$"]),
        ((4, 8), ["4", "5", "6", "7", "8"]),
    ],
)
def test_ticks_are_powers_of_ten_or_where_these_are_few_round_multiples_of_them(ends, expected):
    figure, panel = new_figure()
    panel.plot(ends, [1.0, 2.0])
    dress(panel, "n", "error", logy=False)
    figure.canvas.draw()
    low, high = panel.get_xlim()
    shown = [(t.get_position()[0], t.get_text()) for t in panel.get_xticklabels()]
    assert [text for at, text in shown if low <= at <= high] == expected


def test_progress_is_told_where_there_is_no_terminal_and_the_report_grows(few, tmp_path, monkeypatch, capsys):
    from tukeydp.paper.experiments import runner

    reports = []
    monkeypatch.setattr(runner, "_SECONDS_APART", -1.0)
    original = runner._store

    def noting(path, text):
        original(path, text)
        if path.name == "report.html":
            reports.append(text.count('<section id="'))

    monkeypatch.setattr(runner, "_store", noting)
    code, _, err = call(monkeypatch, capsys, "reproduce", "all", "--out", tmp_path, "--jobs", 1)
    assert code == 0
    assert "depth: 1 of " in err
    assert "depth: 2 borne out (1 of 2 experiments)" in err
    assert reports == [2, 3, 3]  # one experiment and the map, then both, then the whole without "so far"


def test_an_interrupted_run_keeps_its_report_and_goes_on(few, tmp_path, monkeypatch, capsys):
    from tukeydp.paper.experiments import runner

    original = runner.run_task

    def stopping(task, experiment=None):
        if task.experiment == "error-n":
            raise KeyboardInterrupt
        return original(task, experiment)

    monkeypatch.setattr(runner, "run_task", stopping)
    code, _, err = call(monkeypatch, capsys, "reproduce", "all", "--out", tmp_path, "--jobs", 1)
    assert code != 0
    assert "the same command goes on from here" in err
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "1 of 2 experiments so far" in page
    assert (tmp_path / "results" / "depth.csv").exists()
    code, _, err = call(monkeypatch, capsys, "reproduce", "all", "--out", tmp_path, "--jobs", 1)
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == page  # nothing was lost by trying again
    monkeypatch.setattr(runner, "run_task", original)
    code, *_ = call(monkeypatch, capsys, "reproduce", "all", "--out", tmp_path, "--jobs", 1)
    assert code == 0
    whole = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "so far" not in whole
    assert 'id="error-n"' in whole
