"""A process that has imported what tests need, but not the package, and runs each job's pytest in a fork of itself.

Starting Python and importing numpy, scipy, numba and pytest takes longer than most of the tests. A job is a line of
JSON on standard input; the answer is pytest's exit code on a line of standard output, or "null" after too long.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import sys
import time
import traceback
from typing import Any

import cryptography.hazmat.primitives.ciphers  # noqa: F401
import flint  # noqa: F401
import numba.extending  # noqa: F401
import numpy as np  # noqa: F401
import pytest
import scipy.optimize
import scipy.special
import scipy.stats  # noqa: F401

_NO_PYTEST = 70  # exit code where pytest itself broke down; none of its own
_NAP = 0.02  # seconds between looks at a running job
_DIE_WITH_PARENT = 1  # PR_SET_PDEATHSIG of Linux' prctl


def main() -> None:
    for line in sys.stdin:
        print(json.dumps(_answered(json.loads(line))), flush=True)


def _answered(job: dict[str, Any]) -> int | None:
    child = os.fork()
    if not child:
        _run(job)
    until, asked_by = time.monotonic() + job["patience"], os.getppid()
    while time.monotonic() < until and os.getppid() == asked_by:  # whoever asked may have been stopped
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(_NAP)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


def _run(job: dict[str, Any]) -> None:
    """Never returns. In a process group of its own, so that processes which tests start end with it."""
    os.setpgid(0, 0)
    if sys.platform == "linux":  # a job that hangs must not outlive a run that was stopped
        ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL)
    said = os.open(job["output"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for stream, file in ((0, nothing), (1, said), (2, said)):
        os.dup2(file, stream)
    os.environ["PYTHONPATH"] = job["source"]  # for processes that tests start
    code = _NO_PYTEST
    try:
        code = int(pytest.main(["-q", "-x", "--no-header", "-o", f"pythonpath=tests {job['source']}", *job["tests"]]))
    except BaseException:
        traceback.print_exc()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    main()
