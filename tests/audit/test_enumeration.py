"""The guarantee, proven by enumeration on tiny grids: all datasets, all swaps, rational arithmetic.

The first half never touches the package: it shows that the target law is epsilon-DP and that the misprinted one is
not. The second half shows that the package's boxes, groups and membership make up exactly that law.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from support import oracle
from tukeydp.hints import boxes as boxes_module
from tukeydp.hints.envelope import Envelope
from tukeydp.hints.linear_programs import LinearPrograms
from tukeydp.trusted.boxes import Box
from tukeydp.trusted.covers import Covers
from tukeydp.trusted.levels import level_sets

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


class AnyShape(LinearPrograms):
    """Good bounds in a basis for a random shape: it may fit the level sets or not."""

    choose = np.random.default_rng(0)

    def shape(self, level):
        a = self.choose.normal(size=(2, 2)) * 3
        return a @ a.T


@pytest.mark.parametrize("case", CASES)
def test_boxes_groups_and_membership_make_up_the_target_law(case):
    points, directions, n = CASES[case]
    choose = np.random.default_rng(0)
    for rows in itertools.combinations_with_replacement([*points, None], n):
        levels, within = level_sets_of(rows, points, directions)
        envelope = Envelope(Covers(levels, within), LinearPrograms(levels))
        # Any choice of boxed levels must give the same law.
        envelope.refine([level for level in range(1, envelope.top + 1) if choose.random() < 0.6])
        assert_makes_up_the_law(levels, envelope.groups(0), rows, points, directions)


@pytest.mark.parametrize("case", ["d=2 axes and diagonals", "d=2 one direction"])
def test_so_do_boxes_in_any_basis(case, monkeypatch):
    """A basis from the start, and slanted boxes wherever there is one, larger or not."""
    monkeypatch.setattr(boxes_module, "_WORTHWHILE", -math.inf)
    monkeypatch.setattr(Envelope, "_best", lambda self, level: self._slanted.get(level, self.covers[level]))
    points, directions, n = CASES[case]
    slanted = 0
    for rows in itertools.combinations_with_replacement([*points, None], n):
        levels, within = level_sets_of(rows, points, directions)
        envelope = Envelope(Covers(levels, within), AnyShape(levels))
        envelope.refine(range(1, envelope.top + 1))
        envelope.rebase()
        groups = envelope.groups(0)
        slanted += sum(box.basis is not None and box.basis.matrix != ((1, 0), (0, 1)) for _, box in groups)
        assert_makes_up_the_law(levels, groups, rows, points, directions)
    assert slanted > 100


def level_sets_of(rows, points, directions):
    d = len(points[0])
    complete = np.array([row for row in rows if row is not None], dtype=np.int64).reshape(-1, d)
    within = Box((0,) * d, (max(max(p) for p in points),) * d)
    return level_sets(complete, np.array(directions, dtype=np.int64)), within


def assert_makes_up_the_law(levels, groups, rows, points, directions):
    weights = [accepted_weight(levels, groups, y) for y in points]
    assert weights == [Q ** oracle.depth(rows, y, directions) for y in points]


def accepted_weight(levels, groups, y):
    """What the sampler accepts y with, up to the normaliser: the sum over levels of w_l, where y is in the box."""
    total = Fraction(0)
    for group, box in groups:
        rows = [[int(i == j) for j in range(len(y))] for i in range(len(y))] if box.basis is None else box.basis.matrix
        z = [sum(a * c for a, c in zip(row, y, strict=True)) for row in rows]
        inside = all(a <= c <= b for a, c, b in zip(box.low, z, box.high, strict=True))
        assert group.size == box.size
        for level in range(group.lowest, group.highest + 1):
            if inside and levels.contains(y, level):
                total += Q**level - Q ** (level - 1) if level else Fraction(1)
    return total
