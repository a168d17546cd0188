"""A report as CSV: one line for each column, with all digits, for other programs."""

from __future__ import annotations

import csv
import io
import math

from tukeydp.cli.sections import Account
from tukeydp.parameters import show
from tukeydp.privacy import ApproxDP
from tukeydp.views.frames import facts

# A spreadsheet takes what begins so for a formula, and runs it.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


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
        same["confidence"] = outcome.settings["confidence"]
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow([*found, *same])
    for row in zip(*found.values(), strict=True):
        writer.writerow([harmless(cell) for cell in (*row, *same.values())])
    return text.getvalue()


def harmless(cell: object) -> object:
    """Texts that would be formulas get an apostrophe in front; numbers stay, but for those that there are not."""
    if isinstance(cell, float) and math.isnan(cell):
        return ""
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(_FORMULA) else cell
