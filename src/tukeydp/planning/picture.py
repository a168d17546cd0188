"""Pictures of a plan: predicted error of each mechanism, and the sampling error, against rows or epsilon."""

from __future__ import annotations

import io
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

from tukeydp.accuracy import sampling_error
from tukeydp.errors import ParameterError
from tukeydp.extras import missing
from tukeydp.parameters import brief, checked_choice
from tukeydp.planning.facts import PlanFacts
from tukeydp.planning.options import all_options
from tukeydp.planning.page import COLOURS, as_page

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
