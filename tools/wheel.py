"""Build the wheel twice, from two copies of the tree with different file times, and keep it if the bytes are the same.

    python tools/wheel.py dist

SOURCE_DATE_EPOCH sets the time that files in the wheel have; left out, it is the fixed one of the build tool.
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
# What a wheel is made of; the rest of the tree must not matter.
_PARTS = ("pyproject.toml", "README.md", "LICENSE", "src")


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


def built(tree: Path) -> Path:
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel"], cwd=tree, check=True, capture_output=True
    )
    (wheel,) = (tree / "dist").glob("*.whl")
    return wheel


def wheel(out: Path) -> Path:
    """The wheel in `out`, once two builds of it were the same."""
    with tempfile.TemporaryDirectory() as folder:
        # Years apart: what takes the time of a file, or the order of a folder, shows.
        first, second = (built(copied(Path(folder) / str(time), time)) for time in (1e9, 1.5e9))
        if first.read_bytes() != second.read_bytes():
            raise SystemExit("two builds of the same tree differ")
        out.mkdir(parents=True, exist_ok=True)
        return Path(shutil.copyfile(first, out / first.name))


if __name__ == "__main__":
    kept = wheel(Path(sys.argv[1]))
    sys.stdout.write(f"{kept}  sha256 {hashlib.sha256(kept.read_bytes()).hexdigest()}\n")
