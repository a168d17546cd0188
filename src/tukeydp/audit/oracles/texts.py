"""Which cells of a text table are unreadable, by definition."""

from __future__ import annotations

from collections.abc import Sequence

NO_VALUE = ("", "NA")


def unreadable(records: Sequence[str], columns: int) -> list[int]:
    """For each column how many records hold something there that is no number and no word for no value.

    A record of too many fields is unreadable in every column; a field that a record lacks is a missing value.
    """
    split = [record.split(",") for record in records]
    return [
        sum(len(fields) > columns or (j < len(fields) and not _reads(fields[j])) for fields in split)
        for j in range(columns)
    ]


def _reads(field: str) -> bool:
    return field in NO_VALUE or field.lstrip("-").replace(".", "", 1).isdigit()
