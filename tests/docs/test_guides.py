"""Examples in the guides run as written."""

from __future__ import annotations

import doctest

import pytest

from support.references import ROOT

GUIDES = sorted(path for path in (ROOT / "docs" / "guide").glob("*.md") if ">>> " in path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("page", GUIDES, ids=lambda page: page.stem)
def test_examples_run_as_written(page):
    tried = doctest.testfile(str(page), module_relative=False, encoding="utf-8")
    assert tried.attempted
    assert not tried.failed
