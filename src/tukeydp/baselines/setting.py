"""What the noised means have in common: parameters that are checked first, and the release at the end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from tukeydp.accuracy import Rehearsal
from tukeydp.arrays import FloatArray
from tukeydp.baselines.clipping import ClippingRegion, checked_fill, filled, nearest_float, public_region
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
FILLED_NOTE = "A missing or unreadable cell counts as the public fill value; how many there are stays secret."


@dataclass(frozen=True)
class Setting:
    """Everything a noised mean works with; all but the cells is public."""

    guarantee: ApproxDP
    randomness: Randomness
    table: Table
    region: ClippingRegion
    fill: tuple[Fraction, ...] | None = None

    def secret_bits(self) -> Bits:
        return Keystream(self.randomness.key()).bits(0)

    def release(
        self,
        mechanism: str,
        point: Sequence[Fraction] | FloatArray,
        *,
        notes: tuple[str, ...],
        missing: str = MISSING_NOTE,
        rehearsal: Rehearsal,
    ) -> Release:
        return Release(
            point=np.array([nearest_float(Fraction(v)) for v in point]),
            guarantee=self.guarantee,
            mechanism=mechanism,
            seeded=not self.randomness.private,
            **self.table.public,
            settings={} if self.fill is None else {"fill": [float(v) for v in self.fill]},
            notes=(*notes, missing if self.fill is None else FILLED_NOTE, NOISE_NOTE),
            rehearsal=rehearsal,
        )


def setting(
    x: Any, *, epsilon: Any, delta: Any, bounds: Any, centre: Any, radius: Any, fill: Any, randomness: Any
) -> Setting:
    guarantee = ApproxDP(epsilon, delta)
    bits = source(randomness)
    table = read_table(x)
    if table.n >= _MOST_ROWS:
        raise ParameterError("x", f"must have fewer than {_MOST_ROWS} rows", table.n)
    region = public_region(table.d, bounds=bounds, centre=centre, radius=radius, columns=table.columns)
    if fill is None:
        return Setting(guarantee, bits, table, region)
    values = checked_fill(table.d, fill, region, table.columns)
    return Setting(guarantee, bits, Table(filled(table.cells, values), table.columns), region, values)
