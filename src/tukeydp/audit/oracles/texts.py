"""Which cells of a text table are unreadable and which hold a value, by definition."""

from __future__ import annotations

from collections.abc import Sequence

NO_VALUE = ("", "NA")


def unreadable(records: Sequence[str], columns: int) -> list[int]:
    """For each column how many records hold something there that is no number and no word for no value.

    A record of too many fields is unreadable in every column; one of too few in those that it lacks.
    """
    split = [record.split(",") for record in records]
    return [
        sum(len(fields) > columns or j >= len(fields) or not _reads(fields[j]) for fields in split)
        for j in range(columns)
    ]


def values(records: Sequence[str], columns: int) -> list[int]:
    """For each column how many records hold a number there."""
    split = [record.split(",") for record in records]
    return [
        sum(j < len(fields) <= columns and fields[j] not in NO_VALUE and _reads(fields[j]) for fields in split)
        for j in range(columns)
    ]


def unlisted(records: Sequence[str], listed: Sequence[str]) -> int:
    """How many records have a last field that is no listed key."""
    return sum(record.split(",")[-1] not in listed for record in records)


def _reads(field: str) -> bool:
    return field in NO_VALUE or field.lstrip("-").replace(".", "", 1).isdigit()
