"""Start and stop: one process, this machine only, and a browser on the page."""

from __future__ import annotations

import os
import signal
import socket
import sys
import tempfile
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path

import uvicorn
from starlette.types import ASGIApp

from tukeydp.app.connections import MOST, Connection, Server
from tukeydp.app.pages import application
from tukeydp.app.phrases import phrases
from tukeydp.app.session import Session
from tukeydp.errors import ParameterError

USUAL_PORT = 8477
_SECONDS = 2  # that open connections may take to end; a release is waited for as long as it takes


def serve(session: Session, *, port: int | None, browser: bool, language: str, say: Callable[[str], None]) -> None:
    """Until Ctrl-C. A release that has begun is finished first: its budget is spent. A second Ctrl-C ends at once."""
    words = phrases(language)["terminal"]
    _interrupted_by("SIGTERM", "SIGHUP")  # the latter: its window was closed
    with bound(port) as listening:
        own_port = listening.getsockname()[1]
        app = application(session, own_port, language)
        address = f"http://127.0.0.1:{own_port}/?token={app.token}"
        say(words["open"].format(address=address))
        with _opened(address) if browser and _has_screen() else nullcontext(), suppress(KeyboardInterrupt):
            Server(configured(app)).run(sockets=[listening])
        with suppress(OSError, SystemExit):  # nobody may be there to read it
            say(words["stopping"])
        with suppress(KeyboardInterrupt):
            session.desk.close()
        session.erase()
        with suppress(OSError, SystemExit):
            say(words["stopped"])


def _interrupted_by(*names: str) -> None:
    """What ends a program stops this one as Ctrl-C does; not every system has all of them."""
    for name in names:
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.default_int_handler)


def configured(app: ASGIApp) -> uvicorn.Config:
    """Nothing is logged: addresses hold the token, and tracebacks may hold data."""
    return uvicorn.Config(
        app, log_config=None, log_level="critical", access_log=False, server_header=False, lifespan="off", ws="none",
        http=Connection, backlog=MOST, loop="asyncio", timeout_graceful_shutdown=_SECONDS,
    )  # fmt: skip


@contextmanager
def bound(port: int | None) -> Iterator[socket.socket]:
    """The port asked for; else the usual one or, where that is taken, any that is free."""
    for wanted in (USUAL_PORT, 0) if port is None else (port,):
        listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        if sys.platform != "win32":  # there it would let two servers share a port
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind(("127.0.0.1", wanted))
            listening.listen(MOST)
        except OSError as error:
            listening.close()
            if wanted == port:
                raise ParameterError("port", "must be free", f"{port} ({error.strerror})") from None
            continue
        with listening:
            yield listening
        return


def _has_screen() -> bool:
    """A browser in the terminal would take it over."""
    return sys.platform in ("win32", "darwin") or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


@contextmanager
def _opened(address: str) -> Iterator[None]:
    """By a file that only this user can read: what a browser is called with, other users can see."""
    with tempfile.TemporaryDirectory(prefix="tukeydp-") as folder:
        page = Path(folder) / "open.html"
        page.write_text(f'<!doctype html><meta http-equiv="refresh" content="0;url={address}">', encoding="utf-8")
        with suppress(Exception):
            webbrowser.open(page.as_uri())
        yield
