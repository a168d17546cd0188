"""The sampler's law against the exact distribution, on tiny grids, for every way of running it."""

from __future__ import annotations

import itertools
import math
import time
from fractions import Fraction

import numpy as np
import pytest

import tukeydp as td
from support import oracle
from support.covers import replan
from support.fit import FALSE_ALARM, g_test
from support.hints import Garbage
from support.tiny_plane import DEPTHS, DIRECTIONS, PLANE, ROWS
from tukeydp.hints import boxes as boxes_module
from tukeydp.hints import planner, slices
from tukeydp.hints.envelope import Envelope
from tukeydp.trusted import covers as covers_module
from tukeydp.trusted import exponential
from tukeydp.trusted.bits import derived_key
from tukeydp.trusted.boxes import Box, Union
from tukeydp.trusted.covers import Covers
from tukeydp.trusted.laws import Group
from tukeydp.trusted.levels import level_sets
from tukeydp.trusted.sampling import draws as sampler_module
from tukeydp.trusted.sampling.draws import Sampler

WITHIN = Box((0, 0), (4, 4))
EPSILON = Fraction(3, 2)
DRAWS = 20_000


def pmf(epsilon=EPSILON, lowest=0, law=oracle.law):
    kept = [t for t in DEPTHS if t >= lowest]
    probabilities = iter(law(kept, Fraction(math.exp(epsilon / 2))))
    return np.array([float(next(probabilities)) if t >= lowest else 0.0 for t in DEPTHS])


def counts(draw):
    tally = dict.fromkeys(PLANE, 0)
    for i in range(DRAWS):
        tally[tuple(draw(derived_key("law", i)))] += 1
    return np.array([tally[y] for y in PLANE])


def assert_follows(observed, lowest=0):
    assert g_test(observed, pmf(lowest=lowest)) > FALSE_ALARM
    # The same test tells a slightly wrong law apart.
    assert g_test(observed, pmf(epsilon=EPSILON * Fraction(5, 4), lowest=lowest)) < FALSE_ALARM


def make(**options):
    levels = level_sets(np.array(ROWS), np.array(DIRECTIONS), lowest=options.pop("held", 1))
    if options.pop("garbage", False):
        options["hints"] = Garbage(levels)
    return Sampler(levels, within=WITHIN, epsilon=EPSILON, **options)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"garbage": True},
        # Only six bits of a word count, so most levels are drawn in big integers.
        {"word_bits": 6},
        {"word_bits": 1, "garbage": True},
        # Only the two ranks in the middle are known at first.
        {"held": 4, "garbage": True},
    ],
    ids=["plain", "garbage hints", "undecided words", "undecided words and garbage hints", "few ranks held"],
)
def test_draws_follow_the_exponential_mechanism(options):
    observed = counts(make(**options).draw)
    assert_follows(observed)
    assert g_test(observed, pmf(law=oracle.misprinted_law)) < FALSE_ALARM


def slice_everything(monkeypatch, overlap=0):
    """Cut every box in two, whether it pays off or not; with `overlap`, wrongly."""
    monkeypatch.setattr(slices, "_SLICES", 2)

    def cut(self, lowest, *_):
        for level in self.covers:
            if level > lowest and level not in self._slices:
                self._slices[level] = slices.slices(self._certifier, self._parts(level), 0)

    def parts(self, level):
        return self._slices.get(level) or slices.Sliced(self._best(level), (0,))

    made = Covers._made

    def overlapping(self, level, parts, hull):
        wider = [Box((part.low[0] - overlap, *part.low[1:]), part.high) for part in parts[1:] if part.size]
        return made(self, level, [*parts[:1], *wider] if len(parts) > 1 else parts, hull)

    if overlap:
        monkeypatch.setattr(Covers, "_made", overlapping)

    monkeypatch.setattr(Envelope, "slice", cut)
    monkeypatch.setattr(Envelope, "_parts", parts)  # even if the box is smaller


@pytest.mark.parametrize("options", [{}, {"garbage": True}, {"lowest": 1}], ids=["plain", "garbage", "restricted"])
def test_slices_leave_the_law_alone(options, monkeypatch):
    slice_everything(monkeypatch)
    sampler = make(**options)
    assert len(sampler._draws._search._boxes) > len(sampler._planner._envelope.boxes) + 1 - ("lowest" in options)
    assert_follows(counts(sampler.draw), lowest=options.get("lowest", 0))


def test_slices_that_overlap_would_be_noticed(monkeypatch):
    slice_everything(monkeypatch, overlap=1)
    assert g_test(counts(make().draw), pmf()) < FALSE_ALARM


def branch_everything(monkeypatch, steps):
    """Draw from a tree of so many steps from the first proposal on, whether that pays off or not."""
    monkeypatch.setattr(Envelope, "branched", lambda self, lowest: self.tree is not None)
    monkeypatch.setattr(planner, "_EASY", 0.5)
    monkeypatch.setattr(sampler_module.Sampler, "__init__", _started_harder(sampler_module.Sampler.__init__, steps))


def _started_harder(init, steps):
    def start(self, levels, **options):
        init(self, levels, **options)
        self._planner._envelope.branch(self._draws._lowest, 0.75, steps, 0.0)
        assert self._planner._envelope.tree is not None
        self._draws._rungs = self._planner._envelope.rungs(self._draws._lowest)
        self._draws._search = self._draws._searching()

    return start


OPTIONS = [{}, {"word_bits": 4}, {"held": 4}, {"lowest": 1}]
NAMES = ["plain", "undecided words", "few ranks held", "restricted"]


@pytest.mark.parametrize("steps", [3, 60])
@pytest.mark.parametrize("options", OPTIONS, ids=NAMES)
def test_branches_leave_the_law_alone(options, steps, monkeypatch):
    branch_everything(monkeypatch, steps)
    options = dict(options)
    sampler = make(**options)
    assert any(isinstance(box, Union) for box in sampler._draws._search._boxes)
    assert_follows(counts(sampler.draw), lowest=options.get("lowest", 0))


@pytest.mark.parametrize("believed", [False, True])
def test_a_cap_that_is_one_too_low_is_not_believed_and_would_be_noticed(believed, monkeypatch):
    branch_everything(monkeypatch, 60)
    sampler = make()
    if believed:
        monkeypatch.setattr(covers_module, "_claims_hold", lambda low, *_: np.ones(len(low), dtype=bool))
    tree = sampler._planner._envelope.tree
    tree._nodes.cap[: tree._count] -= 1
    sampler._draws._rungs = [(0, sampler._covers.whole()), *tree.rungs()]
    sampler._draws._search = sampler._draws._searching()
    assert any(isinstance(box, Union) for box in sampler._draws._search._boxes)
    assert (g_test(counts(sampler.draw), pmf()) < FALSE_ALARM) == believed


def test_the_restricted_mechanism_starts_at_its_lowest_level():
    lowest = 2
    sampler = make(lowest=lowest)
    assert_follows(counts(sampler.draw), lowest=lowest)


@pytest.mark.slow
def test_lanes_shared_by_threads_follow_the_same_law(monkeypatch):
    """Tiny lanes, the public box at every level (so that most proposals fail), four threads from the first lane on."""
    monkeypatch.setattr(exponential, "_LANE_WORDS", (40,))
    sampler = make(garbage=True, threads=4)
    tally = dict.fromkeys(PLANE, 0)
    for i in range(6000):
        tally[tuple(sampler.draw(derived_key("lanes", i)))] += 1
    observed = np.array([tally[y] for y in PLANE])
    assert g_test(observed, pmf()) > FALSE_ALARM
    assert g_test(observed, pmf(epsilon=EPSILON * Fraction(3, 2))) < FALSE_ALARM


def test_boxes_refined_in_the_middle_of_a_draw_leave_the_law_alone(monkeypatch):
    """Draws start with the public box at all levels; after thirty rejections, a third of them go on with others."""
    monkeypatch.setattr(exponential, "_LANE_WORDS", (40,))
    wide = Box((-20, -20), (24, 24))
    levels = level_sets(np.array(ROWS), np.array(DIRECTIONS))
    tally = dict.fromkeys([*PLANE, "elsewhere"], 0)
    refined = 0
    for i in range(4000):
        sampler = Sampler(levels, within=wide, epsilon=EPSILON, hints=Garbage(levels), threads=1)
        everything = [(Group(0, sampler._planner._envelope.top, wide.size), wide)]
        sampler._draws._search, sampler._draws._budget = exponential.Search(levels, wide, everything, EPSILON), 1.0
        point = tuple(sampler.draw(derived_key("refined", i)))
        refined += len(sampler._draws._search._boxes) > 1
        tally[point if point in tally else "elsewhere"] += 1
    assert refined > 1000
    observed = np.array(list(tally.values()))

    def pmf(epsilon):
        weights = np.array([math.exp(epsilon / 2 * t) for t in DEPTHS] + [45.0**2 - 25])
        return weights / weights.sum()

    assert g_test(observed, pmf(EPSILON)) > FALSE_ALARM
    assert g_test(observed, pmf(EPSILON * Fraction(5, 4))) < FALSE_ALARM


def test_the_smallest_lane_wins_not_the_first_thread(monkeypatch):
    monkeypatch.setattr(exponential, "_LANE_WORDS", (64,))

    def first_accepted(search, stream, lane, order):
        if lane < 3:
            time.sleep(0.2 - 0.05 * lane)  # the smaller the lane, the later it finishes
        return exponential.Accepted([lane, lane], 0, lane) if lane >= 1 else None

    monkeypatch.setattr(exponential.Search, "first_accepted", first_accepted)
    assert make(threads=4).draw(derived_key("any")) == [1, 1]


@pytest.mark.parametrize("words", [(2**11, 2**13, 2**16), (64,)])
def test_the_number_of_threads_does_not_change_a_seeded_draw(words, monkeypatch):
    monkeypatch.setattr(exponential, "_LANE_WORDS", words)
    for i in range(40):
        key = derived_key("threads", i)
        assert make(garbage=True, threads=1).draw(key) == make(garbage=True, threads=3).draw(key)


def test_boxem_from_end_to_end():
    """Floats in, floats out: clipping, rounding, missing rows and the grid's ends included."""
    x = np.array([*ROWS, (9, 9), (math.nan, 1)], dtype=float) + 0.3
    snapped = [*ROWS, (4, 4), None]
    depths = [oracle.depth(snapped, y, DIRECTIONS) for y in PLANE]
    source = td.seeded(11)
    tally = dict.fromkeys(PLANE, 0)
    for _ in range(2500):
        release = td.boxem(
            x,
            epsilon=EPSILON,
            bounds=(0, 4.5),
            resolution=1,
            depth=td.Directions(DIRECTIONS),
            randomness=source,
        )
        tally[tuple(int(c) for c in release.point)] += 1
    observed = np.array([tally[y] for y in PLANE])
    q = Fraction(math.exp(EPSILON / 2))
    assert g_test(observed, [float(p) for p in oracle.law(depths, q)]) > FALSE_ALARM
    assert g_test(observed, [float(p) for p in oracle.law(depths, q ** Fraction(2))]) < FALSE_ALARM


@pytest.mark.slow
def test_a_million_draws():
    """Enough draws to tell a law apart that is off by one percent in epsilon."""
    sampler = make()
    tally = dict.fromkeys(PLANE, 0)
    for i in range(1_000_000):
        tally[tuple(sampler.draw(derived_key("million", i)))] += 1
    observed = np.array(list(tally.values()))
    assert g_test(observed, pmf()) > FALSE_ALARM
    assert g_test(observed, pmf(epsilon=EPSILON * Fraction(101, 100))) < FALSE_ALARM


STRETCHED = [(i, i + j % 2) for i in range(5) for j in range(3)]
ACROSS = [(1, 0), (0, 1), (1, -1), (2, -1)]


@pytest.fixture
def slanted(monkeypatch):
    """Makes samplers for stretched data with a basis from the first proposal on."""
    monkeypatch.setattr(boxes_module, "_WORTHWHILE", -math.inf)
    monkeypatch.setattr(planner, "_FEW_STEPS", 0)  # no settling: it would make boxes too good to need a basis
    # Boxes everywhere, so that the ladder cannot do without slanted ones.
    monkeypatch.setattr(planner, "_box_cost", lambda levels: 0.0)
    monkeypatch.setattr(Envelope, "slice", lambda *_: None)  # those would do as well

    def make(garbage=False, **options):
        levels = level_sets(np.array(STRETCHED), np.array(ACROSS))
        hints = Garbage(levels) if garbage else None
        sampler = Sampler(levels, within=Box((0, 0), (6, 6)), epsilon=EPSILON, hints=hints, **options)
        sampler._planner._envelope.refine([1, 2, 3])
        sampler._planner._envelope.rebase()
        replan(sampler)
        assert sampler._planner._envelope._bases
        return sampler

    return make


@pytest.mark.parametrize(
    "options",
    [{}, {"garbage": True}, {"word_bits": 1}],
    ids=["good hints", "garbage hints, hence a random basis", "undecided words"],
)
def test_slanted_boxes_follow_the_same_law(options, slanted):
    sampler = slanted(**options)
    if "garbage" not in options:
        assert sampler._draws._search._proposals.slanted.any()
    points = list(itertools.product(range(7), repeat=2))
    depths = [oracle.depth(STRETCHED, y, ACROSS) for y in points]
    tally = dict.fromkeys(points, 0)
    for i in range(DRAWS):
        tally[tuple(sampler.draw(derived_key("slanted", i)))] += 1
    observed = np.array(list(tally.values()))
    q = Fraction(math.exp(EPSILON / 2))
    assert g_test(observed, [float(p) for p in oracle.law(depths, q)]) > FALSE_ALARM
    assert g_test(observed, [float(p) for p in oracle.law(depths, q * Fraction(6, 5))]) < FALSE_ALARM


def test_threads_do_not_change_a_seeded_draw_from_slanted_boxes(slanted, monkeypatch):
    monkeypatch.setattr(exponential, "_LANE_WORDS", (40,))
    samplers = [slanted(threads=threads) for threads in (1, 2, 4)]
    for i in range(300):
        key = derived_key("slanted threads", i)
        assert len({tuple(sampler.draw(key)) for sampler in samplers}) == 1


@pytest.mark.parametrize(("d", "copies"), [(10, False), (6, True)])
def test_threads_do_not_change_a_long_seeded_draw(d, copies):
    """Up to ten thousands of proposals: lanes are shared, boxes refined and, for copies of a column, a basis taken."""
    gauss = np.random.default_rng(2).normal(size=(400 if copies else 1000, d))
    rows = np.rint((gauss[:, :1] if copies else gauss) * np.full(d, 2.0**30)).astype(np.int64)
    levels = level_sets(rows, td.Random(30, axes=copies, seed=3)._integers(d, 2**16, b""))
    long = False
    for seed in range(6):
        drawn = set()
        for threads in (1, 2, 5):
            sampler = Sampler(levels, within=Box((-(2**34),) * d, (2**34,) * d), epsilon=Fraction(1), threads=threads)
            drawn.add(tuple(sampler.draw(derived_key("long", seed))))
            long |= sampler._planner._proposals > 10_000 and sampler._draws._search._proposals.slanted.any() == copies
        assert len(drawn) == 1
    assert long


def test_no_box_is_missing_that_the_plan_asks_for_once_it_knows_the_others():
    """One round of planning is not enough here: boxes near the top come out larger than the estimates."""
    gauss = np.random.default_rng(0).normal(size=(500, 12))
    levels = level_sets(np.rint(gauss * 2**30).astype(np.int64), td.Spread(60, seed=1)._integers(12, 2**16, b""))
    sampler = Sampler(levels, within=Box((-(2**34),) * 12, (2**34,) * 12), epsilon=Fraction(1))
    sampler._planner._proposals = 1e6
    wanted = sampler._planner._plan().levels
    sampler._planner._envelope.refine(wanted)
    assert sampler._planner._envelope.lacks(sampler._planner._plan().levels)
    sampler._planner.plan()
    assert not sampler._planner._envelope.lacks(sampler._planner._plan().levels)


def test_levels_without_grid_points_do_not_stall_the_draw():
    """Few grid points, many rows: the deepest level sets hold no grid point at all, yet weigh e^25 times as much."""
    corners = list(itertools.product(range(4), repeat=3))
    rows = np.random.default_rng(0).integers(0, 4, size=(300, 3))
    directions = np.vstack([np.eye(3, dtype=np.int64), td.Random(12, axes=False, seed=1)._integers(3, 256, b"")])
    levels = level_sets(rows, directions)
    sampler = Sampler(levels, within=Box((0,) * 3, (3,) * 3), epsilon=Fraction(1, 5))
    depths = levels.depths(np.array(corners)).tolist()
    vectors = [tuple(v) for v in directions.tolist()]
    assert depths[::7] == [oracle.depth([tuple(r) for r in rows.tolist()], y, vectors) for y in corners[::7]]
    tally = dict.fromkeys(corners, 0)
    for i in range(DRAWS):
        tally[tuple(sampler.draw(derived_key("lattice", i)))] += 1
    observed = np.array(list(tally.values()))
    q = Fraction(math.exp(1 / 10))
    assert g_test(observed, [float(p) for p in oracle.law(depths, q)]) > FALSE_ALARM
    assert g_test(observed, [float(p) for p in oracle.law(depths, q ** Fraction(2))]) < FALSE_ALARM


@pytest.mark.parametrize("values", [[0, 0, 1, 2, 5, 5, 6], [3], [2] * 6])
def test_one_column_is_the_exponential_mechanism_over_quantiles(values):
    points = [(i,) for i in range(7)]
    depths = [oracle.depth([(v,) for v in values], y, [(1,)]) for y in points]
    levels = level_sets(np.array(values)[:, None], np.array([[1]]))
    sampler = Sampler(levels, within=Box((0,), (6,)), epsilon=EPSILON)
    tally = [0] * 7
    for i in range(DRAWS):
        tally[sampler.draw(derived_key("line", i))[0]] += 1
    q = Fraction(math.exp(EPSILON / 2))
    assert g_test(tally, [float(p) for p in oracle.law(depths, q)]) > FALSE_ALARM
    assert g_test(tally, [float(p) for p in oracle.law(depths, q * q)]) < FALSE_ALARM


def test_a_draw_from_deep_points_only_never_proposes_from_the_whole_grid():
    """Speed, not law: with the lowest level's box left out, a grid of 2**80 points was searched for a few rows."""
    rows = np.random.default_rng(3).integers(-(10**6), 10**6, size=(60, 2))
    levels = level_sets(rows, np.array([[1, 0], [0, 1], [1, 1], [1, -1]]))
    wide = Box((-(2**40), -(2**40)), (2**40, 2**40))
    sampler = Sampler(levels, within=wide, epsilon=Fraction(1), lowest=10)
    assert max(box.size for box in sampler._draws._search._boxes) <= (2 * 10**6 + 1) ** 2
