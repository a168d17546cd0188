"""The highest level not proven empty."""

from __future__ import annotations

from tukeydp.sampling.certificates import Multipliers, proves_empty
from tukeydp.sampling.envelope.boxes import Certifier


def highest_level(certifier: Certifier) -> int:
    """The highest level not proven empty, by Newton's method from above; all those above it are.

    The multipliers that prove a level empty also prove others below it; the lowest of those gives the next level to
    ask about.
    """
    top = certifier.levels.highest_unbroken()
    while top and certifier.needs_programs:
        multipliers = certifier.hints.emptiness(top)
        if not _empty(certifier, top, multipliers):
            break
        top = _lowest_proven(certifier, top, multipliers) - 1
    return top


def _lowest_proven(certifier: Certifier, top: int, multipliers: Multipliers) -> int:
    """About the lowest level that the multipliers prove empty, as they do `top`."""
    # `high` is proven empty, `low` will not be; questions about levels that are not held take long.
    rough = certifier.levels.rough
    if rough is None:
        low, high = min(certifier.levels.held, top - 1), top
        while low and _empty(certifier, low, multipliers):
            low, high = max(0, 2 * low - top), low
    else:
        low, high = _bracket(certifier, top, multipliers, _lowest_proven(certifier.along(rough), top, multipliers))
    while low + 1 < high:
        middle = (low + high) // 2
        if _empty(certifier, middle, multipliers):
            high = middle
        else:
            low = middle
    return high


def _bracket(certifier: Certifier, top: int, multipliers: Multipliers, guess: int) -> tuple[int, int]:
    """A level that is not proven empty and a higher one that is, like `top`: by steps from a guess that double."""
    low, high, step = 0, top, 1
    at = min(guess - 1, top - 1)
    while low < at < high:
        if _empty(certifier, at, multipliers):
            at, high = at - step, at
        else:
            at, low = at + step, at
        step *= 2
    return low, high


def _empty(certifier: Certifier, level: int, multipliers: Multipliers) -> bool:
    return proves_empty(certifier.levels, level, multipliers, certifier.along_axes(level))
