"""Photograph three screens of `tukeydp app` for the guide, into docs/pictures. Needs Chromium and Playwright.

python tools/app_pictures.py
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from support.exports import hospital  # noqa: E402  (made-up visits of made-up patients, and their dictionary)

FOLDER = ROOT / "docs" / "pictures"
SIZE = {"width": 1000, "height": 820}  # pixels: as wide as the page is


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=FOLDER, help="another folder")
    out = parser.parse_args().out.resolve()
    with tempfile.TemporaryDirectory() as folder:
        for name in ("visits.csv", "dictionary.csv"):
            (Path(folder) / name).write_bytes(hospital().files[name])
        command = [sys.executable, "-m", "tukeydp", "app", "--ledger", "study.db", "--no-browser", "--epsilon", "3"]
        with (
            subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=folder) as app,
            sync_playwright() as driver,
        ):
            try:
                assert app.stdout is not None
                address = next(found[0] for line in app.stdout if (found := re.search(r"http://\S+", line)))
                browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
                _walk(browser.new_page(viewport=SIZE), address, Path(folder), out)
                browser.close()
            finally:
                app.terminate()


def _walk(page: Page, address: str, files: Path, out: Path) -> None:
    page.goto(address)
    page.locator("#file").set_input_files(files / "visits.csv")
    page.get_by_role("button", name="Read the file").click()
    page.get_by_text("Data dictionary, or settings").click()
    page.locator("#known").set_input_files(files / "dictionary.csv")
    page.get_by_role("button", name="Fill in").click()
    page.get_by_label("Yes, such as visits").check()
    page.get_by_label("Column of persons").select_option(label="PatientenNr")
    page.get_by_label("Column of groups").select_option(label="Arm")
    page.get_by_role("heading", name="What one row stands for").evaluate("heading => heading.scrollIntoView()")
    page.screenshot(path=out / "app-data.png")
    page.get_by_role("button", name="Save and plan").click()
    page.locator("#slider").wait_for()  # the script of the page is there
    page.get_by_label("epsilon", exact=True).fill("2")
    page.locator("#forecast .big", has_text="epsilon = 2").wait_for()
    page.locator("h1").click()  # the focus leaves the field
    page.screenshot(path=out / "app-plan.png")
    page.get_by_role("button", name="Go on to the release").click()
    page.get_by_role("button", name="Release and spend").click()
    page.locator("article").wait_for(timeout=120_000)
    page.screenshot(path=out / "app-release.png")


if __name__ == "__main__":
    main()
