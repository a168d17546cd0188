"""Which keys are used for what: nothing but directions may hang on the public one, and no two steps share bits."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import tukeydp as td
from support.grids import centred_grid
from support.hints import Garbage
from support.listening import listen, with_keys
from tukeydp.hints import planner
from tukeydp.trusted import exponential
from tukeydp.trusted.bits import derived_key
from tukeydp.trusted.boxes import Box
from tukeydp.trusted.exact.deciding import GridDepth
from tukeydp.trusted.levels import level_sets
from tukeydp.trusted.sampling.draws import DepthSampler, Sampler

X = np.random.default_rng(0).normal(size=(300, 2))
RUNS = {
    "boxem": lambda: td.boxem(X, epsilon=1, bounds=(-10, 10), depth=td.Random(8)),
    "rem": lambda: td.rem(X, epsilon=1, delta=1e-6, depth=td.Random(8)),
}
# A key for the directions, then one for the draw, then REM's coin.
KEYS = {"boxem": 2, "rem": 3}


@pytest.fixture
def opened(monkeypatch):
    return listen(monkeypatch)


@pytest.mark.parametrize("name", RUNS)
def test_no_lane_of_a_key_is_read_twice(name, opened, monkeypatch):
    """The coin, the directions and the draw are independent only if they share no bits."""
    given = with_keys(monkeypatch, range(10))
    assert RUNS[name]().released
    assert len(opened) == len(set(opened))
    assert len(given) == len(set(given)) == KEYS[name]
    assert {key for key, _ in opened} == set(given)


@pytest.mark.parametrize("name", RUNS)
def test_directions_hang_on_the_public_key_and_the_point_on_the_secret_one(name, monkeypatch):
    """Directions are published: whoever can compute a secret key from them, or test a guess, knows the draw."""
    places = range(KEYS[name])

    def run(changed):
        with pytest.MonkeyPatch.context() as patch:
            with_keys(patch, [(i, i == changed) for i in places])
            release = RUNS[name]()
        return np.array(release.directions), release.point

    directions, point = run(None)
    for place in places:
        other_directions, other_point = run(place)
        assert np.array_equal(directions, other_directions) == (place != 0)
        if place == 1:
            assert not np.array_equal(point, other_point)


@pytest.mark.parametrize("name", RUNS)
def test_two_releases_have_no_key_in_common(name, opened):
    RUNS[name]()
    first = set(opened)
    opened.clear()
    RUNS[name]()
    assert first
    assert not first & set(opened)


MANY = np.random.default_rng(1).normal(size=(2000, 2))
SHARES = np.column_stack([MANY, MANY[:, 0] > 0])
STEPS = {
    "a point and its certificate": lambda: td.boxem(X, epsilon=1, bounds=(-10, 10), certify=0.2),
    "quantiles of two columns": lambda: td.quantiles(X, epsilon=1, bounds=(-10, 10)),
    "a mean and its interval": lambda: td.mean(MANY, epsilon=1, bounds=(-10, 10), confidence=0.95),
    "the parts of a summary": lambda: td.summary(
        SHARES, epsilon=2, bounds=([-10, -10, 0], [10, 10, 1]), confidence=None
    ),
}


@pytest.mark.parametrize("name", STEPS)
def test_steps_of_one_release_share_no_bits_and_no_key_is_known_beforehand(name, opened):
    """Every lane is read once, and by no other run: noise that comes twice, or that anyone can compute, hides nothing.

    A key that collides by chance: never, in 2^256.
    """
    runs = []
    for _ in range(2):
        opened.clear()
        STEPS[name]()
        runs.append(list(opened))
    assert min(map(len, runs)) > 1
    assert len(set(runs[0])) == len(runs[0])
    assert {key for key, _ in runs[0]}.isdisjoint(key for key, _ in runs[1])


def test_the_lane_of_a_refuted_proposal_is_never_read_again(opened, monkeypatch):
    """Exact depth: what was refuted has shown its bits, and a draw from them would not be independent of that."""
    far = 10**6
    rows = np.random.default_rng(1).integers(-far // 2, far // 2, size=(25, 3))
    refuted, refute = [], GridDepth.refute

    def counted(self, *arguments, **options):
        found = refute(self, *arguments, **options)
        refuted.append(found is not None)
        return found

    monkeypatch.setattr(GridDepth, "refute", counted)
    for i in range(20):
        prepared = td.Exact().prepare(rows, centred_grid(far, 3), bytes(32))
        opened.clear()
        DepthSampler(prepared, within=Box((-far,) * 3, (far,) * 3), epsilon=Fraction(5)).draw(derived_key("again", i))
        assert len(opened) == len(set(opened))
    assert sum(refuted) > 5


@pytest.mark.parametrize("threads", [1, 3])
def test_lanes_of_one_draw_are_each_read_once(threads, opened, monkeypatch):
    """Many short lanes: words of their own and spare bits of their own."""
    monkeypatch.setattr(exponential, "_LANE_WORDS", (40,))
    monkeypatch.setattr(planner, "_FEW_STEPS", 0)  # no settling: it would end the search in the first lane
    rows = np.random.default_rng(2).integers(0, 9, size=(30, 2))
    levels = level_sets(rows, np.array([(2, 1), (1, 2), (3, -1)]))
    within, lanes = Box((-60, -60), (60, 60)), []
    for i in range(20):
        sampler = Sampler(levels, within=within, epsilon=Fraction(1), hints=Garbage(levels), threads=threads)
        opened.clear()
        sampler.draw(derived_key("many", i))
        assert len(opened) == len(set(opened))
        lanes.append(len(opened))
    assert max(lanes) >= 6
