"""How many made-up tables are rehearsed on, and how large: time against precision. No release depends on it."""

from __future__ import annotations

import math

import numpy as np

from tukeydp.arrays import FloatArray

# Columns of all tables of one shape together. Where they differ by how far their own deepest point strays, medians and
# quantiles of so many are good to about 15 percent; where fresh noise is all there is, fewer will do. More take longer.
DEPTH_COLUMNS, NOISE_COLUMNS, _FEWEST_TABLES = 50, 18, 2
# The same where how far the deepest point strays is taken for Gaussian: the deviation of so many is good to 15 percent.
WALKED_COLUMNS = 24
# Rows that depth is computed of at most. With fewer, the deepest point loses noticeably against the box, and the cliff
# is said to be nearer than it is; more take longer.
ROWS_OF_DEPTH = 1000
# Cells of a table at most. Above, errors have long been far below the sampling error.
MOST_CELLS = 100_000


def numbers(d: int, columns: int = DEPTH_COLUMNS) -> range:
    """The numbers of the made-up tables of one shape with d columns."""
    return range(max(_FEWEST_TABLES, math.ceil(columns / d)))


def settled(errors: list[FloatArray], factor: float) -> list[FloatArray]:
    """Errors with what the draws of one table have in common shrunk by `factor`, but for what all tables share.

    Depth of fewer rows, at an epsilon raised in proportion, has the same noise, and a deepest point that strays more,
    like 1/sqrt(rows), from its own place in the shape. Columns are alike: one place for all.
    """
    if factor == 1.0:
        return errors
    strays = _strays(errors)
    place = float(np.median(np.concatenate(strays)))
    return [e - (1.0 - factor) * (stray - place) for e, stray in zip(errors, strays, strict=True)]


def smoothed(errors: list[FloatArray], factor: float, symmetric: bool) -> list[FloatArray]:
    """The same, with a Gaussian variable for the strays of few tables: of the same mean, and their deviation shrunk.

    Columns are alike, so that those of all tables are one sample. In a symmetric shape strays have mean 0: that of the
    sample would not shrink, and count for much where there are many more rows than were made up.
    """
    from scipy.special import ndtri

    strays = _strays(errors)
    every = np.concatenate(strays)
    place = 0.0 if symmetric else float(every.mean())
    deviation = math.sqrt(np.square(every - place).sum() / (every.size - (0 if symmetric else 1)))
    noise = np.concatenate([e - stray for e, stray in zip(errors, strays, strict=True)])
    # Quantiles in random order, rather than random numbers: as many values as there are errors hardly differ.
    places = (np.random.default_rng(0).permutation(noise.size) + 0.5) / noise.size
    return [noise + place + factor * deviation * ndtri(places).reshape(noise.shape)]


def _strays(errors: list[FloatArray]) -> list[FloatArray]:
    """Where the draws from each table lie: their medians."""
    return [np.median(e, axis=0) for e in errors]
