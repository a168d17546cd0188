"""Budgets in a file: two processes at once, kill -9, a full disk, files that are something else."""

from __future__ import annotations

import csv
import json
import os
import pickle
import signal
import sqlite3
import subprocess
import sys
from fractions import Fraction
from unittest.mock import patch

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

import tukeydp as td
from tukeydp.accounts import ledger_file
from tukeydp.accounts.exports import _decimal_above, exported

# What each process does, with a ledger's path as its argument.
GREEDY = """
import sys
from tukeydp.accounts.accountant import Accountant
from tukeydp.trusted.parameters import BudgetExceeded
account, won = Accountant.open(sys.argv[1]), 0
while True:
    try:
        account.spend("0.01")
    except BudgetExceeded:
        break
    won += 1
sys.stdout.write(str(won))
"""
KILLED = """
import os, signal, sys
import numpy as np
import tukeydp as td
from tukeydp.trusted.rows import Grid
Grid.snap = lambda *_: os.kill(os.getpid(), signal.SIGKILL)   # between the spending and the release
td.boxem(np.zeros((9, 1)), epsilon="0.4", bounds=(0, 1), accountant=td.Accountant.open(sys.argv[1]))
"""
HALFWAY = """
import os, signal, sys
from tukeydp.accounts import ledger_file
from tukeydp.accounts.accountant import Accountant
real = ledger_file.write_entry
def killed(*given):                                            # inside the transaction, the line not yet committed
    real(*given)
    os.kill(os.getpid(), signal.SIGKILL)
account = Accountant.open(sys.argv[1])
ledger_file.write_entry = killed
account.spend("0.1")
"""
FULL = """
import resource, sys
import numpy as np
import tukeydp as td
from tukeydp.trusted.rows import Grid
def touched(*_):
    raise SystemExit("the data were touched")
Grid.snap = touched
account = td.Accountant.open(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))          # no file may grow, as on a full disk
try:
    td.boxem(np.zeros((9, 1)), epsilon="0.1", bounds=(0, 1), accountant=account)
except td.ParameterError as error:
    sys.stdout.write(str(error))
"""


# The one sentence for all damage; what to do is in it.
DAMAGED = (
    r"^ledger must be as td\.Accountant\.open made it .* so nothing is spent: restore a copy that has all its entries"
)


def start(code, path):
    return subprocess.Popen(
        [sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


@pytest.fixture
def path(tmp_path):
    return tmp_path / "study of 100 % of #rows?.db"


def test_a_ledger_is_made_once_and_opened_again(path):
    td.Accountant.open(path, epsilon=1, delta="1e-6").spend("1/3")
    again = td.Accountant.open(path)
    assert (again.epsilon, again.delta) == (1, Fraction(1, 10**6))
    assert again.remaining().epsilon == Fraction(2, 3)
    assert td.Accountant.open(path, epsilon=1, delta="1e-6").history == again.history
    assert pickle.loads(pickle.dumps(again)).history == again.history
    with pytest.raises(td.ParameterError, match="budget it was made with"):
        td.Accountant.open(path, epsilon=2)
    with pytest.raises(td.ParameterError, match="must exist"):
        td.Accountant.open(path.with_name("other.db"))
    with pytest.raises(td.ParameterError, match="folder"):
        td.Accountant.open(path.parent / "no" / "x.db", epsilon=1)
    with pytest.raises(td.ParameterError, match="epsilon must be given"):
        td.Accountant.open(path, delta="1e-6")


def test_an_account_from_a_pickle_is_the_same_file_and_stays_closed(path):
    account = td.Accountant.open(path, epsilon=1)
    sent = pickle.loads(pickle.dumps(account))
    sent.spend("0.7")
    with pytest.raises(td.BudgetExceeded, match=r"at most 0\.3"):
        account.spend("0.4")
    account.close()
    with pytest.raises(td.ParameterError, match="must be open"):
        pickle.loads(pickle.dumps(account)).spend("0.1")


class Stricter(td.Accountant):
    """A user's own rule on top."""

    def require(self, guarantee, delta=0):
        raise td.BudgetExceeded("epsilon", "must be approved by the board", "none")


def test_an_account_with_a_rule_of_its_own_keeps_it_in_a_pickle(path):
    sent = pickle.loads(pickle.dumps(Stricter.open(path, epsilon=1)))
    with pytest.raises(td.BudgetExceeded, match="board"):
        td.boxem([[0.0]], epsilon=1, bounds=(0, 1), accountant=sent)
    assert sent.history == ()


def test_a_pickle_opens_no_other_budget_and_makes_no_file(path):
    saved = pickle.dumps(td.Accountant.open(path, epsilon=1))
    path.unlink()
    with pytest.raises(td.ParameterError, match="must exist"):
        pickle.loads(saved)
    assert not path.exists()
    td.Accountant.open(path, epsilon=5)
    with pytest.raises(td.ParameterError, match="another has taken its place"):
        pickle.loads(saved)


@pytest.mark.parametrize(
    "other", [{"epsilon": 10}, {"epsilon": 1}, {"epsilon": 10, "neighbours": "swap-person"}], ids=str
)
def test_another_ledger_in_its_place_is_not_spent_from(path, other):
    """A script that deletes and makes the file again must not give those who hold the old one a budget once more, nor
    let them spend what the new one has not."""
    account = td.Accountant.open(path, epsilon=10)
    saved = pickle.dumps(account)
    account.spend(9)
    assert pickle.loads(saved).remaining().epsilon == 1
    path.unlink()
    new = td.Accountant.open(path, **other)
    for old in (lambda: account.spend(5), lambda: account.remaining(), lambda: pickle.loads(saved)):
        with pytest.raises(td.ParameterError, match="another has taken its place"):
            old()
    assert new.history == ()
    assert td.Accountant.open(path).budget == new.budget


def test_entries_are_the_same_in_memory_and_in_a_file(path):
    for account in (td.Accountant(1, "1e-6"), td.Accountant.open(path, epsilon=1, delta="1e-6")):
        account.spend(td.ApproxDP("1/7", "1e-7"), mechanism="rem", parameters={"columns": ["a"]}, seeded=True)
        (entry,) = account.history
        assert entry.guarantee == td.ApproxDP("1/7", "1e-7")
        assert entry.guarantee.zcdp == td.ApproxDP("1/7", "1e-7").zcdp
        assert (entry.mechanism, entry.seeded, entry.parameters) == ("rem", True, {"columns": ["a"]})
        assert entry.version == td.__version__
        assert entry.time.endswith("+00:00")


def test_two_processes_at_once_share_one_budget(path):
    td.Accountant.open(path, epsilon=1)
    processes = [start(GREEDY, path) for _ in range(2)]
    won = [int(process.communicate(timeout=300)[0]) for process in processes]
    assert sum(won) == 100
    account = td.Accountant.open(path)
    assert (account.totals.count, account.totals.epsilon, account.remaining().epsilon) == (100, 1, 0)


def test_a_ledger_is_locked_before_it_is_read(path):
    """While one decides whether there is room, no other may begin to: both would find the same room."""
    account = td.Accountant.open(path, epsilon=1)
    account.spend("0.1")
    refused, write = [], ledger_file.write_entry

    def intruding(*given):
        other = sqlite3.connect(path, timeout=0, isolation_level=None)
        try:
            other.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError as error:
            refused.append(str(error))
        finally:
            other.close()
        return write(*given)

    with patch.object(ledger_file, "write_entry", intruding):
        account.spend("0.1")
    assert refused == ["database is locked"]


def test_killed_between_spending_and_release_has_spent(path):
    td.Accountant.open(path, epsilon=1)
    killed = start(KILLED, path)
    killed.communicate(timeout=300)
    assert killed.returncode == -signal.SIGKILL
    assert td.Accountant.open(path).remaining().epsilon == Fraction(3, 5)


def test_killed_in_the_middle_of_a_transaction_leaves_nothing_half_done(path):
    td.Accountant.open(path, epsilon=1).spend("0.5")
    killed = start(HALFWAY, path)
    killed.communicate(timeout=300)
    assert killed.returncode == -signal.SIGKILL
    account = td.Accountant.open(path)
    assert account.totals.count == 1
    account.spend("0.5")


def test_a_full_disk_fails_before_the_data_are_touched(path):
    td.Accountant.open(path, epsilon=1)
    process = start(FULL, path)
    said, error = process.communicate(timeout=300)
    assert "ledger must be a ledger that can be read and written" in said, error
    assert process.returncode == 0
    assert td.Accountant.open(path).history == ()


def test_a_ledger_that_cannot_be_written_spends_nothing(path):
    account = td.Accountant.open(path, epsilon=1)
    lock = sqlite3.connect(path)
    lock.execute("BEGIN IMMEDIATE")
    patience, module = sys.modules["tukeydp.accounts.ledger"]._PATIENCE, sys.modules["tukeydp.accounts.ledger"]
    module._PATIENCE = 0.05
    try:
        with pytest.raises(td.ParameterError, match="locked"):
            account.spend("0.1")
    finally:
        module._PATIENCE = patience
        lock.close()
    assert account.history == ()
    os.remove(path)
    with pytest.raises(td.ParameterError, match="ledger must be"):
        account.spend("0.1")
    assert not path.exists()  # a file that is gone is not begun anew in silence


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM spending",
        "UPDATE spending SET epsilon = '1/1000'",
        "INSERT OR REPLACE INTO spending SELECT 1, time, version, mechanism, '1/1000', delta, rho, rho_delta, "
        "neighbours, seeded, parameters, nonce, hash FROM spending",
        "INSERT INTO spending SELECT 7, time, version, mechanism, epsilon, delta, rho, rho_delta, neighbours, seeded, "
        "parameters, nonce, hash FROM spending",
        "UPDATE budget SET epsilon = '100'",
        "DELETE FROM budget",
        "INSERT OR REPLACE INTO budget SELECT 1, id, '100', delta, conversion, neighbours, time, version FROM budget",
        "UPDATE head SET epsilon = '0/1'",
        "DELETE FROM head",
        "INSERT OR REPLACE INTO head SELECT 1, 0, '0/1', '0/1', '0/1', '0/1', 0, hash FROM head",
    ],
)
def test_the_history_is_append_only(path, statement):
    td.Accountant.open(path, epsilon=1).spend("0.5")
    connection = sqlite3.connect(path)
    with pytest.raises(sqlite3.IntegrityError, match="append-only"):
        connection.execute(statement)
    connection.close()
    assert td.Accountant.open(path).remaining().epsilon == Fraction(1, 2)


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM spending WHERE number = 1",
        "UPDATE spending SET epsilon = '-1/2'",
        "UPDATE spending SET rho = 'x'",
        "UPDATE spending SET delta = '1/0'",
        "UPDATE spending SET epsilon = '1/1000'",
        "UPDATE spending SET parameters = x'80'",
        "UPDATE spending SET seeded = 1",
        "UPDATE spending SET hash = (SELECT hash FROM spending WHERE number = 1)",
        "DELETE FROM spending WHERE number = 2",
        "DELETE FROM spending",
        "INSERT INTO spending SELECT 3, time, version, mechanism, epsilon, delta, rho, rho_delta, neighbours, seeded, "
        "parameters, nonce, hash FROM spending WHERE number = 2",
        "UPDATE budget SET epsilon = '100'",
        "UPDATE budget SET neighbours = 'add-remove'",
        "UPDATE budget SET conversion = '0'",
        "INSERT INTO budget SELECT 2, id, epsilon, delta, conversion, neighbours, time, version FROM budget",
        "DELETE FROM budget",
        "UPDATE head SET epsilon = '0/1'",
        "UPDATE head SET count = 1, hash = (SELECT hash FROM spending WHERE number = 1)",
        "UPDATE head SET rho = 'x'",
        "DELETE FROM head",
        "DROP TABLE head",
        "DROP TABLE spending",
        "UPDATE sqlite_sequence SET seq = 1",
        "DELETE FROM sqlite_sequence",
        "PRAGMA application_id = 0",
        "PRAGMA user_version = 1",
        "PRAGMA user_version = 3",
        "PRAGMA journal_mode = WAL",
    ],
)
def test_an_altered_ledger_is_noticed(path, statement):
    account = td.Accountant.open(path, epsilon=1)
    account.spend("0.25")
    account.spend("0.25")
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA ignore_check_constraints = ON")
    triggers = dict(connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall())
    for name in triggers:
        connection.execute(f"DROP TRIGGER {name}")
    with pytest.raises(td.ParameterError, match=DAMAGED):
        td.Accountant.open(path)
    connection.execute(statement)
    for text in triggers.values():
        if "DROP TABLE" not in statement:
            connection.execute(text)
    connection.close()
    for use in (lambda: account.spend("0.1"), lambda: account.remaining(), lambda: td.Accountant.open(path)):
        with pytest.raises(td.ParameterError, match=DAMAGED):
            use()


def test_other_files_are_left_alone(tmp_path):
    text, other = tmp_path / "table.csv", tmp_path / "other.db"
    text.write_text("a,b\n1,2\n" * 100)
    connection = sqlite3.connect(other)
    connection.execute("CREATE TABLE t (a)")
    connection.commit()
    connection.close()
    for file in (text, other, tmp_path):
        before = file.read_bytes() if file.is_file() else None
        for budget in ({}, {"epsilon": 1}):
            with pytest.raises(td.ParameterError, match="ledger must be"):
                td.Accountant.open(file, **budget)
        assert before is None or file.read_bytes() == before


# Fields of OpenDP's registry, read from its schema in November 2026: those a record must have, and those it may have.
REGISTRY = {
    "": {"url_slug", "status", "tier", "deployment"},
    "basic": {"name", "data_curators", "description", "intended_use", "data_product_type", "data_product_region"}
    | {"publication_date"},
    "dp_variant": {"variant_name", "data_domain", "unprotected_quantities"},
    "privacy_loss": {"privacy_unit", "privacy_unit_details", "privacy_parameters", "privacy_parameters_details"},
    "deployment_model": {"model_name", "model_name_details", "actors", "release_type", "release_type_details"},
    "accounting": {"post_processing", "composition"},
    "implementation": {"preprocessing_and_hyperparameter_tuning", "mechanisms", "justification"},
    "administrative": {"sources", "notes", "registry_authors"},
}


@given(st.fractions(min_value=0, max_value=10**9))
def test_decimals_of_an_export_are_numbers_and_never_below(cost):
    shown = _decimal_above(cost)
    assert "/" not in shown
    assert cost <= Fraction(shown) <= cost * (1 + Fraction(1, 10**16))


def test_exports(path):
    account = td.Accountant.open(path, epsilon="1/3", delta="1e-6")
    account.spend("1/7", mechanism="boxem", parameters={"columns": ['a "quoted", name', "b"]})
    account.spend("1/7", seeded=True)
    written = json.loads(exported(account, "json", "x"))
    assert (written["budget"]["epsilon"], written["spent"]["epsilon"]) == ("1/3", "2/7")
    assert written["history"][0]["parameters"]["columns"] == ['a "quoted", name', "b"]
    first, second = csv.DictReader(exported(account, "csv", "x").splitlines())
    assert (first["epsilon"], first["epsilon_exact"]) == ("0.14285714285714286", "1/7")  # never below 1/7
    assert (first["rho"], first["rho_exact"]) == ("0.010204081632653062", "1/98")
    assert (first["delta"], first["delta_exact"]) == ("0", "0")
    assert (second["number"], second["seeded"], second["parameters"]) == ("2", "1", "{}")
    record = yaml.safe_load(exported(account, "yaml", "My Study 2026!"))
    assert record["url_slug"] == "my_study_2026"
    deployment = record["deployment"]
    assert {"": set(record)} | {name: set(part) for name, part in deployment.items()} == REGISTRY
    parameters = deployment["privacy_loss"]["privacy_parameters"]
    assert (parameters["epsilon"], parameters["delta"]) == (0.33333333333333337, 1e-06)  # never below 1/3
    assert "boxem" in deployment["implementation"]["mechanisms"]
    with pytest.raises(td.ParameterError, match="format"):
        exported(account, "xml", "x")
