"""Every formula of the pages is one that GitHub's MathJax and latex2mathml, for the site, both show as it is meant."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

import pytest
from latex2mathml.converter import convert

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs").rglob("*.md"))
PROOFS = sorted((ROOT / "docs" / "proofs").glob("[a-z]*.md"))

FENCE = re.compile(r"^ *(```+|~~~+).*?^ *\1 *$", re.MULTILINE | re.DOTALL)
SPAN = re.compile(r"(?<!`)(`+)(?!`).+?(?<!`)\1(?!`)", re.DOTALL)
LIST_ITEM = re.compile(r" {0,3}([-*+]|\d+\.) ")
# What Markdown may take for its own before MathJax sees the formula (GitHub parses Markdown first).
ACTIVE = (
    (r"(?<![A-Za-z0-9])_(?! )", "`_` after a character that is no letter or digit can open emphasis: a blank after it"),
    (r"\*", "`*` opens emphasis: \\cdot, \\ast"),
    (r"\\[^A-Za-z]", "Markdown eats a backslash before punctuation: \\lbrace, \\quad, \\cr"),
    (r"<(?! )|(?<! )>", "`<` next to a letter is read as HTML: blanks around it"),
    (r"\\varepsilon", "one symbol for epsilon: \\epsilon"),
)


class Formula(NamedTuple):
    latex: str
    display: bool
    in_table: bool


def without_code(text):
    """The text with code taken out; code fences leave a blank line, spans a letter."""
    return SPAN.sub("c", FENCE.sub("\n", text))


def paragraphs(text):
    """(paragraph, whether it stands in a list) for the text between blank lines."""
    in_list = False
    for block in re.split(r"\n\s*\n", without_code(text)):
        block = block.strip("\n")
        if block.strip() and not block.startswith("    "):
            in_list = bool(LIST_ITEM.match(block)) or (in_list and block.startswith(" "))
        yield block, in_list or bool(re.search(rf"\n{LIST_ITEM.pattern}", block))


def formulas(text):
    """(formulas, faults) of a page. A fault is a dollar sign that does not delimit a formula as it should."""
    found, faults = [], []
    for block, in_list in paragraphs(text):
        inner = block.strip()
        if block.startswith("    ") and re.search(rf"^{LIST_ITEM.pattern}", block, re.MULTILINE):
            faults.append(f"a blank line is missing before the next item: {inner}")
        if "$$" in inner:
            latex = inner[2:-2]
            if not (inner.startswith("$$") and inner.endswith("$$") and len(inner) > 4 and "$" not in latex):
                faults.append(f"a display is a paragraph of its own: {inner}")
            elif block.startswith(" ") and not (in_list and re.match(r" {4}\$", block)):
                faults.append(f"a display stands at the margin, or four blanks in within a list: {inner}")
            else:
                found.append(Formula(latex, display=True, in_table=False))
            continue
        for line in block.splitlines():
            parts = line.split("$")
            if len(parts) % 2 == 0:
                faults.append(f"unbalanced: {line}")
                continue
            if len(parts) > 1 and line.startswith("#"):
                faults.append(f"headings are plain text: {line}")
            for before, latex, after in zip(parts[::2], parts[1::2], parts[2::2], strict=False):
                if latex != latex.strip() or not latex:
                    faults.append(f"blank next to a dollar sign: {line}")
                if re.search(r"[\w*\\]$", before) or re.match(r"[\w*]", after):
                    faults.append(f"a letter, a digit or a star next to the dollar sign of ${latex}$: {line}")
                found.append(Formula(latex, display=False, in_table=line.lstrip().startswith("|")))
    return found, faults


def faults_of(formula):
    """What is wrong with a formula, in words."""
    wrong = [why for pattern, why in ACTIVE if re.search(pattern, formula.latex)]
    for opening, closing in ((r"{", r"}"), (r"\\left(?![a-z])", r"\\right(?![a-z])"), (r"\\begin{", r"\\end{")):
        if len(re.findall(opening, formula.latex)) != len(re.findall(closing, formula.latex)):
            wrong.append(f"not as many {opening} as {closing}")
    if formula.in_table and "|" in formula.latex:
        wrong.append("`|` ends a table's cell: \\lvert, \\rvert")
    try:
        mathml = ElementTree.fromstring(convert(formula.latex))
    except Exception as error:  # whatever the converter or the parser says, the formula cannot be shown
        return [*wrong, f"{type(error).__name__}: {error}"]
    texts = [node.text or "" for node in mathml.iter()]
    wrong += [f"left over: {text}" for text in texts if re.search(r"[\\&$^_]", text)]
    return wrong


def wrong_on(text):
    found, faults = formulas(text)
    return faults + [f"{why}: {formula.latex}" for formula in found for why in faults_of(formula)]


def plain_formulas(text):
    """Words outside formulas, code and links that have exponents, subscripts or inequalities in them."""
    prose = re.sub(r"\$\$?[^$]+\$\$?", "", without_code(text))
    prose = re.sub(r"\[[^]]*\]\([^)]*\)", "", prose)
    return re.findall(r"\S*(?:\^|(?<!\w)[A-Za-z]_\w|\beps_|<=|>=|\bsqrt\(|\bepsilon ?/)\S*", prose)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_formula_can_be_shown(page):
    assert wrong_on(page.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("page", PROOFS, ids=lambda page: page.stem)
def test_no_formula_of_a_proof_is_left_in_plain_text(page):
    assert plain_formulas(page.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    "text",
    [
        r"odd $x",
        r"two lines $x +" + "\n" + "y$ more",
        r"a blank $ x$",
        r"a letter $x$th",
        r"a star *$x$*",
        r"in words $$x$$ it goes on",
        "    $$x$$",
        "- item\n\n  $$x$$",
        "- item\n\n    $$x$$\n\n    more\n- next item",
        "# heading of $x$",
        r"lost $\lbrase x$",
        r"lost $\bigl\lbrace x$",
        r"braces $\frac{1}{2$",
        r"aligned $\begin{aligned} a &= b \cr c &= d \end{aligned}$",
        r"emphasis $S'_g$ and $S'_h$",
        r"emphasis $\mathrm{a}_{b}$",
        r"emphasis $a * b * c$",
        r"eaten $\{1, 2\}$",
        r"eaten $a\,b$",
        r"HTML $a<b$",
        r"two symbols $\varepsilon$",
        r"| a cell | $|x|$ |",
    ],
)
def test_a_formula_that_would_show_wrongly_is_noticed(text):
    assert wrong_on(text)


@pytest.mark.parametrize("words", ["e^epsilon", "of w_t at", "eps_p", "T(y) >= l", "sqrt(n)", "with epsilon / 2"])
def test_a_formula_in_plain_text_is_noticed(words):
    assert plain_formulas(f"Let it be {words}, with $x_i \\le 1$.")
    assert plain_formulas(f"Let it be `{words}`, with $x_i \\le 1$.") == []


def test_good_formulas_and_dollars_in_code_pass():
    text = (
        "Let $x_i \\le 2^{n}$, and ($\\left| x \\right| < 1$).\n\n$$ \\sum_{i=1}^{n} x_i \\ge \\frac{1}{2} $$\n\n"
        "- item\n\n    $$ \\Pr[Z = z] $$\n\n```console\n$ tukeydp demo\n```\n\n"
        "A price `$5` is `a_b`.\n\n| a | $\\lvert x \\rvert$ |"
    )
    found, faults = formulas(text)
    assert faults == []
    assert [formula.display for formula in found] == [False, False, True, True, False]
    assert wrong_on(text) == []
