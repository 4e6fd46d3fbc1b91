"""`lab(cells)` opens a notebook in a real JupyterLab and a real Chromium.

Screenshots are kept in the folder SCREENSHOTS, if that is set.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, expect, sync_playwright

from tests.__main__ import find_chromium
from tests.browser.jupyterlab import jupyterlab, open_notebook

# What is computed in the background takes long on a busy machine.
expect.set_options(timeout=180_000)

CHROMIUM_OPTIONS = [
    "--no-sandbox",  # as root, in a container
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


SECONDS = 400
"""A test's limit, with what it starts: the site that is built for some takes a minute."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A failed test in the browser is run once more, and the summary says that it was.

    JupyterLab may lose races that are not the kit's, as in ipywidgets issue 3231. A defect of the
    kit fails twice. What a page's own script waits for has no other limit than the test's.
    """
    for item in items:
        if item.get_closest_marker("browser"):
            item.add_marker(pytest.mark.flaky(reruns=1))
            item.add_marker(pytest.mark.timeout(SECONDS))


@contextmanager
def chromium() -> Iterator[BrowserContext]:
    """A Chromium; fails if there is none."""
    path = find_chromium()
    if path is None:
        pytest.fail(
            "There is no Chromium: run `sudo apt-get install chromium`, set CHROMIUM to one, "
            "or leave the browser tests out with `-m 'not browser'`."
        )
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(
            executable_path=path,
            args=CHROMIUM_OPTIONS,
            ignore_default_args=["--hide-scrollbars"],  # they take room from pictures
        )
        yield started.new_context(permissions=["clipboard-read", "clipboard-write"])
        started.close()


@pytest.fixture(scope="package")
def browser():
    """One browser for all tests, so that it loads JupyterLab's scripts only once.

    `lab.py test` does not select them where there is no Chromium. Closed before tests elsewhere
    run: while Playwright is at work, an event loop that nobody drives counts as the thread's.
    """
    with chromium() as started:
        yield started


@pytest.fixture(scope="session")
def screenshots(tmp_path_factory):
    """The folder that keeps the screenshots of this run; set SCREENSHOTS to choose it."""
    chosen = os.environ.get("SCREENSHOTS")
    folder = Path(chosen) if chosen else tmp_path_factory.mktemp("screenshots")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.fixture(scope="package")
def lab_server(tmp_path_factory):
    """A JupyterLab for all tests: its address and the folder that it serves."""
    with jupyterlab(tmp_path_factory.mktemp("jupyter")) as server:
        yield server


@pytest.fixture
def lab(lab_server, browser, screenshots, request):
    """Open a notebook: `lab(path)` a copy of a file, `lab([source, ...])` new code cells.

    Fails at the end if the page threw an error.
    """
    opened = []

    def open_one(what, **size):
        attempt = "again" * (getattr(request.node, "execution_count", 1) - 1)
        name = f"{request.node.name.strip(']').replace('[', '-')}{len(opened) or ''}{attempt}"
        opened.append(open_notebook(browser, lab_server, name, what, screenshots, **size))
        return opened[-1]

    yield open_one
    for notebook in opened:
        close(notebook)


@pytest.fixture(scope="package")
def pages(lab_server, browser, screenshots):
    """Notebooks that stay open for several tests, by the source of their one cell."""
    opened = {}

    def open_one(source):
        if source not in opened:
            name = f"shared{len(opened)}"
            opened[source] = open_notebook(browser, lab_server, name, [source], screenshots)
        return opened[source]

    yield open_one
    for notebook in opened.values():
        close(notebook)


@pytest.fixture
def rerun(pages, request):
    """`rerun(source)`: a notebook of one cell, its outputs new, in a page that others used, too.

    A page of its own takes ten seconds. Fails at the end if the page threw an error.
    """
    used = []

    def run_one(source):
        notebook = pages(source)
        notebook.name = request.node.name.strip("]").replace("[", "-")
        notebook.page.bring_to_front()
        notebook.clear_outputs()
        notebook.run_all()
        used.append(notebook)
        return notebook

    yield run_one
    for notebook in used:
        errors, notebook.errors = notebook.errors, []  # the next test has its own
        assert errors == []


def close(notebook) -> None:
    """End the kernel and the page. Fails if the page threw an error."""
    notebook.page.evaluate("window.jupyterapp.commands.execute('kernelmenu:shutdown')")
    notebook.page.close()
    assert notebook.errors == []
