from __future__ import annotations

import os
import pickle
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

import tukeydp as td
from support.fit import FALSE_ALARM, g_test
from tukeydp.trusted import exponential
from tukeydp.trusted.bits import Bits, Keystream, SystemRandomness, derived_key, source


def test_lanes_differ_and_repeat():
    stream = Keystream(derived_key("lanes"))
    assert (stream.words(3, 50) == stream.words(3, 100)[:50]).all()
    assert not (stream.words(3, 50) == stream.words(4, 50)).any()
    assert not (stream.words(3, 50) == Keystream(derived_key("other")).words(3, 50)).any()


def test_every_lane_is_a_stream_of_its_own():
    """Counter blocks by hand: lane || 0, lane || 1, ..., encrypted one by one."""
    key = derived_key("lanes")
    block = Cipher(algorithms.AES256(key), modes.ECB()).encryptor()
    lanes = [*range(40), 2**32, 2**32 + 1, 2**63, 2**64 - 1]
    stream, seen = Keystream(key), set()
    for lane in lanes:
        blocks = (block.update(((lane << 64) + i).to_bytes(16, "big")) for i in range(4))
        words = stream.words(lane, 8)
        assert words.tobytes() == b"".join(blocks)
        seen.update(words.tolist())
    assert len(seen) == 8 * len(lanes)


def test_a_lane_is_the_aes_keystream_whether_read_in_words_or_in_bits():
    stream = Keystream(derived_key("lanes"))
    bits = stream.bits(7)
    taken = [bits.take(64) for _ in range(130)]
    assert [int.from_bytes(w.tobytes(), "big") for w in stream.words(7, 130)] == taken


def test_take_splits_anywhere():
    whole = Keystream(bytes(32)).bits(0).take(6000)
    parts = Keystream(bytes(32)).bits(0)
    joined = 0
    for size in (1, 0, 63, 64, 65, 1000, 4096, 711):
        joined = (joined << size) | parts.take(size)
    assert joined == whole


@pytest.mark.parametrize("bound", [1, 2, 3, 5, 7, 64])
def test_below_is_uniform(bound):
    bits = Keystream(derived_key("below")).bits(bound)
    counts = np.bincount([bits.below(bound) for _ in range(20_000)], minlength=bound)
    assert len(counts) == bound
    if bound > 1:
        assert g_test(counts, np.full(bound, 1 / bound)) > FALSE_ALARM
        # Control: a tilt of a tenth is found out.
        tilted = np.where(np.arange(bound) < bound / 2, 1.1, 0.9)
        assert g_test(counts, tilted / tilted.sum()) < FALSE_ALARM


class OutOfBits(Exception):
    pass


class Script(Bits):
    """One bit string, read from the left."""

    def __init__(self, value, length):
        self._value, self._length = value, length

    def take(self, count):
        if count > self._length:
            raise OutOfBits
        self._length -= count
        taken = self._value >> self._length
        self._value &= (1 << self._length) - 1
        return taken


@pytest.mark.parametrize("bound", [1, 2, 3, 5, 6, 7, 8, 11])
def test_below_has_equal_masses_over_all_bit_strings(bound):
    """Every string of twelve bits: each value comes from equally many, and few strings leave it open."""
    length, undecided, counts = 12, 0, [0] * bound
    for value in range(1 << length):
        try:
            counts[Script(value, length).below(bound)] += 1
        except OutOfBits:
            undecided += 1
    assert len(set(counts)) == 1
    tries = length // max(1, (bound - 1).bit_length())
    assert undecided <= (1 << length) // 2**tries


def test_huge_bounds_are_hit_below_and_never_reached():
    bits = Keystream(derived_key("huge")).bits(0)
    draws = [bits.below(10**60 + 1) for _ in range(200)]
    assert max(draws) <= 10**60
    assert max(draws) > 9 * 10**59


def test_seeded_sources_repeat_and_advance():
    a, b = td.seeded(7), td.seeded(7)
    first = a.key()
    assert first == b.key()
    assert a.key() == b.key() != first
    assert td.seeded(8).key() != first
    assert not a.private


def test_the_first_key_is_another_one_than_the_one_before_it(monkeypatch):
    monkeypatch.setattr(os, "urandom", lambda size: b"\7" * size)
    with pytest.raises(OSError, match="randomness has failed"):
        SystemRandomness().key()


def test_a_copy_of_a_seeded_source_goes_on_by_itself():
    source = td.seeded(3)
    source.key()
    copied = pickle.loads(pickle.dumps(source))
    assert [copied.key(), copied.key()] == [source.key(), source.key()] != [td.seeded(3).key(), td.seeded(3).key()]


def test_only_our_sources_are_taken():
    assert isinstance(source(None), SystemRandomness)
    for wrong in (7, np.random.default_rng(0), "7"):
        with pytest.raises(td.ParameterError, match="randomness"):
            source(wrong)
    with pytest.raises(td.ParameterError, match="seed"):
        td.seeded("seven")


def test_a_draw_needs_no_threads(monkeypatch):
    """Whether threads are wanted depends on the data, so failing to start one must not show."""

    def refuse(self):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(exponential, "_LANE_WORDS", (64,))
    monkeypatch.setattr(threading.Thread, "start", refuse)
    x = np.random.default_rng(0).normal(size=(60, 4))
    for i in range(5):
        td.boxem(x, epsilon=1, bounds=(-5, 5), depth=td.Random(20, axes=False, seed=i), randomness=td.seeded(i))


def test_other_users_of_the_solver_are_not_disturbed():
    import highspy

    for threads in (2, 1):
        solver = highspy.Highs()
        solver.setOptionValue("output_flag", False)
        solver.setOptionValue("threads", threads)
        solver.run()
        x = np.random.default_rng(0).normal(size=(300, 4))
        release = td.boxem(x, epsilon=1, bounds=(-10, 10), depth=td.Random(30, axes=False), randomness=td.seeded(1))
        assert np.abs(release.point).max() < 1


SCRIPT = """
    import os, threading
    import numpy as np, tukeydp as td
    from tukeydp.trusted import exponential
    exponential._LANE_WORDS = (64,)  # many lanes, so that threads really run before and after the fork
    x = np.random.default_rng(0).normal(size=(60, 4))
    def release():
        return tuple(td.boxem(x, epsilon=1, bounds=(-5, 5), depth=td.Random(20, axes=False, seed=1)).point)
    found = [release()]
    pipes = []
    for _ in range(3):
        read, write = os.pipe()
        if os.fork() == 0:
            os.write(write, repr([float(v) for v in release()]).encode())
            os._exit(0)
        os.close(write)
        pipes.append(read)
    for read in pipes:
        with os.fdopen(read) as file:
            found.append(tuple(eval(file.read())))
    threads = [threading.Thread(target=lambda: found.append(release())) for _ in range(4)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    found.append(release())
    print(len(found), len(set(found)))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_forked_children_and_threads_draw_differently():
    """In a process of its own: children forked after threads have run, then threads; nine draws, all different."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", textwrap.dedent(SCRIPT)], capture_output=True, text=True, timeout=120
    )
    assert done.stderr == ""
    assert done.stdout.split() == ["9", "9"]
