"""Budgets: exact, never exceeded, spent before the data are touched."""

from __future__ import annotations

import copy
import json
import multiprocessing
import pickle
import sys
import threading
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tukeydp as td
from tukeydp import approximate
from tukeydp.accounts.budget import Budget, Totals, total
from tukeydp.accounts.exports import exported
from tukeydp.trusted.account import Concentrated, bounded_range, delta_of

X = np.random.default_rng(5).normal(size=(300, 2))
MANY = np.random.default_rng(6).normal(size=(3000, 2))  # an interval that finds the spread needs more rows
NOISED = {"delta": "1e-7", "bounds": (-9, 9)}
# Every function that makes a private release, and parameters that it runs quickly with.
RUNS = {
    "boxem": (td.boxem, {"bounds": (-9, 9)}),
    "boxem, certified": (td.boxem, {"bounds": (-9, 9), "certify": "1/5"}),
    "rem": (td.rem, {"delta": "1e-7"}),
    "mean": (td.mean, {"bounds": (-9, 9)}),
    "two-step": (td.mean, {"bounds": (-9, 9), "mechanism": "two-step"}),
    "cube mean": (td.mean, {"bounds": (-9, 9), "mechanism": "cube"}),
    "mean without bounds": (td.mean, {"delta": "1e-7"}),
    "mean, interval by sd": (td.mean, {"bounds": (-9, 9), "confidence": 0.95, "sd": 1}),
    "mean without bounds, interval by sd": (td.mean, {"delta": "1e-7", "confidence": 0.95, "sd": 1}),
    "mean, interval and spread": (td.mean, {"bounds": (-9, 9), "confidence": 0.95}),
    "cube, interval and spread": (td.mean, {"bounds": (-9, 9), "confidence": 0.95, "mechanism": "cube"}),
    "mean without bounds, interval and spread": (td.mean, {"delta": "1e-7", "confidence": 0.95}),
    "cube": (td.cube, {"bounds": (-9, 9)}),
    "cube with fill": (td.cube, {"bounds": (-9, 9), "fill": 0}),
    "spread": (td.spread, {"bounds": (-9, 9)}),
    "gaussian": (td.baselines.gaussian, NOISED),
    "analytic_gaussian": (td.baselines.analytic_gaussian, NOISED),
    "coinpress": (td.baselines.coinpress, NOISED),
    "huang_liang_yi": (td.baselines.huang_liang_yi, NOISED),
    "plan": (td.baselines.plan, NOISED),
    "approximate_boxem": (approximate.approximate_boxem, {"delta": "1e-3", "bounds": (-9, 9)}),
    "approximate_rem": (approximate.approximate_rem, {"delta": "1e-3", "bounds": (-9, 9)}),
}


def rows_for(name):
    return MANY if "interval and spread" in name else X[:40] if "approximate" in name else X


class Untouchable:
    """A table that may not even be looked at."""

    def __getattr__(self, name):
        raise AssertionError(f"the data were touched: {name}")


@pytest.mark.parametrize("name", RUNS)
def test_every_mechanism_spends_what_its_release_says(name):
    run, options = RUNS[name]
    account = td.Accountant(10, delta="0.1")
    outcome = run(rows_for(name), epsilon=1, accountant=account, **options)
    (entry,) = account.history
    assert entry.guarantee == outcome.guarantee
    assert entry.guarantee.zcdp == outcome.guarantee.zcdp
    assert entry.mechanism == outcome.mechanism
    assert (entry.seeded, entry.parameters["n"], entry.parameters["d"]) == (False, outcome.n, 2)
    assert account.totals.epsilon == 1


@pytest.mark.parametrize("name", RUNS)
def test_what_does_not_fit_is_refused_before_the_data_are_touched(name):
    run, options = RUNS[name]
    account = td.Accountant("0.9", delta="0.1", conversion=0)
    with pytest.raises(td.BudgetExceeded, match=r"epsilon must be at most 0\.9"):
        run(Untouchable(), epsilon=1, accountant=account, **options)
    assert account.history == ()


@pytest.mark.parametrize("name", RUNS)
def test_interrupted_runs_have_spent(name, monkeypatch):
    run, options = RUNS[name]

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    # The first look at cells, whichever it is.
    monkeypatch.setattr("tukeydp.trusted.rows.Grid.snap", interrupted)
    monkeypatch.setattr("tukeydp.trusted.rows.BoundedColumns.relative", interrupted)
    monkeypatch.setattr("tukeydp.mechanisms.mean_without_bounds.block_table", interrupted)
    for baseline, first in (
        *((name, "noised_mean") for name in ("gaussian", "analytic_gaussian", "coinpress")),
        *((name, "relative") for name in ("huang_liang_yi", "plan")),
    ):
        monkeypatch.setattr(sys.modules[f"tukeydp.baselines.{baseline}"], first, interrupted)
    account = td.Accountant(10, delta="0.1")
    with pytest.raises(KeyboardInterrupt):
        run(rows_for(name), epsilon=1, accountant=account, **options)
    assert account.totals.epsilon == 1


def test_a_mistyped_parameter_costs_nothing():
    account = td.Accountant(1)
    for wrong in ({"bounds": ([0, 0, 0], 1)}, {"bounds": (1, 0)}, {"bounds": (0, 1), "depth": 3}):
        with pytest.raises(td.ParameterError):
            td.boxem(X, epsilon=1, accountant=account, **wrong)
    assert account.history == ()


def test_directions_and_grids_that_do_not_fit_cost_nothing():
    account = td.Accountant(1, delta="1e-6")
    fine = {"bounds": (-9, 9), "resolution": np.array([1e-9, 1e-9])}
    far = {"bounds": (-9, 9), "resolution": 1e-17}
    groups = {"by": ["a"] * len(X), "keys": ["a", "b"]}
    wrong = (
        lambda: td.boxem(X, epsilon=1, **fine, depth=td.Directions([[2**40, 1]]), accountant=account),
        lambda: td.boxem(X, epsilon=1, **fine, depth=td.Directions([[2**40, 1]]), **groups, accountant=account),
        lambda: td.boxem(X, epsilon=1, **far, depth=td.Exact(), accountant=account),
        lambda: td.rem(X, epsilon=1, delta="1e-6", depth=td.Directions([[1, 0]]), accountant=account),
        lambda: td.rem(X, epsilon=1, delta="1e-6", depth=td.Random(1, axes=False), accountant=account),
    )
    for run in wrong:
        with pytest.raises(td.ParameterError, match=r"coarse enough|2\*\*52|span"):
            run()
    assert account.history == ()


@pytest.mark.parametrize(
    "more", [{}, {"confidence": 0.95, "sd": 1}, {"neighbours": "add-remove", "rows": 300}], ids=str
)
def test_what_rem_cannot_do_costs_nothing_where_a_mean_is_made_by_it(more):
    """Means take smaller and larger epsilons than rem, and smaller deltas."""
    account = td.Accountant(10**6, delta="0.5", conversion=0, neighbours=more.get("neighbours", "swap"))
    for epsilon, delta in (("1e-4", "1e-6"), (10**5, "1e-6"), (1, "1e-305")):
        with pytest.raises(td.ParameterError, match="for rem"):
            td.mean(X, epsilon=epsilon, delta=delta, accountant=account, **more)
    assert account.history == ()


def test_refusals_spend_and_seeded_runs_are_marked():
    account = td.Accountant(2, delta="1e-6")
    refused = td.rem(X[:20], epsilon=1, delta="5e-7", accountant=account, randomness=td.seeded(1))
    assert not refused.released
    assert [(entry.mechanism, entry.seeded) for entry in account.history] == [("rem", True)]
    assert account.remaining() == (1, Fraction(1, 2 * 10**6))


def test_modes_without_a_guarantee_have_nothing_to_spend():
    account = td.Accountant(9)
    with pytest.raises(td.ParameterError, match="accountant must be left out"):
        td.boxem(Untouchable(), epsilon=1, bounds=(0, 1), unproven="mcmc", accountant=account)
    with pytest.raises(td.ParameterError, match="accountant must be None or"):
        td.boxem(Untouchable(), epsilon=1, bounds=(0, 1), accountant=1.0)
    assert account.history == ()


rationals = st.fractions(min_value=Fraction(1, 1000), max_value=3)
deltas = st.one_of(st.just(Fraction(0)), st.fractions(min_value=Fraction(1, 10**6), max_value=Fraction(1, 10)))


@given(rationals, deltas, st.lists(st.tuples(rationals, deltas, st.booleans()), max_size=12))
def test_nothing_is_lost_and_no_budget_exceeded(epsilon, delta, requests):
    account = td.Accountant(epsilon, delta)
    spent = []
    for e, d, by_depth in requests:
        cost = td.ApproxDP(e, d) if d else bounded_range(e) if by_depth else td.PureDP(e)
        before = account.remaining()
        fits = account.check(cost)
        try:
            account.spend(cost)
            spent.append(cost)
        except td.BudgetExceeded:
            assert not fits
            assert (e, d) > (0, 0)
            assert d > before.delta or e > before.epsilon or cost.zcdp.delta > before.delta
        else:
            assert fits
        assert [entry.guarantee for entry in account.history] == spent
        totals = account.totals
        assert totals.epsilon == sum(c.epsilon for c in spent)
        assert totals.delta == sum(delta_of(c) for c in spent)
        assert totals.rho == sum(c.zcdp.rho for c in spent)
        assert not spent or account.budget.admits(total(spent))
        left = account.remaining()
        if left.epsilon > 0:
            assert account.check(left.epsilon)


@given(rationals, st.integers(1, 30))
def test_equal_parts_add_up_exactly(epsilon, parts):
    account = td.Accountant(epsilon)
    account.spend(epsilon / 7)
    split = account.split(parts)
    assert sum(part.epsilon for part in split) == epsilon - epsilon / 7
    assert account.remaining() == (0, 0)
    with pytest.raises(td.BudgetExceeded):
        account.split(2)
    split[0].spend(split[0].epsilon)
    with pytest.raises(td.BudgetExceeded):
        split[0].spend("1e-9")


@pytest.mark.parametrize("parts", [1, 2, 5])
def test_parts_cost_as_zcdp_what_they_can_spend(parts):
    """Each part is pure in its epsilon, whatever it releases: rho = epsilon^2 / 2 for each of them, all are paid."""
    account = td.Accountant(3, delta="1e-6")
    account.spend(bounded_range("0.1"))
    before = account.totals.rho
    spent = [part.spend(part.epsilon).guarantee for part in account.split(parts)]
    assert account.totals.rho - before == sum(guarantee.zcdp.rho for guarantee in spent)


def test_many_small_releases_cost_less_than_their_sum():
    with_delta, without = td.Accountant(1, delta="1e-6"), td.Accountant(1)
    counts = []
    for account in (with_delta, without):
        while account.check(bounded_range("0.1")):
            account.spend(bounded_range("0.1"))
        counts.append(len(account.history))
    assert counts == [19, 10]
    twenty = td.Accountant("1.02", delta="1e-6")
    for _ in range(20):
        twenty.spend(bounded_range("0.1"))


@pytest.mark.parametrize("releases", range(1, 19))
def test_what_is_left_can_be_spent_and_is_rounded_down(releases):
    """An epsilon that is left by zCDP is a root: at most the true one, or the account would refuse what it offers."""
    account = td.Accountant(1, delta="1e-6", conversion="1e-6")
    for _ in range(releases):
        account.spend(bounded_range("0.1"))
    left = account.remaining().epsilon
    assert left > 0
    assert account.check(td.PureDP(left))
    # Rounded by no more than the last bits.
    assert not account.check(td.PureDP(left * (1 + Fraction(1, 10**12))))


def test_what_is_left_of_sums_with_thousands_of_digits_can_be_spent_split_and_written():
    """Every entry has a denominator of its own. Sums stay exact; what is offered can be a parameter."""
    account = td.Accountant(1, delta="1e-6")
    # In place of 2000 entries of coprime denominators. Beyond 4300 digits Python writes no integer.
    spent = Fraction(1, 3**10_000) + Fraction(1, 3)
    account._store._totals = Totals(1, spent, Fraction(0), spent / 10**9, Fraction(0))
    left = account.remaining().epsilon
    assert Fraction(2, 3) * (1 - Fraction(1, 10**12)) < left < Fraction(2, 3)
    assert repr(account).startswith("Accountant(epsilon=1,")
    with pytest.raises(td.BudgetExceeded, match=r"must be at most 0\.66666666"):
        account.spend("0.7")
    with pytest.raises(td.BudgetExceeded, match=r"rho must be at most 0\.02"):
        account.spend(td.ApproxDP("0.01", "1e-8", zcdp=Concentrated(Fraction(1))))
    said = json.loads(exported(account, "json", "x"))
    numerator, denominator = (int(Decimal(text)) for text in said["spent"]["epsilon"].split("/"))
    assert Fraction(numerator, denominator) == spent
    assert Fraction(said["remaining"]["epsilon"]) == left
    assert account.check(td.PureDP(left))
    assert 0.66 < sum(part.epsilon for part in account.split(3)) <= left


@pytest.mark.parametrize(("conversion", "own"), [("0", "1e-6"), ("9e-7", "1e-7")])
def test_deltas_of_releases_add_up_to_their_own_part_of_delta_and_no_further(conversion, own):
    """What pays for the conversion is not there for them, by either criterion; nor is more than all of delta."""
    own = Fraction(own)
    account = td.Accountant(9, delta="1e-6", conversion=conversion)
    account.spend("0.01", own / 2)
    assert account.check("0.01", own / 2)
    assert not account.check("0.01", own * Fraction(51, 100))
    assert not account.check("0.01", "1e-6")
    account.spend("0.01", own / 2)
    assert not account.check("0.01", "1e-12")
    assert account.check("0.01")


def test_plain_sums_with_deltas():
    account = td.Accountant(2, delta="1e-6")
    account.spend(1, "5e-7")
    account.spend(td.PureDP("0.5"))
    account.spend("0.5", "5e-7")
    assert account.remaining() == (0, 0)
    mixed = td.Accountant(2, delta="1e-6", conversion=0)
    mixed.spend(td.PureDP(1))
    mixed.spend(1, "1e-6")
    by_default = td.Accountant(2, delta="1e-6")
    by_default.spend(td.PureDP(1))
    with pytest.raises(td.BudgetExceeded, match="conversion=0"):
        by_default.spend(1, "1e-6")
    by_default.spend(1, "1e-7")


def test_other_neighbours_do_not_add_up():
    account = td.Accountant(1)
    with pytest.raises(td.ParameterError, match="neighbours must be 'swap'"):
        account.spend(td.PureDP("0.1", neighbours="add-remove"))
    assert account.history == ()


@pytest.mark.parametrize("wrong", [(0,), (-1,), ("x",), (1, -1), (1, 1), (1, "nan")])
def test_bad_budgets_are_named(wrong):
    with pytest.raises(td.ParameterError, match=r"epsilon|delta"):
        td.Accountant(*wrong)
    with pytest.raises(td.ParameterError, match="conversion"):
        td.Accountant(1, "1e-6", conversion="1e-5")


def test_a_closed_account_is_closed():
    with td.Accountant(1) as account:
        account.spend("0.5")
    with pytest.raises(td.ParameterError, match="must be open"):
        account.spend("0.1")
    assert account.remaining().epsilon == Fraction(1, 2)


@pytest.mark.parametrize(
    "duplicate", [copy.copy, copy.deepcopy, lambda account: copy.deepcopy({"a": [account]})["a"][0]]
)
def test_a_copy_is_the_account_itself(duplicate, tmp_path):
    for account in (td.Accountant(1), td.Accountant.open(tmp_path / "study.db", epsilon=1)):
        assert duplicate(account) is account


def test_an_account_in_memory_is_not_pickled():
    with pytest.raises(TypeError, match=r"second budget.*td\.Accountant\.open\("):
        pickle.dumps(td.Accountant(1))


def test_an_error_closes_the_account_and_gives_nothing_back():
    account = td.Accountant(1)
    account.spend("0.5")
    with pytest.raises(ZeroDivisionError), account:
        raise ZeroDivisionError
    assert account.totals.epsilon == Fraction(1, 2)
    assert len(account.history) == 1
    with pytest.raises(td.ParameterError, match="must be open"):
        account.spend("0.1")


def test_threads_share_one_budget():
    account, won = td.Accountant(10), []

    def work():
        for _ in range(40):
            try:
                won.append(account.spend("0.1").number)
            except td.BudgetExceeded:
                return

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(won) == list(range(1, 101))
    assert account.remaining() == (0, 0)


def test_threads_decide_one_after_the_other():
    """Whoever decides waits for the others to decide as well: without a lock all find the same room."""
    account, admits = td.Accountant(1), Budget.admits
    together = threading.Barrier(2)

    def waiting(budget, totals):
        with suppress(threading.BrokenBarrierError):
            together.wait(timeout=0.2)
        return admits(budget, totals)

    def spend():
        with suppress(td.BudgetExceeded):
            won.append(account.spend("0.6"))

    won = []
    threads = [threading.Thread(target=spend) for _ in range(2)]
    with patch.object(Budget, "admits", waiting):
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(won) == 1
    assert account.history == tuple(won)
    assert account.totals.epsilon == Fraction(3, 5)


def test_an_interrupted_spending_is_noted_whole_or_not_at_all():
    account, plus = td.Accountant(1), Totals.plus
    account.spend("0.1")

    def interrupted(totals, guarantee):
        if len(account._store._entries) > 1:  # the entry is there, the sums are not
            raise KeyboardInterrupt
        return plus(totals, guarantee)

    with patch.object(Totals, "plus", interrupted), pytest.raises(KeyboardInterrupt):
        account.spend("0.2")
    assert (len(account.history), account.totals.count) == (1, 1)
    assert account.spend("0.3").number == 2
    assert [entry.guarantee.epsilon for entry in account.history] == [Fraction(1, 10), Fraction(3, 10)]


def _spend_in_child(account, answers):
    try:
        account.spend("0.1")
        answers.put("spent")
    except td.ParameterError as error:
        answers.put(str(error))


def test_a_forked_child_may_not_spend_a_copy():
    context = multiprocessing.get_context("fork")
    answers, account = context.Queue(), td.Accountant(1)
    child = context.Process(target=_spend_in_child, args=(account, answers))
    child.start()
    assert "td.Accountant.open" in answers.get(timeout=60)
    child.join()


def test_limits_follow_from_public_numbers_only():
    assert Budget(Fraction(1), Fraction(0)).remaining(total([])) == (1, 0)
    assert repr(td.Accountant(1)) == "Accountant(epsilon=1, delta=0, left: epsilon=1, delta=0)"
