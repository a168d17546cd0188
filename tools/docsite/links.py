"""Links from pages to files of the repository: right on the site too.

Pages link to what lies beside them in the repository. On the site a link to a folder of pages leads to its overview,
one to a file at the root that has a page (`ROOT_PAGES`) to that page, and one to any other file, such as a test,
becomes its text with the path as a hint: the site holds no sources, and knows of no address that does. A link to a file
that does not exist stays as it is, and the strict build stops there.
"""

from __future__ import annotations

import posixpath
from pathlib import Path
from xml.etree import ElementTree

from markdown import Extension, Markdown
from markdown.treeprocessors import Treeprocessor

ROOT = Path(__file__).resolve().parents[2]
DOCS = "docs"
# Files outside docs/, and the pages of the site that show them.
ROOT_PAGES = {
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "README.md": "index.md",
    "proofs/STATEMENTS.md": "statements.md",
}
OVERVIEWS = ("README.md", "index.md")


class Links(Extension):
    """Knows the page that is being converted: `docs_hooks.py` sets it."""

    page = ""  # as the site names it: proofs/boxem.md

    def extendMarkdown(self, md: Markdown) -> None:
        md.treeprocessors.register(_Links(self, md), "repository-links", 10)


class _Links(Treeprocessor):
    def __init__(self, links: Links, md: Markdown) -> None:
        super().__init__(md)
        self._links = links

    def run(self, root: ElementTree.Element) -> None:
        for element in root.iter("a"):
            target = element.get("href", "")
            path, hash_sign, anchor = target.partition("#")
            if path and ":" not in path:
                self._lead(element, path, hash_sign + anchor)

    def _lead(self, element: ElementTree.Element, path: str, anchor: str) -> None:
        page = self._links.page
        file = repository_file(page, path)
        found = page_of(file)
        if found is not None:
            element.set("href", posixpath.relpath(found, posixpath.dirname(page) or ".") + anchor)
        elif (ROOT / file).exists() and not file.startswith(f"{DOCS}/"):
            element.tag = "span"
            element.attrib = {"class": "repository-file", "title": f"{file}, in the repository"}


def repository_file(page: str, path: str) -> str:
    """The file of the repository that a page's link means; a page that shows a file of the root stands there."""
    shown = {name: file for file, name in ROOT_PAGES.items() if file != "README.md"}
    folder = "" if page in shown else posixpath.join(DOCS, posixpath.dirname(page))
    return posixpath.normpath(posixpath.join(folder, path))


def page_of(file: str) -> str | None:
    """The page that shows a file or folder of the repository; None where there is none."""
    if file in ROOT_PAGES:
        return ROOT_PAGES[file]
    if file != DOCS and not file.startswith(f"{DOCS}/"):
        return None
    path = ROOT / file
    if path.is_dir():
        return next((posixpath.relpath(f"{file}/{name}", DOCS) for name in OVERVIEWS if (path / name).exists()), None)
    # Notebooks are pages of the site: `notebooks.py`.
    return posixpath.relpath(file.replace(".ipynb", ".md"), DOCS) if path.exists() else None
