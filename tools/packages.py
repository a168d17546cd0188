"""Build wheel and source package twice, from copies of the tree with different file times, and keep equal ones.

    python tools/packages.py dist

SOURCE_DATE_EPOCH sets the time that files in the packages have; left out, it is the fixed one of the build tool.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
# What packages are made of; the rest of the tree must not matter.
_PARTS = (
    *("pyproject.toml", "Makefile", "LICENSE", "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"),
    *("src", "tests", "docs", "benchmarks", "tools", "requirements"),
)


def copied(folder: Path, time: float) -> Path:
    """The parts, all with one time."""
    folder.mkdir()
    for part in _PARTS:
        source, target = ROOT / part, folder / part
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
        else:
            shutil.copyfile(source, target)
    for path in folder.rglob("*"):
        os.utime(path, (time, time))
    return folder


def built(tree: Path) -> list[Path]:
    """Wheel and source package of a tree, in the order of their names."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-t", "wheel"]
    subprocess.run(command, cwd=tree, check=True, capture_output=True)
    return sorted((tree / "dist").iterdir())


def packages(out: Path) -> list[Path]:
    """Both in `out`, once two builds of each were the same."""
    with tempfile.TemporaryDirectory() as folder:
        # Years apart: what takes the time of a file, or the order of a folder, shows.
        first, second = (built(copied(Path(folder) / str(time), time)) for time in (1e9, 1.5e9))
        for one, other in zip(first, second, strict=True):
            if one.read_bytes() != other.read_bytes():
                raise SystemExit(f"two builds of the same tree differ: {one.name}")
        out.mkdir(parents=True, exist_ok=True)
        return [Path(shutil.copyfile(kept, out / kept.name)) for kept in first]


if __name__ == "__main__":
    for kept in packages(Path(sys.argv[1])):
        sys.stdout.write(f"{kept}  sha256 {hashlib.sha256(kept.read_bytes()).hexdigest()}\n")
