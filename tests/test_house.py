"""The rooms of the house: who may import whom."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import tukeydp

SOURCE = Path(tukeydp.__file__).parent
GROUND = {"blas", "extras", "padding", "spending", "version"}
# The loops over proposals and of branch and bound: below the trusted part that runs them, wherever their files are.
LOOPS = {
    *("branches", "branches.listing", "branches.nodes", "branches.programs", "coarse_filter", "coarse_kernels"),
    *("coarse_proposals", "compiling", "fast_proposals", "kept", "kernels", "plain_proposals"),
    *("rough_slabs", "simplex", "tilted_kernels", "tilted_proposals"),
}
# `trusted` is read to audit the draw, `hints` guess: what is trusted never imports a guess.
PROVEN = [
    *("trusted", "ground", "results", "exact", "data", "depth", "loops", "draw", "hints", "sampling", "sizes"),
    *("baselines", "mechanisms", "forecast", "accounts", "algorithm3"),
]
# Of `trusted`, what still needs rooms outside (tests/test_trusted.py has the list): everything else imports nothing.
DRAW = {"trusted.certificates", "trusted.covers", "trusted.exponential"}
# Rooms that import each other, module by module without a cycle: a mechanism says which forecast speaks of it, and a
# forecast runs the mechanism on made-up tables.
TOGETHER = {"baselines", "mechanisms", "forecast"}
NOT_PRIVATE = ["trusted", "ground", "results", "exact", "data", "depth", "sampling", "paper"]
TOP = {"experiments", "integrations", "audit", "cli", "app"}
# The public addresses: names only, no code.
FACADES = {"", "algorithm3", "approximate", "mcmc", "oracles", "plots", "regions", "__main__"}

# What only guesses. It may know what is below it; who asks it does so through `exact.hinted.asked`, and takes what it
# answers for data.
HINTS = ["trusted", "ground", "data", "exact", "depth", "hints"]
# Rooms that decide something: there a hint is asked through that door. (`sampling` hands what it is told to
# `trusted.covers`, which checks it; what stands above the mechanisms decides nothing.)
ASKING = {"exact", "depth", "sizes", "mechanisms"}

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
    first, _, rest = module.partition(".")
    if first == "sampling" and (rest in LOOPS or not rest):
        return "loops"
    if module.startswith(("paper.experiments", "paper.algorithm3")):
        return module.split(".")[1]
    if module in DRAW:
        return "draw"
    return "ground" if first in GROUND else "facade" if module in FACADES else first


def allowed(importer: str, imported: str) -> bool:
    if importer in TOP or importer == "facade" or {importer, imported} <= TOGETHER:
        return True
    orders = (PROVEN, NOT_PRIVATE, HINTS)
    return any(imported in order[: order.index(importer) + 1] for order in orders if importer in order)


def against_the_flow() -> set[str]:
    known = modules()
    return {
        f"{importer} -> {imported}"
        for importer, path in known.items()
        for imported in imports(path, set(known))
        if importer != imported and room(imported) != "hints" and not allowed(room(importer), room(imported))
    }


def unguarded(source: str) -> set[str]:
    """Names from hints that a file uses in any other way than as what it asks: `asked(name, ...)`."""
    tree = ast.parse(source)
    names = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("tukeydp.hints")
        for alias in node.names
    }
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)]
    asked = {id(call.args[0]) for call in calls if call.func.id == "asked" and call.args}  # type: ignore[attr-defined]
    return {
        node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id in names and id(node) not in asked
    }


def test_imports_go_one_way():
    assert against_the_flow() == EXCEPTIONS


def test_hints_are_asked_through_their_door_only():
    found = {
        name: unguarded(path.read_text(encoding="utf-8")) for name, path in modules().items() if room(name) in ASKING
    }
    assert {name: names for name, names in found.items() if names} == {}
    assert unguarded("from tukeydp.hints.descent import light_normals\nlight_normals(1)") == {"light_normals"}
    assert unguarded("from tukeydp.hints.descent import light_normals\nasked(light_normals, 1)") == set()


def test_the_rule_can_fail():
    assert not allowed("depth", "sampling")
    assert not allowed("trusted", "hints")
    assert not allowed("trusted", "ground")
    assert allowed("hints", "draw")
    assert not allowed("sizes", "paper")
    assert not allowed("baselines", "facade")
    assert not allowed("hints", "sampling")
    assert not allowed("hints", "mechanisms")
    assert not allowed("mechanisms", "cli")
    assert not allowed("paper", "mechanisms")
    assert allowed("mechanisms", "baselines")
    assert allowed("mechanisms", "forecast")
    assert not allowed("results", "mechanisms")


def test_every_module_has_a_room():
    rooms = {room(module) for module in modules()}
    assert rooms <= {*PROVEN, *NOT_PRIVATE, *HINTS, *TOP, "facade"}


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
