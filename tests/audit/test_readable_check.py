"""The check before a release: what a swap moves, the law of the count, and the whole run, by enumeration."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import tukeydp as td
from support import messy
from support.charges import charge
from support.references import ROOT
from tukeydp.data.files import read_file
from tukeydp.data.numbers import NO_VALUE, PLAIN, NumberRule
from tukeydp.data.readers.options import ReadOptions
from tukeydp.data.tables import Table
from tukeydp.mechanisms import readable_check
from tukeydp.mechanisms.clipped_mean import clipped_plan
from tukeydp.mechanisms.readable_check import (
    CHECK,
    FALSE_ALARM,
    MISSED,
    SHARE,
    WARNED,
    WARNING,
    Check,
    CheckPlan,
    Counts,
    check_plan,
    exact_counts,
    least_cost_with_check,
    noisy_counts,
    with_check,
)
from tukeydp.results.release import Refused, Release
from tukeydp.trusted import steps
from tukeydp.trusted.account import ApproxDP, PureDP
from tukeydp.trusted.bits import Keystream
from tukeydp.trusted.laws import cube_noise
from tukeydp.trusted.release import reserve
from tukeydp.trusted.rows import bounded_columns

CELLS = ["1", "x", "", "NA"]
RECORDS = [*(f"{a},{b}" for a, b in itertools.product(CELLS, CELLS)), "1,2,3", "1"]


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """Every text table of two rows made of these records, by the records, as the reader reads it."""
    path = tmp_path_factory.mktemp("tables") / "t.csv"
    found = {}
    for records in itertools.product(RECORDS, repeat=2):
        path.write_text("a,b\n" + "\n".join(records) + "\n")
        found[records] = read_file(path, ["a", "b"])
    return found


def neighbours(tables):
    for one, other in itertools.combinations(tables, 2):
        if sum(a != b for a, b in zip(one, other, strict=True)) == 1:
            yield tables[one], tables[other]


def loss(epsilon, one, other):
    """The largest log ratio between two laws of cube noise around two vectors of counts: the largest shift."""
    places = itertools.product(range(-4, 7), repeat=2)
    return max(
        epsilon * (max(abs(k - b) for k, b in zip(at, other, strict=True))
                   - max(abs(k - a) for k, a in zip(at, one, strict=True))) for at in places
    )  # fmt: skip


def largest_loss(tables, count):
    seen = {(count(one), count(other)) for one, other in neighbours(tables)}
    return max(max(loss(Fraction(1), *pair), loss(Fraction(1), *pair[::-1])) for pair in seen)


def test_the_counts_are_private(tables):
    assert largest_loss(tables, lambda table: exact_counts(table)[:2]) == 1


@pytest.mark.parametrize("summed", ["unreadable", "values"])
def test_counts_over_all_columns_would_not_be_private(tables, summed):
    """The control: the sum over columns moves by 2 under a swap, and costs twice the epsilon."""

    def over_all(table):
        if summed == "unreadable":
            return int(table.unreadable.sum()), exact_counts(table).values
        return exact_counts(table).unreadable, int((~np.isnan(table.cells)).sum())

    assert largest_loss(tables, over_all) == 2


def unreadable_by_definition(records, j):
    cells = [record.split(",") for record in records]
    return sum(len(row) > 2 or j >= len(row) or row[j] == "x" for row in cells)


def values_by_definition(records, j):
    cells = [record.split(",") for record in records]
    return sum(len(row) <= 2 and j < len(row) and row[j] == "1" for row in cells)


def test_counts_are_those_of_the_definition(tables):
    for records, table in tables.items():
        unreadable = [unreadable_by_definition(records, j) for j in range(2)]
        values = [values_by_definition(records, j) for j in range(2)]
        assert table.unreadable.tolist() == unreadable
        assert exact_counts(table) == (max(unreadable), min(values), None)


def test_rows_with_a_value_in_every_column_are_private_too(tables):
    assert largest_loss(tables, lambda table: exact_counts(table, whole_rows=True)[:2]) == 1
    for records, table in tables.items():
        whole = sum(record == "1,1" for record in records)
        assert exact_counts(table, whole_rows=True).values == whole


@pytest.mark.parametrize(
    ("run", "more", "stops"),
    [
        (td.boxem, {"bounds": (0, 10)}, True),
        (td.rem, {"delta": "1e-6"}, True),
        (lambda x, **given: td.regression(x, "b", **given), {"bounds": (-5, 5)}, True),
        (td.cube, {"bounds": (0, 10)}, False),
    ],
)
def test_rows_of_which_each_lacks_a_cell_are_no_rows_to_a_centre(run, more, stops):
    """Every column has values enough, and no row that depth could use."""
    cells = np.full((3000, 2), 5.0)
    cells[::2, 0] = cells[1::2, 1] = np.nan
    table = Table(cells, ("a", "b"), unreadable=np.array([0, 0]))
    outcome = run(table, epsilon=1, randomness=td.seeded(1), **more)
    assert (outcome.mechanism == CHECK) == stops
    assert not stops or "rows have a value in every column" in outcome.notes[0]


def test_rows_in_no_listed_group_are_counted():
    table = Table(np.ones((4, 1)), ("a",), unreadable=np.array([0]))
    assert exact_counts(table, np.array([-1, 0, 1, -1])) == Counts(0, 4, 2)
    assert exact_counts(Table(np.array([[np.nan, 1.0], [2.0, np.inf]]))) == Counts(0, 1, None)


EPSILON = Fraction(400)  # so large that three rows are enough for a check: its own part is 20
DRAWS = range(-1, 3)
COUNTS = ("unreadable_cells", "fewest_values")


def outcomes(table, epsilon, allowed):
    """Every outcome of a run and the logarithm of its weight; the constants that are left out depend on no cell.

    The mechanism beside it is a discrete Laplace count of column b's readable cells, of its own epsilon.
    """
    found = {}
    for z, y in itertools.product(itertools.product(DRAWS, repeat=2), DRAWS):
        weight = []

        def run(x, *, epsilon, randomness, weight=weight, y=y):
            weight.append(-epsilon * abs(y - int(x.unreadable[1])))
            paid = reserve({"stub": PureDP(epsilon)}, mechanism="stub", source=randomness, parameters={})
            return Release(point=np.array([float(y)]), seal=paid.seal, mechanism="stub", seeded=True, **x.public)

        def noise(d, scale, bits, weight=weight, z=z):
            weight.append(-max(map(abs, z)) / scale)
            return list(z)

        with patch.object(steps, "cube_noise", noise):
            outcome = with_check(run, table, epsilon=epsilon, check=allowed, randomness=td.seeded(1))
        point = None if outcome.point is None else outcome.point[0]
        key = (outcome.mechanism, tuple(outcome.settings[name] for name in COUNTS), point)
        # A stop comes with every y: their weights are those of a law with a constant sum, so the check's alone count.
        found[key] = weight[1] if point is None else sum(weight)
    return found


@pytest.mark.parametrize("share", ["1/50", "2/3"])
def test_the_run_as_a_whole_is_private_and_a_stop_costs_its_own_part(tables, share):
    worst = {"stub": Fraction(0), CHECK: Fraction(0)}
    third = Table(np.array([[1.0, 1.0]]), unreadable=np.array([0, 0]))
    some = {
        records: Table(np.vstack([table.cells, third.cells]), table.columns, None, table.unreadable + third.unreadable)
        for records, table in tables.items()
        if records[0] in ("1,1", "x,1", "x,x", "1,x", ",") and records[1] in ("1,1", "x,x", "1,", ",")
    }
    laws = {id(table): outcomes(table, EPSILON, Check(share)) for table in some.values()}
    for one, other in neighbours(some):
        p, q = laws[id(one)], laws[id(other)]
        # What is said at some counts is the same for both, but for counts beyond the draws that are listed.
        both = {counts for _, counts, _ in p} & {counts for _, counts, _ in q}
        assert {key for key in p if key[1] in both} == {key for key in q if key[1] in both}
        for key in p.keys() & q.keys():
            worst[key[0]] = max(worst[key[0]], abs(p[key] - q[key]))
    assert worst["stub"] == EPSILON
    assert worst[CHECK] == SHARE * EPSILON


def tail(counts, epsilon, t):
    """Pr[Z_1 >= t] of cube noise of so many counts, t >= 1, summed up term by term over s (docs/proofs/mean.md, 4)."""
    s = np.arange(math.ceil(100 / epsilon) + t + 20, dtype=float)
    weight = np.exp(-epsilon * s)
    above = np.maximum(s - t + 1, 0)
    return float((weight * (2 * s + 1) ** (counts - 1) * above).sum() / (weight * (2 * s + 1) ** counts).sum())


def test_the_tail_is_that_of_the_noise_by_enumeration():
    """Of two counts, over a square large enough, and a control: three counts have another."""
    epsilon, square = 1.5, range(-25, 26)
    law = {z: math.exp(-epsilon * max(map(abs, z))) for z in itertools.product(square, repeat=2)}
    for t in (1, 2, 5):
        listed = sum(w for z, w in law.items() if z[0] >= t) / sum(law.values())
        assert math.isclose(tail(2, epsilon, t), listed, rel_tol=1e-9)
        assert not math.isclose(tail(3, epsilon, t), listed, rel_tol=0.05)


@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("epsilon", ["0.1", "0.5", "1", "2", "7/3", "10", "200"])
def test_false_alarms_misses_and_warnings_are_as_rare_as_stated(epsilon, grouped):
    own, counts = Fraction(epsilon) * SHARE, 3 if grouped else 2
    chance = lambda t: tail(counts, float(own), t)  # noqa: E731
    fewest = CheckPlan(1, own, grouped=grouped).fewest_rows
    for n in (fewest, fewest + 1, 2 * fewest, 50 * fewest):
        plan = check_plan(n, Fraction(epsilon), grouped=grouped)
        most = plan.most_unreadable(Counts(0, 0, None))
        assert chance(most + 1) < FALSE_ALARM  # N > most where every cell reads
        assert chance(n - plan.least_values + 1) < FALSE_ALARM  # N < least where every cell is a value
        assert chance(n - most) < MISSED  # N <= most where none reads
        assert chance(plan.least_values) < MISSED  # N >= least where there is no value
        assert chance(plan.caught - most) < MISSED
        assert chance(plan.warned + 1) < WARNED
        if grouped:
            assert chance(plan.most_unlisted(Counts(0, 0, 0)) + 1) < FALSE_ALARM  # where every row is in a listed group
    if own < 1:  # else rounding up decides
        assert chance(plan.margin - math.ceil(1 / own)) > FALSE_ALARM


def test_the_measured_case_stops():
    """Marks of thousands in a third of 500 cells at epsilon 1: 26 of 30 runs went on, a half too low."""
    plan = check_plan(500, Fraction(1))
    assert tail(2, 0.05, 165 - plan.most_unreadable(Counts(0, 0, None))) < 0.05
    assert tail(2, 0.05, 185 - 184) > 0.2  # the control: the margin of one false alarm in ten thousand


def test_the_table_of_the_proof():
    page = (ROOT / "docs" / "proofs" / "readable-check.md").read_text(encoding="utf-8")
    for epsilon in ("0.5", "1", "2"):
        plans = [check_plan(n, Fraction(epsilon)) for n in (500, 5000, 50000)]
        cells = [f"{p.caught} ({100 * p.caught / p.n:.1f} %)" if p.n >= p.fewest_rows else "no check" for p in plans]
        grouped = check_plan(500, Fraction(epsilon), grouped=True).fewest_rows
        assert f"| {epsilon} | {plans[0].fewest_rows} | {grouped} | {' | '.join(cells)} |" in page


def table_with(n, unreadable, values=None):
    """One column; unreadable cells are missing, and further ones where there are fewer values."""
    there = n - unreadable if values is None else values
    cells = np.full((n, 1), 5.0)
    cells[there:] = np.nan
    return Table(cells, ("a",), unreadable=np.array([unreadable]))


@pytest.mark.parametrize("kind", ["pure", "approximate"])
def test_guarantees_add_up_exactly(kind):
    way = {"pure": (td.mean, {"bounds": (0, 10)}), "approximate": (td.rem, {"delta": "1e-6"})}
    run, options = way[kind]
    epsilon = Fraction(7, 3)
    outcome = run(table_with(400, 0), epsilon=epsilon, randomness=td.seeded(1), **options)
    expected = {"pure": PureDP(epsilon), "approximate": ApproxDP(epsilon, "1e-6")}
    assert outcome.guarantee == expected[kind]
    assert outcome.settings["epsilon_check"] == epsilon / 20
    assert any("Checked first, for epsilon = 7/60" in note for note in outcome.notes)
    for lost in (table_with(400, 400), table_with(400, 0, values=0)):
        stopped = run(lost, epsilon=epsilon, randomness=td.seeded(1), **options)
        assert isinstance(stopped, Refused)
        assert stopped.guarantee == PureDP(epsilon / 20)
        assert (stopped.mechanism, stopped.private) == (CHECK, False)


GROUPS = {"by": ["A", "B"] * 200, "keys": ["A", "B"]}


@pytest.mark.parametrize("run", [td.mean, td.boxem, td.summary])
def test_guarantees_of_groups_add_up_exactly(run):
    outcome = run(table_with(400, 0), epsilon=1, bounds=(0, 10), randomness=td.seeded(1), **GROUPS)
    assert outcome.guarantee == PureDP(1)
    assert outcome.settings["rows_unlisted"] <= outcome.settings["rows_unlisted_most"]
    if run is not td.summary:
        assert outcome["A"].guarantee == PureDP(1)
    account = td.Accountant(epsilon=1)
    options = {"bounds": (0, 10), "accountant": account, "randomness": td.seeded(1)}
    stopped = run(table_with(400, 400), epsilon=1, **options, **GROUPS)
    assert stopped.guarantee == account.history[0].guarantee == PureDP(1)


def test_the_mechanism_is_given_the_rest_and_the_whole_where_there_is_no_check():
    given = []

    @readable_check.checked()
    def run(table, *, epsilon, randomness, **options):
        given.append(epsilon)
        return td.mean(table, epsilon=epsilon, bounds=(0, 10), randomness=randomness, check=False)

    typed = Table(np.full((400, 1), 5.0), ("a",))
    for table, options in ((table_with(400, 0), {}), (table_with(199, 0), {}), (typed, {}),
                           (table_with(400, 0), {"unproven": "mcmc"}), (table_with(400, 0), {"check": False}),
                           (typed, {"check": True}), (typed.cells, {"check": 0.5}), (typed.cells, {})):  # fmt: skip
        outcome = run(table, epsilon=1, randomness=td.seeded(1), **options)
        assert outcome.guarantee == PureDP(1) if "unproven" not in options else True
    rest = Fraction(19, 20)
    assert given == [rest, 1, 1, 1, 1, rest, rest, 1]
    few = run(table_with(199, 199), epsilon=1, randomness=td.seeded(1))
    assert any("takes 200 rows. Nothing was spent" in note for note in few.notes)


def test_the_noise_of_two_checks_is_not_the_same(monkeypatch):
    """Of the operating system's bits, or of the seed's."""
    first = []
    monkeypatch.setattr(steps, "cube_noise", lambda d, scale, bits: first.append(bits.take(64)) or [0] * d)
    for randomness in (None, None, td.seeded(1), td.seeded(2)):
        td.boxem(table_with(400, 0), epsilon=1, bounds=(0, 10), randomness=randomness)
    assert len(set(first)) == 4


def test_the_noise_is_that_of_a_vector_moved_by_one_in_every_coordinate():
    """Counts have the noise that `cube_noise` draws at 1 / epsilon, all of them together."""
    for counts in (Counts(3, 50, None), Counts(3, 50, 7)):
        drawn = noisy_counts(counts, charge(Fraction(1, 20)))
        d = 2 if counts.unlisted is None else 3
        noise = cube_noise(d, Fraction(20), Keystream(bytes(32)).bits(0))
        assert [a - b for a, b in zip(drawn[:d], counts[:d], strict=True)] == noise
        assert (drawn.unlisted is None) == (counts.unlisted is None)


@pytest.mark.parametrize("unreadable", [0, 400])
@pytest.mark.parametrize("kind", ["pure", "approximate"])
def test_an_accountant_pays_for_run_and_check_in_one_entry_also_where_the_run_stops(kind, unreadable):
    run, options = {"pure": (td.boxem, {"bounds": (0, 10)}), "approximate": (td.rem, {"delta": "1e-6"})}[kind]
    account = td.Accountant(epsilon=1, delta="1e-6")
    table = table_with(400, unreadable)
    outcome = run(table, epsilon=1, accountant=account, randomness=td.seeded(1), **options)
    assert (outcome.mechanism == CHECK) == (unreadable == 400)
    (entry,) = account.history
    assert entry.guarantee == outcome.guarantee == {"pure": PureDP(1), "approximate": ApproxDP(1, "1e-6")}[kind]
    # Steps add up in zCDP too: an exponential mechanism of 19/20 (REM: any law), and noisy counts of 1/20.
    expected = Fraction(19, 20) ** 2 / (8 if kind == "pure" else 2) + Fraction(1, 20) ** 2 / 2
    assert entry.guarantee.zcdp.rho == outcome.guarantee.zcdp.rho == expected
    assert entry.parameters["epsilon_check"] == "1/20"
    assert outcome.settings["epsilon_check"] == Fraction(1, 20)


def test_an_accountant_with_room_for_the_release_but_not_for_the_check_refuses_before_a_look():
    account = td.Accountant(epsilon="0.99")
    with patch.object(readable_check, "noisy_counts", side_effect=AssertionError), pytest.raises(td.BudgetExceeded):
        td.boxem(table_with(400, 0), epsilon=1, bounds=(0, 10), accountant=account)
    assert account.history == ()
    td.boxem(table_with(400, 0), epsilon="0.99", bounds=(0, 10), accountant=account)
    assert account.remaining().epsilon == 0


def test_an_accountant_pays_all_of_epsilon_where_there_is_no_check():
    typed = Table(np.full((400, 1), 5.0), ("a",))
    for table in (typed, table_with(199, 199)):
        account = td.Accountant(epsilon=1)
        outcome = td.boxem(table, epsilon=1, bounds=(0, 10), accountant=account)
        assert [entry.guarantee for entry in account.history] == [outcome.guarantee] == [PureDP(1)]
    with pytest.raises(td.ParameterError, match="no guarantee to spend"):
        td.boxem(table_with(400, 0), epsilon=1, bounds=(0, 10), accountant=account, unproven="mcmc")
    with pytest.raises(td.ParameterError, match="accountant must be"):
        td.boxem(table_with(400, 0), epsilon=1, bounds=(0, 10), accountant="study.db")


WAYS = [
    (td.boxem, {"bounds": (0, 10)}),
    (td.boxem, {"bounds": (0, 10), "certify": "1/5"}),
    *((td.mean, {"bounds": (0, 10), "mechanism": name}) for name in ("subset", "cube", "two-step")),
    *((td.mean, {"bounds": (0, 10), "mechanism": name, "confidence": 0.95}) for name in ("cube", "two-step")),
    (td.mean, {"bounds": (0, 10), "confidence": 0.95, "sd": 1}),
    (td.mean, {"delta": "1e-6"}),
    (td.mean, {"delta": "1e-6", "confidence": 0.95}),
]


@pytest.mark.parametrize("checked", [True, False])
@pytest.mark.parametrize(("run", "options"), WAYS)
def test_no_run_costs_less_than_the_least_cost(run, options, checked):
    """By which the command line refuses before it opens the table. What is recorded is what was paid."""
    n = 4000
    table = table_with(n, 0) if checked else Table(np.full((n, 1), 5.0), ("a",))
    account = td.Accountant(epsilon=1, delta="1e-6", conversion=0)
    outcome = run(table, epsilon=1, accountant=account, randomness=td.seeded(1), **options)
    (entry,) = account.history
    least = least_cost_with_check(1, options.get("delta"))
    assert least == entry.guarantee == outcome.guarantee
    assert least.zcdp.rho <= entry.guarantee.zcdp.rho == outcome.guarantee.zcdp.rho
    assert entry.guarantee.zcdp.rho <= Fraction(1, 2)


def test_a_wrong_parameter_raises_before_anything_is_drawn():
    with patch.object(readable_check, "noisy_counts", side_effect=AssertionError), pytest.raises(td.ParameterError):
        td.mean(table_with(400, 0), epsilon=1, bounds=(1, 0))


# Cells without what ends them: marks of records, cells and quotes.
free = st.text(st.characters(codec="utf-8", exclude_characters='\r\n,"'), max_size=6)
record = st.lists(free, min_size=1, max_size=3).map(",".join).filter(bool)  # a blank line is no row


@given(st.lists(record, min_size=2, max_size=6), record)
@example(["1,2", "1,2,3"], "NA,x")
def test_a_swap_moves_every_column_by_at_most_one(tmp_path_factory, records, other):
    path = tmp_path_factory.mktemp("swap") / "t.csv"
    counts = []
    for rows in (records, [other, *records[1:]]):
        path.write_bytes(("a,b\n" + "\n".join(rows) + "\n").encode())
        counts.append(read_file(path, ["a", "b"]).unreadable)
    assert np.abs(counts[0] - counts[1]).max() <= 1


words = st.sampled_from(
    [*NO_VALUE, *map(str.upper, NO_VALUE), "k.A.", "K.a.", "unbekannt", "-999", "\u00a0", "131 mmHg"]
)


@given(st.lists(st.one_of(free, words, st.floats().map(repr)), min_size=1, max_size=20))
def test_the_compiled_rule_is_the_rule(tmp_path_factory, cells):
    """Also for Excel, where texts are read by the rule itself."""
    rule = NumberRule(absent=("k.A.", "-999"))
    folder = tmp_path_factory.mktemp("rule")
    (folder / "t.csv").write_bytes(("a,z\n" + "".join(f"{cell},\n" for cell in cells)).encode())
    expected = sum(math.isnan(rule.number(cell)) and not rule.is_empty(cell) for cell in cells)
    options = ReadOptions(missing=["k.A.", "-999"])
    assert read_file(folder / "t.csv", ["a"], options).unreadable.tolist() == [expected]
    plain = [cell for cell in cells if cell.isascii() and cell.isprintable()]
    (folder / "t.xlsx").write_bytes(messy.workbook(("S", [["a", "z"], *([cell, "z"] for cell in plain), [1, "z"]])))
    expected = sum(math.isnan(rule.number(cell)) and not rule.is_empty(cell) for cell in plain)
    assert read_file(folder / "t.xlsx", ["a"], options).unreadable.tolist() == [expected]


def test_formats_with_a_schema_count_nothing(tmp_path):
    case = next(case for case in messy.FILES if case.name == "table.parquet")
    (tmp_path / case.name).write_bytes(case.content)
    assert read_file(tmp_path / case.name, case.columns).unreadable is None


def test_marks_of_unreadable_cells_do_not_stay(tmp_path):
    """Every missing cell is the same NaN, bit by bit."""
    (tmp_path / "t.csv").write_text('b,a\n1,x\n1,\n1,2,3\n2\n1,"y"z\n')
    cells = read_file(tmp_path / "t.csv", ["a"]).cells
    assert set(cells.view(np.uint64)[:, 0].tolist()) == {np.float64(np.nan).view(np.uint64)}
    assert PLAIN.is_empty("")


# The parameter `check` of the mechanisms.

RUNS = {
    "mean": (td.mean, {"bounds": (0, 10), "mechanism": "cube"}),
    "boxem": (td.boxem, {"bounds": (0, 10)}),
    "rem": (td.rem, {"delta": "1e-6"}),
    "cube": (td.cube, {"bounds": (0, 10)}),
    "spread": (td.spread, {"bounds": (0, 10)}),
    "quantiles": (td.quantiles, {"bounds": (0, 10)}),
    "summary": (td.summary, {"bounds": (0, 10), "confidence": None}),
    "aggregate": (td.aggregate, {"statistic": np.nanmean, "blocks": 40, "bounds": (0, 10)}),
}


@pytest.mark.parametrize("name", RUNS)
def test_every_mechanism_has_the_check(name):
    """Where cells can be unreadable by default, never, or always: by the kind of the table alone."""
    run, options = RUNS[name]
    options = {"epsilon": 1, "randomness": td.seeded(1), **options}
    nothing = np.full((400, 1), np.nan)
    text, typed = Table(nothing, ("a",), unreadable=np.array([400])), Table(nothing, ("a",))
    for x, check, stops in [
        (text, None, True), (text, False, False), (text, True, True), (text, 1, True), (text, Check(), True),
        (typed, None, False), (nothing, None, False), (nothing, True, True), (nothing, 0.5, True),
        (nothing, np.True_, True), (text, np.False_, False),
    ]:  # fmt: skip
        outcome = run(x, check=check, **options)
        assert (getattr(outcome, "mechanism", "") == CHECK) == stops
    assert any("Checked first" in note for note in run(table_with(400, 0), **options).notes)


def test_statistics_of_files_lists_and_series_are_checked_and_frames_if_asked(tmp_path):
    """Two runs on a column of nothing gave 5.8 and 1.0: every block was a missing one."""
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + '"1,5",2\n' * 400)
    given = {"statistic": lambda rows: np.nanmean(np.asarray(rows, dtype=float)), "blocks": 40, "bounds": (0, 10)}
    given |= {"epsilon": 1, "randomness": td.seeded(1)}
    nothing = pd.DataFrame({"a": ["1,5"] * 400})
    for x in (td.read(path), td.read(path)["a"], ["1,5"] * 400, [["1,5", 2]] * 400, nothing["a"]):
        assert td.aggregate(x, **given).mechanism == CHECK
        assert td.aggregate(x, check=False, **given).released
    assert td.aggregate(nothing, dummy=pd.DataFrame({"a": [1.0]}), **given).released  # texts may be meant
    assert td.aggregate(nothing, dummy=pd.DataFrame({"a": [1.0]}), check=True, **given).mechanism == CHECK
    good = td.aggregate(np.linspace(0, 9, 400).tolist(), **given)
    assert (good.guarantee.epsilon, good.settings["epsilon_check"]) == (1, Fraction(1, 20))
    account = td.Accountant(1)
    td.aggregate(["1,5"] * 400, accountant=account, **given)
    assert account.remaining().epsilon == 0


def test_regression_has_the_check_of_features_and_answers():
    cells = np.column_stack([np.linspace(0, 1, 3000), np.linspace(1, 2, 3000)])
    good = Table(cells, ("x", "y"), unreadable=np.array([0, 0]))
    given = {"epsilon": 1, "bounds": (-5, 5), "randomness": td.seeded(1)}
    assert td.regression(good, "y", **given).settings["epsilon_check"] == Fraction(1, 20)
    bad = Table(cells, ("x", "y"), unreadable=np.array([0, 3000]))
    assert td.regression(bad, "y", **given).mechanism == CHECK
    answers = Table(cells[:, 1:], ("y",), unreadable=np.array([3000]))
    features = Table(cells[:, :1], ("y",), unreadable=np.array([0]))
    assert td.regression(features, y=answers, **given).mechanism == CHECK
    assert td.regression(cells[:, :1], cells[:, 1], **given).settings.get("epsilon_check") is None
    passed = td.regression(features, cells[:, 1], **given)
    assert passed.settings["epsilon_check"] == Fraction(1, 20)
    # The answers stay the answers where a feature has their name.
    assert passed.columns == ("intercept", "y")


def test_shares_are_checked_and_shown():
    for wrong in (-0.1, 1.1, "many", float("nan"), [0.1]):
        with pytest.raises(td.ParameterError, match="check must be None, True, False, a share from 0 to 1"):
            td.mean(table_with(400, 0), epsilon=1, bounds=(0, 10), check=wrong)
    with pytest.raises(td.ParameterError, match="unlisted must be a share"):
        Check(unlisted=3)
    assert Check(0.1, "0.5") == Check(Fraction(1, 10), Fraction(1, 2))
    allowed = td.mean(table_with(1000, 300), epsilon=1, bounds=(0, 10), check=0.5, randomness=td.seeded(1))
    assert allowed.settings["unreadable_cells_most"] == 500
    assert any(note.startswith(WARNING) for note in allowed.caveats)
    plain = td.mean(table_with(1000, 0), epsilon=1, bounds=(0, 10), randomness=td.seeded(1))
    assert not any(note.startswith(WARNING) for note in plain.caveats)


def test_what_is_read_in_passes_or_by_person_is_not_checked():
    table = table_with(400, 400)
    for options, x in (
        ({"person": list(range(400))}, table),
        ({"unproven": "mcmc"}, table),
        ({}, td.chunks(lambda: [table.cells])),
    ):
        with pytest.raises(td.ParameterError, match="check must be left out"):
            td.boxem(x, epsilon=1, bounds=(0, 10), check=True, **options)
    free = td.boxem(table, epsilon=1, bounds=(0, 10), person=list(range(400)), randomness=td.seeded(1))
    assert "epsilon_check" not in free.settings


@pytest.mark.parametrize("check", [None, False])
def test_no_run_inside_a_run_is_checked(check, monkeypatch):
    """REM on means of blocks is a part of a run: a check of its own would be spent beside the guarantee."""
    drawn = []
    monkeypatch.setattr(readable_check, "noisy_counts", lambda *given: drawn.append(given) or Counts(0, 400, None))
    without_bounds = {"epsilon": 1, "delta": "1e-6", "check": check}
    account = td.Accountant(epsilon=1, delta="1e-6")
    assert td.mean(table_with(4000, 0), accountant=account, **without_bounds).guarantee.epsilon == 1
    assert account.remaining().epsilon == 0
    td.mean(table_with(4000, 0), neighbours="add-remove", rows=4000, **without_bounds)
    rows = Table(np.random.default_rng(1).normal(size=(3000, 2)), ("x", "y"), unreadable=np.array([0, 0]))
    td.regression(rows, "y", epsilon=1, bounds=(-5, 5), check=check)
    assert len(drawn) == (0 if check is False else 3)


def test_under_add_and_remove_nothing_says_how_many_rows_there_are():
    """Few values are told from none by their noisy count alone, unless `rows` says that the table is small."""
    given = {"epsilon": 1, "bounds": (0, 10), "neighbours": "add-remove", "randomness": td.seeded(1)}
    stopped = td.cube(table_with(3, 0), **given)
    assert (stopped.mechanism, stopped.n) == (CHECK, None)
    assert stopped.guarantee == PureDP(Fraction(1, 20), neighbours="add-remove")
    assert td.cube(table_with(3, 0), rows=50, **given).released
    empty = Table(np.empty((0, 1)), ("a",), unreadable=np.array([0]))
    assert td.cube(empty, **given).mechanism == CHECK
    # By the noisy counts: a share of the cells that hold anything.
    plan = check_plan(None, Fraction(1), Check(unreadable="0.1"))
    assert plan.most_unreadable(Counts(500, 4500, None)) == 500
    assert plan.most_unreadable(Counts(-20, 10, None)) == plan.margin


def test_frames_and_lists_are_read_once_and_released_as_before():
    frame = pd.DataFrame({"a": np.linspace(0, 10, 400), "g": ["A", "B"] * 200})
    given = {"epsilon": 1, "bounds": (0, 10), "mechanism": "cube"}
    plain = td.mean(frame[["a"]].to_numpy(), randomness=td.seeded(1), **given)
    assert td.mean(frame[["a"]], check=False, randomness=td.seeded(1), **given).point == plain.point
    groups = {"by": "g", "keys": ["A", "B"]}
    named = td.mean(frame, check=True, randomness=td.seeded(1), **groups, **given)
    assert (named.by, named.settings["epsilon_check"]) == ("g", Fraction(1, 20))
    listed = td.mean(frame[["a"]], check=True, randomness=td.seeded(1), by=frame["g"], keys=["A", "B"], **given)
    assert listed["A"].point == named["A"].point


@pytest.mark.parametrize("neighbours", ["swap", "add-remove"])
@pytest.mark.parametrize("d", [1, 2, 4, 5, 8])
def test_no_clipped_mean_costs_less_than_the_least_cost(d, neighbours):
    """Its steps are more than two, and each costs less than half as much in concentrated privacy."""
    total = Fraction(1)
    own = PureDP(SHARE * total, neighbours=neighbours)
    for n in (1, 60, 200, 400, 900, 1500, 3000, 10**6):
        for asked in ({}, {"interval": True}, {"interval": True, "spread": True}, {"bounds_only": True}):
            columns = bounded_columns(d, (0, 70))
            plan = clipped_plan(n, columns, total - own.epsilon, neighbours=neighbours, **asked)
            assert plan.guarantee.epsilon == total - own.epsilon
            least = least_cost_with_check(total, neighbours=neighbours).zcdp.rho
            assert least <= (plan.guarantee + own).zcdp.rho
