"""Confidence intervals of quantiles, and quantiles in passes: coverage, prices, and the same bits from every source."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import tukeydp as td
from support.charges import charge
from tukeydp.mechanisms import quantile_intervals
from tukeydp.mechanisms import quantiles as module
from tukeydp.mechanisms.quantile_intervals import ranks_away, shares_of_ends
from tukeydp.trusted import steps
from tukeydp.trusted.bits import derived_key
from tukeydp.trusted.ranks import ALL, levels_of
from tukeydp.trusted.steps import HALF, noised_counts

MEDIAN = (Fraction(1, 2),)
SCORES = np.array([1.0, 2.0, 3.0, 4.0, 5.0])


def scores(rng, n):
    return rng.choice(SCORES, n, p=[0.05, 0.1, 0.33, 0.37, 0.15])  # the median is 4, 48 of 100 are at most 3


def mostly_zero(rng, n):
    return np.where(rng.random(n) < 0.4, 0.0, rng.exponential(size=n))


POPULATIONS = {
    "normal": (lambda rng, n: rng.normal(0.137, 1.0, n), 0.137, (-50, 50)),
    "scores": (scores, 4.0, (-20, 30)),
    "40 % zeros": (mostly_zero, float(np.log(1.2)), (0, 60)),
}


@pytest.mark.parametrize("name", POPULATIONS)
def test_intervals_cover(name):
    """40 samples of 600; of a coverage of 0.95, 34 or fewer are covered with a chance of 1 in 70; seeds are fixed."""
    draw, truth, bounds = POPULATIONS[name]
    inside = []
    for i in range(40):
        x = draw(np.random.default_rng([3, i]), 600)
        found = td.quantiles(x, 0.5, epsilon=1, bounds=bounds, confidence=0.95, randomness=td.seeded(i))
        (((low, high),),) = found.intervals
        assert low <= found[0.5][0] <= high
        inside.append(low <= truth <= high)
    assert np.mean(inside) > 0.85


def test_intervals_without_their_allowances_do_not_cover(monkeypatch):
    monkeypatch.setattr(quantile_intervals, "ranks_away", lambda *_: 1.0)
    inside = []
    for i in range(30):
        x = np.random.default_rng([3, i]).normal(0.137, 1.0, 600)
        found = td.quantiles(x, 0.5, epsilon=1, bounds=(-50, 50), confidence=0.95, randomness=td.seeded(i))
        (((low, high),),) = found.intervals
        inside.append(low <= 0.137 <= high)
    assert np.mean(inside) < 0.7


def test_an_end_lies_as_far_as_sampling_and_the_draw_reach():
    """Against simulation: a Gaussian rank, and an exponential excess beyond ln C."""
    weight, values, share = 0.2, 1000.0, 0.3
    rng = np.random.default_rng(1)
    both = rng.normal(0.0, np.sqrt(values * share * (1 - share)), 10**6) + rng.exponential(1 / weight, 10**6)
    away = ranks_away(share, values, weight, 0.025, 3.0) - 3.0 / weight - 1.0 - 0.4
    assert away == pytest.approx(float(np.quantile(both, 0.975)), rel=0.02)


def test_shares_of_ends_shrink_with_values_and_are_what_their_own_weights_allow():
    few, many = (shares_of_ends(MEDIAN, n, Fraction(1, 2), ALL, 0.95, 3.0) for n in (500, 5000))
    assert few.ends[0][0] < many.ends[0][0] < Fraction(1, 2) < many.ends[0][1] < few.ends[0][1]
    assert shares_of_ends(MEDIAN, 30, Fraction(1, 2), ALL, 0.95, 3.0).ends == ((None, None),)
    weight = min(float(w) for w, _ in levels_of(many.shares, Fraction(1, 2), ALL)) * 7 / 8
    assert float(many.ends[0][1] - Fraction(1, 2)) * 5000 >= 0.98 * ranks_away(0.5, 5000, weight, 0.025, 3.0)


def test_numbers_of_values_have_noise_of_the_scale_that_is_paid(monkeypatch):
    """A swap within a table moves each by 1, one between two groups those of both."""
    scales = []
    noise = steps.cube_noise
    monkeypatch.setattr(
        steps, "cube_noise", lambda d, scale, bits: scales.append(scale / HALF) or noise(d, scale, bits)
    )
    for keys, relation in ((None, "swap"), (1, "swap"), (2, "swap"), (2, "add-remove")):
        part = charge(Fraction(1, 4), derived_key("numbers", keys, relation), neighbours=relation)
        assert len(noised_counts([3, 4, 5, 6], part, keys)) == 4
    assert scales == [4, 4, 8, 8, 4, 4]


def test_ends_hang_on_noised_numbers_alone(monkeypatch):
    """Twenty missing cells of 400 change nothing that is not released, if the noised number is the same."""
    asked = []
    drawn = module.drawn_quantiles
    monkeypatch.setattr(module, "noised_counts", lambda counts, charge, keys: [Fraction(380)] * len(counts))
    monkeypatch.setattr(
        module,
        "drawn_quantiles",
        lambda values, units, *more: asked.append(units[0].shares) or drawn(values, units, *more),
    )
    for gaps in (0, 20):
        x = np.arange(400.0)
        x[:gaps] = np.nan
        td.quantiles(x, 0.5, epsilon=1, bounds=(0, 400), confidence=0.95, randomness=td.seeded(1))
    assert asked[0] == asked[1]
    assert len(asked[0]) == 3


def table(n=240):
    rng = np.random.default_rng(8)
    x = np.column_stack([np.round(rng.exponential(30, n)), rng.normal(50, 9, n)])
    x[rng.random(n) < 0.1, 0] = np.nan
    return x, rng.integers(0, 3, n), np.repeat(np.arange(n // 2), 2)


@pytest.mark.parametrize("engine", ["polars", "duckdb"])
def test_a_lazy_frame_gives_the_same_bits(engine):
    """By group, with intervals, of a secret number of rows."""
    polars = pytest.importorskip("polars")
    x, groups, _ = table()
    frame = polars.DataFrame({"a": x[:, 0], "b": x[:, 1], "g": groups}).with_columns(polars.col("a").fill_nan(None))
    asked = {"epsilon": 4, "bounds": (0, 300), "by": "g", "keys": [0, 1], "confidence": 0.9, "q": [0.5, 0.8],
             "neighbours": "add-remove", "rows": 240}  # fmt: skip
    held = td.quantiles(frame, **asked, check=False, randomness=td.seeded(5))
    lazy = frame.lazy() if engine == "polars" else pytest.importorskip("duckdb").from_arrow(frame.to_arrow())
    passed = td.quantiles(lazy, **asked, randomness=td.seeded(5))
    for key in held:
        assert (held[key].values_by_share == passed[key].values_by_share).all()
        assert (held[key].intervals == passed[key].intervals).all()
    assert held.guarantee == passed.guarantee
    assert "(" in str(held).splitlines()[3]


def test_everything_at_once():
    """Groups, persons, a secret number of them, joint intervals, a lazy frame, an accountant."""
    polars = pytest.importorskip("polars")
    x, groups, persons = table()
    frame = polars.LazyFrame({"a": x[:, 1], "g": groups[persons], "who": persons})
    account = td.Accountant(3, neighbours="add-remove-person")
    found = td.quantiles(
        frame, [0.25, 0.5], epsilon=2, bounds={"a": (0, 300)}, by="g", keys=[0, 1], person="who", per_person="mean",
        neighbours="add-remove", rows=120, confidence=0.9, joint=True, accountant=account, randomness=td.seeded(5),
    )  # fmt: skip
    assert account.remaining().epsilon == 1
    assert found.guarantee.neighbours == "add-remove-person"
    assert found["0"].intervals.shape == (2, 1, 2)
    assert list(found.to_frame().columns) == ["a", "a (lower)", "a (upper)"]


def test_what_is_asked_wrongly_is_refused():
    for wrong, named in (({"confidence": 2}, "confidence"), ({"joint": True}, "joint"), ({"joint": 1}, "joint")):
        with pytest.raises(td.ParameterError) as caught:
            td.quantiles([1.0, 2.0], epsilon=1, bounds=(0, 3), **wrong)
        assert caught.value.parameter == named


def test_the_result_shows_its_intervals():
    found = td.quantiles(np.arange(900.0), 0.5, epsilon=2, bounds=(0, 1000), confidence=0.95, randomness=td.seeded(1))
    assert found.to_dict()["intervals"]["0.5"] == found.intervals[0].tolist()
    assert list(found.to_frame().columns) == ["column 0", "column 0 (lower)", "column 0 (upper)"]
    assert "nominal 95 % confidence interval for the population's quantile" in " ".join(str(found).split())
    assert found.guarantee.epsilon == 2
    assert td.quantiles(np.arange(9.0), 0.5, epsilon=2, bounds=(0, 1000), randomness=td.seeded(1)).intervals is None
