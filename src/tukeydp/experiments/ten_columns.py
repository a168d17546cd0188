"""Ten columns, with a proof."""

from __future__ import annotations

from tukeydp.experiments.claims import Check, Claim, Finding
from tukeydp.experiments.estimates import ratio
from tukeydp.experiments.experiment import Cell, Experiment, Seeds, Settings, cell, register
from tukeydp.experiments.figures import lines
from tukeydp.experiments.methods import EMPIRICAL
from tukeydp.experiments.results import NotMeasured, Results, Row
from tukeydp.experiments.setup import errors_to_mean, papers_data

_QUICK = ("BoxEM random", "BoxEM default", "Gaussian", "CoinPress")
_SLOW = ("BoxEM MCMC (no proof)", "REM")  # seconds each


def _cells(quick: bool) -> list[Cell]:
    rows = (250, 750, 1000) if quick else (100, 250, 500, 750, 1000, 1500, 2000)
    trials = {750: 200, 1000: 200}  # a claim hangs on these, and 50 would leave it open
    cells = [cell(10 if quick else trials.get(n, 50), n=n, d=10, slow=False) for n in rows]
    slow = (250,) if quick else (100, 250, 500, 750, 1000, 1500)
    return cells + [cell(2 if quick else 10, n=n, d=10, slow=True) for n in slow]


def _measure(settings: Settings, seeds: Seeds) -> list[Row]:
    mu, x = papers_data(settings["n"], settings["d"], seeds.rng("data"))
    rows = errors_to_mean(x, mu, _SLOW if settings["slow"] else _QUICK, seeds)
    return rows[1:] if settings["slow"] else rows


def comparable(method: str, rows: tuple[int, ...]) -> Check:
    def check(results: Results) -> list[Finding]:
        return [
            Finding(
                f"{method} / empirical at n = {n}",
                ratio(results.values("error", method=method, n=n), results.values("error", method=EMPIRICAL, n=n)),
                at_most=1.5,
            )
            for n in rows
        ]

    return check


def _same_as_mcmc(results: Results) -> list[Finding]:
    rows = [n for n in results.distinct("n", method="BoxEM MCMC (no proof)") if n >= 500]
    if not rows:
        raise NotMeasured("no error for MCMC at n >= 500")
    return [
        Finding(
            f"MCMC / proven at n = {n}",
            ratio(
                results.values("error", method="BoxEM MCMC (no proof)", n=n),
                results.values("error", method="BoxEM random", n=n),
                paired=False,
            ),
            0.5,
            2.0,
        )
        for n in rows
    ]


def _not_before(results: Results) -> list[Finding]:
    first = results.values("error", method="BoxEM random", n=250)
    return [
        Finding("BoxEM / empirical at n = 250", ratio(first, results.values("error", method=EMPIRICAL, n=250)), 1.5)
    ]


TEN = Experiment(
    name="ten-columns",
    title="Ten columns: error against the number of rows",
    place="Figure: the analog of the first in d = 10, there by MCMC without a proof and in one trial",
    cells=_cells,
    measure=_measure,
    draw=lambda results: lines(results, "n", methods=[EMPIRICAL, *_QUICK, *_SLOW]),
    across=("n", "method"),
    chunk=2,
    claims=(
        Claim(
            "The privacy error is comparable to the sampling error (1.5 times at most) from n = 75 d: BoxEM, k = 30.",
            comparable("BoxEM random", (750, 1000)),
        ),
        Claim(
            "The same for BoxEM with its default directions (300, spread).", comparable("BoxEM default", (750, 1000))
        ),
        Claim("At n = 25 d it is not yet comparable.", _not_before),
        Claim("The MCMC mode has the error of the proven mechanism (within a factor 2).", _same_as_mcmc),
    ),
)
register(TEN)
