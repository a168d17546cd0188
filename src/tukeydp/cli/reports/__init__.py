"""`--out FILE`: a release as a file. The ending says which kind; each kind is one module.

A wrong name is refused before the data are read, since a release that cannot be kept has cost its budget all the same.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

from tukeydp.cli.reports.csv_table import csv_report
from tukeydp.cli.reports.html_page import html_report
from tukeydp.cli.reports.json_object import json_report
from tukeydp.cli.reports.markdown import markdown_report
from tukeydp.cli.sections import Account
from tukeydp.errors import ParameterError

Report = Callable[[Account], str]

# A new kind: a file beside this one and a line here.
REPORTS: dict[str, Report] = {
    ".html": html_report,
    ".md": markdown_report,
    ".csv": csv_report,
    ".json": json_report,
}


def checked_targets(out: Sequence[Path] | None, file: Path, kinds: Collection[str] = REPORTS) -> list[Path]:
    """The files to write, once it is clear that each can be written and that none is the table itself."""
    targets, endings = list(out or ()), list(kinds)
    for number, target in enumerate(targets):
        if target.suffix.lower() not in kinds:
            raise ParameterError("out", f"must end in {', '.join(endings[:-1])} or {endings[-1]}", str(target))
        if target in targets[:number]:
            raise ParameterError("out", "must name different files", str(target))
        if target.exists() and file.exists() and target.samefile(file):
            raise ParameterError("out", "must not be the file that is read", str(target))
        _require_writable(target)
    return targets


def _require_writable(target: Path) -> None:
    rule = "must be a file that can be written"
    if target.exists() and not (target.is_file() and os.access(target, os.W_OK)):
        reason = "it is there and is no file" if not target.is_file() else "it is there and write-protected"
        raise ParameterError("out", rule, f"{target} ({reason})")
    try:
        with tempfile.TemporaryFile(dir=target.parent):
            pass
    except OSError as error:
        raise ParameterError("out", rule, f"{target} ({error.strerror})") from None


def write_reports(targets: Sequence[Path], account: Account) -> dict[Path, str]:
    """A file for each target; what went wrong, by file."""
    return write_texts(targets, lambda ending: REPORTS[ending](account))


def write_texts(targets: Sequence[Path], text: Callable[[str], str]) -> dict[Path, str]:
    """The same text for every file but for its ending; what went wrong, by file."""
    return write_files({target: partial(_encoded, text, target) for target in targets})


def _encoded(text: Callable[[str], str], target: Path) -> bytes:
    return text(target.suffix.lower()).encode()


def write_files(contents: Mapping[Path, Callable[[], bytes]], *, private: bool = False) -> dict[Path, str]:
    """Write every file; what went wrong, by file. Nothing is raised: the release has cost its budget and is printed.

    `private` files can be read by their owner alone.
    """
    failed = {}
    for target, content in contents.items():
        try:
            _replace(target, content(), 0o600 if private else _mode(target))
        except OSError as error:
            failed[target] = error.strerror or type(error).__name__
        except Exception as error:  # its message might quote anything
            failed[target] = type(error).__name__
    return failed


def _replace(target: Path, content: bytes, mode: int) -> None:
    """All of the file or nothing of it: a temporary file in the same folder, then renamed. It outlives a power cut."""
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".part")
    try:
        with open(handle, "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(name, mode)
        os.replace(name, target)
        _settle(target.parent)
    except BaseException:
        with suppress(OSError):
            os.unlink(name)
        raise


def _settle(folder: Path) -> None:
    """A new name is in the folder, which has to be written too; not every system lets one open it."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _mode(target: Path) -> int:
    """As any new file would have, or as the one that is replaced: temporary files can be read by their owner only."""
    if target.exists():
        return target.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
