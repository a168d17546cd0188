"""A Table 1 as a clinic has it: how far its lines are off, and how often intervals cover. Prints a table.

    python benchmarks/table1.py [runs]

Two arms of 280, nine variables, epsilon 1, clinical bounds; and 1,000 persons with ten columns whose bounds nobody
knows. Errors are those against the table's own values: of means in their standard deviations, of standard deviations
as a share of them, of shares as they are.
"""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd

import tukeydp as td

BOUNDS = {
    "age": (18, 95), "bmi": (12, 60), "systolic": (60, 240), "crp": (0, 50), "hba1c": (3, 16), "pain": (0, 10),
}  # fmt: skip
CATEGORIES = {"sex": ["f", "m"], "smoker": ["yes", "no"], "stage": ["I", "II", "III"]}


def clinic(rng: np.random.Generator, per_arm: int = 280) -> pd.DataFrame:
    n = 2 * per_arm
    shift = np.repeat([0.0, 0.1], per_arm)
    frame = pd.DataFrame(
        {
            "age": np.round(rng.normal(62, 12, n)),
            "bmi": rng.normal(27, 4.5, n),
            "systolic": np.round(rng.normal(138, 19, n) + 19 * shift),
            "crp": rng.lognormal(0.8, 1.1, n),
            "hba1c": 4.5 + rng.gamma(3.0, 0.6, n),
            "pain": np.clip(np.round(rng.normal(4, 2.2, n)), 0, 10),
            "sex": rng.choice(["f", "m"], n, p=[0.55, 0.45]),
            "smoker": rng.choice(["yes", "no"], n, p=[0.23, 0.77]),
            "stage": rng.choice(["I", "II", "III"], n, p=[0.5, 0.3, 0.2]),
            "arm": np.repeat(["A", "B"], per_arm),
        }
    )
    for name, (low, high) in BOUNDS.items():
        frame[name] = frame[name].clip(low, high)
    frame.loc[rng.random(n) < 0.04, "bmi"] = np.nan
    return frame


def walk(runs: int) -> dict[str, list[float]]:
    errors: dict[str, list[float]] = {"mean": [], "sd": [], "share": [], "no number": [], "covered": [], "no sd": []}
    for seed in range(runs):
        frame = clinic(np.random.default_rng(seed))
        found = td.summary(
            frame, epsilon=1, bounds=BOUNDS, categories=CATEGORIES, by="arm", keys=["A", "B"],
            randomness=td.seeded(seed),
        )  # fmt: skip
        within = frame.groupby("arm")
        for line in found.lines:
            rows = frame[frame.arm == line.group][line.column]
            errors["no number"].append(line.mean is None)
            if line.level is not None:
                errors["share"].append(abs((rows == line.level).mean() - (line.mean or 0.0)))
                continue
            pooled = np.sqrt((within[line.column].var()).mean())
            errors["mean"].append(abs(rows.mean() - (line.mean or 0.0)) / pooled)
            errors["covered"].append(line.lower <= rows.mean() <= line.upper)
            errors.setdefault(line.column, []).append(errors["mean"][-1])
            errors["no sd"].append(line.sd is None)
            if line.sd is not None:
                errors["sd"].append(abs(line.sd / pooled - 1.0))
    return errors


def unknown(runs: int) -> dict[str, list[float]]:
    errors: dict[str, list[float]] = {"mean": [], "sd": [], "left out": []}
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        frame = pd.DataFrame(
            {
                "age": rng.normal(62, 12, 1000), "bmi": rng.normal(27, 4.5, 1000),
                "systolic": rng.normal(138, 19, 1000),
                "crp": rng.lognormal(0.8, 1.1, 1000), "sodium": rng.normal(140, 3, 1000),
                "leucocytes": rng.lognormal(8.8, 0.3, 1000), "creatinine": rng.lognormal(0, 0.3, 1000),
                "change": rng.normal(-0.4, 2, 1000), "income": rng.lognormal(10, 0.6, 1000),
                "visits": rng.poisson(3, 1000),
            }
        )  # fmt: skip
        found = td.summary(frame, epsilon=1, bounds=dict.fromkeys(frame), randomness=td.seeded(seed))
        errors["left out"].append(len(found.left_out))
        for line in found.lines:
            rows = frame[line.column]
            errors["mean"].append(abs(rows.mean() - (line.mean or 0.0)) / rows.std())
            errors.setdefault(line.column, []).append(errors["mean"][-1])
            if line.sd is not None:
                errors["sd"].append(abs(line.sd / rows.std() - 1.0))
    return errors


if __name__ == "__main__":
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 50
    for name, found in (("280 in each of two arms", walk(runs)), ("1,000 persons, no bounds", unknown(runs))):
        print(f"{name}, {runs} runs")
        for what, values in found.items():
            many = np.array(values, dtype=float)
            print(
                f"  {what:<12} median {np.median(many):.3f}  mean {many.mean():.3f}  90 % {np.quantile(many, 0.9):.3f}"
            )
