"""Who may ask, from where, and for how much: in front of every page.

Only this machine (a name that merely leads here, as in DNS rebinding, is refused), only who has the token, only from
our own pages, and never more bytes than a limit. What goes wrong is told in a fixed phrase, whatever it was.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import AsyncGenerator, Callable
from hmac import compare_digest
from typing import Any

from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
FIELDS = 1 << 23  # bytes of all typed texts together, 8 MiB: what a sheet of 16,384 columns may send
_OPEN = "/static/"  # what may be asked for without the token: our stylesheet and script
_LANDING = (
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><meta http-equiv="refresh" content="0;url=/">'
    '<title>tukeydp</title><link rel="icon" href="data:,"></head><body><a href="/">tukeydp</a></body></html>'
)


class TooLarge(Exception):
    """More bytes than are taken."""


class _Fields(MultiPartParser):
    """Files stay in memory, however large: the limit is kept while bytes arrive."""

    spool_max_size = 1 << 62


class Guard:
    """An ASGI application around another one. `fail(status)` is a page with a fixed phrase."""

    def __init__(self, app: ASGIApp, *, port: int, largest: int, fail: Callable[[int], str]) -> None:
        self._app, self._largest, self._fail = app, largest, fail
        self.token, self._cookie, self.proof = (secrets.token_urlsafe(32) for _ in range(3))
        self._cookie_name = f"tukeydp-{port}"
        self._hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        begun = False

        async def guarded(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                kept = [pair for pair in message.get("headers", ()) if pair[0] != b"server"]
                message["headers"] = kept + [(n.lower().encode(), v.encode()) for n, v in HEADERS.items()]
            await send(message)

        request = Request(scope, receive)
        try:
            response = await self._judged(request)
            await (self._app if response is None else response)(scope, receive, guarded)
        except ClientDisconnect:
            return
        except Exception:
            if os.environ.get("TUKEYDP_DEBUG"):
                raise
            if not begun:
                await self._refusal(500)(scope, receive, guarded)

    def _refusal(self, status: int) -> Response:
        return HTMLResponse(self._fail(status), status)

    async def _judged(self, request: Request) -> Response | None:
        """None lets it pass, with the fields of a form in `request.state.form`."""
        if request.headers.getlist("host") not in [[host] for host in self._hosts]:
            return self._refusal(421)
        if request.method not in ("GET", "HEAD", "POST"):
            return self._refusal(405)
        if request.method != "POST" and request.url.path.startswith(_OPEN):
            return None
        if request.method == "GET" and "token" in request.query_params:
            return self._landing(request.query_params["token"])
        if not compare_digest(request.cookies.get(self._cookie_name, "").encode(), self._cookie.encode()):
            return self._refusal(403)
        return await self._judged_form(request) if request.method == "POST" else None

    def _landing(self, token: str) -> Response:
        """The token becomes a cookie, and the address is clean again.

        By a page of ours and not by a redirect: a strict cookie is not sent along where another page led here.
        """
        if not compare_digest(token.encode(), self.token.encode()):
            return self._refusal(403)
        page = HTMLResponse(_LANDING)
        page.set_cookie(self._cookie_name, self._cookie, httponly=True, samesite="strict", path="/")
        return page

    async def _judged_form(self, request: Request) -> Response | None:
        if not _from_our_pages(request):
            return self._refusal(403)
        try:
            form: dict[str, Any] = await self._fields(request)
        except TooLarge:
            return self._refusal(413)
        except (MultiPartException, UnicodeDecodeError, KeyError, ValueError):
            return self._refusal(400)
        if not compare_digest(str(form.pop("proof", "")).encode(), self.proof.encode()):
            return self._refusal(403)
        request.state.form = form
        return None

    async def _fields(self, request: Request) -> dict[str, Any]:
        most = FIELDS + (self._largest if request.url.path == "/upload" else 0)
        # All is read, also what is too large: a browser shows no answer before it has sent everything.
        size = 0

        async def counted() -> AsyncGenerator[bytes, None]:
            nonlocal size
            async for block in request.stream():
                size += len(block)
                if size <= most:
                    yield block

        if not request.headers.get("content-type", "").startswith("multipart/form-data"):
            raise ValueError
        parser = _Fields(request.headers, counted(), max_files=1, max_fields=100_000, max_part_size=FIELDS)
        try:
            return dict((await parser.parse()).items())
        finally:
            if size > most:
                raise TooLarge


def _from_our_pages(request: Request) -> bool:
    """By what the browser says of who asks; one that says nothing has to name our own address as the origin."""
    site = request.headers.get("sec-fetch-site")
    if site is not None:
        return site == "same-origin"
    return request.headers.get("origin") == f"http://{request.headers['host']}"
