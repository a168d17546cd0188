"""A small writer of SVG: the same numbers give the same bytes, whatever is installed.

Drawings are 420 units wide, so that letters of 13 units can be read on a phone, on a white card that reads on light and
dark pages alike.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

WIDTH = 420
# The colours of Okabe and Ito (2008), told apart with every kind of colour vision; words and shapes say the same again.
BLUE, RED, GREEN, ORANGE, INK, FAINT, LINE = "#0072b2", "#d55e00", "#009e73", "#e69f00", "#1a1a1a", "#6b6b6b", "#d8d8d8"
_LETTERS = 13  # units; 11 pixels on a phone of 360

Point = Sequence[float]


def number(value: float) -> str:
    """Tenths of a unit: smaller differences are not seen, and would tell one linear algebra library from another."""
    return f"{value:.1f}".removesuffix(".0").replace("-0", "-0" if round(value, 1) else "0")


class Drawing:
    """Elements in the order they are drawn, the first at the back. `told` is what the picture says, in words."""

    def __init__(self, height: float, title: str, told: str) -> None:
        self.height, self.title, self.told = height, title, told
        self._parts: list[str] = []

    def rectangle(self, low: Point, high: Point, **style: object) -> None:
        (x0, x1), (y0, y1) = sorted((low[0], high[0])), sorted((low[1], high[1]))
        place = f'x="{number(x0)}" y="{number(y0)}" width="{number(x1 - x0)}" height="{number(y1 - y0)}"'
        self._parts.append(f"<rect {place}{_style(style)}/>")

    def polygon(self, corners: Iterable[Point], **style: object) -> None:
        self._parts.append(f'<polygon points="{_path(corners)}"{_style(style)}/>')

    def line(self, points: Iterable[Point], **style: object) -> None:
        self._parts.append(f'<polyline points="{_path(points)}"{_style({"fill": "none", **style})}/>')

    def dots(self, points: Iterable[Point], radius: float, **style: object) -> None:
        circles = "".join(f'<circle cx="{number(x)}" cy="{number(y)}" r="{number(radius)}"/>' for x, y in points)
        self._parts.append(f"<g{_style(style)}>{circles}</g>")

    def cross(self, point: Point, size: float, **style: object) -> None:
        x, y = point
        for tilt in (1, -1):
            self.line([(x - size, y - tilt * size), (x + size, y + tilt * size)], **{"stroke_width": 3, **style})

    def words(self, at: Point, text: str, *, anchor: str = "start", size: float = _LETTERS, **style: object) -> None:
        place = f'x="{number(at[0])}" y="{number(at[1])}" text-anchor="{anchor}" font-size="{number(size)}"'
        self._parts.append(f"<text {place}{_style({'fill': INK, **style})}>{escape(text)}</text>")

    def svg(self) -> str:
        size = f'viewBox="0 0 {WIDTH} {number(self.height)}" width="600" height="{number(self.height * 600 / WIDTH)}"'
        head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" font-family="system-ui, sans-serif">'
        said = f"<title>{escape(self.title)}</title><desc>{escape(self.told)}</desc>"
        card = f'<rect width="{WIDTH}" height="{number(self.height)}" rx="8" fill="#ffffff"/>'
        return "\n".join([head, said, card, *self._parts, "</svg>", ""])


class Panel:
    """A rectangle of a drawing with axes of its own: `at` takes a point of the data to its place."""

    def __init__(self, corner: Point, size: Point, x: Point, y: Point) -> None:
        self.left, self.top = corner
        self.width, self.height = size
        self._x, self._y = x, y

    def at(self, point: Point) -> tuple[float, float]:
        across = (point[0] - self._x[0]) / (self._x[1] - self._x[0])
        up = (point[1] - self._y[0]) / (self._y[1] - self._y[0])
        return self.left + across * self.width, self.top + self.height - up * self.height

    def all(self, points: Iterable[Point]) -> list[tuple[float, float]]:
        return [self.at(point) for point in points]

    def frame(self, drawing: Drawing, **style: object) -> None:
        corner, end = (self.left, self.top), (self.left + self.width, self.top + self.height)
        drawing.rectangle(corner, end, **{"fill": "none", "stroke": FAINT, **style})

    def ticks_below(self, drawing: Drawing, ticks: Iterable[tuple[float, str]]) -> None:
        for value, text in ticks:
            x, _ = self.at((value, self._y[0]))
            foot = self.top + self.height
            drawing.line([(x, foot), (x, foot + 4)], stroke=FAINT)
            drawing.words((x, foot + 17), text, anchor="middle", size=12)

    def ticks_left(self, drawing: Drawing, ticks: Iterable[tuple[float, str]]) -> None:
        for value, text in ticks:
            _, y = self.at((self._x[0], value))
            drawing.line([(self.left, y), (self.left + self.width, y)], stroke=LINE, stroke_width=0.8)
            drawing.words((self.left - 5, y + 4), text, anchor="end", size=12)


def shade(share: float) -> str:
    """From pale to dark blue: lightness alone tells the levels apart."""
    pale, dark = (222, 235, 247), (8, 69, 148)
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in zip(pale, dark, strict=True))


def _path(points: Iterable[Point]) -> str:
    return " ".join(f"{number(x)},{number(y)}" for x, y in points)


def _style(style: dict[str, object]) -> str:
    return "".join(f' {name.replace("_", "-")}="{value}"' for name, value in style.items())
