"""What the noised means have in common: parameters that are checked first, and the release at the end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from tukeydp.baselines.clipping import ClippingRegion, checked_fill, filled, nearest_float, public_region
from tukeydp.baselines.curve import multiplier
from tukeydp.data.tables import Table, read_table
from tukeydp.results.accuracy import Rehearsal
from tukeydp.results.release import Release
from tukeydp.spending import require_room
from tukeydp.trusted.account import ApproxDP, Concentrated
from tukeydp.trusted.bits import Bits, Randomness, source
from tukeydp.trusted.parameters import FloatArray, ParameterError
from tukeydp.trusted.release import Run, Spends, reserve

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
    accountant: Spends | None = None

    def reserve(self, mechanism: str, **parameters: Any) -> Run:
        """Pay for the run, before the first look at a cell."""
        region = {"centre": self.region.centre, "sizes": self.region.sizes, "fill": self.fill}
        public = {**self.table.public, **region, **parameters}
        return reserve(
            {"noise": self.guarantee},
            mechanism=mechanism,
            source=self.randomness,
            accountant=self.accountant,
            parameters=public,
        )

    def secret_bits(self, run: Run) -> Bits:
        """Of all the noise together, whose shares `Noise` counts."""
        return run.charge("noise").consume(rho=self.guarantee.zcdp.rho).bits()

    @property
    def settings(self) -> dict[str, Any]:
        ball = {} if self.region.bounds is not None else _ball(self.region)
        return ball if self.fill is None else {**ball, "fill": [float(v) for v in self.fill]}

    def release(
        self,
        mechanism: str,
        run: Run,
        point: Sequence[Fraction] | FloatArray,
        *,
        notes: tuple[str, ...],
        missing: str = MISSING_NOTE,
        noise_sd: FloatArray | None = None,
        rehearsal: Rehearsal,
    ) -> Release:
        return Release(
            point=np.array([nearest_float(Fraction(v)) for v in point]),
            seal=run.seal,
            mechanism=mechanism,
            seeded=not self.randomness.private,
            **self.table.public,
            bounds=self.region.bounds,
            noise_sd=None if noise_sd is None else tuple(noise_sd.tolist()),
            settings=self.settings,
            notes=(*notes, missing if self.fill is None else FILLED_NOTE, NOISE_NOTE),
            rehearsal=rehearsal,
        )


def setting(
    x: Any,
    *,
    epsilon: Any,
    delta: Any,
    bounds: Any,
    centre: Any,
    radius: Any,
    fill: Any,
    accountant: Spends | None,
    randomness: Any,
    deviation: Callable[[ApproxDP], Fraction] = multiplier,
) -> Setting:
    """`deviation` is that of all the noise together, in units of the sensitivity: zCDP with rho = 1 / (2 deviation^2)
    (docs/proofs/composition.md, section 2)."""
    budget = ApproxDP(epsilon, delta)
    guarantee = replace(budget, zcdp=Concentrated(1 / (2 * deviation(budget) ** 2)))
    require_room(accountant, guarantee)
    bits = source(randomness)
    table = read_table(x)
    if table.n >= _MOST_ROWS:
        raise ParameterError("x", f"must have fewer than {_MOST_ROWS} rows", table.n)
    region = public_region(table.d, bounds=bounds, centre=centre, radius=radius, columns=table.columns)
    if fill is None:
        return Setting(guarantee, bits, table, region, accountant=accountant)
    values = checked_fill(table.d, fill, region, table.columns)
    full = replace(table, cells=filled(table.cells, values))
    return Setting(guarantee, bits, full, region, values, accountant)


def _ball(region: ClippingRegion) -> dict[str, Any]:
    """A ball that rows are moved into, in place of bounds."""
    return {"centre": [float(v) for v in region.centre], "radius": float(region.sizes[0])}
