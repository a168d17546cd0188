"""The one place that spends, and the one that says of a release that it was paid for.

`reserve` spends the whole budget of a run before a cell is used. Its `Run` hands out charges, named parts of that
budget, each once; a primitive consumes its charge before it gets the key that its first bit comes from. The run's
`Seal` is what a release has its guarantee from. All of it is against mistakes: code in the same process that wants to
cheat can, since Python hides nothing (docs/decisions/0020-charges-and-seals.md).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, NoReturn, Protocol

from tukeydp.trusted.account import Guarantee, about_persons, cost_of, delta_of, part_of, relation_of
from tukeydp.trusted.bits import Bits, Keystream, Randomness, derived_key
from tukeydp.trusted.prices import Score, kappa, share_of_group

PERSONS = "swap-person"  # the neighbours of a guarantee about persons
_MADE_HERE = object()  # what only this module has


class Misuse(RuntimeError):
    """A charge, key or seal is used as it must not be: a bug in a mechanism, whatever the data are."""


class Spends(Protocol):
    """Where a budget is kept: `td.Accountant`, or an object of your own."""

    def require(self, guarantee: Guarantee) -> None:
        """Raise `BudgetExceeded` unless there is room; spend nothing."""
        ...

    def spend(self, guarantee: Guarantee, *, mechanism: str, seeded: bool, parameters: Mapping[str, Any]) -> Any:
        """Spend, or raise `BudgetExceeded`; when it returns, what was spent stays spent whatever happens next."""
        ...


def reserve(
    parts: Mapping[str, Guarantee],
    *,
    mechanism: str,
    source: Randomness,
    accountant: Spends | None = None,
    parameters: Mapping[str, Any],
) -> Run:
    """Spend what all parts cost together; seeded runs cost as much, and are marked.

    A seeded run is a rehearsal, but it reads the same rows: whoever shows its result has used the budget and more.
    Without an accountant nobody keeps a budget, or it was kept for the run that this one is a part of.
    """
    if not parts:
        raise Misuse("a run has at least one part")
    guarantee: Guarantee = cost_of(parts)
    if accountant is not None:
        accountant.spend(guarantee, mechanism=mechanism, seeded=not source.private, parameters=plain(parameters))
    return Run(parts, _Keys(source), Seal(guarantee, not source.private, _MADE_HERE))


def rehearsed(parts: Mapping[str, Guarantee], key: bytes) -> Run:
    """A run on made-up rows: nobody pays, its keys follow from `key`, and its seal vouches for nothing."""
    return Run(parts, _Keys(_Fixed(key)), Seal(None, True, _MADE_HERE))


def rehearsed_charge(part: Guarantee, key: bytes) -> Charge:
    """The only charge of such a run."""
    return rehearsed({"": part}, key).charge("")


class Seal:
    """The proof that a guarantee was reserved: what a release has its guarantee from. It holds no key and no cell."""

    __slots__ = ("guarantee", "seeded")
    guarantee: Guarantee | None
    seeded: bool

    def __init__(self, guarantee: Guarantee | None, seeded: bool, made_here: object = None) -> None:
        if made_here is not _MADE_HERE:
            raise Misuse("a seal is made by reserve() and by nobody else")
        object.__setattr__(self, "guarantee", guarantee)
        object.__setattr__(self, "seeded", seeded)

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise Misuse("a seal stays as it is")

    def __add__(self, other: Any) -> Seal:
        """Of a release that rests on two runs, both reserved."""
        if not isinstance(other, Seal):
            return NotImplemented
        whole = None if self.guarantee is None or other.guarantee is None else self.guarantee + other.guarantee
        return Seal(whole, self.seeded or other.seeded, _MADE_HERE)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Seal) and self._told == other._told

    def __hash__(self) -> int:
        return hash(self._told)

    @property
    def _told(self) -> tuple[Any, ...]:
        return self.guarantee, None if self.guarantee is None else self.guarantee.zcdp, self.seeded

    def about_persons(self) -> Seal:
        """The same of a run whose rows are persons: each is a function of one person's rows."""
        return Seal(about_persons(self.guarantee), self.seeded, _MADE_HERE)

    def __copy__(self) -> Seal:
        return self

    def __deepcopy__(self, memo: Any) -> Seal:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return _read_back, (self.guarantee, self.seeded)

    def __repr__(self) -> str:
        return f"Seal({self.guarantee})"


def _read_back(guarantee: Guarantee | None, seeded: bool) -> Seal:
    """A seal from a pickle. Whoever can write pickles can write any: unpickle only what you would run."""
    return Seal(guarantee, seeded, _MADE_HERE)


def vouched(outcome: Any) -> None:
    """Give a frozen result the guarantee of its seal, and none where it has no seal, whatever it was made with."""
    seal = outcome.seal if isinstance(outcome.seal, Seal) else None
    object.__setattr__(outcome, "guarantee", None if seal is None else seal.guarantee)
    if seal is not None and seal.seeded:
        object.__setattr__(outcome, "seeded", True)


class _Once:
    """What must not be doubled: copies and pickles raise."""

    def _refuse(self, *_: Any) -> NoReturn:
        raise Misuse(f"a {type(self).__name__} is used once, and has no copies")

    __copy__ = __deepcopy__ = __reduce__ = __reduce_ex__ = _refuse


class _Fixed:
    """Keys that are made from one public key: for rehearsals. The first is that key itself."""

    private = False

    def __init__(self, key: bytes) -> None:
        self._key, self._given = key, 0

    def key(self) -> bytes:
        self._given += 1
        return self._key if self._given == 1 else derived_key("rehearsed", self._given, self._key)


class _Keys:
    """The source of a run, and every key that has left it: none leaves twice."""

    def __init__(self, source: Randomness) -> None:
        self._source, self.lock = source, threading.Lock()
        self._roots: dict[str, bytes] = {}
        self._left: set[bytes] = set()

    def root(self, name: str) -> bytes:
        """The source's key under this name; drawn when it is first asked for."""
        with self.lock:
            if name not in self._roots:
                self._roots[name] = self._source.key()
            return self._roots[name]

    def leave(self, key: bytes) -> bytes:
        with self.lock:
            if key in self._left:
                raise Misuse("a key of a run is handed out once")
            self._left.add(key)
        return key


class Run(_Once):
    """What was reserved, to be handed out: charges by name, and keys, each once.

    Attributes
    ----------
    seal
        What a release of this run has its guarantee from.
    """

    def __init__(
        self, parts: Mapping[str, Guarantee], keys: _Keys, seal: Seal, key: Callable[[], bytes] | None = None
    ) -> None:
        self.seal = seal
        self._parts, self._keys = dict(parts), keys
        self._key = key or partial(keys.root, "secret")

    @property
    def guarantee(self) -> Guarantee | None:
        return self.seal.guarantee

    def charge(self, name: str, *labels: object, secret: str | None = None) -> Charge:
        """The part of that name, once. Its key is made of the labels and the run's own, or another, secret key."""
        with self._keys.lock:
            part = self._parts.pop(name, None)
        if part is None:
            raise Misuse(f"no part {name!r} of the budget is left")
        key = self._key if secret is None else partial(self._keys.root, f"secret {secret}")
        return Charge(part, self._keys, key, labels)

    def secret(self, name: str) -> bytes:
        """A key for secret dealings and coins, once for each name."""
        return self._keys.leave(self._keys.root(f"secret {name}"))

    def public(self, name: str) -> bytes:
        """A key for directions and rotations that are published, once for each name."""
        return self._keys.leave(self._keys.root(f"public {name}"))


class Charge(_Once):
    """A part of a budget, in exact rationals, for one primitive. What goes wrong afterwards gives nothing back."""

    def __init__(self, part: Guarantee, keys: _Keys, key: Callable[[], bytes], labels: tuple[object, ...]) -> None:
        self._part, self._keys, self._from, self._labels = part, keys, key, labels
        self._spent = False

    @property
    def epsilon(self) -> Fraction:
        """For plans and forecasts; a public number, like the charge's other numbers."""
        return self._part.epsilon

    def for_bounded_range(self) -> Paid:
        """Consume it for an exponential mechanism whose log-ratios span at most epsilon: rho = epsilon^2 / 8."""
        return self.consume(rho=self.epsilon**2 / 8)

    def for_any_law(self) -> Paid:
        """Consume it for a law of which no more is known than epsilon and delta: rho = epsilon^2 / 2."""
        return self.consume(rho=self.epsilon**2 / 2, delta=delta_of(self._part))

    def consume(self, *, rho: Fraction, delta: Fraction = Fraction(0)) -> Paid:
        """Consume it for a law of delta-approximate rho-zCDP."""
        if rho > self._part.zcdp.rho or delta > self._part.zcdp.delta:
            raise Misuse("the charge does not cover the law: its rho or delta is smaller")
        self._consume()
        return Paid(self._part, self._keys, self._key())

    def split(self, parts: Mapping[str, Guarantee]) -> Run:
        """Consume it for several steps that cost no more together; `parts` may hang on what was released before."""
        self._cover(cost_of(parts))
        return Run(parts, self._keys, Seal(None, True, _MADE_HERE), self._key)

    def by_group(self, keys: int | None) -> list[Charge]:
        """Consume it for the same step in every group, each on that group's records alone: what each of them has.

        All of it where a record changes the step of one group, half where of two. Without groups it is one step.
        """
        if keys is None:
            return [self]
        each = part_of(self._part, share_of_group(relation_of(self._part.neighbours), keys))
        self._consume()
        return [Charge(each, self._keys, self._from, (*self._labels, "group", g)) for g in range(keys)]

    def cover(self, guarantee: Guarantee, *, on_blocks: bool = False) -> None:
        """Consume it for a run inside this one, which has keys of its own."""
        self._cover(guarantee, on_blocks)

    def _cover(self, needed: Any, on_blocks: bool = False) -> None:
        have = self._part
        seen = "swap" if on_blocks else relation_of(have.neighbours)
        if relation_of(needed.neighbours) != seen:
            raise Misuse("the charge is for other neighbours")
        if needed.epsilon > have.epsilon or delta_of(needed) > delta_of(have):
            raise Misuse("the charge does not cover the run: its epsilon or delta is smaller")
        if needed.zcdp.rho > have.zcdp.rho or needed.zcdp.delta > have.zcdp.delta:
            raise Misuse("the charge does not cover the run: its rho or delta is smaller")
        self._consume()

    def _consume(self) -> None:
        with self._keys.lock:
            if self._spent:
                raise Misuse("a charge is consumed once")
            self._spent = True

    def _key(self) -> bytes:
        return derived_key(*self._labels, self._from()) if self._labels else self._from()


@dataclass(frozen=True)
class PartOf:
    """The accountant as a mechanism sees it that is one step of a run: its cost comes out of a charge of that run."""

    charge: Charge
    on_blocks: bool = False  # its rows are values of blocks, of which one record of the table moves one, by a swap

    def require(self, guarantee: Guarantee) -> None:
        """The run has been paid for."""

    def spend(self, guarantee: Guarantee, *, mechanism: str, seeded: bool, parameters: Mapping[str, Any]) -> None:
        self.charge.cover(guarantee, on_blocks=self.on_blocks)


class Paid(_Once):
    """A consumed charge: the numbers that its law is made of, and the keys of its bits, each label once."""

    def __init__(self, part: Guarantee, keys: _Keys, key: bytes) -> None:
        self.epsilon, self.delta, self.relation = part.epsilon, delta_of(part), relation_of(part.neighbours)
        self._keys, self._key = keys, key

    def under(self, relation: str) -> Paid:
        """The same, for a plan that is made for one relation."""
        if self.relation != relation:
            raise Misuse("the charge is for other neighbours than the plan")
        return self

    def weight(self, score: Score, keys: int | None = None) -> Fraction:
        """Of the score in the exponent; `keys` is the number of groups that the charge pays for together."""
        return kappa(self.epsilon, score.one, score.swap, self.relation, keys)

    def scale(self, moved: Score, keys: int | None = None) -> Fraction:
        """Of noise on answers that one record moves by so much."""
        return 1 / self.weight(moved, keys)

    def key(self, *labels: object) -> bytes:
        """Secret; without labels the charge's own key."""
        return self._keys.leave(derived_key(*labels, self._key) if labels else self._key)

    def bits(self, *labels: object) -> Bits:
        return Keystream(self.key(*labels)).bits(0)


def plain(value: Any) -> Any:
    """Ready for JSON: rationals as text, tuples as lists."""
    if isinstance(value, Mapping):
        return {str(name): plain(v) for name, v in value.items()}
    if isinstance(value, tuple | list):
        return [plain(v) for v in value]
    return str(value) if isinstance(value, Fraction) else value
