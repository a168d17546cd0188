"""Many releases in one process, and many at once: no growth in memory, the same law, no mixed-up results."""

from __future__ import annotations

import gc
import threading
import tracemalloc
from itertools import pairwise

import numpy as np
import pytest

import tukeydp as td
from support.fit import FALSE_ALARM, g_test

X = np.random.default_rng(0).normal(size=(40, 2))
BOXED = {"epsilon": 1, "bounds": (-10, 10)}
# Bytes by which Python's own memory may grow in a round of a test, however many releases it has. A single table kept in
# each release would be 640 bytes a release.
TOLERANCE = 20_000


ARMS = {"by": ["A", "B"] * 20, "keys": ["A", "B"]}


def releases(count):
    """By depth, by noise, by groups."""
    for i in range(count):
        mechanism, more = ((td.boxem, {}), (td.mean, {}), (td.cube, {}), (td.summary, ARMS))[i % 4]
        mechanism(X, **BOXED, **more)


def releases_with_intervals(count):
    """The latest intervals are kept, 256 of them: after so many there is no growth."""
    for _ in range(count):
        assert td.mean(X, **BOXED, sd=1, confidence="0.95").interval is not None


def grown(run, count):
    """Bytes of Python's memory, arrays included, that `count` runs leave behind: the least of three rounds.

    What is kept once (small numbers, free lists) shows in the first rounds, what each run leaves behind in all.
    """
    run(40)
    tracemalloc.start()
    try:
        after = []
        for _ in range(4):
            run(count)
            gc.collect()
            after.append(tracemalloc.get_traced_memory()[0])
        return min(b - a for a, b in pairwise(after))
    finally:
        tracemalloc.stop()


def resident():
    """Bytes of the process that are in memory: also what compiled code and libraries hold."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096


def test_memory_does_not_grow_over_hundreds_of_releases():
    assert grown(releases, 40) < TOLERANCE


def test_a_table_kept_would_be_noticed():
    kept = []
    assert grown(lambda count: kept.extend(X.copy() for _ in range(count)), 40) > TOLERANCE


@pytest.mark.slow
def test_memory_does_not_grow_over_ten_thousand_releases():
    """Nor does the whole process: by less than 16 MB, where a solver's model kept in each release would be more."""
    releases(2000)
    before = resident()
    releases(8000)
    assert resident() - before < 16_000_000
    assert grown(releases, 2000) < TOLERANCE
    releases_with_intervals(300)
    assert grown(releases_with_intervals, 300) < TOLERANCE


def test_eight_threads_release_with_the_law_of_one():
    """On a grid of five points, from one seeded source that all share. False alarms: 1e-6."""
    x = np.array([[0.0], [1], [1], [2], [2], [2], [3], [4]])
    given = {"epsilon": 1, "bounds": (0, 4), "resolution": 1, "randomness": td.seeded(5)}
    found: list[int] = []
    start = threading.Barrier(8, timeout=60)

    def work():
        start.wait()
        found.extend(int(td.boxem(x, **given).point[0]) for _ in range(150))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    counts = np.bincount(found, minlength=5)
    depth = np.array([min((x <= y).sum(), (x >= y).sum()) for y in range(5)])

    def law(epsilon):
        weights = np.exp(epsilon * depth / 2)
        return weights / weights.sum()

    assert counts.sum() == 1200
    assert g_test(counts, law(1.0)) > FALSE_ALARM
    assert g_test(counts, law(2.0)) < FALSE_ALARM


def test_threads_do_not_mix_up_their_tables():
    """Each has a table far from the others', an accountant of its own, and gets its own point and entry."""
    wrong: list[int] = []

    def work(place):
        account = td.Accountant(1000)
        for _ in range(15):
            release = td.mean(X / 100 + 10 * place, epsilon=50, bounds=(-100, 100), accountant=account)
            if np.abs(release.point - 10 * place).max() > 4:
                wrong.append(place)
        if account.totals.count != 15:
            wrong.append(place)

    threads = [threading.Thread(target=work, args=(place,)) for place in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
