"""The notebooks: committed without outputs, and they run from the start."""

from __future__ import annotations

import json
import re

import pytest

from support.references import ROOT

NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))
SECONDS = 120  # for one cell: a hang fails; how long a notebook takes is not measured here


def cells(path, kind):
    return [cell for cell in json.loads(path.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == kind]


def source(cell):
    text = cell["source"]
    return text if isinstance(text, str) else "".join(text)


def problems(path):
    """What a committed notebook must not have."""
    found = []
    for cell in cells(path, "code"):
        if cell["outputs"] or cell["execution_count"] is not None:
            found.append("outputs")
        lines = "\n".join(line for line in source(cell).splitlines() if not line.startswith("%"))
        compile(lines, path.name, "exec")
    for cell in cells(path, "markdown"):
        links = re.findall(r"\]\(([^)#]+)", source(cell))
        found += [link for link in links if "://" not in link and not (path.parent / link).exists()]
    return found


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_has_no_outputs_and_its_links_lead_somewhere(path):
    assert problems(path) == []
    assert source(cells(path, "markdown")[0]).startswith("# ")


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_every_picture_has_words(path):
    drawing = [cell for cell in cells(path, "code") if re.search(r"subplots\(|contours\(|\.plot\(\)", source(cell))]
    assert drawing
    assert all(len(cell["metadata"].get("alt", "").split()) > 8 for cell in drawing)


COPIED = [ROOT / "README.md", ROOT / "docs" / "quick-start.md", ROOT / "docs" / "examples" / "hospital.md", *NOTEBOOKS]


@pytest.mark.parametrize("path", COPIED, ids=lambda path: path.name)
def test_what_people_copy_reads_files_with_the_package_s_own_reader(path):
    """Lines with pandas.read_csv, which 0.1.0 had, let one cell decide about the type of a column."""
    text = path.read_text(encoding="utf-8")
    assert "td.read(" in text
    assert not re.search(r"\bread_(csv|excel|table|fwf)\(", text)


def test_there_are_two():
    assert [path.stem for path in NOTEBOOKS] == ["first-release", "plan-and-table-one"]


def test_an_output_and_a_dead_link_would_be_noticed(tmp_path):
    notebook = json.loads(NOTEBOOKS[0].read_text(encoding="utf-8"))
    first = next(cell for cell in notebook["cells"] if cell["cell_type"] == "code")
    first["outputs"] = [{"output_type": "stream", "name": "stdout", "text": "1"}]
    notebook["cells"][0]["source"] = "# [dead](nowhere.md)"
    path = tmp_path / "wrong.ipynb"
    path.write_text(json.dumps(notebook), encoding="utf-8")
    found = problems(path)
    assert {"outputs", "nowhere.md"} <= set(found)


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
@pytest.mark.filterwarnings("default")  # of the machinery of notebooks; what a cell warns of is looked at below
def test_it_runs_and_shows_its_pictures(path, tmp_path):
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    notebook = nbformat.read(path, as_version=4)
    place = {"metadata": {"path": str(tmp_path)}}
    nbclient.NotebookClient(notebook, timeout=SECONDS, kernel_name="python3", resources=place).execute()
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    assert sum("image/png" in output.get("data", {}) for output in outputs) >= 3
    assert not [output.text for output in outputs if output.get("name") == "stderr"]
