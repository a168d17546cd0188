"""How safe a dataset is for REM under add/remove: rows that are added only raise depths, removed ones only lower them.

What k + 1 rows, each added or removed, can do is at most 1 / (1 + ratio_k) with

    ratio_k = min over j = t ... t+k+1 of  e^eta sum_i c_i lower(j+o_i) / upper(j-1-k),

[ upper(j-1-k) - lower(j) where sizes are exact ], for public offsets o_i and the weights c_i of `evidence`
(docs/proofs/add-remove.md, section 6). j says how many of k rows are removed, and on which side of the threshold harm
is done.
"""

from __future__ import annotations

from tukeydp.mechanisms.rem_test.evidence import Evidence, Plan
from tukeydp.mechanisms.rem_test.known_sizes import KnownSizes
from tukeydp.sizes.level_sizes import Sizes

_GUIDE_BITS = 64  # of the ratios that say where to look first; speed only

Ratio = tuple[int | None, int | None]


class OneSided(Evidence):
    """Brackets of 1 + ratio_k for k = 0 ... K - 1, under the interface of `Evidence`."""

    _lowest_sum = 0

    def __init__(self, sizes: Sizes, plan: Plan) -> None:
        self._sums: dict[tuple[int, int], tuple[int, int]] = {}
        super().__init__(sizes, plan)

    def strength(self, k: int, bits: int) -> Ratio:
        found = self._ratios(k, bits)
        lows = [low for low, _ in found.values() if low is not None]
        highs = [high for _, high in found.values() if high is not None]
        return min(lows, default=None), min(highs, default=None)

    def refine(self, k: int) -> bool:
        """Measure the level that says most about the least ratio; False if all are known."""
        found = self._ratios(k, _GUIDE_BITS)
        # The least from below comes first. Where all of it is known the next may still be smaller, by a rounding.
        order = sorted(found, key=lambda j: (found[j][0] is None, found[j][0] or 0))
        return any(self._narrow((j - 1 - k,), [j + o for o in self._offsets]) for j in order)

    def _ratios(self, k: int, bits: int) -> dict[int, Ratio]:
        """1 + each ratio from below and from above, times 2^bits; None for infinity."""
        t, one = self.plan.threshold, 1 << bits
        e_low, e_high = self._exp(1, bits)
        found: dict[int, Ratio] = {}
        for j in range(t, t + k + 2):
            b_low, b_high = self._sum(j, bits)
            a_low, a_high = self._harm(j, k, bits)
            found[j] = (
                one + b_low * e_low // a_high if a_high > 0 else None if b_low else one,
                one - (-b_high * e_high // a_low) if a_low > 0 else None if b_high else one,
            )
        return found

    def _harm(self, j: int, k: int, bits: int) -> tuple[int, int]:
        """The points that may stand just below the edge, from below and from above, times 2^(bits + unit)."""
        low, high = self._upper.bracket(j - 1 - k)
        if self._sizes.exact:
            core_low, core_high = self._lower.bracket(j)
            low, high = low - core_high, high - core_low
        return low << bits, high << bits

    def _sum(self, j: int, bits: int) -> tuple[int, int]:
        """sum_i c_i lower(j+o_i), times 2^(bits + unit)."""
        if (j, bits) not in self._sums:
            low = high = 0
            for (c_low, c_high), o in zip(self._c(bits), self._offsets, strict=True):
                size_low, size_high = self._lower.bracket(j + o)
                if not size_high:
                    break
                low += c_low * size_low
                high += c_high * size_high
            self._sums[j, bits] = low, high
        return self._sums[j, bits]

    def _measure(self, known: KnownSizes, level: int) -> int:
        if level not in known.values:
            self._sums.clear()
        return super()._measure(known, level)

    def _look(self, level: int) -> None:
        self._sums.clear()
        super()._look(level)


def evidence_of(sizes: Sizes, plan: Plan) -> Evidence:
    """What the test of such a plan looks at."""
    return OneSided(sizes, plan) if plan.neighbours == "add-remove" else Evidence(sizes, plan)
