"""The documentation site: built once with warnings as errors, read page by page, and opened in a browser."""

from __future__ import annotations

import fcntl
import importlib
import os
import subprocess
import sys

import pytest

import tukeydp as td
from support.browser import PHONE, browser
from support.references import ROOT
from support.site import RAW, defects, pages, visitor

DOCS = ROOT / "docs"


def build(config, folder):
    """`make docs`, into another folder."""
    command = [
        sys.executable,
        "-m",
        "mkdocs",
        "build",
        "--strict",
        "--config-file",
        str(config),
        "--site-dir",
        str(folder),
    ]
    environment = os.environ | {"NO_MKDOCS_2_WARNING": "1", "PYTHONPATH": str(ROOT / "src")}
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=environment)


@pytest.fixture(scope="session")
def site(tmp_path_factory, worker_id):
    """Built once for all workers: the first holds the lock, the others wait for it."""
    base = tmp_path_factory.getbasetemp()
    shared = base if worker_id == "master" else base.parent
    folder, done = shared / "site", shared / "site-built"
    with (shared / "site-lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists():
            result = build(ROOT / "mkdocs.yml", folder)
            done.write_text("" if result.returncode == 0 else result.stderr + result.stdout, encoding="utf-8")
    if problem := done.read_text(encoding="utf-8"):
        pytest.fail(f"the site does not build without warnings:\n{problem}")
    return folder


@pytest.fixture(scope="module")
def chromium():
    with browser() as started:
        yield started


def test_every_page_is_there_and_nothing_on_it_is_broken(site):
    sources = {path.relative_to(DOCS).with_suffix(".html") for path in (*DOCS.rglob("*.md"), *DOCS.rglob("*.ipynb"))}
    expected = {path.with_name("index.html") if path.stem == "README" else path for path in sources}
    built = {path.relative_to(site) for path in pages(site)}
    assert expected <= built
    assert {"changelog.html", "contributing.html", "security.html"} <= {str(path) for path in built - expected}
    assert defects(site) == []


def test_every_public_name_has_an_entry(site):
    entries = {
        anchor for path, page in pages(site).items() if path.parent.name == "reference" for anchor in page.anchors
    }
    assert [name for name in public_names() if not entries & addresses(*name)] == []
    assert not entries & addresses("tukeydp", "average")  # the control


def public_names():
    """(module, name) for all that is public."""
    found = [("tukeydp", name) for name in td.__all__ if name != "baselines"]
    found += [("tukeydp.baselines", name) for name in td.baselines.__all__]
    found += [("tukeydp.plots", name) for name in importlib.import_module("tukeydp.plots").__all__]
    for path in sorted((ROOT / "src" / "tukeydp" / "integrations").glob("[!_]*")):
        module = f"tukeydp.integrations.{path.stem}"
        found += [(module, name) for name in importlib.import_module(module).__all__]
    return found


def addresses(module, name):
    """Where a name may stand: under its public address, or where it is defined."""
    value = getattr(importlib.import_module(module), name, None)
    return {f"{module}.{name}", f"{getattr(value, '__module__', module)}.{name}"}


def test_every_page_opens_at_both_sizes(site, chromium):
    """From its folder: no complaints, nothing sideways, formulas laid out, none left as it was written."""
    wrong, formulas = {}, 0
    with visitor(chromium) as visit:
        for path in pages(site):
            page = visit(path.as_uri())
            formulas += len(page.formulas)
            problems = [*page.complaints, *(f"{by} px sideways at {size}" for size, by in page.sideways.items() if by)]
            problems += ["a formula without a size"] * (not all(side > 1 for side in page.formulas))
            if problems:
                wrong[path.name] = problems
    assert wrong == {}
    assert formulas > 0


def test_a_bad_page_is_noticed_in_the_browser(chromium, tmp_path):
    """The control: each of these is wrong in one way."""
    bodies = {
        "complaints": "<script>nothing.here()</script>",
        "sideways": "<div style='width:700px'>wide</div>",
        "formulas": "<math style='display:none'><mi>x</mi></math>",
    }
    with visitor(chromium) as visit:
        for kind, body in bodies.items():
            page = tmp_path / f"{kind}.html"
            page.write_text(f"<!doctype html><title>x</title><link rel='icon' href='data:,'><body>{body}")
            seen = visit(page.as_uri())
            noticed = {
                "complaints": bool(seen.complaints),
                "sideways": seen.sideways[PHONE] > 0,
                "formulas": any(side <= 1 for side in seen.formulas),
            }
            assert noticed == {name: name == kind for name in noticed}


def test_search_works_from_a_folder(site, chromium):
    tab = chromium.new_page()
    try:
        tab.goto((site / "index.html").as_uri(), wait_until="load")
        tab.click("[data-md-component=search-query]")
        for words, leads, said in (("subset means", "mean", "matching documents"), ("zzxqy", None, "No matching")):
            tab.fill("[data-md-component=search-query]", "")
            tab.type("[data-md-component=search-query]", words)
            tab.wait_for_function(
                "said => document.querySelector('.md-search-result__meta').textContent.includes(said)", arg=said
            )
            links = tab.locator(".md-search-result__item a").evaluate_all("nodes => nodes.map(node => node.href)")
            assert bool(links) == bool(leads)
            assert all(link.startswith("file:") for link in links)
            assert not leads or any(leads in link for link in links)
    finally:
        tab.close()


def test_light_and_dark_copying_and_links_to_sections(site, chromium):
    tab = chromium.new_page(color_scheme="light")
    try:
        tab.goto((site / "quick-start.html").as_uri(), wait_until="load")
        scheme = "document.body.getAttribute('data-md-color-scheme')"
        assert tab.evaluate(scheme) == "default"
        tab.click("label.md-header__button[title=Dark]")
        assert tab.evaluate(scheme) == "slate"
        assert tab.locator("h2 a.headerlink").count() == tab.locator("article h2").count() > 3
        assert tab.locator("pre .md-clipboard, .highlight .md-code__button").count() > 3
    finally:
        tab.close()


def test_a_defect_on_a_page_is_noticed(tmp_path):
    """The control of the crawl: one page for each kind."""
    (tmp_path / "good.html").write_text("<h2 id='a'>A</h2><img src='data:,' alt='a dot'><a href='#a'>up</a>")
    assert defects(tmp_path) == []
    wrong = {
        "link": "<a href='missing.html'>x</a>",
        "folder": "<a href='.'>x</a>",
        "anchor": "<a href='good.html#b'>x</a>",
        "own": "<a href='#b'>x</a>",
        "picture": "<img src='missing.png' alt='x'>",
        "alternative": "<img src='data:,'>",
        "script": "<script src='https://example.org/a.js'></script>",
        "font": "<link rel='stylesheet' href='//example.org/a.css'>",
        **{f"raw{number}": f"<p>before {mark}x</p>" for number, mark in enumerate(RAW)},
    }
    for name, body in wrong.items():
        (tmp_path / f"{name}.html").write_text(body)
    assert [defect.partition(".html")[0] for defect in defects(tmp_path)] == sorted(wrong)


def test_a_wrong_source_stops_the_build(tmp_path):
    """A page outside the navigation, a listed page that is missing, a link and an anchor that lead nowhere."""
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "index.md").write_text("# Home\n\n[gone](gone.md) and [below](faq.md#gone)\n")
    (docs / "faq.md").write_text("# FAQ\n")
    (docs / "stray.md").write_text("# Stray\n")
    config = tmp_path / "mkdocs.yml"
    config.write_text(
        f"INHERIT: {ROOT}/mkdocs.yml\ndocs_dir: {docs}\nhooks: [{ROOT}/tools/docs_hooks.py]\n"
        "theme: {name: mkdocs}\nplugins: []\nextra_css: []\n"
    )
    result = build(config, tmp_path / "site")
    assert result.returncode != 0
    said = result.stderr
    for part in ("stray.md", "'install.md' is included in the 'nav'", "'gone.md'", "anchor '#gone'"):
        assert part in said, (part, said)
