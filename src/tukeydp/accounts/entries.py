"""One line of an account, and accounts written out: JSON, CSV, YAML in the shape of OpenDP's registry."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any

from tukeydp.trusted.account import ApproxDP, Concentrated, Guarantee, PureDP, delta_of
from tukeydp.version import __version__

# The columns of a line in a ledger, in this order; a CSV export has them too, and more.
FIELDS = (
    *("number", "time", "version", "mechanism", "epsilon", "delta", "rho", "rho_delta", "neighbours", "seeded"),
    "parameters",
)


@dataclass(frozen=True)
class Entry:
    """A release, a refusal or an interrupted run that was paid for; all of it is public.

    Attributes
    ----------
    number
        1 for the first.
    time
        UTC, when it was spent: before the data were touched.
    version
        Of this package.
    mechanism
        Which mechanism ran; None if it was spent by hand.
    seeded
        True for a rehearsal with a seed: it has spent the budget, but must not be published.
    parameters
        What was fixed beforehand: shape, column names, bounds, settings.
    """

    number: int
    guarantee: Guarantee
    mechanism: str | None = None
    seeded: bool = False
    parameters: Mapping[str, Any] = field(default_factory=dict)
    time: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))
    version: str = __version__

    def row(self) -> tuple[Any, ...]:
        """In the order of `FIELDS`; rationals as text, exactly."""
        zcdp = self.guarantee.zcdp
        return (
            *(self.number, self.time, self.version, self.mechanism, str(self.guarantee.epsilon)),
            *(str(delta_of(self.guarantee)), str(zcdp.rho), str(zcdp.delta), self.guarantee.neighbours),
            *(int(self.seeded), json.dumps(self.parameters, default=str)),
        )

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON, exact rationals as text."""
        named = dict(zip(FIELDS, self.row(), strict=True))
        return {**named, "seeded": self.seeded, "parameters": json.loads(named["parameters"])}


def entry_from(row: tuple[Any, ...]) -> Entry:
    """The other way. A line that does not read as one raises `ValueError`, also where a cost is not positive."""
    named = dict(zip(FIELDS, row, strict=True))
    zcdp = Concentrated(Fraction(named["rho"]), Fraction(named["rho_delta"]))
    shared = {"neighbours": named["neighbours"], "zcdp": zcdp}
    delta = Fraction(named["delta"])
    guarantee: Guarantee = (
        ApproxDP(Fraction(named["epsilon"]), delta, **shared) if delta else PureDP(Fraction(named["epsilon"]), **shared)
    )
    return Entry(
        number=named["number"],
        guarantee=guarantee,
        mechanism=named["mechanism"],
        seeded=bool(named["seeded"]),
        parameters=json.loads(named["parameters"]),
        time=named["time"],
        version=named["version"],
    )
