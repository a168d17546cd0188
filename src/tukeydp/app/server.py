"""Start and stop: one process, this machine only, a browser on the page; few connections, none silent for long."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
import tempfile
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from tukeydp.app.pages import application
from tukeydp.app.phrases import phrases
from tukeydp.app.session import Session
from tukeydp.trusted.parameters import ParameterError

# How many connections are kept, and for how long one may be silent: a program that opens many must not stop the page.
#
# Connections are cheap to open and cost a file each, of which a process has some hundreds. At the limit the one that
# has been idle for longest makes room for the new one; one that is being answered never does.

MOST = 64  # connections: a browser keeps six; a process may have 256 files open (macOS) or 1,024
SECONDS_TO_ASK = 10.0  # from the first byte of a request, or from the opening, to the end of its headers


class Connection(H11Protocol):
    """HTTP as uvicorn speaks it, with the two limits."""

    _timer: asyncio.TimerHandle | None = None
    _since = 0.0

    @property
    def idle(self) -> bool:
        """Whether nothing was asked that is not answered yet."""
        return self.cycle is None or self.cycle.response_complete

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._since = self.loop.time()
        self._watch()
        if len(self.connections) > MOST:
            silent = [one for one in self.connections if isinstance(one, Connection) and one.idle]
            min(silent, key=lambda one: one._since).transport.abort()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._watch()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._since = self.loop.time()
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._unset()

    def _watch(self) -> None:
        """Bytes that trickle in buy no time: the clock starts once for each request."""
        if not self.idle:
            self._unset()
        elif self._timer is None:
            self._timer = self.loop.call_later(SECONDS_TO_ASK, self.transport.abort)

    def _unset(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


class Server(uvicorn.Server):
    """A server that is silent when the system has no file left for a connection; it tries again a second later."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        asyncio.get_running_loop().set_exception_handler(_silent)
        await super().startup(sockets=sockets)


def _silent(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Tracebacks may hold data; the terminal is for the address."""
    if os.environ.get("TUKEYDP_DEBUG"):
        loop.default_exception_handler(context)


# Start and stop: one process, this machine only, and a browser on the page.

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
