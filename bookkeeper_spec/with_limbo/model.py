"""The constants and the state of `bookkeeper.with_limbo`."""

from typing import Annotated, NamedTuple

from bookkeeper_spec.model.clients import Client, KnownLedger, recovers
from bookkeeper_spec.model.constants import (
    SMALLEST,
    AckQuorum,
    BookieCount,
    ClientCount,
    CountFromLac,
    EnsembleChoice,
    MaxLostMessages,
    SendLimit,
    WriteQuorum,
)
from bookkeeper_spec.model.ledger import Bookie, Entry, FencedLedger
from bookkeeper_spec.model.messages import Mail, WriteAndFenceMessages
from bookkeeper_spec.v4_13.model import Reads
from protocol_lab import NO_LIMIT, TAKEN, Array, Configuration, Int8, NodeSet, Per, flag


class Constants(NamedTuple):
    """The size of the model, and what can be switched."""

    bookies: BookieCount = 2
    clients: ClientCount = 2
    write_quorum: WriteQuorum = 2
    ack_quorum: AckQuorum = 1
    send_limit: SendLimit = 1
    allow_crash_when_ledger_open: Annotated[int, flag("may a bookie crash then")] = 1
    allow_crash_when_ledger_in_recovery: Annotated[int, flag("may a bookie crash then")] = 1
    allow_crash_when_ledger_closed: Annotated[int, flag("may a bookie crash then")] = 1
    fence_on_unclean_shutdown: Annotated[
        int, flag("is the ledger fenced on a bookie that crashed")
    ] = 1
    set_limbo_on_unclean_shutdown: Annotated[
        int, flag("does a bookie that crashed know that it may have lost entries")
    ] = 1
    max_lost_messages: MaxLostMessages = NO_LIMIT
    ensemble_choice: EnsembleChoice = SMALLEST
    close_with_own_fragments: Annotated[
        int, flag("can a recovery that has changed the ensemble close the ledger")
    ] = 0
    count_from_lac: CountFromLac = 0


CONFIGURATIONS = (
    Configuration("default", "one entry, which every bookie may forget", "97,065 distinct states"),
    Configuration(
        "shipped",
        "two entries, as in BookKeeperProtocolWithLimbo.cfg, which comes with the original",
        "not explored to the end",
        {"send_limit": 2},
    ),
)


class ClientState(KnownLedger):
    """A client; what follows is for recovery."""

    curr_read_entry: Entry  # the entry that is being read, if an answer had it
    has_entry: NodeSet(Bookie)  # who answered that it has the entry that is being read,
    no_such_entry: NodeSet(Bookie)  # that it does not,
    is_unknown: NodeSet(Bookie)  # and that it does not know


class ClientMessages(WriteAndFenceMessages):
    """All that is or was under way between one client and the bookies."""

    reads: Array(Reads, "send_limit + 1")  # by the entry, from 1
    no_such_entry: Mail  # answers to reads that do not tell which entry was meant
    unknown: Mail


class State(FencedLedger):
    """The ledger, its clients, the messages between each of them and the bookies, and crashes."""

    b_limbo: NodeSet(Bookie)
    clients: Per(Client, ClientState)
    messages: Per(Client, ClientMessages)
    crashes: Int8


def init(s: State, c: Constants):
    """There is no ledger."""
    return TAKEN


def same_kind(s, client, other) -> bool:
    """Do both recover, or neither? The original distinguishes only the creator from recoveries."""
    return recovers(s, client) == recovers(s, other)
