"""From a table of block statistics to its release: boxem between bounds, REM without (docs/proofs/aggregate.md)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from tukeydp.data.tables import Table
from tukeydp.depth.choice import chosen_notion, require_memory
from tukeydp.depth.notions import AnyScale, Notion
from tukeydp.mechanisms.boxem import boxem
from tukeydp.mechanisms.rem import rem
from tukeydp.mechanisms.rem_choice import chosen_plan
from tukeydp.results.release import Refused, Release
from tukeydp.trusted.account import ApproxDP, Guarantee, bounded_range, delta_of, part_of
from tukeydp.trusted.bits import Randomness
from tukeydp.trusted.laws import exp_between, rounded_down
from tukeydp.trusted.parameters import Bounds, FloatArray, ParameterError, brief, checked_integer, positive_rational
from tukeydp.trusted.prices import share_of_group
from tukeydp.trusted.release import Charge, PartOf, Run
from tukeydp.trusted.rows import bounded_grid, checked_bounds, unbounded_grid


def guarantee_for(epsilon: Any, bounds: Any, delta: Any, neighbours: str = "swap") -> Guarantee:
    """Pure with bounds; else with a delta, which is then needed."""
    budget = positive_rational("epsilon", epsilon)
    if bounds is not None:
        if delta is not None:
            ApproxDP(budget, delta)  # checks it, although it is not needed
        return bounded_range(budget, neighbours)
    if delta is None:
        rule = "must be given: bounds=(lower, upper), what is known of the released numbers without looking, or delta="
        raise ParameterError("bounds", rule, "neither")
    return ApproxDP(budget, delta, neighbours=neighbours)


def checked_partitions(partitions: Any, guarantee: Guarantee) -> int:
    """How many dealings: one without bounds, since group privacy over several would multiply delta."""
    if partitions is None:
        return 1
    if isinstance(guarantee, ApproxDP):
        raise ParameterError("partitions", "must be left out without bounds", brief(partitions))
    return checked_integer("partitions", partitions, least=1)


def delta_for_each(guarantee: ApproxDP, partitions: int) -> Fraction:
    """The delta of one swap of which `partitions` in a row, each with its part of epsilon, have the given one.

    Group privacy: r swaps of an (e, d)-DP mechanism are (r e, d (1 + e^e + ... + e^((r - 1) e)))-DP
    (docs/proofs/aggregate.md, section 3). The sum is rounded up, the quotient down.
    """
    each = guarantee.epsilon / partitions
    growth = sum((exp_between(i * each)[1] for i in range(1, partitions)), Fraction(1))
    return guarantee.delta if partitions == 1 else rounded_down(guarantee.delta / growth)


@dataclass(frozen=True)
class BlockRelease:
    """How a block table is to be released, or one for each of `keys` groups. All of it is public, and checked at once.

    `guarantee` is that of the whole run. A record moves one row of each dealing, by a swap, also where it comes or
    goes; with two keys or more perhaps in two groups.
    """

    guarantee: Guarantee
    blocks: int
    partitions: int
    d: int
    names: tuple[str, ...] | None
    bounds: Any
    depth: Notion | None
    resolution: Any
    keys: int | None = None

    def __post_init__(self) -> None:
        rows = self.blocks * self.partitions
        if isinstance(self.guarantee, ApproxDP):
            notion = chosen_notion(self.depth, rows, self.d, AnyScale).simplest(self.d)
            own = self._own
            chosen_plan(rows, self.d, own.epsilon, delta_of(own), None)
            unbounded_grid(self.d, resolution=self._step, bits=notion.wide_bits(self.d), columns=self.names)
        else:
            notion = chosen_notion(self.depth, rows, self.d)
            bits = notion.grid_bits(self.d)
            bounded_grid(self.d, bounds=self.ends, resolution=self.resolution, bits=bits, columns=self.names)
        require_memory(notion, rows, self.d)

    @property
    def ends(self) -> Bounds | None:
        return None if self.bounds is None else checked_bounds(self.d, self.bounds, self.names)

    @property
    def _own(self) -> Guarantee:
        """What a draw has for the swap of one row of its block table; a row of the data moves `partitions`."""
        each = self.of_group
        if isinstance(each, ApproxDP):
            return ApproxDP(each.epsilon / self.partitions, delta_for_each(each, self.partitions))
        return bounded_range(each.epsilon / self.partitions)

    @property
    def of_group(self) -> Guarantee:
        """What the draw of one group may cost."""
        return part_of(self.guarantee, share_of_group(self.guarantee.neighbours, self.keys))

    @property
    def _step(self) -> Any:
        return Fraction(1, 10**6) if self.resolution is None else self.resolution

    @property
    def settings(self) -> dict[str, Any]:
        dealt = {} if self.partitions == 1 else {"partitions": self.partitions}
        return {"blocks": self.blocks, **dealt}

    def releases(
        self, table: FloatArray, n: int | None, bits: Randomness, run: Run, mechanism: str, notes: tuple[str, ...]
    ) -> list[Release | Refused]:
        """A draw from each group's block table; `table` has one dealing after the other, in each all groups in turn."""
        if len(table) != self.partitions * (self.keys or 1) * self.blocks:  # the sensitivity rests on it
            raise AssertionError("a block table has one row for each block of each dealing")
        dealt = table.reshape(self.partitions, self.keys or 1, self.blocks, self.d)
        charges = run.charge("draw").by_group(self.keys)
        told = (bits, run, mechanism, notes)
        return [self._release(dealt[:, g].reshape(-1, self.d), n, charge, *told) for g, charge in enumerate(charges)]

    def _release(
        self,
        table: FloatArray,
        n: int | None,
        charge: Charge,
        bits: Randomness,
        run: Run,
        mechanism: str,
        notes: tuple[str, ...],
    ) -> Release | Refused:
        """A draw from one block table: `partitions` dealings of `blocks` rows each."""
        named, own = Table(table, self.names), self._own
        given: dict[str, Any] = {"epsilon": own.epsilon, "depth": self.depth, "randomness": bits}
        given["accountant"] = PartOf(charge, on_blocks=True)
        outcome: Release | Refused
        if isinstance(own, ApproxDP):
            outcome = rem(named, delta=own.delta, resolution=self._step, check=False, **given)
        else:
            outcome = boxem(named, bounds=self.ends, resolution=self.resolution, check=False, **given)
        return replace(
            outcome,
            seal=run.seal,
            mechanism=mechanism,
            n=n,
            settings={"drawn_by": outcome.mechanism, **outcome.settings, **self.settings},
            notes=notes,
            rehearsal=None,
        )
