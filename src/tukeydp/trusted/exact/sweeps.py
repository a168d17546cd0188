"""The sweeps of exact depth: the least weight of a halfspace, by all ways of projecting down to a plane.

Compiled sweeps in floats enclose the minimum of each row; only rows whose enclosure could still change the answer are
done again in integers (docs/proofs/exact-depth.md, section 3).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np

from tukeydp.trusted.exact.vectors import Vectors, in_span, least_along
from tukeydp.trusted.hinted import asked, finite_rows
from tukeydp.trusted.matrices import Integers, integers
from tukeydp.trusted.parameters import FloatArray, IntArray
from tukeydp.trusted.threads import available_cores, for_each

if TYPE_CHECKING:
    from tukeydp.trusted.exact.loops import Exactly

# By dimension. A vector needs 1/ratio of its length left in the plane to be given an angle there; angles closer than
# the tolerance are in doubt (an angle is a number that rises from 0 to 2 over half a turn). Not only speed: counts are
# exact because the tolerances follow from the ratios, docs/proofs/exact-depth.md, section 3. Larger tolerances and
# smaller ratios leave more rows to the integers; the other way round, counts may be wrong.
_RATIO = {2: 2.0**12, 3: 2.0**12, 4: 2.0**9}
_TOLERANCE = {2: 2.0**-32, 3: 2.0**-32, 4: 2.0**-24}
# Bits of a vector's number, at most: a sort key holds it beside the angle, and with more of them the tolerance is no
# longer a few units of what is left for the angle. Beyond, all is done in integers.
_INDEX_BITS = {2: 28, 3: 23, 4: 23}
# Speed only.
_KEYS_AT_A_TIME = 2**19  # sort keys in a block of rows (4 MiB for each thread); smaller blocks refute sooner
NORMALS = 4  # hints kept of each block or inner search; in all, so many for each dimension


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


def swept(vectors: Vectors, at_least: int, threads: int | None, *, enough: bool = False) -> Search:
    """The sweeps of two to four columns, and ties among them settled.

    Where `enough`, only rows that may be below `at_least` are in doubt.
    """
    search = Search(vectors, at_least, threads or available_cores(), enough)
    d = vectors.shadow.shape[1]
    if d == 4:
        search.pairs()
    else:
        search.rows()
    if d > 2 and _has_angles(*vectors.shadow.shape) and search.doubts():
        search.settle_ties()
    return search


@dataclass(frozen=True, eq=False)
class _Block:
    """What one block of rows showed: its number, its smallest upper bound and where, rows in doubt, some light lines.

    A light line is what it weighs, its row, and how far it is turned in the row's plane.
    """

    number: int
    best: int
    place: tuple[int, ...]
    doubts: list[tuple[int, tuple[int, ...]]]
    lines: list[tuple[int, tuple[int, ...], FloatArray]]


class Search:
    """Collects enclosures of the rows, then settles those in doubt."""

    def __init__(self, vectors: Vectors, at_least: int, threads: int, enough: bool) -> None:
        self._vectors, self._at_least, self._threads, self._enough = vectors, at_least, threads, enough
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
        return len(self._doubtful())

    def settle_ties(self) -> None:
        """What exact ties say about the rows in doubt, in their place."""
        blocks = self._until_refuted()
        lightest = min(blocks, key=lambda block: block.best)
        best, place = lightest.best, lightest.place
        doubtful = self._doubtful()
        lower_of = {where: low for low, where in doubtful}
        planes, left = tied_rows(self._vectors, list(lower_of), self._below(best))
        doubts = [(lower_of[where], where) for where in left]
        for plane in planes:
            if plane.upper < best:
                best, place = plane.upper, plane.place
            if plane.lower < plane.upper:
                doubts.append((plane.lower, plane.place))
        lines = [line for block in blocks for line in block.lines]
        self._blocks = [_Block(0, best, place, doubts, lines)]

    def _below(self, best: int) -> int:
        """What a row's least weight must be below to change the answer."""
        return min(best, self._at_least) if self._enough else best

    def _doubtful(self) -> list[tuple[int, tuple[int, ...]]]:
        """Rows that may have to be done in integers, and bounds of theirs from below."""
        blocks = self._until_refuted()
        best = min(block.best for block in blocks)
        if best < self._at_least:
            return []
        return sorted(doubt for block in blocks for doubt in block.doubts if doubt[0] < self._below(best))

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
        for lower, doubtful in self._doubtful():
            if lower < self._below(best) and best >= self._at_least:
                count, _ = exact_row(self._vectors, doubtful)
                if count < best:
                    best, place = count, doubtful
        lines = sorted((line for block in blocks for line in block.lines), key=lambda line: line[0])
        normals = [self._normal(where, turn) for _, where, turn in lines[: NORMALS * self._d]]
        return Answer(best, np.vstack([np.empty((0, self._d)), *normals]), place)

    def _normal(self, place: tuple[int, ...], turn: FloatArray) -> FloatArray:
        """The normal of a line of a row, in the whole space; none if floats give out."""
        shadow = self._vectors.shadow
        if len(place) < 2:
            return finite_rows([asked("lifted", turn, shadow, *(place or (0,)))], self._d)
        first, second = place
        return finite_rows([asked("lifted", turn, _projected(shadow, first), second, shadow, first)], self._d)

    def _refuted(self) -> bool:
        return self._best < self._at_least

    def _sweep(
        self, vectors: FloatArray, scale: FloatArray, weights: IntArray, rows: int, chain: tuple[int, ...]
    ) -> None:
        """Enclose the first `rows` rows of these vectors (all of them without a chain, one row in the plane)."""
        from tukeydp.trusted.exact import loops as sweep

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
            if not _has_angles(m, self._d):
                bounds[:, 1] = total
                self._collect(number, first, bounds, turn, chain)
                return
            sweep.fill_keys(vectors, scale, first, ratio, bits, keys, usable)
            keys.sort(axis=1)
            sweep.scan_keys(keys, usable, weights, own[first : first + size], total, tolerance, bits, bounds, turn)
            self._collect(number, first, bounds, turn, chain)

        firsts = range(0, count, block)
        for_each(enumerate(firsts, self._numbered), work, min(self._threads, len(firsts)), until=self._refuted)
        self._numbered += len(firsts)

    def _collect(
        self,
        number: int,
        first: int,
        bounds: IntArray,
        turn: FloatArray,
        chain: tuple[int, ...],
    ) -> None:
        def place(r: int) -> tuple[int, ...]:
            return () if self._d == 2 else (first + r,) if not chain else (chain[0], chain[1 + first + r])

        lightest = np.argsort(bounds[:, 1], kind="stable")[:NORMALS].tolist()
        lines = [(int(bounds[r, 1]), place(r), turn[r]) for r in lightest]
        lowest = int(np.argmin(bounds[:, 1]))
        best = int(bounds[lowest, 1])
        doubtful = np.flatnonzero(bounds[:, 0] < np.minimum(bounds[:, 1], best)).tolist()
        doubts = [(int(bounds[r, 0]), place(r)) for r in doubtful]
        self._blocks.append(_Block(number, best, place(lowest), doubts, lines))
        self._best = min(self._best, best)


def _has_angles(m: int, d: int) -> bool:
    """Whether keys of so many vectors have room for angles that are as close as the tolerance takes them to be."""
    return m.bit_length() <= _INDEX_BITS[d]


def _projected(shadow: FloatArray, i: int) -> FloatArray:
    """All vectors along vector i, in the coordinates other than i's largest."""
    u = shadow[i]
    k = int(np.argmax(np.abs(u)))
    with np.errstate(all="ignore"):  # underflow is far below the tolerance
        flat = shadow - np.outer(shadow[:, k] / u[k], u)
    return np.ascontiguousarray(np.delete(flat, k, axis=1))


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


# Rows of the sweeps that are in doubt because vectors coincide in their planes: settled exactly, many at a time.
#
# Where a table holds few different values most rows of work have such ties, and each would be done in integers.
# Vectors in the plane that a row projects along are weighed there, once for all rows of the same plane
# (docs/proofs/exact-depth.md, section 3).


Place = tuple[int, ...]
# Sort keys in a block of rows. Speed only.
_TIED_KEYS_AT_A_TIME = 2**19


@dataclass(frozen=True)
class Enclosed:
    """Bounds of the least weight over halfspaces whose edges pass close to a plane, and vectors that attain it."""

    lower: int
    upper: int
    place: Place


@dataclass(frozen=True, eq=False)
class _TiedBlock:
    """Rows of work: bounds of the least weight beside their planes, and as bits which vectors are in these."""

    places: list[Place]
    bounds: IntArray
    members: list[bytes]


def tied_rows(vectors: Vectors, places: Sequence[Place], below: int) -> tuple[list[Enclosed], list[Place]]:
    """Bounds for the planes of these rows, each plane once, that may be less than `below`; and rows still in doubt.

    Vectors of three or four columns.
    """
    from tukeydp.trusted.exact.loops import IN_DOUBT

    exact = _primitive(vectors)
    planes: dict[bytes, tuple[int, int]] = {}
    doubtful: list[Place] = []
    for block in _swept(_exactly(exact), vectors.weights, places):
        for place, (low, high), key in zip(block.places, block.bounds.tolist(), block.members, strict=True):
            if low >= 0:
                lowest, highest = planes.get(key, (low, high))
                planes[key] = max(low, lowest), min(high, highest)
            elif low == IN_DOUBT:
                doubtful.append(place)
    found = []
    for key, (low, high) in planes.items():
        if low < below:
            members = np.flatnonzero(np.unpackbits(np.frombuffer(key, dtype=np.uint8), count=len(exact)))
            least, place = _least_within(exact[members], vectors.weights[members])
            found.append(Enclosed(low + least, high + least, tuple(members[list(place)].tolist())))
    return found, doubtful


def _primitive(vectors: Vectors) -> Integers:
    """The vectors in integers without common factors."""
    exact = [list(vectors.exactly(j)) for j in range(len(vectors.weights))]
    return integers([[int(c) // math.gcd(*v) for c in v] for v in exact])


def _exactly(primitive: Integers) -> Exactly:
    """The vectors in four columns, and one vector along the fourth that completes those of three."""
    from tukeydp.trusted.exact.loops import Exactly, doubled

    m, d = primitive.shape
    whole = np.zeros((m + 1, 4), dtype=object)
    whole[:m, :d], whole[m, 3] = primitive, 1
    # No determinant of up to four of them is larger.
    moduli = _coprime(math.factorial(4) * int(np.abs(primitive).max()) ** d)
    residues = np.stack([(whole % p).astype(np.int64) for p in moduli])
    return Exactly(doubled(whole), np.array(moduli, dtype=np.int64), residues)


def _coprime(beyond: int) -> list[int]:
    """Numbers below 2^31 without common factors, their product larger than `beyond`.

    >>> _coprime(2**40)
    [2147483647, 2147483646]
    """
    found: list[int] = []
    candidate = 2**31 - 1
    while math.prod(found) <= beyond:
        if all(math.gcd(candidate, p) == 1 for p in found):
            found.append(candidate)
        candidate -= 1
    return found


def _swept(vectors: Exactly, weights: IntArray, places: Sequence[Place]) -> Iterator[_TiedBlock]:
    """The rows again, a block at a time, with all ties decided."""
    from tukeydp.trusted.exact.loops import fill_chosen, scan_ties

    m = len(weights)
    bits = max(1, m.bit_length())
    size = max(1, _TIED_KEYS_AT_A_TIME // m)
    # A row of three columns is one vector; the other is that along the fourth.
    for first, together in groupby(sorted(places), key=lambda place: m if len(place) == 1 else place[0]):
        rows = list(together)
        for start in range(0, len(rows), size):
            part = rows[start : start + size]
            chosen = np.array([place[-1] for place in part], dtype=np.int64)
            keys = np.full((len(part), m), np.iinfo(np.int64).max)
            usable = np.zeros(len(part), dtype=np.int64)
            bounds = np.zeros((len(part), 2), dtype=np.int64)
            inside = np.zeros((len(part), m), dtype=np.bool_)
            fill_chosen(vectors, first, chosen, bits, keys, usable)
            keys.sort(axis=1)
            scan_ties(keys, usable, weights, vectors, first, chosen, bits, bounds, inside)
            yield _TiedBlock(part, bounds, [row.tobytes() for row in np.packbits(inside, axis=1)])


def _least_within(exact: Integers, weights: IntArray) -> tuple[int, tuple[int, ...]]:
    """The least weight that a halfspace has of vectors in a plane or, in three columns, a line; which attain it.

    One vector and what is to one side of it, or to the other, in the plane: one of them is at the edge of the best.
    """
    k, d = exact.shape
    if k == d - 2:
        return 0, tuple(range(k))
    if d == 3:
        along = int(weights[(exact @ exact[0] > 0).astype(np.bool_)].sum())
        return min(along, int(weights.sum()) - along), (0,)
    x, y = _telling(exact)
    sides, ahead = np.multiply.outer(x, y) - np.multiply.outer(y, x), np.multiply.outer(x, x) + np.multiply.outer(y, y)
    level = sides == 0
    totals = [(chosen.astype(np.bool_) @ weights) for chosen in (level & (ahead > 0), level & (ahead < 0), sides > 0)]
    same, opposite, left = totals
    weighed = np.minimum(same, opposite) + np.minimum(left, weights.sum() - same - opposite - left)
    best = int(weighed.argmin())
    return int(weighed[best]), (best, int(np.flatnonzero(~level[best])[0]))


def _telling(exact: Integers) -> tuple[Integers, Integers]:
    """Two coordinates that tell the vectors of a plane in four columns apart."""
    for a in range(4):
        for b in range(a + 1, 4):
            if (exact[:, a] * exact[0, b] != exact[:, b] * exact[0, a]).any():
                return exact[:, a], exact[:, b]
    raise ArithmeticError("vectors of a plane are on a line")
