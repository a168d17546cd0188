"""td.spread: standard deviations that are about right, reproducible, and silent about the data."""

from __future__ import annotations

import itertools
import math
import warnings
from fractions import Fraction

import numpy as np
import pytest

import tukeydp as td
from tukeydp.trusted.bits import Keystream, derived_key
from tukeydp.trusted.block_steps import OCTAVES, at_the_ends, log_differences
from tukeydp.trusted.exponential import Search


def columns(n, d, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


def test_differences_of_halves_have_the_stated_median():
    """0.6745 standard deviations, whatever is missing; in widths of bounds from -1 to 1, which are 2.

    Of 40,000 blocks (standard error of the median 0.004).
    """
    rng = np.random.default_rng(3)
    blocks = rng.normal(scale=0.01, size=(40_000, 7, 1))
    blocks[rng.random(blocks.shape) < 0.3] = np.nan
    found = 2.0 ** np.nanmedian(log_differences(blocks)) * 2 / 0.01
    assert found == pytest.approx(0.6745, abs=5 * 0.004)


def test_no_difference_lies_at_the_bottom_and_none_beyond_the_top():
    blocks = np.array([[[0.3], [0.3]], [[-1.0], [1.0]], [[math.nan], [1.0]]])
    found = log_differences(blocks)[:, 0]
    assert found[0] == -30
    assert found[1] == pytest.approx(-0.5)
    assert math.isnan(found[2])


def test_a_block_of_one_row_has_no_halves():
    assert np.isnan(log_differences(np.ones((3, 1, 2)))).all()


def test_spreads_of_unlike_columns():
    """Twenty releases: all within an octave of the truth, their medians within a sixth."""
    scales = [1, 50, 0.02]
    x = columns(3000, 3) * scales
    found = [
        td.spread(x, epsilon=1, bounds=(-1000, 1000), randomness=td.seeded(seed)).point / scales for seed in range(20)
    ]
    assert (np.abs(np.log2(found)) < 1).all()
    assert np.median(found, axis=0) == pytest.approx(np.ones(3), rel=1 / 6)


def test_missing_cells_do_not_move_it():
    x = columns(3000, 2)
    x[np.random.default_rng(1).random(x.shape) < 0.3] = np.nan
    found = [td.spread(x, epsilon=1, bounds=(-100, 100), randomness=td.seeded(s)).point for s in range(20)]
    assert np.median(found) == pytest.approx(1, abs=0.12)


def test_what_the_release_says():
    r = td.spread(columns(500, 2), epsilon="0.3", bounds=(-9, 9), randomness=td.seeded(1))
    assert (r.mechanism, r.released, r.private, r.n, r.d) == ("spread", True, False, 500, 2)
    assert r.guarantee == td.PureDP(Fraction(3, 10))
    assert set(r.settings) == {"pairs"}
    assert r.to_dict()["settings"] == {"pairs": r.settings["pairs"]}
    assert "standard deviation" in r.notes[0]


def test_too_few_rows_are_said_from_public_numbers():
    few, many = (td.spread(columns(n, 2), epsilon=1, bounds=(-9, 9), randomness=td.seeded(1)) for n in (20, 2000))
    assert any("Too few rows" in note for note in few.caveats)
    assert not any("Too few rows" in note for note in many.caveats)


def test_seeds_reproduce_and_the_system_does_not():
    x = columns(200, 2)
    again = [td.spread(x, epsilon=1, bounds=(-9, 9), randomness=td.seeded(5)).point.tolist() for _ in range(2)]
    assert again[0] == again[1]
    fresh = {tuple(td.spread(x, epsilon=1, bounds=(-9, 9)).point.tolist()) for _ in range(6)}
    assert len(fresh) > 1


@pytest.mark.parametrize("n", [1, 2, 3, 200])
@pytest.mark.parametrize("what", ["missing", "infinite", "equal", "huge", "text"])
def test_no_cell_raises_or_warns(n, what):
    x = {
        "missing": np.full((n, 2), np.nan),
        "infinite": np.where(np.arange(n)[:, np.newaxis] % 2, math.inf, -math.inf) * np.ones((n, 2)),
        "equal": np.ones((n, 2)),
        "huge": np.full((n, 2), 1.7e308) * np.where(np.arange(n)[:, np.newaxis] % 2, 1, -1),
        "text": [["many", "7"]] * n,
    }[what]
    for bounds in ((-5, 5), (0, 1e-298), (-1e300, 1e300)):
        with np.errstate(all="raise"), warnings.catch_warnings():
            warnings.simplefilter("error")
            r = td.spread(x, epsilon=1, bounds=bounds, check=False, randomness=td.seeded(2))
        assert np.isfinite(r.point).all()
        assert (r.point >= 0).all()


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"epsilon": 0}, "epsilon must be > 0; got 0"),
        ({"epsilon": 1e-12}, "epsilon must be from 1e-09 to 1000000 for means; got 1e-12"),
        ({"bounds": (1, 1)}, "bounds must have lower < upper"),
        ({"bounds": 3}, "bounds must be a tuple"),
        ({"randomness": 7}, "randomness must be None or td.seeded"),
    ],
)
def test_parameters_are_checked(wrong, message):
    with pytest.raises(td.ParameterError, match=message):
        td.spread([1.0, 2.0], **{"epsilon": 1, "bounds": (0, 1), **wrong})


def test_differences_of_zero_and_missing_ones_lie_at_the_ends_each_by_its_own_coin():
    table = np.random.default_rng(4).uniform(-20, -1, size=(4000, 2))
    table[:2000, 0], table[2000:, 0] = -OCTAVES, np.nan
    stream = Keystream(derived_key("ends of a test"))
    moved = at_the_ends(table, stream)
    assert (moved[:, 1] == table[:, 1]).all()
    assert set(moved[:, 0]) == {0.0, -float(OCTAVES)}
    # Nine sixteenths and a half; six standard deviations are 0.067.
    assert abs((moved[:2000, 0] < -1).mean() - 9 / 16) < 0.067
    assert abs((moved[2000:, 0] < -1).mean() - 1 / 2) < 0.067
    table[5] = [-3.0, -OCTAVES]
    assert np.flatnonzero((at_the_ends(table, stream) != moved).any(axis=1)).tolist() == [5]


def test_the_spread_of_a_yes_no_column_is_not_zero():
    """Most differences of its rows are zero; counted as such they would be the median."""
    yes = (np.random.default_rng(5).random((3000, 2)) < 0.3).astype(float)
    found = [td.spread(yes, epsilon=1, bounds=(-5, 5), randomness=td.seeded(i)).point for i in range(8)]
    ratios = np.median(found, axis=0) / yes.std(axis=0)
    assert (ratios > 0.5).all()
    assert (ratios < 3).all()


@pytest.mark.parametrize(("n", "epsilon"), [(100, 100), (1000, 3), (5000, 1)])
def test_forty_columns_take_few_lanes_of_proposals(n, epsilon, monkeypatch):
    """With slanted directions a draw made 10^8 proposals and more, in vain."""
    lanes, accepted = itertools.count(1), Search.first_accepted

    def counted(*given):
        assert next(lanes) <= 8  # those of a first search among fixed rows too
        return accepted(*given)

    monkeypatch.setattr(Search, "first_accepted", counted)
    found = td.spread(columns(n, 40), epsilon=epsilon, bounds=(-10, 10), randomness=td.seeded(1))
    assert np.median(np.abs(np.log2(found.point))) < 1  # the truth is 1; an octave is a factor of two
