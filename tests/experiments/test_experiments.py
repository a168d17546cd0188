"""Every experiment from trials to figure and verdicts, with few trials; and its parts by themselves."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tukeydp.experiments import catalogue
from tukeydp.experiments.claims import judge
from tukeydp.experiments.experiment import cell
from tukeydp.experiments.figures import save
from tukeydp.experiments.outliers import corrupted
from tukeydp.experiments.real_data import generous_bounds, table
from tukeydp.experiments.results import Results
from tukeydp.experiments.runner import reproduce
from tukeydp.experiments.setup import papers_data
from tukeydp.experiments.smallest_rows import smallest
from tukeydp.experiments.univariate import halved_deviation

LONG = {
    "times", "asymptotic", "ten-columns", "exact-four", "smallest-n", "dimensions", "fourteen-columns", "scaling",
    "error-n", "univariate", "scales",
}  # fmt: skip


@pytest.mark.parametrize(
    "name", [pytest.param(e.name, marks=pytest.mark.slow if e.name in LONG else ()) for e in catalogue.EXPERIMENTS]
)
def test_from_trials_to_figure_and_verdicts(name, tmp_path):
    experiment = catalogue.named(name)
    few = [cell(min(2, c.trials), **dict(c.settings)) for c in experiment.cells(True)]
    results = reproduce([replace(experiment, cells=lambda quick: few)], tmp_path, jobs=1, seed=1)[name]
    names = sorted({name for c in few for name, _ in c.settings})
    trials = {(row["trial"], *[row.get(name) for name in names]) for row in results}
    assert len(trials) == sum(c.trials for c in few)
    save(experiment.draw(results), tmp_path, name)
    assert (tmp_path / f"{name}.png").stat().st_size > 5000
    assert (tmp_path / f"{name}.svg").stat().st_size > 5000
    for claim in experiment.claims:
        verdict = judge(claim, results)
        assert verdict.numbers
        assert verdict.word in ("borne out", "not borne out", "undecided")


def univariate(boxem, gaussian, blocks=1000):
    """Fabricated blocks of squared errors, in multiples of the mean's at each n."""
    rng = np.random.default_rng(0)
    factors = {"empirical": lambda n: 1.0, "BoxEM": boxem, "Gaussian": gaussian}
    return Results(
        {"n": n, "method": method, "square": factor(n) ** 2 / n * rng.gamma(25.0, 0.04)}
        for n in (100, 1000, 1700, 5000)
        for _ in range(blocks)
        for method, factor in factors.items()
    )


@pytest.mark.parametrize(("noise", "expected"), [(28.0, True), (53.0, False)])
def test_the_univariate_claims_follow_the_noise(noise, expected):
    """Three times the error at n = 100 and a crossing near 1,300 need about half of the noise that a swap needs."""
    results = univariate(lambda n: 1.28 + 20 / n, lambda n: np.sqrt(1 + noise**2 / n))
    claims = {c.sentence: judge(c, results).holds for c in catalogue.named("univariate").claims}
    assert claims[next(s for s in claims if "roughly three times" in s)] is expected
    assert claims[next(s for s in claims if s.startswith("Errors cross"))] is expected
    assert claims[next(s for s in claims if "roughly 1.5 times" in s)] is True
    assert 26 < halved_deviation(100) * 100 < 27


@pytest.mark.parametrize(("power", "expected"), [(0.0, True), (0.1, False)])
def test_dependence_on_the_range_is_noticed(power, expected):
    rng = np.random.default_rng(0)
    results = Results(
        {"R": r, "method": method, "error": r**power * rng.gamma(9.0, 0.01)}
        for r in (1e1, 1e4, 1e7, 1e10)
        for _ in range(100)
        for method in ("BoxEM random", "REM", "CoinPress")
    )
    assert judge(catalogue.named("error-R").claims[0], results).holds is expected


def test_a_refusal_keeps_rem_out_of_figure_and_claims():
    rows = [
        {"R": r, "method": m, "error": 0.1, "trial": i}
        for r in (1e1, 1e10)
        for m in ("BoxEM random", "REM")
        for i in (0, 1)
    ]
    rows[-1]["error"] = None
    verdict = judge(catalogue.named("error-R").claims[0], Results(rows))
    assert verdict.holds is None


def test_the_papers_data():
    mu, x = papers_data(4000, 3, np.random.default_rng(0))
    assert np.linalg.norm(mu) == pytest.approx(3.0)
    assert np.abs(x.mean(axis=0) - mu).max() < 5 / np.sqrt(4000)  # 5 standard errors
    assert np.abs(x.std(axis=0) - 1).max() < 0.08


def test_corrupted_rows():
    x = corrupted(5000, 2, 0.2, 9.0, np.random.default_rng(0))
    bad = x[:, 0] > 6
    assert abs(bad.mean() - 0.2) < 0.03
    assert abs(x[bad].std(axis=0) - np.sqrt(0.1)).max() < 0.05
    assert abs(x[bad].mean(axis=0) - 9).max() < 0.1


def test_the_smallest_number_of_rows_is_read_off_between_those_tried():
    shares = {100: 0.0, 200: 0.9, 300: 1.0}
    results = Results(
        {"test": "graded", "d": 2, "n": n, "released": int(i < share * 10)}
        for n, share in shares.items()
        for i in range(10)
    )
    assert smallest(results, "graded", 2) == pytest.approx(250.0)
    assert smallest(results, "paper", 2) is None
    assert smallest(results.where(n=100), "graded", 2) is None


def test_bounds_of_real_tables_hold_the_table():
    for name in ("iris", "wine", "diabetes", "breast_cancer"):
        x = table(name)
        lower, upper = generous_bounds(x)
        assert x.shape[1] <= 10
        assert (x >= lower).all()
        assert (2 * x <= upper).all()
