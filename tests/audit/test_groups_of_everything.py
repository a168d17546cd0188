"""Draws in every group, for one epsilon: all small tables, all moves between groups, or one record more or less.

Laws are written down here again; weights are those of the package's prices. Each has a control: the price of one key
used with two, or that of a swap where the record may be absent.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

import tukeydp as td
from support import quantile_oracle as oracle
from support import rem_oracle
from tukeydp.mechanisms.aggregate import Apart
from tukeydp.trusted import block_steps as spread_step
from tukeydp.trusted import points as certificate
from tukeydp.trusted import steps as grouped_sums
from tukeydp.trusted.account import ApproxDP
from tukeydp.trusted.blocks import drawn_block_table
from tukeydp.trusted.prices import depth_of_blocks, kappa, share_of_group
from tukeydp.trusted.ranks import ALL, Among, as_if_swapped, level_weight, levels_of
from tukeydp.trusted.release import Misuse, rehearsed_charge

EPSILON = Fraction(1)
ROUNDING = 1e-9
SHARES = {
    "median": (Fraction(1, 2),),
    "a tail": (Fraction(9, 10),),
    "quartiles": (Fraction(1, 4), Fraction(1, 2), Fraction(3, 4)),
    "uneven": (Fraction(1, 10), Fraction(1, 2), Fraction(4, 5)),
}
SWAPS_OF_GROUPS, ONE_MORE = Among("swap", 2), Among("add-remove", 2)


def weights_of(shares, among):
    return [weight for weight, _ in levels_of(shares, EPSILON, among)]


def largest_ratio(ours, theirs):
    return max(abs(math.log(ours[y] / theirs[y])) for y in ours)


def laws_of_tables(shares, weights, most, highest):
    """The joint law of every multiset of at most so many values: a group's, however many values it has."""
    tables = [t for n in range(most + 1) for t in itertools.combinations_with_replacement(range(highest + 1), n)]
    return {t: oracle.joint(t, highest, shares, weights) for t in tables}


def one_more(laws, most, highest):
    """What a value more or less loses in one group at most: an addition and a removal have the same ratios."""
    smaller = [t for t in laws if len(t) < most]
    return max(largest_ratio(laws[t], laws[tuple(sorted((*t, v)))]) for t in smaller for v in range(highest + 1))


@pytest.mark.parametrize("name", SHARES)
@pytest.mark.parametrize("among", [SWAPS_OF_GROUPS, ONE_MORE], ids=["moves between groups", "one more or less"])
def test_quantiles_of_all_groups_together_lose_at_most_epsilon_at_each_level(name, among):
    """Groups are drawn by themselves, so that losses add up: a move is a value less in one and one more in another."""
    shares, most, highest = SHARES[name], 4, 3
    weights = weights_of(shares, among)
    lost = one_more(laws_of_tables(shares, weights, most, highest), most, highest)
    groups = 2 if among.relation == "swap" else 1
    assert 0.3 * len(weights) < groups * lost <= len(weights) + ROUNDING


def in_a_tail(weight, gap=2000):
    """What a value more loses where the quantile is 9/10: alone above a gap it pulls the wanted rank up by 9/10."""
    share, below = Fraction(9, 10), (1,) * 9
    ours, theirs = (oracle.law(values, 0, gap, share, weight) for values in (below, (*below, gap)))
    return max(abs(math.log(a / b)) for a, b in zip(ours, theirs, strict=True))


def test_the_price_of_one_key_would_lose_more_with_two():
    (one_key,), (two_keys,) = weights_of(SHARES["a tail"], ALL), weights_of(SHARES["a tail"], SWAPS_OF_GROUPS)
    assert one_key == Fraction(1, 2)
    assert two_keys == Fraction(5, 18)
    assert 2 * in_a_tail(two_keys) <= 1 + ROUNDING
    assert 2 * in_a_tail(one_key) > 1.5


def test_the_median_s_price_would_lose_more_in_a_tail_of_secret_size():
    (weight,) = weights_of(SHARES["a tail"], ONE_MORE)
    assert weight == Fraction(5, 9)
    assert 0.9 < in_a_tail(weight) <= 1 + ROUNDING
    assert in_a_tail(Fraction(1)) > 1.5


def test_weights_of_levels_follow_the_largest_part():
    parts = [Fraction(1, 8), Fraction(7, 8)]
    assert level_weight(parts, EPSILON, ONE_MORE) == Fraction(4, 7)
    assert level_weight(parts, EPSILON, SWAPS_OF_GROUPS) == Fraction(2, 7)
    assert level_weight(parts, EPSILON, Among("swap", 1)) == level_weight(parts, EPSILON)
    assert as_if_swapped((Fraction(1, 2),), EPSILON, ONE_MORE) == 2


BLOCK_VALUES = (None, 0, 1, 2, 3)


def drawn_depths(values, weight):
    """Of a block table: e^(weight depth) on a small grid; a block without a row lies on no side."""
    there = [v for v in values if v is not None]
    depths = [min(sum(v <= y for v in there), sum(v >= y for v in there)) for y in range(4)]
    chances = [math.exp(float(weight) * depth) for depth in depths]
    return {y: c / sum(chances) for y, c in enumerate(chances)}


def worst_block(weight):
    """One block's value becomes another, or is there no longer: what a record does in one group."""
    worst = 0.0
    for others in itertools.combinations_with_replacement(BLOCK_VALUES, 4):
        laws = [drawn_depths((*others, v), weight) for v in BLOCK_VALUES]
        worst = max(worst, *(largest_ratio(a, b) for a, b in itertools.permutations(laws, 2)))
    return worst


def test_blocks_of_all_groups_together_lose_at_most_epsilon():
    """A record that moves changes a block in each of two groups; one more or less changes a block of one."""
    moves = kappa(EPSILON, *depth_of_blocks(1), "swap", 2)
    assert 0.6 < 2 * worst_block(moves) <= 1 + ROUNDING
    assert 0.6 < worst_block(kappa(EPSILON, *depth_of_blocks(1), "add-remove", 2)) <= 1 + ROUNDING
    one_key = kappa(EPSILON, *depth_of_blocks(1), "swap", 1)  # the control
    assert 2 * worst_block(one_key) > 1.2


def test_rows_of_no_group_are_in_no_block():
    cells, numbers = np.array([[1.0], [2.0], [4.0], [8.0]]), np.array([0, 0, 1, 0])
    groups, order = np.array([0, -1, 1, 1]), np.array([3, 1, 0, 2])
    sums = drawn_block_table(cells, 2, numbers, order, lambda blocks: blocks.sum(axis=1), groups, 2)
    np.testing.assert_array_equal(sums[:, 0], [1.0, np.nan, 8.0, 4.0])


POINTS, MOST = 2, 9  # of a grid on a line, and rows of a group
THRESHOLD = 4


def rem_law(rows, epsilon, delta):
    """REM with the test for swaps: a row that is in another group, or in none, is a missing one here."""
    depth = np.array([min(sum(v <= y for v in rows), sum(v >= y for v in rows)) for y in range(POINTS)])
    part = epsilon / 4
    eta = (epsilon - part) / 2
    worst = [rem_oracle.worst_case(depth, THRESHOLD, eta, k) for k in range(THRESHOLD - 1)]
    chance = rem_oracle.graded(worst, part, epsilon, delta) if depth.max() >= THRESHOLD else 0.0
    return rem_oracle.outcome(depth, THRESHOLD, eta, chance)


def worst_move(epsilon, delta, total):
    """delta at epsilon `total` where a row leaves one group and comes to another: both groups' laws together."""
    tables = [t for n in range(MOST + 1) for t in itertools.combinations_with_replacement(range(POINTS), n)]
    laws = {t: rem_law(t, epsilon, delta) for t in tables}
    more = [(laws[tuple(sorted((*t, v)))], laws[t]) for t in tables if len(t) < MOST for v in range(POINTS)]
    more = [pair for pair in more if max(pair[0][:-1].max(), pair[1][:-1].max()) > 0]  # some may be released
    left = np.array([[a, b] for a, b in more])
    worst, growth = 0.0, math.exp(total)
    for b, a in more:  # the other group, which a row comes to
        ours = left[:, 0, :, np.newaxis] * a
        theirs = left[:, 1, :, np.newaxis] * b
        for one, other in ((ours, theirs), (theirs, ours)):
            worst = max(worst, float(np.maximum(one - growth * other, 0.0).sum(axis=(1, 2)).max()))
    return worst


def test_rem_has_half_of_epsilon_and_delta_in_each_of_two_groups():
    epsilon, delta = 4.0, 0.1
    share = float(share_of_group("swap", 2))
    assert share == 0.5
    assert worst_move(share * epsilon, share * delta, epsilon) <= delta
    assert worst_move(epsilon, delta, epsilon) > 1.1 * delta  # the control: one key's price with two


def test_a_charge_is_shared_out_among_groups_once():
    whole = ApproxDP(Fraction(2), Fraction(1, 100))
    moves = rehearsed_charge(whole, bytes(32))
    each = moves.by_group(3)
    assert [one.epsilon for one in each] == [1, 1, 1]
    assert {one.for_any_law().delta for one in each} == {Fraction(1, 200)}
    with pytest.raises(Misuse):
        moves.by_group(3)
    one_key = rehearsed_charge(whole, bytes(32)).by_group(1)
    assert [one.epsilon for one in one_key] == [2]
    one_more = rehearsed_charge(ApproxDP(2, "0.01", neighbours="add-remove"), bytes(32)).by_group(2)
    assert [one.epsilon for one in one_more] == [2, 2]
    keys = {one.for_any_law().key() for one in one_more}
    assert len(keys) == 2


@pytest.mark.parametrize(("neighbours", "scale"), [("swap", 10), ("add-remove", 5)])
def test_certificates_of_groups_have_the_noise_of_their_price(neighbours, scale, monkeypatch):
    """A row that moves may change the depths of two points by 1 each."""
    seen = []
    monkeypatch.setattr(certificate, "discrete_laplace", lambda scale, bits: seen.append(scale) or 0)
    x, groups = np.random.default_rng(1).normal(size=(60, 1)), np.arange(60) % 2
    asked = {"by": groups, "keys": [0, 1], "neighbours": neighbours, "randomness": td.seeded(1)}
    found = td.boxem(x, epsilon=1, bounds=(-5, 5), certify="0.2", **asked)
    assert seen == [scale, scale]
    assert all(one.certificate.noised >= 0 for one in found.values())


@pytest.mark.parametrize(("neighbours", "in_sampler"), [("swap", Fraction(1, 2)), ("add-remove", Fraction(1))])
def test_spreads_of_groups_have_the_exponent_of_their_price(neighbours, in_sampler, monkeypatch):
    seen = []
    draws = spread_step.octave_draws
    monkeypatch.setattr(
        spread_step, "octave_draws", lambda dealt, *given: seen.append(given[0]) or draws(dealt, *given)
    )
    x, size = np.random.default_rng(1).normal(size=(60, 1)), {"rows": 60} if neighbours == "add-remove" else {}
    asked = {"by": np.arange(60) % 2, "keys": [0, 1], "neighbours": neighbours, "randomness": td.seeded(1), **size}
    td.spread(x, epsilon=1, bounds=(-5, 5), **asked)
    assert seen == [in_sampler, in_sampler]


def test_counts_of_a_secret_number_of_rows_are_not_cut_off_at_it(monkeypatch):
    monkeypatch.setattr(grouped_sums, "discrete_laplace", lambda scale, bits: 50)
    x, asked = np.zeros((4, 1)), {"by": [0, 0, 1, 1], "keys": [0, 1], "counts": "0.1", "randomness": td.seeded(1)}
    swapped = td.boxem(x, epsilon=1, bounds=(-5, 5), **asked)
    assert dict(swapped.counts) == {"0": 4, "1": 4}
    secret = td.boxem(x, epsilon=1, bounds=(-5, 5), neighbours="add-remove", **asked)
    assert dict(secret.counts) == {"0": 52, "1": 52}


def test_a_person_s_rows_stay_in_one_block():
    ids = np.array([3, 3, 5, 8, 5, 5, np.nan])
    apart = Apart({"person": (ids, "id")}, {"person": ids.tolist()}, None, None)
    dealt = apart.dealt(7)
    assert dealt.n == 3
    assert [rows.tolist() for rows in dealt.rows] == [[0, 1], [2, 4, 5], [3]]
    assert dealt.places(np.array([2, 0])).tolist() == [3, 0, 1]


def test_answers_of_a_person_become_one_with_the_features():
    """Persons with two rows each: a line through their means is a line through all of them here, and n is persons."""
    rng = np.random.default_rng(2)
    means = rng.normal(size=2000)
    ids = np.repeat(np.arange(2000), 2)
    x = np.repeat(means, 2) + np.tile([1.0, -1.0], 2000)  # no slope within a person
    y = np.repeat(3 * means, 2)
    found = td.regression(x, y.tolist(), epsilon=4, bounds=(-9, 9), person=ids, randomness=td.seeded(1))
    assert found.n == 2000
    assert abs(found.point[1] - 3) < 0.2
    rows = td.regression(x, y, epsilon=4, bounds=(-9, 9), randomness=td.seeded(1))
    assert abs(rows.point[1] - 1.5) < 0.3


GROUPED = {
    "quantiles": {"q": [0.5]},
    "spread": {},
    "cube": {},
    "boxem": {"certify": "0.2"},
    "rem": {"bounds": None, "delta": 1e-3},
    "aggregate": {"statistic": lambda rows: np.nanmedian(rows, axis=0), "blocks": 40},
    "regression": {"bounds": (-9, 9), "blocks": 40},
}


def called(name, x, **asked):
    """Regressions have the first column for an answer; what has no bounds gets none."""
    given = {"bounds": (-9, 9), **asked, **GROUPED[name]}
    if given["bounds"] is None:
        given.pop("bounds")
    return getattr(td, name)(x, *([x[:, 0]] if name == "regression" else []), **given)


@pytest.mark.parametrize("neighbours", ["swap", "add-remove"])
@pytest.mark.parametrize("name", GROUPED)
def test_nothing_but_the_values_depends_on_who_is_in_which_group(name, neighbours):
    rng = np.random.default_rng(5)
    x, size = rng.normal(size=(600, 2)), {"rows": 600} if neighbours == "add-remove" else {}
    told = []
    for groups in (rng.integers(0, 2, 600), np.zeros(600, dtype=int), np.full(600, 7)):
        asked = {"by": groups, "keys": [0, 1], "neighbours": neighbours, "randomness": td.seeded(3), **size}
        found = called(name, x, epsilon=1, **asked)
        assert list(found) == ["0", "1"]
        told.append((found.settings, found.n, found.guarantee, found.caveats, found["0"].settings))
    assert told[0] == told[1] == told[2]
    assert (told[0][1] is None) == (neighbours == "add-remove")


@pytest.mark.parametrize("name", ["quantiles", "spread", "cube", "boxem", "rem", "aggregate"])
def test_persons_groups_and_secret_sizes_compose(name):
    rng = np.random.default_rng(6)
    ids = rng.permutation(np.repeat(np.arange(900), 2))
    x = rng.normal(5, 0.5, size=(1800, 2))
    asked = {"by": ids % 2, "keys": [0, 1], "person": ids, "neighbours": "add-remove", "rows": 900}
    found = called(name, x, epsilon=4, check=False, randomness=td.seeded(1), **asked)
    assert found.guarantee.neighbours == "add-remove-person"
    assert "persons" in str(found.caveats)
    expected = 5 if name != "spread" else 0.5 / math.sqrt(2)
    for group in found.values():
        value = group[0.5] if name == "quantiles" else group.point
        assert (np.abs(np.log2(value / expected)) < 1.5).all()
