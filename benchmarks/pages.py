"""Accuracy that pages of the documentation state, measured again: seeded releases against the tables' own means.

    python benchmarks/pages.py                      # all of it: about two minutes on one core
    python benchmarks/pages.py which-mechanism      # one page

Needs scikit-learn and statsmodels, which ship the tables.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pandas as pd

import tukeydp as td
from tukeydp.trusted.parameters import FloatArray


def quantiles(errors: Iterable[Any]) -> tuple[FloatArray, FloatArray]:
    """Half within, 95 of 100 within: for each column."""
    table = np.array([np.asarray(error, dtype=float) for error in errors])
    return np.nanmedian(table, axis=0), np.nanquantile(table, 0.95, axis=0)


def show(name: str, *numbers: Any) -> None:
    print(f"{name:44}", *(f"{number:.4g}" for number in np.ravel(np.concatenate([np.ravel(n) for n in numbers]))))


def which_mechanism() -> None:
    for n, d in ((300, 4), (50, 2)):
        for shape in ("bell-shaped", "exponential"):
            found = []
            for seed in range(100):
                rng = np.random.default_rng(seed)
                x = 50 + rng.normal(size=(n, d)) if shape == "bell-shaped" else 49 + rng.exponential(size=(n, d))
                release = td.mean(x, epsilon=1, bounds=(0, 100), randomness=td.seeded(seed))
                found.append(np.abs(release.point - x.mean(axis=0)))
            show(f"{n} x {d}, {shape}", np.median(found))
    narrow = [error_between(10, seed) for seed in range(100)]
    show("50 x 2, bounds 10 sd wide", np.median(narrow))
    for groups in (2, 4):
        for width in (10, 20, 100):
            both = [np.median([group_errors(groups, width, sd, seed) for seed in range(20)]) for sd in (None, 1)]
            show(f"2000 x 6, {groups} groups, {width} sd: without, with sd", both)


def error_between(width: float, seed: int) -> FloatArray:
    x = np.random.default_rng(seed).normal(width / 2, 1, (50, 2))
    point = td.mean(x, epsilon=1, bounds=(0, width), randomness=td.seeded(seed)).point
    return np.asarray(np.abs(point - x.mean(axis=0)))


def group_errors(groups: int, width: float, sd: float | None, seed: int) -> FloatArray:
    rng = np.random.default_rng(seed)
    x, by = rng.normal(width / 2, 1, (2000, 6)), rng.integers(0, groups, 2000)
    asked: dict[str, Any] = {"by": by, "keys": list(range(groups)), "sd": sd, "randomness": td.seeded(seed)}
    found: Any = td.mean(x, epsilon=1, bounds=(0, width), **asked)
    return np.array([np.abs(found[key].point - x[by == key].mean(axis=0)) for key in range(groups)])


def hospital() -> None:
    from sklearn.datasets import load_breast_cancer

    frame = load_breast_cancer(as_frame=True).frame
    table = frame[["mean radius", "mean perimeter", "mean texture", "mean symmetry"]]
    table.columns = ["radius", "perimeter", "texture", "symmetry"]
    bounds = {"radius": (5, 35), "perimeter": (31, 220), "texture": (0, 128), "symmetry": (0, 0.5)}
    # What the check of readable rows leaves of 1 and of 2.
    asked: dict[str, Any] = {"epsilon": "0.95", "bounds": bounds, "check": False}
    means = [np.abs(td.mean(table, **asked, randomness=td.seeded(s)).point - table.mean()) for s in range(100)]
    show("means: half within, 95 of 100 within", *quantiles(means))
    show("half within, in standard deviations", quantiles(means)[0] / table.std())
    named = table.assign(diagnosis=np.where(frame["target"] == 0, "malignant", "benign"))
    for told, given in (("Table 1", bounds), ("Table 1, texture 0 to 60", {**bounds, "texture": (0, 60)})):
        lines = [summary_lines(named, given, "diagnosis", "1.9", seed) for seed in range(100)]
        show(f"{told}: half within", by_column(lines, "error").median(axis=0)[list(bounds)])
    lines = [summary_lines(named, bounds, "diagnosis", "1.9", seed) for seed in range(100)]
    show("intervals that hold the mean", pd.concat(lines)["held"].mean())
    show("deviation of the radius told", 1 - pd.concat(lines).query("column == 'radius'")["sd"].isna().mean())
    wide = [line.pivot(index="column", columns="group", values="mean") for line in lines]
    show("malignant above benign", np.mean([(w["malignant"] > w["benign"])[list(bounds)] for w in wide], axis=0))


def summary_lines(table: Any, bounds: Any, by: str, epsilon: str, seed: int) -> Any:
    """The lines of a Table 1, with errors and whether intervals hold the table's own means."""
    asked: dict[str, Any] = {"epsilon": epsilon, "bounds": bounds, "by": by, "keys": sorted(set(table[by]))}
    lines = td.summary(table, **asked, check=False, randomness=td.seeded(seed)).to_frame()
    true = table.groupby(by).mean()
    means = np.array([true.loc[line.group, line.column] for line in lines.itertuples()])
    held = (lines["lower"] <= means) & (means <= lines["upper"])
    return lines.assign(error=np.abs(lines["mean"] - means), held=held)


def by_column(lines: list[Any], name: str) -> Any:
    return pd.concat([line.pivot(index="group", columns="column", values=name) for line in lines])


def survey() -> None:
    import statsmodels.api as sm

    bounds = {"age": (18, 100), "TVnews": (0, 7), "selfLR": (1, 7), "educ": (1, 7)}
    answers = sm.datasets.anes96.load_pandas().data[list(bounds)]
    truth = answers.mean().to_numpy()
    for days in (2.0, 2.7):
        sd, held = {"age": 17, "TVnews": days, "selfLR": 1.5, "educ": 1.5}, []
        rng = np.random.default_rng(2)
        for seed in range(700):
            sample = answers.iloc[rng.integers(0, len(answers), len(answers))]
            asked: dict[str, Any] = {"bounds": bounds, "sd": sd, "confidence": 0.95, "randomness": td.seeded(seed)}
            low, high = td.mean(sample, epsilon=1, check=False, **asked).interval.T  # type: ignore[union-attr]
            held.append((low <= truth) & (truth <= high))
        show(f"intervals that hold the mean, sd of TVnews {days:g}", np.mean(held, axis=0))


def marriages() -> None:
    import statsmodels.api as sm
    from sklearn.linear_model import LinearRegression, LogisticRegression

    frame = sm.datasets.fair.load_pandas().data.rename(columns={"yrs_married": "married"})
    frame.loc[frame.index % 50 == 0, "educ"] = np.nan
    frame["affair"] = (frame["affairs"] > 0).astype(float)
    bounds = {"age": (17, 60), "married": (0, 40), "educ": (5, 25), "affair": (0, 1)}
    x = frame[list(bounds)]
    asked: dict[str, Any] = {"epsilon": 1, "bounds": bounds}
    errors = [np.abs(td.mean(x, **asked, randomness=td.seeded(s)).point - x.mean()) / x.std() for s in range(100)]
    show("means, in standard deviations: half, 95", np.median(errors), np.quantile(errors, 0.95))
    ranges = {"age": (17, 50), "children": (0, 6), "religious": (1, 4)}
    features, target = frame[list(ranges)], frame["married"]
    given: dict[str, Any] = {"epsilon": 1, "bounds": (-2, 2), "ranges": ranges, "target_range": (0, 30)}
    points: list[Any] = [td.regression(features, target, **given, randomness=td.seeded(s)).point for s in range(30)]
    fits = [1 - np.mean((target - features.to_numpy() @ p[1:] - p[0]) ** 2) / np.var(target) for p in points]
    show(
        "R^2: plain, median, least",
        LinearRegression().fit(features, target).score(features, target),
        np.median(fits),
        min(fits),
    )
    show("pipeline: median, least", *pipeline_fits(features, target, ranges))
    questions = frame[["rate_marriage", "married", "religious", "affair"]]
    logit: dict[str, Any] = {
        "target": "affair",
        "attribute": ("intercept_", "coef_"),
        "blocks": 160,
        "bounds": (-10, 10),
    }
    found: list[Any] = [
        td.aggregate(questions, LogisticRegression(), epsilon=1, **logit, randomness=td.seeded(s)).point
        for s in range(20)
    ]
    show("logistic: medians, standard deviations", np.median(found, axis=0), np.std(found, axis=0))


def pipeline_fits(features: Any, target: Any, ranges: Any) -> tuple[float, float]:
    """R^2 of a private scaler and regression: the median and the least of 20."""
    from sklearn.pipeline import make_pipeline

    from tukeydp.integrations.sklearn import PrivateLinearRegression, PrivateStandardScaler

    fits = []
    for seed in range(20):
        scaler = PrivateStandardScaler(epsilon=1, bounds=ranges, randomness=td.seeded(seed))
        model = make_pipeline(scaler, PrivateLinearRegression(epsilon=1, bounds=(-30, 30), randomness=td.seeded(seed)))
        fits.append(model.set_output(transform="pandas").fit(features, target).score(features, target))
    return float(np.median(fits)), min(fits)


PAGES: dict[str, Callable[[], None]] = {
    "which-mechanism": which_mechanism,
    "hospital": hospital,
    "survey": survey,
    "pandas-scikit-learn": marriages,
}

if __name__ == "__main__":
    for name in sys.argv[1:] or PAGES:
        print(f"\n{name}")
        PAGES[name]()
