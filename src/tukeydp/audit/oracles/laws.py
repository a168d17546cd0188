"""Neighbours, depth, noise, composition, by definition. Nothing here imports from the package."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from functools import cache
from typing import TypeVar

import numpy as np

# All small datasets and all swaps of one row. A dataset is a multiset: its rows are given by number, ascending.

Dataset = tuple[int, ...]
Number = TypeVar("Number", float, Fraction)


def datasets(kinds: int, n: int) -> list[Dataset]:
    """Every multiset of n rows of so many kinds."""
    return list(itertools.combinations_with_replacement(range(kinds), n))


def swap_groups(kinds: int, n: int) -> Iterator[list[Dataset]]:
    """The datasets that share n - 1 rows: any two of a group are neighbours, and all neighbours are in one."""
    for rest in itertools.combinations_with_replacement(range(kinds), n - 1):
        yield [tuple(sorted((*rest, row))) for row in range(kinds)]


def count_of_pairs(kinds: int, n: int) -> int:
    """Neighbours in each order."""
    return len(datasets(kinds, n - 1)) * kinds * (kinds - 1)


def worst_ratio(law: Callable[[Dataset], Sequence[Number]], kinds: int, n: int) -> Number:
    """Largest ratio of an outcome's probabilities between neighbours, over all datasets; all must be positive."""
    worst: Number | None = None
    for group in swap_groups(kinds, n):
        for chances in zip(*(law(x) for x in group), strict=True):
            ratio = max(chances) / min(chances)
            worst = ratio if worst is None else max(worst, ratio)
    if worst is None:
        raise ValueError("no datasets")
    return worst


def worst_excess(law: Callable[[Dataset], Sequence[float]], kinds: int, n: int, growth: float) -> float:
    """The least delta for which P(E) <= growth Q(E) + delta for all neighbours, in each order, and all events E."""
    import numpy as np

    worst = 0.0
    for group in swap_groups(kinds, n):
        laws = np.array([law(x) for x in group])
        above = laws[:, np.newaxis] - growth * laws[np.newaxis]
        worst = max(worst, float(np.maximum(above, 0.0).sum(axis=2).max()))
    return worst


# Depth and the exponential mechanism over it, by definition and in integers.

Point = tuple[int, ...]
Row = Point | None  # None: a row with a missing cell
Law = tuple[Fraction, ...]


def depth(rows: Sequence[Row], y: Point, directions: Iterable[Point]) -> int:
    """Fewest rows in a closed halfspace with y on its edge, over the given directions and their opposites."""
    least = len(rows)
    for v in directions:
        at = sum(a * b for a, b in zip(v, y, strict=True))
        sides = [sum(a * b for a, b in zip(v, row, strict=True)) - at for row in rows if row is not None]
        least = min(least, sum(s >= 0 for s in sides), sum(s <= 0 for s in sides))
    return least


@cache
def all_directions(extent: int) -> tuple[Point, ...]:
    """Directions that show the depth over all of them, in two columns, where rows and points differ by at most
    `extent` in each.

    Halfspaces through y change only where a direction is perpendicular to some row less y. Between two neighbouring
    such directions lies the sum of their shortest vectors, of entries up to twice the extent.
    """
    reach = range(-2 * extent, 2 * extent + 1)
    return tuple(v for v in itertools.product(reach, repeat=2) if v > (0, 0))


def law(depths: Sequence[int], q: Fraction) -> Law:
    """The exponential mechanism: probability proportional to q^depth, q = e^(epsilon/2)."""
    weights = [q**t for t in depths]
    total = sum(weights)
    return tuple(w / total for w in weights)


# Laws of integer noise by definition.

_AT_ONCE = 2**20  # integers: eight megabytes in floats


def laplace(scale: Fraction, reach: int) -> dict[int, float]:
    """Pr[z] proportional to e^(-|z| / scale), |z| <= reach; exact constants."""
    q = math.exp(-1 / scale)
    return {z: (1 - q) / (1 + q) * q ** abs(z) for z in range(-reach, reach + 1)}


def geometric(scale: Fraction, reach: int) -> dict[int, float]:
    q = math.exp(-1 / scale)
    return {k: (1 - q) * q**k for k in range(reach + 1)}


def gaussian(deviation: int, reach: int) -> dict[int, float]:
    """Pr[z] proportional to e^(-z^2 / (2 deviation^2)), |z| <= reach."""
    far = range(-40 * deviation, 40 * deviation + 1)
    total = math.fsum(math.exp(-z * z / (2 * deviation**2)) for z in far)
    return {z: math.exp(-z * z / (2 * deviation**2)) / total for z in range(-reach, reach + 1)}


def cube(d: int, scale: Fraction, reach: int) -> dict[tuple[int, ...], float]:
    """Pr[z] proportional to e^(-max |z_j| / scale), |z_j| <= reach."""
    far = int(60 * d * scale) + 60
    total = math.fsum(((2 * m + 1) ** d - (2 * m - 1) ** d if m else 1) * math.exp(-m / scale) for m in range(far))
    points = itertools.product(range(-reach, reach + 1), repeat=d)
    return {z: math.exp(-max(map(abs, z)) / scale) / total for z in points}


@cache
def gaussian_delta(deviation: int, shift: int, epsilon: float) -> float:
    """The least delta of discrete Gaussian noise at epsilon, where a swap moves the integer by `shift`."""
    reach = 14 * deviation + shift  # what lies beyond has a probability below 1e-40
    total = above = 0.0
    for start in range(-reach, reach + 1, _AT_ONCE):
        z = np.arange(start, min(start + _AT_ONCE, reach + 1), dtype=float)
        p, q = (np.exp(-((z - at) ** 2) / (2.0 * deviation**2)) for at in (0, shift))
        total += float(p.sum())
        above += float(np.maximum(p - math.exp(epsilon) * q, 0.0).sum())
    return above / total


# Composition by enumeration, in rationals.
#
# A mechanism on one pair of neighbours is a list of outcomes, each with its probability under the one and the other.

Outcome = tuple[Fraction, Fraction]
Pair = list[Outcome]


def exp_below(x: Fraction) -> Fraction:
    """A rational below e^x, 0 <= x <= 128, near it: Taylor's series cut off, then raised to the 64th power."""
    term = total = Fraction(1)
    for j in range(1, 40):
        term = term * x / 64 / j
        total += term
    return Fraction(int(Fraction(int(total * 2**160), 2**160) ** 64 * 2**100), 2**100)


def log_above(x: Fraction) -> Fraction:
    """A rational above ln x, x >= 1, within about 2^-40 of it."""
    low, high = Fraction(0), x - 1
    while high - low > Fraction(1, 2**40):
        middle = (low + high) / 2
        low, high = (low, middle) if exp_below(middle) >= x else (middle, high)
    return high


def exponential(scores: Sequence[int], other: Sequence[int], base: Fraction) -> Pair:
    """The exponential mechanism on scores of two neighbours: weight base^score, so epsilon = 2 ln base."""
    one, two = ([base**s for s in u] for u in (scores, other))
    return [(a / sum(one), b / sum(two)) for a, b in zip(one, two, strict=True)]


def two_outcomes(q: Fraction, ratio: Fraction) -> Pair:
    """Probabilities q and 1 - q under the one, ratio q and 1 - ratio q under the other."""
    return [(ratio * q, q), (1 - ratio * q, 1 - q)]


def range_of(pair: Pair) -> Fraction:
    """The length of the interval of log ratios, rounded up."""
    ratios = [p / q for p, q in pair]
    return log_above(max(ratios) / min(ratios))


def worst_approximate(growth: Fraction, delta: Fraction) -> Pair:
    """The (ln growth, delta)-DP mechanism from which every other follows (Kairouz, Oh and Viswanath 2015)."""
    high, low = (1 - delta) * growth / (1 + growth), (1 - delta) / (1 + growth)
    return [(delta, Fraction(0)), (high, low), (low, high), (Fraction(0), delta)]


def together(*pairs: Pair) -> Pair:
    """Independent runs; outcomes of equal ratio are put together, which changes no hockey-stick divergence."""
    law: Pair = [(Fraction(1), Fraction(1))]
    for pair in pairs:
        merged: dict[Fraction | None, Outcome] = {}
        for p, q in law:
            for a, b in pair:
                x, y = p * a, q * b
                ratio = x / y if y else None
                known = merged.get(ratio, (Fraction(0), Fraction(0)))
                merged[ratio] = known[0] + x, known[1] + y
        law = list(merged.values())
    return law


def excess(pair: Pair, growth: Fraction) -> Fraction:
    """The hockey-stick divergence: the least delta for which P(E) <= growth Q(E) + delta for all events E."""
    return sum((max(Fraction(0), p - growth * q) for p, q in pair), Fraction(0))


def worst_adaptive(
    choices: Sequence[Pair], admits: Callable[[tuple[int, ...]], bool], growth: Fraction, most: int
) -> Fraction:
    """The largest excess that anyone can reach who chooses each run by all earlier outcomes, as long as it is admitted.

    `admits` is asked for the choices made so far, in order; at most `most` runs.
    """

    def value(p: Fraction, q: Fraction, made: tuple[int, ...]) -> Fraction:
        best = max(Fraction(0), p - growth * q)
        for i, pair in enumerate(choices):
            if len(made) < most and admits((*made, i)):
                best = max(best, sum((value(p * a, q * b, (*made, i)) for a, b in pair), Fraction(0)))
        return best

    return value(Fraction(1), Fraction(1), ())


# Algorithm 3 by definition: what a run with estimated sizes releases.


def release_law(
    sizes: Sequence[float], depths: Sequence[int], t: int, short: int, epsilon_test: float, epsilon_draw: float
) -> list[float]:
    """Probabilities of every point and of a refusal: levels are drawn by the estimated `sizes`, points uniformly.

    `short` is how much discrete Laplace noise must add for the test to pass; `depths` are exact.
    """
    m = short if short >= 1 else 1 - short
    tail = math.exp(-epsilon_test * m) / (1 + math.exp(-epsilon_test))
    chance = tail if short >= 1 else 1 - tail
    q = math.exp(epsilon_draw / 2)
    mass = {level: sizes[level] * (q**level - (q ** (level - 1) if level > t else 0)) for level in range(t, len(sizes))}
    total = sum(mass.values())
    law = [0.0] * len(depths)
    if not total:
        return [*law, 1.0]
    for level, weight in mass.items():
        inside = [depth >= level for depth in depths]
        if weight:
            law = [p + chance * weight / total / sum(inside) * here for p, here in zip(law, inside, strict=True)]
    return [*law, 1 - chance]


# What a person's rows come to, by definition, in rationals.

Values = tuple[float | None, ...]


def row_of(values: Sequence[float | None], statistic: str, bounds: tuple[int, int] | None) -> Fraction | None:
    """Mean or median of the values that are there, each moved between the bounds first; None where there are none."""
    there = sorted(Fraction(v) for v in values if v is not None)
    if bounds is not None:
        there = [min(Fraction(bounds[1]), max(Fraction(bounds[0]), v)) for v in there]
    if not there:
        return None
    if statistic == "mean":
        return sum(there, Fraction(0)) / len(there)
    return (there[(len(there) - 1) // 2] + there[len(there) // 2]) / 2


# Which cells of a text table are unreadable and which hold a value, by definition.

NO_VALUE = ("", "NA")


def unreadable(records: Sequence[str], columns: int) -> list[int]:
    """For each column how many records hold something there that is no number and no word for no value.

    A record of too many fields is unreadable in every column; one of too few in those that it lacks.
    """
    split = [record.split(",") for record in records]
    return [
        sum(len(fields) > columns or j >= len(fields) or not _reads(fields[j]) for fields in split)
        for j in range(columns)
    ]


def values(records: Sequence[str], columns: int) -> list[int]:
    """For each column how many records hold a number there."""
    split = [record.split(",") for record in records]
    return [
        sum(j < len(fields) <= columns and fields[j] not in NO_VALUE and _reads(fields[j]) for fields in split)
        for j in range(columns)
    ]


def unlisted(records: Sequence[str], listed: Sequence[str]) -> int:
    """How many records have a last field that is no listed key."""
    return sum(record.split(",")[-1] not in listed for record in records)


def _reads(field: str) -> bool:
    return field in NO_VALUE or field.lstrip("-").replace(".", "", 1).isdigit()
