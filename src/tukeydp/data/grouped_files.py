"""Files with a column that is not measured, a group's key or a person's id, read in one go with the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from tukeydp.data.files import read_file
from tukeydp.data.keys import Keys, checked_keys
from tukeydp.data.persons import Ids
from tukeydp.data.readers.options import ReadOptions
from tukeydp.data.tables import Table
from tukeydp.trusted.parameters import FloatArray, ParameterError


class GroupOfRow(list[str | None]):
    """Each row's key, None for one that is in no group, under the name of its column: for `by`."""

    def __init__(self, name: str, keys: Sequence[str | None]) -> None:
        super().__init__(keys)
        self.name = name


def read_groups(
    path: Path | str, columns: Sequence[str], by: str, keys: Sequence[str] | None, options: ReadOptions | None = None
) -> tuple[Table, GroupOfRow, list[str]]:
    """The named columns, and what a mechanism takes as `by` and `keys`. Each row is read by itself."""
    if by in columns:
        raise ParameterError("by", "must not be one of the columns that are summarised", repr(by))
    declared = ReadOptions() if options is None else options
    known: Keys = checked_keys(keys, replace(declared, units=()).rule(by))
    both = read_file(path, [*columns, by], replace(declared, keys={by: known}))
    places = known.places_of_codes(both.cells[:, -1])
    rows = [None if place < 0 else known.names[place] for place in places.tolist()]
    return both.without_last(), GroupOfRow(by, rows), list(known.names)


def read_persons(
    path: Path | str, columns: Sequence[str], person: str, options: ReadOptions | None = None
) -> tuple[Table, FloatArray]:
    """The named columns, and what a mechanism takes as `person`."""
    if person in columns:
        raise ParameterError("person", "must not be one of the columns that are released", repr(person))
    declared = ReadOptions() if options is None else options
    both = read_file(path, [*columns, person], replace(declared, keys={person: Ids()}))
    return both.without_last(), both.cells[:, -1]
