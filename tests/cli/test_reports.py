"""`--out FILE`: reports that can be passed on, and that never cost a release."""

from __future__ import annotations

import csv
import io
import json
import os
import sys
from html.parser import HTMLParser

import pytest

from support.browser import browser, seen
from tukeydp.cli import main, reports

EVIL = "<script>alert(1)</script>"


@pytest.fixture
def run(capsys, monkeypatch):
    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["tukeydp", *map(str, arguments)])
        with pytest.raises(SystemExit) as stopped:
            main()
        out, err = capsys.readouterr()
        return stopped.value.code or 0, out, err

    return call


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "table.csv"
    lines = [f"{i % 17},{i % 5 * 10}" for i in range(200)]
    path.write_text("\n".join([f"{EVIL},=1+1|b", *lines]) + "\n", encoding="utf-8")
    return path


def asked(file, *outs, more=()):
    columns = ("--columns", EVIL, "--columns", "=1+1|b", "--unit", "=1+1|b=<i>kg</i>")
    budget = ("--epsilon=1", "--bounds=0,50", "--mechanism=cube", "--seed=1")
    return ("mean", file, *columns, *budget, *more, *(word for out in outs for word in ("--out", out)))


class Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.texts = [], []

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))

    def handle_data(self, data):
        self.texts.append(data)


def test_all_kinds_at_once(run, file, tmp_path):
    outs = [tmp_path / f"report{ending}" for ending in reports.REPORTS]
    code, said, err = run(*asked(file, *outs))
    assert (code, err) == (0, "")
    assert "Wrote" in said
    assert sorted(os.listdir(tmp_path)) == sorted(["table.csv", *(out.name for out in outs)])
    html, markdown, table, whole = (out.read_text(encoding="utf-8") for out in outs)
    told = json.loads(whole)
    assert told["columns"] == [EVIL, "=1+1|b"]
    assert told["units"] == [None, "<i>kg</i>"]
    rows = list(csv.DictReader(io.StringIO(table)))
    assert [float(row["released"]) for row in rows] == told["point"]
    assert rows[1]["column"] == "'=1+1|b"  # no formula
    assert {row["private"] for row in rows} == {"no"}
    for text in (html, markdown):
        for word in ("epsilon = 1", "NOT PRIVATE", "0 to 50", "arithmetic mean", "Accuracy"):
            assert word in text
    assert EVIL not in markdown
    assert "| =1+1\\|b |" in markdown


def test_the_page_is_self_contained_and_escaped(run, file, tmp_path):
    run(*asked(file, tmp_path / "r.html"))
    html = (tmp_path / "r.html").read_text(encoding="utf-8")
    tags = Tags()
    tags.feed(html)
    names = {tag for tag, _ in tags.tags}
    assert {"script", "i", "link", "img", "iframe"}.isdisjoint(names)
    assert EVIL in tags.texts
    assert all(not {"href", "src"} & set(attributes) for _, attributes in tags.tags)
    assert "url(" not in html
    assert "prefers-color-scheme: dark" in html
    assert "@media print" in html


def test_a_refusal_is_reported_too(run, file, tmp_path):
    arguments = ("centre", file, "--columns", "=1+1|b", "--epsilon=0.1", "--delta=1e-9", "--mechanism=rem", "--seed=1")
    outs = [tmp_path / f"r{ending}" for ending in reports.REPORTS]
    code, _, err = run(*arguments, *(word for out in outs for word in ("--out", out)))
    assert (code, err) == (3, "")
    html, markdown, table, whole = (out.read_text(encoding="utf-8") for out in outs)
    assert "No release" in html
    assert "The budget is spent" in markdown
    assert next(csv.DictReader(io.StringIO(table)))["released"] == ""
    assert json.loads(whole)["released"] is False


@pytest.mark.parametrize("name", ["report.pdf", "report", "no/such/folder/r.html", "folder.html", "table.csv"])
def test_a_wrong_name_is_refused_before_the_data_are_read(run, file, tmp_path, monkeypatch, name):
    (tmp_path / "folder.html").mkdir()
    monkeypatch.setattr("tukeydp.cli.reading.read_file", lambda *_: pytest.fail("the data were read"))
    monkeypatch.setattr("tukeydp.cli.reading.has_column", lambda *_: pytest.fail("the header was read"))
    before = file.read_bytes()
    for outs in ([tmp_path / name], [tmp_path / "fine.md", tmp_path / name]):
        code, out, err = run(*asked(file, *outs))
        assert (code, out) == (2, "")
        assert "out must" in err
    assert file.read_bytes() == before
    assert not (tmp_path / "fine.md").exists()


def test_the_same_file_twice_is_refused(run, file, tmp_path):
    code, out, err = run(*asked(file, tmp_path / "a.md", tmp_path / "a.md"))
    assert (code, out) == (2, "")
    assert "different files" in err


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="the superuser may write everywhere")
def test_a_protected_folder_is_refused(run, file, tmp_path):
    (tmp_path / "locked").mkdir(mode=0o500)
    code, _, err = run(*asked(file, tmp_path / "locked" / "r.html"))
    assert code == 2
    assert "out must" in err


@pytest.mark.parametrize("broken", [OSError(28, "No space left on device"), ValueError("4711.25")])
@pytest.mark.parametrize("as_json", [False, True])
def test_if_writing_fails_the_release_is_printed_all_the_same(run, file, tmp_path, monkeypatch, broken, as_json):
    def fails(_):
        raise broken

    (tmp_path / "r.html").write_text("old")
    monkeypatch.setitem(reports.REPORTS, ".html", fails)
    out = [tmp_path / "r.html", tmp_path / "r.md"]
    code, said, err = run(*asked(file, *out, more=["--json"] if as_json else []))
    assert code == 1
    assert (json.loads(said)["released"] if as_json else "epsilon = 1" in said) is True
    assert "r.html could not be written" in err
    assert "4711.25" not in err
    assert (tmp_path / "r.html").read_text() == "old"
    assert (tmp_path / "r.md").exists()  # one failure does not take the others along
    assert not [name for name in os.listdir(tmp_path) if name.endswith(".part")]


def test_half_a_file_is_never_left(run, file, tmp_path, monkeypatch):
    def fails(*_):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "replace", fails)
    code, _, err = run(*asked(file, tmp_path / "r.md"))
    assert code == 1
    assert "Input/output error" in err
    assert os.listdir(tmp_path) == ["table.csv"]


def test_a_report_can_be_read_by_others_as_any_file(run, file, tmp_path):
    before = os.umask(0o022)
    try:
        run(*asked(file, tmp_path / "r.md"))
    finally:
        os.umask(before)
    assert (tmp_path / "r.md").stat().st_mode & 0o777 == 0o644


def test_nothing_scrolls_sideways(run, file, tmp_path):
    run(*asked(file, tmp_path / "r.html"))
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    (tmp_path / "wide.html").write_text(page.replace("<main>", "<main><div style='width:2000px'>wide</div>"))
    with browser() as chromium:
        for width in (320, 390, 720, 1200):
            shown = seen(chromium, (tmp_path / "r.html").as_uri(), (width, 800))
            assert (shown.sideways, shown.complaints) == (0, [])
        assert seen(chromium, (tmp_path / "wide.html").as_uri()).sideways > 0  # the test can fail
