"""Privacy maps: what a guarantee about neighbours says of tables farther apart, in OpenDP's floats, never too little.

Everything is computed in rationals and rounded up once, at the end (docs/proofs/opendp.md, sections 2 and 3).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple

from opendp.measures import approximate, max_divergence
from opendp.mod import Measure

from tukeydp.integrations.opendp.spaces import Space
from tukeydp.trusted.account import ApproxDP, Guarantee, delta_of
from tukeydp.trusted.laws import exp_between, log_between
from tukeydp.trusted.parameters import ParameterError, brief, positive_rational, show

Loss = float | tuple[float, float]


class _Measured(NamedTuple):
    """Whether a loss is a rho, not an epsilon, and whether a delta comes with it."""

    concentrated: bool
    delta: bool


_MEASURES = {
    "MaxDivergence": _Measured(False, False),
    "ZeroConcentratedDivergence": _Measured(True, False),
    "Approximate<MaxDivergence>": _Measured(False, True),
    "Approximate<ZeroConcentratedDivergence>": _Measured(True, True),
}
# Nobody has use for less, and means refuse it too. A Context's search for epsilon begins at 0 and halves its way to
# where a measurement can be made: without an end a thousand steps, with this one fifty.
SMALLEST_EPSILON = Fraction(1, 10**9)


def checked_epsilon(epsilon: Any) -> Fraction:
    number = exact_number("epsilon", epsilon)
    if number < SMALLEST_EPSILON:
        raise ParameterError("epsilon", f"must be at least {show(SMALLEST_EPSILON)}", brief(epsilon))
    return number


def exact_number(parameter: str, value: Any) -> Fraction:
    """A float is its shortest decimal, but never more than the float itself: OpenDP's budgets are floats.

    0.1 is 1/10. The float 0.3 lies below 3/10 and is taken as it is, so that the map says 0.3, not 0.30000000000000004.

    >>> exact_number("epsilon", 0.1), float(exact_number("epsilon", 0.3)) == 0.3 < Fraction(3, 10)
    (Fraction(1, 10), True)
    """
    number = positive_rational(parameter, value)
    return min(number, Fraction(value)) if isinstance(value, float) else number


def rounded_up(number: Fraction) -> float:
    """The smallest float that is not below; infinity where there is no finite one.

    >>> rounded_up(Fraction(1, 3)) > Fraction(1, 3), rounded_up(Fraction(1, 8))
    (True, 0.125)
    """
    try:
        nearest = float(number)
    except OverflowError:
        return math.inf
    return nearest if Fraction(nearest) >= number else math.nextafter(nearest, math.inf)


def measure_for(guarantee: Guarantee, output_measure: Any) -> Measure:
    """The measure asked for, if the guarantee has a loss in it; None: max divergence, approximate with a delta."""
    delta = delta_of(guarantee)
    if output_measure is None:
        return approximate(max_divergence()) if delta else max_divergence()
    offered = [name for name, measured in _MEASURES.items() if measured.delta or not delta]
    if not isinstance(output_measure, Measure) or str(output_measure.type) not in offered:
        rule = f"must be {' or '.join(offered)}{' with a delta' if delta else ''}"
        raise ParameterError("output_measure", rule, brief(output_measure))
    return output_measure


def privacy_map(guarantee: Guarantee, space: Space, measure: Measure) -> Callable[[Any], Loss]:
    """From a distance between tables to the loss, rounded up."""
    measured = _MEASURES[str(measure.type)]

    def loss(d_in: Any) -> Loss:
        size, delta = group_loss(guarantee, space.steps(d_in), measured.concentrated)
        return (rounded_up(size), rounded_up(delta)) if measured.delta else rounded_up(size)

    return loss


def group_loss(guarantee: Guarantee, steps: int, concentrated: bool) -> tuple[Fraction, Fraction]:
    """Epsilon (or rho) and delta between tables so many neighbours apart."""
    if steps == 0:
        return Fraction(0), Fraction(0)
    epsilon = steps * guarantee.epsilon
    if not isinstance(guarantee, ApproxDP):
        return (steps**2 * guarantee.zcdp.rho if concentrated else epsilon), Fraction(0)
    if steps == 1:
        return (guarantee.zcdp.rho, guarantee.zcdp.delta) if concentrated else (epsilon, guarantee.delta)
    return (epsilon**2 / 2 if concentrated else epsilon), group_delta(guarantee, steps)


def group_delta(guarantee: ApproxDP, steps: int) -> Fraction:
    """delta (1 + e^epsilon + ... + e^((steps - 1) epsilon)), or a little more; at most 1. For at least two steps."""
    epsilon, delta = guarantee.epsilon, guarantee.delta
    _, log = log_between(1 / delta)
    if (steps - 1) * epsilon >= log:  # the last term alone is 1; below, powers of e can be written out
        return Fraction(1)
    terms = steps * exp_between((steps - 1) * epsilon)[1]
    below, _ = exp_between(epsilon)
    if below > 1:  # not so for an epsilon below what the enclosure resolves
        terms = min(terms, (exp_between(steps * epsilon)[1] - 1) / (below - 1))
    return min(Fraction(1), delta * terms)
