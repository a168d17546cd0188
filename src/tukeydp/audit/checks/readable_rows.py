"""The check before a release: all small text files, all swaps of a record, the whole run with a stand-in for it."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from tukeydp.audit.check import Check, Effort, Result, Tally
from tukeydp.audit.forced_samplers import forced
from tukeydp.audit.oracles import laws as oracle
from tukeydp.audit.oracles.laws import Dataset, count_of_pairs, datasets, swap_groups
from tukeydp.data.files import read_file
from tukeydp.data.grouped_files import read_records
from tukeydp.data.tables import Table
from tukeydp.mechanisms.readable_check import exact_counts, with_check
from tukeydp.results.release import Release
from tukeydp.trusted import steps
from tukeydp.trusted.account import PureDP
from tukeydp.trusted.bits import seeded
from tukeydp.trusted.release import reserve

EPSILON = Fraction(400)  # so large that three rows are enough for a check: its own part is 20
FIELDS = ("1", "-2.5", "x", "", "NA")
RECORDS = (*(f"{a},{b}" for a, b in itertools.product(FIELDS, FIELDS)), "1,2,3", "1")
# Of these the laws of whole runs are listed: two columns; a column and the key of each row's group, of which one is
# listed.
PLAIN = ("1,1", "x,1", "x,x", "1,", "1")
KEYED = ("1,A", "x,A", ",A", "1,B", "x,")
LISTED = ("A",)
NOISE = (-1, 0, 1, 2)  # of each count
RESULTS = (-1, 0, 1, 3)  # of the stand-in

Outcome = tuple[str, tuple[int, ...], float | None]
Law = dict[Outcome, Fraction]
Given = tuple[Table, dict[str, Any]]


def run(effort: Effort) -> Result:
    tally = Tally(bound=1.0)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        _definitions(RECORDS[::3] if effort.quick else RECORDS, path, tally)
        few = 4 if effort.quick else 5
        _laws(PLAIN[:few], lambda rows: (_read(path, rows), {}), tally)
        _laws(KEYED[:few], lambda rows: _read_keyed(path, rows), tally)
    return tally.result()


def _definitions(records: Sequence[str], path: Path, tally: Tally) -> None:
    """What is counted, and that a swap moves every count by at most 1: the sensitivity that the noise is made for."""
    counts = {}
    for x in datasets(len(records), 2):
        rows = [records[i] for i in x]
        table = _read(path, rows)
        unreadable, values = oracle.unreadable(rows, 2), oracle.values(rows, 2)
        found = [] if table.unreadable is None else table.unreadable.tolist()
        tally.require(found == unreadable, "unreadable cells are not those of the definition")
        counts[x] = exact_counts(table)
        tally.require(counts[x] == (max(unreadable), min(values), None), "counts are not those of the definition")
    for group in swap_groups(len(records), 2):
        for ours, theirs in itertools.permutations(group, 2):
            moved = (abs(a - b) for a, b in zip(counts[ours][:2], counts[theirs][:2], strict=True))
            tally.found(float(max(moved)))
    tally.saw(datasets=len(counts), pairs=count_of_pairs(len(records), 2))


def _laws(records: Sequence[str], read: Callable[[Sequence[str]], Given], tally: Tally) -> None:
    """The law of the whole run on every file of three records, against those of its neighbours."""
    laws: dict[Dataset, Law] = {}
    verdicts: dict[tuple[int, ...], str] = {}
    for x in datasets(len(records), 3):
        rows = [records[i] for i in x]
        table, groups = read(rows)
        laws[x] = _law(table, groups, tally)
        for mechanism, counts, _ in laws[x]:
            same = verdicts.setdefault(counts, mechanism) == mechanism
            tally.require(same, "whether a run stops depends on more than the noisy counts")
    for group in swap_groups(len(records), 3):
        for ours, theirs in itertools.permutations(group, 2):
            tally.found(_loss(laws[ours], laws[theirs]))
    tally.saw(datasets=len(laws), pairs=count_of_pairs(len(records), 3))


def _written(path: Path, header: str, rows: Sequence[str]) -> Path:
    path.write_text(header + "\n" + "\n".join(rows) + "\n", encoding="utf-8")
    return path


def _read(path: Path, rows: Sequence[str]) -> Table:
    return read_file(_written(path, "a,b", rows), ["a", "b"])


def _read_keyed(path: Path, rows: Sequence[str]) -> Given:
    table, found = read_records(_written(path, "a,g", rows), ["a"], by="g", keys=LISTED)
    assert sum(key is None for key in found["by"]) == oracle.unlisted(rows, LISTED)
    return table, found


def _law(table: Table, groups: dict[str, Any], tally: Tally) -> Law:
    """Log weights of all outcomes; constants that are left out depend on no cell.

    The release beside the check is a stand-in: a noisy count of the last column's unreadable cells. A stop comes with
    every result of it, whose weights sum up to the same for all tables: the check's own weight counts.
    """
    law: Law = {}
    for z, y in itertools.product(itertools.product(NOISE, repeat=3 if groups else 2), RESULTS):
        of_release: list[Fraction] = []
        of_check: list[Fraction] = []

        def release(
            x: Table, *, epsilon: Fraction, y: int = y, to: list[Fraction] = of_release, **others: object
        ) -> Any:
            assert x.unreadable is not None
            to.append(-epsilon * abs(y - int(x.unreadable[-1])))
            run = reserve({"release": PureDP(epsilon)}, mechanism="stand-in", source=seeded(1), parameters={})
            return Release(point=np.array([float(y)]), seal=run.seal, mechanism="stand-in", seeded=True, **x.public)

        def noise(
            d: int, scale: Fraction, bits: object, z: tuple[int, ...] = z, to: list[Fraction] = of_check
        ) -> list[int]:
            to.append(-max(map(abs, z[:d])) / scale)
            return list(z[:d])

        with forced((steps, "cube_noise", noise)):
            outcome = with_check(release, table, epsilon=EPSILON, randomness=seeded(1), **groups)
        tally.require(len(of_check) == 1, "a text table is not checked, or more than once")
        point = None if outcome.point is None else float(outcome.point[0])
        stated = outcome.guarantee.epsilon  # type: ignore[union-attr]
        weight = sum(of_check) + (sum(of_release) if point is not None else 0)
        told = [outcome.settings.get(name) for name in ("unreadable_cells", "fewest_values", "rows_unlisted")]
        counts = tuple(int(count) for count in told if count is not None)
        law[outcome.mechanism, counts, point] = weight / stated
    return law


def _loss(ours: Law, theirs: Law) -> float:
    """Over the epsilon that the outcome states: a stop costs only the check's part."""
    return float(max((ours[outcome] - theirs[outcome] for outcome in ours.keys() & theirs.keys()), default=0))


CHECK = Check(
    name="readable rows: enumeration",
    claim="The check of readable rows, values and listed groups and the release after it keep epsilon together, a stop "
    "costs the check's part alone, and what is counted is as defined.",
    measure="largest log ratio of probabilities, over the stated epsilon",
    run=run,
)
