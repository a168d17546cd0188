"""The planner's own pictures for three situations: `td.plan(...).plot`, as anyone can draw them."""

from __future__ import annotations

import tukeydp as td
from tukeydp.forecast.plan_words import as_svg, drawn

# What which-mechanism.md shows: the calls are those on the page.
SITUATIONS = {
    "plan-300": {"n": 300, "d": 4, "bounds": (0, 100), "epsilon": 1},
    "plan-groups": {"n": 2000, "d": 6, "bounds": (0, 10), "sd": 1, "epsilon": 1, "by": 2},
    "plan-50": {"n": 50, "d": 2, "bounds": (0, 100), "epsilon": 1},
}


def plan(name: str) -> str:
    return as_svg(drawn(td.plan(**SITUATIONS[name]), "rows"))
