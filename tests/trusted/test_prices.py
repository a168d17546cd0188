"""The one rule for weights and scales: what one record does to each score, on all tiny tables, and the prices."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

from tukeydp.trusted import prices
from tukeydp.trusted.clipped_sums import RADII, rows_beyond
from tukeydp.trusted.prices import Score, kappa, kappa_of_parts
from tukeydp.trusted.ranks import RankLaw

EPSILON = Fraction(1)
GRID = range(4)


def moved(score, candidates, values, most):
    """The largest range of the change of a score, when one value comes (A1) and when one is replaced (R1)."""
    tables = [t for n in range(most + 1) for t in itertools.combinations_with_replacement(values, n)]
    known = {t: [score(t, y) for y in candidates] for t in tables}

    def span(a, b):
        change = [x - y for x, y in zip(known[a], known[b], strict=True)]
        return max(change) - min(change)

    def with_one(t, v):
        return tuple(sorted((*t, v), key=repr))

    order = {tuple(sorted(t, key=repr)): t for t in tables}
    smaller = [t for t in tables if len(t) < most]
    one = max(span(order[with_one(t, v)], t) for t in smaller for v in values)
    pairs = itertools.permutations(values, 2)
    swap = max(span(order[with_one(t, v)], order[with_one(t, w)]) for v, w in pairs for t in smaller)
    return Score(Fraction(one), Fraction(swap))


def depth(rows, y):
    return min(sum(v <= y for v in rows), sum(v >= y for v in rows))


def test_depth_of_records():
    assert moved(depth, GRID, GRID, 4) == prices.DEPTH


@pytest.mark.parametrize("dealings", [1, 2])
def test_depth_of_block_values(dealings):
    """A record moves one block value of each dealing; an empty block lies in no halfspace. All other values stay."""
    values = [None, *GRID]
    worst = Fraction(0)
    rest = list(itertools.combinations_with_replacement(values, 3))
    for others in rest:
        for changes in itertools.product(itertools.permutations(values, 2), repeat=dealings):
            tables = [[v for v in (*others, *(c[i] for c in changes)) if v is not None] for i in range(2)]
            change = [depth(tables[0], y) - depth(tables[1], y) for y in GRID]
            worst = max(worst, Fraction(max(change) - min(change)))
    assert Score(worst, worst) == prices.depth_of_blocks(dealings)


def test_the_most_rows_beyond_a_radius():
    """Two columns, whose radii are chosen together."""
    values = list(itertools.product((0.0, 1.5, 30.0), repeat=2))
    places = (2, 5, len(RADII) - 1)
    candidates = list(itertools.product(places, repeat=2))

    def most(rows, y):
        if not rows:
            return 0
        beyond = rows_beyond(np.array(rows), np.zeros(2), np.ones(2))
        return int(max(beyond[j, y[j]] for j in range(2)))

    assert moved(most, candidates, values, 3) == prices.MOST_BEYOND


@pytest.mark.parametrize("share", [Fraction(1, 2), Fraction(1, 4), Fraction(2, 3), Fraction(9, 10)])
def test_ranks(share):
    """In ranks: the package counts them in units of 1/t. Ranges are approached by tables of more values."""

    def distance(rows, y):
        law = RankLaw(np.array(sorted(rows), dtype=np.int64), 0, 3, share, Fraction(1))
        return Fraction(law.score(y), share.denominator)

    found, declared = moved(distance, GRID, GRID, 7), prices.rank(share)
    assert found.one <= declared.one
    assert found.swap <= declared.swap
    if share == Fraction(1, 2):
        assert found == declared


def test_sums_and_counts():
    """In the largest coordinate: contributions from the middle, from an end, and a count."""
    half = 3
    from_middle = range(-half, half + 1)
    assert prices.sums_from_the_middle(half) == (max(map(abs, from_middle)), 2 * half)
    assert prices.sums_from_an_end(half) == (half, max(abs(a - b) for a in range(half + 1) for b in range(half + 1)))
    assert prices.COUNT == (1, 1)


def in_units_of_epsilon(score):
    """R without groups, R with one key, R with two, A."""
    relations = (("swap", None), ("swap", 1), ("swap", 2), ("swap-person", None), ("add-remove", None))
    return [kappa(EPSILON, *score, relation, keys) for relation, keys in relations]


F = Fraction
TABLE = {  # R without groups, R with one key, R with two or more, persons, A
    "depth of records": (prices.DEPTH, (F(1, 2), F(1, 2), F(1, 2), F(1, 2), F(1))),
    "depth of blocks": (prices.depth_of_blocks(3), (F(1, 6), F(1, 6), F(1, 12), F(1, 6), F(1, 6))),
    "the most beyond": (prices.MOST_BEYOND, (F(1, 2), F(1, 2), F(1, 2), F(1, 2), F(1))),
    "a quantile, p = 1/2": (prices.rank(F(1, 2)), (F(1, 2), F(1, 2), F(1, 2), F(1, 2), F(1))),
    "a quantile, p = 3/4": (prices.rank(F(3, 4)), (F(1, 2), F(1, 2), F(1, 3), F(1, 2), F(2, 3))),
    "sums, h = 4": (prices.sums_from_the_middle(4), (F(1, 8), F(1, 8), F(1, 8), F(1, 8), F(1, 4))),
    "a count or certificate": (prices.COUNT, (F(1), F(1), F(1, 2), F(1), F(1))),
}


@pytest.mark.parametrize("name", TABLE)
def test_prices_are_those_of_the_table(name):
    score, expected = TABLE[name]
    assert in_units_of_epsilon(score) == list(expected)
    assert score.one <= score.swap <= 2 * score.one


@pytest.mark.parametrize("shares", [("1/2",), ("1/3", "1/2"), ("9/10", "1/10", "1/2"), ("1/2", "1/2")])
def test_parts_of_a_level(shares):
    """eps / (2 max(1, mu_i + mu_j)), the two largest mu of different parts."""
    parts = [Fraction(share) for share in shares]
    mu = sorted((max(p, 1 - p) for p in parts), reverse=True)
    expected = EPSILON / (2 * max(Fraction(1), sum(mu[:2], Fraction(0))))
    assert kappa_of_parts(EPSILON, [prices.rank(p) for p in parts]) == expected
