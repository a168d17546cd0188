"""Every check of `tukeydp audit` passes, and fails when the mechanism it looks at is broken."""

from __future__ import annotations

import ast
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from tukeydp.algorithm3 import accounting
from tukeydp.audit import catalogue, oracles
from tukeydp.audit.check import Effort, Tally
from tukeydp.audit.checks import (
    algorithm3,
    baselines,
    boxem_enumeration,
    composition,
    cube_noise,
    lower_bounds,
    mean_cube,
    mean_subset,
    mean_two_step,
    rem_enumeration,
    replay,
    sampler_law,
    sensitivity_depth,
    sensitivity_rem,
)
from tukeydp.audit.statistics import least_epsilon, surprise
from tukeydp.baselines.search import Counts
from tukeydp.data.dealing import block_table
from tukeydp.exact import cube_noise as cube_noise_module
from tukeydp.exact.level_draw import LevelDraw
from tukeydp.mechanisms import clipped_sum, subset_means
from tukeydp.mechanisms.rem_test.safety import Graded
from tukeydp.privacy import bounded_range
from tukeydp.randomness import Bits
from tukeydp.sampling import envelope
from tukeydp.sampling import sampler as sampler_module

QUICK = Effort(quick=True)


def test_oracles_share_no_code_with_the_package():
    for path in Path(oracles.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            module = node.module if isinstance(node, ast.ImportFrom) else None
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [module or ""]
            for name in names:
                assert not name.startswith("tukeydp") or name.startswith("tukeydp.audit.oracles"), path.name


def test_names_are_different_and_claims_are_sentences():
    assert len({check.name for check in catalogue.CHECKS}) == len(catalogue.CHECKS)
    assert all(check.claim.endswith(".") and check.measure for check in catalogue.CHECKS)


def test_what_is_no_number_or_failed_in_words_is_not_passed():
    tally = Tally(bound=1.0)
    tally.found(0.5)
    assert tally.result().passed
    tally.found(float("nan"))
    assert not tally.result().passed
    tally = Tally(bound=1.0)
    tally.require(False, "something")
    assert not tally.result().passed


CHEAP = [cube_noise, mean_cube, algorithm3, baselines, composition]


@pytest.mark.parametrize("module", CHEAP, ids=lambda module: module.__name__.rpartition(".")[2])
def test_cheap_checks_pass(module):
    assert module.CHECK.run(QUICK).passed


# Controls: the same checks on broken mechanisms.


def small_boxem():
    tally = Tally(bound=1.0)
    boxem_enumeration.examine(boxem_enumeration.Case(3, 1, 3, ((1,),), ("plain",)), "plain", tally)
    return tally.result()


def test_boxem_without_its_deepest_level_is_noticed(monkeypatch):
    assert small_boxem().passed
    highest = envelope.highest_level
    monkeypatch.setattr(envelope, "highest_level", lambda certifier: max(0, highest(certifier) - 1))
    assert not small_boxem().passed


def small_rem():
    tally = Tally(bound=1.0 + 1e-9)
    rem_enumeration.examine(rem_enumeration.QUICK[0], tally)
    return tally.result()


def test_rem_that_releases_too_often_is_noticed(monkeypatch):
    assert small_rem().passed
    chance = Graded.chance

    def careless(self, evidence, bits):
        found = chance(self, evidence, bits)
        return replace(found, low=min(Fraction(1), 2 * found.low), high=min(Fraction(1), 2 * found.high))

    monkeypatch.setattr(Graded, "chance", careless)
    found = small_rem()
    assert found.worst > 1.5


def small_subset(dealings):
    tally = Tally(bound=1.0 + 1e-9)
    mean_subset.examine(mean_subset.Case(mean_subset.ONE, 3, 3, dealings, (8,)), tally)
    return tally.result()


@pytest.mark.parametrize("mistake", ["blocks that know other blocks", "coins by the data"])
def test_subset_means_with_a_mistake_are_noticed(mistake, monkeypatch):
    assert small_subset(1).passed
    if mistake == "coins by the data":
        monkeypatch.setattr(
            subset_means,
            "filled_at_the_ends",
            lambda table, stream: np.where(np.isnan(table), -np.sign(np.nansum(table) + 0.5), table),
        )
        found = small_subset(1)
        assert found.worst > 1.1
    else:

        def centred(cells, blocks, order, statistic):
            return block_table(cells - np.nan_to_num(np.nansum(cells) / len(cells)), blocks, order, statistic)

        monkeypatch.setattr(subset_means, "block_table", centred)
        assert small_subset(2).failures


@pytest.mark.parametrize(("module", "factor"), [(mean_cube, 2), (mean_two_step, 5)])
def test_sums_that_move_farther_than_said_are_noticed(module, factor, monkeypatch):
    steps = clipped_sum.ClipRange.steps
    monkeypatch.setattr(clipped_sum.ClipRange, "steps", lambda self, relative: factor * steps(self, relative))
    if module is mean_two_step:
        monkeypatch.setattr(module, "KINDS", module.KINDS[-3:])
    assert module.CHECK.run(QUICK).worst > 1.01


def test_cube_noise_that_is_always_kept_is_noticed(monkeypatch):
    def careless(d, scale, bits):
        s = sum(cube_noise_module.geometric(scale, bits) for _ in range(d + 1))
        return [bits.below(2 * s + 1) - s for _ in range(d)]

    monkeypatch.setattr(cube_noise_module, "cube_noise", careless)
    assert not cube_noise.CHECK.run(QUICK).passed


def test_algorithm_3_without_its_test_is_noticed(monkeypatch):
    monkeypatch.setattr(accounting, "score", lambda sizes, lowest, p: 100)
    assert algorithm3.CHECK.run(QUICK).worst > 1.5


def test_counts_that_move_farther_than_said_are_noticed(monkeypatch):
    doubled = Counts.doubled
    monkeypatch.setattr(Counts, "doubled", lambda self, at: [2 * v for v in doubled(self, at)])
    assert baselines.CHECK.run(QUICK).worst > 1.5


def test_half_of_what_releases_cost_is_noticed(monkeypatch):
    monkeypatch.setattr(composition, "bounded_range", lambda epsilon: bounded_range(epsilon / 2))
    assert not composition.CHECK.run(QUICK).passed


def test_a_depth_that_moves_by_two_is_noticed(monkeypatch):
    monkeypatch.setattr(sensitivity_depth, "NOTIONS", sensitivity_depth.NOTIONS[:1])
    assert sensitivity_depth.CHECK.run(QUICK).passed
    depth = sensitivity_depth.tukey_depth
    monkeypatch.setattr(sensitivity_depth, "tukey_depth", lambda points, x, notion: 2 * depth(points, x, notion))
    assert sensitivity_depth.CHECK.run(QUICK).worst == 2


def test_a_score_that_moves_too_far_is_noticed(monkeypatch):
    chance = sensitivity_rem.chance
    monkeypatch.setattr(sensitivity_rem, "chance", lambda test, evidence: chance(test, evidence) ** 3)
    assert sensitivity_rem.CHECK.run(QUICK).worst > 1.5


def test_another_epsilon_in_the_sampler_is_noticed(monkeypatch):
    paths = {name: sampler_law.PATHS[name] for name in ("nothing forced", "slices", "slanted boxes")}
    monkeypatch.setattr(sampler_law, "PATHS", paths)
    assert sampler_law.CHECK.run(QUICK).passed
    monkeypatch.setattr(sampler_module, "LevelDraw", lambda groups, epsilon: LevelDraw(groups, 2 * epsilon))
    assert not sampler_law.CHECK.run(QUICK).passed


def test_a_path_that_is_not_taken_is_noticed(monkeypatch):
    monkeypatch.setattr(sampler_law, "PATHS", {"slices": sampler_law.PATHS["slices"]})
    monkeypatch.setattr("tukeydp.audit.forced_samplers.slice_everything", lambda *_: None)
    assert sampler_law.CHECK.run(QUICK).failures == ("slices: the path was not taken",)


def test_uniform_numbers_by_remainders_are_noticed(monkeypatch):
    monkeypatch.setattr(replay, "LONGER", {})
    kept = {"coin", "drawn index"}
    drawn = replay._noise
    monkeypatch.setattr(replay, "_noise", lambda: {name: draw for name, draw in drawn().items() if name in kept})
    assert replay.CHECK.run(QUICK).passed
    monkeypatch.setattr(Bits, "below", lambda self, bound: self.take((bound - 1).bit_length()) % bound)
    assert not replay.CHECK.run(QUICK).passed


@pytest.mark.parametrize("name", list(lower_bounds.PAIRS))
def test_draws_that_tell_neighbours_apart_prove_a_larger_epsilon(name):
    """The mechanism of each pair with a tell-tale: one run in two says which of the two tables it saw."""
    with lower_bounds.PAIRS[name]() as pair:
        telling = tuple(
            (lambda key, draw=draw, side=side: 77.0 + side if key[0] % 2 else draw(key))
            for side, draw in enumerate(pair.draws)
        )
        found = lower_bounds.lower_bound(name, replace(pair, draws=telling), QUICK, 1500)
    assert found > pair.epsilon


def test_eight_times_epsilon_is_proven_by_draws(monkeypatch):
    sampler = lower_bounds.DepthSampler
    monkeypatch.setattr(
        lower_bounds, "DepthSampler", lambda *given, epsilon, **more: sampler(*given, epsilon=8 * epsilon, **more)
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
