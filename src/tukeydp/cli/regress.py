"""`tukeydp regress FILE ...`: a private linear regression."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from tukeydp.cli import finishing, groups, options
from tukeydp.cli.finishing import finish, finish_groups
from tukeydp.cli.reading import File, Reading, reads_a_file
from tukeydp.cli.reports import checked_targets
from tukeydp.cli.sections import Account, GroupAccount, stopped
from tukeydp.mechanisms.found_bounds import AUTO
from tukeydp.mechanisms.regression import regression
from tukeydp.padding import paced
from tukeydp.results.grouped_release import GroupedRelease
from tukeydp.results.release import Outcome
from tukeydp.trusted.parameters import ParameterError


@reads_a_file
def regress(
    context: typer.Context,
    file: File,
    reading: Reading,
    target: Annotated[str | None, typer.Option(help="Column with the answers. Always needed.")] = None,
    features: Annotated[
        list[str] | None,
        typer.Option(help="Columns that explain it, separated by commas. May be repeated. Always needed."),
    ] = None,
    epsilon: options.Epsilon = None,
    confidence: Annotated[
        str | None, typer.Option(help="Say 0.95: an interval for each coefficient. Costs nothing.")
    ] = None,
    joint: Annotated[bool, typer.Option("--joint", help="The confidence is for all coefficients together.")] = False,
    delta: Annotated[
        str | None, typer.Option(help="For depth of blocks' coefficients: say 1e-6. The run may then refuse.")
    ] = None,
    bounds: Annotated[
        list[str] | None,
        typer.Option(
            help="For depth of blocks' coefficients, what is known of these: --bounds=-10,10 for all, --bounds "
            "age=-1,1 for one, the constant is called intercept. With --ranges, those of standardised columns."
        ),
    ] = None,
    ranges: Annotated[
        list[str] | None,
        typer.Option(
            help="Where values of the features and the target are to be expected, known without looking: --ranges "
            "age=0,100. Values outside are clipped. Ranges that are not given are found for a part of epsilon. With "
            "--bounds or --delta for all of them or none, and nothing is clipped."
        ),
    ] = None,
    blocks: Annotated[int | None, typer.Option(help="Blocks that rows are dealt to.")] = None,
    no_intercept: Annotated[bool, typer.Option("--no-intercept", help="No constant.")] = False,
    by: groups.By = None,
    keys: groups.KeyList = None,
    keys_file: groups.KeysFile = None,
    person: groups.Person = None,
    per_person: groups.PerPerson = None,
    neighbours: options.Neighbours = None,
    rows: options.Rows = None,
    no_check: finishing.NoCheck = False,
    allow_unreadable: finishing.AllowUnreadable = None,
    allow_unlisted: finishing.AllowUnlisted = None,
    ledger: options.Ledger = None,
    pad_to: options.PadTo = None,
    seed: options.Seed = None,
    as_json: options.Json = False,
    verbose: options.Verbose = False,
    out: options.Out = None,
) -> None:
    """Release the coefficients of a linear regression with differential privacy.

    By noised sums of products; with --bounds or --delta by depth of the coefficients of blocks of rows.
    """

    def known() -> list[str]:
        options.refuse_strangers(context, file)
        options.require_epsilon(epsilon)
        groups.listed_keys(by, keys, keys_file)
        groups.check_person(person, per_person)
        checking()
        return _columns(reading, file, target, features)

    def checking() -> Any:
        return finishing.check_asked(no_check, allow_unreadable, allow_unlisted, by=by, person=person)

    def job() -> Outcome | GroupedRelease:
        given = _given(names, no_intercept, bounds, ranges, sums=bounds is None and delta is None)
        mechanism, persons = "rem" if delta else "regression", person is not None
        account = options.account_for(ledger, mechanism, epsilon, delta, neighbours, persons=persons)
        asked: dict[str, Any] = {
            "epsilon": epsilon,
            "delta": delta,
            "blocks": blocks,
            "confidence": confidence,
            "joint": joint,
            "rows": rows,
            "check": checking(),
        }
        asked |= account
        apart: dict[str, Any] = {"by": by, "keys": groups.listed_keys(by, keys, keys_file), "person": person}
        apart |= {"per_person": per_person, "neighbours": neighbours, "y": names[-1]}
        return groups.released(regression, reading, file, names, seed, **apart, **asked, **given)

    names = options.run(known)
    targets = options.run(lambda: checked_targets(out, file))
    outcome = options.run(partial(paced, pad_to, job))
    if isinstance(outcome, GroupedRelease):
        return finish_groups(GroupAccount(outcome, "coefficients", verbose=verbose), as_json=as_json, targets=targets)
    finish(Account(outcome, "coefficients", _how(outcome), verbose), file, as_json=as_json, targets=targets)


def _columns(reading: Reading, file: Path, target: str | None, features: list[str] | None) -> list[str]:
    """The features, and the target at the end."""
    if not target:
        raise ParameterError("target", "must be given: the column with the answers (--target pressure)", "none")
    if not features:
        rule = "must be given: names in the header, separated by commas (--features age,weight)"
        raise ParameterError("features", rule, "none")
    names = reading.names(file, features)
    if target in names:
        raise ParameterError("target", "must not be one of the features", repr(target))
    return [*names, target]


def _given(
    names: list[str], no_intercept: bool, bounds: list[str] | None, ranges: list[str] | None, *, sums: bool
) -> dict[str, Any]:
    coefficients = names[:-1] if no_intercept else ["intercept", *names[:-1]]
    given: dict[str, Any] = {
        "intercept": not no_intercept,
        "bounds": options.pairs_per_column("bounds", bounds, coefficients),
    }
    if sums and ranges and all("=" in one for one in ranges):  # what is not named is found
        named = {one.rpartition("=")[0].strip() for one in ranges}
        ranges = [*ranges, *(f"{name}={AUTO}" for name in names if name not in named)]
    expected = options.pairs_per_column("ranges", ranges, names)
    if isinstance(expected, dict):
        given |= {"ranges": {name: expected[name] for name in names[:-1]}, "target_range": expected[names[-1]]}
    elif expected is not None and expected != AUTO:
        lower, upper = expected
        given |= {"ranges": (lower[:-1], upper[:-1]), "target_range": (lower[-1], upper[-1])}
    return given


def _how(outcome: Outcome) -> str:
    """Words about public numbers."""
    if stopped(outcome):
        return ""
    settings = outcome.settings
    if "blocks" not in settings:
        return (
            f"Noised sums of products: epsilon {_shown(settings['epsilon_look'])} to find the columns, "
            f"{_shown(settings['epsilon_products'])} for a first fit, {_shown(settings['epsilon_residuals'])} for a "
            "step from there by its residuals."
        )
    times = f", {settings['partitions']} times" if "partitions" in settings else ""
    return (
        f"Least squares on each of {settings['blocks']} blocks of rows, dealt in secret{times}, and a point deep among "
        f"their coefficients ({settings['drawn_by']}). {settings['rows_needed']} rows are needed for so many "
        "coefficients at this epsilon."
    )


def _shown(epsilon: Any) -> str:
    return f"{float(epsilon):.3g}"
