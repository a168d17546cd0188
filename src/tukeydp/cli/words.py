"""A run in plain words, for the terminal. Nothing about the data is said but the release."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from tukeydp.accuracy import ExpectedError
from tukeydp.parameters import show
from tukeydp.privacy import ApproxDP, Guarantee
from tukeydp.release import SYMMETRY_CAVEAT, Outcome, Refused, Release

_LARGEST_SHOWN = 20  # an epsilon above which e^epsilon as a number helps nobody
# Shares of releases that are far off, or refused: worth a word, and worth a warning.
_RARE, _OFTEN = 0.005, 0.3
_LITTLE_PROTECTION = 10  # an epsilon above which results may become 22,000 times as likely: hardly a promise
# Share of the bounds' width. Where bounds missed all data (20 seeds, 100 to 2000 rows, epsilon 1) 70 to 100 of 100
# released values were as near to a bound, by every mechanism. A larger share would warn about skewed columns too.
_EDGE = 0.01

Ends = tuple[Sequence[float], Sequence[float]]  # the lower and the upper bounds, one of each per column


def say(text: str = "") -> None:
    Console().print(Text(text))


def say_command(text: str) -> None:
    """On one line, however long, so that it can be copied."""
    Console().print(Text(f"  {text}"), soft_wrap=True)


def say_lines(text: str) -> None:
    """Lines as they are: broken ones would lose what each begins with."""
    Console().print(Text(text), soft_wrap=True)


def complain(message: str) -> None:
    """To standard error, so that standard output is the release and nothing else."""
    Console(stderr=True).print(Text(f"tukeydp: {message}"), soft_wrap=True)


def print_json(outcome: Outcome) -> None:
    sys.stdout.write(json.dumps(outcome.to_dict()) + "\n")


def finish(outcome: Outcome, estimand: str, how: str = "", *, as_json: bool, bounds: Ends | None = None) -> None:
    if as_json:
        print_json(outcome)
    else:
        explain(outcome, estimand, how)
        caution(outcome, bounds)


def explain(
    outcome: Outcome, estimand: str, how: str = "", beside: Mapping[str, Sequence[float]] | None = None
) -> None:
    """Print what was released or why nothing was, what it cost, and how far to trust it.

    `how` says which mechanism ran and why; `beside` are further columns for the table of released values.
    """
    if outcome.guarantee is None:
        say("*** NO GUARANTEE: an experimental mode. Do not publish this result. ***\n")
    elif not outcome.private:
        say("*** SEEDED REHEARSAL: NOT PRIVATE. Do not publish this result. ***\n")
    if isinstance(outcome, Release):
        _print_point(outcome, estimand, beside or {})
    elif isinstance(outcome, Refused):
        _print_refusal(outcome, estimand)
    if outcome.guarantee is not None:
        _print_guarantee(outcome.guarantee)
    if how:
        say(f"\nHow  {how}")
    if outcome.released and outcome.expected_error is not None:
        _print_accuracy(outcome.n, outcome.expected_error)
    if outcome.released:
        _print_estimand(outcome, estimand)


def _print_point(release: Release, estimand: str, beside: Mapping[str, Sequence[float]]) -> None:
    how = "released with differential privacy" if release.guarantee is not None else "without a guarantee"
    say(f"{estimand.capitalize()} of {release.n} rows, {how}\n")
    table = Table(box=None, pad_edge=False)
    table.add_column("column")
    table.add_column("released", justify="right")
    for header in beside:
        table.add_column(header, justify="right")
    intervals = _intervals(release)
    if intervals is not None:
        table.add_column(f"{100 * release.settings['confidence']:g} % interval", justify="right")
    names = release.columns or [f"column {j}" for j in range(release.d)]
    for j, name in enumerate(names):
        numbers = [f"{release.point[j]:.5g}", *(f"{values[j]:.5g}" for values in beside.values())]
        table.add_row(Text(name), *numbers, *(() if intervals is None else (intervals[j],)))
    Console().print(table)
    if release.interval_note is not None:
        say(f"\nInterval  {release.interval_note}")
    if release.certificate is not None:
        say(f"\nDepth  {release.certificate.note}")


def _intervals(release: Release) -> list[str] | None:
    if release.interval is None:
        return None
    return ["none" if math.isnan(low) else f"{low:.5g} to {high:.5g}" for low, high in release.interval.tolist()]


def _print_refusal(refused: Refused, estimand: str) -> None:
    if refused.guarantee is None:
        say(f"No release: the test before the draw did not pass for these {refused.n} rows.\n")
        for note in refused.notes:
            if note != SYMMETRY_CAVEAT:
                say(note)
        return
    steps = (
        "the true step of columns that hold few different values (--resolution age=1); or bounds: --mechanism boxem"
        if estimand == "centre"
        else "or --bounds in place of --delta: then tukeydp mean"
    )
    say(
        f"No release: the test before the draw did not pass for these {refused.n} rows.\n\n"
        f"What it means  Without bounds, a {estimand} may be released only if no single row could move it far. The "
        "test is random; by itself a refusal says little about any one row.\n"
        "The budget is spent  The refusal is an answer and has cost the epsilon and delta below. Trying again costs "
        "them again.\n"
        f"What would help  More rows, fewer columns, a larger epsilon or delta; {steps} never refuses."
    )


def _print_guarantee(guarantee: Guarantee) -> None:
    exception = (
        f", up to events of probability delta = {show(guarantee.delta)}" if isinstance(guarantee, ApproxDP) else ""
    )
    say(
        f"\nGuarantee  {guarantee}.\n"
        "  Whatever one person's row contains, no result becomes more likely by a factor above "
        f"e^epsilon{_factor(float(guarantee.epsilon))}{exception}. The number of rows is not secret."
    )


def _print_accuracy(n: int, error: ExpectedError) -> None:
    if error.typical is None or error.within_95 is None:
        return
    own = "centre (the middle value of each column)" if error.estimand == "centre" else error.estimand
    said = f"Half of the released values are within {_between(error.typical)} {error.units} of the table's own {own}, "
    said += f"and 95 of 100 within {_between(error.within_95)}"
    by_columns = "; ".join(f"{_between(c.typical)} and {_between(c.within_95)}" for c in error.columns or ())
    if error.law_known and not error.known:
        # What the noise is in data units is certain; what that is in standard deviations is a guess.
        said = "All of the error is noise of a known law. In each column's own units, half of the releases are within "
        said += f"the first number of the table's own {own}, and 95 of 100 within the second: {by_columns}"
    elif not error.law_known:
        said += ", whichever of the shapes of measurements below the columns have"
    say(
        f"\nAccuracy to expect  {said}. For comparison: with {n} rows, chance alone puts the table's own mean "
        f"typically {error.sampling:g} standard deviations from the truth."
    )
    if error.from_mean is not None:
        say(
            f"  From the table's own mean, half are within {_between(error.from_mean)}: a centre is not a mean where "
            "columns are skewed."
        )
    if by_columns and error.known:
        say(f"  In the columns' own units, one after the other: {by_columns}.")
    if error.refused is not None and error.refused[1] > _RARE:
        say(f"  Chance of a refusal: {_between(error.refused)}.")
    _print_share_far_off(error)
    _print_assumptions(error)


def _print_share_far_off(error: ExpectedError) -> None:
    if error.far <= _RARE:
        return
    worst = ", ".join(shape.shape for shape in error.shapes if shape.far > _RARE and not shape.few_values)
    where = "" if error.law_known else f" if columns are of the shape: {worst}"
    guess = "" if error.known or error.widths is None else f" between bounds {error.widths[0]:g} of them wide"
    say(
        f"  Up to {100 * error.far:.2g} of 100 releases have a value more than 3 standard deviations off{guess}{where}."
    )
    if error.far > _OFTEN:
        say(
            "  Such a release is mostly noise. More rows, fewer columns, narrower bounds or a larger epsilon help; "
            "each further run spends its own epsilon."
        )


def _print_assumptions(error: ExpectedError) -> None:
    if not error.law_known:
        measured, few = (_shapes(error, few_values) for few_values in (False, True))
        say(
            f"  Half within, by shape of measurements: {measured}. More skewed or heavy-tailed columns do worse. "
            f"Columns of few values: {few}."
        )
    assumed = f"{100 * error.missing:g} % of the cells missing" if error.missing else "no missing cells"
    if error.widths is not None:
        widths = sorted({f"{w:.3g}" for w in error.widths}, key=float)
        how = "by the given standard deviations" if error.known else "a guess"
        assumed += f", bounds {' and '.join(widths)} standard deviations wide ({how})"
    say(f"  Assumed: {assumed}.")


def _shapes(error: ExpectedError, few_values: bool) -> str:
    said = []
    for shape in error.shapes:
        if shape.few_values == few_values:
            noise = f" (mostly noise, {100 * shape.far:.0f} of 100 far off)" if shape.far > _OFTEN else ""
            said.append(f"{shape.shape} {'-' if shape.typical is None else format(shape.typical, 'g')}{noise}")
    return "; ".join(said)


def _between(pair: tuple[float, float]) -> str:
    return f"{pair[0]:g}" if pair[0] == pair[1] else f"{pair[0]:g} to {pair[1]:g}"


def _print_estimand(outcome: Outcome, estimand: str) -> None:
    if estimand == "centre":
        say(
            "\nWhat is estimated  The centre of roughly symmetric data: the point with as many rows as possible on "
            "every side of it. For bell-shaped columns that is the mean. For skewed or yes/no columns it is not: "
            "tukeydp mean releases their mean."
        )
    else:
        say()
    for note in outcome.notes:
        if note != SYMMETRY_CAVEAT:
            say(note)
    if outcome.rehearsal is not None and outcome.rehearsal.caveat is not None:
        say(outcome.rehearsal.caveat)
    if estimand == "mean":
        say(
            "How many values were missing, or moved to a bound, stays secret, so check yourself (tukeydp look) that "
            "the columns hold numbers: from a column of text nothing but noise comes out.\n"
        )
    elif outcome.grid is not None:
        covered = outcome.grid.to_dict()
        ranges = sorted({f"{a:g} to {b:g}" for a, b in zip(covered["lower"], covered["upper"], strict=True)})
        say(
            f"Rows outside the covered range ({'; '.join(ranges)}) were counted at the edge; rows with a missing or "
            "unreadable cell were counted nowhere. How many there were stays secret, so check yourself (tukeydp "
            "look) that the columns hold numbers: from a column of text nothing but noise comes out.\n"
        )


def _factor(epsilon: float) -> str:
    return f" = {math.exp(epsilon):.3g}" if epsilon < _LARGEST_SHOWN else ""


def caution(outcome: Outcome, bounds: Ends | None) -> None:
    """Warnings that follow from the release and the parameters alone, and so cost nothing."""
    if outcome.guarantee is not None and outcome.guarantee.epsilon > _LITTLE_PROTECTION:
        say(f"Warning  An epsilon above {_LITTLE_PROTECTION} protects nobody by much; 1 is common.\n")
    if isinstance(outcome, Release) and bounds is not None:
        names = outcome.columns or [f"column {j}" for j in range(outcome.d)]
        columns = zip(names, outcome.point, *bounds, strict=True)
        at_edge = [name for name, value, a, b in columns if min(value - a, b - value) <= _EDGE * (b - a)]
        if at_edge:
            say(
                f"Warning  At the edge of its bounds: {', '.join(at_edge)}. Unless most values are that near to a "
                "bound, the bounds miss them: in other units perhaps, or the file is not written as declared. Its "
                "owner can check with tukeydp look and the same --bounds.\n"
            )
