"""Exact depth in four columns, up to n = 1000."""

from __future__ import annotations

from tukeydp.paper.experiments.experiment import (
    Cell,
    Check,
    Claim,
    Experiment,
    Finding,
    Results,
    Row,
    Seeds,
    Settings,
    cell,
    ratio,
    register,
)
from tukeydp.paper.experiments.figures import lines
from tukeydp.paper.experiments.methods import EMPIRICAL, errors_to_mean, papers_data


def _cells(quick: bool) -> list[Cell]:
    trials = {50: 8, 100: 8, 200: 24, 500: 6} if quick else {50: 50, 100: 50, 200: 50, 500: 30, 1000: 16}
    return [cell(count, n=n, d=4) for n, count in trials.items()]


def _measure(settings: Settings, seeds: Seeds) -> list[Row]:
    mu, x = papers_data(settings["n"], settings["d"], seeds.rng("data"))
    names = ("BoxEM exact", "BoxEM random", "BoxEM default", "BoxEM axis-aligned", "CoinPress")
    return errors_to_mean(x, mu, names, seeds)


def _comparable(n: int) -> Check:
    def check(results: Results) -> list[Finding]:
        pair = (results.values("error", method=m, n=n) for m in ("BoxEM exact", EMPIRICAL))
        return [Finding(f"exact / empirical at n = {n}", ratio(*pair), at_most=2.0)]

    return check


def _near_default(results: Results) -> list[Finding]:
    pair = [results.values("error", method=m, n=n) for m in ("BoxEM exact", "BoxEM default") for n in (200,)]
    return [Finding("exact / default (120 spread directions) at n = 200", ratio(pair[0], pair[1]), 0.5, 2.0)]


EXACT_FOUR = Experiment(
    name="exact-four",
    title="Exact depth in four columns",
    place="Beyond the paper, which stops at n = 50 there",
    cells=_cells,
    measure=_measure,
    draw=lambda results: lines(results, "n"),
    across=("n", "method"),
    chunk=1,
    claims=(
        *(
            Claim(
                f"With exact depth in d = 4 the privacy error is at most twice the sampling error at n = {n}.",
                _comparable(n),
            )
            for n in (500, 1000)
        ),
        Claim("Exact depth and the default directions have the same error within a factor 2.", _near_default),
    ),
)
register(EXACT_FOUR)
