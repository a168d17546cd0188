"""What is said when the check before a release has stopped a run, on the terminal and in reports."""

from __future__ import annotations

from collections.abc import Iterator

from tukeydp.mechanisms.check_plan import FALSE_ALARM
from tukeydp.mechanisms.readable_check import CHECK
from tukeydp.parameters import show
from tukeydp.privacy import delta_of
from tukeydp.release import Outcome

HEADLINE = "No release: the check of readable rows stopped the run"
OFTEN = (
    "a decimal comma (--decimal ,), marks between thousands (--thousands ,), a unit in the cells (--unit mmHg), words "
    "for no value (--missing unknown), formulas whose results were never stored (open and save the workbook once), a "
    "key that is spelt otherwise in the file, or a column of text, which has no mean."
)


def stopped(outcome: Outcome) -> bool:
    return outcome.mechanism == CHECK


def spent(outcome: Outcome) -> str:
    """Without an accountant the check alone is spent; one has paid for the whole run before the table was looked at."""
    assert outcome.guarantee is not None
    check = f"epsilon = {show(outcome.settings['epsilon_check'])}"
    cost = f"{check}, for the check; the rest is not spent."
    if outcome.guarantee.epsilon != outcome.settings["epsilon_check"]:
        delta = f" and delta = {show(delta_of(outcome.guarantee))}" if delta_of(outcome.guarantee) else ""
        cost = (
            f"epsilon = {show(outcome.guarantee.epsilon)}{delta}: a ledger pays for the whole run before the table is "
            f"looked at, and gives nothing back. Without one the check alone would have cost {check}."
        )
    alarm = f"A file in which every cell reads is stopped in at most {100 * FALSE_ALARM:g} % of runs."
    return f"{cost} {alarm} --no-check releases without the check."


def stop_sections(outcome: Outcome) -> Iterator[tuple[str, str]]:
    yield "Meaning", outcome.notes[0]
    yield "Often", f"It is {OFTEN} The file's owner can see which with tukeydp look."
    yield "Spent", spent(outcome)
