"""Cube noise: its law from the sampler's own decisions, in rationals, and what that law costs."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction

from tukeydp.audit.check import Check, Effort, Result, Tally
from tukeydp.audit.forced_samplers import forced
from tukeydp.audit.oracles import laws as oracle
from tukeydp.trusted import laws as module

_ROUNDING = 1e-9


class _Counting:
    """In the place of bits: notes the bound of each choice, and makes the one it was told to."""

    def __init__(self, choices: Sequence[int]) -> None:
        self._choices = iter(choices)
        self.bounds: list[int] = []

    def below(self, bound: int) -> int:
        self.bounds.append(bound)
        return next(self._choices)


def run(effort: Effort) -> Result:
    tally = Tally(bound=1.0 + _ROUNDING)
    for d in (1, 2, 3) if effort.quick else (1, 2, 3, 4, 6, 10):
        _law(d, 40 if effort.quick else 200, tally)
    for d, scale in itertools.product((1, 2) if effort.quick else (1, 2, 3), (Fraction(1, 2), Fraction(3, 2))):
        _cost(d, scale, 4 if d < 3 else 2, tally)
    return tally.result()


def _law(d: int, sums: int, tally: Tally) -> None:
    """(proposals of s) x (kept) / (points of the cube) is one number for all s.

    The sum of d + 1 geometric variables is s with probability (s + d choose d) (1 - q)^(d+1) q^s; so s and z come with
    probability proportional to q^s for each s >= max |z|, and z with one proportional to q^(max |z|).
    """
    shares = {math.comb(s + d, d) * _kept(d, s, tally) / (2 * s + 1) ** d for s in range(sums)}
    tally.require(len(shares) == 1, f"d = {d}: cube noise is not kept as its law asks")


def _kept(d: int, s: int, tally: Tally) -> Fraction:
    """The exact probability that the sum s is kept, by trying the choices around the edge."""
    drawn = itertools.cycle([s, *[0] * d])  # d + 1 geometric variables, again and again
    edge = (2 * s + 1) ** d
    script = _Counting([edge, edge - 1, *[0] * d])  # refused, then kept
    with forced((module, "geometric", lambda scale, bits: next(drawn))):
        try:
            point = module.cube_noise(d, Fraction(1), script)  # type: ignore[arg-type]
        except StopIteration:
            point = []
    right = point == [-s] * d and script.bounds[2:] == [2 * s + 1] * d and script.bounds[0] == script.bounds[1]
    tally.require(right, f"d = {d}: cube noise is not uniform in its cube, or kept beyond its edge")
    return Fraction(edge, script.bounds[0])


def _cost(d: int, scale: Fraction, reach: int, tally: Tally) -> None:
    """Moving every coordinate by at most D steps changes no log probability by more than D / scale."""
    law = oracle.cube(d, scale, 2 * reach)
    for shift in itertools.product(range(-reach, reach + 1), repeat=d):
        most = max(map(abs, shift)) / scale
        if not most:
            continue
        for z in itertools.product(range(-reach, reach + 1), repeat=d):
            moved = tuple(a + b for a, b in zip(z, shift, strict=True))
            tally.found(abs(math.log(law[z] / law[moved])) / float(most))
        tally.saw(pairs=1)


CHECK = Check(
    name="cube noise: law",
    claim="Cube noise has the law e^(-max |z| / scale) exactly, and a shift by D costs at most D / scale.",
    measure="largest log ratio of probabilities, over D / scale",
    run=run,
)
