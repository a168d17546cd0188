"""The rooms of the house: who may import whom."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import tukeydp

SOURCE = Path(tukeydp.__file__).parent
GROUND = {"blas", "extras", "padding", "spending", "version"}
# `trusted` imports nothing but itself (tests/test_trusted.py), and asks hints, which guess, through `trusted.hinted`.
PROVEN = [
    *("trusted", "ground", "results", "data", "hints", "depth"),
    *("baselines", "mechanisms", "forecast", "accounts", "algorithm3"),
]
# Rooms that import each other, module by module without a cycle: a mechanism says which forecast speaks of it, and a
# forecast runs the mechanism on made-up tables.
TOGETHER = {"baselines", "mechanisms", "forecast"}
NOT_PRIVATE = ["trusted", "ground", "results", "data", "hints", "depth", "paper"]
TOP = {"experiments", "integrations", "audit", "cli", "app"}
# The public addresses: names only, no code.
FACADES = {"", "algorithm3", "approximate", "mcmc", "oracles", "plots", "regions", "__main__"}

# "module -> module" that goes against the flow. May only shrink.
# The one way from a mechanism to random walks, taken only when `unproven=` asks for it.
EXCEPTIONS = {
    "mechanisms.unproven -> paper.unproven",
}


def modules() -> dict[str, Path]:
    """Every module below `tukeydp` by its dotted name, the package itself under the empty name."""
    names = {}
    for path in sorted(SOURCE.rglob("*.py")):
        parts = path.relative_to(SOURCE).with_suffix("").parts
        names[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return names


def imports(path: Path, known: set[str]) -> Iterator[str]:
    """Every module of ours that a file imports anywhere: at its top, inside functions, or for types only."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute"
            found = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        for name in found:
            below = name.removeprefix("tukeydp").removeprefix(".")
            if name.split(".")[0] == "tukeydp":
                yield below if below in known else below.rpartition(".")[0]


def room(module: str) -> str:
    first = module.partition(".")[0]
    if module.startswith(("paper.experiments", "paper.algorithm3")):
        return module.split(".")[1]
    return "ground" if first in GROUND else "facade" if module in FACADES else first


def allowed(importer: str, imported: str) -> bool:
    if importer in TOP or importer == "facade" or {importer, imported} <= TOGETHER:
        return True
    orders = (PROVEN, NOT_PRIVATE)
    return any(imported in order[: order.index(importer) + 1] for order in orders if importer in order)


def against_the_flow() -> set[str]:
    known = modules()
    return {
        f"{importer} -> {imported}"
        for importer, path in known.items()
        for imported in imports(path, set(known))
        if importer != imported and not allowed(room(importer), room(imported))
    }


def test_imports_go_one_way():
    assert against_the_flow() == EXCEPTIONS


def test_the_rule_can_fail():
    assert not allowed("hints", "depth")
    assert not allowed("trusted", "hints")
    assert not allowed("trusted", "ground")
    assert allowed("depth", "hints")
    assert not allowed("depth", "paper")
    assert not allowed("baselines", "facade")
    assert not allowed("hints", "mechanisms")
    assert not allowed("mechanisms", "cli")
    assert not allowed("paper", "mechanisms")
    assert allowed("mechanisms", "baselines")
    assert allowed("mechanisms", "forecast")
    assert not allowed("results", "mechanisms")


def test_every_module_has_a_room():
    rooms = {room(module) for module in modules()}
    assert rooms <= {*PROVEN, *NOT_PRIVATE, *TOP, "facade"}


def test_no_cycles_among_modules():
    """Also inside a room; imports for types and inside functions count."""
    known = modules()
    graph = {name: set(imports(path, set(known))) - {name} for name, path in known.items() if room(name) != "facade"}
    done: set[str] = set()

    def visit(name: str, above: tuple[str, ...]) -> None:
        assert name not in above, " -> ".join([*above[above.index(name) :], name])
        if name not in done:
            for other in sorted(graph.get(name, ())):
                visit(other, (*above, name))
            done.add(name)

    for name in graph:
        visit(name, ())


def test_facades_hold_names_only():
    for name in FACADES - {
        "",
        "__main__",
    }:  # the package itself loads names when they are asked for: tests/test_import.py
        tree = ast.parse(modules()[name].read_text(encoding="utf-8"))
        kinds = {type(node) for node in tree.body}
        assert kinds <= {ast.Expr, ast.Import, ast.ImportFrom, ast.Assign}, name
