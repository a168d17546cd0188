"""Every block of Python and every command on every page runs as written, in order, in an empty folder.

The README has its own test (`tests/test_readme.py`), and so has `docs/extending.md`, whose blocks are files. A block
that must not run has a comment before it that says why: `<!-- not run: it takes an hour -->`.
"""

from __future__ import annotations

import pytest

from support.pages import RUN, blocks, run_command, run_page
from support.references import ROOT

DOCS = ROOT / "docs"
PAGES = sorted(path for path in DOCS.rglob("*.md") if path != DOCS / "extending.md")
WITH_CODE = [path for path in PAGES if any(block.language in RUN for block in blocks(path.read_text(encoding="utf-8")))]
# What must be printed on the way.
SAID = {
    "guide/budgets.md": "epsilon must be at most 0.1, what the accountant has left; got 0.2.",
    "guide/summary.md": "Summary of 2000 rows in 2 groups of arm",
}
# Few, or the pages are not tested: each has its reason on the page.
MOST_LEFT_OUT = 5


def name(path):
    return str(path.relative_to(DOCS))


@pytest.mark.usefixtures("no_false_alarm")
@pytest.mark.parametrize("page", WITH_CODE, ids=name)
def test_blocks_run_as_written(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    run_page(page)
    assert SAID.get(name(page), "") in capsys.readouterr().out


def test_few_blocks_are_left_out_and_each_says_why():
    found = [block for path in WITH_CODE for block in blocks(path.read_text(encoding="utf-8")) if block.why]
    assert len(found) <= MOST_LEFT_OUT
    assert all(len(block.why.split()) >= 3 for block in found)


def test_the_output_shown_first_is_what_is_printed():
    """Up to the sentences left out: as stored for a rehearsal, which has a banner besides."""
    text = (DOCS / "quick-start.md").read_text(encoding="utf-8")
    stored = (ROOT / "tests" / "cli" / "words" / "mean-verbose.txt").read_text(encoding="utf-8")
    shown = next(block.code for block in blocks(text) if block.language == "text")
    assert [line for line in shown.splitlines() if line.removesuffix(" ...") not in stored] == []


def test_sessions_are_in_blocks():
    """Those outside of a block would be shown badly, and not be run."""
    for path in PAGES:
        text = path.read_text(encoding="utf-8")
        inside = sum(block.code.count(">>> ") for block in blocks(text) if block.language == "python")
        assert text.count(">>> ") == inside, path.name


@pytest.mark.parametrize(
    ("page", "error"),
    [
        ("```python\nimport tukeydp as td\n```\n\n```python\ntd.average\n```\n", AttributeError),
        ("```python\n>>> 1 + 1\n3\n```\n", AssertionError),
        ("```python\n>>> x = 1\n```\n\n```python\n>>> x\n2\n```\n", AssertionError),
        ("```console\n$ tukeydp mean missing.csv --columns a --epsilon 1 --bounds=0,1\n```\n", AssertionError),
        ("```console\n$ tukeydp plan --rows 300 --columns pulse=30:200  # exit code 2\n```\n", AssertionError),
        ("```console\n$ rm patients.csv\n```\n", AssertionError),
        ("```console\ntukeydp demo\n```\n", AssertionError),
    ],
)
def test_a_wrong_block_would_fail(page, error, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "page.md"
    path.write_text(page, encoding="utf-8")
    with pytest.raises(error):
        run_page(path)


def test_blocks_share_their_names_and_a_reason_takes_one_out(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "page.md"
    path.write_text(
        "```python\na = 1\n```\n```python\n>>> b = a + 1\n>>> b\n2\n```\n"
        "<!-- not run: it would fail here -->\n```python\n1 / 0\n```\n```python\nc = a + b\n```\n",
        encoding="utf-8",
    )
    assert run_page(path)["c"] == 3
    run_command("tukeydp mean missing.csv --columns a --epsilon 1 --bounds=0,1  # no such file: exit code 2")
