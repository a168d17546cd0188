"""Results on disk: before anybody sees them, whole or not at all, and readable by their owner alone.

    study-releases/
        .running-TOKEN/order.json     before anything is paid: what is about to run
        .running-TOKEN/result.json    as soon as there is a result
        0001-mean/                    the same folder under the number of its entry in the ledger, with reports later

The entry in the ledger carries the token. So whenever the process is ended, be it by `kill -9`, folder and ledger tell
together what has happened: nothing was paid; paid, and there is a result; or paid, and there is none.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import IO, Any, NamedTuple

from tukeydp.accounts.accountant import Accountant
from tukeydp.app.results import FILES
from tukeydp.cli.reports import write_files
from tukeydp.trusted.parameters import ParameterError, show

ORDER = "order"  # under this name the ledger has the token, among the parameters of an entry
_RUNNING, _ABOUT, _SEEN = ".running-", "order.json", ".seen"
_MOST_ALIKE = 1000  # folders of one number: of ledgers that had the same name, one after the other


class Earlier(NamedTuple):
    """A release of an earlier start: its files, or how much was spent on nothing and when."""

    place: Path
    files: dict[str, bytes]
    seen: bool
    spent: str = ""
    when: str = ""


class Shelf:
    """The folder of a ledger's releases."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._held: IO[bytes] | None = None

    def begin(self, token: str, statistic: str) -> Path:
        """A place for the result. What cannot be kept is not paid for."""
        place = self.folder / f"{_RUNNING}{token}"
        about = json.dumps({"statistic": statistic}).encode()
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            place.mkdir(mode=0o700)
            reason = keep(place, {_ABOUT: about})
            self._held = (place / _ABOUT).open("rb")
            _locked(self._held)
        except OSError as error:
            reason = error.strerror or type(error).__name__
        if reason:
            raise ParameterError("folder", "must be one that results can be written to", f"{self.folder} ({reason})")
        return place

    def end(self) -> None:
        """The run is over: from now on its place tells what became of it."""
        if self._held is not None:
            self._held.close()

    def named(self, place: Path, number: int, statistic: str) -> Path:
        """The place under its number: a new name, since one that is there holds what another ledger has paid for."""
        name = f"{number:04d}-{statistic}"
        for again in ("", *(f"-{i}" for i in range(2, _MOST_ALIKE))):
            target = self.folder / f"{name}{again}"
            if not target.exists():
                with suppress(OSError):
                    place.rename(target)
                    (target / _ABOUT).unlink(missing_ok=True)
                    return target
        return place

    def earlier(self, account: Accountant) -> Iterator[Earlier]:
        """What earlier starts have left: results, and payments without one."""
        self._settle(account)
        for place in sorted(self.folder.glob("[0-9]*-*")) if self.folder.is_dir() else ():
            if files := _files(place):
                yield Earlier(place, files, (place / _SEEN).exists())
        for place, entry in self._unfinished(account):
            if entry is not None and not (place / _SEEN).exists():  # what was told once is in the ledger
                yield Earlier(place, {}, False, show(entry.guarantee.epsilon), entry.time[:16])

    def _settle(self, account: Accountant) -> None:
        """Results that were kept and not yet named get their names; what was never paid for goes."""
        for place, entry in self._unfinished(account):
            if entry is None:
                shutil.rmtree(place, ignore_errors=True)
            elif _files(place):
                self.named(place, entry.number, _statistic(place))

    def _unfinished(self, account: Accountant) -> Iterator[tuple[Path, Any]]:
        places = sorted(self.folder.glob(f"{_RUNNING}*")) if self.folder.is_dir() else []
        paid = {entry.parameters.get(ORDER): entry for entry in account.history} if places else {}
        return ((place, paid.get(place.name.removeprefix(_RUNNING))) for place in places if not _is_running(place))


def _locked(file: IO[bytes]) -> bool:
    """Whether it is ours now: the system gives it back when a process ends, however it ends. Windows: always."""
    try:
        import fcntl
    except ImportError:
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _is_running(place: Path) -> bool:
    """Whether another page, started on the same ledger, is at it."""
    try:
        with (place / _ABOUT).open("rb") as file:
            return not _locked(file)
    except OSError:
        return False


def _statistic(place: Path) -> str:
    try:
        return str(json.loads((place / _ABOUT).read_text())["statistic"])
    except (OSError, ValueError, KeyError):
        return "release"


def _files(place: Path) -> dict[str, bytes]:
    found = {name: place / name for name in FILES}
    return {name: path.read_bytes() for name, path in found.items() if path.is_file() and not path.is_symlink()}


def keep(place: Path | None, files: Mapping[str, bytes]) -> str:
    """Why not all could be written, if so; it is still on the page."""
    if place is None:
        return ""
    failed = write_files({place / name: partial(bytes, content) for name, content in files.items()}, private=True)
    return next(iter(failed.values()), "")


def note_seen(place: Path | None) -> None:
    """It was shown, or taken away: from now on it is one of the earlier ones."""
    if place is not None and not (place / _SEEN).exists():
        with suppress(OSError):
            os.close(os.open(place / _SEEN, os.O_CREAT | os.O_WRONLY, 0o600))
