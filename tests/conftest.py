"""Fixtures for more than one test file."""

import pytest

import lab

CHROMIUM_OPTIONS = [
    "--no-sandbox",  # as root, in a container
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="session")
def chromium():
    """The Chromium for the browser tests; without one `lab.py test` does not select them."""
    found = lab.find_chromium()
    if found is None:
        pytest.fail(
            "There is no Chromium: run `sudo apt-get install chromium`, set CHROMIUM to one, "
            "or leave the browser tests out with `-m 'not browser'`."
        )
    return found


@pytest.fixture(scope="session")
def browser(chromium):
    """One browser for all tests, so that it loads JupyterLab's scripts only once."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium, args=CHROMIUM_OPTIONS)
        yield started.new_context(permissions=["clipboard-read", "clipboard-write"])
        started.close()
