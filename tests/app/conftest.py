"""A page as its user has it, in this process: asked directly, or served to a browser."""

from __future__ import annotations

import re
import threading
import time
from contextlib import contextmanager

import pytest
from starlette.testclient import TestClient

import tukeydp as td
from tukeydp.app.pages import application
from tukeydp.app.release import Desk
from tukeydp.app.server import Server, bound, configured
from tukeydp.app.session import Session

PORT = 8477
OURS = {"sec-fetch-site": "same-origin"}


class User:
    """A browser with the token, and what is behind the page."""

    def __init__(self, account=None, *, seed=7, folder=None, ledger=None, largest=1 << 20):
        self.account = td.Accountant(epsilon=3) if account is None else account
        self.desk = Desk(self.account, folder=folder, ledger=ledger, seed=seed, pad_to=None)
        self.session = Session(self.account, self.desk, ledger=None, largest=largest)
        self.guard = application(self.session, PORT)
        self.browser = self.another()
        assert self.browser.get("/", params={"token": self.guard.token}).status_code == 200

    def another(self):
        """A browser of somebody who has no token."""
        return TestClient(self.guard, base_url=f"http://127.0.0.1:{PORT}")

    def get(self, path):
        return self.browser.get(path)

    def post(self, path, fields=None, *, headers=OURS, file=None, proof=True):
        sent = {name: (None, str(value)) for name, value in (fields or {}).items()}
        if proof:
            sent["proof"] = (None, self.guard.proof)
        if file is not None:
            sent["file"] = file
        return self.browser.post(path, files=sent, headers=headers, follow_redirects=False)

    def upload(self, name, content, **fields):
        self.post("/upload", fields, file=(name, content))
        return self.get("/").text

    def choose(self, bounds, **fields):
        """Columns by name with their bounds, then whatever else."""
        names = self.session.names
        for name, (lower, upper) in bounds.items():
            j = names.index(name)
            fields |= {f"use-{j}": "on", f"lower-{j}": lower, f"upper-{j}": upper}
        for field in ("by", "person", "weights"):
            if field in fields:
                fields[field] = names.index(fields[field])
        answer = self.post("/columns", fields)
        assert answer.headers["location"] == "/plan", self.get("/").text
        return answer

    def plan(self, **fields):
        return self.post("/plan", fields)

    def number(self):
        """What the page with the button carries."""
        page = self.get("/release").text
        found = re.search(r'name="number" value="([^"]+)"', page)
        assert found is not None, page
        return found[1]

    def release(self, number=None, **fields):
        self.post("/release", {"number": self.number() if number is None else number, **fields})
        self.desk.finish()
        return self.get("/release").text


@pytest.fixture
def user():
    return User()


@pytest.fixture
def make_user():
    return User


@pytest.fixture
def served():
    return _served


@contextmanager
def _served(session):
    """The page on a free port, in a thread: its address with the token."""
    with bound(0) as listening:
        port = listening.getsockname()[1]
        guard = application(session, port)
        server = Server(configured(guard))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            while not server.started:
                time.sleep(0.01)
            yield f"http://127.0.0.1:{port}/?token={guard.token}"
        finally:
            server.should_exit = True
            thread.join()
