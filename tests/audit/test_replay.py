"""Every public call, replayed on neighbours of its table, and the same on broken calls, which must fail.

What is run is the audit's check (`tukeydp.audit.checks.whole_calls`), call by call.
"""

from __future__ import annotations

import inspect
import itertools
import math
import re
import sys
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from support.charges import charge
from support.leaks import public_mechanisms
from tukeydp.audit.check import Tally
from tukeydp.audit.checks.whole_calls import examine, told
from tukeydp.audit.oracles.laws import depth
from tukeydp.audit.replay import CALLS, CoinLaw, DepthLaw, LawOfRanks, NoiseLaw, RadiiLaw, of_a_test
from tukeydp.mechanisms import block_release, clipped_mean, grouped_centre, mean_of_secret_size, readable_check
from tukeydp.mechanisms import boxem as boxem_module
from tukeydp.mechanisms import regression as regression_module
from tukeydp.mechanisms import rem as rem_module
from tukeydp.mechanisms.clipped_sum import CountedMean, within_bounds
from tukeydp.mechanisms.mean_ways import ScaledMean
from tukeydp.mechanisms.per_person import of_persons
from tukeydp.trusted import block_steps as subset_means
from tukeydp.trusted import clipped_sums as clipped_sum
from tukeydp.trusted import clipped_sums as counted_mean
from tukeydp.trusted import prices, steps
from tukeydp.trusted import ranks as quantile_levels
from tukeydp.trusted import release as trusted
from tukeydp.trusted import steps as group_counts
from tukeydp.trusted.account import Concentrated, PureDP
from tukeydp.trusted.bits import Keystream, derived_key
from tukeydp.trusted.blocks import block_table
from tukeydp.trusted.ranks import EVERY_POINT
from tukeydp.trusted.release import Misuse

SEED = 7


def replay(name, quick=True, seed=SEED):
    whole, tally = CALLS[name], Tally(bound=1.0 + 1e-9)
    for i, family in enumerate(whole.families(np.random.default_rng(seed))):
        if family.quick or not quick:
            examine(name, whole, family, seed + i, tally)
    return tally.result()


@pytest.mark.parametrize("name", CALLS)
def test_a_neighbour_is_told_apart_by_no_more_than_is_stated(name):
    found = replay(name)
    assert found.failures == ()
    assert found.worst <= found.bound


@pytest.mark.slow
@pytest.mark.parametrize("name", CALLS)
def test_the_same_on_more_tables(name):
    for seed in range(100, 104):
        found = replay(name, quick=False, seed=seed)
        assert found.failures == ()
        assert found.worst <= found.bound


def test_every_public_mechanism_is_called():
    """One that is added must be added to `tukeydp.audit.replay.CALLS` too."""
    words = {re.split("[, ]", name)[0] for name in CALLS}
    assert {name for name in public_mechanisms() if name.strip("_") not in words} == set()


# What no call here gives: who pays and what is drawn from are the replay's own; unproven runs have no guarantee;
# padding draws nothing (tests/test_padding.py); a check is made before the mechanism is called, and has its own calls.
OTHERWISE = {"accountant", "randomness", "unproven", "pad_to", "check"}


class Paying(Exception):
    pass


class Stopping:
    """An account at which every call ends: options are read before it, and cells after it."""

    def require(self, *_, **__):
        pass

    def spend(self, *_, **__):
        raise Paying


OF_PERSONS = {code for code in of_persons.__code__.co_consts if getattr(code, "co_name", "") == "run"}


def options_given(calls):
    """For each mechanism the options that some call gives another value than the default."""
    mechanisms = {inspect.unwrap(one).__code__: inspect.unwrap(one) for one in public_mechanisms().values()}
    found = {one.__name__: set() for one in mechanisms.values()}

    def called(frame, event, _):
        if event != "call":
            return
        one = mechanisms.get(frame.f_code)
        if frame.f_code in OF_PERSONS:  # where `person` and `per_person` end
            one = inspect.unwrap(frame.f_locals["mechanism"])
        if one is None or one.__name__ not in found:  # a part of a mechanism, whose own call tells all options
            return
        for name, option in inspect.signature(one).parameters.items():
            if repr(frame.f_locals.get(name, option.default)) != repr(option.default):
                found[one.__name__].add(name)

    for whole in calls:
        table = whole.families(np.random.default_rng(SEED))[0].x
        sys.setprofile(called)
        try:
            with suppress(Paying):
                whole.call(table, Stopping())
        finally:
            sys.setprofile(None)
    return found


def options_of(name):
    (one,) = (f for f in map(inspect.unwrap, public_mechanisms().values()) if f.__name__ == name)
    return set(inspect.signature(one).parameters) - OTHERWISE


def test_every_option_of_every_mechanism_is_given_by_some_call():
    given = options_given(CALLS.values())
    assert {name: left for name in given if (left := options_of(name) - given[name])} == {}
    checked = {name for name, one in public_mechanisms().items() if "check" in inspect.signature(one).parameters}
    # Of regression it is looked at by tests/audit/test_readable_check.py alone; counts refuse one.
    unchecked = {name for name in checked if f"{name} of a checked file, a share allowed" not in CALLS}
    assert unchecked == {"regression", "counts"}
    # The control: without the one call that has a threshold, rem lacks one.
    assert "threshold" not in options_given(w for n, w in CALLS.items() if n != "rem with a threshold")["rem"]


# Controls: broken calls. Each is what its call does, but for one thing.


def fails(name, words=None):
    """By words, or by what it costs."""
    found = replay(name)
    assert not found.passed
    if words is None:
        assert found.worst > 1.01
    else:
        assert any(words in one for one in found.failures), found.failures


class TestControls:
    def test_half_the_sensitivity(self, monkeypatch):
        noised = clipped_sum.noised_mean
        monkeypatch.setattr(
            clipped_sum,
            "noised_mean",
            lambda sums, n, where, given: noised(sums, n, where, charge(2 * given.epsilon, given.for_any_law().key())),
        )
        fails("cube with a fill")

    def test_a_share_that_is_spent_twice(self, monkeypatch):
        """Two percent of epsilon, those for the scale, are left to the mean as well: the charge does not cover them."""
        of_rest = ScaledMean.way
        monkeypatch.setattr(ScaledMean, "way", lambda self, *given: of_rest(replace(self, scale=Fraction(0)), *given))
        with pytest.raises(Misuse, match="does not cover"):
            replay("mean")

    def test_less_rho_than_a_draw_costs(self, monkeypatch):
        def half(epsilon, neighbours):
            return PureDP(epsilon, neighbours=neighbours, zcdp=Concentrated(epsilon**2 / 16))

        monkeypatch.setattr(boxem_module, "bounded_range", half)
        with pytest.raises(Misuse, match="does not cover"):
            replay("boxem")

    def test_a_constant_key(self, monkeypatch):
        monkeypatch.setattr(
            trusted,
            "derived_key",
            lambda *parts: derived_key("missing", 3000) if "missing" in parts else derived_key(*parts),
        )
        fails("summary", "a key that is known beforehand")

    def test_the_key_of_the_directions(self, monkeypatch):
        source = boxem_module.source

        def the_same_again(given):
            found = source(given)
            first = found.key()
            found.key = lambda: first
            return found

        monkeypatch.setattr(boxem_module, "source", the_same_again)
        with pytest.raises(Misuse, match="handed out once"):
            replay("boxem")
        monkeypatch.setattr(trusted._Keys, "leave", lambda self, key: key)
        fails("boxem", "a key that public directions hang on")

    @pytest.mark.parametrize("name", ["quantiles", "mean with interval", "boxem, certified"])
    def test_one_key_for_two_draws(self, name, monkeypatch):
        """Columns, steps of a mean, point and certificate: the key of one of them for both. No run hands it out."""
        monkeypatch.setattr(trusted, "derived_key", lambda *parts: parts[-1])
        with pytest.raises(Misuse, match="handed out once"):
            replay(name)
        monkeypatch.setattr(trusted._Keys, "leave", lambda self, key: key)
        fails(name, "two secrets have one key")

    def test_a_count_without_noise(self, monkeypatch):
        monkeypatch.setattr(group_counts, "discrete_laplace", lambda scale, bits: 0)
        fails("boxem by groups with counts", "the result tells two tables apart")

    def test_a_count_without_noise_where_there_is_no_row(self, monkeypatch):
        noised = grouped_centre.noised_group_counts

        def counts(groups, count, charge):
            return [c if (groups == g).any() else 0 for g, c in enumerate(noised(groups, count, charge))]

        monkeypatch.setattr(grouped_centre, "noised_group_counts", counts)
        fails("boxem by groups with counts", "the result tells two tables apart")

    def test_weights_from_exact_counts(self, monkeypatch):
        def draw(self, relative, public_key, charge):
            d = relative.shape[1]
            exact = counted_mean.counted_sums(relative, self.fill)
            bits = charge.for_any_law().bits("step")
            noise = counted_mean.cube_noise(self.coordinates(d), counted_mean._HALF / self.epsilon, bits)
            noised = [s + z for s, z in zip(exact, noise, strict=True)]
            return within_bounds([Fraction(s, max(w, 1)) for s, w in zip(noised[:d], exact[d:], strict=True)])

        monkeypatch.setattr(CountedMean, "draw", draw)
        fails("cube, add-remove", "the result tells two tables apart")

    def test_noise_that_is_drawn_and_not_used(self, monkeypatch):
        def exact(counts, charge):
            paid = charge.for_any_law()
            steps.cube_noise(2, 1 / paid.epsilon, paid.bits())
            return counts

        monkeypatch.setattr(readable_check, "noisy_counts", exact)
        fails("boxem of a checked file", "noise is drawn and not used")

    def test_noise_that_serves_twice(self, monkeypatch):
        def counts(counts, charge):
            paid = charge.for_any_law()
            (noise,) = steps.cube_noise(1, 1 / paid.epsilon, paid.bits())
            return [count + noise for count in counts]

        monkeypatch.setattr(clipped_mean, "noised_counts", counts)
        fails("summary", "noise is used for something else")

    def test_rows_dealt_by_their_values(self, monkeypatch):
        def dealt(relative, plan, key):
            by_value = np.argsort(relative[:, 0], kind="stable")
            return block_table(relative, plan.blocks, by_value, subset_means.corrected_means)

        monkeypatch.setattr(subset_means, "_dealt_means", dealt)
        fails("mean, subset in one column")

    def test_a_plan_from_the_true_number_of_rows(self, monkeypatch):
        """As if the public number of rows were forgotten where blocks are planned."""
        monkeypatch.setattr(mean_of_secret_size.Relation, "size", lambda self, table: table.n)
        fails("boxem in one column, add-remove", "rehearsal")

    def test_a_charge_that_is_not_what_is_stated(self, monkeypatch):
        monkeypatch.setattr(readable_check, "Together", lambda accountant, own, about: accountant)
        fails("boxem of a checked file", "what is charged is not what the release states")

    def test_a_secret_before_it_is_paid_for(self, monkeypatch):
        charged = boxem_module.reserve

        def late(*given, **options):
            Keystream(derived_key("early"))
            return charged(*given, **options)

        monkeypatch.setattr(boxem_module, "reserve", late)
        fails("boxem", "something secret is drawn before it is paid for")

    def test_a_field_that_tells(self, monkeypatch):
        whole = CALLS["cube"]

        def call(x, account):
            outcome = whole.call(x, account)
            return replace(outcome, settings={**outcome.settings, "missing": int(np.isnan(x).sum())})

        monkeypatch.setitem(CALLS, "cube", replace(whole, call=call))
        fails("cube", "came out alike for: settings.missing")

    def test_an_error_of_one_table(self, monkeypatch):
        whole = CALLS["median on a coarse grid"]

        def call(x, account):
            if np.isinf(x).any():
                raise ValueError
            return whole.call(x, account)

        monkeypatch.setitem(CALLS, "median on a coarse grid", replace(whole, call=call))
        fails("median on a coarse grid", "it raises ValueError")


# The laws, by definition.


def listed(law, points):
    weights = [math.exp(law.weight * t) for t in points]
    return [w / sum(weights) for w in weights]


def test_depth_on_a_small_grid_by_definition():
    directions = np.array([[1, 0], [0, 1], [1, 2]])
    rows = [np.array(r) for r in ([[0, 0], [2, 1], [1, 2], [2, 2]], [[0, 0], [2, 1], [1, 2], [0, 2]])]
    ours, theirs = (DepthLaw(r, directions, (0, 0), (2, 2), Fraction(3, 4), 0, None) for r in rows)
    points = list(itertools.product(range(3), repeat=2))
    chances = [
        listed(ours, [depth(list(map(tuple, r.tolist())), y, directions.tolist()) for y in points]) for r in rows
    ]
    expected = max(abs(math.log(a / b)) for a, b in zip(*chances, strict=True))
    assert ours.exact(theirs) == pytest.approx(expected, abs=1e-12)
    assert ours.loss(theirs).pure == Fraction(3, 2) >= expected > 0.1


def test_ranks_by_definition():
    values = [np.array(v) for v in ([2, 5, 5, 9, 14], [2, 5, 9, 9, 14])]
    ours, theirs = (LawOfRanks(v, 0, 20, Fraction(1, 3), Fraction(1, 2), EVERY_POINT) for v in values)

    def law(v):
        def distance(y):
            return max(0, len(v) / 3 - (v <= y).sum(), (v < y).sum() - len(v) / 3)

        weights = [math.exp(-distance(y) / 2) for y in range(21)]
        return [w / sum(weights) for w in weights]

    expected = max(abs(math.log(a / b)) for a, b in zip(*map(law, values), strict=True))
    assert ours.exact(theirs) == pytest.approx(expected, abs=1e-12)
    assert ours.loss(theirs).pure == 1 >= expected > 0.1


def test_radii_and_noise_by_definition():
    ours, theirs = (RadiiLaw(np.array(b), Fraction(1, 2), (3, 2, 1)) for b in ([[4, 2, 0]], [[5, 2, 0]]))
    chances = []
    for beyond in ((4, 2, 0), (5, 2, 0)):
        weights = [w * math.exp(-b / 2) for w, b in zip((3, 2, 1), beyond, strict=True)]
        chances.append([w / sum(weights) for w in weights])
    expected = max(abs(math.log(a / b)) for a, b in zip(*chances, strict=True))
    assert ours.exact(theirs) == pytest.approx(expected, abs=1e-12)
    assert ours.loss(theirs).pure == 1
    cube = [NoiseLaw(Fraction(4), False, centre) for centre in ([0, 0], [3, -1])]
    assert cube[0].loss(cube[1]).pure == Fraction(3, 4)
    gaussian = [NoiseLaw(Fraction(2), True, centre) for centre in ([0, 0], [3, -1])]
    assert gaussian[0].loss(gaussian[1]).squares == Fraction(10, 4)


def test_a_coin_and_the_draw_after_it_by_definition():
    rows = [np.array(r)[:, np.newaxis] for r in ([1, 3, 3, 4], [1, 3, 3, 9])]
    laws = tuple(DepthLaw(r, np.array([[1]]), (0,), (9,), Fraction(1), 2, None) for r in rows)
    coins = CoinLaw(0.4, 0.4), CoinLaw(0.5, 0.5)
    # Depth 2 at 3 alone in the one, from 3 on in neither: {3} and {3}; all of the mass is on it.
    forth, back = of_a_test(coins, laws, 0.1)
    growth = math.exp(0.1)
    assert forth == pytest.approx(max(0, 0.4 - growth * 0.5) + max(0, 0.6 - growth * 0.5))
    assert back == pytest.approx(max(0, 0.5 - growth * 0.4) + max(0, 0.5 - growth * 0.6))


def test_what_a_result_holds_is_found_in_functions_too():
    cell = 3.5

    def holds(value):
        return lambda: value

    assert told(holds(cell)) == told(holds(cell)) != told(holds(4.5))
    assert told({"a": [np.array([cell])]}) != told({"a": [np.array([4.5])]})


@pytest.mark.parametrize(
    "name", ["regression by groups", "aggregate by groups", "quantiles by groups", "rem by groups"]
)
def test_the_price_of_one_key_with_two_is_noticed(name, monkeypatch):
    of_parts = prices.kappa_of_parts
    for module in (trusted, block_release, regression_module, rem_module):
        monkeypatch.setattr(module, "share_of_group", lambda relation, keys: Fraction(1))
    monkeypatch.setattr(quantile_levels, "kappa_of_parts", lambda epsilon, parts, *_: 2 * of_parts(epsilon, parts))
    fails(name, "more than" if name == "rem by groups" else None)
