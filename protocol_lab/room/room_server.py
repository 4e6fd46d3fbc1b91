"""Serves a room: `python3 lab.py room [FOLDER]`.

The site's script gets the room's, and a WebSocket joins the pages. A connection is sent its view
when that has changed: a slow one skips what lies between. `heard` counts its messages on the disk.
"""

import asyncio
import hashlib
import json
import os
import re
import secrets
import signal
import socket
import sys
import tempfile
import webbrowser
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import segno
from tornado.web import Application, ErrorHandler, StaticFileHandler
from tornado.websocket import WebSocketClosedError, WebSocketHandler

from protocol_lab.errors import LabError, writing
from protocol_lab.room.meeting import LEADER, MOST_LEARNERS, Meeting
from protocol_lab.room.site_questions import read_questions, write_beliefs
from protocol_lab.system.operating_system import is_windows, try_lock

LARGEST = 16_384  # bytes of a message
RATE = 20  # so many messages a second are read from one connection
MOST_CONNECTIONS = 500
PAUSE = 0.03  # seconds between two messages to one connection: what changes meanwhile goes together


class Room:
    """A meeting, the file that its messages are appended to, and who is connected.

    A last line that was cut off, as by a power cut, was not acknowledged: it is dropped. Raises
    LabError if the folder has no site, or if the file is in use, or of something else.
    """

    def __init__(self, folder: Path, path: Path):
        self.meeting, self.path = Meeting(read_questions(folder)), path
        self.members: set[Member] = set()
        self.changed = asyncio.Event()
        with writing(path, "--file"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch(0o600)
            self.file = path.open("ab+")
            if not try_lock(self.file):
                raise LabError(f"Another room is kept in {path}: give another --file.")
            self.file.seek(0)
            *lines, cut = self.file.read().split(b"\n")
            try:
                key, *messages = map(json.loads, lines or [cut or b'""'])
                for who, kind, about, value in messages:
                    if kind == "joined" or self.meeting.accepts(who, kind, about, value):
                        self.meeting.apply(who, kind, about, value)  # else the site has changed
                self.key = key or secrets.token_urlsafe(16)
                self.key_bytes = self.key.encode()
            except (ValueError, TypeError, AttributeError):
                raise LabError(f"{path} is not a room's file: give another --file.") from None
            self.file.truncate(self.file.seek(-len(cut), os.SEEK_END))
        self.unkept: list[Any] = [] if key else [self.key]

    def take(self, *message: Any) -> None:
        """Apply and keep a message: who, kind, about, value."""
        self.meeting.apply(*message)
        if message[1] != "place":  # which a page tells again
            self.unkept.append(message)

    def join(self, secret: str) -> int | None:
        """The number of the learner with this secret, who may be new; None if the room is full."""
        numbers, digest = self.meeting.numbers, hashlib.sha256(secret.encode()).hexdigest()
        if digest not in numbers and len(numbers) < MOST_LEARNERS:
            self.take(len(numbers) + 1, "joined", digest, None)
        return numbers.get(digest)

    async def run(self) -> None:
        """Bring to the disk what was taken, and then tell everybody, forever. Raises LabError."""
        while await self.changed.wait():
            self.changed.clear()
            with writing(self.path, "--file"):
                self.file.write(b"".join(json.dumps(each).encode() + b"\n" for each in self.unkept))
                self.file.flush()
                os.fsync(self.file.fileno())
            self.unkept.clear()
            here = {each.who for each in self.members} - {LEADER}
            for each in self.members:
                each.tell(here)
            await asyncio.sleep(PAUSE)


class Member(WebSocketHandler):
    """A page's connection. Its address has the learner's secret, or the leader's key."""

    def open(self) -> None:
        """Let the member in, or say why not."""
        self.room: Room = self.settings["room"]
        self.heard, self.sending, self.told = 0, None, ""
        if key := self.get_query_argument("key", ""):
            self.who, self.own = LEADER, self.settings["for_leader"]
            if not secrets.compare_digest(key.encode(), self.room.key_bytes):
                return self.close(4003, "this is not the leader's key")
        else:
            self.who, self.own = self.room.join(self.get_query_argument("secret", "")), {}
        if self.who is None or len(self.room.members) >= MOST_CONNECTIONS:
            return self.close(4004, "the room is full")
        self.room.members.add(self)
        self.room.changed.set()

    async def on_message(self, text: str | bytes) -> None:
        """Take a message, if it is one that this member may send; the next one is read later."""
        if self not in self.room.members:
            return
        try:
            kind, about, value = json.loads(text)
            if self.room.meeting.accepts(self.who, kind, about, value):
                self.room.take(self.who, kind, about, value)
        except (ValueError, TypeError, RecursionError):
            return self.close(1008, "this is no message")
        self.heard += 1
        self.room.changed.set()
        with suppress(asyncio.CancelledError):  # the room has ended
            await asyncio.sleep(1 / RATE)

    def tell(self, here: set[int]) -> None:
        """Send the view if it has changed, unless what was sent last is still on its way."""
        if self.sending and not self.sending.done():
            return
        view = {**self.room.meeting.view(self.who, here), **self.own, "heard": self.heard}
        told, self.told = self.told, json.dumps(view)
        with suppress(WebSocketClosedError):
            if self.told != told:
                self.sending = self.write_message(self.told)
                # An error is that of a connection that is lost, and will be closed.
                self.sending.add_done_callback(self._sent)

    def _sent(self, sending: asyncio.Future) -> None:
        if not (sending.cancelled() or sending.exception()):
            self.room.changed.set()

    def on_close(self) -> None:
        """Forget the connection, not the member."""
        self.room.members.discard(self)
        self.room.changed.set()


class _Pages(StaticFileHandler):
    """A browser asks each time whether a file has changed: the next room may be of another kit."""

    def set_extra_headers(self, path: str) -> None:
        self.set_header("Cache-Control", "no-cache")


async def serve(folder: Path, port: int, name: str | None, path: Path, opens: bool) -> None:
    """Serve a room until an interrupt. name: by which learners reach this machine, if not by its
    address; path: the room's file; opens: whether a browser opens for the leader. Raises LabError.
    """
    room, table, own = Room(folder, path), path.with_suffix(".csv"), own_addresses()
    address, leader = f"http://{name or own[0]}:{port}", f"http://127.0.0.1:{port}/#key={room.key}"
    code = segno.make(address, micro=False)
    application = Application(
        room=room,
        for_leader={"address": address, "code": code.svg_data_uri(border=4)},
        log_function=lambda _: None,
        websocket_max_message_size=LARGEST,
        websocket_ping_interval=10,
    )
    # The room's script is put into the one that each page loads, and uses its functions.
    made, mode = tempfile.TemporaryDirectory(), '"use strict";\n'
    files = (folder / "_static" / "lab.js", Path(__file__).with_name("js") / "room.js")
    site, ours = (each.read_text(encoding="utf-8") for each in files)
    Path(made.name, "lab.js").write_text(site.replace(mode, mode + ours, 1), encoding="utf-8")
    handlers = [
        (r"/socket", Member),
        (r"/_static/(lab\.js)", _Pages, {"path": made.name}),
        (r"/offline\.js", ErrorHandler, {"status_code": 404}),  # it would keep the room's pages
        (r"/(.*)", _Pages, {"path": str(folder), "default_filename": "index.html"}),
    ]
    # Under other names nothing is served, lest another site's name be led here.
    names = {name or own[0], *own, "localhost", socket.gethostname()}
    hosts = "|".join(re.escape(each.lower()) for each in names)
    application.add_handlers(f"({hosts})$", handlers)
    try:
        application.listen(port, "0.0.0.0")
    except OSError as error:
        raise LabError(f"Port {port} can't be opened ({error.strerror}): give --port.") from None
    if sys.stdout.isatty():
        code.terminal(compact=True)
    others = f"  (or, with --address: {', '.join(own[1:-1])})" * (len(own) > 2 and not name)
    print(f"Learners open {address}{others}", f"You lead from {leader}", sep="\n")
    print(f"The room is kept in {path}. Ctrl-C ends it and writes {table}.", flush=True)
    if opens:
        webbrowser.open_new(leader)
    for each in (signal.SIGINT, signal.SIGTERM):
        if not is_windows():  # where an interrupt cancels this task anyway
            asyncio.get_running_loop().add_signal_handler(each, asyncio.current_task().cancel)
    try:
        with suppress(asyncio.CancelledError):
            await room.run()
    finally:
        write_beliefs(room.meeting.questions, room.meeting.beliefs(), table)


def own_addresses() -> list[str]:
    """This machine's addresses: first the one towards other networks, last 127.0.0.1."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as outward:
        outward.connect_ex(("192.0.2.1", 9))  # sends nothing
        first = outward.getsockname()[0]
    cards = [each for card in psutil.net_if_addrs().values() for each in card]
    found = {each.address for each in cards if each.family == socket.AF_INET} | {"127.0.0.1"}
    return sorted(found, key=lambda each: (each.startswith("127."), each != first))
