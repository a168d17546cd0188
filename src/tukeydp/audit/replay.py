"""Replay of whole public calls: every secret draw recorded, and forced on a neighbour of the table."""

from __future__ import annotations

import hashlib
import importlib.util
import itertools
import math
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from fractions import Fraction
from numbers import Rational
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

import tukeydp as td
from tukeydp.audit.forced_samplers import forced
from tukeydp.data.files import read_file
from tukeydp.depth import choice
from tukeydp.depth.notions import InBlocks
from tukeydp.mechanisms.mean_of_secret_size import rem_blocks
from tukeydp.paper import algorithm3 as algorithm3
from tukeydp.results.release import Release
from tukeydp.trusted import bits as randomness
from tukeydp.trusted import clipped_sums, ranks, steps
from tukeydp.trusted.account import ApproxDP, Guarantee
from tukeydp.trusted.bits import Keystream, derived_key
from tukeydp.trusted.laws import cube_noise, discrete_gaussian, discrete_laplace
from tukeydp.trusted.parameters import FloatArray, IntArray
from tukeydp.trusted.ranks import RankLaw, RoundNumbers
from tukeydp.trusted.rem.evidence import Evidence
from tukeydp.trusted.rem.safety import SafetyTest, passes, tail
from tukeydp.trusted.sampling.draws import DepthSampler
from tukeydp.trusted.streams.streamed_levels import StreamedLevels

# What secret draws are drawn from, and how far the law on one table is from that on a neighbour of it.
#
# `loss` bounds ln Pr[output | x] / Pr[output | x'] over every output and in both directions, in rationals. Where all
# outputs can be listed, `exact` is the largest such ratio itself, in floats: never above the loss. Both are worked out
# here by definition, from the numbers that a draw was given.

# Grid points times directions up to which all points are listed: some tenths of a second.
_LISTED = 3_000_000
_ROUNDING = 1e-9  # of logarithms in floats


class Loss(NamedTuple):
    """What a draw may tell two tables apart by.

    Attributes
    ----------
    pure
        Largest log ratio; 0 where there is none, as for Gaussian noise.
    rho
        The same as concentrated differential privacy, where the draw has any.
    squares
        Of Gaussian noise: the squared distance of the two centres, in standard deviations.
    """

    pure: Fraction = Fraction(0)
    rho: Fraction = Fraction(0)
    squares: Fraction = Fraction(0)

    def __add__(self, other: Loss) -> Loss:  # type: ignore[override]
        return Loss(*(a + b for a, b in zip(self, other, strict=True)))

    def or_more(self, other: Loss) -> Loss:
        return Loss(*(max(a, b) for a, b in zip(self, other, strict=True)))


def of_range(spanned: Fraction) -> Loss:
    """Of an exponential mechanism whose log weights differ by numbers that span so much (composition.md, section 1)."""
    return Loss(spanned, spanned**2 / 8)


def of_scores(weight: Fraction, moved: IntArray) -> Loss:
    """Of scores that moved so far: either way by the most, since the largest score of another pair may do so."""
    return of_range(2 * weight * int(np.abs(moved).max(initial=0)))


def of_noise(distance: Fraction) -> Loss:
    """Of noise whose centres are so many scales apart."""
    return Loss(distance, distance**2 / 2)


@dataclass(eq=False)
class NoiseLaw:
    """Integers around `centres`, of law e^(-max |z| / scale), or e^(-z^2 / (2 scale^2)) where it is Gaussian.

    Centres become known when the noise is added to something.
    """

    scale: Fraction
    gaussian: bool
    centres: list[Any]

    def loss(self, other: NoiseLaw) -> Loss:
        away = [abs(Fraction(a) - Fraction(b)) for a, b in zip(self.centres, other.centres, strict=True)]
        if not self.gaussian:
            return of_noise(max(away) / self.scale)
        squares = sum((a**2 for a in away), Fraction(0)) / self.scale**2
        return Loss(rho=squares / 2, squares=squares)

    def exact(self, other: NoiseLaw) -> float | None:
        return None


class Cells(NamedTuple):
    """Outputs in cells of equal score: how many, and both scores."""

    sizes: FloatArray
    ours: IntArray
    theirs: IntArray


@dataclass(frozen=True, eq=False)
class DepthLaw:
    """Grid points from `low` to `high` of depth at least `lowest`, by e^(weight depth).

    `directions` are those that count; None where all do, and `depth` then says how deep a point is.
    """

    rows: IntArray
    directions: IntArray | None
    low: tuple[int, ...]
    high: tuple[int, ...]
    weight: Fraction
    lowest: int
    depth: Callable[[Sequence[int]], int] = field(repr=False)

    def loss(self, other: DepthLaw) -> Loss:
        """A row that goes lowers depths by at most 1, one that comes raises them by at most 1."""
        return of_range(self.weight * sum(self.changed(other)))

    def changed(self, other: DepthLaw) -> tuple[int, int]:
        """How many rows go, and how many come."""
        ours, theirs = (Counter(map(tuple, law.rows.tolist())) for law in (self, other))
        return (ours - theirs).total(), (theirs - ours).total()

    def exact(self, other: DepthLaw) -> float | None:
        """Not above a level: there the two laws may have different points."""
        cells = None if self.lowest else self.cells(other)
        return None if cells is None else _largest_ratio(cells, float(self.weight))

    def cells(self, other: DepthLaw) -> Cells | None:
        """All points that may have a depth of `lowest`, by both depths; None if they are too many."""
        listed = self._points(other)
        if listed is None:
            return None
        points, sizes = listed
        return Cells(sizes, self._depths(points), other._depths(points))

    def _points(self, other: DepthLaw) -> tuple[IntArray, FloatArray] | None:
        rows = np.concatenate([self.rows, other.rows])
        low, high = list(self.low), list(self.high)
        if self.lowest and not len(rows):
            return np.empty((0, self.d), dtype=np.int64), np.empty(0)
        if self.lowest and self._holds_axes:
            low = [max(a, int(b)) for a, b in zip(low, rows.min(axis=0), strict=True)]
            high = [min(a, int(b)) for a, b in zip(high, rows.max(axis=0), strict=True)]
        if len(low) == 1:
            return _on_a_line(rows[:, 0], low[0], high[0])
        count = math.prod(b - a + 1 for a, b in zip(low, high, strict=True))
        if count * (1 + len(rows) if self.directions is None else len(self.directions)) > _LISTED:
            return None
        ranges = [np.arange(a, b + 1) for a, b in zip(low, high, strict=True)]
        points = np.stack(np.meshgrid(*ranges, indexing="ij"), axis=-1).reshape(-1, len(low))
        return points, np.ones(len(points))

    @property
    def _holds_axes(self) -> bool:
        """Then a point beyond all rows has depth 0."""
        if self.directions is None:
            return True
        return all((np.abs(self.directions[:, j]) == np.abs(self.directions).sum(axis=1)).any() for j in range(self.d))

    @property
    def d(self) -> int:
        return len(self.low)

    def _depths(self, points: IntArray) -> IntArray:
        if self.directions is None:
            return np.array([self.depth(y) for y in points.tolist()], dtype=np.int64)
        found = np.full(len(points), len(self.rows), dtype=np.int64)
        for v in self.directions:
            at, of_rows = points @ v, np.sort(self.rows @ v)
            up_to = np.searchsorted(of_rows, at, side="right")
            from_there = len(of_rows) - np.searchsorted(of_rows, at, side="left")
            found = np.minimum(found, np.minimum(up_to, from_there))
        return found


@dataclass(frozen=True, eq=False)
class LawOfRanks:
    """Integers from `low` to `high` by what `points` weigh and e^(-weight distance), that from the rank `share`."""

    values: IntArray
    low: int
    high: int
    share: Fraction
    weight: Fraction
    points: RoundNumbers

    def loss(self, other: LawOfRanks) -> Loss:
        cells, unit = self._cells(other), self.weight / self.share.denominator
        return of_scores(unit, cells.ours - cells.theirs)

    def exact(self, other: LawOfRanks) -> float:
        return _largest_ratio(self._cells(other), -float(self.weight / self.share.denominator))

    def _cells(self, other: LawOfRanks) -> Cells:
        points, _ = _on_a_line(np.concatenate([self.values, other.values]), self.low, self.high)
        places = np.sort(points[:, 0])  # of each stretch between two values the first, and each value
        ends = np.append(places[1:] - 1, self.high)
        sizes = [float(self.points.weight(*pair)) for pair in zip(places.tolist(), ends.tolist(), strict=True)]
        return Cells(np.array(sizes), self._distances(places), other._distances(places))

    def _distances(self, points: IntArray) -> IntArray:
        """In units of one over the share's denominator."""
        t, values = self.share.denominator, np.sort(self.values)
        wanted = self.share.numerator * len(values)
        up_to, below = (t * np.searchsorted(values, points, side=side) for side in ("right", "left"))
        return np.maximum(0, np.maximum(wanted - up_to, below - wanted))


@dataclass(frozen=True, eq=False)
class RadiiLaw:
    """A radius for each column, by `weights` and e^(-weight x the most rows `beyond` it in any column)."""

    beyond: IntArray
    weight: Fraction
    weights: tuple[int, ...]

    def loss(self, other: RadiiLaw) -> Loss:
        cells = self._cells(other)
        return of_scores(self.weight, cells.ours - cells.theirs)

    def exact(self, other: RadiiLaw) -> float:
        return _largest_ratio(self._cells(other), -float(self.weight))

    def _cells(self, other: RadiiLaw) -> Cells:
        sizes = [math.prod(chosen) for chosen in itertools.product(self.weights, repeat=len(self.beyond))]
        ours, theirs = (
            np.array([max(rows) for rows in itertools.product(*law.beyond.tolist())]) for law in (self, other)
        )
        return Cells(np.array(sizes, dtype=np.float64), ours, theirs)


@dataclass(frozen=True, eq=False)
class LadderLaw:
    """A place for each column, by `weights` and e^(-weight x the most records `beyond` it in any column)."""

    beyond: list[IntArray]
    weight: Fraction
    weights: list[Sequence[int]]

    def loss(self, other: LadderLaw) -> Loss:
        """The most over columns moves by at least the least, and at most the most, that a column's counts move by."""
        moved = np.concatenate([ours - theirs for ours, theirs in zip(self.beyond, other.beyond, strict=True)])
        return of_range(self.weight * int(moved.max() - moved.min()))

    def exact(self, other: LadderLaw) -> float | None:
        if math.prod(map(len, self.beyond)) > _LISTED:
            return None
        sizes = _combined([np.array(weights, dtype=np.float64) for weights in self.weights], np.multiply.outer)
        ours, theirs = (_combined(law.beyond, np.maximum.outer) for law in (self, other))
        return _largest_ratio(Cells(sizes, ours, theirs), -float(self.weight))


def _combined(columns: Sequence[Any], outer: Any) -> Any:
    """Of every choice of one entry of each."""
    found = columns[0]
    for column in columns[1:]:
        found = outer(found, column)
    return found.reshape(-1)


@dataclass(frozen=True, eq=False)
class CoinLaw:
    """A release, rather than a refusal, with a chance between `low` and `high`; `plan` is that of REM's test."""

    low: float
    high: float
    plan: Any = None

    def loss(self, other: CoinLaw) -> Loss:
        """Counted with the draw that follows, as a delta: `excess.py`."""
        return Loss()

    def exact(self, other: CoinLaw) -> None:
        return None


@dataclass(frozen=True, eq=False)
class ListedLaw:
    """Outputs by their probabilities."""

    chances: FloatArray

    def loss(self, other: ListedLaw) -> Loss:
        """Counted as a delta: `excess.py`."""
        return Loss()

    def exact(self, other: ListedLaw) -> None:
        return None


def _largest_ratio(cells: Cells, weight: float) -> float:
    """Of probabilities proportional to e^(weight score), either way."""
    logs = [np.asarray(weight * scores + np.log(cells.sizes)) for scores in (cells.ours, cells.theirs)]
    ours, theirs = (one - _log_sum(one) for one in logs)
    return float(np.abs(ours - theirs).max(initial=0.0))


def _log_sum(logs: FloatArray) -> float:
    most = float(logs.max(initial=-np.inf))
    return most + math.log(float(np.exp(logs - most).sum()))


def _on_a_line(values: IntArray, low: int, high: int) -> tuple[IntArray, FloatArray]:
    """Points that stand for all integers from low to high: each value, and one for each gap between two."""
    inside = np.unique(np.concatenate([[low, high], values[(values >= low) & (values <= high)]]).astype(np.int64))
    gaps = np.diff(inside) - 1
    between = inside[:-1][gaps > 0] + 1
    points = np.concatenate([inside, between])
    sizes = np.concatenate([np.ones(len(inside)), gaps[gaps > 0].astype(np.float64)])
    return points[:, np.newaxis], sizes


# Hockey-stick divergences: the delta that two laws need at an epsilon (`laws.py` has those that need none).


def of_a_test(
    coins: tuple[CoinLaw, CoinLaw], draws: tuple[DepthLaw, DepthLaw], epsilon: float
) -> tuple[float, float] | None:
    """Of a coin and the draw after it, either way; None if there are too many outputs to list."""
    cells = draws[0].cells(draws[1])
    if cells is None:
        return None
    found = []
    for depths, law in zip((cells.ours, cells.theirs), draws, strict=True):
        with np.errstate(divide="ignore"):
            logs = np.where(depths >= law.lowest, float(law.weight) * depths, -np.inf) + np.log(cells.sizes)
        most = logs.max(initial=-np.inf)
        drawn = np.exp(logs - most) if np.isfinite(most) else np.zeros(len(logs))
        found.append(drawn / max(drawn.sum(), 1e-300))
    return after_a_coin(coins, (found[0], found[1]), epsilon)


def of_a_group(delta: Fraction, epsilon: Fraction, steps: int) -> float:
    """Of so many steps from table to table, each (epsilon, delta)-DP."""
    return float(delta) * sum(math.exp(i * float(epsilon)) for i in range(steps))


def after_a_coin(
    coins: tuple[CoinLaw, CoinLaw], drawn: tuple[FloatArray, FloatArray], epsilon: float
) -> tuple[float, float]:
    """The same where the probabilities of all outputs after the coin are given."""
    laws = [coin.high * chances for coin, chances in zip(coins, drawn, strict=True)]
    return _both_ways(laws, [1.0 - coin.low for coin in coins], epsilon)


def of_listed(ours: ListedLaw, theirs: ListedLaw, epsilon: float) -> tuple[float, float]:
    return _both_ways([ours.chances, theirs.chances], [0.0, 0.0], epsilon)


def of_gaussian(squares: Fraction, epsilon: float) -> float:
    """delta of Gaussian noise between centres sqrt(squares) standard deviations apart (Balle and Wang 2018)."""
    from scipy.special import log_ndtr, ndtr

    if not squares:
        return 0.0
    m = 1.0 / math.sqrt(squares)
    second = math.exp(min(700.0, epsilon + float(log_ndtr(-1.0 / (2.0 * m) - epsilon * m))))
    return float(ndtr(1.0 / (2.0 * m) - epsilon * m)) - second


def _both_ways(laws: Sequence[FloatArray], refused: Sequence[float], epsilon: float) -> tuple[float, float]:
    growth = math.exp(min(epsilon, 700.0))

    def one(i: int) -> float:
        above = np.maximum(0.0, laws[i] - growth * laws[1 - i]).sum()
        return float(above) + max(0.0, refused[i] - growth * refused[1 - i])

    return one(0), one(1)


# What a run of a public call has drawn, paid and returned, and the same on a neighbour with its draws forced.
#
# On the first table draws come out as they do; on a neighbour as was recorded, and it is noted what they would have
# been drawn from. `adapters.py` puts this in the place of everything that draws.


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
    words
        What dealings, coins and ties were made of, by key and lane.
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


# One adapter for each primitive that draws something secret: a core in which all go through one place needs one.
#
# Keys come from a stand-in of the operating system's source, so that a table and its neighbours have the same ones, and
# where each key comes from is known.

_CHANCE_BITS = 96  # of REM's chances, with everything measured: far more than floats tell


@contextmanager
def recording(seed: int) -> Iterator[Recorder]:
    """Everything that draws is recorded for a while. Equal seeds give equal keys."""
    recorder = Recorder(seed)
    with forced(*_adapters(recorder)):
        yield recorder


def _adapters(recorder: Recorder) -> list[tuple[Any, str, Any]]:
    """Everything that draws, and where keys come from."""
    functions = {
        derived_key: _derived(recorder),
        cube_noise: _cube(recorder),
        discrete_laplace: _laplace(recorder),
        discrete_gaussian: _gaussian(recorder),
        clipped_sums.drawn_by_weight: _radii(recorder),
        steps.drawn_places: _places(recorder),
        ranks.draw_together: _each_by_itself,
        passes: _coin(recorder),
    }
    methods = (_source, _streams, _depth, _ranks, _algorithm3)
    return [*_everywhere(functions), *(change for adapter in methods for change in adapter(recorder))]


def _everywhere(stand_ins: Mapping[Any, Any]) -> list[tuple[Any, str, Any]]:
    """Every name that the package knows these under, but for the exact draws themselves and this audit."""
    by_id = {id(original): stand_in for original, stand_in in stand_ins.items()}
    modules = [
        module
        for name, module in list(sys.modules.items())
        if name.startswith("tukeydp.") and not name.startswith(("tukeydp.exact", "tukeydp.audit"))
    ]
    return [
        (module, name, by_id[id(value)])
        for module in modules
        for name, value in vars(module).items()
        if id(value) in by_id
    ]


def _source(recorder: Recorder) -> list[tuple[Any, str, Any]]:
    """The operating system's."""

    def urandom(count: int) -> bytes:
        key = hashlib.sha256(f"replay {recorder.seed} {len(recorder.now.given)}".encode()).digest()
        recorder.now.given.append(key)
        return key

    return [(randomness, "os", SimpleNamespace(urandom=urandom))]


def _derived(recorder: Recorder) -> Any:
    def derived(*parts: object) -> bytes:
        key = derived_key(*parts)
        recorder.now.parents[key] = tuple(part for part in parts if isinstance(part, bytes))
        return key

    return derived


def _streams(recorder: Recorder) -> list[tuple[Any, str, Any]]:
    made, words, bits = Keystream.__init__, Keystream.words, Keystream.bits

    def opened(self: Any, key: bytes) -> None:
        made(self, key)
        self.key = key
        by = sys._getframe(1)
        # Directions and rotations are published, and hang on no cell.
        readers = ("tukeydp.depth", "tukeydp.trusted.directions")
        self.public = by.f_globals["__name__"].startswith(readers) or by.f_code.co_name == "rotation"
        if not recorder.busy:
            recorder.now.opened.append((key, self.public))

    def read(self: Any, lane: int, count: int) -> Any:
        found = words(self, lane, count)
        if recorder.busy or self.public:
            return found
        if recorder.before is not None and recorder.removed is not None:
            found = _without(recorder.before.words.get((self.key, lane)), found, *recorder.removed)
        recorder.now.words[self.key, lane] = found
        return found

    def marked(self: Any, lane: int) -> Any:
        found: Any = bits(self, lane)
        found.key = self.key
        return found

    return [(Keystream, "__init__", opened), (Keystream, "words", read), (Keystream, "bits", marked)]


def _without(before: Any, found: Any, row: int, n: int) -> Any:
    """The words that rows had before, but for those of the row that is gone: all are independent of each other."""
    if before is None or len(before) % n or len(found) != len(before) // n * (n - 1):
        return found
    return np.delete(before.reshape(n, -1), row, axis=0).reshape(-1)


def _depth(recorder: Recorder) -> list[tuple[Any, str, Any]]:
    make, draw = DepthSampler.__init__, DepthSampler.draw

    def made(self: Any, depth: Any, *, within: Any, epsilon: Fraction, lowest: int = 0, threads: Any = None) -> None:
        every = depth.decide is not None
        rows = _rows_of(depth.levels)
        directions = None if every else depth.levels.directions
        self.recorded = DepthLaw(rows, directions, within.low, within.high, epsilon / 2, lowest, depth.depth)
        if recorder.before is None:
            with recorder.within_a_draw():
                make(self, depth, within=within, epsilon=epsilon, lowest=lowest, threads=threads)

    def drawn(self: Any, key: bytes) -> Any:
        law = self.recorded
        directions = None if law.directions is None else law.directions.tobytes()

        def one() -> Any:
            with recorder.within_a_draw():
                return draw(self, key)

        return recorder.drawn("depth", (directions, law.low, law.high, law.weight, law.lowest), law, key, one)

    return [(DepthSampler, "__init__", made), (DepthSampler, "draw", drawn)]


def _rows_of(levels: Any) -> IntArray:
    if isinstance(levels, StreamedLevels):
        return np.concatenate(list(levels._passes._rows.blocks()))
    return np.asarray(levels.table)


def _ranks(recorder: Recorder) -> list[tuple[Any, str, Any]]:
    draw = RankLaw.draw

    def drawn(self: Any, bits: Any) -> Any:
        values = self.values.at(np.arange(len(self.values)))
        law = LawOfRanks(values, self.low, self.high, self.share, self.weight, self.points)
        public = (self.low, self.high, self.share, self.weight, self.points)
        return recorder.drawn("rank", public, law, getattr(bits, "key", None), lambda: draw(self, bits))

    return [(RankLaw, "draw", drawn)]


def _each_by_itself(laws: Sequence[RankLaw], bits: Sequence[Any], values: Any) -> list[int]:
    """Draws that share their passes, one after the other: each is recorded."""
    return [law.draw(own) for law, own in zip(laws, bits, strict=True)]


def _cube(recorder: Recorder) -> Any:
    def noise(d: int, scale: Fraction, bits: Any) -> list[Noise]:
        return recorder.noise(scale, False, d, bits, lambda: cube_noise(d, scale, bits))

    return noise


def _laplace(recorder: Recorder) -> Any:
    def noise(scale: Fraction | int, bits: Any) -> Noise:
        return recorder.noise(scale, False, 1, bits, lambda: [discrete_laplace(scale, bits)])[0]

    return noise


def _gaussian(recorder: Recorder) -> Any:
    def noise(deviation: int, bits: Any) -> Noise:
        return recorder.noise(deviation, True, 1, bits, lambda: [discrete_gaussian(deviation, bits)])[0]

    return noise


def _radii(recorder: Recorder) -> Any:
    original = clipped_sums.drawn_by_weight

    def radii(beyond: IntArray, weight: Fraction, bits: Any) -> Any:
        law = RadiiLaw(beyond, weight, clipped_sums.WEIGHTS)
        key = getattr(bits, "key", None)
        return recorder.drawn("radii", (beyond.shape, weight), law, key, lambda: original(beyond, weight, bits))

    return radii


def _places(recorder: Recorder) -> Any:
    original = steps.drawn_places

    def places(beyond: Sequence[IntArray], weights: Sequence[Sequence[int]], kappa: Fraction, bits: Any) -> Any:
        law = LadderLaw([np.asarray(counts) for counts in beyond], kappa, list(weights))
        public = tuple(tuple(column) for column in weights), kappa
        key = getattr(bits, "key", None)
        return recorder.drawn("places", public, law, key, lambda: original(beyond, weights, kappa, bits))

    return places


def _coin(recorder: Recorder) -> Any:
    def decided(test: SafetyTest, evidence: Evidence, coin: Any) -> bool:
        low, high = chance(test, evidence)
        plan = evidence.plan
        law = CoinLaw(low, high, plan)
        key = getattr(coin, "key", None)
        return bool(recorder.drawn("coin", (test.name, plan), law, key, lambda: not evidence.empty))

    return decided


def chance(test: SafetyTest, evidence: Evidence) -> tuple[float, float]:
    """Of a release by REM's test, with everything measured."""
    if evidence.empty:
        return 0.0, 0.0
    while True:
        found = test.chance(evidence, _CHANCE_BITS)
        if found.doubtful is None or not evidence.refine(found.doubtful):
            return float(found.low), float(found.high)


def _algorithm3(recorder: Recorder) -> list[tuple[Any, str, Any]]:
    """A test by noise, and a draw by estimated sizes: both given the estimates, whose secret points stay the same."""
    draw = algorithm3._Run.draw
    reaches = algorithm3.noise_reaches

    def decided(least: int, epsilon: Fraction, bits: Any) -> bool:
        low, high = (float(v) for v in tail(epsilon, least, _CHANCE_BITS))
        law = CoinLaw(low, high)
        return bool(recorder.drawn("coin", (epsilon,), law, bits.key, lambda: reaches(least, epsilon, bits) or low > 0))

    def drawn(self: Any, sampler: Any, lowest: int, epsilon: Fraction) -> Any:
        law = ListedLaw(_chances(self.sets, self.sizes, lowest, epsilon))

        def one() -> Any:
            with recorder.within_a_draw():
                return draw(self, sampler, lowest, epsilon).point

        point = recorder.drawn("estimated depth", (lowest, epsilon), law, derived_key("level draw", self.key), one)
        return Release(point=point, **self.public)

    return [(algorithm3._Run, "draw", drawn), (algorithm3, "noise_reaches", decided)]


def _chances(sets: Any, sizes: list[Fraction], lowest: int, epsilon: Fraction) -> Any:
    """Of every grid point: levels by their estimated sizes, points of the padded levels uniformly."""
    ranges = [np.arange(a, b + 1) for a, b in zip(sets.grid.low, sets.grid.high, strict=True)]
    points = np.stack(np.meshgrid(*ranges, indexing="ij"), axis=-1).reshape(-1, sets.d)
    deep, along_axes = (np.array(levels.depths(points)) for levels in (sets.levels, sets.axes))
    q, padding = float(epsilon) / 2, float(sets.padding)
    found, total = np.zeros(len(points)), 0.0
    for level in range(lowest, len(sizes)):
        weight = np.exp(q * level) - (np.exp(q * (level - 1)) if level > lowest else 0.0)
        inside = (deep >= level) + padding * (along_axes >= level)
        if inside.sum():
            found += float(sizes[level]) * weight * inside / inside.sum()
            total += float(sizes[level]) * weight
    return found / total


# Tables and their neighbours, hostile ones first: what `called.py` runs public calls on.
#
# Tables by groups or persons have keys or ids in their last column.

FAR = 1e9
_OF_A_PERSON = 3  # rows


@dataclass(frozen=True, eq=False)
class Neighbour:
    """A table that differs in one row, or person. `removed`: which of how many rows is gone."""

    name: str
    y: FloatArray
    removed: tuple[int, int] | None = None


@dataclass(frozen=True, eq=False)
class Family:
    """A table and neighbours of it.

    `in_steps`: the draws on it are one step after the other, so that each may meet the neighbour that is worst for it.
    Not so for groups: what one of them loses where a row leaves it, another cannot lose to another neighbour besides.
    `quick`: also in a quick run.
    """

    name: str
    x: FloatArray
    neighbours: tuple[Neighbour, ...]
    in_steps: bool = True
    quick: bool = True


Families = Callable[[np.random.Generator], list[Family]]


def rows_of(random: np.random.Generator, n: int, d: int) -> FloatArray:
    """Rows around 0, a tenth of their cells missing."""
    x = random.normal(size=(n, d))
    x[random.random(x.shape) < 0.1] = np.nan
    return x


def swapped(n: int, d: int = 2, scale: float = 1.0, far: float = FAR) -> Families:
    """One row is another: far out, missing, infinite; also in tables of ties, of one value, of nothing."""

    def families(random: np.random.Generator) -> list[Family]:
        ends = far * (-1.0) ** np.arange(d)
        infinite = np.full(d, np.inf if far == FAR else far)
        missing, middle = np.full(d, np.nan), np.zeros(d)
        tied = scale * random.integers(0, 3, size=(n, d)).astype(np.float64)
        others = {
            "at the other end": ends,
            "missing": missing,
            "partly missing": np.where(np.arange(d) % 2, np.nan, far),
            "infinite": infinite,
            "in the middle": middle,
            "any other": scale * random.normal(size=d),
        }
        x = scale * rows_of(random, n, d)
        rest = {"at the other end": ends, "missing": missing}
        return [
            _family(random, "a far row", x, -ends, others),
            _family(random, "one row alone", np.full((n, d), np.nan), middle + scale, rest),
            replace(_family(random, "ties", tied, middle, {"at the other end": middle + 2.0 * scale}), quick=False),
            replace(_family(random, "rows all equal", np.full((n, d), scale), middle + scale, rest), quick=False),
        ]

    return families


def _family(
    random: np.random.Generator, name: str, x: FloatArray, row: Any, others: dict[str, Any], in_steps: bool = True
) -> Family:
    """One row of x, and others in its place."""
    x, place = x.copy(), int(random.integers(len(x)))
    x[place] = row
    return Family(name, x, tuple(Neighbour(other, _with(x, place, value)) for other, value in others.items()), in_steps)


def _with(x: FloatArray, place: int, row: Any) -> FloatArray:
    y = x.copy()
    y[place] = row
    return y


def one_less(n: int, d: int = 2, scale: float = 1.0) -> Families:
    """One row is not there: far out, missing, one of many equal ones, or the only one."""

    def families(random: np.random.Generator) -> list[Family]:
        x = scale * rows_of(random, n, d)
        ends = FAR * (-1.0) ** np.arange(d)
        gone = {
            "a far row less": ends,
            "a missing row less": np.full(d, np.nan),
            "a row less that is partly missing": np.where(np.arange(d) % 2, np.nan, FAR),
            "any row less": scale * random.normal(size=d),
        }
        places = random.choice(n, len(gone), replace=False).tolist()
        x[places] = np.array(list(gone.values()))
        equal = np.full((n, d), scale)
        return [
            Family("rows", x, tuple(_without_row(name, x, i) for name, i in zip(gone, places, strict=True))),
            Family("rows all equal", equal, (_without_row("one less", equal, n // 2),)),
            Family("one row alone", equal[:1], (_without_row("no row left", equal[:1], 0),)),
        ]

    return families


def _without_row(name: str, x: FloatArray, place: int) -> Neighbour:
    return Neighbour(name, np.delete(x, place, axis=0), (place, len(x)))


def moved(n: int, d: int = 2) -> Families:
    """The last column is the group, 0, 1, or one that is not asked for."""

    def families(random: np.random.Generator) -> list[Family]:
        ends = (FAR * (-1.0) ** np.arange(d)).tolist()
        other_ends, missing, middle = [-v for v in ends], [np.nan] * d, [0.0] * d
        x = np.column_stack([rows_of(random, n, d), random.integers(0, 3, n)])
        few = np.column_stack([rows_of(random, n, d), np.zeros(n)])
        away = {"in another group": [*other_ends, 1], "in no group": [*ends, 2], "missing": [*missing, 0]}
        within = {"at the other end": [*other_ends, 0], "missing": [*missing, 0], "in the middle": [*middle, 0]}
        return [
            _family(random, "a row of a group", x, [*ends, 0], away, False),
            _family(random, "a row that stays in its group", x, [*ends, 0], within),
            _family(random, "the only row of a group", few, [*ends, 1], {"in another": [*ends, 0]}, False),
        ]

    return families


def moved_less(n: int, d: int = 2) -> Families:
    """The same, and one row is not there: of a group, of none, or the only one of its group."""

    def families(random: np.random.Generator) -> list[Family]:
        ends = (FAR * (-1.0) ** np.arange(d)).tolist()
        x = np.column_stack([rows_of(random, n, d), random.integers(0, 3, n)])
        gone = {
            "a far row less": [*ends, 0],
            "a missing row less": [*[np.nan] * d, 0],
            "a row of no group less": [*ends, 2],
            "a row of another group less": [*ends, 1],
        }
        places = random.choice(n, len(gone), replace=False).tolist()
        x[places] = np.array(list(gone.values()))
        less = [_without_row(name, x, i) for name, i in zip(gone, places, strict=True)]
        few = np.array([[*ends, 1.0]])
        return [
            Family("rows of one group", x, tuple(less[:3])),
            Family("a row of another group", x, tuple(less[3:])),
            Family("one row alone", few, (_without_row("no row left", few, 0),)),
        ]

    return families


def one_less_of_groups(n: int, d: int = 2, scale: float = 1.0) -> Families:
    """As `one_less`; the last column is the group."""

    def families(random: np.random.Generator) -> list[Family]:
        ends = (FAR * (-1.0) ** np.arange(d)).tolist()
        x = np.column_stack([scale * rows_of(random, n, d), random.integers(0, 3, n)])
        gone = {
            "a far row less": [*ends, 0],
            "a row less that is missing": [*([np.nan] * d), 1],
            "no group": [*ends, 2],
        }
        places = random.choice(n, len(gone), replace=False).tolist()
        x[places] = np.array(list(gone.values()))
        alone = np.array([[*([scale] * d), 1.0]])
        pairs = zip(gone, places, strict=True)  # each moves the draws of one group: the worst of each do not add up
        return [
            Family("rows of groups", x, tuple(_without_row(name, x, i) for name, i in pairs), in_steps=False),
            Family("one row alone", alone, (_without_row("no row left", alone, 0),)),
        ]

    return families


def person_of_a_group(n: int, d: int = 2, less: bool = False) -> Families:
    """The last columns are a key and an id: somebody has other rows, in another group, in none, or in several."""

    def families(random: np.random.Generator) -> list[Family]:
        persons = np.arange(n) // _OF_A_PERSON
        x = np.column_stack([rows_of(random, n, d), random.integers(0, 3, n)[persons], persons])
        mine = x[:, -1] == int(random.integers(n // _OF_A_PERSON))
        ends = (FAR * (-1.0) ** np.arange(d)).tolist()
        x[mine, :-1] = [*[-v for v in ends], 0]
        others = {
            "in another group": [[*ends, 1]] * 40,
            "in no group": [[*ends, 2]],
            "in two groups": [[*ends, 0], [*ends, 1]],
            "no value": [[*[np.nan] * d, 0]],
        }
        neighbours = [Neighbour(name, _of_person(x, mine, np.array(rows))) for name, rows in others.items()]
        gone = int(np.flatnonzero(mine)[0]) // _OF_A_PERSON
        if less:
            neighbours = [Neighbour("not there", x[~mine], (gone, n // _OF_A_PERSON))]
        return [Family("a person far out", x, tuple(neighbours), in_steps=False)]

    return families


def another_person(n: int, d: int = 2, scale: float = 1.0) -> Families:
    """The last column is an id: somebody has other rows, and more or fewer of them."""

    def families(random: np.random.Generator) -> list[Family]:
        x = np.column_stack([scale * rows_of(random, n, d), np.arange(n) // _OF_A_PERSON])
        person = int(random.integers(n // _OF_A_PERSON))
        mine = x[:, -1] == person
        ends = FAR * (-1.0) ** np.arange(d)
        x[mine, :-1] = -ends
        neighbours = [
            Neighbour("forty rows at the other end", _of_person(x, mine, np.tile(ends, (40, 1)))),
            Neighbour("no value", _of_person(x, mine, np.full((1, d), np.nan))),
            Neighbour("one row in the middle", _of_person(x, mine, np.zeros((1, d)))),
        ]
        return [Family("a person far out", x, tuple(neighbours))]

    return families


def _of_person(x: FloatArray, mine: Any, rows: FloatArray) -> FloatArray:
    """The first in the place of their first row, since persons are numbered as they appear; the others at the end."""
    come = np.column_stack([rows, np.full(len(rows), x[mine][0, -1])])
    first = int(np.flatnonzero(mine)[0])
    return np.concatenate([x[:first], come[:1], x[first:][~mine[first:]], come[1:]])


# Public calls, and tables for each: what `checks/whole_calls.py` replays. A new call is a line in `CALLS`.

EPSILON = Fraction(7, 5)
_TEXT_BEYOND = 1e6  # what lies so far out is a text in frames


@dataclass(frozen=True)
class Whole:
    """A call of a table and an accountant, tables for it, and what its guarantee must say.

    `charged` is False where no accountant is given.
    """

    call: Callable[[FloatArray, Any], Any]
    families: Families
    neighbours: str = "swap"
    epsilon: Fraction = EPSILON
    charged: bool = True


def _options(accountant: Any, **more: Any) -> dict[str, Any]:
    return {"epsilon": EPSILON, "bounds": (-50, 50), "accountant": accountant, **more}


def _swap(n: int, function: Callable[..., Any], d: int = 2, **more: Any) -> Whole:
    return Whole(lambda x, account: function(x, **_options(account, **more)), swapped(n, d))


def _free(n: int, function: Callable[..., Any], d: int = 1, **more: Any) -> Whole:
    """Without bounds, on a coarse grid, with an epsilon and a delta at which so few rows are released."""
    given = {"epsilon": 8, "delta": "0.01", **more}
    families = swapped(n, d, 5.0, FAR if d == 1 else 20.0)
    return Whole(lambda x, account: function(x, **given, accountant=account), families, epsilon=Fraction(8))


def _less(n: int, function: Callable[..., Any], d: int = 2, **more: Any) -> Whole:
    def call(x: FloatArray, account: Any) -> Any:
        return function(x, **_options(account, neighbours="add-remove", **more))

    return Whole(call, one_less(n, d), "add-remove")


def _less_free(n: int, function: Callable[..., Any], d: int = 1, **more: Any) -> Whole:
    given = {"epsilon": 8, "delta": "0.01", "neighbours": "add-remove", "rows": n, **more}
    return Whole(
        lambda x, account: function(x, **given, accountant=account), one_less(n, d, 5.0), "add-remove", Fraction(8)
    )


def _groups(n: int, function: Callable[..., Any], d: int = 2, **more: Any) -> Whole:
    def call(x: FloatArray, account: Any) -> Any:
        return function(x[:, :-1], **_options(account, by=x[:, -1], keys=[0, 1], **more))

    return Whole(call, moved(n, d))


def _groups_less(n: int, function: Callable[..., Any], d: int = 2, **more: Any) -> Whole:
    def call(x: FloatArray, account: Any) -> Any:
        given = {"by": x[:, -1], "keys": [0, 1], "neighbours": "add-remove", "rows": n, **more}
        return function(x[:, :-1], **_options(account, **given))

    return Whole(call, one_less_of_groups(n, d), "add-remove")


def _persons_of_groups(n: int, function: Callable[..., Any], d: int = 2, less: bool = False, **more: Any) -> Whole:
    def call(x: FloatArray, account: Any) -> Any:
        given = _options(account, by=x[:, -2], keys=[0, 1], person=x[:, -1], **more)
        return function(x[:, :-2], **given, **({"neighbours": "add-remove", "rows": n // _OF_A_PERSON} if less else {}))

    return Whole(call, person_of_a_group(n, d, less), "add-remove-person" if less else "swap-person")


def _groups_free(
    n: int, function: Callable[..., Any], relation: str = "swap", families: Families | None = None, **more: Any
) -> Whole:
    def call(x: FloatArray, account: Any) -> Any:
        given = {"epsilon": 8, "delta": "0.01", "by": x[:, -1], "keys": [0, 1], **more}
        return function(x[:, :-1], **given, accountant=account)

    return Whole(call, families or moved(n, 1), relation, epsilon=Fraction(8))


def _persons(n: int, function: Callable[..., Any], d: int = 2, **more: Any) -> Whole:
    def call(x: FloatArray, account: Any) -> Any:
        return function(x[:, :-1], **_options(account, person=x[:, -1], **more))

    return Whole(call, another_person(n, d), "swap-person")


def _persons_free(n: int, function: Callable[..., Any], **more: Any) -> Whole:
    def call(x: FloatArray, account: Any) -> Any:
        return function(x[:, :-1], person=x[:, -1], epsilon=8, delta="0.01", accountant=account, **more)

    return Whole(call, another_person(n, 1, 5.0), "swap-person", Fraction(8))


def _cells(families: Families, stated: str = "swap", apart: str | None = None, **more: Any) -> Whole:
    """Counts of whole numbers; the last column is `by` or `person` where it is apart."""

    def call(x: FloatArray, account: Any) -> Any:
        rounded = np.round(x)
        last: dict[str, Any] = {} if apart is None else {apart: rounded[:, -1]}
        table = rounded if apart is None else rounded[:, :-1]
        return td.counts(table, epsilon=EPSILON, accountant=account, **last, **more)

    return _at_once(Whole(call, families, stated))  # a row leaves one cell, and comes into another


def _counted(x: Any, bounds: Any, **more: Any) -> Any:
    """Between edges, since rows of lazy frames are not whole numbers."""
    return td.counts(x, edges=[-9, -1, 0, 1, 9], **more)


def _tabled(x: Any, bounds: Any, **more: Any) -> Any:
    """A table whose last column is whole numbers, of which three are categories."""
    last = x.shape[1] - 1
    whole = np.column_stack([x[:, :last], np.round(x[:, last])])
    return td.summary(whole, categories={last: [-1, 0, 1]}, bounds=dict.fromkeys(range(last), bounds), **more)


def _weighed(x: Any, bounds: Any, **more: Any) -> Any:
    """The first column is the weight."""
    ends = dict.fromkeys(range(1, x.shape[1]), bounds)
    return td.summary(x, bounds=ends, weights=0, weight_bounds=(0, 2), **more)


def _noised(function: Callable[..., Any], **more: Any) -> Whole:
    epsilon = Fraction(9, 10)
    given = {"epsilon": epsilon, "delta": "1e-6", "bounds": (-5, 5), **more}
    call = Whole(lambda x, account: function(x, **given, accountant=account), swapped(60), epsilon=epsilon)
    return _at_once(call)  # columns have noise of their own, and a row has one length in all of them


def _estimated(function: Callable[..., Any], **more: Any) -> Whole:
    """Algorithm 3, on a grid whose points can be listed."""
    given = {"epsilon": 1, "delta": "0.01", "bounds": (-5, 5), "resolution": 1, "depth": td.AxisAligned(), **more}
    return Whole(lambda x, account: function(x, **given, accountant=account), swapped(20, 1, 2.0), epsilon=Fraction(1))


def _checked(n: int, function: Callable[..., Any], paid: bool = True, **more: Any) -> Whole:
    """From a text file, as the commands do it: cells that are missing here read as no number there."""

    def call(x: FloatArray, account: Any) -> Any:
        names = [f"c{j}" for j in range(x.shape[1])]
        lines = (",".join("n.m." if np.isnan(v) else repr(float(v)) for v in row) for row in x)
        with TemporaryDirectory() as folder:
            path = Path(folder) / "table.csv"
            path.write_text("\n".join([",".join(names), *lines]) + "\n", encoding="utf-8")
            table = read_file(path, names)
        return function(table, **_options(account if paid else None, **more))

    return Whole(call, swapped(n), charged=paid)


def _without_bounds(x: Any, *, bounds: Any, **given: Any) -> Any:
    return td.rem(x, **given)


def _in_chunks(n: int, **more: Any) -> Whole:
    def call(x: FloatArray, account: Any) -> Any:
        return td.boxem(td.chunks(lambda: np.array_split(x, 3), memory=1), **_options(account, **more))

    return Whole(call, swapped(n))


def _lazy(n: int, function: Callable[..., Any], **more: Any) -> Whole:
    """A lazy frame of polars, read in passes."""

    def call(x: FloatArray, account: Any) -> Any:
        import polars

        frame = polars.LazyFrame({f"c{j}": x[:, j] for j in range(x.shape[1])})
        return function(frame, **_options(account, **more))

    return Whole(call, swapped(n))


def _lazy_groups(n: int, function: Callable[..., Any], **more: Any) -> Whole:
    def call(x: FloatArray, account: Any) -> Any:
        import polars

        columns = {f"c{j}": x[:, j] for j in range(x.shape[1] - 1)}
        frame = polars.LazyFrame({**columns, "group": x[:, -1]})
        return function(frame, **_options(account, by="group", keys=[0, 1], **more))

    return Whole(call, moved(n))


def _at_once(whole: Whole) -> Whole:
    """For draws of which a neighbour moves some or others: the parts of a column between its quantiles."""

    def families(random: np.random.Generator) -> list[Family]:
        return [replace(family, in_steps=False) for family in whole.families(random)]

    return replace(whole, families=families)


def _as_if_large(whole: Whole, rows: int) -> Whole:
    """As if tables of so many rows had fewer directions than smaller ones: their number must not hang on a group's."""

    def call(x: FloatArray, account: Any) -> Any:
        most = (rows - 1) * (td.Spread.usual(x.shape[1] - 1) // 2)
        with forced((choice, "_MOST_PROJECTIONS", most), (choice, "_FEWEST_DIRECTIONS", 1)):
            return whole.call(x, account)

    return Whole(call, whole.families)


def _largest(rows: FloatArray) -> Any:
    return np.nanmax(rows, axis=0)


class _Line:
    """An estimator as in scikit-learn: the largest product of each feature with the target."""

    coef_: FloatArray

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        return {}

    def fit(self, x: FloatArray, y: FloatArray) -> _Line:
        self.coef_ = np.nanmax(x * np.asarray(y)[:, None], axis=0)
        return self


def _restless(rows: FloatArray) -> Any:
    """Takes as many random numbers as the cells ask for: no other block may notice."""
    np.random.random(int(np.nansum(np.abs(rows)) % 7))  # noqa: NPY002
    return np.nansum(rows, axis=0) + np.random.random(rows.shape[1])  # noqa: NPY002


def _pandas(n: int, function: Callable[..., Any], **more: Any) -> Whole:
    """A pandas frame whose columns pandas gives a type by their cells: whole numbers, floats where one is missing, or
    objects where one is a text."""

    def call(x: FloatArray, account: Any) -> Any:
        import pandas

        columns = {f"c{j}": [_as_read(v) for v in x[:, j]] for j in range(x.shape[1])}
        return function(pandas.DataFrame(columns), **_options(account, **more))

    return Whole(call, swapped(n))


def _as_read(value: float) -> Any:
    """What a reader makes of a cell: a whole number, nothing, or a text where it is far away."""
    if np.isnan(value):
        return None
    return "131 mmHg" if abs(value) > _TEXT_BEYOND else int(value)


def _lengths(rows: Any) -> Any:
    """The issue's statistic: how long numbers are as texts, which tells their type."""
    return rows.iloc[:, :1].astype(str).map(len).mean()


def _frame(n: int, **more: Any) -> Whole:
    """A polars frame with a column of texts, each of them in a list that blocks must not see."""

    def call(x: FloatArray, account: Any) -> Any:
        import polars

        texts = [f"{v:.3g}" for v in x[:, 1]]
        frame = polars.DataFrame({"a": x[:, 0], "b": polars.Series(texts, dtype=polars.Enum(sorted(set(texts))))})
        return td.aggregate(frame, _texts_known, **_options(account, **more))

    return Whole(call, swapped(n))


def _texts_known(rows: Any) -> float:
    listed = getattr(rows["b"].dtype, "categories", None)
    return float(rows["b"].n_unique() if listed is None else len(listed))


def _line(n: int, families: Families, neighbours: str = "swap", **more: Any) -> Whole:
    """`by` and `person` stand for the last column."""
    last = [name for name in ("by", "person") if more.pop(name, None)]

    def call(x: FloatArray, account: Any) -> Any:
        told: dict[str, Any] = dict.fromkeys(last, x[:, -1]) | ({"keys": [0, 1]} if "by" in last else {})
        if not neighbours.endswith("-person"):
            told["neighbours"] = neighbours
        return td.regression(x[:, :1], x[:, 1], accountant=account, **more, **told)

    return Whole(call, families, neighbours, epsilon=Fraction(more["epsilon"]))


_JUST_ENOUGH = next(n for n in range(10, 1000) if rem_blocks(n, 1, ApproxDP(Fraction(8), Fraction(1, 100))) is not None)
_SHARES = ([-50, 0], [50, 1])
_ONE_UNKNOWN = {0: (-50, 50), 1: (-50, 50), 2: None}
_ORACLES: dict[str, Any] = {"oracle": td.oracles.BoxCounting(), "sampler": td.oracles.Rejection()}
_FEW: dict[str, Any] = {"categories": [-1, 0, 1]}
_COARSE: dict[str, Any] = {"resolution": 1, "bounds": (-5, 5)}

CALLS: dict[str, Whole] = {
    "boxem": _swap(60, td.boxem),
    "boxem in one column": _swap(60, td.boxem, d=1),
    "boxem on a coarse grid": _swap(30, td.boxem, **_COARSE),
    "boxem, all directions": _swap(9, td.boxem, depth=td.Exact(), **_COARSE),
    "boxem, random directions": _swap(40, td.boxem, depth=td.Random(5), **_COARSE),
    "boxem in blocks of columns": _swap(60, td.boxem, d=4, depth=InBlocks(columns=2)),
    "boxem, certified": _swap(60, td.boxem, certify="0.2"),
    "boxem in chunks": _in_chunks(60),
    "boxem in chunks that are not kept": _in_chunks(3000, depth=td.Spread(8)),
    "rem": _free(40, td.rem),
    "rem in two columns": _free(60, td.rem, d=2, depth=td.AxisAligned(), resolution=1),
    "rem, all directions": _free(14, td.rem, d=2, depth=td.Exact(), resolution=4),
    "rem, plain test": _free(40, td.rem, test="laplace"),
    "rem, the paper's test": _free(60, td.rem, test="paper"),
    "spread": _swap(600, td.spread),
    "spread in one column": _swap(200, td.spread, d=1),
    "cube": _swap(60, td.cube),
    "cube with a fill": _swap(60, td.cube, fill=1),
    "mean": _swap(3000, td.mean),
    "mean, few rows": _swap(60, td.mean),
    "mean in one column": _swap(500, td.mean, d=1),
    "mean, subset": _swap(800, td.mean, mechanism="subset"),
    "mean, subset in one column": _swap(300, td.mean, d=1, mechanism="subset", blocks=40, partitions=3),
    "mean, subset, spreads known": _swap(800, td.mean, mechanism="subset", sd=1),
    "mean, two-step": _swap(3000, td.mean, mechanism="two-step"),
    "mean, two-step, spreads known": _swap(3000, td.mean, mechanism="two-step", sd=1),
    "mean, cube": _swap(60, td.mean, mechanism="cube"),
    "mean with interval": _swap(3000, td.mean, confidence=0.95),
    "mean with interval, few rows": _swap(60, td.mean, confidence=0.95),
    "mean with interval in three columns": _swap(3000, td.mean, d=3, confidence=0.95),
    "mean with interval, cube": _swap(300, td.mean, mechanism="cube", confidence=0.95),
    "mean with interval, spreads known": _swap(3000, td.mean, confidence=0.95, sd=1),
    "mean with joint interval of shares": _swap(300, td.mean, confidence=0.95, joint=True, bounds=(0, 1)),
    "mean, bounds found": _swap(400, td.mean, bounds="auto"),
    "mean with interval, bounds found": _swap(3000, td.mean, confidence=0.95, bounds="auto"),
    "mean of groups, bounds found": _groups(400, td.mean, bounds="auto"),
    "mean of secret size, bounds found": _less(400, td.mean, rows=400, bounds="auto"),
    "cube, bounds found": _swap(60, td.cube, bounds="auto"),
    "spread, bounds found": _swap(600, td.spread, bounds="auto"),
    "quantiles, bounds found": _swap(60, td.quantiles, q=[0.5], bounds="auto"),
    "boxem, bounds found": _swap(60, td.boxem, bounds="auto"),
    "mean without bounds": _free(120, td.mean),
    "mean without bounds, with interval": _free(120, td.mean, confidence=0.95),
    "summary": _swap(3000, td.summary),
    "summary, spreads known": _swap(3000, td.summary, sd=1),
    "summary without intervals": _swap(3000, td.summary, confidence=None),
    "summary with a share": _swap(3000, td.summary, bounds=_SHARES),
    "summary of shares": _swap(60, td.summary, bounds=(0, 1)),
    "summary with categories": _at_once(_swap(300, _tabled, d=4)),
    "summary with categories, median": _at_once(_swap(2000, _tabled, d=3, statistics={0: "median [IQR]"})),
    "summary with categories by groups": _at_once(_groups(300, _tabled, d=4)),
    "summary with categories by groups, add-remove": _at_once(_groups_less(300, _tabled, d=4)),
    "summary with weights": _at_once(_swap(300, _weighed, d=4)),
    "summary with weights by groups": _at_once(_groups(300, _weighed, d=4)),
    "summary, bounds of one column found": _at_once(_swap(3000, td.summary, d=3, bounds=_ONE_UNKNOWN)),
    "summary by groups, bounds of one column found": _at_once(_groups(3000, td.summary, d=3, bounds=_ONE_UNKNOWN)),
    "summary without bounds": _at_once(_swap(1500, td.summary, bounds=None)),
    "summary without bounds by groups": _at_once(_groups(1500, td.summary, bounds=None)),
    "quantiles": _at_once(_swap(300, td.quantiles, q=["0.05", "0.5", "0.9", "0.99"])),
    "quantiles, add-remove": _at_once(_less(300, td.quantiles, q=["0.05", "0.5", "0.9", "0.99"])),
    "quantiles by groups": _at_once(_groups(300, td.quantiles, q=["0.05", "0.5", "0.9", "0.99"])),
    "quantiles by groups, add-remove": _at_once(_groups_less(300, td.quantiles, q=["0.25", "0.5", "0.9"])),
    "quantiles of persons": _at_once(_persons(300, td.quantiles, q=["0.25", "0.5", "0.9"], per_person="median")),
    "median on a coarse grid": _swap(40, td.quantiles, q=["0.5"], **_COARSE),
    "quantiles with intervals": _at_once(_swap(300, td.quantiles, q=["0.25", "0.5"], confidence=0.9)),
    "quantiles with intervals, add-remove": _at_once(_less(300, td.quantiles, q=["0.5"], confidence=0.9, joint=True)),
    "quantiles with intervals by groups": _at_once(_groups(300, td.quantiles, q=["0.5"], confidence=0.9)),
    "aggregate": _swap(300, td.aggregate, statistic=_largest, blocks=40, partitions=2),
    "aggregate by a statistic with random numbers": _swap(120, td.aggregate, statistic=_restless, blocks=20),
    "aggregate without bounds": _free(120, td.aggregate, statistic=_largest, blocks=40),
    "regression": _line(900, swapped(900), epsilon=EPSILON, bounds=(-5, 5)),
    "regression by sums": _at_once(
        _line(300, swapped(300), epsilon=EPSILON, ranges=(-3, 3), target_range=(-9, 9), confidence=0.9, joint=True)
    ),
    "regression by sums, ranges found": _at_once(
        _line(300, swapped(300), epsilon=EPSILON, ranges=(-3, 3), intercept=False)
    ),
    "regression by sums, add-remove": _at_once(_line(300, one_less(300), "add-remove", epsilon=EPSILON, rows=300)),
    "regression by sums and groups": _at_once(_line(300, moved(300), epsilon=EPSILON, confidence=0.9, by=True)),
    "regression by sums and groups, add-remove": _at_once(
        _line(300, one_less_of_groups(300), "add-remove", epsilon=EPSILON, rows=300, by=True)
    ),
    "regression by sums, of persons": _at_once(
        _line(300, another_person(300), "swap-person", epsilon=EPSILON, person=True)
    ),
    "regression without bounds": _line(
        300, swapped(300), epsilon=8, delta="0.01", blocks=40, resolution="0.5", depth=td.AxisAligned()
    ),
    "regression, add-remove": _line(
        900, one_less(900), "add-remove", epsilon=EPSILON, bounds=(-5, 5), rows=900, blocks=150, partitions=2
    ),
    "regression without bounds, add-remove": _line(
        300,
        one_less(300),
        "add-remove",
        epsilon=8,
        delta="0.01",
        rows=300,
        blocks=40,
        partitions=1,
        resolution="0.5",
        depth=td.AxisAligned(),
    ),
    "regression by groups": _line(900, moved(900), epsilon=EPSILON, bounds=(-5, 5), blocks=100, partitions=2, by=True),
    "regression by groups, add-remove": _line(
        900, one_less_of_groups(900), "add-remove", epsilon=EPSILON, bounds=(-5, 5), rows=900, blocks=100, by=True
    ),
    "regression of persons": _line(
        900,
        another_person(900),
        "swap-person",
        epsilon=EPSILON,
        bounds=(-5, 5),
        blocks=60,
        person=True,
        per_person="median",
    ),
    "aggregate, add-remove": _less(300, td.aggregate, statistic=_largest, blocks=40, partitions=2, rows=300),
    "aggregate by groups": _groups(300, td.aggregate, statistic=_largest, blocks=40, partitions=2),
    "aggregate by groups, add-remove": _groups_less(300, td.aggregate, statistic=_largest, blocks=40, rows=300),
    "aggregate of persons": _persons(300, td.aggregate, statistic=_largest, blocks=40),
    "boxem, add-remove": _less(60, td.boxem),
    "boxem by groups, add-remove": _groups_less(60, td.boxem),
    "boxem by groups, certified": _groups(60, td.boxem, certify="0.2"),
    "boxem by groups, certified, with counts, add-remove": _groups_less(60, td.boxem, certify="0.2", counts="0.1"),
    "rem by groups": _groups_free(240, td.rem),
    "rem by groups, add-remove": _groups_free(
        80, td.rem, "add-remove", one_less_of_groups(80, 1, 5.0), neighbours="add-remove", rows=80
    ),
    "boxem in one column, add-remove": _less(60, td.boxem, d=1),
    "boxem, certified, add-remove": _less(60, td.boxem, certify="0.2"),
    "spread, add-remove": _less(600, td.spread, rows=600),
    "cube, add-remove": _less(60, td.cube),
    "cube with a fill, add-remove": _less(60, td.cube, fill=1),
    "mean, add-remove": _less(3000, td.mean, rows=3000),
    "mean, rows, add-remove": _less(60, td.mean, rows=60, mechanism="subset"),
    "mean, subset, add-remove": _less(800, td.mean, rows=800, blocks=100),
    "mean, cube, add-remove": _less(60, td.mean, mechanism="cube"),
    "mean with interval, add-remove": _less(3000, td.mean, rows=3000, confidence=0.95),
    "mean with interval in three columns, add-remove": _less(3000, td.mean, d=3, rows=3000, confidence=0.95),
    "summary, add-remove": _less(3000, td.summary, rows=3000),
    "summary, nothing known of the size, add-remove": _less(300, td.summary),
    "rem, add-remove": _less_free(40, td.rem),
    "mean without bounds, rows, add-remove": _less_free(40, td.mean),
    "mean without bounds, blocks, add-remove": _less_free(_JUST_ENOUGH, td.mean),
    "boxem, about so many rows, add-remove": _less(60, td.boxem, rows=50),
    "cube, about so many rows, add-remove": _less(60, td.cube, rows=50),
    "rem with a threshold": _free(40, td.rem, threshold=5),
    "quantiles, spreads known": _at_once(_swap(60, td.quantiles, sd=1)),
    "aggregate, clipped, on a coarse grid": _swap(
        120,
        td.aggregate,
        statistic=_largest,
        blocks=20,
        clip=(-3, 3),
        depth=td.AxisAligned(),
        columns=["a", "b"],
        **_COARSE,
    ),
    "aggregate, tried on rows that are given": _swap(
        120, td.aggregate, statistic=_largest, blocks=20, dummy=np.zeros((3, 2))
    ),
    "aggregate of an estimator": _swap(
        300, td.aggregate, d=3, statistic=_Line(), blocks=20, attribute="coef_", target=2
    ),
    "regression through zero, ranges known": _line(
        900,
        swapped(900),
        epsilon=EPSILON,
        bounds=(-5, 5),
        partitions=2,
        intercept=False,
        ranges=(-50, 50),
        target_range=(-50, 50),
    ),
    "boxem by groups": _groups(60, td.boxem),
    "boxem by groups with counts": _groups(60, td.boxem, counts="0.1"),
    "spread by groups": _groups(600, td.spread),
    "spread by groups, add-remove": _groups_less(600, td.spread, rows=600),
    "spread of persons": _persons(900, td.spread, per_person="median"),
    "cube by groups": _groups(60, td.cube),
    "cube by groups, add-remove": _groups_less(60, td.cube, rows=60),
    "cube of persons": _persons(90, td.cube, fill=1, per_person="median"),
    "mean by groups": _groups(2000, td.mean),
    "mean by groups between narrow bounds": _groups(2000, td.mean, bounds=(-2, 2)),
    "mean by groups, two-step, spreads known": _groups(2000, td.mean, mechanism="two-step", sd=1),
    "mean by groups, rows, with counts": _groups(200, td.mean, mechanism="rows", counts="0.1"),
    "mean by groups, rows, as in large tables": _as_if_large(_groups(60, td.mean, mechanism="rows"), 60),
    "mean by groups, subset": _groups(800, td.mean, mechanism="subset", blocks=60, partitions=2),
    "mean by groups, cube": _groups(60, td.mean, mechanism="cube"),
    "mean with interval by groups": _groups(2000, td.mean, confidence=0.95),
    "mean with interval by groups in three columns": _groups(3000, td.mean, d=3, confidence=0.95),
    "mean with interval by groups, few rows": _groups(60, td.mean, confidence=0.95, joint=True),
    "mean by groups, add-remove": _groups_less(2000, td.mean),
    "mean with interval by groups, add-remove": _groups_less(2000, td.mean, confidence=0.95),
    "summary by groups": _groups(60, td.summary, compare="smd", labels={"column 0": "first"}),
    "summary by groups, many rows": _groups(3000, td.summary, joint=True),
    "summary by groups, add-remove": _groups_less(2000, td.summary),
    "mean of persons": _persons(900, td.mean),
    "medians of persons": _persons(90, td.mean, per_person="median", mechanism="cube"),
    "boxem of persons": _persons(90, td.boxem, certify="0.2"),
    "summary of persons": _persons(3000, td.summary),
    "mean with interval of persons": _persons(3000, td.mean, confidence=0.95),
    "mean of persons by groups": _persons_of_groups(3000, td.mean),
    "mean with interval of persons by groups": _persons_of_groups(3000, td.mean, confidence=0.95),
    "mean with interval of persons by groups, add-remove": _persons_of_groups(
        3000, td.mean, less=True, confidence=0.95
    ),
    "summary of persons by groups": _persons_of_groups(3000, td.summary),
    "summary of persons by groups, add-remove": _persons_of_groups(3000, td.summary, less=True),
    "rem of persons": _persons_free(120, td.rem),
    "boxem of medians of persons": _persons(90, td.boxem, per_person="median"),
    "rem of medians of persons": _persons_free(120, td.rem, per_person="median"),
    "summary of medians of persons": _persons(90, td.summary, per_person="median", confidence=None),
    "counts": _cells(swapped(60), column=0, **_FEW),
    "counts without intervals": _cells(swapped(60), column=0, confidence=None, **_FEW),
    "counts of one category": _cells(swapped(60), column=0, categories=[0]),
    "counts of a cross-table": _cells(swapped(60), column=(0, 1), categories={0: [0, 1], 1: [0, 1]}, joint=True),
    "counts of several columns": _cells(swapped(60), categories={0: [0, 1]}, edges={1: [-9, 0, 9]}),
    "counts, add-remove": _cells(one_less(60), "add-remove", column=0, neighbours="add-remove", rows=60, **_FEW),
    "counts by groups": _cells(moved(60), apart="by", keys=[0, 1], column=0, **_FEW),
    "counts by groups, add-remove": _cells(
        one_less(60), "add-remove", "by", keys=[0, 1], column=0, neighbours="add-remove", **_FEW
    ),
    "counts of persons": _cells(another_person(90), "swap-person", "person", column=0, **_FEW),
    "counts of medians of persons": _cells(
        another_person(90), "swap-person", "person", column=0, edges=[-9, 0, 9], per_person="median"
    ),
    "boxem of a checked file": _checked(300, td.boxem),
    "mean of a checked file, nobody charged": _checked(300, td.mean, paid=False),
    **{
        f"{function.__name__} of a checked file, a share allowed": _checked(300, function, check="0.3")
        for function in (td.boxem, td.cube, td.mean, td.spread)
    },
    "quantiles of a checked file, a share allowed": _at_once(_checked(300, td.quantiles, check="0.3")),
    "aggregate of a checked file, a share allowed": _checked(
        300, td.aggregate, statistic=_largest, blocks=40, check="0.3"
    ),
    "summary of a checked file, a share allowed": _checked(300, td.summary, confidence=None, check="0.3"),
    "rem of a checked file, a share allowed": replace(
        _checked(120, _without_bounds, epsilon=8, delta="0.01", check="0.3"),
        families=swapped(120, 1, 5.0),
        epsilon=Fraction(8),
    ),
    **{
        f"{function.__name__} in a ball, with a fill": _noised(function, bounds=None, centre=1, radius=9, fill=1)
        for function in (
            *(td.baselines.gaussian, td.baselines.analytic_gaussian, td.baselines.coinpress),
            *(td.baselines.huang_liang_yi, td.baselines.plan),
        )
    },
    "coinpress in three steps": _noised(td.baselines.coinpress, steps=3, deviation=2),
    "gaussian": _noised(td.baselines.gaussian),
    "analytic_gaussian": _noised(td.baselines.analytic_gaussian, fill=1),
    "coinpress": _noised(td.baselines.coinpress),
    "huang_liang_yi": _noised(td.baselines.huang_liang_yi),
    "plan": _noised(td.baselines.plan),
    "approximate_boxem": _estimated(td.approximate.approximate_boxem),
    "approximate_rem": _estimated(td.approximate.approximate_rem),
    "approximate_boxem, other oracles": _estimated(td.approximate.approximate_boxem, padding="1/5", **_ORACLES),
    "approximate_rem, other oracles": _estimated(
        td.approximate.approximate_rem, padding="1/5", threshold=4, **_ORACLES
    ),
}
if importlib.util.find_spec("pandas") is not None:
    CALLS |= {
        "mean of a frame": _pandas(300, td.mean),
        "boxem of a frame": _pandas(300, td.boxem),
        "aggregate of a frame whose types are inferred": _pandas(60, td.aggregate, statistic=_lengths, blocks=10),
        "aggregate of a frame whose types are declared": _pandas(
            60, td.aggregate, statistic=_lengths, blocks=10, types={"c0": "text", "c1": "number"}
        ),
    }
if importlib.util.find_spec("polars") is not None:
    CALLS |= {
        "mean of a lazy frame": _lazy(600, td.mean),
        "mean of a lazy frame, subset": _lazy(300, td.mean, mechanism="subset", blocks=20, partitions=2),
        "mean of a lazy frame, two-step": _lazy(3000, td.mean, mechanism="two-step"),
        "mean with interval of a lazy frame": _lazy(1500, td.mean, confidence=0.95),
        "mean with interval by groups of a lazy frame": _lazy_groups(1500, td.mean, confidence=0.95),
        "summary by groups of a lazy frame": _lazy_groups(1500, td.summary),
        "spread of a lazy frame": _lazy(600, td.spread),
        "quantiles of a lazy frame": _at_once(_lazy(40, td.quantiles, q=["0.25", "0.5"])),
        "quantiles by groups of a lazy frame": _at_once(_lazy_groups(40, td.quantiles, q=["0.5"], confidence=0.9)),
        "counts of a lazy frame": _at_once(_lazy(300, _counted, column="c0")),
        "aggregate of a frame with texts": _frame(60, blocks=10),
        "aggregate of a lazy frame": _lazy(300, td.aggregate, statistic="mean", blocks=40, partitions=2),
    }
