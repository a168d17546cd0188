"""What the noised means have in common: parameters that are checked first, and the release at the end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from tukeydp.accuracy import Rehearsal
from tukeydp.arrays import FloatArray
from tukeydp.baselines.clipping import ClippingRegion, nearest_float, public_region
from tukeydp.data.tables import Table, read_table
from tukeydp.errors import ParameterError
from tukeydp.privacy import ApproxDP
from tukeydp.randomness import Bits, Keystream, Randomness, source
from tukeydp.release import Release

# Sums of so many numbers of at most 2^30 in size fit in 64 bits. **More would overflow, and break the sensitivity.**
_MOST_ROWS = 2**31

NOISE_NOTE = (
    "The noise is discrete and drawn exactly, in integers: attacks on the last digits of floating-point noise "
    "(Mironov 2012) do not apply."
)
MISSING_NOTE = (
    "A row with a missing or unreadable cell counts at the centre of the region, which draws the result towards it; "
    "how many there are stays secret."
)


@dataclass(frozen=True)
class Setting:
    """Everything a noised mean works with; all but the cells is public."""

    guarantee: ApproxDP
    randomness: Randomness
    table: Table
    region: ClippingRegion

    def secret_bits(self) -> Bits:
        return Keystream(self.randomness.key()).bits(0)

    def release(
        self,
        mechanism: str,
        point: Sequence[Fraction] | FloatArray,
        *,
        notes: tuple[str, ...],
        rehearsal: Rehearsal,
    ) -> Release:
        return Release(
            point=np.array([nearest_float(Fraction(v)) for v in point]),
            guarantee=self.guarantee,
            mechanism=mechanism,
            seeded=not self.randomness.private,
            **self.table.public,
            notes=notes,
            rehearsal=rehearsal,
        )


def setting(x: Any, *, epsilon: Any, delta: Any, bounds: Any, centre: Any, radius: Any, randomness: Any) -> Setting:
    guarantee = ApproxDP(epsilon, delta)
    bits = source(randomness)
    table = read_table(x)
    if table.n >= _MOST_ROWS:
        raise ParameterError("x", f"must have fewer than {_MOST_ROWS} rows", table.n)
    return Setting(guarantee, bits, table, public_region(table.d, bounds=bounds, centre=centre, radius=radius))
