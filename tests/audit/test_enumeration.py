"""The guarantee, proven by enumeration on tiny grids: all datasets, all swaps, rational arithmetic.

The first half never touches the package: it shows that the target law is epsilon-DP and that the misprinted one is
not. The second half shows that the package's boxes, groups and membership make up exactly that law.
"""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

import oracle
from tukeydp.certificates import Box
from tukeydp.envelope import Envelope
from tukeydp.hints import LinearPrograms
from tukeydp.levels import level_sets

LINE = [(i,) for i in range(4)]
PLANE = list(itertools.product(range(3), repeat=2))
CASES = {
    "d=1": (LINE, [(1,)], 4),
    "d=2 axes": (PLANE, [(1, 0), (0, 1)], 3),
    "d=2 axes and diagonals": (PLANE, [(1, 0), (0, 1), (1, 1), (1, -1)], 3),
    "d=2 one direction": (PLANE, [(2, 1)], 3),
}
Q = Fraction(21, 20)  # e^(epsilon/2), that is epsilon = 0.0976


def all_datasets(points, n):
    return itertools.product([*points, None], repeat=n)


def worst_ratio(law, points, directions, n):
    """Largest probability ratio between swap neighbours, over all datasets and outcomes."""
    laws = {}
    for rows in itertools.combinations_with_replacement([*points, None], n):
        laws[frozenset_count(rows)] = law([oracle.depth(rows, y, directions) for y in points], Q)
    worst = Fraction(0)
    for rest in itertools.combinations_with_replacement([*points, None], n - 1):
        around = [laws[frozenset_count((*rest, row))] for row in [*points, None]]
        for p, p_swapped in itertools.permutations(around, 2):
            worst = max(worst, max(a / b for a, b in zip(p, p_swapped, strict=True)))
    return worst


def frozenset_count(rows):
    """Depth does not know the order of rows, so a dataset is a multiset."""
    return frozenset((row, rows.count(row)) for row in rows)


@pytest.mark.parametrize("case", CASES)
def test_the_target_law_is_private_and_the_misprinted_one_is_not(case):
    points, directions, n = CASES[case]
    assert worst_ratio(oracle.law, points, directions, n) <= Q**2
    assert worst_ratio(oracle.misprinted_law, points, directions, n) > Q**2


@pytest.mark.parametrize("case", CASES)
def test_boxes_groups_and_membership_make_up_the_target_law(case):
    points, directions, n = CASES[case]
    d = len(points[0])
    within = Box((0,) * d, (max(max(p) for p in points),) * d)
    choose = np.random.default_rng(0)
    for rows in itertools.combinations_with_replacement([*points, None], n):
        complete = np.array([row for row in rows if row is not None], dtype=np.int64).reshape(-1, d)
        levels = level_sets(complete, np.array(directions, dtype=np.int64))
        envelope = Envelope(levels, within, LinearPrograms(levels))
        # Any choice of boxed levels must give the same law.
        envelope.refine([level for level in range(1, envelope.top + 1) if choose.random() < 0.6])
        weights = [accepted_weight(levels, envelope.groups(0), y) for y in points]
        target = [Q ** oracle.depth(rows, y, directions) for y in points]
        assert weights == target


def accepted_weight(levels, groups, y):
    """What the sampler accepts y with, up to the normaliser: the sum over levels of w_l, where y is in the box."""
    total = Fraction(0)
    for group, box in groups:
        inside = all(a <= c <= b for a, c, b in zip(box.low, y, box.high, strict=True))
        for level in range(group.lowest, group.highest + 1):
            if inside and levels.contains(y, level):
                total += Q**level - Q ** (level - 1) if level else Fraction(1)
    return total
