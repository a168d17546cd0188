"""Any bytes in any format, through the commands: an exit code that is documented, no traceback, no cell quoted."""

from __future__ import annotations

import contextlib
import io
import math
import sys
from unittest.mock import patch

from hypothesis import example, given, settings
from hypothesis import strategies as st

from support import messy
from tukeydp.cli import main
from tukeydp.data.files import READERS

SECRET = "secret4711"
STARTS = [b"", b"a,b\n", b"a\n", b"\xff\xfe", b"\x1f\x8b\x08", b"PK\x03\x04", b"PAR1", b"ARROW1\0\0", b"sep=;\n", b'"a']
CASES = [case for case in messy.FILES if case.name in ("packed.csv.gz", "book.xlsx", "table.parquet", "table.feather")]
ENDINGS = sorted(ending for known in READERS.values() for ending in known.endings)
CHANGES = st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.integers(0, 255)), max_size=4)


def typed(*arguments):
    out, err = io.StringIO(), io.StringIO()
    words = patch.object(sys, "argv", ["tukeydp", *map(str, arguments)])
    with words, contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main()
        except SystemExit as stopped:
            return stopped.code or 0, out.getvalue(), err.getvalue()
    raise AssertionError("main comes to an end by itself")


def check(path, *options):
    asked = ("--epsilon=300", "--bounds=0,1", "--mechanism=cube", "--columns=a", *options)
    code, out, err = typed("mean", path, *asked)
    assert code in (0, 2, 3), err
    assert "Traceback" not in err
    assert SECRET not in out + err
    assert (err == "") == (code in (0, 3))
    code, _, err = typed("look", path, *options)
    assert code in (0, 2), err
    assert "Traceback" not in err
    assert SECRET not in err


@given(
    st.sampled_from(STARTS),
    st.binary(max_size=120),
    st.sampled_from(ENDINGS),
    st.sampled_from(
        [(), ("--no-header",), ("--encoding=utf-16",), ("--quote=none",), ("--skip=1",), ("--format=csv",)]
    ),
)
@example(b"a\n", b"\n1\n", ".csv", ())
@example(b"PAR1", b"", ".csv", ("--format=csv",))
@settings(max_examples=120, deadline=None)
def test_any_bytes_in_any_format(tmp_path_factory, start, more, ending, options):
    path = tmp_path_factory.mktemp("fuzz") / f"t{ending}"
    path.write_bytes(start + SECRET.encode() + more + b"\n1\n" + SECRET.encode() + b",2\n")
    check(path, *options)


@given(st.sampled_from(CASES), CHANGES, st.floats(0.5, 1))
@settings(max_examples=80, deadline=None)
def test_damaged_containers(tmp_path_factory, case, changes, share):
    content = bytearray(case.content)
    for where, byte in changes:
        content[int(where * len(content))] = byte
    path = tmp_path_factory.mktemp("fuzz") / case.name
    path.write_bytes(content[: math.ceil(share * len(content))])
    check(path)
