"""What is said when the check before a release has stopped a run, on the terminal and in reports."""

from __future__ import annotations

from collections.abc import Iterator

from tukeydp.mechanisms.readable_check import CHECK
from tukeydp.parameters import show
from tukeydp.release import Outcome

HEADLINE = "No release: the check of readable rows stopped the run"
OFTEN = (
    "a decimal comma (--decimal ,), marks between thousands (--thousands ,), a unit in the cells (--unit mmHg), words "
    "for no value (--missing unknown), or a column of text, which has no mean."
)


def stopped(outcome: Outcome) -> bool:
    return outcome.mechanism == CHECK


def spent(outcome: Outcome) -> str:
    assert outcome.guarantee is not None
    return (
        f"epsilon = {show(outcome.guarantee.epsilon)}, for the check; the rest is not spent. A file in which every "
        "cell reads is stopped once in ten thousand runs at most. --no-check releases without the check."
    )


def stop_sections(outcome: Outcome) -> Iterator[tuple[str, str]]:
    yield "Meaning", outcome.notes[0]
    yield "Often", f"It is {OFTEN} The file's owner can see which with tukeydp look."
    yield "Spent", spent(outcome)
