"""Every kernel as Python, its form on whole arrays, and brute force: the same on small inputs, and nothing is compiled.

Compiled code of the same text is compared with it in tests/test_plain_forms.py, in processes of their own.
"""

import inspect
import itertools
import pickle
from fractions import Fraction

import numpy as np
import pytest

from support import hostile_kernels
from support.kernel_calls import bits_of, result_of
from support.tiny_plane import DEPTHS, DIRECTIONS, PLANE, ROWS
from tukeydp.trusted import lanes, records
from tukeydp.trusted.bits import Keystream, derived_key
from tukeydp.trusted.boxes import Box, Pieces, Union
from tukeydp.trusted.covers import Covers, walk_of
from tukeydp.trusted.exact import loops as exact_loops
from tukeydp.trusted.exact.depth import proven
from tukeydp.trusted.exact.sweeps import exact_row, swept, tied_rows
from tukeydp.trusted.exact.vectors import exact_space, from_integers
from tukeydp.trusted.exponential import Search
from tukeydp.trusted.laws import Group, LevelDraw
from tukeydp.trusted.levels import level_sets
from tukeydp.trusted.matrices import Basis
from tukeydp.trusted.sampling import compiling, kept, many_columns
from tukeydp.trusted.sampling import loops as sampling_loops
from tukeydp.trusted.shapes import TiltedBox, around, cut, frame_of
from tukeydp.trusted.streams import tally_loops

WITHIN = Box((0, 0), (4, 4))
SHEAR = Basis(((1, 0), (1, 1)), ((1, 0), (-1, 1)))
LEVELS = level_sets(np.array(ROWS), np.array(DIRECTIONS))
TOP = max(DEPTHS)


class BothForms:
    """A kernel that is never compiled: as Python, and where there is a form on whole arrays, equal to it."""

    def __init__(self, function):
        self.py_func, self.plain = function, getattr(function, "plain", None)
        self.name = f"{function.__module__.removeprefix('tukeydp.')}.{function.__name__}"
        self.calls = 0

    def __call__(self, *arguments):
        self.calls += 1
        before = pickle.dumps(arguments) if self.plain is not None else None
        result = self.py_func(*arguments)
        if before is not None:
            again = pickle.loads(before)
            assert self._seen(arguments, result) == self._seen(again, self.plain(*again)), self.name
        return result

    def _seen(self, arguments, result):
        bound = inspect.signature(self.py_func).bind(*arguments)
        return bits_of(result_of(self.name, dict(bound.arguments), result))


@pytest.fixture
def kernels(monkeypatch):
    """By name; all that call each other do so in Python."""
    found = {}
    for module in (exact_loops, sampling_loops, tally_loops, kept):
        for name, value in list(vars(module).items()):
            if hasattr(value, "py_func"):
                both = found.setdefault(value.py_func, BothForms(value.py_func))
                monkeypatch.setattr(module, name, both)
    monkeypatch.setattr(sampling_loops, "high_word", lambda a, b: np.uint64((int(a) * int(b)) >> 64))
    monkeypatch.setattr(compiling, "_keeping", True)
    with np.errstate(all="ignore"):
        yield {both.name: both for both in found.values()}


def test_forms_that_differ_would_be_seen(kernels):
    words = np.arange(40, dtype=np.uint64) << np.uint64(58)
    box, slabs = records.uniform_draw(np.array([0]), np.array([9])), records.slabs(*np.array([[[1]], [[2]], [[5]]]))
    assert sum(both.plain is not None for both in kernels.values()) > 15
    both = kernels["trusted.sampling.loops.count_inside"]
    assert both(words, box, slabs._replace(smallest=np.array([2]), largest=np.array([5])), 9)[0] == 9
    both.plain = lambda words, box, slabs, wanted: (9, -1)
    with pytest.raises(AssertionError):
        both(words, box, slabs._replace(smallest=np.array([2]), largest=np.array([5])), 9)


def test_hostile_arguments(kernels):
    called = set()
    for part in ("of_words", "of_passes", "of_planes", "of_ties", "of_lists"):
        for name, arguments in getattr(hostile_kernels, part)(np.random.default_rng(17)):
            if name in kernels:
                kernels[name](*arguments)
                called.add(name.split(".")[-1])
    assert called >= {
        "count_inside",
        "checksum",
        "tally",
        "fill_keys",
        "scan_keys",
        "fill_chosen",
        "scan_ties",
        "_kept",
    }


def test_records_are_what_their_words_say():
    wide = records.uniform_draw(np.array([-5, 0]), np.array([3 * 2**61, 6]))
    assert [int(w) for w in wide.width] == [3 * 2**61 + 6, 7]
    assert [int(w) for w in wide.leftover] == [2**64 % (3 * 2**61 + 6), 2**64 % 7]
    slanted = Box((0, 0), (4, 8), SHEAR)
    law = LevelDraw([Group(0, 0, 25), Group(1, 1, 45), Group(2, TOP, 25)], Fraction(1))
    found = records.proposals(law.word_table(16), [WITHIN, slanted, Box((1, 2), (4, 4))], WITHIN)
    assert found.boxes.low.tolist() == [[0, 0], [0, 0], [1, 2]]
    assert found.boxes.width.tolist() == [[5, 5], [5, 9], [4, 3]]
    assert found.slanted.tolist() == [False, True, False]
    assert found.inverse.tolist() == [[[1, 0], [0, 1]], [[1, 0], [-1, 1]], [[1, 0], [0, 1]]]
    assert (found.floor.tolist(), found.ceiling.tolist(), found.parts.tolist()) == ([0, 0], [4, 4], [0, 0, 0])
    for byte, guide in enumerate(found.guide.tolist()):
        assert guide == max(0, sum(int(first) <= byte << 56 for first in found.first) - 1)
    levels = level_sets(np.array(ROWS), np.array(DIRECTIONS), lowest=3)
    ranks = records.ranks(levels)
    for i, v in enumerate(DIRECTIONS):
        ordered = sorted(a * v[0] + b * v[1] for a, b in ROWS)
        assert ranks.projections[i].tolist() == ordered[2:-2]
    assert (ranks.left_out, ranks.highest) == (2, 6)
    one = records.slabs(np.array([[1, 2]]), np.array([3]), np.array([4]))
    assert (one.directions.tolist(), one.smallest.tolist(), one.largest.tolist()) == ([[1, 2]], [3], [4])


def test_code_is_kept_from_then_on(monkeypatch):
    monkeypatch.setattr(compiling, "_keeping", False)
    assert not compiling.keeping()
    compiling.keep()
    assert compiling.keeping()


def drawn(search, lanes=6):
    stream = Keystream(derived_key("kernels"))
    return [
        None if found is None else found.point
        for found in (search.first_accepted(stream, i, search._order) for i in range(lanes))
    ]


def search_of(shapes, word_bits, many, levels=LEVELS):
    """Levels 0, 1 and from 2 on from these shapes."""
    ends = [(0, 0), (1, 1), (2, TOP)]
    groups = [(Group(a, b, shape.size), shape) for (a, b), shape in zip(ends, shapes, strict=True)]
    return Search(levels, shapes[0], groups, Fraction(3, 2), word_bits, many)


@pytest.mark.parametrize("word_bits", [5, 64])
def test_proposals_from_boxes(word_bits, kernels, monkeypatch):
    slanted = Box((0, 0), (4, 8), SHEAR)
    for shapes in ([WITHIN, Box((0, 1), (3, 4)), Box((1, 1), (3, 3))], [WITHIN, slanted, slanted]):
        assert all(LEVELS.contains(y, 0) for y in drawn(search_of(shapes, word_bits, 99)) if y)
    assert kernels["trusted.sampling.loops.propose"].calls


@pytest.mark.parametrize("word_bits", [5, 64])
def test_proposals_from_pieces(word_bits, kernels):
    low, high = np.array([[1, 1], [0, 3], [4, 0]]), np.array([[3, 2], [4, 4], [4, 2]])
    pieces = Pieces(low, high, np.cumsum((high - low + 1).prod(axis=1)))
    search = search_of([WITHIN, Union(pieces, 3), Union(pieces, 2, 1)], word_bits, 99)
    found = {tuple(y) for y in drawn(search, 60) if y}
    assert len(found) > 9
    points = [Union(pieces, 3).point(i) for i in range(pieces.ends[-1])]
    assert len({tuple(y) for y in points}) == len(points) == 6 + 10 + 3
    assert all(Union(pieces, 3).holds(y) for y in points)
    assert not Union(pieces, 2, 1).holds(points[0])
    assert (Union(pieces, 2, 1).first, Union(pieces, 2, 1).size) == (6, 10)
    assert kernels["trusted.sampling.loops._place"].calls


@pytest.mark.parametrize("word_bits", [5, 64])
@pytest.mark.parametrize("basis", [None, SHEAR])
def test_first_bytes(word_bits, basis, kernels, monkeypatch):
    monkeypatch.setattr(many_columns, "_WIDE", 0)
    monkeypatch.setattr(lanes, "IN_LANES", (16, 40))
    shape = Box((0, 0), (4, 8), basis) if basis else WITHIN
    found = drawn(search_of([WITHIN, shape, shape], word_bits, 0))
    assert any(found)
    assert kernels["trusted.sampling.loops.candidates"].calls
    assert word_bits == 5 or kernels["trusted.sampling.loops._test"].calls


@pytest.mark.parametrize("word_bits", [5, 64])
@pytest.mark.parametrize("kind", ["along the axes", "slanted", "rounded"])
def test_tilted_boxes(word_bits, kind, kernels, monkeypatch):
    monkeypatch.setattr(lanes, "IN_LANES", (16, 40))
    levels = level_sets(50 * np.array(ROWS), np.array(DIRECTIONS))
    whole = Box((0, 0), (200, 200))
    shapes = [whole]
    for level in (1, 2):
        smallest, largest = (ends[2:].tolist() for ends in levels.offsets(level))
        box = {
            "along the axes": whole,
            "slanted": Box((0, 0), (200, 400), SHEAR),
            "rounded": around(frame_of(levels.directions[2:4]), smallest, largest),
        }[kind]
        cells = cut(box, np.array([1.0, -0.5]))
        shapes.append(TiltedBox(box, cells, int(cells.heights.max(axis=1).sum())))
    search = search_of(shapes, word_bits, 0, levels)
    assert any(drawn(search, 12))
    assert kernels["trusted.sampling.loops.survivors"].calls
    assert kernels["trusted.sampling.loops.test"].calls
    assert (kernels["trusted.sampling.loops._far_out"].calls > 0) == (kind == "rounded")


DEEP = dict(zip(PLANE, DEPTHS, strict=True))


@pytest.mark.parametrize("room", [3, 99])
def test_lists_have_all_points_from_their_level_up(room, kernels):
    covers = Covers(LEVELS, WITHIN)
    root = covers.boxed(1)
    found = covers.listed(root, 1, 1 if room == 99 else 9, 10**6, room)
    listed = {tuple(y): cap for y, cap in zip(found.points.tolist(), found.caps.tolist(), strict=True)}
    assert listed == {y: depth for y, depth in DEEP.items() if depth >= found.level}
    assert found.level == TOP - 1 or room == 3
    assert covers.listed(root, 1, 1, 3, room) is None


def test_depths_climbs_and_estimates(kernels):
    ranks = records.ranks(LEVELS)
    depth_of = kernels["trusted.sampling.loops.depth_of"]
    for y, depth in DEEP.items():
        assert depth_of(np.array(y), ranks, 0) == depth
        assert depth_of(np.array(y), ranks, depth) <= depth
    low, high = np.array(WITHIN.low), np.array(WITHIN.high)
    around = {y: [DEEP.get((y[0] + a, y[1] + b), -1) for a, b in ((1, 0), (-1, 0), (0, 1), (0, -1))] for y in DEEP}
    peaks = {depth for y, depth in DEEP.items() if max(around[y]) <= depth}
    for y, depth in DEEP.items():
        climbed = kernels["trusted.sampling.loops.climbed"](np.array(y), low, high, ranks)
        assert climbed in peaks
        assert climbed == depth if max(around[y]) <= depth else climbed > depth
    walk = walk_of(low, high, LEVELS.directions)
    # Every one of the 5 values of the first column goes on at level 0 < 1, and 25 points are looked at, at most.
    assert 5 <= kernels["trusted.sampling.loops.about_visits"](walk, 1, 10**4, ranks) <= 30


@pytest.mark.parametrize(("d", "n"), [(2, 9), (3, 8), (4, 7)])
def test_sweeps_and_cones_are_right_by_definition(d, n, kernels):
    rng = np.random.default_rng(d)
    for _ in range(4):
        exact = [v for v in rng.integers(-2, 3, (n, d)).tolist() if any(v)] + np.eye(d, dtype=int).tolist()
        weights = rng.integers(1, 4, len(exact)).tolist()
        vectors = from_integers(exact, weights)
        merged = [vectors.exactly(j) for j in range(len(vectors.weights))]
        least, _ = exact_space(merged, vectors.weights.tolist())
        assert swept(vectors, 0, 1).answer().least == least
        for at_least in (least, least + 1):
            answer = proven(vectors, at_least)
            assert answer is not True or at_least == least
        if d > 2:
            places = list(itertools.combinations(range(len(merged)), d - 2))
            planes, doubtful = tied_rows(vectors, places, vectors.total + 1)
            assert not doubtful
            assert min(plane.lower for plane in planes) == least
            for plane in planes:
                assert plane.lower == plane.upper == exact_row(vectors, plane.place)[0]
    assert kernels["trusted.exact.loops.scan_keys"].calls
    assert kernels["trusted.exact.loops.search"].calls


def test_words_that_may_keep_a_point_are_powers_of_two_rounded_up():
    limits = many_columns._word_limits().tolist()
    assert len(limits) == 64 * 256 + 1
    for steps in (0, 1, 255, 256, 5000, 64 * 256):
        limit = limits[steps]
        assert (
            limit**256
            <= 2 ** (64 * 256 - steps) * (1 + Fraction(1, 2**50))
            <= (limit + 1) ** 256 * (1 + Fraction(1, 2**50))
        )


def value(pair):
    return Fraction(pair[0]) + Fraction(pair[1])


@pytest.mark.parametrize("bits", [40, 150])
def test_twice_the_digits_are_close_to_fractions(bits, kernels):
    rng = np.random.default_rng(bits)
    more = rng.integers(0, 2**40, (2, 6, 4)).tolist()
    whole = rng.integers(2**39, 2**40, (6, 4)).astype(object)
    if bits > 40:
        whole = (whole << 110) | (np.array(more[0], dtype=object) << 65) | np.array(more[1], dtype=object)
    digits = exact_loops.doubled(whole)
    exact = [[Fraction(c, 1 << bits) for c in row] for row in whole.tolist()]
    near = Fraction(1, 2**100)
    for u, v, x, y in zip(digits, digits[1:], exact, exact[1:], strict=False):
        assert all(abs(value(pair) - c) <= near for pair, c in zip(u, x, strict=True))
        assert abs(u[:, 1]).max() <= 2.0**-53
        minors = [kernels["trusted.exact.loops.minor"](u, v, 0, j) for j in (1, 2, 3)]
        for pair, j in zip(minors, (1, 2, 3), strict=True):
            assert abs(value(pair) - (x[0] * y[j] - x[j] * y[0])) <= near
            assert abs(pair[1]) <= abs(pair[0]) * 2.0**-52
        columns = np.array([3, 0, 2])
        found = kernels["trusted.exact.loops.sum_of_products"](np.array(minors), u, columns)
        sums = sum((value(pair) * x[c] for pair, c in zip(minors, columns.tolist(), strict=True)), Fraction(0))
        assert abs(Fraction(float(found)) - sums) <= Fraction(1, 2**50) * abs(sums) + near
