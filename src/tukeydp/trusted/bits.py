"""Exact randomness: keys from the operating system, expanded by a cryptographic keystream.

One source is passed down a call. It gives out keys; a key becomes any number of independent lanes of
uniform bits (AES-256 in counter mode). Nothing is buffered between calls, so a fork shares nothing.
"""

from __future__ import annotations

import hashlib
import os
import threading
from typing import Any, Protocol

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from numpy.typing import NDArray

from tukeydp.trusted.parameters import ParameterError, checked_integer

_KEY_BYTES = 32  # of AES-256
_WORDS_AT_A_TIME = 64  # that a bit reader takes from its lane at once; speed only, the bits are the same


class Randomness(Protocol):
    """A source of keys. `private` says whether its keys are secret."""

    @property
    def private(self) -> bool: ...

    def key(self) -> bytes:
        """32 bytes, never the same twice from one source."""
        ...


class SystemRandomness:
    """Keys straight from the operating system; an error where it has none to give, or the same one again."""

    private = True

    def __init__(self) -> None:
        self._last = b""

    def key(self) -> bytes:
        # One more at first, which nobody gets: a run may need a single key, and it must be another one.
        self._last = self._last or os.urandom(_KEY_BYTES)
        key = os.urandom(_KEY_BYTES)
        if len(key) != _KEY_BYTES or key == self._last:
            raise OSError("the operating system's randomness has failed; nothing was released")
        self._last = key
        return key


class SeededRandomness:
    """Keys that anyone who knows the seed can compute: for tests and experiments only."""

    private = False

    def __init__(self, seed: int) -> None:
        self._seed = checked_integer("seed", seed)
        self._used = 0
        self._lock = threading.Lock()

    def key(self) -> bytes:
        with self._lock:
            self._used += 1
            return derived_key("source", self._seed, self._used)

    def __repr__(self) -> str:
        return f"seeded({self._seed})"

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy goes on from where its original is, by itself."""
        return _seeded_at, (self._seed, self._used)


def _seeded_at(seed: int, used: int) -> SeededRandomness:
    source = SeededRandomness(seed)
    source._used = used
    return source


def seeded(seed: int) -> SeededRandomness:
    """Randomness for tests and experiments: equal seeds give equal streams; a source advances as it is used.

    Privacy
    -------
    A seed undoes the noise. Releases made with it say `private = False`.
    """
    return SeededRandomness(seed)


def source(randomness: Any) -> Randomness:
    """The source behind the `randomness` parameter: the operating system unless a seeded one is given."""
    if randomness is None:
        return SystemRandomness()
    if not isinstance(randomness, SystemRandomness | SeededRandomness):
        raise ParameterError("randomness", "must be None or td.seeded(seed)", type(randomness).__name__)
    return randomness


def derived_key(*parts: object) -> bytes:
    """A key fixed by public values."""
    return hashlib.sha256(repr(("tukeydp", *parts)).encode()).digest()


class Keystream:
    """A key as 2**64 independent lanes of uniform 64-bit words."""

    def __init__(self, key: bytes) -> None:
        self._algorithm = algorithms.AES256(key)

    def words(self, lane: int, count: int) -> NDArray[np.uint64]:
        """The first `count` words of a lane."""
        out = bytearray(8 * count + 15)  # update_into asks for a block less one byte to spare
        self._lane(lane).update_into(bytes(8 * count), out)
        return np.frombuffer(out, dtype=np.uint64, count=count)

    def bits(self, lane: int) -> Bits:
        return Bits(self._lane(lane))

    def _lane(self, lane: int) -> Any:
        # The counter block is lane || 0: lanes meet only after 2**64 blocks.
        return Cipher(self._algorithm, modes.CTR(lane.to_bytes(8, "big") + bytes(8))).encryptor()


class Bits:
    """One lane read bit by bit, for exact draws in big integers."""

    def __init__(self, lane: Any) -> None:
        self._lane = lane
        self._buffer, self._have = 0, 0

    def take(self, count: int) -> int:
        """A uniform integer of `count` bits."""
        while self._have < count:
            fresh = self._lane.update(bytes(8 * _WORDS_AT_A_TIME))
            self._buffer = (self._buffer << (64 * _WORDS_AT_A_TIME)) | int.from_bytes(fresh, "big")
            self._have += 64 * _WORDS_AT_A_TIME
        self._have -= count
        taken = self._buffer >> self._have
        self._buffer &= (1 << self._have) - 1
        return taken

    def below(self, bound: int) -> int:
        """A uniform integer in 0 ... bound - 1, exactly: draws above the bound are thrown away."""
        width = (bound - 1).bit_length()
        while (value := self.take(width)) >= bound:
            pass
        return value
