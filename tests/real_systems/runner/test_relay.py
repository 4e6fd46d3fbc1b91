"""A relay passes messages on, and holds back those that it is told to; on loopback sockets."""

import socket

import pytest

from real_systems.runner.processes import DidNotHappen
from real_systems.runner.relay import Relay


def framed(text: bytes) -> bytes:
    return len(text).to_bytes(4) + text


@pytest.fixture
def pair():
    """A relay that can hold what begins with an h, a client's socket, and the server's."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        relay = Relay(server.getsockname()[1], lambda message: message.startswith(b"h"))
        with socket.create_connection(("127.0.0.1", relay.port)) as near:
            far, _ = server.accept()
            far.settimeout(5)
            near.settimeout(5)
            with far:
                yield relay, near, far
        relay.close()


def test_messages_and_answers_pass(pair):
    _, near, far = pair
    near.sendall(framed(b"hello"))
    assert far.recv(100) == framed(b"hello")
    far.sendall(b"answer")
    assert near.recv(100) == b"answer"


def test_what_is_held_waits_for_its_release(pair):
    relay, near, far = pair
    relay.hold()
    near.sendall(framed(b"a"))
    assert far.recv(100) == framed(b"a")
    near.sendall(framed(b"h1") + framed(b"h2"))
    far.settimeout(0.1)
    with pytest.raises(TimeoutError):
        far.recv(100)
    far.settimeout(5)
    relay.pass_until(lambda message: message == b"h1", "h1 passes", 5)
    assert far.recv(6) == framed(b"h1")
    relay.release()
    assert far.recv(6) == framed(b"h2")


def test_passing_has_a_bound(pair):
    relay, _, _ = pair
    relay.hold()
    with pytest.raises(DidNotHappen, match="h9 passes"):
        relay.pass_until(lambda message: message == b"h9", "h9 passes", 0.01)


def test_the_end_of_a_connection_is_passed_on(pair):
    _, near, far = pair
    near.close()
    assert far.recv(100) == b""


def test_what_is_lost_takes_its_connection_with_it(pair):
    relay, near, far = pair
    relay.lose(lambda message: message == b"l")
    near.sendall(framed(b"a") + framed(b"l") + framed(b"b"))
    assert far.recv(6) == framed(b"a")
    assert far.recv(100) == b""
