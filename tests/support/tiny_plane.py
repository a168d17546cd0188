"""Eight rows on a grid of five by five points, and how deep each point is along four directions, by brute force."""

from __future__ import annotations

import itertools

from support import oracle

PLANE = list(itertools.product(range(5), repeat=2))
DIRECTIONS = [(1, 0), (0, 1), (1, 2), (3, -1)]
ROWS = [(1, 1), (1, 2), (2, 2), (2, 2), (3, 2), (4, 4), (0, 3), (2, 1)]
DEPTHS = [oracle.depth(ROWS, y, DIRECTIONS) for y in PLANE]
