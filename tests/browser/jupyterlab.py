"""A real JupyterLab in a folder of its own, and notebooks opened in it by a browser.

Every server file (settings, runtime, IPython history) is in that folder, so that nothing of the
machine's own Jupyter is used or changed.
"""

import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import nbformat
from playwright.sync_api import BrowserContext, Error, Locator, Page

from protocol_lab.system import notebook_server
from tests import PATIENCE, ROOT

SETTINGS = {"notebook-extension/tracker": {"windowingMode": "none"}}


class Notebook:
    """A notebook that is open in JupyterLab.

    `errors` are those of the widgets' scripts that nothing on the page caught.
    """

    def __init__(self, page: Page, screenshots: Path, name: str):
        self.page, self.screenshots, self.name = page, screenshots, name
        self.errors: list[str] = []
        page.on("pageerror", self._note)

    def _note(self, error: Error) -> None:
        """A widget's script comes from a blob; errors without a part of it are JupyterLab's."""
        if not error.stack or "blob:" in error.stack:
            self.errors.append(error.stack or str(error))

    def run_all(self) -> None:
        """Run all cells, and wait until the kernel has run them."""
        self.page.evaluate("window.jupyterapp.commands.execute('notebook:run-all-cells')")
        self.page.wait_for_function(_ALL_CELLS_RAN, timeout=PATIENCE * 1000)

    def clear_outputs(self) -> None:
        """Take away what all cells have shown."""
        self.page.evaluate("window.jupyterapp.commands.execute('notebook:clear-all-cell-outputs')")
        self.page.locator(".lab-stepper").first.wait_for(state="detached")

    def output(self, cell: int) -> Locator:
        """The outputs of a cell, counted from 0."""
        return self.page.locator(".jp-Notebook .jp-Cell").nth(cell).locator(".jp-OutputArea")

    def stepper(self, number: int = 0) -> Locator:
        """A stepper on the page, counted from 0."""
        return self.page.locator(".lab-stepper").nth(number)

    def shoot(self, name: str, part: Locator | None = None) -> Path:
        """Keep a screenshot of the page, or of a part of it."""
        path = self.screenshots / f"{self.name}-{name}.png"
        (part or self.page).screenshot(path=path)
        return path


_ALL_CELLS_RAN = """() => {
  const content = window.jupyterapp.shell.currentWidget.content;
  const code = content.widgets.filter(cell => cell.model.type === "code");
  return code.every(cell => cell.model.executionState === "idle" && cell.model.executionCount);
}"""


@contextmanager
def jupyterlab(home: Path) -> Iterator[tuple[str, Path]]:
    """Serve a new folder under `home` without a token on a free port: the address, the folder."""
    folder = home / "notebooks"
    folder.mkdir()
    for name, values in SETTINGS.items():
        path = home / "settings" / "@jupyterlab" / f"{name}.jupyterlab-settings"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(values), encoding="utf-8")
    port = _free_port()
    with (home / "server.log").open("wb") as log:
        server = subprocess.Popen(
            [
                *(sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root"),
                *("--ip=127.0.0.1", f"--port={port}", "--ServerApp.port_retries=0"),
                *("--IdentityProvider.token=", "--expose-app-in-browser"),
                f"--ServerApp.root_dir={folder}",
                *notebook_server.settings(home / "defaults"),
            ],
            env=_environment(home),
            stdout=log,
            stderr=subprocess.STDOUT,
        )
    address = f"http://127.0.0.1:{port}"
    try:
        _wait_for(address, server, home / "server.log")
        yield address, folder
    finally:
        server.terminate()
        server.wait(timeout=30)


def open_notebook(
    browser: BrowserContext,
    server: tuple[str, Path],
    name: str,
    what: str | Path | list[str],
    screenshots: Path,
    width: int = 1440,
    height: int = 1000,
) -> Notebook:
    """Open a copy of a notebook file, or new code cells, in a page of its own; the kernel is up."""
    address, folder = server
    (folder / f"{name}.ipynb").write_text(_notebook_text(what), encoding="utf-8")
    page = browser.new_page()
    page.set_viewport_size({"width": width, "height": height})
    notebook = Notebook(page, screenshots, name)
    page.goto(f"{address}/lab/workspaces/{name}/tree/{name}.ipynb")
    page.wait_for_selector(".jp-Notebook .jp-Cell", timeout=PATIENCE * 1000)
    page.wait_for_function(_KERNEL_IS_READY, timeout=PATIENCE * 1000)
    return notebook


def _environment(home: Path) -> dict[str, str]:
    folders = {
        "HOME": "home",
        "IPYTHONDIR": "ipython",
        "JUPYTER_CONFIG_DIR": "config",
        "JUPYTER_DATA_DIR": "data",
        "JUPYTER_RUNTIME_DIR": "runtime",
        "JUPYTERLAB_SETTINGS_DIR": "settings",
        "JUPYTERLAB_WORKSPACES_DIR": "workspaces",
    }
    own = {name: str(home / folder) for name, folder in folders.items()}
    own["PROTOCOL_LAB_PROGRESS"] = str(home / "progress.jsonl")
    return {**os.environ, **own, "PYTHONPATH": str(ROOT)}


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _wait_for(address: str, server: subprocess.Popen, log: Path) -> None:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end and server.poll() is None:
        try:
            urllib.request.urlopen(f"{address}/api/status", timeout=5)
            return
        except OSError:
            time.sleep(0.2)
    raise RuntimeError(f"JupyterLab did not start:\n{log.read_text(encoding='utf-8')}")


_KERNEL_IS_READY = """() => {
  const kernel = window.jupyterapp?.shell.currentWidget?.sessionContext?.session?.kernel;
  return kernel?.status === "idle";
}"""


def _notebook_text(what: str | Path | list[str]) -> str:
    if isinstance(what, list):
        notebook = nbformat.v4.new_notebook(
            cells=[nbformat.v4.new_code_cell(source) for source in what],
            metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}},
        )
        return nbformat.writes(notebook)
    return Path(what).read_text(encoding="utf-8")
