"""Depth as it is prepared for one table: by definition, and with public directions where REM's test measures."""

import numpy as np
import pytest

from support import oracle
from support.grids import centred_grid
from support.halfspaces import brute_force
from tukeydp.trusted.parameters import ParameterError
from tukeydp.trusted.prepared import along, along_all, in_parts

ROWS = np.array([[0, 0], [2, 1], [2, 1], [-3, 4], [1, -5], [4, 4], [-2, -2]])
DIRECTIONS = [(1, 0), (0, 1), (2, 3)]
POINTS = [(0, 0), (2, 1), (1, 1), (-3, 4), (5, 5)]


@pytest.mark.parametrize("point", POINTS)
def test_depth_is_that_of_the_definition(point):
    outer = np.array(DIRECTIONS)
    rows = [tuple(row) for row in ROWS.tolist()]
    few = along(ROWS, outer, centred_grid(9, 2))
    assert few.depth(point) == oracle.depth(rows, point, DIRECTIONS)
    assert few.decide is None
    assert few.along_public() is few.levels
    whole = along_all(ROWS, centred_grid(9, 2), lambda: outer)
    assert whole.depth(point) == brute_force(point, rows) <= whole.levels.depths(np.array([point]))[0]


def test_sizes_are_measured_along_public_directions_alone():
    """The envelope's are made from the rows: level sets along them would move with a swap."""
    whole = along_all(ROWS, centred_grid(9, 2), lambda: np.array(DIRECTIONS))
    assert whole.along_public().directions.tolist() == [list(v) for v in DIRECTIONS]
    assert whole.along_public().table.tolist() == ROWS.tolist()
    assert len(whole.directions) == 0
    assert len(whole.levels.directions) > len(DIRECTIONS)


def test_directions_whose_products_leave_62_bits_are_refused():
    """Whoever chose them: the product would wrap around, and a count be another."""
    wide = centred_grid(2**50, 2)
    with pytest.raises(ParameterError, match="2\\*\\*62"):
        along(ROWS, np.array([[2**12, 0], [0, 1]]), wide)
    with pytest.raises(ParameterError, match="2\\*\\*62"):
        in_parts(ROWS, [(slice(0, 1), np.array([[1]])), (slice(1, 2), np.array([[2**12]]))], wide)
    with pytest.raises(ValueError, match="each in one"):
        in_parts(ROWS, [(slice(0, 1), np.array([[1]]))], wide)
