"""neighbours="add-remove": the number of rows is told nowhere, and everything else is as public as before."""

from __future__ import annotations

import json
import re
from dataclasses import fields, replace
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import tukeydp as td
from tukeydp.cli import app
from tukeydp.cli.reports import html_report
from tukeydp.cli.sections import Account, headline, sections
from tukeydp.data.relation import Relation
from tukeydp.mechanisms import mean_of_secret_size, planned
from tukeydp.mechanisms import rem as rem_module
from tukeydp.mechanisms.mean_of_secret_size import rem_blocks
from tukeydp.mechanisms.rem_choice import chosen_plan
from tukeydp.trusted import block_steps
from tukeydp.trusted.account import ApproxDP, PureDP
from tukeydp.trusted.parameters import ParameterError

SIZES = (290, 317)
BOUNDED = {"epsilon": 1, "bounds": (-10, 10)}
UNBOUNDED = {"epsilon": 1, "delta": 1e-6}
CALLS = {
    "boxem": (td.boxem, BOUNDED),
    "boxem without rows": (td.boxem, {**BOUNDED, "rows": None}),
    "boxem, exact depth": (td.boxem, {**BOUNDED, "depth": td.Exact()}),
    "boxem, certified": (td.boxem, {**BOUNDED, "certify": 0.2}),
    "cube": (td.cube, BOUNDED),
    "cube, filled": (td.cube, {**BOUNDED, "fill": 0, "rows": None}),
    "mean": (td.mean, BOUNDED),
    "mean of known spread": (td.mean, {**BOUNDED, "sd": 1}),
    "mean of rows": (td.mean, {**BOUNDED, "bounds": (-50, 50), "epsilon": 0.3, "mechanism": "subset"}),
    "mean of blocks": (td.mean, {**BOUNDED, "blocks": 40, "partitions": 2}),
    "mean by noise": (td.mean, {**BOUNDED, "mechanism": "cube", "rows": None}),
    "mean without bounds": (td.mean, UNBOUNDED),
    "mean without bounds, of blocks": (td.mean, {**UNBOUNDED, "epsilon": 8}),
    "rem": (td.rem, UNBOUNDED),
    "spread": (td.spread, BOUNDED),
}
SECRET = {"neighbours": "add-remove", "rows": 300}


def table(n, d=2):
    return np.random.default_rng(n).normal(size=(n, d))


def outcome(call, n, **more):
    run, options = CALLS[call]
    return run(table(n), **{**SECRET, **options}, randomness=td.seeded(3), **more)


def masked(outcome):
    """Without what is released: then nothing may be left that differs."""
    if not isinstance(outcome, td.Release):
        return outcome
    certificate = None if outcome.certificate is None else replace(outcome.certificate, rows=1, noised=1)
    return replace(outcome, point=np.zeros(outcome.d), certificate=certificate)


def said(outcome):
    """Every text and field that a caller can come by."""
    shown = masked(outcome)
    account = Account(shown, "mean", "", True)
    parts = [json.dumps(shown.to_dict(verbose=False)), str(shown), shown._repr_html_(), repr(outcome.guarantee)]
    parts += [repr(getattr(shown, field.name)) for field in fields(shown) if field.name != "certificate"]
    return [*parts, repr(outcome.caveats), headline(account)]


@pytest.mark.parametrize("call", CALLS)
def test_nothing_but_the_release_differs_between_tables_of_different_sizes(call):
    one, other = (outcome(call, n) for n in SIZES)
    assert one.n is None
    assert type(one) is type(other)
    assert one.guarantee.neighbours == "add-remove"
    assert said(one) == said(other)
    assert one.rehearsal == other.rehearsal
    assert (one.directions is None) or (one.directions == other.directions).all()
    if isinstance(one, td.Release):
        assert (one.point != other.point).any()


@pytest.mark.parametrize("call", CALLS)
def test_neither_do_the_words_of_a_report(call):
    """But for the forecast, which takes seconds: what it is computed from is compared above."""
    pages = []
    for n in SIZES:
        account = Account(replace(masked(outcome(call, n)), rehearsal=None), "mean", "", True)
        pages.append(([*sections(account)], html_report(account)))
    assert pages[0] == pages[1]


def test_a_release_that_tells_would_be_noticed(monkeypatch):
    monkeypatch.setattr(Relation, "public", lambda self, table: table.public)
    one, other = (outcome("cube", n) for n in SIZES)
    assert said(one) != said(other)


@pytest.mark.parametrize("call", CALLS)
def test_an_empty_table_does_not_raise(call):
    run, options = CALLS[call]
    found = run(np.empty((0, 2)), **{**SECRET, **options}, randomness=td.seeded(1))
    assert found.guarantee == outcome(call, 290).guarantee
    assert not found.released or np.isfinite(found.point).all()


@pytest.mark.parametrize("call", CALLS)
def test_a_table_without_columns_is_refused_and_its_rows_are_not_counted(call):
    run, options = CALLS[call]
    for empty in (np.empty((4711, 0)), np.zeros(4711, dtype=[]), pl.DataFrame(height=4711)):
        with pytest.raises(ParameterError, match="at least one column") as caught:
            run(empty, **{**SECRET, **options})
        assert "4711" not in str(caught.value)


@pytest.mark.parametrize("call", CALLS)
def test_neither_do_rows_that_are_all_missing_nor_one_row(call):
    run, options = CALLS[call]
    for x in (np.full((7, 2), np.nan), np.array([[np.inf, 0.0]]), np.array([["text", None]], dtype=object)):
        run(x, **{**SECRET, **options}, randomness=td.seeded(1))


@pytest.mark.parametrize("call", CALLS)
def test_lists_are_refused_in_the_same_words_with_and_without_rows(call):
    """An empty list has no columns: that a release has one, or that bounds do not fit, would tell that it is empty."""
    run, options = CALLS[call]
    texts = set()
    for x in ([], [[1.0, 2.0]], [1.0, 2.0, 3.0], [[]] * 4711):
        with pytest.raises(ParameterError, match="array or a table with neighbours='add-remove'") as caught:
            run(x, **{**SECRET, **options})
        texts.add(str(caught.value))
    assert len(texts) == 1


@pytest.mark.parametrize("call", ["boxem", "cube", "mean", "mean without bounds", "rem", "spread"])
def test_a_ledger_tells_it_as_little(call, tmp_path):
    entries = []
    for n in SIZES:
        account = td.Accountant.open(tmp_path / f"{n}.db", epsilon=9, delta=1e-3, neighbours="add-remove")
        outcome(call, n, accountant=account)
        (entry,) = td.Accountant.open(tmp_path / f"{n}.db").history
        assert entry.guarantee.neighbours == "add-remove"
        entries.append((entry.guarantee, entry.mechanism, entry.parameters))
    assert entries[0] == entries[1]
    assert entries[0][2]["n"] is None


@pytest.mark.parametrize("call", ["boxem", "cube", "mean", "mean without bounds", "rem", "spread"])
def test_guarantees_under_different_neighbours_never_add_up(call):
    swapping = td.Accountant(9, 1e-3)
    with pytest.raises(ParameterError, match="neighbours must be 'swap', as for the accountant"):
        outcome(call, 290, accountant=swapping)
    assert not swapping.history
    adding = td.Accountant(9, 1e-3, neighbours="add-remove")
    run, options = CALLS[call]
    with pytest.raises(ParameterError, match="neighbours must be 'add-remove'"):
        run(table(290), **options, accountant=adding)
    found = outcome(call, 290, accountant=adding).guarantee
    with pytest.raises(ParameterError, match="convert one of them first"):
        found + PureDP(1)
    assert (found + found).neighbours == "add-remove"


def test_what_they_cost_as_zcdp():
    eighth, half = Fraction(1, 8), Fraction(1, 2)
    wanted = {"boxem": eighth, "mean of blocks": eighth, "spread": eighth, "cube": half, "rem": half}
    for call, rho in wanted.items():
        assert outcome(call, 290).guarantee.zcdp.rho == rho
    assert outcome("rem", 290).guarantee == ApproxDP(1, Fraction(1, 10**6), neighbours="add-remove")


MISUSE = {
    "rows with swap": (td.boxem, {**BOUNDED, "rows": 5}, "rows must be left out with neighbours='swap'"),
    "no such relation": (td.mean, {**BOUNDED, "neighbours": "replace"}, "neighbours must be swap or add-remove"),
    "rows of nothing": (td.boxem, {**BOUNDED, **SECRET, "rows": 0}, "rows must be an integer from 1"),
    "rem without rows": (td.rem, {**UNBOUNDED, "neighbours": "add-remove"}, "rows must be given .* for the threshold"),
    "mean without rows": (td.mean, {**BOUNDED, "neighbours": "add-remove"}, "rows must be given"),
    "spread without rows": (td.spread, {**BOUNDED, "neighbours": "add-remove"}, "rows must be given"),
    "two steps": (td.mean, {**BOUNDED, **SECRET, "mechanism": "two-step"}, "two-step divides by the number of rows"),
    "interval": (td.mean, {**UNBOUNDED, **SECRET, "confidence": 0.95}, "confidence must be left out"),
    "other test": (td.rem, {**UNBOUNDED, **SECRET, "test": "laplace"}, "test must be graded"),
    "walks": (td.boxem, {**BOUNDED, **SECRET, "unproven": "mcmc"}, "unproven must be left out"),
    "walks of rem": (td.rem, {**UNBOUNDED, **SECRET, "unproven": "mcmc"}, "unproven must be left out"),
    "blocks and noise": (td.mean, {**BOUNDED, **SECRET, "mechanism": "cube", "blocks": 5}, "blocks must be left out"),
    "too many blocks": (td.mean, {**BOUNDED, **SECRET, "blocks": 301}, "blocks must be an integer from 1 to 300"),
    "too deep": (td.rem, {**UNBOUNDED, **SECRET, "threshold": 301}, "threshold must be an integer from 1 to 300"),
}


@pytest.mark.parametrize("name", MISUSE)
def test_misuse_is_refused_in_the_same_words_whatever_the_size(name):
    run, options, words = MISUSE[name]
    texts = set()
    for n in (*SIZES, 0):
        if options.get("neighbours", "swap") != "add-remove" and n == 0:
            continue
        with pytest.raises(ParameterError, match=words) as error:
            run(table(n), **options)
        texts.add(str(error.value))
    assert len(texts) == 1


def test_plans_are_made_for_the_declared_rows_alone(monkeypatch):
    seen = []
    real = planned.mean_rehearsal
    monkeypatch.setattr(
        planned, "mean_rehearsal", lambda plan, n, *rest: seen.append((plan, n)) or real(plan, n, *rest)
    )
    for n in (*SIZES, 0, 2):
        td.mean(table(n), **BOUNDED, **SECRET)
    assert {n for _, n in seen} == {300}
    assert len({plan for plan, _ in seen}) == 1
    found = [chosen_plan(300, 2, Fraction(1), Fraction(1, 10**6), None, "add-remove") for _ in SIZES]
    assert found[0].offsets[-1] >= 2**40  # levels of far more rows than declared are looked at too


def test_blocks_have_half_of_epsilon_in_the_exponent_and_rows_all_of_it(monkeypatch):
    """The sampler's weights are e^(epsilon T / 2), whatever it is given."""
    given = []
    real = block_steps.sampler_on
    monkeypatch.setattr(block_steps, "sampler_on", lambda *a: given.append(a[-1]) or real(*a))
    td.mean(table(290), **BOUNDED, **SECRET, blocks=40, partitions=2)
    found = td.mean(table(290), epsilon=1, bounds=(-50, 50), **{**SECRET, "rows": 100}, mechanism="subset")
    assert found.settings["blocks"] is None
    assert given == [Fraction(1, 2), 2]


def test_blocks_without_bounds_are_for_the_declared_rows_and_their_table_is_tested_for_swaps(monkeypatch):
    """As many true rows as would suffice for blocks, and one less; a row more or less swaps one block for another."""
    planned_for, chosen = [], rem_module.chosen_plan
    monkeypatch.setattr(rem_module, "chosen_plan", lambda *given: planned_for.append(given) or chosen(*given))
    options = {"epsilon": 8, "delta": 1e-6, "neighbours": "add-remove", "rows": 300}
    blocks = rem_blocks(300, 2, ApproxDP(8, Fraction(1, 10**6), neighbours="add-remove"))
    assert 0 < 4 * blocks < 300
    found = [td.mean(table(n), **options, randomness=td.seeded(1)) for n in (4 * blocks, 4 * blocks - 1)]
    assert [one.settings["blocks"] for one in found] == [blocks, blocks]
    assert [(given[0], given[-1]) for given in planned_for] == [(blocks, "swap")] * 2


def test_rows_by_themselves_where_blocks_would_be_too_few():
    guarantee = ApproxDP(1, Fraction(1, 10**6), neighbours="add-remove")
    blocks = rem_blocks(10_000, 2, guarantee)
    assert blocks is not None
    assert mean_of_secret_size.rem_blocks(4 * blocks - 1, 2, guarantee) is None
    assert rem_blocks(20_000, 2, guarantee) == blocks


@pytest.mark.parametrize(("n", "rows", "released"), [(1000, 200, True), (1000, 3000, True), (60, 1000, False)])
def test_a_rough_number_will_do(n, rows, released):
    found = td.rem(table(n), **UNBOUNDED, neighbours="add-remove", rows=rows, randomness=td.seeded(1))
    assert found.released == released
    assert not released or np.abs(found.point).max() < 0.5


@pytest.mark.parametrize(
    "words",
    [
        ["mean", "--bounds=-10,10"],
        ["mean", "--bounds=-10,10", "--mechanism", "cube"],
        ["mean", "--delta", "1e-6"],
        ["centre", "--bounds=-10,10"],
        ["centre", "--mechanism", "rem", "--delta", "1e-6"],
    ],
    ids=" ".join,
)
def test_the_command_line_tells_nothing_either(words, tmp_path):
    texts = []
    for n in SIZES:
        file = tmp_path / "table.csv"
        rows = [",".join(f"{v:.3f}" for v in row) for row in table(n).tolist()]
        file.write_text("\n".join(["a,b", *rows]) + "\n")
        asked = [words[0], str(file), "--columns", "a,b", "--epsilon", "1", "--neighbours", "add-remove", "--seed", "5"]
        result = CliRunner().invoke(app, [*asked, "--rows", "300", *words[1:], "--json"])
        assert result.exit_code == 0, result.output
        found = json.loads(result.output)
        assert found["n"] is None
        assert found.pop("point") is not None
        counts = [found["settings"].pop(name) for name in ("unreadable_cells", "fewest_values")]  # noisy, and paid for
        assert counts[1] != n
        texts.append(re.sub(r"(about|more than) \d+", r"\1 ...", json.dumps(found)))
    assert texts[0] == texts[1]
    assert "Checked first" in texts[0]


def test_a_file_without_a_row_is_a_table_like_any_other(tmp_path):
    file = tmp_path / "table.csv"
    file.write_text("a,b\n")
    asked = ["centre", str(file), "--columns", "a,b", "--epsilon", "1", "--bounds=-10,10", "--seed", "5"]
    assert CliRunner().invoke(app, asked).exit_code == 2
    # No values can be told from few, and the check stops both; a table that is known to be small is not checked.
    for rows in ("", "1,2\n"):
        file.write_text(f"a,b\n{rows}")
        assert CliRunner().invoke(app, [*asked, "--neighbours", "add-remove"]).exit_code == 3
        for more in (("--no-check",), ("--rows", "20")):
            assert CliRunner().invoke(app, [*asked, "--neighbours", "add-remove", *more]).exit_code == 0


def test_a_ledger_of_the_command_line_knows_its_neighbours(tmp_path):
    file, ledger = tmp_path / "table.csv", str(tmp_path / "study.db")
    file.write_text("a\n" + "\n".join(f"{v:.3f}" for v in table(290, 1).ravel()) + "\n")
    made = CliRunner().invoke(app, ["ledger", "create", ledger, "--epsilon", "3", "--neighbours", "add-remove"])
    assert made.exit_code == 0
    asked = ["mean", str(file), "--columns", "a", "--epsilon", "1", "--bounds=-10,10", "--ledger", ledger]
    assert CliRunner().invoke(app, asked).exit_code == 2
    assert CliRunner().invoke(app, [*asked, "--neighbours", "add-remove", "--rows", "300", "--json"]).exit_code == 0
    assert len(td.Accountant.open(ledger).history) == 1
