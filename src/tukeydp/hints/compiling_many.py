"""Compile what only tables of many columns need, for fixed rows."""

from __future__ import annotations

from fractions import Fraction
from functools import cache

import numpy as np

from tukeydp.hints.branches import compile_lists
from tukeydp.hints.simplex_programs import hints_for
from tukeydp.trusted.bits import Keystream
from tukeydp.trusted.boxes import Box
from tukeydp.trusted.exponential import Search
from tukeydp.trusted.lanes import MANY_COLUMNS
from tukeydp.trusted.laws import Group
from tukeydp.trusted.levels import level_sets
from tukeydp.trusted.shapes import upright


@cache
def compile_for_many_columns() -> None:
    """Search among fixed rows: whether compiled code is kept in a file must not depend on the caller's."""
    levels = level_sets(np.array([[0, 0], [1, 2], [2, 1], [1, 1]]), np.array([[1, 0], [0, 1], [1, 1]]))
    compile_lists()
    hints_for(levels, 0).supports([1], [[1, 0]])
    box = Box((0, 0), (2**20, 2**20))
    for shape, columns in ((box, MANY_COLUMNS), (box, 0), (upright(box), 0)):
        groups = [(Group(0, 1, shape.size), shape)]
        Search(levels, box, groups, Fraction(1), many=columns).run(Keystream(bytes(32)), 0, 1.0, 1)
