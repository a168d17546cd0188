"""A bill of materials of an installed environment, as CycloneDX JSON (specification 1.5), from its own metadata.

    python tools/sbom.py > sbom.json

What is listed: every distribution that tukeydp needs to run, with version, licence, dependencies, and the SHA-256 of
the file that records its contents. Equal environments give equal bytes: no time, no serial number.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from typing import Any

ROOT = "tukeydp"


def normalised(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def required(found: Distribution) -> list[str]:
    """What a distribution needs here: without its extras, and without what other systems or Pythons need."""
    names = []
    for line in found.requires or ():
        requirement, _, marker = line.partition(";")
        if "extra" in marker:
            continue
        name = re.split(r"[\s\[<>=!~(]", requirement.strip(), maxsplit=1)[0]
        try:
            distribution(name)
        except PackageNotFoundError:  # a marker rules it out, or the installation is broken: pip check tells which
            continue
        names.append(normalised(name))
    return sorted(set(names))


def installed(root: str) -> dict[str, Distribution]:
    """The root and everything it needs, by normalised name."""
    found: dict[str, Distribution] = {}
    waiting = [normalised(root)]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found[name] = distribution(name)
            waiting += required(found[name])
    return dict(sorted(found.items()))


def component(name: str, found: Distribution) -> dict[str, Any]:
    purl = f"pkg:pypi/{name}@{found.version}"
    told: dict[str, Any] = {"type": "library", "bom-ref": purl, "name": name, "version": found.version, "purl": purl}
    licence = found.metadata.get("License-Expression") or found.metadata.get("License")
    if licence and "\n" not in licence:
        told["licenses"] = [{"license": {"name": licence}}]
    record = found.read_text("RECORD")
    if record is not None:
        content = "\n".join(sorted(record.splitlines()))
        told["properties"] = [{"name": "record-sha256", "value": hashlib.sha256(content.encode()).hexdigest()}]
    return told


def bill(root: str = ROOT) -> dict[str, Any]:
    distributions = installed(root)
    components = {name: component(name, found) for name, found in distributions.items()}
    main = components.pop(normalised(root))
    main["type"] = "application"
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": main},
        "components": list(components.values()),
        "dependencies": [
            {
                "ref": f"pkg:pypi/{name}@{found.version}",
                "dependsOn": [f"pkg:pypi/{other}@{distributions[other].version}" for other in required(found)],
            }
            for name, found in distributions.items()
        ],
    }


if __name__ == "__main__":
    json.dump(bill(), sys.stdout, indent=1)
    sys.stdout.write("\n")
