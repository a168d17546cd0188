"""What is said about a run by groups besides its table, on the terminal and in reports: a label and a text each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from tukeydp.cli.sections import LITTLE_PROTECTION, Section, labelled
from tukeydp.grouped_release import GroupedRelease
from tukeydp.mechanisms.grouped_centre import assumed_rows
from tukeydp.release import SYMMETRY_CAVEAT
from tukeydp.views.accuracy_words import accuracy_sentences
from tukeydp.views.escaping import printable
from tukeydp.views.grouped import TOGETHER, sizes_sentence
from tukeydp.views.sentences import guarantee_sentence

# How the results were made, by the mechanism that the release names.
_WAYS = {
    "boxem": "Depth of the rows of each group between the bounds (boxem), at all of epsilon.",
    "rows": "Depth of the rows of each group (rows), at all of epsilon.",
    "two-step": "How spread the columns are was found out first from all rows, then the means of groups (two-step).",
    "subset": "Depth of means of blocks of rows (subset), half of epsilon for each group: a row that moves changes "
    "two groups.",
    "cube": "Sums and numbers of values in each group with cube noise (cube), at all of epsilon.",
}


class GroupAccount(NamedTuple):
    """A run by groups and how it is to be told; `chosen` says that nobody asked for the mechanism by name."""

    found: GroupedRelease
    estimand: str
    chosen: bool = False
    verbose: bool = False


def group_headline(account: GroupAccount) -> str:
    found = account.found
    count = f"{len(found)} group{'s' if len(found) > 1 else ''}"
    return (
        f"{account.estimand.capitalize()} of {count} by {printable(found.by)}, {found.n} rows in all, released with "
        "differential privacy"
    )


def group_sections(account: GroupAccount) -> Iterator[Section]:
    """What it cost, how far to trust it, how it was made, and what to beware of."""
    found, first = account.found, account.found.first
    yield "Guarantee", f"{guarantee_sentence(found.guarantee)} {TOGETHER}"
    yield "Groups", f"The keys are public: rows with another key, or none, are in no group. {sizes_sentence(found)}"
    yield "How", _how(account)
    rows = assumed_rows(found.n, len(found))
    error = first.expected_error
    if error is not None and (said := accuracy_sentences(rows, error)):
        yield "Accuracy", f"In a group of {rows} rows, an equal part of all: {' '.join(said)}"
    if first.rehearsal is not None and first.rehearsal.caveat is not None:
        yield "Bounds", first.rehearsal.caveat
    yield from _notes(account)
    if found.guarantee is not None and found.guarantee.epsilon > LITTLE_PROTECTION:
        yield "Warning", f"An epsilon above {LITTLE_PROTECTION} protects nobody by much; 1 is common."


def _how(account: GroupAccount) -> str:
    why = (
        " Chosen because by the numbers of rows, groups and columns, epsilon and the bounds it should come closest."
        if account.chosen
        else ""
    )
    return f"{_WAYS[account.found.mechanism]}{why}"


def _notes(account: GroupAccount) -> Iterator[Section]:
    if account.estimand == "centre":
        yield (
            "Estimated",
            "The centre of roughly symmetric data: the point with as many rows as possible on every side of it. For "
            "skewed or yes/no columns it is not the mean: use tukeydp mean.",
        )
    for note in (*account.found.first.notes, *account.found.notes):
        if note != SYMMETRY_CAVEAT and not note.startswith("One of "):
            yield labelled(note)
