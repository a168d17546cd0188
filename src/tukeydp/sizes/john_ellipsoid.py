"""The John ellipsoid of a region, the largest one inside it, with an integer proof of how close to the largest it is.

Floats solve (`ellipsoid_solver`), integers certify (`ellipsoid_certificate`); the floats are asked again until the
certified gap is as small as wanted.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from itertools import count
from typing import Any

import numpy as np

from tukeydp.exact.hinted import asked, finite_rows
from tukeydp.exact.linear_programs import Region
from tukeydp.hints.ellipsoid_solver import newton_with_few_rows
from tukeydp.sizes.ellipsoid_certificate import Ellipsoid, Ends, Proposal, Shape, certified, in_floats, slack_of
from tukeydp.sizes.inner_points import FLOATS_GAVE_OUT, inner_point
from tukeydp.trusted.matrices import Integers
from tukeydp.trusted.parameters import FloatArray

_RIDGE = 1e-13  # of the largest entry: keeps the triangular factor from being singular. Speed only
# Parts of the gap: how exact the floats are, and what is given up so that rows may be violated by it, over d.
_CLOSE, _SHRUNK = 1e-3, 1 / 8
_PULLING = 1e-6  # of the largest weight: rows with more are held from the start next time. Speed only
_CROWDED = 8.0  # times as long as a row that touches the unit ball: too close a row to start beside. Speed only
_FINE_BITS = 60  # the proposal is written in steps below 2^-60 of the least slack. Fewer cost attempts only


def largest_ellipsoid(region: Region, gap: Fraction, ends: Ends, similar: Ellipsoid | None = None) -> Ellipsoid | None:
    """An inscribed ellipsoid within a factor 1 + gap of the largest; None if there is no inner point. Exact.

    `similar` is that of a region with the same normals: a hint.
    """
    start = _start(region) if similar is None else _near(region, similar)
    if start is None:
        return None
    centre, bits, shape = start
    for attempt in count(1):
        # Seen from the last attempt as the unit ball, every region is well conditioned: attempts only get better.
        try:
            with np.errstate(all="ignore"):
                proposal = _pulled_inside(region, centre, bits, _solved(region, centre, bits, shape, gap, attempt))
                found = certified(region, proposal, ends)
        except FLOATS_GAVE_OUT:
            # An exception or a warning would tell something about the data.
            shape = Shape.of(np.diag(region.scale / 4.0**attempt))
            continue
        if found is not None and found.gap <= gap:
            return found
        centre, bits = proposal.centre, proposal.bits
        shape = proposal.shape if found is not None else shape
    raise AssertionError("counting never ends")


def _start(region: Region, shape: Shape | None = None) -> tuple[Integers, int, Shape] | None:
    """A point with room on every side, and a shape; None if there is no such point. Exact."""
    inner = inner_point(region)
    return None if inner is None else (*inner, shape or Shape.of(np.diag(region.scale)))


def _near(region: Region, similar: Ellipsoid) -> tuple[Integers, int, Shape] | None:
    """The same from a similar region's ellipsoid: its centre, if there is room for some of it here."""
    centre, bits, shape = similar.proven.centre, similar.proven.bits, similar.proven.shape
    slack = slack_of(region, centre, bits)
    if slack.min() > 0 and np.abs(_seen(region, shape, slack, bits)).max() < _CROWDED:
        return centre, bits, shape
    return _start(region, shape)


def _pulled_inside(region: Region, centre: Integers, bits: int, proposal: Proposal) -> Proposal:
    """The proposal with its centre moved halfway back to an inner point, as often as it takes to be one."""
    while slack_of(region, proposal.centre, proposal.bits).min() <= 0:
        halfway = proposal.centre + centre * (1 << (proposal.bits - bits))
        proposal = replace(proposal, centre=halfway, bits=proposal.bits + 1)
    return proposal


def _solved(region: Region, centre: Integers, bits: int, start: Shape, gap: Fraction, attempt: int = 1) -> Proposal:
    """One float solution in coordinates z with y = centre + start z, a little smaller than the largest."""
    d = region.d
    smaller = float(gap) * _SHRUNK / d
    slack = slack_of(region, centre, bits)
    seen = _seen(region, start, slack, bits)
    # Once more, so that the rows are about equally long in every direction; never singular.
    ridge = np.abs(seen).max() * _RIDGE * np.eye(d)
    upper: FloatArray = np.asarray(np.linalg.qr(np.vstack([seen / math.sqrt(len(seen)), ridge]), mode="r"))
    rows: FloatArray = np.asarray(np.linalg.solve(upper.T, seen.T).T, dtype=np.float64)
    answer = asked(newton_with_few_rows, rows, float(gap) * _CLOSE, smaller, attempt, start.touching)
    shift, inner, weights = _usable(answer, *rows.shape)
    # Steps of 2^-fine are below 2^-_FINE_BITS of the least slack, whatever the row.
    least = int(slack.min()).bit_length() - bits
    fine = max(bits, _FINE_BITS - least + int(np.abs(region.normals).sum(axis=1).max()).bit_length())
    moved = start.times(np.asarray(np.linalg.solve(upper, shift)), fine)
    factor = start.times((1.0 - smaller) * np.linalg.solve(upper, np.linalg.cholesky(inner)), fine)
    shape = Shape(factor, fine, np.flatnonzero(weights > weights.max() * _PULLING))
    return Proposal(centre * (1 << (fine - bits)) + moved, fine, shape, weights / in_floats(slack, bits))


def _usable(answer: Any, m: int, d: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """A solver's centre, matrix and weights of m rows; raises where it has none."""
    if isinstance(answer, tuple) and len(answer) == 3:
        shapes = ((1, d), (d, d), (1, m))
        centre, matrix, weights = (
            finite_rows(part if np.ndim(part) == 2 else [part], columns)
            for part, (_, columns) in zip(answer, shapes, strict=True)
        )
        if (centre.shape, matrix.shape, weights.shape) == shapes:
            return centre[0], matrix, weights[0]
    raise ArithmeticError("floats gave out")


def _seen(region: Region, shape: Shape, slack: Integers, bits: int) -> FloatArray:
    """The rows over their slacks, seen from the shape as the unit ball; correctly rounded but for a bit."""
    spread = region.normals @ shape.matrix if shape.spread is None else shape.spread
    return in_floats(spread, shape.bits) / in_floats(slack, bits)[:, np.newaxis]
