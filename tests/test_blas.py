"""BLAS has one thread while a call of ours runs, and as many as before once the last one has ended."""

import threading

import numpy as np
import pytest
import scipy.linalg  # noqa: F401  (its BLAS is loaded: both are limited)
from threadpoolctl import ThreadpoolController, threadpool_info

import tukeydp as td
from tukeydp.blas import on_one_thread
from tukeydp.trusted.bits import SeededRandomness

BEFORE = 3


def threads():
    return {each["filepath"]: each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"}


def set_to(number):
    for library in ThreadpoolController().select(user_api="blas").lib_controllers:
        library.set_num_threads(number)
        # Newer versions of threadpoolctl let one thread set numbers until it says that it is done.
        getattr(library, "clear_controlling_thread", lambda: None)()


@pytest.fixture(autouse=True)
def several():
    """Whatever machine this is."""
    before = max(threads().values())
    set_to(BEFORE)
    assert set(threads().values()) == {BEFORE}
    yield
    set_to(before)


@on_one_thread
def inside(job=threads):
    return job()


def test_one_thread_inside_and_as_many_as_before_afterwards():
    assert set(inside().values()) == {1}
    assert set(inside(inside).values()) == {1}
    assert set(threads().values()) == {BEFORE}


def test_a_failure_lifts_the_limit():
    def fail():
        raise KeyError("no")

    with pytest.raises(KeyError):
        inside(fail)
    assert set(threads().values()) == {BEFORE}


def test_calls_that_overlap_in_two_threads():
    """The first to begin ends first: were each to restore what it found, one thread would stay for ever."""
    first, second = threading.Event(), threading.Event()
    seen = []

    def early():
        seen.append(threads())
        first.set()
        assert second.wait(10)

    def late():
        assert first.wait(10)
        inside(lambda: (second.set(), begun.join(10)))

    begun, follower = threading.Thread(target=inside, args=(early,)), threading.Thread(target=late)
    begun.start()
    follower.start()
    follower.join(20)
    assert set(seen[0].values()) == {1}
    assert set(threads().values()) == {BEFORE}
    assert set(inside().values()) == {1}


@pytest.mark.parametrize("name", ["mean", "boxem", "cube", "spread"])
def test_mechanisms_are_limited(name, monkeypatch):
    """As their source of randomness sees it."""
    seen = []
    key = SeededRandomness.key
    monkeypatch.setattr(SeededRandomness, "key", lambda source: seen.append(threads()) or key(source))
    getattr(td, name)(np.arange(40.0), epsilon=1, bounds=(0, 50), randomness=td.seeded(1))
    assert seen
    assert {number for each in seen for number in each.values()} == {1}
