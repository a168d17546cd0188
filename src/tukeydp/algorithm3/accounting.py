"""The accounting of the paper's Algorithm 3: from a budget to all parameters, and from parameters to what they cost.

Volumes come from an oracle that is within (1 +- eta) on all levels with probability 1 - beta; points come from a
sampler that, with probability 1 - zeta, is within tau of uniform. Everything is rational and rounded in the safe
direction: parameters down, costs up. Proofs and repairs of the paper are in docs/proofs/algorithm3.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from math import ceil, floor, log
from typing import Any

from tukeydp.errors import ParameterError
from tukeydp.exact.brackets import exp_between, log_between
from tukeydp.parameters import checked_integer, positive_rational, rational, show

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
