"""Claims are decided by intervals: true ones hold, false ones fail, few trials leave them open."""

from __future__ import annotations

import numpy as np
import pytest

from support.claims import claim
from tukeydp.paper.experiments import experiment
from tukeydp.paper.experiments.catalogue import EXPERIMENTS, named
from tukeydp.paper.experiments.experiment import PAPER, Claim, Finding, NotMeasured, Results, judge
from tukeydp.paper.experiments.sentences import SENTENCES

EMPTY = Results([])


def made_up(boxem, others, trials=40, rows=(100, 200, 500, 1000)):
    """Errors of error-n with BoxEM at `boxem` times the sampling error and everything else at `others` times."""
    rng = np.random.default_rng(0)
    factors = {"empirical": 1.0, "BoxEM random": boxem, "Gaussian": others, "CoinPress": others}
    factors |= {"Huang-Liang-Yi": others, "PLAN": 3 * others}
    return Results(
        {"n": n, "trial": i, "method": method, "error": factor * rng.gamma(4.0, 0.25) / np.sqrt(n)}
        for n in rows
        for i in range(trials)
        for method, factor in factors.items()
    )


@pytest.mark.parametrize(
    ("boxem", "others", "expected"),
    [
        (1.0, 5.0, (True, True, True, True, True)),
        (5.0, 1.0, (False, False, False, False, False)),
        (4.0, 6.0, (True, True, None, True, False)),
    ],
)
def test_claims_of_the_first_figure_on_fabricated_results(boxem, others, expected):
    names = ("below-gaussian", "below-coinpress", "much-better", "consistently", "comparable")
    found = made_up(boxem, others, trials=100)
    verdicts = tuple(judge(claim(f"error-n/{name}"), found).holds for name in names)
    assert verdicts[:2] + verdicts[3:] == expected[:2] + expected[3:]
    assert verdicts[2] in ((expected[2],) if expected[2] is not None else (None, False))
    assert judge(claim("error-n/perform-similarly"), found).holds is False  # PLAN has three times the error


class TestTheMapOfSentences:
    def ids(self):
        return [f"{e.name}/{c.name}" for e in EXPERIMENTS for c in e.claims]

    def test_every_claim_has_a_name_of_its_own_and_a_place(self):
        assert len(set(self.ids())) == len(self.ids())
        assert {name for sentence in SENTENCES for name in sentence.claims} == set(self.ids())

    def test_every_sentence_has_a_claim_or_a_reason(self):
        for sentence in SENTENCES:
            assert sentence.claims or sentence.reason, sentence.quote
            assert sentence.place
            assert sentence.quote
            assert len(set(sentence.claims)) == len(sentence.claims)

    def test_what_is_called_the_papers_is_in_a_sentence_of_the_paper(self):
        told = {name for s in SENTENCES if s.place != "Beyond the paper" for name in s.claims}
        theirs = {f"{e.name}/{c.name}" for e in EXPERIMENTS for c in e.claims if c.whose == PAPER}
        assert theirs <= told

    def test_no_sentence_is_there_twice(self):
        assert len({(s.place, s.quote) for s in SENTENCES}) == len(SENTENCES)


def test_few_trials_leave_a_claim_open():
    verdict = judge(claim("error-n/below-gaussian"), made_up(1.0, 1.1, trials=3))
    assert verdict.holds is None
    assert verdict.word == "undecided"


def test_what_was_not_measured_is_open_and_says_so():
    verdict = judge(claim("error-n/below-gaussian"), EMPTY)
    assert verdict.holds is None
    assert "not part of this run" in verdict.numbers[0]


def test_one_finding_outside_its_range_is_enough():
    inside, outside = experiment.exactly(1.0), experiment.exactly(3.0)
    two = Claim("x", "X.", lambda _: [Finding("a", inside, 0, 2), Finding("b", outside, 0, 2)], limits="at n = 9")
    assert judge(two, EMPTY).holds is False
    assert judge(two, EMPTY).remark == "not seen at n = 9"
    one = judge(Claim("x", "X.", lambda _: [Finding("a", inside, 0, 2)], limits="at n = 9"), EMPTY)
    assert one.holds is True
    assert not one.remark


def test_a_missing_value_among_the_trials_is_not_averaged_away():
    results = Results([{"method": "REM", "error": 0.1}, {"method": "REM", "error": None}])
    with pytest.raises(NotMeasured):
        results.values("error", method="REM")


def test_two_trials_and_averages_of_nothing_break_no_report():
    wild = Results(
        {"n": n, "method": m, "error": e}
        for n in (100, 200)
        for m, errors in (("BoxEM random", (1e-300, 1e300)), ("Gaussian", (1e300, 1e-300)), ("CoinPress", (0.0, 0.0)))
        for e in errors
    )
    assert {judge(claim, wild).holds for claim in named("error-n").claims} == {None}
    assert experiment.ratio(np.array([1e-9, 1e9]), np.array([1e9, 1e-9])).interval(0.9999) == (0.0, np.inf)


class TestIntervals:
    """Coverage of nominal 90 % intervals: 400 repetitions, so that outside 0.82 ... 0.97 has probability below 1e-6."""

    REPETITIONS = 400

    def coverage(self, make, truth):
        rng = np.random.default_rng(1)
        hits = 0
        for _ in range(self.REPETITIONS):
            low, high = make(rng).interval(0.9)
            hits += low <= truth <= high
        return hits / self.REPETITIONS

    def test_mean(self):
        assert 0.82 < self.coverage(lambda rng: experiment.mean(rng.normal(2.0, 1.0, 10)), 2.0) < 0.97

    def test_ratio_of_paired_means(self):
        def make(rng):
            common = rng.gamma(9.0, size=40)
            return experiment.ratio(2 * common + rng.gamma(4.0, size=40), common + rng.gamma(4.0, size=40))

        assert 0.82 < self.coverage(make, 22 / 13) < 0.97

    def test_slope(self):
        def make(rng):
            return experiment.slope([1, 2, 4], [x**-0.5 * rng.gamma(9.0, size=30) for x in (1, 2, 4)])

        assert 0.82 < self.coverage(make, -0.5) < 0.97

    def test_slope_of_ratio(self):
        def make(rng):
            common = [rng.gamma(9.0, size=30) for _ in range(3)]
            above = [x**0.5 * (c + rng.gamma(4.0, size=30)) for x, c in zip((1, 2, 4), common, strict=True)]
            return experiment.slope_of_ratio([1, 2, 4], above, [c + rng.gamma(4.0, size=30) for c in common])

        assert 0.82 < self.coverage(make, 0.5) < 0.97

    def test_linear_slope(self):
        def make(rng):
            return experiment.linear_slope([0, 1, 2], [3 * x + rng.normal(size=30) for x in (0, 1, 2)])

        assert 0.82 < self.coverage(make, 3.0) < 0.97

    def test_proportion_covers_at_least_what_it_says(self):
        assert self.coverage(lambda rng: experiment.proportion(rng.random(30) < 0.9), 0.9) > 0.82

    def test_a_difference_covers_at_least_what_it_says(self):
        def make(rng):
            return experiment.difference(
                experiment.mean(rng.normal(1.0, 1.0, 20)), experiment.mean(rng.normal(0.0, 1.0, 20))
            )

        assert self.coverage(make, 1.0) > 0.82

    def test_a_quotient_covers_at_least_what_it_says(self):
        def make(rng):
            return experiment.quotient(
                experiment.mean(rng.normal(9.0, 1.0, 20)), experiment.mean(rng.normal(3.0, 1.0, 20))
            )

        assert self.coverage(make, 3.0) > 0.82

    def test_the_papers_bars_are_too_short(self):
        """The must-fail control: ten trials, 95 % as the paper prints them."""

        def make(rng):
            sample = rng.normal(2.0, 1.0, 10)
            half = experiment.papers_half_width(sample)
            return experiment.Estimate(2.0, lambda _: (sample.mean() - half, sample.mean() + half))

        assert self.coverage(make, 2.0) < 0.5

    def test_one_trial_says_nothing(self):
        low, high = experiment.mean(np.array([1.0])).interval(0.9)
        assert (low, high) == (-np.inf, np.inf)
