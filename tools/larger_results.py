"""Renews what pages say of tables larger than memory, from docs/results/larger-than-memory.csv.

`make bench-larger` measures the figures and calls this; `python tools/larger_results.py` writes the pages again. The
plan for a cluster is arithmetic on these figures and on what the package itself plans for so many rows.
"""

from __future__ import annotations

import csv
import math
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple, get_type_hints

import numpy as np
from docs_results import with_table

from tukeydp.mechanisms.mean_ways import way_error
from tukeydp.mechanisms.passes import pass_plan
from tukeydp.trusted.account import PureDP
from tukeydp.trusted.block_steps import SpreadPass, SubsetPass
from tukeydp.trusted.clipped_sums import Values
from tukeydp.trusted.release import rehearsed_charge
from tukeydp.trusted.rows import BoundedColumns, bounded_columns

DOCS = Path(__file__).resolve().parents[1] / "docs"
FIGURES = DOCS / "results" / "larger-than-memory.csv"
BEGIN = "<!-- begin: made by tools/larger_results.py -->"

ROWS = 10**10  # of the plan
CORES = 64
PARTITION = 2**22  # rows: 160 MiB of five columns
CALLS = {"td.cube": "cube", "td.mean": "two-step", "td.mean, subset": "subset"}
WIDTH = 100.0  # of the bounds, in standard deviations: those of the measured table
CELL, SUM = 8, 8  # bytes
COPIES = 4  # of a partition's cells while it is worked off: the page, the frame, the matrix, a piece of it


class Figures(NamedTuple):
    """One line of the file; `small` is the number of partitions of a job that had hardly a row."""

    engine: str
    workers: int
    call: str
    mechanism: str
    rows: int
    columns: int
    passes: int
    clock: float
    cpu: float
    rate: int
    memory: int

    @property
    def small(self) -> int:
        _, _, words = self.call.partition(", ")
        return int(words.split()[0]) if words.endswith("small partitions") else 0


def figures(path: Path = FIGURES) -> list[Figures]:
    kinds = get_type_hints(Figures).values()
    with path.open(encoding="utf-8", newline="") as file:
        _, *lines = csv.reader(file)
    return [Figures(*(kind(cell) for kind, cell in zip(kinds, line, strict=True))) for line in lines]


def one(lines: list[Figures], engine: str, workers: int, call: str) -> Figures:
    (found,) = [line for line in lines if (line.engine, line.workers, line.call) == (engine, workers, call)]
    return found


def measured_table(lines: list[Figures]) -> str:
    """Every job of the benchmark on the large file."""
    large = [line for line in lines if not line.small]
    rows = [
        f"{large[0].rows:,} rows of {large[0].columns} columns, epsilon 1, one Parquet file, two cores:",
        "",
        "| engine | workers | call | passes | CPU seconds | clock | million rows a second | memory, all processes |",
        "|---|--:|---|--:|--:|--:|--:|--:|",
    ]
    for line in large:
        named = f"`{line.call}`" if line.call != "td.mean" else "`td.mean` (chooses two-step)"
        rows.append(
            f"| {line.engine} | {line.workers} | {named} | {line.passes} | {line.cpu:.1f} | {line.clock:.1f} | "
            f"{line.rate / 1e6:.2f} | {line.memory:,} MiB |"
        )
    most = max(line.memory for line in large)
    return "\n".join([*rows, "", f"The most memory that a job had, with all of its workers: {most:,} MiB."])


def cluster_plan(lines: list[Figures]) -> str:
    """The arithmetic of the page, from the figures of Dask with two workers."""
    return "\n".join([*_time(lines), "", *_speedup(lines), "", *_workers(lines), "", *_noise(), "", *_centre(lines)])


def _time(lines: list[Figures]) -> list[str]:
    found = [
        f"**Time.** Measured: Dask, two workers of one core. Planned: {ROWS:.0e} rows on {CORES} such cores, "
        f"{_partitions():,} partitions of {PARTITION:,} rows.",
        "",
        "| call | passes | measured | rows a second, core and pass | CPU hours | minutes on all cores | "
        "a partition hands on | all of them, each pass |",
        "|---|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for call in CALLS:
        line = one(lines, "dask", 2, call)
        hours = line.cpu * ROWS / line.rows / 3600
        size = _handed_on(call, line.columns)
        found.append(
            f"| `{call}` | {line.passes} | {line.cpu:.1f} s for {line.rows:.0e} | "
            f"{line.rows * line.passes / line.cpu / 1e6:.1f} million | "
            f"{line.cpu:.1f} x {ROWS / line.rows:.0f} / 3600 = {hours:.1f} | {hours * 60:.0f} / {CORES} = "
            f"{hours * 60 / CORES:.1f} | {_bytes(size)} | {_bytes(size * _partitions())} |"
        )
    return found


def _partitions() -> int:
    return -(-ROWS // PARTITION)


def _handed_on(call: str, d: int) -> int:
    """Bytes of what a partition adds to the largest of the passes: two numbers for each sum, and how many rows."""
    columns = _columns(d)
    plan = pass_plan(ROWS, columns, Fraction(1), mechanism=CALLS[call])
    # How much is added up depends on no key.
    charges = iter(lambda: rehearsed_charge(PureDP(Fraction(1)), bytes(32)), None)
    if plan.mechanism == "cube":
        length = Values(columns).length
    elif plan.mechanism == "subset":
        length = SubsetPass(plan.plan, columns, next(charges)).sums.length
    else:
        centre = SubsetPass(plan.plan.centre, columns, next(charges))
        length = centre.sums.length + SpreadPass(plan.plan.spread, columns, next(charges)).sums.length
    return SUM * (1 + 2 * length)


def _columns(d: int) -> BoundedColumns:
    return bounded_columns(d, (-WIDTH / 2, WIDTH / 2))


def _bytes(count: float) -> str:
    """As a person says it."""
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return f"{count:.0f} bytes"


def _speedup(lines: list[Figures]) -> list[str]:
    gains = [one(lines, "dask", 1, call).clock / one(lines, "dask", 2, call).clock for call in CALLS]
    small = next(line for line in lines if line.small)
    # The rows are counted once, which is a pass over the partitions as well.
    each = small.cpu / (small.small * (small.passes + 1))
    added, finer = _partitions() * each, ROWS / 2**16 * each / 60
    return [
        "**What is added for many workers.** From one worker to two the clock went down by a factor of "
        f"{min(gains):.2f} to {max(gains):.2f}. Dask's own work for a partition and a pass, measured with "
        f"{small.small:,} partitions of hardly a row, takes {1000 * each:.0f} ms of CPU on scheduler and workers "
        f"together: {_partitions():,} x {1000 * each:.0f} ms = {added:.0f} s a pass. With partitions of {2**16:,} rows "
        f"it would be {finer:.0f} minutes.",
    ]


def _workers(lines: list[Figures]) -> list[str]:
    two, four = (max(one(lines, "dask", workers, call).memory for call in CALLS) for workers in (2, 4))
    line = one(lines, "dask", 2, "td.cube")
    # What a larger partition takes beside those of the benchmark, of which half a million rows are in memory.
    worker = (four - two) / 2
    partition = COPIES * PARTITION * line.columns * CELL / 2**20
    rate = line.rows * line.passes / line.cpu
    table = ROWS * line.columns * CELL
    share = ROWS / CORES / rate
    asks = rate * line.columns * CELL
    return [
        f"**Memory.** A worker took {worker:.0f} MiB, measured as ({four:,} - {two:,}) / 2 from two to four of them; a "
        f"partition of the plan takes at most {COPIES} x {PARTITION:,} x {line.columns} x {CELL} bytes = "
        f"{partition:.0f} MiB more: {worker + partition:.0f} MiB.",
        "",
        f"**Storage.** A pass reads {ROWS:.0e} x {line.columns} x {CELL} bytes = {_bytes(table)}, unless columns "
        f"compress. At {rate / 1e6:.1f} million rows a second a core of `td.cube` asks for {_bytes(asks)} a second, "
        f"{CORES} of them for {_bytes(CORES * asks)}: where storage gives less, it sets the time.",
        "",
        f"**A lost worker** costs what it was doing, a partition of {PARTITION / rate:.1f} s, and what it held of this "
        f"pass and had not handed on: at worst its whole share of a pass, {ROWS:.0e} / {CORES} / {rate / 1e6:.1f} "
        f"million = {share:.0f} s, which the others do again.",
    ]


def _noise() -> list[str]:
    found = [
        "**Noise.** Median error that privacy adds, in standard deviations, for bounds "
        f"{WIDTH:.0f} of them wide and five columns; sampling alone: 1 / sqrt({ROWS:.0e}) = {1 / math.sqrt(ROWS):.0e}.",
        "",
        "| epsilon | `td.cube` | `td.mean`, two-step | blocks of its first pass |",
        "|--:|--:|--:|--:|",
    ]
    columns, widths = _columns(5), np.full(5, WIDTH)
    for epsilon in (Fraction(1), Fraction(1, 10)):
        cube, steps = (pass_plan(ROWS, columns, epsilon, mechanism=name) for name in ("cube", "two-step"))
        blocks = steps.plan.centre.blocks + 2 * steps.plan.spread.pairs
        errors = " | ".join(f"{way_error(plan, ROWS, widths):.0e}" for plan in (cube, steps))
        found.append(f"| {float(epsilon):g} | {errors} | {blocks:,} |")
    return found


def _centre(lines: list[Figures]) -> list[str]:
    line = one(lines, "chunks", 1, "td.boxem")
    hours = line.cpu * ROWS / line.rows / 3600
    sampling = 1 / math.sqrt(ROWS / 100)
    return [
        f"**A centre** is not for a cluster: `td.boxem(td.chunks(...))` took {line.cpu:.0f} s of CPU for "
        f"{line.rows:.0e} rows in {line.passes} passes and {line.memory:,} MiB, so {line.cpu:.0f} x "
        f"{ROWS / line.rows:.0f} / 3600 = {hours:.1f} hours of CPU for {ROWS:.0e}, by one process. A random sample of "
        f"1 in 100 rows, drawn before, has a centre that is off by about {sampling:.0e} standard deviations from "
        f"sampling, and takes {hours * 36:.0f} s.",
    ]


def pages() -> dict[Path, str]:
    """Every page with the part that belongs into it."""
    lines = figures()
    return {
        DOCS / "guide" / "larger-than-memory.md": measured_table(lines),
        DOCS / "guide" / "cluster.md": cluster_plan(lines),
    }


def main() -> None:
    for path, part in pages().items():
        path.write_text(with_table(path.read_text(encoding="utf-8"), part, BEGIN), encoding="utf-8")


if __name__ == "__main__":
    main()
