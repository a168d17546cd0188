"""REM's tests with sizes that are off by as much as they may be, and the paper's test by its definition.

A solver's error is public in size but not in value: on neighbouring tables it may go opposite ways. Each test
discounts its k-th term so that the chance of a release moves by no more than the guarantee says all the same
(docs/proofs/rem.md, sections 3 and 4).
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from support.rem_cases import TESTS, chance, grid_points
from support.rem_oracle import depths, tail
from tukeydp.trusted.boxes import Box
from tukeydp.trusted.laws import exp_between
from tukeydp.trusted.levels import level_sets
from tukeydp.trusted.rem.evidence import Evidence, Plan
from tukeydp.trusted.rem.safety import Paper
from tukeydp.trusted.sizes.level_sizes import Intervals

TAU = Fraction(1, 10)
GROWN = exp_between(TAU)[0]  # e^tau, from below
T, K, TOP = 12, 10, 40
RELEASE, PART, DELTA = Fraction(1, 50), Fraction(1, 2), Fraction(1, 1000)


class Profile:
    """Sizes by level, those of `side` neighbours away, `off` by the whole slack or not at all."""

    exact = False
    top = TOP

    def __init__(self, upper, lower, moved=0, off=False, slack=TAU):
        self._upper, self._lower, self._moved, self._off, self.slack = upper, lower, moved, off, slack

    def upper(self, level):
        value = Fraction(self._upper(level - self._moved))
        return value * GROWN if self._off else value

    def lower(self, level):
        value = Fraction(self._lower(level + self._moved) if level + self._moved <= TOP else 0)
        return value / GROWN if self._off else value


def steps(values, ends):
    """A function that falls at the ends."""
    return lambda level: values[sum(level > end for end in ends)]


def profiles(test, seed):
    """Sizes that leave the tests in doubt: levels of one size up to a cliff, near the strength that is asked for."""
    rng = np.random.default_rng(seed)
    cliff = T + int(rng.integers(1, K))
    asked = 1 / DELTA if test.name == "laplace" else 4 * exp_between(2 * PART + RELEASE)[1] / DELTA
    near = asked * Fraction(int(rng.integers(90, 130)), 100) if test.name != "graded" else Fraction(3)
    far = near * 10**4
    return (lambda level: Fraction(10**6)), steps([far * 10**6, near * 10**6], [cliff])


def chances(test, seed, slack=TAU):
    plan = Plan(50, T, RELEASE, PART, DELTA, K, (0, 1))
    upper, lower = profiles(test, seed)
    return [
        chance(test, Evidence(Profile(upper, lower, moved, off, slack), plan))
        for moved, off in ((0, False), (1, True), (0, True), (1, False))
    ]


def within(p, q):
    """Whether p may be the chance of a release on one table and q on its neighbour."""
    part, whole = math.exp(float(PART)) * (1 + 1e-9), math.exp(float(PART + RELEASE)) * (1 + 1e-9)
    return p <= q * part + 1e-12 and 1 - q <= (1 - p) * whole + 1e-12


@pytest.mark.parametrize("test", TESTS, ids=lambda test: test.name)
def test_errors_that_go_opposite_ways_are_within_the_guarantee(test):
    """With the discount no pair is off; the control: sizes that keep quiet about their slack."""
    seeds = range(40)
    spread = []
    for seed in seeds:
        here, there, here_too, there_too = chances(test, seed)
        assert all(within(p, q) and within(q, p) for p in (here, here_too) for q in (there, there_too))
        spread += [here, there]
    assert max(spread) > 1.3 * min(spread)
    quiet = [chances(test, seed, Fraction(0)) for seed in seeds]
    assert not all(within(p, q) for p, q, *_ in quiet)


@pytest.mark.parametrize("delta", [Fraction(1, 10), Fraction(1, 300)])
def test_the_papers_test_is_that_of_its_definition(delta):
    """Algorithm 2: the score asks for delta_e / (4 e^eps_e) with delta_e = delta e^(-2 eps_p)."""
    n, t, release, part = 24, 6, Fraction(6), Fraction(1)
    plan = Plan(n, t, release, part, delta, t - 1, tuple(range(n + 1)))
    points, unit = grid_points((61,)), np.ones((1, 1), dtype=np.int64)
    cut = max(0, math.ceil(math.log(1 / (2 * float(delta))) / float(part)))
    needed = 4 * math.exp(float(release) + 2 * float(part)) / float(delta)
    rng, scores = np.random.default_rng(0), []
    for _ in range(120):
        rows = np.clip(np.rint(30 + rng.normal(size=(n, 1)) * rng.choice([0.3, 2.0, 9.0, 16.0])), 0, 60).astype(
            np.int64
        )
        depth = depths(tuple(rows[:, 0].tolist()), points, unit)
        size = [int((depth >= level).sum()) for level in range(n + 2 * t + 2)]
        score = -1
        for k in range(t - 1):
            best = max((math.exp(g * float(release) / 2) * size[t + k + 1 + g] for g in range(1, n - t - k)), default=0)
            if best / size[t - 1 - k] < needed:
                break
            score = k
        evidence = Evidence(Intervals(level_sets(rows, unit), Box((0,), (60,))), plan)
        expected = 0.0 if depth.max() < t else tail(float(part), cut - score)
        assert chance(Paper(), evidence) == pytest.approx(expected, rel=1e-9)
        scores.append(score)
    assert len(set(scores)) >= 4
