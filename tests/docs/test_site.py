"""The documentation site: built once with warnings as errors, read page by page, and opened in a browser."""

from __future__ import annotations

import fcntl
import importlib
import os
import re
import subprocess
import sys
import tomllib

import pytest

import tukeydp as td
from support.browser import PHONE, browser
from support.references import ROOT
from support.site import RAW, defects, pages, visitor

DOCS = ROOT / "docs"
TOOLS = str(ROOT / "tools")


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
    environment = os.environ | {"NO_MKDOCS_2_WARNING": "1", "PYTHONPATH": str(ROOT / "src"), "MPLBACKEND": "agg"}
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


@pytest.fixture
def docsite(monkeypatch):
    """A module of the hooks by its name."""
    monkeypatch.syspath_prepend(TOOLS)
    return lambda name: importlib.import_module(f"docsite.{name}")


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


FORMULAS = r"""# The size of $Y_\ell$

Inline $e^{\varepsilon T(y)/2}$, a price of $5 and a `$x$` in code.

$$
\Pr[M(x) \in S] \le e^{\varepsilon} \Pr[M(x') \in S] + \delta, \qquad
\begin{cases} 1 & x < y \\ 0 & \text{otherwise} \end{cases}
$$
"""


def converted(docsite, text):
    import markdown

    extensions = ["toc", "pymdownx.arithmatex", docsite("formulas").Formulas()]
    converter = markdown.Markdown(extensions=extensions, extension_configs={"pymdownx.arithmatex": {"generic": True}})
    return converter.convert(text), converter.toc_tokens


def test_formulas_become_mathml(docsite):
    html, contents = converted(docsite, FORMULAS)
    assert html.count("<math") == 3
    assert html.count('display="block"') == 1
    assert "\\" not in html
    assert "a price of $5" in html
    assert "<code>$x$</code>" in html
    assert "<mtable>" in html
    assert "&lt;" in html
    assert contents[0]["name"] == "The size of Y\u2113"


@pytest.mark.parametrize("formula", [r"\nosuchcommand x", r"\frac{1}{2", r"x_{", r"}x{", r"\sqrt[3", r"a & b"])
def test_a_formula_that_does_not_convert_stops_the_build(docsite, formula):
    with pytest.raises(docsite("formulas").FormulaError, match="does not convert"):
        converted(docsite, f"Here: ${formula}$")


def test_links_to_the_repository(docsite):
    import markdown

    links = docsite("links").Links()
    converter = markdown.Markdown(extensions=[links])

    def led(page, target):
        links.page = page
        return converter.convert(f"[text]({target})")

    assert 'href="../errata.md#a"' in led("proofs/README.md", "../errata.md#a")
    assert 'href="../changelog.md"' in led("proofs/boxem.md", "../../CHANGELOG.md")
    assert 'href="proofs/README.md"' in led("contributing.md", "docs/proofs/")
    assert 'href="threat-model.md"' in led("security.md", "docs/threat-model.md")
    test = led("proofs/boxem.md", "../../tests/docs/test_site.py")
    assert "href" not in test
    assert 'title="tests/docs/test_site.py, in the repository"' in test
    for target in ("https://example.org/a", "#here", "mailto:a@example.org"):
        assert f'href="{target}"' in led("index.md", target)
    assert 'href="../../tests/gone.py"' in led("proofs/boxem.md", "../../tests/gone.py")  # left for the build to refuse


def notebook(*sources, outputs=()):
    import nbformat

    cells = [nbformat.v4.new_markdown_cell("# A notebook")]
    cells += [nbformat.v4.new_code_cell(source, outputs=list(outputs)) for source in sources]
    return nbformat.writes(nbformat.v4.new_notebook(cells=cells))


def test_a_notebook_is_run_and_shown(docsite, tmp_path):
    path = tmp_path / "tiny.ipynb"
    path.write_text(notebook("import tukeydp as td\nprint(td.__version__)", "6 * 7"), encoding="utf-8")
    page = docsite("notebooks").markdown_of(path)
    assert page.startswith("# A notebook\n\n```python\nimport tukeydp as td")
    assert f"```text\n{td.__version__}\n```" in page
    assert "```text\n42\n```" in page


def test_a_notebook_that_fails_or_has_outputs_stops_the_build(docsite, tmp_path):
    import nbformat
    from nbclient.exceptions import CellExecutionError

    path = tmp_path / "tiny.ipynb"
    path.write_text(notebook("1 / 0"), encoding="utf-8")
    with pytest.raises(CellExecutionError, match="ZeroDivisionError"):
        docsite("notebooks").markdown_of(path)
    path.write_text(notebook("class Figure:\n    __repr__ = lambda self: '<Figure>'\nFigure()"), encoding="utf-8")
    with pytest.raises(ValueError, match="matplotlib inline"):
        docsite("notebooks").markdown_of(path)
    path.write_text(notebook("1", outputs=[nbformat.v4.new_output("stream", text="1")]), encoding="utf-8")
    with pytest.raises(ValueError, match="has outputs"):
        docsite("notebooks").markdown_of(path)


def test_every_extra_is_on_the_page_with_what_it_brings():
    text = (DOCS / "install.md").read_text(encoding="utf-8")
    told = dict(re.findall(r"^\| `(\w+)` \| .+ \| (.+) \|$", text, flags=re.MULTILINE))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = {
        name: [re.match(r"[\w-]+", need)[0] for need in needs]
        for name, needs in project["optional-dependencies"].items()
    }
    assert told.keys() == extras.keys()
    assert {name: brings.split(", ") for name, brings in told.items() if name != "test"} == {
        name: needs for name, needs in extras.items() if name != "test"
    }
    assert set(extras["docs"]) <= set(extras["test"])  # CI builds the site with what the tests need
    least = re.search(r"Python (3\.\d+) or newer", text)[1]
    assert project["requires-python"] == f">={least}"


def test_nothing_is_awaited_that_is_there(docsite):
    """Once a page is written it leaves the list, so that losing it again stops the build."""
    awaited = docsite("navigation").AWAITED
    assert [
        page for page in sorted(awaited) if (DOCS / page).exists() or (DOCS / page).with_suffix(".ipynb").exists()
    ] == []
