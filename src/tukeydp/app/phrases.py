"""All texts of the page that are its own: one table. Another language is one more file in `phrases/`.

What the library says (forecasts, guarantees, footnotes, rules that a parameter breaks) comes from the library.
"""

from __future__ import annotations

import re
import tomllib
from importlib.resources import files
from typing import Any

from tukeydp.trusted.parameters import checked_choice

FOLDER = files("tukeydp.app") / "phrases"


def languages() -> list[str]:
    return sorted(file.name.removesuffix(".toml") for file in FOLDER.iterdir() if file.name.endswith(".toml"))


def phrases(language: str = "en") -> dict[str, Any]:
    """The texts by screen and name."""
    checked_choice("language", language, languages())
    return tomllib.loads((FOLDER / f"{language}.toml").read_text(encoding="utf-8"))


# `--missing 'pain [0-10]=99'`: on the page every column has a field of its own.
_PASSED = re.compile(r"pass --(missing|detection) (?:'[^']*=([^'=]*)'|[^\s']*=([^\s',;]*))")
_PERSON = re.compile(r"pass --person (?:'[^']*'|\S+)")


def without_flags(text: str, labels: dict[str, str]) -> str:
    """Options of the command line, `sd=` of Python, and the parameter that breaks a rule, as the page calls them."""
    text = _PASSED.sub(lambda told: labels["write"].format(value=told[2] or told[3], field=labels[told[1]]), text)
    text = _PERSON.sub(labels["choose-person"], text)
    found = re.compile(r"--([a-z-]+)|\bsd=|^(confidence|error|n)(?= must)|tukeydp (look|mean)\b")
    return found.sub(
        lambda flag: f"\u201c{labels.get(flag[flag.lastindex] if flag.lastindex else 'sd', flag[1])}\u201d", text
    )
