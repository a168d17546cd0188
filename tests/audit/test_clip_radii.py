"""Radii of the clip range: their law by definition, all swaps, and controls that must fail."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from support import whole_mean_oracle as oracle
from support.charges import charge
from support.fit import FALSE_ALARM, g_test
from tukeydp.trusted import clipped_sums as clip_radii
from tukeydp.trusted.bits import Keystream, derived_key
from tukeydp.trusted.clipped_sums import RADII, WEIGHTS, drawn_radii, rows_beyond

SPREAD = 0.01
# Rows at distances that the radii tell apart: in one column, in the other, in both, and missing.
ROWS = [
    (Fraction(0), Fraction(0)),
    (Fraction(1, 40), None),
    (None, Fraction(1)),
    (Fraction(1, 20), Fraction(1, 40)),
    (Fraction(1), Fraction(1)),
    (None, None),
]


def floats(x):
    return np.array([[math.nan if cell is None else float(cell) for cell in row] for row in x])


def worst_ratio(laws):
    """Over all swaps of one row: the largest log ratio."""
    return max(
        abs(math.log(p / laws[swapped][places]))
        for x, law in laws.items()
        for swapped in (
            {tuple(sorted((*x[:i], *x[i + 1 :], row), key=ROWS.index)) for i in range(len(x)) for row in ROWS}
        )
        for places, p in law.items()
    )


def all_tables(n):
    return itertools.combinations_with_replacement(ROWS, n)


@pytest.mark.parametrize("epsilon", [4.0, 0.5])
def test_radii_are_private(epsilon):
    """All tables of two rows in two columns, all swaps: at most epsilon, and not far below."""
    laws = {x: oracle.radii_law(x, [0.0, 0.0], [SPREAD] * 2, epsilon) for x in all_tables(2)}
    assert 0.6 * epsilon < worst_ratio(laws) <= epsilon * (1 + 1e-12)


def with_score(x, epsilon, score):
    d = len(x[0])
    beyond = oracle.rows_beyond(x, [0.0] * d, [SPREAD] * d)
    law = {
        places: math.prod(oracle.WEIGHTS[i] for i in places)
        * math.exp(-epsilon * score([counts[i] for counts, i in zip(beyond, places, strict=True)]))
        for places in itertools.product(range(len(oracle.RADII)), repeat=d)
    }
    total = sum(law.values())
    return {places: weight / total for places, weight in law.items()}


def test_epsilon_undivided_would_show():
    """Control: weights e^(-epsilon rows beyond) lose more than epsilon."""
    assert worst_ratio({x: with_score(x, 4.0, max) for x in all_tables(2)}) > 4.0 * 1.02


def test_sums_over_columns_would_show():
    """Control: the sum over three columns moves by three when a row far out in all of them comes."""
    near, far = (((Fraction(v),) * 3, (Fraction(0),) * 3) for v in (0, 1))
    ours, theirs = (with_score(x, 2.0, sum) for x in (near, far))
    assert max(abs(math.log(p / theirs[places])) for places, p in ours.items()) > 4.0 * 1.02
    ours, theirs = (with_score(x, 2.0, max) for x in (near, far))
    assert max(abs(math.log(p / theirs[places])) for places, p in ours.items()) < 4.0


def test_constants_are_those_of_the_oracle():
    assert RADII == oracle.RADII
    assert WEIGHTS == oracle.WEIGHTS


def test_rows_beyond_are_those_of_the_oracle():
    for x in all_tables(3):
        found = rows_beyond(floats(x), np.array([0.1, 0.0]), np.array([SPREAD, 0.5]))
        assert found.tolist() == oracle.rows_beyond(x, [0.1, 0.0], [SPREAD, 0.5])


def test_each_row_counts_by_itself():
    """Counts of a table are the sums of those of its rows, whatever else is in it: huge, tiny and missing cells."""
    rng = np.random.default_rng(1)
    x = np.clip(rng.normal(size=(200, 3)) * 10.0 ** rng.integers(-300, 3, size=(200, 3)), -1, 1)
    x[rng.random(x.shape) < 0.2] = np.nan
    centre, spread = np.array([0.0, 0.3, -1.0]), np.array([0.02, 0.1, 2.0])
    alone = sum(rows_beyond(x[i : i + 1], centre, spread) for i in range(len(x)))
    assert (rows_beyond(x, centre, spread) == alone).all()


BEYOND = [
    [[30, 29, 25, 20, 9, 7, 3, 1, 0, 0, 0], [40, 40, 38, 30, 12, 10, 8, 6, 5, 5, 0]],
    [[0] * 11, [7] * 10 + [0]],
    [[5] * 10 + [0], [5] * 10 + [0]],
    [[9, 8, 7, 6, 5, 4, 3, 2, 1, 1, 0]],
]


def expected_law(beyond, epsilon):
    law = {
        places: math.prod(WEIGHTS[i] for i in places)
        * math.exp(-epsilon / 2 * max(counts[i] for counts, i in zip(beyond, places, strict=True)))
        for places in itertools.product(range(len(RADII)), repeat=len(beyond))
    }
    return np.array(list(law.values())) / sum(law.values()), list(law)


@pytest.mark.parametrize("beyond", BEYOND)
@pytest.mark.parametrize("epsilon", [Fraction(1, 3), Fraction(2)])
def test_draws_have_the_law(beyond, epsilon):
    """2000 draws; a false alarm once in 10^6. Half the epsilon would be noticed on the first of the tables."""
    bits = Keystream(derived_key("radii", str(epsilon))).bits(0)
    table = np.array(beyond)
    found = Counter(tuple(clip_radii._drawn(table, epsilon / 2, bits)) for _ in range(2000))
    expected, places = expected_law(beyond, float(epsilon))
    counts = np.array([found[p] for p in places])
    assert g_test(counts, expected) > FALSE_ALARM
    if beyond is BEYOND[0]:
        assert g_test(counts, expected_law(beyond, float(epsilon) / 2)[0]) < FALSE_ALARM


@pytest.mark.parametrize("beyond", BEYOND)
def test_levels_weigh_what_their_radii_weigh(beyond, monkeypatch):
    """In integers: every level's box has the weight of the radii with so few rows beyond."""
    seen = []

    class Listening(clip_radii.LevelDraw):
        def __init__(self, groups, epsilon):
            seen.append((groups, epsilon))
            super().__init__(groups, epsilon)

    monkeypatch.setattr(clip_radii, "LevelDraw", Listening)
    clip_radii._drawn(np.array(beyond), Fraction(1, 14), Keystream(derived_key("levels")).bits(0))
    ((groups, epsilon),) = seen
    assert epsilon == Fraction(1, 7)
    most = max(max(counts) for counts in beyond)
    assert groups[0].lowest == 0
    for group, after in itertools.pairwise(groups):
        assert after.lowest == group.highest + 1
    for group in groups:
        for level in range(group.lowest, group.highest + 1):
            weight = math.prod(
                sum(w for w, count in zip(WEIGHTS, counts, strict=True) if count <= most - level) for counts in beyond
            )
            assert group.size == weight > 0
    # Nothing lies above: no radii have fewer rows beyond.
    fewest = max(min(counts) for counts in beyond)
    assert groups[-1].highest == most - fewest


def test_codes_far_from_a_narrow_bulk_are_not_cut_off():
    """Two columns of six with three percent of codes ten spreads away: in most of 30 draws both codes are kept."""
    rng = np.random.default_rng(3)
    x = rng.normal(size=(5000, 6))
    for j in (1, 4):
        x[rng.random(5000) < 0.03, j] = 10.0
    relative = x / 100.0
    found = [
        drawn_radii(relative, np.zeros(6), np.full(6, 0.01), charge(Fraction(3, 25), derived_key(i))) for i in range(30)
    ]
    assert np.mean([(radii[[1, 4]] > 10).all() for radii in found]) > 0.5
    assert np.median(found, axis=0)[[0, 2, 3, 5]].max() <= 4.5
