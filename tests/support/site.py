"""What can be wrong with a folder of HTML pages that must open without a server or a network."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

from support.browser import DESKTOP, PHONE

HEADINGS = {f"h{level}" for level in range(1, 7)}
RAW = ("$$", "\\(", "\\[", "](")  # delimiters of a formula, or of a link, that were left as they are
QUOTED = {"code", "pre", "script", "style"}


@dataclass
class Page(HTMLParser):
    """One page: where it leads, what it loads, what it shows."""

    links: list[str] = field(default_factory=list)
    loads: list[str] = field(default_factory=list)
    pictures: list[tuple[str, str]] = field(default_factory=list)  # address, alternative text
    anchors: set[str] = field(default_factory=set)
    text: list[str] = field(default_factory=list)  # outside of code

    def __post_init__(self) -> None:
        super().__init__()
        self._quoted = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        self.anchors |= {found[name] for name in ("id", "name") if name in found}
        self._quoted += tag in QUOTED
        if tag == "a" and "href" in found:
            self.links.append(found["href"])
        if tag == "img":
            self.pictures.append((found.get("src", ""), found.get("alt", "")))
        if tag in ("script", "img", "iframe", "source") and "src" in found:
            self.loads.append(found["src"])
        if tag == "link" and found.get("rel") not in ("next", "prev", "canonical"):
            self.loads.append(found["href"])

    def handle_endtag(self, tag: str) -> None:
        self._quoted -= tag in QUOTED

    def handle_data(self, data: str) -> None:
        if not self._quoted:
            self.text.append(data)


def read(path: Path) -> Page:
    page = Page()
    page.feed(path.read_text(encoding="utf-8"))
    page.close()
    return page


def pages(folder: Path) -> dict[Path, Page]:
    return {path: read(path) for path in sorted(folder.rglob("*.html"))}


def defects(folder: Path) -> list[str]:
    """Every broken link, anchor and picture, everything loaded from elsewhere, every formula that was left as it is."""
    known = pages(folder)
    return [f"{path.relative_to(folder)}: {defect}" for path in known for defect in _defects(path, known)]


def _defects(path: Path, known: dict[Path, Page]) -> Iterator[str]:
    page = known[path]
    for link in page.links:
        if not _elsewhere(link) and (wrong := _broken(path, link, known)):
            yield wrong
    for address in page.loads:
        if address.startswith("data:"):
            continue
        if _elsewhere(address):
            yield f"loads {address} from elsewhere"
        elif not _target(path, address).exists():
            yield f"{address} is missing"
    for address, alternative in page.pictures:
        if not alternative.strip():
            yield f"no alternative text for {address[:80]}"
    for text in page.text:
        if any(mark in text for mark in RAW):
            yield f"raw: {text.strip()[:80]}"


def _elsewhere(address: str) -> bool:
    return address.startswith("//") or ":" in address.partition("/")[0]


def _target(path: Path, address: str) -> Path:
    return (path.parent / unquote(address.partition("#")[0].partition("?")[0])).resolve()


def _broken(path: Path, link: str, known: dict[Path, Page]) -> str:
    target = _target(path, link) if link.partition("#")[0] else path
    anchor = unquote(link.partition("#")[2])
    if not target.is_file():
        return f"{link} leads nowhere"
    if anchor and target in known and anchor not in known[target].anchors | {"__search", "__drawer"}:
        return f"{link}: no such anchor"
    return ""


# Formulas of a page that has been laid out: the smaller side of each in pixels.
MEASURE = """() => ({
    text: document.body.innerText,
    sideways: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    formulas: Array.from(document.querySelectorAll("math"), m => {
        const box = m.getBoundingClientRect(); return Math.min(box.width, box.height) }),
})"""


@dataclass(frozen=True)
class Visit:
    complaints: list[str]
    text: str
    formulas: list[float]
    sideways: dict[tuple[int, int], int]  # by size of the window


@contextmanager
def visitor(started):
    """Opens pages one after the other in one tab: `visit(address)`; each is loaded once and measured at both sizes."""
    tab = started.new_page(viewport={"width": DESKTOP[0], "height": DESKTOP[1]})
    complaints: list[str] = []
    tab.on("console", lambda said: said.type in ("error", "warning") and complaints.append(said.text))
    tab.on("pageerror", lambda error: complaints.append(str(error)))
    tab.on("requestfailed", lambda request: complaints.append(f"{request.url[:200]} {request.failure}"))

    def visit(address: str) -> Visit:
        complaints.clear()
        tab.set_viewport_size({"width": DESKTOP[0], "height": DESKTOP[1]})
        tab.goto(address, wait_until="load")
        sizes = {DESKTOP: tab.evaluate(MEASURE)}
        tab.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})
        sizes[PHONE] = tab.evaluate(MEASURE)
        found = sizes[DESKTOP]
        formulas = found["formulas"] + sizes[PHONE]["formulas"]
        sideways = {size: seen["sideways"] for size, seen in sizes.items()}
        return Visit(list(complaints), found["text"], formulas, sideways)

    try:
        yield visit
    finally:
        tab.close()
