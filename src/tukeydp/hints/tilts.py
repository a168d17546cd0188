"""Boxes tilted towards the corner of theirs that a level fills.

Of all products of distributions on the columns of a box, from which a point of a convex set is drawn by rejection, the
best are truncated exponentials: their means y are the point of the set whose product of entropies is largest, and that
is the log of the size. A concave function, one variable at a time: Newton's method finds its maximum on a polytope.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np

from tukeydp.hints.boxes import Certifier
from tukeydp.trusted.boxes import Box
from tukeydp.trusted.certificates import Multipliers
from tukeydp.trusted.covers import Cover, coordinates_of, tilt
from tukeydp.trusted.parameters import FloatArray
from tukeydp.trusted.shapes import Parallelepiped, widths_of

# Hints only.
_STEEPEST = 60.0  # log of how much a column's density falls at most
_BARRIERS = tuple(4.0**-i for i in range(1, 9))  # weights of the barrier, one after another
_STEPS = 8  # of Newton's method for each of them, at most
_DONE = 1e-3  # a step that gains less is the last one


def tilted_box(certifier: Certifier, box: Cover) -> Cover:
    """The same with its part tilted, a box or a parallelepiped."""
    part = box.parts[0]
    assert isinstance(part, Box | Parallelepiped)
    rates = _rates(certifier, box.level, part)
    _, objective, _ = tilt(part, rates)
    up: Multipliers | None = None
    if any(objective):
        ((up, _),) = certifier.hints.supports([box.level], [objective])[0]
    return certifier.covers.tilted(box, rates.tolist(), up)


def _inverse(box: Box | Parallelepiped) -> FloatArray:
    """From coordinates to points. Floats of the exact one: to floats, bases of thin levels may be singular."""
    if isinstance(box, Parallelepiped):
        return np.array([[entry / box.frame.denominator for entry in row] for row in box.frame.numerators])
    return np.eye(len(box.low)) if box.basis is None else np.array(box.basis.inverse, dtype=np.float64)


def _rates(certifier: Certifier, level: int, box: Box | Parallelepiped) -> FloatArray:
    """By how much, in logarithm, the density of each column should fall from its low end to its high end; if there is
    no saying, nothing.
    """
    rates = np.zeros(certifier.covers.view.d)
    middle = certifier.hints.middle(level)
    if middle is None:
        return rates
    levels = certifier.covers.view
    rows = coordinates_of(box)
    matrix = np.eye(levels.d) if rows is None else np.array(rows, dtype=np.float64)
    inverse = _inverse(box)
    widths = np.array(widths_of(box), dtype=np.float64)
    # In shares of the box, from its low end.
    slabs = (levels.directions @ inverse) * widths
    low = np.array(box.low, dtype=np.float64)
    start = (matrix @ middle - low) / widths
    smallest, largest = (ends - levels.directions @ (inverse @ low) for ends in levels.offsets(level))
    moving = widths > 1
    with np.errstate(all="ignore"):
        where = _most_entropic(slabs[:, moving], smallest, largest, start[moving])
    if where is not None and np.isfinite(where).all():
        rates[moving] = _rates_of_means(where)
    return rates


def _most_entropic(slabs: FloatArray, smallest: FloatArray, largest: FloatArray, x: FloatArray) -> FloatArray | None:
    """Where the product of the columns' entropies is about largest between the slabs; x is a point inside them."""
    lengths = np.linalg.norm(slabs, axis=1)
    crossed = lengths > 0
    slabs, smallest, largest = (
        slabs[crossed] / lengths[crossed, np.newaxis],
        smallest[crossed] / lengths[crossed],
        largest[crossed] / lengths[crossed],
    )
    if not _barrier(slabs, smallest, largest, x, 1.0) < math.inf:
        return None
    for weight in _BARRIERS:
        for _ in range(_STEPS):
            rates = _rates_of_means(x)
            at = slabs @ x
            above, below = largest - at, at - smallest
            gradient = -rates + weight * (slabs.T @ (1 / above - 1 / below))
            curvature = np.diag(1 / _variances(rates)) + weight * (slabs.T * (above**-2 + below**-2)) @ slabs
            try:
                step = -np.linalg.solve(curvature, gradient)
            except np.linalg.LinAlgError:
                return None
            gain = -float(gradient @ step)
            before, length = _barrier(slabs, smallest, largest, x, weight), 1.0
            while not _barrier(slabs, smallest, largest, x + length * step, weight) <= before - 0.1 * length * gain:
                length /= 2
                if length < _DONE:
                    break
            else:
                x = x + length * step
            if not gain > _DONE or length < _DONE:
                break
    return x


def _barrier(slabs: FloatArray, smallest: FloatArray, largest: FloatArray, x: FloatArray, weight: float) -> float:
    """What Newton's method makes small; infinite outside."""
    at = slabs @ x
    above, below = largest - at, at - smallest
    if not np.concatenate([above, below, x, 1 - x]).min(initial=math.inf) > 0:
        return math.inf
    return float(-_entropies(x).sum() - weight * (np.log(above).sum() + np.log(below).sum()))


# Exponentials e^-(r x) on 0 <= x <= 1, by their rates r.


@cache
def _table() -> tuple[FloatArray, FloatArray]:
    """Means, ascending, and their rates."""
    rates = np.linspace(_STEEPEST, -_STEEPEST, 4000)  # none is zero
    return 1 / rates - 1 / np.expm1(rates), rates


def _rates_of_means(means: FloatArray) -> FloatArray:
    return np.asarray(np.interp(means, *_table()))


def _variances(rates: FloatArray) -> FloatArray:
    near = np.abs(rates) < 0.01
    some = np.where(near, 1.0, rates)
    return np.where(near, 1 / 12, 1 / some**2 - 1 / (4 * np.sinh(some / 2) ** 2))


def _entropies(means: FloatArray) -> FloatArray:
    rates = _rates_of_means(means)
    near = np.abs(rates) < 0.01
    some = np.where(near, 1.0, rates)
    logs = np.where(near, -rates / 2, np.log(-np.expm1(-np.abs(some)) / np.abs(some)) - np.minimum(some, 0.0))
    return np.asarray(logs + rates * means)
