"""The constants and the state of `bookkeeper.guaranteed_write_quorum`: LACs and LAFRs.

The LAFR is the last add fully replicated: up to it every entry is on a write quorum.
"""

from typing import Annotated, NamedTuple

from bookkeeper_spec.model import state
from bookkeeper_spec.model.clients import Client
from bookkeeper_spec.model.constants import (
    SMALLEST,
    AckQuorum,
    BookieCount,
    ClientCount,
    EnsembleChoice,
    IgnoreLateReads,
    InflightLimit,
    MaxLostMessages,
    RecoveryReadsFence,
    WriteQuorum,
)
from bookkeeper_spec.model.ledger import Bookie, FencedLedger
from bookkeeper_spec.model.messages import Mail
from protocol_lab import (
    NO_LIMIT,
    Array,
    Configuration,
    Int8,
    Limits,
    Per,
    Range,
    Struct,
    contains,
    flag,
)


class Constants(NamedTuple):
    """The size of the model, and what can be switched."""

    bookies: BookieCount = 2
    clients: ClientCount = 2
    write_quorum: WriteQuorum = 2
    ack_quorum: AckQuorum = 1
    send_limit: Annotated[
        int, Limits(1, 4, "entries that the writer has to write", classes=(1, 2, 4))
    ] = 1
    inflight_limit: InflightLimit = 1
    recovery_reads_fence: RecoveryReadsFence = 1
    max_lost_messages: MaxLostMessages = NO_LIMIT
    ensemble_choice: EnsembleChoice = SMALLEST
    ignore_late_reads: IgnoreLateReads = 0
    count_from_lac: Annotated[
        int, flag("do the LAC and the LAFR rise from where they are, not only if counted from 1")
    ] = 0


CONFIGURATIONS = (
    Configuration("default", "the smallest ensemble with a replica", "284,861 distinct states"),
    Configuration(
        "spare_bookie",
        "a third bookie can replace one that fails",
        "more than 3,000,000 distinct states",
        {"bookies": 3},
    ),
)


SomeMark = Range(0, "send_limit")


class StampedAdds(Struct):
    """All messages between one client and the bookies about adding one entry."""

    data: Int8
    requests: Array(Mail, "(send_limit + 1) * (send_limit + 1)")  # by LAC and LAFR: see `stamp`
    confirmed: Mail
    refused: Mail


class StampedAddMessages(Struct):
    """The adds of one client; entry 1 is the first item."""

    of: Array(StampedAdds, "send_limit")


class ClientMessages(state.ClientMessages):
    """As today, but that adds carry a LAFR too, and that bookies answer a fence with theirs."""

    adds: StampedAddMessages


class ClientState(state.ClientState):
    """A client of today with a LAFR."""

    lafr: Int8


class State(FencedLedger):
    """The ledger, its clients, and the messages between each of them and the bookies."""

    b_lafr: Per(Bookie, Int8)
    clients: Per(Client, ClientState)
    messages: Per(Client, ClientMessages)


def stamp(c, lac, lafr) -> int:
    """Where requests with this LAC and LAFR stand."""
    return lac * (c.send_limit + 1) + lafr


def stamp_of(c, writer) -> int:
    """The stamp of what a client sends now."""
    return stamp(c, writer.lac, writer.lafr)


def is_pinned(mine, bookie) -> bool:
    """Has the bookie confirmed an acknowledged entry that would move on to the next fragment?"""
    return any(
        contains(mine.confirmed[entry], bookie) for entry in range(mine.lafr + 1, mine.lac + 1)
    )
