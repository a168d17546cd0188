"""The exact Tukey depth of a point: the least weight in a closed halfspace with the point on its edge.

Vectors run from the point to the rows. A vector of zero lies in every halfspace. For the others the least closed count
equals the least *open* count over generic directions (no vector on the edge), since an edge can be turned a little so
that whatever lay on it falls outside, or its opposite does. A cell of generic directions borders on a hyperplane
orthogonal to some vector u; so the least count is the minimum over u of

    least count of the others, projected along u   +   min(weight parallel to u, weight antiparallel to u),

which lowers the dimension by one (docs/proofs/exact-depth.md). In the plane a sweep by angle finishes it.

The result is exact for any input.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from operator import mul

import numpy as np

from tukeydp.trusted.exact.sweeps import NORMALS, Answer, exact_row, swept
from tukeydp.trusted.exact.vectors import (
    Vectors,
    from_floats,
    from_integers,
    in_span,
    largest,
    orthogonal_integers,
    project,
    spanning_rows,
    spread_out,
)
from tukeydp.trusted.hinted import asked, finite_rows
from tukeydp.trusted.matrices import Integers, determinant, integers
from tukeydp.trusted.parameters import FloatArray, IntArray

_LONGEST = 2.0**20  # largest entry of a normal. Speed only
# Integers below this are floats: products and their sums are exact. With a larger one they might not be.
_EXACT = 2.0**53
_LONGEST_ENTRY = 2.0**50  # of a matrix that parts vectors of nearly one direction. Speed only


@dataclass(frozen=True, eq=False)
class RoundFrame:
    """Independent normals, and for each vector its products with them, over the largest, and a bound of their errors.

    Vectors that lie close to a plane do not in these coordinates, if the plane's normal is among them. Invertible:
    every normal is a combination of `normals`.
    """

    normals: FloatArray
    products: FloatArray
    errors: FloatArray


def round_frame(vectors: Vectors) -> RoundFrame:
    """Normals along the axes of the vectors, stretched by powers of two until no axis is thin."""
    shadow = vectors.shadow
    d = shadow.shape[1]
    with np.errstate(all="ignore"):
        sizes = np.abs(shadow).max(axis=1)
        largest = min(_LONGEST, np.floor((_EXACT - 1) / (d * sizes.max()))) if vectors.whole else _LONGEST
        normals = _axes(shadow / sizes[:, np.newaxis], largest)
        products = shadow @ normals.T
        spread = np.sqrt(np.mean((products / sizes[:, np.newaxis]) ** 2, axis=0))
        stretch = np.exp2(-np.rint(np.log2(np.where(spread > 0, spread, 1.0))))
        products *= stretch
        longest = np.abs(products).max(axis=1)
        # Off by 2^-51 in the vector, d roundings of products, d - 1 of sums; not at all where all are whole numbers.
        exact = vectors.whole and d * np.abs(normals).max() * sizes.max() < _EXACT
        rounding = 0.0 if exact else 2.0**-53 * (d + 5) * (np.abs(normals).sum(axis=1) * stretch).max()
        errors = rounding * sizes / longest + 2.0**-53
        scaled = products / longest[:, np.newaxis]
    usable = np.isfinite(errors) & np.isfinite(scaled).all(axis=1)
    # What has no reliable product may have any.
    scaled, errors = np.where(usable[:, np.newaxis], scaled, 0.0), np.where(usable, errors, 1.0)
    return RoundFrame(normals * stretch[:, np.newaxis], scaled, errors)


def _axes(directions: FloatArray, largest: float) -> FloatArray:
    """The principal axes in integers with entries up to `largest` if those are independent, else the unit vectors."""
    d = directions.shape[1]
    if not largest >= 1:
        return np.eye(d)
    axes = finite_rows(asked("principal_axes", directions), d)
    whole = _independent(axes, np.abs(axes).max(axis=1, keepdims=True), largest)
    return np.eye(d) if whole is None else whole


def _independent(rows: FloatArray, sizes: FloatArray, largest: float) -> FloatArray | None:
    """The rows over their sizes, rounded to whole numbers up to `largest`; None unless they are d independent ones."""
    if rows.shape[0] != rows.shape[1]:
        return None
    with np.errstate(all="ignore"):
        whole = np.rint(rows / sizes * largest)
    # Integers say so: cones between dependent normals would not cover all others.
    if not np.isfinite(whole).all() or not determinant(integers(whole.astype(np.int64))):
        return None
    return np.asarray(whole)


def spread_evenly(vectors: Vectors) -> tuple[Vectors, FloatArray] | None:
    """The vectors times an integer matrix that parts those of nearly one direction, and that matrix; None without one.

    Halfspaces weigh the same in all coordinates. A normal v there is the normal v @ matrix here.
    """
    d = vectors.shadow.shape[1]
    matrix = finite_rows(asked("evenly_spread", vectors.shadow), d)
    whole = _independent(matrix, np.abs(matrix).max(initial=0.0), _LONGEST_ENTRY)
    if whole is None:
        return None
    exact: Integers = (
        integers([list(vectors.exactly(j)) for j in range(len(vectors.weights))]).reshape(-1, d)
        @ integers(whole.astype(np.int64)).T
    )
    shadow = np.array([[c / max(map(abs, v)) for c in v] for v in exact.tolist()], dtype=np.float64)
    return Vectors(shadow, vectors.weights, lambda j: exact[j].tolist()), whole


# Is the least weight of a halfspace at least so much? Branch and bound over cones of normals.
#
# In a cone of normals that few vectors' hyperplanes cross, most vectors are on one side for all of its normals, and
# their weight bounds every count from below. Cones whose bound falls short are cut in two. Most of the sphere is
# settled by a few large cones; small ones are needed only where counts come close to the least. The answer "proven"
# is exact, floats have margins (docs/proofs/exact-depth.md, section 5). Anything else is left to the sweeps of
# `exact_depth`.


# Cuts on a path, at most, for each column: a side of the cone is then about 2^-40 of what it was. Not only speed: each
# cut rounds once, and the margins allow for so many.
_CUTS = 40
_LITTLE_WORK = 2**16  # open vectors looked at in a millisecond or two
# Never more. Not only speed: what does not fit in 64 bits cannot be passed to the compiled loop, and what takes all of
# them would have another form of it compiled and kept in a file.
_MOST_WORK = 2**62
_ROOM = 16  # rows of scratch space for each vector, at first


@dataclass(frozen=True, eq=False)
class Plane:
    """All vectors in a subspace, by number, and the least weight that a halfspace has of them."""

    members: list[int]
    least: int


def proven(
    vectors: Vectors, least: int, in_plane: Callable[[Vectors, IntArray], Plane | None] = lambda *_: None
) -> bool | FloatArray | None:
    """True if every generic halfspace weighs at least `least`, a normal of one that seems lighter, or None in doubt.

    Many vectors in one plane stay open in all cones around its normal, however small. `in_plane` finds the plane of
    some vectors, if they are in one: then what all in it weigh together is counted.
    """
    from tukeydp.trusted.exact.loops import NO_ROOM, OPEN, PROVEN, REFUTED, search

    m, d = vectors.shadow.shape
    frame = round_frame(vectors)
    # Each cut rounds once more; twice the sum of it all.
    margins = 2 * frame.errors + 2.0**-52 * (_CUTS * d + 1)
    weights = vectors.weights.astype(np.float64)
    work = _work(m, d)
    room = _ROOM * (m + d)
    together, extra = np.zeros(m, dtype=np.int64), 0
    while True:
        pool = np.empty((room, d + 3))
        found, corner, start, end = search(
            frame.products, weights, margins, float(least), together, float(extra), work, _CUTS * d, pool
        )
        if found == NO_ROOM:
            room *= 4
        elif found == OPEN and not extra:
            plane = in_plane(vectors, pool[start:end, d + 2].astype(np.int64))
            if plane is None or not plane.least:
                return None
            together[plane.members], extra = 1, plane.least
        elif found == PROVEN:
            return True
        else:
            return np.asarray(corner @ frame.normals) if found == REFUTED else None


def _work(m: int, d: int) -> int:
    """A millisecond, or about as long as the sweeps would take: where cones stay in doubt, not much is lost."""
    return min(_MOST_WORK, max(_LITTLE_WORK, 3 * math.comb(m, d - 1)))


__all__ = ["Answer", "Vectors", "exact_row", "from_floats", "from_integers", "least_weight"]

# Speed only, from here on.
CONES_ARE_QUICK = 3  # columns up to which cones decide sooner than a descent finds light halfspaces
_FEW_KEYS = 2**14  # sort keys of all rows: so few are swept sooner than halfspaces are looked for elsewhere
_FEW_DOUBTS = 8  # rows that are done in integers rather than swept again in other coordinates
_NORMALS_IN_ALL = 16  # hints kept of a search by recursion
_KEPT = 4  # halfspaces of a descent that are kept, at most, for each column
_DIGITS = 2.0**52  # largest entry of such a normal in integers


def least_weight(vectors: Vectors, at_least: int = 0, threads: int | None = None, *, enough: bool = False) -> Answer:
    """The least weight over generic halfspaces; stops as soon as it is surely below `at_least`.

    Where `enough`, also as soon as it surely is not: the answer then is `at_least` or more.
    """
    m, d = vectors.shadow.shape
    if m == 0:
        return Answer(0, np.empty((0, d)))
    if m == 1:
        return Answer(0, -vectors.shadow)
    if vectors.total < at_least:
        return Answer(vectors.total, np.empty((0, d)))
    if d == 1:
        plus = int(vectors.weights[vectors.shadow[:, 0] > 0].sum())
        least = min(plus, vectors.total - plus)
        return Answer(least, np.array([[1.0 if plus == least else -1.0]]))
    if d > 2 and (found := in_span(vectors)) is not None:
        inside, columns = found
        answer = least_weight(inside, at_least, threads, enough=enough)
        normal = None if answer.normal is None else spread_out(np.array([answer.normal], dtype=object), columns, d)
        whole = spread_out(answer.directions, columns, d)
        return Answer(answer.least, whole, answer.place, None if normal is None else normal[0].tolist())
    if enough and d > 2 and (decided := _decided(vectors, at_least)) is not None:
        return decided
    if d > 4:
        return _by_recursion(vectors, at_least, threads)
    search = swept(vectors, at_least, threads, enough=enough)
    # What is parted in other coordinates need not be done in integers.
    if search.doubts() > _FEW_DOUBTS and (parted := spread_evenly(vectors)) is not None:
        other = swept(parted[0], at_least, threads, enough=enough)
        if other.doubts() < search.doubts():
            answer = other.answer()
            return replace(answer, directions=answer.directions @ parted[1])
    return search.answer()


def _decided(vectors: Vectors, at_least: int) -> Answer | None:
    """Without sweeps whether the least weight is at least so much, by descent and by cones; None if that takes them."""
    m, d = vectors.shadow.shape
    many = d > 4 or m ** (d - 1) > _FEW_KEYS
    if many and d > CONES_ARE_QUICK and (found := found_at_once(vectors, at_least)) is not None:
        return found
    normal = proven(vectors, at_least, _in_plane)
    if normal is None and many and (parted := spread_evenly(vectors)) is not None:
        normal = proven(parted[0], at_least, _in_plane)
        normal = normal @ parted[1] if isinstance(normal, np.ndarray) else normal
    if normal is True:
        return Answer(at_least, np.empty((0, d)))
    # Where cones stay in doubt, a descent may still find what they are too wide for.
    return found_at_once(vectors, at_least, normal if isinstance(normal, np.ndarray) else None) if many else None


def _in_plane(vectors: Vectors, chosen: IntArray) -> Plane | None:
    """The subspace that some vectors span, if it is not the whole space."""
    m, d = vectors.shadow.shape
    basis = spanning_rows((vectors.exactly(j) for j in chosen.tolist()), d)
    if not 0 < len(basis) < d:
        return None
    normals = orthogonal_integers(basis, d)
    exact = {j: vectors.exactly(j) for j in range(m)}
    members = [j for j, v in exact.items() if not any(sum(map(mul, normal, v)) for normal in normals)]
    inside = Vectors(vectors.shadow[members], vectors.weights[members], lambda i: exact[members[i]])
    return Plane(members, least_weight(inside, threads=1).least)


def found_at_once(vectors: Vectors, at_least: int, start: FloatArray | None = None) -> Answer | None:
    """A halfspace that weighs less, counted in integers, if a descent finds one; `start` is a normal to begin with."""
    d, frame = vectors.shadow.shape[1], round_frame(vectors)
    given = frame.products, frame.normals, vectors.weights.astype(np.float64), at_least, start
    light = finite_rows(asked("light_normals", *given), d)
    for direction in light:
        normal = [int(c) for c in np.rint(np.clip(direction, -1.0, 1.0) * _DIGITS).tolist()]
        weight = _closed_weight(normal, vectors)
        if any(normal) and weight < at_least:
            return Answer(weight, light[: _KEPT * d], normal=normal)
    return None


def _closed_weight(normal: list[int], vectors: Vectors) -> int:
    """The weight of the closed halfspace with this normal, exactly."""
    return sum(w for j, w in enumerate(vectors.weights.tolist()) if sum(map(mul, normal, vectors.exactly(j))) >= 0)


def _by_recursion(vectors: Vectors, at_least: int, threads: int | None) -> Answer:
    """d > 4: project exactly along each vector in turn."""
    best, place = vectors.total, (0,)
    directions: list[FloatArray] = []
    exact = [vectors.exactly(j) for j in range(len(vectors.weights))]
    weights = vectors.weights.tolist()
    for i, u in enumerate(exact):
        flat = [project(v, u) for v in exact]
        k = largest(u)
        parallel = [(v[k] > 0) == (u[k] > 0) for v in exact]
        same = sum(w for p, w, s in zip(flat, weights, parallel, strict=True) if not any(p) and s)
        opposite = sum(w for p, w, s in zip(flat, weights, parallel, strict=True) if not any(p) and not s)
        others = [(p, w) for p, w in zip(flat, weights, strict=True) if any(p)]
        along = min(same, opposite)
        # The inner search may stop once it is below what is left to refute, not below the whole of it.
        inner = least_weight(from_integers([p for p, _ in others], [w for _, w in others]), at_least - along, threads)
        if along + inner.least < best:
            best, place = along + inner.least, (i,)
            lifted = [asked("lifted_along", v, vectors.shadow, i) for v in inner.directions[:NORMALS]]
            directions = [normal for v in lifted for normal in finite_rows([v], vectors.shadow.shape[1])] + directions
        if best < at_least:
            break
    return Answer(best, np.array(directions[:_NORMALS_IN_ALL]).reshape(-1, vectors.shadow.shape[1]), place)
