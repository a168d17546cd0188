"""Hooks of the documentation site (`mkdocs.yml`): navigation, pages from the root, notebooks, formulas, links."""

from __future__ import annotations

from pathlib import Path

from docsite.formulas import Formulas
from docsite.links import ROOT, ROOT_PAGES, Links
from docsite.navigation import Entry, navigation
from docsite.notebooks import markdown_of
from docsite.reference import PAGE as INTEGRATIONS
from docsite.reference import integrations, shown
from docsite.sessions import Sessions
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

LINKS = Links()


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    config.markdown_extensions += [Formulas(), LINKS, Sessions()]
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Files of the root and notebooks become pages; then there is a navigation."""
    for source, page in ROOT_PAGES.items():
        if files.get_file_from_path(page) is None:
            text = (ROOT / source).read_text(encoding="utf-8")
            files.append(File.generated(config, page, content=text))
    for file in [file for file in files if file.src_uri.endswith(".ipynb")]:
        files.remove(file)
        text = markdown_of(Path(file.abs_src_path))
        files.append(File.generated(config, file.src_uri.removesuffix(".ipynb") + ".md", content=text))
    pages = [file.src_uri for file in files.documentation_pages()]
    config.nav = _as_nav(navigation(Path(config.docs_dir), pages))
    return files


def _as_nav(entries: list[Entry]) -> list[dict[str, object]]:
    return [{title: _as_nav(leads) if isinstance(leads, list) else leads} for title, leads in entries]


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    LINKS.page = page.file.src_uri
    return f"{markdown}\n{integrations()}\n" if page.file.src_uri == INTEGRATIONS else markdown


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:
    return shown(output) if page.file.src_uri.startswith("reference/") else output


def on_post_build(config: MkDocsConfig) -> None:
    """The theme's page for servers has addresses that start at a server's root: broken in a folder."""
    (Path(config.site_dir) / "404.html").unlink()
