"""What a mechanism hands back with `by=`: a release for each group's key, and one guarantee for all of them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Protocol

from tukeydp.results.difference import Difference, between_groups, numbers_with_ends, two_of, with_intervals
from tukeydp.results.release import Release
from tukeydp.results.views import frame_of_groups, html_of_groups, lines_of_groups, text_of_groups
from tukeydp.results.views import names as names_of
from tukeydp.trusted.account import Guarantee
from tukeydp.trusted.parameters import Bounds, show
from tukeydp.trusted.release import Seal, vouched


@dataclass(frozen=True, eq=False, kw_only=True)
class GroupedRelease(Mapping[str, Release]):
    """A dict of releases by the groups' keys. Everything in it is public beforehand, or released.

    `found["A"]` is the release of group A; its `n` and its guarantee are those of all groups together, since how many
    rows a group has is secret.

    Attributes
    ----------
    guarantee
        What all groups have cost together, also where a row goes from one group to another.
    n
        Rows of the whole table, a public number; None where it is secret.
    by, groups
        The name of the column with the keys, and the keys, in the order in which they were given.
    counts
        Noised numbers of rows by key, where `counts=` has asked and paid for them; else None.
    settings
        What else was fixed beforehand.
    """

    releases: Mapping[str, Release] = field(repr=False)
    guarantee: Guarantee | None = None
    mechanism: str
    seeded: bool
    n: int | None
    by: str
    counts: Mapping[str, int] | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    seal: Seal | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        vouched(self)

    def __getitem__(self, key: Any) -> Release:
        name = str(key).strip()
        if name not in self.releases:
            raise KeyError(f"no group {name!r}; there are {', '.join(map(repr, self.releases))}")
        return self.releases[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.releases)

    def __len__(self) -> int:
        return len(self.releases)

    @property
    def groups(self) -> tuple[str, ...]:
        return tuple(self.releases)

    @property
    def first(self) -> Release:
        """Any of the releases: what is fixed beforehand is the same in all of them."""
        return next(iter(self.releases.values()))

    @property
    def bounds(self) -> Bounds | None:
        return self.first.bounds

    @property
    def released(self) -> bool:
        return True

    @property
    def private(self) -> bool:
        """False for seeded randomness, where the table is a rehearsal, and for one that nobody has paid for."""
        return not self.seeded and self.guarantee is not None

    @property
    def caveats(self) -> tuple[str, ...]:
        """What to know before using the results: that of every group, and what is said of all."""
        return tuple(dict.fromkeys((*self.notes, *self.first.caveats)))

    def charged(self, seal: Seal, settings: Mapping[str, Any], *notes: str) -> GroupedRelease:
        """The same release as a part of a run whose whole cost the seal says."""
        members = {key: replace(one, seal=seal) for key, one in self.releases.items()}
        told = {**self.settings, **settings}
        return replace(self, releases=members, seal=seal, settings=told, notes=(*self.notes, *notes))

    def difference(self, first: Any, second: Any) -> Difference:
        """What was released for one group less what was for another, with confidence intervals: costs nothing.

        `print(found.difference("A", "B"))`. It takes a run with `confidence`; with `joint` the level holds for the
        differences between any groups, in all columns, together. Nominal, as the intervals are that it is made of.
        """
        asked = with_intervals(self.first.settings)
        of = two_of(self.groups, first, second, "groups")
        told = [[one for one in lines_of_groups(self) if one[0] == key] for key in of]
        columns = [" ".join([name, *label]) for _, label, *_ in told[0] for name in names_of(self.first)]
        one, other = (
            numbers_with_ends([v for _, _, values, _ in lines for v in values], [p for *_, ps in lines for p in ps])
            for lines in told
        )
        return between_groups(of, columns, one, other, asked)

    def to_dict(self, *, verbose: bool = True) -> dict[str, Any]:
        """Everything public about the run, ready for JSON; `verbose=False` as for a single release."""
        return {
            "mechanism": self.mechanism,
            "released": True,
            "guarantee": None if self.guarantee is None else self.guarantee.to_dict(),
            "private": self.private,
            "n": self.n,
            "by": self.by,
            "keys": list(self.releases),
            "counts": None if self.counts is None else dict(self.counts),
            "settings": {name: show(v) if isinstance(v, Fraction) else v for name, v in self.settings.items()},
            "groups": {key: release.to_dict(verbose=verbose) for key, release in self.releases.items()},
            "caveats": list(self.caveats),
        }

    def to_json(self, *, verbose: bool = False, indent: int | None = None) -> str:
        """`to_dict` as a text, without what is long or slow unless `verbose`."""
        return json.dumps(self.to_dict(verbose=verbose), indent=indent)

    def to_frame(self) -> Any:
        """A pandas DataFrame: a row for each group, a column for each column; `rows`, noised, if it was asked for."""
        return frame_of_groups(self)

    def __str__(self) -> str:
        return text_of_groups(self)

    def _repr_html_(self) -> str:
        return html_of_groups(self)

    def __repr__(self) -> str:
        return f"GroupedRelease({len(self)} groups by {self.by!r}, guarantee={self.guarantee}, private={self.private})"


class Grouping(Protocol):
    """What a grouped release needs of the records that it is made of."""

    @property
    def keys(self) -> Any: ...
    @property
    def by(self) -> str | None: ...


def by_group(found: Sequence[Any], records: Grouping, settings: Mapping[str, Any], **more: Any) -> Any:
    """Releases of one run, in the order of the keys, as one; the only one itself without groups."""
    if records.keys is None:
        return found[0]
    assert records.by is not None
    names, first = records.keys.names, found[0]
    note = one_of(len(names))
    told = {name: {**one.settings, "by": records.by, "key": name} for name, one in zip(names, found, strict=True)}
    return GroupedRelease(
        releases={
            name: replace(one, settings=told[name], notes=(*one.notes, note))
            for name, one in zip(names, found, strict=True)
        },
        seal=first.seal,
        mechanism=first.mechanism,
        seeded=first.seeded,
        n=first.n,
        by=records.by,
        settings=settings,
        **more,
    )


def one_of(groups: int) -> str:
    """What to know of the release of one group."""
    return (
        f"One of {groups} groups: the number of rows and the guarantee are those of all groups together. How many rows "
        f"the group has is secret; what accuracy to expect is said for groups of equal size."
    )
