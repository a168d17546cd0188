"""What makes the site: formulas, links, sessions, notebooks, the navigation; and the page of extras."""

from __future__ import annotations

import importlib
import re
import tomllib

import markdown
import nbformat
import pytest
from nbclient.exceptions import CellExecutionError

import tukeydp as td
from support.references import ROOT

DOCS = ROOT / "docs"


@pytest.fixture
def docsite(monkeypatch):
    """A module of the hooks by its name."""
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    return lambda name: importlib.import_module(f"docsite.{name}")


FORMULAS = r"""# The size of $Y_\ell$

Inline $e^{\varepsilon T(y)/2}$, a price of $5 and a `$x$` in code.

$$
\Pr[M(x) \in S] \le e^{\varepsilon} \Pr[M(x') \in S] + \delta, \qquad
\begin{cases} 1 & x < y \\ 0 & \text{otherwise} \end{cases}
$$
"""


def converted(docsite, text):
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
    assert "long" not in html
    assert 'class="arithmatex long"' in converted(docsite, f"${'x + ' * 12}y$")[0]
    assert contents[0]["name"] == "The size of Y\u2113"


@pytest.mark.parametrize("formula", [r"\nosuchcommand x", r"\frac{1}{2", r"x_{", r"}x{", r"\sqrt[3", r"a & b"])
def test_a_formula_that_does_not_convert_stops_the_build(docsite, formula):
    with pytest.raises(docsite("formulas").FormulaError, match="does not convert"):
        converted(docsite, f"Here: ${formula}$")


def test_links_to_the_repository(docsite):
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


def test_sessions_in_docstrings_are_shown_as_code(docsite):
    lines = ["Text:", "", ">>> 1", "1", "", "```", ">>> 2", "```", ">>> 3"]
    marked = list(docsite("sessions").marked(lines))
    assert marked[2:6] == ["```pycon", ">>> 1", "1", "```"]
    assert marked[7:10] == lines[5:8]
    assert marked[10:] == ["```pycon", ">>> 3", "```", ""]


def test_reference_pages_show_names_and_link_to_pages(docsite):
    item = (
        '<li class="doc-section-item field-body">\n<b><code>sd</code></b>\n(<code>Any</code>, default: <code>1</code>)'
    )
    shown = docsite("reference").shown(f"{item}\n\u2013 text (docs/proofs/README.md)")
    assert "default" not in shown
    assert '</b>\n\u2013 text (<a href="../proofs/index.html">docs/proofs/README.md</a>)' in shown


def notebook(*sources, outputs=()):
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
