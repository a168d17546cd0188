"""Bounds found privately, for columns of which nothing is known (docs/proofs/mean.md, section 11).

The sizes of a column's values lie in a window of magnitudes, from 2^(k-3) to 2^k: a window is drawn for all columns at
once, by the most records of a column that lie outside its own. What is drawn is released, and a mechanism that takes
bounds runs between the ends that follow from it, with the epsilon that is left.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import wraps
from typing import Any, TypeVar

import numpy as np

from tukeydp.data.grouped_files import GroupOfRow
from tukeydp.data.keys import Keys
from tukeydp.data.lazy_tables import is_lazy
from tukeydp.data.records import Records
from tukeydp.data.records import records as open_records
from tukeydp.data.relation import checked_relation
from tukeydp.data.streams import Chunks
from tukeydp.results.grouped_release import GroupedRelease
from tukeydp.spending import dry_run, least_cost, require_room
from tukeydp.trusted.account import PureDP, bounded_range
from tukeydp.trusted.bits import source
from tukeydp.trusted.parameters import Bounds, ParameterError, brief, in_order, positive_rational, show
from tukeydp.trusted.release import Charge, PartOf, reserve
from tukeydp.trusted.rows import checked_bounds, per_column
from tukeydp.trusted.steps import OutsideCounts, joint_rungs

Mechanism = TypeVar("Mechanism", bound=Callable[..., Any])

AUTO = "auto"
# The upper end of a window is a power of two between these: sizes up to 10^15.
LOWEST, HIGHEST = -30, 50
# A window spans so many octaves, by halvings of its weight: most columns are held by narrow ones. Since only the column
# with the most values outside counts, one whose sizes differ by more than three octaves would let all others go astray.
SPANS = {3: 0, 5: 6, 8: 12}
# The bounds reach so much farther than a narrow window: the largest of a thousand values is a few times the typical
# one. With few records times epsilon for each column noise between wide bounds costs more than what is cut off.
_BEYOND, _FEW_BEYOND, _FEW = 4, 2, 150.0
# Octaves away from sizes of 1/2 to 1 that halve a window's weight, twice over: where a column has hardly a value that
# is not 0, all windows are alike to it, and the usual ones are taken. Positive values are likelier than both signs.
_HALVED_TWICE, _POSITIVE = 4, 32
# The logarithm of what all windows weigh against one of usual size, for each column, and the share of a column's values
# that its window has to hold against all others: accuracy only.
_LOG_WINDOWS, _HELD = 7.0, 0.45
_LEAST, _MOST, _UNKNOWN = Fraction(1, 50), Fraction(1, 2), Fraction(1, 10)
_WINDOWS = tuple((k, s, sign) for s in SPANS for k in range(LOWEST, HIGHEST + 1) for sign in (True, False))
_WIDEST = -Fraction(2**HIGHEST), Fraction(2**HIGHEST)
_SURE = 1000  # rows, from which on what is said of accuracy held on real tables
_TIMES = 16  # so many public standard deviations, or steps of the grid, the bounds reach at least


def windows() -> tuple[tuple[float, float, bool], ...]:
    """Of magnitudes: sizes from one power of two to another, of positive values, or of both signs."""
    return tuple((2.0 ** (k - span), 2.0**k, sign) for k, span, sign in _WINDOWS)


def window_weights() -> tuple[int, ...]:
    """More for windows near 1, for narrow ones, and for positive values rather than both signs."""
    most = max(abs(LOWEST - 1), abs(HIGHEST - 1)) * 2 // _HALVED_TWICE + max(SPANS.values())
    return tuple(
        (1 << (most - 2 * abs(k - 1) // _HALVED_TWICE - SPANS[span])) * (_POSITIVE if positive else 1)
        for k, span, positive in _WINDOWS
    )


def ends_of(place: int, beyond: int) -> tuple[Fraction, Fraction]:
    """The bounds that follow from a drawn window: wider ones reach nearly as far as the values themselves."""
    k, span, positive = _WINDOWS[place]
    upper = max(1, beyond >> list(SPANS).index(span)) * Fraction(2) ** k
    return (Fraction(0) if positive else -upper), upper


def share_for_bounds(columns: int, rows: int | None, epsilon: Fraction, neighbours: str) -> Fraction:
    """Of epsilon, from public numbers: so that the windows that hold the columns outweigh all others."""
    if rows is None:
        return _UNKNOWN
    ease = 0.5 if neighbours == "add-remove" else 1.0
    needed = ease * float(_MOST) * _rows_at_most(columns, float(epsilon)) / rows
    return min(_MOST, max(_LEAST, Fraction(math.ceil(1000 * min(needed, 1.0)), 1000)))


def rows_for_bounds(columns: int, epsilon: Fraction) -> int:
    """About how many rows the bounds of so many columns take, where one row is replaced."""
    return math.ceil(_rows_at_most(columns, float(epsilon)))


def _rows_at_most(columns: int, epsilon: float) -> float:
    """Rows with which finding bounds takes as much of epsilon as it may."""
    return 2.0 * (_LOG_WINDOWS * columns + 3.0) / (_HELD * float(_MOST) * epsilon)


def reach(columns: int, rows: int | None, epsilon: Fraction) -> int:
    """How much farther than the window the bounds reach, from public numbers."""
    return _FEW_BEYOND if rows is None or rows * float(epsilon) < _FEW * columns else _BEYOND


def drawn_bounds(
    records: Records, d: int, unknown: Sequence[int], beyond: int, charge: Charge
) -> list[tuple[Fraction, Fraction]]:
    """Bounds of the columns at these places of d, so much farther out than their windows: pure DP for all together."""
    listed = windows()
    (counted,) = records.total(OutsideCounts(d, tuple(unknown), listed))
    by_column = list(np.array(counted, dtype=np.int64).reshape(len(unknown), len(listed)))
    return [ends_of(place, beyond) for place in joint_rungs(by_column, window_weights(), charge)]


def known_bounds(bounds: Any, d: int, names: Sequence[str] | None) -> tuple[list[Any], list[int]]:
    """The bounds of each column, None where they are to be found, and the places of these."""
    if not isinstance(bounds, Mapping):
        return [None] * d, list(range(d))
    given = {str(name): ends for name, ends in bounds.items()}
    unknown = [j for j, name in enumerate(names or ()) if name in given and given[name] is None]
    # Any bounds will do for the others' check.
    filled = {name: (0, 1) if ends is None else ends for name, ends in given.items()}
    lower, upper = checked_bounds(d, filled, names)
    return [None if j in unknown else (lower[j], upper[j]) for j in range(d)], unknown


def asks_for_bounds(bounds: Any) -> bool:
    """Whether the bounds of some column are to be found."""
    if isinstance(bounds, str):
        if bounds != AUTO:
            raise ParameterError("bounds", "must be (lower, upper), a dict, or 'auto' to find them", brief(bounds))
        return True
    return isinstance(bounds, Mapping) and any(ends is None for ends in bounds.values())


def finds_bounds(mechanism: Mechanism) -> Mechanism:
    """Let a mechanism take bounds="auto", or None for some of the columns in a dict of bounds."""

    @wraps(mechanism)
    def run(x: Any, *given: Any, **options: Any) -> Any:
        bounds = options.get("bounds")
        if not asks_for_bounds(bounds):
            return mechanism(x, *given, **options)
        for name, why in (("delta", "which needs none"), ("unproven", "which is paid for")):
            if options.get(name) is not None:
                raise ParameterError(name, f"must be left out with bounds='auto', {why}", brief(options[name]))
        if isinstance(x, Chunks):
            raise ParameterError("bounds", "must be given where rows are streamed", brief(bounds))
        epsilon = positive_rational("epsilon", options.pop("epsilon"))
        accountant, bits = options.pop("accountant", None), source(options.pop("randomness", None))
        relation = checked_relation(options.get("neighbours", "swap"), options.get("rows"))
        require_room(accountant, least_cost(epsilon, None, 2, relation.neighbours))
        by, keys = options.pop("by", None), options.pop("keys", None)
        opened = open_records(x, relation, by=by, keys=keys)
        d, names = opened.table.d, opened.table.columns
        known, unknown = known_bounds(bounds, d, names)
        least = _least_reach(options, d, names)
        share = share_for_bounds(len(unknown), opened.size, epsilon, relation.neighbours)
        parts = {
            "bounds": bounded_range(share * epsilon, relation.neighbours),
            "rest": PureDP(epsilon - share * epsilon, neighbours=relation.neighbours),
        }
        options |= {"epsilon": parts["rest"].epsilon}
        if by is not None:
            options |= {"by": by if is_lazy(x) else key_of_each(opened), "keys": keys}
        table = x if is_lazy(x) else opened.table
        # What is wrong with a parameter is said before anything is spent.
        widest = _ends([_WIDEST if pair is None else pair for pair in known])
        dry_run(lambda account: mechanism(table, *given, **{**options, "bounds": widest, "accountant": account}))
        settings = {"epsilon_bounds": share * epsilon}
        public = {**opened.public, "bounds": AUTO, "settings": settings, **opened.public_groups}
        name = mechanism.__name__
        paid = reserve(parts, mechanism=name, source=bits, accountant=accountant, parameters=public)
        beyond = reach(d, opened.size, epsilon)
        found = drawn_bounds(opened, d, unknown, beyond, paid.charge("bounds", "bounds"))
        for j, ends in zip(unknown, found, strict=True):
            known[j] = _wide_enough(ends, least[j])
        options |= {"bounds": _ends(known), "randomness": bits, "accountant": PartOf(paid.charge("rest"))}
        outcome = mechanism(table, *given, **options)
        told = [names[j] if names else f"column {j + 1}" for j in unknown]
        note = _note(told, d, opened.size, rows_for_bounds(len(unknown), epsilon))
        if isinstance(outcome, GroupedRelease):
            return outcome.charged(paid.seal, settings, note)
        return replace(outcome, seal=paid.seal, settings={**settings, **outcome.settings}, notes=(*outcome.notes, note))

    return run  # type: ignore[return-value]


def key_of_each(records: Records) -> GroupOfRow:
    """Each row's key, by what keys are compared by."""
    assert records.groups is not None
    known: Keys = records.keys  # type: ignore[assignment]
    labels = [None if place < 0 else known.labels[place] for place in records.groups.tolist()]
    return GroupOfRow(records.by or "group", labels)


def _least_reach(options: Mapping[str, Any], d: int, names: Sequence[str] | None) -> list[Fraction]:
    """So far the bounds of each column reach at least, beside public deviations and steps of the grid.

    Bounds that are narrower than these are an error, which would come after all is spent, and tell of the data.
    """
    least = [Fraction(0)] * d
    for name in ("sd", "resolution"):
        if options.get(name) is None:
            continue
        values = per_column(name, in_order(name, options[name], names), d)
        for value in values:
            if value <= 0:
                raise ParameterError(name, "must be > 0", show(value))
        least = [max(one, _TIMES * value) for one, value in zip(least, values, strict=True)]
    return least


def _wide_enough(ends: tuple[Fraction, Fraction], least: Fraction) -> tuple[Fraction, Fraction]:
    lower, upper = ends
    far = max(upper, least)
    return (lower if lower == 0 else -far), far


def _ends(known: Sequence[Any]) -> Bounds:
    return tuple(a for a, _ in known), tuple(b for _, b in known)


def _note(names: Sequence[str], d: int, size: int | None, needed: int) -> str:
    """About bounds that were found, and what is said of accuracy: from public numbers."""
    which = "the columns" if len(names) == d else ", ".join(names)
    said = f"The bounds of {which} were found privately, with a part of epsilon, and are released too."
    if size is not None and size < needed:
        return f"{said} That takes about {needed:,} rows: with fewer some may lie far from the data."
    if size is not None and size < _SURE:
        return f"{said} On real tables of fewer than {_SURE:,} rows errors were up to 3 times those that are expected."
    return said
