"""Oracles and samplers against enumeration, and runs of Algorithm 3: their law, and when they carry a guarantee."""

import json
import math
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

import tukeydp as td
from support import oracle as definition
from support.fit import FALSE_ALARM, g_test
from tukeydp.mcmc import HitAndRun, McmcVolumes
from tukeydp.paper import algorithm3 as oracles
from tukeydp.paper.algorithm3 import (
    BoxCounting,
    PublicSetting,
    Rejection,
    SamplingPromise,
    VolumePromise,
    approximate_boxem,
    approximate_rem,
    padded_levels,
)
from tukeydp.trusted.bits import derived_key
from tukeydp.trusted.rows import bounded_grid
from tukeydp.trusted.sampling import kept

DIRECTIONS = [(1, 0), (0, 1), (2, 1), (1, -3)]
ROWS = [(0, 0), (2, 1), (3, 4), (4, 1), (1, 3), (2, 2), (5, 0), None]


def small_sets(rows=ROWS, padding="1/4", highest=4):
    """A 6 x 6 grid, whose coordinates count from its middle, and a dataset on it."""
    grid = bounded_grid(2, bounds=(0, 5), resolution=1)
    cells = np.array([row for row in rows if row is not None]).reshape(-1, 2)
    snapped = grid.snap(cells.astype(float))
    sets = padded_levels(snapped, np.array(DIRECTIONS), grid, padding=Fraction(padding), highest=highest)
    return sets, [tuple(int(c) for c in row) for row in snapped]


def depths(rows, grid, directions):
    points = list(product(*(range(a, b + 1) for a, b in zip(grid.low.tolist(), grid.high.tolist(), strict=True))))
    if not rows:
        return points, np.zeros(len(points), dtype=int)
    return points, np.array([definition.depth(rows, y, directions) for y in points])


NO_ERROR = VolumePromise(Fraction(0), Fraction(0))


@dataclass(frozen=True)
class Enumeration:
    """Exact sizes of a small grid's levels, by definition; says that it proves (eta, beta), or nothing."""

    proves: VolumePromise | None = NO_ERROR
    remember: dict | None = None  # for many runs on the same data

    def promise(self, asked, setting):
        return self.proves

    def sizes(self, sets, asked, key):
        if self.remember is None:
            return self.counted(sets)
        if not self.remember:
            self.remember["sizes"] = self.counted(sets)
        return self.remember["sizes"]

    @staticmethod
    def counted(sets):
        def inside(levels):
            return levels.depths(
                np.array(list(product(*(range(a, b + 1) for a, b in zip(sets.grid.low, sets.grid.high, strict=True)))))
            )

        along = inside(sets.axes)
        both = np.minimum(along, inside(sets.levels))
        return [
            Fraction(int((both >= level).sum())) + sets.padding * int((along >= level).sum())
            for level in range(sets.highest + 1)
        ]


@pytest.mark.parametrize("rows", [ROWS, [(1, 1)] * 6, [], [(0, 0), (5, 5)]])
def test_sizes_by_definition(rows):
    sets, snapped = small_sets(rows)
    _, both = depths(snapped, sets.grid, DIRECTIONS)
    _, along = depths(snapped, sets.grid, [(1, 0), (0, 1)])
    exact = [int((both >= level).sum()) + Fraction(1, 4) * int((along >= level).sum()) for level in range(5)]
    asked = VolumePromise(Fraction(1, 20), Fraction(1, 10**7))
    assert Enumeration().sizes(sets, asked, bytes(32)) == exact
    counted = BoxCounting().sizes(sets, asked, derived_key("sizes"))
    assert counted[0] == exact[0]
    for size, true in zip(counted, exact, strict=True):
        assert (1 - asked.eta) * true <= size <= (1 + asked.eta) * true
    assert counted == BoxCounting(threads=3).sizes(sets, asked, derived_key("sizes"))


@pytest.mark.slow
def test_walks_and_counts_agree_on_a_fine_grid():
    """Volumes in place of counts: within 15 % of the counted sizes, in a notion without the axes."""
    grid = bounded_grid(3, bounds=(-8, 8), resolution="0.001")
    rows = grid.snap(np.random.default_rng(1).normal(size=(60, 3)))
    notion = td.Random(8, axes=False, seed=2)
    sets = padded_levels(rows, notion.on_grid(grid, bytes(32)), grid, padding=Fraction(1, 10), highest=20)
    asked = VolumePromise(Fraction(1, 20), Fraction(1, 10**6))
    counted = BoxCounting().sizes(sets, asked, derived_key("counted"))
    walked = McmcVolumes().sizes(sets, asked, derived_key("walked"))
    ratios = np.array([float(a / b) for a, b in zip(walked, counted, strict=True)])
    assert np.abs(ratios - 1).max() < 0.15
    assert np.abs(ratios[1:] * 1.3 - 1).min() > 0.15


def failures(points_divided_by, runs=400):
    """In how many runs some level of a sliver of a box is off by more than eta."""
    grid = bounded_grid(2, bounds=(0, 5), resolution=1)
    sets = padded_levels(
        np.array([grid.low + i for i in range(6)] * 2),
        np.array([[1, 0], [0, 1], [1, -1]]),
        grid,
        padding=Fraction(1, 10),
        highest=3,
    )
    asked = VolumePromise(Fraction(1, 2), Fraction(1, 10))
    exact = Enumeration().sizes(sets, asked, bytes(32))
    fewer = BoxCounting()

    def points(wanted, setting):
        return max(1, BoxCounting.points(wanted, setting) // points_divided_by)

    object.__setattr__(fewer, "points", points)
    bad = 0
    for run in range(runs):
        sizes = fewer.sizes(sets, asked, derived_key("coverage", run))
        bad += any(abs(v - true) > asked.eta * true for v, true in zip(sizes, exact, strict=True))
    return bad, runs


def test_coverage_of_the_counting_oracle():
    """The share of failures is at most beta = 1/10; with a thirtieth of the points it is shown to be more."""
    bad, runs = failures(1)
    assert binom.sf(bad - 1, runs, 0.1) > FALSE_ALARM
    assert bad < 0.1 * runs
    bad, runs = failures(30)
    assert binom.sf(bad - 1, runs, 0.1) < FALSE_ALARM


def test_the_number_of_points_does_not_depend_on_the_data(monkeypatch):
    drawn = []
    real = kept.count_inside

    def counted(*arguments):
        done, hits = real(*arguments)
        drawn.append(done)
        return done, hits

    monkeypatch.setattr(kept, "count_inside", counted)
    asked = VolumePromise(Fraction(1, 5), Fraction(1, 100))
    totals = set()
    for rows in (ROWS, [(1, 1)] * 9, [], [(0, 0), (5, 5)]):
        drawn.clear()
        BoxCounting(threads=1).sizes(small_sets(rows)[0], asked, bytes(32))
        totals.add(sum(drawn))
    assert totals == {4 * BoxCounting.points(asked, PublicSetting(4, Fraction(1, 4)))}


def test_a_lane_of_words_holds_a_point_in_any_dimension(monkeypatch):
    """With fewer words than columns in a lane, no point would ever be complete."""
    monkeypatch.setattr(oracles, "_LANE_WORDS", 1)
    sets, asked = small_sets()[0], VolumePromise(Fraction(1, 2), Fraction(1, 10))
    assert len(BoxCounting(threads=1).sizes(sets, asked, bytes(32))) == 5


@given(
    st.fractions(Fraction(1, 100), Fraction(9, 10)),
    st.fractions(Fraction(1, 10**6), Fraction(1, 2)),
    st.fractions(Fraction(1, 50), 3),
    st.integers(1, 500),
    st.fractions(0, 1, max_denominator=60),
)
def test_bernsteins_bound_is_met_by_the_number_of_points(eta, beta, padding, levels, share):
    """Whatever share of its box a level fills, Bernstein's bound on a wrong count is at most beta / levels."""
    points = BoxCounting.points(VolumePromise(eta, beta), PublicSetting(levels, padding))
    off = float(eta * (padding + share))
    bound = 2 * math.exp(-points * off**2 / (2 * (float(share * (1 - share)) + off / 3)))
    assert bound <= float(beta) / levels * (1 + 1e-9)


def test_points_of_a_padded_level_are_uniform():
    """Points of the level weigh 1 + padding, others of its box padding; without padding the law is another."""
    sets, snapped = small_sets()
    points, both = depths(snapped, sets.grid, DIRECTIONS)
    _, along = depths(snapped, sets.grid, [(1, 0), (0, 1)])
    level, padding = 2, 0.25
    asked = SamplingPromise(Fraction(0), Fraction(1, 10**9))
    counts = dict.fromkeys(points, 0)
    for run in range(6000):
        counts[tuple(Rejection().point(sets, level, asked, derived_key("point", run)))] += 1

    def p_value(weight):
        mass = (both >= level) + weight * (along >= level)
        return g_test(np.array(list(counts.values())), mass / mass.sum())

    assert p_value(padding) > FALSE_ALARM
    assert p_value(2 * padding) < FALSE_ALARM
    walked = [tuple(HitAndRun().point(sets, level, asked, derived_key("walk", run))) for run in range(20)]
    assert all(along[points.index(y)] >= level for y in walked)


def test_tries_are_enough():
    for zeta, padding in [("1e-9", "1/10"), ("0.5", "3"), ("1e-30", "1/1000")]:
        tries = Rejection.tries(SamplingPromise(Fraction(0), Fraction(zeta)), Fraction(padding))
        assert (1 + float(Fraction(padding))) ** -tries <= float(Fraction(zeta)) * (1 + 1e-9)
        assert (1 + float(Fraction(padding))) ** -(tries - 2) > float(Fraction(zeta))


def test_the_law_of_boxem():
    """With exact sizes the run is the exponential mechanism of the padded depth; other paddings are rejected."""
    rows = [row for row in ROWS if row is not None]
    epsilon, runs = 3, 1500
    source = td.seeded(1)
    released = [
        approximate_boxem(
            np.array(rows), epsilon=epsilon, delta="0.1", bounds=(0, 5), resolution=1, padding="1/2",
            depth=td.Directions(DIRECTIONS), oracle=Enumeration(), randomness=source,
        ).point
        for _ in range(runs)
    ]  # fmt: skip
    points = list(product(range(6), repeat=2))
    both = np.minimum([definition.depth(rows, y, DIRECTIONS) for y in points], len(rows) // 2)
    along = np.minimum([definition.depth(rows, y, [(1, 0), (0, 1)]) for y in points], len(rows) // 2)
    which = {y: i for i, y in enumerate(points)}
    counts = np.bincount([which[tuple(int(c) for c in y)] for y in released], minlength=36)

    def p_value(padding, rate):
        mass = np.exp(rate * both / 2) + padding * np.exp(rate * along / 2)
        return g_test(counts, mass / mass.sum())

    assert p_value(0.5, 0.9 * epsilon) > FALSE_ALARM
    assert p_value(0.5, 1.2 * epsilon) < FALSE_ALARM
    assert p_value(5.0, 0.9 * epsilon) < FALSE_ALARM


def rem_law(rows, n, t, epsilon, delta, padding, *, draw=1.0, test=1.0, more=0, lowest=None):
    """Probabilities of the 36 points and of a refusal by the paper's Algorithm 3 with exact sizes, from its text.

    For controls `draw` and `test` multiply its epsilons, `more` adds to the score, `lowest` replaces t in the draw.
    """
    points = list(product(range(6), repeat=2))
    both = np.minimum([definition.depth(rows, y, DIRECTIONS) for y in points], n // 2)
    along = np.minimum([definition.depth(rows, y, [(1, 0), (0, 1)]) for y in points], n // 2)
    size = [(both >= level).sum() + padding * (along >= level).sum() for level in range(n // 2 + 1)]
    eps_e, eps_p = 2 * epsilon / 5, epsilon / 6
    eta = math.tanh(epsilon / 40)
    limit = (1 - eta) / (1 + eta) * delta / (4 * math.exp(11 * epsilon / 20)) / (4 * math.exp(eps_e))
    passing = [
        k
        for k in range(t)
        for g in range(1, n // 2 - t - k)
        if size[t + k + g + 1] and size[t - k - 1] / size[t + k + g + 1] * math.exp(-g * eps_e / 2) <= limit
    ]
    score = max(passing, default=-1)
    short = math.ceil(math.log(1 / delta) / eps_p) - score - more

    def reaches(m):
        return math.exp(-eps_p * test * m) / (1 + math.exp(-eps_p * test)) if m >= 1 else 1 - reaches(1 - m)

    first = t if lowest is None else lowest
    mass = np.where(both >= first, np.exp(draw * eps_e * both / 2), 0.0)
    mass += padding * np.where(along >= first, np.exp(draw * eps_e * along / 2), 0.0)
    return np.append(reaches(short) * mass / mass.sum(), 1 - reaches(short)), score


CLUSTER = [
    (5, 0), (3, 2), (2, 2), (0, 2), (1, 5), (3, 2), (2, 2), (1, 2), (3, 2), (4, 2), (3, 5), (3, 2),
    (2, 3), (5, 2), (2, 4), (1, 2), (4, 3), (3, 3), (0, 4), (1, 0), (3, 3), (2, 1), (3, 2), (4, 3),
]  # fmt: skip


@pytest.mark.parametrize(
    ("rows", "t", "epsilon", "delta", "score", "controls"),
    [
        # Unsafe data, and a delta so large that they pass often: the draw has many levels to choose from.
        (CLUSTER, 6, 2.0, 0.9, -1, [{"draw": 2.0}, {"test": 6.0}, {"more": 1}, {"lowest": 5}, {"lowest": 0}]),
        # As safe as data can be: the test finds a score of 2, and the noise decides.
        pytest.param(
            *([(2, 1)] * 40, 3, 8.0, 0.1, 2, [{"test": 6.0}, {"more": 1}, {"more": -1}]), marks=pytest.mark.slow
        ),
    ],
)
def test_the_law_of_rem(rows, t, epsilon, delta, score, controls):
    """With exact sizes: how often it refuses, and which points it releases. Every other law is rejected."""
    source, runs = td.seeded(4), 1500
    once = Enumeration(remember={})
    outcomes = [
        approximate_rem(
            np.array(rows), epsilon=epsilon, delta=delta, bounds=(0, 5), resolution=1, padding="1/2", threshold=t,
            depth=td.Directions(DIRECTIONS), oracle=once, randomness=source,
        )
        for _ in range(runs)
    ]  # fmt: skip
    which = {y: i for i, y in enumerate(product(range(6), repeat=2))}
    cells = [which[tuple(int(c) for c in o.point)] if isinstance(o, td.Release) else 36 for o in outcomes]
    counts = np.bincount(cells, minlength=37)
    law, found = rem_law(rows, len(rows), t, epsilon, delta, 0.5)
    assert found == score
    assert g_test(counts, law) > FALSE_ALARM
    for control in controls:
        assert g_test(counts, rem_law(rows, len(rows), t, epsilon, delta, 0.5, **control)[0]) < FALSE_ALARM, control


def test_an_empty_lowest_level_is_refused_whatever_the_noise():
    """A twentieth of these tests pass by chance; an error, with nothing to draw from, would give the data away."""
    source = td.seeded(6)
    apart = [[0.0, 0.0]] * 4 + [[5.0, 5.0]] * 2 + [[math.nan, 1.0]] * 4
    for rows, threshold in (([[math.nan, 1.0]] * 8, 2), (apart, 5)):
        for _ in range(200):
            outcome = approximate_rem(
                np.array(rows), epsilon=8, delta="0.9", bounds=(0, 5), resolution=1, threshold=threshold,
                depth=td.Directions(DIRECTIONS), oracle=Enumeration(), randomness=source,
            )  # fmt: skip
            assert isinstance(outcome, td.Refused)
            assert outcome.guarantee is not None


def test_rem_releases_and_refuses():
    x = np.random.default_rng(1).normal(size=(260, 1))
    setting = {"epsilon": 8, "delta": "1e-3", "bounds": (-1000, 1000)}
    many = approximate_rem(x, **setting, randomness=td.seeded(1))
    assert isinstance(many, td.Release)
    assert many.guarantee == td.ApproxDP(8, Fraction(1, 1000))
    assert abs(many.point[0] - x.mean()) < 0.5
    for rows in (x[:8], np.zeros((200, 1)) * math.nan):
        few = approximate_rem(rows, **setting, randomness=td.seeded(2))
        assert isinstance(few, td.Refused)
        assert few.guarantee == td.ApproxDP(8, Fraction(1, 1000))
    assert isinstance(approximate_rem(x, **setting, threshold=260, randomness=td.seeded(3)), td.Refused)


@dataclass(frozen=True)
class Boasting(Rejection):
    """A sampler that promises what it likes."""

    claim: SamplingPromise | None = None

    def promise(self, asked, setting):
        return self.claim


WEAK_VOLUMES = VolumePromise(Fraction(1, 2), Fraction(0))
NEARLY_ENOUGH = VolumePromise(Fraction(6, 100), Fraction(0))  # asked for is 0.0499; the total cost would still fit
RARE_VOLUMES = VolumePromise(Fraction(0), Fraction(1, 5))
GOOD_POINTS = SamplingPromise(Fraction(0), Fraction(0))


@pytest.mark.parametrize(
    ("oracle", "sampler", "padding", "proven"),
    [
        (BoxCounting(), Rejection(), "1/4", True),
        (Enumeration(), Rejection(), "1/4", True),
        (Enumeration(), Boasting(claim=GOOD_POINTS), "0", True),
        (Enumeration(None), Rejection(), "1/4", False),
        (Enumeration(WEAK_VOLUMES), Rejection(), "1/4", False),
        (Enumeration(NEARLY_ENOUGH), Rejection(), "1/4", False),
        (Enumeration(RARE_VOLUMES), Rejection(), "1/4", False),
        (Enumeration(VolumePromise(Fraction(0), Fraction(2))), Rejection(), "1/4", False),
        (Enumeration(), Boasting(claim=None), "1/4", False),
        (Enumeration(), Boasting(claim=SamplingPromise(Fraction(1, 10), Fraction(0))), "1/4", False),
        (Enumeration(), HitAndRun(), "1/4", False),
        (McmcVolumes(), Rejection(), "1/4", False),
        (McmcVolumes(), HitAndRun(), "0", False),
        (BoxCounting(), Rejection(), "0", False),
    ],
)
@pytest.mark.parametrize("mechanism", [approximate_boxem, approximate_rem])
def test_a_guarantee_needs_both_promises(mechanism, oracle, sampler, padding, proven):
    x = np.array([row for row in ROWS if row is not None])
    outcome = mechanism(
        x, epsilon=2, delta="1e-2", bounds=(0, 5), resolution=1, depth=td.Directions(DIRECTIONS), padding=padding,
        oracle=oracle, sampler=sampler,
    )  # fmt: skip
    assert outcome.guarantee == (td.ApproxDP(2, Fraction(1, 100)) if proven else None)
    assert outcome.private is proven


@dataclass(frozen=True)
class Faulty(Enumeration):
    """An oracle that promises, and returns what `spoil` makes of the sizes; false, as containers may be."""

    spoil: str = "short"

    def __bool__(self):
        return False

    def sizes(self, sets, asked, key):
        exact = super().sizes(sets, asked, key)
        return {"short": exact[:-1], "negative": [*exact[:-1], -exact[-1] - 1], "float": [float(v) for v in exact]}[
            self.spoil
        ]


@pytest.mark.parametrize("mechanism", [approximate_boxem, approximate_rem])
def test_what_an_oracle_returns_is_checked(mechanism):
    x = np.array([row for row in ROWS if row is not None])
    setting = {"epsilon": 2, "delta": "1e-2", "bounds": (0, 5), "resolution": 1, "depth": td.Directions(DIRECTIONS)}
    with pytest.raises(td.ParameterError, match="oracle must give 4 sizes; got 3"):
        mechanism(x, **setting, oracle=Faulty(spoil="short"))
    # A bad run must not raise: whether there is one depends on the data. It is covered by beta.
    for spoil in ("negative", "float"):
        outcome = mechanism(x, **setting, oracle=Faulty(spoil=spoil))
        assert outcome.guarantee == td.ApproxDP(2, Fraction(1, 100))
        assert "Faulty" in outcome.settings["oracle"]


def test_the_outcome_says_how_it_came_about():
    x = np.array([row for row in ROWS if row is not None])
    setting = {"epsilon": 2, "delta": "1e-2", "bounds": (0, 5), "resolution": 1, "threshold": 2}
    proven = approximate_rem(x, **setting, padding="1/4")
    assert dict(proven.settings) == {
        "threshold": 2, "padding": Fraction(1, 4), "oracle": "BoxCounting(threads=None)", "sampler": "Rejection()",
    }  # fmt: skip
    assert proven.unproven is None
    without = approximate_rem(x, **setting, padding=0)
    assert without.unproven == "oracle or sampler"
    assert json.loads(json.dumps(without.to_dict()))["settings"]["padding"] == "0"
    with pytest.raises(td.ParameterError, match="guarantee must be None"):
        replace(without, guarantee=td.PureDP(1))


cell = st.sampled_from([0.0, 1.0, 2.5, 4.0, 5.0, 1e300, -math.inf, math.nan])


@settings(max_examples=20)
@given(st.lists(st.tuples(cell, cell), min_size=1, max_size=9))
def test_any_data_is_accepted(rows):
    for mechanism in (approximate_boxem, approximate_rem):
        for oracle, sampler in ((BoxCounting(threads=1), Rejection()), (McmcVolumes(), HitAndRun())):
            outcome = mechanism(
                np.array(rows), epsilon=20, delta="0.5", bounds=(0, 5), depth=td.Random(3, seed=1), padding=1,
                oracle=oracle, sampler=sampler,
            )  # fmt: skip
            if outcome.released:
                assert ((outcome.point >= 0) & (outcome.point <= 5)).all()


def test_parameters_are_checked():
    x = np.zeros((4, 2))
    plain = {"epsilon": 1, "delta": "0.1", "bounds": (0, 5), "resolution": 1}
    for wrong, words in [
        ({"padding": -1}, "padding"),
        ({"depth": td.Exact()}, "depth"),
        ({"delta": 1}, "delta"),
        ({"epsilon": 0}, "epsilon"),
    ]:
        for mechanism in (approximate_boxem, approximate_rem):
            with pytest.raises(td.ParameterError, match=words):
                mechanism(x, **(plain | wrong))
    for threshold in (0, 5, 1.5, True):
        with pytest.raises(td.ParameterError, match="threshold"):
            approximate_rem(x, **plain, threshold=threshold)
