from __future__ import annotations

import threading

import pytest

from tukeydp.threads import in_threads


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
