"""What is said about a run besides its table, on the terminal and in reports: pairs of a label and a text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from tukeydp.baselines.setting import NOISE_NOTE
from tukeydp.mechanisms.grouped_centre import assumed_rows
from tukeydp.mechanisms.readable_check import CHECK, FALSE_ALARM, WARNING
from tukeydp.results.accuracy_words import accuracy_sentences, assumptions
from tukeydp.results.escaping import printable
from tukeydp.results.grouped_release import GroupedRelease
from tukeydp.results.release import SYMMETRY_CAVEAT, Outcome, Refused, Release
from tukeydp.results.views import (
    TOGETHER,
    beside_the_point,
    counted,
    guarantee_sentence,
    names,
    persons_or_rows,
    rows_planned_for,
    sizes_sentence,
)
from tukeydp.trusted.account import delta_of
from tukeydp.trusted.parameters import show

# What is said when the check before a release has stopped a run, on the terminal and in reports.

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


# What is said about a run besides its table: pairs of a label and a text, for the terminal and for reports.
#
# Nothing about the data is said but the release. A generator, so that what takes long to find out comes after what does
# not.

LITTLE_PROTECTION = 10  # an epsilon above which results may become 22,000 times as likely: hardly a promise
# Share of the bounds' width. Where bounds missed all data (20 seeds, 100 to 2000 rows, epsilon 1) 70 to 100 of 100
# released values were as near to a bound, by every mechanism. A larger share would warn about skewed columns too.
_EDGE = 0.01

Section = tuple[str, str]
REHEARSED = "Rehearsed"  # the label of what stands behind the accuracy: for those who want to know


class Account(NamedTuple):
    """A run and how it is to be told: `how` says which mechanism ran and why."""

    outcome: Outcome
    estimand: str
    how: str = ""
    verbose: bool = False


def headline(account: Account) -> str:
    outcome = account.outcome
    if stopped(outcome):
        return HEADLINE
    if not outcome.released:
        return f"No release: the test before the draw did not pass for {_these(outcome)}"
    how = "released with differential privacy" if outcome.guarantee is not None else "without a guarantee"
    return f"{account.estimand.capitalize()} of {counted(outcome)}, {how}"


def _these(outcome: Outcome) -> str:
    return "these rows" if outcome.n is None else f"these {counted(outcome)}"


def sections(account: Account) -> Iterator[Section]:
    """What it cost, how far to trust it, how it was made, and what to beware of."""
    outcome = account.outcome
    if stopped(outcome):
        yield from stop_sections(outcome)
    elif isinstance(outcome, Refused) and outcome.guarantee is not None:
        yield from _refusal(account.estimand)
    if outcome.guarantee is not None:
        yield "Guarantee", guarantee_sentence(outcome.guarantee)
    if account.how:
        yield "How", account.how
    if outcome.released:
        yield from beside_the_point(outcome)
        yield from _accuracy(account)
        yield from _estimand(account)
    else:
        yield from (("Note", note) for note in _notes(account) if outcome.guarantee is None)
    yield from _warnings(outcome)


def _refusal(estimand: str) -> Iterator[Section]:
    if estimand == "coefficients":
        steps = "or --bounds for the coefficients in place of --delta: then tukeydp regress"
    else:
        steps = _steps_for(estimand)
    yield from _refusal_of("coefficient" if estimand == "coefficients" else estimand, steps)


def _steps_for(estimand: str) -> str:
    return (
        "the true step of columns that hold few different values (--resolution age=1); or bounds: --mechanism boxem"
        if estimand == "centre"
        else "or --bounds in place of --delta: then tukeydp mean"
    )


def _refusal_of(estimand: str, steps: str) -> Iterator[Section]:
    yield (
        "Meaning",
        f"Without bounds, a {estimand} may be released only if no single row could move it far. The test is random; by "
        "itself a refusal says little about any one row.",
    )
    yield (
        "Spent",
        "The budget is spent: the refusal is an answer and has cost the epsilon and delta below. Trying again costs "
        "them again.",
    )
    yield (
        "Help",
        f"What would help: more rows, fewer columns, a larger epsilon or delta; {steps} never refuses.",
    )


def _accuracy(account: Account) -> Iterator[Section]:
    outcome = account.outcome
    error = outcome.expected_error
    if error is not None and (said := accuracy_sentences(rows_planned_for(outcome), error)):
        yield "Accuracy", " ".join(said)
        if account.verbose:
            yield REHEARSED, " ".join(assumptions(error))
    if outcome.rehearsal is not None and outcome.rehearsal.caveat is not None:
        yield "Bounds", outcome.rehearsal.caveat


def _estimand(account: Account) -> Iterator[Section]:
    if account.estimand == "centre":
        yield (
            "Estimated",
            "The centre of roughly symmetric data: the point with as many rows as possible on every side of it. For "
            "bell-shaped columns that is the mean; for skewed or yes/no columns it is not: use tukeydp mean.",
        )
    for note in _notes(account):
        yield labelled(note)
    yield "Check", _secret(account)


def labelled(note: str) -> Section:
    """A mechanism's own words under the label that fits them."""
    for start, label in (("What is estimated is ", "Estimated"), (WARNING, "Warning")):
        if note.startswith(start):
            told = note.removeprefix(start)
            return label, told[:1].upper() + told[1:]
    return "Note", note


def _secret(account: Account) -> str:
    outcome = account.outcome
    moved = "How many values were missing or moved to a bound stays secret"
    if outcome.bounds is None:
        moved = "How many values were missing stays secret"
    if account.estimand == "centre":
        covered = "the bounds" if outcome.bounds is not None else f"the covered range{_covered(outcome)}"
        moved = (
            f"Rows outside {covered} count at the edge, rows with a missing or unreadable cell nowhere. How many there "
            "are stays secret"
        )
    return (
        f"{moved}: check yourself (tukeydp look) that the columns hold numbers; from a column of text nothing but "
        "noise comes out."
    )


def _covered(outcome: Outcome) -> str:
    if outcome.grid is None:
        return ""
    grid = outcome.grid.to_dict()
    return f" ({'; '.join(sorted({f'{a:g} to {b:g}' for a, b in zip(grid['lower'], grid['upper'], strict=True)}))})"


def _notes(account: Account) -> list[str]:
    """The mechanism's own words, without what is said elsewhere; that noise is exact is a detail."""
    said_elsewhere = (SYMMETRY_CAVEAT,) if account.verbose else (SYMMETRY_CAVEAT, NOISE_NOTE)
    return [note for note in account.outcome.notes if note not in said_elsewhere]


def _warnings(outcome: Outcome) -> Iterator[Section]:
    """What follows from the release and the parameters alone, and so costs nothing."""
    if outcome.guarantee is not None and outcome.guarantee.epsilon > LITTLE_PROTECTION:
        yield "Warning", f"An epsilon above {LITTLE_PROTECTION} protects nobody by much; 1 is common."
    at_edge = _at_edge(outcome)
    if at_edge:
        yield (
            "Warning",
            f"At the edge of its bounds: {', '.join(at_edge)}. Unless most values are that near to a bound, the bounds "
            "miss them: in other units perhaps, or the file is not written as declared. Its owner can check with "
            "tukeydp look and the same --bounds.",
        )


def _at_edge(outcome: Outcome) -> list[str]:
    if not isinstance(outcome, Release) or outcome.bounds is None:
        return []
    ends = ([float(v) for v in side] for side in outcome.bounds)
    columns = zip(names(outcome), outcome.point.tolist(), *ends, strict=True)
    return [printable(name) for name, value, a, b in columns if min(value - a, b - value) <= _EDGE * (b - a)]


# What is said about a run by groups besides its table, on the terminal and in reports: a label and a text each.

# How the results were made, by the mechanism that the release names.
_WAYS = {
    "quantiles": "By rank in each group, the middle quantile first, then those on either side of it (quantiles).",
    "spread": "Differences between random sets of rows of each group (spread).",
    "rem": "A deep point of each group without bounds, or a refusal (rem).",
    "regression": "Least squares on blocks of rows of each group, and a deep point of their coefficients (regression).",
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
        f"{account.estimand.capitalize()} of {count} by {printable(found.by)}, {_rows_in_all(found)} in all, released "
        "with differential privacy"
    )


def _rows_in_all(found: GroupedRelease) -> str:
    what = persons_or_rows(found)
    return f"a secret number of {what}" if found.n is None else f"{found.n} {what}"


def group_sections(account: GroupAccount) -> Iterator[Section]:
    """What it cost, how far to trust it, how it was made, and what to beware of."""
    found, first = account.found, account.found.first
    yield "Guarantee", f"{guarantee_sentence(found.guarantee)} {TOGETHER}"
    yield "Groups", f"The keys are public: rows with another key, or none, are in no group. {sizes_sentence(found)}"
    yield "How", _how(account)
    declared = found.settings.get("rows") if found.n is None else found.n
    rows = 1 if declared is None else assumed_rows(declared, len(found))
    error = first.expected_error
    if (note := getattr(first, "interval_note", None)) is not None:
        yield "Interval", f"In brackets: {note[0].lower()}{note[1:]}"
        if len(found) == 2:
            yield "Contrast", found.difference(*found.groups).sentence
    if error is not None and (said := accuracy_sentences(rows, error)):
        yield "Accuracy", f"In a group of {rows} rows, an equal part of all: {' '.join(said)}"
    if first.rehearsal is not None and first.rehearsal.caveat is not None:
        yield "Bounds", first.rehearsal.caveat
    yield from _group_notes(account)
    if found.guarantee is not None and found.guarantee.epsilon > LITTLE_PROTECTION:
        yield "Warning", f"An epsilon above {LITTLE_PROTECTION} protects nobody by much; 1 is common."


def _how(account: GroupAccount) -> str:
    why = (
        " Chosen because by the numbers of rows, groups and columns, epsilon and the bounds it should come closest."
        if account.chosen
        else ""
    )
    return f"{_WAYS[account.found.mechanism]}{why}"


def _group_notes(account: GroupAccount) -> Iterator[Section]:
    if account.estimand == "centre":
        yield (
            "Estimated",
            "The centre of roughly symmetric data: the point with as many rows as possible on every side of it. For "
            "skewed or yes/no columns it is not the mean: use tukeydp mean.",
        )
    for note in (*account.found.first.notes, *account.found.notes):
        if note != SYMMETRY_CAVEAT and not note.startswith("One of "):
            yield labelled(note)
