"""Other people's testers on every mechanism: `python tools/audit_others.py [--times K] [--only WORD] | --write`.

Four testers look at draws on the worst neighbours known (`tukeydp.audit`), and each gives a lower bound on epsilon
that holds but for one false alarm in a million. They are written from their papers; none of their code is used here:

- classifier (DP-Sniper: Bichsel, Steffen, Bogunovic and Vechev 2021): learn which table a result comes from, attack
  with the results that are surest, count both sides on fresh draws;
- histogram (DP-Auditorium: Kong, Munoz Medina, Ribero and Syed 2024): the cells where the hockey-stick divergence of a
  pilot is positive are one event;
- kernel (DP-Auditorium's MMD tester): a smooth function of the result, from a pilot, whose expectations are compared;
- Renyi (DP-Auditorium's Renyi tester): the variational lower bound of the divergence of order 2 over bounded functions;
  for pure guarantees alone.

Controls: discrete Laplace noise at 1.5 times the epsilon that is stated must be caught by every tester. A mechanism
that is said to have two thirds of its epsilon runs at 1.5 times what is said, and is caught where its bound is beyond
2/3: that, too, must be so of every mechanism, or this fails.

The page is written by one run of all mechanisms, whole or not at all: neighbours, draws and the seed stand in this file
before it begins. A bound that falls short of 2/3 there stays on the page; the seed of the next run is another one.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import beta

from tukeydp.audit.adversarial_pairs import REFUSED, Pair
from tukeydp.audit.check import Effort
from tukeydp.audit.checks import lower_bounds
from tukeydp.trusted.account import PureDP, bounded_range
from tukeydp.trusted.bits import Keystream
from tukeydp.trusted.laws import discrete_laplace
from tukeydp.trusted.release import rehearsed_charge
from tukeydp.trusted.rows import BoundedColumns
from tukeydp.trusted.steps import NormBeyond, NormSums, OutsideCounts, joint_rungs, noised_norm_sums, rung
from tukeydp.trusted.sums import in_pieces

RESULTS = Path(__file__).resolve().parents[1] / "docs" / "results"
DATA = RESULTS / "other-testers.json"
BEGIN, END = "<!-- begin: made by tools/audit_others.py -->", "<!-- end -->"
FALSE_ALARM = 1e-6  # of one tester on one mechanism
EXCESS = 1.5  # of the controls
CAUGHT = "passed; at 1.5 epsilon it would be caught"
# Another one than that of the runs by which draws and neighbours were chosen; and another again for the next page.
SEED = 34
# On either neighbour: enough to catch 1.5 epsilon, and more of what is told by rare results or is lost in few.
DRAWS = 40_000
MORE = dict.fromkeys(("algorithm 3", "gaussian baseline", "boxem by groups", "quantiles"), 100_000)
PILOT = 4  # one draw in so many is learnt from
CELLS = 40  # of the histogram: places that cut the line, most results are whole numbers
SHARES = (0.5, 0.2, 0.1, 0.05, 0.02, 0.01)  # of the attacked results among all; a pilot chooses one
CENTRES = 30  # of the kernel's function
ORDER = 2.0  # of the Renyi divergence
MOST = 3.0  # size of the functions of its variational bound

EPSILON = Fraction(3)  # of the steps of a table

Floats = NDArray[np.float64]
Sides = tuple[Floats, Floats]


_UNIT = BoundedColumns((Fraction(-1),), (Fraction(1),))


@contextmanager
def _bounded_sums() -> Iterator[Pair]:
    """A record of the whole radius goes to the other group: both sums move by a radius, each for half of epsilon."""
    sums = NormSums(1, _UNIT, (0,), (0.0,), (1.0,), 1.0, 2)

    def drawn(group: int) -> Callable[[bytes], float]:
        (total,) = in_pieces(np.array([[1.0, group], [0.0, np.nan]]), sums)

        def draw(key: bytes) -> float:
            (first,), (second,) = noised_norm_sums(sums, total, rehearsed_charge(PureDP(EPSILON), key))
            return float(np.clip(float(first), 0, 1) - np.clip(float(second), 0, 1))

        return draw

    yield Pair(float(EPSILON), 0.0, (drawn(0), drawn(1)))


@contextmanager
def _drawn_radius() -> Iterator[Pair]:
    """One record, beyond the smallest of ten radii or not: that radius has a share of 0.1 or 0.006."""
    sums = NormSums(1, _UNIT, (0,), (0.0,), (1.0,), 1.0, 1)
    beyond = NormBeyond(sums, (0.5, *(1.0,) * 9))

    def drawn(value: float) -> Callable[[bytes], float]:
        (counts,) = in_pieces(np.array([[value]]), beyond)
        return lambda key: float(rung(np.array(counts), (1,) * 10, rehearsed_charge(bounded_range(EPSILON), key)) == 0)

    yield Pair(float(EPSILON), 0.0, (drawn(0.0), drawn(1.0)))


@contextmanager
def _magnitudes() -> Iterator[Pair]:
    """One record, in the first of 41 windows or in all others: the first gains as all others lose, a loss of 2.9."""
    outside = OutsideCounts(1, (0,), ((0.25, 1.0, True), *((1.0, 4.0, True),) * 40))

    def drawn(value: float) -> Callable[[bytes], float]:
        (counts,) = in_pieces(np.array([[value]]), outside)
        weights = (1,) * 41
        return lambda key: float(
            joint_rungs([np.array(counts)], weights, rehearsed_charge(bounded_range(EPSILON), key)) == [0]
        )

    yield Pair(float(EPSILON), 0.0, (drawn(1.0), drawn(2.0)))


PAIRS: dict[str, Callable[[], Any]] = {
    **lower_bounds.PAIRS,
    "table, bounded sums": _bounded_sums,
    "table, radius": _drawn_radius,
    "table, magnitudes": _magnitudes,
}


@dataclass(frozen=True)
class Sample:
    """Results on either neighbour: those that a tester learns from, and fresh ones that it counts."""

    pilot: Sides
    fresh: Sides
    delta: float
    epsilon: float

    def reversed(self) -> Sample:
        return Sample(self.pilot[::-1], self.fresh[::-1], self.delta, self.epsilon)


def parted(first: Floats, second: Floats, epsilon: float, delta: float) -> Sample:
    few = len(first) // PILOT
    return Sample((first[:few], second[:few]), (first[few:], second[few:]), delta, epsilon)


def ratio_bound(ours: float, theirs: float, draws: int, delta: float, false_alarm: float) -> float:
    """ln((P - delta) / Q) at least, from counts of one event: Clopper and Pearson's bounds."""
    low = float(beta.ppf(false_alarm / 2, ours, draws - ours + 1)) if ours else 0.0
    high = float(beta.ppf(1 - false_alarm / 2, theirs + 1, draws - theirs)) if theirs < draws else 1.0
    return math.log((low - delta) / high) if low > delta else 0.0


def cuts_of(pilot: Sides) -> Floats:
    return np.unique(np.quantile(np.concatenate(pilot), np.linspace(0, 1, CELLS), method="nearest"))


def cell(values: Floats, cuts: Floats) -> NDArray[np.int64]:
    """Each cut is a cell of its own, and so is what lies between two."""
    return np.searchsorted(cuts, values, side="left") + np.searchsorted(cuts, values, side="right")


def frequencies(sides: Sides, cuts: Floats) -> list[Floats]:
    return [np.bincount(cell(side, cuts), minlength=2 * len(cuts) + 1).astype(float) for side in sides]


def histogram(sample: Sample, false_alarm: float) -> float:
    cuts, draws = cuts_of(sample.pilot), len(sample.fresh[0])
    p, q = (counts / counts.sum() for counts in frequencies(sample.pilot, cuts))
    fresh = frequencies(sample.fresh, cuts)

    def gain(chosen: NDArray[np.bool_]) -> float:
        low = max(p[chosen].sum() - 3 * math.sqrt(p[chosen].sum() / len(sample.pilot[0])) - sample.delta, 1e-9)
        return math.log(low / (q[chosen].sum() + 5 / len(sample.pilot[0])))

    events = [p > math.exp(share * sample.epsilon) * q for share in (0.0, 0.25, 0.5, 0.75, 0.9, 1.2, 2.0, 4.0)]
    best = max(events, key=gain)
    return ratio_bound(float(fresh[0][best].sum()), float(fresh[1][best].sum()), draws, sample.delta, false_alarm)


def features(values: Floats, cuts: Floats) -> Floats:
    """Which cell, and where among them; a refusal is a cell."""
    place = cell(values, cuts)
    hot = np.zeros((len(values), 2 * len(cuts) + 1))
    hot[np.arange(len(values)), place] = 1.0
    rank = place / (2 * len(cuts)) - 0.5
    return np.column_stack([hot, rank, rank**2, np.ones(len(values))])


def learnt(x: Floats, y: Floats, steps: int = 12, ridge: float = 1.0) -> Floats:
    """Logistic regression by Newton's method."""
    weights = np.zeros(x.shape[1])
    for _ in range(steps):
        chance = 1 / (1 + np.exp(-np.clip(x @ weights, -30, 30)))
        slope = x.T @ (chance - y) + ridge * weights
        curve = (x * (chance * (1 - chance))[:, np.newaxis]).T @ x + ridge * np.eye(x.shape[1])
        weights -= np.linalg.solve(curve, slope)
    return weights


def classifier(sample: Sample, false_alarm: float) -> float:
    cuts = cuts_of(sample.pilot)
    x = [features(side, cuts) for side in sample.pilot]
    weights = learnt(np.vstack(x), np.repeat([1.0, 0.0], [len(x[0]), len(x[1])]))
    sure = [side @ weights for side in x]
    thresholds = [float(np.quantile(np.concatenate(sure), 1 - share)) for share in SHARES]

    def gain(threshold: float) -> float:
        count, other = (int((side >= threshold).sum()) for side in sure)
        return ratio_bound(count, other, len(sure[0]), sample.delta, 0.01)

    best = max(thresholds, key=gain)
    ours, theirs = (int((features(side, cuts) @ weights >= best).sum()) for side in sample.fresh)
    return ratio_bound(ours, theirs, len(sample.fresh[0]), sample.delta, false_alarm)


def bernstein(values: Floats, false_alarm: float) -> tuple[float, float]:
    """An interval for the mean of values from 0 to 1 (Maurer and Pontil 2009)."""
    log, n = math.log(4 / false_alarm), len(values)
    width = math.sqrt(2 * float(values.var(ddof=1)) * log / n) + 7 * log / (3 * (n - 1))
    return float(values.mean()) - width, float(values.mean()) + width


def kernel(sample: Sample, false_alarm: float) -> float:
    both = np.concatenate(sample.pilot)
    kept = both[both < REFUSED]
    spread = float(np.subtract(*np.quantile(kept, [0.9, 0.1]))) or 1.0
    centres = np.unique(np.quantile(both, np.linspace(0, 1, CENTRES), method="nearest"))

    def near(values: Floats) -> Floats:
        return np.exp(-0.5 * ((values[:, np.newaxis] - centres) / (spread / 8)) ** 2)

    p, q = (near(side).mean(axis=0) for side in sample.pilot)
    witness = np.maximum(p - math.exp(0.7 * sample.epsilon) * q - 0.2 * sample.delta, 0.0)
    if not witness.any():
        witness = np.maximum(p - q, 0.0)

    def value(values: Floats) -> Floats:
        return np.clip(near(values) @ witness / max(float(witness.max()), 1e-12), 0.0, 1.0)

    low = bernstein(value(sample.fresh[0]), false_alarm)[0]
    high = bernstein(value(sample.fresh[1]), false_alarm)[1]
    return math.log((low - sample.delta) / high) if low > sample.delta and high > 0 else 0.0


def renyi(sample: Sample, false_alarm: float) -> float:
    """Order a: D >= a/(a-1) ln E_P e^((a-1) g) - ln E_Q e^(a g) for every g; pure epsilon has D <= a epsilon^2 / 2."""
    cuts, a = cuts_of(sample.pilot), ORDER
    p, q = (counts + 1.0 for counts in frequencies(sample.pilot, cuts))
    g = np.clip(np.log((p / p.sum()) / (q / q.sum())), -MOST, MOST)

    def scaled(values: Floats, times: float) -> tuple[float, float]:
        most = math.exp(times * float(g.max()))
        low, high = bernstein(np.exp(times * g[cell(values, cuts)]) / most, false_alarm)
        return low * most, high * most

    low, high = scaled(sample.fresh[0], a - 1)[0], scaled(sample.fresh[1], a)[1]
    divergence = a / (a - 1) * math.log(low) - math.log(high) if low > 0 else 0.0
    return max(0.0, divergence, math.sqrt(max(0.0, 2 * divergence / a)))


TESTERS: dict[str, Callable[[Sample, float], float]] = {
    "classifier": classifier,
    "histogram": histogram,
    "kernel": kernel,
    "Renyi": renyi,
}


def bounds_of(sample: Sample) -> dict[str, float | None]:
    """Each tester's lower bound on epsilon, over the epsilon that is stated; both orders of the neighbours."""
    found: dict[str, float | None] = {}
    for name, tester in TESTERS.items():
        if name == "Renyi" and sample.delta:
            found[name] = None
            continue
        sides = (tester(one, FALSE_ALARM / 2) for one in (sample, sample.reversed()))
        found[name] = max(0.0, *sides) / sample.epsilon
    return found


def drawn(name: str, draws: int) -> Sample:
    effort = Effort(quick=False, seed=SEED)
    with PAIRS[name]() as pair:
        first, second = (
            np.array([draw(effort.key("others", name, side, i)) for i in range(draws)])
            for side, draw in enumerate(pair.draws)
        )
    return parted(first, second, pair.epsilon, pair.delta)


def control(draws: int, excess: float) -> Sample:
    """A count with discrete Laplace noise, at `excess` times the epsilon that is stated, 1."""
    sides = []
    for count in (0, 1):
        bits = Keystream(Effort(quick=False, seed=SEED).key("others", "control", excess, count)).bits(0)
        scale = 1 / Fraction(excess)
        sides.append(np.array([count + discrete_laplace(scale, bits) for _ in range(draws)], dtype=float))
    return parted(sides[0], sides[1], 1.0, 0.0)


def verdict(bounds: dict[str, float | None]) -> str:
    most = max(bound for bound in bounds.values() if bound is not None)
    if most > 1:
        return "FAILED"
    if most <= 0:
        return "no power"
    return CAUGHT if most > 1 / EXCESS else "too weak to catch 1.5 epsilon"


def shown(bound: float | None) -> str:
    return "-" if bound is None else "no power" if bound <= 0 else f"{bound:.3f}"


def table(found: dict[str, Any]) -> str:
    caught = ", ".join(f"{name} {bound:.3f}" for name, bound in found["control"].items())
    fair = ", ".join(f"{name} {bound:.3f}" for name, bound in found["fair"].items())
    lines = [
        f"One run of all {len(found['mechanisms'])}, seed {found['seed']}. Draws are on either neighbour, a quarter of "
        "them to learn from. Largest lower bounds on epsilon, over the epsilon that is stated.",
        "",
        f"Control at 1.5 epsilon (must be beyond 1): {caught}. The same at its own epsilon: {fair}.",
        "",
        f"| mechanism | draws | {' | '.join(TESTERS)} | result |",
        f"|---|--:|{'--:|' * len(TESTERS)}---|",
    ]
    for name in PAIRS:
        if name in found["mechanisms"]:
            one = found["mechanisms"][name]
            bounds = " | ".join(map(shown, one["bounds"].values()))
            lines.append(f"| {name} | {one['draws']:,} | {bounds} | {verdict(one['bounds'])} |")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=1, help="so many times as many draws as usual")
    parser.add_argument("--only", default="", help="mechanisms whose name holds this")
    parser.add_argument("--write", action="store_true", help="renew docs/results/other-testers.md, from all of them")
    options = parser.parse_args()
    if options.write and (options.only or options.times != 1):
        parser.error("--write takes one whole run, of all mechanisms and as many draws as stand in this file.")
    found: dict[str, Any] = {
        "seed": SEED,
        "control": bounds_of(control(5 * DRAWS * options.times, EXCESS)),
        "fair": bounds_of(control(5 * DRAWS * options.times, 1.0)),
        "mechanisms": {},
    }
    for name in PAIRS:
        if options.only in name:
            start = time.process_time()
            draws = MORE.get(name, DRAWS) * options.times
            bounds = bounds_of(drawn(name, draws))
            found["mechanisms"][name] = {"draws": draws, "bounds": bounds}
            told = ", ".join(f"{tester} {shown(bound)}" for tester, bound in bounds.items())
            sys.stderr.write(f"{name}: {told} ({time.process_time() - start:.0f} s)\n")
    if options.write:
        write(found)
    sys.stdout.write(table(found) + "\n")
    missed = [name for name, bound in found["control"].items() if not bound > 1]
    alarms = [name for name, bound in found["fair"].items() if bound > 1]
    verdicts = {name: verdict(one["bounds"]) for name, one in found["mechanisms"].items()}
    failed = [name for name, one in verdicts.items() if one == "FAILED"]
    weak = [name for name, one in verdicts.items() if one not in ("FAILED", CAUGHT)]
    wrong = {"missed the control": missed, "false alarms": alarms, "failed": failed, "too weak": weak}
    for words, names in wrong.items():
        if names:
            sys.stdout.write(f"{words}: {', '.join(names)}\n")
    return 1 if any(wrong.values()) else 0


def write(found: dict[str, Any]) -> None:
    DATA.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    page = RESULTS / "other-testers.md"
    text = page.read_text(encoding="utf-8")
    before, after = text.split(BEGIN)[0], text.split(END)[-1]
    page.write_text(f"{before}{BEGIN}\n{table(found)}\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
