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
from tukeydp.accounts.budget import Budget
from tukeydp.trusted.account import ApproxDP, Concentrated, PureDP, delta_of, rho_of_cells
from tukeydp.trusted.boxes import Box
from tukeydp.trusted.certificates import SHIFT, Multipliers, in_integers, proves_empty, upper_bound
from tukeydp.trusted.laws import WeightedDraw
from tukeydp.trusted.levels import level_sets
from tukeydp.trusted.prices import (
    COUNT,
    DEPTH,
    MOST_BEYOND,
    Score,
    depth_of_blocks,
    kappa,
    kappa_of_parts,
    rank,
    share_of_group,
    sums_from_an_end,
    sums_from_the_middle,
)
from tukeydp.trusted.ranks import RankLaw
from tukeydp.trusted.rows import BoundedColumns
from tukeydp.trusted.steps import (
    HALF,
    BeyondCounts,
    CategoryCounts,
    CellCounts,
    NormBeyond,
    NormSums,
    OutsideCounts,
    TableCounts,
    clipped,
    shortened,
)

PROOFS = Path(__file__).resolve().parents[2] / "proofs"
REQUIRED = os.environ.get("TUKEYDP_COQ") == "required"
pytestmark = pytest.mark.skipif(
    not REQUIRED and shutil.which("coqc") is None, reason="Coq is not installed (Debian's package coq)"
)


@pytest.fixture(scope="module")
def coq(tmp_path_factory):
    """A function from terms of Coq to what they compute."""
    work = tmp_path_factory.mktemp("coq")
    for name in ("Laws", "Depth", "Records", "Sampler", "Bridge"):
        shutil.copy(PROOFS / f"{name}.v", work)
        subprocess.run(["coqc", "-q", f"{name}.v"], cwd=work, check=True)

    def computed(terms: list[str]) -> list[str]:
        lines = [
            "Require Import List ZArith QArith Depth Sampler Bridge Records.",
            "Import ListNotations. Open Scope Z_scope.",
        ]
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
    cases = list(certificates(1500))
    ours = [upper_bound(*case) for case in cases]
    theirs = [whole(one) for one in coq([as_bound(*case) for case in cases])]
    assert ours == theirs
    assert [ours[0] + 1, *ours[1:]] != theirs


def test_verdicts_on_caps(coq):
    """Caps hold where the bound of the objective 0 is negative; hostile multipliers prove no more than that."""
    cases = [(levels, level, [0] * levels.d, *rest) for levels, level, _, *rest in certificates(600)]
    ours = [proves_empty(levels, level, *rest) for levels, level, _, *rest in cases]
    theirs = [one == "true" for one in coq([f"{as_bound(*case)} <? 0" for case in cases])]
    assert ours == theirs
    assert any(ours)
    assert not all(ours)


def test_laws_on_tiny_tables(coq):
    """The whole law, in rationals: e^kappa is taken to be q. Rows with a missing cell lie in no halfspace."""
    rng = np.random.default_rng(27)
    ours, asked = [], []
    for _ in range(400):
        d, n, k = int(rng.integers(1, 3)), int(rng.integers(1, 6)), int(rng.integers(1, 4))
        rows, there = rng.integers(0, 4, size=(n, d)), rng.random(n) < 0.8
        there[0] = True
        directions = rng.integers(-2, 3, size=(k, d))
        directions[(directions == 0).all(axis=1)] = 1
        grid = np.array(list(np.ndindex(*(4,) * d)))
        q = Fraction(int(rng.integers(5, 12)), 4)
        weights = [q ** int(t) for t in level_sets(rows[there], directions).depths(grid)]
        ours.append([weight / sum(weights) for weight in weights])
        table = listed(f"Some {vector(row)}" if here else "None" for row, here in zip(rows, there, strict=True))
        law = f"law_of {rational(q)} {listed(map(vector, directions))} {table} {listed(map(vector, grid))}"
        asked.append(told(law))
    theirs = [rationals(one) for one in coq(asked)]
    assert ours == theirs
    assert all(sum(law) == 1 for law in theirs)


def test_depths(coq):
    rng = np.random.default_rng(23)
    ours, asked = [], []
    for _ in range(700):
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
    for _ in range(1500):
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
    for case in range(1000):
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
    for case in range(400):
        budget = Fraction(int(rng.integers(1, 40)), int(rng.integers(1, 20)))
        wanted = [Fraction(int(rng.integers(1, 30)), int(rng.integers(5, 40))) for _ in range(8)]
        if case % 4 == 0:  # exactly what is left, and a trifle more or less than that
            trifle = Fraction(1, 10 ** int(rng.integers(6, 16)))
            whole_budget = [budget / 3] * 3 + [trifle, trifle]
            a_trifle_left = [budget - trifle, 2 * trifle, trifle, trifle]
            wanted = [whole_budget, a_trifle_left, [budget + trifle, budget, trifle]][case // 4 % 3]
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


def told(terms: str) -> str:
    """A list of rationals as whole numbers: Coq writes some of them in hexadecimal otherwise."""
    return f"flat_map (fun q : Q => [Qnum q; Z.pos (Qden q)]) ({terms})"


def rationals(text: str) -> list[Fraction]:
    numbers = [whole(item.strip()) for item in text.removesuffix("%Z").strip("[]").split(";")]
    return [Fraction(a, b) for a, b in zip(numbers[::2], numbers[1::2], strict=True)]


def test_prices(coq):
    rng = np.random.default_rng(28)
    ours, asked = [], []
    for _ in range(2000):
        epsilon, one = (Fraction(int(rng.integers(1, 50)), int(rng.integers(1, 50))) for _ in range(2))
        swap = one * Fraction(int(rng.integers(0, 9)), 4)
        relation, keys = str(rng.choice(["swap", "add-remove"])), int(rng.integers(0, 4))
        ours.append([kappa(epsilon, one, swap, relation, keys or None)])
        numbers = " ".join(map(rational, (epsilon, one, swap)))
        asked.append(told(f"[kappa {numbers} {'true' if relation == 'add-remove' else 'false'} {keys}]"))
    theirs = [rationals(one) for one in coq(asked)]
    assert ours == theirs
    assert [[2 * ours[0][0]], *ours[1:]] != theirs


def test_prices_of_parts(coq):
    rng = np.random.default_rng(29)
    ours, asked = [], []
    for _ in range(900):
        epsilon = Fraction(int(rng.integers(1, 50)), int(rng.integers(1, 50)))
        shares = [Fraction(int(rng.integers(0, 9)), 8) for _ in range(int(rng.integers(1, 6)))]
        parts = [Score(2 * max(p, 1 - p), Fraction(2)) for p in shares]
        relation, keys = str(rng.choice(["swap", "add-remove"])), int(rng.integers(0, 4))
        ours.append([kappa_of_parts(epsilon, parts, relation, keys or None)])
        pairs = listed(f"({rational(part.one)}, {rational(part.swap)})" for part in parts)
        added = "true" if relation == "add-remove" else "false"
        asked.append(told(f"[kappa_of_parts {rational(epsilon)} {pairs} {added} {keys}]"))
    theirs = [rationals(one) for one in coq(asked)]
    assert ours == theirs
    assert [[2 * ours[0][0]], *ours[1:]] != theirs


def test_what_scores_declare(coq):
    """Every price of trusted/prices.py that is a number: the one that Tight.constants_declared proves."""
    ours = [DEPTH, MOST_BEYOND, COUNT]
    asked = ["depth_score", "most_beyond_score", "count_score"]
    for number in (1, 2, 3, 17, 2**29):
        ours += [sums_from_the_middle(number), sums_from_an_end(number)]
        asked += [f"middle_score {number}", f"end_score {number}"]
    for dealings in (1, 2, 3, 17, 40):
        ours.append(depth_of_blocks(dealings))
        asked.append(f"blocks_score {dealings}%nat")
    for den in range(1, 13):
        for num in range(den + 1):
            score = rank(Fraction(num, den))
            ours.append(Score(den * score.one, den * score.swap))
            asked.append(f"rank_declared {num} {den}")
    theirs = [tuple(map(int, one.strip("()").split(","))) for one in coq(asked)]
    assert [tuple(map(int, score)) for score in ours] == theirs
    assert all(score.one.denominator == score.swap.denominator == 1 for score in ours)
    assert [(1, 1), *theirs[1:]] != theirs


def test_shares_and_rho_of_cells(coq):
    ours, asked = [], []
    for relation, added in (("swap", "false"), ("add-remove", "true")):
        for keys in range(5):
            ours.append([share_of_group(relation, keys or None)])
            asked.append(told(f"[share_of_group {added} {keys}]"))
            for epsilon in (Fraction(1), Fraction(3, 7), Fraction(22, 5)):
                ours.append([rho_of_cells(epsilon, relation, keys + 1)])
                asked.append(told(f"[rho_of_cells {rational(epsilon)} {added} {keys + 1}]"))
    theirs = [rationals(one) for one in coq(asked)]
    assert ours == theirs
    assert [[Fraction(2)], *theirs[1:]] != theirs


def test_records_beyond_radii_and_cells(coq):
    """What clipped means draw by: the most records, over columns, beyond a radius, or on one side of a cell."""
    rng = np.random.default_rng(31)
    ours, asked = [], []
    columns = BoundedColumns((Fraction(-8),) * 2, (Fraction(8),) * 2)
    for _ in range(300):
        n = int(rng.integers(0, 7))
        values = rng.integers(-8, 8, size=(n, 2)).astype(float)
        values[rng.random((n, 2)) < 0.2] = np.nan
        centre, radius = rng.integers(-7, 8, size=2), int(rng.integers(0, 17))
        kernel = BeyondCounts(columns, (0, 1), tuple(centre / 8), (radius / 8,))
        counts, _ = kernel.counts(kernel(values, (0,)).tolist())
        ours.append(int(max(count[0] for count in counts)))
        away = [cells(np.abs(row - centre)) for row in values]
        asked.append(f"beyond_most [0%nat; 1%nat] {listed(away)} {radius}")
        # Sixteen cells of width 1: beyond a cell lie the values of lower or of higher cells, whichever are more.
        wanted = rng.integers(0, 16, size=2)
        found = CellCounts(columns, (0, 1), 16)
        sides = found.most_beyond(found(values, (0,)).tolist())
        ours.append(int(max(side[cell] for side, cell in zip(sides, wanted, strict=True))))
        up, down = values + 8 - wanted, wanted - values - 8
        both = [cells(np.concatenate(pair)) for pair in zip(up, down, strict=True)]
        asked.append(f"beyond_most [0%nat; 1%nat; 2%nat; 3%nat] {listed(both)} 0")
    theirs = [whole(one) for one in coq(asked)]
    assert ours == theirs
    assert len(set(ours)) > 3
    assert [ours[0] + 1, *ours[1:]] != theirs


def cells(values) -> str:
    return listed("None" if np.isnan(v) else f"Some {z(v)}" for v in values)


def guarantees(rng):
    """Pure ones, some of bounded range; some with a delta; some whose zCDP has none, as that of Gaussian noise."""
    while True:
        epsilon, delta = Fraction(int(rng.integers(1, 30)), 40), Fraction(int(rng.integers(1, 9)), 4000)
        yield PureDP(epsilon)
        yield PureDP(epsilon, zcdp=Concentrated(epsilon**2 / 8))
        if rng.random() < 0.5:
            yield ApproxDP(epsilon, delta)
        if rng.random() < 0.3:
            yield ApproxDP(epsilon, delta, zcdp=Concentrated(epsilon**2 / 4))


def test_what_a_mixed_budget_admits(coq):
    rng = np.random.default_rng(30)
    ours, asked = [], []
    for _ in range(300):
        epsilon, delta = Fraction(int(rng.integers(2, 12)), 4), Fraction(int(rng.integers(1, 20)), 1000)
        conversion = delta * Fraction(int(rng.integers(0, 5)), 4)
        stream = guarantees(rng)
        wanted = [next(stream) for _ in range(int(rng.integers(5, 15)))]
        account, admitted = td.Accountant(epsilon, delta, conversion=conversion), []
        for guarantee in wanted:
            try:
                account.spend(guarantee)
                admitted.append("true")
            except td.BudgetExceeded:
                admitted.append("false")
        ours.append(listed(admitted))
        limits = Budget(epsilon, delta, conversion).limits(account.totals)
        numbers = " ".join(map(rational, (limits.epsilon, limits.own, limits.conversion, limits.rho)))
        nothing = sums(*(Fraction(0),) * 4)
        sequence = listed(sums(g.epsilon, delta_of(g), g.zcdp.rho, g.zcdp.delta) for g in wanted)
        asked.append(f"fst (mixed_in_turn {numbers} {nothing} {sequence})")
    theirs = coq(asked)
    assert ours == theirs
    assert any("true" in one and "false" in one for one in theirs)
    assert [one.replace("true", "false", 1) for one in ours] != theirs


def sums(epsilon: Fraction, delta: Fraction, rho: Fraction, rho_delta: Fraction) -> str:
    names = ("s_eps", "s_delta", "s_rho", "s_rho_delta")
    numbers = map(rational, (epsilon, delta, rho, rho_delta))
    return "{| " + "; ".join(f"{name} := {number}" for name, number in zip(names, numbers, strict=True)) + " |}"


WORDS = (2**63 - 1, -(2**63), -(2**63) + 1, 2**62, HALF, -HALF, HALF + 1, -HALF - 1, HALF - 1, 0, 1, -1)


def steps_of_records(rng, count):
    """What floats may make of records: any 64-bit integers, at the edges and around them."""
    for case in range(count):
        d = int(rng.integers(1, 6))
        reach = int(rng.choice([3, HALF // 2, HALF, 2 * HALF, 2**62]))
        steps = [int(v) for v in rng.integers(-reach, reach + 1, size=d)]
        if case % 3 == 0:
            steps = [WORDS[int(rng.integers(len(WORDS)))] if rng.random() < 0.6 else v for v in steps]
        yield steps


def numbers(text: str) -> list[int]:
    inside = text.removesuffix("%Z").strip("[]")
    return [whole(item.strip()) for item in inside.split(";")] if inside else []


def test_what_records_add_is_clipped_and_shortened(coq):
    cases = list(steps_of_records(np.random.default_rng(32), 1500))
    for function, name in ((clipped, "clipped"), (shortened, "shortened")):
        ours = [function(np.array([steps], dtype=np.int64))[0].tolist() for steps in cases]
        theirs = [numbers(one) for one in coq([f"{name} {HALF} {vector(steps)}" for steps in cases])]
        assert ours == theirs
        assert [[ours[0][0] + 1, *ours[0][1:]], *ours[1:]] != theirs
        assert any(one != steps for one, steps in zip(ours, cases, strict=True))


UNIT = BoundedColumns((Fraction(-1),) * 2, (Fraction(1),) * 2)
CELLS = (-1.0, -0.75, -0.3, 0.0, 0.5, 1.0, 7.0, -1e300, 5e-324, float("inf"), float("nan"))
KEYS = (0.0, 1.0, 2.0, -1.0, float("nan"))


def tables(rng, count, columns, codes):
    """Tables of a few hostile records, the last column their groups."""
    for _ in range(count):
        n = int(rng.integers(0, 7))
        measured = rng.choice(CELLS, size=(n, columns))
        yield np.column_stack([measured, rng.choice(codes, size=(n, 1)), rng.choice(KEYS, size=n)])


def as_record(group: float, steps) -> str:
    return f"({f'Some {int(group)}%nat' if group >= 0 else 'None'}, {vector(steps)})"


def test_sums_of_shortened_records_in_every_group(coq):
    """Floats make whole numbers of a record; from there on its share, its group and the sums are the theorem's."""
    rng = np.random.default_rng(33)
    ours, asked = [], []
    for case, cells in enumerate(tables(rng, 250, 2, (0.0, 1.0, 2.0, -3.0, float("nan"), float("inf")))):
        absolute, groups = case % 2 == 1, 3
        weight = (2, 2.0) if case % 3 else None
        centre, scale = (0.2, -0.5), (1.0, float(rng.choice([3.0, 1e150])))
        sums = NormSums(3, UNIT, (0, 1), centre, scale, float(rng.choice([0.01, 1.5, 1e10])), groups, absolute, weight)
        ours.append(sums(cells, (0,)).tolist())
        away = sums.away(cells[:, :3], np.zeros(len(cells), dtype=np.int64))
        steps = (away / np.maximum(np.abs(away).sum(axis=1, keepdims=True), sums.radius) * HALF).astype(np.int64)
        table = listed(as_record(row[3], one) for row, one in zip(cells, steps, strict=True))
        made = f"(fun c => map Z.abs (shortened {HALF} c))" if absolute else f"(shortened {HALF})"
        asked.append(f"flat_map (fun g => group_sums 2 {made} g {table}) (seq 0 {groups})")
    theirs = [numbers(one) for one in coq(asked)]
    assert ours == theirs
    assert any(any(one) for one in ours)
    assert [[ours[0][0] + 1, *ours[0][1:]], *ours[1:]] != theirs


def test_numbers_of_a_table_in_every_group(coq):
    """Categories, values and records: in one of them a record adds a half, in another it takes one away."""
    rng = np.random.default_rng(34)
    ours, asked = [], []
    for cells in tables(rng, 300, 2, (0.0, 1.0, 2.0, 3.0, -1.0, 0.5, float("nan"), float("inf"))):
        counts = TableCounts(3, UNIT, (), ((2, 0), (2, 1), (2, 2)), (0, 0, 3), (0, 2), 3)
        ours.append(counts(cells, (0,)).tolist())
        known = [0 <= row[2] < 3 for row in cells]
        steps = [
            [*((1 if row[2] == level else -1) * there for level in range(3)), 1, not np.isnan(row[0]), there]
            for row, there in zip(cells, known, strict=True)
        ]
        table = listed(as_record(row[3], [HALF * v for v in one]) for row, one in zip(cells, steps, strict=True))
        asked.append(f"flat_map (fun g => group_sums 6 (clipped {HALF}) g {table}) (seq 0 3)")
    theirs = [numbers(one) for one in coq(asked)]
    assert ours == theirs
    assert [[ours[0][0] + 1, *ours[0][1:]], *ours[1:]] != theirs


def test_cells_of_a_table_of_categories(coq):
    """A record is in one cell of one group, or in none: counted as Depth.count counts a cell's records."""
    rng = np.random.default_rng(35)
    counts = CategoryCounts(2, (0, 1), (2, 3), (None, None), 2)
    ours, asked = [], []
    for _ in range(200):
        n = int(rng.integers(0, 8))
        codes = rng.choice((0.0, 1.0, 2.0, 5.0, -1.0, float("nan")), size=(n, 2))
        cells = np.column_stack([codes, rng.choice((0.0, 1.0, 7.0, float("nan")), size=n)])
        ours.append(counts(cells, (0,)).tolist())
        places = []
        for one, two, group in cells:
            known = one in (0, 1) and two in (0, 1, 2)
            listed_in = group in (0, 1)
            places.append(f"Some {int(7 * group + (3 * one + two if known else 6))}" if listed_in else "None")
        same = "match c with Some k => k =? y | None => false end"
        asked.append(
            f"map (fun y => count (fun y c => {same}) y ({listed(places)} : list (option Z))) {vector(range(14))}"
        )
    theirs = [numbers(one) for one in coq(asked)]
    assert ours == theirs
    assert [[ours[0][0] + 1, *ours[0][1:]], *ours[1:]] != theirs


def test_records_beyond_a_radius(coq):
    rng = np.random.default_rng(36)
    whole_units = BoundedColumns((Fraction(-16),) * 2, (Fraction(16),) * 2)
    radii = (0, 3, 8, 20)
    beyond = NormBeyond(NormSums(2, whole_units, (0, 1), (0.0, 0.0), (16.0, 16.0), 1.0, 1), tuple(map(float, radii)))
    ours, asked = [], []
    for _ in range(300):
        n = int(rng.integers(0, 8))
        cells = rng.integers(-20, 21, size=(n, 2)).astype(float)
        cells[rng.random((n, 2)) < 0.2] = np.nan
        ours.append(beyond(cells, (0,)).tolist())
        sizes = vector(int(np.nansum(np.abs(np.clip(row, -16, 16)))) for row in cells)
        asked.append(f"map (fun r => count (Depth.beyond Z Some) r {sizes}) {vector(radii)}")
    theirs = [numbers(one) for one in coq(asked)]
    assert ours == theirs
    assert [[ours[0][0] + 1, *ours[0][1:]], *ours[1:]] != theirs


MAGNITUDES = (0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 3.0, 8.0, -8.0, 9.0, 2.0**60, float("nan"))


def test_records_outside_windows_of_magnitudes(coq):
    """The score by which windows are drawn, for every choice of a window for each column."""
    rng = np.random.default_rng(37)
    ours, asked = [], []
    for _ in range(200):
        windows = [
            (int(low), int(low * 2 ** rng.integers(0, 4)), bool(sign))
            for low, sign in zip(rng.choice([0, 1, 2, 4], size=3), rng.integers(0, 2, size=3), strict=True)
        ]
        cells = rng.choice(MAGNITUDES, size=(int(rng.integers(0, 7)), 2))
        outside = OutsideCounts(2, (0, 1), tuple((float(a), float(b), sign) for a, b, sign in windows))
        by_column = np.array(outside(cells, (0,))).reshape(2, 3)
        told_windows = [f"(({a}), ({b}), {'true' if sign else 'false'})" for a, b, sign in windows]
        table = listed(listed("None" if np.isnan(v) else f"Some {z(v)}" for v in row) for row in cells)
        for i in range(3):
            for j in range(3):
                ours.append(int(max(by_column[0, i], by_column[1, j])))
                pair = listed((told_windows[i], told_windows[j]))
                asked.append(f"outside_magnitudes [0%nat; 1%nat] {table} {pair}")
    theirs = [whole(one) for one in coq(asked)]
    assert ours == theirs
    assert len(set(ours)) > 3
    assert [ours[0] + 1, *ours[1:]] != theirs
