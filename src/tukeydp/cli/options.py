"""What commands have in common: options, how text becomes parameters, and exit codes."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Sequence
from difflib import get_close_matches
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from tukeydp.accounts.accountant import Accountant
from tukeydp.accounts.budget import Remaining
from tukeydp.cli.words import complain
from tukeydp.depth.notions import NOTIONS, Notion, Spread
from tukeydp.mechanisms.found_bounds import AUTO
from tukeydp.mechanisms.readable_check import least_cost_with_check
from tukeydp.mechanisms.registry import mechanisms_for, takers
from tukeydp.trusted.account import NEIGHBOURS, about_persons
from tukeydp.trusted.bits import SeededRandomness, seeded
from tukeydp.trusted.parameters import ParameterError, checked_choice, show

T = TypeVar("T")

# Options under names they no longer have.
_RENAMED = {"--deviation": "--sd"}

# Exit codes; 0 is a release. Scripts rely on them.
UNEXPECTED, BAD_PARAMETERS, REFUSED = 1, 2, 3


def completing(choices: Iterable[str]) -> Callable[[str], list[str]]:
    """What the shell offers for an option: public names, nothing from a file."""
    names = list(choices)
    return lambda incomplete: [name for name in names if name.startswith(incomplete)]


DEPTHS = ", ".join(NOTIONS)
ESTIMANDS = ("mean", "centre")  # the commands that release, by what they estimate

Epsilon = Annotated[
    str | None, typer.Option(help="Privacy budget, > 0; smaller is more private. 1 is common. Always needed.")
]
Bounds = Annotated[
    list[str] | None,
    typer.Option(
        help="What is known of the columns without looking: --bounds=-10,10 for all, --bounds age=0,120 for one. "
        "Where nothing is known, auto finds them for a part of epsilon: --bounds auto, --bounds crp=auto. Repeatable."
    ),
]
Verbose = Annotated[
    bool,
    typer.Option("--verbose", help="Say more: how the accuracy was rehearsed, all notes; in JSON also directions."),
]
Out = Annotated[
    list[Path] | None,
    typer.Option(help="Write the result to this file too: .html, .md, .csv or .json. May be repeated."),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
Ledger = Annotated[
    Path | None,
    typer.Option(help="Spend from this ledger (tukeydp ledger create FILE), or be refused before the table is read."),
]
Neighbours = Annotated[
    str | None,
    typer.Option(
        help="swap (default): one row is replaced, their number is public. add-remove: one row more or less, their "
        "number stays secret.",
        autocompletion=completing(NEIGHBOURS),
    ),
]
Rows = Annotated[
    int | None,
    typer.Option(help="With --neighbours add-remove: about how many rows there are, known without the file."),
]
PadTo = Annotated[
    str | None,
    typer.Option(help="Seconds: reading and running end only at multiples of them, to hide how long they took."),
]
Seed = Annotated[int | None, typer.Option(help="Rehearse with a fixed seed. The result is then NOT private.")]


def run(job: Callable[[], T]) -> T:
    """What the job returns; an error becomes a message that says nothing about the data, and an exit code."""
    try:
        return job()
    except ParameterError as error:
        complain(str(error))
        raise typer.Exit(BAD_PARAMETERS) from None
    except Exception as error:
        if os.environ.get("TUKEYDP_DEBUG"):
            raise
        # Messages and tracebacks of other errors may quote the data.
        complain(
            f"unexpected {type(error).__name__}; nothing was released. "
            "Set TUKEYDP_DEBUG=1 for a traceback (it may show your data) and report it, please."
        )
        raise typer.Exit(UNEXPECTED) from None


def refuse_strangers(context: typer.Context, file: Path) -> None:
    """Options that this command does not have, with a word on who has them; one of them may stand where FILE should."""
    strangers = [text.partition("=")[0] for text in (str(file), *context.args) if text[:1] == "-" != text]
    if not strangers:
        if context.args:
            rule = "must be one FILE and options; names with blanks need quotes"
            raise ParameterError("arguments", rule, repr(context.args[0]))
        return
    option = strangers[0]
    siblings = context.parent.command.commands if context.parent is not None else {}  # type: ignore[attr-defined]
    for name, command in siblings.items():
        if option in _options_of(command) and name in ESTIMANDS:
            raise ParameterError(option, f"must be left out: it belongs to `tukeydp {name}`", option)
    close = [_RENAMED[option]] if option in _RENAMED else get_close_matches(option, _options_of(context.command), n=1)
    hint = f" (did you mean {close[0]}?)" if close else ""
    raise ParameterError("options", f"must be those that `{context.command_path} --help` lists", option + hint)


def _options_of(command: Any) -> list[str]:
    return [name for parameter in command.params for name in (*parameter.opts, *parameter.secondary_opts)]


def require_epsilon(epsilon: str | None) -> None:
    if epsilon is None:
        rule = "must be given: the privacy budget, smaller is more private (--epsilon 1 is common)"
        raise ParameterError("epsilon", rule, "none")


def mechanism_help(estimand: str) -> str:
    return "; ".join(f"{name}: {mechanism.about}" for name, mechanism in mechanisms_for(estimand).items()) + "."


def those_with(option: str, estimand: str) -> str:
    """Mechanisms that take an option, for its help text."""
    return ", ".join(name for name in takers(option, estimand) if name != "auto" or option != "delta")


def account_for(
    ledger: Path | None,
    mechanism: str,
    epsilon: str | None,
    delta: str | None,
    neighbours: str | None = None,
    *,
    persons: bool = False,
) -> dict[str, Accountant]:
    """The ledger as a parameter of the run, once it is clear that there may be room; nothing is spent yet."""
    if ledger is None:
        return {}
    account = Accountant.open(ledger)
    if delta is None or mechanism in ("auto", "rem"):
        least = least_cost_with_check(epsilon, delta, neighbours or "swap")
        account.require(about_persons(least) if persons else least)
    # What other noise costs is known to the run only, which checks it before the data are touched.
    return {"accountant": account}


def left_in_words(left: Remaining) -> str:
    delta = f", and delta up to {show(left.delta)}" if left.delta else ""
    return f"any one pure release of epsilon up to {float_below(left.epsilon)}{delta}."


def float_below(number: Fraction) -> str:
    """Six digits, rounded down: never more than there is."""
    return f"{math.floor(number * 10**6) / 10**6:g}"


def source_for(seed: int | None) -> SeededRandomness | None:
    return None if seed is None else seeded(seed)


def notion_for(depth: str | None, directions: int | None, axes: bool, usual: type[Notion] = Spread) -> Notion | None:
    if depth is None and directions is None and axes:
        return None  # what a call without a notion gets: a number that fits the table's shape
    kind = usual if depth is None else NOTIONS[checked_choice("depth", depth, NOTIONS)]
    return kind.with_options(directions, axes)


def one_per_column(option: str, given: Sequence[str] | None, names: Sequence[str], shape: str) -> list[str] | None:
    """`--resolution 0.1` for all columns and `--resolution age=1` for one become one entry per column."""
    return [values[0] for values in _per_column(option, given, names, shape)] if given else None


def pairs_per_column(option: str, given: Sequence[str] | None, names: Sequence[str]) -> Any:
    """`--bounds=0,1` for all columns and `--bounds a=0,5` for one become all lower and all upper ends.

    With `--bounds a=auto` a dict with None for what is to be found; "auto" where that is all of it.
    """
    if not given:
        return None
    told = [f"{text},{AUTO}" if text.rpartition("=")[2].strip() == AUTO else text for text in given]
    pairs = [None if pair == [AUTO, AUTO] else pair for pair in _per_column(option, told, names, "LOWER,UPPER")]
    if None not in pairs:
        return [pair[0] for pair in pairs if pair], [pair[1] for pair in pairs if pair]
    return dict(zip(names, pairs, strict=True)) if any(pairs) else AUTO


def _per_column(option: str, given: Sequence[str], names: Sequence[str], shape: str) -> list[list[str]]:
    found: dict[str, list[str]] = {}
    general = [text for text in given if "=" not in text]
    if len(general) > 1:
        raise ParameterError(option, "must be given once for all columns, and else by name", ", ".join(general))
    for text in given:
        name, separator, numbers = text.rpartition("=")
        values = [value.strip() for value in numbers.split(",")]
        if len(values) != len(shape.split(",")) or not all(values):
            raise ParameterError(option, f"must read {shape} or COLUMN={shape}", repr(text))
        targets = [name.strip()] if separator else [name for name in names if name not in found]
        for target in targets:
            if target not in names:
                raise ParameterError(option, f"must name one of the columns {', '.join(names)}", repr(target))
            found[target] = values
    missing = [name for name in names if name not in found]
    if missing:
        raise ParameterError(option, f"must be given for every column ({shape})", f"none for {', '.join(missing)}")
    return [found[name] for name in names]
