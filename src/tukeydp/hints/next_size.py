"""Which size of a level set to measure next: the order in which evidence grows. Speed only.

Whatever comes out, sizes are certified and brackets hold; `Evidence` takes a proposal only if there is something to
learn from it, and looks for itself otherwise. Floats.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from tukeydp.trusted.rem.evidence import KnownSizes, View


def next_size(view: View, outer: Sequence[int], levels: Sequence[int]) -> tuple[str, int] | None:
    """Which size, "upper" or "lower", of which level says most about the sum over `levels` over the sizes of `outer`.

    None if all are known.
    """
    unknown = [level for level in outer if level not in view.upper.values]
    shares = _shares(view, levels)
    missing = [level for level in shares if level not in view.lower.values]
    if unknown and _doubt(view.upper, unknown[0]) >= _doubt_below(shares):
        return "upper", unknown[0]
    if unsure := _most_unsure(view, shares):
        return "lower", unsure
    if missing:
        return "lower", _most_telling(view, shares, missing)
    if view.exact and levels[0] not in view.lower.values:
        return "lower", levels[0]
    if unknown:
        return "upper", unknown[0]
    if unsettled := [level for level in shares if not view.lower.settled(level)]:
        return "lower", unsettled[0]
    return None


def _shares(view: View, levels: Sequence[int]) -> dict[int, tuple[float, float]]:
    """Logarithms of each level's part of a sum, from below and from above."""
    shares = {}
    for (c, _), level in zip(view.weights, levels, strict=True):
        low, high = view.lower.bracket(level)
        if not high:
            break
        weight = _log(c)
        shares[level] = (weight + _log(low), weight + _log(high))
    return shares


def _most_unsure(view: View, shares: dict[int, tuple[float, float]]) -> int | None:
    """A level that has been looked at and leaves most of the sum open; None if it takes a level that has not."""

    def opened(level: int) -> float:
        low, high = shares[level]
        return high + math.log(-math.expm1(low - high)) if high > low else -math.inf

    level = max(shares, key=opened, default=None)
    if level is None or opened(level) == -math.inf:
        return None
    if level in view.looked:
        return level
    # Between two levels whose own sizes are in doubt, a third would be, too.
    near = [x for x in (view.lower.below(level), view.lower.above(level)) if x is not None]
    apart = {x: _doubt(view.lower, x) for x in near if x in view.looked and view.lower.values[x][0]}
    widest = max(apart, key=lambda x: apart[x], default=None)
    doubt = shares[level][1] - shares[level][0]
    return widest if len(apart) == 2 and widest is not None and apart[widest] > doubt / 3 else None


def _doubt(known: KnownSizes, level: int) -> float:
    low, high = known.bracket(level)
    return _log(high) - _log(low)


def _doubt_below(shares: dict[int, tuple[float, float]]) -> float:
    if not shares:
        return 0.0
    return max(high for _, high in shares.values()) - max(low for low, _ in shares.values())


def _most_telling(view: View, shares: dict[int, tuple[float, float]], missing: list[int]) -> int:
    """The missing level that may weigh most; halfway down to the known ones while nothing above it is known."""
    heaviest = max(missing, key=lambda level: shares[level][1])
    if view.lower.bracket(heaviest)[0]:
        return heaviest
    below = view.lower.below(heaviest)
    between = [level for level in missing if below is not None and below < level <= heaviest]
    return between[len(between) // 2]


def _log(value: int) -> float:
    return math.log(value) if value > 0 else -math.inf
