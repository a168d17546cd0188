"""The report: one file with every figure and verdict in it, from the command line."""

from __future__ import annotations

import base64
import io
import sys
from dataclasses import replace
from html.parser import HTMLParser

import matplotlib.image
import pytest

from support.browser import browser, seen
from tukeydp.cli import main
from tukeydp.experiments import catalogue
from tukeydp.experiments.claims import Verdict
from tukeydp.experiments.experiment import cell
from tukeydp.experiments.report import Section, write_report
from tukeydp.experiments.results import Results


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
    from tukeydp.experiments import command

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
    for name, source in zip(few, page.pictures, strict=True):
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


def test_the_report_opens_in_a_browser(few, tmp_path, monkeypatch, capsys):
    call(monkeypatch, capsys, "reproduce", "all", "--out", tmp_path, "--jobs", 1, "--quick")
    with browser() as chromium:
        page = seen(chromium, (tmp_path / "report.html").as_uri())
    assert page.complaints == []
    assert len(page.pictures) == len(few)
    assert min(page.pictures) > 100


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
    from tukeydp.experiments import command

    short = replace(catalogue.named("nonspherical"), cells=lambda quick: [cell(3, n=200, d=2)])
    monkeypatch.setattr(catalogue, "EXPERIMENTS", (short,))
    monkeypatch.setattr(command, "EXPERIMENTS", (short,))
    names = "nonspherical, nonspherical"
    code, *_ = call(monkeypatch, capsys, "reproduce", names, "--out", tmp_path, "--jobs", 1, "--seed", "-3")
    assert code == 0
    assert len(read(tmp_path / "report.html").pictures) == 1


def test_a_missing_package_is_named(tmp_path, monkeypatch, capsys):
    import importlib.util

    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *a: None if name == "joblib" else find(name, *a))
    code, _, err = call(monkeypatch, capsys, "reproduce", "depth", "--out", tmp_path)
    assert code == 2
    assert "tukeydp[reproduce]" in err


def test_what_was_chosen_after_a_look_at_results_is_marked(tmp_path):
    experiment = catalogue.named("depth")
    verdicts = tuple(
        Verdict(word, True, ("1",), afterwards) for word, afterwards in (("first", False), ("later", True))
    )
    picture = tmp_path / "picture.png"
    picture.write_bytes(b"")
    write_report(tmp_path / "report.html", [Section(experiment, Results([]), verdicts, picture)], {})
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "<td>first</td>" in page
    assert "<td>later <small>(chosen after a first look" in page


def test_the_table_has_intervals_for_shares_and_says_what_it_leaves_out(tmp_path):
    experiment = catalogue.named("smallest-n")
    rows = [{"test": "graded", "d": 2, "n": n, "released": 1} for n in range(401) for _ in range(3)]
    picture = tmp_path / "picture.png"
    picture.write_bytes(b"")
    write_report(tmp_path / "report.html", [Section(experiment, Results(rows), (), picture)], {})
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "0.2924 to 1</td>" in page  # three of three: 0.025^(1/3)
    assert "1 more lines are in results/smallest-n.csv" in page
