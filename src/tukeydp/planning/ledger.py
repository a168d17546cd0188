"""An account in a file: SQLite, one transaction for each entry, append-only.

Whoever spends first takes the write lock, then reads what was spent, decides, writes, and waits until the disk has it;
only then does the caller go on to the data. So two processes cannot spend the same budget, and a process that dies, or
a disk that is full, leaves either an entry or nothing, and in both cases no release without an entry.

The file guards against mistakes and accidents, not against its owner: a copy begins anew, and so does whoever deletes
the file and makes another. An accountant that was opened, or pickled, before that notices, and spends no more.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path

from tukeydp.errors import ParameterError
from tukeydp.planning.budget import Budget, Totals, total
from tukeydp.planning.entries import FIELDS, Entry, entry_from
from tukeydp.version import __version__

Decide = Callable[[Totals], Entry]

_APPLICATION = 0x74646C67  # "tdlg", in SQLite's header: other people's databases are not touched
_FORMAT = 1  # of the tables below; a ledger of a later format is not read by guesswork
_PATIENCE = 30.0  # seconds to wait for another process's transaction, each of which takes milliseconds
_TABLES = """
CREATE TABLE budget (
    one INTEGER PRIMARY KEY CHECK (one = 1), epsilon TEXT NOT NULL, delta TEXT NOT NULL, conversion TEXT,
    neighbours TEXT NOT NULL, time TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%SZ', 'now')), version TEXT NOT NULL
);
CREATE TABLE spending (
    number INTEGER PRIMARY KEY AUTOINCREMENT, time TEXT NOT NULL, version TEXT NOT NULL, mechanism TEXT,
    epsilon TEXT NOT NULL, delta TEXT NOT NULL, rho TEXT NOT NULL, rho_delta TEXT NOT NULL, neighbours TEXT NOT NULL,
    seeded INTEGER NOT NULL, parameters TEXT NOT NULL
);
CREATE TRIGGER spending_is_kept BEFORE DELETE ON spending BEGIN SELECT RAISE(ABORT, 'append-only'); END;
CREATE TRIGGER spending_is_fixed BEFORE UPDATE ON spending BEGIN SELECT RAISE(ABORT, 'append-only'); END;
CREATE TRIGGER spending_goes_on BEFORE INSERT ON spending
    WHEN NEW.number IS NOT (SELECT coalesce(max(number), 0) + 1 FROM spending)
    BEGIN SELECT RAISE(ABORT, 'append-only'); END;
CREATE TRIGGER budget_is_kept BEFORE DELETE ON budget BEGIN SELECT RAISE(ABORT, 'append-only'); END;
CREATE TRIGGER budget_is_fixed BEFORE UPDATE ON budget BEGIN SELECT RAISE(ABORT, 'append-only'); END;
CREATE TRIGGER budget_is_one BEFORE INSERT ON budget WHEN EXISTS (SELECT 1 FROM budget)
    BEGIN SELECT RAISE(ABORT, 'append-only'); END;
"""
_TRIGGERS = 6


@dataclass(frozen=True)
class Ledger:
    """A ledger file, the budget it was made for, and when that was, to microseconds: another file at its path is
    another ledger. Connections last for one call: threads and forks share nothing."""

    path: Path
    budget: Budget
    made: str

    def append(self, decide: Decide) -> Entry:
        with _connected(self.path) as connection, _transaction(connection):
            entry = decide(total(entry.guarantee for entry in self._entries(connection)))
            marks = ", ".join("?" * len(FIELDS))
            connection.execute(f"INSERT INTO spending ({', '.join(FIELDS)}) VALUES ({marks})", entry.row())
        return entry

    def totals(self) -> Totals:
        return total(entry.guarantee for entry in self.entries())

    def entries(self) -> tuple[Entry, ...]:
        with _connected(self.path) as connection:
            return self._entries(connection)

    def _entries(self, connection: sqlite3.Connection) -> tuple[Entry, ...]:
        if _ledger(connection, self.path) != self:
            raise another_ledger(self.path)
        return _entries(connection, self.path)


def open_ledger(path: Path, wanted: Budget | None) -> Ledger:
    """The ledger at `path`, made if there is none and a budget is wanted."""
    path = path.absolute()
    if not path.exists():
        if wanted is None:
            raise ParameterError("ledger", "must exist, or be made with an epsilon", str(path))
        if not path.parent.is_dir():
            raise ParameterError("ledger", "must be in a folder that exists", str(path))
    with _connected(path, create=wanted is not None) as connection:
        if wanted is not None:
            with _transaction(connection):
                if not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                    _make(connection, wanted)
        found = _ledger(connection, path)
    if wanted is not None and wanted != found.budget:
        rule = "must have the budget it was made with; leave epsilon out to open it"
        said = f"{path} with epsilon = {found.budget.epsilon}, delta = {found.budget.delta}"
        raise ParameterError("ledger", rule, said)
    return found


@contextmanager
def _connected(path: Path, create: bool = False) -> Iterator[sqlite3.Connection]:
    """A connection; whatever SQLite has to say becomes one sentence, and stops the caller before the data."""
    mode = "rwc" if create else "rw"
    connection = None
    try:
        # Transactions are begun by hand: sqlite3's own would begin too late, after reading.
        connection = sqlite3.connect(f"{path.as_uri()}?mode={mode}", uri=True, timeout=_PATIENCE, isolation_level=None)
        # EXTRA is FULL and more: also the journal's removal, which is what commits, is on the disk before we go on.
        connection.execute("PRAGMA synchronous = EXTRA")
        yield connection
    except sqlite3.Error as error:
        said = f"{path} ({type(error).__name__}: {error})"
        raise ParameterError("ledger", "must be a ledger that can be read and written", said) from None
    finally:
        if connection is not None:
            connection.close()


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """With the write lock from the beginning, so that what is read cannot change before what is written."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _make(connection: sqlite3.Connection, budget: Budget) -> None:
    for statement in _statements():
        connection.execute(statement)
    connection.execute(f"PRAGMA application_id = {_APPLICATION}")
    connection.execute(f"PRAGMA user_version = {_FORMAT}")
    share = None if budget.conversion is None else str(budget.conversion)
    connection.execute(
        "INSERT INTO budget (one, epsilon, delta, conversion, neighbours, time, version) VALUES (1, ?, ?, ?, ?, ?, ?)",
        (str(budget.epsilon), str(budget.delta), share, budget.neighbours, _now(), __version__),
    )


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="microseconds")


def _statements() -> list[str]:
    """One by one: `executescript` would commit the transaction that they belong to."""
    found, current = [], ""
    for line in _TABLES.splitlines(keepends=True):
        current += line
        if sqlite3.complete_statement(current) and current.strip():
            found.append(current)
            current = ""
    return found


def _ledger(connection: sqlite3.Connection, path: Path) -> Ledger:
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if application != _APPLICATION:
        raise ParameterError("ledger", "must be a file made by td.Accountant.open or tukeydp ledger create", str(path))
    if version != _FORMAT:
        raise ParameterError("ledger", f"must be of format {_FORMAT}: this one needs a later version", str(path))
    (triggers,) = connection.execute("SELECT count(*) FROM sqlite_master WHERE type = 'trigger'").fetchone()
    rows = connection.execute("SELECT epsilon, delta, conversion, neighbours, time FROM budget").fetchall()
    if triggers != _TRIGGERS or len(rows) != 1:
        raise _altered(path)
    epsilon, delta, conversion, neighbours, made = rows[0]
    try:
        share = None if conversion is None else Fraction(conversion)
        return Ledger(path, Budget(Fraction(epsilon), Fraction(delta), share, neighbours), made)
    except ValueError:
        raise _altered(path) from None


def _entries(connection: sqlite3.Connection, path: Path) -> tuple[Entry, ...]:
    rows = connection.execute(f"SELECT {', '.join(FIELDS)} FROM spending ORDER BY number").fetchall()
    try:
        entries = tuple(entry_from(row) for row in rows)
    except (ValueError, TypeError, ZeroDivisionError):
        raise _altered(path) from None
    if [entry.number for entry in entries] != list(range(1, len(entries) + 1)):
        raise _altered(path)
    return entries


def another_ledger(path: Path) -> ParameterError:
    rule = "must be the one that was opened, saved or sent; another has taken its place"
    return ParameterError("ledger", rule, str(path))


def _altered(path: Path) -> ParameterError:
    return ParameterError("ledger", "must be as this package has written it, with no line changed", str(path))
