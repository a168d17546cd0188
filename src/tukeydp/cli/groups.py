"""Groups on the command line: `--by clinic --keys A,B,C` or `--keys-file FILE`, read with the other columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from tukeydp.cli.options import source_for
from tukeydp.cli.reading import Reading
from tukeydp.data.grouped_files import read_groups as read_grouped_file
from tukeydp.data.grouped_files import read_persons
from tukeydp.data.tables import Table
from tukeydp.mechanisms.per_person import released_per_person
from tukeydp.results.grouped_release import GroupedRelease
from tukeydp.results.release import Outcome
from tukeydp.trusted.parameters import ParameterError

By = Annotated[str | None, typer.Option(help="Column with the key of each row's group: a result for each group.")]
KeyList = Annotated[
    list[str] | None,
    typer.Option(
        "--keys",
        help="The groups' keys, separated by commas. May be repeated, for keys with commas. Public: known without "
        "the data.",
    ),
]
KeysFile = Annotated[
    Path | None, typer.Option(help="A text file with one key on each line, in place of --keys. Public, as they are.")
]
Counts = Annotated[
    str | None, typer.Option(help="With --by: a share of epsilon, say 0.1, for a noised number of rows in each group.")
]


Person = Annotated[
    str | None,
    typer.Option(help="Column with each row's person, where some have several rows: every person then counts once."),
]
PerPerson = Annotated[str, typer.Option(help="With --person: mean or median of a person's rows.")]


def listed_keys(by: str | None, keys: Sequence[str] | None, keys_file: Path | None, *others: Any) -> list[str] | None:
    """The keys as they were given; what goes with --by is refused without it, before a file of data is read."""
    if by is None and (keys or keys_file is not None or any(value is not None for value in others)):
        raise ParameterError("by", "must be given with keys or counts", "none")
    if keys and keys_file is not None:
        raise ParameterError("keys", "must be left out with keys-file", ", ".join(keys))
    if keys_file is not None:
        try:
            lines = keys_file.read_text(encoding="utf-8-sig").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
            raise ParameterError(
                "keys-file", "must be a text file that can be read", f"{keys_file} ({reason})"
            ) from None
        return [line.strip() for line in lines if line.strip()]
    return None if not keys else [key for text in keys for key in (text.split(",") if len(keys) == 1 else [text])]


def check_person(person: str | None, per_person: str, by: str | None) -> None:
    """Before a file of data is read."""
    if person is None and per_person != "mean":
        raise ParameterError("person", "must be given with per-person", "none")
    if person is not None and by is not None:
        raise ParameterError("person", "must be left out with by", repr(person))


def read_groups(
    reading: Reading, file: Path, names: list[str], by: str | None, keys: Sequence[str] | None
) -> tuple[Table, dict[str, Any]]:
    """The table and, by groups, the key of each row. All columns are read in one go, each row by itself."""
    if by is None:
        return reading.table(file, names), {}
    table, groups, known = read_grouped_file(file, names, by, keys, reading.declared([*names, by]))
    return table, {"by": groups, "keys": known}


def released(
    run: Callable[..., Any],
    reading: Reading,
    file: Path,
    names: list[str],
    by: str | None,
    keys: Sequence[str] | None,
    epsilon: Any,
    seed: int | None,
    *,
    check: Any,
    **present: Any,
) -> Outcome | GroupedRelease:
    """Read, and release by groups, after the check unless that was declined."""
    table, grouped = read_groups(reading, file, names, by, keys)
    return run(table, epsilon=epsilon, check=check, randomness=source_for(seed), **grouped, **present)


def about_persons(
    run: Callable[..., Any], reading: Reading, file: Path, names: list[str], person: str, **options: Any
) -> Outcome:
    """Read the columns and the ids in one go, and release by any mechanism, with a guarantee about persons.

    Without the check of readable rows: one person may have any number of them.
    """
    table, ids = read_persons(file, names, person, reading.declared([*names, person]))
    options = {"bounds": None, "accountant": None, **options}
    return released_per_person(run, table, person=ids, **options)
