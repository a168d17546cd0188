"""Reference pages: the names of `tukeydp.integrations`, parameters by name and sentence, pages that docstrings name."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from docsite.links import ROOT

PAGE = "reference/integrations.md"
PACKAGE = ROOT / "src" / "tukeydp" / "integrations"


def integrations(package: Path = PACKAGE) -> str:
    """A section for each module, an entry for each of its names."""
    parts = []
    for path in sorted(package.glob("[!_]*")):
        source = path / "__init__.py" if path.is_dir() else path
        if source.suffix == ".py" and source.exists():
            name = f"tukeydp.integrations.{path.stem}"
            parts.append(f"::: {name}\n    options:\n      members: false\n      show_root_full_path: true")
            parts += [f"::: {name}.{public}\n    options:\n      heading_level: 3" for public in public_names(source)]
    return "\n\n".join(parts)


def public_names(source: Path) -> list[str]:
    """What `__all__` holds, read and not imported: the libraries need not be installed."""
    for node in ast.parse(source.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and [ast.unparse(target) for target in node.targets] == ["__all__"]:
            return ast.literal_eval(node.value)
    raise ValueError(f"{source} has no __all__: what is public in it?")


# In a list of parameters: a name, its annotation and default in brackets, a dash.
LISTED = re.compile(
    r'(<li class="doc-section-item field-body">\s*<b><code>[^<]*</code></b>)\s*\(.*?\)(?=\s*\u2013)', re.DOTALL
)


# A page that a docstring names, as in the repository.
NAMED = re.compile(r"(?<![\w/])docs/(?P<folder>[a-z]+/)?(?P<name>[\w-]+)\.md")


def shown(html: str) -> str:
    """Parameters without annotation and default, and named pages as links.

    The signature above has annotations and defaults, and of `a, b` together both would get those of `a`.
    """
    return NAMED.sub(_link, LISTED.sub(r"\1", html))


def _link(named: re.Match[str]) -> str:
    name = "index" if named["name"] == "README" else named["name"]
    return f'<a href="../{named["folder"] or ""}{name}.html">{named[0]}</a>'
