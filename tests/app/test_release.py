"""A release is paid for once, is what the page said, and is the library's own."""

from __future__ import annotations

import gc
import json
import os
import signal
import stat
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import nbformat
import numpy as np
import pytest

import tukeydp as td
from support.messy import workbook
from tukeydp.app import keeping
from tukeydp.app import release as module
from tukeydp.app.phrases import phrases
from tukeydp.app.results import FILES
from tukeydp.cli import reports
from tukeydp.data.files import read_file
from tukeydp.data.readers.options import ReadOptions
from tukeydp.data.readers.sources import InMemory
from tukeydp.trusted.parameters import ParameterError

WORDS = phrases()["release"]
RNG = np.random.default_rng(5)
ROWS = [
    [int(age), round(float(weight), 1), "ABC"[place]]
    for age, weight, place in zip(RNG.normal(60, 9, 400), RNG.normal(75, 12, 400), RNG.integers(0, 3, 400), strict=True)
]
CSV = "age;weight;clinic\n" + "".join(f"{a};{w}".replace(".", ",") + f";{c}\n" for a, w, c in ROWS)
X = np.array([row[:2] for row in ROWS])
BOUNDS = {"age": ("18", "100"), "weight": ("30", "200")}
ENDS = ([18, 30], [100, 200])


@pytest.fixture
def ready(user):
    user.upload("clinic.csv", CSV.encode())
    user.choose(BOUNDS, by="clinic", keys="A\nB\nC")
    user.plan(statistic="summary")
    return user


def test_decimal_commas_are_found_and_the_numbers_are_the_librarys(user):
    user.upload("clinic.csv", CSV.encode())
    user.choose(BOUNDS, **{"sd-0": "9", "sd-1": "12,5"})
    user.plan(confidence="")
    page = user.release()
    expected = td.mean(X, epsilon=1, bounds=ENDS, sd=[9, "12.5"], check=True, randomness=td.seeded(7))
    found = json.loads(user.get("/take-away/1/result.json").text)
    assert found["point"] == expected.point.tolist()
    for value in expected.point:
        assert f"{value:.6g}" in page
    assert WORDS["seeded"] in page


def test_means_of_groups_too_small_to_tell_are_shown_as_such(user):
    user.upload("clinic.csv", CSV.encode())
    user.choose(BOUNDS, by="clinic", keys="A\nB\nC\nnobody there")
    user.plan(statistic="mean", epsilon="0.05")
    assert "too few values to tell" in user.release()


def test_the_centre_and_table_one_by_groups_are_the_librarys(user):
    book = workbook(("notes", [["Exported by hand"]]), ("data", [["age", "weight", "clinic"], *ROWS]))
    assert "sheets: " in user.upload("export.xlsx", book)
    user.post("/read", {"sheet": "data", "decimal": "."})
    user.choose(BOUNDS, by="clinic", keys="A\nB\nC\nD")
    user.plan(statistic="summary", epsilon="1", confidence="0.95")
    user.release()
    by = [row[2] for row in ROWS]
    asked = {"by": by, "keys": list("ABCD"), "bounds": ENDS, "check": True}
    expected = td.summary(X, epsilon=1, confidence=0.95, randomness=td.seeded(7), **asked)
    lines = json.loads(user.get("/take-away/1/result.json").text)["lines"]
    numbers = ("group", "n", "mean", "sd", "lower", "upper")
    assert [[line[name] for name in numbers] for line in lines] == [
        [line.to_dict()[name] for name in numbers] for line in expected.lines
    ]
    assert all(line["lower"] < line["mean"] < line["upper"] for line in lines[:3])
    user.plan(statistic="centre", epsilon="0.5")
    user.release(again="on")
    centres = td.boxem(X, epsilon="0.5", randomness=td.seeded(7), **(asked | {"check": False}))  # 400 rows are too few
    found = json.loads(user.get("/take-away/2/result.json").text)
    assert [found["groups"][key]["point"] for key in "ABCD"] == [one.point.tolist() for one in centres.values()]


def test_persons_are_protected_by_a_ledger_for_persons(make_user):
    account = td.Accountant(epsilon=1, neighbours="swap-person")
    user = make_user(account)
    rows = "".join(f"p{i % 200},{a}\n" for i, (a, _, _) in enumerate(ROWS))
    user.upload("visits.csv", f"id,age\n{rows}".encode())
    refused = user.post("/columns", {"use-1": "on", "lower-1": "18", "upper-1": "100"})
    assert refused.headers["location"] == "/"
    assert "this budget protects persons" in user.get("/").text
    user.choose({"age": (18, 100)}, person="id", **{"sd-1": "9"})
    user.plan(confidence="", rows="200")
    user.release()
    ids = [f"p{i % 200}" for i in range(400)]
    expected = td.mean(X[:, :1], person=ids, epsilon=1, bounds=(18, 100), sd=9, randomness=td.seeded(7))
    assert json.loads(user.get("/take-away/1/result.json").text)["point"] == expected.point.tolist()
    assert account.history[0].guarantee.neighbours == "swap-person"


def test_a_budget_for_rows_takes_no_persons(ready):
    ready.session.typed |= {"person": "2", "by": "", "keys": ""}
    assert "must be left out" in ready.get("/plan").text


def test_the_same_number_posted_twice_is_one_release(ready):
    number = ready.number()
    first, second = ready.release(number), ready.release(number)
    assert ready.account.totals.count == 1
    assert len(ready.desk.runs) == 1
    assert "Release 1:" in first
    assert "Release 2:" not in second


def test_one_number_from_many_tabs_at_once_is_one_release(ready):
    number = ready.number()
    with ThreadPoolExecutor(8) as tabs:
        answers = list(tabs.map(lambda _: ready.post("/release", {"number": number}).status_code, range(16)))
    ready.desk.finish()
    assert answers == [303] * 16
    assert (ready.account.totals.count, len(ready.desk.runs)) == (1, 1)


def test_two_tabs_that_were_opened_before_any_release_spend_once(ready):
    numbers = [ready.number(), ready.number()]
    ready.release(numbers[0])
    page = ready.release(numbers[1], again="on")
    assert WORDS["stale"] in page
    assert ready.account.totals.count == 1


def test_two_tabs_at_once_spend_once(ready):
    numbers = [ready.number() for _ in range(8)]
    with ThreadPoolExecutor(8) as tabs:
        list(tabs.map(lambda number: ready.post("/release", {"number": number}), numbers))
    ready.desk.finish()
    assert ready.account.totals.count == 1


def test_a_second_release_says_so_and_wants_a_tick(ready):
    ready.release()
    page = ready.get("/release").text
    assert WORDS["second"].format(count=1, cost="1") in page
    assert WORDS["tick"] in ready.release()
    assert ready.account.totals.count == 1
    ready.release(again="on")
    assert ready.account.totals.count == 2


def test_what_was_changed_since_the_page_was_shown_is_not_released(ready):
    groups = {"by": "clinic", "keys": "A\nB"}
    for change in (
        lambda: ready.plan(epsilon="2"),
        lambda: ready.choose({"age": (18, 100)}, **groups),
        lambda: (
            ready.upload("clinic.csv", CSV.encode())
            and ready.choose(BOUNDS, **groups)
            and ready.plan(statistic="summary")
        ),
        lambda: ready.account.spend("0.1"),
        lambda: ready.post("/erase"),
    ):
        number = ready.number()
        change()
        spent = ready.account.totals.count
        assert WORDS["stale"] in ready.release(number)
        assert ready.account.totals.count == spent
    for number in ("", "nonsense"):
        ready.post("/release", {"number": number})
    assert not ready.desk.runs


def test_one_at_a_time(ready, monkeypatch):
    going, gate = threading.Event(), threading.Event()
    order = module.Order.result

    def slow(*given):
        going.set()
        gate.wait(20)
        return order(*given)

    monkeypatch.setattr(module.Order, "result", slow)
    numbers = [ready.number(), ready.number()]
    ready.post("/release", {"number": numbers[0]})
    assert going.wait(20)
    ready.post("/release", {"number": numbers[1]})
    page = ready.get("/release").text
    assert WORDS["busy"] in page
    assert WORDS["running"] in page
    assert set(ready.get("/status").json()) == {"seconds"}
    assert isinstance(ready.get("/status").json()["seconds"], int)
    gate.set()
    ready.desk.finish()
    assert ready.account.totals.count == 1
    assert ready.get("/status").json() == {"seconds": None}


def test_a_run_that_dies_after_it_has_paid_says_so_and_nothing_else(ready, monkeypatch):
    order = module.Order.result

    def dies(*given):
        order(*given)
        raise ValueError("81236.125")

    monkeypatch.setattr(module.Order, "result", dies)
    page = ready.release()
    assert WORDS["lost"] in page
    assert "81236.125" not in page
    assert ready.account.totals.count == 1
    assert WORDS["second"].format(count=1, cost="1") in page


def test_a_report_that_fails_leaves_the_result(ready, monkeypatch):
    for number, fault in enumerate((ZeroDivisionError, ParameterError("x", "must", "be"), KeyError), 1):

        def fails(*_, fault=fault):
            raise fault

        monkeypatch.setattr(module, "told", fails)
        ready.plan(epsilon="0.5")
        ready.release(again="on")
        assert json.loads(ready.get(f"/take-away/{number}/result.json").text)["lines"]
        assert ready.desk.runs[-1].state == "done"


def test_spellings_of_a_unit_are_all_read(user):
    user.upload("t.csv", ("age\n" + "61 years\n" * 30 + "62 Years\n" * 30).encode())
    user.session.look = replace(user.session.look, options=ReadOptions(units={"age": ["years", "Years"]}))
    user.choose({"age": (0, 100)}, **{"unit-0": "yrs"})
    order = user.session.order()
    assert order.options.unit("age") == "yrs"
    assert np.isnan(read_file(order.file, ["age"], order.options).cells).sum() == 0


def test_what_is_wrong_before_it_pays_costs_nothing(ready, monkeypatch):
    monkeypatch.setattr(module, "read_records", lambda *_, **__: 1 / 0)
    assert WORDS["refused"] in ready.release()
    assert ready.account.totals.count == 0
    assert WORDS["again"] not in ready.get("/release").text


def test_rows_to_plan_for_are_for_the_plan_alone(ready):
    number = ready.number()
    ready.plan(rows="40", wish="0.1")
    assert "Forecast for 40 rows" in ready.get("/plan").text
    ready.release(number)
    assert ready.desk.runs[0].state == "done"


def test_without_room_there_is_no_button(ready):
    ready.plan(epsilon="3.5")
    page = ready.get("/release").text
    assert 'name="number"' not in page
    assert "The budget has not enough left." in page
    assert "The budget has not enough left." in ready.get("/plan").text


def test_the_plan_touches_no_data(ready, monkeypatch):
    class Untouchable(InMemory):
        @property
        def content(self):
            raise AssertionError("the data were touched")

    def refused(*_, **__):
        raise AssertionError("the data were touched")

    kept = ready.session.file
    ready.session.file = str.__new__(Untouchable, kept)
    for name in ("session.looked_at", "session.within", "release.read_records", "release.within"):
        monkeypatch.setattr(f"tukeydp.app.{name}", refused)
    for fields in ({}, {"statistic": "centre"}, {"wish": "0.2"}, {"epsilon": "1.2", "confidence": "0.9"}):
        live = ready.post("/plan", fields, headers={"sec-fetch-site": "same-origin", "x-live": "1"})
        assert live.status_code == 200
        assert ready.get("/plan").status_code == 200
    ready.session.typed |= {"by": str(ready.session.names.index("clinic")), "keys": "A\nB"}
    assert ready.plan(go="rehearse", statistic="summary").headers["location"] == "/plan?rehearse"
    assert (
        phrases()["plan"]["rehearsal_is"] in ready.get("/plan?rehearse").text
        or "would not be" in ready.get("/plan").text
    )
    assert ready.get("/release").status_code == 200
    with pytest.raises(AssertionError, match="touched"):  # the control
        ready.session.order().result(td.Accountant(epsilon=9), 7)


def test_the_script_and_the_notebook_repeat_the_run_without_the_data(ready, monkeypatch, tmp_path):
    ready.release()
    script = ready.get("/take-away/1/repeat.py").text
    book = nbformat.reads(ready.get("/take-away/1/repeat.ipynb").text, as_version=4)
    nbformat.validate(book)
    code = "\n\n".join(cell.source for cell in book.cells if cell.cell_type == "code")
    assert code in script
    assert not any(str(row[1]) in script for row in ROWS)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "clinic.csv").write_text(CSV)
    real = td.summary
    monkeypatch.setattr(td, "summary", lambda *a, **k: real(*a, **k, randomness=td.seeded(7)))
    names: dict = {}
    exec(code.replace("print(release)", ""), names)
    found = json.loads(ready.get("/take-away/1/result.json").text)
    assert found["lines"] == [line.to_dict() for line in names["release"].lines]


def test_releases_are_kept_on_disk_and_found_again(make_user, tmp_path):
    ledger = tmp_path / "study.db"
    first = make_user(td.Accountant.open(ledger, epsilon=1), folder=tmp_path / "kept", ledger=str(ledger))
    first.upload("clinic.csv", CSV.encode())
    first.choose(BOUNDS, by="clinic", keys="A\nB")
    first.plan(statistic="summary", epsilon="0.4")
    first.release()
    report = first.get("/take-away/1/report.html").content
    assert "td.Accountant.open" in first.get("/take-away/1/repeat.py").text
    second = make_user(td.Accountant.open(ledger), folder=tmp_path / "kept")
    assert second.get("/take-away/1/report.html").content == report
    assert "epsilon = 0.6 of 1" in second.get("/").text
    assert WORDS["kept"] in second.get("/release").text
    assert "0001-summary" in second.get("/take-away").text
    kept = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
    assert len(kept) == 2 + len(FILES)  # with the ledger, and a mark that it was seen
    assert not any(CSV[-200:].encode() in content for content in kept)  # the data are nowhere


def test_what_could_not_be_kept_is_not_paid_for(make_user, tmp_path):
    (tmp_path / "kept").write_text("a file where the folder should be")
    user = make_user(folder=tmp_path / "kept")
    user.upload("clinic.csv", CSV.encode())
    user.choose(BOUNDS, by="clinic", keys="A\nB\nC")
    user.plan(statistic="summary")
    page = user.release()
    assert "folder must be one that results can be written to" in page
    assert WORDS["refused"] in page
    assert user.account.totals.count == 0


def test_a_disk_that_is_full_after_the_payment_costs_no_result(make_user, tmp_path, monkeypatch):
    user = make_user(td.Accountant.open(tmp_path / "l.db", epsilon=1), folder=tmp_path / "kept")
    user.upload("clinic.csv", CSV.encode())
    user.choose(BOUNDS, by="clinic", keys="A\nB\nC")
    user.plan(statistic="summary")
    monkeypatch.setattr(module, "keep", lambda *_: "No space left on device")
    assert WORDS["not_kept"].format(reason="No space left on device") in user.release()
    assert user.get("/take-away/1/table.csv").status_code == 200
    monkeypatch.undo()
    again = make_user(td.Accountant.open(tmp_path / "l.db"), folder=tmp_path / "kept")
    assert again.desk.runs == []  # it was shown


def test_every_file_and_the_ledger_can_be_taken_away(ready):
    ready.release()
    page = ready.get("/take-away").text
    for name in FILES:
        assert f'href="/take-away/1/{name}"' in page
        assert len(ready.get(f"/take-away/1/{name}").content) > 100
    for form in ("json", "csv", "yaml"):
        assert ready.get(f"/ledger/{form}").status_code == 200
    assert "privacy_loss" in ready.get("/ledger/yaml").text


def test_the_result_is_on_disk_before_its_reports_are_made(make_user, tmp_path, monkeypatch):
    """Reports take seconds; whoever pulls the plug then has paid, and finds the result."""
    folder = tmp_path / "kept"
    seen = []

    def look(*_):
        seen.extend(json.loads(path.read_text())["lines"] for path in folder.glob("0001-summary/result.json"))
        raise ValueError

    monkeypatch.setattr(module, "told", look)
    user = make_user(folder=folder)
    user.upload("clinic.csv", CSV.encode())
    user.choose(BOUNDS, by="clinic", keys="A\nB\nC")
    user.plan(statistic="summary")
    user.release()
    assert seen == [json.loads(user.get("/take-away/1/result.json").text)["lines"]]


def _killed(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)


def _after(function):
    def both(*given, **options):
        function(*given, **options)
        _killed()

    return both


# Where the process is killed, what is patched for it, and what the next start finds.
POINTS = {
    "before it pays": (lambda: [(module.Order, "result", _killed)], "nothing"),
    "when it has paid": (lambda: [(module._Noting, "spend", _after(module._Noting.spend))], "lost"),
    "when it has a result": (lambda: [(module, "keep", _killed)], "lost"),
    "while the result is written": (lambda: [(reports.os, "replace", _second(reports.os.replace))], "lost"),
    "when the result is written": (lambda: [(module, "keep", _after(module.keep))], "kept"),
    "before it is named": (lambda: [(keeping.Shelf, "named", _killed)], "kept"),
    "when it is named": (lambda: [(keeping.Shelf, "named", _after(keeping.Shelf.named))], "kept"),
    "before its reports": (lambda: [(module, "told", _killed)], "kept"),
    "before anybody looked": (list, "kept"),
}


def _second(replace):
    """The first file says what is about to run."""
    calls = []

    def counted(*given):
        calls.append(given)
        _killed() if len(calls) > 1 else replace(*given)

    return counted


def _asked(user):
    user.upload("clinic.csv", CSV.encode())
    user.choose(BOUNDS, by="clinic", keys="A\nB\nC")
    user.plan(statistic="summary", epsilon="0.4")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are killed as a whole")
@pytest.mark.parametrize("point", POINTS)
def test_a_paid_release_survives_kill_9(make_user, tmp_path, monkeypatch, point):
    patches, found = POINTS[point]
    ledger, folder = tmp_path / "study.db", tmp_path / "kept"
    td.Accountant.open(ledger, epsilon=1).close()
    child = os.fork()
    if child == 0:
        try:
            user = make_user(td.Accountant.open(ledger), folder=folder)
            _asked(user)
            number = user.number()
            for where, name, put in patches():
                monkeypatch.setattr(where, name, put)
            user.post("/release", {"number": number})
            user.desk.finish()
            _killed()
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    account = td.Accountant.open(ledger)
    user = make_user(account, folder=folder)
    start = user.get("/").text
    assert account.totals.count == (found != "nothing")
    assert {run.state for run in user.desk.runs} == {"nothing": set(), "lost": {"lost"}, "kept": {"done"}}[found]
    if found == "nothing":
        assert list(folder.iterdir()) == []
        assert 'role="status"' not in start
    elif found == "lost":
        told = WORDS["lost_before"].format(spent="0.4", when=account.history[0].time[:16])
        assert told in start
        assert told in user.get("/release").text
        assert user.get("/take-away/1/result.json").status_code == 404
        assert "0.4" not in make_user(account, folder=folder).get("/").text.partition("<main")[2]  # it was told
    else:
        assert WORDS["waiting"].format(title="0001-summary") in start
        result = json.loads(user.get("/take-away/1/result.json").text)
        assert [line["column"] for line in result["lines"]] == ["age"] * 3 + ["weight"] * 3
        assert (user.get("/take-away/1/table.csv").status_code == 200) == point.startswith(("before its", "before any"))
        modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (folder, *folder.rglob("*"))}
        assert {mode for name, mode in modes.items() if name in ("kept", "0001-summary")} == {0o700}
        assert {mode for name, mode in modes.items() if name not in ("kept", "0001-summary")} == {0o600}
        assert 'role="status"' not in make_user(account, folder=folder).get("/").text  # it was taken away


def test_a_result_is_kept_before_it_can_be_asked_for(make_user, tmp_path, monkeypatch):
    """Whoever asks while it is written gets nothing yet."""
    user, seen = make_user(td.Accountant.open(tmp_path / "l.db", epsilon=1), folder=tmp_path / "kept"), []
    real = module.keep

    def asked(place, files):
        seen.append((user.get("/take-away/1/result.json").status_code, "/take-away/1/" in user.get("/take-away").text))
        return real(place, files)

    monkeypatch.setattr(module, "keep", asked)
    _asked(user)
    user.release()
    assert seen[0] == (404, False)
    assert user.get("/take-away/1/result.json").status_code == 200


def test_a_second_start_leaves_a_run_alone(make_user, tmp_path, monkeypatch):
    """Two pages on one ledger: what the other is at is neither lost nor thrown away."""
    first, found = make_user(td.Accountant.open(tmp_path / "l.db", epsilon=1), folder=tmp_path / "kept"), []
    order = module.Order.result

    def started():
        found.append(make_user(td.Accountant.open(tmp_path / "l.db"), folder=tmp_path / "kept").desk.runs)

    def looked(*given):
        started()
        result = order(*given)
        started()
        return result

    monkeypatch.setattr(module.Order, "result", looked)
    _asked(first)
    first.release()
    assert found == [[], []]
    assert (tmp_path / "kept" / "0001-summary" / "result.json").exists()


def test_the_ledger_and_the_folder_name_a_run_by_the_same_token(make_user, tmp_path):
    account = td.Accountant.open(tmp_path / "l.db", epsilon=1)
    user = make_user(account, folder=tmp_path / "kept")
    _asked(user)
    user.release()
    assert len(account.history[0].parameters["order"]) == 16
    assert sorted(path.name for path in (tmp_path / "kept").iterdir()) == ["0001-summary"]


def test_a_new_ledger_of_the_same_name_overwrites_no_release(make_user, tmp_path):
    kept = []
    for _ in range(2):
        user = make_user(td.Accountant(epsilon=1), folder=tmp_path / "kept", seed=len(kept))
        user.upload("clinic.csv", CSV.encode())
        user.choose(BOUNDS, by="clinic", keys="A\nB\nC")
        user.plan(statistic="summary", epsilon="0.4")
        user.release(again="on")
        kept.append((tmp_path / "kept" / "0001-summary" / "table.csv").read_bytes())
    assert kept[0] == kept[1]
    assert (tmp_path / "kept" / "0001-summary-2" / "table.csv").read_bytes() != kept[0]


def test_no_release_begins_once_the_app_is_stopping(ready):
    number = ready.number()
    ready.desk.close()
    ready.release(number)
    assert (ready.desk.runs, ready.account.totals.count) == ([], 0)


def test_an_erased_file_is_nowhere_in_memory(ready):
    ready.number()
    ready.release()
    file = weakref.ref(ready.session.file)
    ready.post("/erase")
    gc.collect()
    assert file() is None
    assert ready.session.sheets == ()


@pytest.mark.parametrize(
    "choice",
    [
        {},
        {"confidence": ""},
        {"statistic": "centre"},
        {"statistic": "summary"},
        {"by": "clinic", "keys": "A\nB\nC"},
        {"by": "clinic", "keys": "A\nB\nC", "statistic": "centre"},
        {"by": "clinic", "keys": "A\nB\nC", "statistic": "summary"},
        {"sd-0": "9", "sd-1": "12"},
    ],
)
def test_the_forecast_is_for_what_is_released_in_plain_words(user, choice):
    """Its way to the result is the one that runs, and no name that only programmers know is on the page."""
    user.upload("clinic.csv", CSV.encode())
    columns = {name: value for name, value in choice.items() if name not in ("statistic", "confidence")}
    user.choose(BOUNDS, **columns)
    user.plan(**{name: value for name, value in choice.items() if name in ("statistic", "confidence")}, epsilon="2")
    choices = user.session.choices()
    option, (_, mechanism) = choices.forecast(), choices.dry_run()
    forecast = user.get("/plan").text
    if choices.statistic == "summary":
        assert option is None
        assert mechanism == "summary"
        for line in choices.table_plan().lines:
            missing = line.statistic == "missing n"
            assert (f"about {100 * line.error:.0f} %" if missing else f"{line.error:.2g}") in forecast
    else:
        assert mechanism == option.mechanism or (mechanism == "grouped sums" and option.mechanism == "sums")
        assert phrases()["plan"]["ways"][option.mechanism] in forecast
    for word in ("td.", "tukeydp mean", "two-step", "cube", "far is", "boxem", " sd "):
        assert word not in forecast.partition('id="forecast"')[2]
    for column in option.columns if option is not None else ():
        low, high = column.within_95_in_units or column.within_95
        assert (f"{low:g} to {high:g}" if low != high else f"{low:g}") in forecast


def test_a_misread_file_and_a_misspelt_group_are_stopped_and_say_why(make_user):
    """The page released noise, and spent as much."""
    user = make_user(td.Accountant(epsilon=3))
    rows = "".join(f"{i % 90},x,{'AB'[i % 2]}\n" for i in range(600))
    user.upload("t.csv", f"age,unit,clinic\n{rows}".encode())
    user.choose({"unit": ("0", "100")})
    user.plan(statistic="mean", confidence="")
    page = user.release()
    assert "No release: the check of readable rows stopped the run" in page
    assert "cells of one column do not read as numbers" in page
    assert "\u201cShare of cells that may be unreadable\u201d" in page
    assert json.loads(user.get("/take-away/1/result.json").text)["released"] is False
    assert user.account.totals.count == 1
    user.choose({"age": ("0", "100")}, by="clinic", keys="A\nBB", **{"use-1": ""})
    user.plan(statistic="summary", confidence="")
    assert "rows are in none of the listed groups" in user.release(again="on")
    user.choose({"age": ("0", "100")}, by="clinic", keys="A\nBB", **{"use-1": "", "allow-unlisted": "0,6"})
    user.release(again="on")
    found = json.loads(user.get("/take-away/3/result.json").text)
    assert found["settings"]["rows_unlisted_most"] == 360
    assert "check=td.Check(unlisted='0.6')" in user.get("/take-away/3/repeat.py").text
