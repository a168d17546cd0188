"""A panel of a forest plot as a piece of SVG, without matplotlib: its colours are those of the page it stands in.

Classes (title, dim, grid, bar) and no inline styles, so that a strict content security policy lets it pass.
"""

from __future__ import annotations

from collections.abc import Iterator

from tukeydp.planning.forest import Mark, Panel
from tukeydp.views.escaping import in_html
from tukeydp.views.table import number

_WIDTH, _LEFT, _RIGHT = 340, 12.0, 328.0  # units of the picture's own: what a phone shows without scrolling
_FIRST, _ROW, _BELOW = 44, 30, 34  # the first line, the next one, and the words below the last
_MARGIN = 0.08  # of the range, so that no bar touches the edge


def panel_svg(panel: Panel, label: str) -> str:
    """A line for each mark, with its point and its interval; `label` is read out in place of the picture."""
    values = [v for mark in panel.marks for v in (mark.mean, *(mark.ends or ())) if v is not None] or [0.0]
    margin = _MARGIN * (max(values) - min(values)) or max(abs(values[0]) * 0.01, 1e-9)
    low, high = min(values) - margin, max(values) + margin
    rows = len(panel.marks)
    body = "".join(piece for i, mark in enumerate(panel.marks) for piece in _mark(mark, _FIRST + _ROW * i, low, high))
    ends = (number(float(f"{end:.4g}")) for end in (low, high))
    below = _BELOW + _ROW * rows
    return (
        f'<svg viewBox="0 0 {_WIDTH} {_FIRST + _ROW * rows}" role="img" aria-label="{in_html(label)}">'
        f'<text x="{_LEFT:g}" y="16" class="title">{in_html(panel.name)}</text>{body}'
        f'<text x="{_LEFT:g}" y="{below}" class="dim">{next(ends)}</text>'
        f'<text x="{_RIGHT:g}" y="{below}" text-anchor="end" class="dim">{next(ends)}</text></svg>'
    )


def _mark(mark: Mark, y: int, low: float, high: float) -> Iterator[str]:
    def at(value: float) -> str:
        return f"{_LEFT + (value - low) / (high - low) * (_RIGHT - _LEFT):.1f}"

    if mark.name:
        yield f'<text x="{_LEFT:g}" y="{y - 10}" class="dim">{in_html(mark.name)}</text>'
    yield f'<line x1="{_LEFT:g}" x2="{_RIGHT:g}" y1="{y}" y2="{y}" class="grid"/>'
    if mark.ends is not None:
        a, b = map(at, mark.ends)
        yield f'<path d="M{a} {y}H{b}M{a} {y - 5}v10M{b} {y - 5}v10" class="bar"/>'
    if mark.mean is not None:
        yield f'<circle cx="{at(mark.mean)}" cy="{y}" r="4.5"/>'
