"""A port that passes on what comes to another one, and can hold back or lose chosen messages.

What a pause of a process can't do: a node that runs, reaches others, and does not hear from one of
them. Messages begin with their length, four bytes, as those of Kafka, ZooKeeper and BookKeeper do.
The threads of a relay end with the driver.
"""

import socket
import struct
import threading
from collections.abc import Callable
from contextlib import suppress

from real_systems.runner.processes import BOUND, wait_until

_LENGTH = struct.Struct(">i")


class Relay:
    """Listens on a free port, and passes on what comes there to `target`, and its answers back.

    is_held: given a message, without its length, is it one that `hold` keeps back? What follows it
    on its connection waits as well. has_held: has it kept one back?
    """

    def __init__(self, target: int, is_held: Callable[[bytes], bool]):
        self._target, self._is_held = target, is_held
        self._may_pass = threading.Condition()
        self._is_holding = False
        self._passing: Callable[[bytes], bool] | None = None
        self._loses: Callable[[bytes], bool] | None = None
        self.has_held = False
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def hold(self) -> None:
        """Keep back such messages from now on."""
        with self._may_pass:
            self._is_holding = True

    def release(self) -> None:
        """Pass on what was kept back, and all that follows."""
        with self._may_pass:
            self._is_holding = False
            self._may_pass.notify_all()

    def pass_until(
        self, is_last: Callable[[bytes], bool], what: str, seconds: float = BOUND
    ) -> None:
        """Pass on what is kept back up to such a message, and hold the rest. Raises
        DidNotHappen."""
        with self._may_pass:
            self._passing = is_last
            self._may_pass.notify_all()
        wait_until(lambda: self._passing is None, what, seconds, 0.05)

    def lose(self, is_lost: Callable[[bytes], bool]) -> None:
        """Lose the next such message: the connection on which it comes ends."""
        self._loses = is_lost

    def close(self) -> None:
        """Take no more connections."""
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:  # closed
                return
            try:
                far = socket.create_connection(("127.0.0.1", self._target))
            except OSError:  # nobody is there: so it looks from outside as well
                near.close()
                continue
            for pump, *ends in ((self._pass_messages, near, far), (_pass_bytes, far, near)):
                threading.Thread(target=pump, args=ends, daemon=True).start()

    def _pass_messages(self, source: socket.socket, sink: socket.socket) -> None:
        try:
            with source.makefile("rb") as coming:
                while length := coming.read(_LENGTH.size):
                    message = coming.read(*_LENGTH.unpack(length))
                    if self._loses is not None and self._loses(message):
                        self._loses = None
                        return
                    if self._is_held(message):
                        self._wait_for(message)
                    sink.sendall(length + message)
        except (OSError, struct.error):
            pass
        finally:
            _end(source, sink)

    def _wait_for(self, message: bytes) -> None:
        with self._may_pass:
            self.has_held |= self._is_holding
            self._may_pass.wait_for(lambda: not self._is_holding or self._passing is not None)
            if self._passing is not None and self._passing(message):
                self._passing = None


def _pass_bytes(source: socket.socket, sink: socket.socket) -> None:
    try:
        while data := source.recv(65_536):
            sink.sendall(data)
    except OSError:
        pass
    finally:
        _end(source, sink)


def _end(*ends: socket.socket) -> None:
    for each in ends:
        with suppress(OSError):  # it has ended
            each.shutdown(socket.SHUT_RDWR)
        each.close()
