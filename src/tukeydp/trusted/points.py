"""A deep point of records or of block values, and its certificate: each takes a charge and knows its sensitivity."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction

from tukeydp.trusted.boxes import whole_grid
from tukeydp.trusted.laws import discrete_laplace
from tukeydp.trusted.prepared import PreparedBlocks, PreparedDepth
from tukeydp.trusted.prices import COUNT, DEPTH
from tukeydp.trusted.release import Charge
from tukeydp.trusted.rows import Grid
from tukeydp.trusted.sampling.draws import BlockSampler, DepthSampler, point_sampler


def sampler_on(prepared: PreparedDepth | PreparedBlocks, grid: Grid, epsilon: Fraction) -> DepthSampler | BlockSampler:
    """Draws grid points with probability proportional to e^(epsilon depth / 2): the price is whoever's who asks."""
    return point_sampler(prepared, within=whole_grid(grid), epsilon=epsilon)


def deep_point(prepared: PreparedDepth | PreparedBlocks, grid: Grid, charge: Charge) -> list[int]:
    """A grid point by the exponential mechanism on its depth among records: pure epsilon-DP."""
    paid = charge.for_bounded_range()
    return sampler_on(prepared, grid, 2 * paid.weight(DEPTH)).draw(paid.key())


def deep_points(
    groups: Iterable[PreparedDepth | PreparedBlocks], count: int, grid: Grid, charge: Charge
) -> Iterator[tuple[PreparedDepth | PreparedBlocks, list[int]]]:
    """One for each of `count` groups, among its own records, in turn: pure epsilon-DP for all groups together."""
    paid = charge.for_bounded_range()
    epsilon = 2 * paid.weight(DEPTH, count)
    numbered = zip(range(count), groups, strict=True)
    return ((prepared, sampler_on(prepared, grid, epsilon).draw(paid.key("group", g))) for g, prepared in numbered)


def noised_depth(
    prepared: PreparedDepth | PreparedBlocks, point: Sequence[int], charge: Charge
) -> tuple[int, Fraction]:
    """The noised depth of a released grid point among records, and its epsilon: pure epsilon-DP.

    By group the charge is that of the group (`Charge.by_group`): a row that moves may change the depths of two points.
    """
    paid = charge.for_any_law()
    return prepared.depth(point) + discrete_laplace(paid.scale(COUNT), paid.bits()), paid.epsilon
