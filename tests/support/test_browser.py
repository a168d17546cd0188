"""The browser of the other tests sees what is wrong with a page."""

import pytest

from support.browser import PHONE, browser, seen


@pytest.fixture(scope="module")
def chromium():
    with browser() as started:
        yield started


def written(folder, body):
    page = folder / "page.html"
    page.write_text(
        f"<!doctype html><meta charset='utf-8'><title>A page</title><link rel='icon' href='data:,'><body>{body}"
    )
    return page.as_uri()


def test_a_good_page(chromium, tmp_path):
    page = seen(chromium, written(tmp_path, "<p>All is well"), PHONE)
    assert (page.title, page.text, page.complaints, page.sideways) == ("A page", "All is well", [], 0)


@pytest.mark.parametrize(
    "body",
    [
        "<script>nothing.here()</script>",
        "<script>console.error('no')</script>",
        "<img src='missing.png'>",
        "<script src='missing.js'></script>",
        "<img src='http://example.org/a.png'>",
    ],
)
def test_a_page_that_is_broken(chromium, tmp_path, body):
    assert seen(chromium, written(tmp_path, body)).complaints


def test_a_broken_picture_and_a_wide_page(chromium, tmp_path):
    assert seen(chromium, written(tmp_path, "<img src='missing.png'>")).pictures == [0]
    assert seen(chromium, written(tmp_path, "<div style='width:500px'>wide"), PHONE).sideways > 100


def test_a_page_that_does_not_load_raises(chromium, tmp_path):
    from playwright.sync_api import Error

    with pytest.raises(Error, match="ERR_FILE_NOT_FOUND"):
        seen(chromium, (tmp_path / "missing.html").as_uri())


def test_without_a_browser_it_skips_or_fails(monkeypatch):
    from support import browser as module

    monkeypatch.setattr(module.shutil, "which", lambda _: None)
    monkeypatch.delenv(module.REQUIRED, raising=False)
    with pytest.raises(pytest.skip.Exception, match="apt-get install chromium"):
        module.found()
    monkeypatch.setenv(module.REQUIRED, "required")
    with pytest.raises(pytest.fail.Exception, match="apt-get install chromium"):
        module.found()
