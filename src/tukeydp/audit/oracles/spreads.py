"""Spreads by definition: deviations between parts of a block, and the common factor of a pair of rows."""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from fractions import Fraction

from tukeydp.audit.oracles.depths import Point
from tukeydp.audit.oracles.means import HALF, Cell, Choice, Row, Table, Weighed, blocks_of

# Medians of the standard deviation of k standard Gaussian values: of a chi variable over the root of its freedom.
MEDIANS = {2: 0.6744897501960817, 3: math.sqrt(math.log(2)), 4: 0.8880641651696379}
ZERO_LOW_OF_PARTS = Fraction(10, 16)  # chance that a zero deviation between three or more parts lies at the lower end
EQUAL_LOW = Fraction(2, 16)  # chance that a pair of equal rows lies at the lower end of the common factor
# The grid of the common factor, in octaves below and above what was assumed, and steps of an octave.
DOWN, UP, STEPS = 4, 6, 8


def deviation_choice(values: Sequence[Cell], parts: int, octaves: int) -> Choice:
    """The standard deviation between parts of a block, in eighths of an octave above 2^-octaves of the width."""
    size, larger = divmod(len(values), parts)
    ends = [i * size + min(i, larger) for i in range(parts + 1)]
    there = [[v for v in values[a:b] if v is not None] for a, b in itertools.pairwise(ends)]
    means = [(sum(part, Fraction(0)) / len(part), len(part)) for part in there if part]
    top = 8 * octaves
    if len(means) < 2:
        return ((0, HALF), (top, HALF))
    centre = sum(mean * m for mean, m in means) / sum(m for _, m in means)
    variance = sum(m * (mean - centre) ** 2 for mean, m in means) / (len(means) - 1)
    if not variance:
        return ((0, ZERO_LOW_OF_PARTS), (top, 1 - ZERO_LOW_OF_PARTS))
    log_size = math.log2(math.sqrt(variance) / 2 * MEDIANS[2] / MEDIANS[len(means)])
    return ((min(top, max(0, round(top + 8 * log_size))), Fraction(1)),)


def factor_choice(first: Row, second: Row, assumed: Sequence[float]) -> Choice:
    """log2 of two rows' differences over those assumed, averaged over the columns that differ, on its grid.

    Half of log2 of the share of columns that differ is added.
    """
    top = (DOWN + UP) * STEPS
    there = [abs(a - b) * w for a, b, w in zip(first, second, map(Fraction, assumed), strict=True)
             if a is not None and b is not None]  # fmt: skip
    differing = [math.log2(v / 2) - 0.5 for v in there if v]
    if differing:
        log_factor = sum(differing) / len(differing) + math.log2(len(differing) / len(there)) / 2
        return ((min(top, max(0, round((DOWN + log_factor) * STEPS))), Fraction(1)),)
    return ((0, EQUAL_LOW), (top, 1 - EQUAL_LOW)) if there else ((0, HALF), (top, HALF))


def factor_tables(x: Table, assumed: Sequence[float]) -> Weighed:
    """Every table of one column that pairing the rows in secret, and coins, may give. A third row is left out."""
    found: defaultdict[tuple[Point, ...], Fraction] = defaultdict(Fraction)
    for order, times in Counter(itertools.permutations(x)).items():
        cells = [factor_choice(block[0], block[1], assumed) for block in blocks_of(order, len(x) // 2)]
        for chosen in itertools.product(*cells):
            chance = math.prod((p for _, p in chosen), start=Fraction(times, math.factorial(len(x))))
            found[tuple(sorted((at,) for at, _ in chosen))] += chance
    return dict(found)
