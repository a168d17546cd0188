"""Ledgers of tukeydp 0.1.0, which had no hashes: read, held against what they say of themselves, written anew."""

from __future__ import annotations

import sqlite3
from typing import Any

from tukeydp.accounts.budget import total
from tukeydp.accounts.entries import FIELDS, Entry, entry_from
from tukeydp.accounts.ledger_file import (
    Damaged,
    canonical_hash,
    check_pages,
    check_sequence,
    format_of,
    read_entries,
    read_state,
    schema,
    schema_of,
    write_entry,
    write_header,
)

FIRST = 1  # the format of 0.1.0
TABLES = """\
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
_HEADER = ("epsilon", "delta", "conversion", "neighbours", "time", "version")


def upgrade(connection: sqlite3.Connection) -> None:
    """Give a ledger of 0.1.0 its hashes, in a transaction of the caller's; one that has them is left alone.

    What it says stays: `Damaged`, and so nothing written, unless budget, entries and sums are the same afterwards. The
    id is made from the header, and nothing is drawn: two copies of a ledger, each upgraded, are copies of one ledger.
    """
    if format_of(connection) != FIRST:
        return
    header, entries = _read(connection)
    for table in ("spending", "budget"):
        connection.execute(f"DROP TABLE {table}")
    write_header(connection, (canonical_hash("tukeydp ledger", FIRST, *header), *header))
    state = read_state(connection)
    for entry in entries:
        state = write_entry(connection, state, entry, nonce="")
    if read_state(connection) != state or read_entries(connection) != entries:
        raise Damaged
    if state.totals != total(entry.guarantee for entry in entries):
        raise Damaged


def _read(connection: sqlite3.Connection) -> tuple[tuple[Any, ...], tuple[Entry, ...]]:
    """Header and entries. 0.1.0 wrote no hash; but SQLite kept the last number, and each line's form is known."""
    try:
        check_pages(connection)
        if schema(connection) != schema_of(TABLES):
            raise Damaged
        (header,) = connection.execute(f"SELECT {', '.join(_HEADER)} FROM budget").fetchall()
        rows = connection.execute(f"SELECT {', '.join(FIELDS)} FROM spending ORDER BY number").fetchall()
        entries = tuple(map(entry_from, rows))
        # All but the parameters, whose JSON may be spaced otherwise, reads as it was written.
        if [entry.row()[:-1] for entry in entries] != [row[:-1] for row in rows]:
            raise Damaged
        if [entry.number for entry in entries] != list(range(1, len(rows) + 1)):
            raise Damaged
        check_sequence(connection, len(rows))
    except (TypeError, ValueError, ArithmeticError):
        raise Damaged from None
    return header, entries
