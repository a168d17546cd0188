"""Every experiment from trials to figure and verdicts, with few trials; and its parts by themselves."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import tukeydp as td
from support.claims import claim
from tukeydp.paper.experiments import catalogue, times
from tukeydp.paper.experiments.errors import halved_deviation, outside_chances
from tukeydp.paper.experiments.experiment import Results, Seeds, cell, judge
from tukeydp.paper.experiments.figures import MOST_SERIES, averages, colour, draw_points, lines, new_figure, save
from tukeydp.paper.experiments.methods import ALGORITHM_TWO, METHODS, papers_data
from tukeydp.paper.experiments.notions import ideal_exponent
from tukeydp.paper.experiments.real_tables import generous_bounds, table
from tukeydp.paper.experiments.runner import reproduce
from tukeydp.paper.experiments.shapes import attacked, corrupted, worst_case
from tukeydp.paper.experiments.theorems import released_code_passes, smallest, theorem_exponent, theorem_rows
from tukeydp.paper.experiments.times import AUTHORS

LONG = {
    "times", "asymptotic", "ten-columns", "exact-four", "smallest-n", "dimensions", "fourteen-columns", "scaling",
    "error-n", "univariate", "scales", "real-tables", "rem-theorem", "algorithm-3", "adversary", "error-R",
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
    pictures = save(experiment.draw(results), tmp_path, name)
    assert pictures
    for path in pictures.values():
        assert path.stat().st_size > 5000
        assert path.with_suffix(".svg").stat().st_size > 5000
    if experiment.table is not None:
        shown = experiment.table(results)
        assert {len(row) for row in shown.rows} == {len(shown.head)}
    for each in experiment.claims:
        verdict = judge(each, results)
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
    holds = {
        name: judge(claim(f"univariate/{name}"), results).holds for name in ("gaussian-100", "crossing", "boxem-100")
    }
    assert holds == {"gaussian-100": expected, "crossing": expected, "boxem-100": True}
    assert 26 < halved_deviation(100) * 100 < 27


@pytest.mark.parametrize(
    ("noise", "expected"),
    [(53.0, (True, True, True)), (26.0, (False, True, True)), (120.0, (True, False, False))],
)
def test_small_and_large_samples_are_told_by_the_gaussian_mechanism_s_noise(noise, expected):
    """A deviation of noise/n: 53 is the classical one, half of it is too good at small n, twice of it too much late."""
    rng = np.random.default_rng(0)
    factors = {
        "empirical": lambda n: 1.0,
        "median": lambda n: 1.25,
        "BoxEM": lambda n: 1.25 + 20 / n,
        "Gaussian": lambda n: np.sqrt(1 + noise**2 / n),
    }
    results = Results(
        {"n": n, "method": method, "square": factor(n) ** 2 / n * rng.gamma(25.0, 0.04)}
        for n in (50, 100, 20_000)
        for _ in range(400)
        for method, factor in factors.items()
    )
    names = ("much-better", "eventually", "approaches-mean")
    assert tuple(judge(claim(f"univariate/{name}"), results).holds for name in names) == expected


def test_the_last_place_shows_the_gaussian_mechanism_and_not_the_median_s_limit():
    """BoxEM's limit is read off where its trials are many, before the place that a later claim added."""
    rng = np.random.default_rng(0)
    limit = np.sqrt(np.pi / 2)
    results = Results(
        {"n": n, "method": "BoxEM", "square": (factor * limit) ** 2 / n * rng.gamma(25.0, 0.04)}
        for n, factor in ((5000, 1.0), (20_000, 2.0))
        for _ in range(200)
    )
    assert judge(claim("univariate/limit"), results).holds is True


def range_errors(powers, trials=500):
    rng = np.random.default_rng(0)
    return Results(
        {"R": r, "method": method, "error": r**power * rng.gamma(9.0, 0.01)}
        for r in (1e1, 1e4, 1e7, 1e10)
        for _ in range(trials)
        for method, power in powers.items()
    )


@pytest.mark.parametrize(("power", "expected"), [(0.0, True), (0.0115, False), (-0.0115, False)])
def test_dependence_on_the_range_is_noticed(power, expected):
    """CoinPress's noise has the exponent 0.0115: what calls BoxEM flat must not call CoinPress flat."""
    results = range_errors({"BoxEM random": power, ALGORITHM_TWO: 0.0, "CoinPress": 0.0115})
    assert judge(claim("error-R/flat"), results).holds is expected
    assert judge(claim("error-R/steeper"), results).holds is (True if power <= 0 else None)


def test_the_exponent_of_coinpress_follows_from_public_numbers():
    def noise(radius):
        return td.baselines.coinpress(
            np.zeros((1000, 2)), epsilon=1, delta="1e-6", radius=radius, randomness=td.seeded(0)
        ).expected_error.typical[0]

    assert np.log(noise(1e10) / noise(10)) / np.log(1e9) == pytest.approx(0.0115, abs=0.001)


def test_no_claim_is_borne_out_by_trials_that_are_missing():
    """Neither an empty run nor one without the method in question decides anything, or breaks."""
    for experiment in catalogue.EXPERIMENTS:
        for each in experiment.claims:
            assert judge(each, Results([])).holds is None, (experiment.name, each.name)
    rows = [
        {"n": n, "method": m, "error": 0.1 * i}
        for n in (500, 750)
        for m in ("BoxEM random", "empirical")
        for i in (1, 2)
    ]
    assert judge(claim("ten-columns/walks"), Results(rows)).holds is None


@pytest.mark.parametrize(
    ("elongations", "expected"),
    [
        ({"BoxEM exact": 25, "BoxEM axis-aligned": 5, "CoinPress": 1}, [True, True, True]),
        ({"BoxEM exact": 1, "BoxEM axis-aligned": 5, "CoinPress": 25}, [False, False, False]),
    ],
)
def test_shapes_of_outputs_are_told_apart(elongations, expected):
    rng = np.random.default_rng(0)
    results = Results(
        {"method": method, "long": elongation * rng.normal() ** 2, "short": rng.normal() ** 2}
        for method, elongation in {"empirical": 25, **elongations}.items()
        for _ in range(500)
    )
    assert [judge(each, results).holds for each in catalogue.named("nonspherical").claims[:3]] == expected


@pytest.mark.parametrize(("power", "expected"), [(0.5, True), (None, True), (0.0, False), (1.0, False)])
def test_the_root_of_d_is_told_from_other_powers(power, expected):
    """None: the ideal law itself, sqrt((d + 2) / 3), which a range around 1/2 alone would leave out."""
    rng = np.random.default_rng(0)
    results = Results(
        {"d": d, "method": method, "error": factor * rng.gamma(9.0), "noise": factor * rng.gamma(9.0)}
        for d in (2, 3, 5, 10)
        for _ in range(1000)
        for method, factor in (
            ("BoxEM axis-aligned", ((d + 2) / 3) ** 0.5 if power is None else d**power),
            ("BoxEM spread, axes + 1000", 1.0),
        )
    )
    for name in ("root-d", "root-d-noise"):
        assert judge(claim(f"dimensions/{name}"), results).holds is expected


@pytest.mark.parametrize(("power", "expected"), [(0.3, True), (-0.3, False)])
def test_a_difference_that_grows_with_the_dimension_is_noticed(power, expected):
    rng = np.random.default_rng(0)
    results = Results(
        {"d": d, "method": method, "error": factor * rng.gamma(9.0)}
        for d in (2, 3, 5, 10)
        for _ in range(300)
        for method, factor in (("BoxEM axis-aligned", d**power), ("BoxEM random", 1.0))
    )
    assert judge(claim("dimensions/starker"), results).holds is expected


def test_the_ideal_law_of_axis_aligned_depth():
    """The exponent on the places measured, and the law by a draw: cubes against balls of the same radius."""
    assert ideal_exponent((2, 3, 5, 10)) == pytest.approx(0.343, abs=0.001)
    rng, d = np.random.default_rng(0), 5
    points = rng.uniform(-1, 1, size=(200_000, d))
    points /= np.abs(points).max(axis=1, keepdims=True)  # uniform on the cube's surface, seen from the middle
    assert (points**2).sum(axis=1).mean() == pytest.approx((d + 2) / 3, rel=0.01)


@pytest.mark.parametrize(
    ("axes", "count", "d", "expected"), [(True, 1000, 10, 1.69), (False, 30, 10, 1.05), (False, 30, 3, 1.24)]
)
def test_few_directions_have_less_of_the_ideal_ratio(axes, count, d, expected):
    """Points of the polytope's surface have squared length E[h^-(d+2)] / E[h^-d] on average, h its support function."""
    rng = np.random.default_rng(0)
    seen, normals = (rng.normal(size=(size, d)) for size in (20_000, count))
    seen, normals = (a / np.linalg.norm(a, axis=1, keepdims=True) for a in (seen, normals))
    normals = np.vstack([normals, np.eye(d)]) if axes else normals
    support = np.abs(seen @ normals.T).max(axis=1)
    squared = (support ** -(d + 2.0)).mean() / (support ** -float(d)).mean()
    assert np.sqrt((d + 2) / 3 / squared) == pytest.approx(expected, abs=0.1)


def test_a_refusal_keeps_rem_out_of_figure_and_claims():
    rows = [
        {"R": r, "method": m, "error": 0.1, "trial": i}
        for r in (1e1, 1e10)
        for m in ("BoxEM random", ALGORITHM_TWO)
        for i in (0, 1)
    ]
    rows[-1]["error"] = None
    verdict = judge(claim("error-R/flat"), Results(rows))
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


def released(rates, trials=60):
    return Results(
        {"test": test, "d": 2, "n": n, "released": int(i < share * trials)}
        for test, shares in rates.items()
        for n, share in shares.items()
        for i in range(trials)
    )


@pytest.mark.parametrize(
    ("rates", "expected"),
    [
        ({"graded": {100: 0.1, 200: 1.0}, "paper": {390: 0.1, 500: 0.3, 600: 1.0}}, True),
        ({"graded": {100: 0.1, 200: 1.0}, "paper": {100: 0.1, 150: 0.3, 190: 1.0}}, False),
        ({"graded": {100: 0.8, 200: 0.8}, "paper": {390: 0.8, 500: 0.8}}, None),
        ({"graded": {100: 1.0}, "paper": {300: 1.0}}, None),  # both were tried too late: nothing is known
    ],
)
def test_how_many_rows_a_test_needs_is_decided_by_intervals(rates, expected):
    assert judge(claim("smallest-n/twice"), released(rates)).holds is expected


def test_the_authors_constants_by_hand():
    """Volumes that fall by e^-2 a level: V_(t-k-1) / V_(t+k+g+1) = e^(2 (2 k + g + 2)) passes nowhere; flat ones do."""
    n, epsilon, delta = 200, 1.0, 1e-6
    rng = np.random.default_rng(0)
    steep, flat = np.exp(-2.0 * np.arange(n // 2 + 1)), np.ones(n // 2 + 1)
    flat[0] = np.inf
    assert not any(released_code_passes(steep, n, epsilon, delta, rng) for _ in range(50))
    # Flat: e^(-g epsilon/4) <= delta e^-epsilon from g = 60 on; t + k + g + 1 <= n/2 then fails for t = 50. At n = 400
    # there is room for k up to 38, above the threshold (epsilon + ln 1/(2 delta)) 2 / epsilon = 28.2 by five times 2.
    assert not any(released_code_passes(flat, n, epsilon, delta, rng) for _ in range(50))
    wide = np.ones(201)
    wide[0] = np.inf
    assert np.mean([released_code_passes(wide, 2 * n, epsilon, delta, rng) for _ in range(300)]) > 0.97
    # The threshold t is n/4 whatever the highest level is: with less above it there is less room, not a lower t.
    assert not any(released_code_passes(wide[:172], 2 * n, epsilon, delta, rng) for _ in range(50))


@pytest.mark.parametrize(("share", "expected"), [(0.2, False), (1.0, True), (0.93, None)])
def test_what_figures_show_must_not_have_been_refused(share, expected):
    rows = released({"paper": {500: share}}, trials=120)
    assert judge(claim("smallest-n/shown-at-500"), rows).holds is expected


@pytest.mark.parametrize(("share", "expected"), [(0.98, True), (0.5, False)])
def test_volumes_that_fall_fast_are_noticed(share, expected):
    rows = Results({"d": d, "slow": share + 0.001 * i} for d in (3, 4) for i in range(3))
    assert judge(claim("algorithm-3/volumes-slowly"), rows).holds is expected


def test_a_single_lucky_rate_does_not_stand_for_all_that_follow():
    rates = {100: 0.2, 150: 1.0, 200: 0.2, 250: 1.0, 300: 1.0}
    assert smallest(released({"paper": rates}), "paper", 2, 0.9) > 200


def test_seconds_never_include_compilation(monkeypatch):
    """A resumed run begins at any trial, in a process that has compiled nothing."""
    calls = []
    monkeypatch.setitem(times._JOBS, "boxem", lambda settings, rng: lambda: calls.append(settings["n"]))
    settings = {"job": "boxem: n", "d": 3, "k": 30, "n": -1}
    for trial in (3, 4):
        times._growth_measure(settings, Seeds((0, "asymptotic", tuple(settings.items()), trial)))
    assert len(calls) == 3


def timed(processor, sort, cells=((("random", 2), 50),), seconds=1.0):
    return Results(
        {"depth": depth, "d": d, "n": n, "seconds": seconds, "processor": processor, "sort": sort, "mix": sort}
        for (depth, d), n in cells
    )


def test_an_extrapolated_time_decides_nothing():
    extrapolated = timed(1e9, 0.1, (((("random", 5), 2000)), (("exact", 4), 2000)))
    for name in ("times/faster", "times/faster-in-sorts"):
        assert judge(claim(name), extrapolated).holds is None
        assert judge(claim(name), timed(1e9, 0.1)).holds is False


@pytest.mark.parametrize("machine", [0.2, 1.0, 30.0])
@pytest.mark.parametrize(("slower", "expected"), [(0.1, True), (0.5, None), (1.0, None), (2.0, None), (10.0, False)])
def test_times_are_compared_in_units_so_that_a_faster_machine_changes_no_verdict(machine, slower, expected):
    """The authors' code took 0.27 s in this cell, where a sort took 0.115 s; a factor of 3 decides nothing."""
    for name, unit in (("times/faster", 0.3), ("times/faster-in-sorts", 0.115)):
        here = timed(machine * slower * 0.27, machine * unit)
        assert judge(claim(name), here).holds is expected


def test_the_largest_cells_of_the_table_have_a_claim_of_their_own():
    most, largest = claim("times/ten-minutes"), claim("times/largest")
    cells = [((depth, d), n) for depth, d in AUTHORS for n in (50, 100, 500, 1000, 2000)]
    without = timed(1.0, 0.1, [place for place in cells if place[0] != ("exact", 4) or place[1] < 1000])
    assert (judge(most, without).holds, judge(largest, without).holds) == (True, None)
    assert judge(largest, timed(1.0, 0.1, cells, seconds=601.0)).holds is False


def test_the_chance_of_depth_zero_is_that_of_an_enumerated_law():
    """Six points on a line inside a box of 100 cells: weights e^(epsilon T/2) point by point, and with the misprint."""
    epsilon, depths = 1.0, np.array([0] * 90 + [1] * 6 + [2] * 3 + [3])
    volumes = np.array([np.inf, *((depths >= level).sum() for level in (1, 2, 3))])
    weights = np.exp(epsilon * depths / 2)
    right, misprinted = outside_chances(volumes, 100.0, epsilon)
    assert right == pytest.approx(weights[depths == 0].sum() / weights.sum())
    less = weights - np.exp(-epsilon / 2)  # q^T - q^(t-1), t = 0: docs/errata.md, item 1
    assert misprinted == pytest.approx(less[depths == 0].sum() / less.sum())
    assert misprinted < right


def needed(two, five, spread=2.0, trials=16):
    """Rows needed at delta = 1e-9, 1e-6, 1e-3: so many for each unit of ln(1/delta), in two columns and in five."""
    rng = np.random.default_rng(0)
    rows = [
        {"what": "rows needed", "d": 2, "delta": delta, "rows": base + rng.normal(0, spread)}
        for delta, base in zip(("1e-9", "1e-6", "1e-3"), two, strict=True)
        for _ in range(trials)
    ]
    return Results(
        rows
        + [
            {"what": "rows needed", "d": 5, "delta": delta, "rows": base + rng.normal(0, spread)}
            for delta, base in zip(("1e-9", "1e-3"), five, strict=True)
            for _ in range(trials)
        ]
    )


@pytest.mark.parametrize(
    ("two", "five", "expected"),
    [
        ((320, 220, 120), (400, 200), (True, True)),
        ((1020, 320, 120), (400, 200), (False, True)),  # far more rows for the second factor of 1000
        ((320, 220, 120), (900, 200), (True, False)),  # three and a half times the price in five columns
    ],
)
def test_rows_needed_against_delta(two, five, expected):
    names = ("rem-theorem/log-delta", "rem-theorem/decoupled")
    assert tuple(judge(claim(name), needed(two, five)).holds for name in names) == expected


def test_the_exponent_of_the_theorem_is_that_of_its_solution():
    """Solve n a = C (d + log 1/a) by bisection at two n close to each other."""

    def solution(n, d=3, c=5.0):
        low, high = 1e-12, 1.0
        for _ in range(200):
            middle = (low * high) ** 0.5
            low, high = (middle, high) if n * middle < c * (d - np.log(middle)) else (low, middle)
        return low

    numeric = np.log(solution(1001.0) / solution(1000.0)) / np.log(1.001)
    assert theorem_exponent(solution(1000.5) / 0.5, 3, 0.5) == pytest.approx(numeric, abs=1e-4)


@pytest.mark.parametrize(("power", "expected"), [(-0.87, True), (-0.6, False), (-1.2, False)])
def test_noise_that_falls_otherwise_than_the_theorem_says_is_noticed(power, expected):
    rng = np.random.default_rng(0)
    rows = [
        {"vary": "n", "n": n, "noise": 0.03 * (n / 1200) ** power * rng.gamma(9.0) / 9}
        for n in (300, 600, 1200, 2400, 4800)
        for _ in range(200)
    ]
    assert judge(claim("scaling/rows"), Results(rows)).holds is expected


def test_errors_of_algorithm_three_are_compared_where_both_released():
    rng = np.random.default_rng(0)
    rows = [
        {"method": method, "n": 400, "trial": i, "released": 1, "error": factor * rng.gamma(9.0), "processor": 1.0}
        for method, factor in (("REM (paper's test)", 1.0), ("Algorithm 3 (REM)", 1.2))
        for i in range(200)
    ]
    rows[0] |= {"released": 0, "error": None}
    assert judge(claim("algorithm-3/rem-error"), Results(rows)).holds is True
    doubled = [row | {"error": 3 * row["error"]} if row["method"].startswith("Alg") else row for row in rows]
    assert judge(claim("algorithm-3/rem-error"), Results(doubled)).holds is False


def test_bounds_of_real_tables_hold_the_table():
    for name in ("iris", "wine", "diabetes", "breast_cancer"):
        x = table(name)
        lower, upper = generous_bounds(x)
        assert x.shape[1] <= 10
        assert (x >= lower).all()
        assert (2 * x <= upper).all()


def test_every_experiment_is_in_the_report_once():
    names = [experiment.name for experiment in catalogue.EXPERIMENTS]
    assert len(set(names)) == len(names) == 23
    folder = Path(catalogue.__file__).parent
    registering = {path.stem for path in folder.glob("*.py") if "\nregister(" in path.read_text(encoding="utf-8")}
    assert registering == {experiment.measure.__module__.rpartition(".")[2] for experiment in catalogue.EXPERIMENTS}


def test_an_attack_changes_its_share_of_the_rows_and_puts_them_where_it_says():
    x = np.random.default_rng(0).normal(size=(500, 2))
    for chosen in ("opposite", "middle", "any"):
        moved = attacked(x, 0.1, 4.0, chosen)
        changed = (moved != x).any(axis=1)
        assert changed.sum() == 50
        assert np.abs(moved[changed] @ np.ones(2) / np.sqrt(2) - 4).max() < 0.1
    opposite = (attacked(x, 0.1, 4.0, "opposite") != x).any(axis=1)
    assert x[opposite].sum(axis=1).max() <= x[~opposite].sum(axis=1).min()
    assert (attacked(x, 0.0, 4.0, "any") == x).all()


@pytest.mark.parametrize(("added", "expected"), [(0.25, True), (0.9, False)])
def test_harm_is_that_of_the_worst_placement(added, expected):
    rng = np.random.default_rng(0)
    rows = [
        {"share": share, "chosen": "any", "place": place, "method": m, "error": 0.1 + harm + rng.normal(0, 0.01)}
        for share, place, harm in ((0.0, 0.0, 0.0), (0.05, 1.0, 0.1), (0.1, 1.0, 0.1), (0.1, 4.0, added))
        for m in ("BoxEM random", "REM random", "CoinPress")
        for _ in range(20)
    ]
    assert worst_case(Results(rows), "CoinPress", 0.1).mean() == pytest.approx(0.1 + added, abs=0.02)
    assert judge(claim("adversary/bounded"), Results(rows)).holds is expected


def test_the_rows_of_the_theorem_by_hand():
    """d = 2, alpha = 1/2, beta = 1/10, epsilon = 1, delta = 1e-6: 17.2 + 10.0 + 13.8."""
    assert theorem_rows(1, 2) == 41
    assert theorem_rows(10, 2) == 410


def test_a_line_is_broken_where_a_trial_was_refused_and_bars_stay_above_zero():
    rng = np.random.default_rng(0)
    rows = [
        {"n": n, "method": "REM", "error": None if n == 200 and i == 0 else rng.gamma(0.3)}
        for n in (100, 200, 400)
        for i in range(4)
    ]
    points = averages(Results(rows), "REM", "n", "error")
    assert [np.isnan(point.value) for point in points] == [False, True, False]
    assert all(0 < point.low < point.value < point.high for point in points if point.value == point.value)
    first = points[0]
    assert first.high - first.value > first.value - first.low  # longer above, as the logarithm has it
    figure, panel = new_figure()
    draw_points(panel, points)
    (line,) = [line for line in panel.lines if len(line.get_xdata()) == 3 and line.get_linestyle() == "-"]
    assert np.isnan(line.get_ydata()[1])
    assert figure.axes == [panel]


def test_no_line_passes_a_place_where_only_others_were_measured():
    rows = [{"n": n, "method": "BoxEM", "error": 0.1} for n in (100, 200, 400)]
    rows += [{"n": n, "method": "REM", "error": 0.2} for n in (100, 400)]
    drawn = {
        line.get_color(): line.get_ydata()
        for line in lines(Results(rows), "n", papers_bars=False).axes[0].lines
        if len(line.get_xdata()) == 3 and line.get_linestyle() == "-"
    }
    assert not np.isnan(drawn[colour("BoxEM")]).any()
    assert np.isnan(drawn[colour("REM")]).tolist() == [False, True, False]


def test_series_at_a_single_place_stand_side_by_side():
    rows = [{"n": 1000, "method": m, "error": 0.1} for m in ("BoxEM", "REM", "CoinPress")]
    panel = lines(Results(rows), "n", papers_bars=False).axes[0]
    at = sorted(float(line.get_xdata()[0]) for line in panel.lines if line.get_linestyle() == "-")
    assert at == pytest.approx([970.0, 1000.0, 1030.0])
    assert panel.get_xlim()[1] < 1200
    assert [tick.get_text() for tick in panel.get_xticklabels()] == ["1000"]


def test_more_series_than_can_be_told_apart_are_refused():
    rows = [{"n": n, "method": str(m), "error": 1.0} for m in range(MOST_SERIES + 1) for n in (1, 2)]
    with pytest.raises(ValueError, match="series"):
        lines(Results(rows), "n")


def test_every_method_that_is_compared_has_a_colour_of_its_own():
    run = {name: method.colour for name, method in METHODS.items() if method.run}
    assert len(set(run.values())) == len(run)
    assert colour("REM") == METHODS["REM"].colour
    assert colour("BoxEM random, k = 42") == colour("BoxEM random, k = 42")
