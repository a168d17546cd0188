"""Releases: one at a time, in a thread, each for a number that is good once.

A number is made when the page with the button is shown, and stands for exactly what that page says: the choices, the
budget, and whether it is a further release. Posted again, by a double click, a reload, another tab or the back button,
it leads to the result that it has paid for; if anything has changed since, nothing is spent.
"""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from shutil import rmtree
from typing import Any

from tukeydp.accounts.accountant import Accountant
from tukeydp.app.choices import Choices, held
from tukeydp.app.keeping import ORDER, Shelf, keep, note_seen
from tukeydp.app.reading import held_in, within
from tukeydp.app.results import Told, numbers, told
from tukeydp.app.script import notebook, parts, script, settings
from tukeydp.data.grouped_files import read_records
from tukeydp.data.readers.options import ReadOptions
from tukeydp.data.readers.sources import InMemory
from tukeydp.padding import paced
from tukeydp.trusted.account import Guarantee
from tukeydp.trusted.bits import seeded
from tukeydp.trusted.parameters import ParameterError

_MOST_NUMBERS = 1000  # pages with a button that were shown and not used: older ones are forgotten, and say so


@dataclass(frozen=True, eq=False)
class Order:
    """What is asked for, and of which file."""

    file: InMemory
    options: ReadOptions
    choices: Choices
    memory: int

    def same(self, other: Order) -> bool:
        return self.file is other.file and (self.options, self.choices) == (other.options, other.choices)

    def result(self, account: Any, seed: int | None) -> Any:
        """The call of the public API. What raises before the budget is spent costs nothing."""
        choices, names = self.choices, [column.name for column in self.choices.columns]
        randomness = None if seed is None else seeded(seed)
        if choices.whole:
            numbers = [column.name for column in choices.numeric]
            others = [name for name in choices.read if name not in numbers]
            table, cells = within(self.memory, held_in, self.file, numbers, others, self.options)
            return choices.on(held(table, cells, names), {}, accountant=account, randomness=randomness)
        apart: dict[str, Any] = {
            "by": choices.by or None,
            "keys": choices.keys or None,
            "person": choices.person or None,
        }
        table, found = within(self.memory, partial(read_records, **apart), self.file, names, self.options)
        return choices.on(table, found, accountant=account, randomness=randomness)


@dataclass
class Run:
    """A release on its way, and what became of it: "running", "done", "refused" (nothing spent) or "lost" (spent)."""

    number: int
    choices: Choices | None
    started: float = field(default_factory=time.monotonic)
    state: str = "running"
    reason: str = ""
    told: Told | None = None
    files: dict[str, bytes] = field(default_factory=dict)
    title: str = ""
    place: Path | None = None
    seen: bool = False
    spent: str = ""
    when: str = ""

    def note_seen(self) -> None:
        if not self.seen and self.state in ("done", "lost"):
            self.seen = True
            note_seen(self.place)


@dataclass
class _Noting:
    """The accountant, and whether it has paid; its entry carries the token of the order."""

    account: Accountant
    token: str
    entry: Any = None

    def require(self, guarantee: Guarantee) -> None:
        self.account.require(guarantee)

    def spend(self, guarantee: Guarantee, *, mechanism: str, seeded: bool, parameters: Mapping[str, Any]) -> Any:
        noted = {**parameters, ORDER: self.token}
        self.entry = self.account.spend(guarantee, mechanism=mechanism, seeded=seeded, parameters=noted)
        return self.entry


class Desk:
    """Hands out numbers and runs releases. With a `folder` results are kept there before anybody sees them."""

    def __init__(self, account: Accountant, *, folder: Path | None, ledger: str | None, seed: int | None, pad_to: Any):
        self._account, self._ledger, self._seed, self._pad_to = account, ledger, seed, pad_to
        self._shelf = None if folder is None else Shelf(folder)
        self.seeded = seed is not None
        self._lock = threading.Lock()
        self._orders: dict[str, tuple[Order, int, bool]] = {}
        self._runs: dict[str, Run] = {}
        self._thread: threading.Thread | None = None
        self._closed = False
        self.runs: list[Run] = [] if self._shelf is None else _earlier(self._shelf, account)

    def use(self, account: Accountant) -> None:
        """Another account, before anything was paid."""
        with self._lock:
            self._account = account

    def number(self, current: Callable[[], Order]) -> tuple[Order, str]:
        """The order as it is now, and a new number, good once, for it and for the budget as it is now."""
        with self._lock:  # so that no order of an erased file is noted after the others were forgotten
            order, number = current(), secrets.token_urlsafe(16)
            self._orders[number] = order, self._account.totals.count, self.spent > 0
            while len(self._orders) > _MOST_NUMBERS:
                del self._orders[next(iter(self._orders))]
            return order, number

    def submit(self, number: str, current: Callable[[], Order], *, confirmed: bool) -> Run | str:
        """Start the release of a number, or find the one it has paid for; a text names what stands against it."""
        with self._lock:
            if number in self._runs:
                return self._runs[number]
            if self.running is not None or self._closed:
                return "busy"
            order, entries, further = self._orders.get(number, (None, 0, False))
            if order is None or not order.same(current()) or entries != self._account.totals.count:
                return "stale"
            if further and not confirmed:
                return "tick"
            del self._orders[number]
            run = Run(len(self.runs) + 1, order.choices)
            self._runs[number] = run
            self.runs.append(run)
            self._thread = threading.Thread(target=self._work, args=(run, order), daemon=True)
            self._thread.start()
            return run

    @property
    def spent(self) -> int:
        """Releases that were paid for."""
        return sum(run.state != "refused" for run in self.runs)

    @property
    def running(self) -> Run | None:
        return next((run for run in self.runs if run.state == "running"), None)

    def _work(self, run: Run, order: Order) -> None:
        """Make sure of a place, pay, compute, keep, and only then show."""
        paying, state = _Noting(self._account, secrets.token_hex(8)), "lost"
        try:
            run.place = None if self._shelf is None else self._shelf.begin(paying.token, order.choices.statistic)
            result = paced(self._pad_to, lambda: order.result(paying, self._seed))
            files = {"result.json": result.to_json(indent=2).encode()}
            run.reason = keep(run.place, files)  # at once: reports take seconds, in which the machine may die
            self._name(run, paying.entry.number, order)
            run.files, state = files, "done"
            with suppress(Exception):  # whatever fails in a report, the result is there
                run.files = files | {"table.csv": numbers(result, order.choices)}
                run.reason = keep(run.place, run.files)
                self._tell(run, order, result)
                run.reason = keep(run.place, run.files)
        except ParameterError as error:
            run.reason = str(error) if paying.entry is None else ""
        except BaseException:  # what it says may quote cells
            run.reason = ""
        finally:
            if paying.entry is None:
                state = "refused"
                self._forget(run)
            if self._shelf is not None:
                self._shelf.end()
            run.state = state

    def _name(self, run: Run, number: int, order: Order) -> None:
        if self._shelf is not None and run.place is not None and not run.reason:
            run.place = self._shelf.named(run.place, number, order.choices.statistic)

    def _forget(self, run: Run) -> None:
        """Nothing was paid: its place was for nothing."""
        if run.place is not None:
            rmtree(run.place, ignore_errors=True)

    def _tell(self, run: Run, order: Order, result: Any) -> None:
        found, about = told(result, order.choices), self.about(order)
        code = {"repeat.py": script(*about).encode(), "repeat.ipynb": notebook(*about).encode()}
        code["settings.json"] = settings(order.options, order.choices).encode()
        run.told, run.title, run.files = found, found.headline, {**found.files, **code}

    def about(self, order: Order) -> tuple[str, list[str]]:
        """The script of an order, in parts."""
        return parts(order.file, order.options, order.choices, self._ledger)

    def forget_orders(self) -> None:
        with self._lock:
            self._orders.clear()

    def close(self) -> None:
        """No release begins any more; wait for one that has begun: its budget is spent."""
        with self._lock:
            self._closed = True
        self.finish()

    def finish(self) -> None:
        if self._thread is not None:
            self._thread.join()


def _earlier(shelf: Shelf, account: Accountant) -> list[Run]:
    """Releases of earlier starts, to be taken away again; and what was spent when nothing came of it."""
    runs: list[Run] = []
    for one in shelf.earlier(account):
        state = "done" if one.files else "lost"
        title = one.place.name if one.files else ""
        about: dict[str, Any] = {"seen": one.seen, "spent": one.spent, "when": one.when}
        runs.append(Run(len(runs) + 1, None, state=state, files=one.files, title=title, place=one.place, **about))
    return runs
