"""A plan as text, at most a screen of it."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from tukeydp.accuracy import Range
from tukeydp.planning.advice import between, counted
from tukeydp.planning.facts import PlanFacts
from tukeydp.planning.records import ColumnOption, Option
from tukeydp.planning.solving import said
from tukeydp.views.escaping import printable

_LINE = 79  # characters: the narrowest terminal in use
_INDENT = 13  # characters that a heading takes
_MOST_COLUMNS = 6  # shown one by one; the others are in `to_dict()`
MANY = 1e6  # standard deviations that bounds may be wide: more is no limit to anybody


def as_text(plan: PlanFacts) -> str:
    parts = [*textwrap.wrap(title(plan), _LINE), "", *_table(plan), *_wrapped("", units(plan)), ""]
    for heading, text in paragraphs(plan):
        parts += _wrapped(heading, printable(text))
    return "\n".join(parts)


ESTIMANDS = ("mean", "centre", "quartiles")


def units(plan: PlanFacts) -> str:
    """What the numbers of the table are."""
    others = ", ".join(name for name in ESTIMANDS[1:] if any(option.estimand == name for option in plan.options))
    return (
        f"Errors by privacy: how far a release is from the table's own mean{others and f' ({others})'}, in standard "
        "deviations (sd) of a column, from the least to the most over bell-shaped, heavy-tailed, skewed and two-humped "
        "columns. far: share of releases more than 3 sd off. bounds: how many sd wide they may be. sec.: about. >: "
        "what td.mean takes."
    )


def title(plan: PlanFacts) -> str:
    rows = f"{plan.n:,} row{'s' if plan.n > 1 else ''}"
    d = plan.question.d
    text = f"{rows}, {d} column{'s' if d > 1 else ''}, {counted(plan.epsilon, plan.question.delta)}"
    if plan.question.groups > 1:
        text += f", {plan.question.groups} groups of about {plan.n // plan.question.groups:,}"
    return f"Plan for {text} (no data involved)"


def paragraphs(plan: PlanFacts) -> list[tuple[str, str]]:
    """Headings and what stands under them; the same in text and on pages."""
    found = [] if plan.solved is None else [("Answer", answer(plan))]
    found.append(("Recommended", plan.recommendation))
    found.append(("epsilon", plan.meaning + (" (No epsilon was given: 1 is common.)" if plan.usual else "")))
    if units := in_units(plan.recommended):
        found.append(("In units", units))
    found.append(("Sampling", sampling(plan)))
    if plan.question.groups > 1:
        found.append(("Groups", GROUPS))
    found.append(("Assumed", assumptions(plan)))
    return found


GROUPS = (
    "The errors are those of one group, if all have equally many rows: how many each has is secret, and smaller ones "
    "do worse. All groups together cost epsilon once. two-step finds one range for all groups, which is wider where "
    "they lie far apart."
)


def answer(plan: PlanFacts) -> str:
    found = f"epsilon = {float(plan.epsilon):g}" if plan.solved == "epsilon" else f"{plan.n:,} rows"
    kind = "the smallest epsilon" if plan.solved == "epsilon" else "the fewest rows"
    return (
        f"{found}: {kind} from which on 95 of 100 released means are predicted within {said(plan.question)} of the "
        "table's own mean, whichever of the shapes the columns have."
    )


def sampling(plan: PlanFacts) -> str:
    rows = plan.n // plan.question.groups
    return (
        f"By chance alone, half of all tables of {rows:,} rows have means more than {plan.sampling:g} sd from the "
        "truth, privacy or not. The errors above come on top."
    )


def assumptions(plan: PlanFacts) -> str:
    question = plan.question
    missing = f"{100 * question.missing:g} % of the cells missing" if question.missing else "no cell missing"
    ranked = any(option.estimand == "quartiles" for option in plan.options)
    ties = ", and quantiles where many values are equal" if ranked else ""
    return (
        f"{_assumed_widths(plan)}{missing}. Formulas, not a simulation: more skewed or heavy-tailed columns do worse, "
        f"columns of few values by depth much worse (cube is for those){ties}. far is for bell-shaped columns."
    )


def _assumed_widths(plan: PlanFacts) -> str:
    question = plan.question
    if question.columns is None:
        return ""
    widths = " and ".join(sorted({f"{w:.3g}" for w in question.widths.tolist()}, key=float)[:_MOST_COLUMNS])
    if question.known_sd is not None:
        return f"sd as given, right within a factor of 2, so that bounds are {widths} sd wide; "
    some = any(s is not None for s in question.sd)
    how = "a guess where sd is not given; td.mean takes sd for all columns or none" if some else "a guess; give sd"
    return f"bounds {widths} sd wide ({how}); "


def in_units(option: Option) -> str:
    """The recommended mechanism, column by column, where units are known."""
    known = [column for column in option.columns if column.typical_in_units is not None]
    if len(known) > 1 and len({(c.typical_in_units, c.within_95_in_units) for c in known}) == 1:
        return f"In each column half within {between(known[0].typical_in_units)}, 95 of 100 within " + (
            f"{between(known[0].within_95_in_units)}."
        )
    shown = "; ".join(_column(column) for column in known[:_MOST_COLUMNS])
    more = f"; {len(known) - _MOST_COLUMNS} more in the JSON" if len(known) > _MOST_COLUMNS else ""
    return f"Half within, 95 of 100 within: {shown}{more}." if known else ""


def _column(column: ColumnOption) -> str:
    return f"{column.column} {between(column.typical_in_units)}, {between(column.within_95_in_units)}"


def cells(plan: PlanFacts, option: Option) -> list[str]:
    """One line of the table."""
    mark = "> " if option.mechanism == plan.recommended.mechanism and option.estimand == "mean" else "  "
    star = "*" if option.guarantee == "approximate" else ""
    name = f"{mark}{option.mechanism}{star}"
    if not option.possible:
        return [name, option.why_not or "", "", "", _shares(option.refused), "", ""]
    return [
        name,
        _pair(option.typical),
        _pair(option.within_95),
        _share(option.far),
        _shares(option.refused),
        _width(option.widest),
        _seconds(option.seconds),
    ]


HEADER = ["", "half within", "95 of 100", "far", "refused", "bounds", "sec."]


def _table(plan: PlanFacts) -> list[str]:
    lines: list[list[str]] = []
    for estimand in ESTIMANDS:
        among = [option for option in plan.options if option.estimand == estimand]
        if among:
            lines += [[estimand], *(cells(plan, option) for option in among)]
    widths = [max(len(line[j]) for line in [HEADER, *lines] if len(line) > 2) for j in range(len(HEADER))]
    between_columns = "  " if sum(widths) + 2 * len(widths) - 2 <= _LINE else " "
    text = [_line(line, widths, between_columns) for line in [HEADER, *lines]]
    if any(option.guarantee == "approximate" for option in plan.options):
        text.append("* needs delta: a weaker promise than epsilon alone")
    return text


def _line(line: Sequence[str], widths: Sequence[int], between_columns: str) -> str:
    return between_columns.join(cell.ljust(width) for cell, width in zip(line, widths, strict=False)).rstrip()


def _pair(pair: Range | None) -> str:
    return between(pair).replace(" to ", "-")


def _share(share: float | None) -> str:
    if share is None:
        return "-"
    return "<0.1%" if share < 0.001 else f"{100 * share:.2g}%" if share < 0.995 else "all"


def _shares(pair: Range | None) -> str:
    low, high = ("-", "-") if pair is None else (_share(pair[0]), _share(pair[1]))
    return low if low == high else f"{low}-{high}"


def _seconds(seconds: float | None) -> str:
    return "" if seconds is None else "<0.01" if seconds < 0.01 else f"{seconds:g}"


def _width(width: float | None) -> str:
    if width is None:
        return "-"
    return f"{width:,.0f}" if width < MANY else "any"


def _wrapped(heading: str, text: str) -> list[str]:
    if not heading:
        return textwrap.wrap(text, _LINE, break_on_hyphens=False)
    return textwrap.wrap(
        text,
        _LINE,
        break_on_hyphens=False,
        initial_indent=heading.ljust(_INDENT),
        subsequent_indent=" " * _INDENT,
        break_long_words=False,
    )
