"""`tukeydp look FILE`: what a file holds and how to read it, guessed with evidence. NOT PRIVATE."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from tukeydp.cli import options
from tukeydp.cli.reading import File, Reading, reads_a_file
from tukeydp.cli.words import say_lines
from tukeydp.data.look import Look, drafted, look_at_file, table_command
from tukeydp.data.readers.options import ReadOptions
from tukeydp.trusted.parameters import ParameterError

_TABLE = "for a Table 1, with categories: --write-dictionary dictionary.csv drafts what it needs"
_FILL_IN = (
    "{path} is written: fill in bounds, categories and codes, and delete the lines of what is not to be released; "
    "bounds left empty are found with noise, for a part of epsilon"
)
_ARMS = "groups side by side: --by COLUMN --keys A,B; people with several rows: --person COLUMN"


@reads_a_file
def look(
    context: typer.Context,
    file: File,
    reading: Reading,
    bounds: options.Bounds = None,
    write_dictionary: Annotated[
        Path | None,
        typer.Option(help="Write a data dictionary in CSV for you to fill in: every column, with bounds left empty."),
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Tell what a file holds and which command reads it. NOT PRIVATE: for those who may see the data.

    What is not declared is guessed, and the evidence is shown. Check it, then use the command that is printed last;
    where only you can say how numbers are written, it asks instead.
    """
    typed = context.get_parameter_source("decimal")
    stated = typed is not None and typed.name == "COMMANDLINE"  # by its name: typer may bring its own click

    def job() -> Look:
        told, known = list(bounds or ()), None
        if reading.dictionary is not None:
            seen, known = look_at_file(file, reading.declared(), marks_stated=stated), reading.known
            told = reading.bounds(bounds, [column.name for column in seen.columns])
        return look_at_file(file, reading.declared(), bounds=_bounds(told), marks_stated=stated, known=known)

    seen = options.run(job)
    if write_dictionary is not None:
        options.run(lambda: _write(write_dictionary, drafted(seen)))
    filled = reading.dictionary if reading.known.categories_of(reading.known.columns) else None
    dictionary = write_dictionary or filled  # with bounds alone it serves means
    advice = [_ARMS] if dictionary is not None else [_TABLE]
    if write_dictionary is not None:
        advice.insert(0, _FILL_IN.format(path=write_dictionary))
    if dictionary is not None and seen.question is None:
        knows = write_dictionary is not None or reading.known.file
        told = None if knows else seen.options or ReadOptions()
        seen = replace(seen, command=table_command(str(file), str(dictionary), told))
    seen = replace(seen, advice=tuple(advice))
    if as_json:
        sys.stdout.write(json.dumps(seen.to_dict()) + "\n")
    else:
        say_lines(str(seen))


def _write(path: Path, text: str) -> None:
    """Never over what the owner has filled in."""
    try:
        with path.open("x", encoding="utf-8-sig", newline="") as file:
            file.write(text)
    except OSError as error:
        why = "it is there already" if isinstance(error, FileExistsError) else error.strerror
        raise ParameterError("write-dictionary", "must be a new file", f"{path} ({why})") from None


def _bounds(given: Sequence[str] | None) -> Any:
    """One pair for all columns, or a dict: which columns there are is not known yet."""
    if not given:
        return None
    names = [text.rpartition("=")[0].strip() for text in given]
    if "" in names and len(given) > 1:
        raise ParameterError("bounds", "must be given once for all columns, or for each by its name", repr(given[0]))
    ends = options.pairs_per_column("bounds", given, names)
    assert ends is not None
    lows, highs = ends
    return (lows[0], highs[0]) if names == [""] else dict(zip(names, zip(lows, highs, strict=True), strict=True))
