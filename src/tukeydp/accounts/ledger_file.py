"""What a ledger's file holds: the budget, every entry, their sums, and a hash chain over all of it.

The header (the budget, and an id that no other ledger has) is hashed into the root. The hash of an entry covers the
root, the hash before it, its number, all its fields, a random number (two copies that go on alike are still told
apart), and the sums after it. The head keeps number, sums and hash of the last entry once more, so that one more entry
costs the same however many there are: two entries are read, and vouch for the budget and the sums.

A hash without a key notices accidents: flipped bits, pages of another moment, edits by mistake. It does not
notice an owner who computes all hashes again.
"""

from __future__ import annotations

import hashlib
import json
import secrets
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple

from tukeydp.accounts.budget import Budget, Totals
from tukeydp.accounts.entries import FIELDS, Entry, entry_from
from tukeydp.version import __version__

APPLICATION = 0x74646C67  # "tdlg", in SQLite's header: other people's databases are not touched
FORMAT = 2  # of the tables below; 1 is that of tukeydp 0.1.0, and a later one is not read by guesswork
TABLES = """\
CREATE TABLE budget (
    one INTEGER PRIMARY KEY CHECK (one = 1), id TEXT NOT NULL, epsilon TEXT NOT NULL, delta TEXT NOT NULL,
    conversion TEXT, neighbours TEXT NOT NULL, time TEXT NOT NULL, version TEXT NOT NULL
);
CREATE TABLE spending (
    number INTEGER PRIMARY KEY AUTOINCREMENT, time TEXT NOT NULL, version TEXT NOT NULL, mechanism TEXT,
    epsilon TEXT NOT NULL, delta TEXT NOT NULL, rho TEXT NOT NULL, rho_delta TEXT NOT NULL, neighbours TEXT NOT NULL,
    seeded INTEGER NOT NULL, parameters TEXT NOT NULL, nonce TEXT NOT NULL, hash TEXT NOT NULL
);
CREATE TABLE head (
    one INTEGER PRIMARY KEY CHECK (one = 1), count INTEGER NOT NULL, epsilon TEXT NOT NULL, delta TEXT NOT NULL,
    rho TEXT NOT NULL, rho_delta TEXT NOT NULL, began_with_delta INTEGER NOT NULL, hash TEXT NOT NULL
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
CREATE TRIGGER head_is_kept BEFORE DELETE ON head BEGIN SELECT RAISE(ABORT, 'append-only'); END;
CREATE TRIGGER head_goes_on BEFORE UPDATE ON head WHEN NEW.count IS NOT OLD.count + 1
    BEGIN SELECT RAISE(ABORT, 'append-only'); END;
CREATE TRIGGER head_is_one BEFORE INSERT ON head WHEN EXISTS (SELECT 1 FROM head)
    BEGIN SELECT RAISE(ABORT, 'append-only'); END;
"""
_HEADER = ("id", "epsilon", "delta", "conversion", "neighbours", "time", "version")
_LINE = (*FIELDS, "nonce")  # of an entry, all that is hashed
_SUMS = ("epsilon", "delta", "rho", "rho_delta", "began_with_delta")


class Damaged(Exception):
    """A file that does not hold what this package writes. Why is not told apart: whatever it is, it is refused."""


class Mark(NamedTuple):
    """How far a ledger had come: its last number, and that entry's hash; 0 and the root at the beginning."""

    number: int
    hash: str


@dataclass(frozen=True)
class State:
    """A ledger at one moment."""

    budget: Budget
    root: str
    totals: Totals
    last: Mark


def make(connection: sqlite3.Connection, budget: Budget) -> None:
    """Tables and header of a new ledger, in a transaction of the caller's."""
    made = datetime.now(UTC).isoformat(timespec="microseconds")
    share = None if budget.conversion is None else str(budget.conversion)
    costs = str(budget.epsilon), str(budget.delta), share
    write_header(connection, (secrets.token_hex(16), *costs, budget.neighbours, made, __version__))


def write_header(connection: sqlite3.Connection, header: tuple[Any, ...]) -> None:
    for statement in statements(TABLES):
        connection.execute(statement)
    connection.execute(f"PRAGMA application_id = {APPLICATION}")
    connection.execute(f"PRAGMA user_version = {FORMAT}")
    _insert(connection, "budget", ("one", *_HEADER), (1, *header))
    _insert(connection, "head", ("one", "count", *_SUMS, "hash"), (1, 0, *_sums(Totals()), _root(header)))


def write_entry(connection: sqlite3.Connection, state: State, entry: Entry, nonce: str | None = None) -> State:
    """One more line, and the head after it; what the ledger then must be."""
    row = (*entry.row(), secrets.token_hex(8) if nonce is None else nonce)
    totals = state.totals.plus(entry.guarantee)
    last = Mark(entry.number, _entry_hash(state.root, state.last.hash, row, totals))
    _insert(connection, "spending", (*_LINE, "hash"), (*row, last.hash))
    names = ", ".join(f"{name} = ?" for name in ("count", *_SUMS, "hash"))
    connection.execute(f"UPDATE head SET {names}", (last.number, *_sums(totals), last.hash))
    return State(state.budget, state.root, totals, last)


def read_state(connection: sqlite3.Connection) -> State:
    """Budget and sums as the head has them, held against the last two entries: in time that does not grow."""
    with _noticed():
        _check_tables(connection, FORMAT, TABLES)
        (header,) = connection.execute(f"SELECT {', '.join(_HEADER)} FROM budget").fetchall()
        (head,) = connection.execute(f"SELECT count, {', '.join(_SUMS)}, hash FROM head").fetchall()
        state = _state(header, head)
        check_sequence(connection, state.last.number)
        _check_last(connection, state)
        return state


def read_entries(connection: sqlite3.Connection) -> tuple[Entry, ...]:
    """Every entry, the whole chain followed and all sums computed again."""
    state = read_state(connection)
    with _noticed():
        check_pages(connection)
        totals, link, entries = Totals(), state.root, []
        for *row, stored in connection.execute(f"SELECT {', '.join(_LINE)}, hash FROM spending ORDER BY number"):
            entry = entry_from(tuple(row[:-1]))
            totals = totals.plus(entry.guarantee)
            link = _entry_hash(state.root, link, tuple(row), totals)
            _agree(entry.number == totals.count and link == stored)
            entries.append(entry)
        _agree((totals, link) == (state.totals, state.last.hash))
        return tuple(entries)


def holds(connection: sqlite3.Connection, state: State, mark: Mark) -> bool:
    """Whether a ledger has come as far as this before: its own entry of that number, not another."""
    if mark.number == 0:
        return mark.hash == state.root
    rows = connection.execute("SELECT hash FROM spending WHERE number = ?", (mark.number,)).fetchall()
    return mark.number <= state.last.number and rows == [(mark.hash,)]


def format_of(connection: sqlite3.Connection) -> int:
    """The format of a ledger; `Damaged` for what is none."""
    with _noticed():
        (application,) = connection.execute("PRAGMA application_id").fetchone()
        _agree(application == APPLICATION)
        return int(connection.execute("PRAGMA user_version").fetchone()[0])


def check_pages(connection: sqlite3.Connection) -> None:
    """SQLite's own check of every page: a later line must not be written over others."""
    _agree(connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)])


def check_sequence(connection: sqlite3.Connection, count: int) -> None:
    """SQLite keeps the last number too."""
    rows = connection.execute("SELECT name, seq FROM sqlite_sequence").fetchall()
    _agree(rows == ([("spending", count)] if count else []))


def schema(connection: sqlite3.Connection) -> list[Any]:
    return connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY type, name").fetchall()


@lru_cache(maxsize=2)
def schema_of(tables: str) -> list[Any]:
    """What SQLite says of these tables where nobody has changed them."""
    connection = sqlite3.connect(":memory:")
    try:
        connection.executescript(tables)
        return schema(connection)
    finally:
        connection.close()


def statements(tables: str) -> Iterator[str]:
    """One by one: `executescript` would commit the transaction that they belong to."""
    current = ""
    for line in tables.splitlines(keepends=True):
        current += line
        if sqlite3.complete_statement(current):
            yield current
            current = ""


def canonical_hash(*values: str | int | None) -> str:
    """SHA-256 of a JSON list: texts in quotes and escaped, so no two lists read the same."""
    if not all(value is None or type(value) in (str, int) for value in values):
        raise Damaged
    return hashlib.sha256(json.dumps(values, separators=(",", ":")).encode("ascii")).hexdigest()


@contextmanager
def _noticed() -> Iterator[None]:
    """Whatever a line that is none leads to is `Damaged`; SQLite's own errors are told apart by who opened the file."""
    try:
        yield
    except (sqlite3.Error, MemoryError):
        raise
    except Exception:
        raise Damaged from None


def _agree(holds: bool) -> None:
    if not holds:
        raise Damaged


def _check_tables(connection: sqlite3.Connection, number: int, tables: str) -> None:
    _agree(format_of(connection) == number)
    _agree(schema(connection) == schema_of(tables))


def _state(header: tuple[Any, ...], head: tuple[Any, ...]) -> State:
    _, epsilon, delta, conversion, neighbours, *_ = header
    share = None if conversion is None else Fraction(conversion)
    budget = Budget(Fraction(epsilon), Fraction(delta), share, neighbours)
    count, epsilon, delta, rho, rho_delta, began, link = head
    sums = [_from_hex(text) for text in (epsilon, delta, rho, rho_delta)]
    totals = Totals(count, sums[0], sums[1], sums[2], sums[3], bool(began))
    _agree(budget.epsilon > 0 and (count, *_sums(totals), link) == head)
    return State(budget, _root(header), totals, Mark(count, link))


def _check_last(connection: sqlite3.Connection, state: State) -> None:
    """The last entry, the one before it, and no other after them."""
    number = state.last.number
    rows = connection.execute(
        f"SELECT {', '.join(_LINE)}, hash FROM spending WHERE number >= ? ORDER BY number LIMIT 3", (number - 1,)
    ).fetchall()
    _agree([row[0] for row in rows] == list(range(max(1, number - 1), number + 1)))
    if number == 0:
        _agree((state.totals, state.last.hash) == (Totals(), state.root))
        return
    before = rows[-2][-1] if number > 1 else state.root
    *row, stored = rows[-1]
    _agree(stored == state.last.hash == _entry_hash(state.root, before, tuple(row), state.totals))


def _root(header: tuple[Any, ...]) -> str:
    return canonical_hash("tukeydp ledger", FORMAT, *header)


def _entry_hash(root: str, before: str, row: tuple[Any, ...], totals: Totals) -> str:
    return canonical_hash(root, before, *row, *_sums(totals))


def _sums(totals: Totals) -> tuple[Any, ...]:
    costs = totals.epsilon, totals.delta, totals.rho, totals.rho_delta
    return (*map(_hex, costs), int(totals.began_with_delta))


def _hex(number: Fraction) -> str:
    """Exact. Denominators of a sum may grow beyond the 4300 digits up to which Python writes decimals."""
    return f"{number.numerator:x}/{number.denominator:x}"


def _from_hex(text: str) -> Fraction:
    numerator, denominator = text.split("/")
    return Fraction(int(numerator, 16), int(denominator, 16))


def _insert(connection: sqlite3.Connection, table: str, names: tuple[str, ...], values: tuple[Any, ...]) -> None:
    marks = ", ".join("?" * len(names))
    connection.execute(f"INSERT INTO {table} ({', '.join(names)}) VALUES ({marks})", values)
