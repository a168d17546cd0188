"""The Python script and the notebook that repeat a release. The data are not in them, nor any cell."""

from __future__ import annotations

import json
from pprint import pformat

from tukeydp.app.choices import Choices
from tukeydp.data.look import declared
from tukeydp.data.readers.options import ReadOptions
from tukeydp.version import __version__

_ABOUT = (
    "Repeats a release that was made with `tukeydp app` ({version}).\n\n"
    "The data are not in here: put the file beside this. Running it is another release: it draws anew, and costs "
    "epsilon = {epsilon} again."
)


def parts(file: str, options: ReadOptions, choices: Choices, ledger: str | None) -> tuple[str, list[str]]:
    """What it is about, and pieces of code: imports, reading, release, result."""
    function, given = choices.call()
    dialect = "".join(f", {name}={value!r}" for name, value in declared(options).items())
    columns = pformat([column.name for column in choices.columns], width=100)
    apart = {"by": choices.by, "keys": choices.groups, "person": choices.person}
    account = "" if ledger is None else f"budget = td.Accountant.open({ledger!r})\n"
    told = [f"{name}={pformat(value, width=100)}" for name, value in apart.items() if value]
    told += [f"{name}={pformat(value, width=100)}" for name, value in given.items() if value or value is None]
    if ledger is not None:
        told.append("accountant=budget")
    if choices.allowed:
        told.append(f"check=td.Check({', '.join(f'{name}={share!r}' for name, share in choices.allowed.items())})")
    options_text = ",\n    ".join(told)
    return _ABOUT.format(version=__version__, epsilon=choices.epsilon), [
        "import tukeydp as td",
        f"columns = {columns}\nx = td.read({file!r}, columns{dialect})",
        f"{account}release = td.{function}(\n    x,\n    {options_text},\n)",
        "print(release)",
    ]


def settings(options: ReadOptions, choices: Choices) -> str:
    """All that was chosen, to be loaded again with this file or the next of its kind: public, no cell is in it."""
    columns = {
        one.name: {
            "type": "category" if one.categories else "number",
            "categories": " | ".join(f"{code}, {label}" for code, label in one.categories),
            **{name: getattr(one, name) for name in ("label", "lower", "upper", "unit", "sd")},
            **{name: " | ".join(getattr(one, name)) for name in ("missing", "detection")},
        }
        for one in (*choices.numbers, *choices.categories, *filter(None, (choices.weights,)))
    }
    chosen = {name: getattr(choices, name) for name in ("by", "person", "statistic", "epsilon", "confidence")}
    reading = {
        name: value for name, value in declared(options).items() if name not in ("units", "missing", "detection")
    }
    told = {"tukeydp": __version__, "reading": reading, "columns": columns, **chosen, "keys": list(choices.keys)}
    told["called"] = list(choices.called)
    told |= {"unreadable": choices.unreadable, "unlisted": choices.unlisted}
    if choices.weights is not None:
        told |= {"weights": choices.weights.name, "weight_most": choices.weights.upper}
    return json.dumps(told, indent=2, ensure_ascii=False) + "\n"


def script(about: str, pieces: list[str]) -> str:
    return f'"""{about}\n"""\n\n' + "\n\n".join(pieces) + "\n"


def notebook(about: str, pieces: list[str]) -> str:
    """Version 4.5 of the notebook format; every cell has an id of its own."""
    code: dict[str, object] = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None}
    cells: list[dict[str, object]] = [{"cell_type": "markdown", "id": "about", "metadata": {}, "source": about}]
    cells += [{**code, "id": f"step-{i}", "source": piece} for i, piece in enumerate(pieces, 1)]
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1) + "\n"
