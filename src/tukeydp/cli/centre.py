"""`tukeydp centre FILE ...`: a private, robust centre of the named columns."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

import typer

from tukeydp.cli import finishing as check
from tukeydp.cli import groups, options
from tukeydp.cli.finishing import finish, finish_groups
from tukeydp.cli.mean import capital
from tukeydp.cli.reading import Columns, File, Reading, reads_a_file
from tukeydp.cli.reports import checked_targets
from tukeydp.cli.sections import Account, GroupAccount, stopped
from tukeydp.data.streams import MEMORY
from tukeydp.depth.notions import NOTIONS, AnyScale, Spread
from tukeydp.mechanisms.registry import MECHANISMS, chosen, mechanisms_for
from tukeydp.padding import paced
from tukeydp.results.grouped_release import GroupedRelease
from tukeydp.results.release import Outcome
from tukeydp.trusted.parameters import ParameterError


@reads_a_file
def centre(
    context: typer.Context,
    file: File,
    reading: Reading,
    epsilon: options.Epsilon = None,
    columns: Columns = None,
    bounds: options.Bounds = None,
    mechanism: Annotated[
        str,
        typer.Option(
            help=options.mechanism_help("centre"), autocompletion=options.completing(mechanisms_for("centre"))
        ),
    ] = "boxem",
    delta: Annotated[
        str | None,
        typer.Option(help=f"For {options.those_with('delta', 'centre')}: much smaller than 1 / rows; say 1e-6."),
    ] = None,
    threshold: Annotated[int | None, typer.Option(help="rem only: least depth released; chosen if left out.")] = None,
    test: Annotated[str | None, typer.Option(help="rem only: graded (default), laplace or paper.")] = None,
    depth: Annotated[
        str | None,
        typer.Option(
            help=f"{options.DEPTHS}. Left out: any-scale for rem, else spread.",
            autocompletion=options.completing(NOTIONS),
        ),
    ] = None,
    directions: Annotated[
        int | None,
        typer.Option(help="Directions besides the axes; chosen from the table's shape if left out."),
    ] = None,
    axes: Annotated[bool, typer.Option(help="Whether the axes are among the directions.")] = True,
    resolution: Annotated[
        list[str] | None,
        typer.Option(help="Step of the public grid: --resolution 0.1 for all, --resolution age=1 for one column."),
    ] = None,
    by: groups.By = None,
    keys: groups.KeyList = None,
    keys_file: groups.KeysFile = None,
    counts: groups.Counts = None,
    person: groups.Person = None,
    per_person: groups.PerPerson = None,
    certify: Annotated[
        str | None,
        typer.Option(
            help="boxem only: a share of epsilon, say 0.1, for how many rows lie on every side of the point at least."
        ),
    ] = None,
    unproven: Annotated[
        str | None,
        typer.Option(help="mcmc: an experiment with random walks, WITHOUT ANY GUARANTEE; not for publication."),
    ] = None,
    stream: Annotated[
        bool,
        typer.Option(
            "--stream",
            help="boxem on Parquet only: read FILE, or all of a folder, in passes; for more than memory holds.",
        ),
    ] = False,
    memory: Annotated[
        int | None, typer.Option(help="With --stream: MiB for what is kept between passes; 512 if left out.")
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
    """Release a robust centre of the named columns with differential privacy.

    A multivariate median: little moved by outliers, and equal to the mean where columns are symmetric.

    For the average, of skewed or yes/no columns too: tukeydp mean.
    """

    def check_stream() -> None:
        if memory is not None and not stream:
            raise ParameterError("memory", "must be left out without --stream", memory)
        clashing = {"mechanism": None if mechanism == "boxem" else mechanism, "by": by, "person": person}
        for name, given in clashing.items():
            if stream and given is not None:
                raise ParameterError(name, "must be left out with --stream", repr(given))

    def checking() -> Any:
        return check.check_asked(no_check, allow_unreadable, allow_unlisted, by=by, person=person)

    def known() -> tuple[list[str], list[str]]:
        options.refuse_strangers(context, file)
        options.require_epsilon(epsilon)
        groups.listed_keys(by, keys, keys_file, counts)
        groups.check_person(person, per_person)
        checking()
        check_stream()
        names = reading.names(file, columns)
        return names, reading.bounds(bounds, names)

    def job() -> Outcome | GroupedRelease:
        given = {
            "bounds": options.pairs_per_column("bounds", told, names),
            "delta": delta,
            "depth": options.notion_for(depth, directions, axes, AnyScale if mechanism == "rem" else Spread),
            "resolution": options.one_per_column("resolution", resolution, names, "STEP"),
            "threshold": threshold,
            "test": test,
            "certify": certify,
            "unproven": unproven,
        }
        given |= {"neighbours": neighbours, "rows": rows}
        way, present = chosen(mechanism, "centre", given)
        persons = person is not None
        account = options.account_for(ledger, mechanism, epsilon, present.get("delta"), neighbours, persons=persons)
        if stream:
            parts = reading.stream(file, names, MEMORY if memory is None else memory)
            asked = {"epsilon": epsilon, "check": checking()}
            return way.checked(parts, randomness=options.source_for(seed), **asked, **account, **present)
        if counts is not None and mechanism != "boxem":
            rule = "must be left out with --mechanism rem: they would need a part of epsilon beside its test"
            raise ParameterError("counts", rule, counts)
        present.pop("neighbours", None)
        run = way.checked if counts is None else partial(way.checked, counts=counts)
        apart: dict[str, Any] = {
            "by": by,
            "keys": groups.listed_keys(by, keys, keys_file),
            "person": person,
            "per_person": per_person,
        }
        present |= {"epsilon": epsilon, "check": checking(), **account}
        return groups.released(run, reading, file, names, seed, neighbours=neighbours, **apart, **present)

    names, told = options.run(known)
    targets = options.run(lambda: checked_targets(out, file))
    outcome = options.run(partial(paced, pad_to, job))
    if isinstance(outcome, GroupedRelease):
        return finish_groups(GroupAccount(outcome, "centre", verbose=verbose), as_json=as_json, targets=targets)
    finish(Account(outcome, "centre", how(outcome), verbose), file, as_json=as_json, targets=targets)


def how(outcome: Outcome) -> str:
    """Which mechanism ran and why: there is one for each case."""
    if stopped(outcome):
        return ""
    why = "because bounds are given" if outcome.bounds is not None else "because no bounds are given"
    walks = "" if outcome.unproven is None else f", here by {outcome.unproven}, without a proof"
    return f"{capital(MECHANISMS[outcome.mechanism].about)} ({outcome.mechanism}{walks}), {why}."
