"""A headless Firefox, driven by WebDriver BiDi, which it speaks itself: no driver is needed."""

import itertools
import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from websocket import WebSocket, create_connection

FIREFOX = shutil.which("firefox-esr") or shutil.which("firefox")

PATIENCE = 180
"""Seconds that it may take to start, and to answer."""


class Firefox:
    """One open page."""

    def __init__(self, socket: WebSocket):
        self._socket, self._numbers = socket, itertools.count(1)
        self._ask("session.new", capabilities={})
        self._page = self._ask("browsingContext.getTree")["contexts"][0]["context"]

    def goto(self, address: str) -> None:
        """Open a page, and wait until it is loaded."""
        self._ask("browsingContext.navigate", context=self._page, url=address, wait="complete")

    def resize(self, width: int, height: int) -> None:
        """Give the page this size."""
        size = {"width": width, "height": height}
        self._ask("browsingContext.setViewport", context=self._page, viewport=size)

    def evaluate(self, expression: str) -> Any:
        """The value of an expression, awaited, as plain values."""
        found = self._ask(
            "script.evaluate",
            expression=f"(async () => JSON.stringify((await ({expression})) ?? null))()",
            target={"context": self._page},
            awaitPromise=True,
        )
        if found["type"] != "success":
            raise AssertionError(found["exceptionDetails"]["text"])
        return json.loads(found["result"]["value"])

    def _ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        number = next(self._numbers)
        self._socket.send(json.dumps({"id": number, "method": method, "params": parameters}))
        answer = {}
        while answer.get("id") != number:  # the others are events
            answer = json.loads(self._socket.recv())
        if answer["type"] == "error":
            raise AssertionError(answer["message"])
        return answer["result"]


@contextmanager
def firefox(folder: Path) -> Iterator[Firefox]:
    """A Firefox whose profile is in a folder; it ends with the context."""
    words = [FIREFOX, "--headless", "--no-remote", "--remote-debugging-port=0"]
    running = subprocess.Popen(
        [*words, "--profile", str(folder)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )
    try:
        listening = (re.search(r"ws://\S+", line) for line in running.stderr)
        address = next(found.group() for found in listening if found)
        socket = create_connection(f"{address}/session", PATIENCE, suppress_origin=True)
        yield Firefox(socket)
        socket.close()
    finally:
        running.terminate()
        running.wait()
