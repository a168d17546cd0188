"""Pages in a real browser: Debian's Chromium, driven by Playwright."""

import os
import shutil
from contextlib import contextmanager
from dataclasses import dataclass

import pytest

REQUIRED = "TUKEYDP_CHROMIUM"  # set to "required": a missing browser fails instead of skipping. `.ci/run` sets it.
DESKTOP, PHONE = (1280, 900), (360, 740)


def found():
    """The path of Chromium; without one, tests are skipped, or fail where the browser is required."""
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if path is None:
        reason = "no Chromium on the PATH; on Debian: apt-get install chromium"
        if os.environ.get(REQUIRED) == "required":
            pytest.fail(reason)
        pytest.skip(reason)
    return path


@contextmanager
def browser():
    """A headless browser. It may not leave this machine: host names lead nowhere."""
    from playwright.sync_api import sync_playwright

    arguments = ["--no-sandbox", "--disable-gpu", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"]
    with sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=found(), args=arguments)
        try:
            yield started
        finally:
            started.close()


@dataclass(frozen=True)
class Seen:
    """What a page did when it was opened."""

    title: str
    text: str
    pictures: list  # natural width of every picture in pixels, 0 where it is broken
    complaints: list  # errors and warnings of the console, scripts that failed, requests that failed
    sideways: int  # pixels by which the page is wider than the window


MEASURE = """() => ({
    title: document.title,
    text: document.body.innerText,
    pictures: Array.from(document.images, i => i.complete ? i.naturalWidth : 0),
    sideways: document.documentElement.scrollWidth - document.documentElement.clientWidth,
})"""


def seen(started, address, size=DESKTOP):
    """Opens the address; a page that does not load raises."""
    page = started.new_page(viewport={"width": size[0], "height": size[1]})
    complaints = []
    page.on("console", lambda said: said.type in ("error", "warning") and complaints.append(said.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("requestfailed", lambda request: complaints.append(f"{request.url[:200]} {request.failure}"))
    page.on(
        "response", lambda answer: answer.status >= 400 and complaints.append(f"{answer.url[:200]} {answer.status}")
    )
    try:
        page.goto(address, wait_until="load")
        page.evaluate("() => document.fonts.ready.then(() => true)")
        measured = page.evaluate(MEASURE)
        # A copy: closing the page breaks off what may still be on its way, an icon say, and that is no complaint.
        return Seen(complaints=[*complaints], **measured)
    finally:
        page.close()
