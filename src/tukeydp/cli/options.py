"""What commands have in common: options, how text becomes parameters, and exit codes."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Annotated, TypeVar

import typer

from tukeydp.cli.words import complain
from tukeydp.depth.notions import NOTIONS, Notion, Spread
from tukeydp.errors import ParameterError
from tukeydp.parameters import checked_choice
from tukeydp.randomness import SeededRandomness, seeded

T = TypeVar("T")

# Exit codes; 0 is a release. Scripts rely on them.
UNEXPECTED, BAD_PARAMETERS, REFUSED = 1, 2, 3

DEPTHS = ", ".join(NOTIONS)

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
Seed = Annotated[int | None, typer.Option(help="Rehearse with a fixed seed. The result is then NOT private.")]
Decimal = Annotated[str, typer.Option(help="Decimal sign in the file: . or ,")]


def run(job: Callable[[], T]) -> T:
    """What the job returns; an error becomes a message that says nothing about the data, and an exit code."""
    try:
        return job()
    except ParameterError as error:
        complain(str(error))
        raise typer.Exit(BAD_PARAMETERS) from None
    except Exception as error:
        if os.environ.get("TUKEYDP_DEBUG"):
            raise
        # Messages and tracebacks of other errors may quote the data.
        complain(
            f"unexpected {type(error).__name__}; nothing was released. "
            "Set TUKEYDP_DEBUG=1 for a traceback (it may show your data) and report it, please."
        )
        raise typer.Exit(UNEXPECTED) from None


def names_in(columns: str) -> list[str]:
    return [name.strip() for name in columns.split(",")]


def source_for(seed: int | None) -> SeededRandomness | None:
    return None if seed is None else seeded(seed)


def notion_for(depth: str | None, directions: int | None, axes: bool, usual: type[Notion] = Spread) -> Notion | None:
    if depth is None and directions is None and axes:
        return None  # what a call without a notion gets: a number that fits the table's shape
    kind = usual if depth is None else NOTIONS[checked_choice("depth", depth, NOTIONS)]
    return kind.with_options(directions, axes)


def one_per_column(option: str, given: Sequence[str] | None, names: Sequence[str]) -> list[str] | None:
    """`--resolution 0.1` for all columns and `--resolution age=1` for one become one entry per column."""
    shape = "VALUE" if option == "deviation" else "STEP"
    return [values[0] for values in _per_column(option, given, names, shape)] if given else None


def pairs_per_column(
    option: str, given: Sequence[str] | None, names: Sequence[str]
) -> tuple[list[str], list[str]] | None:
    """`--bounds=0,1` for all columns and `--bounds a=0,5` for one become all lower and all upper ends."""
    if not given:
        return None
    pairs = _per_column(option, given, names, "LOWER,UPPER")
    return [pair[0] for pair in pairs], [pair[1] for pair in pairs]


def _per_column(option: str, given: Sequence[str], names: Sequence[str], shape: str) -> list[list[str]]:
    found: dict[str, list[str]] = {}
    for text in given:
        name, separator, numbers = text.rpartition("=")
        values = [value.strip() for value in numbers.split(",")]
        if len(values) != len(shape.split(",")) or not all(values):
            raise ParameterError(option, f"must read {shape} or COLUMN={shape}", repr(text))
        targets = [name.strip()] if separator else [name for name in names if name not in found]
        for target in targets:
            if target not in names:
                raise ParameterError(option, f"must name one of the columns {', '.join(names)}", repr(target))
            found[target] = values
    missing = [name for name in names if name not in found]
    if missing:
        raise ParameterError(option, f"must be given for every column ({shape})", f"none for {', '.join(missing)}")
    return [found[name] for name in names]
