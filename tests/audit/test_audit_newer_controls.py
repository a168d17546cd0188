"""Audit checks of add/remove, groups, persons, quantiles and aggregate fail on broken mechanisms.

That all of them pass on the package as it is, is shown by the quick audit (tests/cli/test_audit.py).
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from support.charges import charge, cheaper
from support.lower_sums import from_the_lower_bound
from tukeydp.audit.check import Effort, Tally
from tukeydp.audit.checks import (
    add_remove,
    aggregate,
    grouped_points,
    persons,
    quantiles,
    rem_add_remove,
    whole_calls,
)
from tukeydp.data import persons as persons_module
from tukeydp.mechanisms import aggregate as guarded_statistic
from tukeydp.mechanisms import block_release, per_person
from tukeydp.mechanisms import regression as regression_module
from tukeydp.trusted import block_steps as grouped_blocks
from tukeydp.trusted import block_steps as grouped_ways
from tukeydp.trusted import clipped_sums as counted_mean
from tukeydp.trusted import points, ranks
from tukeydp.trusted import ranks as rank_draw
from tukeydp.trusted import steps as group_counts
from tukeydp.trusted.block_steps import SubsetPlan
from tukeydp.trusted.prices import DEPTH, sums_from_the_middle
from tukeydp.trusted.rem.evidence import Evidence
from tukeydp.trusted.rem.safety import Graded
from tukeydp.trusted.steps import WindowSums

QUICK = Effort(quick=True)


def tallied(examine, *given, **options):
    tally = Tally(bound=1.0 + 1e-6)
    examine(*given, **options, tally=tally)
    return tally.result()


# Controls: the same checks on broken mechanisms.


def test_depth_with_twice_epsilon_is_noticed_under_add_remove(monkeypatch):
    assert tallied(add_remove.boxem, add_remove.ONE, 3).passed
    monkeypatch.setattr(points, "DEPTH", cheaper(DEPTH, Fraction(3, 2)))
    assert tallied(add_remove.boxem, add_remove.ONE, 3).worst > 1.01


def test_drawn_blocks_with_all_of_epsilon_in_the_exponent_are_noticed(monkeypatch):
    """What a row by itself may have, a block may not."""
    case = add_remove.QUICK[0]
    monkeypatch.setattr(SubsetPlan, "sampler_epsilon", lambda self, epsilon: 2 * epsilon)
    assert tallied(add_remove.blocks, case).worst > 1.01


def test_blocks_that_know_how_many_rows_there_are_are_noticed(monkeypatch):
    case = add_remove.QUICK[0]
    table = add_remove.subset_means.drawn_block_table

    def shrunk(cells, blocks, numbers, order, statistic):
        return table(cells, blocks, numbers, order, statistic) / max(1, len(cells))

    monkeypatch.setattr(add_remove.subset_means, "drawn_block_table", shrunk)
    assert tallied(add_remove.blocks, case).failures


@pytest.mark.parametrize("mistake", ["from the lower bound", "not clipped", "less noise"])
def test_sums_that_a_row_moves_farther_are_noticed(mistake, monkeypatch):
    assert tallied(add_remove.sums, 1, 2, None).passed
    sums = counted_mean.counted_sums
    if mistake == "from the lower bound":
        monkeypatch.setattr(
            counted_mean,
            "counted_sums",
            lambda relative, fill: [
                s + c for s, c in zip(sums(relative, fill), sums(relative, fill)[::-1], strict=True)
            ],
        )
    elif mistake == "not clipped":
        monkeypatch.setattr(counted_mean, "counted_sums", lambda relative, fill: [3 * v for v in sums(relative, fill)])
    else:
        less = cheaper(sums_from_the_middle(counted_mean._HALF), 2)
        monkeypatch.setattr(counted_mean, "sums_from_the_middle", lambda half: less)
    assert tallied(add_remove.sums, 1, 2, None).worst > 1.5


def test_rem_that_releases_too_often_is_noticed_under_add_remove(monkeypatch):
    chance = Graded.chance

    def careless(self, evidence, bits):
        found = chance(self, evidence, bits)
        return replace(found, low=min(Fraction(1), 2 * found.low), high=min(Fraction(1), 2 * found.high))

    monkeypatch.setattr(Graded, "chance", careless)
    assert tallied(rem_add_remove.examine, rem_add_remove.QUICK[1]).worst > 1.5


def test_the_two_sided_test_is_noticed_under_add_remove(monkeypatch):
    """The test for swaps in the place of the one-sided one: its chances are others."""
    case = rem_add_remove.QUICK[2]
    assert tallied(rem_add_remove.examine, case).passed
    monkeypatch.setattr(rem_add_remove, "evidence_of", Evidence)
    assert tallied(rem_add_remove.examine, case).failures


def test_blocks_with_epsilon_in_each_group_are_noticed(monkeypatch):
    points = grouped_ways._deep_points

    def twice(tables, rows, steps, epsilon, *keys):
        return points(tables, rows, steps, 2 * epsilon, *keys)

    monkeypatch.setattr(grouped_ways, "_deep_points", twice)
    assert tallied(grouped_points.block_means, n=3, blocks=2, partitions=1).worst > 1.01


@pytest.mark.parametrize("mistake", ["numbers within a group", "coins by the place in the group", "counts"])
def test_groups_with_a_mistake_are_noticed(mistake, monkeypatch):
    if mistake == "numbers within a group":
        means = grouped_blocks._one_dealing

        def sorted_first(relative, groups, *given):
            order = np.argsort(groups, kind="stable")
            return means(relative[order], groups[order], *given)

        monkeypatch.setattr(grouped_blocks, "_one_dealing", sorted_first)
        monkeypatch.setattr(grouped_points, "ONE", grouped_points.ONE[::-1])
        monkeypatch.setattr(grouped_blocks, "drawn_blocks", lambda n, blocks, stream: np.arange(n) % blocks)
        assert tallied(grouped_points.block_means, n=3, blocks=2, partitions=1).failures
    elif mistake == "coins by the place in the group":
        monkeypatch.setattr(
            grouped_ways,
            "partly_filled",
            lambda table, stream: np.where(np.isnan(table), np.sign(table.size - 3), table),
        )
        assert tallied(grouped_points.rows, grouped_points.TWO, 2).failures
    else:
        noise = group_counts.noised_group_counts
        monkeypatch.setattr(
            group_counts,
            "noised_group_counts",
            lambda groups, count, given: noise(groups, count, charge(2 * given.epsilon)),
        )
        assert tallied(grouped_points.counts, 3).worst > 1.5


def test_sums_of_groups_from_the_lower_bound_are_noticed(monkeypatch):
    monkeypatch.setattr(WindowSums, "__call__", from_the_lower_bound)
    assert tallied(grouped_points.sums, 2).worst > 1.9


@pytest.mark.parametrize("mistake", ["sums in the order of the file", "centred by all persons"])
def test_persons_with_a_mistake_are_noticed(mistake, monkeypatch):
    if mistake == "sums in the order of the file":
        monkeypatch.setattr(persons_module.np, "lexsort", lambda keys: np.argsort(keys[1], kind="stable"))
        assert "the order of the file matters" in persons.CHECK.run(QUICK).failures
    else:
        rows = persons_module.one_row_each

        def centred(cells, *given):
            return rows(cells - np.nanmean(np.clip(cells, -1, 1)), *given)

        monkeypatch.setattr(per_person, "one_row_each", centred)
        assert persons.CHECK.run(QUICK).worst > 1


@pytest.mark.parametrize("mistake", ["weight of uneven parts", "all of epsilon at each level", "a shell lost"])
def test_quantiles_with_a_mistake_are_noticed(mistake, monkeypatch):
    if mistake == "weight of uneven parts":
        monkeypatch.setattr(ranks, "level_weight", lambda parts, epsilon, *_: epsilon / 2)
        assert tallied(quantiles.examine, quantiles.Case(quantiles.UNEVEN, 3, 3)).failures
    elif mistake == "all of epsilon at each level":
        weight = ranks.level_weight
        monkeypatch.setattr(ranks, "level_weight", lambda parts, epsilon, *more: 3 * weight(parts, epsilon, *more))
        assert tallied(quantiles.examine, quantiles.Case(quantiles.QUARTILES, 3, 3)).worst > 1.01
    else:
        shells = rank_draw.RankLaw._shells.func
        monkeypatch.setattr(
            rank_draw.RankLaw, "_shells", property(lambda law: shells(law)[: max(1, len(shells(law)) - 1)])
        )
        assert tallied(quantiles.examine, quantiles.Case(quantiles.MEDIAN, 3, 3)).failures


@pytest.mark.parametrize("mistake", ["generators that go on", "epsilon for each dealing"])
def test_aggregates_with_a_mistake_are_noticed(mistake, monkeypatch):
    if mistake == "generators that go on":
        np.random.seed(5)  # noqa: NPY002 the state that each call starts from
        monkeypatch.setattr(guarded_statistic, "reset_generators", lambda number: None)
        assert tallied(aggregate.examine, aggregate.QUICK[1]).failures
    else:
        monkeypatch.setattr(aggregate, "KINDS", aggregate.KINDS[:3])
        case = aggregate.Case(aggregate.largest, aggregate.largest_defined, 3, 3, 2)
        monkeypatch.setattr(block_release.BlockRelease, "_own", property(lambda self: self.guarantee))
        assert tallied(aggregate.examine, case).worst > 1.01


def test_coefficients_of_centred_columns_are_noticed(monkeypatch):
    table = regression_module.block_table

    def centred(cells, *given):
        return table(cells - np.nanmean(cells, axis=0), *given)

    monkeypatch.setattr(regression_module, "block_table", centred)
    found = tallied(aggregate.lines, aggregate.LINES[1:], every=60, orders=263)
    assert found.worst == 2


def test_the_whole_delta_for_several_dealings_is_noticed(monkeypatch):
    assert tallied(aggregate.budgets).passed
    monkeypatch.setattr(block_release, "delta_for_each", lambda guarantee, partitions: guarantee.delta)
    assert tallied(aggregate.budgets).worst > 2


POINTS = grouped_ways._deep_points
CHANGES = {
    "boxem, add-remove": (points, "DEPTH", cheaper(DEPTH, Fraction(3, 2))),
    "mean, rows, add-remove": (SubsetPlan, "sampler_epsilon", lambda self, epsilon: 3 * epsilon),
    "mean by groups, subset": (
        grouped_ways,
        "_deep_points",
        lambda tables, rows, steps, epsilon, *keys: POINTS(tables, rows, steps, 2 * epsilon, *keys),
    ),
    "quantiles": (ranks, "level_weight", lambda parts, epsilon, *_: 2 * epsilon),
    "regression": (block_release.BlockRelease, "_own", property(lambda self: self.guarantee)),
    "boxem of persons": (per_person, "person_numbers", lambda ids: np.arange(len(list(ids)))),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_whole_call_that_costs_more_is_noticed(name, monkeypatch):
    monkeypatch.setattr(whole_calls, "CALLS", {name: whole_calls.CALLS[name]})
    assert whole_calls.CHECK.run(QUICK).passed
    owner, attribute, wrong = CHANGES[name]
    monkeypatch.setattr(owner, attribute, wrong)
    found = whole_calls.CHECK.run(QUICK)
    assert found.worst > 1.01 or found.failures
