"""The exact Tukey depth of a point: the least weight in a closed halfspace with the point on its edge.

Vectors run from the point to the rows. A vector of zero lies in every halfspace. For the others the least closed count
equals the least *open* count over generic directions (no vector on the edge), since an edge can be turned a little so
that whatever lay on it falls outside, or its opposite does. A cell of generic directions borders on a hyperplane
orthogonal to some vector u; so the least count is the minimum over u of

    least count of the others, projected along u   +   min(weight parallel to u, weight antiparallel to u),

which lowers the dimension by one (docs/proofs/exact-depth.md). In the plane a sweep by angle finishes it.

Compiled sweeps in floats enclose the minimum of each row; only rows whose enclosure could still change the answer are
done again in integers. The result is exact for any input.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from operator import mul

import numpy as np

from tukeydp.arrays import FloatArray, IntArray
from tukeydp.depth.cones import Plane, proven
from tukeydp.depth.descent import lighter_halfspaces
from tukeydp.depth.flats import in_span, orthogonal_integers, spanning_rows, spread_out
from tukeydp.depth.lifted_normals import lifted, lifted_along
from tukeydp.depth.projections import largest, least_along, project
from tukeydp.depth.round_frames import spread_evenly
from tukeydp.depth.vectors import Vectors, from_floats, from_integers
from tukeydp.threads import available_cores, for_each

__all__ = ["Answer", "Vectors", "exact_row", "from_floats", "from_integers", "least_weight"]

# By dimension. A vector needs 1/ratio of its length left in the plane to be given an angle there; angles closer than
# the tolerance are in doubt (an angle is a number that rises from 0 to 2 over half a turn). Not only speed: counts are
# exact because the tolerances follow from the ratios, docs/proofs/exact-depth.md, section 3. Larger tolerances and
# smaller ratios leave more rows to the integers; the other way round, counts may be wrong.
_RATIO = {2: 2.0**12, 3: 2.0**12, 4: 2.0**9}
_TOLERANCE = {2: 2.0**-32, 3: 2.0**-32, 4: 2.0**-24}
# Speed only, from here on.
_KEYS_AT_A_TIME = 2**19  # sort keys in a block of rows (4 MiB for each thread); smaller blocks refute sooner
CONES_ARE_QUICK = 3  # columns up to which cones decide sooner than a descent finds light halfspaces
_FEW_KEYS = 2**14  # sort keys of all rows: so few are swept sooner than halfspaces are looked for elsewhere
_FEW_DOUBTS = 8  # rows that are done in integers rather than swept again in other coordinates
_NORMALS = 4  # hints kept of each block or inner search; in all, so many for each dimension
_NORMALS_IN_ALL = 16  # hints kept of a search by recursion


@dataclass(frozen=True, eq=False)
class Answer:
    """The least weight in an open generic halfspace, or only an upper bound if that was enough to refute.

    `directions` are float normals of halfspaces with few vectors, the fewest first: hints. `place` names the vectors
    along which a projection shows the least weight; or else `normal` is that of a halfspace that has it.
    """

    least: int
    directions: FloatArray
    place: tuple[int, ...] = ()
    normal: list[int] | None = None


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
    search = _swept(vectors, at_least, threads)
    # What is parted in other coordinates need not be done in integers.
    if search.doubts() > _FEW_DOUBTS and (parted := spread_evenly(vectors)) is not None:
        other = _swept(parted[0], at_least, threads)
        if other.doubts() < search.doubts():
            answer = other.answer()
            return replace(answer, directions=answer.directions @ parted[1])
    return search.answer()


def _swept(vectors: Vectors, at_least: int, threads: int | None) -> _Search:
    """The sweeps of two to four columns."""
    search = _Search(vectors, at_least, threads or available_cores())
    if vectors.shadow.shape[1] == 4:
        search.pairs()
    else:
        search.rows()
    return search


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
    """Halfspaces that weigh less, if a descent finds some; `start` is a normal to begin with."""
    found = lighter_halfspaces(vectors, at_least, start)
    return None if found is None else Answer(found.weight, found.directions, normal=found.normal)


@dataclass(frozen=True, eq=False)
class _Block:
    """What one block of rows showed: its number, its smallest upper bound and where, rows in doubt, some normals."""

    number: int
    best: int
    place: tuple[int, ...]
    doubts: list[tuple[int, tuple[int, ...]]]
    normals: list[tuple[int, FloatArray]]


class _Search:
    """Collects enclosures of the rows, then settles those in doubt."""

    def __init__(self, vectors: Vectors, at_least: int, threads: int) -> None:
        self._vectors, self._at_least, self._threads = vectors, at_least, threads
        self._d = vectors.shadow.shape[1]
        self._best = vectors.total
        self._blocks: list[_Block] = []
        self._numbered = 0

    def rows(self) -> None:
        """d = 2 (one row, the plane itself) or d = 3 (one row per vector)."""
        scale = np.abs(self._vectors.shadow).max(axis=1)
        self._sweep(self._vectors.shadow, scale, self._vectors.weights, 0, ())

    def pairs(self) -> None:
        """d = 4: project along each vector, then one row per later vector."""
        shadow, weights = self._vectors.shadow, self._vectors.weights
        scale = np.abs(shadow).max(axis=1)
        for i in range(len(shadow) - 1):
            if self._refuted():
                return
            flat = _projected(shadow, i)
            order = np.append(np.arange(i + 1, len(shadow)), np.arange(i))
            self._sweep(flat[order], scale[order], weights[order], len(shadow) - 1 - i, (i, *order.tolist()))

    def doubts(self) -> int:
        """How many rows may have to be done in integers."""
        blocks = self._until_refuted()
        best = min(block.best for block in blocks)
        return 0 if best < self._at_least else sum(low < best for block in blocks for low, _ in block.doubts)

    def _until_refuted(self) -> list[_Block]:
        # Blocks are handed out in order and always finished: those up to the first that refutes are the same
        # whatever the number of threads.
        blocks = sorted(self._blocks, key=lambda block: block.number)
        refuting = next((i for i, block in enumerate(blocks) if block.best < self._at_least), len(blocks) - 1)
        return blocks[: refuting + 1]

    def answer(self) -> Answer:
        blocks = self._until_refuted()
        lightest = min(blocks, key=lambda block: block.best)
        best, place = lightest.best, lightest.place
        for lower, doubtful in sorted(doubt for block in blocks for doubt in block.doubts):
            if lower < best and best >= self._at_least:
                count, _ = exact_row(self._vectors, doubtful)
                if count < best:
                    best, place = count, doubtful
        found = sorted((pair for block in blocks for pair in block.normals), key=lambda pair: pair[0])
        found = found[: _NORMALS * self._d]
        return Answer(best, np.array([v for _, v in found]).reshape(len(found), self._d), place)

    def _refuted(self) -> bool:
        return self._best < self._at_least

    def _sweep(
        self, vectors: FloatArray, scale: FloatArray, weights: IntArray, rows: int, chain: tuple[int, ...]
    ) -> None:
        """Enclose the first `rows` rows of these vectors (all of them without a chain, one row in the plane)."""
        from tukeydp.depth import angular_sweep as sweep

        m, d = vectors.shape
        count = 1 if d == 2 else (rows if chain else m)
        bits = max(1, m.bit_length())
        own = np.zeros(m, dtype=np.int64) if d == 2 else weights
        total = int(weights.sum())
        block = max(1, min(count, _KEYS_AT_A_TIME // m))
        ratio, tolerance = _RATIO[self._d], _TOLERANCE[self._d]

        def work(numbered: tuple[int, int]) -> None:
            number, first = numbered
            size = min(block, count - first)
            keys = np.full((size, m), np.iinfo(np.int64).max)
            usable = np.zeros(size, dtype=np.int64)
            bounds = np.zeros((size, 2), dtype=np.int64)
            turn = np.zeros((size, 2))
            sweep.fill_keys(vectors, scale, first, ratio, bits, keys, usable)
            keys.sort(axis=1)
            sweep.scan_keys(keys, usable, weights, own[first : first + size], total, tolerance, bits, bounds, turn)
            self._collect(number, first, bounds, turn, vectors, chain)

        firsts = range(0, count, block)
        for_each(enumerate(firsts, self._numbered), work, min(self._threads, len(firsts)), until=self._refuted)
        self._numbered += len(firsts)

    def _collect(
        self,
        number: int,
        first: int,
        bounds: IntArray,
        turn: FloatArray,
        vectors: FloatArray,
        chain: tuple[int, ...],
    ) -> None:
        def place(r: int) -> tuple[int, ...]:
            return () if self._d == 2 else (first + r,) if not chain else (chain[0], chain[1 + first + r])

        normals = []
        for r in np.argsort(bounds[:, 1], kind="stable")[:_NORMALS].tolist():
            with np.errstate(all="ignore"):
                normal = lifted(turn[r], vectors, first + r)
                if chain:
                    normal = lifted_along(normal, self._vectors.shadow, chain[0])
            if np.isfinite(normal).all():
                normals.append((int(bounds[r, 1]), normal))
        lowest = int(np.argmin(bounds[:, 1]))
        best = int(bounds[lowest, 1])
        doubtful = np.flatnonzero(bounds[:, 0] < np.minimum(bounds[:, 1], best)).tolist()
        doubts = [(int(bounds[r, 0]), place(r)) for r in doubtful]
        self._blocks.append(_Block(number, best, place(lowest), doubts, normals))
        self._best = min(self._best, best)


def _projected(shadow: FloatArray, i: int) -> FloatArray:
    """All vectors along vector i, in the coordinates other than i's largest."""
    u = shadow[i]
    k = int(np.argmax(np.abs(u)))
    with np.errstate(all="ignore"):  # underflow is far below the tolerance
        flat = shadow - np.outer(shadow[:, k] / u[k], u)
    return np.ascontiguousarray(np.delete(flat, k, axis=1))


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
            with np.errstate(all="ignore"):
                directions = [lifted_along(v, vectors.shadow, i) for v in inner.directions[:_NORMALS]] + directions
        if best < at_least:
            break
    return Answer(best, np.array(directions[:_NORMALS_IN_ALL]).reshape(-1, vectors.shadow.shape[1]), place)


def exact_row(vectors: Vectors, place: tuple[int, ...]) -> tuple[int, list[int]]:
    """The least weight of a row in integers, and the normal of an open halfspace that has it: any dimension.

    The row is what is left when the vectors are projected along those of `place`, in either order.
    """
    d = vectors.shadow.shape[1]
    if d > 2 and (found := in_span(vectors)) is not None:
        inside, columns = found
        least, short = exact_row(inside, place)
        normal = [0] * d
        for column, entry in zip(columns, short, strict=True):
            normal[column] = entry
        return least, normal
    exact = [list(vectors.exactly(j)) for j in range(len(vectors.weights))]
    weights = vectors.weights.tolist()
    orders = {place, place[::-1]}
    return min(
        (least_along(exact, weights, [exact[j] for j in order]) for order in sorted(orders)), key=lambda found: found[0]
    )
