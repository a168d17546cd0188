"""The cliff: how wide bounds may be before depth finds nothing. From public numbers only; a heuristic.

The box holds weight 1 at each of its points, the deep middle e^(epsilon T / 2). With bounds W standard deviations wide
the middle wins if, for Gaussian rows,

    max over l of [ (epsilon/2) l + d ln r_l + ln vol(unit ball) ] + ln(1 - e^(-epsilon/2))  >=  d ln W + margin,

r_l the radius of level l. Beyond it every release is a uniform point of the box, whatever the data. Quantiles have a
cliff of the same kind, column by column: a point outside the data has weight e^(-w n q) or e^(-w n (1 - q)).
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from tukeydp.depth.choice import chosen_notion, most_directions
from tukeydp.depth.notions import AxisAligned, InBlocks, Notion, Spread, require_finite
from tukeydp.results.accuracy import ASSUMED_WIDTH
from tukeydp.trusted.parameters import FloatArray
from tukeydp.trusted.prepared import Parts, choose_by
from tukeydp.trusted.ranks import levels_of
from tukeydp.trusted.rows import Grid

# Odds of the deep middle against the rest of the box: what is called meaningful, and what blocks are chosen for.
MEANINGFUL, SAFE = math.log(20), math.log(100)
# Bounds in standard deviations: narrower ones hold no column of measurements; beyond the other nobody cares.
_NARROWEST, _MANY = 4.0, 1e6
_LARGEST_EXPONENT = 700.0  # e to it is the end of the floats
_TINY, _HUGE = 1e-100, 1e100  # epsilons beyond are taken as these: floats would give out, and nothing changes
_AROUND, _PLACES = 3.0, 2001  # standard deviations around a quantile that count as found, and places to add up at


@lru_cache(maxsize=4096)
def log_odds(rows: int, d: int, epsilon: float) -> float:
    """ln of the weight of the deep middle for Gaussian rows, in units of a box one standard deviation wide."""
    from scipy.special import ndtri

    epsilon = min(max(epsilon, _TINY), _HUGE)
    # Depth at the top falls short of half the rows by about a square root.
    effective = int(rows - math.sqrt(rows))
    if effective < 4:
        return -math.inf
    levels = np.unique(np.linspace(1, effective // 2, min(effective // 2, 512)).astype(np.int64))
    radius = -ndtri(levels / effective)
    ball = d / 2 * math.log(math.pi) - math.lgamma(d / 2 + 1)
    with np.errstate(divide="ignore"):
        weights = epsilon / 2 * levels + d * np.log(np.maximum(radius, 1e-9)) + ball
    return float(weights.max() + math.log(-math.expm1(-epsilon / 2)))


def widest_bounds(rows: int, d: int, epsilon: float, margin: float = MEANINGFUL) -> float:
    """How many standard deviations wide bounds may be, so that depth of so many rows finds the middle."""
    exponent = (log_odds(rows, d, epsilon) - margin) / d
    return math.exp(min(exponent, _LARGEST_EXPONENT))


# Columns from which on deep points are drawn in blocks of columns by default: from thirty on that errs less, and up to
# twenty-five all at once does (docs/decisions/0022-columns-in-blocks.md).
MANY_COLUMNS = 25
# Part of the rows that the deepest point of skewed columns has on its sides, over that of symmetric ones: at least 1/e
# of a log-concave law lies on every side of its mean. Counted on, or columns of scores and zeros fall off the cliff.
_SKEWED = 2.0 / math.e


def drawn_notion(depth: Any, n: int | None, d: int, epsilon: Fraction, each: int | None = None) -> Notion:
    """The notion that deep points are drawn by, of public numbers: many columns in blocks, or along the axes alone.

    `epsilon` is that of a sampler with weights e^(epsilon T / 2); n is None if secret; of groups, `each` has so many
    rows. Depth along the axes reaches farthest: its levels are boxes, more than twice as wide as others of their size.
    """
    if depth is not None or d <= MANY_COLUMNS or (n is not None and n <= d):
        return chosen_notion(depth, n, d)
    most = most_directions(n, -(-d // InBlocks().columns))
    blocks = InBlocks(None if most is None or most >= Spread.usual(InBlocks().columns) else most)
    rows = n if each is None else each
    near = rows is not None and widest_for(blocks, int(_SKEWED * rows), d, float(epsilon)) < ASSUMED_WIDTH
    return AxisAligned() if near else blocks


def _usual_parts(n: int, grid: Grid, key: bytes, epsilon: Fraction | None) -> Parts:
    notion = chosen_notion(None, n, grid.d) if epsilon is None else drawn_notion(None, n, grid.d, epsilon)
    return require_finite(notion).parts_on_grid(grid, key)


choose_by(_usual_parts)


def widest_for(notion: Notion, rows: int, d: int, epsilon: float) -> float:
    """How many standard deviations wide bounds may be for draws by a notion."""
    sizes = [block.d for block in notion.blocks(d)] if isinstance(notion, InBlocks) else [d]
    return min(widest_bounds(rows, size, epsilon * size / d) for size in sizes)


@lru_cache(maxsize=4096)
def log_odds_of_ranks(n: int, shares: tuple[Fraction, ...], epsilon: Fraction) -> float:
    """ln of the odds of quantiles of n Gaussian rows against the rest of bounds one standard deviation wide.

    `epsilon` is what a level of a column has. Rows lie in the middle of the bounds. What one quantile can get lost in
    is beyond the data on the sides where its part of the values ends at a bound.
    """
    from scipy.special import ndtr, ndtri

    lost = []
    for weight, parts in levels_of(shares, epsilon):
        strength = min(float(weight), _HUGE) * n
        for part in parts:
            share = float(shares[part.middle])
            around = ndtri(share) + np.linspace(-_AROUND, _AROUND, _PLACES)
            found = 2.0 * _AROUND * float(np.exp(-strength * np.abs(ndtr(around) - share)).mean())
            sides = [-strength * share] * (part.low == 0) + [-strength * (1.0 - share)] * (part.high == 1)
            # Half of the bounds' width lies on each side. A peak narrower than the places is as wide as one of them.
            lost += [side - math.log(2.0) - math.log(max(found, 2.0 * _AROUND / _PLACES)) for side in sides]
    return -float(np.logaddexp.reduce(lost))


def widest_for_ranks(n: int, shares: tuple[Fraction, ...], epsilon: Fraction, margin: float = MEANINGFUL) -> float:
    """How many standard deviations wide a column's bounds may be, so that all of its quantiles are found."""
    return math.exp(min(log_odds_of_ranks(n, shares, epsilon) - margin, _LARGEST_EXPONENT))


def ranks_of_ties(
    log_odds: float, shares: tuple[Fraction, ...], epsilon: Fraction, margin: float = MEANINGFUL
) -> float:
    """How many ranks inside those of equal values a quantile's rank must lie to be found among them.

    `log_odds` is ln of what the gap beside the value weighs over what the value does.
    """
    return (margin + log_odds) / min(float(weight) for weight, _ in levels_of(shares, epsilon))


def width_sentence(widest: float, n: int, widths: FloatArray, known: bool) -> str:
    """The cliff in words, from public numbers; `widths` are the bounds in standard deviations, `known` or assumed."""
    d = len(widths)
    width = math.exp(float(np.log(widths).mean()))
    rows = f"for {n} rows and {d} column{'s' if d > 1 else ''}"
    beyond = "beyond that a release is a random point between the bounds"
    if widest < _NARROWEST:
        return f"Too few rows: {rows} with this epsilon no bounds are narrow enough, and a release is mostly noise."
    sentence = f"Bounds may be up to {_in_words(widest)} standard deviations wide {rows}; {beyond}."
    if known and width > widest:
        sentence += f" By the given standard deviations they are {_in_words(width)} wide: expect noise."
    return sentence


def _in_words(width: float) -> str:
    return f"{width:,.0f}" if width < _MANY else "a million"
