"""Start and stop as its user does: a command, an address, Ctrl-C."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import stat
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import httpx2
import pytest

import tukeydp as td
from tukeydp.app import server
from tukeydp.app.server import USUAL_PORT, bound
from tukeydp.trusted.parameters import ParameterError

SOURCE = str(Path(td.__file__).parent.parent)


def started(folder, *options):
    command = [sys.executable, "-m", "tukeydp", "app", "--no-browser", *options]
    paths = {"PYTHONPATH": SOURCE, "OMP_NUM_THREADS": "1"}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen(command, cwd=folder, env={**os.environ, **paths}, **pipes)


def test_a_command_an_address_and_ctrl_c(tmp_path):
    with started(tmp_path, "--epsilon", "2") as app:
        address = next(found[0] for line in app.stdout if (found := re.search(r"http://127\.0\.0\.1:\d+/\S+", line)))
        with urllib.request.urlopen(address) as answer:
            assert answer.status == 200
            cookie = answer.headers["Set-Cookie"].split(";")[0]
        bare = address.split("?")[0]
        with pytest.raises(urllib.error.HTTPError, match="403"):
            urllib.request.urlopen(bare)
        with urllib.request.urlopen(urllib.request.Request(bare, headers={"Cookie": cookie})) as page:
            assert "epsilon = 2 of 2" in page.read().decode()
        app.send_signal(signal.SIGINT)
        out, err = app.communicate(timeout=60)
    assert app.returncode == 0
    assert "Stopped. The table is gone from memory." in out
    assert err == ""
    token = address.partition("token=")[2]
    assert token not in out + err  # what was printed after the address: nothing is logged
    assert list(tmp_path.iterdir()) == []  # the ledger is made when it first pays


@pytest.mark.slow
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_ctrl_c_and_a_closed_window_wait_for_a_release_that_has_begun(tmp_path, name):
    if signal.getsignal(getattr(signal, name)) is signal.SIG_IGN:
        pytest.skip(f"{name} is ignored here, as under nohup, and so by the app: it goes on, as it should")
    rows = "a\n" + "".join(f"{i % 50}\n" for i in range(300))
    with started(tmp_path, "--seed", "7", "--pad-to", "3") as app:
        address = next(found[0] for line in app.stdout if (found := re.search(r"http://127\.0\.0\.1:\d+/\S+", line)))
        with httpx2.Client(base_url=address.split("?")[0], headers={"sec-fetch-site": "same-origin"}) as browser:
            browser.get("/", params={"token": address.partition("token=")[2]})
            proof = re.search(r'name="proof" value="([^"]+)"', browser.get("/").text)[1]

            def post(path, file=None, **fields):
                sent = {name: (None, value) for name, value in {"proof": proof, **fields}.items()}
                browser.post(path, files=sent if file is None else {**sent, "file": file})

            post("/upload", ("t.csv", rows))
            post("/columns", **{"use-0": "on", "lower-0": "0", "upper-0": "100"})
            post("/plan", statistic="centre", epsilon="0.5")
            number = re.search(r'name="number" value="([^"]+)"', browser.get("/release").text)[1]
            post("/release", number=number)
            assert "The release is running." in browser.get("/release").text
        app.stdout.close()  # nobody is there to read
        app.send_signal(getattr(signal, name))
        assert app.wait(120) == 0
        assert app.stderr.read() == ""
    found = json.loads((tmp_path / "tukeydp-ledger-releases" / "0001-centre" / "result.json").read_text())
    values = [[i % 50] for i in range(300)]
    assert found["point"] == td.boxem(values, epsilon="0.5", bounds=(0, 100), randomness=td.seeded(7)).point.tolist()
    assert td.Accountant.open(tmp_path / "tukeydp-ledger.db").totals.count == 1


def test_a_port_that_is_taken_is_told_or_another_is_taken(tmp_path):
    with bound(0) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ParameterError, match="port must be free"), bound(port):
            pass
        with started(tmp_path, "--demo", "--port", str(port)) as app:
            err = app.communicate(timeout=60)[1]
    assert app.returncode == 2
    assert "port must be free" in err
    assert "Traceback" not in err
    with bound(None) as first, bound(None) as second:
        assert first.getsockname()[1] != second.getsockname()[1]
        assert {address.getsockname()[0] for address in (first, second)} == {"127.0.0.1"}
        assert USUAL_PORT == 8477


def test_only_this_machine_is_bound():
    with bound(0) as listening:
        assert listening.family == socket.AF_INET
        assert listening.getsockname()[0] == "127.0.0.1"


def test_the_token_is_not_among_the_arguments_of_the_browser(monkeypatch):
    opened = []

    def look(address):
        path = Path(address.removeprefix("file://"))
        opened.append((address, path.read_text(), stat.S_IMODE(path.parent.stat().st_mode)))
        return True

    monkeypatch.setattr(server.webbrowser, "open", look)
    with server._opened("http://127.0.0.1:1/?token=secret"):
        pass
    ((address, page, mode),) = opened
    assert "secret" not in address
    assert "url=http://127.0.0.1:1/?token=secret" in page
    assert mode == 0o700
    assert not Path(address.removeprefix("file://")).exists()


def test_without_the_extra_the_command_says_what_to_install(tmp_path):
    (tmp_path / "starlette.py").write_text("raise ImportError(name='starlette')")
    environment = {**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{SOURCE}"}
    command = [sys.executable, "-m", "tukeydp", "app", "--demo", "--no-browser"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 2
    assert 'app needs starlette: pip install "tukeydp[app]"' in done.stderr
