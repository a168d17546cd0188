"""Means of groups within one range that is found from all rows: who spends what, and what a row can change."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import tukeydp as td
from support.charges import charge
from tukeydp.mechanisms import grouped_ways
from tukeydp.mechanisms import grouped_ways as grouped_clipping
from tukeydp.mechanisms.grouped_ways import (
    CENTRE_SHARES,
    ClippedSumsOfGroups,
    ScaledGroups,
    clipped_sums,
    scaled_groups,
)
from tukeydp.trusted.account import bounded_range
from tukeydp.trusted.bits import derived_key
from tukeydp.trusted.steps import HALF

KEYS = ["A", "B", "C"]


def table(n, seed=1):
    rng = np.random.default_rng(seed)
    groups = rng.choice(KEYS, size=n)
    x = np.column_stack([rng.normal(50, 10, n), rng.exponential(5, n), rng.random(n) < 0.2])
    x[rng.random(x.shape) < 0.05] = np.nan
    return x, groups.tolist()


BOUNDS = ([-2000, -2000, 0], [2000, 2000, 1])


@pytest.fixture
def spent(monkeypatch):
    """What each draw was made with, in turn."""
    found = []

    def listen(module, name, place):
        real = getattr(module, name)

        def listened(*args, **options):
            found.append((name, args[place].epsilon))
            return real(*args, **options)

        monkeypatch.setattr(module, name, listened)

    listen(grouped_clipping, "released_widths", 1)
    listen(grouped_clipping, "subset_point", 1)
    listen(grouped_clipping, "drawn_radii", 3)
    listen(grouped_ways, "noised_sums", 2)
    return found


def test_the_steps_spend_epsilon_together(spent):
    """Scale, centre, radii and the sums of groups, in rationals."""
    x, by = table(6000)
    found = td.mean(x, epsilon="0.9", bounds=BOUNDS, by=by, keys=KEYS, randomness=td.seeded(1))
    assert [name for name, _ in spent] == ["released_widths", "subset_point", "drawn_radii", "noised_sums"]
    parts = [epsilon for _, epsilon in spent]
    assert sum(parts) == Fraction(9, 10) == found.guarantee.epsilon
    assert found.settings["epsilon_scale"] == parts[0]
    assert found.settings["epsilon_mean"] == sum(parts[1:])


def test_whichever_way_is_taken_has_what_the_scale_leaves():
    """Sums within a range that is found, depth of blocks, noise between the bounds: which it is hangs on the scale."""
    wide, ways = np.full(6, 100.0), set()
    for n, rows, widths in ((2000, 500, wide), (2000, 1000, np.full(6, 20.0)), (60, 20, wide)):
        scaled = ScaledGroups(Fraction(1), Fraction(1, 50), n, rows, (100.0,) * 6)
        way = scaled.way(widths)
        assert way.epsilon == way.guarantee.epsilon == Fraction(49, 50)
        assert (way.guarantee + bounded_range(scaled.scale)).epsilon == scaled.guarantee.epsilon == 1
        ways.add(way.mechanism)
    assert ways == {"two-step", "subset", "cube"}


def test_a_known_sd_saves_the_scale(spent):
    x, by = table(6000)
    options = {"sd": [10, 5, 0.4], "mechanism": "two-step", "randomness": td.seeded(1)}
    found = td.mean(x, epsilon=1, bounds=BOUNDS, by=by, keys=KEYS, counts="0.1", **options)
    assert [name for name, _ in spent] == ["subset_point", "drawn_radii", "noised_sums"]
    parts = [epsilon for _, epsilon in spent]
    assert sum(parts) == Fraction(9, 10)
    assert found.guarantee.epsilon == 1


def test_the_range_does_not_depend_on_groups(monkeypatch):
    """The same rows in other groups: the same centre and radii under the same seed."""
    x, by = table(6000)
    seen = []
    real = grouped_clipping.drawn_radii
    monkeypatch.setattr(
        grouped_clipping,
        "drawn_radii",
        lambda relative, centre, *rest: seen.append(centre.tolist()) or real(relative, centre, *rest),
    )
    some = [key if i % 3 else None for i, key in enumerate(by)]
    for keys in (by, by[::-1], ["A"] * len(by), some, [None] * len(by)):
        td.mean(x, epsilon=1, bounds=BOUNDS, by=keys, keys=KEYS, randomness=td.seeded(1))
    assert all(centre == seen[0] for centre in seen)


def test_every_step_has_its_own_key(monkeypatch):
    """Scale, centre, radii and sums: four secret keys, none of them the run's own."""
    seen = []
    for module, name, place in (
        (grouped_clipping, "released_widths", 1),
        (grouped_clipping, "subset_point", 1),
        (grouped_clipping, "drawn_radii", 3),
        (grouped_ways, "noised_sums", 2),
    ):
        real = getattr(module, name)
        monkeypatch.setattr(
            module, name, lambda *given, real=real, place=place: seen.append(given[place]._key()) or real(*given)
        )
    x, by = table(6000)
    td.mean(x, epsilon=1, bounds=BOUNDS, by=by, keys=KEYS, randomness=td.seeded(1))
    assert len(seen) == len(set(seen)) == 4


def test_a_larger_share_finds_the_range_where_rows_are_few(monkeypatch):
    """2000 rows in six columns, four groups, bounds 100 standard deviations wide: sums are taken where the data are."""
    wide = np.full(6, 100.0)
    way = scaled_groups(2000, 500, Fraction(1), wide).way(wide)
    assert isinstance(way, ClippedSumsOfGroups)
    assert way.plan.epsilons[0] == way.epsilon / 5
    assert way.plan.epsilons[0] + way.plan.epsilons[2] + way.for_sums == way.epsilon
    narrow = np.full(6, 20.0)
    assert scaled_groups(2000, 1000, Fraction(1), wide).way(narrow).mechanism == "subset"  # enough rows for blocks
    monkeypatch.setattr(grouped_clipping, "CENTRE_SHARES", grouped_clipping.FIRST_STEPS)
    assert scaled_groups(2000, 500, Fraction(1), wide).way(wide).mechanism == "cube"


def test_four_groups_of_500_rows_between_wide_bounds_are_not_lost_in_noise():
    """48 errors of two releases, in standard deviations: noise between the bounds would have a median of 1.3."""
    errors = []
    for seed in range(2):
        rng = np.random.default_rng(seed)
        x, by = rng.normal(0, 1, (2000, 6)), rng.integers(0, 4, 2000)
        found = td.mean(x, epsilon=1, bounds=(-50, 50), by=by, keys=[0, 1, 2, 3], randomness=td.seeded(seed))
        errors += [np.abs(found[key].point - x[by == key].mean(axis=0)) for key in range(4)]
    assert np.median(errors) < 0.3


def test_yes_no_columns_have_means_and_not_medians():
    """Three groups of 2000 rows with a fifth of yes: a median would be 0."""
    x, by = table(6000)
    found = td.mean(x, epsilon=1, bounds=BOUNDS, by=by, keys=KEYS, randomness=td.seeded(1))
    for key in KEYS:
        members = np.array(by) == key
        own, sd = np.nanmean(x[members], axis=0), np.nanstd(x, axis=0)
        assert (np.abs(found[key].point - own) < 0.3 * sd).all()


def test_what_is_said_does_not_depend_on_the_data():
    x, by = table(2000)
    said = []
    for cells in (x, 1e-9 * x, np.full_like(x, np.nan), np.zeros_like(x)):
        found = td.mean(cells, epsilon=1, bounds=BOUNDS, by=by, keys=KEYS, randomness=td.seeded(1))
        said.append((found.mechanism, dict(found.settings), found.caveats, found.first.expected_error))
    assert all(one == said[0] for one in said)


def test_too_few_rows_are_refused_by_name():
    x, by = table(60)
    with pytest.raises(td.ParameterError, match="two-step"):
        td.mean(x, epsilon=1, bounds=BOUNDS, by=by, keys=KEYS, mechanism="two-step")


CELLS = st.floats(-1, 1) | st.just(float("nan"))


@given(arrays(float, (4, 2), elements=CELLS), arrays(float, 2, elements=CELLS), st.integers(0, 1), st.integers(0, 1))
def test_a_row_moves_sums_within_the_range_by_no_more_than_in_section_2(x, other, old, new):
    """Any range that centre and radii may give: a swap within a group at most two halves, a move one half in each."""
    relative, swapped = x.copy(), x.copy()
    swapped[0] = other
    groups = np.array([old, 0, 1, 0]), np.array([new, 0, 1, 0])
    plan = clipped_sums(20_000, Fraction(1), np.array([100.0, 100.0]), CENTRE_SHARES)
    assert isinstance(plan, ClippedSumsOfGroups)
    seen = []

    def sums(kernel, total, charge):
        seen.append(np.reshape(total, (kernel.groups, kernel.width)).tolist())
        raise StopIteration

    for cells, members in zip((relative, swapped), groups, strict=True):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(grouped_clipping, "subset_point", lambda *given: [1, -1])
            patch.setattr(grouped_clipping, "drawn_radii", lambda *given: np.array([3.0, 11.0]))
            patch.setattr(grouped_ways, "noised_sums", sums)
            with pytest.raises(StopIteration):
                plan.draw(cells, members, 2, derived_key("p"), charge(plan.epsilon))
    ours, theirs = seen
    for g in range(2):
        moved = max(abs(a - b) for a, b in zip(ours[g], theirs[g], strict=True))
        assert moved <= (2 * HALF if old == new else HALF)
