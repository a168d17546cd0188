"""The audit's checks by draws and by replay pass, and fail when the sampler they look at is broken."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from tukeydp.audit import adversarial_pairs
from tukeydp.audit.check import Effort, least_epsilon, surprise
from tukeydp.audit.checks import lower_bounds, replay, sampler_law
from tukeydp.trusted import exponential
from tukeydp.trusted.bits import Bits
from tukeydp.trusted.laws import LevelDraw

QUICK = Effort(quick=True)


SOME = ("nothing forced", "slanted boxes", "branches")


@pytest.mark.parametrize(
    "path", [*SOME, *(pytest.param(path, marks=pytest.mark.slow) for path in sampler_law.PATHS if path not in SOME)]
)
def test_another_epsilon_in_the_sampler_is_noticed(path, monkeypatch):
    monkeypatch.setattr(sampler_law, "PATHS", {path: sampler_law.PATHS[path]})
    assert sampler_law.CHECK.run(QUICK).passed
    monkeypatch.setattr(exponential, "LevelDraw", lambda groups, epsilon: LevelDraw(groups, 2 * epsilon))
    assert not sampler_law.CHECK.run(QUICK).passed


def test_a_path_that_is_not_taken_is_noticed(monkeypatch):
    monkeypatch.setattr(sampler_law, "PATHS", {"slices": sampler_law.PATHS["slices"]})
    monkeypatch.setattr("tukeydp.audit.forced_samplers.slice_everything", lambda *_: None)
    assert sampler_law.CHECK.run(QUICK).failures == ("slices: the path was not taken",)


def test_uniform_numbers_by_remainders_are_noticed(monkeypatch):
    monkeypatch.setattr(replay, "LONGER", {})
    kept = {"coin", "geometric, scale 3/2"}
    drawn = replay._noise
    monkeypatch.setattr(replay, "_noise", lambda: {name: draw for name, draw in drawn().items() if name in kept})
    assert replay.CHECK.run(QUICK).passed
    monkeypatch.setattr(Bits, "below", lambda self, bound: self.take((bound - 1).bit_length()) % bound)
    assert not replay.CHECK.run(QUICK).passed


@pytest.mark.parametrize("name", list(lower_bounds.PAIRS))
def test_draws_that_tell_neighbours_apart_prove_a_larger_epsilon(name):
    """The mechanism of each pair with a tell-tale: seven runs in eight say which table they saw."""
    with lower_bounds.PAIRS[name]() as pair:
        telling = tuple(
            (lambda key, draw=draw, side=side: 77.0 + side if key[0] % 8 else draw(key))
            for side, draw in enumerate(pair.draws)
        )
        # What never comes in so many draws is e^epsilon times rarer than what comes in nearly all.
        draws = 200 + round(35 * math.exp(pair.epsilon))
        found = lower_bounds.lower_bound(name, replace(pair, draws=telling), QUICK, draws)
    assert found > pair.epsilon


def test_four_times_epsilon_is_proven_by_draws(monkeypatch):
    sampler = adversarial_pairs.DepthSampler
    monkeypatch.setattr(
        adversarial_pairs, "DepthSampler", lambda *given, epsilon, **more: sampler(*given, epsilon=4 * epsilon, **more)
    )
    assert not lower_bounds.run("boxem", QUICK).passed


def test_lower_bounds_and_surprises_are_what_they_say():
    """Bounds hold for equal laws, and come close to the truth for many draws."""
    assert least_epsilon([500], [500], 1000) == 0
    assert 0.98 < least_epsilon([731_059], [268_941], 1_000_000) < 1
    assert least_epsilon([731_059], [268_941], 1_000_000, delta=0.3) < 0.6
    assert surprise([500, 500], [0.5, 0.5]) < 1
    assert surprise([600, 400], [0.5, 0.5]) > 6
    assert surprise([500, 500, 1], [0.5, 0.5, 0.0]) == float("inf")
