"""Lines that repel each other, compiled. Only sums, products, quotients and square roots, in a fixed order."""

from __future__ import annotations

from typing import Any

import numpy as np

from tukeydp.trusted.compiled_code import compiled


def _repelled(lines: Any, fixed: int, rounds: int, first_step: float, doublings: int) -> None:
    """`repel`, all neighbours of a line together; sums are added up in the same order."""
    count, d = lines.shape
    push, pushes = np.empty(d), np.zeros((count + 1, d))
    for done in range(rounds):
        step = first_step * (1.0 - done / rounds)
        for i in range(fixed, count):
            cosine = np.zeros(count)
            for c in range(d):
                cosine += lines[i, c] * lines[:, c]
            cosine[i] = 0.0
            weight = 1.0 / np.maximum(1e-12, 1.0 - cosine * cosine)
            nearest = max(1.0, float(weight.max()))
            weight /= nearest
            for _ in range(doublings):
                weight *= weight
            weight *= cosine
            pushes[1:] = -(weight[:, np.newaxis] * lines)
            push[:] = np.cumsum(pushes, axis=0)[-1]
            along = 0.0
            for c in range(d):
                along += push[c] * lines[i, c]
            push -= along * lines[i]
            length = 0.0
            for c in range(d):
                length += push[c] * push[c]
            if length > 0.0:
                push[:] = lines[i] + step / np.sqrt(length * nearest) * push
                length = 0.0
                for c in range(d):
                    length += push[c] * push[c]
                lines[i] = push / np.sqrt(length)


@compiled(plain=_repelled)
def repel(lines: Any, fixed: int, rounds: int, first_step: float, doublings: int) -> None:
    """Move all lines but the first `fixed`, one after the other, away from their neighbours. In place."""
    count, d = lines.shape
    columns = lines.T.copy()  # so that the long loop runs over contiguous memory
    cosine, weight, push = np.empty(count), np.empty(count), np.empty(d)
    for done in range(rounds):
        step = first_step * (1.0 - done / rounds)
        for i in range(fixed, count):
            cosine[:] = 0.0
            for c in range(d):
                for j in range(count):
                    cosine[j] += lines[i, c] * columns[c, j]
            cosine[i] = 0.0
            # 1 / sin^2 of the angle, relative to the nearest line so that its powers stay finite.
            nearest = 1.0
            for j in range(count):
                weight[j] = 1.0 / max(1e-12, 1.0 - cosine[j] * cosine[j])
                nearest = max(nearest, weight[j])
            for j in range(count):
                weight[j] /= nearest
                for _ in range(doublings):
                    weight[j] *= weight[j]
                weight[j] *= cosine[j]
            push[:] = 0.0
            for j in range(count):
                for c in range(d):
                    push[c] -= weight[j] * lines[j, c]
            along = 0.0
            for c in range(d):
                along += push[c] * lines[i, c]
            length = 0.0
            for c in range(d):
                push[c] -= along * lines[i, c]
                length += push[c] * push[c]
            if length > 0.0:
                stride = step / np.sqrt(length * nearest)
                length = 0.0
                for c in range(d):
                    push[c] = lines[i, c] + stride * push[c]
                    length += push[c] * push[c]
                for c in range(d):
                    lines[i, c] = push[c] / np.sqrt(length)
                    columns[c, i] = lines[i, c]
