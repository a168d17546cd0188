"""The one place that escapes what leaves the house: names, keys, units and captions are anybody's text."""

from __future__ import annotations

import csv
import io
import math
import re
import shlex
from collections.abc import Callable, Iterable
from functools import partial
from html import escape

from tukeydp.trusted.parameters import lines_of_text as lines_of_text
from tukeydp.trusted.parameters import printable as printable

# A spreadsheet runs a cell that begins so; the wide forms too, where Japanese or Chinese is typed.
_RUNS = "=+\\-@\uff1d\uff0b\uff0d\uff20"
_NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+|Infinity)(?:[eE][+-]?\d+)?"
# Where a cell may begin: not only with the field. A file with commas that is opened where semicolons separate is cut at
# semicolons, and quotes inside a line do not hold it together. A number is no formula.
_FORMULA = re.compile(rf'(^|[,;|"])(\s*)(?=[{_RUNS}])(?!{_NUMBER}\s*[\]}}]*\s*(?:[,;|"]|$))')
_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>|~&$#@]|(?<=www)\.|:(?=//))", re.IGNORECASE)
# `\\` at the end of a row takes a star or a bracket that follows for its own; `"` and the grave accent are shorthands.
_LATEX = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "\u2013": "--", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", "[": "{[}", "]": "{]}", "*": "{*}", '"': r"{\char34}", "`": r"\textasciigrave{}",
}  # fmt: skip


def _csv(text: str) -> str:
    return _FORMULA.sub(r"\1\2'", text)


def _html(text: str) -> str:
    return escape(text, quote=True)


def _markdown(text: str) -> str:
    return _MARKDOWN.sub(r"\\\1", text)


def _latex(text: str) -> str:
    return "".join(_LATEX.get(c, c) for c in text)


def _plot(text: str) -> str:
    """matplotlib takes what stands between dollar signs for a formula, and fails where it is none."""
    return text.replace("$", r"\$")


def _file_name(text: str) -> str:
    """As it may stand between quotes in a header of HTTP, and on any disk."""
    return re.sub(r"[^A-Za-z0-9 ._()-]|^\.+", "_", text) or "_"


def _shell(text: str) -> str:
    """One word of a command line; what cannot be seen, or is no letter anywhere, as bytes (bash, zsh, ksh)."""
    if text.isprintable():
        return shlex.quote(text)
    shown = (c if c.isprintable() and c not in "\\'" else _as_bytes(c) for c in text)
    return f"$'{''.join(shown)}'"


def _as_bytes(character: str) -> str:
    return "".join(f"\\x{byte:02x}" for byte in character.encode("utf-8", "surrogatepass"))


def _yaml(text: str) -> str:
    """A double-quoted text, which reads back as it was: JSON's escapes but for characters beyond 16 bits."""
    return f'"{"".join(map(_in_quotes, text))}"'


def _in_quotes(c: str) -> str:
    if c in '"\\':
        return f"\\{c}"
    if c.isprintable():
        return c
    code = ord(c)
    return f"\\x{code:02x}" if code < 1 << 8 else f"\\u{code:04x}" if code < 1 << 16 else f"\\U{code:08x}"


# A new format: a function here. The first ones show a text, and make what cannot be seen visible; the others keep it.
_SHOWN: dict[str, Callable[[str], str]] = {
    "text": str, "csv": _csv, "html": _html, "markdown": _markdown, "latex": _latex, "plot": _plot,
    "file name": _file_name,
}  # fmt: skip
_KEPT: dict[str, Callable[[str], str]] = {"python": repr, "shell": _shell, "yaml": _yaml}
FORMS = (*_SHOWN, *_KEPT)


def escaped(text: str, form: str) -> str:
    r"""`text` as a harmless piece of a format, one of `FORMS`.

    >>> escaped("=1+1|b", "csv"), escaped("-5", "csv"), escaped("<b>", "html"), escaped("a|b", "markdown")
    ("'=1+1|b", '-5', '&lt;b&gt;', 'a\\|b')
    """
    text = str(text)
    return _SHOWN[form](printable(text)) if form in _SHOWN else _KEPT[form](text)


# The same with the format fixed, for texts with many of them.
in_html = partial(escaped, form="html")
in_markdown = partial(escaped, form="markdown")
in_latex = partial(escaped, form="latex")
in_plot = partial(escaped, form="plot")


def csv_text(rows: Iterable[Iterable[object]], *, line_end: str = "\r\n") -> str:
    """Lines of CSV. Every text is escaped, the header's too; numbers stay numbers, and what there is not is empty."""
    out = io.StringIO()
    csv.writer(out, lineterminator=line_end).writerows([_cell(cell) for cell in row] for row in rows)
    return out.getvalue()


def _cell(cell: object) -> object:
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return ""
    return escaped(cell, "csv") if isinstance(cell, str) else cell
