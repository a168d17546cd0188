"""Memory and connections have limits: bombs are real ones, made here; what is measured is memory, never time."""

from __future__ import annotations

import gzip
import io
import os
import re
import resource
import socket
import subprocess
import sys
import urllib.request
import zipfile
from pathlib import Path

import numpy as np
import pytest

import tukeydp as td
from support.messy import workbook
from tukeydp.app import reading
from tukeydp.app import server as connections
from tukeydp.app.reading import looked_at, within
from tukeydp.data.files import read_file
from tukeydp.data.readers.options import ReadOptions
from tukeydp.data.readers.sources import InMemory
from tukeydp.trusted.parameters import ParameterError

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the limit is the system's, and only Linux keeps it")
SOURCE = str(Path(td.__file__).parent.parent)
LARGEST = 1 << 20  # bytes of an upload here, 1 MiB: what is read may take 8 MiB
LIMIT = 8 * LARGEST
PIECE, PIECES = 1 << 22, 120  # the bombs unpack to 480 MiB
READER = (100 << 20) + reading.LIBRARIES  # bytes of the reader's process without what it reads


def arrow(column, pieces=1):
    pa = pytest.importorskip("pyarrow")
    out, batch = io.BytesIO(), pa.record_batch({"age": column})
    with pa.ipc.new_file(out, batch.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as file:
        for _ in range(pieces):
            file.write_batch(batch)
    return out.getvalue()


def packed_text():
    return gzip.compress(b"age,pulse\n") + gzip.compress(b"1,2\n" * (PIECE // 4)) * PIECES


def packed_arrow():
    return arrow(np.zeros(PIECE // 8), PIECES)


def nulls():
    """No buffer at all: a number of rows is all there is of them."""
    import pyarrow as pa

    return arrow(pa.nulls(PIECE * PIECES // 8))


def runs():
    import pyarrow as pa

    return arrow(pa.RunEndEncodedArray.from_arrays(pa.array([PIECE * PIECES // 8], pa.int32()), pa.array([1.0])))


def parquet():
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    out, table = io.BytesIO(), pa.table({"age": pa.array(["1" * 1000] * (PIECE // 1000))})
    with parquet.ParquetWriter(out, table.schema) as file:
        for _ in range(PIECES):
            file.write_table(table)
    return out.getvalue()


def sheet():
    """Long texts that are no numbers, many times the same."""
    near, out = zipfile.ZipFile(io.BytesIO(workbook(("S", [["age"]])))), io.BytesIO()
    rows = f'<row><c t="inlineStr"><is><t>{"1" * 30_000}</t></is></c></row>'.encode() * (PIECE // 30_000)
    with near, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for part in near.namelist():
            before, end, after = near.read(part).partition(b"</row>")
            with archive.open(part, "w") as file:
                file.write(before + end)
                for _ in range(PIECES if "worksheets/" in part else 0):
                    file.write(rows)
                file.write(after)
    return out.getvalue()


BOMBS = {
    "t.csv.gz": packed_text, "zstd.arrow": packed_arrow, "nulls.arrow": nulls, "runs.arrow": runs, "t.parquet": parquet,
    "t.xlsx": sheet,
}  # fmt: skip

READ = r"""
import re, resource, sys
from tukeydp.app.reading import looked_at, within
from tukeydp.data.files import read_file
from tukeydp.data.readers.options import ReadOptions
from tukeydp.data.readers.sources import InMemory
from tukeydp.trusted.parameters import ParameterError
name, limit = sys.argv[1], int(sys.argv[2])
content = sys.stdin.buffer.read()
try:
    file = InMemory(name, content)
    if sys.argv[3] == "look":
        within(limit, looked_at, file, None, 1 << 40)
    else:
        within(limit, read_file, file, ["age"], ReadOptions())
    print("read")
except ParameterError as error:
    print(error)
own = re.search(r"VmHWM:\s+(\d+)", open("/proc/self/status").read())[1]  # of this program, not of who started it
print(own, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


def measured(name, content, limit=LIMIT, how="look"):
    """What is said, and the peaks of the page's process and of the reader's, in bytes."""
    environment = {**os.environ, "PYTHONPATH": SOURCE}
    command = [sys.executable, "-c", READ, name, str(limit), how]
    done = subprocess.run(command, input=content, env=environment, capture_output=True, check=True)
    said, peaks = done.stdout.decode().splitlines()
    return said, *(int(peak) << 10 for peak in peaks.split())


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_takes_no_more_memory_than_the_limit(name):
    """Nothing but the limit of the system stands against them: what they declare may be as large as it likes."""
    content = BOMBS[name]()
    assert len(content) < 3 * LARGEST
    said, own, reader = measured(name, content)
    assert "must" in said
    assert own < (100 << 20) + 2 * len(content)
    assert reader < READER + len(content) + LIMIT


def test_without_the_limit_the_same_bomb_is_measured_as_larger():
    """The control: the measurement sees what a bomb takes."""
    said, _, reader = measured("t.arrow", packed_arrow(), limit=1 << 40, how="read")
    assert said == "read"
    assert reader > READER + LIMIT + LARGEST


def test_what_fits_is_read_in_the_other_process_as_it_is_here():
    rows = np.random.default_rng(1).random((20_000, 3)).round(4)
    text = "a,b,c\n" + "\n".join(",".join(map(str, row)) for row in rows.tolist()) + "\n"
    file = InMemory("t.csv", text.encode())
    assert len(file.content) > reading.SMALL
    there = within(LIMIT, read_file, file, ["a", "c"], ReadOptions())
    assert (there.cells == rows[:, [0, 2]]).all()
    look, sheets = within(LIMIT, looked_at, file, None, LIMIT)
    assert (look.rows, sheets) == (20_000, ())
    assert str(look) == str(looked_at(file, None, LIMIT)[0])


def test_a_rule_that_is_broken_there_is_told_here():
    file = InMemory("t.csv", b"a\n" + b"1\n" * reading.SMALL)
    with pytest.raises(ParameterError, match="'b'"):
        within(LIMIT, read_file, file, ["b"], ReadOptions())


@pytest.mark.parametrize("given", [None, "", os.pathsep, "elsewhere"])
def test_nothing_of_the_folder_where_the_page_was_started_is_run(tmp_path, monkeypatch, given):
    """An empty entry of PYTHONPATH stands for that folder, and an empty PYTHONPATH beside another entry is one."""
    if given is None:
        monkeypatch.delenv("PYTHONPATH", raising=False)
    else:
        monkeypatch.setenv("PYTHONPATH", given)
    (tmp_path / "pickle.py").write_text("raise SystemExit('run')")
    (tmp_path / "tukeydp.py").write_text("raise SystemExit('run')")
    monkeypatch.chdir(tmp_path)
    file = InMemory("t.csv", b"a\n" + b"1\n" * reading.SMALL)
    assert len(within(LIMIT, read_file, file, ["a"], ReadOptions()).cells) == reading.SMALL


@pytest.mark.parametrize("kind", ["parquet", "arrow"])
def test_a_release_reads_what_was_sent_and_no_file_of_that_name(make_user, tmp_path, monkeypatch, kind):
    """The name of an upload leads nowhere, also at the release."""
    pytest.importorskip("pyarrow")
    import pandas as pd

    monkeypatch.chdir(tmp_path)
    write = {"parquet": pd.DataFrame.to_parquet, "arrow": pd.DataFrame.to_feather}[kind]
    write(pd.DataFrame({"age": np.full(300, 90.0)}), f"t.{kind}")
    sent = io.BytesIO()
    write(pd.DataFrame({"age": np.full(300, 20.0)}), sent)
    user = make_user()
    user.upload(f"t.{kind}", sent.getvalue())
    user.choose({"age": (0, 100)}, **{"sd-0": "1"})
    user.plan(confidence="", epsilon="3")
    user.release()
    assert user.desk.runs[0].state == "done"
    point = user.desk.runs[0].told.table.rows[0][1]
    assert float(point) < 50


# Connections


def started_under(files):
    """The command on a free port, with so few files; its process and its address."""
    code = f"import resource; resource.setrlimit(resource.RLIMIT_NOFILE, ({files}, {files}))\n"
    code += "import sys; sys.argv = ['tukeydp', 'app', '--demo', '--no-browser']\nfrom tukeydp.cli import main; main()"
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    app = subprocess.Popen([sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": SOURCE}, **pipes)
    address = next(found[0] for line in app.stdout if (found := re.search(r"http://127\.0\.0\.1:\d+/\S+", line)))
    return app, address


def test_hundreds_of_idle_connections_neither_stop_the_page_nor_say_anything():
    """More than the process could have open: silent ones, and ones that have asked half a question."""
    app, address = started_under(files=160)
    port = int(re.search(r":(\d+)/", address)[1])
    opened = []
    try:
        for i in range(200):
            one = socket.create_connection(("127.0.0.1", port), timeout=30)
            if i % 2:
                one.sendall(b"GET / HTTP/1.1\r\nHost: ")
            opened.append(one)
        with urllib.request.urlopen(address, timeout=60) as answer:
            assert answer.status == 200
        assert len(os.listdir(f"/proc/{app.pid}/fd")) < 160
    finally:
        for one in opened:
            one.close()
        app.terminate()
        said = app.communicate(timeout=60)
    assert said[1] == ""


def test_a_question_that_is_never_finished_is_cut_off(user, served, monkeypatch):
    monkeypatch.setattr(connections, "SECONDS_TO_ASK", 0.1)
    with served(user.session) as address:
        port = int(re.search(r":(\d+)/", address)[1])
        for begun in (
            b"",
            b"GET / HTTP/1.1\r\n",
            b"GET /static/app.css HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\nGET" % port,
        ):
            with socket.create_connection(("127.0.0.1", port), timeout=60) as one:
                one.sendall(begun)
                answer = b""
                while block := _received(one):
                    answer += block
            assert (b"200 OK" in answer) == (b"static" in begun)


def _received(one):
    try:
        return one.recv(1 << 16)
    except ConnectionResetError:
        return b""


def test_one_that_is_being_answered_never_makes_room(user, served, monkeypatch):
    monkeypatch.setattr(connections, "MOST", 3)
    with served(user.session) as address:
        port = int(re.search(r":(\d+)/", address)[1])
        asking = socket.create_connection(("127.0.0.1", port), timeout=60)
        cookie, proof = _admitted(address), user_proof(address)
        head = (
            f"POST /look HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nCookie: {cookie}\r\nSec-Fetch-Site: same-origin\r\n"
            f"Content-Type: multipart/form-data; boundary=x\r\nContent-Length: 1000\r\n\r\n"
        )
        asking.sendall(head.encode())
        silent = [socket.create_connection(("127.0.0.1", port), timeout=60) for _ in range(20)]
        body = f'--x\r\nContent-Disposition: form-data; name="proof"\r\n\r\n{proof}\r\n--x--\r\n'
        asking.sendall(body.encode().ljust(1000, b"\n"))
        assert asking.recv(1 << 16).startswith(b"HTTP/1.1 303")
        for one in (asking, *silent):
            one.close()


def _admitted(address):
    with urllib.request.urlopen(address) as answer:
        return answer.headers["Set-Cookie"].split(";")[0]


def user_proof(address):
    page = urllib.request.Request(address.split("?")[0], headers={"Cookie": _admitted(address)})
    with urllib.request.urlopen(page) as answer:
        return re.search(r'name="proof" value="([^"]+)"', answer.read().decode())[1]


def test_the_limits_are_those_that_the_pages_say():
    from tukeydp.app.session import LARGEST_FILE, Session

    assert (LARGEST_FILE, connections.MOST) == (256 << 20, 64)
    assert Session.__dataclass_fields__["largest"].default * 8 == 2 << 30
    assert resource.getrlimit(resource.RLIMIT_AS)[0] == resource.RLIM_INFINITY  # no limit leaked into this process
