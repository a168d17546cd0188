"""Ledgers that something has happened to: flipped bits, kills, a full disk, restored copies, forks, another version."""

from __future__ import annotations

import os
import pickle
import random
import shutil
import signal
import sqlite3
import tempfile
import threading
import time
from fractions import Fraction
from pathlib import Path
from unittest.mock import patch

import pytest

import tukeydp as td
from tukeydp.accounts import ledger, ledger_file, ledger_upgrade
from tukeydp.accounts.budget import Budget, Totals
from tukeydp.accounts.entries import Entry
from tukeydp.trusted.account import bounded_range

resource = pytest.importorskip("resource")
pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")

DAMAGED = "so nothing is spent: restore a copy that has all its entries, or make a new ledger with what was left"
ANOTHER = "another has taken its place, or an older copy of it"
UNUSABLE = "must be a ledger that can be read and written"
FIRST_FORMAT = Path(__file__).with_name("ledger_0_1_0.sql")
WAIT = 60  # seconds after which a child that hangs is ended


@pytest.fixture
def tmp_path():
    """In memory where that can be had: nothing here cuts the power, and thousands of entries need not reach a disk."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() and os.access(memory, os.W_OK) else None) as folder:
        yield Path(folder)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "study.db"


def filled(path, entries=8):
    account = td.Accountant.open(path, epsilon=1, delta="1e-6")
    for number in range(entries):
        cost = td.ApproxDP("1/90", "1e-9") if number == 3 else bounded_range("1/100")
        account.spend(cost, mechanism="boxem", seeded=number == 5, parameters={"columns": ["Größe", "b"], "n": 200})
    return account


def of_first_format(path):
    connection = sqlite3.connect(path)
    connection.executescript(FIRST_FORMAT.read_text(encoding="utf-8"))
    connection.close()


def told(account):
    return account.budget, account.totals, account.history


def in_child(work):
    """The exit code of a fork that does this: 0, 1 where it raises, or minus the signal that ended it."""
    pid = os.fork()
    if pid == 0:
        signal.alarm(WAIT)
        code = 1
        try:
            work()
            code = 0
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


# Flipped bits


def bits_to_flip(size, count, seed):
    """By chance, with a fixed seed: a quarter in SQLite's header, a quarter in heads of pages, the rest anywhere."""
    chance = random.Random(seed)
    pages = range(0, size, 4096)
    for number in range(count):
        if number % 4 == 0:
            byte = chance.randrange(100)
        elif number % 4 == 1:
            byte = chance.choice(pages) + chance.randrange(32)
        else:
            byte = chance.randrange(size)
        yield byte, 1 << chance.randrange(8)


def flipped(path, byte, bit):
    with path.open("r+b") as file:
        file.seek(byte)
        old = file.read(1)[0]
        file.seek(byte)
        file.write(bytes([old ^ bit]))


def opened_or_refused(path):
    """What a ledger says, or None where it is refused by the sentence. Any other error is raised."""
    try:
        return told(td.Accountant.open(path))
    except td.ParameterError as error:
        if DAMAGED not in str(error):
            raise
        return None


def spent_or_refused(path, before):
    """After a bit that did no harm: one more entry, which stays, or a refusal that leaves all as it was."""
    expected = before.plus(td.PureDP("1/1000"))
    try:
        td.Accountant.open(path).spend("1/1000")
    except td.ParameterError as error:
        if DAMAGED not in str(error) and UNUSABLE not in str(error):
            raise
        expected = before
    assert td.Accountant.open(path).totals == expected


@pytest.mark.parametrize("count", [600, pytest.param(20_000, marks=pytest.mark.slow)])
def test_no_flipped_bit_lowers_what_is_spent_or_raises_the_budget(path, count):
    """Refused by the one sentence, or read as before, to the last field; and then one more entry goes on from there."""
    before = told(filled(path))
    whole = path.read_bytes()
    refused, harmless = 0, 0
    for byte, bit in bits_to_flip(len(whole), count, seed=28):
        flipped(path, byte, bit)
        found = opened_or_refused(path)
        assert found in (None, before), (byte, bit)
        refused += found is None
        harmless += found is not None
        if found is not None and harmless % 20 == 0:
            spent_or_refused(path, before[1])
            path.write_bytes(whole)
        else:
            flipped(path, byte, bit)
    assert path.read_bytes() == whole
    assert min(refused, harmless) > count / 10  # the control: flips do both


def cell_count_of(path, table):
    """Where the file says how many rows the table's only page has (SQLite's file format, section 1.6)."""
    connection = sqlite3.connect(path)
    ((root,),) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (table,)).fetchall()
    ((size,),) = connection.execute("PRAGMA page_size").fetchall()
    connection.close()
    return (root - 1) * size + 4  # byte 3 and 4 of the page


@pytest.mark.parametrize("version", ["0.1.0", "now"])
def test_the_bit_that_gave_a_whole_budget_back(path, version):
    """8 is one bit: without it there are no entries. 0.1.0 had no hashes, but SQLite knows the last number."""
    filled(path) if version == "now" else of_first_format(path)
    place = cell_count_of(path, "spending")
    assert path.read_bytes()[place] == 8
    flipped(path, place, 8)
    assert opened_or_refused(path) is None


@pytest.mark.parametrize("table", ["spending", "head", "budget"])
def test_a_damaged_file_under_an_open_account_is_refused_by_each_use(path, table):
    account = filled(path)
    flipped(path, cell_count_of(path, table), 1)
    for use in (lambda: account.spend("0.01"), lambda: account.totals, lambda: account.history, account.remaining):
        with pytest.raises(td.ParameterError, match=DAMAGED):
            use()


def test_flips_in_a_journal_that_a_crash_left(path):
    """A line that was not committed is undone from the journal. Whatever its bits say: undone, or refused."""
    account = filled(path)
    before = told(account)
    with sqlite3.connect(path, isolation_level=None) as connection:
        connection.execute("PRAGMA cache_size = 1")  # pages reach the file before the commit
        connection.execute("BEGIN IMMEDIATE")
        state = ledger_file.read_state(connection)
        for _ in range(30):
            entry = Entry(state.last.number + 1, td.PureDP("1/1000"), parameters={"columns": ["x" * 500]})
            state = ledger_file.write_entry(connection, state, entry)
        journal = path.with_name(f"{path.name}-journal")
        crashed, log = path.read_bytes(), journal.read_bytes()
        connection.execute("ROLLBACK")
    connection.close()
    assert crashed != path.read_bytes()
    outcomes = {True: 0, False: 0}
    for byte, bit in [(0, 0), *bits_to_flip(len(log), 150, seed=29)]:
        path.write_bytes(crashed)
        journal.write_bytes(log)
        flipped(journal, byte, bit)
        found = opened_or_refused(path)
        assert found in (None, before), (byte, bit)
        outcomes[found is None] += 1
        if bit == 0:
            assert found == before
    assert min(outcomes.values()) > 0


# Kills, and a full disk


@pytest.mark.parametrize("kills", [15, pytest.param(100, marks=pytest.mark.slow)])
def test_kills_at_any_moment_lose_nothing_that_was_paid(path, kills):
    """A child says after each `spend` that it has returned. What it said is in the ledger, and at most one more."""
    chance = random.Random(30)
    td.Accountant.open(path, epsilon=10**6)
    for _ in range(kills):
        before = td.Accountant.open(path).totals.count
        source, sink = os.pipe()
        pid = os.fork()
        if pid == 0:
            signal.alarm(WAIT)
            account = td.Accountant.open(path)
            while True:
                account.spend("1/7")
                os.write(sink, b".")
        os.close(sink)
        os.read(source, 1)
        time.sleep(chance.random() / 50)
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        with os.fdopen(source, "rb") as said:
            paid = 1 + len(said.read())
        account = td.Accountant.open(path)  # checks every entry
        assert paid <= account.totals.count - before <= paid + 1
        assert account.totals.epsilon == Fraction(account.totals.count, 7)


def test_wherever_a_disk_is_full_nothing_is_released_that_is_not_paid(path):
    """Files may not grow beyond a size, from none to more than is needed: each write may be the one that fails."""
    account = filled(path, entries=40)  # so that the next entries need new pages
    size, outcomes = path.stat().st_size, set()

    def spend(limit):
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        for _ in range(12):
            account.spend("1/1000", parameters={"columns": ["x" * 400]})

    for limit in [0, 1, 511, 512, 600, 4096, 5000, 9000, *range(size - 8192, size + 12288, 2048), 1 << 20]:
        before = td.Accountant.open(path).totals
        code = in_child(lambda limit=limit: spend(limit))
        after = td.Accountant.open(path).totals
        assert after.epsilon - before.epsilon == Fraction(after.count - before.count, 1000)
        assert code in (0, 1)
        assert (code == 0) == (after.count == before.count + 12)
        outcomes.add((code, after.count > before.count))
    assert {(0, True), (1, False)} <= outcomes


# Copies in its place


def test_an_older_copy_under_an_open_account_is_refused(path, tmp_path):
    account = filled(path, entries=3)
    copy, saved = tmp_path / "copy.db", pickle.dumps(account)
    shutil.copy(path, copy)
    account.spend("0.01")
    late = pickle.dumps(account)
    shutil.copy(copy, path)
    for use in (lambda: account.spend("0.01"), account.remaining, lambda: account.history, lambda: pickle.loads(late)):
        with pytest.raises(td.ParameterError, match=ANOTHER):
            use()
    assert td.Accountant.open(path).totals.count == 3  # who had not seen more cannot know
    # It went on differently: as far as the other, and further.
    other = pickle.loads(saved)
    for _ in range(2):
        other.spend("0.01")
        with pytest.raises(td.ParameterError, match=ANOTHER):
            account.spend("0.01")
        with pytest.raises(td.ParameterError, match=ANOTHER):
            pickle.loads(late)


def test_lines_taken_away_with_all_that_speaks_of_them_are_noticed_by_who_saw_them(path):
    """Last line, sums and SQLite's number as they were before: a whole ledger, but not the one that was open."""
    account = filled(path, entries=2)
    connection = sqlite3.connect(path, isolation_level=None)
    triggers = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
    (head,) = connection.execute("SELECT * FROM head").fetchall()
    account.spend("0.01")
    for name, _ in triggers:
        connection.execute(f"DROP TRIGGER {name}")
    connection.execute("DELETE FROM spending WHERE number = 3")
    connection.execute("DELETE FROM head")
    connection.execute(f"INSERT INTO head VALUES ({', '.join('?' * len(head))})", head)
    connection.execute("UPDATE sqlite_sequence SET seq = 2")
    for _, text in triggers:
        connection.execute(text)
    connection.close()
    assert td.Accountant.open(path).totals.count == 2
    with pytest.raises(td.ParameterError, match=ANOTHER):
        account.spend("0.01")


@pytest.mark.parametrize("what", ["an older copy", "nothing", "another"])
def test_a_file_replaced_while_it_is_written_gives_no_release(path, tmp_path, what):
    """The entry goes into a file that has no name any more: noticed by reading it back by its path."""
    account = filled(path, entries=2)
    other = tmp_path / "other.db"
    shutil.copy(path, other) if what == "an older copy" else td.Accountant.open(other, epsilon=1, delta="1e-6")
    write = ledger_file.write_entry

    def replacing(*given):
        after = write(*given)
        path.unlink() if what == "nothing" else other.replace(path)
        return after

    with patch.object(ledger_file, "write_entry", replacing), pytest.raises(td.ParameterError, match="ledger must be"):
        account.spend("0.01")
    with pytest.raises(td.ParameterError, match="ledger must be"):
        account.spend("0.01")


@pytest.mark.parametrize("what", ["the line", "the sums", "a line before"])
def test_what_was_written_is_read_back_before_it_counts(path, what):
    account = filled(path, entries=3)
    before, insert = path.read_bytes(), ledger_file._insert

    def otherwise(connection, table, names, values):
        """As if the disk, the memory or SQLite had it wrong."""
        if what == "the line":
            values = tuple("1/1000" if name == "epsilon" else value for name, value in zip(names, values, strict=True))
        insert(connection, table, names, values)
        if what == "the sums":
            connection.execute("DROP TRIGGER head_goes_on")
            connection.execute("UPDATE head SET epsilon = '0/1'")
        elif what == "a line before":
            connection.execute("DROP TRIGGER spending_is_fixed")
            connection.execute("UPDATE spending SET hash = 'x' WHERE number = 3")

    with patch.object(ledger_file, "_insert", otherwise), pytest.raises(td.ParameterError, match=DAMAGED):
        account.spend("0.01")
    assert path.read_bytes() == before
    assert account.spend("0.01").number == 4


# Making one


def test_an_empty_file_is_not_begun_anew(path):
    """It may be what is left of a ledger."""
    filled(path)
    path.write_bytes(b"")
    for budget in ({}, {"epsilon": 1, "delta": "1e-6"}):
        with pytest.raises(td.ParameterError, match=DAMAGED):
            td.Accountant.open(path, **budget)
    assert path.read_bytes() == b""


@pytest.mark.parametrize("links", [True, False])
def test_two_that_make_a_ledger_at_once_have_made_one(path, links):
    place = ledger._place

    def after_another(fresh, target):
        with patch.object(ledger, "_place", place):
            td.Accountant.open(path, epsilon=1).spend("0.75")
        place(fresh, target)

    def no_links(*_):
        raise PermissionError("no links on this file system")

    with patch.object(ledger, "_place", after_another), patch.object(os, "link", os.link if links else no_links):
        account = td.Accountant.open(path, epsilon=1)
    assert account.remaining().epsilon == Fraction(1, 4)
    assert os.listdir(path.parent) == [path.name]


def test_a_ledger_that_was_not_made_to_the_end_is_none(path):
    def killed(*_):
        os.kill(os.getpid(), signal.SIGKILL)

    for where in ("make", "write_header", "_insert", "_root"):
        with patch.object(ledger_file, where, killed):
            assert in_child(lambda: td.Accountant.open(path, epsilon=1)) == -signal.SIGKILL
        assert not path.exists()
    assert td.Accountant.open(path, epsilon=1).totals == Totals()


# Forks and threads


def test_a_fork_in_the_middle_of_another_threads_spending_can_spend(path):
    """0.1.0: the child waited for ever for a thread that it does not have."""
    account, memory = td.Accountant.open(path, epsilon=1), td.Accountant(1)
    within, admits = threading.Semaphore(0), Budget.admits

    def slow(budget, totals):
        within.release()
        time.sleep(0.2)
        return admits(budget, totals)

    with patch.object(Budget, "admits", slow):
        threads = [threading.Thread(target=one.spend, args=("0.1",)) for one in (account, memory)]
        for thread in threads:
            thread.start()
            within.acquire()

        def spends():
            signal.alarm(20)
            account.spend("0.1")
            with pytest.raises(td.ParameterError, match=r"td\.Accountant\.open"):
                memory.spend("0.1")

        codes = [in_child(spends) for _ in range(2)]
        for thread in threads:
            thread.join()
    assert codes == [0, 0]
    assert (account.totals.count, memory.totals.count) == (3, 1)


def test_forks_and_threads_at_once(path):
    account, stopped = td.Accountant.open(path, epsilon=100), threading.Event()

    def work():
        while not stopped.wait(0.002):
            account.spend("0.01")

    thread = threading.Thread(target=work)
    thread.start()
    try:
        codes = [in_child(lambda: [account.spend("0.01") for _ in range(2)]) for _ in range(5)]
    finally:
        stopped.set()
        thread.join()
    assert codes == [0] * 5
    assert len(td.Accountant.open(path).history) == account.totals.count > 10


def test_a_fork_inside_a_transaction_leaves_it_to_the_parent(path):
    """By a signal handler, say: both processes go on in the middle. The child may neither commit nor undo."""
    account, write, parent = td.Accountant.open(path, epsilon=1), ledger_file.write_entry, os.getpid()
    codes = []

    def forking(*given):
        after = write(*given)
        pid = os.fork()
        if pid:
            codes.append(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
        return after

    with patch.object(ledger_file, "write_entry", forking):
        try:
            account.spend("0.1")
        except td.ParameterError as error:
            os._exit(7 if os.getpid() != parent and "fork" in str(error) else 8)
        finally:
            if os.getpid() != parent:
                os._exit(9)
    assert codes == [7]
    assert td.Accountant.open(path).totals.count == 1


# Time, and what is asked of the disk


class Counting(sqlite3.Connection):
    """Counts the steps of SQLite's machine, and notes how it writes."""

    steps, settings = 0, None

    def __init__(self, *given, **options):
        super().__init__(*given, **options)
        self.set_progress_handler(self.count, 1)

    def count(self):
        Counting.steps += 1
        return 0

    def execute(self, statement, *given):
        if statement.startswith("INSERT INTO spending"):
            ask = super().execute
            Counting.settings = tuple(ask(f"PRAGMA {name}").fetchone()[0] for name in ("synchronous", "journal_mode"))
        return super().execute(statement, *given)


@pytest.fixture
def counting(monkeypatch):
    connect = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda *given, **options: connect(*given, **options, factory=Counting))


def steps_of(work):
    Counting.steps = 0
    work()
    return Counting.steps


def test_one_more_entry_takes_as_many_steps_however_many_there_are(path, counting):
    account = filled(path, entries=3)
    few = [steps_of(lambda: account.spend("1/10000")), steps_of(account.remaining)]
    for _ in range(120):
        account.spend("1/10000")
    many = [steps_of(lambda: account.spend("1/10000")), steps_of(account.remaining)]
    assert many == few
    assert steps_of(lambda: account.history) > few[1] + 120  # the control: reading all of them does take more


def test_an_entry_is_on_the_disk_before_spend_returns(path, counting):
    """`EXTRA` is 3: data, journal and the journal's removal are synchronized."""
    td.Accountant.open(path, epsilon=1).spend("0.1")
    assert Counting.settings == (3, "delete")


def test_sums_with_more_digits_than_python_writes(path):
    """Denominators that have nothing in common: their product grows with every entry, and nothing is rounded."""
    totals = Totals(1, Fraction(1, 3**20_000), Fraction(0), Fraction(7**9_000, 2**60_000), Fraction(1, 10**9), True)
    *sums, began = ledger_file._sums(totals)
    assert Totals(1, *map(ledger_file._from_hex, sums), bool(began)) == totals


# Ledgers of 0.1.0


def test_a_ledger_of_the_first_version_is_upgraded_and_says_the_same(path):
    of_first_format(path)
    account = td.Accountant.open(path)
    assert (account.epsilon, account.delta, account.budget.conversion) == (Fraction(5, 2), Fraction(1, 10**6), None)
    assert [entry.guarantee.epsilon for entry in account.history[:4]] == [Fraction(1, k) for k in (5, 3, 7, 10)]
    expected = Fraction(247, 210), Fraction(1, 10**8), Fraction(27169, 352800), Fraction(1, 10**8)
    totals = account.totals
    assert (totals.epsilon, totals.delta, totals.rho, totals.rho_delta) == expected
    third = account.history[2]
    assert (third.mechanism, third.seeded, third.parameters) == ("rem", True, {"columns": ["Größe", "b"], "n": 200})
    assert (third.time, third.version) == ("2026-11-18T02:01:22+00:00", "0.1.0")
    with sqlite3.connect(path) as connection:
        assert ledger_file.format_of(connection) == ledger_file.FORMAT
    connection.close()
    account.spend("0.01")
    assert td.Accountant.open(path).totals.count == 9


def test_a_pickle_of_the_first_version_says_that_the_ledger_must_be_opened_again(path):
    account = filled(path, entries=1)
    saved = account._store
    saved.__dict__ = {"path": path, "budget": account.budget, "made": "2026-11-18T02:01:20.939889+00:00"}
    with pytest.raises(td.ParameterError, match="must be opened again"):
        pickle.loads(pickle.dumps(account))


def test_copies_of_an_old_ledger_are_one_ledger(path, tmp_path):
    of_first_format(path)
    shutil.copy(path, tmp_path / "copy.db")
    account = td.Accountant.open(path)
    shutil.copy(tmp_path / "copy.db", path)
    account.spend("0.01")  # the same, upgraded once more
    shutil.copy(tmp_path / "copy.db", path)
    with pytest.raises(td.ParameterError, match=ANOTHER):
        account.spend("0.01")


@pytest.mark.parametrize("calls", range(1, 9))
def test_a_crash_in_an_upgrade_leaves_the_old_ledger_or_the_new(path, calls):
    of_first_format(path)
    left, write = calls, ledger_upgrade.write_entry

    def killed(*given, **options):
        nonlocal left
        left -= 1
        if not left:
            os.kill(os.getpid(), signal.SIGKILL)
        return write(*given, **options)

    with patch.object(ledger_upgrade, "write_entry", killed):
        assert in_child(lambda: td.Accountant.open(path)) == -signal.SIGKILL
    account = td.Accountant.open(path)
    assert (account.totals.count, account.totals.epsilon) == (8, Fraction(247, 210))


@pytest.mark.parametrize("what", ["costs", "words", "a line less"])
def test_an_upgrade_that_does_not_say_the_same_is_not_made(path, what):
    of_first_format(path)
    before, write = path.read_bytes(), ledger_upgrade.write_entry

    def otherwise(connection, state, entry, nonce):
        if entry.number == 8 and what == "a line less":
            return state
        cost = td.PureDP("1/1000") if what == "costs" else entry.guarantee
        return write(connection, state, Entry(entry.number, cost), nonce)

    with patch.object(ledger_upgrade, "write_entry", otherwise), pytest.raises(td.ParameterError, match=DAMAGED):
        td.Accountant.open(path)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM spending WHERE number = 8",
        "DELETE FROM spending WHERE number = 2",
        "UPDATE spending SET epsilon = '-1/2' WHERE number = 1",
        "UPDATE spending SET epsilon = '2/20' WHERE number = 4",
        "UPDATE spending SET parameters = x'ff' WHERE number = 4",
        "UPDATE budget SET delta = '1/0'",
        "DELETE FROM budget",
        "CREATE TABLE other (a)",
    ],
)
def test_an_old_ledger_that_was_changed_is_not_upgraded(path, statement):
    of_first_format(path)
    connection = sqlite3.connect(path, isolation_level=None)
    triggers = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
    for name, _ in triggers:
        connection.execute(f"DROP TRIGGER {name}")
    connection.execute(statement)
    for _, text in triggers:
        connection.execute(text)
    connection.close()
    before = path.read_bytes()
    with pytest.raises(td.ParameterError, match=DAMAGED):
        td.Accountant.open(path)
    assert path.read_bytes() == before


def test_an_old_ledger_that_cannot_be_written_can_be_read(path):
    """Shown as it would be upgraded; nothing is spent from it."""
    of_first_format(path)
    before, connect = path.read_bytes(), sqlite3.connect

    def read_only(where, **options):
        return connect(where.replace("mode=rw", "mode=ro"), **options)

    with patch.object(sqlite3, "connect", read_only):
        account = td.Accountant.open(path)
        assert (account.totals.count, len(account.history), account.totals.epsilon) == (8, 8, Fraction(247, 210))
        with pytest.raises(td.ParameterError, match=UNUSABLE):
            account.spend("0.01")
    assert path.read_bytes() == before
    account.spend("0.01")  # and once it can be written, it is the same ledger
    assert account.totals.count == 9
