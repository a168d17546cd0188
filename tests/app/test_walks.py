"""The whole walk of three users in a real browser: from a file to what they take away, with eyes and without."""

from __future__ import annotations

import json
import re
from importlib.resources import files

import numpy as np
import pytest
import yaml

import tukeydp as td
from support.browser import DESKTOP, PHONE, browser
from support.messy import workbook
from tukeydp.app.release import Desk
from tukeydp.app.results import FILES
from tukeydp.app.session import Session
from tukeydp.forecast.example import made_up_patients
from tukeydp.results import summary_result

AXE = (files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8")
ASK = """() => axe.run(document, {resultTypes: ["violations"]}).then(
    found => found.violations.map(v => [v.impact, v.id, v.nodes.map(n => n.html)]))"""
SIDEWAYS = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"
RNG = np.random.default_rng(11)


@pytest.fixture(scope="module")
def chromium():
    with browser() as started:
        yield started


def test_what_is_looked_for_would_be_found(chromium):
    """The control: a field without a label is serious, and a wide page goes sideways."""
    page = chromium.new_page()
    page.set_content("<html lang='en'><title>x</title><main><input><div style='width:3000px'>wide</div></main>")
    page.evaluate(AXE)
    assert "label" in [name for impact, name, _ in page.evaluate(ASK) if impact in ("serious", "critical")]
    assert page.evaluate(SIDEWAYS) > 100
    page.close()


class Visitor:
    """One user with a page of their own; whatever the browser complains about fails the test."""

    def __init__(self, chromium, address, size=DESKTOP, scheme="light", scripts=True):
        width, height = size
        self.context = chromium.new_context(
            viewport={"width": width, "height": height}, color_scheme=scheme, java_script_enabled=scripts
        )
        self.page = self.context.new_page()
        self.page.set_default_timeout(60_000)
        self.complaints = []
        self.page.on("console", lambda said: said.type in ("error", "warning") and self.complaints.append(said.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.goto(address)
        self.page.wait_for_url(re.compile(r":\d+/$"))

    def upload(self, name, content):
        self.page.set_input_files("#file", {"name": name, "mimeType": "application/octet-stream", "buffer": content})
        self.press("Read the file")

    def column(self, name, lower, upper, **more):
        group = self.page.get_by_role("group", name=name, exact=True)
        group.get_by_role("checkbox").check()
        for label, value in {"At least": lower, "At most": upper, **more}.items():
            group.get_by_label(label.replace("_", " ")).fill(str(value))

    def press(self, name, role="button"):
        """Every button sends a form, which leads to a page."""
        with self.page.expect_navigation():
            self.page.get_by_role(role, name=name).first.click()

    def released(self):
        self.page.locator("#elapsed").wait_for(state="detached")
        return self.page.locator("article").first

    def download(self, name):
        with self.page.expect_download() as found:
            self.page.get_by_role("link", name=name).first.click()
        return found.value.path().read_bytes()

    def check(self):
        """Nothing serious for those who use a keyboard or a screen reader, no scrolling sideways, no complaints."""
        self.page.evaluate(AXE)
        serious = [found for found in self.page.evaluate(ASK) if found[0] in ("serious", "critical")]
        assert serious == []
        assert self.page.evaluate(SIDEWAYS) <= 0
        assert self.complaints == []


def session(account, **more):
    desk = Desk(account, folder=None, ledger=None, seed=7, pad_to=None)
    return Session(account, desk, **more)


def test_the_survey_office_on_a_phone_with_groups_and_a_table_one(chromium, served):
    drawn = zip(RNG.normal(2400, 600, 900), RNG.random(900) < 0.3, RNG.integers(0, 3, 900), strict=True)
    rows = [(round(float(v), 1), int(e), "NSW"[k]) for v, e, k in drawn]
    text = "income;renting;region\r\n" + "".join(f"{v:.1f}".replace(".", ",") + f";{e};{k}\r\n" for v, e, k in rows)
    with served(session(td.Accountant(epsilon=2))) as address:
        visitor = Visitor(chromium, address, PHONE, "dark")
        visitor.check()
        visitor.page.get_by_label("Others can see this screen").check()
        visitor.upload("survey.csv", text.encode("utf-8-sig"))
        assert visitor.page.get_by_text("What was read").count() == 0
        visitor.press("Look at the data")
        assert "NOT PRIVATE" in visitor.page.get_by_role("region", name="What was read").inner_text()
        visitor.check()
        visitor.column("income", 0, 20000, Unit="EUR")
        visitor.column("renting", 0, 1)
        visitor.page.get_by_label("Column of groups").select_option("region")
        visitor.page.get_by_label("The groups").fill("N\nS\nW")
        visitor.press("Save and plan")
        slider = visitor.page.get_by_label("epsilon, by a slider")
        slider.wait_for()  # the script of the page is there
        visitor.page.get_by_label("Table 1", exact=True).check()
        slider.focus()
        with visitor.page.expect_response(lambda answer: answer.request.headers.get("x-live") == "1"):
            slider.press("ArrowRight")
        assert visitor.page.locator("#epsilon").input_value() == "1.3"
        visitor.page.locator("#forecast .big", has_text="epsilon = 1.3").wait_for()
        visitor.check()
        visitor.press("Go on to the release")
        visitor.check()
        visitor.press("Release and spend epsilon = 1.3")
        article = visitor.released()
        cells = np.array([[v, e] for v, e, _ in rows])
        expected = td.summary(
            cells, by=[k for *_, k in rows], keys=list("NSW"), epsilon="1.3", bounds=([0, 0], [20000, 1]),
            check=True, randomness=td.seeded(7),
        )  # fmt: skip
        shown = article.locator("table").inner_text()
        for cell in summary_result.table(expected).rows[0][1:]:
            assert cell in shown
        visitor.check()
        visitor.press("Take it away", "link")
        visitor.check()
        found = json.loads(visitor.download("Everything for programs"))
        assert [line["mean"] for line in found["lines"]] == [line.mean for line in expected.lines]
        assert b"\\begin{table}" in visitor.download("Table in LaTeX")


def test_a_page_of_the_users_own_leads_to_ours(chromium, served, tmp_path):
    """The browser is opened by a file, from which a strict cookie is not sent along at once."""
    with served(session(td.Accountant(epsilon=1))) as address:
        page = tmp_path / "open.html"
        page.write_text(f'<!doctype html><meta http-equiv="refresh" content="0;url={address}">')
        visitor = Visitor(chromium, page.as_uri())
        assert visitor.page.get_by_role("button", name="Read the file").count() == 1
        assert "token" not in visitor.page.url
        visitor.page.keyboard.press("Tab")
        # The heading had the focus; next comes the first field.
        assert visitor.page.evaluate("() => document.activeElement.id") == "file"


def test_without_scripts_and_after_a_reload_everything_is_there(chromium, served):
    account = td.Accountant(epsilon=1)
    held = session(account, demo=True)
    held.load_made_up()
    with served(held) as address:
        visitor = Visitor(chromium, address, scripts=False)
        visitor.press("Save and plan")
        visitor.page.get_by_label("Centre", exact=True).check()
        visitor.page.get_by_label("epsilon", exact=True).fill("0,5")
        visitor.press("Update the forecast")
        assert visitor.page.locator("#forecast .big").inner_text() == "epsilon = 0.5"
        visitor.press("Go on to the release")
        visitor.press("Release and spend epsilon = 0.5")
        held.desk.finish()
        visitor.page.reload()
        visitor.page.go_back()
        visitor.page.goto(address.split("?")[0] + "release")
        cells = made_up_patients().cells[:, :2]
        expected = td.boxem(cells, epsilon="0.5", bounds=([60, 30], [240, 200]), randomness=td.seeded(7))
        for value in expected.point:
            assert f"{value:.6g}" in visitor.page.locator("article table").inner_text()
        other = Visitor(chromium, address)  # the browser has died, and another is opened
        other.page.goto(address.split("?")[0] + "release")
        assert other.page.locator("article table").count() == 1
        assert account.totals.count == 1
        other.check()


@pytest.mark.slow
def test_the_hospital_statistician_with_an_export_from_excel(chromium, served):
    drawn = enumerate(zip(RNG.normal(61, 12, 600), RNG.normal(5.4, 1.1, 600), strict=True))
    table = [[f"{a:.0f}", f"{b:.1f} mmol/l" if i % 9 else "n/a"] for i, (a, b) in drawn]
    book = workbook(("Info", [["Ward 3"]]), ("Export", [["Age", "Glucose"], *table]))
    with served(session(td.Accountant(epsilon=1))) as address:
        visitor = Visitor(chromium, address)
        visitor.upload("export.xlsx", book)
        visitor.page.get_by_label("Sheet of the workbook").select_option("Export")
        visitor.press("Read again")
        visitor.column("Age", 18, 105, Unit="years", Standard_deviation=12)
        visitor.column("Glucose", 1, 30, Unit="mmol/l", Standard_deviation=1.2)
        visitor.press("Save and plan")
        visitor.page.locator("#slider").wait_for()  # the script of the page is there
        visitor.page.get_by_label("Wished error").fill("0.5")
        visitor.page.get_by_label("in", exact=True).select_option("Glucose (mmol/l)")
        visitor.page.locator(".answer", has_text="the fewest rows from which on").wait_for()
        visitor.check()
        visitor.press("Rehearse on made-up rows")
        visitor.page.get_by_role("heading", name="Rehearsal").wait_for()
        visitor.check()
        visitor.press("Go on to the release")
        visitor.press("Release and spend epsilon = 1")
        article = visitor.released()
        values = [[float(a), np.nan if b == "n/a" else float(b.split()[0])] for a, b in table]
        expected = td.mean(
            values, epsilon=1, bounds=([18, 1], [105, 30]), sd=[12, "1.2"], confidence=0.95, randomness=td.seeded(7)
        )
        for value in expected.point:
            assert f"{value:.6g}" in article.inner_text()
        low, high = expected.interval[1]
        assert f"{low:.6g} to {high:.6g}" in article.inner_text()
        visitor.check()


@pytest.mark.slow
def test_the_privacy_engineer_with_a_ledger_and_the_registrys_yaml(chromium, served, tmp_path):
    ledger = tmp_path / "study.db"
    account = td.Accountant.open(ledger, epsilon="1.5")
    desk = Desk(account, folder=tmp_path / "study-releases", ledger=str(ledger), seed=7, pad_to=None)
    text = "score,id\n" + "".join(f"{v:.2f},{i}\n" for i, v in enumerate(RNG.normal(50, 10, 700)))
    with served(Session(account, desk, ledger)) as address:
        visitor = Visitor(chromium, address)
        visitor.upload("scores.csv", text.encode())
        visitor.column("score", 0, 100)
        visitor.press("Save and plan")
        visitor.page.get_by_label("Intervals").select_option("none")
        visitor.press("Go on to the release")
        tab = visitor.context.new_page()  # a second tab of the same page
        tab.goto(visitor.page.url)
        visitor.press("Release and spend epsilon = 1")
        visitor.released()
        tab.get_by_role("button", name="Release and spend epsilon = 1").click()
        tab.get_by_text("Nothing was spent: what was chosen has changed").wait_for()
        assert "not enough left" in tab.content()
        visitor.press("Take it away", "link")
        record = yaml.safe_load(visitor.download("Draft for OpenDP's registry"))
        assert record["deployment"]["privacy_loss"]["privacy_parameters"] == {"epsilon": 1.5}
        assert [entry["epsilon"] for entry in json.loads(visitor.download("Ledger for programs"))["history"]] == ["1"]
        assert b"td.Accountant.open" in visitor.download("Python script")
    assert account.totals.count == 1
    kept = {path.name for path in (tmp_path / "study-releases" / "0001-mean").iterdir()}
    assert kept == {*FILES, ".seen"} - {
        "table.docx",
        "table.xlsx",
        "table.ard.csv",
        "forest.png",
    }  # these are of tables
