"""Calls of kernels, recorded where they run as Python and repeated where they are compiled.

    TUKEYDP_NUMBA=off python -m support.kernel_calls record FILE
    python -m support.kernel_calls repeat FILE

Two processes, because a process has numba or does without. What is called are whole public calls with seeds, and
kernels by themselves on hostile arguments (`hostile_kernels`). Of each kernel some calls are kept: the first, the
second, the fifth, and so on.
"""

import functools
import importlib
import inspect
import json
import os
import pickle
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from tukeydp.trusted import compiled_code

KEPT = {1, 2, 5, 20, 100, 500, 3000, 20000}  # by number of the call
LARGEST = 2**22  # bytes of the arguments of a call that is kept
# Public calls of test_frozen.py that come to every kernel, and take a minute without numba.
CASES = (
    "boxem/default/d2/plain", "boxem/default/d6/plain", "boxem/whole/coarse", "boxem/whole/exact", "boxem/whole/d5",
    "boxem/slanted/default/d2", "boxem/slanted/random/d10", "boxem/columns/d10/n500", "boxem/columns/d16/n600",
    "boxem/sliced/d13/k30", "boxem/rows/n6000/d3", "boxem/exact/d3/n50", "boxem/exact/d4/n16",
    "boxem/expected-error/d3",
    "rem/exact/d2/n12", "rem/exact/d3/n12", "rem/rows/n6000", "rem/graded/few/d3", "mcmc/rem/d2/n20",
    "mcmc/walk/coordinate/sharpness1.5", "mcmc/walk/random/sharpness0.0", "mcmc/estimate/random/d5",
    "algorithm3/rem/d2/n40", "baselines/paper_recipe/random/d3", "levels/exact/d3", "levels/exact/repeated",
    "levels/exact/gaps", "levels/random/d4", "is-deep/d3", "is-deep/d4", "shallowest-direction/d4",
    "levels/exact/d2", "polytope-volume/d2/k7",
    "polytope-volume/d3/k12", "polytope-volume/d6/k12", "command/boxem/spread",
)  # fmt: skip


def kernels() -> dict[str, Any]:
    """By file and name: all functions that are compiled, where numba is."""
    found = {}
    for source in (*compiled_code.USES, "trusted/sampling/kept.py"):
        module = importlib.import_module("tukeydp." + source.removesuffix(".py").replace("/", "."))
        for value in vars(module).values():
            if hasattr(value, "py_func"):
                function = value.py_func
                found.setdefault(f"{function.__module__.removeprefix('tukeydp.')}.{function.__name__}", value)
    return found


# --- what counts of a call ------------------------------------------------------------------------------------------


def result_of(name: str, arguments: dict[str, Any], result: Any) -> Any:
    """What a call gave, in its result and in its arguments; scratch space left out."""
    given = SCRATCH.get(name, {})
    shown = {key: value for key, value in arguments.items() if given is not ALL and key not in given}
    if name in SHOWN:
        shown = SHOWN[name](arguments, result)
    return result, shown


def _proposed(a: dict[str, Any], result: Any) -> Any:
    return a["y"] if result[0] == 1 else None


def _candidates(a: dict[str, Any], count: int) -> Any:
    found = a["found"]
    drawn = found.drawn[:count]
    return found.number[:count], found.row[:count], drawn, found.first_bytes[:count][drawn]


def _survivors(a: dict[str, Any], count: int) -> Any:
    found, slot = a["found"], a["slots"].slot
    row = found.row[:count]
    made = np.where(row >= 0, slot[row], -1) >= 0
    return found.number[:count], row, found.cells[:count][made]


def _tested(a: dict[str, Any], _: Any) -> Any:
    state = a["found"].state[: a["count"]]
    return state, a["found"].points[: a["count"]][state == 1]


def _listed(a: dict[str, Any], result: Any) -> Any:
    count = result if isinstance(result, int | np.integer) else result[0]
    return a["found"].points[:count], a["found"].cap[:count]


def _scanned(a: dict[str, Any], result: Any) -> Any:
    """Cells that are left to others are read by them; which these are may differ."""
    from tukeydp.data.numbers import NumberRule

    bits, text = a["bits"][: result[1]].copy(), a["text"].tobytes()
    rule = NumberRule(decimal=chr(a["form"].decimal), thousands=chr(a["form"].mark) if a["form"].mark >= 0 else None)
    for i, j, start, end in a["unread"][: result[2]].tolist():
        bits[i, j] = np.float64(rule.number(text[start:end].decode("utf-8", "replace"))).view(np.uint64)
    return result[:2], bits


def _in_doubt(a: dict[str, Any], result: Any) -> Any:
    return a["pool"][result[2] : result[3], -1] if result[0] == -1 else None


ALL: dict[str, Any] = {}
SCRATCH: dict[str, Any] = {
    "hints.facet_walk._ranked": {"values", "shares"},
    "trusted.streams.tally_loops.tally": {"scratch"},
    "paper.polytope_kernels._orthogonalise": {"basis"},  # `v` is a row of it, and is shown
    "trusted.sampling.loops._goes_on": {"first", "after"},
}
SHOWN: dict[str, Callable[[dict[str, Any], Any], Any]] = {
    "trusted.sampling.loops.propose": _proposed,
    "trusted.sampling.loops.candidates": _candidates,
    "trusted.sampling.loops.survivors": _survivors,
    "trusted.sampling.loops.test": _tested,
    "trusted.sampling.loops.list_points": _listed,
    "trusted.sampling.loops._kept": _listed,
    "data.readers.scanning.scan": _scanned,
    "trusted.exact.loops.search": _in_doubt,
    "paper.polytope_kernels._cutting": lambda a, r: (a["kept"][: r[0]], a["indices"][: r[0]]),
    "paper.polytope_kernels._cone_cutting": lambda a, r: a["kept"][: r[1]],
    "paper.polytope_kernels.chain": lambda a, r: a["hull"][:r],
    "trusted.sampling.loops._thinned": lambda a, r: _listed(a, r[1]),
}


def bits_of(value: Any) -> Any:
    """Everything in it, bit by bit; what is no number is one thing."""
    if isinstance(value, dict):
        return {key: bits_of(entry) for key, entry in value.items()}
    if isinstance(value, tuple | list):
        return [bits_of(entry) for entry in value]
    if isinstance(value, np.random.Generator):
        return repr(value.bit_generator.state)
    if value is None or isinstance(value, str | bytes):
        return value
    array = np.asarray(value)
    if array.dtype.kind == "f":
        array = np.where(np.isnan(array), np.nan, array).astype(np.float64)
        return array.shape, array.tobytes()
    return array.shape, [int(entry) for entry in array.ravel()]


# --- the two processes --------------------------------------------------------------------------------------------


def copied(value: Any) -> bytes:
    return pickle.dumps(value)


class Recorder:
    """A kernel that keeps some of its calls."""

    def __init__(self, name: str, kernel: Any, kept: dict[str, list[Any]]) -> None:
        functools.update_wrapper(self, kernel)
        self.name, self.kernel, self.py_func = name, kernel, kernel.py_func
        self.calls, self.kept = 0, kept.setdefault(name, [])
        self.signature = inspect.signature(kernel.py_func)

    def __call__(self, *positional: Any, **named: Any) -> Any:
        self.calls += 1
        bound = self.signature.bind(*positional, **named) if self.calls in KEPT else None
        if bound is None or not self._can_be_compiled(bound):
            return self.kernel(*positional, **named)
        before = copied(bound.args)
        result = self.kernel(*positional, **named)
        if len(before) <= LARGEST:
            self.kept.append((before, copied(bits_of(result_of(self.name, dict(bound.arguments), result)))))
        return result

    def _can_be_compiled(self, bound: inspect.BoundArguments) -> bool:
        """Not where Python has a whole array for what is one number in compiled code (tie_sweep.py)."""
        if self.name == "trusted.exact.loops.sum_of_products" and bound.arguments["vector"].ndim > 2:
            return False
        kinds = {name: parameter.annotation for name, parameter in self.signature.parameters.items()}
        return not any(kinds[name] in ("int", "float") and np.ndim(value) for name, value in bound.arguments.items())


def record(file: str) -> None:
    from support import hostile_kernels
    from test_frozen import CASES as frozen
    from tukeydp.hints import branches, nodes

    assert compiled_code.numba is None
    os.sched_getaffinity = lambda _: {0}  # one thread: several would write to the arrays of a call
    known = kernels()
    kept: dict[str, list[Any]] = {}
    for module in [module for name, module in sys.modules.items() if name.startswith("tukeydp")]:
        for attribute, value in list(vars(module).items()):
            if hasattr(value, "py_func") and not isinstance(value, Recorder):
                function = value.py_func
                name = f"{function.__module__.removeprefix('tukeydp.')}.{function.__name__}"
                setattr(module, attribute, recorders.setdefault(name, Recorder(name, value, kept)))
    branches._kept = lambda: nodes.grow  # which is recorded
    for case in CASES:
        frozen[case]()
    for name, arguments in hostile_kernels.calls():
        recorder = recorders[name]
        recorder.calls = 0
        recorder(*arguments)
    with open(file, "wb") as out:
        pickle.dump((sorted(known), kept), out)


recorders: dict[str, Recorder] = {}


def repeat(file: str) -> None:
    """Repeat all calls, and print for each kernel how many there were, and which came out otherwise."""
    assert compiled_code.numba is not None
    known = kernels()
    with open(file, "rb") as recorded:
        names, kept = pickle.load(recorded)
    assert names == sorted(known)
    seen = {}
    for name, calls in kept.items():
        signature, differ, caught = inspect.signature(known[name].py_func), [], 0
        for number, (before, after) in enumerate(calls):
            bound = signature.bind(*pickle.loads(before))
            try:
                result = known[name](*bound.args)
            except Exception as error:  # compiled code cannot be called like that: a test of nothing
                raise AssertionError(f"{name}: {str(error)[:1000]}") from None
            mine = bits_of(result_of(name, dict(bound.arguments), result))
            if mine != pickle.loads(after):
                differ.append(number)
            caught += one_bit_is_seen(mine)
        seen[name] = {"calls": len(calls), "differ": differ, "caught": caught}
    sys.stdout.write(json.dumps(seen))


def one_bit_is_seen(value: Any) -> bool:
    """A control: with one bit of one number turned over, a call does not count as the same. False if there is none."""
    changed = turned(value)
    return changed is not None and changed != value


def turned(value: Any) -> Any:
    """With the lowest bit of the last number turned over; None if there is no number."""
    if isinstance(value, tuple) and len(value) == 2 and isinstance(value[0], tuple):
        shape, numbers = value
        if not numbers:
            return None
        if isinstance(numbers, bytes):
            return shape, numbers[:-8] + bytes([numbers[-8] ^ 1]) + numbers[-7:]
        return shape, [*numbers[:-1], numbers[-1] ^ 1]
    if isinstance(value, dict):
        return _one_turned(list(value), list(value.values()), dict)
    if isinstance(value, list):
        return _one_turned(list(range(len(value))), value, lambda pairs: [entry for _, entry in pairs])
    return None


def _one_turned(keys: list[Any], values: list[Any], made: Callable[[Any], Any]) -> Any:
    for place in reversed(range(len(values))):
        changed = turned(values[place])
        if changed is not None:
            return made(list(zip(keys, [*values[:place], changed, *values[place + 1 :]], strict=True)))
    return None


if __name__ == "__main__":
    {"record": record, "repeat": repeat}[sys.argv[1]](sys.argv[2])
