"""A plan as text, HTML and pictures, and the recommendation in a sentence: words about public numbers."""

from __future__ import annotations

import io
import math
import re
import textwrap
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from tukeydp.extras import missing
from tukeydp.forecast.options import all_options, said
from tukeydp.forecast.question import ColumnOption, Option, PlanFacts, Question
from tukeydp.mechanisms.found_bounds import rows_for_bounds
from tukeydp.results.accuracy import Range, sampling_error
from tukeydp.results.escaping import in_html, printable
from tukeydp.trusted.parameters import ParameterError, brief, checked_choice, show

# The recommendation in a sentence, and what epsilon means: words about public numbers.
#
# The rule is the paper's (Conclusions, "Selecting an Algorithm"): on small tables without strong knowledge of where the
# data are, depth may be the only way; REM needs no such knowledge, BoxEM hardly minds how weak it is; with more rows or
# strong knowledge noise on a clipped mean is viable; depth is robust besides.

# In standard deviations: a mean that is off by so much in 95 of 100 says little. In words only.
USELESS = 0.5
_MUCH_CLOSER = 1.5  # how many times closer a mechanism with delta has to come to be named
_LARGEST_EPSILON = 30  # above, the guess is certain to all digits shown

_WHY = {
    "subset": "few rows between wide bounds are where depth comes closest (here: of means of blocks of rows)",
    "two-step": "there are rows enough to find out where the data are first, and to clip there",
    "cube": "noise on a mean clipped at the bounds comes closest here",
    "rem": "without bounds, depth with a test before it is the way (here: of means of blocks of rows); it may refuse",
}
_WHY_IN_GROUPS = {
    "subset": _WHY["subset"],
    "rows": "depth of single rows comes closest here, a median: no mean where columns are skewed or yes/no",
    "two-step": "there are rows enough to find out where the data are first, from all groups together, and to clip "
    "there",
    "cube": "noised sums between the bounds come closest here",
}
# Without public standard deviations what follows the scale is not known beforehand.
_SCALE_FIRST = (
    "how wide the bounds are is found out first, from all groups together, and sums are clipped where the data are if "
    "the rows suffice"
)


def recommendation(question: Question, chosen: Option, options: Sequence[Option]) -> str:
    call = _call(question)
    if not chosen.possible or chosen.within_95 is None:
        return f"For the mean: nothing yet. {_what_would_help(question, options)}"
    why = _why(question, chosen.mechanism)
    depth = [option for option in options if option.mechanism in ("subset", "rows", "two-step")]
    if chosen.mechanism == "cube" and depth and not any(option.possible for option in depth):
        why = "the rows are too few for depth, so noise on a mean clipped at the bounds is the only way"
    sentence = f"For the mean: {call}, which takes {chosen.mechanism}: {why}."
    if chosen.within_95[1] > USELESS:
        sentence += f" Expect little of it: {_what_would_help(question, options)}"
    return " ".join([sentence, *_closer(chosen, options), *_robust(options)])


def _why(question: Question, mechanism: str) -> str:
    if question.groups > 1 and mechanism == "two-step" and question.known_sd is None:
        return _SCALE_FIRST
    reasons = _WHY_IN_GROUPS if question.groups > 1 else _WHY
    return reasons.get(mechanism, "it is predicted to come closest")


def _call(question: Question) -> str:
    if question.groups > 1:
        sd = "" if question.known_sd is None else ", sd"
        return f"td.mean with bounds{sd}, by and keys (tukeydp mean --by)"
    given = 'bounds="auto"' if question.found else "bounds" if question.columns is not None else "delta"
    sd = " and sd" if question.columns is not None and question.known_sd is not None else ""
    return f"td.mean with {given}{sd} (tukeydp mean)"


def _what_would_help(question: Question, options: Sequence[Option]) -> str:
    first = "bounds, " if question.columns is None else "narrower bounds, "
    known = "" if question.known_sd is not None or question.columns is None else ", standard deviations that are known"
    groups = "fewer groups, " if question.groups > 1 else ""
    return f"more rows, fewer columns, {groups}{first}a larger epsilon{known} would help."


def _closer(chosen: Option, options: Sequence[Option]) -> list[str]:
    """Mechanisms that ask for a delta, where they are much better."""
    if chosen.guarantee == "approximate" or chosen.within_95 is None:
        return []
    means = [option for option in options if option.estimand == "mean" and option.guarantee == "approximate"]
    sizes = [(option.within_95[1], option.mechanism) for option in means if option.within_95 is not None]
    among = [size for size in sizes if size[0] * _MUCH_CLOSER < chosen.within_95[1]]
    return [f"With delta, {min(among)[1]} should come closer, under a weaker promise."] if among else []


def _robust(options: Sequence[Option]) -> list[str]:
    centres = {option.mechanism for option in options if option.estimand == "centre" and option.possible}
    name = "boxem" if "boxem" in centres else "rem" if "rem" in centres else None
    if name is None:
        return []
    return [f"For a robust centre, unmoved by a fifth of outliers but no mean where columns are skewed: td.{name}."]


def meaning(epsilon: Fraction) -> str:
    """What epsilon does to a guess about one person: odds grow by at most e^epsilon.

    >>> meaning(Fraction(1))
    'Whoever would guess something about one person with 50 % can be sure to at most 73 % after the release.'
    """
    size = float(epsilon)
    share = 1.0 / (1.0 + math.exp(-size)) if size < _LARGEST_EPSILON else 1.0
    percent = f"{100 * share:.3g}" if share > 0.995 else f"{100 * share:.0f}"
    guess = "Whoever would guess something about one person with 50 %"
    return f"{guess} can be sure to at most {percent} % after the release."


def between(pair: Range | None) -> str:
    if pair is None:
        return "-"
    return f"{pair[0]:g}" if pair[0] == pair[1] else f"{pair[0]:g} to {pair[1]:g}"


def counted(epsilon: Fraction, delta: Fraction | None) -> str:
    return f"epsilon = {show(epsilon)}" + ("" if delta is None else f", delta = {show(delta)}")


# A plan as text, at most a screen of it.

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
    if question.found:
        return _found(question, plan)
    widths = " and ".join(sorted({f"{w:.3g}" for w in question.widths.tolist()}, key=float)[:_MOST_COLUMNS])
    if question.known_sd is not None:
        return f"sd as given, right within a factor of 2, so that bounds are {widths} sd wide; "
    some = any(s is not None for s in question.sd)
    how = "a guess where sd is not given; td.mean takes sd for all columns or none" if some else "a guess; give sd"
    return f"bounds {widths} sd wide ({how}); "


def _found(question: Question, plan: PlanFacts) -> str:
    """About bounds that will be found: what that takes, and how far predictions hold."""
    share = 1 - question.left(plan.n, plan.epsilon) / plan.epsilon
    needed = rows_for_bounds(len(question.found), plan.epsilon)
    spent = f"{100 * float(share):.2g} % of epsilon finds bounds, "
    if plan.n < needed:
        return f"{spent}which takes about {needed:,} rows: with fewer some may be found far from the data; "
    few = "; below 1,000 rows real tables were up to 3 times farther off than said here" if plan.n < 1000 else ""
    return f"{spent}then some 30 sd wide (a guess){few}; "


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
        why, _, _ = (option.why_not or "").partition(":")  # the chance of a refusal stands beside it
        return [name, why, "", "", _shares(option.refused), "", ""]
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


# A plan as HTML: in a notebook, and as a page of its own that loads nothing from anywhere.

# Colours follow the reader's scheme; a notebook's own colours shine through where a page has none.
COLOURS = """
:root{color-scheme:light dark;--plan-ink:#1a1a1a;--plan-faint:#6b6b6b;--plan-line:#d8d8d8;--plan-paper:#ffffff}
@media(prefers-color-scheme:dark){:root{--plan-ink:#ececec;--plan-faint:#a3a3a3;--plan-line:#444444;--plan-paper:#161616}}
"""
_TABLE = """
.tukeydp-plan{font:15px/1.45 system-ui,sans-serif;max-width:46rem}
.tukeydp-plan .wide{overflow-x:auto}
.tukeydp-plan table{border-collapse:collapse;font-variant-numeric:tabular-nums;white-space:nowrap;font-size:.9rem}
.tukeydp-plan td,.tukeydp-plan th{padding:.2rem .6rem .2rem 0;text-align:left;border-bottom:1px solid #8884}
.tukeydp-plan tr.chosen{font-weight:600}
.tukeydp-plan dt{font-weight:600;margin-top:.6rem}.tukeydp-plan dd{margin:0}
"""


def as_html(plan: PlanFacts) -> str:
    """The table and the words, for a notebook; every text is escaped, names of columns above all."""
    return f'<style>{_TABLE}</style><div class="tukeydp-plan">{_body(plan)}</div>'


def as_page(plan: PlanFacts, picture: str) -> str:
    """A page with the picture, an SVG, in it."""
    body = (
        "body{color:var(--plan-ink);background:var(--plan-paper);margin:1rem auto;padding:0 1rem;max-width:46rem}"
        "svg{width:100%;height:auto;max-width:38rem}"
    )
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1"><title>tukeydp plan</title>'
        f'<style>{COLOURS}{_TABLE}{body}</style></head><body><div class="tukeydp-plan">'
        f"{_body(plan, picture)}</div></body></html>"
    )


def _body(plan: PlanFacts, picture: str = "") -> str:
    said = "".join(f"<dt>{in_html(h)}</dt><dd>{in_html(text)}</dd>" for h, text in paragraphs(plan))
    return (
        f"<p><b>{in_html(title(plan))}</b></p>{picture}"
        f'<div class="wide"><table>{_rows(plan)}</table></div><p><small>{in_html(units(plan))}'
        f"{' *: needs delta.' if plan.question.delta is not None else ''}</small></p><dl>{said}</dl>"
    )


def _rows(plan: PlanFacts) -> str:
    lines = ["<tr>" + "".join(f"<th>{in_html(h)}</th>" for h in HEADER) + "</tr>"]
    for estimand in ESTIMANDS:
        among = [option for option in plan.options if option.estimand == estimand]
        if among:
            lines.append(f'<tr><td colspan="{len(HEADER)}"><i>{estimand}</i></td></tr>')
        for option in among:
            line = cells(plan, option)
            kind = ' class="chosen"' if line[0].startswith(">") else ""
            lines.append(f"<tr{kind}>" + "".join(f"<td>{in_html(cell)}</td>" for cell in line) + "</tr>")
    return "".join(lines)


# Pictures of a plan: predicted error of each mechanism, and the sampling error, against rows or epsilon.

AGAINST = ("rows", "epsilon")
_FORMATS = (".png", ".svg", ".html")
_POINTS, _FACTOR = 17, 16.0  # places on the axis, and how far it reaches to either side of the plan
# The colours of Okabe and Ito (2008), told apart with every kind of colour vision and on white as on black; markers and
# dashes say the same once more. A mechanism keeps its own in every picture.
_STYLES: dict[tuple[str, str], tuple[str, str, str]] = {
    ("mean", "subset"): ("#0072b2", "o", "-"),
    ("mean", "rows"): ("#e69f00", "d", "-"),
    ("mean", "two-step"): ("#d55e00", "s", "-"),
    ("mean", "cube"): ("#009e73", "^", "-"),
    ("mean", "rem"): ("#56b4e9", "D", "--"),
    ("mean", "analytic-gaussian"): ("#999999", "v", ":"),
    ("mean", "huang-liang-yi"): ("#b8860b", "P", ":"),
    ("centre", "boxem"): ("#cc79a7", "X", "-."),
    ("centre", "rem"): ("#9467bd", "*", "-."),
    ("quartiles", "quantiles"): ("#8c564b", "p", ":"),
}
_OTHER = ("#e69f00", "h", "-")
# Inks that SVG files take from the reader's scheme: what matplotlib is told, and the name of the colour.
_INK, _FAINT, _GRID, _PAPER = "#1a1a1b", "#6b6b6c", "#d8d8d9", "#fffffe"
_NAMES = {_INK: "--plan-ink", _FAINT: "--plan-faint", _GRID: "--plan-line", _PAPER: "--plan-paper"}
_INCHES, _DOTS = (4.6, 5.2), 200  # readable on a phone without zooming
_LARGEST = 30.0  # standard deviations: what is worse is off the picture


def drawn(plan: PlanFacts, against: str) -> Any:
    checked_choice("against", against, AGAINST)
    figure = _figure_class()(figsize=_INCHES, layout="constrained", facecolor=_PAPER)
    axes = figure.subplots()
    places = [_FACTOR ** (2 * i / (_POINTS - 1) - 1) for i in range(_POINTS)]
    lines: dict[tuple[str, str], list[tuple[float, float]]] = {}
    sampling = []
    for factor in places:
        n = max(1, round(plan.n * factor)) if against == "rows" else plan.n
        epsilon = plan.epsilon if against == "rows" else Fraction(f"{float(plan.epsilon) * factor:.4g}")
        x = n if against == "rows" else float(epsilon)
        sampling.append((x, sampling_error(max(1, n // plan.question.groups), plan.question.missing)))
        for option in all_options(plan.question, n, epsilon):
            if option.typical is not None and option.typical[1] < _LARGEST:
                lines.setdefault((option.estimand, option.mechanism), []).append((x, option.typical[1]))
    _draw(axes, plan, lines, sampling)
    _label(axes, plan, against)
    figure.legend(loc="outside lower center", ncols=2, fontsize=9, frameon=False, labelcolor=_INK)
    return figure


def _draw(axes: Any, plan: PlanFacts, lines: dict[Any, list[tuple[float, float]]], sampling: list[Any]) -> None:
    axes.plot(*zip(*sampling, strict=True), color=_INK, linewidth=2.5, alpha=0.55, label="sampling error (no privacy)")
    chosen = (plan.recommended.estimand, plan.recommended.mechanism)
    for key, points in lines.items():
        colour, marker, dash = _STYLES.get(key, _OTHER)
        axes.plot(
            *zip(*points, strict=True),
            color=colour,
            marker=marker,
            linestyle=dash,
            markersize=5.5 if key == chosen else 4,
            linewidth=2.4 if key == chosen else 1.3,
            label=f"{key[0]}: {key[1]}" + (" (recommended)" if key == chosen else ""),
        )


def _label(axes: Any, plan: PlanFacts, against: str) -> None:
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.axvline(plan.n if against == "rows" else float(plan.epsilon), color=_FAINT, linewidth=1, linestyle=(0, (2, 3)))
    fixed = f"epsilon = {float(plan.epsilon):g}" if against == "rows" else f"{plan.n:,} rows"
    d, groups = plan.question.d, plan.question.groups
    shared = f"{d} column{'s' if d > 1 else ''}{f', {groups} groups' if groups > 1 else ''}"
    axes.set_title(f"Half of the releases are within …\n{shared}, {fixed}", fontsize=11, color=_INK)
    axes.set_xlabel("rows" if against == "rows" else "epsilon", fontsize=10, color=_INK)
    axes.set_ylabel("standard deviations of a column\n(the most over shapes of columns)", fontsize=10, color=_INK)
    axes.set_facecolor(_PAPER)
    axes.grid(True, which="major", color=_GRID, linewidth=0.8)
    axes.tick_params(which="both", colors=_FAINT, labelcolor=_INK, labelsize=9)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(lambda value, _: f"{value:,g}" if value < 1e6 else f"{value:.0e}")
        axis.set_minor_formatter(lambda *_: "")
    for side, spine in axes.spines.items():
        spine.set_visible(side in ("left", "bottom"))
        spine.set_color(_FAINT)


def checked_path(file: Any) -> Path:
    path = Path(file)
    if path.suffix.lower() not in _FORMATS:
        raise ParameterError("plot", "must end in .png, .svg or .html", brief(str(file)))
    return path


def written(plan: PlanFacts, figure: Any, path: Path) -> None:
    kind = path.suffix.lower()
    try:
        if kind == ".png":
            figure.savefig(path, dpi=_DOTS, facecolor=figure.get_facecolor())
        else:
            picture = as_svg(figure)
            path.write_text(picture if kind == ".svg" else as_page(plan, picture), encoding="utf-8")
    except OSError as error:
        raise ParameterError("plot", "must be a file that can be written", f"{path} ({error.strerror})") from None


def as_svg(figure: Any) -> str:
    """An SVG whose inks follow the reader's scheme, dark or light, and whose letters stay letters."""
    from matplotlib import rc_context

    out = io.StringIO()
    with rc_context({"svg.fonttype": "none", "font.family": "sans-serif", "svg.hashsalt": "tukeydp"}):
        figure.savefig(out, format="svg", facecolor=figure.get_facecolor(), metadata={"Date": None})
    svg = out.getvalue()
    svg = svg[svg.index("<svg") :]
    for colour, name in _NAMES.items():
        svg = svg.replace(colour, f"var({name})")
    return re.sub(r"(<svg[^>]*>)", rf"\1<style>{COLOURS}text{{font-family:system-ui,sans-serif}}</style>", svg, count=1)


def _figure_class() -> Any:
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise missing("plot", "matplotlib", "plots") from None
    return Figure
