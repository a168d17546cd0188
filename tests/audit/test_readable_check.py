"""The check before a release: what a swap moves, the law of the count, and the whole run, by enumeration."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import tukeydp as td
from support import messy
from support.references import ROOT
from tukeydp.data.files import read_file
from tukeydp.data.numbers import NO_VALUE, PLAIN, NumberRule
from tukeydp.data.readers.options import ReadOptions
from tukeydp.data.tables import Table
from tukeydp.mechanisms import readable_check
from tukeydp.mechanisms.readable_check import (
    CHECK,
    FALSE_ALARM,
    MISSED,
    SHARE,
    CheckPlan,
    check_plan,
    fewest_readable,
    least_cost_with_check,
    with_check,
)
from tukeydp.privacy import ApproxDP, PureDP
from tukeydp.release import Refused, Release

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
    """The largest log ratio between two discrete Laplace laws around two counts, over outputs far enough out."""
    return max(epsilon * (abs(k - other) - abs(k - one)) for k in range(-9, 12))


def largest_loss(tables, count):
    return max(
        max(loss(Fraction(1), count(one), count(other)), loss(Fraction(1), count(other), count(one)))
        for one, other in neighbours(tables)
    )


def test_the_count_is_private(tables):
    assert largest_loss(tables, fewest_readable) == 1


def test_a_count_over_all_columns_would_not_be_private(tables):
    """The control: the sum over columns moves by 2 under a swap, and costs twice the epsilon."""
    assert largest_loss(tables, lambda table: 2 * table.n - int(table.unreadable.sum())) == 2


def by_definition(records, j):
    cells = [record.split(",") for record in records]
    return sum(len(row) > 2 or (j < len(row) and row[j] == "x") for row in cells)


def test_unreadable_cells_are_those_of_the_definition(tables):
    for records, table in tables.items():
        assert table.unreadable.tolist() == [by_definition(records, j) for j in range(2)]


EPSILON = Fraction(200)  # so large that two rows are enough for a check: its own part is 10
DRAWS = range(-6, 9)


def outcomes(table, epsilon):
    """Every outcome of a run and the logarithm of its weight; the constants that are left out depend on no cell.

    The mechanism beside it is a discrete Laplace count of column b's readable cells, of its own epsilon.
    """
    found = {}
    for z, y in itertools.product(DRAWS, DRAWS):
        weight = []

        def run(x, *, epsilon, randomness, weight=weight, y=y):
            weight.append(-epsilon * abs(y - int(x.unreadable[1])))
            return Release(
                point=np.array([float(y)]), guarantee=PureDP(epsilon), mechanism="stub", seeded=True, **x.public
            )

        def noise(scale, bits, weight=weight, z=z):
            weight.append(-abs(z) / scale)
            return z

        with patch.object(readable_check, "discrete_laplace", noise):
            outcome = with_check(run, table, epsilon=epsilon, randomness=td.seeded(1))
        point = None if outcome.point is None else outcome.point[0]
        key = (outcome.mechanism, outcome.settings["readable_rows"], point)
        # A stop comes with every y: their weights are those of a law with a constant sum, so the check's alone count.
        found[key] = weight[1] if point is None else sum(weight)
    return found


def test_the_run_as_a_whole_is_private_and_a_stop_costs_its_own_part(tables):
    worst = {"stub": Fraction(0), CHECK: Fraction(0)}
    some = {records: table for records, table in tables.items() if records[0] in ("1,1", "x,1", "x,x", "1,x", ",")}
    laws = {id(table): outcomes(table, EPSILON) for table in some.values()}
    for one, other in neighbours(some):
        p, q = laws[id(one)], laws[id(other)]
        # What is said at a count is the same for both, but for counts beyond the draws that are listed.
        both = {count for _, count, _ in p} & {count for _, count, _ in q}
        assert {key for key in p if key[1] in both} == {key for key in q if key[1] in both}
        for key in p.keys() & q.keys():
            worst[key[0]] = max(worst[key[0]], abs(p[key] - q[key]))
    assert worst["stub"] == EPSILON
    assert worst[CHECK] == SHARE * EPSILON


def tail(epsilon, t):
    """Pr[Z >= t] of the discrete Laplace with that epsilon, t >= 1, summed up term by term."""
    q = math.exp(-epsilon)
    return math.fsum((1 - q) / (1 + q) * q**k for k in range(t, t + math.ceil(60 / epsilon)))


@pytest.mark.parametrize("epsilon", ["0.1", "0.5", "1", "2", "7/3", "10", "200"])
def test_false_alarms_and_misses_are_as_rare_as_stated(epsilon):
    own = Fraction(epsilon) * SHARE
    fewest = CheckPlan(1, own).fewest_rows
    for n in (fewest, fewest + 1, 2 * fewest, 50 * fewest):
        plan = check_plan(n, Fraction(epsilon))
        assert tail(float(own), n - plan.least + 1) < FALSE_ALARM  # N < least where c = n
        assert tail(float(own), plan.least) < MISSED  # N >= least where c = 0
        assert tail(float(own), plan.least - (n - plan.caught)) < FALSE_ALARM
    if own < 1:  # else rounding up decides
        early = CheckPlan(fewest - math.ceil(1 / own) - 1, own)
        assert tail(float(own), early.least) > MISSED


def test_the_table_of_the_proof():
    page = (ROOT / "docs" / "proofs" / "readable-check.md").read_text(encoding="utf-8")
    for epsilon in ("0.5", "1", "2"):
        plans = [check_plan(n, Fraction(epsilon)) for n in (500, 5000, 50000)]
        cells = [f"{p.caught} ({100 * p.caught / p.n:.0f} %)" if p.n >= p.fewest_rows else "no check" for p in plans]
        assert f"| {epsilon} | {plans[0].fewest_rows} | {' | '.join(cells)} |" in page


def table_with(n, unreadable):
    return Table(np.full((n, 1), 5.0), ("a",), unreadable=np.array([unreadable]))


@pytest.mark.parametrize("kind", ["pure", "approximate"])
def test_guarantees_add_up_exactly(kind):
    way = {"pure": (td.mean, {"bounds": (0, 10)}), "approximate": (td.rem, {"delta": "1e-6"})}
    run, options = way[kind]
    epsilon = Fraction(7, 3)
    outcome = with_check(run, table_with(400, 0), epsilon=epsilon, randomness=td.seeded(1), **options)
    expected = {"pure": PureDP(epsilon), "approximate": ApproxDP(epsilon, "1e-6")}
    assert outcome.guarantee == expected[kind]
    assert outcome.settings["epsilon_check"] == epsilon / 20
    assert any("Checked first, for epsilon = 7/60" in note for note in outcome.notes)
    stopped = with_check(run, table_with(400, 400), epsilon=epsilon, randomness=td.seeded(1), **options)
    assert isinstance(stopped, Refused)
    assert stopped.guarantee == PureDP(epsilon / 20)
    assert (stopped.mechanism, stopped.private) == (CHECK, False)


def test_the_mechanism_is_given_the_rest_and_the_whole_where_there_is_no_check():
    given = []

    def run(table, *, epsilon, randomness, **options):
        given.append(epsilon)
        return td.mean(table, epsilon=epsilon, bounds=(0, 10), randomness=randomness)

    typed = Table(np.full((400, 1), 5.0), ("a",))
    for table, options in ((table_with(400, 0), {}), (table_with(277, 0), {}), (typed, {}),
                           (table_with(400, 0), {"unproven": "mcmc"})):  # fmt: skip
        outcome = with_check(run, table, epsilon=1, randomness=td.seeded(1), **options)
        assert outcome.guarantee == PureDP(1) if not options else True
    assert given == [Fraction(19, 20), 1, 1, 1]
    few = with_check(run, table_with(277, 277), epsilon=1, randomness=td.seeded(1))
    assert any("takes 278 rows. Nothing was spent" in note for note in few.notes)


def test_the_noise_of_two_checks_is_not_the_same(monkeypatch):
    """Of the operating system's bits, or of the seed's."""
    first = []
    monkeypatch.setattr(readable_check, "discrete_laplace", lambda scale, bits: first.append(bits.take(64)) or 0)
    for randomness in (None, None, td.seeded(1), td.seeded(2)):
        with_check(td.boxem, table_with(400, 0), epsilon=1, bounds=(0, 10), randomness=randomness)
    assert len(set(first)) == 4


@pytest.mark.parametrize("unreadable", [0, 400])
@pytest.mark.parametrize("kind", ["pure", "approximate"])
def test_an_accountant_pays_for_run_and_check_in_one_entry_also_where_the_run_stops(kind, unreadable):
    run, options = {"pure": (td.boxem, {"bounds": (0, 10)}), "approximate": (td.rem, {"delta": "1e-6"})}[kind]
    account = td.Accountant(epsilon=1, delta="1e-6")
    table = table_with(400, unreadable)
    outcome = with_check(run, table, epsilon=1, accountant=account, randomness=td.seeded(1), **options)
    assert (outcome.mechanism == CHECK) == (unreadable == 400)
    (entry,) = account.history
    assert entry.guarantee == outcome.guarantee == {"pure": PureDP(1), "approximate": ApproxDP(1, "1e-6")}[kind]
    # Steps add up in zCDP too: an exponential mechanism of 19/20 (REM: any law), and a noisy count of 1/20.
    expected = Fraction(19, 20) ** 2 / (8 if kind == "pure" else 2) + Fraction(1, 20) ** 2 / 2
    assert entry.guarantee.zcdp.rho == outcome.guarantee.zcdp.rho == expected
    assert entry.parameters["epsilon_check"] == "1/20"
    assert outcome.settings["epsilon_check"] == Fraction(1, 20)


def test_an_accountant_with_room_for_the_release_but_not_for_the_check_refuses_before_a_look():
    account = td.Accountant(epsilon="0.99")
    with patch.object(readable_check, "noisy_count", side_effect=AssertionError), pytest.raises(td.BudgetExceeded):
        with_check(td.boxem, table_with(400, 0), epsilon=1, bounds=(0, 10), accountant=account)
    assert account.history == ()
    with_check(td.boxem, table_with(400, 0), epsilon="0.99", bounds=(0, 10), accountant=account)
    assert account.remaining().epsilon == 0


def test_an_accountant_pays_all_of_epsilon_where_there_is_no_check():
    typed = Table(np.full((400, 1), 5.0), ("a",))
    for table in (typed, table_with(277, 277)):
        account = td.Accountant(epsilon=1)
        outcome = with_check(td.boxem, table, epsilon=1, bounds=(0, 10), accountant=account)
        assert [entry.guarantee for entry in account.history] == [outcome.guarantee] == [PureDP(1)]
    with pytest.raises(td.ParameterError, match="no guarantee to spend"):
        with_check(td.boxem, table_with(400, 0), epsilon=1, bounds=(0, 10), accountant=account, unproven="mcmc")
    with pytest.raises(td.ParameterError, match="accountant must be"):
        with_check(td.boxem, table_with(400, 0), epsilon=1, bounds=(0, 10), accountant="study.db")


WAYS = [
    (td.boxem, {"bounds": (0, 10)}),
    (td.boxem, {"bounds": (0, 10), "certify": "1/5"}),
    *((td.mean, {"bounds": (0, 10), "mechanism": name}) for name in ("subset", "cube", "two-step")),
    *((td.mean, {"bounds": (0, 10), "mechanism": name, "confidence": 0.95}) for name in ("subset", "cube", "two-step")),
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
    outcome = with_check(run, table, epsilon=1, accountant=account, randomness=td.seeded(1), **options)
    (entry,) = account.history
    least = least_cost_with_check(1, options.get("delta"))
    assert least == entry.guarantee == outcome.guarantee
    assert least.zcdp.rho <= entry.guarantee.zcdp.rho == outcome.guarantee.zcdp.rho
    assert entry.guarantee.zcdp.rho <= Fraction(1, 2)


def test_a_wrong_parameter_raises_before_anything_is_drawn():
    with patch.object(readable_check, "noisy_count", side_effect=AssertionError), pytest.raises(td.ParameterError):
        with_check(td.mean, table_with(400, 0), epsilon=1, bounds=(1, 0))


# Cells without what ends them: marks of records, cells and quotes.
free = st.text(st.characters(codec="utf-8", exclude_characters='\r\n,"'), max_size=6)
record = st.lists(free, min_size=2, max_size=3).map(",".join)


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
    (tmp_path / "t.csv").write_text('a\nx\n\n1,2\n"y"z\n')
    cells = read_file(tmp_path / "t.csv", ["a"]).cells
    assert set(cells.view(np.uint64)[:, 0].tolist()) == {np.float64(np.nan).view(np.uint64)}
    assert PLAIN.is_empty("")
