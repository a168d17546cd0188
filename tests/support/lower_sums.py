"""A mistake for audits to notice: sums of groups that are counted from the lower bound."""

from __future__ import annotations

from dataclasses import replace

from tukeydp.trusted.steps import WindowSums

_honest = WindowSums.__call__


def from_the_lower_bound(self, cells, place):
    """In the place of `WindowSums.__call__`: a record adds from 0 to twice as much, so that a move costs double."""
    found, d = _honest(self, cells, place), self.columns.d
    if self.squared is not None:
        return found
    counting = replace(self, records=False, counted=tuple(range(d)))
    there = _honest(counting, cells, place).reshape(self.groups, 2 * d)[:, d:]
    found.reshape(self.groups, self.width)[:, :d] += there
    return found
