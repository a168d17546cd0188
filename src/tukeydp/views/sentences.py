"""Guarantee and what was released besides the point, as sentences."""

from __future__ import annotations

import math

from tukeydp.parameters import show
from tukeydp.privacy import ApproxDP, Guarantee, stated
from tukeydp.views.table import Viewed

_LARGEST_SHOWN = 20  # an epsilon above which e^epsilon as a number helps nobody
_WHATEVER = {
    "swap": "Whatever one person's row contains",
    "add-remove": "Whatever one person's row contains, and whether it is there at all",
    "swap-person": "Whatever all rows of one person contain",
}
_SIZE = {
    "swap": "The number of rows is not secret.",
    "add-remove": "The number of rows stays secret.",
    "swap-person": "The number of persons is not secret.",
}


def guarantee_sentence(guarantee: Guarantee | None) -> str:
    if guarantee is None:
        return f"{stated(None)}."
    delta = f", up to events of probability delta = {show(guarantee.delta)}" if isinstance(guarantee, ApproxDP) else ""
    epsilon = float(guarantee.epsilon)
    factor = f" = {math.exp(epsilon):.3g}" if epsilon < _LARGEST_SHOWN else ""
    return (
        f"{guarantee}. {_WHATEVER[guarantee.neighbours]}, no result becomes more likely by a factor above "
        f"e^epsilon{factor}{delta}. {_SIZE[guarantee.neighbours]}"
    )


def beside_the_point(outcome: Viewed) -> list[tuple[str, str]]:
    """What was released, or follows from the release, besides the point: how sure an interval is, and how deep."""
    said = []
    if (note := getattr(outcome, "interval_note", None)) is not None:
        said.append(("Interval", note))
    if (certificate := getattr(outcome, "certificate", None)) is not None:
        said.append(("Depth", certificate.note))
    return said
