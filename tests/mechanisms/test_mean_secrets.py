"""What a run of td.mean, td.cube and td.spread spends and which keys it uses, read off the run itself.

Every place where a secret is drawn or an epsilon is spent is listened to: keys are fresh, secret and used for one
thing, and the epsilons are those of the plan.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import tukeydp as td
from support.charges import charge
from support.listening import listen, listen_to_draws
from tukeydp.mechanisms import cliff, two_step
from tukeydp.mechanisms.mean_plans import CubeMean, SubsetMean
from tukeydp.mechanisms.mean_ways import ScaledMean, mean_plan
from tukeydp.trusted.bits import derived_key
from tukeydp.trusted.block_steps import SpreadPlan, SubsetPlan, spread_octaves
from tukeydp.trusted.rows import bounded_columns

WAYS = {
    "subset, three dealings": {"mechanism": "subset", "blocks": 20, "partitions": 3},
    "subset, shifted": {"mechanism": "subset", "sd": 1, "blocks": 150, "partitions": 4},
    "subset, single rows": {"mechanism": "subset", "blocks": 300},
    "two-step": {"mechanism": "two-step"},
    "two-step, known sd": {"mechanism": "two-step", "sd": 1},
    "cube": {"mechanism": "cube"},
}


def rows(n, d, seed=0):
    x = np.random.default_rng(seed).normal(size=(n, d))
    x[::5, 0] = np.nan
    return x


@pytest.fixture
def opened(monkeypatch):
    """Every (key, lane) that is read from, in turn."""
    return listen(monkeypatch)


def drawn_with(way, x, opened, public="public", secret="secret"):
    """The keys of a draw."""
    opened.clear()
    public, secret = derived_key(public), derived_key(secret)
    relative = x / 10
    if way == "spread":
        spread_octaves(relative, charge(1, secret), SpreadPlan(40), public)
    else:
        plan = mean_plan(len(x), bounded_columns(x.shape[1], (-10, 10)), Fraction(1), **WAYS[way])
        plan.draw(relative, public, charge(plan.epsilon, secret))
    return list(opened)


@pytest.mark.parametrize("d", [1, 2])
@pytest.mark.parametrize("way", [*WAYS, "spread"])
def test_no_lane_of_a_key_is_read_twice(way, d, opened):
    """Two steps, dealings or coins that share bits would not be independent."""
    lanes = drawn_with(way, rows(300, d), opened)
    assert len(lanes) == len(set(lanes))
    assert lanes


SHIFTED = SubsetPlan(100, 4, (2**8,), (0.1,))
AFTER_THE_SCALE = {
    "subset, shifted": SubsetMean(Fraction(1), SHIFTED),
    "two-step": mean_plan(3000, bounded_columns(1, (-10, 10)), Fraction(1), mechanism="two-step", sd=1),
    "windows": mean_plan(40, bounded_columns(1, (-10, 10)), Fraction(1), mechanism="two-step", sd=1),
    "cube": CubeMean(Fraction(1)),
}


@pytest.mark.parametrize("way", AFTER_THE_SCALE)
def test_the_scale_and_what_follows_share_no_lane_of_a_key(way, opened, monkeypatch):
    """Dealing, coins and draw of the scale besides the mean's own; none of the secret ones follows from public keys."""
    plan = AFTER_THE_SCALE[way]
    scaled = ScaledMean(Fraction(2), Fraction(1), (100.0,))
    monkeypatch.setattr(ScaledMean, "way", lambda self, n, widths: plan)
    found = {}
    for name, run in (("alone", plan), ("after", scaled), ("other", scaled)):
        opened.clear()
        key = derived_key("other" if name == "other" else "secret")
        run.draw(rows(300, 1) / 10, derived_key("public"), charge(run.epsilon, key))
        assert len(opened) == len(set(opened))
        found[name] = {key for key, _ in opened}
    of_scale = 3 + 1  # dealing, coins, draw; and public directions
    assert len(found["after"]) == len(found["alone"]) + of_scale
    public = found["after"] & found["other"]
    assert len(public) == 1 + (way not in ("cube", "windows"))


def test_shifts_have_a_key_for_each_dealing(opened):
    """Two dealings, each counted twice: a key for its order and one for its shifts, then coins and the draw."""
    keys = {}
    for secret in ("secret", "another"):
        opened.clear()
        SubsetMean(Fraction(1), SHIFTED).draw(rows(300, 1) / 10, derived_key("public"), charge(1, derived_key(secret)))
        assert len(opened) == len(set(opened))
        keys[secret] = {key for key, _ in opened}
    assert len(keys["secret"] - keys["another"]) == 2 * 2 + 2


def secret_steps(way):
    """Dealings, coins and a draw for each depth; one for each noise and for the radius. And how many depths."""
    if way == "cube":
        return 2, 0
    if way == "spread":
        return 3, 1
    if way == "two-step, known sd":
        return 3, 0  # a draw of windows and two noises, without directions
    plan = mean_plan(300, bounded_columns(1, (-10, 10)), Fraction(1), **WAYS[way]).plan
    if not hasattr(plan, "centre"):
        # Shifted, every second partition has no dealing but shifts.
        return (plan.partitions if plan.blocks < 300 else 0) + 2, 1
    dealings = plan.centre.partitions if plan.centre.blocks < 300 else 0
    return dealings + 2 + 3 * (plan.spread is not None) + 3, 1 + (plan.spread is not None)


@pytest.mark.parametrize("way", [*WAYS, "spread"])
def test_every_secret_step_has_a_key_of_its_own_from_the_secret_key_alone(way, opened):
    """The public key is for directions only: a key for each depth, whatever the secret one."""
    x = rows(300, 1)
    keys, other_public, other_secret = (
        {key for key, _ in drawn_with(way, x, opened, *names)}
        for names in (("public", "secret"), ("another", "secret"), ("public", "another"))
    )
    secret, public = keys & other_public, keys & other_secret
    assert (len(secret), len(public)) == secret_steps(way)
    assert keys == secret | public


@pytest.mark.parametrize("way", [*WAYS, "spread", "rem"])
def test_two_releases_have_no_key_in_common(way, opened):
    x, releases = rows(300, 1), []
    for _ in range(2):
        opened.clear()
        if way == "rem":
            td.mean(x, epsilon=1, delta=1e-6)
        elif way == "spread":
            td.spread(x, epsilon=1, bounds=(-10, 10))
        else:
            td.mean(x, epsilon=1, bounds=(-10, 10), **WAYS[way])
        releases.append({key for key, _ in opened})
    assert releases[0]
    assert not releases[0] & releases[1]


@pytest.mark.parametrize("way", WAYS)
def test_the_public_and_the_secret_key_are_two(way, monkeypatch):
    seen = []
    plan = mean_plan(300, bounded_columns(1, (-10, 10)), Fraction(1), **WAYS[way])

    def draw(self, relative, public_key, charge):
        seen.append((public_key, charge.cover(plan.guarantee) or charge._key()))
        return [Fraction(0)]

    monkeypatch.setattr(type(plan), "draw", draw)
    for _ in range(2):
        td.mean(rows(300, 1), epsilon=1, bounds=(-10, 10), **WAYS[way])
    assert len({key for keys in seen for key in keys}) == 4


def test_the_public_and_the_secret_key_of_a_spread_are_two(monkeypatch):
    seen = []
    monkeypatch.setattr(
        "tukeydp.mechanisms.spread.spread_octaves",
        lambda relative, charge, plan, public: seen.append((public, charge.for_bounded_range().key())) or np.zeros(1),
    )
    for _ in range(2):
        td.spread(rows(300, 1), epsilon=1, bounds=(-10, 10))
    assert len({key for keys in seen for key in keys}) == 4


@pytest.fixture
def spent(monkeypatch):
    return listen_to_draws(monkeypatch, two_step, "drawn_radii")


@pytest.mark.parametrize("epsilon", [Fraction(1), Fraction(1, 3)])
@pytest.mark.parametrize("way", WAYS)
def test_every_step_spends_its_own_epsilon_and_all_together_the_guarantee(way, epsilon, spent):
    x = rows(300, 2)
    release = td.mean(x, epsilon=epsilon, bounds=(-10, 10), randomness=td.seeded(1), **WAYS[way])
    part = release.settings.get
    expected = {
        "subset": [("means", epsilon / part("partitions", 1))],
        "cube": [("noise in 4", part("epsilon_missing")), ("noise in 2", part("epsilon_mean"))],
        "two-step": [
            ("means", part("epsilon_centre", 0) / part("partitions", 1)),
            *([("spread", part("epsilon_spread"))] if part("epsilon_spread") else []),
            ("radii", part("epsilon_radii")),
            ("noise in 2", part("epsilon_missing")),
            ("noise in 2", part("epsilon_mean")),
        ],
    }
    windows = [("deepest_cells", part("epsilon_windows")), ("noised_counts", part("epsilon_missing"))]
    expected["windows"] = [*windows, ("noised_sums", part("epsilon_mean"))]
    assert spent == expected["windows" if part("epsilon_windows") else release.mechanism]
    together = sum(e * (part("partitions", 1) if step == "means" else 1) for step, e in spent)
    assert together == epsilon == release.guarantee.epsilon


def test_the_spread_spends_its_epsilon(spent):
    release = td.spread(rows(300, 2), epsilon="0.3", bounds=(-10, 10), randomness=td.seeded(1))
    assert spent == [("spread", Fraction(3, 10))]
    assert release.guarantee == td.PureDP(Fraction(3, 10))


@pytest.mark.parametrize("way", [*WAYS, "spread"])
def test_how_many_directions_there_are_does_not_depend_on_missing_cells(way, monkeypatch):
    """The notion is chosen by the number of blocks, with those that turn out to be empty."""
    asked = []
    for name in ("drawn_notion", "chosen_notion"):
        chosen = getattr(cliff, name)
        monkeypatch.setattr(cliff, name, lambda *given, chosen=chosen: asked.append(given) or chosen(*given))
    seen = []
    for x in (np.zeros((300, 2)), np.full((300, 2), np.nan), rows(300, 2)):
        asked.clear()
        if way == "spread":
            td.spread(x, epsilon=1, bounds=(-10, 10), randomness=td.seeded(1))
        else:
            td.mean(x, epsilon=1, bounds=(-10, 10), randomness=td.seeded(1), **WAYS[way])
        seen.append(list(asked))
    assert seen[0] == seen[1] == seen[2]
