"""`tukeydp quantiles FILE ...`: private quantiles of the named columns, several at once."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Callable
from functools import partial
from html import escape
from pathlib import Path
from typing import Annotated

import typer

from tukeydp.cli import options
from tukeydp.cli.bounds_file import BoundsFile, with_file
from tukeydp.cli.reading import Columns, File, Reading, reads_a_file
from tukeydp.cli.reports import checked_targets, write_texts
from tukeydp.cli.reports.csv_table import harmless
from tukeydp.cli.reports.html_page import footer, page
from tukeydp.cli.reports.markdown import escaped, table_text
from tukeydp.cli.words import complain, print_section, print_table, say
from tukeydp.errors import ParameterError
from tukeydp.mechanisms.quantiles import quantiles as released_quantiles
from tukeydp.padding import paced
from tukeydp.parameters import show
from tukeydp.planning.accountant import Accountant
from tukeydp.quantile_release import QUANTILE_NOTE, QuantileRelease
from tukeydp.views.html import table_html
from tukeydp.views.sentences import guarantee_sentence

_SEEDED = "SEEDED REHEARSAL: NOT PRIVATE. Do not publish this result."


@reads_a_file
def quantiles(
    context: typer.Context,
    file: File,
    reading: Reading,
    epsilon: options.Epsilon = None,
    columns: Columns = None,
    bounds: options.Bounds = None,
    bounds_file: BoundsFile = None,
    q: Annotated[
        str, typer.Option("--q", help="Which quantiles, between 0 and 1, separated by commas: 0.5 is the median.")
    ] = "0.25,0.5,0.75",
    resolution: Annotated[
        list[str] | None,
        typer.Option(help="Step of the public grid: --resolution 0.1 for all, --resolution age=1 for one column."),
    ] = None,
    ledger: options.Ledger = None,
    pad_to: options.PadTo = None,
    seed: options.Seed = None,
    as_json: options.Json = False,
    out: options.Out = None,
) -> None:
    """Release quantiles of each of the named columns with differential privacy: several at once, in order.

    For the average: tukeydp mean. For a robust centre of all columns together: tukeydp centre.
    """

    def known() -> tuple[list[str], list[str]]:
        options.refuse_strangers(context, file)
        options.require_epsilon(epsilon)
        names = reading.names(file, columns)
        told = with_file(bounds, bounds_file, names)
        if not told:
            raise ParameterError("bounds", "must be given: what is known of the columns without looking", "none")
        return names, told

    def job() -> QuantileRelease:
        account = None if ledger is None else Accountant.open(ledger)
        return released_quantiles(
            reading.table(file, names),
            [part.strip() for part in q.split(",")],
            epsilon=epsilon,
            bounds=options.pairs_per_column("bounds", told, names),
            resolution=options.one_per_column("resolution", resolution, names, "STEP"),
            randomness=options.source_for(seed),
            accountant=account,
        )

    names, told = options.run(known)
    targets = options.run(lambda: checked_targets(out, file))
    found = options.run(partial(paced, pad_to, job))
    try:
        if as_json:
            sys.stdout.write(found.to_json() + "\n")
        else:
            _explain(found)
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


def _sections(found: QuantileRelease) -> list[tuple[str, str]]:
    each = show(found.settings["epsilon_of_level"])
    levels = found.settings["levels"]
    return [
        ("Guarantee", guarantee_sentence(found.guarantee)),
        (
            "How",
            f"By rank, the middle one first, then those on either side of it: {levels} level{'s' * (levels > 1)}, each "
            f"with epsilon = {each} for each column.",
        ),
        ("Estimated", QUANTILE_NOTE),
    ]


def _explain(found: QuantileRelease) -> None:
    if found.seeded:
        say(f"*** {_SEEDED} ***\n")
    say(f"{found.headline}\n")
    print_table(found.shown())
    say()
    for section in _sections(found):
        print_section(section)


def _html(found: QuantileRelease) -> str:
    parts = [f'<p class="alarm" role="alert">{_SEEDED}</p>'] if found.seeded else []
    parts += [table_html(found.shown()), "<dl>"]
    parts += [f"<dt>{escape(label)}</dt><dd>{escape(text)}</dd>" for label, text in _sections(found)]
    return page(found.headline, "\n".join([*parts, "</dl>", footer("the released values")]))


def _markdown(found: QuantileRelease) -> str:
    parts = [f"# {found.headline}", *([f"**{_SEEDED}**"] if found.seeded else []), table_text(found.shown())]
    return "\n\n".join([*parts, *(f"**{label}**: {escaped(text)}" for label, text in _sections(found))]) + "\n"


def _csv(found: QuantileRelease) -> str:
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(["quantile", *map(harmless, found.names), "epsilon", "private"])
    same = [show(found.guarantee.epsilon), "yes" if found.private else "no"]
    for share, row in zip(found.shares, found.values_by_share.tolist(), strict=True):
        writer.writerow([show(share), *row, *same])
    return text.getvalue()


_KINDS: dict[str, Callable[[QuantileRelease], str]] = {
    ".html": _html,
    ".md": _markdown,
    ".csv": _csv,
    ".json": lambda found: found.to_json(indent=2) + "\n",
}
