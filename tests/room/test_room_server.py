"""A room over its socket: who is let in, hostile messages, a restart, and what the pages load."""

import json
import re
import socket
import subprocess
import sys
import urllib.request
from contextlib import contextmanager
from urllib.error import HTTPError

import pytest
from websocket import WebSocketBadStatusException, create_connection

from protocol_lab.room.room_server import BURST, LARGEST
from tests import ROOT

ASKED = {"name": "notebooks/kafka/p.ipynb a", "question": "?", "choices": ["no", "yes"], "right": 0}
CONNECTED: list = []
"""The sockets that are to be closed with their room: an open one would be a warning elsewhere."""

VOTE = {"kind": "vote", "question": ASKED["name"], "choice": 1}


@pytest.fixture
def site(tmp_path):
    """A folder with what a room looks for in a built site."""
    (tmp_path / "_static").mkdir()
    told = f'<div class="lab-asked"><script type="application/json">{json.dumps(ASKED)}</script>'
    for name, text in {"_static/lab.js": "", "index.html": told, "offline.js": ""}.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


@contextmanager
def serving(folder, port=None):
    """A room's own process; gives the learners' address, the leader's key, and the process."""
    with socket.socket() as free:
        free.bind(("", 0))
        port = port or free.getsockname()[1]
    kept = ("--file", str(folder / "room.jsonl"), "--address", "127.0.0.1", "--no-browser")
    words = (sys.executable, "-m", "protocol_lab", "room", str(folder), "--port", str(port), *kept)
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True, cwd=ROOT)
    lines = [process.stdout.readline() for _ in range(3)]
    try:
        yield lines[0].split()[2], re.search("#(.*)", lines[1])[1], process
    finally:
        process.terminate()
        process.communicate(timeout=20)
        while CONNECTED:
            CONNECTED.pop().shutdown()


def connect(address, origin=None, **who):
    opened = address.replace("http", "ws") + "/socket"
    member = create_connection(opened, origin=origin or address, timeout=20)
    CONNECTED.append(member)
    member.send(json.dumps({"kind": "join", "n": 0, **who}))
    return member


def until(member, wanted):
    """Receives until a part of the view is wanted; returns what was told so far."""
    told = {}
    while not wanted(told):
        if not (text := member.recv()):
            raise AssertionError(f"closed: {told}")
        told |= json.loads(text)
    return told


def is_cut_off(member):
    try:
        return until(member, lambda told: "never" in told)
    except (AssertionError, OSError):
        return True


def test_a_restart_loses_nothing_and_nobody_acts_for_another(site):
    with serving(site) as (address, key, process):
        learner = connect(address, secret="")
        secret = until(learner, lambda told: "secret" in told)["secret"]
        until(learner, lambda told: told.get("me") == 1)
        learner.send(json.dumps({**VOTE, "n": 1}))
        assert until(learner, lambda told: told.get("heard") == 1)["mine"] == {VOTE["question"]: 1}
        other = connect(address, secret=secret[:-1] + "!")
        assert until(other, lambda told: "me" in told)["me"] == 2
        process.kill()
        process.wait()
    kept = site / "room.jsonl"
    assert secret not in kept.read_text(encoding="utf-8")
    assert kept.stat().st_mode & 0o077 == 0
    kept.write_bytes(kept.read_bytes() + b'{"who": 1, "mess')  # a power cut
    with serving(site) as (address, same_key, _):
        assert same_key == key
        told = until(connect(address, secret=secret), lambda told: "me" in told)
        assert (told["me"], told["mine"]) == (1, {VOTE["question"]: 1})
        leader = until(connect(address, key=key), lambda told: "me" in told)
        assert (leader["me"], leader["counts"]) == ("leader", {VOTE["question"]: [0, 1]})
    with pytest.raises(OSError, match="refused"):
        urllib.request.urlopen(address)  # the port is closed with the command
    assert "yes: 1" in (site / "room.csv").read_text(encoding="utf-8")


def test_what_is_hostile_is_refused_or_cut_off(site):
    with serving(site) as (address, key, _):
        with pytest.raises(WebSocketBadStatusException):
            connect(address, origin="http://evil.example", secret="")
        request = urllib.request.Request(address, headers={"Host": "evil.example"})
        with pytest.raises(HTTPError, match="421"):
            urllib.request.urlopen(request)
        for path in ("/room.jsonl/../../etc/passwd", "/offline.js", "/%2e%2e/%2e%2e/etc/passwd"):
            with pytest.raises(HTTPError, match=r"40[34]"):
                urllib.request.urlopen(address + path)
        for who in ({"key": "x"}, {"key": 1}, {"secret": None}, {"kind": "vote"}):
            assert connect(address, **who).recv_data()[0] == 8, who
        bad = ("{", "[]", "null", '{"n": true}', '{"n": 1e9}', "[" * 9999, "é" * LARGEST, "{}")
        for text in bad:
            member = connect(address, secret="")
            until(member, lambda told: "me" in told)
            member.send(text)
            assert is_cut_off(member), text
        learner = connect(address, secret="")
        learner.send(json.dumps({"kind": "follow", "on": True, "n": 1}))
        assert until(learner, lambda told: "refused" in told)["refused"].startswith("you can't")
        for n in range(BURST + 9):
            learner.send(json.dumps({**VOTE, "n": n}))
        assert is_cut_off(learner)
        told = until(connect(address, key=key), lambda told: "me" in told)
        assert (told["follow"], told["here"]) == (False, 0)
        with urllib.request.urlopen(address) as page:
            policy = page.headers["Content-Security-Policy"]
            assert b"/room.js" in page.read()
        assert policy.startswith("default-src 'self'")
