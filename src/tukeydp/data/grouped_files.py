"""Files with columns that are not measured, a group's key or a person's id, read in one go with the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tukeydp.data.files import read_file
from tukeydp.data.keys import Keys, checked_keys
from tukeydp.data.persons import Ids
from tukeydp.data.readers.options import ReadOptions
from tukeydp.data.tables import Table
from tukeydp.trusted.parameters import ParameterError


class GroupOfRow(list[float | str | None]):
    """Each row's key, None for one that is in no group, under the name of its column: for `by`."""

    def __init__(self, name: str, keys: Sequence[float | str | None]) -> None:
        super().__init__(keys)
        self.name = name


def read_records(
    path: Path | str,
    columns: Sequence[str],
    options: ReadOptions | None = None,
    *,
    by: str | None = None,
    keys: Sequence[str] | None = None,
    person: str | None = None,
    fewest: int = 1,
) -> tuple[Table, dict[str, Any]]:
    """The named columns, and what a mechanism takes as `by`, `keys` and `person`. Each row is read by itself."""
    declared = ReadOptions() if options is None else options
    apart: dict[str, Keys] = {}
    for parameter, name in (("by", by), ("person", person)):
        if name is not None and (name in columns or name in apart):
            raise ParameterError(parameter, "must not be one of the columns that are released", repr(name))
        if name is not None:
            plain = replace(declared, units=()).rule(name)
            apart[name] = checked_keys(keys, plain) if parameter == "by" else Ids()
    table = read_file(path, [*columns, *apart], replace(declared, keys=apart) if apart else declared, fewest)
    found: dict[str, Any] = {}
    if person is not None:
        found["person"] = table.cells[:, -1]
        table = table.without_last()
    if by is not None:
        known = apart[by]
        places = known.places_of_codes(table.cells[:, -1])
        found["by"] = GroupOfRow(by, [None if place < 0 else known.names[place] for place in places.tolist()])
        found["keys"] = list(known.names)
        table = table.without_last()
    return table, found
