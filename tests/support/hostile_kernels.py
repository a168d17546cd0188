"""Arguments that kernels are least likely to agree on: ties, ends of the range, words that are redrawn, odd cells."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from tukeydp.data.numbers import NumberRule
from tukeydp.data.readers.scanning import layout
from tukeydp.trusted import records
from tukeydp.trusted.exact.loops import Exactly
from tukeydp.trusted.sampling.loops import Listed
from tukeydp.trusted.streams.tally_loops import Layout, Room

ALL_ONES = 2**64 - 1
CELLS = (
    b"", b"0", b"-0", b"+7", b"1.5", b"12.", b".5", b".", b"-", b"1e3", b"1E-3", b"1e", b"1e+", b"2e400", b"4e-400",
    b"9007199254740993", b"9007199254740993.0", b"18446744073709551615", b"18446744073709551616", b"1" * 25,
    b"1e99999999",
    b"0.1", b"123456789012345678e-5", b"true", b"FALSE", b"tru", b"nan", b"inf", b"0x10", b"1_000", b"1,000", b"1 000",
    b"1\xc2\xa0000", b"1\xe2\x80\xaf234", b"\xe2\x88\x925", b" 5 ", b"\t6", b"7\xe2\x80\x89", b"\xff\xfe", b"na", b"NA",
    b"1.234,5", b"1'234", b"1\xe2\x80\x99234", b"00012", b"5e-324", b"2.2250738585072011e-308",
    b"1.7976931348623159e308",
    b"8.5e22", b"1e23", b"6250000000000000000e-4", b"--1", b"1-", b"1e5e5",
)  # fmt: skip
TEXTS = (
    b"1,2,3\n4,5,6\n", b"1,2\n1,2,3,4\n,,\n", b'"1",2,"3"\r\n"4""4",5,"6 \n\n7,8,9\r10,11,12', b"\n\n1,x,3\n",
    b"1;2,3\n",
    b'1,"2,3\n4,5,6\n', b"1,2,3\r\n4,5,\r\n", b"1.5,2.25,-3e2\n" * 3, b" 1 , 2 ,na\n", b'1,"2"x,3\n4,"5" ,6\n',
    b"1,2,3",
)  # fmt: skip


def calls() -> Iterator[tuple[str, tuple[Any, ...]]]:
    """Kernels and their arguments."""
    rng = np.random.default_rng(17)
    for part in (of_numbers, of_text, of_words, of_passes, of_planes, of_ties, of_lists, of_lines, of_polygons):
        yield from part(rng)


def of_numbers(rng: np.random.Generator) -> Iterator[tuple[str, tuple[Any, ...]]]:
    for bits in range(1, 65):
        digits = np.uint64(
            int(rng.integers(2 ** (bits - 1), 2**bits, dtype=np.uint64, endpoint=False)) if bits < 64 else ALL_ONES
        )
        for power in (0, 22, 23, -4, 55, 56, -27, -28, -342, -343, 308, 309, int(rng.integers(-340, 300))):
            yield "data.readers.scanning.nearest_float", (digits, power)
        yield "data.readers.scanning._leading_zeros", (digits,)
        yield "data.readers.scanning._product", (digits, np.uint64(ALL_ONES - bits))


def of_text(rng: np.random.Generator) -> Iterator[tuple[str, tuple[Any, ...]]]:
    for cell in CELLS:
        text = np.frombuffer(bytearray(cell or b" "), dtype=np.uint8)
        for decimal, mark in ((".", ","), (",", "."), (".", " "), (".", "'"), (".", "")):
            yield "data.readers.scanning.number_in", (text, 0, len(cell), ord(decimal), ord(mark) if mark else -1)
    for rule in (NumberRule(), NumberRule(decimal=",", thousands="."), NumberRule(units=("kg", "€"))):
        for separator in (",", ";", "\t") if rule.decimal == "." else (";", "\t"):
            rows = [rng.choice(len(CELLS), 3) for _ in range(60)]
            table = b"\n".join(separator.encode().join(CELLS[i] for i in row) for row in rows)
            for text in (*TEXTS, table, table.replace(b"\n", b"\r\n")):
                for targets in ([0, 1, 2], [1, -1, 0]):
                    for final in (True, False):
                        columns = 1 + max(targets)
                        form = layout(separator, '"' if final else "", targets, [rule] * columns)
                        data = np.frombuffer(bytearray(text), dtype=np.uint8)
                        bits, unread = np.zeros((70, columns), dtype=np.uint64), np.zeros((300, 4), dtype=np.int64)
                        yield "data.readers.scanning.scan", (data, 0, len(data), final, form, bits, 0, unread)


def of_words(rng: np.random.Generator) -> Iterator[tuple[str, tuple[Any, ...]]]:
    """Boxes so wide that every fourth word is redrawn, and small ones."""
    for high in (0, 6, 3 * 2**61):
        low, ends = np.array([-1, 0]), np.array([high, 5])
        box = records.uniform_draw(low, ends)
        slabs = records.slabs(np.array([[1, 0], [-1, 3]]), np.array([-1, -(2**62)]), np.array([2**61, 9]))
        words = rng.integers(0, 2**64, 300, dtype=np.uint64)
        words[::7], words[3::11] = 0, ALL_ONES
        for wanted in (0, 1, 50, 200):
            yield "trusted.sampling.loops.count_inside", (words, box, slabs, wanted)


def of_passes(rng: np.random.Generator) -> Iterator[tuple[str, tuple[Any, ...]]]:
    ends = np.array([-(2**63), 2**63 - 1, 0, -1, 1])
    for rows in (rng.integers(-(2**62), 2**62, (50, 3)), ends[:, np.newaxis], np.zeros((0, 2), dtype=np.int64)):
        yield "trusted.streams.tally_loops.checksum", (rows,)
    directions = np.array([[1, 0], [2, -3], [0, 0]])
    columns = np.ascontiguousarray(rng.integers(-4, 5, (2, 80)))
    edges = [[-2, -2, 0, 3], [], [0]]
    starts = np.cumsum([0, *map(len, edges)])
    guide = np.array([[0, len(some)] for some in edges], dtype=np.int32)
    for each in (0, 7):
        cells = int(starts[-1]) + len(edges)
        counts, rooms = np.zeros(cells, dtype=np.int64), np.full(cells, each)
        room = Room(counts, rooms, each * np.arange(cells), np.zeros(each * cells, dtype=np.int64))
        form = Layout(
            np.array([edge for some in edges for edge in some], dtype=np.int64), starts, guide, np.full(3, 40)
        )
        yield "trusted.streams.tally_loops.tally", (columns, directions, 0, 3, form, room, np.zeros(80, dtype=np.int64))


def of_planes(rng: np.random.Generator) -> Iterator[tuple[str, tuple[Any, ...]]]:
    """Vectors of a small lattice: many in the same direction, opposite, or zero."""
    for d in (2, 3):
        vectors = rng.integers(-2, 3, (40, d)).astype(np.float64)
        weights, scale = rng.integers(1, 4, 40), np.full(40, 1e-15)
        planes = 1 if d == 2 else 40
        keys, usable = np.zeros((planes, 40), dtype=np.int64), np.zeros(planes, dtype=np.int64)
        yield "trusted.exact.loops.fill_keys", (vectors, scale, 0, 1e12, 6, keys, usable)
        keys.sort(axis=1)
        for r in range(planes):  # sorted rows end with their keys, not with the rest
            keys[r, : max(usable[r], 0)] = np.sort(keys[r, 40 - max(usable[r], 0) :])
        for tolerance in (0.0, 1e-9, 0.3):
            bounds, turn = np.zeros((planes, 2), dtype=np.int64), np.zeros((planes, 2))
            yield (
                "trusted.exact.loops.scan_keys",
                (keys, usable, weights, np.zeros(planes, np.int64), int(weights.sum()), tolerance, 6, bounds, turn),
            )


def of_ties(rng: np.random.Generator) -> Iterator[tuple[str, tuple[Any, ...]]]:
    m = 24
    whole = rng.integers(-2, 3, (m, 4))
    whole[0], whole[1] = [1, 2, 0, 1], [0, 1, 1, -1]
    digits = np.zeros((m, 4, 2))
    digits[:, :, 0] = whole / 4 + rng.normal(size=(m, 4)) * (rng.random((m, 1)) < 0.3) * 1e-13
    moduli = np.array([2147483629, 2147483587])
    vectors = Exactly(digits, moduli, whole[np.newaxis] % moduli[:, np.newaxis, np.newaxis])
    chosen = np.arange(1, m)
    keys, usable = np.zeros((m - 1, m), dtype=np.int64), np.zeros(m - 1, dtype=np.int64)
    yield "trusted.exact.loops.fill_chosen", (vectors, 0, chosen, 5, keys, usable)
    for r in range(m - 1):
        keys[r, : max(usable[r], 0)].sort()
    bounds, inside = np.zeros((m - 1, 2), dtype=np.int64), np.zeros((m - 1, m), dtype=np.bool_)
    yield "trusted.exact.loops.scan_ties", (keys, usable, rng.integers(1, 3, m), vectors, 0, chosen, 5, bounds, inside)
    minors = np.zeros((2, 6), dtype=np.int64)
    for i in range(2, 6):
        yield "trusted.exact.loops._minors", (vectors, 0, i, minors)
        yield "trusted.exact.loops._coincide", (vectors, minors, i, i + 1)
        yield "trusted.exact.loops._all_inside", (vectors, minors, rng.random(m) < 0.1)
        yield "trusted.exact.loops.minor", (digits[i], digits[i + 1], 0, 3)
        yield "trusted.exact.loops.sum_of_products", (rng.normal(size=(3, 2)), digits[i], np.array([0, 3, 1]))


def of_lists(rng: np.random.Generator) -> Iterator[tuple[str, tuple[Any, ...]]]:
    for values in (rng.integers(0, 3, 30) * 1.0, rng.normal(size=30), np.zeros(5)):
        weights = rng.integers(1, 4, len(values))
        for level in (1, 2, len(values), int(weights.sum())):
            yield "paper.polytope_kernels.ranked", (values, weights, level)
            scratch = np.zeros((2, len(values)))
            yield "hints.facet_walk._ranked", (values, weights * 1.0, float(level), scratch[0], scratch[1])
    for level in (0, 3, 9):
        found = Listed(rng.integers(-5, 5, (20, 3)), rng.integers(0, 8, 20))
        yield "trusted.sampling.loops._kept", (found, 15, level)
        yield "trusted.sampling.loops._thinned", (found, 15, min(level, 2))


def of_lines(rng: np.random.Generator) -> Iterator[tuple[str, tuple[Any, ...]]]:
    for count, d in ((1, 2), (9, 2), (12, 9)):
        lines = rng.normal(size=(count, d))
        lines[-1] = lines[0]
        lines /= np.linalg.norm(lines, axis=1)[:, np.newaxis]
        yield "depth.repulsion.repel", (lines, min(2, count), 3, 0.1, 3)
        m = 6 * d
        columns, slack, u = rng.normal(size=(d, m)), rng.random(m) + 0.1, np.zeros(d)
        yield "paper.random_walks._slacks", (columns, rng.random(m), rng.normal(size=d), slack)
        yield "paper.random_walks._steepest", (columns[0], slack)
        yield "paper.random_walks._advance", (columns[0], slack, 0.05)
        yield (
            "paper.random_walks._direction",
            (columns, rng.normal(size=d), u, np.zeros(m), np.random.default_rng(count)),
        )
        for sharpness in (0.0, 1e-3, 4.0, 1e6):
            for low, high in ((-1.0, 1e-9), (0.5, np.inf), (-np.inf, -0.25), (3.0, 3.5), (-0.1, 40.0)):
                ends = (low, high) if sharpness else (-1.0, min(high, 9.0))
                yield "paper.random_walks._on_chord", (*ends, 0.2, sharpness, np.random.default_rng(d))


def of_polygons(rng: np.random.Generator) -> Iterator[tuple[str, tuple[Any, ...]]]:
    """Lines given twice, lines that bound nothing, and a square, whose dual points share coordinates."""
    square = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]])
    angles = rng.random(12) * 2 * np.pi
    some = np.column_stack([np.cos(angles), np.sin(angles)])
    for normals in (square, np.vstack([square, square]), np.vstack([square, some, some[:3]])):
        slacks = 0.5 + rng.random((5, len(normals)))
        slacks[0], slacks[1, 0] = 1.0, 1e-300
        yield "paper.polytope_kernels.polygon_areas", (normals, slacks, np.zeros(5))
