"""Formulas as MathML, made when the site is built: no scripts, nothing loaded, and copies as text.

`pymdownx.arithmatex` finds `$...$` and `$$...$$` on a page and marks them; what it marks is converted here.
"""

from __future__ import annotations

import re
from html import unescape
from xml.etree import ElementTree

from latex2mathml.converter import convert
from markdown import Extension, Markdown
from markdown.treeprocessors import Treeprocessor
from markdown.util import AtomicString

MARKED = "arithmatex"
DELIMITERS = {r"\(": (r"\)", "inline"), r"\[": (r"\]", "block")}

# Characters of LaTeX from which on an inline formula may be wider than a phone: browsers do not break formulas, and
# `site.css` lets these scroll by themselves there.
LONG = 40


class FormulaError(ValueError):
    """A formula that cannot be shown as it was meant."""

    def __init__(self, formula: str, reason: str) -> None:
        super().__init__(f"the formula {formula!r} does not convert: {reason}")


def mathml(formula: str, display: str) -> ElementTree.Element:
    """The formula as a `math` element with its LaTeX as a label; `FormulaError` where a part would be lost."""
    if not _balanced(formula):
        raise FormulaError(formula, "braces that do not match")
    try:
        root = ElementTree.fromstring(convert(formula, display=display))
    except Exception as error:  # the converter has a dozen errors of its own, and may write broken XML
        raise FormulaError(formula, f"{type(error).__name__} {error}") from error
    for part in root.iter():
        part.tag = part.tag.rpartition("}")[2]  # in HTML the element alone says that it is MathML
        if part.text:
            # The converter writes commands that it does not know as they are.
            if "\\" in part.text or "&" in part.text:
                raise FormulaError(formula, f"unknown: {part.text}")
            part.text = AtomicString(part.text)
    root.attrib = {"display": display}
    return root


def _balanced(formula: str) -> bool:
    depth = 0
    for brace in re.findall(r"(?<!\\)(?:\\\\)*([{}])", formula):
        depth += 1 if brace == "{" else -1
        if depth < 0:
            return False
    return depth == 0


class _Formulas(Treeprocessor):
    def run(self, root: ElementTree.Element) -> None:
        for element in root.iter():
            if element.get("class") == MARKED:
                text = unescape((element.text or "").strip())
                closing, display = DELIMITERS[text[:2]]
                formula = text[2:].removesuffix(closing).strip()
                element.text = None
                element.append(mathml(formula, display))
                if display == "inline" and len(formula) > LONG:
                    element.set("class", f"{MARKED} long")


class Formulas(Extension):
    """After inline patterns (20), before the table of contents (5), which takes the text of headings."""

    def extendMarkdown(self, md: Markdown) -> None:
        md.treeprocessors.register(_Formulas(md), "mathml", 15)
