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
from typing import Any

from tukeydp.app.choices import Choices
from tukeydp.app.results import FILES, Told, told
from tukeydp.app.script import notebook, parts, script
from tukeydp.cli.reports import write_files
from tukeydp.data.files import read_file
from tukeydp.data.grouped_files import read_groups, read_persons
from tukeydp.data.readers.options import ReadOptions
from tukeydp.data.readers.sources import InMemory
from tukeydp.errors import ParameterError
from tukeydp.padding import paced
from tukeydp.planning.accountant import Accountant
from tukeydp.privacy import Guarantee
from tukeydp.randomness import seeded

_MOST_NUMBERS = 1000  # pages with a button that were shown and not used: older ones are forgotten, and say so


@dataclass(frozen=True, eq=False)
class Order:
    """What is asked for, and of which file."""

    file: InMemory
    options: ReadOptions
    choices: Choices

    def same(self, other: Order) -> bool:
        return self.file is other.file and (self.options, self.choices) == (other.options, other.choices)

    def result(self, account: Any, seed: int | None) -> Any:
        """The call of the public API. What raises before the budget is spent costs nothing."""
        choices, names = self.choices, list(self.choices.bounds)
        groups: list[str | None] = []
        more: dict[str, Any] = {}
        if choices.by:
            table, groups, _ = read_groups(self.file, names, choices.by, choices.keys, self.options)
        elif choices.person:
            table, more["person"] = read_persons(self.file, names, choices.person, self.options)
        else:
            table = read_file(self.file, names, self.options)
        randomness = None if seed is None else seeded(seed)
        return choices.on(table, groups, accountant=account, randomness=randomness, **more)


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


@dataclass
class _Noting:
    """The accountant, and whether it has paid."""

    account: Accountant
    entry: Any = None

    def require(self, guarantee: Guarantee) -> None:
        self.account.require(guarantee)

    def spend(self, guarantee: Guarantee, *, mechanism: str, seeded: bool, parameters: Mapping[str, Any]) -> Any:
        self.entry = self.account.spend(guarantee, mechanism=mechanism, seeded=seeded, parameters=parameters)
        return self.entry


class Desk:
    """Hands out numbers and runs releases. Results are kept in `folder` too, so that Ctrl-C loses none."""

    def __init__(self, account: Accountant, *, folder: Path | None, ledger: str | None, seed: int | None, pad_to: Any):
        self._account, self._folder, self._ledger, self._seed, self._pad_to = account, folder, ledger, seed, pad_to
        self.seeded = seed is not None
        self._lock = threading.Lock()
        self._orders: dict[str, tuple[Order, int, bool]] = {}
        self._runs: dict[str, Run] = {}
        self._thread: threading.Thread | None = None
        self._closed = False
        self.runs: list[Run] = [] if folder is None else _kept(folder)

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
        paying, state = _Noting(self._account), "lost"
        try:
            result = paced(self._pad_to, lambda: order.result(paying, self._seed))
            run.files, state = {"result.json": result.to_json(indent=2).encode()}, "done"
            place = self._place(f"{paying.entry.number:04d}-{order.choices.statistic}")
            run.reason = _keep(place, run.files)  # at once: reports take seconds, in which the machine may die
            with suppress(Exception):  # whatever fails in a report, the result is there
                self._tell(run, order, result)
                run.reason = _keep(place, run.files)
        except ParameterError as error:
            run.reason = str(error) if paying.entry is None else ""
        except BaseException:  # what it says may quote cells
            run.reason = ""
        finally:
            run.state = "refused" if paying.entry is None else state

    def _tell(self, run: Run, order: Order, result: Any) -> None:
        found, about = told(result, order.choices), self.about(order)
        code = {"repeat.py": script(*about).encode(), "repeat.ipynb": notebook(*about).encode()}
        run.told, run.title, run.files = found, found.headline, {**found.files, **code}

    def _place(self, name: str) -> Path | None:
        """A new folder: one that is there holds a release that another ledger of this name has paid for."""
        if self._folder is None:
            return None
        places = (self._folder / f"{name}{again}" for again in ("", *(f"-{i}" for i in range(2, 1000))))
        place = next(place for place in places if not place.exists())
        with suppress(OSError):
            place.mkdir(parents=True, exist_ok=True)
        return place

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


def _keep(place: Path | None, files: Mapping[str, bytes]) -> str:
    """Why not all could be written, if so; it is still on the page."""
    if place is None:
        return ""
    failed = write_files({place / name: partial(bytes, content) for name, content in files.items()})
    return next(iter(failed.values()), "")


def _kept(folder: Path) -> list[Run]:
    """Releases of earlier days, to be taken away again."""
    runs: list[Run] = []
    for place in sorted(folder.glob("[0-9]*-*")) if folder.is_dir() else ():
        found = {name: place / name for name in FILES}
        files = {name: path.read_bytes() for name, path in found.items() if path.is_file() and not path.is_symlink()}
        if files:
            runs.append(Run(len(runs) + 1, None, state="done", files=files, title=place.name))
    return runs
