"""Vectors that coincide after a projection: settled without long integers, against the recursion in them."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.halfspaces import least_count
from tukeydp.trusted.exact import sweeps
from tukeydp.trusted.exact.depth import exact_row, from_integers, least_weight
from tukeydp.trusted.exact.loops import doubled, minor, sum_of_products
from tukeydp.trusted.exact.vectors import in_span
from tukeydp.trusted.matrices import integers

# Takes small vectors to entries of a hundred bits, which no float holds.
LONG = np.array(
    [
        [2**100 + 3, 2**97 + 1, 7, -(2**96) - 5],
        [-(2**98) - 1, 2**101 + 1, 2**60 + 1, 3],
        [5, 2**97 - 3, 2**99 + 1, 2**95 + 9],
        [2**96 + 1, 1, 2**80, 2**100 + 7],
    ],
    dtype=object,
)


def vectors_of(d: int, most: int):
    one = st.tuples(*[st.integers(-2, 2)] * d).filter(any)
    return st.lists(st.tuples(one, st.integers(1, 3)), min_size=d, max_size=most)


def all_places(m: int, d: int) -> list[tuple[int, ...]]:
    return list(itertools.combinations(range(m), d - 2))


@pytest.mark.parametrize("long", [False, True])
@pytest.mark.parametrize(("d", "most"), [(3, 9), (4, 8)])
def test_planes_of_ties_are_settled_as_by_definition(d, most, long):
    @given(vectors_of(d, most))
    def check(weighted):
        exact = [LONG[:d, :d] @ np.array(v, dtype=object) if long else v for v, _ in weighted]
        vectors = from_integers([tuple(map(int, v)) for v in exact], [w for _, w in weighted])
        if len(vectors.weights) < d or in_span(vectors) is not None:
            return
        places = all_places(len(vectors.weights), d)
        planes, doubtful = sweeps.tied_rows(vectors, places, vectors.total + 1)
        assert not doubtful
        assert min(plane.lower for plane in planes) == least_count([v for v, w in weighted for _ in range(w)], d)
        for plane in planes:
            assert plane.lower == plane.upper == exact_row(vectors, plane.place)[0]

    check()


@pytest.mark.parametrize("far", [2**40, 2**90])
def test_near_ties_are_not_taken_for_ties(far, monkeypatch):
    """All are on one side of a line that passes between two of nearly opposite directions."""
    chosen = [(1, 0, 0), (-far - 1, 2, 0), (0, 0, 1), (1, 1, 1)]
    vectors = from_integers(chosen, [1] * len(chosen))

    def along_the_third():
        planes, doubtful = sweeps.tied_rows(vectors, [(2,)], 9)
        assert not doubtful
        return planes[0]

    assert least_count(chosen, 3) == exact_row(vectors, (2,))[0] == along_the_third().lower == 0
    # The control: two divides their determinant, which is not zero.
    monkeypatch.setattr(sweeps, "_coprime", lambda beyond: [2])
    assert along_the_third().lower == 1


def test_moduli_are_coprime_and_exceed_every_determinant():
    found = sweeps._coprime(2**400)
    assert all(np.gcd(a, b) == 1 for a, b in itertools.combinations(found, 2))
    assert max(found) < 2**31
    assert np.prod(integers(found)) > 2**400


ENTRY = st.one_of(st.integers(-(2**90), 2**90), st.integers(-9, 9), st.integers(-(2**53) - 1, 2**53 + 1))


@given(st.lists(st.lists(ENTRY, min_size=4, max_size=4).filter(any), min_size=3, max_size=3))
def test_twice_the_digits_are_as_close_as_the_proof_says(rows):
    digits = doubled(integers(rows))
    u, v, w = [[Fraction(a) + Fraction(b) for a, b in number] for number in digits.tolist()]
    scales = [1 << max(map(abs, row)).bit_length() for row in rows]
    for exact, row, scale in zip((u, v, w), rows, scales, strict=True):
        assert all(abs(a - Fraction(c, scale)) <= Fraction(1, 2**105) for a, c in zip(exact, row, strict=True))
    factors = np.array([minor(digits[0], digits[1], a, b) for a, b in ((1, 2), (2, 0), (0, 1))])
    found = sum_of_products(factors, digits[2], np.array([0, 1, 2]))
    x, y, z = [[Fraction(c, s) for c in row] for row, s in zip(rows, scales, strict=True)]
    truth = sum((x[a] * y[b] - x[b] * y[a]) * z[c] for a, b, c in ((1, 2, 0), (2, 0, 1), (0, 1, 2)))
    assert abs(Fraction(found) - truth) <= Fraction(1, 2**96) + abs(truth) / 2**52


@pytest.mark.parametrize("d", [3, 4])
def test_whole_numbers_take_no_integers(d, monkeypatch):
    """Most rows of work have ties here: each was done in integers, for seconds."""
    rng = np.random.default_rng(d)
    chosen = rng.integers(-4, 5, size=(40, d))
    chosen[:30, -1] = chosen[:30, 0]
    vectors = from_integers([tuple(v) for v in chosen.tolist() if any(v)], [1] * int(chosen.any(axis=1).sum()))
    truth = least_weight(vectors).least
    calls = []
    monkeypatch.setattr(sweeps, "exact_row", lambda *given: calls.append(given) or exact_row(*given))
    assert least_weight(vectors).least == truth
    assert not calls
    with_integers = sweeps.Search(vectors, 0, 1, enough=False)
    with_integers.pairs() if d == 4 else with_integers.rows()
    assert with_integers.doubts() > 10
    assert with_integers.answer().least == truth
    assert len(calls) > 10


@given(vectors_of(4, 7), st.integers(0, 8))
def test_where_a_decision_is_enough_it_is_the_same(weighted, level):
    vectors = from_integers([v for v, _ in weighted], [w for _, w in weighted])
    truth = least_weight(vectors).least
    assert (least_weight(vectors, level, enough=True).least >= level) == (truth >= level)
