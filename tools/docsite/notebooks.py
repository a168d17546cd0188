"""Notebooks as pages: committed without outputs, run when the site is built, shown with what they print and draw.

A cell that fails stops the build, so the outputs on the site are those of this version.
"""

from __future__ import annotations

import base64
from functools import cache
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import nbformat
from nbclient import NotebookClient
from traitlets.config import Config

SECONDS = 300  # for one cell: a hang stops the build instead of holding it for ever
# A picture's alternative text: what its cell says in its metadata under "alt". This where it says nothing.
ALT = "What the code above draws"


def markdown_of(path: Path) -> str:
    """The notebook, run from the start in an empty folder, as a page."""
    return _page(path.read_text(encoding="utf-8"), path.name)


@cache  # `make docs-serve` builds again and again
def _page(text: str, name: str) -> str:
    notebook = nbformat.reads(text, as_version=4)
    if any(cell.get("outputs") for cell in notebook.cells):
        raise ValueError(f"{name} has outputs: clear them, the site makes its own")
    with TemporaryDirectory() as folder, TemporaryDirectory() as sockets:
        # Sockets in a folder of their own: no port is opened.
        config = Config(KernelManager={"transport": "ipc", "ip": f"{sockets}/kernel"})
        resources = {"metadata": {"path": folder}}
        NotebookClient(notebook, timeout=SECONDS, kernel_name="python3", resources=resources, config=config).execute()
    return "\n\n".join(_cell(cell) for cell in notebook.cells) + "\n"


def _cell(cell: Any) -> str:
    if cell.cell_type != "code":
        return cell.source
    alt = cell.metadata.get("alt", ALT)
    return "\n\n".join([f"```python\n{cell.source}\n```", *(_output(output, alt) for output in cell.outputs)])


def _output(output: Any, alt: str) -> str:
    if output.output_type == "stream":
        # What goes to stderr is the machinery's, such as a cache of fonts that is made once.
        return _text(output.text) if output.name == "stdout" else ""
    data = output.data
    if "image/svg+xml" in data:
        encoded = base64.b64encode(data["image/svg+xml"].encode()).decode()
        return f'<img alt="{escape(alt)}" src="data:image/svg+xml;base64,{encoded}">'
    if "image/png" in data:
        return f'<img alt="{escape(alt)}" src="data:image/png;base64,{data["image/png"].strip()}">'
    if "text/html" in data:
        return f'<div class="notebook-output">\n{data["text/html"]}\n</div>'
    if data["text/plain"].startswith("<Figure"):
        raise ValueError("a picture is shown as text: the notebook must begin with %matplotlib inline")
    return _text(data["text/plain"])


def _text(text: str) -> str:
    return f"```text\n{text.rstrip()}\n```"
