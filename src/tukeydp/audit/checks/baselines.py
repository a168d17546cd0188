"""Baselines: how far a swap moves what noise is added to, and what that noise costs by enumeration of its law."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from tukeydp import baselines
from tukeydp.audit.check import Check, Effort, Result, Tally
from tukeydp.audit.forced_samplers import forced
from tukeydp.audit.oracles.laws import count_of_pairs, datasets, gaussian_delta, swap_groups
from tukeydp.baselines.noise import Noise
from tukeydp.trusted.account import ApproxDP
from tukeydp.trusted.bits import Keystream, derived_key, seeded

_ROUNDING = 1e-9
MECHANISMS: dict[str, Callable[..., Any]] = {
    "gaussian": baselines.gaussian,
    "analytic_gaussian": baselines.analytic_gaussian,
    "coinpress": baselines.coinpress,
    "huang_liang_yi": baselines.huang_liang_yi,
    "plan": baselines.plan,
}
# Rows in two columns: corners, the middle, beyond the bounds, a missing cell.
KINDS = ((-1.0, -1.0), (1.0, 1.0), (1.0, -0.9), (0.1, 0.0), (math.inf, -7.0), (math.nan, 1.0))


@dataclass(frozen=True)
class Asked:
    """One use of noise: the integers it is added to, and what the mechanism says of a swap."""

    values: tuple[int, ...]
    squared_sensitivity: int
    share: Fraction


def run(effort: Effort) -> Result:
    tally = Tally(bound=1.0 + _ROUNDING)
    kinds, n = (KINDS[1:5], 2) if effort.quick else (KINDS, 3)
    for name in MECHANISMS:
        _sensitivity(name, kinds, n, tally)
    _cost(effort, tally)
    return tally.result()


def _sensitivity(name: str, kinds: Sequence[tuple[float, ...]], n: int, tally: Tally) -> None:
    """Neighbours run with the same noised answers, so that what adaptive searches ask is the same for both."""
    for group in swap_groups(len(kinds), n):
        answers: list[Sequence[int]] = []
        runs = [_asked(name, [kinds[i] for i in x], answers) for x in group]
        for ours, theirs in itertools.combinations(runs, 2):
            tally.require(len(ours) == len(theirs), f"{name}: neighbours use noise a different number of times")
            for a, b in zip(ours, theirs, strict=False):
                moved = sum((v - w) ** 2 for v, w in zip(a.values, b.values, strict=True))
                tally.found(math.sqrt(moved / a.squared_sensitivity))
                same = (a.squared_sensitivity, a.share) == (b.squared_sensitivity, b.share)
                tally.require(same, f"{name}: the noise depends on the data")
        tally.require(sum((use.share for use in runs[0]), Fraction(0)) <= 1, f"{name}: more than the budget is spent")
    tally.saw(datasets=len(datasets(len(kinds), n)), pairs=count_of_pairs(len(kinds), n))


def _asked(name: str, rows: Sequence[tuple[float, ...]], answers: list[Sequence[int]]) -> list[Asked]:
    """What a mechanism adds noise to; noised answers are those of the first dataset of the group, without noise."""
    seen: list[Asked] = []

    def add(noise: Noise, values: Sequence[int], *, squared_sensitivity: int, share: Fraction) -> list[Fraction]:
        seen.append(Asked(tuple(int(v) for v in values), int(squared_sensitivity), share))
        if len(answers) < len(seen):
            answers.append(seen[-1].values)
        return [Fraction(v) for v in answers[len(seen) - 1]]

    with forced((Noise, "add", add)):
        MECHANISMS[name](np.array(rows), epsilon=1, delta="1e-3", bounds=(-1, 1), randomness=seeded(1))
    return seen


def _cost(effort: Effort, tally: Tally) -> None:
    """The least delta of the noise that is drawn for a budget, at its epsilon; and of noise in shares, its sum."""
    budgets = [("1", "1e-3"), ("1/2", "1e-4")] if effort.quick else [("1", "1e-6"), ("1/10", "1e-5"), ("3", "1e-6")]
    bits = Keystream(derived_key("unused")).bits(0)
    for epsilon, delta in budgets:
        guarantee = ApproxDP(Fraction(epsilon), Fraction(delta))
        for length in (1, 2, 64):
            noise = Noise(guarantee, coordinates=1, bits=bits)
            shift, deviation = noise._scale(length**2, Fraction(1))
            tally.found(gaussian_delta(deviation, length << shift, float(guarantee.epsilon)) / float(guarantee.delta))
        for squared, share in ((1, Fraction(1, 3)), (7, Fraction(1, 1000)), (2**62, Fraction(1, 32))):
            noise = Noise(guarantee, coordinates=500, bits=bits)
            shift, deviation = noise._scale(squared, share)
            spent = Fraction(squared * 4**shift, deviation**2) * noise.deviation**2
            tally.require(spent <= share, "noise for a share of the budget is too small")
        tally.saw(pairs=6)


CHECK = Check(
    name="baselines: noise",
    claim="A swap moves what the baselines add noise to by no more than they say, and discrete Gaussian noise of the "
    "size they draw costs no more than (epsilon, delta).",
    measure="largest distance over the stated sensitivity, and true delta over delta",
    run=run,
)
