"""Tables 1 as people have them: how far their lines are off, and how often intervals cover. Prints one table.

    python benchmarks/table1.py [runs [name ...]]

Named before the first run, each unlike the others: a clinic (the plan was first tuned on it), a cardiology with skewed
laboratory values, counts with many zeros, a category of five and arms of 200 and 360, an oncology with three arms, two
real tables (442 patients with diabetes from scikit-learn in two arms by lot; 944 voters of 1996 from statsmodels, by
vote), three tables of 1,000 rows and ten columns whose bounds nobody knows, and a survey with weights, whole and by
region. Epsilon is 1, bounds are those that one would give without a look. Every run draws the table anew: real ones
with replacement.

Named after the plan was made, and run once: dialysis (as many columns and rows as the clinic, other laws), 560 of 6,366
marriages of 1974 and 303 Californian school districts without bounds, both from statsmodels.

Errors are those against the table's own values: of means in standard deviations within groups, of standard deviations
as a share of that, of shares as they are. Coverage is of the population's mean or share at 95 %; "sd in range": where
eight of ten likely deviations lie, the table's own is found. "-": lines without a
number, or a standard deviation, that were not named beforehand.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

import tukeydp as td

Rng = np.random.Generator


class Study(NamedTuple):
    """A way to draw its table, and what its owner declares."""

    draw: Callable[[Rng, int], pd.DataFrame]  # so many rows
    n: int
    bounds: Mapping[str, Any]
    categories: Mapping[str, Any] | None = None
    by: str | None = None
    keys: tuple[Any, ...] = ()
    weights: tuple[float, float] | None = None


CLINIC = {
    "age": (18, 95), "bmi": (12, 60), "systolic": (60, 240), "crp": (0, 50), "hba1c": (3, 16), "pain": (0, 10),
}  # fmt: skip
CLINIC_CATEGORIES = {"sex": ["f", "m"], "smoker": ["yes", "no"], "stage": ["I", "II", "III"]}


def _arms(n: int, **shares: float) -> np.ndarray:
    """In the same proportions whatever the number of rows."""
    ends = np.cumsum([0.0, *shares.values()]) / sum(shares.values())
    parts = zip(shares, ends[:-1], ends[1:], strict=True)
    return np.concatenate([[key] * (round(b * n) - round(a * n)) for key, a, b in parts])


def clinic(rng: Rng, n: int) -> pd.DataFrame:
    arm = _arms(n, A=280, B=280)
    frame = pd.DataFrame(
        {
            "age": np.round(rng.normal(62, 12, n)),
            "bmi": rng.normal(27, 4.5, n),
            "systolic": np.round(rng.normal(138, 19, n) + 1.9 * (arm == "B")),
            "crp": rng.lognormal(0.8, 1.1, n),
            "hba1c": 4.5 + rng.gamma(3.0, 0.6, n),
            "pain": np.clip(np.round(rng.normal(4, 2.2, n)), 0, 10),
            "sex": rng.choice(["f", "m"], n, p=[0.55, 0.45]),
            "smoker": rng.choice(["yes", "no"], n, p=[0.23, 0.77]),
            "stage": rng.choice(["I", "II", "III"], n, p=[0.5, 0.3, 0.2]),
            "arm": arm,
        }
    )
    frame.loc[rng.random(n) < 0.04, "bmi"] = np.nan
    return _within(frame, CLINIC)


CARDIOLOGY = {
    "age": (18, 100), "ntprobnp": (0, 10_000), "creatinine": (0.2, 8), "ldl": (20, 300), "admissions": (0, 12),
    "ejection": (10, 80),
}  # fmt: skip
CARDIOLOGY_CATEGORIES = {
    "sex": ["female", "male"], "nyha": ["I", "II", "III", "IV", "unknown"], "diabetes": ["no", "yes"],
}  # fmt: skip


def cardiology(rng: Rng, n: int) -> pd.DataFrame:
    arm = _arms(n, device=200, usual=360)
    frame = pd.DataFrame(
        {
            "age": np.round(92 - rng.gamma(4.0, 5.0, n)),
            "ntprobnp": rng.lognormal(6.9, 0.9, n),
            "creatinine": 0.6 + rng.lognormal(-0.9, 0.6, n),
            "ldl": rng.normal(112, 34, n),
            "admissions": rng.poisson(rng.gamma(0.7, 1.6, n)),
            "ejection": rng.normal(41, 11, n) + 3.0 * (arm == "device"),
            "sex": rng.choice(["female", "male"], n, p=[0.34, 0.66]),
            "nyha": rng.choice(CARDIOLOGY_CATEGORIES["nyha"], n, p=[0.12, 0.41, 0.33, 0.09, 0.05]),
            "diabetes": rng.choice(["no", "yes"], n, p=[0.71, 0.29]),
            "arm": arm,
        }
    )
    frame.loc[rng.random(n) < 0.06, "ldl"] = np.nan
    frame.loc[rng.random(n) < 0.03, "diabetes"] = None
    return _within(frame, CARDIOLOGY)


ONCOLOGY = {"age": (18, 100), "tumour": (0, 150), "nodes": (0, 40), "haemoglobin": (5, 20), "quality": (0, 100)}
ONCOLOGY_CATEGORIES = {"ecog": ["0", "1", "2"], "sex": ["f", "m"], "grade": ["1", "2", "3", "4"]}


def oncology(rng: Rng, n: int) -> pd.DataFrame:
    arm = _arms(n, low=150, high=210, placebo=240)
    frame = pd.DataFrame(
        {
            "age": np.round(rng.normal(58, 14, n)),
            "tumour": rng.gamma(2.2, 14.0, n),
            "nodes": np.where(rng.random(n) < 0.45, 0, rng.geometric(0.22, n)),
            "haemoglobin": rng.normal(12.4, 1.7, n),
            "quality": 100 * rng.beta(4.0, 1.6, n),
            "ecog": rng.choice(["0", "1", "2"], n, p=[0.44, 0.42, 0.14]),
            "sex": rng.choice(["f", "m"], n, p=[0.62, 0.38]),
            "grade": rng.choice(["1", "2", "3", "4"], n, p=[0.18, 0.4, 0.33, 0.09]),
            "arm": arm,
        }
    )
    frame.loc[rng.random(n) < 0.08, "quality"] = np.nan
    return _within(frame, ONCOLOGY)


DIABETES = {
    "age": (18, 90), "bmi": (15, 60), "bp": (50, 150), "s1": (80, 400), "s2": (20, 300), "s3": (10, 120), "s4": (1, 12),
    "s6": (50, 300),
}  # fmt: skip


def diabetes(rng: Rng, n: int) -> pd.DataFrame:
    from sklearn.datasets import load_diabetes

    frame = load_diabetes(as_frame=True, scaled=False).data
    frame = frame.iloc[rng.integers(0, len(frame), n)].reset_index(drop=True)
    return frame.assign(sex=frame.sex.map({1.0: "a", 2.0: "b"}), arm=_arms(n, A=1, B=1))


VOTERS = {"popul": (0, 10_000), "TVnews": (0, 7), "selfLR": (1, 7), "age": (18, 100), "income": (1, 24)}
VOTERS_CATEGORIES = {"PID": [0, 1, 2, 3, 4, 5, 6], "educ": [1, 2, 3, 4, 5, 6, 7]}


def voters(rng: Rng, n: int) -> pd.DataFrame:
    import statsmodels.api as sm

    frame = sm.datasets.anes96.load_pandas().data
    return frame.iloc[rng.integers(0, len(frame), n)].reset_index(drop=True)


def _within(frame: pd.DataFrame, bounds: Mapping[str, Any]) -> pd.DataFrame:
    for name, (low, high) in bounds.items():
        frame[name] = frame[name].clip(low, high)
    return frame


def ward(rng: Rng, n: int) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "age": rng.normal(62, 12, n), "bmi": rng.normal(27, 4.5, n), "systolic": rng.normal(138, 19, n),
            "crp": rng.lognormal(0.8, 1.1, n), "sodium": rng.normal(140, 3, n),
            "leucocytes": rng.lognormal(8.8, 0.3, n), "creatinine": rng.lognormal(0, 0.3, n),
            "change": rng.normal(-0.4, 2, n), "income": rng.lognormal(10, 0.6, n), "visits": rng.poisson(3, n),
        }
    )  # fmt: skip


def households(rng: Rng, n: int) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "persons": 1 + rng.poisson(1.3, n), "rent": rng.lognormal(6.6, 0.4, n),
            "wealth": rng.standard_t(4, n) * 40_000 + 60_000, "share": rng.beta(2, 6, n),
            "cars": rng.binomial(3, 0.35, n), "year": np.round(rng.normal(1975, 22, n)),
            "power": rng.gamma(5, 600, n), "balance": rng.normal(0, 900, n), "area": rng.gamma(7, 12, n),
            "emission": rng.lognormal(-5, 0.5, n),
        }
    )  # fmt: skip


def cells(rng: Rng, n: int) -> pd.DataFrame:
    from sklearn.datasets import load_breast_cancer

    frame = load_breast_cancer(as_frame=True).data.iloc[:, :10]
    return frame.iloc[rng.integers(0, len(frame), n)].reset_index(drop=True)


SURVEY = {"age": (18, 100), "hours": (0, 80), "trust": (0, 10)}
SURVEY_CATEGORIES = {"vote": ["yes", "no", "undecided"], "house": ["rents", "owns"]}
REGIONS = ("north", "south", "east", "west")


def survey(rng: Rng, n: int) -> pd.DataFrame:
    age = np.clip(rng.normal(52, 17, n), 18, 100)
    young = age < 45
    return pd.DataFrame(
        {
            "age": age, "hours": np.where(rng.random(n) < 0.35, 0, np.clip(rng.normal(37, 9, n), 0, 80)),
            "trust": np.clip(np.round(rng.normal(5.2 - 0.8 * young, 2.4, n)), 0, 10),
            "vote": np.where(rng.random(n) < 0.2, "undecided", np.where(rng.random(n) < 0.4 + young / 5, "yes", "no")),
            "house": np.where(rng.random(n) < 0.35 + 0.3 * young, "rents", "owns"),
            "region": rng.choice(REGIONS, n),
            "w": np.clip(np.where(young, 1.3, 0.8) * rng.lognormal(0, 0.4, n), 0.2, 4),
        }
    )  # fmt: skip


# Not tuned on: named after the plan was made, run once.

DIALYSIS = {
    "age": (18, 95), "vintage": (0, 30), "albumin": (1, 6), "phosphate": (0.3, 4), "ferritin": (0, 3000),
    "fatigue": (0, 10),
}  # fmt: skip
DIALYSIS_CATEGORIES = {"sex": ["f", "m"], "access": ["fistula", "graft", "catheter"], "diabetes": ["yes", "no"]}


def dialysis(rng: Rng, n: int) -> pd.DataFrame:
    arm = _arms(n, new=280, usual=280)
    frame = pd.DataFrame(
        {
            "age": np.round(90 - rng.gamma(3.0, 8.0, n)),
            "vintage": rng.exponential(3.5, n),
            "albumin": rng.normal(3.7, 0.45, n),
            "phosphate": rng.lognormal(0.5, 0.3, n),
            "ferritin": rng.lognormal(6.0, 0.8, n),
            "fatigue": np.clip(np.round(rng.normal(5.5, 2.4, n)), 0, 10),
            "sex": rng.choice(["f", "m"], n, p=[0.38, 0.62]),
            "access": rng.choice(["fistula", "graft", "catheter"], n, p=[0.6, 0.1, 0.3]),
            "diabetes": rng.choice(["yes", "no"], n, p=[0.42, 0.58]),
            "arm": arm,
        }
    )
    frame.loc[rng.random(n) < 0.05, "phosphate"] = np.nan
    return _within(frame, DIALYSIS)


MARRIAGES = {"age": (15, 60), "yrs_married": (0, 45), "children": (0, 12), "religious": (1, 4), "educ": (5, 22)}
MARRIAGES_CATEGORIES = {"rate_marriage": [1, 2, 3, 4, 5], "occupation": [1, 2, 3, 4, 5, 6]}


def marriages(rng: Rng, n: int) -> pd.DataFrame:
    import statsmodels.api as sm

    frame = sm.datasets.fair.load_pandas().data
    frame = frame.iloc[rng.integers(0, len(frame), n)].reset_index(drop=True)
    return frame.assign(affair=(frame.affairs > 0).astype(int)).drop(columns=["affairs", "occupation_husb"])


def schools(rng: Rng, n: int) -> pd.DataFrame:
    import statsmodels.api as sm

    frame = sm.datasets.star98.load_pandas().data.iloc[:, :12]
    return frame.iloc[rng.integers(0, len(frame), n), 2:].reset_index(drop=True)


STUDIES = {
    "clinic": Study(clinic, 560, CLINIC, CLINIC_CATEGORIES, "arm", ("A", "B")),
    "cardiology": Study(cardiology, 560, CARDIOLOGY, CARDIOLOGY_CATEGORIES, "arm", ("device", "usual")),
    "oncology": Study(oncology, 600, ONCOLOGY, ONCOLOGY_CATEGORIES, "arm", ("low", "high", "placebo")),
    "diabetes": Study(diabetes, 442, DIABETES, {"sex": ["a", "b"]}, "arm", ("A", "B")),
    "voters": Study(voters, 944, VOTERS, VOTERS_CATEGORIES, "vote", (0, 1)),
    "ward, no bounds": Study(ward, 1000, dict.fromkeys(ward(np.random.default_rng(0), 1))),
    "households, no bounds": Study(households, 1000, dict.fromkeys(households(np.random.default_rng(0), 1))),
    "cells, no bounds": Study(cells, 1000, dict.fromkeys(cells(np.random.default_rng(0), 1))),
    "survey, weights": Study(survey, 3000, SURVEY, SURVEY_CATEGORIES, weights=(0, 4)),
    "survey by region": Study(survey, 3000, SURVEY, SURVEY_CATEGORIES, "region", REGIONS, (0, 4)),
    "dialysis": Study(dialysis, 560, DIALYSIS, DIALYSIS_CATEGORIES, "arm", ("new", "usual")),
    "marriages": Study(marriages, 560, MARRIAGES, MARRIAGES_CATEGORIES, "affair", (0, 1)),
    "schools, no bounds": Study(schools, 1000, dict.fromkeys(schools(np.random.default_rng(0), 1))),
}
_POPULATION = 200_000


def _mean(values: Any, weights: Any) -> float:
    there = ~np.isnan(values)
    return float(np.average(values[there], weights=weights[there]))


def _values(rows: pd.DataFrame, line: Any) -> np.ndarray:
    """A number, or whether it is the category; missing stays missing."""
    one = rows[line.column]
    if line.level is None:
        return one.to_numpy(dtype=float)
    asked = one.map(lambda v: str(v).removesuffix(".0")) == line.level
    return np.where(one.isna(), np.nan, asked.astype(float))


def _rows(frame: pd.DataFrame, study: Study, group: str | None) -> pd.DataFrame:
    if study.by is None:
        return frame
    return frame[frame[study.by].map(lambda v: str(v).removesuffix(".0")) == group]


def measured(study: Study, runs: int) -> tuple[dict[str, list[float]], dict[str, list[float]]]:
    """Errors and hits of all lines, and errors of means by column."""
    found: dict[str, list[float]] = {what: [] for what in COLUMNS}
    by_column: dict[str, list[float]] = {}
    population = study.draw(np.random.default_rng(2**31), _POPULATION)
    unit = np.ones(_POPULATION)
    true: dict[Any, float] = {}
    for seed in range(runs):
        frame = study.draw(np.random.default_rng(seed), study.n)
        given: dict[str, Any] = {} if study.by is None else {"by": study.by, "keys": list(study.keys)}
        if study.weights is not None:
            given |= {"weights": "w", "weight_bounds": study.weights}
        others = {study.by, "w" if study.weights is not None else None} - {None}
        one = td.summary(
            frame[[*study.bounds, *(study.categories or ()), *others]], epsilon=1,
            bounds=dict(study.bounds), categories=study.categories, randomness=td.seeded(seed), **given,
        )  # fmt: skip
        found["left out"].append(len(one.left_out))
        named = " ".join(one.left_out)
        for line in one.lines:
            rows, share = _rows(frame, study, line.group), line.level is not None or line.share
            weights = rows.w.to_numpy() if study.weights is not None else np.ones(len(rows))
            if line.mean is None:
                found["-"].append(100.0)
                continue
            own = (line.group, line.column, line.level)
            if own not in true:
                every = _rows(population, study, line.group)
                true[own] = _mean(_values(every, line), every.w.to_numpy() if study.weights else unit[: len(every)])
            error = abs(_mean(_values(rows, line), weights) - line.mean)
            assert line.lower is not None
            assert line.upper is not None
            covered = 100.0 * (line.lower <= true[own] <= line.upper)
            found["share covers" if share else "mean covers"].append(covered)
            if share:
                found["share"].append(error)
                found["-"].append(0.0)
                continue
            spread = frame[line.column].std() if study.by is None else _pooled(frame, study, line.column)
            found["mean"].append(error / spread)
            by_column.setdefault(line.column, []).append(error / spread)
            found["-"].append(100.0 * (line.sd is None and f"SD of {line.column}:" not in named))
            if line.sd is not None:
                found["sd"].append(abs(line.sd / spread - 1.0))
                low, high = line.sd_range or (0.0, 0.0)
                found["sd in range"].append(100.0 * (low <= spread <= high))
    return found, by_column


def _pooled(frame: pd.DataFrame, study: Study, column: str) -> float:
    parts = [frame[frame[study.by] == key][column] for key in study.keys]
    sizes = [part.notna().sum() for part in parts]
    return float(np.sqrt(np.average([part.var() for part in parts], weights=sizes)))


COLUMNS = ("mean", "sd", "share", "mean covers", "share covers", "sd in range", "-", "left out")


def report(runs: int, names: list[str]) -> None:
    wide = max(map(len, STUDIES))
    print(f"epsilon 1, {runs} runs; errors: median / 90 %; the others: mean, in %")
    print(f"{'':<{wide}}  " + "".join(f"{what:>14}" for what in COLUMNS))
    for name in names or STUDIES:
        found, by_column = measured(STUDIES[name], runs)
        shown = []
        for what, values in found.items():
            if not values:
                shown.append("")
            elif what in ("mean", "sd", "share"):
                shown.append("{:.3f} /{:6.3f}".format(*np.quantile(values, [0.5, 0.9])))
            else:
                shown.append(f"{np.mean(values):.1f}")
        print(f"{name:<{wide}}  " + "".join(f"{one:>14}" for one in shown))
        worst = sorted(((np.median(v), k) for k, v in by_column.items()), reverse=True)
        print(f"{'':<{wide}}    means by column: " + ", ".join(f"{k} {v:.2f}" for v, k in worst), flush=True)


if __name__ == "__main__":
    report(int(sys.argv[1]) if len(sys.argv) > 1 else 50, sys.argv[2:])
