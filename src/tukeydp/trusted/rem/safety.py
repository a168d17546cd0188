"""REM's tests: each turns evidence into the exact probability of a release (docs/proofs/rem.md, section 4).

Each test is a frozen value. `chance` brackets the probability and says which k to look at more closely; the exact coin
of `passes` asks for more until it is certain. So the probability itself is never needed, and never rounded.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from heapq import heappop, heappush
from typing import Protocol

from tukeydp.trusted.bits import Bits, Keystream
from tukeydp.trusted.boxes import Box
from tukeydp.trusted.laws import exp_between
from tukeydp.trusted.prepared import PreparedDepth
from tukeydp.trusted.release import Charge, Misuse, Run
from tukeydp.trusted.rem.evidence import Evidence, Plan, evidence_of
from tukeydp.trusted.sampling.draws import DepthSampler
from tukeydp.trusted.sizes.of_depth import sizes_of

# Bits of the coin, and of everything compared with it, at first; doubled until the coin is certain. Speed only.
_FIRST_BITS = 96
# Bits of the exponentials that fix a cut. Fewer may make the cut larger than it need be, never smaller.
_CUT_BITS = 128


@dataclass(frozen=True)
class Chance:
    """A probability between low and high; measuring more for `doubtful` narrows it."""

    low: Fraction
    high: Fraction
    doubtful: int | None


class SafetyTest(Protocol):
    """A rule for releasing that keeps the guarantee whatever the data."""

    @property
    def name(self) -> str: ...

    def chance(self, evidence: Evidence, bits: int) -> Chance: ...

    def epsilon(self, plan: Plan) -> Fraction:
        """What the test and the draw cost together (docs/proofs/rem.md, section 4)."""
        ...


def passes(test: SafetyTest, evidence: Evidence, coin: Bits) -> bool:
    """Flip a coin that comes up heads with exactly the test's probability. Refuses surely if level t is empty."""
    if evidence.empty:
        return False
    bits, drawn = _FIRST_BITS, coin.take(_FIRST_BITS)
    while True:
        chance = test.chance(evidence, bits)
        if Fraction(drawn + 1, 1 << bits) <= chance.low:
            return True
        if Fraction(drawn, 1 << bits) >= chance.high:
            return False
        if chance.doubtful is None or not evidence.refine(chance.doubtful):
            drawn = (drawn << bits) | coin.take(bits)
            bits *= 2


@dataclass(frozen=True)
class Graded:
    """Release with a probability that follows the score smoothly: as large as the guarantee allows everywhere."""

    name: str = "graded"

    def chance(self, evidence: Evidence, bits: int) -> Chance:
        low, high, doubtful = _strength(evidence, bits)
        rho = evidence.plan.epsilon / evidence.plan.test
        return Chance(_graded(low, rho, bits)[0], _graded(high, rho, bits)[1], doubtful)

    def epsilon(self, plan: Plan) -> Fraction:
        return plan.release + plan.test


def _strength(evidence: Evidence, bits: int) -> tuple[Fraction, Fraction, int | None]:
    """R, the least of delta e^(growth k) (1 + b_k / a_k) over k < K and delta e^(growth K); and the k it hinges on.

    growth is the test's part of epsilon, less twice the slack.

    The strength falls as k grows, so on k1 ... k2 nothing is below e^(growth k1) times the strength of k2. The interval
    with the least such bound is halved until it is a single k: no other can be below that.
    """
    plan = evidence.plan

    def scaled(k: int, strength: int) -> tuple[Fraction, Fraction]:
        low, high = evidence.growth(k, bits)
        return plan.delta * low * Fraction(strength, 1 << bits), plan.delta * high * Fraction(strength, 1 << bits)

    least, high = scaled(plan.swaps, 1 << bits)
    intervals = [(least, plan.swaps, plan.swaps)]
    waiting = [(0, plan.swaps - 1)] if plan.swaps else []
    while True:
        for first, last in waiting:
            from_below, from_above = evidence.strength(last, bits)
            if from_below is not None:
                heappush(intervals, (scaled(first, from_below)[0], first, last))
            if from_above is not None:
                high = min(high, scaled(last, from_above)[1])
        low, first, last = heappop(intervals)
        if first == last:
            return low, high, first if first < plan.swaps else None
        middle = (first + last) // 2
        waiting = [(first, middle), (middle + 1, last)]


def _graded(strength: Fraction, rho: Fraction, bits: int) -> tuple[Fraction, Fraction]:
    """F(R) = R up to p* = rho / (1 + rho), and 1 - (p* / R)^rho / (1 + rho) beyond; enclosed."""
    turn = rho / (1 + rho)
    if strength <= turn:
        return strength, strength
    low, high = _power(turn / strength, rho, bits)
    return 1 - high / (1 + rho), 1 - low / (1 + rho)


def _power(base: Fraction, exponent: Fraction, bits: int) -> tuple[Fraction, Fraction]:
    """base^exponent for 0 < base <= 1, enclosed to about 2^-bits: the v-th root of a u-th power."""
    u, v = exponent.numerator, exponent.denominator
    # The root of a number below 2^-(v bits) is below 2^-bits: so many digits suffice.
    digits = v * bits
    scaled_low = base.numerator**u * (1 << digits) // base.denominator**u
    low = _integer_root(scaled_low, v)
    return Fraction(low, 1 << bits), Fraction(low + 1, 1 << bits)


def _integer_root(value: int, degree: int) -> int:
    """The largest r with r^degree <= value."""
    if value < 2:
        return value
    root = 1 << -(-value.bit_length() // degree)
    while True:
        smaller = ((degree - 1) * root + value // root ** (degree - 1)) // degree
        if smaller >= root:
            return root
        root = smaller


@dataclass(frozen=True)
class Laplace:
    """The plain test: the largest k that is surely safe, discrete Laplace noise, a threshold."""

    name: str = "laplace"

    def chance(self, evidence: Evidence, bits: int) -> Chance:
        plan = evidence.plan
        needed = (1 / plan.delta, 1 / plan.delta)
        return _noisy(evidence, evidence.strength, needed, laplace_cut(plan.test, plan.delta), bits)

    def epsilon(self, plan: Plan) -> Fraction:
        return plan.release + plan.test


@dataclass(frozen=True)
class Paper:
    """Algorithm 2 with the constants of the paper, on grid points and with the lowest level's weight repaired."""

    name: str = "paper"

    def chance(self, evidence: Evidence, bits: int) -> Chance:
        plan = evidence.plan
        # delta_e / (4 e^eps_e) with delta_e = delta e^(-2 eps_p), eps_p = plan.test, eps_e = plan.release.
        low, high = exp_between(2 * plan.test + plan.release, bits)
        needed = (4 * low / plan.delta, 4 * high / plan.delta)
        return _noisy(evidence, evidence.peak, needed, paper_cut(plan.test, plan.delta), bits)

    def epsilon(self, plan: Plan) -> Fraction:
        return plan.release + 2 * plan.test


def laplace_cut(epsilon: Fraction, delta: Fraction) -> int:
    """The least m >= 0 with Pr[Z >= m + 1] <= delta for discrete Laplace noise Z."""
    return _least(lambda m: tail(epsilon, m + 1, _CUT_BITS)[1] <= delta, math.log(1 / float(delta)) / float(epsilon))


def paper_cut(epsilon: Fraction, delta: Fraction) -> int:
    """The least m >= 0 with m >= ln(1 / (2 delta)) / epsilon."""
    return _least(
        lambda m: exp_between(epsilon * m, _CUT_BITS)[0] * 2 * delta >= 1, math.log(1 / float(delta)) / float(epsilon)
    )


def _least(holds: Callable[[int], bool], about: float) -> int:
    """The least m >= 0 for which a monotone condition holds, near `about`."""
    m = max(0, math.ceil(about))
    while not holds(m):
        m += 1
    while m and holds(m - 1):
        m -= 1
    return m


def _noisy(
    evidence: Evidence,
    strength: Callable[[int, int], tuple[int | None, int | None]],
    needed: tuple[Fraction, Fraction],
    cut: int,
    bits: int,
) -> Chance:
    """Pr[h + Z >= cut], where strength_h >= needed e^(2 slack h) and h + 1 fails it; h = -1 if 0 does."""

    def surely(k: int) -> bool:
        low = strength(k, bits)[0]
        return low is None or Fraction(low, 1 << bits) >= needed[1] * exp_between(2 * evidence.slack * k, bits)[1]

    def possibly(k: int) -> bool:
        high = strength(k, bits)[1]
        return high is None or Fraction(high, 1 << bits) >= needed[0] * exp_between(2 * evidence.slack * k, bits)[0]

    least = _last(surely, -1, evidence.plan.swaps)
    most = _last(possibly, least, evidence.plan.swaps)
    test = evidence.plan.test
    low, high = tail(test, cut - least, bits)[0], tail(test, cut - most, bits)[1]
    return Chance(low, high, most if most > least else None)


def _last(holds: Callable[[int], bool], low: int, high: int) -> int:
    """A k in low ... high - 1 that holds while k + 1 does not; `low` is taken to hold and `high` not to."""
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


def tail(epsilon: Fraction, j: int, bits: int) -> tuple[Fraction, Fraction]:
    """Pr[Z >= j] for discrete Laplace noise, Pr[Z = z] proportional to e^(-epsilon |z|); enclosed."""
    if j <= 0:
        low, high = tail(epsilon, 1 - j, bits)
        return 1 - high, 1 - low
    (a_low, a_high), (b_low, b_high) = exp_between(epsilon * j, bits), exp_between(epsilon * (j - 1), bits)
    return 1 / (a_high + b_high), 1 / (a_low + b_low)


def point_if_safe(
    prepared: PreparedDepth, within: Box, plan: Plan, test: SafetyTest, charge: Charge, run: Run, *labels: object
) -> list[int] | None:
    """A deep grid point if the test passes, None if not: one charge for both, which the plan has divided.

    The coin's key is the run's own secret of these labels.
    """
    paid = charge.for_any_law()
    if type(test) not in (Graded, Laplace, Paper) or (plan.neighbours != "swap" and type(test) is not Graded):
        raise Misuse("a test without a proof for these neighbours (docs/proofs/rem.md, add-remove.md)")
    if test.epsilon(plan) > paid.epsilon or plan.delta > paid.delta or plan.neighbours != paid.relation:
        raise Misuse("the charge does not cover the plan of the test and the draw")
    secret_key, coin_key = paid.key(), run.secret(" ".join(map(str, ("coin", *labels))))
    sizes = sizes_of(prepared, within, plan.threshold, slack=plan.test / 64)
    if not passes(test, evidence_of(sizes, plan), Keystream(coin_key).bits(0)):
        return None
    return DepthSampler(prepared, within=within, epsilon=2 * plan.eta, lowest=plan.threshold).draw(secret_key)
