"""`tukeydp mean FILE ...`: private means of the named columns."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Annotated, Any

import typer

from tukeydp.cli import finishing as check
from tukeydp.cli import groups, options
from tukeydp.cli.finishing import finish, finish_groups
from tukeydp.cli.reading import Columns, File, Reading, reads_a_file
from tukeydp.cli.reports import checked_targets
from tukeydp.cli.sections import Account, GroupAccount, stopped
from tukeydp.mechanisms.mean import mean as released_mean
from tukeydp.mechanisms.registry import MECHANISMS, chosen, mechanisms_for
from tukeydp.padding import paced
from tukeydp.results.accuracy import ASSUMED_WIDTH, ASSUMED_WIDTH_OF_SHARES
from tukeydp.results.grouped_release import GroupedRelease
from tukeydp.results.release import Outcome
from tukeydp.trusted.parameters import ParameterError


@reads_a_file
def mean(
    context: typer.Context,
    file: File,
    reading: Reading,
    epsilon: options.Epsilon = None,
    columns: Columns = None,
    bounds: options.Bounds = None,
    delta: Annotated[
        str | None,
        typer.Option(help=f"In place of bounds, and for {options.those_with('delta', 'mean')}: say 1e-6."),
    ] = None,
    mechanism: Annotated[
        str,
        typer.Option(help=options.mechanism_help("mean"), autocompletion=options.completing(mechanisms_for("mean"))),
    ] = "auto",
    blocks: Annotated[
        int | None, typer.Option(help=f"Blocks that rows are dealt to ({options.those_with('blocks', 'mean')}).")
    ] = None,
    partitions: Annotated[
        int | None, typer.Option(help=f"How many times they are dealt ({options.those_with('partitions', 'mean')}).")
    ] = None,
    by: groups.By = None,
    keys: groups.KeyList = None,
    keys_file: groups.KeysFile = None,
    counts: groups.Counts = None,
    person: groups.Person = None,
    per_person: groups.PerPerson = None,
    sd: Annotated[
        list[str] | None,
        typer.Option(
            help="Standard deviations known without the data, within a factor of 2: --sd 10 for all, --sd age=15 for "
            f"one ({options.those_with('sd', 'mean')})."
        ),
    ] = None,
    confidence: Annotated[
        str | None,
        typer.Option(
            help="Say 0.95: a nominal 95 % confidence interval for each column's population mean besides; its "
            "coverage is empirical. Part of epsilon goes to it, unless --sd is given."
        ),
    ] = None,
    joint: Annotated[bool, typer.Option("--joint", help="One confidence for all columns together.")] = False,
    fill: Annotated[
        list[str] | None,
        typer.Option(
            help="What a missing cell counts as, chosen without the data: --fill 120 for all, --fill age=50 for one "
            f"({options.those_with('fill', 'mean')})."
        ),
    ] = None,
    neighbours: options.Neighbours = None,
    rows: options.Rows = None,
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
    """Release the mean of each of the named columns with differential privacy.

    The average people ask for: of skewed columns, of yes/no columns, with missing cells.

    For a robust centre of the rows, unmoved by outliers: tukeydp centre.
    """

    def checking() -> Any:
        return check.check_asked(no_check, allow_unreadable, allow_unlisted, by=by, person=person)

    def known() -> tuple[list[str], list[str]]:
        options.refuse_strangers(context, file)
        options.require_epsilon(epsilon)
        groups.listed_keys(by, keys, keys_file, counts)
        groups.check_person(person, per_person)
        checking()
        names = reading.names(file, columns)
        return names, reading.bounds(bounds, names)

    def job() -> Outcome | GroupedRelease:
        given = {
            "bounds": options.pairs_per_column("bounds", told, names),
            "delta": delta,
            "blocks": blocks,
            "partitions": partitions,
            "sd": options.one_per_column("sd", reading.sd(sd, names), names, "VALUE"),
            "confidence": confidence,
            "joint": joint or None,
            "fill": options.one_per_column("fill", fill, names, "VALUE"),
        }
        given |= {"rows": rows}
        if by is None:
            way, present = chosen(mechanism, "mean", {**given, "neighbours": neighbours})
            run: Any = way.checked
        else:
            if given.pop("fill") is not None:
                raise ParameterError("fill", "must be left out with by", ", ".join(fill or ()))
            present = {option: value for option, value in given.items() if value is not None}
            run = partial(released_mean, mechanism=mechanism, counts=counts)
        present.pop("neighbours", None)
        present |= {"epsilon": epsilon, "check": checking()}
        present |= options.account_for(
            ledger, mechanism, epsilon, present.get("delta"), neighbours, persons=person is not None
        )
        apart: dict[str, Any] = {
            "by": by,
            "keys": groups.listed_keys(by, keys, keys_file),
            "person": person,
            "per_person": per_person,
        }
        return groups.released(run, reading, file, names, seed, neighbours=neighbours, **apart, **present)

    names, told = options.run(known)
    targets = options.run(lambda: checked_targets(out, file))
    outcome = options.run(partial(paced, pad_to, job))
    if isinstance(outcome, GroupedRelease):
        return finish_groups(
            GroupAccount(outcome, "mean", mechanism == "auto", verbose), as_json=as_json, targets=targets
        )
    how = how_and_why(mechanism, outcome, sd=bool(reading.sd(sd, names)), dealt=(blocks, partitions) != (None, None))
    finish(Account(outcome, "mean", how, verbose), file, as_json=as_json, targets=targets)


def how_and_why(asked: str, outcome: Outcome, *, sd: bool = False, dealt: bool = False) -> str:
    """Which mechanism ran, why, and what was assumed: words about public numbers."""
    if stopped(outcome):
        return ""
    if asked == "auto" and outcome.bounds is None:
        way = MECHANISMS["auto"].without_bounds
        assert way is not None
        blocks = outcome.settings["blocks"]
        about = f"{way.about} ({blocks} blocks, dealt in secret)" if blocks else "rem on the rows"
        return f"Depth without bounds: {about}, because no bounds are given."
    about = f"{capital(MECHANISMS[outcome.mechanism].about)} ({outcome.mechanism})"
    if asked != "auto":
        why = "as asked for"
    elif dealt:
        why = "because blocks or partitions are given"
    else:
        known = ", the bounds and the standard deviations given" if sd else " and the bounds"
        numbers = "the numbers of rows and columns" if outcome.n is not None else "--rows, the number of columns"
        why = f"because by {numbers}, epsilon{known} it should come closest"
    if "epsilon_scale" in outcome.settings:
        share = 100 * float(outcome.settings["epsilon_scale"] / sum(_spent(outcome)))
        found = (
            f"{share:.2g} % of epsilon went to how spread the columns are; give --sd if you know it without the data."
        )
        return f"{about}, {why}. {found}"
    return f"{about}, {why}. {_assumed(asked, sd)}".strip()


def _spent(outcome: Outcome) -> list[Fraction]:
    return [outcome.settings[name] for name in ("epsilon_scale", "epsilon_mean")]


def _assumed(asked: str, sd: bool) -> str:
    if "sd" not in MECHANISMS[asked].takes:
        return ""
    if sd:
        return "Assumed: the standard deviations given are right within a factor of 2."
    return (
        f"Assumed: bounds are at most {ASSUMED_WIDTH:g} standard deviations wide (those of 0 to 1 at most "
        f"{ASSUMED_WIDTH_OF_SHARES:g}); give --sd if you know better."
    )


def capital(text: str) -> str:
    return text[0].upper() + text[1:]
