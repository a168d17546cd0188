"""From the `depth` parameter to a notion that fits (n, d) and this machine, without a look at the data."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Any

from tukeydp.depth.notions import (
    AnyScale,
    AxisAligned,
    Directions,
    Exact,
    Notion,
    Random,
    Spread,
    default_directions,
    starting_directions,
)
from tukeydp.errors import ParameterError

# Above this many projections (160 MB) the default notion takes fewer directions: with so many rows the noise
# is small already.
_MOST_PROJECTIONS = 20_000_000
_FEWEST_DIRECTIONS = 30
# Projections, the rows and the directions themselves, with room for one copy.
_BYTES_PER_PROJECTION, _BYTES_PER_ENTRY = 16, 64


def notion(depth: Any, n: int, d: int, default: type[AnyScale] | type[Spread] = Spread) -> Notion:
    """The given notion of finitely many directions, or one with as many as suit the public numbers n and d."""
    if depth is None:
        usual = default_directions(d)
        return default(min(usual, max(_FEWEST_DIRECTIONS, _MOST_PROJECTIONS // n)))
    if not isinstance(depth, AxisAligned | Random | Spread | AnyScale | Directions):
        rule = (
            "must be td.Exact(), td.AxisAligned(), td.Random(...), td.Spread(...), td.AnyScale(...) "
            "or td.Directions(...)"
        )
        raise ParameterError("depth", rule, repr(depth)[:60])
    return depth


def require_memory(depth: Notion | Exact, n: int, d: int) -> None:
    """Refuse more directions than this machine can hold; n, d and the machine are public."""
    count = starting_directions(d) if isinstance(depth, Exact) else depth.size(d)
    needed = count * (_BYTES_PER_PROJECTION * n + _BYTES_PER_ENTRY * d)
    have = _memory()
    if needed > have:
        rule = f"must fit in memory ({have / 2**30:.1f} GiB) with {n} rows"
        raise ParameterError("directions", rule, f"{count} directions, which take {needed / 2**30:.1f} GiB")


def _memory() -> float:
    """Bytes of memory this process may use, or infinity where the system does not tell."""
    limits = []
    with suppress(AttributeError, ValueError, OSError):
        limits.append(float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")))
    with suppress(OSError, ValueError):  # no control groups, or the word "max"
        limits.append(float(Path("/sys/fs/cgroup/memory.max").read_text()))
    return min(limits, default=float("inf"))
