"""Who may ask, from where, and for how much; and what is said when something goes wrong."""

from __future__ import annotations

import gzip
import io
import re
import tempfile
import zipfile

import numpy as np
import pytest

from support.messy import workbook
from tukeydp.app.phrases import phrases
from tukeydp.app.safety import HEADERS

ERRORS = phrases()["errors"]
PAGES = ["/", "/plan", "/release", "/take-away", "/status", "/ledger/json", "/take-away/1/report.html"]
FORMS = ["/upload", "/read", "/columns", "/look", "/erase", "/plan", "/release"]
SECRET = "81236.125"  # a cell that must turn up nowhere
INLINE = re.compile(r'<script(?! src="/static/app.js")|<style|\sstyle=|\son\w+=|javascript:|https?://')
TABLE = f"age,pulse\n{SECRET},70\n61,72\n".encode()


def test_a_second_user_without_the_token_gets_nothing(user):
    stranger = user.another()
    for path in PAGES:
        answer = stranger.get(path)
        assert answer.status_code == 403
        assert ERRORS["403"] in answer.text
    for path in FORMS:
        sent = {"proof": (None, user.guard.proof)}
        assert stranger.post(path, files=sent, headers={"sec-fetch-site": "same-origin"}).status_code == 403
    for token in ("", "x", user.guard.token[:-1], user.guard.token + "x", "ü"):
        answer = stranger.get("/", params={"token": token})
        assert answer.status_code == 403
        assert "set-cookie" not in answer.headers


def test_the_token_becomes_a_cookie_that_scripts_and_other_sites_do_not_have(user):
    answer = user.another().get("/", params={"token": user.guard.token})
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert user.guard.token.lower() not in cookie
    assert user.guard.token not in answer.text


@pytest.mark.parametrize("host", ["evil.example:8477", "127.0.0.1", "127.0.0.1:80", "localhost.evil.example:8477", ""])
def test_another_host_is_refused(user, host):
    """A name of somebody else that leads to this machine: DNS rebinding."""
    assert user.browser.get("/", headers={"host": host}).status_code == 421
    assert user.post("/erase", headers={"host": host, "sec-fetch-site": "same-origin"}).status_code == 421


@pytest.mark.parametrize(
    "headers",
    [
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},  # another server of this machine
        {"sec-fetch-site": "none"},
        {"sec-fetch-site": "cross-site", "origin": "http://127.0.0.1:8477"},
        {"origin": "http://evil.example"},
        {"origin": "http://127.0.0.1:9999"},
        {"origin": "null"},
        {},
    ],
)
def test_requests_from_other_sites_change_nothing(user, headers):
    user.upload("t.csv", TABLE)
    for path in FORMS:
        assert user.post(path, headers=headers).status_code == 403
    assert user.session.file is not None
    assert user.account.totals.count == 0


def test_our_own_pages_pass_by_origin_too(user):
    assert user.post("/look", headers={"origin": "http://127.0.0.1:8477"}).status_code == 303


def test_a_form_without_the_sessions_proof_changes_nothing(user):
    user.upload("t.csv", TABLE)
    for fields in ({"x": 1}, {"proof": ""}, {"proof": user.guard.proof[:-1]}, {"proof": user.guard.token}):
        assert user.post("/erase", fields, proof=False).status_code == 403
    plain = user.browser.post("/erase", data={"proof": user.guard.proof}, headers={"sec-fetch-site": "same-origin"})
    assert plain.status_code == 400


@pytest.mark.parametrize(
    "path",
    [
        "/static/../pages.py",
        "/static/..%2fpages.py",
        "/static/%2e%2e/pages.py",
        "/static//etc/passwd",
        "/take-away/1/../../../../etc/passwd",
        "/take-away/1/..%2f..%2fetc%2fpasswd",
        "/take-away/1//etc/passwd",
        "/take-away/99/report.html",
        "/take-away/0/report.html",
        "/take-away/-1/report.html",
        "/ledger/..%2f..%2fetc%2fpasswd",
        "/ledger/sqlite",
        "/nothing",
    ],
)
def test_no_path_leads_out(user, path):
    answer = user.get(path)
    assert answer.status_code == 404
    assert ERRORS["404"] in answer.text


@pytest.mark.parametrize("name", ["../../etc/passwd", "/etc/passwd", "..\\..\\boot.ini", "C:\\data\\t.csv", "-", ".."])
def test_the_name_of_an_upload_leads_nowhere(user, name):
    page = user.upload(name, TABLE)
    assert user.session.file.content == TABLE
    assert "/" not in user.session.file
    assert "\\" not in user.session.file
    assert user.session.look.rows == 2
    assert "2 rows" in page


def test_files_stay_in_memory(user, monkeypatch):
    def refused(*_, **__):
        raise AssertionError("written to disk")

    for name in ("TemporaryFile", "NamedTemporaryFile", "mkstemp", "mkdtemp"):
        monkeypatch.setattr(tempfile, name, refused)
    large = b"age,pulse\n" + b"61,72\n" * 160_000
    user.session.largest = user.guard._largest = 2 * len(large)
    user.upload("t.csv", large)
    assert user.session.look.rows == 160_000
    user.post("/erase")
    assert user.session.file is None


def test_what_is_too_large_is_refused_while_it_arrives(make_user):
    user = make_user(largest=1000)
    fitting = b"a\n" + b"1\n" * 499
    assert user.post("/upload", file=("t.csv", fitting)).status_code == 303
    answer = user.post("/upload", file=("t.csv", fitting + b"1\n" * (1 << 23)))
    assert answer.status_code == 413
    assert ERRORS["413"] in answer.text
    assert user.session.file.content == fitting
    assert user.post("/plan", {"epsilon": "1" * (1 << 23)}).status_code == 413


def test_bombs_are_refused(make_user):
    user = make_user(largest=100_000)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/worksheets/sheet1.xml", b"0" * 1_000_000)
    for name, content in (("t.csv.gz", gzip.compress(b"0" * 1_000_000)), ("t.xlsx", packed.getvalue())):
        assert len(content) < 10_000
        assert "must unpack to at most" in user.upload(name, content)
        assert user.session.file is None


def _far_corner(far):
    """A workbook of two cells, the second of them at `far`."""
    packed = io.BytesIO()
    near = zipfile.ZipFile(io.BytesIO(workbook(("S", [["age"]]))))
    with near, zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for part in near.namelist():
            more = f'</row><row><c r="{far}"><v>61</v></c></row>'.encode()
            content = near.read(part)
            archive.writestr(part, content.replace(b"</row>", more) if "worksheets/" in part else content)
    return packed.getvalue()


def test_a_far_corner_of_a_sheet_is_refused_before_the_reader_makes_room_for_it(make_user):
    """The reader would ask for 400 GB, and its compiled part ends the whole program when there are none."""
    user = make_user(largest=1 << 28)
    assert "must unpack to at most" in user.upload("t.xlsx", _far_corner("XFD1048576"))
    assert user.session.file is None
    # One column: a cell that is empty is somebody's, and n does not tell.
    assert "39999 rows" in user.upload("t.xlsx", _far_corner("A40000"))


def test_a_parquet_file_of_very_many_equal_values_is_refused(make_user):
    pytest.importorskip("pyarrow")
    import pyarrow as pa
    from pyarrow import parquet

    def written(rows):
        packed = io.BytesIO()
        parquet.write_table(pa.table({"age": pa.array(np.zeros(rows, dtype=np.int8))}), packed)
        return packed.getvalue()

    user = make_user(largest=1 << 20)  # 8 MiB inside: 262,144 cells
    assert "must unpack to at most" in user.upload("t.parquet", written(300_000))
    assert "200000 rows" in user.upload("t.parquet", written(200_000))


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("t.xlsx", b"PK\x03\x04" + TABLE),
        ("t.xls", b"\xd0\xcf\x11\xe0" + TABLE),
        ("t.parquet", b"PAR1" + TABLE + b"PAR1"),
        ("t.arrow", b"ARROW1\0\0" + TABLE),
        ("t.csv.gz", gzip.compress(TABLE, mtime=0)[:-9]),
        ("t.csv.gz", b"\x1f\x8b" + TABLE),
        ("t.pdf", b"%PDF-" + TABLE),
        ("t.sav", b"$FL2" + TABLE),
        ("t.dta", b"<stata_dta><header>" + TABLE),
        ("t.dta", b"s\x02\x01\0" + TABLE),
        ("t.db", b"SQLite format 3\0" + TABLE),
        ("t.csv", b""),
        ("t.csv", b"\0\0\0\0" + TABLE),
    ],
)
def test_broken_files_are_told_by_the_readers_own_words(user, name, content):
    page = user.upload(name, content)
    assert user.session.file is None or user.session.look.rows == 0 or content.startswith(b"\0")
    assert SECRET not in page
    if not content.startswith(b"\0"):
        assert 'role="alert"' in page
        assert "FILE must" in page


def test_every_answer_has_the_headers_and_no_page_has_inline_code(user):
    user.session.load_made_up()
    user.choose({"systolic": (60, 240)}, by="clinic", keys="North\nSouth")
    user.plan(statistic="summary")
    user.release()
    pages = [*PAGES, "/nothing", "/static/app.css", "/plan?rehearse"]
    answers = [user.get(path) for path in pages] + [user.another().get("/"), user.post("/erase", proof=False)]
    for answer in answers:
        for name, value in HEADERS.items():
            assert answer.headers[name] == value
        assert "server" not in answer.headers
    for path in ("/", "/plan?rehearse", "/release", "/take-away", "/nothing"):
        text = user.get(path).text
        assert (
            re.search(r"<script(?! src=\"/static/app.js\")|<style|\sstyle=|\son\w+=|javascript:|https?://", text)
            is None
        )
    assert 'attachment; filename="release-1-report.html"' in answers[6].headers["content-disposition"]


def test_names_of_columns_are_text(user):
    page = user.upload("<b>x.csv", b'<script>alert(1)</script>,"a\'""b"\n1,2\n3,4\n')
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert" in page
    user.choose({"<script>alert(1)</script>": (0, 10)}, **{"unit-0": "<i>"})
    assert "<script>alert" not in user.get("/plan").text + user.get("/release").text


def test_what_goes_wrong_is_neither_shown_nor_logged(user, monkeypatch, caplog, capsys):
    def fails(*_):
        raise ValueError(SECRET)

    monkeypatch.setattr(type(user.account), "remaining", fails)
    for path in ("/", "/plan", "/release"):
        answer = user.get(path)
        assert answer.status_code == 500
        assert ERRORS["500"] in answer.text
        assert SECRET not in answer.text
    assert SECRET not in caplog.text
    assert SECRET not in "".join(capsys.readouterr())


def test_with_the_look_hidden_no_page_before_the_release_depends_on_a_cell(make_user):
    rows = [f"{20 + i % 60},{60 + i % 40},{'ABC'[i % 3]}" for i in range(300)]
    pages = []
    for odd in ("1,2,A", "-999,oops,C", ",,", "1e9,70 bpm,other"):
        user = make_user()
        table = "age,pulse,ward\n" + "\n".join([*rows[:150], odd, *rows[150:]])
        shown = user.upload("t.csv", table.encode(), hidden="on")
        user.choose({"age": (0, 120), "pulse": (30, 220)}, by="ward", keys="A\nB")
        user.plan(statistic="summary")
        shown += "".join(user.get(path).text for path in ("/", "/plan", "/plan?wish", "/release", "/take-away"))
        pages.append(re.sub(r'name="(proof|number)" value="[^"]+"', "", shown))
        assert user.post("/look").status_code == 303
        looks = user.get("/").text
        assert ("oops" in looks) == ("oops" in odd)  # the control: what the owner sees does depend on cells
    assert len(set(pages)) == 1


def test_a_double_click_on_hide_does_not_show(user):
    user.upload("t.csv", TABLE)
    for _ in range(2):
        user.post("/look", {"hidden": "on"})
        assert SECRET not in user.get("/").text
        assert user.session.hidden
    user.post("/look")
    assert not user.session.hidden


def test_odd_methods_and_odd_bodies(user):
    assert user.browser.request("DELETE", "/").status_code == 405
    assert user.browser.request("OPTIONS", "/").status_code == 405
    kind = {"content-type": "multipart/form-data; boundary=x", "sec-fetch-site": "same-origin"}
    for body in (b"", b"nonsense", b"--x\r\n\r\n", b"--x--"):
        assert user.browser.post("/erase", content=body, headers=kind).status_code in (400, 403)
    kind["content-type"] = "multipart/form-data"
    assert user.browser.post("/erase", content=b"x", headers=kind).status_code == 400
