"""The functions that Coq's theorems speak of, and the package's own: the same answers on random and hostile inputs.

Coq computes its side with `vm_compute`. Every list has a control: one wrong answer must be noticed.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import tukeydp as td
from tukeydp.mechanisms.quantiles import RankLaw
from tukeydp.trusted.boxes import Box
from tukeydp.trusted.certificates import SHIFT, Multipliers, in_integers, upper_bound
from tukeydp.trusted.laws import WeightedDraw
from tukeydp.trusted.levels import level_sets

PROOFS = Path(__file__).resolve().parents[2] / "proofs"
REQUIRED = os.environ.get("TUKEYDP_COQ") == "required"
pytestmark = pytest.mark.skipif(
    not REQUIRED and shutil.which("coqc") is None, reason="Coq is not installed (Debian's package coq)"
)


@pytest.fixture(scope="module")
def coq(tmp_path_factory):
    """A function from terms of Coq to what they compute."""
    work = tmp_path_factory.mktemp("coq")
    for name in ("Depth", "Sampler", "Laws", "Bridge"):
        shutil.copy(PROOFS / f"{name}.v", work)
    for name in ("Laws", "Depth", "Sampler", "Bridge"):
        subprocess.run(["coqc", "-q", f"{name}.v"], cwd=work, check=True)

    def computed(terms: list[str]) -> list[str]:
        lines = ["Require Import List ZArith QArith Depth Sampler Bridge.", "Import ListNotations. Open Scope Z_scope."]
        lines += ["Set Printing Width 100000.", "Set Printing Depth 100000."]
        lines += [f"Eval vm_compute in ({term})." for term in terms]
        (work / "Asked.v").write_text("\n".join(lines))
        out = subprocess.run(["coqc", "-q", "Asked.v"], cwd=work, check=True, capture_output=True, text=True).stdout
        found = re.findall(r"^     = (.*?)\n     : ", out, re.M | re.S)
        assert len(found) == len(terms)
        return [" ".join(one.split()) for one in found]

    return computed


def z(number) -> str:
    return f"({int(number)})"


def listed(items) -> str:
    return "[" + "; ".join(items) + "]"


def vector(numbers) -> str:
    return listed(z(v) for v in numbers)


def whole(text: str) -> int:
    return int(text.removesuffix("%Z").strip("()"))


HOSTILE = (float("nan"), float("inf"), -float("inf"), 2.0**70, -(2.0**63), 5e-324, 0.0, -0.0, 1e300)


def certificates(count):
    """A level set, an objective, multipliers and a box: what `upper_bound` is asked, and the same for Coq."""
    rng = np.random.default_rng(22)
    for case in range(count):
        d, n, k = int(rng.integers(1, 4)), int(rng.integers(1, 9)), int(rng.integers(1, 5))
        reach = int(rng.choice([5, 2**20, 2**40]))
        rows = rng.integers(-reach, reach + 1, size=(n, d))
        levels = level_sets(rows, rng.integers(-9, 10, size=(k, d)))
        level = int(rng.integers(1, n + 1))
        chosen = rng.permutation(k)[: int(rng.integers(0, k + 1))].tolist()
        values = [float(v) for v in rng.normal(size=len(chosen)) * 10.0 ** rng.integers(-12, 12)]
        if case % 3 == 0:
            values = [HOSTILE[int(rng.integers(len(HOSTILE)))] for _ in values]
        objective = rng.integers(-3, 4, size=d).tolist() if case % 4 else [0] * d
        low = rng.integers(-reach, reach + 1, size=d)
        box = Box(tuple(low.tolist()), tuple((low + rng.integers(0, reach, size=d)).tolist()))
        yield levels, level, objective, Multipliers(chosen, values), box


def as_bound(levels, level, objective, multipliers, box) -> str:
    smallest, largest = levels.offsets(level)
    terms = listed(
        f"{{| v := {vector(levels.directions[row])}; low := {z(smallest[row])}; high := {z(largest[row])}; "
        f"u := {z(u)} |}}"
        for row, u in in_integers(multipliers, len(levels.directions))
    )
    return f"bound (2 ^ {SHIFT}) {vector(objective)} {terms} {vector(box.low)} {vector(box.high)}"


def test_bounds_on_levels(coq):
    cases = list(certificates(600))
    ours = [upper_bound(*case) for case in cases]
    theirs = [whole(one) for one in coq([as_bound(*case) for case in cases])]
    assert ours == theirs
    assert [ours[0] + 1, *ours[1:]] != theirs


def test_depths(coq):
    rng = np.random.default_rng(23)
    ours, asked = [], []
    for _ in range(300):
        d, n, k = int(rng.integers(1, 4)), int(rng.integers(1, 8)), int(rng.integers(1, 5))
        rows = rng.integers(-3, 4, size=(n, d))
        directions = rng.integers(-2, 3, size=(k, d))
        points = rng.integers(-4, 5, size=(3, d))
        ours += level_sets(rows, directions).depths(points).tolist()
        table = listed(f"Some {vector(row)}" for row in rows)
        asked += [f"depth_of {listed(map(vector, directions))} {table} {vector(y)}" for y in points]
    theirs = [whole(one) for one in coq(asked)]
    assert ours == theirs
    assert [ours[0] + 1, *ours[1:]] != theirs


def test_a_row_with_a_missing_cell_counts_nowhere(coq):
    assert [whole(one) for one in coq(["depth_of [[1]] [Some [2]; None; Some [2]] [2]"])] == [2]


def test_scores_of_ranks(coq):
    rng = np.random.default_rng(24)
    ours, asked = [], []
    for _ in range(400):
        values = np.sort(rng.integers(-5, 6, size=int(rng.integers(1, 9))))
        share = Fraction(int(rng.integers(1, 8)), 8)
        y = int(rng.integers(-6, 7))
        ours.append(RankLaw(values, -6, 6, share, Fraction(1)).score(y))
        present = listed(f"Some {z(v)}" for v in values)
        asked.append(f"rank_score {z(share.numerator)} {z(share.denominator)} {present} {z(y)}")
    theirs = [whole(one) for one in coq(asked)]
    assert ours == theirs
    assert [ours[0] + 1, *ours[1:]] != theirs


class Prefix:
    """The first bits of a uniform real, and no more."""

    def __init__(self, value: int) -> None:
        self._value, self._asked = value, False

    def take(self, count: int) -> int:
        if self._asked:
            raise EOFError
        self._asked = True
        return self._value


def test_what_a_prefix_decides(coq):
    rng = np.random.default_rng(25)
    ours, asked = [], []
    for case in range(300):
        m = int(rng.integers(1, 6))
        sizes = [int(s) for s in rng.integers(1, 10 ** int(rng.integers(1, 6)), size=m)]
        exponents = [Fraction(int(e), 7) for e in rng.integers(-40, 40, size=m)]
        law = WeightedDraw(sizes, exponents)
        low, high = law._cumulative(64)
        # At the enclosed boundaries and beside them, where a wrong comparison shows; elsewhere at random.
        edges = [(h << 64) // low[-1] + shift for h in high for shift in (-1, 0, 1)]
        prefix = edges[int(rng.integers(len(edges)))] if case % 2 else int(rng.integers(0, 2**63)) * 2
        prefix = min(max(prefix, 0), 2**64 - 1)
        try:
            ours.append(law.draw(Prefix(prefix)))
        except EOFError:
            ours.append(None)
        asked.append(f"decided None {vector(low)} {vector(high)} {z(low[-1])} {z(high[-1])} {z(prefix)} (2 ^ 64) 0")
    theirs = [None if one == "None" else whole(one.removeprefix("Some ")) for one in coq(asked)]
    assert ours == theirs
    assert None in ours
    assert [0 if ours[0] != 0 else 1, *ours[1:]] != theirs


def rational(number: Fraction) -> str:
    return f"({number.numerator} # {number.denominator})"


def test_what_an_accountant_admits(coq):
    rng = np.random.default_rng(26)
    ours, asked = [], []
    for _ in range(120):
        budget = Fraction(int(rng.integers(1, 40)), int(rng.integers(1, 20)))
        wanted = [Fraction(int(rng.integers(1, 30)), int(rng.integers(5, 40))) for _ in range(8)]
        account, admitted = td.Accountant(epsilon=budget), []
        for epsilon in wanted:
            try:
                account.spend(td.PureDP(epsilon))
                admitted.append("true")
            except td.BudgetExceeded:
                admitted.append("false")
        ours.append(listed(admitted))
        asked.append(f"admitted_in_turn {rational(budget)} {listed(map(rational, wanted))}")
    theirs = coq(asked)
    assert ours == theirs
    assert "true" in theirs[0] + theirs[1]
    assert any("false" in one for one in theirs)
