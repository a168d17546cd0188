"""Forest plots: the mean with its interval, column by column in its own units. Post-processing of a release."""

from __future__ import annotations

import io
import math
import re
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from tukeydp.extras import missing
from tukeydp.results.escaping import in_html, in_plot, printable
from tukeydp.results.interval import nominal
from tukeydp.results.release import Release
from tukeydp.results.summary_cells import Line, Row, Summarised, rows, title
from tukeydp.results.views import counted
from tukeydp.trusted.account import stated
from tukeydp.trusted.parameters import ParameterError, show

# Forest plots: the mean with its interval, column by column in its own units. Post-processing of a release.

# Okabe and Ito (2008): told apart with every kind of colour vision, and on white as on black. Groups have a shape
# besides.
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#b8860b")
_ON_DARK = ("#56b4e9", "#e69f00", "#2fc79a", "#e39ac4", "#9ad0f5", "#d9b24c")
_MARKERS = ("o", "s", "D", "^", "v", "P")
_LIGHT = {"ink": "#1a1a1b", "faint": "#59626d", "line": "#d8d8d9", "paper": "#fffffe"}
_DARK = {"ink": "#e6e9ed", "faint": "#a3adb8", "line": "#3a424c", "paper": "#14181d"}
# Inches. As wide as a phone shows without zooming; each column has a panel of its own, each line in it a row.
_WIDTH, _TITLE, _PANEL, _ROW = 4.6, 0.75, 0.75, 0.27
_DOTS = 200
_SEEDED = "Seeded rehearsal: NOT PRIVATE"


class Mark(NamedTuple):
    """One row of a panel; no interval is None."""

    name: str
    mean: float | None
    ends: tuple[float, float] | None
    half: float = 0.0  # of the interval, also where none is shown: what is closer together is one and the same

    @property
    def values(self) -> list[float]:
        """What an axis has room for."""
        reached = [] if self.mean is None or self.ends is not None else [self.mean - self.half, self.mean + self.half]
        return [value for value in (self.mean, *(self.ends or ()), *reached) if value is not None]


class Panel(NamedTuple):
    name: str
    marks: list[Mark]


def forest(release: Any, *, dark: bool = False) -> Any:
    """The mean of each column with its interval, each in its own units: a matplotlib `Figure`.

    Parameters
    ----------
    release
        What `td.mean` with a `confidence`, or `td.summary`, has released.
    dark
        Light on dark.

    Privacy
    -------
    Only what was released is drawn.
    """
    if not isinstance(release, Release):
        if not hasattr(release, "lines"):
            raise ParameterError("release", "must be a release of td.mean or td.summary", type(release).__name__)
        return forest_of(release, dark=dark)
    said = f"Mean of {counted(release)}" + (f"\n{_SEEDED}" if release.seeded else "")
    return _drawn(release_panels(release), said, release.settings.get("confidence"), dark)


def release_panels(release: Release) -> list[Panel]:
    """A panel for each column, with one mark."""
    names = release.columns or tuple(f"column {j}" for j in range(release.d))
    ends: Sequence[Any] = [None] * release.d if release.interval is None else release.interval.tolist()
    return [
        Panel(printable(name), [Mark("", float(mean), None if pair is None or math.isnan(pair[0]) else tuple(pair))])
        for name, mean, pair in zip(names, release.point, ends, strict=True)
    ]


def forest_of(summary: Summarised, *, dark: bool = False) -> Any:
    said = title(summary).removesuffix(", released with differential privacy")
    said += f"\n{stated(None)}" if summary.guarantee is None else f"\nepsilon = {float(summary.guarantee.epsilon):g}"
    return _drawn(summary_panels(summary), said + (f"\n{_SEEDED}" if summary.seeded else ""), summary.confidence, dark)


def summary_panels(summary: Summarised) -> list[Panel]:
    """A panel for each column that has means, or for each of its categories, with a mark for each group.

    Of two categories the first: the other is the rest.
    """
    found, name, last = list[Panel](), "", None
    every = list(rows(summary))
    for row, following in zip(every, [*every[1:], None], strict=True):
        inner = row.kind == "level" and row.inner
        if row.kind == "heading":
            name = row.label.removesuffix(", n (%)")
            last = None
        if row.kind not in ("mean", "share", "level"):
            continue
        if inner and last is not None and _last_of_two(row, following, last):
            continue
        last = row
        title = f"{name}: {row.label} (%)" if inner else row.label.rpartition(", ")[0]
        title += " (%)" if row.kind == "share" or (row.kind == "level" and not inner) else ""
        own = row.lines if summary.keys is None else row.lines[:-1]
        found.append(Panel(title, [_mark_of(summary, line) for line in own]))
    return found


def _last_of_two(row: Row, following: Row | None, first: Row) -> bool:
    """Whether it is the second of two categories."""
    shares = [(a.mean, b.mean) for a, b in zip(first.lines, row.lines, strict=True)]
    whole = all(a is None or b is None or abs(a + b - 1.0) < 1e-9 for a, b in shares)
    return whole and (following is None or following.kind != "level" or not following.inner)


def _mark_of(summary: Summarised, line: Line) -> Mark:
    factor = 100.0 if line.share else 1.0
    ends = None if line.lower is None or line.upper is None else (factor * line.lower, factor * line.upper)
    name = "" if line.group is None else printable(summary.key_labels.get(line.group, line.group))
    half = factor * (line.half or 0.0)
    return Mark(name, None if line.mean is None else factor * line.mean, ends, half)


def _drawn(panels: list[Panel], said: str, confidence: float | None, dark: bool) -> Any:
    inks = _DARK if dark else _LIGHT
    heights = [_PANEL + _ROW * len(panel.marks) for panel in panels]
    figure = _figure_class()(figsize=(_WIDTH, _TITLE + sum(heights)), layout="constrained", facecolor=inks["paper"])
    shown = figure.subplots(len(panels), 1, squeeze=False, gridspec_kw={"height_ratios": heights})
    for axes, panel in zip(shown[:, 0], panels, strict=True):
        _draw_panel(axes, panel, inks, _ON_DARK if dark else _COLOURS)
    how = "" if confidence is None else f"; bars: {nominal(confidence)}s for the population's mean"
    figure.suptitle("\n".join(in_plot(line) for line in said.split("\n")), fontsize=11, color=inks["ink"])
    figure.supxlabel(f"points: means{how}", fontsize=9, color=inks["faint"])
    return figure


def _draw_panel(axes: Any, panel: Panel, inks: dict[str, str], colours: tuple[str, ...]) -> None:
    axes.set_facecolor(inks["paper"])
    several = len(panel.marks) > 1
    for row, mark in enumerate(panel.marks):
        colour, marker = (colours[row % len(colours)], _MARKERS[row % len(_MARKERS)]) if several else (colours[0], "o")
        if mark.ends is not None:
            axes.plot(mark.ends, (row, row), color=colour, linewidth=2.2, solid_capstyle="butt")
            axes.plot(mark.ends, (row, row), color=colour, linestyle="none", marker="|", markersize=8)
        if mark.mean is not None:
            axes.plot([mark.mean], [row], color=colour, marker=marker, markersize=6.5, linestyle="none")
        else:
            axes.text(0.02, row, _NOTHING, color=inks["faint"], fontsize=9, va="center",
                      transform=axes.get_yaxis_transform())  # fmt: skip
    axes.set_ylim(len(panel.marks) - 0.4, -0.6)
    axes.set_yticks(range(len(panel.marks)), [in_plot(mark.name) for mark in panel.marks])
    axes.set_title(in_plot(panel.name), loc="left", fontsize=10, fontweight="bold", color=inks["ink"])
    _round_ends(axes, panel)
    axes.grid(True, axis="x", color=inks["line"], linewidth=0.8)
    axes.tick_params(colors=inks["faint"], labelcolor=inks["ink"], labelsize=9, left=False)
    if _plain(panel):
        axes.ticklabel_format(axis="x", useOffset=False, style="plain")
    for side, spine in axes.spines.items():
        spine.set_visible(side == "bottom")
        spine.set_color(inks["faint"])


def _values(panel: Panel) -> list[float]:
    """What the axis has room for; shares lie between 0 and 100 %."""
    values = [value for mark in panel.marks for value in mark.values]
    return [min(max(value, 0.0), 100.0) for value in values] if panel.name.endswith("(%)") else values


def _round_ends(axes: Any, panel: Panel) -> None:
    """From one round number to another, a handful of steps apart, with all marks between."""
    from matplotlib.ticker import FixedLocator, MaxNLocator

    values = _values(panel)
    if not values:
        return
    low, high = min(values), max(values)
    room = 0.04 * (high - low) or max(abs(high), 1.0) / 10.0
    ticks = MaxNLocator(nbins=5, steps=[1, 2, 2.5, 5, 10]).tick_values(low - room, high + room)
    if panel.name.endswith("(%)"):
        ticks = [tick for tick in ticks if -1e-9 <= tick <= 100 + 1e-9]
    axes.set_xlim(min(ticks[0], low), max(ticks[-1], high))
    axes.xaxis.set_major_locator(FixedLocator(ticks))


def _plain(panel: Panel) -> bool:
    """Whether numbers are of a size that is written without an exponent."""
    values = [abs(v) for mark in panel.marks for v in (mark.mean, *(mark.ends or ())) if v]
    return not values or (max(values) < 1e7 and max(values) > 1e-3)


def picture(summary: Summarised, kind: str) -> bytes:
    """A PNG, or an SVG whose inks follow the reader's scheme, dark or light, and whose letters stay letters."""
    figure = forest_of(summary)
    out = io.BytesIO()
    if kind == ".png":
        figure.savefig(out, format="png", dpi=_DOTS, facecolor=figure.get_facecolor())
        return out.getvalue()
    from matplotlib import rc_context

    with rc_context({"svg.fonttype": "none", "font.family": "sans-serif", "svg.hashsalt": "tukeydp"}):
        figure.savefig(out, format="svg", facecolor=figure.get_facecolor(), metadata={"Date": None})
    svg = out.getvalue().decode("utf-8")
    svg = svg[svg.index("<svg") :]
    swapped = dict(zip((*_LIGHT.values(), *_COLOURS), (*_DARK.values(), *_ON_DARK), strict=True))
    names = {colour: f"--c{i}" for i, colour in enumerate(swapped)}
    for colour, name in names.items():
        svg = svg.replace(colour, f"var({name})")
    light = ";".join(f"{name}:{colour}" for colour, name in names.items())
    dark = ";".join(f"{name}:{swapped[colour]}" for colour, name in names.items())
    style = (
        f"<style>svg{{color-scheme:light dark;{light}}}@media(prefers-color-scheme:dark){{svg{{{dark}}}}}"
        "text{font-family:system-ui,sans-serif}</style>"
    )
    return re.sub(r"(<svg[^>]*>)", lambda found: found[1] + style, svg, count=1).encode("utf-8")


def require_matplotlib() -> None:
    _figure_class()


def _figure_class() -> Any:
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise missing("plot", "matplotlib", "plots") from None
    return Figure


# A panel of a forest plot as a piece of SVG, without matplotlib: its colours are those of the page it stands in.
#
# Classes (title, dim, grid, bar) and no inline styles, so that a strict content security policy lets it pass.

_SVG_WIDTH, _LEFT, _RIGHT = 340, 20.0, 320.0  # units of the picture's own: what a phone shows without scrolling
_FIRST, _SVG_ROW, _BELOW = 44, 30, 34  # the first line, the next one, and the words below the last
_NOTHING = "too few values to tell"
_STEPS = 5  # of an axis, about
_NARROW = 5  # characters of a number that has room in the middle below its tick, also at the ends


def _round_ticks(low: float, high: float) -> list[Fraction]:
    """Round numbers from below the lowest to above the highest value: 1, 2 or 5 times a power of ten apart.

    >>> [str(tick) for tick in _round_ticks(48.72, 71.9)]
    ['45', '50', '55', '60', '65', '70', '75']
    """
    span = high / _STEPS - low / _STEPS or max(abs(low) * 0.01, 1e-9)  # of a step: the whole may be beyond floats
    power = Fraction(10) ** math.floor(math.log10(span))
    step = next(power * times for times in (1, 2, 5, 10) if power * times >= Fraction(span))
    first, last = math.floor(Fraction(low) / step), math.ceil(Fraction(high) / step)
    return [step * i for i in range(first, max(last, first + 1) + 1)]


def panel_svg(panel: Panel, label: str) -> str:
    """A line for each mark, with its point and its interval; `label` is read out in place of the picture."""
    values = _values(panel) or [0.0]
    ticks = _round_ticks(min(values), max(values))
    low, high = float(ticks[0]), float(ticks[-1])
    rows = len(panel.marks)
    marks = ((mark, _FIRST + _SVG_ROW * i) for i, mark in enumerate(panel.marks))
    body = "".join(piece for mark, y in marks for piece in _mark(mark, y, low, high))
    below = _BELOW + _SVG_ROW * rows
    every = 1 if len(ticks) <= _STEPS + 1 else 2 if len(ticks) % 2 else len(ticks) - 1  # both ends have a number
    shown = [show(tick) for tick in ticks[::every]]
    outer = ("middle", "middle") if max(len(shown[0]), len(shown[-1])) <= _NARROW else ("start", "end")
    axis = "".join(
        f'<text x="{_across(float(tick), low, high)}" y="{below}" text-anchor="{side}" class="dim">{text}</text>'
        for tick, text, side in zip(
            ticks[::every], shown, [outer[0], *["middle"] * (len(shown) - 2), outer[1]], strict=True
        )
    )
    return (
        f'<svg viewBox="0 0 {_SVG_WIDTH} {_FIRST + _SVG_ROW * rows}" role="img" aria-label="{in_html(label)}">'
        f'<text x="{_LEFT:g}" y="16" class="title">{in_html(panel.name)}</text>{body}{axis}</svg>'
    )


def _across(value: float, low: float, high: float) -> str:
    return f"{_LEFT + (value - low) / (high - low) * (_RIGHT - _LEFT):.1f}"


def _mark(mark: Mark, y: int, low: float, high: float) -> Iterator[str]:
    if mark.name:
        yield f'<text x="{_LEFT:g}" y="{y - 10}" class="dim">{in_html(mark.name)}</text>'
    yield f'<line x1="{_LEFT:g}" x2="{_RIGHT:g}" y1="{y}" y2="{y}" class="grid"/>'
    if mark.ends is not None:
        a, b = (_across(end, low, high) for end in mark.ends)
        yield f'<path d="M{a} {y}H{b}M{a} {y - 5}v10M{b} {y - 5}v10" class="bar"/>'
    if mark.mean is None:
        yield f'<text x="{_RIGHT:g}" y="{y - 10}" text-anchor="end" class="dim">{_NOTHING}</text>'
    else:
        yield f'<circle cx="{_across(mark.mean, low, high)}" cy="{y}" r="4.5"/>'
