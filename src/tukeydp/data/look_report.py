"""What `look` found, as a value, as text and as HTML. NOT private, and every line says so."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from tukeydp.data.readers.options import ReadOptions
from tukeydp.views.escaping import escaped, in_html, printable

MARK = "NOT PRIVATE"
NOTE = "Not private: it tells about the data itself. For the data's owner alone, not for publication."
CHOOSING = "bounds come from what is known of a quantity, not from these data: numbers looked up here would leak"


@dataclass(frozen=True)
class ColumnLook:
    """One column: its kind, how its cells read, and what may go wrong with it."""

    name: str
    kind: str
    readable: int
    missing: int
    outside: int | None = None
    distinct: int | None = None
    skewness: float | None = None
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Look:
    """What was read. NOT private. Where `question` has to be answered first, there is no `command`."""

    source: str
    rows: int
    columns: tuple[ColumnLook, ...]
    evidence: tuple[str, ...] = ()
    command: str | None = None
    options: ReadOptions | None = None
    question: str | None = None

    def _lines(self) -> Iterator[str]:
        yield f"{self.source}: {self.rows} rows, {len(self.columns)} columns"
        yield from self.evidence
        width = max((len(column.name) for column in self.columns), default=0)
        for column in self.columns:
            yield f"{column.name:{width}s}  {'; '.join(_facts(column))}"
        yield CHOOSING
        if self.question is not None:
            yield self.question

    def __str__(self) -> str:
        # A name may hold ends of line, and what comes after one would have no mark.
        lines = [f"{MARK}  {printable(line)}" for line in self._lines()]
        if self.command is not None:
            # Without the mark, so that it can be pasted: it holds names and the dialect, and no cell.
            lines += [f"{MARK}  if this is how the file is written, next:", self.command]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{h}</th>" for h in ("", "column", "what was read"))
        rows = "".join(
            f"<tr><td><b>{MARK}</b></td><td>{in_html(c.name)}</td><td>{in_html('; '.join(_facts(c)))}</td></tr>"
            for c in self.columns
        )
        said = (*self.evidence, CHOOSING, *(() if self.question is None else (self.question,)))
        notes = "".join(f"<li><b>{MARK}</b> {in_html(line)}</li>" for line in said)
        command = "" if self.command is None else f"<pre>{in_html(self.command)}</pre>"
        caption = in_html(f"{self.source}: {self.rows} rows. {NOTE}")
        return f"<table><caption>{caption}</caption><tr>{head}</tr>{rows}</table><ul>{notes}</ul>{command}"

    def to_dict(self) -> dict[str, Any]:
        return {
            "private": False,
            "note": NOTE,
            "source": self.source,
            "rows": self.rows,
            "columns": [{f.name: _plain(getattr(c, f.name)) for f in fields(c)} for c in self.columns],
            "evidence": list(self.evidence),
            "options": None if self.options is None else declared(self.options),
            "command": self.command,
            "question": self.question,
        }


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _facts(column: ColumnLook) -> Iterator[str]:
    yield column.kind
    yield f"{column.readable} cells read, {column.missing} missing"
    if column.outside is not None:
        yield f"{column.outside} outside the bounds"
    if column.skewness is not None:
        yield f"skewness {column.skewness:.1f}"
    yield from column.remarks


def declared(options: ReadOptions) -> dict[str, Any]:
    """The options that differ from the defaults."""
    usual = ReadOptions()
    pairs = ((f.name, getattr(options, f.name)) for f in fields(options))
    return {name: value for name, value in pairs if value != getattr(usual, name) and value not in ((), {})}


def flags(options: ReadOptions) -> list[str]:
    """The options as the command line has them."""
    names = {"units": "unit"}
    words = []
    for name, value in declared(options).items():
        flag = f"--{names.get(name, name)}"
        if name == "header":
            words.append("--no-header")
        elif name == "separator" and value == ",":
            continue
        else:
            words += [word for text in _values(value) for word in (flag, text)]
    return words


def _values(value: Any) -> list[str]:
    if isinstance(value, Mapping):
        pairs = [(name, [v] if isinstance(v, str) else v) for name, v in value.items()]
        return [f"{name}={text}" for name, texts in pairs for text in texts]
    if isinstance(value, Sequence) and not isinstance(value, str):
        return list(value)
    return ["tab" if value == "\t" else "none" if value == "" else str(value)]


def next_command(path: str, columns: Sequence[str], bounds: Mapping[str, str], options: ReadOptions) -> str:
    """The whole command line, with blanks to fill in for bounds that were not given."""
    words = ["tukeydp", "mean", path]
    together = not any("," in column for column in columns)
    words += ["--columns", ",".join(columns)] if together else [w for c in columns for w in ("--columns", c)]
    words += ["--epsilon", "1"]
    words += [w for c in columns for w in ("--bounds", f"{c}={bounds.get(c, 'LOWER,UPPER')}")]
    # What is declared for a column that is not read would be refused.
    told = replace(options, units=_for(columns, options.units), missing=_for(columns, options.missing))
    return " ".join(escaped(word, "shell") for word in [*words, *flags(told)])


def _for(columns: Sequence[str], declared: Any) -> Any:
    if not isinstance(declared, Mapping):
        return declared
    return {name: texts for name, texts in declared.items() if name in columns}
