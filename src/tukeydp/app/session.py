"""What is held while the page is open: the file in memory, what was typed, and the releases. One user, any tabs."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Any

from tukeydp.accounts.accountant import Accountant
from tukeydp.app.choices import Choices, chosen
from tukeydp.app.reading import looked_at, within
from tukeydp.app.release import Desk, Order
from tukeydp.data.look import Look
from tukeydp.data.readers.options import ReadOptions
from tukeydp.data.readers.sources import InMemory
from tukeydp.forecast.example import BOUNDS, made_up_csv
from tukeydp.mechanisms.per_person import PERSONS
from tukeydp.trusted.parameters import ParameterError

LARGEST_FILE = 1 << 28  # bytes of an upload, 256 MiB: a table of some million rows; it is held in memory as a whole
_UNPACKED = 8  # times as much memory may reading take: real tables shrink to a fifth, bombs to a thousandth


@dataclass
class Session:
    """Everything is guarded by `lock`. `ledger` is the account's file, None where it is in memory."""

    account: Accountant
    desk: Desk
    ledger: Path | None = None
    demo: bool = False
    largest: int = LARGEST_FILE
    lock: threading.RLock = field(default_factory=threading.RLock)
    file: InMemory | None = None
    look: Look | None = None
    sheets: tuple[str, ...] = ()
    hidden: bool = False
    typed: dict[str, str] = field(default_factory=dict)
    message: str = ""

    @property
    def memory(self) -> int:
        """Bytes that reading a file may take."""
        return _UNPACKED * self.largest

    @property
    def names(self) -> list[str]:
        return [] if self.look is None else [column.name for column in self.look.columns]

    @property
    def options(self) -> ReadOptions:
        return (self.look and self.look.options) or ReadOptions()

    def load(self, name: str, content: bytes) -> None:
        """A new file in place of the old one. Its name is a name and leads nowhere."""
        plain = PurePosixPath(name.replace("\\", "/")).name.strip()[:200]
        file = InMemory(plain if plain not in ("", "-") else "upload.csv", content)
        if not content:
            raise ParameterError("FILE", "must not be empty", str(file))
        look, sheets = within(self.memory, looked_at, file, None, self.memory)
        with self.lock:
            self.file, self.look, self.typed, self.sheets = file, look, {}, sheets
            self._fill_in()
        self.desk.forget_orders()  # which hold the old file

    def read_again(self, typed: Mapping[str, str]) -> None:
        """The same file, written as declared."""
        if self.file is None:
            raise ParameterError("FILE", "must be chosen first", "none")
        missing = [text.strip() for text in typed.get("missing", "").splitlines() if text.strip()]
        skip = typed.get("skip", "").strip() or "0"
        if not (skip.isdecimal() and skip.isascii() and len(skip) < 10):
            raise ParameterError("skip", "must be a whole number", repr(skip[:40]))
        marks: dict[str, Any] = {
            name: typed.get(name) or None for name in ("separator", "thousands", "encoding", "sheet")
        }
        marks |= {"decimal": typed.get("decimal") or ".", "header": not typed.get("no-header"), "missing": missing}
        options = ReadOptions(format=self.options.format, skip=int(skip), **marks)
        look, _ = within(self.memory, looked_at, self.file, options, self.memory)
        with self.lock:
            same = [column.name for column in look.columns] == self.names
            self.look, self.typed = look, self.typed if same else {}
            self._fill_in()

    def _fill_in(self) -> None:
        """Units that stand in the cells. Bounds are never filled in: numbers from the data would leak."""
        for j, name in enumerate(self.names):
            if unit := self.options.unit(name):
                self.typed[f"unit-{j}"] = unit

    def load_made_up(self) -> None:
        """Nobody's data, with bounds that one would state without looking, and clinics to group by."""
        self.load("made-up-patients.csv", made_up_csv())
        for j, name in enumerate(self.names):
            if name in BOUNDS:
                self.typed |= {f"lower-{j}": str(BOUNDS[name][0]), f"upper-{j}": str(BOUNDS[name][1])}
        self.typed |= {"use-0": "on", "use-1": "on"}

    def save(self, typed: Mapping[str, str]) -> Choices:
        """Add what was typed, if it can be used; else all stays as it was."""
        with self.lock:
            before, self.typed = self.typed, {**self.typed, **typed}
            try:
                return self.choices()
            except ParameterError:
                self.typed = before
                raise

    def choices(self) -> Choices:
        """What was typed, checked; public numbers only."""
        with self.lock:
            if self.look is None:
                raise ParameterError("FILE", "must be chosen first", "none")
            found = chosen(self.names, self.look.rows, self.typed)
        if (self.account.budget.neighbours == PERSONS) != bool(found.person):
            rule = "must be given: this budget protects persons" if not found.person else "must be left out"
            raise ParameterError("the column of persons", rule, found.person or "none")
        return found

    def order(self) -> Order:
        """All that a release depends on, as it is now."""
        with self.lock:
            choices = self.choices()
            assert self.file is not None
            assert self.look is not None
            choices = replace(choices, rows=self.look.rows, wish="", wish_for="")  # these are for plans alone
            read = [*(column.name for column in choices.columns), *filter(None, (choices.by, choices.person))]
            units = _for(read, self.options.units)
            for name, unit in choices.units.items():  # first what was typed; cells may have it in other spellings
                units[name] = list(dict.fromkeys([unit, *self.options.rule(name).units]))
            options = replace(self.options, units=units, missing=_for(read, self.options.missing))
            return Order(self.file, options, choices, self.memory)

    def erase(self) -> None:
        """The file and what was typed about it; releases stay, they are public."""
        with self.lock:
            self.file, self.look, self.sheets, self.typed, self.message = None, None, (), {}, ""
        self.desk.forget_orders()  # outside the lock: it has one of its own, in which ours is asked for


def _for(names: list[str], declared: Any) -> dict[str, Any]:
    """What is declared for the columns that are read, by name."""
    if isinstance(declared, Mapping):
        return {name: value for name, value in declared.items() if name in names}
    return {name: list(declared) for name in names} if declared else {}
