"""Every message that a user can see from the reader, `look` and the commands, as cases that can be run again.

`python tests/support/messages.py` (with `src` and `tests` on PYTHONPATH) writes what they say today into
`tests/snapshots/`, one file for each group. Read the difference before you commit it.
"""

from __future__ import annotations

import contextlib
import datetime
import gzip
import io
import os
import re
import shlex
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd
import polars as pl

import tukeydp as td
from support import messy
from support.references import ROOT
from tukeydp.cli import main
from tukeydp.data.engines.batches import require_told_apart
from tukeydp.data.files import read_file
from tukeydp.data.lazy_tables import LazyTable
from tukeydp.data.look import flags
from tukeydp.data.readers.options import ReadOptions
from tukeydp.data.readers.unpacked import refuse_bombs

FOLDER = Path(__file__).parent.parent / "snapshots"
ROWS = 300
PLAIN = "age,pulse,note\n" + "".join(f"{20 + i % 60},{60 + i % 40},n{i}\n" for i in range(ROWS))
FILES: dict[str, bytes] = {
    "t.csv": PLAIN.encode(),
    "yes.csv": ("smokes\n" + "".join(f"{int(i % 10 < 3)}\n" for i in range(ROWS))).encode(),
    "few.csv": b"age,pulse\n30,70\n31,72\n",
    "comma.csv": ("age;pulse\n" + "".join(f"{20 + i % 60},5;{60 + i % 40},25\n" for i in range(ROWS))).encode(),
    "units.csv": ("age,pulse\n" + "".join(f"{20 + i % 60},{60 + i % 40} bpm\n" for i in range(ROWS))).encode(),
    "thousands.csv": ("income\n" + "".join(f'"{1000 + 7 * i:,}"\n' for i in range(ROWS))).encode(),
    "no-header.csv": b"30,70\n31,72\n",
    "no-header-german.csv": b"30,5;70,1\n31,2;72,4\n",
    "years.csv": b"id,2019\n30,70\n31,72\n",
    "no-header.xlsx": messy.workbook(("S", [[30, 70], [31, 72]])),
    "empty.xlsx": messy.workbook(("S", [])),
    "t.parquet": messy.written("to_parquet"),
    "text.parquet": b"PAR1 and no more",
    "cut.arrow": messy.written("to_feather")[:80],
    "cut.gz": b"\x1f\x8b\x08 and no more",
    "old.feather": b"FEA1....",
    "open-quote.csv": b'"' + b"a" * (1 << 25),
    "odd-header.csv": b'a"b\rc"d\n1\n',
    "utf16.csv": "a\n1\n".encode("utf-16-le"),
    "book.csv": messy.workbook(("S", [["age"], [30]])),
    "latin.csv": "Größe\n1\n".encode("cp1252"),
    "b.csv": b"column,lower,upper\nage,0,120\npulse,30,220\nheight,0,3\n",
    "b.json": b'{"age": [0, 120], "pulse": [30.5, 220]}',
    "b.toml": b"age = [0, 120]\npulse = [30.5, 220]\n",
    "header.csv": b"name,low,high\nage,0,120\n",
    "line.csv": b"column,lower,upper\nage,0\n",
    "numbers.csv": b"column;lower;upper\nage;zero;120\n",
    "twice.csv": b"column,lower,upper\nage,0,120\nage,0,130\n",
    "latin-bounds.csv": "column,lower,upper\nGröße,0,3\n".encode("cp1252"),
    "bad.json": b"{",
    "list.json": b"[1, 2]",
    "pairs.json": b'{"age": [0, 120, 3]}',
    "bad.toml": b"age = [0,",
    "bad.yaml": b"age: [0,",
    "order.csv": b"column,lower,upper\nage,9,1\n",
    "spread.csv": b"column,sd\nage,0\n",
    "again.csv": b"column,categories\nsex,f | f\n",
    "unlisted.csv": b"column,type\nage,category\n",
    "commas.csv": b'column,categories\nage,"f, m"\n',
    "semicolons.csv": b"column,missing\nage,99; -9\n",
    "strange.csv": b"column,type\nsize,number\n",
    "options.csv": b"# colour,blue\ncolumn,type\nage,number\n",
    "skipped.csv": b"# skip,few\ncolumn,type\nage,number\n",
    "blank.csv": b'column,categories\nsex,", male | f"\n',
    "kind.csv": b"column,type\nsex,colour\n",
    "limit.csv": b"column,detection\ncrp,0.3\n",
    "nameless.csv": b"column,lower\n,3\n",
    "truth.json": b'{"age": {"lower": true}}',
}
ASKED = "--columns age --epsilon 1 --bounds 0,120 --seed 1"

RELEASES = [
    f"mean t.csv {ASKED}",
    f"mean t.csv {ASKED} --no-check --mechanism cube",
    f"mean few.csv {ASKED}",
    "mean t.csv --columns age --epsilon 11 --bounds 0,1 --seed 1",
    "mean t.csv --columns age,pulse --epsilon 1 --bounds-file b.csv --mechanism cube --fill age=50 --fill 70 --seed 1",
    f"centre t.csv {ASKED}",
    "centre few.csv --columns age,pulse --epsilon 1 --delta 1e-6 --mechanism rem --seed 1",
    "mean few.csv --columns age,pulse --epsilon 1 --delta 1e-6 --seed 1",
    f"centre few.csv {ASKED} --unproven mcmc",
    f"centre t.csv {ASKED} --certify 0.2",
    f"mean t.csv {ASKED} --neighbours add-remove --mechanism cube",
    "mean yes.csv --columns smokes --epsilon 1 --bounds 0,1 --confidence 0.95 --seed 1",
    "regress t.csv --target pulse --features age --epsilon 1 --confidence 0.95 --seed 1",
]
PLANS = [
    "plan --rows 500 --columns age=0:120,pulse=30:220 --sd pulse=12",
    "plan --rows 500 --columns age,pulse --delta 1e-6",
    "plan --rows 500 --columns age=0:120 --error 0.05 --sd 15",
    "plan --epsilon 1 --columns age=0:120 --error age=1 --sd 15",
    "plan --rows 2000 --columns age=0:120,pulse=30:220 --by 4",
]
STOPS = [
    "mean t.csv --columns age,note --epsilon 1 --bounds 0,120 --seed 1",
    f"mean comma.csv {ASKED} --separator ;",
    "centre units.csv --columns pulse --epsilon 1 --bounds 0,220 --seed 1",
    "mean thousands.csv --columns income --epsilon 1 --bounds 0,10000 --seed 1 --json",
    "mean t.csv --columns pulse --by note --keys A,B --epsilon 1 --bounds 0,220 --seed 1",
]
LOOKS = [
    "look t.csv --bounds-file b.csv",
    "look t.csv --bounds 0,60",
    "look comma.csv",
    "look units.csv",
    "look thousands.csv",
    "look no-header.csv",
    "look no-header-german.csv",
    "look no-header.xlsx",
    "look no-header.csv --no-header",
    "look years.csv",
    "look few.csv --json",
    "look t.parquet",
    "look text.parquet",
    "look cut.gz",
    "look old.feather",
    "look empty.xlsx",
    "look none.csv",
    "look t.csv --bounds 0,60 --bounds age=0,1",
    "look t.csv --bounds zzz=0,1",
    "look t.csv --unit kg --unit pulse=bpm",
]
COMMANDS = [
    f"mean t.csv {ASKED} --allow-unreadable 3",
    f"mean t.csv {ASKED} --allow-unreadable 0.1 --no-check",
    f"mean t.csv {ASKED} --allow-unlisted 0.1",
    f"mean t.csv {ASKED} --rows 300",
    f"mean t.csv {ASKED} --neighbours add-remove",
    f"mean t.csv {ASKED} --neighbours add-remove --rows 300 --mechanism two-step",
    f"mean t.csv {ASKED} --neighbours add-remove --rows 300 --confidence 0.95",
    f"mean t.csv {ASKED} --neighbours replace",
    f"mean t.csv {ASKED} --neighbours add-remove --rows 300 --by note --keys A",
    "ledger create study.db --epsilon 1 --persons --neighbours add-remove",
    "ledger create rows.db --epsilon 1",
    "app --ledger rows.db --persons --no-browser",
    "app --demo --no-browser --language klingon",
    "app --demo --no-browser --pad-to never",
    "summary t.csv --columns age --epsilon 1",
    f"summary t.csv {ASKED} --keys A",
    f"summary t.csv {ASKED} --by age --keys A",
    f"summary t.csv {ASKED} --by note",
    f"summary t.csv {ASKED} --by note --keys A,A",
    f"summary t.csv {ASKED} --out table.pdf",
    f"summary t.csv {ASKED} --out t.csv",
    f"summary t.csv {ASKED} --out nowhere/table.csv",
    "regress t.csv --features age --epsilon 1 --delta 1e-6",
    "regress t.csv --target pulse --epsilon 1 --delta 1e-6",
    "regress t.csv --target pulse --features age,pulse --epsilon 1 --delta 1e-6",
    "regress t.csv --target pulse --features age --epsilon 1 --delta 1e-6 --confidence 0.95",
    "regress t.csv --target pulse --features age --epsilon 1 --delta 1e-6",
    "regress t.csv --target pulse --features age --epsilon 1 --delta 1e-6 --ranges age=0,100",
    "quantiles t.csv --columns age --epsilon 1",
    f"quantiles t.csv {ASKED} --q 0.5,2",
    f"quantiles t.csv {ASKED} --q half",
    "counts t.csv --epsilon 1",
    "counts t.csv --column note --epsilon 1",
    "counts t.csv --column note --categories a --cross --epsilon 1",
    "counts t.csv --column note --column age --categories a,b --epsilon 1",
    "counts t.csv --column note --categories note=a --categories b --epsilon 1",
    "counts t.csv --column notes --categories a --epsilon 1",
    "counts t.csv --column note --categories a --by note --keys A --epsilon 1",
    f"mean t.csv {ASKED} --person age",
    f"mean t.csv {ASKED} --per-person median",
    f"centre t.csv {ASKED} --person note --by note --keys A",
    f"mean t.csv {ASKED} --by note",
    f"mean t.csv {ASKED} --by note --keys A --confidence 0.95",
    f"mean t.csv {ASKED} --by note --keys A --fill 1",
    f"mean t.csv {ASKED} --by note --keys A --keys-file b.csv",
    f"mean t.csv {ASKED} --counts 0.1",
    f"centre t.csv {ASKED} --by note --keys-file nowhere.txt",
    "centre t.csv --columns age --epsilon 1 --delta 1e-6 --mechanism rem --by note --keys A --seed 1",
    "centre t.csv --columns age --epsilon 1 --delta 1e-6 --mechanism rem --by note --keys A --counts 0.1",
    f"mean t.csv {ASKED} --person note --per-person mean --per-person median",
    "mean t.csv --epsilon 1 --bounds 0,120",
    f"mean t.csv u.csv {ASKED}",
    f"mean t.csv {ASKED} --depth exact",
    f"mean t.csv {ASKED} --epsilom 1",
    f"mean t.csv {ASKED} --mechanism subste",
    f"mean t.csv {ASKED} --mechanism boxem",
    f"mean t.csv {ASKED} --fill 3",
    f"mean t.csv {ASKED} --delta 1e-6",
    f"mean t.csv {ASKED} --confidence 0.95",
    f"mean t.csv {ASKED} --confidence 95",
    f"mean t.csv {ASKED} --joint",
    f"mean t.csv {ASKED} --confidence 0.95 --mechanism cube --fill 50",
    f"mean t.csv {ASKED} --confidence 0.95 --mechanism plan",
    f"centre t.csv {ASKED} --certify 2",
    f"mean t.csv {ASKED} --mechanism gaussian",
    f"mean t.csv {ASKED} --mechanism coinpress --delta 1e-6",
    f"mean t.csv {ASKED} --mechanism cube --fill 300",
    "mean t.csv --columns age --epsilon 0 --bounds 0,120",
    "mean t.csv --columns age --epsilon much --bounds 0,120",
    "mean t.csv --columns age,pulse --epsilon 1 --bounds age=0,120",
    "mean t.csv --columns age --epsilon 1 --bounds pulse=0,120",
    "mean t.csv --columns age --epsilon 1 --bounds 120,0",
    "mean t.csv --columns age --epsilon 1 --bounds 0,120 --bounds 0,130",
    "mean t.csv --columns age --epsilon 1 --bounds 0,1e301",
    "mean t.csv --columns age --epsilon 1 --bounds 0,1e-305",
    f"mean t.csv {ASKED} --unit pulse=bpm",
    f"mean nowhere.csv {ASKED}",
    f"mean . {ASKED}",
    f"mean open-quote.csv {ASKED}",
    f"mean odd-header.csv {ASKED}",
    f"mean empty.xlsx {ASKED}",
    f"mean cut.arrow {ASKED}",
    f"mean utf16.csv {ASKED} --encoding utf-16-be",
    f"mean utf16.csv {ASKED} --encoding utf-16",
    f"mean t.csv {ASKED} --encoding klingon",
    f"mean t.csv {ASKED} --separator ab",
    f"mean t.csv {ASKED} --quote x",
    f"mean t.csv {ASKED} --decimal x",
    f"mean t.csv {ASKED} --thousands x",
    f"mean t.csv {ASKED} --thousands .",
    f"mean t.csv {ASKED} --unit 5",
    f"mean t.csv {ASKED} --skip -1",
    f"mean t.csv {ASKED} --format json",
    f"centre t.csv {ASKED} --sd 3",
    f"centre t.csv {ASKED} --stream",
    f"centre t.parquet {ASKED} --memory 5",
    f"centre t.parquet {ASKED} --stream --memory 0",
    "centre t.parquet --columns a --epsilon 1 --bounds 0,120 --seed 1 --stream --depth exact",
    f"centre t.parquet {ASKED} --stream --by note --keys A",
    f"centre text.parquet {ASKED} --stream",
    f"centre nowhere.parquet {ASKED} --stream",
    "centre t.parquet --columns age --epsilon 1 --delta 1e-6 --mechanism rem --stream",
    "centre t.csv --columns age --epsilon 1",
    "centre t.csv --columns age --epsilon 1 --mechanism rem",
    f"centre t.csv {ASKED} --resolution 1000",
    f"centre t.csv {ASKED} --resolution 1e-301",
    f"centre t.csv {ASKED} --resolution 1e-30",
    f"centre t.csv {ASKED} --depth fast",
    f"centre t.csv {ASKED} --mechanism cube",
    *(f"mean t.csv --columns age --epsilon 1 --bounds-file {name}" for name in (
        "header.csv", "line.csv", "numbers.csv", "twice.csv", "latin-bounds.csv", "bad.json", "list.json",
        "pairs.json", "bad.toml", "none.csv")),
    *(f"mean t.csv --columns age --epsilon 1 --dictionary {name}" for name in (
        "bad.yaml", "order.csv", "spread.csv", "again.csv", "blank.csv", "kind.csv", "limit.csv",
        "nameless.csv", "truth.json")),
    f"mean t.csv {ASKED} --detection age=0.3",
    "table1 t.csv --epsilon 1 --dictionary unlisted.csv",
    *(f"table1 t.csv --epsilon 1 --dictionary {name}.csv" for name in (
        "strange", "commas", "semicolons", "options", "skipped")),
    "look t.csv --write-dictionary t.csv",
    "look t.csv --format spss",
    f"mean t.csv {ASKED} --out r.pdf",
    f"mean t.csv {ASKED} --out r.md --out r.md",
    f"mean t.csv {ASKED} --out t.csv",
    f"mean t.csv {ASKED} --out folder.html",
    f"mean t.csv {ASKED} --out nowhere/r.html",
    "plan --rows 500",
    "plan --rows 500 --columns age=0:120 --bounds 0,1",
    "plan --rows 500 --columns age=0:120,age=0:100",
    "plan --rows 500 --columns age=0:120,pulse",
    "plan --rows 500 --columns age=0-120",
    "plan --rows 500 --columns age=0:120 --sd 10,12",
    "plan --rows 500 --columns 2 --bounds 0,100 --sd age=12",
    "plan --rows many --columns age=0:120",
    "plan --rows 500 --columns age=0:120 --missing some",
    "plan --rows 500 --columns age=0:120 --missing 5",
    "plan --rows 0 --columns age=0:120",
    "plan --rows 500 --columns age",
    "plan --rows 500 --columns age=0:120 --plot p.pdf",
    "plan --rows 500 --columns age --delta 1e-6 --by 2",
    "contours t.csv --columns age,pulse --out p.gif",
    "contours t.csv --columns age,pulse --out nowhere/p.png",
    "demo --save nowhere/t.csv",
    "app --ledger nowhere/study.db --no-browser",
    "audit --only nonsense",
    "audit --html nowhere/audit.html",
    "mean",
    "average t.csv",
]  # fmt: skip


@dataclass(frozen=True)
class Call:
    """A call from Python that raises."""

    text: str
    job: Callable[[], Any]


X = np.zeros((3, 2))
NAMED = pd.DataFrame({"age": [1.0, 2.0], "pulse": [3.0, 4.0]})


def _streamed(source: Any, **options: Any) -> Any:
    return td.boxem(td.chunks(source, **options), epsilon=1, bounds=(0, 1))


def _growing() -> Callable[[], list[Any]]:
    """One row more each time."""
    rows = iter(range(3, 100))
    return lambda: [np.zeros((next(rows), 2))]


CALLS = [
    Call("td.boxem(x, epsilon=1)", lambda: td.boxem(X, epsilon=1)),
    Call("td.mean(x, epsilon=1)", lambda: td.mean(X, epsilon=1)),
    Call("td.cube(x, epsilon=1)", lambda: td.cube(X, epsilon=1)),
    Call("td.spread(x, epsilon=1)", lambda: td.spread(X, epsilon=1)),
    Call("td.baselines.gaussian(x, epsilon=1, delta=1e-6)", lambda: td.baselines.gaussian(X, epsilon=1, delta=1e-6)),
    Call("td.boxem(x, bounds=[(0, 1), (0, 1)])", lambda: td.boxem(X, epsilon=1, bounds=[(0, 1), (0, 1)])),
    Call("td.boxem(x, bounds=5)", lambda: td.boxem(X, epsilon=1, bounds=5)),
    Call("td.boxem(x, bounds=([0, 0, 0], 1))", lambda: td.boxem(X, epsilon=1, bounds=([0, 0, 0], 1))),
    Call('td.boxem(array, bounds={"age": (0, 1)})', lambda: td.boxem(X, epsilon=1, bounds={"age": (0, 1)})),
    Call('td.boxem(frame, bounds={"age": (0, 1)})', lambda: td.boxem(NAMED, epsilon=1, bounds={"age": (0, 1)})),
    Call(
        'td.boxem(frame, bounds={"age": 3, "pulse": (0, 1)})',
        lambda: td.boxem(NAMED, epsilon=1, bounds={"age": 3, "pulse": (0, 1)}),
    ),
    Call(
        'td.mean(frame, bounds=(0, 9), sd={"age": 1, "weight": 2})',
        lambda: td.mean(NAMED, epsilon=1, bounds=(0, 9), sd={"age": 1, "weight": 2}),
    ),
    Call("td.mean(x, rows=300)", lambda: td.mean(X, epsilon=1, bounds=(0, 120), rows=300)),
    Call(
        "td.mean(x, neighbours='add-remove')",
        lambda: td.mean(X, epsilon=1, bounds=(0, 120), neighbours="add-remove"),
    ),
    Call(
        "td.mean(x, mechanism='two-step', neighbours='add-remove', rows=300)",
        lambda: td.mean(X, epsilon=1, bounds=(0, 120), mechanism="two-step", neighbours="add-remove", rows=300),
    ),
    Call(
        "td.boxem(list, neighbours='add-remove')",
        lambda: td.boxem([[61.0, 70.0]], epsilon=1, bounds=(0, 120), neighbours="add-remove"),
    ),
    Call("td.rem(x, neighbours='add-remove')", lambda: td.rem(X, epsilon=1, delta="1e-6", neighbours="add-remove")),
    Call("td.rem(x, resolution=0)", lambda: td.rem(X, epsilon=1, delta="1e-6", resolution=0)),
    Call("td.boxem(array of raw bytes)", lambda: td.boxem(np.zeros(3, dtype="V4"), epsilon=1, bounds=(0, 1))),
    Call("td.chunks(folder without Parquet)", lambda: td.chunks("folder.html")),
    Call("td.chunks(generator)", lambda: td.chunks(x for x in [X])),
    Call("td.chunks(array)", lambda: td.chunks(X)),
    Call('td.chunks(..., columns="age")', lambda: td.chunks([NAMED], columns="age")),
    Call('td.boxem(chunks of arrays, columns=["age"])', lambda: _streamed([X], columns=["age"])),
    Call("td.boxem(no chunk)", lambda: _streamed([])),
    Call("td.boxem(chunks without a row)", lambda: _streamed([X[:0]])),
    Call("td.boxem(chunks of different columns)", lambda: _streamed([X, X[:, :1]])),
    Call("td.boxem(chunks of lists)", lambda: _streamed([X.tolist()])),
    Call("td.boxem(a function that returns a table)", lambda: _streamed(lambda: X)),
    Call("td.boxem(rows for chunks)", lambda: _streamed(list(X))),
    Call("td.boxem(chunks that fail)", lambda: _streamed(lambda: (X / 0 for X in [None]))),
    Call("td.boxem(chunks that change)", lambda: _streamed(_growing())),
    Call("refuse_bombs(...)", lambda: refuse_bombs(gzip.compress(bytes(1 << 21)), 1 << 20, "t.csv.gz")),
    Call("td.look(vector field)", lambda: td.look(np.array([([1, 2],)], dtype=[("v", "f8", 2)]))),
    Call("td.look(three dimensions)", lambda: td.look(np.zeros((2, 2, 2)))),
    Call("td.look(ragged rows)", lambda: td.look([[1, 2], [3]])),
    Call("td.boxem(no rows)", lambda: td.boxem(np.empty((0, 2)), epsilon=1, bounds=(0, 1))),
    Call(
        "td.boxem(no columns, add-remove)",
        lambda: td.boxem(np.empty((217, 0)), epsilon=1, bounds=(0, 1), neighbours="add-remove"),
    ),
    Call("td.boxem(frame with repeated names)", lambda: td.boxem(_repeated(), epsilon=1, bounds=(0, 1))),
    Call("td.chunks(Parquet with text)", lambda: _stored("notes.parquet", NAMED.assign(note="Zoe4711"))),
    Call("td.chunks(Parquet with dates)", lambda: _stored("times.parquet", _dates())),
    Call('td.mean(td.read("days.parquet", ["age"]), by="day")', lambda: _by_day()),
    Call('td.summary(by=["A"]) for two rows', lambda: _summary(X, ["A"], ["A"])),
    Call("td.summary(by=3)", lambda: _summary(X, 3, ["A"])),
    Call("td.summary(keys=dates)", lambda: _summary(X, ["A"] * 3, [datetime.date(2020, 1, 1)])),
    Call('td.read("-")', lambda: td.read("-")),
    Call('td.read("t.csv", "age")', lambda: td.read("t.csv", "age")),
    Call('td.read("t.csv", [3])', lambda: td.read("t.csv", [3])),  # type: ignore[list-item]
    Call('td.read("t.csv", ["weight"])', lambda: td.read("t.csv", ["weight"])),
    Call('td.read("no-header.csv")', lambda: td.read("no-header.csv")),
    Call('td.read("t.csv", dictionary=3)', lambda: td.read("t.csv", dictionary=3)),  # type: ignore[arg-type]
    Call('td.read("t.csv", header="no")', lambda: td.read("t.csv", header="no")),  # type: ignore[arg-type]
    Call('td.read("t.csv", missing={"weight": -9})', lambda: td.read("t.csv", missing={"weight": -9})),
    Call(
        'td.mean(td.read("t.csv"), by="arm")',
        lambda: td.mean(td.read("t.csv", ["age"]), by="arm", keys=["A"], epsilon=1, bounds=(0, 9)),
    ),
    Call('td.summary(array, by="arm")', lambda: _summary(X, "arm", ["A"])),
    Call('td.summary(frame, by="arm")', lambda: _summary(NAMED, "arm", ["A"])),
    Call('td.summary(object, by="arm")', lambda: _summary(object(), "arm", ["A"])),
    Call('td.summary(categories=["arm"])', lambda: td.summary(NAMED, epsilon=1, categories=["arm"])),
    Call('td.summary(categories={"arm": None})', lambda: td.summary(NAMED, epsilon=1, categories={"arm": None})),
    Call('td.summary(keys="AB")', lambda: _summary(X, ["A", "B"], "AB")),
    Call("td.summary(keys=[])", lambda: _summary(X, ["A", "B"], [])),
    Call("td.aggregate(statistic=3)", lambda: _aggregate(3)),
    Call("td.aggregate(a statistic that fails)", lambda: _aggregate(lambda rows: rows.medain())),
    Call("td.aggregate(a statistic without numbers)", lambda: _aggregate(lambda rows: "abc")),
    Call("td.aggregate(bounds=None)", lambda: _aggregate(np.median, bounds=None)),
    Call("td.aggregate(partitions=2, delta=...)", lambda: _aggregate(np.median, bounds=None, delta=1e-6, partitions=2)),
    Call("td.aggregate(clip=...) of a frame", lambda: _aggregate(np.median, _frame([1.0]), clip=(0, 1))),
    Call("td.aggregate(a frame without rows)", lambda: _aggregate(np.median, _frame([]))),
    Call(
        "td.aggregate(a frame, a statistic that fails)",
        lambda: _aggregate(lambda rows: rows.medain(), _frame([1.0] * 2)),
    ),
    Call("td.aggregate(a frame with lists)", lambda: _aggregate(np.median, pl.DataFrame({"a": [[4711]] * 2}))),
    Call("td.aggregate(types=...) of an array", lambda: _aggregate(np.median, types={"a": "text"})),
    Call("td.aggregate(types of another column)", lambda: _aggregate(np.median, _frame([1.0]), types={"z": "text"})),
    Call("td.aggregate(types of another kind)", lambda: _aggregate(np.median, _frame([1.0]), types={"a": "int"})),
    Call("td.aggregate(no frame)", lambda: _aggregate(np.median, _NoFrame())),
    Call("td.aggregate(a lazy frame)", lambda: _aggregate(np.median, _frame([1.0]).lazy())),
    Call("td.aggregate(a lazy frame, bounds=None)", lambda: _aggregate("mean", _frame([1.0]).lazy(), bounds=None)),
    Call("td.mean(a lazy frame, by=...)", lambda: _lazy_mean(by="z", keys=[1])),
    Call("td.mean(a lazy frame, bounds=None)", lambda: _lazy_mean(bounds=None)),
    Call("td.mean(a lazy frame with lists)", lambda: _lazy_mean({"lists": [[1]]})),
    Call("td.mean(a lazy frame without columns)", lambda: _lazy_mean({})),
    Call("td.mean(a lazy frame without rows)", lambda: _lazy_mean({"a": np.zeros(0)})),
    Call("td.mean(a lazy frame that cannot be read)", lambda: _lazy_mean(query=lambda x: x.select("b"))),
    Call("td.mean(a lazy frame that fails at a cell)", lambda: _lazy_mean({"a": ["Zoe"]}, query=_as_numbers)),
    Call("td.mean(a lazy frame that changes)", lambda: _changing().total()),
    Call("td.mean(a lazy frame of groups alone)", lambda: _lazy_mean({"z": [1]}, by="z", keys=[1])),
    Call("td.mean(a lazy frame without ids)", lambda: _lazy_mean({"a": [1.0], "id": [None]}, person="id")),
    Call("td.mean(persons of a lazy frame that cannot be read)", lambda: _lazy_mean(query=_unread, person="id")),
    Call("td.mean(medians of persons of a lazy frame)", lambda: _lazy_mean(_IDS, person="id", per_person="median")),
    Call("td.mean(a rule for another column)", lambda: _lazy_mean(_IDS, person="id", per_person={"z": "sum"})),
    Call("td.mean(a pattern of text files)", lambda: td.mean("many/*.csv", epsilon=1, bounds=(0, 9))),
    Call("td.mean(no Parquet file)", lambda: td.mean("nowhere.parquet", epsilon=1, bounds=(0, 9))),
    Call("td.mean(a Parquet file without the column)", lambda: td.mean(_parquet(), epsilon=1, bounds={"z": (0, 9)})),
    Call("td.mean(a lazy frame of too many rows)", lambda: _too_many()),
    Call("td.mean(a DuckDB relation of columns a and A)", lambda: require_told_apart(("a", "A"))),
    Call("td.aggregate(blocks=99)", lambda: _aggregate(np.median, blocks=99)),
    Call("td.aggregate(columns of another length)", lambda: _aggregate(np.median, columns=["a", "b"])),
    Call("td.aggregate(attribute=...) of a function", lambda: _aggregate(np.median, attribute="coef_")),
    Call("td.regression of few rows", lambda: td.regression(X, X[:, 0], epsilon=1, delta=1e-6)),
    Call('td.regression(a lazy frame, "z")', lambda: td.regression(_frame([1.0]).lazy(), "z", epsilon=1)),
    Call(
        "td.regression(a lazy frame, person=) without ranges",
        lambda: td.regression(pl.LazyFrame({"a": [1.0], "y": [1.0], "id": [1]}), "y", epsilon=1, person="id"),
    ),
    Call("difference(a group that is not there)", lambda: _difference("A", "C")),
    Call("difference(a group, itself)", lambda: _difference("A", "A")),
    Call("difference without confidence", lambda: _difference("A", "B", confidence=None)),
    Call('td.regression(array, "y")', lambda: td.regression(X, "y", epsilon=1, delta=1e-6)),
    Call("td.regression(y of other rows)", lambda: td.regression(X, [1.0], epsilon=1, delta=1e-6)),
    Call("td.mean(keys, no by)", lambda: td.mean(X, epsilon=1, bounds=(0, 9), keys=["A"])),
    Call('td.mean(by, mechanism="two-step")', lambda: _by_group(mechanism="two-step")),
    Call("td.mean(by, counts=2)", lambda: _by_group(counts=2)),
    Call("td.mean(by, delta)", lambda: _by_group(delta=1e-6)),
    Call("td.mean(persons without ids)", lambda: td.mean(X, epsilon=1, bounds=(0, 9), person=[None, "", " "])),
    Call("td.quantiles(q=[0.5, 0.5])", lambda: td.quantiles(X, [0.5, 0.5], epsilon=1, bounds=(0, 9))),
    Call("td.quantiles(no bounds)", lambda: td.quantiles(X, 0.5, epsilon=1)),
    Call("td.counts(no categories)", lambda: td.counts(NAMED, "age", epsilon=1)),
    Call("td.counts(column=1.5)", lambda: _counts(NAMED, 1.5)),
    Call("td.counts(categories and edges)", lambda: _counts(NAMED, "age", edges=[0, 1])),
    Call("td.counts(a column twice)", lambda: _counts(NAMED, ("age", "age"), categories={"age": [1]})),
    Call("td.counts(too many cells)", lambda: _counts(NAMED, "age", categories=None, edges=list(range(10_002)))),
    Call("td.counts(a list for two columns)", lambda: _counts(NAMED, ("age", "pulse"))),
    Call("td.counts(categories={})", lambda: _counts(NAMED, None, categories={})),
    Call("td.counts(categories of others)", lambda: _counts(NAMED, "age", categories={"height": [1]})),
    Call("td.counts(categories=[1, 1])", lambda: _counts(NAMED, "age", categories=[1, 1])),
    Call("td.counts(the last cell's name)", lambda: _counts(NAMED, "age", categories=["other / missing"])),
    Call("td.counts(declared for an array)", lambda: _counts(X, 0, categories="declared")),
    Call("td.counts(none declared)", lambda: _counts(NAMED, "age", categories="declared")),
    Call("td.counts(edges=[1])", lambda: _counts(NAMED, "age", categories=None, edges=[1])),
    Call("td.counts(edges=[1, 0])", lambda: _counts(NAMED, "age", categories=None, edges=[1, 0])),
    Call("td.counts(by the column itself)", lambda: _counts(NAMED, "age", by="age", keys=["A"])),
    Call("td.counts(no row)", lambda: _counts([], None)),
    Call("td.counts(by of another length)", lambda: _counts(X, 0, by=["A"], keys=["A"])),
    Call("td.counts(a position beyond)", lambda: _counts(X, 2)),
    Call("td.counts(a position beyond rows)", lambda: _counts([[1, 2]], 2)),
    Call("td.counts(a position in a frame)", lambda: _counts(NAMED, 0)),
    Call("td.counts(persons without ids)", lambda: _counts(X, 0, person=[None, "", " "])),
    Call("td.counts(a file, another column)", lambda: _counts(td.read("t.csv"), "height")),
    Call("td.counts(a file, by another)", lambda: _counts(td.read("t.csv"), "age", by="height", keys=["A"])),
    Call("td.counts(lazy, person)", lambda: _counts(pl.LazyFrame({"a": [1]}), "a", person="b")),
    Call("td.counts(lazy, a position)", lambda: _counts(pl.LazyFrame({"a": [1]}), 0)),
    Call("td.counts(lazy, another column)", lambda: _counts(pl.LazyFrame({"a": [1]}), "b")),
    Call("td.counts(lazy, a pattern)", lambda: _counts(pl.LazyFrame({"^a": [1]}), "^a")),
    Call("td.counts(lazy, by a list)", lambda: _counts(pl.LazyFrame({"a": [1]}), "a", by=["A"], keys=["A"])),
    Call('ReadOptions(units="kg")', lambda: ReadOptions(units="kg")),
    Call("ReadOptions(missing=[-999])", lambda: ReadOptions(missing=[-999])),  # type: ignore[list-item]
    Call("read_file(a name with a NUL)", lambda: read_file("a\0b", ["a"])),
    Call("without pyarrow: read_file", lambda: _without("pyarrow.parquet", lambda: read_file("t.parquet", ["a"]))),
    Call("without pyarrow: look", lambda: _without("pyarrow.parquet", lambda: td.look("t.parquet"))),
    Call("without calamine: read_file", lambda: _without("python_calamine", lambda: read_file("empty.xlsx", ["a"]))),
]


class _NoFrame:
    columns = ("a",)


def _lazy_mean(columns: Any = None, query: Any = lambda x: x, **options: Any) -> Any:
    frame = query(pl.LazyFrame({"a": [1.0, 2.0]} if columns is None else columns))
    return td.mean(frame, **{"epsilon": 1, "bounds": (0, 9), **options})


_IDS = {"a": [1.0, 2.0], "id": ["p", "q"]}


def _unread(frame: Any) -> Any:
    """A query that fails when it runs, not before."""
    return frame.with_columns(id=pl.lit("Zoe").cast(pl.Int64))


def _parquet() -> str:
    pl.DataFrame({"a": [1.0]}).write_parquet("named.parquet")
    return "named.parquet"


def _as_numbers(frame: Any) -> Any:
    return frame.select(pl.col("a").cast(pl.Float64))


def _changing() -> LazyTable:
    return LazyTable(2, ("a",), "polars", lambda one: one.of([np.zeros((3, 1))]))


def _too_many() -> Any:
    with patch("tukeydp.data.lazy_tables.MOST_ROWS", 2):
        return _lazy_mean()


def _difference(first: str, second: str, **more: Any) -> Any:
    given = {"epsilon": 1, "bounds": (-5, 5), "by": ["A", "B", "A", "B"], "keys": ["A", "B"], "confidence": 0.9}
    found = td.mean(np.zeros((4, 2)), **{**given, **more}, check=False, randomness=td.seeded(1))  # type: ignore[arg-type]
    return found.difference(first, second)


def _aggregate(statistic: Any, x: Any = X, **options: Any) -> Any:
    return td.aggregate(x, statistic, **{"epsilon": 1, "blocks": 2, "bounds": (0, 9), **options})


def _frame(values: list[float]) -> Any:
    import polars as pl

    return pl.DataFrame({"a": values})


def _summary(x: Any, by: Any, keys: Any) -> Any:
    return td.summary(x, epsilon=1, bounds=(0, 9), by=by, keys=keys)


def _counts(x: Any, column: Any, **given: Any) -> Any:
    return td.counts(x, column, epsilon=1, **{"categories": [1], **given})


def _by_group(**given: Any) -> Any:
    return td.mean(X, epsilon=1, bounds=(0, 9), by=["A", "B", "A"], keys=["A", "B"], **given)


def _repeated() -> Any:
    return pd.DataFrame([[1, 2]], columns=["a", "a"])


def _dates() -> Any:
    return pd.DataFrame({"day": np.array(["2024-01-01"], dtype="M8[ns]")})


def _stored(path: str, frame: Any) -> Any:
    frame.to_parquet(path)
    return td.boxem(td.chunks(path), epsilon=1, bounds=(0, 9))


def _by_day() -> Any:
    NAMED.assign(day=_dates()["day"]).to_parquet("days.parquet")
    return td.mean(td.read("days.parquet", ["age"]), by="day", keys=["A"], epsilon=1, bounds=(0, 9))


def _without(module: str, job: Callable[[], Any]) -> Any:
    """The call on a machine where a package is not installed."""
    with patch.dict(sys.modules, {module: None}):
        return job()


def mistakes() -> list[tuple[str, str, list[str]]]:
    """The commonest mistakes as docs/guide/files.md lists them: what, a command that makes it, and the corrections."""
    page = (ROOT / "docs" / "guide" / "files.md").read_text(encoding="utf-8").partition("## The commonest mistakes")[2]
    rows = re.findall(r"^\| (.+) \| `tukeydp (.+)` \| (.+) \|$", page, flags=re.M)
    return [(mistake, command, re.findall(r"`([^`]+)`", said)) for mistake, command, said in rows]


def reader_cases() -> Iterator[tuple[str, str, bytes]]:
    """The files of `support/messy.py` that are refused: a command line, the file's name and its content."""
    for case in messy.REFUSED:
        words = [word for column in case.columns for word in ("--columns", column)]
        options = [*words, *flags(ReadOptions(**case.options))]
        yield shlex.join(["mean", case.name, *options, "--epsilon", "1", "--bounds", "0,1"]), case.name, case.content


@contextlib.contextmanager
def workplace() -> Iterator[Path]:
    """A folder with the files, as the current one, and a terminal of fixed width."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as name, patch.dict(os.environ, {"COLUMNS": "100", "NO_COLOR": "1"}):
        os.environ.pop("FORCE_COLOR", None)
        for file, content in FILES.items():
            (Path(name) / file).write_bytes(content)
        (Path(name) / "folder.html").mkdir()
        os.chdir(name)
        try:
            yield Path(name)
        finally:
            os.chdir(before)


def typed(command: str) -> str:
    """What a command line shows: its exit code, standard output and standard error."""
    out, err = io.StringIO(), io.StringIO()
    code: Any = 0
    words = patch.object(sys, "argv", ["tukeydp", *shlex.split(command)])
    with words, contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main()
        except SystemExit as stopped:
            code = stopped.code or 0
    return f"$ tukeydp {command}\n[exit {code}]\n{_shown(out.getvalue())}{_shown(err.getvalue())}"


def called(call: Call) -> str:
    try:
        call.job()
    except td.ParameterError as error:
        return f">>> {call.text}\n{error}\n"
    raise AssertionError(f"{call.text} does not raise")


def _shown(text: str) -> str:
    return "".join(f"{line.rstrip()}\n" for line in text.splitlines())


def texts() -> dict[str, str]:
    """Every group of messages as one text; run in a `workplace`."""
    groups = {
        "releases": RELEASES,
        "plans": PLANS,
        "stops": STOPS,
        "mistakes": [f"{command} --seed 1" if "look" not in command else command for _, command, _ in mistakes()],
        "look": LOOKS,
        "commands": COMMANDS,
    }
    said = {name: "\n".join(typed(command) for command in commands) for name, commands in groups.items()}
    refused = []
    for command, name, content in reader_cases():
        Path(name).write_bytes(content)
        refused.append(typed(command))
    for name, content in FILES.items():
        Path(name).write_bytes(content)
    return {**said, "reader": "\n".join(refused), "python": "\n".join(called(call) for call in CALLS)}


if __name__ == "__main__":
    with workplace():
        written = texts()
    FOLDER.mkdir(exist_ok=True)
    for group, text in written.items():
        (FOLDER / f"{group}.txt").write_text(text, encoding="utf-8")
