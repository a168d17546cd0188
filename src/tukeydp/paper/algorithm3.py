"""The paper's Algorithm 3: accounting, oracles, and mechanisms with any of them (docs/proofs/algorithm3.md)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from math import ceil, floor, lcm, log, prod
from typing import Any, Generic, Protocol, TypeVar

import numpy as np

from tukeydp.data.tables import Table, read_table
from tukeydp.depth.choice import chosen_notion, require_memory
from tukeydp.depth.notions import Notion, require_finite
from tukeydp.results.release import Refused, Release
from tukeydp.spending import refuse_without_guarantee, require_room
from tukeydp.trusted.account import ApproxDP, Guarantee
from tukeydp.trusted.bits import Bits, Keystream, Randomness, derived_key, source
from tukeydp.trusted.laws import Group, LevelDraw, exp_between, log_between
from tukeydp.trusted.levels import LevelSets, level_sets
from tukeydp.trusted.parameters import IntArray, ParameterError, checked_integer, positive_rational, rational, show
from tukeydp.trusted.release import Seal, Spends, reserve
from tukeydp.trusted.rem.safety import tail
from tukeydp.trusted.rows import Grid, bounded_grid, checked_bounds
from tukeydp.trusted.threads import available_cores, for_each

# The accounting of the paper's Algorithm 3: from a budget to all parameters, and from parameters to what they cost.
#
# Volumes come from an oracle that is within (1 +- eta) on all levels with probability 1 - beta; points come from a
# sampler that, with probability 1 - zeta, is within tau of uniform. Everything is rational and rounded in the safe
# direction: parameters down, costs up. Proofs and repairs of the paper are in docs/proofs/algorithm3.md.

# Logarithms nearer than this part of their size are compared exactly. Larger: slower. **Much smaller: rounding would
# decide, and the proof of the score's sensitivity would not hold.** Floats err by about 1e-13.
_CLOSE = 1e-6
# None of the others can make a run cost more than it says: costs are computed from the parameters, rounded up, and
# compared with the budget in every run.
_ROOM = 1 - Fraction(1, 2**64)  # factor on parameters that leaves room for the rounding of the costs
_MOST = 600  # epsilon, so that e^epsilon stays a number one can write down; time only
_MOST_IN_ALL = 10_000  # and the sum of all of a run's epsilons, for the same reason
_LEAST = Fraction(1, 10**30)  # epsilon, below which brackets of `BITS` bits no longer tell e^epsilon from 1 well enough
_LEAST_DELTA = Fraction(1, 2**960)  # over e^(1.05 epsilon), by which tau is smaller: all parameters fit a float's range
_DIGITS = 128  # bits of a parameter: a budget of many digits leaves none with more than may be written down; time only


@dataclass(frozen=True)
class Cost:
    """(epsilon, delta), both rounded up; a delta above 1 says nothing, and does no harm."""

    epsilon: Fraction
    delta: Fraction

    def __post_init__(self) -> None:
        for name in ("epsilon", "delta"):
            if getattr(self, name) < 0:
                raise ParameterError(name, "must be >= 0", show(getattr(self, name)))

    def within(self, epsilon: Fraction, delta: Fraction) -> bool:
        return self.epsilon <= epsilon and self.delta <= delta


@dataclass(frozen=True)
class DrawParameters:
    """What the draw of level and point needs; BoxEM needs no more. The paper's letters: eps_e, eta, beta, tau, zeta."""

    epsilon_draw: Fraction
    eta: Fraction
    beta: Fraction
    tau: Fraction
    zeta: Fraction

    def __post_init__(self) -> None:
        for field in fields(self):
            object.__setattr__(self, field.name, rational(field.name, getattr(self, field.name)))
        _require_positive(self, "epsilon_draw")
        for name in ("eta", "beta", "tau", "zeta"):
            if not 0 <= getattr(self, name) < 1:
                raise ParameterError(name, "must be >= 0 and < 1", show(getattr(self, name)))
        if self.beta + self.zeta > Fraction(1, 4):
            # Two runs are good together with probability at least 1 - 2 (beta + zeta), which must be at least 1/2.
            raise ParameterError("beta + zeta", "must be at most 1/4", show(self.beta + self.zeta))


@dataclass(frozen=True)
class RemParameters(DrawParameters):
    """The test's parameters besides: eps_p, delta_p, and delta_e, for which a dataset must be safe to pass."""

    epsilon_test: Fraction
    delta_test: Fraction
    delta_draw: Fraction

    def __post_init__(self) -> None:
        super().__post_init__()
        _require_positive(self, "epsilon_test")
        for name in ("delta_test", "delta_draw"):
            if not 0 < getattr(self, name) < 1:
                raise ParameterError(name, "must be > 0 and < 1", show(getattr(self, name)))


def rem_parameters(epsilon: Any, delta: Any) -> RemParameters:
    """The paper's choice for a budget (epsilon, delta); no more than that is spent (`rem_cost`)."""
    epsilon, delta = _budget(epsilon, delta)
    failure = _failure_share(epsilon, delta)
    tilt = exp_between(epsilon * Fraction(11, 20))[1]
    return RemParameters(
        epsilon_draw=epsilon * Fraction(2, 5),
        eta=_eta_for(epsilon / 20),
        beta=failure,
        tau=_short(delta / (4 * tilt * (1 + exp_between(epsilon / 2)[1])) * _ROOM),
        zeta=failure,
        epsilon_test=epsilon / 6,
        delta_test=delta / 2,
        delta_draw=_short(delta / (4 * tilt) * _ROOM),
    )


def boxem_parameters(epsilon: Any, delta: Any) -> DrawParameters:
    """A choice for BoxEM: nine tenths of epsilon for the draw, the rest for the volumes; half of delta for failures."""
    epsilon, delta = _budget(epsilon, delta)
    failure = _failure_share(epsilon, delta)
    return DrawParameters(
        epsilon_draw=epsilon * Fraction(9, 10),
        eta=_eta_for(epsilon / 20),
        beta=failure,
        tau=_short(delta / (2 * (1 + exp_between(epsilon)[1])) * _ROOM),
        zeta=failure,
    )


def distortion(eta: Fraction) -> Fraction:
    """log((1 + eta)/(1 - eta)), rounded up: by this much every log probability of a level may be off."""
    if not 0 <= eta < 1:
        raise ParameterError("eta", "must be >= 0 and < 1", show(eta))
    return log_between((1 + eta) / (1 - eta))[1] if eta else Fraction(0)


def draw_cost(p: DrawParameters, delta_draw: Fraction) -> Cost:
    """The draw's (eps_2, delta_2) given that oracle and sampler succeed, if the exact draw is (eps_e, delta_e)-DP."""
    if not 0 <= delta_draw < 1:
        raise ParameterError("delta_draw", "must be >= 0 and < 1", show(delta_draw))
    rho = distortion(p.eta)
    epsilon = p.epsilon_draw + 2 * rho
    return Cost(epsilon, (1 + p.eta) / (1 - p.eta) * delta_draw + (1 + _factor(epsilon)) * p.tau)


def printed_sensitivity(p: RemParameters) -> Fraction:
    """The paper's bound on how far the score moves under a swap: 2 (4/eps_e log((1+eta)/(1-eta)) + 1)."""
    return 2 * (4 * distortion(p.eta) / p.epsilon_draw + 1)


def score_sensitivity(p: RemParameters) -> int:
    """How far the integer score can move under a swap: 1 + ceil(4/eps_e log((1+eta)/(1-eta)))."""
    return 1 + ceil(4 * distortion(p.eta) / p.epsilon_draw)


def with_failures(given_success: Cost, failure: Fraction) -> Cost:
    """The proposition: what an algorithm costs that has the given cost except on an event of this probability."""
    if not 0 <= failure < 1:
        raise ParameterError("failure", "must be >= 0 and < 1", show(failure))
    more = failure * (_factor(given_success.epsilon) / (1 - failure) + 1)
    return Cost(given_success.epsilon, given_success.delta + more)


def printed_cost(p: RemParameters) -> Cost:
    """The theorem's (epsilon, delta) as the paper prints it."""
    test = p.epsilon_test * printed_sensitivity(p)
    draw = draw_cost(p, p.delta_draw)
    epsilon = test + draw.epsilon
    failures = 2 * (2 * _factor(epsilon) + 1) * (p.beta + p.zeta)
    return Cost(epsilon, failures + max(p.delta_test, _factor(test) * draw.delta))


def rem_cost(p: RemParameters) -> Cost:
    """What a run of REM costs, by our own proof: never more than `printed_cost`."""
    draw = draw_cost(p, p.delta_draw)
    epsilon = p.epsilon_test * score_sensitivity(p) + draw.epsilon
    return with_failures(Cost(epsilon, max(p.delta_test, draw.delta)), 2 * (p.beta + p.zeta))


def boxem_cost(p: DrawParameters) -> Cost:
    """What a run of BoxEM costs: there is no test, and the exact draw has no delta."""
    return with_failures(draw_cost(p, Fraction(0)), 2 * (p.beta + p.zeta))


def release_threshold(p: RemParameters) -> int:
    """The score plus noise must reach this: log(1/(2 delta_p))/eps_p, rounded up."""
    return max(0, ceil(log_between(1 / (2 * p.delta_test))[1] / p.epsilon_test))


def score(sizes: Sequence[Fraction], lowest: int, p: RemParameters) -> int:
    """The largest k < t for which some g > 0 has

        V_(t-k-1) / V_(t+k+g+1) e^(-g eps_e/2)  <=  (1-eta)/(1+eta) delta_e / (4 e^eps_e),

    or -1; `sizes` are V_0, V_1, ... as estimated. (The paper's pseudocode lacks the factor in eta.) Decided exactly.
    """
    lowest = checked_integer("lowest", lowest, least=1)
    half = float(p.epsilon_draw) / 2
    limit = (1 - p.eta) / (1 + p.eta) * p.delta_draw / 4
    # log V + level * half eps_e: what the condition asks of the two levels, up to a common constant.
    logs = [_log(v) + half * level for level, v in enumerate(sizes)]
    for k in range(lowest - 1, -1, -1):
        below, middle = lowest - k - 1, lowest + k + 1
        if middle + 1 >= len(sizes):
            continue
        needed = _log(sizes[below]) + half * middle + 2 * half - _log(limit)
        for above in range(middle + 1, len(sizes)):
            if logs[above] < needed - _CLOSE * (1 + abs(needed)) or not sizes[above]:
                continue
            if _holds(sizes[below], sizes[above], above - middle, p.epsilon_draw, limit):
                return k
    return -1


def _holds(below: Fraction, above: Fraction, g: int, epsilon: Fraction, limit: Fraction) -> bool:
    """Whether below e^(epsilon (1 - g/2)) <= above limit. A power of e is rational at exponent 0 only: this ends."""
    exponent, bits = epsilon * (1 - Fraction(g, 2)), 64
    if not exponent:
        return below <= above * limit
    while True:
        low, high = exp_between(exponent, bits)
        if below * high <= above * limit:
            return True
        if below * low > above * limit:
            return False
        bits *= 2


def _factor(epsilon: Fraction) -> Fraction:
    """e^epsilon, rounded up."""
    if epsilon > _MOST_IN_ALL:
        raise ParameterError("epsilon in all", f"must be at most {_MOST_IN_ALL}", f"{float(epsilon):g}")
    return exp_between(epsilon)[1]


def _log(v: Fraction) -> float:
    return log(v.numerator) - log(v.denominator) if v else float("-inf")


def _eta_for(rho: Fraction) -> Fraction:
    """An eta with log((1 + eta)/(1 - eta)) just below rho, of few digits."""
    grown = exp_between(rho)[0]
    exact = (grown - 1) / (grown + 1)
    unit = Fraction(1, 2 ** (64 + max(0, rho.denominator.bit_length() - rho.numerator.bit_length())))
    return (floor(exact / unit) - 1) * unit


def _failure_share(epsilon: Fraction, delta: Fraction) -> Fraction:
    return min(Fraction(1, 8), _short(delta / (8 * (2 * exp_between(epsilon)[1] + 1)) * _ROOM))


def _short(x: Fraction) -> Fraction:
    """x > 0 rounded down to few digits."""
    unit = Fraction(2) ** (x.numerator.bit_length() - x.denominator.bit_length() - _DIGITS)
    return floor(x / unit) * unit


def _budget(epsilon: Any, delta: Any) -> tuple[Fraction, Fraction]:
    epsilon, delta = positive_rational("epsilon", epsilon), positive_rational("delta", delta)
    if not _LEAST <= epsilon <= _MOST:
        raise ParameterError("epsilon", f"must be at least 1e-30 and at most {_MOST}", f"{float(epsilon):g}")
    if delta >= 1:
        raise ParameterError("delta", "must be < 1", show(delta))
    if delta < _LEAST_DELTA * exp_between(epsilon * Fraction(21, 20))[1]:
        raise ParameterError("delta", "must be at least 2^-960 e^(1.05 epsilon)", f"{float(delta):g}")
    return epsilon, delta


def _require_positive(p: DrawParameters, name: str) -> None:
    if not 0 < getattr(p, name) <= _MOST:
        raise ParameterError(name, f"must be > 0 and at most {_MOST}", show(getattr(p, name)))


# Level sets padded by boxes, so that counting in boxes is accurate on every dataset (docs/proofs/algorithm3.md, 5).
#
# Beside the grid there is a second copy of it, each of whose points weighs `padding`. A point has its usual depth on
# the grid, and its depth along the axes alone on the copy. Both are 1-sensitive, so this is a depth like any other; its
# level l is the level set Y_l together with the copy of its box A_l = {y : depth along the axes >= l}, and has the size
#
#     |Y_l| + padding |A_l|  >=  padding |A_l|,
#
# which a fixed number of uniform points of A_l tells to any relative accuracy. Which copy a point came from is dropped.


@dataclass(frozen=True, eq=False)
class PaddedLevels:
    """The padded levels 0 ... highest of one dataset; the axes always count. Not private: all of this is the data."""

    levels: LevelSets
    axes: LevelSets
    grid: Grid
    padding: Fraction
    highest: int

    @property
    def d(self) -> int:
        return self.grid.d

    def box(self, level: int) -> tuple[IntArray, IntArray] | None:
        """Smallest and largest coordinates of A_l, or None if it is empty."""
        if level == 0:
            return self.grid.low, self.grid.high
        if level > self.axes.rows:
            return None
        low, high = self.axes.offsets(level)
        return (low, high) if (low <= high).all() else None

    def box_size(self, level: int) -> int:
        box = self.box(level)
        return 0 if box is None else prod((int(b) - int(a) + 1 for a, b in zip(*box, strict=True)), start=1)


def padded_levels(rows: IntArray, directions: IntArray, grid: Grid, *, padding: Fraction, highest: int) -> PaddedLevels:
    """Rows and directions on the grid; `highest` is public, and deeper points count as this deep."""
    axes = level_sets(rows, np.eye(grid.d, dtype=np.int64), lowest=1)
    return PaddedLevels(level_sets(rows, directions, lowest=1), axes, grid, padding, highest)


# Volume oracles and uniform samplers for Algorithm 3: the roles, and one proven implementation of each.
#
# An implementation says beforehand, from public numbers alone, what it can *prove* about itself: a promise, or None.
# The run's guarantee follows from the promises; with None it has none. A new oracle or sampler is a class with the two
# methods of its role.

_LANE_WORDS = 2**16  # words of a lane that are looked at together; speed only, but seeded counts depend on it
_WITHOUT_PADDING = 100_000  # points or tries where there is no padding, and so no promise whatever their number


@dataclass(frozen=True)
class VolumePromise:
    """With probability >= 1 - beta, all sizes at once are within a factor 1 - eta to 1 + eta, whatever the data."""

    eta: Fraction
    beta: Fraction


@dataclass(frozen=True)
class SamplingPromise:
    """With probability >= 1 - zeta the point's law is within total variation tau of uniform, whatever the data."""

    tau: Fraction
    zeta: Fraction


@dataclass(frozen=True)
class PublicSetting:
    """What is public about the sets: how many levels there are above 0, and their padding."""

    levels: int
    padding: Fraction


class VolumeOracle(Protocol):
    """Sizes of all levels of a dataset."""

    def promise(self, asked: VolumePromise, setting: PublicSetting) -> VolumePromise | None:
        """What is proven about `sizes` if it is asked for this; None if nothing is."""
        ...

    def sizes(self, sets: PaddedLevels, asked: VolumePromise, key: bytes) -> list[Fraction]:
        """The sizes of the levels 0 ... highest."""
        ...


class UniformSampler(Protocol):
    """A point of one level."""

    def promise(self, asked: SamplingPromise, setting: PublicSetting) -> SamplingPromise | None: ...

    def point(self, sets: PaddedLevels, level: int, asked: SamplingPromise, key: bytes) -> list[int]: ...


@dataclass(frozen=True)
class BoxCounting:
    """Count, among uniform points of each level's box, those that belong to the level.

    How many points there are follows from eta, beta, the number of levels and the padding, never from the data: a level
    that is empty, or a sliver of its box, takes as many as any other.

    Cost
    ----
    levels * (3 + 4 eta)/(6 padding eta^2) * log(2 levels / beta) points: at epsilon = 1, delta = 1e-6 and padding 1/10
    about 190,000 a level, so seconds for hundreds of rows. With up to five columns or so level sets fill a fair share
    of their boxes; with more, the padding outweighs them and the point is as if from the axes alone.
    """

    threads: int | None = None

    def __post_init__(self) -> None:
        if self.threads is not None:
            checked_integer("threads", self.threads, least=1)

    def promise(self, asked: VolumePromise, setting: PublicSetting) -> VolumePromise | None:
        possible = setting.padding > 0 and asked.eta > 0 and asked.beta > 0
        return asked if possible else None

    def sizes(self, sets: PaddedLevels, asked: VolumePromise, key: bytes) -> list[Fraction]:
        points = self.points(asked, PublicSetting(sets.highest, sets.padding))
        inside = [0] * (sets.highest + 1)

        def work(level: int) -> None:
            inside[level] = _count(sets, level, points, Keystream(derived_key("level", key, level)))

        for_each(range(1, sets.highest + 1), work, min(self.threads or available_cores(), max(1, sets.highest)))
        whole = sets.box_size(0) * (1 + sets.padding)
        return [
            whole if level == 0 else sets.box_size(level) * (sets.padding + Fraction(inside[level], points))
            for level in range(sets.highest + 1)
        ]

    @staticmethod
    def points(asked: VolumePromise, setting: PublicSetting) -> int:
        """How many points each level takes (Bernstein's inequality, and a union over levels)."""
        if not (setting.padding > 0 and asked.eta > 0 and asked.beta > 0):
            return _WITHOUT_PADDING
        eta = min(asked.eta, Fraction(1))
        log_term = log_between(2 * max(1, setting.levels) / asked.beta)[1]
        return ceil((3 + 4 * eta) / (6 * setting.padding * eta**2) * log_term)


def _count(sets: PaddedLevels, level: int, points: int, stream: Keystream) -> int:
    """How many of so many uniform points of the level's box are in the level."""
    from tukeydp.trusted import records
    from tukeydp.trusted.sampling import kept

    box = sets.box(level)
    # For an empty box any other does: its count is multiplied by zero, and the work is the same.
    low, high = box or (sets.grid.low, sets.grid.high)
    smallest, largest = sets.levels.offsets(min(level, max(1, sets.levels.rows))) if sets.levels.rows else (low, high)
    directions = sets.levels.directions if sets.levels.rows else np.eye(sets.d, dtype=np.int64)
    draw, slabs = records.uniform_draw(low, high), records.slabs(directions, smallest, largest)
    lane_words = max(_LANE_WORDS, 4 * sets.d)  # enough for a point: else no lane would ever hold one
    drawn = inside = lane = 0
    while drawn < points:
        words = stream.words(lane, lane_words)
        more, hits = kept.count_inside(words, draw, slabs, points - drawn)
        drawn, inside, lane = drawn + more, inside + hits, lane + 1
    return inside


@dataclass(frozen=True)
class Rejection:
    """Uniform points of the level's box until one belongs to the padded level, at most a fixed number of times.

    A point is taken for the copy of the box with probability padding / (1 + padding), and then always belongs. So m
    tries all fail with probability at most (1 + padding)^-m, whatever the data; given that one does not, the point is
    uniform exactly.
    """

    def promise(self, asked: SamplingPromise, setting: PublicSetting) -> SamplingPromise | None:
        possible = setting.padding > 0 and asked.zeta > 0
        return SamplingPromise(Fraction(0), asked.zeta) if possible else None

    def point(self, sets: PaddedLevels, level: int, asked: SamplingPromise, key: bytes) -> list[int]:
        bits = Keystream(key).bits(0)
        box = sets.box(level) or (sets.grid.low, sets.grid.high)
        low, high = box[0].tolist(), box[1].tolist()
        copies, all_of_it = sets.padding.numerator, sets.padding.numerator + sets.padding.denominator
        for _ in range(self.tries(asked, sets.padding)):
            y = [a + bits.below(b - a + 1) for a, b in zip(low, high, strict=True)]
            if bits.below(all_of_it) < copies or sets.levels.contains(y, level):
                break
        return y

    @staticmethod
    def tries(asked: SamplingPromise, padding: Fraction) -> int:
        if not (padding > 0 and asked.zeta > 0):
            return _WITHOUT_PADDING
        return max(1, ceil(log_between(1 / asked.zeta)[1] / log_between(1 + padding)[0]))


# Algorithm 3, run: REM and BoxEM with any volume oracle and any uniform sampler (docs/proofs/algorithm3.md).
#
# These are for building on the paper, where proven oracles are what is missing; `td.boxem` needs no volumes at all and
# is better in every way.

P = TypeVar("P", bound=DrawParameters)
# Random bits that are revealed before the first decision. Speed only: more are taken until the decision is certain.
_PREFIX = 64


@dataclass(frozen=True, eq=False)
class _Request(Generic[P]):
    """What is asked of one run; all of it is public but the table's cells. `cost` is what parameters of kind P cost."""

    mechanism: str
    table: Table
    budget: ApproxDP
    parameters: P
    cost: Callable[[P], Cost]
    bounds: Any
    depth: Notion | None
    resolution: Any
    padding: Any
    oracle: VolumeOracle
    sampler: UniformSampler
    accountant: Spends | None
    randomness: Any
    settings: dict[str, Any]


@dataclass(frozen=True, eq=False)
class _Run:
    """One run up to the draw: the data as sets, the estimated sizes, what is public, and a key for the rest."""

    sets: PaddedLevels
    sizes: list[Fraction]
    sampling: SamplingPromise
    public: dict[str, Any]
    key: bytes

    def draw(self, sampler: UniformSampler, lowest: int, epsilon: Fraction) -> Release:
        """Level by estimated sizes, the lowest with weight q^t; then a point of it."""
        common = lcm(*(v.denominator for v in self.sizes))
        groups = [Group(level, level, int(self.sizes[level] * common)) for level in range(lowest, len(self.sizes))]
        bits = Keystream(derived_key("level draw", self.key)).bits(0)
        level, _ = LevelDraw(groups, epsilon).finish(bits.take(_PREFIX), bits)
        y = sampler.point(self.sets, level, self.sampling, derived_key("point", self.key))
        return Release(point=self.sets.grid.point(y), **self.public)


def approximate_boxem(
    x: Any,
    *,
    epsilon: Any,
    delta: Any,
    bounds: Any,
    depth: Notion | None = None,
    resolution: Any = None,
    padding: Any = "1/10",
    oracle: VolumeOracle | None = None,
    sampler: UniformSampler | None = None,
    accountant: Spends | None = None,
    randomness: Any = None,
) -> Release:
    """BoxEM with estimated sizes of level sets and an approximate sampler.

    Parameters
    ----------
    x, epsilon, bounds, depth, resolution, accountant, randomness
        As for `td.boxem`; the axes always count among the directions, and levels end at n/2.
    delta
        Chance of what the estimates may spoil; > 0 and < 1.
    padding
        Weight, >= 0, of a point by its depth along the axes alone. With 0 the proven oracle and sampler prove nothing.
    oracle, sampler
        `BoxCounting()` and `Rejection()` unless given; any object with the methods of the Protocols.

    Privacy
    -------
    (epsilon, delta)-DP if oracle and sampler promise what they are asked for; otherwise `guarantee` is None.

    Examples
    --------
    >>> import numpy as np, tukeydp as td
    >>> x = np.random.default_rng(1).normal(size=(30, 2))
    >>> release = approximate_boxem(x, epsilon=8, delta="1e-3", bounds=(-5, 5), randomness=td.seeded(1))
    >>> print(release.guarantee)
    epsilon = 8, delta = 0.001 (approximate differential privacy, one row swapped)
    """
    parameters = boxem_parameters(epsilon, delta)
    require_room(accountant, ApproxDP(epsilon, delta))
    oracle, sampler = _roles(oracle, sampler)
    request = _Request(
        mechanism="boxem",
        table=read_table(x),
        budget=ApproxDP(epsilon, delta),
        parameters=parameters,
        cost=boxem_cost,
        bounds=bounds,
        depth=depth,
        resolution=resolution,
        padding=padding,
        oracle=oracle,
        sampler=sampler,
        accountant=accountant,
        randomness=randomness,
        settings={},
    )
    return _prepared(request).draw(sampler, 0, parameters.epsilon_draw)


def approximate_rem(
    x: Any,
    *,
    epsilon: Any,
    delta: Any,
    bounds: Any,
    threshold: int | None = None,
    depth: Notion | None = None,
    resolution: Any = None,
    padding: Any = "1/10",
    oracle: VolumeOracle | None = None,
    sampler: UniformSampler | None = None,
    accountant: Spends | None = None,
    randomness: Any = None,
) -> Release | Refused:
    """The paper's Algorithm 3, its errata repaired: REM with estimated sizes and an approximate sampler.

    Parameters
    ----------
    threshold
        The lowest level t, from 1 to n; the paper's n/4 unless given. Public: choose it without the data.
    x, epsilon, delta, bounds, depth, resolution, padding, oracle, sampler, accountant, randomness
        As for `approximate_boxem`. Bounds may be as wide as you like: only level 0 sees them.

    Privacy
    -------
    (epsilon, delta)-DP if oracle and sampler promise what they are asked for; otherwise `guarantee` is None.
    """
    parameters = rem_parameters(epsilon, delta)
    require_room(accountant, ApproxDP(epsilon, delta))
    oracle, sampler = _roles(oracle, sampler)
    table = read_table(x)
    usual = max(1, table.n // 4)
    lowest = usual if threshold is None else checked_integer("threshold", threshold, least=1, most=table.n)
    request = _Request(
        mechanism="rem",
        table=table,
        budget=ApproxDP(epsilon, delta),
        parameters=parameters,
        cost=rem_cost,
        bounds=bounds,
        depth=depth,
        resolution=resolution,
        padding=padding,
        oracle=oracle,
        sampler=sampler,
        accountant=accountant,
        randomness=randomness,
        settings={"threshold": lowest},
    )
    run = _prepared(request)
    short = release_threshold(parameters) - score(run.sizes, lowest, parameters)
    passed = noise_reaches(short, parameters.epsilon_test, Keystream(derived_key("test", run.key)).bits(0))
    # With nothing at level t a neighbour's score is -1: its pass is covered by delta_p like this refusal.
    if not passed or lowest >= len(run.sizes) or not run.sizes[lowest]:
        return Refused(**run.public)
    return run.draw(sampler, lowest, parameters.epsilon_draw)


def noise_reaches(least: int, epsilon: Fraction, bits: Bits) -> bool:
    """Whether discrete Laplace noise is >= `least`: a coin with exactly that probability."""
    precision, revealed = _PREFIX, bits.take(_PREFIX)
    while True:
        low, high = tail(epsilon, least, 2 * precision)
        unit = Fraction(1, 2**precision)
        if (revealed + 1) * unit <= low:
            return True
        if revealed * unit >= high:
            return False
        revealed = (revealed << precision) | bits.take(precision)
        precision *= 2


def _roles(oracle: VolumeOracle | None, sampler: UniformSampler | None) -> tuple[VolumeOracle, UniformSampler]:
    return BoxCounting() if oracle is None else oracle, Rejection() if sampler is None else sampler


def _prepared(request: _Request[P]) -> _Run:
    """The run up to its first decision: parameters checked, data read, sizes estimated."""
    table, parameters = request.table, request.parameters
    padding = rational("padding", request.padding)
    if padding < 0:
        raise ParameterError("padding", "must be >= 0", show(padding))
    bits = source(request.randomness)
    chosen = require_finite(chosen_notion(request.depth, table.n, table.d))
    require_memory(chosen, table.n, table.d)
    ends = checked_bounds(table.d, request.bounds, table.columns)
    grid = bounded_grid(
        table.d, bounds=ends, resolution=request.resolution, bits=chosen.grid_bits(table.d), columns=table.columns
    )
    directions = chosen.on_grid(grid, key=bits.key())  # before the run is paid: it refuses what does not fit
    setting = PublicSetting(table.n // 2, padding)
    guarantee = _guarantee(request, setting)
    roles = {"oracle": repr(request.oracle), "sampler": repr(request.sampler)}
    settings = {**request.settings, "padding": padding, **roles}
    about = {**table.public, "notion": repr(chosen), "grid": grid.to_dict(), "settings": settings}
    seal, secret_key = _paid(request, guarantee, bits, about)
    sets = padded_levels(grid.snap(table.cells), directions, grid, padding=padding, highest=setting.levels)
    public = {
        "seal": seal,
        "unproven": "oracle or sampler" if guarantee is None else None,
        "mechanism": request.mechanism,
        "seeded": not bits.private,
        **table.public,
        "notion": repr(chosen),
        "directions": directions,
        "grid": grid,
        "bounds": ends,
        "settings": settings,
    }
    sizes = _sizes(request.oracle, sets, _volumes_asked(parameters), derived_key("volumes", secret_key))
    return _Run(sets, sizes, _sampling_asked(parameters), public, secret_key)


def _paid(
    request: _Request[P], guarantee: Guarantee | None, bits: Randomness, about: dict[str, Any]
) -> tuple[Seal | None, bytes]:
    """What the release has its guarantee from, and the secret key; without promises there is nothing to pay for."""
    if guarantee is None:
        refuse_without_guarantee(request.accountant)
        return None, bits.key()
    run = reserve(
        {"draw": guarantee},
        mechanism=request.mechanism,
        source=bits,
        accountant=request.accountant,
        parameters=about,
    )
    return run.seal, run.charge("draw").for_any_law().key()


def _volumes_asked(parameters: DrawParameters) -> VolumePromise:
    return VolumePromise(parameters.eta, parameters.beta)


def _sampling_asked(parameters: DrawParameters) -> SamplingPromise:
    return SamplingPromise(parameters.tau, parameters.zeta)


def _sizes(oracle: VolumeOracle, sets: PaddedLevels, asked: VolumePromise, key: bytes) -> list[Fraction]:
    sizes = [max(Fraction(v), Fraction(0)) for v in oracle.sizes(sets, asked, key)]
    if len(sizes) != sets.highest + 1:  # without some levels the law would be another, and the cost too
        raise ParameterError("oracle", f"must give {sets.highest + 1} sizes", len(sizes))
    return sizes


def _guarantee(request: _Request[P], setting: PublicSetting) -> Guarantee | None:
    """The budget, if what oracle and sampler promise costs no more than it; nothing without both promises."""
    parameters = request.parameters
    volumes = request.oracle.promise(_volumes_asked(parameters), setting)
    sampling = request.sampler.promise(_sampling_asked(parameters), setting)
    if volumes is None or sampling is None:
        return None
    if volumes.eta > parameters.eta:  # the score's threshold is made for what was asked, whatever the cost says
        return None
    try:
        promised = replace(parameters, eta=volumes.eta, beta=volumes.beta, tau=sampling.tau, zeta=sampling.zeta)
    except ParameterError:  # promises outside the theorem's domain
        return None
    budget = request.budget
    return budget if request.cost(promised).within(budget.epsilon, budget.delta) else None
