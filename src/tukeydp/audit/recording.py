"""What a run of a public call has drawn, paid and returned, and the same on a neighbour with its draws forced.

On the first table draws come out as they do; on a neighbour as was recorded, and it is noted what they would have been
drawn from. `adapters.py` puts this in the place of everything that draws.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from numbers import Rational
from typing import Any

from tukeydp.arrays import IntArray
from tukeydp.audit.laws import NoiseLaw
from tukeydp.privacy import Guarantee


class Diverged(Exception):
    """The run on a neighbour takes other steps, or noise is used in a way that cannot be followed."""


@dataclass(eq=False)
class Draw:
    """One secret draw: its kind, what of it is public, what it is drawn from, with which key, and what came out."""

    kind: str
    public: tuple[Any, ...]
    law: Any
    key: bytes | None
    output: Any


@dataclass
class Recording:
    """All that a run drew, paid and returned.

    Attributes
    ----------
    opened
        Keys of streams in their order, and whether what is read from them is public.
    words, tied
        What dealings, coins and ties were made of, by key and lane; ties also with the values that they broke.
    parents
        Which keys a key was derived from.
    given
        Keys from the source.
    charged
        What an accountant was charged, and how many secrets had been drawn before.
    """

    draws: list[Draw] = field(default_factory=list)
    opened: list[tuple[bytes, bool]] = field(default_factory=list)
    words: dict[tuple[bytes, int], Any] = field(default_factory=dict)
    tied: dict[bytes, tuple[IntArray, Any]] = field(default_factory=dict)
    parents: dict[bytes, tuple[bytes, ...]] = field(default_factory=dict)
    given: list[bytes] = field(default_factory=list)
    charged: list[tuple[Guarantee, int]] = field(default_factory=list)
    outcome: Any = None

    def require(self, guarantee: Guarantee) -> None:
        """As an accountant with room for everything."""

    def spend(self, guarantee: Guarantee, *, mechanism: str, seeded: bool, parameters: Mapping[str, Any]) -> None:
        self.charged.append((guarantee, len(self.draws) + sum(not public for _, public in self.opened)))

    def origins(self, key: bytes) -> set[bytes]:
        """The source's keys that a key was made from."""
        if key in self.given:
            return {key}
        return {origin for parent in self.parents.get(key, ()) for origin in self.origins(parent)}


@dataclass(eq=False)
class Recorder:
    """Runs calls one after the other; `now` is what the one that runs has drawn."""

    seed: int
    now: Recording = field(default_factory=Recording)
    before: Recording | None = None
    removed: tuple[int, int] | None = None
    busy: bool = False  # within a draw: the streams that are opened are its own

    def run(
        self,
        call: Callable[[Recording], Any],
        before: Recording | None = None,
        removed: tuple[int, int] | None = None,
    ) -> Recording:
        """Run a call, which is given the recording as its accountant.

        With `before` on a neighbour: all draws come out as they did there. `removed`: which of how many rows is gone;
        the others keep their secret words.
        """
        self.now, self.before, self.removed = Recording(), before, removed
        self.now.outcome = call(self.now)
        return self.now

    def drawn(self, kind: str, public: tuple[Any, ...], law: Any, key: bytes | None, draw: Callable[[], Any]) -> Any:
        """What comes out: drawn on the first table, forced on a neighbour."""
        output = draw() if self.before is None else self._forced(kind).output
        self.now.draws.append(Draw(kind, public, law, key, output))
        return output

    def _forced(self, kind: str) -> Draw:
        assert self.before is not None
        i = len(self.now.draws)
        if i >= len(self.before.draws) or self.before.draws[i].kind != kind:
            raise Diverged
        return self.before.draws[i]

    @contextmanager
    def within_a_draw(self) -> Iterator[None]:
        self.busy = True
        try:
            yield
        finally:
            self.busy = False

    def noise(
        self, scale: Fraction | int, gaussian: bool, d: int, bits: Any, draw: Callable[[], list[int]]
    ) -> list[Noise]:
        """Noise that learns what it is added to."""
        kind = "Gaussian noise" if gaussian else "noise"
        law = NoiseLaw(Fraction(scale), gaussian, [None] * d)
        before = None if self.before is None else self._forced(kind).output
        output: list[Any] = [None] * d if before is None else before
        self.now.draws.append(Draw(kind, (d, law.scale), law, getattr(bits, "key", None), output))
        return [Noise(law, output, j, z) for j, z in enumerate(draw() if before is None else [None] * d)]


class Noise:
    """One coordinate of noise. All that can be done with it is to add it to an exact number, once."""

    __array_ufunc__ = None  # numpy's numbers leave the addition to us

    def __init__(self, law: NoiseLaw, output: list[Any], place: int, drawn: int | None) -> None:
        self._law, self._output, self._place, self._drawn = law, output, place, drawn

    def __radd__(self, centre: Any) -> Any:
        if not isinstance(centre, Rational) or self._law.centres[self._place] is not None:
            raise Diverged
        self._law.centres[self._place] = centre
        if self._drawn is not None:
            self._output[self._place] = self._drawn + centre
        return self._output[self._place]

    __add__ = __radd__
