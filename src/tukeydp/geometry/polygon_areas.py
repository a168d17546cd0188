"""Compiled areas of polygons {z : normals z <= slacks} around the origin. Floats.

The lines that bound such a polygon are the corners of the hull of the dual points normal / slack.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tukeydp.compiled_code import compiled, may_be_called
from tukeydp.geometry import monotone_chain

for _part in (monotone_chain.coincide, monotone_chain.right_turn):
    may_be_called(_part)
compiled_chain = compiled(monotone_chain.chain)


def _areas(normals: Any, slacks: Any, sums: Any) -> None:
    """`polygon_areas`, all edges together; sums are added up in the same order."""
    for row, slack in enumerate(slacks):
        x, y = normals[:, 0] / slack, normals[:, 1] / slack
        hull = [0] * (2 * len(normals) + 2)
        count = monotone_chain.chain(x.tolist(), y.tolist(), _ordered(x, y).tolist(), hull)
        i = np.array(hull[:count])
        h, j = np.roll(i, 1), np.roll(i, -1)
        before = normals[h, 0] * normals[i, 1] - normals[h, 1] * normals[i, 0]
        after = normals[i, 0] * normals[j, 1] - normals[i, 1] * normals[j, 0]
        one = (slack[h] - slack[i] * _dots(normals, h, i)) / before
        two = (slack[j] - slack[i] * _dots(normals, i, j)) / after
        sums[row] = 0.5 * (0.0 + np.cumsum(slack[i] * (one + two))[-1])


def _dots(normals: Any, i: Any, j: Any) -> Any:
    return normals[i, 0] * normals[j, 0] + normals[i, 1] * normals[j, 1]


@compiled(plain=_areas, error_model="numpy")
def polygon_areas(normals: Any, slacks: Any, sums: Any) -> None:
    """Areas of {normals z <= slack} in the plane, one for each row of slacks, all positive (the origin is inside)."""
    k = len(normals)
    hull = np.empty(2 * k + 2, dtype=np.int64)
    x, y = np.empty(k), np.empty(k)
    for row in range(len(slacks)):
        for i in range(k):
            x[i] = normals[i, 0] / slacks[row, i]
            y[i] = normals[i, 1] / slacks[row, i]
        count = compiled_chain(x, y, _ordered(x, y), hull)
        twice = 0.0
        for c in range(count):
            h, i, j = hull[c - 1 if c else count - 1], hull[c], hull[c + 1 if c + 1 < count else 0]
            # The edge on line i runs from the corner with line h to the corner with line j.
            before = normals[h, 0] * normals[i, 1] - normals[h, 1] * normals[i, 0]
            after = normals[i, 0] * normals[j, 1] - normals[i, 1] * normals[j, 0]
            one = (slacks[row, h] - slacks[row, i] * _dot(normals, h, i)) / before
            two = (slacks[row, j] - slacks[row, i] * _dot(normals, i, j)) / after
            twice += slacks[row, i] * (one + two)
        sums[row] = 0.5 * twice


@compiled
def _ordered(x: Any, y: Any) -> Any:
    """By x; equal ones by y."""
    order = np.argsort(x, kind="mergesort")
    for a in range(1, len(x)):
        b = a
        while b > 0 and x[order[b]] == x[order[b - 1]] and y[order[b]] < y[order[b - 1]]:
            order[b], order[b - 1] = order[b - 1], order[b]
            b -= 1
    return order


@compiled
def _dot(normals: Any, i: int, j: int) -> float:
    return normals[i, 0] * normals[j, 0] + normals[i, 1] * normals[j, 1]
