"""A room over its socket: who is let in, hostile messages, a restart, and what the pages load."""

import json
import re
import signal
import time
import urllib.request
from contextlib import contextmanager
from urllib.error import HTTPError
from urllib.parse import urlencode

import pytest
from websocket import WebSocketBadStatusException, create_connection

from protocol_lab.errors import LabError
from protocol_lab.room.room_server import LARGEST, RATE, Room
from real_systems.runner.processes import free_port
from tests.end_to_end.test_process import start

CONNECTED: list = []  # to be closed with their room: an open one would be a warning elsewhere


@pytest.fixture
def site(tmp_path):
    """A folder with what a room looks for in a built site."""
    (tmp_path / "_static").mkdir()
    for name in ("index.html", "offline.js", "_static/lab.js"):
        (tmp_path / name).write_text('"use strict";\n', encoding="utf-8")
    return tmp_path


@contextmanager
def serving(folder, port=None, end=signal.SIGINT):
    """A room's own process; gives the learners' address, the leader's key, and the process."""
    kept = ("--file", str(folder / "room.jsonl"), "--address", "127.0.0.1", "--no-browser")
    process = start("room", str(folder), "--port", str(port or free_port()), *kept)
    lines = [process.stdout.readline() for _ in range(3)]
    try:
        yield lines[0].split()[2], re.search("#key=(.*)", lines[1])[1], process
    finally:
        process.send_signal(end)
        _, errors = process.communicate(timeout=20)
        while CONNECTED:
            CONNECTED.pop().shutdown()
    assert "Traceback" not in errors, errors
    assert process.returncode in (0, -signal.SIGKILL)


def connect(address, origin=None, **who):
    socket_address = f"{address.replace('http', 'ws')}/socket?{urlencode(who)}"
    member = create_connection(socket_address, origin=origin or address, timeout=20)
    CONNECTED.append(member)
    return member


def until(member, part, value=None):
    """Receives views until a part of one is there, with this value; returns that view."""
    told = {}
    while told.get(part) is None or value not in (None, told[part]):
        told = json.loads(member.recv())  # nothing, and so an error, once it is closed
    return told


def test_a_file_of_something_else_is_left_alone(site):
    for text in ("hello", '{"room": 1}\n', '"key"\n[1]\n', "{\n"):
        (site / "room.jsonl").write_text(text, encoding="utf-8")
        with pytest.raises(LabError, match="is not a room's file"):
            Room(site, site / "room.jsonl")
        assert (site / "room.jsonl").read_text(encoding="utf-8") == text


@pytest.mark.slow
def test_what_is_hostile_is_refused_cut_off_or_slowed_down(site):
    with serving(site, end=signal.SIGTERM) as (address, key, _):
        with pytest.raises(WebSocketBadStatusException):
            connect(address, origin="http://evil.example")
        for path in ("/offline.js", "/room.jsonl/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd"):
            with pytest.raises(HTTPError, match=r"40[34]"):
                urllib.request.urlopen(address + path)
        for host in ("evil.example", "127.0.0.1.evil.example"):
            with pytest.raises(HTTPError, match="404"):
                urllib.request.urlopen(urllib.request.Request(address, headers={"Host": host}))
        assert connect(address, key="x").recv_data()[0] == 8
        for text in ("{", "[]", "null", "[1, 2, 3, 4]", "[" * 9999, "é" * LARGEST, "{}", "7"):
            member = connect(address, secret=text[:9])
            until(member, "me")
            member.send(text)
            with pytest.raises((ValueError, OSError)):
                until(member, "never")
        learner, began = connect(address), time.monotonic()
        for _ in range(2 * RATE):
            learner.send(json.dumps(["follow", "", True]))
        until(learner, "heard", 2 * RATE)
        assert time.monotonic() - began > 1.8
        told = until(connect(address, key=key), "me")
        assert (told["follow"], told["here"]) == (False, 1)
        with urllib.request.urlopen(address + "/_static/lab.js?v=1") as got:
            assert (b"labRoom" in got.read(), got.headers["Cache-Control"]) == (True, "no-cache")
        for _ in range(RATE):  # the room ends while it slows these down
            learner.send(json.dumps(["follow", "", True]))
