"""What is in the navigation, and in which order. Folders bring their pages themselves.

A page that is listed and does not exist, and a page that exists and is not listed, stop the strict build.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

# Pages that are written elsewhere at this moment: left out until they exist. Empty this list once they do.
AWAITED: set[str] = set()

Entry = tuple[str, "str | list[Entry]"]

START = [
    ("Home", "index.md"),
    ("Install", "install.md"),
    ("Quick start", "quick-start.md"),
    ("Which mechanism when", "which-mechanism.md"),
    ("FAQ", "faq.md"),
]
EXAMPLES = [
    ("A hospital table with groups", "examples/hospital.md"),
    ("A survey", "examples/survey.md"),
    ("pandas and scikit-learn", "examples/pandas-scikit-learn.md"),
    ("For the privacy engineer", "examples/privacy-engineer.md"),
    ("Notebook: a first release", "notebooks/first-release.md"),
    ("Notebook: plan and Table 1", "notebooks/plan-and-table-one.md"),
]
# Short titles; a page that is not named here comes last, under its own heading.
GUIDES = {
    "app.md": "A page for those who do not program",
    "planning.md": "Planning",
    "files.md": "Files",
    "larger-than-memory.md": "Tables larger than memory",
    "streams.md": "More rows than memory",
    "cluster.md": "Ten billion rows",
    "releases.md": "Releases",
    "groups.md": "Groups, persons, quantiles",
    "intervals.md": "How often intervals hold",
    "summary.md": "Table 1",
    "counts.md": "Categories",
    "aggregate.md": "Any statistic, regression",
    "budgets.md": "Budgets",
    "scikit-learn.md": "scikit-learn",
    "opendp.md": "OpenDP",
    "audit.md": "Audit",
    "reproduce.md": "Reproduce the paper",
}
PROOFS = {
    "README.md": "Claim, function, test",
    "boxem.md": "boxem",
    "exact-depth.md": "Exact depth",
    "rem.md": "rem",
    "mean.md": "Means and spread",
    "groups.md": "Groups",
    "persons.md": "Persons",
    "add-remove.md": "Secret number of rows",
    "streams.md": "Rows that are streamed",
    "quantiles.md": "Quantiles",
    "counts.md": "Counts of categories",
    "aggregate.md": "Any statistic, regression",
    "readable-check.md": "Readable rows",
    "composition.md": "Composition",
    "baselines.md": "Baselines",
    "algorithm3.md": "Algorithm 3",
    "opendp.md": "OpenDP",
}
REFERENCE = {
    "index.md": "Overview",
    "means.md": "Means",
    "centres.md": "Centres",
    "statistics.md": "Other statistics",
    "results.md": "Releases and guarantees",
    "planning.md": "Files, planning and budgets",
    "baselines.md": "Baselines",
    "geometry.md": "Geometry and pictures",
    "integrations.md": "Integrations",
}


def navigation(docs: Path, pages: Iterable[str]) -> list[Entry]:
    """The navigation for the pages that there are."""
    there = set(pages)
    everything: list[Entry] = [
        ("Start", START),
        ("Examples", EXAMPLES),
        ("Guides", _folder(docs, "guide", GUIDES, there)),
        (
            "Why to trust it",
            [
                ("How it works", "how-it-works.md"),
                ("Proofs", _folder(docs, "proofs", PROOFS, there)),
                ("What the guarantee rests on", "trust.md"),
                ("What the machine-checked proofs state", "statements.md"),
                ("Threat model", "threat-model.md"),
                ("Audit results", "results/audit.md"),
                ("Other people's testers", "results/other-testers.md"),
                ("Reproduction results", "results/reproduction.md"),
                ("Errata", "errata.md"),
                ("Comparison with other libraries", "comparison.md"),
                ("Speed and limits", "speed.md"),
            ],
        ),
        ("API reference", _folder(docs, "reference", REFERENCE, there)),
        (
            "Project",
            [
                ("Glossary", "glossary.md"),
                ("Architecture", "architecture.md"),
                ("Extending", "extending.md"),
                ("Decisions", _folder(docs, "decisions", {"README.md": "Overview"}, there)),
                ("Stability", "stability.md"),
                ("Security", "security.md"),
                ("Changelog", "changelog.md"),
                ("Contributing", "contributing.md"),
                ("Releasing", "releasing.md"),
            ],
        ),
    ]
    return _existing(everything, there)


def _existing(entries: list[Entry], there: set[str]) -> list[Entry]:
    """Without what is awaited; what else is missing stays, and stops the build."""
    kept: list[Entry] = []
    for title, leads in entries:
        if isinstance(leads, list):
            if below := _existing(leads, there):
                kept.append((title, below))
        elif leads in there or leads not in AWAITED:
            kept.append((title, leads))
    return kept


def _folder(docs: Path, folder: str, titles: dict[str, str], there: set[str]) -> list[Entry]:
    """The named pages in their order, then the others of the folder by name."""
    others = sorted(page for page in there if page.startswith(f"{folder}/"))
    named: list[Entry] = [(title, f"{folder}/{name}") for name, title in titles.items()]
    return named + [(heading(docs / page), page) for page in others if page.removeprefix(f"{folder}/") not in titles]


def heading(path: Path) -> str:
    found = re.search(r"^# (.+)$", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    if found is None:
        raise ValueError(f"{path.name} has no heading")
    return found[1]
