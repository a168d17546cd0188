"""What is held while the page is open: the file in memory, what was typed, and the releases. One user, any tabs."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Any

from tukeydp.accounts.accountant import Accountant
from tukeydp.app.choices import Choices, chosen
from tukeydp.app.reading import looked_at, others_in, persons_in, within
from tukeydp.app.release import Desk, Order
from tukeydp.data.dictionary import TEXT, Column, listed_parts, parse_dictionary
from tukeydp.data.look import Look
from tukeydp.data.readers.options import ReadOptions
from tukeydp.data.readers.sources import InMemory
from tukeydp.forecast.example import BOUNDS, made_up_csv
from tukeydp.mechanisms.per_person import PERSONS
from tukeydp.trusted.parameters import ParameterError, show

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
    # A ledger that is not made yet: whether it is about rows or about persons is asked first, and made when it pays.
    pending: Callable[[Accountant], Accountant] | None = None
    bare: list[str] = field(default_factory=list)  # columns that a dictionary has without bounds or categories
    strangers: list[str] = field(default_factory=list)  # columns of a dictionary that are not in the file
    others: dict[str, str] = field(default_factory=dict)  # by column: cells in none of its categories or groups
    _persons: tuple[Any, int] = (None, 0)  # a column of a file, and how many different ids it has

    @property
    def about_persons(self) -> bool:
        return self.account.budget.neighbours == PERSONS

    def protect(self, persons: bool) -> None:
        """What the budget is about, as long as there is none."""
        if self.pending is not None and persons != self.about_persons:
            told = self.account.budget
            self.account = Accountant(told.epsilon, neighbours=PERSONS if persons else "swap")
            self.desk.use(self.account)

    def settle(self) -> None:
        """Make the ledger that is to pay, once."""
        with self.lock:
            if self.pending is not None:
                self.account = self.pending(self.account)
                self.desk.use(self.account)
                self.pending = None

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
            self.file, self.look, self.typed, self.sheets, self._persons = file, look, {}, sheets, (None, 0)
            self.others, self.bare, self.strangers = {}, [], []
            self._fill_in()
        self.desk.forget_orders()  # which hold the old file

    def read_again(self, typed: Mapping[str, str]) -> None:
        """The same file, written as declared."""
        if self.file is None:
            raise ParameterError("FILE", "must be chosen first", "none")
        skip, header = (_whole(name, typed.get(name, ""), usual) for name, usual in (("skip", 0), ("header-rows", 1)))
        marks: dict[str, Any] = {
            name: typed.get(name) or None for name in ("separator", "thousands", "encoding", "sheet")
        }
        marks |= {"decimal": typed.get("decimal") or ".", "header": 0 if typed.get("no-header") else header}
        self._read(ReadOptions(format=self.options.format, skip=skip, **marks))

    def _read(self, options: ReadOptions) -> None:
        assert self.file is not None
        look, _ = within(self.memory, looked_at, self.file, options, self.memory)
        with self.lock:
            same = [column.name for column in look.columns] == self.names
            self.look, self.typed = look, self.typed if same else {}
            self._fill_in()

    def _fill_in(self) -> None:
        """Units that stand in names or cells, and what is text. Bounds are never filled in: they would leak."""
        for j, column in enumerate(self.look.columns if self.look is not None else ()):
            if column.unit:
                self.typed[f"unit-{j}"] = column.unit
            if column.kind == "text" and not self.hidden:
                self.typed.setdefault(f"type-{j}", "category")

    def know(self, name: str, content: bytes) -> None:
        """What a data dictionary says of the columns, or settings that were saved: typed as if by hand."""
        if self.file is None:
            raise ParameterError("FILE", "must be chosen first", "none")
        try:
            text = content.decode("utf-8-sig")
        except UnicodeDecodeError:
            raise ParameterError("dictionary", f"must be {TEXT}", name) from None
        saved = _saved(text)
        if saved is not None:
            self._load_settings(saved)
            return
        known = parse_dictionary(text, PurePosixPath(name).suffix.lower(), name)
        if known.file:
            self._read(ReadOptions().in_file(known))
        with self.lock:
            for j, column in enumerate(map(known.columns.get, self.names)):
                if column is not None:
                    self.typed |= _fields_of(column, j)
            there = [known.columns[name] for name in self.names if name in known.columns]
            self.bare = [one.name for one in there if one.kind in ("number", "category") and not _complete(one)]
            self.strangers = [name for name in known.columns if name not in self.names]

    def _load_settings(self, saved: Mapping[str, Any]) -> None:
        reading, columns = saved["reading"], saved["columns"]
        try:
            options = ReadOptions(**{name: reading[name] for name in _READING if name in reading})
        except TypeError:
            raise ParameterError("settings", "must be those that this page has saved", "others") from None
        self._read(options)
        numbers = {name: str(j) for j, name in enumerate(self.names)}
        with self.lock:
            for name, told in columns.items():
                if name in numbers and isinstance(told, dict):
                    self.typed |= {
                        f"{key}-{numbers[name]}": str(value) for key, value in told.items() if key in _FIELDS
                    }
                    self.typed[f"use-{numbers[name]}"] = "" if name == saved.get("weights") else "on"
            for key in ("statistic", "epsilon", "confidence"):
                self.typed[key] = str(saved.get(key, ""))
            self.typed |= {key: numbers.get(str(saved.get(key, "")), "") for key in ("by", "person", "weights")}
            self.typed["weight-most"] = str(saved.get("weight_most", "")) if self.typed["weights"] else ""
            self.typed["each"] = "several" if self.typed["person"] else "one"
            keys, called = ([str(one) for one in saved.get(name) or ()] for name in ("keys", "called"))
            self.typed["keys"] = "\n".join(keys)
            if called and self.typed["by"]:
                pairs = zip(keys, called, strict=False)
                self.typed[f"categories-{self.typed['by']}"] = " | ".join(f"{key}, {name}" for key, name in pairs)
            self.typed |= {f"allow-{key}": str(saved.get(key, "")) for key in ("unreadable", "unlisted")}
            self.protect(bool(self.typed["person"]))

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
            self.protect(bool(found.person))
        if self.about_persons != bool(found.person):
            other = (
                "must be left out: this budget protects rows. For persons start the app with another ledger (--ledger)"
            )
            rule = "must be given: this budget protects persons" if not found.person else other
            raise ParameterError("the column of persons", rule, found.person or "none")
        twice = [c.name for c in self.look.columns if c.kind.startswith("refused") and c.name in found.read]
        if twice:
            raise ParameterError("columns", "must have names that occur once in the file", repr(twice[0]))
        planned = self.typed.get("rows", "").strip()
        return found if planned or not found.person else replace(found, rows=self._persons[1] or found.rows)

    def count_persons(self) -> None:
        """How many persons there are, once for each column: the forecast is for as many."""
        with self.lock:
            found, file = self.choices(), self.file
        key = found.person, self.options
        if found.person and file is not None and self._persons[0] != key:
            count = within(self.memory, persons_in, file, found.person, self.options)
            with self.lock:
                self._persons = key, count

    def compare(self) -> None:
        """Look for cells in none of the listed categories or groups, for the owner: while columns are chosen."""
        with self.lock:
            found, file = self.choices(), self.file
        listed = {column.name: tuple(code for code, _ in column.categories) for column in found.categories}
        for name in listed:  # what stands for no value is meant to be in none of them
            listed[name] += tuple(listed_parts(self.typed.get(f"missing-{self.names.index(name)}", "")))
        listed |= {found.by: found.keys} if found.by else {}
        told = within(self.memory, others_in, file, listed, self.options) if listed and file is not None else {}
        with self.lock:
            self.others = told

    def order(self) -> Order:
        """All that a release depends on, as it is now."""
        with self.lock:
            choices = self.choices()
            assert self.file is not None
            assert self.look is not None
            rows = self._persons[1] if choices.person else self.look.rows
            choices = replace(choices, rows=rows or self.look.rows, wish="", wish_for="")  # these are for plans alone
            units = _for(choices.read, self.options.units)
            for name, unit in choices.units.items():  # first what was typed; cells may have it in other spellings
                told = [unit] if self.options.is_unit(unit) else []
                units[name] = list(dict.fromkeys([*told, *self.options.rule(name).units]))
            coded = [column for column in (*choices.columns, *choices.weighing) if column.missing]
            codes = {column.name: [self.options.written(code) for code in column.missing] for column in coded}
            limits = {column.name: list(column.detection) for column in choices.columns if column.detection}
            units = {name: spellings for name, spellings in units.items() if spellings}
            options = replace(self.options, units=units, missing=codes, detection=limits)
            return Order(self.file, options, choices, self.memory)

    def erase(self) -> None:
        """The file and what was typed about it; releases stay, they are public."""
        with self.lock:
            self.file, self.look, self.sheets, self.typed, self.message = None, None, (), {}, ""
            self._persons, self.others, self.bare, self.strangers = (None, 0), {}, [], []
        self.desk.forget_orders()  # outside the lock: it has one of its own, in which ours is asked for


_FIELDS = ("type", "label", "lower", "upper", "unit", "sd", "categories", "missing", "detection")
_READING = ("format", "separator", "quote", "decimal", "thousands", "encoding", "skip", "header", "sheet")


def _whole(name: str, text: str, usual: int) -> int:
    text = text.strip() or str(usual)
    if not (text.isdecimal() and text.isascii() and len(text) < 10):
        raise ParameterError(name, "must be a whole number", repr(text[:40]))
    return int(text)


def _saved(text: str) -> dict[str, Any] | None:
    """Settings of an earlier visit, known by their first name; None for anything else."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    told = isinstance(found, dict) and "tukeydp" in found
    return found if told and all(isinstance(found.get(name), dict) for name in ("reading", "columns")) else None


def _fields_of(column: Column, j: int) -> dict[str, str]:
    """The fields of the page, from a dictionary's column. Texts and dates are not released."""
    numbers = {name: getattr(column, name) for name in ("lower", "upper", "sd")}
    told = {name: show(value) for name, value in numbers.items() if value is not None}
    told |= {"label": column.label or "", "unit": column.unit or "", "missing": " | ".join(column.missing)}
    told["detection"] = " | ".join(map(str, column.detection))
    told["type"] = "category" if column.categories else "number"
    told["categories"] = " | ".join(
        code if code == label and "," not in code else f"{code}, {label}" for code, label in column.categories or ()
    )
    usable = _complete(column)
    return {f"{name}-{j}": text for name, text in told.items()} | {f"use-{j}": "on" if usable else ""}


def _complete(column: Column) -> bool:
    """Whether it can be released as it is: texts and dates cannot, nor numbers with one bound of two."""
    ends = column.lower is None, column.upper is None
    return bool(column.categories) or (column.kind == "number" and ends[0] == ends[1])


def _for(names: list[str], declared: Any) -> dict[str, Any]:
    """What is declared for the columns that are read, by name."""
    if isinstance(declared, Mapping):
        return {name: value for name, value in declared.items() if name in names}
    return {name: list(declared) for name in names} if declared else {}
