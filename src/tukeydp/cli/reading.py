"""How a command is told which file to read and how it is written: options declared once, nothing guessed."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from tukeydp.cli.options import completing
from tukeydp.data.dictionary import Dictionary, read_dictionary
from tukeydp.data.files import READERS, format_of, has_column, names_in, read_file
from tukeydp.data.readers.columns import check_distinct
from tukeydp.data.readers.options import ReadOptions
from tukeydp.data.readers.sources import LOOK, name_of
from tukeydp.data.streams import Chunks, chunks, with_options
from tukeydp.data.tables import Table
from tukeydp.trusted.parameters import ParameterError, show

_PANEL = "How the file is written (tukeydp look FILE tells)"

File = Annotated[
    Path, typer.Argument(help="Text (CSV), Excel, Parquet or Arrow, one row per person; - for standard input.")
]
Columns = Annotated[
    list[str] | None,
    typer.Option(
        help="Columns to read, separated by commas. May be repeated, for names with commas. Needed unless "
        "--dictionary says which are numbers."
    ),
]


def _option(words: str, *names: str, choices: Iterable[str] = ()) -> Any:
    offered = completing(choices) if choices else None
    return typer.Option(*names, help=words, rich_help_panel=_PANEL, autocompletion=offered)


@dataclass(frozen=True, kw_only=True)
class Reading:
    """The options as they are typed. Each field is an option of every command that reads a file."""

    form: Annotated[
        str | None, _option(f"{', '.join(READERS)}. Left out: by FILE's ending.", "--format", choices=READERS)
    ] = None
    separator: Annotated[str | None, _option("Between cells: ';' tab bar space. Left out: comma, tab in .tsv.")] = None
    quote: Annotated[str, _option("Around cells: double or single quote, or none.")] = '"'
    decimal: Annotated[str, _option("Decimal mark: . or ,")] = "."
    thousands: Annotated[str | None, _option("Mark between groups of three digits: , . space apostrophe.")] = None
    encoding: Annotated[str | None, _option("Of text: cp1252, utf-16, ... Left out: UTF-8.")] = None
    skip: Annotated[int, _option("Lines, or rows of Excel, above the header.")] = 0
    header_rows: Annotated[int, _option("Rows that make up the names of columns, if several do.")] = 1
    no_header: Annotated[bool, _option("There is no header: columns are called 1, 2, ...", "--no-header")] = False
    unit: Annotated[
        list[str] | None,
        _option("Unit beside numbers: --unit mmHg in all columns, --unit weight=kg in one. May be repeated."),
    ] = None
    missing: Annotated[
        list[str] | None,
        _option("Number or word for no value in a column: --missing pain=99; -999 alone: in all. May be repeated."),
    ] = None
    detection: Annotated[
        list[str] | None,
        _option("Limit of detection: --detection 'crp=<0.3' reads such cells as 0.3, '<0.3/2' as half of it."),
    ] = None
    dictionary: Annotated[
        Path | None,
        _option(
            "What is known of columns without the data: CSV with the header column,lower,upper (and label, type, unit, "
            "categories, missing, detection, sd), YAML, JSON, TOML, or REDCap's. Options of a column go before it.",
            "--dictionary",
            "--bounds-file",
        ),
    ] = None
    sheet: Annotated[str | None, _option("Sheet of an Excel workbook with several.")] = None

    def declared(self, names: Sequence[str] | None = None) -> ReadOptions:
        """The dialect, where `names` are the columns to read, if they are known."""
        options = ReadOptions(
            format=self.form,
            separator=self.separator,
            quote=self.quote,
            decimal=self.decimal,
            thousands=self.thousands,
            encoding=self.encoding,
            skip=self.skip,
            header=0 if self.no_header else self.header_rows,
            units=_by_column("unit", self.unit, names),
            missing=_by_column("missing", self.missing, names),
            detection=_by_column("detection", self.detection, names),
            sheet=self.sheet,
        )
        known = options.in_file(self.known)
        return known.known_from(self.known, list(self.known.columns) if names is None else names)

    @cached_property
    def known(self) -> Dictionary:
        """What the dictionary says; nothing where there is none."""
        return Dictionary() if self.dictionary is None else read_dictionary(self.dictionary)

    def bounds(self, given: Sequence[str] | None, names: Sequence[str]) -> list[str]:
        """The `--bounds` of a command, with the dictionary's before them: what is said later and by name goes first."""
        pairs = self.known.bounds_of(names)
        return [f"{name}={show(low)},{show(high)}" for name, (low, high) in pairs.items()] + list(given or ())

    def sd(self, given: Sequence[str] | None, names: Sequence[str]) -> list[str] | None:
        """The `--sd` of a command, with the dictionary's before them; none unless every column has one."""
        known = self.known.sd_of(names)
        if not given and len(known) < len(names):
            return None
        return [f"{name}={show(sd)}" for name, sd in known.items()] + list(given or ())

    @cached_property
    def layout(self) -> ReadOptions:
        """The dialect without what is declared for columns: enough to read the header."""
        bare = replace(self, unit=None, missing=None, detection=None, dictionary=None)
        return bare.declared().in_file(self.known)

    def names(self, file: Path, columns: Sequence[str] | None) -> list[str]:
        """The columns asked for: a text that is a name in the header is that column; others are split at commas.

        What can be read only once, like a pipe, cannot be asked for its header first. There, texts are names as they
        stand where there are several, and a single one is split.
        """
        if not columns and self.known.columns:
            measured = self.known.of_kind("number")
            there = names_in(file, self.layout)
            return [name for name in there if name in measured]
        if not columns:
            rule = f"must be given: names in the header, separated by commas (--columns age,pulse); {LOOK}"
            raise ParameterError("columns", rule, "none")
        whole = self.layout
        twice = str(file) != "-" and (file.is_file() or not file.exists())

        def is_name(text: str) -> bool:
            return has_column(file, text, whole) if twice else len(columns) > 1

        return [
            name.strip()
            for text in columns
            for name in ([text] if "," not in text or is_name(text.strip()) else text.split(","))
        ]

    def table(self, file: Path, names: Sequence[str], neighbours: str | None = None) -> Table:
        """Where the number of rows is secret, an empty table is one like any other."""
        return read_file(file, names, self.declared(names), fewest=0 if neighbours == "add-remove" else 1)

    def stream(self, file: Path, names: Sequence[str], memory: int) -> Chunks:
        """The file, or a folder of files, to be read in passes."""
        declared = self.declared(names)
        check_distinct(names)
        declared.check_columns(names)
        if str(file) == "-" or not (file.is_dir() or format_of(file, declared) == "parquet"):
            rule = "must be left out unless FILE is Parquet, or a folder of Parquet files"
            raise ParameterError("stream", rule, name_of(file))
        return with_options(chunks(file, columns=names, memory=memory), declared)


def _by_column(
    option: str, given: Sequence[str] | None, names: Sequence[str] | None
) -> list[str] | Mapping[str, list[str]]:
    """`-999` for all columns and `age=-1` for one: a list if there are only the former, else a dict."""
    everywhere: list[str] = []
    single: dict[str, list[str]] = {}
    for text in given or ():
        name, mark, value = text.rpartition("=")
        (single.setdefault(name.strip(), []) if mark else everywhere).append(value.strip())
    if not single:
        return everywhere
    if everywhere and names is None:
        rule = "must be given for all columns, or for each by its name"
        raise ParameterError(option, rule, repr(everywhere[0]))
    listed = dict.fromkeys([*(names if everywhere and names else ()), *single])
    return {name: [*everywhere, *single.get(name, [])] for name in listed}


def reads_a_file(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of `Reading`, which it gets as its one parameter `reading`."""
    hints = get_type_hints(command, include_extras=True)
    shared = get_type_hints(Reading, include_extras=True)
    own = [name for name in inspect.signature(command).parameters if name != "reading"]
    defaults = {name: p.default for name, p in inspect.signature(command).parameters.items()}
    defaults |= {field.name: field.default for field in fields(Reading)}
    types = {**{name: hints[name] for name in own}, **shared}

    @functools.wraps(command)
    def with_reading(**given: Any) -> None:
        reading = Reading(**{name: given.pop(name) for name in shared})
        command(**given, reading=reading)

    with_reading.__annotations__ = types
    with_reading.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=defaults[name], annotation=annotation)
            for name, annotation in types.items()
        ]
    )
    return with_reading
