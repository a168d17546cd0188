"""Releases by random walks: the law they aim for, and that they can never carry a guarantee."""

import dataclasses
import json
import math
import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import tukeydp as td
from support.fit import FALSE_ALARM, g_test
from tukeydp.cli import app
from tukeydp.cli.words import explain
from tukeydp.mcmc import mcmc_rem
from tukeydp.paper.unproven import MCMC_NOTE
from tukeydp.results.release import UNPROVEN_CAVEAT
from tukeydp.trusted.rows import Grid


def wide_grid(d, step="1e-6", cells=2**44):
    step = Fraction(step)
    return Grid(lower=(-(cells // 2) * step,) * d, step=(step,) * d, cells=(cells,) * d)


def assert_no_guarantee(outcome):
    assert outcome.guarantee is None
    assert outcome.private is False
    assert outcome.to_dict()["guarantee"] is None
    assert outcome.to_dict()["private"] is False
    assert UNPROVEN_CAVEAT in outcome.caveats
    assert MCMC_NOTE in outcome.caveats
    with pytest.raises(dataclasses.FrozenInstanceError):
        outcome.guarantee = td.PureDP(1)
    assert outcome.to_dict()["unproven"] == outcome.unproven == "mcmc"
    for copy in (pickle.loads(pickle.dumps(outcome)), dataclasses.replace(outcome, n=7)):
        assert copy.guarantee is None
        assert copy.private is False
        with pytest.raises(td.ParameterError, match="guarantee must be None"):
            dataclasses.replace(copy, guarantee=td.PureDP(1))


cell = st.one_of(st.floats(-3, 3), st.sampled_from([math.nan, math.inf, -math.inf, 1e300, 0.0, 1e-12, "?", None]))


@settings(max_examples=25)
@given(st.integers(1, 3).flatmap(lambda d: st.lists(st.lists(cell, min_size=d, max_size=d), min_size=1, max_size=12)))
def test_whatever_the_data_a_point_of_the_box_without_a_guarantee(rows):
    for randomness in (None, td.seeded(1)):
        release = td.boxem(rows, epsilon=1, bounds=(-2, 5), depth=td.Random(3), unproven="mcmc", randomness=randomness)
        assert_no_guarantee(release)
        assert release.released
        assert ((release.point >= -2) & (release.point <= 5)).all()


def test_the_law_in_one_dimension():
    """Five rows in a box of length 12: weight q^depth on each interval.

    Another epsilon, or a factor too many at level 0 (docs/errata.md, 1), is rejected. Volumes are off by about 3 %,
    which this number of draws cannot see.
    """
    rows, bounds, epsilon = [1.0, 2.0, 4.0, 6.0, 9.0], (0, 12), 1.0
    ends = np.array([0, *rows, 12.0])
    depths = np.array([0, 1, 2, 2, 1, 0])
    source = td.seeded(5)
    points = np.array(
        [
            td.boxem(rows, epsilon=epsilon, bounds=bounds, unproven="mcmc", randomness=source).point[0]
            for _ in range(800)
        ]
    )
    counts = np.histogram(points, ends)[0]

    def law(weights):
        mass = weights * np.diff(ends)
        return mass / mass.sum()

    q = math.exp(epsilon / 2)
    assert g_test(counts, law(q**depths)) > FALSE_ALARM
    assert g_test(counts, law((q * 1.5) ** depths)) < FALSE_ALARM
    assert g_test(counts, law(q**depths - 1 / q)) < FALSE_ALARM


def test_near_the_centre_in_ten_columns():
    x = np.random.default_rng(1).normal(3.0, 1.0, size=(200, 10))
    release = td.boxem(
        x, epsilon=4, bounds=(-50, 50), depth=td.Random(30, seed=1), unproven="mcmc", randomness=td.seeded(2)
    )
    assert_no_guarantee(release)
    assert np.linalg.norm(release.point - x.mean(axis=0)) < 1.5


def test_rem_releases_and_refuses_without_a_guarantee(capsys):
    x = np.random.default_rng(2).normal(size=(600, 2))
    many = mcmc_rem(x, epsilon=Fraction(4), delta=Fraction(1, 100), grid=wide_grid(2), randomness=td.seeded(3))
    assert isinstance(many, td.Release)
    assert_no_guarantee(many)
    assert np.abs(many.point - x.mean(axis=0)).max() < 0.5
    for rows in (x[:20], [[1.0, 2.0]] * 40, [[math.nan, 1.0]] * 40):
        few = mcmc_rem(rows, epsilon=Fraction(1), delta=Fraction(1, 10**6), grid=wide_grid(2), randomness=td.seeded(4))
        assert isinstance(few, td.Refused)
        assert_no_guarantee(few)
        explain(few, "centre")
        words = " ".join(capsys.readouterr().out.split())
        assert "NO GUARANTEE" in words
        assert "No release" in words
        assert "nothing is proven" in words
        assert "budget" not in words


def test_the_law_of_rem_in_one_dimension():
    """Twelve rows, t = 3, and a delta so large that unsafe data (score -1) often pass: Pr[Lap(4/eps) >= cut + 1].

    Weight q^depth, q = e^(eps/4), on the intervals of depth 3 and more. Other scales and cuts are rejected.
    """
    rows = np.array([0.0, 1.0, 3.0, 4.0, 6.0, 7.0, 8.5, 9.0, 11.0, 14.0, 15.0, 20.0])
    ends, depths = rows[2:10], np.array([3, 4, 5, 6, 5, 4, 3])
    source, runs = td.seeded(8), 600
    outcomes = [
        mcmc_rem(
            rows, epsilon=Fraction(3), delta=Fraction(9, 20), grid=wide_grid(1), threshold=3,
            depth=td.AxisAligned(), randomness=source,
        ).point
        for _ in range(runs)
    ]  # fmt: skip
    points = np.array([point[0] for point in outcomes if point is not None])
    counts = np.append(np.histogram(points, ends)[0], runs - len(points))
    assert counts.sum() == runs

    def p_value(draw=1.5, test=0.75, cut=0.10536):  # log(1 / 2 delta)
        passes = 0.5 * math.exp(-(cut + test))
        mass = np.exp(draw / 2 * depths) * np.diff(ends)
        return g_test(counts, np.append(passes * mass / mass.sum(), 1 - passes))

    assert p_value() > FALSE_ALARM
    assert p_value(draw=6.0) < FALSE_ALARM
    assert p_value(draw=0.0) < FALSE_ALARM
    assert p_value(test=1.5) < FALSE_ALARM
    assert p_value(cut=1.0) < FALSE_ALARM


def test_rem_asked_for_by_name():
    """By the public function, with every kind of outcome: no bounds, no guarantee, what was asked for in settings."""
    x = np.random.default_rng(2).normal(size=(600, 2))
    released = td.rem(x, epsilon=4, delta="0.01", unproven="mcmc", randomness=td.seeded(3))
    assert isinstance(released, td.Release)
    assert_no_guarantee(released)
    assert dict(released.settings) == {"epsilon": 4, "delta": Fraction(1, 100), "threshold": 150}
    assert np.abs(released.point - x.mean(axis=0)).max() < 0.5
    for rows in (x[:20], [[1.0, 2.0]] * 40, [[math.nan, 1.0]] * 40, [[0.0, 0.0]]):
        refused = td.rem(rows, epsilon=1, delta="1e-6", unproven="mcmc")
        assert isinstance(refused, td.Refused)
        assert_no_guarantee(refused)
    for options, words in [
        ({"unproven": "magic"}, "unproven must be None or 'mcmc'"),
        ({"unproven": "mcmc", "depth": td.Exact()}, "depth must name"),
        ({"unproven": "mcmc", "test": "laplace"}, "test must be left out"),
        ({"unproven": "mcmc", "threshold": 601}, "threshold must be"),
    ]:
        with pytest.raises(td.ParameterError, match=words):
            td.rem(x, epsilon=1, delta="1e-6", **options)


def test_the_score_by_hand():
    """Axis-aligned levels of equally spaced values: log volumes are known, and so is the largest k."""
    n, d, t, epsilon, delta = 100, 1, 25, 4.0, 0.5
    from tukeydp.paper.unproven import _estimated, score_of_volumes
    from tukeydp.trusted.levels import level_sets

    grid = wide_grid(d, step=1, cells=2**20)
    levels = level_sets(np.arange(n, dtype=np.int64)[:, np.newaxis] * 2, np.ones((1, 1), dtype=np.int64))
    _, log_volumes = _estimated(levels, grid, bytes(32), highest=n // 2)
    eps_e, delta_e = epsilon / 2, delta / math.exp(epsilon / 2)

    def volume(level):
        return 2.0**20 if level == 0 else 2.0 * (n + 1 - 2 * level)

    passing = [
        k
        for k in range(t)
        if any(
            volume(t - k - 1) / volume(t + k + g + 1) * math.exp(-g * eps_e / 2) <= delta_e / (4 * math.exp(eps_e))
            for g in range(1, n // 2 - t - k)
        )
    ]
    assert score_of_volumes(log_volumes, t, epsilon, delta) == max(passing)
    assert max(passing) > 0


def test_it_must_be_asked_for_by_name():
    x = np.zeros((5, 2))
    for name in ("magic", True, ""):
        with pytest.raises(td.ParameterError, match="unproven must be None or 'mcmc'"):
            td.boxem(x, epsilon=1, bounds=(-1, 1), unproven=name)
    with pytest.raises(td.ParameterError, match="depth must name"):
        td.boxem(x, epsilon=1, bounds=(-1, 1), depth=td.Exact(), unproven="mcmc")
    with pytest.raises(td.ParameterError, match="threshold"):
        mcmc_rem(x, epsilon=Fraction(1), delta=Fraction(1, 9), grid=wide_grid(2), threshold=0)
    assert td.boxem(x, epsilon=1, bounds=(-1, 1)).guarantee == td.PureDP(1)


def test_command_line(tmp_path):
    file = tmp_path / "table.csv"
    file.write_text("a,b\n" + "\n".join(f"{i},{i * i % 7}" for i in range(30)))
    arguments = ["centre", str(file), "--columns", "a,b", "--epsilon", "1", "--bounds=0,40", "--unproven"]
    told = CliRunner().invoke(app, [*arguments, "mcmc"])
    assert told.exit_code == 0
    words = " ".join(told.output.split())
    assert "NO GUARANTEE" in words
    assert "Do not publish" in words
    assert "nothing is proven about the privacy of this result" in words
    assert "Guarantee  " not in told.output
    as_json = CliRunner().invoke(app, [*arguments, "mcmc", "--json"])
    assert json.loads(as_json.output)["guarantee"] is None
    assert json.loads(as_json.output)["private"] is False
    assert json.loads(as_json.output)["unproven"] == "mcmc"
    assert CliRunner().invoke(app, [*arguments, "magic"]).exit_code == 2


def test_command_line_without_bounds(tmp_path):
    file = tmp_path / "table.csv"
    file.write_text("a\n" + "\n".join(str(i * 37 % 101) for i in range(30)))
    arguments = ["centre", str(file), "--columns", "a", "--mechanism", "rem", "--unproven", "mcmc"]
    told = CliRunner().invoke(app, [*arguments, "--epsilon", "1", "--delta", "1e-6"])
    assert told.exit_code == 3
    words = " ".join(told.output.split())
    assert "NO GUARANTEE" in words
    assert "No release" in words
    assert "nothing is proven" in words
    assert "budget is spent" not in words
    as_json = CliRunner().invoke(app, [*arguments, "--epsilon", "1", "--delta", "1e-6", "--json"])
    assert as_json.exit_code == 3
    assert json.loads(as_json.output)["guarantee"] is None
    assert json.loads(as_json.output)["private"] is False
