"""How a file is written, as its owner declares it. Nothing here is guessed."""

from __future__ import annotations

import codecs
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tukeydp.data.dictionary import Dictionary, detection
from tukeydp.data.keys import KeyRule, Keys
from tukeydp.data.numbers import BLANKS, PLAIN, THOUSANDS, NumberRule, number
from tukeydp.trusted.parameters import FloatArray, ParameterError, brief, checked_choice, checked_integer

# Names for marks that are awkward to type in a shell.
MARKS = {
    "tab": "\t", "\\t": "\t", "space": " ", "comma": ",", "semicolon": ";", "bar": "|", "point": ".",
    "apostrophe": "'", "none": "",
}  # fmt: skip
# Text encodings to Python that are none of files; the first two would warn about what is in the file.
_NO_ENCODINGS = {"unicode_escape", "raw_unicode_escape", "idna", "punycode", "undefined", "mbcs", "oem"}


@dataclass(frozen=True, kw_only=True)
class ReadOptions:
    """The dialect of a file.

    Parameters
    ----------
    format : "csv" (any separated text), "csv.gz", "excel", "parquet" or "arrow"; by default what the file's name
        ends in, and "csv" for standard input.
    separator : one ASCII character, or "tab", "semicolon", "space", "bar", "comma". By default the one of a leading
        `sep=` line, tab in files named .tsv or .tab, else a comma.
    quote : '"', "'", or "" for none.
    decimal : "." or ",".
    thousands : ",", ".", " " or "'", in groups of three digits; None: no such marks.
    encoding : of text files; UTF-8 by default.
    skip : lines (rows in Excel) above the header.
    header : False: the columns are named "1", "2", ... and the first line is a row. A number of rows, if several
        make up the names.
    units : that may stand beside a number: ["mmHg"] in every column, or {"systolic": "mmHg"}.
    missing : numbers and words that stand for no value: ["-999"] in every column, or {"systolic": ["-999", "k.A."]}.
    detection : limits of detection: {"crp": "<0.3"}; cells of just that read as the limit, with "<0.3/2" as half.
    sheet : of an Excel workbook with several that are not hidden.
    keys : columns that hold keys of groups, and the keys that are told apart there; others are missing.
    """

    format: str | None = None
    separator: str | None = None
    quote: str = '"'
    decimal: str = "."
    thousands: str | None = None
    encoding: str | None = None
    skip: int = 0
    header: bool | int = True
    units: Sequence[str] | Mapping[str, str | Sequence[str]] = ()
    missing: Sequence[str] | Mapping[str, str | Sequence[str]] = ()
    detection: Sequence[str] | Mapping[str, str | Sequence[str]] = ()
    sheet: str | None = None
    keys: Mapping[str, Keys] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("separator", "quote", "decimal", "thousands"):
            given = getattr(self, name)
            if isinstance(given, str):
                object.__setattr__(self, name, MARKS.get(given.lower(), given))
        if self.thousands == "":
            object.__setattr__(self, "thousands", None)
        if self.quote not in ('"', "'", ""):
            raise ParameterError("quote", "must be a double quote, an apostrophe or none", brief(self.quote))
        checked_choice("decimal", self.decimal, (".", ","))
        checked_integer("skip", self.skip, least=0)
        _check_separator(self.separator, self.quote)
        _check_thousands(self.thousands, self.decimal, self.quote)
        _check_encoding(self.encoding)
        for unit in _checked_texts("units", self.units):
            _check_unit(unit, self.decimal, self.thousands)
        _checked_texts("missing", self.missing)
        for limit in _checked_texts("detection", self.detection):
            detection("detection", limit)
        checked_integer("header", int(self.header) if isinstance(self.header, bool) else self.header, least=0, most=9)

    def rule(self, column: str) -> NumberRule:
        """How the numbers of a column are written."""
        if column in self.keys:
            return KeyRule(self.decimal, self.thousands, keys=self.keys[column])
        told = [detection("detection", text) for text in _of(column, self.detection)]
        limits = tuple((one.mark, float(one.limit), float(one.value)) for one in told)
        return NumberRule(self.decimal, self.thousands, _of(column, self.units), _of(column, self.missing), limits)

    def unit(self, column: str) -> str | None:
        """The declared unit of a column; the first where several spellings are."""
        return next(iter(self.rule(column).units), None)

    def declared_of(self, column: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The codes for no value and the limits of detection of a column, as a dictionary has them."""
        return tuple(_of(column, self.missing)), tuple(_of(column, self.detection))

    def blank_out(self, cells: FloatArray, columns: Sequence[str]) -> None:
        """Cells that hold a declared missing number become missing, in place."""
        for j, column in enumerate(columns):
            for token in _of(column, self.missing):
                value = number(token, self.rule(column))
                if not math.isnan(value):
                    cells[cells[:, j] == value, j] = math.nan

    def only(self, columns: Sequence[str]) -> ReadOptions:
        """The same for some of the columns alone."""
        units, missing, limits = (
            {name: texts for name, texts in told.items() if name in columns} if isinstance(told, Mapping) else told
            for told in (self.units, self.missing, self.detection)
        )
        return replace(self, units=units, missing=missing, detection=limits)

    def in_file(self, dictionary: Dictionary) -> ReadOptions:
        """With what a dictionary says of its file; what is declared here goes before it."""
        usual = ReadOptions()
        told: dict[str, Any] = {
            name: text for name, text in dictionary.file.items() if getattr(self, name) == getattr(usual, name)
        }
        for name in {"skip", "header"} & set(told):
            if not (told[name].isascii() and told[name].isdigit()):
                raise ParameterError("dictionary", f"must have a whole number as {name}", brief(told[name]))
            told[name] = int(told[name])
        return replace(self, **told)

    def known_from(self, dictionary: Dictionary, columns: Sequence[str]) -> ReadOptions:
        """With what a dictionary says of those columns; what is declared here goes before it."""
        units = {name: unit for name, unit in dictionary.units_of(columns).items() if self.is_unit(unit)}
        codes = {name: [self.written(code) for code in told] for name, told in dictionary.missing_of(columns).items()}
        limits = {name: [str(one) for one in told] for name, told in dictionary.detection_of(columns).items()}
        return replace(
            self,
            units=_before(self.units, units, columns),
            missing=_before(self.missing, codes, columns),
            detection=_before(self.detection, limits, columns),
        )

    def is_unit(self, unit: str) -> bool:
        """Whether it can stand beside numbers: what a dictionary calls a unit is first of all shown."""
        try:
            _check_unit(unit, self.decimal, self.thousands)
        except ParameterError:
            return False
        return True

    def written(self, code: str) -> str:
        """A code that is a number, with the file's own decimal mark."""
        return code if math.isnan(PLAIN.number(code)) else code.replace(".", self.decimal)

    def check_columns(self, columns: Sequence[str]) -> None:
        """What is declared for a column must be declared for one that is read: a slip would go unnoticed."""
        told = ("units", self.units), ("missing", self.missing), ("detection", self.detection)
        for parameter, declared in told:
            if isinstance(declared, Mapping):
                for name in declared:
                    if name not in columns:
                        raise ParameterError(parameter, "must be declared for columns that are read", brief(name))


def _before(told: Any, known: Mapping[str, Any], columns: Sequence[str]) -> Any:
    """What is told for a column by its name, else what is known of it and what is told for all columns."""
    if not known:
        return told
    if isinstance(told, Mapping):
        return {**known, **told}
    both = {name: [*told, *_of(name, known)] for name in columns}
    return {name: texts for name, texts in both.items() if texts}


def _of(column: str, declared: Sequence[str] | Mapping[str, str | Sequence[str]]) -> tuple[str, ...]:
    """What is declared for a column."""
    texts = declared.get(column, ()) if isinstance(declared, Mapping) else declared
    return (texts,) if isinstance(texts, str) else tuple(texts)


def _check_separator(separator: Any, quote: str) -> None:
    if separator is None:
        return
    wrong = not isinstance(separator, str) or len(separator) != 1 or not separator.isascii()
    if wrong or separator.isalnum() or separator in '.+-"\r\n\0' or separator == quote:
        rule = "must be one character, say ',' ';' '|' or tab; not a letter, digit, quote, sign or point"
        raise ParameterError("separator", rule, brief(separator))


def _check_thousands(thousands: Any, decimal: str, quote: str) -> None:
    if thousands is None:
        return
    if thousands not in THOUSANDS:
        raise ParameterError("thousands", "must be comma, point, space, apostrophe or none", brief(thousands))
    if thousands in (decimal, quote):
        raise ParameterError("thousands", "must not be the decimal mark or the quote", brief(thousands))


def _check_encoding(encoding: Any) -> None:
    if encoding is None:
        return
    try:
        info = codecs.lookup(encoding)
        digits = "0123456789"
        wrong = info.name.replace("-", "_") in _NO_ENCODINGS or digits.encode(encoding).decode(encoding) != digits
    except (LookupError, TypeError, ValueError):  # UnicodeError and a NUL in the name among them
        wrong = True
    if wrong:
        raise ParameterError("encoding", "must be a text encoding, say utf-8, utf-16 or cp1252", brief(encoding))


def _checked_texts(parameter: str, given: Any) -> list[str]:
    """All texts in a list, or in a dict of texts or lists."""
    if isinstance(given, str) or not isinstance(given, Sequence | Mapping):
        raise ParameterError(parameter, "must be a list of texts, or a dict with column names", brief(given))
    listed = (
        [e if isinstance(e, list | tuple) else [e] for e in given.values()] if isinstance(given, Mapping) else [given]
    )
    flat = [text for texts in listed for text in texts]
    if not all(isinstance(text, str) for text in flat):
        raise ParameterError(parameter, "must be texts", brief(given))
    return flat


def _check_unit(unit: str, decimal: str, thousands: str | None) -> None:
    part_of_numbers = "0123456789+-\u2212" + decimal + (THOUSANDS[thousands] if thousands else "")
    if unit != unit.strip(BLANKS) or not unit or unit[0] in part_of_numbers:
        rule = "must be texts without blanks around them that do not begin like a number"
        raise ParameterError("units", rule, brief(unit))
