"""`tukeydp quantiles FILE ...`: private quantiles of the named columns, several at once."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from tukeydp.accounts.accountant import Accountant
from tukeydp.cli import finishing as check
from tukeydp.cli import groups, options
from tukeydp.cli.finishing import finish, finish_groups
from tukeydp.cli.reading import Columns, File, Reading, reads_a_file
from tukeydp.cli.reports import checked_targets, footer, page, table_text, wide, write_texts
from tukeydp.cli.sections import REHEARSED, Account, GroupAccount, Section, labelled
from tukeydp.cli.words import complain, print_section, print_table, say
from tukeydp.mechanisms.quantiles import quantiles as released_quantiles
from tukeydp.padding import paced
from tukeydp.results.accuracy_words import accuracy_sentences, assumptions
from tukeydp.results.escaping import csv_text, in_html, in_markdown
from tukeydp.results.grouped_release import GroupedRelease
from tukeydp.results.quantile_release import QUANTILE_NOTE, QuantileRelease
from tukeydp.results.release import Refused
from tukeydp.results.views import guarantee_sentence
from tukeydp.trusted.account import epsilon_stated
from tukeydp.trusted.parameters import ParameterError, show

_SEEDED = "SEEDED REHEARSAL: NOT PRIVATE. Do not publish this result."


@reads_a_file
def quantiles(
    context: typer.Context,
    file: File,
    reading: Reading,
    epsilon: options.Epsilon = None,
    columns: Columns = None,
    bounds: options.Bounds = None,
    q: Annotated[
        str, typer.Option("--q", help="Which quantiles, between 0 and 1, separated by commas: 0.5 is the median.")
    ] = "0.25,0.5,0.75",
    resolution: Annotated[
        list[str] | None,
        typer.Option(
            help="Step of the public grid: --resolution 0.1 for all, --resolution age=1 for one column. Give the true "
            "step of columns in which many values are equal."
        ),
    ] = None,
    by: groups.By = None,
    keys: groups.KeyList = None,
    keys_file: groups.KeysFile = None,
    person: groups.Person = None,
    per_person: groups.PerPerson = None,
    sd: Annotated[
        list[str] | None,
        typer.Option(
            help="Standard deviations known without the data: --sd 10 for all, --sd age=15 for one. For what is said "
            "about accuracy alone."
        ),
    ] = None,
    neighbours: options.Neighbours = None,
    rows: options.Rows = None,
    confidence: Annotated[
        str | None,
        typer.Option(
            help="Say 0.95: a nominal 95 % confidence interval for each of the population's quantiles besides; its "
            "coverage is empirical. Further quantiles are released for its ends, from the same epsilon."
        ),
    ] = None,
    joint: Annotated[bool, typer.Option("--joint", help="One confidence for all quantiles together.")] = False,
    no_check: check.NoCheck = False,
    allow_unreadable: check.AllowUnreadable = None,
    allow_unlisted: check.AllowUnlisted = None,
    ledger: options.Ledger = None,
    pad_to: options.PadTo = None,
    seed: options.Seed = None,
    as_json: options.Json = False,
    verbose: options.Verbose = False,
    out: options.Out = None,
) -> None:
    """Release quantiles of each of the named columns with differential privacy: several at once, in order.

    For the average: tukeydp mean. For a robust centre of all columns together: tukeydp centre.
    """

    def checking() -> Any:
        return check.check_asked(no_check, allow_unreadable, allow_unlisted, by=by, person=person)

    def known() -> tuple[list[str], list[str]]:
        options.refuse_strangers(context, file)
        options.require_epsilon(epsilon)
        groups.listed_keys(by, keys, keys_file)
        groups.check_person(person, per_person)
        checking()
        names = reading.names(file, columns)
        told = reading.bounds(bounds, names)
        if not told:
            raise ParameterError("bounds", "must be given: what is known of the columns without looking", "none")
        return names, told

    def job() -> Any:
        asked = {
            "q": [part.strip() for part in q.split(",")],
            "epsilon": epsilon,
            "bounds": options.pairs_per_column("bounds", told, names),
            "resolution": options.one_per_column("resolution", resolution, names, "STEP"),
            "sd": options.one_per_column("sd", reading.sd(sd, names), names, "VALUE"),
            "rows": rows,
            "confidence": confidence,
            "joint": joint,
            "accountant": None if ledger is None else Accountant.open(ledger),
            "check": checking(),
        }
        apart: dict[str, Any] = {
            "by": by,
            "keys": groups.listed_keys(by, keys, keys_file),
            "person": person,
            "per_person": per_person,
        }
        return groups.released(released_quantiles, reading, file, names, seed, neighbours=neighbours, **apart, **asked)

    names, told = options.run(known)
    targets = options.run(lambda: checked_targets(out, file))
    found = options.run(partial(paced, pad_to, job))
    if isinstance(found, Refused):
        return finish(Account(found, "quantile"), file, as_json=as_json, targets=targets)
    if isinstance(found, GroupedRelease):
        return finish_groups(GroupAccount(found, "quantiles", verbose=verbose), as_json=as_json, targets=targets)
    try:
        if as_json:
            sys.stdout.write(found.to_json(verbose=verbose) + "\n")
        else:
            _explain(found, verbose)
    finally:
        failed = write_texts(targets, lambda ending: _KINDS[ending](found))
    _tell_written(targets, failed, quiet=as_json)


def _tell_written(targets: list[Path], failed: dict[Path, str], *, quiet: bool) -> None:
    written = [str(target) for target in targets if target not in failed]
    if written and not quiet:
        say(f"Wrote {', '.join(written)}.")
    for target, reason in failed.items():
        complain(f"{target} could not be written ({reason}). The result above is complete, and its budget is spent.")
    if failed:
        raise typer.Exit(options.UNEXPECTED)


def _sections(found: QuantileRelease, verbose: bool = True) -> Iterator[Section]:
    """As for other releases: what took no time to find out comes first."""
    each = show(found.settings["epsilon_of_level"])
    levels = found.settings["levels"]
    yield "Guarantee", guarantee_sentence(found.guarantee)
    yield (
        "How",
        f"By rank, the middle one first, then those on either side of it: {levels} level{'s' * (levels > 1)}, each "
        f"with epsilon = {each} for each column.",
    )
    if (error := found.expected_error) is not None:
        yield "Accuracy", " ".join(accuracy_sentences(found.n, error))
        if verbose:
            yield REHEARSED, " ".join(assumptions(error))
    if found.rehearsal is not None and found.rehearsal.caveat is not None:
        yield "Bounds", found.rehearsal.caveat
    if found.interval_note is not None:
        yield "In brackets", found.interval_note
    yield "Estimated", QUANTILE_NOTE
    yield from map(labelled, found.notes)


def _explain(found: QuantileRelease, verbose: bool) -> None:
    if found.seeded:
        say(f"*** {_SEEDED} ***\n")
    say(f"{found.headline}\n")
    print_table(found.shown())
    say()
    for section in _sections(found, verbose):
        print_section(section)


def _html(found: QuantileRelease) -> str:
    parts = [f'<p class="alarm" role="alert">{_SEEDED}</p>'] if found.seeded else []
    parts += [wide(found.shown()), "<dl>"]
    parts += [f"<dt>{in_html(label)}</dt><dd>{in_html(text)}</dd>" for label, text in _sections(found)]
    return page(found.headline, "\n".join([*parts, "</dl>", footer("the released values")]))


def _markdown(found: QuantileRelease) -> str:
    parts = [
        f"# {in_markdown(found.headline)}",
        *([f"**{_SEEDED}**"] if found.seeded else []),
        table_text(found.shown()),
    ]
    return "\n\n".join([*parts, *(f"**{label}**: {in_markdown(text)}" for label, text in _sections(found))]) + "\n"


def _csv(found: QuantileRelease) -> str:
    same = [epsilon_stated(found.guarantee), "yes" if found.private else "no"]
    frame = [
        ("quantile", [show(q) for q in found.shares]),
        *zip(found.names, found.values_by_share.T.tolist(), strict=True),
    ]
    if found.intervals is not None:
        for j, name in enumerate(found.names):
            frame += [
                (f"{name} ({what})", found.intervals[:, j, i].tolist()) for i, what in enumerate(("lower", "upper"))
            ]
    rows = zip(*(values for _, values in frame), strict=True)
    return csv_text([[*(name for name, _ in frame), "epsilon", "private"], *([*row, *same] for row in rows)])


_KINDS: dict[str, Callable[[QuantileRelease], str]] = {
    ".html": _html,
    ".md": _markdown,
    ".csv": _csv,
    ".json": lambda found: found.to_json(indent=2) + "\n",
}
