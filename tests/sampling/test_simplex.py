"""The compiled simplex method: as good as HiGHS, from whatever basis it starts."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tukeydp.hints.boxes import Certifier
from tukeydp.hints.linear_programs import LinearPrograms
from tukeydp.hints.simplex_programs import MANY_COLUMNS, SimplexPrograms, hints_for
from tukeydp.trusted.boxes import Box
from tukeydp.trusted.covers import Covers
from tukeydp.trusted.levels import level_sets

COLUMNS = 12


def tables():
    rng = np.random.default_rng(7)
    normal = rng.standard_normal((240, COLUMNS))
    copied = np.repeat(normal[:, : COLUMNS // 2], 2, axis=1)
    yield "round", np.rint(2.0**30 * normal)
    yield "stretched across the axes", np.rint(2.0**36 * normal * np.geomspace(1e-4, 1, 12) @ np.linalg.qr(normal)[1])
    yield "few different values", np.rint(1.5 * normal)
    yield "columns that are copies", np.rint(2.0**30 * copied)
    yield "a column of one value", np.rint(2.0**20 * np.where(np.arange(COLUMNS) == 3, 0.0, normal))


def levels_of(table, axes=True):
    rng = np.random.default_rng(8)
    directions = rng.integers(-200, 201, (90, COLUMNS))
    return level_sets(
        table.astype(np.int64), np.vstack([np.eye(COLUMNS, dtype=np.int64), directions]) if axes else directions
    )


@pytest.mark.parametrize("axes", [True, False])
@pytest.mark.parametrize(("name", "table"), list(tables()), ids=[name for name, _ in tables()])
def test_boxes_are_as_tight_as_with_highs(name, table, axes):
    # Where no direction is the constant column's own, its steps are no measure of the level sets: then both are loose.
    levels = levels_of(table, axes or name == "a column of one value")
    within = Box((-(2**40),) * COLUMNS, (2**40,) * COLUMNS)
    wanted = [10, 40, 60, 70]
    sizes = []
    for kind in (LinearPrograms, SimplexPrograms):
        certifier = Certifier(Covers(levels, within), kind(levels))
        found = certifier.supports(wanted)
        boxes = [certifier.box(level, supports) for level, supports in zip(wanted, found, strict=True)]
        sizes.append([math.log(box.size) if box.size else -1.0 for box in boxes])
    highs, ours = np.array(sizes)
    # A level without points may be found to be empty by one of the two, and its box to be small by the other.
    assert (ours <= highs + 1e-4)[highs > 0].all()
    assert max(highs) > 0


def box_within(certifier, level, slab):
    """What a level has in a slab."""
    covers = certifier.covers
    return covers._tightened(level, covers._pairs(certifier.supports_within(level, slab), COLUMNS), slab)


def test_any_order_of_questions_gives_the_same_bounds():
    """Each goes on from the last basis for its objective, whatever was asked before."""
    levels = levels_of(next(tables())[1])
    within = Box((-(2**40),) * COLUMNS, (2**40,) * COLUMNS)
    slab = Box((-(2**33), 2**28) + (-(2**33),) * (COLUMNS - 2), (2**33,) * COLUMNS)
    used, fresh = SimplexPrograms(levels), SimplexPrograms(levels)
    certifiers = [Certifier(Covers(levels, within), hints) for hints in (used, fresh)]
    certifiers[0].supports([70, 10, 60])
    box_within(certifiers[0], 40, slab)
    certifiers[0].supports([5])
    a, b = (box_within(certifier, 60, slab) for certifier in certifiers)
    assert math.log(a.size) == pytest.approx(math.log(b.size), abs=1e-4)
    assert a.size < slab.size


def test_a_slab_that_misses_the_level_is_proven_empty():
    levels = levels_of(next(tables())[1])
    within = Box((-(2**40),) * COLUMNS, (2**40,) * COLUMNS)
    certifier = Certifier(Covers(levels, within), SimplexPrograms(levels))
    box = certifier.box(60, certifier.supports([60])[0]).hull
    beyond = Box((box.high[0] + 2**25, *box.low[1:]), (box.high[0] + 2**26, *box.high[1:]))
    assert box_within(certifier, 60, beyond).size == 0
    assert box_within(certifier, 60, box).size > 0


def test_the_number_of_columns_chooses_the_method():
    levels = levels_of(next(tables())[1])
    assert isinstance(hints_for(levels), SimplexPrograms)
    narrow = level_sets(np.zeros((3, MANY_COLUMNS), dtype=np.int64), np.eye(MANY_COLUMNS, dtype=np.int64))
    assert not isinstance(hints_for(narrow), SimplexPrograms)
