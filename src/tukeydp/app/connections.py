"""How many connections are kept, and for how long one may be silent: a program that opens many must not stop the page.

Connections are cheap to open and cost a file each, of which a process has some hundreds. At the limit the one that has
been idle for longest makes room for the new one; one that is being answered never does.
"""

from __future__ import annotations

import asyncio
import os
import socket
from typing import Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

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
