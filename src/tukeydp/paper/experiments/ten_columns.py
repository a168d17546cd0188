"""Ten columns, with a proof."""

from __future__ import annotations

from tukeydp.paper.experiments.experiment import (
    PAPER,
    Cell,
    Check,
    Claim,
    Experiment,
    Finding,
    NotMeasured,
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

# What runs together on one table. A claim that hangs on few percent needs hundreds of trials: of the cheap ones only.
_TOGETHER = {
    "cheap": ("BoxEM random", "Gaussian", "CoinPress"),
    "default": ("BoxEM default",),
    "walks": ("BoxEM MCMC (no proof)",),
    "rem": ("REM",),
}
_CLAIMED = (750, 1000)  # rows at which claims compare


def _cells(quick: bool) -> list[Cell]:
    if quick:
        trials = {
            "cheap": {250: 40, 750: 100, 1000: 100},
            "default": {250: 4, 750: 30, 1000: 30},
            "walks": {500: 6},
            "rem": {500: 3},
        }
        # The walks' counterpart on as many rows.
        trials["cheap"][500] = 40
    else:
        rows = (100, 250, 500, 750, 1000, 1500, 2000)
        many = {n: 400 if n in _CLAIMED else 100 for n in rows}
        trials = {"cheap": many, "default": many, "walks": dict.fromkeys(rows[:-1], 10)}
        trials["rem"] = dict.fromkeys(rows[:-1], 10)
    return [cell(count, n=n, d=10, run=run) for run, some in trials.items() for n, count in sorted(some.items())]


def _measure(settings: Settings, seeds: Seeds) -> list[Row]:
    mu, x = papers_data(settings["n"], settings["d"], seeds.rng("data"))
    rows = errors_to_mean(x, mu, _TOGETHER[settings["run"]], seeds)
    return rows if settings["run"] in ("cheap", "default") else rows[1:]


def comparable(method: str, rows: tuple[int, ...], **where: str) -> Check:
    def check(results: Results) -> list[Finding]:
        return [
            Finding(
                f"{method} / empirical at n = {n}",
                ratio(*(results.values("error", method=m, n=n, **where) for m in (method, EMPIRICAL))),
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
    pair = (results.values("error", method=m, n=250, run="cheap") for m in ("BoxEM random", EMPIRICAL))
    return [Finding("BoxEM / empirical at n = 250", ratio(*pair), 1.5)]


TEN = Experiment(
    name="ten-columns",
    title="Ten columns: error against the number of rows",
    place="Figure: the analog of the first in d = 10, there by MCMC without a proof and in one trial",
    cells=_cells,
    measure=_measure,
    draw=lambda results: lines(results, "n", methods=[EMPIRICAL, *(m for some in _TOGETHER.values() for m in some)]),
    across=("n", "method"),
    chunk=2,
    claims=(
        Claim(
            "The privacy error is comparable to the sampling error (1.5 times at most) from n = 75 d: BoxEM, k = 30.",
            comparable("BoxEM random", _CLAIMED, run="cheap"),
            whose=PAPER,
        ),
        Claim(
            "The same for BoxEM with its default directions (300, spread).",
            comparable("BoxEM default", _CLAIMED, run="default"),
        ),
        Claim("At n = 25 d it is not yet comparable.", _not_before),
        Claim("The MCMC mode has the error of the proven mechanism (within a factor 2).", _same_as_mcmc),
    ),
)
register(TEN)
