from __future__ import annotations

import os
import threading
import time

import pytest

from tukeydp.trusted.threads import ForkLock, for_each, for_each_with, in_threads


def test_all_threads_work():
    together = threading.Barrier(3, timeout=20)
    in_threads(lambda stopped: together.wait(), 3)


@pytest.mark.parametrize("failing", ["main", "other"])
def test_one_failure_stops_the_others(failing):
    """Ctrl-C in the main thread, or an error in any, must not leave the others running on."""
    main = threading.current_thread()
    together = threading.Barrier(2, timeout=20)

    def work(stopped):
        together.wait()
        if (threading.current_thread() is main) == (failing == "main"):
            raise KeyboardInterrupt if failing == "main" else MemoryError
        assert stopped.wait(20)

    with pytest.raises(KeyboardInterrupt if failing == "main" else MemoryError):
        in_threads(work, 2)


def refuse_threads(monkeypatch):
    def refuse(self):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_every_item_is_worked_on_once(threads):
    done = []
    for_each(range(100), done.append, threads)
    assert sorted(done) == list(range(100))


def test_items_are_handed_out_in_order():
    """Each worker waits until the other has its item too: then both of the smallest two were handed out, and so on."""
    together = threading.Barrier(2, timeout=20)
    pairs = []

    def work(item):
        pairs.append(item)
        together.wait()

    for_each(range(20), work, 2)
    assert [sorted(pairs[i : i + 2]) for i in range(0, 20, 2)] == [[i, i + 1] for i in range(0, 20, 2)]


@pytest.mark.parametrize("threads", [1, 2])
def test_alone_items_are_worked_on_in_order_where_no_thread_can_start(threads, monkeypatch):
    refuse_threads(monkeypatch)
    done = []
    for_each(iter("abc"), done.append, threads)
    assert done == ["a", "b", "c"]


def test_an_item_handed_out_is_finished_and_no_other_is_handed_out_once_the_end_is_reached():
    """Item 1 ends the search while item 0 is under way: item 0 must still be finished, and item 2 never begun."""
    begun, finished = [], []
    both, reached = threading.Barrier(2, timeout=20), threading.Event()

    def work(item):
        begun.append(item)
        both.wait()
        if item == 0:
            assert reached.wait(20)
        else:
            reached.set()
        finished.append(item)

    for_each(range(100), work, 2, until=reached.is_set)
    assert sorted(begun) == sorted(finished) == [0, 1]


def test_nothing_is_handed_out_where_the_end_is_reached_already():
    for_each(range(3), lambda item: pytest.fail("handed out"), 2, until=lambda: True)


@pytest.mark.parametrize("failing", ["main", "other"])
def test_a_failure_hands_out_nothing_more_and_is_passed_on(failing):
    """The other worker finishes what it has: it is let go only once the failing one is about to fail."""
    main = threading.current_thread()
    both, failed = threading.Barrier(2, timeout=20), threading.Event()
    finished = []

    def work(item):
        both.wait()
        if (threading.current_thread() is main) == (failing == "main"):
            failed.set()
            raise KeyboardInterrupt if failing == "main" else MemoryError
        assert failed.wait(20)
        time.sleep(0.2)  # the failure has to get from the work to its worker
        finished.append(item)

    with pytest.raises(KeyboardInterrupt if failing == "main" else MemoryError):
        for_each(range(100), work, 2)
    assert len(finished) == 1


def test_every_worker_has_something_of_its_own():
    together = threading.Barrier(3, timeout=20)
    made = []

    def make():
        made.append([])
        return made[-1]

    def work(item, own):
        own.append((item, threading.get_ident()))
        together.wait()

    for_each_with(make, range(12), work, 3)
    assert len(made) == 3
    assert all(len({thread for _, thread in own}) == 1 for own in made)
    assert sorted(item for own in made for item, _ in own) == list(range(12))


@pytest.mark.parametrize("threads", [1, 4])
def test_errors_from_the_items_themselves_are_passed_on(threads):
    def items():
        yield 1
        raise OverflowError

    done = []
    with pytest.raises(OverflowError):
        for_each(items(), done.append, threads)
    assert done == [1]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks")
def test_a_child_of_a_fork_has_a_lock_that_nobody_holds():
    guard = ForkLock()
    held = guard.lock
    with held:
        child = os.fork()
        if not child:
            os._exit(0 if guard.lock is not held and guard.lock.acquire(blocking=False) else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert guard.lock is held
