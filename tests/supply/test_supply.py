"""What the package is made of and with: pins with hashes, lowest versions, a bill of materials, one wheel."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
LOCK = (ROOT / "requirements" / "test.lock").read_text(encoding="utf-8")
PINS = dict(re.findall(r"^([\w.-]+)==([\w.+!-]+)", LOCK, flags=re.MULTILINE))
WANTED = [*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["test"]]


def tool(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / "tools" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def number(version):
    return [int(part) for part in re.findall(r"\d+", version)]


def test_every_requirement_is_locked_at_a_version_it_allows():
    for requirement in WANTED:
        name, _, versions = requirement.partition(">=")
        least, _, below = versions.partition(",<")
        pinned = number(PINS[name.partition("[")[0].lower()])
        assert pinned >= number(least), requirement
        assert not below or pinned < number(below), requirement


def test_every_pin_has_a_hash_and_no_address():
    for entry in re.split(r"\n(?=\w)", LOCK.strip()):
        assert re.search(r"--hash=sha256:[0-9a-f]{64}", entry), entry.splitlines()[0]
    assert "://" not in LOCK
    assert "index-url" not in LOCK


def test_lowest_versions_are_those_of_the_project():
    pins = tool("oldest").pins("test")
    assert f"numpy=={next(r for r in WANTED if r.startswith('numpy')).partition('>=')[2]}" in pins
    assert all(re.fullmatch(r"[\w-]+(\[\w+\])?==[\w.]+", pin) for pin in pins)
    with pytest.raises(ValueError, match="must read"):
        tool("oldest").lowest("numpy<3")


def test_the_bill_of_materials_lists_what_runs():
    bill = tool("sbom").bill()
    assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.5")
    listed = {each["name"]: each for each in bill["components"]}
    names = {re.split("[>=]", requirement)[0] for requirement in PROJECT["dependencies"]}
    assert names <= set(listed)
    assert "cffi" in listed  # by cryptography: what is needed indirectly is there too
    assert "pytest" not in listed
    assert all(each["purl"] == f"pkg:pypi/{name}@{each['version']}" for name, each in listed.items())
    known = {each["bom-ref"] for each in bill["components"]} | {bill["metadata"]["component"]["bom-ref"]}
    assert all(set(each["dependsOn"]) | {each["ref"]} <= known for each in bill["dependencies"])
    assert json.loads(json.dumps(bill)) == tool("sbom").bill()


@pytest.fixture(scope="module")
def packages(tmp_path_factory):
    pytest.importorskip("hatchling")
    return tool("packages").packages(tmp_path_factory.mktemp("dist"))


def test_two_builds_are_the_same_and_hold_what_they_should(packages):
    wheel, source = packages
    names = zipfile.ZipFile(wheel).namelist()
    assert "tukeydp/mechanisms/boxem.py" in names
    assert "tukeydp/py.typed" in names
    assert not [name for name in names if name.startswith("tests") or "__pycache__" in name]
    with tarfile.open(source) as archive:
        inside = {name.partition("/")[2] for name in archive.getnames()}
    assert {
        "Makefile",
        "LICENSE",
        "README.md",
        "docs/glossary.md",
        "tests/conftest.py",
        "src/tukeydp/py.typed",
    } <= inside
    assert not [name for name in inside if name.startswith((".venv", "build", "dist", ".git/"))]


def test_the_source_package_builds_the_same_wheel(packages, tmp_path):
    wheel, source = packages
    with tarfile.open(source) as archive:
        archive.extractall(tmp_path, filter="data")
    (tree,) = tmp_path.iterdir()
    assert tool("packages").built(tree)[0].read_bytes() == wheel.read_bytes()


def test_a_build_that_differs_is_refused(tmp_path, monkeypatch):
    """The control: a tree in which something changes between the builds."""
    pytest.importorskip("hatchling")
    make = tool("packages")
    real = make.copied

    def copied(folder, time):
        tree = real(folder, time)
        (tree / "src" / "tukeydp" / "stamp.py").write_text(f"built = {time}\n")
        return tree

    monkeypatch.setattr(make, "copied", copied)
    with pytest.raises(SystemExit, match="differ"):
        make.packages(tmp_path)


def test_every_extra_that_an_error_names_exists():
    source = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "src").rglob("*.py"))
    named = set(re.findall(r'missing\("[^"]*", [^,]+, "(\w+)"', source)) | set(re.findall(r"tukeydp\[(\w+)\]", source))
    assert {"plots", "files", "reproduce", "bench"} <= named <= set(PROJECT["optional-dependencies"])


def test_make_has_the_targets_that_the_pages_name():
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE))
    for page in ("SECURITY.md", "CONTRIBUTING.md"):
        # As code: between backticks, or at the start of an indented line.
        named = set(re.findall(r"(?:`|^ {4})make ([a-z-]+)", (ROOT / page).read_text(encoding="utf-8"), re.MULTILINE))
        assert named, page
        assert named <= targets, page


def test_tools_run_as_they_say():
    done = subprocess.run([sys.executable, ROOT / "tools" / "oldest.py"], capture_output=True, text=True, check=True)
    assert len(done.stdout.split()) == len(PROJECT["dependencies"])
