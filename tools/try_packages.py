"""Install the packages into empty environments and use them as a newcomer would.

    python tools/try_packages.py dist [python3.11 python3.13 ...]

The wheel with the newest versions of what it needs and with the lowest that pyproject.toml allows, with numba and
without, and the source package. Each must release the mean of the demo's table and open the help; with the newest
versions, the install line of an error for a missing package must mend that error. Needs a package registry.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from oldest import pins

_NEWEST_FIRST = ("python3.14", "python3.13", "python3.12", "python3.11")
_LOWEST_PYTHON = "python3.11"  # the lowest versions have no wheels for newer ones
# Without the check of readable rows, which stops one run of a good file in a hundred.
_ASKED = ("--columns", "systolic", "--epsilon", "1", "--bounds=60,240", "--no-check", "--json")
_MEAN = ("mean", "patients.csv", *_ASKED)
_THEIRS = ("PYTHONPATH", "VIRTUAL_ENV")
_PLOT = "import tukeydp as td; td.plan(n=500, d=2, epsilon=1, bounds=(0, 1)).plot()"


class Environment:
    """A virtual environment with nothing but pip in it, outside the tree."""

    def __init__(self, python: str, folder: Path) -> None:
        self.folder = folder
        subprocess.run([python, "-m", "venv", folder / "venv"], check=True)
        # What is set for the caller's own environment must not reach this one.
        self.variables = {
            name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")
        }

    def run(self, program: str, *arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [self.folder / "venv" / "bin" / program, *arguments],
            cwd=self.folder,
            env=self.variables,
            capture_output=True,
            text=True,
        )
        if check and done.returncode:
            raise SystemExit(f"{program} {' '.join(arguments)} failed:\n{done.stdout}{done.stderr}")
        return done

    def install(self, *wanted: str) -> None:
        self.run("python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *wanted)

    def use(self) -> None:
        """The first commands of the README."""
        self.run("tukeydp", "--help")
        self.run("tukeydp", "demo", "--save", "patients.csv")
        released = json.loads(self.run("tukeydp", *_MEAN).stdout)
        if not (released["released"] and 60 <= released["point"][0] <= 240):
            raise SystemExit(f"no release: {released}")

    def mend(self) -> None:
        """A missing package: the line that the error names installs it."""
        failed = self.run("python", "-c", _PLOT, check=False)
        line = failed.stderr.partition("pip install ")[2].split(";")[0].strip('" ')
        if not line:
            raise SystemExit(f"no install line in: {failed.stderr}")
        self.install(line)
        self.run("python", "-c", _PLOT)


def tried(name: str, python: str, *wanted: str, mended: bool = False) -> None:
    with tempfile.TemporaryDirectory() as folder:
        environment = Environment(python, Path(folder))
        environment.install(*wanted)
        environment.use()
        if mended:
            environment.mend()
    sys.stdout.write(f"{python}, {name}: installed and used\n")
    sys.stdout.flush()


def working(python: str) -> bool:
    path = shutil.which(python)
    return path is not None and subprocess.run([path, "-c", "import venv"], capture_output=True).returncode == 0


def main(dist: Path, pythons: list[str]) -> None:
    (wheel,), (source,) = dist.resolve().glob("*.whl"), dist.resolve().glob("*.tar.gz")
    newest = pythons or [next(python for python in _NEWEST_FIRST if working(python))]
    lowest = _LOWEST_PYTHON if working(_LOWEST_PYTHON) else sys.executable
    for python in newest:
        tried("wheel, newest versions, no extras", python, str(wheel), mended=True)
        tried("wheel, newest versions, with numba", python, f"{wheel}[fast]")
        tried("source package", python, str(source))
    tried("wheel, lowest versions", lowest, f"{wheel}[fast]", *pins("fast"))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
