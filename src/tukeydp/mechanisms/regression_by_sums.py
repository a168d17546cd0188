"""Linear regression by noised sums of products: pure DP, on any table (docs/proofs/aggregate.md, section 8).

A look finds where every column is and how far it spreads. Between the ranges that were found, sums of products of
standardised values give a first fit; sums of its residuals' products with the features give one step of Newton's method
from there. So what is released at last has the noise of residuals, not of the answers, and its bias vanishes as rows
grow: least squares is where the step ends. All records, missing cells apart, of all groups, under either relation, in
memory or in passes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from tukeydp.data.records import Records
from tukeydp.mechanisms.clipped_interval import Level
from tukeydp.mechanisms.clipped_mean import ClippedMean, clipped_plan, strength
from tukeydp.results.interval import Interval, nominal
from tukeydp.trusted.account import PureDP, bounded_range, cost_of
from tukeydp.trusted.parameters import FloatArray
from tukeydp.trusted.release import Charge, Run
from tukeydp.trusted.rows import BoundedColumns
from tukeydp.trusted.steps import NormBeyond, NormSums, ProductSums, noised_norm_sums, rung

# Shares of epsilon, of which residuals' products have the rest.
_SHARES = {
    "look": Fraction(20, 100),  # where columns are
    "size of spreads": Fraction(4, 100),
    "spreads": Fraction(7, 100),
    "size of products": Fraction(5, 100),
    "products": Fraction(25, 100),
    "size of residuals": Fraction(10, 100),
}
# Shares, and numbers at epsilon 1 at most, of the records whose distances, products or residuals' products are made
# shorter: a record beyond is still there, and noise falls with the size that is allowed. Shorter residuals bias
# coefficients, which no interval can see, so that no more of them are than a draw tells apart. Accuracy only.
_BEYOND = {"spreads": (0.06, math.inf), "products": (0.06, math.inf), "residuals": (0.03, 10.0)}
_MEAN_SIZE = 0.1  # of a column's distances from its centre, in half ranges that were found
# Sizes that are allowed, in typical ones of bell-shaped columns: from the largest down, in quarters of an octave.
_LARGEST, _SMALLEST = 16.0, 1.0 / 16.0
_QUARTERS = round(4 * math.log2(_LARGEST / _SMALLEST)) + 1
_USUAL_WITHIN = 4.0  # quarters of an octave, where nothing is known
# What is added to the sums of the features' squares, in typical errors of their matrix: of the first fit, whose noise
# in weak directions would spoil the residuals, and of the step.
_RIDGE_FIRST, _RIDGE = 2.0, 1.0
# A spread is no less than this part of the range that was found: of columns of nearly equal values.
_LEAST_SPREAD = 1.0 / 50.0
_USUAL_SIZE = 0.8  # of a standard Gaussian number
# Where noise hides how features vary: the part of what is left of the answers that they explain, and the size of
# standardised coefficients, at most.
_EXPLAINED, _PRIOR = 0.7, 2.0
_SIMULATED = 600  # fits for an interval
_UNEQUAL = 1.15  # standard errors are so much larger where residuals are not alike; by real tables


@dataclass(frozen=True)
class SumsPlan:
    """What is fixed beforehand: features and the answer, `d` columns, of `rows` records in a group."""

    epsilon: Fraction
    look: ClippedMean
    d: int
    intercept: bool
    neighbours: str
    groups: int | None
    rows: float

    @property
    def coefficients(self) -> int:
        return self.d - 1 + self.intercept

    @property
    def parts(self) -> dict[str, PureDP]:
        """What each step costs."""
        found: dict[str, PureDP] = {"look": self.look.guarantee}
        for name in ("spreads", "products", "residuals"):
            found[f"size of {name}"] = bounded_range(self.share(f"size of {name}"), self.neighbours)
            found[name] = PureDP(self.share(name), neighbours=self.neighbours)
        return found

    def share(self, name: str) -> Fraction:
        """Of epsilon, for a step."""
        return self.epsilon * _SHARES.get(name, 1 - sum(_SHARES.values()))

    @property
    def guarantee(self) -> PureDP:
        return cost_of(self.parts)

    @property
    def settings(self) -> Mapping[str, Any]:
        return {
            "drawn_by": "noised sums",
            "intercept": self.intercept,
            "epsilon_look": self.look.epsilon,
            "epsilon_products": self.share("products"),
            "epsilon_residuals": self.share("residuals"),
        }

    def radii(self, name: str) -> tuple[float, ...]:
        """Sizes of a record's numbers, all of them together, the largest first."""
        size = _USUAL_SIZE * (self.d - (name == "residuals")) + self.intercept
        usual = {"spreads": _MEAN_SIZE * self.d, "products": size * size / 2.0, "residuals": _USUAL_SIZE * size}[name]
        return tuple(_LARGEST * usual * 2.0 ** (-k / 4) for k in range(_QUARTERS))

    def weights(self, name: str) -> tuple[int, ...]:
        """Of sizes, so that about this share of the records is larger, and about so many: more for smaller ones.

        Where records are few, usual sizes are taken.
        """
        beyond, most = _BEYOND[name]
        steep = 0.4 * float(self.share(f"size of {name}")) * min(beyond * self.rows, most / float(self.epsilon))
        usual = [((k - (_QUARTERS - 1) / 2) / _USUAL_WITHIN) ** 2 for k in range(_QUARTERS)]
        return tuple(round(2**40 * math.exp(min(600.0, steep * k) - far)) for k, far in enumerate(usual))


def sums_plan(
    size: int | None, columns: BoundedColumns, epsilon: Fraction, intercept: bool, neighbours: str, groups: int | None
) -> SumsPlan:
    """The steps for so many records, None if nobody knows."""
    look = clipped_plan(
        size, columns, _SHARES["look"] * epsilon, neighbours=neighbours, groups=None if groups is None else 1
    )
    rows = math.inf if size is None else float(size)
    return SumsPlan(epsilon, look, columns.d, intercept, neighbours, groups, rows)


@dataclass(frozen=True)
class FittedSums:
    """What the steps have released: coefficients of standardised columns are made of it, and nothing else.

    Attributes
    ----------
    centre, scale
        Of every column, the answer last, relative to its bounds: a standardised number is (value - centre) * scale.
    products, residuals
        Noised sums of each group, in sizes that were allowed; `sizes` are these.
    """

    plan: SumsPlan
    centre: tuple[float, ...]
    scale: tuple[float, ...]
    sizes: tuple[float, float]
    products: tuple[tuple[Fraction, ...], ...]
    residuals: tuple[tuple[Fraction, ...], ...]

    @property
    def scales(self) -> tuple[float, float]:
        """Of the Laplace noise in products, and in residuals' products."""
        each = self.sizes[0] / float(self.plan.share("products")), self.sizes[1] / float(self.plan.share("residuals"))
        return each[0] * strength(self.plan.neighbours), each[1] * strength(self.plan.neighbours)

    def matrix(self, g: int) -> FloatArray:
        """Sums of products of every two numbers of a group's records, as released."""
        return symmetric(self.sizes[0] * np.array([float(v) for v in self.products[g]]))

    def coefficients(self, g: int) -> FloatArray:
        """Of the standardised columns of a group: the first fit, and a step from there."""
        moments = self.matrix(g)
        return first_fit(moments, self.ridge) + self._step(moments, g)

    def _step(self, moments: FloatArray, g: int) -> FloatArray:
        gradient = self.sizes[1] * np.array([float(v) for v in self.residuals[g]])
        return step(moments[:-1, :-1], gradient, self.ridge)

    @property
    def ridge(self) -> float:
        """A typical error of a matrix of sums."""
        return ridge_of(self.scales[0], self.plan.coefficients)


def symmetric(upper: FloatArray) -> FloatArray:
    """The matrix of which these are the entries on and above the diagonal, row by row."""
    m = (math.isqrt(8 * len(upper) + 1) - 1) // 2
    found = np.zeros((m, m))
    found[np.triu_indices(m)] = upper
    return np.asarray(found + np.triu(found, 1).T)


def ridge_of(scale: float, coefficients: int) -> float:
    return scale * math.sqrt(2.0 * max(1, coefficients))


def first_fit(moments: FloatArray, ridge: float) -> FloatArray:
    """Coefficients of the last number on the others, from noised sums of products."""
    return _solved(moments[:-1, :-1], moments[:-1, -1], _RIDGE_FIRST * ridge)


def step(squares: FloatArray, gradient: FloatArray, ridge: float) -> FloatArray:
    return _solved(squares, gradient, _RIDGE * ridge)


def _solved(squares: FloatArray, right: FloatArray, ridge: float) -> FloatArray:
    """With hardly a ridge where sums are large, and no less than it where noise may have made them small."""
    values, directions = np.linalg.eigh(squares)
    return np.asarray(directions @ ((directions.T @ right) / np.hypot(np.maximum(values, 0.0), ridge)))


def fitted(records: Records, plan: SumsPlan, columns: BoundedColumns, charge: Charge) -> FittedSums:
    """All steps, each a reading of the records."""
    run = charge.split(plan.parts)
    n = None if records.relation.secret else records.table.n
    found = plan.look.run(records.total, columns, n, run.charge("look", "step", "look"))
    means = [float(v) for v in found.means()[0]]
    halves = [float(found.middle(j)[1]) for j in range(plan.d)]
    given: dict[str, Any] = {"d": columns.d, "columns": columns, "places": tuple(range(columns.d))}
    around = {**given, "centre": tuple(means), "scale": tuple(1.0 / half for half in halves), "groups": 1}
    size, sums = _sums(records, plan, NormSums, {**around, "absolute": True}, run, "spreads")
    centre, scale = [], []
    # No less than noise alone might be: columns taken for too wide have small coefficients, for too narrow huge ones.
    noise = 2.0 * strength(plan.neighbours) / float(plan.share("spreads"))
    for j, (half, mean) in enumerate(zip(halves, means, strict=True)):
        away = max(size * max(float(sums[0][j]), noise) / float(found.size(0)) / _USUAL_SIZE, _LEAST_SPREAD)
        spread = half * min(away, 1.0)
        if not plan.intercept:  # measured from 0
            zero = float(-(columns.lower[j] + columns.upper[j]) / (columns.upper[j] - columns.lower[j]))
            mean, spread = zero, math.hypot(spread, mean - zero)
        centre.append(mean)
        scale.append(1.0 / spread)
    given |= {"centre": tuple(centre), "scale": tuple(scale), "groups": plan.groups or 1, "constant": plan.intercept}
    size, products = _sums(records, plan, ProductSums, given, run, "products")
    ridge = ridge_of(size * strength(plan.neighbours) / float(plan.share("products")), plan.coefficients)
    moments = [symmetric(size * np.array([float(v) for v in row])) for row in products]
    given["coefficients"] = tuple(tuple(first_fit(one, ridge).tolist()) for one in moments)
    size_of_residuals, residuals = _sums(records, plan, ProductSums, given, run, "residuals")
    return FittedSums(plan, tuple(centre), tuple(scale), (size, size_of_residuals), products, residuals)


def _sums(
    records: Records, plan: SumsPlan, kernel: type[NormSums], given: dict[str, Any], run: Run, name: str
) -> tuple[float, tuple[tuple[Fraction, ...], ...]]:
    """The size that a record may have, and sums in it of every group."""
    radii = plan.radii(name)
    (counted,) = records.total(NormBeyond(kernel(radius=radii[0], **given), radii))
    charge = run.charge(f"size of {name}", "step", "size", name)
    size = radii[rung(np.array(counted, dtype=np.int64), plan.weights(name), charge)]
    sums = kernel(radius=size, **given)
    (total,) = records.total(sums)
    noised = noised_norm_sums(sums, total, run.charge(name, "step", name))
    return size, tuple(map(tuple, noised))


def in_units(coefficients: FloatArray, found: FittedSums, columns: BoundedColumns) -> FloatArray:
    """Of the columns as they are, for one or several rows of coefficients of standardised ones: post-processing."""
    halves = columns.widths / 2.0
    middles = np.array([float((a + b) / 2) for a, b in zip(columns.lower, columns.upper, strict=True)])
    centres, units = middles + halves * np.array(found.centre), halves / np.array(found.scale)
    slopes = coefficients[..., found.plan.intercept :] * (units[-1] / units[:-1])
    if not found.plan.intercept:
        return np.asarray(slopes)
    constant = centres[-1] + units[-1] * coefficients[..., 0] - slopes @ centres[:-1]
    return np.concatenate([constant[..., np.newaxis], slopes], axis=-1)


def coefficient_interval(found: FittedSums, columns: BoundedColumns, g: int, level: Level) -> Interval:
    """Of every coefficient: fits are simulated that agree with what was released, sampling and privacy together.

    What was released leaves open how large the true sums are: a simulated table has those of the release less noise.
    Fits of a table have noise again, and miss its coefficients by so much. In directions that noise hides, nothing is
    known of coefficients but that they explain no more than there is, and are a few at most where standardised.
    """
    plan, rng = found.plan, np.random.default_rng(0)  # of made-up tables: public
    b, d = found.coefficients(g), plan.coefficients
    released = found.matrix(g)
    misses = np.empty((_SIMULATED, d))
    samples = np.empty((_SIMULATED, d))
    for i in range(_SIMULATED):
        true = _whole(released - _noise(rng, found.scales[0], d + 1))
        squares = true[:-1, :-1]
        rows = max(1.0, true[0, 0] if plan.intercept else _rows(plan, true))
        left = float(true[-1, -1] - 2.0 * b @ true[:-1, -1] + b @ squares @ b)
        left = max(left, 0.02 * float(true[-1, -1]), 0.0)
        error = math.sqrt(left / max(1.0, rows - d))
        values, directions = np.linalg.eigh(squares)
        ridge = found.ridge
        unseen = 1.0 - values / np.hypot(values, ridge)
        unseen *= np.minimum(np.sqrt(_EXPLAINED * left / np.maximum(values, ridge / 4.0)), _PRIOR)
        truth = b + directions @ (unseen * rng.normal(size=d))
        drawn = np.sqrt(1.0 / np.maximum(values, rows * 1e-6)) * error * _UNEQUAL
        own = directions @ (drawn * rng.normal(size=d))
        least_squares = truth + own
        seen = true + _noise(rng, found.scales[0], d + 1)
        seen[:-1, -1] += squares @ least_squares - true[:-1, -1]
        first = first_fit(seen, ridge)
        gradient = squares @ (least_squares - first) + rng.laplace(scale=found.scales[1], size=d)
        misses[i] = first + step(seen[:-1, :-1], gradient, ridge) - truth
        samples[i] = own
    centre = in_units(b, found, columns)
    moved = in_units(b + misses, found, columns) - centre
    alone = np.abs(in_units(b + samples, found, columns) - centre)
    share = level.of_one(d * len(found.products))
    half, sampling = (np.quantile(np.abs(part), share, axis=0) for part in (moved, alone))
    sampling = np.minimum(sampling, half)
    return Interval(
        ends=np.column_stack([centre - half, centre + half]),
        spread=np.full(d, np.nan),
        sampling=sampling,
        privacy=half - sampling,
        note=_note(level),
    )


def _rows(plan: SumsPlan, true: FloatArray) -> float:
    """Records of a group: as planned, or as their standardised squares tell."""
    return plan.rows if math.isfinite(plan.rows) else float(np.trace(true)) / len(true)


def _noise(rng: np.random.Generator, scale: float, m: int) -> FloatArray:
    return symmetric(rng.laplace(scale=scale, size=m * (m + 1) // 2))


def _whole(moments: FloatArray) -> FloatArray:
    """The nearest matrix that sums of products can be."""
    values, directions = np.linalg.eigh(moments)
    return np.asarray((directions * np.maximum(values, 0.0)) @ directions.T)


def _note(level: Level) -> str:
    together = ", for all coefficients together" if level.joint else ""
    return (
        f"{nominal(level.confidence).capitalize()}{together}, of the population's least-squares coefficients, by "
        "simulation of this release; sampling and privacy together. Coverage is empirical: see docs/guide/intervals.md."
    )
