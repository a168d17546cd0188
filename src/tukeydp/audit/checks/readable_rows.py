"""The check of readable rows: all small text files, all swaps of a record, the whole run with a stand-in for it."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from tukeydp.audit.check import Check, Effort, Result, Tally
from tukeydp.audit.forcing import forced
from tukeydp.audit.oracles import texts as oracle
from tukeydp.audit.oracles.neighbours import Dataset, count_of_pairs, datasets, swap_groups
from tukeydp.data.files import read_file
from tukeydp.data.tables import Table
from tukeydp.mechanisms import readable_check
from tukeydp.mechanisms.readable_check import with_check
from tukeydp.privacy import PureDP
from tukeydp.randomness import seeded
from tukeydp.release import Release

EPSILON = Fraction(400)  # so large that two rows are enough for a check: its own part is 20
FIELDS = ("1", "-2.5", "x", "", "NA")
RECORDS = (*(f"{a},{b}" for a, b in itertools.product(FIELDS, FIELDS)), "1,2,3", "1")
COUNTS = range(-6, 10)  # noisy counts, and results of the stand-in, that are looked at

Outcome = tuple[str, int, float | None]


def run(effort: Effort) -> Result:
    tally = Tally(bound=1.0)
    records, n = (RECORDS[::3], 2) if effort.quick else (RECORDS, 2)
    laws: dict[Dataset, dict[Outcome, Fraction]] = {}
    verdicts: dict[int, str] = {}
    with TemporaryDirectory() as folder:
        for x in datasets(len(records), n):
            rows = [records[i] for i in x]
            table = _read(Path(folder) / "table.csv", rows)
            found = [] if table.unreadable is None else table.unreadable.tolist()
            tally.require(found == oracle.unreadable(rows, 2), "unreadable cells are not those of the definition")
            laws[x] = _law(table, tally)
            for mechanism, count, _ in laws[x]:
                same = verdicts.setdefault(count, mechanism) == mechanism
                tally.require(same, "whether a run stops depends on more than the noisy count")
    for group in swap_groups(len(records), n):
        for ours, theirs in itertools.permutations(group, 2):
            tally.found(_loss(laws[ours], laws[theirs]))
    tally.saw(datasets=len(laws), pairs=count_of_pairs(len(records), n))
    return tally.result()


def _read(path: Path, rows: Sequence[str]) -> Table:
    path.write_text("a,b\n" + "\n".join(rows) + "\n", encoding="utf-8")
    return read_file(path, ["a", "b"])


def _law(table: Table, tally: Tally) -> dict[Outcome, Fraction]:
    """Log weights of all outcomes; constants that are left out depend on no cell.

    The release beside the check is a stand-in: a noisy count of the second column's unreadable cells. A stop comes with
    every result of it, whose weights sum up to the same for all tables: the check's own weight counts.
    """
    law: dict[Outcome, Fraction] = {}
    for z, y in itertools.product(COUNTS, COUNTS):
        of_release: list[Fraction] = []
        of_check: list[Fraction] = []

        def release(
            x: Table, *, epsilon: Fraction, randomness: Any, y: int = y, to: list[Fraction] = of_release
        ) -> Any:
            assert x.unreadable is not None
            to.append(-epsilon * abs(y - int(x.unreadable[1])))
            point, guarantee = np.array([float(y)]), PureDP(epsilon)
            return Release(point=point, guarantee=guarantee, mechanism="stand-in", seeded=True, **x.public)

        def noise(scale: Fraction, bits: object, z: int = z, to: list[Fraction] = of_check) -> int:
            to.append(-abs(z) / scale)
            return z

        with forced((readable_check, "discrete_laplace", noise)):
            outcome = with_check(release, table, epsilon=EPSILON, randomness=seeded(1))
        tally.require(len(of_check) == 1, "a text table is not checked")
        point = None if outcome.point is None else float(outcome.point[0])
        stated = outcome.guarantee.epsilon  # type: ignore[union-attr]
        weight = sum(of_check) + (sum(of_release) if point is not None else 0)
        law[outcome.mechanism, int(outcome.settings["readable_rows"]), point] = weight / stated
    return law


def _loss(ours: dict[Outcome, Fraction], theirs: dict[Outcome, Fraction]) -> float:
    """Over the epsilon that the outcome states: a stop costs only the check's part."""
    return float(max(ours[outcome] - theirs[outcome] for outcome in ours.keys() & theirs.keys()))


CHECK = Check(
    name="readable rows: enumeration",
    claim="The check of readable rows and the release after it keep epsilon together, a stop costs the check's part "
    "alone, and which cells are unreadable is as defined.",
    measure="largest log ratio of probabilities, over the stated epsilon",
    run=run,
)
