"""An account in a file: SQLite, one transaction for each entry, append-only.

Whoever spends first takes the write lock, then reads what was spent, decides, writes, reads it back, and waits until
the disk has it; only then does the caller go on to the data. So two processes cannot spend the same budget, and a
process that dies, or a disk that is full, leaves either an entry or nothing, and in both cases no release without an
entry.

Damage is noticed by a hash chain (`ledger_file.py`). An open accountant remembers how far its ledger had come: neither
an older copy in its place nor another ledger is spent from. The file guards against mistakes and accidents, not against
its owner: a copy begins anew, and so does whoever deletes the file and makes another.
"""

from __future__ import annotations

import os
import secrets
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tukeydp.accounts import ledger_file
from tukeydp.accounts.budget import Budget, Totals
from tukeydp.accounts.entries import Entry
from tukeydp.accounts.ledger_file import Damaged, Mark, State
from tukeydp.accounts.ledger_upgrade import FIRST, upgrade
from tukeydp.trusted.parameters import ParameterError
from tukeydp.trusted.threads import ForkLock

Decide = Callable[[Totals], Entry]

_PATIENCE = 30.0  # seconds to wait for another process's transaction, each of which takes milliseconds
# SQLite's codes where a file may be whole but cannot be used now: no permission, locked, no memory, read-only,
# interrupted, disk error, disk full, cannot be opened, lock protocol, no large files, not authorized. All others are
# damage.
_UNUSABLE = frozenset((3, 5, 6, 7, 8, 9, 10, 13, 14, 15, 22, 23))
_READ_ONLY = 8
_SHORT_READ = 522  # the file ends in the middle of a page
# A process that forks while a connection is open would hand its child SQLite's belief that it holds the file's locks.
# Connections last for one call, and a fork waits for this lock: a child begins with neither.
_LOCK = ForkLock()
_FORKED: list[sqlite3.Connection] = []  # inherited all the same: closing one would undo the parent's transaction


@dataclass
class Ledger:
    """A ledger file, the budget it was made for, the root of its hashes, by which it is told from any other, and how
    far it had come when it was last looked at."""

    path: Path
    budget: Budget
    root: str
    seen: Mark

    def __setstate__(self, state: dict[str, Any]) -> None:
        if "seen" not in state:
            rule = "must be opened again: tukeydp 0.1.0 has pickled it, without what tells it from an older copy"
            raise ParameterError("ledger", rule, state.get("path"))
        self.__dict__.update(state)

    def append(self, decide: Decide) -> Entry:
        """Decide by what was spent, and write that down. When this returns, the disk has it.

        It is read back twice: before it counts, and from a connection of its own, by path. Whoever moved another file
        there meanwhile has taken the entry away with the old one.
        """
        with _LOCK.lock:
            with _connected(self.path, writing=True) as connection, _transaction(connection, "IMMEDIATE"):
                state = self._state(connection)
                entry = decide(state.totals)
                after = ledger_file.write_entry(connection, state, entry)
                if ledger_file.read_state(connection) != after:
                    raise Damaged
            self.seen = after.last
            self.totals()
        return entry

    def totals(self) -> Totals:
        with _LOCK.lock, _connected(self.path) as connection, _transaction(connection):
            return self._state(connection).totals

    def entries(self) -> tuple[Entry, ...]:
        with _LOCK.lock, _connected(self.path) as connection, _transaction(connection):
            self._state(connection)
            return ledger_file.read_entries(connection)

    def _state(self, connection: sqlite3.Connection) -> State:
        """What the file says, if it is this ledger and has all that was seen of it."""
        state = ledger_file.read_state(connection)
        if state.root != self.root or not ledger_file.holds(connection, state, self.seen):
            raise another_ledger(self.path)
        self.seen = state.last
        return state


def open_ledger(path: Path, wanted: Budget | None, seen: Ledger | None = None) -> Ledger:
    """The ledger at `path`, every entry of it checked; made if there is none and a budget is wanted. One that was
    `seen` before must be the same, and have all that it had then."""
    path = path.absolute()
    if not path.exists():
        if wanted is None:
            raise ParameterError("ledger", "must exist, or be made with an epsilon", str(path))
        if not path.parent.is_dir():
            raise ParameterError("ledger", "must be in a folder that exists", str(path))
        _create(path, wanted)
    with _LOCK.lock, _connected(path) as connection, _transaction(connection):
        state = ledger_file.read_state(connection)
        found = Ledger(path, state.budget, state.root, state.last)
        if seen is not None:
            seen._state(connection)
        ledger_file.read_entries(connection)
    if wanted is not None and wanted != found.budget:
        rule = "must have the budget it was made with; leave epsilon out to open it"
        said = f"{path} with epsilon = {found.budget.epsilon}, delta = {found.budget.delta}"
        raise ParameterError("ledger", rule, said)
    return found


def _create(path: Path, budget: Budget) -> None:
    """Make a ledger under another name, and give it its own once it is whole: an empty file is not begun anew, it may
    be a ledger that was lost. Where two processes make one, the first has made it."""
    target = path.resolve()
    fresh = target.with_name(f".{target.name}.{secrets.token_hex(8)}")
    try:
        making = _connected(fresh, create=True, told=path)
        with _LOCK.lock, making as connection, _transaction(connection, "IMMEDIATE"):
            ledger_file.make(connection, budget)
        _place(fresh, target)
        _sync_folder(target.parent)
    except FileExistsError:
        pass
    except OSError as error:
        raise _unusable(path, error) from None
    finally:
        fresh.unlink(missing_ok=True)


def _place(fresh: Path, path: Path) -> None:
    """Unlike a renaming, a link replaces nothing. Some file systems have none: there an empty file takes the place
    first."""
    try:
        os.link(fresh, path)
    except FileExistsError:
        raise
    except OSError:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL))
        os.replace(fresh, path)


def _sync_folder(folder: Path) -> None:
    """A ledger whose name is lost in a power cut would be made again, with the whole budget."""
    if os.name == "posix":
        number = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)


@contextmanager
def _connected(
    path: Path, *, create: bool = False, writing: bool = False, told: Path | None = None
) -> Iterator[sqlite3.Connection]:
    """A connection; whatever SQLite has to say becomes one sentence, and stops the caller before the data."""
    process = os.getpid()
    opened: list[sqlite3.Connection] = []
    try:
        mode = "rwc" if create else "rw"
        # Transactions are begun by hand: sqlite3's own would begin too late, after reading.
        connection = sqlite3.connect(f"{path.as_uri()}?mode={mode}", uri=True, timeout=_PATIENCE, isolation_level=None)
        opened.append(connection)
        _settle(connection)
        if not create and ledger_file.format_of(connection) == FIRST:
            connection = _upgraded(connection, writing=writing)
            opened.append(connection)
        yield connection
    except Damaged:
        raise _damaged(told or path) from None
    except (sqlite3.Error, UnicodeDecodeError, MemoryError) as error:  # SQLite may quote what is no text
        raise _said(told or path, error) from None
    finally:
        for connection in opened:
            if os.getpid() == process:
                connection.close()
            else:
                _FORKED.append(connection)


def _settle(connection: sqlite3.Connection) -> None:
    # EXTRA is FULL and more: also the journal's removal, which is what commits, is on the disk before we go on.
    connection.execute("PRAGMA synchronous = EXTRA")
    connection.execute("PRAGMA fullfsync = ON")  # macOS: on the disk, not in its cache
    connection.execute("PRAGMA cell_size_check = ON")
    connection.execute("PRAGMA trusted_schema = OFF")
    # A ledger with a write-ahead log is in two files, and a copy of one of them has lost entries.
    if connection.execute("PRAGMA journal_mode").fetchone() != ("delete",):
        raise Damaged


def _upgraded(connection: sqlite3.Connection, *, writing: bool) -> sqlite3.Connection:
    """The ledger of 0.1.0, upgraded in its file; where that cannot be written, and is only to be read, in memory."""
    try:
        with _transaction(connection, "IMMEDIATE"):
            upgrade(connection)
        return connection
    except sqlite3.OperationalError as error:
        if writing or _code(error) & 0xFF != _READ_ONLY:
            raise
    copied = sqlite3.connect(":memory:", isolation_level=None)
    connection.backup(copied)
    upgrade(copied)
    return copied


@contextmanager
def _transaction(connection: sqlite3.Connection, kind: str = "DEFERRED") -> Iterator[None]:
    """All that is read is of one moment. IMMEDIATE: with the write lock from the beginning, so that what is read cannot
    change before what is written."""
    process = os.getpid()
    connection.execute(f"BEGIN {kind}")
    try:
        yield
        if os.getpid() != process:
            raise ParameterError("ledger", "must be spent from by the process that began to", "a fork of it")
        connection.execute("COMMIT")
    except BaseException:
        if os.getpid() == process and connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _code(error: BaseException) -> int:
    """SQLite's extended code of an error; 0 where it is Python's own, such as text that cannot be decoded."""
    return getattr(error, "sqlite_errorcode", None) or 0


def _said(path: Path, error: BaseException) -> ParameterError:
    code = _code(error)
    usable = not isinstance(error, MemoryError) and (code == _SHORT_READ or code & 0xFF not in _UNUSABLE)
    return _damaged(path) if usable else _unusable(path, error)


def _unusable(path: Path, error: BaseException) -> ParameterError:
    said = f"{path} ({type(error).__name__}: {error})"
    return ParameterError("ledger", "must be a ledger that can be read and written", said)


def another_ledger(path: Path) -> ParameterError:
    rule = "must be the one that was opened, saved or sent; another has taken its place, or an older copy of it"
    return ParameterError("ledger", rule, str(path))


def _damaged(path: Path) -> ParameterError:
    """One sentence for all that is wrong with a file: what it was before cannot be told from what it is."""
    rule = (
        "must be as td.Accountant.open made it and this package wrote it; this file is another, or damaged, or was "
        "changed, so nothing is spent: restore a copy that has all its entries, or make a new ledger with what was left"
    )
    return ParameterError("ledger", rule, str(path))
