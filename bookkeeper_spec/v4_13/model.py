"""The constants and the state of `bookkeeper.v4_13`: one writer w1, one recovery by w2."""

from typing import Annotated, NamedTuple

from bookkeeper_spec.model.clients import Writer
from bookkeeper_spec.model.constants import (
    SMALLEST,
    AckQuorum,
    BookieCount,
    CountFromLac,
    EnsembleChoice,
    MaxLostMessages,
    SendLimit,
    WriteQuorum,
)
from bookkeeper_spec.model.ledger import Bookie, Entry, FencedLedger
from bookkeeper_spec.model.messages import AddMessages, Mail
from protocol_lab import NO_LIMIT, TAKEN, Array, Configuration, Named, NodeSet, Struct, flag


class Constants(NamedTuple):
    """The size of the model, and what can be switched."""

    bookies: BookieCount = 3
    write_quorum: WriteQuorum = 3
    ack_quorum: AckQuorum = 2
    send_limit: SendLimit = 1
    recovery_reads_fence: Annotated[int, flag("do recovery reads fence (mends defect 1)")] = 0
    lac_from_fragment: Annotated[
        int, flag("does recovery start no earlier than the last fragment (mends defect 2)")
    ] = 1
    max_lost_messages: MaxLostMessages = NO_LIMIT
    ensemble_choice: EnsembleChoice = SMALLEST
    count_from_lac: CountFromLac = 0


CONFIGURATIONS = (
    Configuration(
        "default",
        "defect 1 of version 4.13",
        "violated in 20 states, after 2,003,183 distinct states",
    ),
    Configuration(
        "shipped",
        "the same, as in BookKeeperProtocol_v4_13.cfg, which comes with the original",
        "violated in 20 states, after 2,003,183 distinct states",
        {"bookies": 3, "write_quorum": 3, "ack_quorum": 2, "recovery_reads_fence": False},
    ),
)


W1, W2 = 0, 1
"""Who sent a message and gets the answer: w1's adds are refused when fenced, w2's are not."""

SomeWriter = Named(("w1", "w2"))


NOT_STARTED, FENCING, READ, PENDING_READ_RESPONSE, WRITE = range(5)
"""The phases of recovery. All reads before all writes give fewer states than both mixed."""

OK, NO_SUCH_ENTRY, UNKNOWN = range(3)
"""What a bookie answers. UNKNOWN comes only from a bookie in limbo."""


class WriterState(Writer):
    """w1 or w2; what follows is for recovery."""

    curr_read_entry: Entry  # the entry that is being read, if an answer had it
    has_entry: NodeSet(Bookie)  # who answered that it has the entry that is being read
    no_such_entry: NodeSet(Bookie)  # and who that it does not


class Reads(Struct):
    """Requests for one entry, and the answers that have its data."""

    requests: Mail
    responses: Array(Mail, "send_limit")  # by the data, from 1


class Messages(Struct):
    """All that is or was under way."""

    adds: Array(AddMessages, 2)  # w1's and w2's
    fence_requests: Mail
    fence_responses: Array(Mail, "send_limit + 1")  # by the bookie's LAC
    reads: Array(Reads, "send_limit + 1")  # by the entry, from 1
    no_such_entry: Mail  # the answer to a read that does not tell which entry was meant


class State(FencedLedger):
    """The ledger, its two clients, and the messages between them and the bookies."""

    w1: WriterState
    w2: WriterState
    messages: Messages


def init(s: State, c: Constants):
    """There is no ledger."""
    return TAKEN
