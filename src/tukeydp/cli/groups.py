"""Groups on the command line: `--by clinic --keys A,B,C` or `--keys-file FILE`, read with the other columns."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from tukeydp.cli.options import source_for
from tukeydp.cli.reading import Reading
from tukeydp.data.grouped_files import read_records
from tukeydp.mechanisms.per_person import of_persons
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
PerPerson = Annotated[
    list[str] | None,
    typer.Option(
        help="With --person: what a person's rows become, mean (unless given), median, sum, min, max, first or last; "
        "COLUMN=RULE for one column. May be repeated."
    ),
]


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


def check_person(person: str | None, per_person: Sequence[str] | None) -> None:
    """Before a file of data is read."""
    if person is None and per_person:
        raise ParameterError("person", "must be given with per-person", "none")


def rules(per_person: Sequence[str] | None) -> dict[str, Any]:
    """`--per-person median` for all columns, `--per-person visits=sum` for one."""
    given = list(per_person or ())
    alone = [text for text in given if "=" not in text]
    if len(alone) > 1 or (alone and len(given) > 1):
        rule = "must be one rule for all columns, or COLUMN=RULE for each"
        raise ParameterError("per-person", rule, ", ".join(given))
    if alone:
        return {"per_person": alone[0]}
    return {"per_person": dict(text.rpartition("=")[::2] for text in given)} if given else {}


def released(
    run: Callable[..., Any],
    reading: Reading,
    file: Path,
    names: list[str],
    seed: int | None,
    *,
    by: str | None = None,
    keys: Sequence[str] | None = None,
    person: str | None = None,
    per_person: Sequence[str] | None = None,
    neighbours: str | None = None,
    **present: Any,
) -> Any:
    """Read all columns in one go, each row by itself, and release: of rows or persons, by groups or not."""
    apart = [name for name in (by, person) if name is not None]
    fewest = 0 if neighbours == "add-remove" else 1
    declared = reading.declared([*names, *apart])
    table, found = read_records(file, names, declared, by=by, keys=keys, person=person, fewest=fewest)
    told = {} if neighbours is None else {"neighbours": neighbours}
    persons = run if "person" in inspect.signature(run).parameters else of_persons(run)
    return persons(table, randomness=source_for(seed), **found, **rules(per_person), **told, **present)
