"""docs/which-mechanism.md against the code: its tables, its calls and what they print."""

from __future__ import annotations

import re
from fractions import Fraction

import numpy as np
import pytest

import tukeydp as td
from support.references import ROOT
from tukeydp.mechanisms.mean_ways import ScaledMean, mean_plan
from tukeydp.trusted.rows import bounded_columns

TEXT = (ROOT / "docs" / "which-mechanism.md").read_text(encoding="utf-8")
COLUMNS = 4


def tables(text):
    """(widths, {rows: mechanisms}) of each table whose first column is rows."""
    found = []
    for head, body in re.findall(r"^\| rows \|(.*)\|\n\|[-|]+\|\n((?:\|.*\|\n)+)", text, flags=re.MULTILINE):
        widths = [int(width) for width in re.findall(r"(\d+) sd", head)]
        lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in body.splitlines()]
        found.append((widths, {int(line[0].replace(",", "")): line[1:] for line in lines}))
    return found


def taken(n, width, known):
    """What td.mean takes for bounds so many standard deviations wide; without `sd`, if the width is found right."""
    plan = mean_plan(n, bounded_columns(COLUMNS, (0, width), None), Fraction(1), sd=1 if known else None)
    if isinstance(plan, ScaledMean):
        return plan.way(n, np.full(COLUMNS, float(width))).mechanism
    return plan.mechanism


def wrong(text):
    return [
        (known, n, width, told, taken(n, width, known))
        for known, (widths, lines) in zip((True, False), tables(text), strict=True)
        for n, cells in lines.items()
        for width, told in zip(widths, cells, strict=True)
        if told != taken(n, width, known)
    ]


def test_the_tables_are_what_the_code_takes():
    (widths, lines), _ = tables(TEXT)
    assert len(widths) * len(lines) >= 50
    assert wrong(TEXT) == []


def test_a_wrong_cell_would_be_noticed():
    assert len(wrong(TEXT.replace("| two-step | subset |", "| two-step | cube |", 1))) == 1


def test_fewer_rows_than_500_over_epsilon_are_assumed_to_lie_in_wide_bounds():
    columns = bounded_columns(COLUMNS, (0, 10), None)
    assert not isinstance(mean_plan(499, columns, Fraction(1)), ScaledMean)
    assert isinstance(mean_plan(500, columns, Fraction(1)), ScaledMean)
    assert isinstance(mean_plan(250, columns, Fraction(2)), ScaledMean)


@pytest.mark.parametrize("block", re.findall(r"^```python\n(.*?)^```\n\n```text\n(.*?)^```$", TEXT, re.M | re.S))
def test_plans_print_what_is_shown(block, tmp_path, monkeypatch, capsys):
    code, shown = block
    monkeypatch.chdir(tmp_path)
    exec(compile(code, "which-mechanism.md", "exec"), {"td": td})
    assert capsys.readouterr().out == shown
