"""Photograph two screens of `tukeydp app` for the guide, into docs/pictures. Needs Chromium and Playwright.

python tools/app_pictures.py
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "pictures"
SIZE = {"width": 1000, "height": 820}  # pixels: as wide as the page is


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=FOLDER, help="another folder")
    out = parser.parse_args().out
    command = [sys.executable, "-m", "tukeydp", "app", "--demo", "--no-browser", "--epsilon", "3"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as app, sync_playwright() as driver:
        try:
            assert app.stdout is not None
            address = next(found[0] for line in app.stdout if (found := re.search(r"http://\S+", line)))
            browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
            page = browser.new_page(viewport=SIZE)
            _walk(page, address, out)
            browser.close()
        finally:
            app.terminate()


def _walk(page: Page, address: str, out: Path) -> None:
    page.goto(address)
    page.get_by_role("button", name="Save and plan").click()
    page.locator("#slider").wait_for()  # the script of the page is there
    page.get_by_label("Wished error").fill("0.2")
    page.locator(".answer", has_text="the fewest rows from which on").wait_for()
    page.locator("h1").click()  # the focus leaves the field
    page.screenshot(path=out / "app-plan.png")
    page.get_by_role("button", name="Go on to the release").click()
    page.get_by_role("button", name="Release and spend").click()
    page.locator("article").wait_for(timeout=120_000)
    page.screenshot(path=out / "app-release.png")


if __name__ == "__main__":
    main()
