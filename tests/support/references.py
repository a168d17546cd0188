"""What pages and code say about each other: names, paths, sections. Reads files; imports nothing from the package."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
BASES = (ROOT, ROOT / "src" / "tukeydp", ROOT / "tests")

SPAN = re.compile(r"`([^`\n]+)`")
FENCE = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\]\(([^)\s]+)\)")
NAME = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")
PATH = re.compile(r"[\w.-]*/[\w./-]*|[\w-]+\.(py|md)")
HEADING = re.compile(r"^#+ (?:(\d+)\. )?(.+)$", re.MULTILINE)
ITEM = re.compile(r"^(\d+)\. \*\*", re.MULTILINE)
SECTION = re.compile(r"(docs/[\w/-]+\.md)(?:,? (?:sections? )?(\d+(?:(?:, | and | to )\d+)*)\b|, \"([^\"]+)\")?")


def prose(text: str) -> str:
    """A page without its blocks of code."""
    return FENCE.sub("", text)


def joined(code: str) -> str:
    """Code with wrapped comments and docstrings on one line, so that a reference is not cut in two."""
    return re.sub(r"\s*\n\s*#?\s*", " ", code)


@cache
def definitions(path: Path) -> frozenset[str]:
    """Qualified names that a module defines: functions, classes, their members and fields, constants, imports."""
    found: set[str] = set()

    def visit(body: list[ast.stmt], prefix: str) -> None:
        for node in body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                found.add(prefix + node.name)
                if isinstance(node, ast.ClassDef):
                    visit(node.body, f"{prefix}{node.name}.")
                    found.update(f"{prefix}{node.name}.{name}" for name in _attributes(node))
            elif isinstance(node, ast.Assign | ast.AnnAssign):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                found.update(prefix + name.id for t in targets for name in ast.walk(t) if isinstance(name, ast.Name))
            elif isinstance(node, ast.Import | ast.ImportFrom):
                found.update(prefix + (alias.asname or alias.name) for alias in node.names)

    visit(ast.parse(path.read_text(encoding="utf-8")).body, "")
    return frozenset(found)


def _attributes(node: ast.ClassDef) -> Iterator[str]:
    for part in ast.walk(node):
        if isinstance(part, ast.Attribute) and isinstance(part.ctx, ast.Store):
            yield part.attr


@cache
def modules() -> dict[str, Path]:
    """Every module of the package and of the tests by its dotted name, without `tukeydp`."""
    found = {}
    for base in (ROOT / "src" / "tukeydp", ROOT / "tests"):
        for path in base.rglob("*.py"):
            parts = path.relative_to(base).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


@cache
def words() -> frozenset[str]:
    """Every name that a single word may stand for: definitions, members, parameters, modules."""
    found: set[str] = set()
    for name, path in modules().items():
        found.update(name.split("."))
        for definition in definitions(path):
            found.update(definition.split("."))
        tree = ast.parse(path.read_text(encoding="utf-8"))
        found.update(node.arg for node in ast.walk(tree) if isinstance(node, ast.arg))
    return frozenset(found)


def file_at(path: str, page: Path) -> Path | None:
    """The file or folder that a page means: from the root, the package, the tests, or the page itself."""
    for base in (*BASES, page.parent):
        if (base / path).exists():
            return base / path
    alone = path.rstrip("/")
    return None if "/" in alone else next((p for base in BASES[1:] for p in base.rglob(alone)), None)


def name_exists(name: str) -> bool:
    """Whether some module, or class of some module, has this name; `td` and `tukeydp` are the package."""
    first, _, rest = name.partition(".")
    if first in ("td", "tukeydp"):
        return not rest or rest in modules() or rest in definitions(modules()[""]) or name_exists(rest)
    if not rest:
        return name in words()
    in_class = any(name in definitions(path) for path in modules().values())
    owner, _, last = name.rpartition(".")
    in_module = any(
        last in definitions(path) for module, path in modules().items() if f".{module}".endswith(f".{owner}")
    )
    deeper = any(rest in definitions(path) for module, path in modules().items() if f".{module}".endswith(f".{first}"))
    return in_class or in_module or deeper


def broken(span: str, page: Path) -> bool:
    """Whether a span of code in a page names something that is not there. Formulas and commands name nothing."""
    path, separator, name = span.partition("::")
    if separator:
        found = file_at(path, page)
        return found is None or not found.is_file() or name not in definitions(found)
    if re.fullmatch(r"test_\w+\.\.\.", span):
        return not any(word.startswith(span[:-3]) for word in words())
    call = re.fullmatch(r"([\w.]+)\(.*\)", span)
    if PATH.fullmatch(span):
        return file_at(span, page) is None
    name = call[1] if call else span
    return bool(NAME.fullmatch(name)) and not name_exists(name)


def broken_spans(text: str, page: Path) -> list[str]:
    return sorted({span for span in SPAN.findall(prose(text)) if broken(span, page)})


def broken_links(text: str, page: Path) -> list[str]:
    targets = {target.partition("#")[0] for target in LINK.findall(prose(text)) if "://" not in target}
    return sorted(target for target in targets if target and not (page.parent / target).exists())


def sections(text: str) -> dict[str, str]:
    """Numbered headings of a page, or numbered items where there are none; other titles stand for themselves."""
    found = {number or title: title for number, title in HEADING.findall(text)}
    return found if any(key.isdigit() for key in found) else found | dict.fromkeys(ITEM.findall(text), "")


def section_references(text: str) -> Iterator[tuple[str, list[str], str]]:
    """(page, numbers, heading) for everything that looks like a reference to a page of docs."""
    for match in SECTION.finditer(joined(text)):
        yield match[1], re.findall(r"\d+", match[2] or ""), match[3] or ""


def unresolved(text: str) -> list[str]:
    """References to pages or sections that are not there."""
    wrong = []
    for page, numbers, heading in section_references(text):
        path = ROOT / page
        if path.exists():
            known = sections(path.read_text(encoding="utf-8"))
        else:
            wrong.append(page)
            continue
        wrong += [f"{page}, {n}" for n in numbers if n not in known]
        if heading and heading not in known.values():
            wrong.append(f"{page}, {heading}")
    return wrong
