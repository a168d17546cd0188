"""Clipped means: the law of every draw, how far one record moves every kernel, and the same release from any source."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from fractions import Fraction

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest

import tukeydp as td
from support.charges import charge
from tukeydp.mechanisms import clipped_mean
from tukeydp.mechanisms.clipped_mean import ClippedMean, clipped_plan
from tukeydp.trusted import steps
from tukeydp.trusted.bits import derived_key
from tukeydp.trusted.rows import bounded_columns
from tukeydp.trusted.steps import (
    HALF,
    BeyondCounts,
    CellCounts,
    Window,
    WindowSums,
    deepest_cells,
    joint_rungs,
    noised_counts,
    noised_sums,
    rung,
)
from tukeydp.trusted.sums import in_pieces

SWAP, ADD_REMOVE = "swap", "add-remove"

# Windows of public standard deviations.


def test_values_outside_windows_are_counted_and_a_record_moves_each_count_by_nothing_or_one():
    columns, cells = bounded_columns(2, (0, 8), None), 8
    kernel = CellCounts(columns, (0, 1), cells)
    windows = [np.array([[0, 2, 5, 0], [3, 6, 8, 8]]), np.array([[1, 7], [2, 8]])]
    values = [np.nan, 0.0, 1.5, 2.0, 5.5, 7.9, 8.0, 99.0]
    seen = set()
    for row in itertools.product(values, repeat=2):
        (total,) = in_pieces(np.array([row]), kernel)
        for j, counts in enumerate(kernel.outside(total, windows)):
            place = min(row[j], 7.99)
            by_hand = [int(not np.isnan(row[j]) and not first <= place < end) for first, end in windows[j].T]
            assert counts.tolist() == by_hand
            seen |= set(by_hand)
    assert seen == {0, 1}


def test_windows_cover_all_cells_and_are_of_one_width():
    for width in (1, 3, 37, 2048, 4096):
        first, end = clipped_mean.windows_of(width)
        assert set(end - first) == {width}
        assert first[0] == 0
        assert end[-1] == clipped_mean.FINE
        assert (np.diff(first) <= max(1, width // 4)).all()


@pytest.mark.parametrize(("n", "d"), [(1000, 40), (2000, 100)])
def test_many_columns_are_clipped_to_windows_of_the_spread_that_was_found(n, d):
    """Closer than noise between bounds a hundred standard deviations wide, by half and more; a hundred columns of a
    thousand rows have that noise."""
    x = np.random.default_rng(n).normal(size=(n, d))
    found = {
        mechanism: td.mean(x, epsilon=1, bounds=(-50, 50), mechanism=mechanism, randomness=td.seeded(2))
        for mechanism in ("auto", "cube")
    }
    assert found["auto"].mechanism == "two-step"
    sizes = [np.sqrt(np.mean((release.point - x.mean(axis=0)) ** 2)) for release in found.values()]
    assert sizes[0] < 0.5 * sizes[1]
    assert td.mean(x[: 10 * d], epsilon=1, bounds=(-50, 50), randomness=td.seeded(2)).mechanism == "cube"


@pytest.mark.parametrize(("n", "d"), [(40, 1), (75, 3), (100, 4)])
def test_windows_are_a_mean_with_public_deviations(n, d):
    x = np.random.default_rng(n).normal(size=(n, d))
    account = td.Accountant(1)
    given = {"epsilon": 1, "bounds": (-20, 40), "sd": 1}
    release = td.mean(x, **given, accountant=account, randomness=td.seeded(2))
    assert release.mechanism == "two-step"
    assert account.remaining().epsilon == 0
    assert sum(v for k, v in release.settings.items() if k.startswith("epsilon_")) == 1
    assert "epsilon_windows" in release.settings
    assert np.abs(release.point - x.mean(axis=0)).max() < 2
    lazy = pl.DataFrame(x, schema=list("abcd")[:d]).lazy()
    assert (td.mean(lazy, **given, randomness=td.seeded(2)).point == release.point).all()


def test_too_few_records_for_windows_have_none():
    columns = bounded_columns(4, (0, 100), None)
    assert clipped_mean.windowed_plan(50, columns, Fraction(1), [100.0] * 4) is None
    assert clipped_mean.windowed_plan(10**6, columns, Fraction(1), [8.0] * 4) is None  # no wider than a window
    some = clipped_mean.windowed_plan(300, columns, Fraction(1), [100.0, 100.0, 5.0, 5.0])
    assert some.found == (0, 1)
    assert len(some.windows) == 2


# The law of a draw.

EPSILON = Fraction(9, 10)
BEYOND = [np.array([5, 3, 1, 1, 4]), np.array([4, 2, 2, 3, 6])]
WEIGHTS = (1, 2, 4, 3, 5)
DRAWS = 6000
# Of chi-square with 24 degrees of freedom: exceeded once in a million; with 4 once in three million.
UNUSUAL = {25: 75.5, 5: 36.0}


def chi_square(places, weights, beyond, kappa):
    """Of draws against the product of weights times e^(-kappa x the most beyond), listed place by place."""
    every = list(itertools.product(*(range(len(column)) for column in beyond)))
    law = np.array(
        [
            math.prod(weights[j][y] for j, y in enumerate(at))
            * math.exp(-kappa * max(int(beyond[j][y]) for j, y in enumerate(at)))
            for at in every
        ]
    )
    expected = DRAWS * law / law.sum()
    found = Counter(places)
    observed = np.array([found[at] for at in every])
    assert observed.sum() == DRAWS
    return float(((observed - expected) ** 2 / expected).sum())


def drawn(draw, neighbours):
    return [tuple(np.atleast_1d(draw(charge(EPSILON, derived_key("law", i), neighbours)))) for i in range(DRAWS)]


@pytest.mark.parametrize(("neighbours", "kappa"), [(SWAP, EPSILON / 2), (ADD_REMOVE, EPSILON)])
def test_joint_draws_have_the_law_of_the_most_beyond(neighbours, kappa):
    ones = [(1,) * 5] * 2
    cells = drawn(lambda paid: deepest_cells(BEYOND, paid), neighbours)
    assert chi_square(cells, ones, BEYOND, kappa) < UNUSUAL[25]
    rungs = drawn(lambda paid: joint_rungs(BEYOND, WEIGHTS, paid), neighbours)
    assert chi_square(rungs, [WEIGHTS] * 2, BEYOND, kappa) < UNUSUAL[25]
    # The controls: the rate of the other relation, and that of the sum over columns.
    assert chi_square(rungs, [WEIGHTS] * 2, BEYOND, 3 * EPSILON / 2 - kappa) > UNUSUAL[25]
    assert chi_square(cells, [WEIGHTS] * 2, BEYOND, kappa) > UNUSUAL[25]


@pytest.mark.parametrize("neighbours", [SWAP, ADD_REMOVE])
def test_nested_counts_of_one_column_have_the_full_rate(neighbours):
    beyond = np.array([0, 1, 1, 3, 7])
    rungs = drawn(lambda paid: rung(beyond, WEIGHTS, paid), neighbours)
    assert chi_square(rungs, [WEIGHTS], [beyond], EPSILON) < UNUSUAL[5]
    assert chi_square(rungs, [WEIGHTS], [beyond], EPSILON / 2) > UNUSUAL[5]


# How far one record moves what a kernel says: all records, swaps and moves, on tiny tables.

COLUMNS = bounded_columns(2, (-1, 1))
CELLS = (-1.0, -0.3, 0.4, 9.0, np.nan)
RECORDS = np.array([(a, b, g) for a, b, g in itertools.product(CELLS, CELLS, (0.0, 1.0, np.nan))])
OTHERS = [np.empty((0, 3)), *(RECORDS[[i, i // 2]] for i in range(0, len(RECORDS), 7))]


def told(kernel, records):
    return [np.array(in_pieces(records[[i]], kernel)[0]) for i in range(len(records))]


def scores_of(kernel, score):
    """For each table of others, the score of every candidate with each record, and with none as the last."""
    ones = [*told(kernel, RECORDS), np.zeros(kernel.length, dtype=np.int64)]
    for others in OTHERS:
        rest = np.array(in_pieces(others, kernel)[0]) if len(others) else np.zeros(kernel.length, dtype=np.int64)
        yield np.array([score((rest + one).tolist()) for one in ones])


def moved(kernel, score):
    """The largest range of the change of a score over candidates: where one record goes, and where one is replaced."""
    less = swapped = 0
    for scores in scores_of(kernel, score):
        away = scores[:-1] - scores[-1]
        less = max(less, int((away.max(axis=1) - away.min(axis=1)).max()))
        for one in scores[:-1]:
            change = one - scores[:-1]
            swapped = max(swapped, int((change.max(axis=1) - change.min(axis=1)).max()))
    return less, swapped


def most(columns):
    return np.maximum.outer(*columns).reshape(-1)


def test_a_record_moves_the_most_on_one_side_of_a_cell_by_one():
    kernel = CellCounts(COLUMNS, (0, 1), 5)
    assert moved(kernel, lambda total: most(kernel.most_beyond(total))) == (1, 2)
    # The control: the sum over columns in the place of the most.
    assert moved(kernel, lambda total: np.add.outer(*kernel.most_beyond(total)).reshape(-1)) == (2, 4)


def test_a_record_moves_the_most_beyond_a_radius_by_one_and_nested_counts_one_way():
    kernel = BeyondCounts(COLUMNS, (0, 1), (0.1, -0.2), (0.1, 0.3, 0.6, 1.0))
    assert moved(kernel, lambda total: most(kernel.counts(total)[0])) == (1, 2)
    assert moved(kernel, lambda total: kernel.counts(total)[0][0]) == (1, 1)
    assert moved(kernel, lambda total: np.add.outer(*kernel.counts(total)[0]).reshape(-1)) == (2, 2)


def test_a_record_moves_each_number_of_missing_cells_by_one():
    kernel = BeyondCounts(COLUMNS, (), (), ())
    ones = told(kernel, RECORDS)
    assert max(np.abs(one).max() for one in ones) == 1
    assert max(np.abs(a - b).max() for a, b in itertools.product(ones, ones)) == 1


WINDOWS = [
    Window((-1.0, -1.0), (1.0, 1.0), (0.0, 0.0)),
    Window((-0.2, -1.0), (0.3, 0.1), (0.1, math.nan)),
    Window((0.1, 1.0), (0.1 + 1e-17, 1.0), (math.nan, 1.0)),
]


def apart(kernel):
    """Changes of all groups together, each in the norm of its noise: where one record goes, and where it is another."""
    ones = [one.reshape(kernel.groups, kernel.width) for one in told(kernel, RECORDS)]
    less = max(np.abs(one).max(axis=1).sum() for one in ones)
    return int(less), int(max(np.abs(a - b).max(axis=1).sum() for a, b in itertools.product(ones, ones)))


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize(
    "options",
    [
        {"groups": 2, "records": True, "counted": (0, 1)},
        {"groups": 1, "records": True},
        {"groups": 1, "squared": (0, 1)},
    ],
)
def test_a_record_moves_sums_by_a_half_and_another_in_its_place_by_two(window, options):
    less, swapped = apart(WindowSums(COLUMNS, window, **options))
    assert less == HALF
    assert HALF <= swapped <= 2 * HALF


def test_sums_from_an_end_would_move_by_more(monkeypatch):
    """The controls: values from 0 up, of which a move changes two groups; and values that are clipped nowhere."""
    kernel = WindowSums(COLUMNS, WINDOWS[0], 2)
    within = Window.within
    monkeypatch.setattr(Window, "within", lambda self, relative: 1.0 + within(self, relative))
    monkeypatch.setattr(steps, "HALF", 2**20)
    assert apart(kernel)[0] == 2**20  # clipped after all
    monkeypatch.setattr(steps.np, "clip", lambda values, low, high: values)
    assert apart(kernel)[0] > 2**20


def test_what_a_record_adds_depends_on_nothing_else():
    kernels = [
        CellCounts(COLUMNS, (0, 1), 5),
        BeyondCounts(COLUMNS, (0, 1), (0.1, -0.2), (0.1, 0.6)),
        WindowSums(COLUMNS, WINDOWS[1], 2, records=True, counted=(1,)),
        WindowSums(COLUMNS, WINDOWS[1], 1, squared=(0,)),
    ]
    for kernel, found in zip(kernels, in_pieces(RECORDS, *kernels), strict=True):
        assert np.array(found).tolist() == sum(told(kernel, RECORDS)).tolist()


def test_records_in_no_listed_group_add_nothing():
    nobody = RECORDS[np.isnan(RECORDS[:, 2])]
    for kernel in (
        CellCounts(COLUMNS, (0, 1), 5),
        BeyondCounts(COLUMNS, (0, 1), (0.0, 0.0), (0.0,)),
        WindowSums(COLUMNS, WINDOWS[0], 2, records=True, counted=(0,)),
    ):
        assert not any(in_pieces(nobody, kernel)[0])


@pytest.mark.parametrize(("neighbours", "moves"), [(SWAP, 2), (ADD_REMOVE, 1)])
def test_noise_has_the_stated_scale_and_every_group_its_own(neighbours, moves, monkeypatch):
    seen = []

    def noise(d, scale, bits):
        seen.append((d, scale, bits.take(64)))
        return [0] * d

    monkeypatch.setattr(steps, "cube_noise", noise)
    kernel = WindowSums(COLUMNS, WINDOWS[0], 3, records=True)
    noised_sums(kernel, [0] * kernel.length, charge(EPSILON, neighbours=neighbours))
    noised_counts([1, 2], charge(EPSILON, neighbours=neighbours))
    assert [(d, scale) for d, scale, _ in seen] == [(3, moves * HALF / EPSILON)] * 3 + [(2, HALF / EPSILON)]
    assert len({first for *_, first in seen[:3]}) == 3


# Whole plans.


@pytest.mark.parametrize("size", [None, 20, 300, 2000, 10**6])
@pytest.mark.parametrize("d", [1, 2, 3, 9])
@pytest.mark.parametrize("neighbours", [SWAP, ADD_REMOVE])
def test_the_steps_spend_epsilon_together(size, d, neighbours):
    for groups, known, interval, only in itertools.product((None, 3), (False, True), (False, True), (False, True)):
        columns = bounded_columns(d, (-50, 50))
        widths = [100.0, *[9.0] * (d - 1)] if known else None
        given = {
            "neighbours": neighbours,
            "groups": groups,
            "widths": widths,
            "interval": interval,
            "bounds_only": only,
        }
        plan = clipped_plan(size, columns, Fraction(7, 5), **given)
        assert sum(part.epsilon for part in plan.parts.values()) == plan.guarantee.epsilon == Fraction(7, 5)
        assert plan.for_sums >= Fraction(7, 5) / 4
        assert sum(plan.settings.values()) == Fraction(7, 5)
        assert {part.neighbours for part in plan.parts.values()} == {neighbours}


def test_every_step_is_paid_once_and_by_its_own_share(monkeypatch):
    spent = []
    for name in ("deepest_cells", "joint_rungs", "rung", "noised_counts", "noised_sums"):
        real = getattr(clipped_mean, name)

        def noted(*given, real=real, name=name):
            spent.append((name, given[-1].epsilon))
            return real(*given)

        monkeypatch.setattr(clipped_mean, name, noted)
    for d, radii in ((2, ["rung"] * 2), (5, ["joint_rungs"])):
        spent.clear()
        x = np.random.default_rng(d).normal(size=(3000, d))
        release = td.mean(x, epsilon=2, bounds=(-50, 50), confidence=0.95, randomness=td.seeded(1))
        assert [name for name, _ in spent] == ["deepest_cells", *radii, "noised_counts", "noised_sums", "noised_sums"]
        assert sum(epsilon for _, epsilon in spent) == release.guarantee.epsilon == 2


def frame(n=900, seed=5):
    rng = np.random.default_rng(seed)
    found = pd.DataFrame({"a": rng.normal(50, 9, n), "b": rng.lognormal(2, 1, n), "c": (rng.random(n) < 0.3) * 1.0})
    found.loc[rng.random(n) < 0.2, "a"] = np.nan
    found["arm"] = rng.choice(["A", "B", "other"], n)
    return found


SOURCES = {
    "polars": lambda f: pl.from_pandas(f).lazy(),
    "DuckDB": lambda f: duckdb.from_df(f),
    "a frame of polars": pl.from_pandas,
}
ENDS = {"a": (0, 100), "b": (0, 500), "c": (0, 1)}


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("by", [None, "arm"])
@pytest.mark.parametrize("neighbours", [SWAP, ADD_REMOVE])
def test_every_source_gives_the_same_release(source, by, neighbours):
    given = {"epsilon": 1, "bounds": ENDS, "neighbours": neighbours, "check": False}
    given |= {"rows": 900} if neighbours == ADD_REMOVE else {}
    given |= {"by": by, "keys": ["A", "B"]} if by else {}
    table = frame() if by else frame().drop(columns="arm")
    other = SOURCES[source](table)
    ours, theirs = (td.mean(x, confidence=0.95, **given, randomness=td.seeded(3)) for x in (table, other))
    for mine, yours in zip(*(tuple(r.values()) if by else (r,) for r in (ours, theirs)), strict=True):
        assert np.array_equal(mine.point, yours.point, equal_nan=True)
        assert np.array_equal(mine.interval, yours.interval, equal_nan=True)
    assert ours.guarantee == theirs.guarantee
    mine, yours = (td.summary(x, **given, randomness=td.seeded(3)).lines for x in (table, other))
    assert mine == yours


def test_a_person_whose_rows_disagree_is_in_no_group():
    """With persons who come or go, one in no group is like one who is not there."""
    rng = np.random.default_rng(2)
    person = np.arange(1200) // 2
    x, by = rng.normal(size=(1200, 2)), np.array(["A", "B"])[person % 2]
    split = by.copy()
    split[0] = "B"  # of person 0, whose other row is in A
    given = {"epsilon": 1, "bounds": (-9, 9), "keys": ["A", "B"], "confidence": 0.95}
    given |= {"neighbours": ADD_REMOVE, "rows": 600}
    tables = (x, split, person), (x[2:], by[2:], person[2:]), (x, by, person)
    in_two, gone, in_one = (
        td.mean(cells, by=keys, person=ids, **given, randomness=td.seeded(3)) for cells, keys, ids in tables
    )
    assert in_two.guarantee.neighbours == "add-remove-person"
    points = [[one.point.tolist() for one in found.values()] for found in (in_two, gone, in_one)]
    assert points[0] == points[1] != points[2]


def test_persons_and_groups_are_told_of_together():
    person, by = np.arange(900) // 3, np.array(["A", "B", "C"])[np.arange(900) // 3 % 3]
    x = np.random.default_rng(0).normal(size=(900, 2))
    found = td.summary(
        x, by=by, keys=["A", "B"], person=person, epsilon=2, bounds=(-9, 9), randomness=td.seeded(1), joint=True
    )
    assert found.guarantee.neighbours == "swap-person"
    assert found.n == 300
    assert [line.group for line in found.lines] == ["A", "B", "A", "B"]
    assert "several groups" in " ".join(found.details)


@pytest.mark.parametrize("n", [1, 5, 60])
def test_few_rows_have_a_wide_interval_rather_than_none(n):
    x = np.random.default_rng(1).normal(size=(n, 2))
    release = td.mean(x, epsilon=1, bounds=(-5, 5), confidence=0.95, randomness=td.seeded(1))
    low, high = release.interval.T
    assert ((low >= -5) & (high <= 5) & (low <= high)).all()
    assert release.mechanism == "cube"


def covered(draw, true, bounds, **options):
    """How often the interval holds the population's mean, of 200 runs with 1000 rows."""
    hits = 0
    for seed in range(200):
        x = draw(np.random.default_rng([seed, 11]), (1000, 1))
        release = td.mean(x, epsilon=1, bounds=bounds, confidence=0.95, randomness=td.seeded(seed), **options)
        low, high = release.interval[0]
        hits += low <= true <= high
    return hits / 200


# At a true 0.95 a share below 0.88 has probability 6e-5.


@pytest.mark.parametrize("options", [{}, {"neighbours": ADD_REMOVE, "rows": 1000}, {"sd": 1}])
def test_intervals_of_normal_columns_cover(options):
    assert covered(lambda rng, shape: rng.normal(size=shape), 0.0, (-50, 50), **options) >= 0.88


def test_intervals_of_skewed_columns_cover():
    """Of log-normal columns 84 of 100 did in 0.1.0."""
    assert covered(lambda rng, shape: rng.lognormal(0.0, 1.0, size=shape), math.exp(0.5), (0, 200)) >= 0.88


def test_intervals_that_left_out_the_noise_would_not_cover(monkeypatch):
    monkeypatch.setattr("tukeydp.mechanisms.clipped_interval.noise_scale", lambda found: 1e-9)
    assert covered(lambda rng, shape: rng.normal(size=shape), 0.0, (-50, 50), mechanism="cube", sd=1) < 0.88


def test_a_plan_is_made_of_public_numbers():
    """Which table it is does not matter to it; nor how many rows a group has."""
    plans = []
    for seed in range(2):
        records = td.mean(
            frame(seed=seed), by="arm", keys=["A", "B"], epsilon=1, bounds=ENDS, confidence=0.9, check=False,
            randomness=td.seeded(1),
        )  # fmt: skip
        found = next(iter(records.values())).calibration.inputs[0]
        assert isinstance(found.plan, ClippedMean)
        plans.append(found.plan)
    assert plans[0] == plans[1]


def test_ranges_are_looked_for_where_that_may_be_worth_it():
    """Scales and narrow bounds are clipped where they are; from public numbers, column by column."""
    ends = {"pulse": (30, 220), "score": (1, 7), "yes": (0, 1), "half": (0, Fraction(1, 2))}
    columns = bounded_columns(4, ends, tuple(ends))
    assert clipped_plan(3000, columns, Fraction(1), interval=True).found == (0, 3)
    assert clipped_plan(3000, columns, Fraction(1), interval=True).squared == (0, 1, 3)
    assert clipped_plan(3000, columns, Fraction(1), interval=True, widths=[12.0, 5.0, 2.0, 90.0]).found == (3,)
    release = td.mean(np.ones((944, 1)), epsilon=1, bounds=(1, 7), sd=1.5, confidence=0.95, randomness=td.seeded(1))
    assert release.mechanism == "cube"
