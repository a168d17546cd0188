"""REM's graded test: what chance of a release a score has, and what chance tables of so many rows have."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from canvas import BLUE, FAINT, GREEN, LINE, RED, WIDTH, Drawing, Panel

from tukeydp.depth.choice import chosen_notion
from tukeydp.depth.notions import AnyScale
from tukeydp.mechanisms.rem_choice import chosen_plan, paper_plan
from tukeydp.trusted.boxes import whole_grid
from tukeydp.trusted.laws import exp_between
from tukeydp.trusted.rem.evidence import evidence_of
from tukeydp.trusted.rem.safety import Graded, Laplace, Paper, SafetyTest, _graded
from tukeydp.trusted.rows import unbounded_grid
from tukeydp.trusted.sizes.of_depth import sizes_of

_EPSILON, _DELTA, _BITS = Fraction(1), Fraction(1, 10**6), 96
_ROWS = (120, 160, 180, 190, 200, 210, 220, 240, 260, 280, 290, 300, 320, 340, 360, 400, 480, 540, 580, 620, 680, 760)
_TABLES = 4


def chance(n: int, test: SafetyTest, seed: int) -> float:
    """The probability that a made-up bell-shaped table of n rows in two columns is released, by the package's test."""
    rows = np.random.default_rng(seed).normal(size=(n, 2))
    plan = paper_plan(n, _EPSILON, _DELTA, None) if test.name == "paper" else chosen_plan(n, 2, _EPSILON, _DELTA, None)
    notion = chosen_notion(None, n, 2, AnyScale).simplest(2)
    grid = unbounded_grid(2, resolution=Fraction(1, 10**6), bits=notion.wide_bits(2))
    prepared = notion.prepare(grid.snap(rows), grid, bytes(32), lowest=1)
    evidence = evidence_of(sizes_of(prepared, whole_grid(grid), plan.threshold, slack=plan.test / 64), plan)
    if evidence.empty:
        return 0.0
    while True:
        found = test.chance(evidence, _BITS)
        if found.high - found.low < Fraction(1, 1000) or found.doubtful is None or not evidence.refine(found.doubtful):
            return float((found.low + found.high) / 2)


def graded_law() -> str:
    """The chance of a release by the number of rows that stand between a table and an unsafe one."""
    plan = chosen_plan(300, 2, _EPSILON, _DELTA, None)
    rho = plan.epsilon / plan.test
    changes = np.arange(0, 2 * round(math.log(1e6) / float(plan.test)) + 1)
    scores = [plan.delta * exp_between(plan.test * int(k), _BITS)[0] for k in changes]
    chances = [float(_graded(score, rho, _BITS)[0]) for score in scores]
    drawing = Drawing(
        330,
        "The graded test",
        "The chance of a release against the number of rows that could be changed before the table becomes "
        "unsafe. It is one "
        "in a million for none, rises by the same factor for each row, and levels off at 1.",
    )
    panel = Panel((66, 30), (WIDTH - 86, 230), (0, changes[-1]), (-6, 0.3))
    drawing.words((10, 20), "chance of a release")
    panel.ticks_left(drawing, [(v, "1" if v == 0 else f"1e{v}") for v in range(-6, 1)])
    drawing.dots(panel.all((k, math.log10(p)) for k, p in zip(changes.tolist(), chances, strict=True)), 3.2, fill=BLUE)
    panel.frame(drawing, stroke=LINE)
    panel.ticks_below(drawing, [(v, str(v)) for v in range(0, int(changes[-1]) + 1, 10)])
    drawing.words((WIDTH / 2 + 20, 300), "rows that could change before it is unsafe", anchor="middle")
    told = f"300 rows, 2 columns: each row is a factor of {math.exp(float(plan.test)):.2f} at most"
    drawing.words((10, 322), told, size=12, fill=FAINT)
    return drawing.svg()


def graded() -> str:
    """The chance of a release by rows, for the three tests."""
    tests = (
        (Graded(), BLUE, "", "graded (default)"),
        (Laplace(), RED, "7 4", "Laplace noise on a threshold"),
        (Paper(), GREEN, "2 4", "the paper's"),
    )
    shares = [[_mean_chance(n, test) for n in _ROWS] for test, *_ in tests]
    half = [next(n for n, share in zip(_ROWS, line, strict=True) if share >= 0.5) for line in shares]
    drawing = Drawing(
        420,
        "The graded test releases from fewer rows",
        "The chance of a release against the number of rows, for bell-shaped tables of two columns at epsilon 1 and "
        f"delta one in a million. The graded test releases at least every second time from {half[0]} rows on, a noisy "
        f"threshold from {half[1]}, the paper's test from {half[2]}.",
    )
    panel = Panel((46, 86), (WIDTH - 66, 270), (math.log(_ROWS[0]), math.log(_ROWS[-1])), (0, 1))
    panel.ticks_left(drawing, [(v, f"{v:g}") for v in (0, 0.25, 0.5, 0.75, 1)])
    for place, ((_, colour, dashes, name), line) in enumerate(zip(tests, shares, strict=True)):
        style = {"stroke": colour, "stroke_width": 2.8, **({"stroke_dasharray": dashes} if dashes else {})}
        drawing.line(panel.all((math.log(n), share) for n, share in zip(_ROWS, line, strict=True)), **style)
        drawing.line([(12, 14 + 22 * place), (52, 14 + 22 * place)], **style)
        drawing.words((60, 18 + 22 * place), name)
    panel.frame(drawing, stroke=LINE)
    panel.ticks_below(drawing, [(math.log(v), str(v)) for v in (120, 160, 200, 280, 400, 560, 760)])
    drawing.words((WIDTH / 2 + 14, 394), "rows", anchor="middle")
    drawing.words((10, 412), "chance of a release; 2 columns, epsilon 1, delta 1e-6", size=12, fill=FAINT)
    return drawing.svg()


def _mean_chance(n: int, test: SafetyTest) -> float:
    return float(np.mean([chance(n, test, 1000 * seed + n) for seed in range(_TABLES)]))
