"""One adapter for each primitive that draws something secret: a core in which all go through one place needs one.

Keys come from a stand-in of the operating system's source, so that a table and its neighbours have the same ones, and
where each key comes from is known.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np

from tukeydp import randomness
from tukeydp.algorithm3 import mechanisms as algorithm3
from tukeydp.arrays import IntArray
from tukeydp.audit.forcing import forced
from tukeydp.audit.laws import CoinLaw, DepthLaw, ListedLaw, RadiiLaw
from tukeydp.audit.laws import RankLaw as LawOfRanks
from tukeydp.audit.recording import Noise, Recorder
from tukeydp.depth.streamed_levels import StreamedLevels
from tukeydp.exact.cube_noise import cube_noise
from tukeydp.exact.noise import discrete_gaussian, discrete_laplace
from tukeydp.mechanisms import clip_radii
from tukeydp.mechanisms.quantiles import tie_broken
from tukeydp.mechanisms.rank_draw import RankLaw
from tukeydp.mechanisms.rem_test.evidence import Evidence
from tukeydp.mechanisms.rem_test.safety import SafetyTest, passes, tail
from tukeydp.randomness import Keystream, derived_key
from tukeydp.release import Release
from tukeydp.sampling.cutting_planes import DepthSampler

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
        clip_radii.drawn_by_weight: _radii(recorder),
        tie_broken: _ties(recorder),
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
        self.public = by.f_globals["__name__"].startswith("tukeydp.depth") or by.f_code.co_name == "rotation"
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
        law = LawOfRanks(self.values, self.low, self.high, self.share, self.weight)
        public = (self.low, self.high, self.share, self.weight)
        return recorder.drawn("rank", public, law, getattr(bits, "key", None), lambda: draw(self, bits))

    return [(RankLaw, "draw", drawn)]


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
    original = clip_radii.drawn_by_weight

    def radii(beyond: IntArray, weight: Fraction, bits: Any) -> Any:
        law = RadiiLaw(beyond, weight, clip_radii.WEIGHTS)
        key = getattr(bits, "key", None)
        return recorder.drawn("radii", (beyond.shape, weight), law, key, lambda: original(beyond, weight, bits))

    return radii


def _ties(recorder: Recorder) -> Any:
    """A value that goes missing takes its secret bits along: those of the others stay theirs."""

    def broken(steps: IntArray, stream: Any) -> IntArray:
        fine = tie_broken(steps, stream)
        if recorder.before is not None and stream.key in recorder.before.tied:
            old, broken_before = recorder.before.tied[stream.key]
            fine = _kept_ties(old, broken_before, steps, fine)
        recorder.now.tied[stream.key] = steps, fine
        return fine

    return broken


def _kept_ties(old: IntArray, ties: IntArray, steps: IntArray, fine: IntArray) -> IntArray:
    """Values of both tables that stand in the same place, counted from the first or from the last one, keep ties."""
    if len(old) == len(steps):
        return fine
    shorter = min(len(old), len(steps))
    differ = np.flatnonzero(old[:shorter] != steps[:shorter])
    first = int(differ[0]) if len(differ) else shorter
    last = shorter - first
    kept = fine.copy()
    kept[:first] = ties[:first]
    if last:
        kept[-last:] = ties[-last:]
    return kept


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
