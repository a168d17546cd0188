"""From the `depth` parameter to a notion that fits (n, d) and this machine, without a look at the data."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from tukeydp.depth.notions import NOTIONS, AnyScale, AxisAligned, Notion, Spread
from tukeydp.trusted.directions import require_spanning
from tukeydp.trusted.parameters import ParameterError, brief
from tukeydp.trusted.rows import Grid

# Above this many projections (160 MB) the default notion takes fewer directions: with so many rows the noise
# is small already.
_MOST_PROJECTIONS = 20_000_000
_FEWEST_DIRECTIONS = 30  # however many rows: the number the paper uses
# Columns above which no more rows than columns are looked at along the axes alone: slanted slabs of so few rows make a
# level that fills next to nothing of any box around it, and a draw from it may take days.
_MANY_COLUMNS = 20
# Projections, the rows and the directions themselves, with room for one copy.
_BYTES_PER_PROJECTION, _BYTES_PER_ENTRY = 16, 64
TRIAL_KEY = bytes(32)  # known to all: directions are drawn under it to see whether they fit, and used for nothing else


def chosen_notion(depth: Any, n: int | None, d: int, default: type[AnyScale] | type[Spread] = Spread) -> Notion:
    """The given notion, or one with as many directions as suit the public numbers n and d; n is None if secret."""
    if depth is None:
        if default is Spread and n is not None and n <= d and d > _MANY_COLUMNS:
            return AxisAligned()
        most = most_directions(n)
        return default(default.usual(d) if most is None else min(default.usual(d), most))
    if not isinstance(depth, Notion):
        names = ", ".join(f"td.{kind.__name__}(...)" for kind in NOTIONS.values())
        raise ParameterError("depth", f"must be a notion of depth: {names} or td.Directions(...)", brief(depth))
    return depth


def most_directions(n: int | None, blocks: int = 1) -> int | None:
    """Of the default notion, by the number of rows: in each of so many blocks of columns. None where n is secret."""
    return None if n is None else max(_FEWEST_DIRECTIONS, _MOST_PROJECTIONS // n // blocks)


def require_fitting(depth: Notion, grid: Grid, *, spanning: bool = False) -> None:
    """Refuse directions of the caller's own that do not fit the grid, or that leave a line equally deep.

    They are tried on no rows: where they are used, all is spent. Defaults always fit.
    """
    prepared = depth.prepare(np.empty((0, len(grid.cells)), dtype=np.int64), grid, TRIAL_KEY)
    if spanning:
        require_spanning(prepared.along_public().directions)


def require_memory(depth: Notion, n: int | None, d: int) -> None:
    """Refuse more directions than this machine can hold; n, d and the machine are public, but for a secret n (None)."""
    count = depth.size(d)
    needed = count * (_BYTES_PER_PROJECTION * (n or 0) + _BYTES_PER_ENTRY * d)
    have = _memory()
    if needed > have:
        rule = f"must fit in memory ({have / 2**30:.1f} GiB)" + ("" if n is None else f" with {n} rows")
        raise ParameterError("directions", rule, f"{count} directions, which take {needed / 2**30:.1f} GiB")


def _memory() -> float:
    """Bytes of memory this process may use, or infinity where the system does not tell."""
    limits = []
    with suppress(AttributeError, ValueError, OSError):
        limits.append(float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")))
    with suppress(OSError, ValueError):  # no control groups, or the word "max"
        limits.append(float(Path("/sys/fs/cgroup/memory.max").read_text()))
    return min(limits, default=float("inf"))
