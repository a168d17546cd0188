"""The lowest versions that pyproject.toml allows, one `name==version` a line: what `make test-oldest` installs.

python tools/oldest.py            what tukeydp needs to run
python tools/oldest.py test       and what its tests need
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

PROJECT = Path(__file__).parents[1] / "pyproject.toml"
# Not part of a run of the tests: the newest will do.
_TOOLS = ("ruff", "mypy")


def lowest(requirement: str) -> str:
    found = re.fullmatch(r"([\w-]+(?:\[\w+\])?)>=([\w.]+)(,<[\w.]+)?", requirement)
    if found is None:
        raise ValueError(f"{requirement} must read NAME>=VERSION or NAME>=VERSION,<VERSION")
    return f"{found[1]}=={found[2]}"


def pins(*extras: str) -> list[str]:
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    wanted = list(project["dependencies"])
    for extra in extras:
        wanted += project["optional-dependencies"][extra]
    return [lowest(requirement) for requirement in wanted if not requirement.startswith(_TOOLS)]


if __name__ == "__main__":
    sys.stdout.write("\n".join(pins(*sys.argv[1:])) + "\n")
