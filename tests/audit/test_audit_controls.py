"""Every check of `tukeydp audit` passes, and fails when the mechanism it looks at is broken."""

from __future__ import annotations

import ast
import importlib
import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from support.charges import cheaper
from support.lower_sums import from_the_lower_bound
from tukeydp.audit import catalogue, oracles
from tukeydp.audit.check import Effort, Tally
from tukeydp.audit.checks import (
    algorithm3,
    baselines,
    boxem_enumeration,
    certificate,
    composition,
    cube_noise,
    group_sums,
    mean_cube,
    mean_subset,
    mean_two_step,
    mean_without_bounds,
    readable_rows,
    rem_enumeration,
    scale_first,
    sensitivity_depth,
    sensitivity_rem,
    spread,
    whole_calls,
)
from tukeydp.baselines.search import Counts
from tukeydp.mechanisms import mean_without_bounds as mean_without_bounds_module
from tukeydp.mechanisms import readable_check
from tukeydp.mechanisms.mean_ways import ScaledMean
from tukeydp.mechanisms.readable_check import exact_counts
from tukeydp.paper import algorithm3 as accounting
from tukeydp.trusted import block_steps as spread_step
from tukeydp.trusted import block_steps as subset_means
from tukeydp.trusted import clipped_sums as clipped_sum
from tukeydp.trusted import laws as cube_noise_module
from tukeydp.trusted import points as certificate_module
from tukeydp.trusted import steps
from tukeydp.trusted.account import bounded_range
from tukeydp.trusted.blocks import block_table
from tukeydp.trusted.covers import Covers
from tukeydp.trusted.prices import COUNT, sums_from_an_end
from tukeydp.trusted.rem.safety import Graded

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


def test_every_check_is_registered_and_has_a_control():
    checks = {path.stem for path in Path(composition.__file__).parent.glob("*.py")} - {"__init__"}
    here, draws = Path(__file__), Path(__file__).with_name("test_audit_draws.py")
    newer = here.with_name("test_audit_newer_controls.py")
    controls = "".join(path.read_text(encoding="utf-8").partition("\n# Controls:")[2] for path in (here, newer))
    controls += draws.read_text(encoding="utf-8").partition("\nQUICK =")[2]
    for name in checks:
        assert re.search(rf"\b{name}\b", controls), name
        found = importlib.import_module(f"tukeydp.audit.checks.{name}")
        assert set(found.CHECKS if name == "lower_bounds" else [found.CHECK]) <= set(catalogue.CHECKS)


def test_what_is_no_number_or_failed_in_words_is_not_passed():
    tally = Tally(bound=1.0)
    tally.found(0.5)
    assert tally.result().passed
    tally.found(float("nan"))
    assert not tally.result().passed
    tally = Tally(bound=1.0)
    tally.require(False, "something")
    assert not tally.result().passed


CHEAP = [cube_noise, mean_cube, scale_first, group_sums, mean_without_bounds, baselines, composition]


@pytest.mark.parametrize("module", CHEAP, ids=lambda module: module.__name__.rpartition(".")[2])
def test_cheap_checks_pass(module):
    assert module.CHECK.run(QUICK).passed


# Controls: the same checks on broken mechanisms.


def small_boxem(way="plain"):
    tally = Tally(bound=1.0)
    boxem_enumeration.examine(boxem_enumeration.Case(3, 1, 3, ((1,),), (way,)), way, tally)
    return tally.result()


def test_boxem_without_its_deepest_level_is_noticed(monkeypatch):
    assert small_boxem().passed
    top = Covers.top.fget
    monkeypatch.setattr(Covers, "top", property(lambda covers: max(0, top(covers) - 1)))
    assert not small_boxem().passed


def test_branch_and_bound_that_loses_a_box_is_noticed(monkeypatch):
    assert small_boxem("branches").passed
    parts_of = Covers._parts_of
    monkeypatch.setattr(Covers, "_parts_of", lambda *given: tuple(ends[1:] for ends in parts_of(*given)))
    assert not small_boxem("branches").passed


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


def small_subset(blocks):
    tally = Tally(bound=1.0 + 1e-9)
    mean_subset.examine(mean_subset.Case(mean_subset.ONE, 3, blocks, 1, (8,)), tally)
    return tally.result()


@pytest.mark.parametrize("mistake", ["blocks that know other blocks", "coins by the data"])
def test_subset_means_with_a_mistake_are_noticed(mistake, monkeypatch):
    blocks = 3 if mistake == "coins by the data" else 2
    assert small_subset(blocks).passed
    if mistake == "coins by the data":
        monkeypatch.setattr(
            subset_means,
            "filled_at_the_ends",
            lambda table, stream: np.where(np.isnan(table), -np.sign(np.nansum(table) + 0.5), table),
        )
        assert small_subset(blocks).worst > 1.1
    else:

        def centred(cells, blocks, order, statistic):
            return block_table(cells - np.nan_to_num(np.nansum(cells) / len(cells)), blocks, order, statistic)

        monkeypatch.setattr(subset_means, "block_table", centred)
        assert small_subset(blocks).failures


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
    monkeypatch.setattr(algorithm3, "QUICK", algorithm3.QUICK[2:3])
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
    monkeypatch.setattr(sensitivity_rem, "TESTS", sensitivity_rem.TESTS[1:2])
    chance = sensitivity_rem.chance
    monkeypatch.setattr(sensitivity_rem, "chance", lambda test, evidence: chance(test, evidence) ** 3)
    assert sensitivity_rem.CHECK.run(QUICK).worst > 1.5


def small_spread():
    tally = Tally(bound=1.0 + 1e-9)
    spread.examine(spread.Case(spread.ONE, 3, spread_step.SpreadPlan(1)), tally)
    return tally.result()


@pytest.mark.parametrize("mistake", ["coins by the data", "another notion of zero"])
def test_a_spread_with_a_mistake_is_noticed(mistake, monkeypatch):
    assert small_spread().passed
    if mistake == "coins by the data":

        def by_the_data(table, stream, *settings):
            return np.where(np.isnan(table), 0.0, np.where(table <= -30, -30.0, table))

        monkeypatch.setattr(spread_step, "at_the_ends", by_the_data)
    else:
        monkeypatch.setattr(spread_step, "_ZERO_LOW", 16)
    assert small_spread().failures


def test_scale_and_mean_that_both_spend_epsilon_are_noticed(monkeypatch):
    monkeypatch.setattr(ScaledMean, "rest", property(lambda self: self.epsilon))
    found = scale_first.CHECK.run(QUICK)
    assert found.worst > 1.01
    assert "scale and mean spend more than epsilon" in found.failures


def test_sums_from_the_lower_bound_lose_twice_epsilon_in_groups(monkeypatch):
    monkeypatch.setattr(steps.WindowSums, "__call__", from_the_lower_bound)
    assert group_sums.CHECK.run(QUICK).worst > 1.9


def test_blocks_that_know_other_blocks_are_noticed_without_bounds(monkeypatch):
    def centred(cells, blocks, order, statistic):
        return block_table(cells - np.nan_to_num(np.nansum(cells) / len(cells)), blocks, order, statistic)

    monkeypatch.setattr(mean_without_bounds_module, "block_table", centred)
    assert mean_without_bounds.CHECK.run(QUICK).worst > 1


def test_counts_over_all_columns_and_unequal_ones_are_noticed(monkeypatch):
    """The sums of unreadable cells or values over all columns, and rows in no listed group counted twice."""
    for name, some in (("RECORDS", ("1,1", "x,1", "x,x", "1,2,3", "1")), ("PLAIN", ("1,1", "x,x", "1,", "1"))):
        monkeypatch.setattr(readable_rows, name, some)
    every = Effort(quick=False)
    assert readable_rows.CHECK.run(every).passed
    wrong = {
        "unreadable": lambda table, found: int(table.unreadable.sum()),
        "values": lambda table, found: int((~np.isnan(table.cells)).sum()),
        "unlisted": lambda table, found: None if found.unlisted is None else 2 * found.unlisted,
    }
    for name, count in wrong.items():

        def changed(table, groups=None, name=name, count=count, **_):
            found = exact_counts(table, groups)
            return found._replace(**{name: count(table, found)})

        monkeypatch.setattr(readable_check, "exact_counts", changed)
        assert readable_rows.CHECK.run(every).worst > 1.01, name


def test_a_certificate_with_too_little_noise_is_noticed(monkeypatch):
    monkeypatch.setattr(certificate_module, "COUNT", cheaper(COUNT, 4))
    assert certificate.CHECK.run(QUICK).worst > 1.01


def test_a_step_that_is_not_paid_for_is_noticed(monkeypatch):
    monkeypatch.setattr(whole_calls, "CALLS", {"summary": whole_calls.CALLS["summary"]})
    assert whole_calls.CHECK.run(QUICK).passed
    monkeypatch.setattr(steps, "sums_from_an_end", lambda most: cheaper(sums_from_an_end(most), 2))
    assert whole_calls.CHECK.run(QUICK).worst > 1.01
