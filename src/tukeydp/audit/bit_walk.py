"""All bit strings to a depth: what a draw gives on each, and how much probability is left open.

A draw reads its bits from a script. Where the script ends, it is continued in all ways; strings still undecided at
the depth are left open. So every outcome's probability lies between what was decided for it and that plus what is
open: facts about the sampler's code, not about samples of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable
from dataclasses import dataclass

from tukeydp.trusted.bits import Bits


class Unfinished(Exception):
    """A draw asked for so many bits more than the script holds."""

    def __init__(self, missing: int) -> None:
        self.missing = missing


class Script(Bits):
    """Bits of one string, first bit first; `below` is the package's own."""

    def __init__(self, string: int, length: int) -> None:
        self._string, self._left = string, length

    def take(self, count: int) -> int:
        if count > self._left:
            raise Unfinished(count - self._left)
        self._left -= count
        taken, self._string = divmod(self._string, 1 << self._left)
        return taken


class Completed(Bits):
    """One string continued by equal bits: for draws that read one long number and decide by its size."""

    def __init__(self, string: int, length: int, bit: int) -> None:
        self._string, self._left, self._bit = string, length, bit

    def take(self, count: int) -> int:
        short = max(0, count - self._left)
        self._left -= count - short
        head, self._string = divmod(self._string, 1 << self._left)
        return (head << short) | (((1 << short) - 1) * self._bit)


@dataclass(frozen=True)
class Walked:
    """Probabilities decided for each outcome, and what is open. Dyadic numbers: floats hold them exactly."""

    decided: dict[Hashable, float]
    open: float

    def distance(self, law: dict[Hashable, float]) -> float:
        """How far probabilities are from their brackets, at most; all outcomes that the law does not list are one."""
        rest = sum(found for outcome, found in self.decided.items() if outcome not in law)
        worst = rest - max(0.0, 1.0 - sum(law.values()))
        for outcome, p in law.items():
            found = self.decided.get(outcome, 0.0)
            worst = max(worst, found - p, p - found - self.open)
        return max(0.0, worst)


def walk(draw: Callable[[Bits], Hashable], depth: int) -> Walked:
    """Every string of up to `depth` bits."""
    decided: Counter[Hashable] = Counter()
    left_open = 0.0
    waiting = [(0, 0)]
    while waiting:
        string, length = waiting.pop()
        try:
            decided[draw(Script(string, length))] += 2.0**-length  # type: ignore[assignment]
        except Unfinished as more:
            if length + more.missing > depth:
                left_open += 2.0**-length
            else:
                count = 1 << more.missing
                waiting += [((string << more.missing) | end, length + more.missing) for end in range(count)]
    return Walked({k: float(v) for k, v in decided.items()}, left_open)


def walk_monotone(draw: Callable[[Bits], Hashable], depth: int) -> Walked:
    """The same for a draw whose outcome changes monotonically with the number its bits make up.

    A string is decided if both its continuations, by zeros and by ones for ever, have the same outcome.
    """
    decided: Counter[Hashable] = Counter()
    left_open = 0.0
    waiting = [(0, 0)]
    while waiting:
        string, length = waiting.pop()
        ends = {draw(Completed(string, length, bit)) for bit in (0, 1)}
        if len(ends) == 1:
            decided[ends.pop()] += 2.0**-length  # type: ignore[assignment]
        elif length == depth:
            left_open += 2.0**-length
        else:
            waiting += [(2 * string + bit, length + 1) for bit in (0, 1)]
    return Walked({k: float(v) for k, v in decided.items()}, left_open)
