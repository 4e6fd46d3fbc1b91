"""Serves a room: `python3 lab.py room [FOLDER]`.

The built pages get one script more, and a WebSocket joins them. A connection is sent the parts of
its view that have changed since it was last told: a slow one skips what lies between, and one that
comes back gets the whole. A message is acknowledged once it is on the disk.
"""

import asyncio
import hashlib
import hmac
import json
import os
import secrets
import signal
import socket
import sys
import time
import webbrowser
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import segno
from tornado.httpserver import HTTPServer
from tornado.netutil import bind_sockets
from tornado.web import Application, HTTPError, RequestHandler, StaticFileHandler
from tornado.websocket import WebSocketClosedError, WebSocketHandler

from protocol_lab.errors import LabError, writing
from protocol_lab.room.beliefs import write_beliefs
from protocol_lab.room.meeting import LEADER, PASSING, Meeting
from protocol_lab.room.site_questions import read_site
from protocol_lab.system.operating_system import is_windows, try_lock

LARGEST = 16_384  # bytes of a message
RATE, BURST = 20, 60  # messages a second of one connection, and so many at once
MOST_CONNECTIONS = 500
PATIENCE = 10  # seconds in which a connection has to say who it is
PAUSE = 0.03  # seconds between two messages to one connection: what changes meanwhile goes together

_SCRIPT = Path(__file__).parent / "js" / "room.js"
_HOOK = b'<script src="/room.js"></script>'
_POLICY = "default-src 'self' 'unsafe-inline' 'unsafe-eval' data: blob:; connect-src 'self' ws://{}"
"""The pages load nothing from elsewhere, not even by mistake."""


class Room:
    """A meeting, the file that its messages are appended to, and who is connected.

    A last line that was cut off, as by a power cut, was not acknowledged: it is dropped. Raises
    LabError if the folder has no site, or if the file is in use, or of something else.
    """

    def __init__(self, folder: Path, path: Path):
        self.meeting, self.path = Meeting(read_site(folder)), path
        self.sockets: set[Member] = set()
        self.over, self.failed, self.is_settling = asyncio.Event(), None, False
        with writing(path, "--file"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch(0o600)
            self.file = path.open("ab+")
            if not try_lock(self.file):
                raise LabError(f"Another room is kept in {path}: give another --file.")
            self.file.seek(0)
            whole, _, cut = self.file.read().rpartition(b"\n")
            try:
                first, *lines = [json.loads(each) for each in whole.splitlines()] or [None]
                self.key: str = first["room"] if first else secrets.token_urlsafe(16)
                for line in lines:
                    if "joined" in line:
                        self.meeting.join(line["joined"])
                    elif not self.meeting.why_not_accepted(**line):  # or the site has changed
                        self.meeting.apply(**line)
            except (ValueError, KeyError, TypeError):
                raise LabError(f"{path} is not a room's file: give another --file.") from None
            self.file.truncate(self.file.seek(-len(cut), os.SEEK_END))
        if not first:
            self._append(room=self.key)

    def _append(self, **line: Any) -> None:
        self.file.write(json.dumps(line).encode() + b"\n")

    def join(self, secret: str) -> tuple[int | None, str]:
        """The learner's number and secret; both are made for those whose secret is not known."""
        if _digest(secret) not in self.meeting.numbers:
            secret = secrets.token_urlsafe(16)
            if self.meeting.join(_digest(secret)):
                self._append(joined=_digest(secret))
        return self.meeting.numbers.get(_digest(secret)), secret

    def take(self, who: int | str, message: Any) -> str:
        """Apply a message and keep it; returns why it is refused, or ""."""
        refusal = self.meeting.why_not_accepted(who, message)
        if not refusal:
            self.meeting.apply(who, message)
            if message["kind"] not in PASSING:
                self._append(who=who, message=message)
        return refusal

    def settle(self) -> None:
        """Soon bring to the disk what was taken, all of it at once, and then tell everybody."""
        if not self.is_settling:
            self.is_settling = True
            asyncio.get_running_loop().call_later(0.004, self._settle)

    def _settle(self) -> None:
        self.is_settling = False
        try:
            with writing(self.path, "--file"):
                self.file.flush()
                os.fsync(self.file.fileno())
        except LabError as error:
            self.failed = error
            return self.over.set()
        for each in self.sockets:
            each.heard = each.taken
            each.news.set()


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()


class Guarded(RequestHandler):
    """Answers under this server's own names only, lest another site's name be led here."""

    def prepare(self) -> None:
        """Refuse requests under another name."""
        if self.request.host.lower() not in self.settings["hosts"]:
            raise HTTPError(421)

    def set_default_headers(self) -> None:
        """Headers of every answer."""
        self.set_header("Content-Security-Policy", _POLICY.format(self.request.host))
        self.set_header("X-Content-Type-Options", "nosniff")
        self.set_header("Cache-Control", "no-cache")


class Page(Guarded):
    """A page of the site with the room's script, or that script."""

    def get(self, name: str) -> None:
        """Answer with the page of this address."""
        if name == "/room.js":
            self.set_header("Content-Type", "text/javascript")
            return self.finish(_SCRIPT.read_bytes())
        name = name if name != "/" else "/index.html"
        if name not in self.settings["room"].meeting.site.pages:
            raise HTTPError(404)
        head, tag, rest = (self.settings["folder"] / name[1:]).read_bytes().partition(b"<head>")
        return self.finish(head + tag + _HOOK + rest)


class File(Guarded, StaticFileHandler):
    """Another file of the site; not its service worker, which would keep the room's pages."""

    def validate_absolute_path(self, root: str, absolute_path: str) -> str | None:
        """The path, if it may be served."""
        if os.path.basename(absolute_path) == "offline.js":
            raise HTTPError(404)
        return super().validate_absolute_path(root, absolute_path)


class Member(Guarded, WebSocketHandler):
    """A page's connection. Its first message says who it is: `join` with a secret or the key."""

    def initialize(self) -> None:
        """Begin as nobody."""
        self.room: Room = self.settings["room"]
        self.who: int | str | None = None
        self.taken = self.heard = 0
        self.news = asyncio.Event()
        self.tokens, self.filled = float(BURST), time.monotonic()

    def check_origin(self, origin: str) -> bool:
        """Does the connection come from a page of this server?"""
        return urlsplit(origin).netloc.lower() == self.request.host.lower()

    def open(self) -> None:
        """Wait for the first message."""
        self.room.sockets.add(self)
        self.writer = asyncio.create_task(self._write())
        if len(self.room.sockets) > MOST_CONNECTIONS:
            self.close(4005, "the room has too many connections")
        late = partial(self.close, 1008, "say who you are")
        asyncio.get_running_loop().call_later(PATIENCE, lambda: self.who or late())

    def on_message(self, text: str | bytes) -> None:
        """Take a message, or close the connection."""
        now = time.monotonic()
        self.tokens = min(BURST, self.tokens + (now - self.filled) * RATE) - 1
        self.filled = now
        try:
            message = json.loads(text)
            number = message.pop("n")
            if type(number) is not int or not 0 <= number < 2**53:
                raise ValueError
        except (ValueError, TypeError, AttributeError, KeyError, RecursionError):
            return self.close(1008, "this is no message")
        if self.tokens < 0:
            return self.close(1008, "too many messages")
        if self.who is None:
            self._join(**message)
        elif refusal := self.room.take(self.who, message):
            self._send({"refused": refusal})
        self.taken = number
        return self.room.settle()

    def _join(self, kind: Any = None, secret: Any = None, key: Any = None, **_: Any) -> None:
        if kind != "join" or not isinstance(secret if key is None else key, str):
            self.close(1008, "say who you are")
        elif key is None:
            self.who, secret = self.room.join(secret)
            if self.who is None:
                return self.close(4004, "the room is full")
            self._send({"secret": secret})
        elif not hmac.compare_digest(_digest(key), _digest(self.room.key)):
            self.close(4003, "this is not the leader's key")
        else:
            self.who, site = LEADER, self.room.meeting.site
            address = self.settings["address"]
            code = segno.make(address, micro=False).svg_data_uri(border=4)
            told = {"pages": site.pages, "challenges": site.challenges}
            self._send({"address": address, "code": code, **told})

    def _send(self, parts: dict[str, Any]) -> Any:
        with suppress(WebSocketClosedError):
            return self.write_message(json.dumps(parts))

    async def _write(self) -> None:
        shown: dict[str, str] = {}
        while await self.news.wait():
            self.news.clear()
            if self.who is None:
                continue
            here = {each.who for each in self.room.sockets} - {None, LEADER}
            view = self.room.meeting.view(self.who, here) | {"heard": self.heard}
            texts = {name: json.dumps(each) for name, each in view.items()}
            news = {name: view[name] for name in view if shown.get(name) != texts[name]}
            if news and (sent := self._send(news)):
                with suppress(WebSocketClosedError):
                    await sent
            shown = texts
            await asyncio.sleep(PAUSE)

    def on_close(self) -> None:
        """Forget the connection, not the member."""
        self.room.sockets.discard(self)
        self.writer.cancel()
        self.room.settle()


def application(room: Room, folder: Path, address: str, names: set[str]) -> Application:
    """A room's web application. address: what learners type; names: the server's, with port."""
    pages = [(r"/socket", Member), (r"(/|/room\.js|/.*\.html)", Page)]
    return Application(
        [*pages, (r"/(.*)", File, {"path": str(folder)})],
        **{"room": room, "folder": folder, "address": address, "hosts": names},
        websocket_max_message_size=LARGEST,
        websocket_ping_interval=10,
        log_function=lambda _: None,
    )


async def serve(folder: Path, port: int, name: str | None, path: Path, opens: bool) -> None:
    """Serve a room until an interrupt. name: by which learners reach this machine, if not by its
    address; path: the room's file; opens: whether a browser opens for the leader. Raises LabError.
    """
    room, table, own = Room(folder, path), path.with_suffix(".csv"), own_addresses()
    names = {name or own[0], *own, "127.0.0.1", "localhost", socket.gethostname()}
    address, leader = f"http://{name or own[0]}:{port}", f"http://127.0.0.1:{port}/#{room.key}"
    hosts = {f"{each.lower()}:{port}" for each in names}
    server = HTTPServer(application(room, folder, address, hosts))
    try:
        server.add_sockets(bind_sockets(port, "0.0.0.0"))
    except OSError as error:
        raise LabError(f"Port {port} can't be opened ({error.strerror}): give --port.") from None
    if sys.stdout.isatty():
        segno.make(address, micro=False).terminal(compact=True)
    others = f"  (or, with --address: {', '.join(own[1:])})" * (len(own) > 1 and not name)
    print(f"Learners open {address}{others}", f"You lead from {leader}", sep="\n")
    print(f"The room is kept in {path}. Ctrl-C ends it and writes {table}.", flush=True)
    if opens:
        webbrowser.open_new(leader)
    for each in (signal.SIGINT, signal.SIGTERM):
        if not is_windows():  # there an interrupt cancels this task
            asyncio.get_running_loop().add_signal_handler(each, room.over.set)
    try:
        await room.over.wait()
    finally:
        server.stop()
        for each in list(room.sockets):
            each.close(1001, "the room has ended")
        write_beliefs(room.meeting, table)
        room.file.close()
    if room.failed:
        raise room.failed


def own_addresses() -> list[str]:
    """This machine's addresses in its networks, the one on the way to other networks first."""
    found = []
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as outward, suppress(OSError):
        outward.connect(("192.0.2.1", 9))  # sends nothing
        found = [outward.getsockname()[0]]
    with suppress(OSError):
        found += socket.gethostbyname_ex(socket.gethostname())[2]
    known = dict.fromkeys(each for each in found if not each.startswith("127."))
    return list(known) or ["127.0.0.1"]
