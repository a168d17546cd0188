"""The highest level not proven empty."""

from __future__ import annotations

from tukeydp.hints.linear_programs import Hints
from tukeydp.trusted.certificates import Multipliers
from tukeydp.trusted.covers import Covers


def highest_level(covers: Covers, hints: Hints) -> int:
    """The highest level not proven empty, by Newton's method from above; all those above it are.

    The multipliers that prove a level empty also prove others below it; the lowest of those gives the next level to
    ask about.
    """
    top = covers.unbroken()
    while top and not covers.along_axes_only:
        multipliers = hints.emptiness(top)
        if not covers.proves_empty(top, multipliers):
            break
        top = _lowest_proven(covers, top, multipliers) - 1
    return top


def _lowest_proven(covers: Covers, top: int, multipliers: Multipliers) -> int:
    """About the lowest level that the multipliers prove empty, as they do `top`."""
    # `high` is proven empty, `low` will not be; questions about levels that are not held take long.
    rough = covers.view.rough
    if rough is None:
        low, high = min(covers.view.held, top - 1), top
        while low and covers.proves_empty(low, multipliers):
            low, high = max(0, 2 * low - top), low
    else:
        low, high = _bracket(covers, top, multipliers, _lowest_proven(Covers(rough, covers.within), top, multipliers))
    while low + 1 < high:
        middle = (low + high) // 2
        if covers.proves_empty(middle, multipliers):
            high = middle
        else:
            low = middle
    return high


def _bracket(covers: Covers, top: int, multipliers: Multipliers, guess: int) -> tuple[int, int]:
    """A level that is not proven empty and a higher one that is, like `top`: by steps from a guess that double."""
    low, high, step = 0, top, 1
    at = min(guess - 1, top - 1)
    while low < at < high:
        if covers.proves_empty(at, multipliers):
            at, high = at - step, at
        else:
            at, low = at + step, at
        step *= 2
    return low, high
