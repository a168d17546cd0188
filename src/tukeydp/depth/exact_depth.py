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

from dataclasses import replace
from operator import mul

import numpy as np

from tukeydp.depth.cones import Plane, proven
from tukeydp.depth.flats import in_span, orthogonal_integers, spanning_rows, spread_out
from tukeydp.depth.projections import largest, project
from tukeydp.depth.round_frames import round_frame, spread_evenly
from tukeydp.depth.sweeps import NORMALS, Answer, exact_row, swept
from tukeydp.depth.vectors import Vectors, from_floats, from_integers
from tukeydp.exact.hinted import asked, finite_rows
from tukeydp.hints.descent import light_normals
from tukeydp.hints.lifted_normals import lifted_along
from tukeydp.trusted.parameters import FloatArray, IntArray

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
    light = finite_rows(asked(light_normals, *given), d)
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
            lifted = [asked(lifted_along, v, vectors.shadow, i) for v in inner.directions[:NORMALS]]
            directions = [normal for v in lifted for normal in finite_rows([v], vectors.shadow.shape[1])] + directions
        if best < at_least:
            break
    return Answer(best, np.array(directions[:_NORMALS_IN_ALL]).reshape(-1, vectors.shadow.shape[1]), place)
