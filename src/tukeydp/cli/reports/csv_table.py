"""A report as CSV: one line for each column, with all digits, for other programs."""

from __future__ import annotations

from tukeydp.cli.sections import Account
from tukeydp.parameters import show
from tukeydp.privacy import ApproxDP
from tukeydp.views.escaping import csv_text
from tukeydp.views.frames import facts


def csv_report(account: Account) -> str:
    """What `to_frame` has, and on every line what it cost and whether it may be published."""
    outcome = account.outcome
    error = outcome.expected_error if account.verbose else outcome.quick_error
    found = {"column": outcome.keys(), **facts(outcome, error)}
    if not outcome.released:
        found["released"] = [""] * outcome.d
    guarantee = outcome.guarantee
    same = {
        "epsilon": "" if guarantee is None else show(guarantee.epsilon),
        "delta": show(guarantee.delta) if isinstance(guarantee, ApproxDP) else "" if guarantee is None else "0",
        "mechanism": outcome.mechanism,
        "rows": outcome.n,
        "private": "yes" if outcome.private else "no",
    }
    if "interval_lower" in found:
        same["nominal_confidence"] = outcome.settings["confidence"]
    rows = ([*row, *same.values()] for row in zip(*found.values(), strict=True))
    return csv_text([[*found, *same], *rows])
