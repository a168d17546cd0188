"""What pages say of tables larger than memory is what was measured, and the plan for a cluster is its arithmetic."""

from __future__ import annotations

import importlib
import sys

import pytest

from support.references import ROOT


@pytest.fixture(scope="module")
def tool():
    """tools/larger_results.py, which stands beside the tool that it borrows from."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT / "tools"))
        yield importlib.import_module("larger_results")
        for name in ("larger_results", "docs_results"):
            sys.modules.pop(name, None)


def test_pages_say_what_was_measured(tool):
    for path, part in tool.pages().items():
        page = path.read_text(encoding="utf-8")
        assert tool.with_table(page, part, tool.BEGIN) == page, "run `python tools/larger_results.py`"
        assert tool.with_table(page, f"{part} and more", tool.BEGIN) != page  # the control


def test_every_engine_was_measured_with_every_call_below_two_gibibytes(tool):
    lines = [line for line in tool.figures() if not line.small]
    means = {(line.engine, line.workers, line.call) for line in lines if line.engine != "chunks"}
    engines = {("polars", 1), ("duckdb", 1), ("dask", 1), ("dask", 2), ("dask", 4), ("spark", 2)}
    assert means == {(*engine, call) for engine in engines for call in tool.CALLS}
    assert ("chunks", "td.boxem") in {(line.engine, line.call) for line in lines}
    assert max(line.memory for line in lines) < 2048
    assert len({(line.rows, line.columns) for line in lines}) == 1


def made_up(tool):
    """Round numbers: 100 million rows, for which a core takes 36 s; twice the workers, half of the clock."""
    lines = [tool.Figures("chunks", 1, "td.boxem", "boxem", 10**8, 5, 3, 90.0, 180.0, 0, 500)]
    for workers in (1, 2, 4):
        for call in tool.CALLS:
            rest = (2, 36.0 / workers, 36.0, 0, 300 * workers)
            lines.append(tool.Figures("dask", workers, call, "", 10**8, 5, *rest))
    small = tool.Figures("dask", 2, "td.cube, 1000 small partitions", "cube", 10**5, 5, 2, 15.0, 30.0, 0, 600)
    return [*lines, small]


def test_the_plan_is_arithmetic_on_the_figures(tool):
    plan = tool.cluster_plan(made_up(tool))
    # 36 s for a hundredth of the rows: an hour of CPU, sixty minutes over 64 cores. Two passes of 1e8 rows in 36 s.
    assert (
        "| `td.cube` | 2 | 36.0 s for 1e+08 | 5.6 million | 36.0 x 100 / 3600 = 1.0 | 60 / 64 = 0.9 | 168 bytes |"
        in plan
    )
    assert "went down by a factor of 2.00 to 2.00" in plan
    # 30 s for a thousand partitions, which are counted and then read twice.
    assert "takes 10 ms of CPU on scheduler and workers together: 2,385 x 10 ms = 24 s a pass" in plan
    assert "A worker took 300 MiB, measured as (1,200 - 600) / 2" in plan
    assert "1e+10 x 5 x 8 bytes = 400.0 GB" in plan
    assert "1e+10 / 64 / 5.6 million = 28 s" in plan
    assert "180 x 100 / 3600 = 5.0 hours of CPU" in plan


def test_what_a_partition_hands_on_is_what_a_pass_adds_up(tool):
    """Cube noise: sums and numbers of five columns as two numbers each, and the number of rows."""
    assert tool._handed_on("td.cube", 5) == 8 * (1 + 2 * 10)
    assert tool._handed_on("td.mean", 5) > tool._handed_on("td.mean, subset", 5) > 10_000


def test_noise_is_nothing_beside_sampling_at_that_size(tool):
    """What the page's advice rests on: cube noise at epsilon 0.1 is below a tenth of 1 / sqrt(n)."""
    line = next(line for line in tool.cluster_plan(made_up(tool)).splitlines() if line.startswith("| 0.1 |"))
    assert float(line.split("|")[2]) < 0.1 / tool.ROWS**0.5
