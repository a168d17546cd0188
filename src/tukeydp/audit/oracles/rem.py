"""REM by definition on grids of a few points, and tables of different sizes."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction

from tukeydp.audit.oracles.laws import Dataset, Point
from tukeydp.audit.oracles.means import Table, Weighed, mean_choice

# REM by definition, on grids of a few points: its tests, its draw, what both together come to.


def worst_case(depths: Sequence[int], t: int, eta: float, k: int) -> float:
    """sup D(f) over all integer functions f with |f - depth| <= k, one point after the other.

    D(f) = A / (A + B), A the weight of {f in t-1, t} and B that of {f > t}: each point does best by itself.
    """
    a = b = 0.0
    for value in depths:
        options = range(value - k, value + k + 1)
        to_a = [math.exp(eta * f) for f in options if f in (t - 1, t)]
        to_b = [math.exp(eta * f) for f in options if f > t]
        free = any(f < t - 1 for f in options)
        if to_a:
            a += max(to_a)
        elif not free:
            b += min(to_b)
    return a / (a + b) if a + b else 1.0


def graded(worst: Sequence[float], test: float, epsilon: float, delta: float) -> float:
    """Pass probability from D_0 ... D_(K-1)."""
    terms = [k + math.log(delta / d) / test for k, d in enumerate(worst) if d > 0]
    s = min([*terms, len(worst) + math.log(delta) / test])
    turn = epsilon / (epsilon + test)
    at = math.log(turn) / test
    return math.exp(test * s) if s <= at else 1 - (1 - turn) * math.exp(-epsilon * (s - at))


def laplace(worst: Sequence[float], test: float, delta: float) -> float:
    """Pass probability of the plain test with discrete Laplace noise."""
    h = max([k for k, d in enumerate(worst) if d <= delta], default=-1)
    cut = 0
    while tail(test, cut + 1) > delta:
        cut += 1
    return tail(test, cut - h)


def tail(test: float, j: int) -> float:
    """Pr[Z >= j], summed up from the definition."""
    weights = {z: math.exp(-test * abs(z)) for z in range(-2000, 2001)}
    return sum(w for z, w in weights.items() if z >= j) / sum(weights.values())


def outcome(depths: Sequence[int], t: int, eta: float, chance: float) -> list[float]:
    """Probability of each grid point, and of a refusal at the end."""
    weights = [math.exp(eta * value) if value >= t else 0.0 for value in depths]
    total = sum(weights)
    if not total:
        return [0.0] * len(depths) + [1.0]
    return [chance * w / total for w in weights] + [1.0 - chance]


# Tables of different sizes, blocks that rows draw by themselves, and REM's one-sided test, by definition.


def up_to(kinds: int, most: int) -> list[Dataset]:
    """Every multiset of 0 ... most rows of so many kinds."""
    sizes = range(most + 1)
    return [x for n in sizes for x in itertools.combinations_with_replacement(range(kinds), n)]


def one_more(kinds: int, most: int) -> Iterator[tuple[Dataset, Dataset]]:
    """Every dataset of fewer than `most` rows with each of those that have a row more."""
    for x in up_to(kinds, most - 1):
        for row in range(kinds):
            yield x, tuple(sorted((*x, row)))


def worst_ratio(law: Callable[[Dataset], Sequence[float]], kinds: int, most: int) -> float:
    """Largest ratio of an outcome's probabilities between neighbours, both ways; all must be positive."""
    return max(max(p / q, q / p) for x, y in one_more(kinds, most) for p, q in zip(law(x), law(y), strict=True))


def worst_excess(law: Callable[[Dataset], Sequence[float]], kinds: int, most: int, growth: float) -> float:
    """The least delta for which P(E) <= growth Q(E) + delta for all neighbours, both ways, and all events E."""
    worst = 0.0
    for x, y in one_more(kinds, most):
        for ours, theirs in ((law(x), law(y)), (law(y), law(x))):
            worst = max(worst, sum(max(0.0, p - growth * q) for p, q in zip(ours, theirs, strict=True)))
    return worst


def drawn_tables(x: Table, columns: int, blocks: int, steps: int, partitions: int) -> Weighed:
    """Every table on the grid that draws of block numbers and coins may give; a block without rows is missing."""
    once: defaultdict[tuple[Point, ...], Fraction] = defaultdict(Fraction)
    for numbers in itertools.product(range(blocks), repeat=len(x)):
        members = [[row for row, number in zip(x, numbers, strict=True) if number == b] for b in range(blocks)]
        cells = [mean_choice([row[j] for row in rows], steps) for rows in members for j in range(columns)]
        for chosen in itertools.product(*cells):
            places = iter([at for at, _ in chosen])
            chance = math.prod((p for _, p in chosen), start=Fraction(1, blocks ** len(x)))
            once[tuple(sorted(zip(*[places] * columns, strict=True)))] += chance
    found: defaultdict[tuple[Point, ...], Fraction] = defaultdict(Fraction)
    for dealt in itertools.product(once.items(), repeat=partitions):
        rows = tuple(sorted(row for table, _ in dealt for row in table))
        found[rows] += math.prod((p for _, p in dealt), start=Fraction(1))
    return dict(found)


def harm(depths: Sequence[int], t: int, eta: float, removed: int, added: int) -> float:
    """What one row can do to a draw above t after so many others: the largest share that may fall off the edge.

    Over all functions from depth - removed to depth + added, one point after the other, for the edge u = t (a row more)
    or t + 1 (a row less): points at u - 1 do harm, points that cannot come below u are what is left.
    """
    worst = 0.0
    for edge in (t, t + 1):
        a = b = 0.0
        for value in depths:
            if value - removed <= edge - 1 <= value + added:
                a += math.exp(eta * (edge - 1))
            elif value - removed >= edge:
                b += math.exp(eta * (value - removed))
        worst = max(worst, a / (a + b) if a + b else 1.0)
    return worst


def one_sided_chance(depths: Sequence[int], t: int, eta: float, test: float, delta: float, count: int) -> float:
    """Pass probability of the graded test from D_0 ... D_(count-1); 0 where no point is deep enough."""
    if max(depths) < t:
        return 0.0
    worst = [max(harm(depths, t, eta, a, k - a) for a in range(k + 1)) for k in range(count)]
    return graded(worst, test, eta + test, delta)
