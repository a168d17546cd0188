"""What is known of the sizes of level sets, level by level, and what follows for the others."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort


class KnownSizes:
    """Sizes at some levels, from below and from above. They fall as levels rise, so a few levels bracket all others.

    A size whose two bounds are equal is *settled*. Sizes from a solver are right up to a slack only: settled ones of
    neighbouring levels may contradict each other by as much, and are left as they are.
    """

    def __init__(self) -> None:
        self.values: dict[int, tuple[int, int]] = {}
        self._levels: list[int] = []

    def add(self, level: int, low: int, high: int) -> None:
        """Bounds of a level, beside those that are known; they sharpen those of all levels that are not settled."""
        if level not in self.values:
            insort(self._levels, level)
            self.values[level] = low, high
        if low < high:
            low = max(low, *(self.values[other][0] for other in self._levels if other >= level))
            high = max(low, min(high, *(self.values[other][1] for other in self._levels if other <= level)))
        self.values[level] = low, high
        for other in self._levels:
            least, most = self.values[other]
            if least < most:
                least = max(least, low) if other < level else least
                most = min(most, high) if other > level else most
                self.values[other] = least, max(least, most)

    def settled(self, level: int) -> bool:
        low, high = self.values[level]
        return low == high

    def below(self, level: int) -> int | None:
        """The nearest known level at or below."""
        i = bisect_right(self._levels, level)
        return self._levels[i - 1] if i else None

    def above(self, level: int) -> int | None:
        """The nearest known level at or above."""
        i = bisect_left(self._levels, level)
        return self._levels[i] if i < len(self._levels) else None

    def bracket(self, level: int) -> tuple[int, int]:
        """Between which two numbers the size of any level is."""
        below, above = self.below(level), self.above(level)
        assert below is not None
        return 0 if above is None else self.values[above][0], self.values[below][1]
