"""The constants and the state of `bookkeeper.v4_13`: one writer w1, one recovery by w2."""

from typing import Annotated, NamedTuple

from bookkeeper_spec.model import *
from protocol_lab import *


class Constants(NamedTuple):
    """The size of the model, and what can be switched.

    The original has the first five constants. It behaves as the defaults of the others say: it has
    `lac_from_fragment` built in, although release 4.13.0 lacks it. With as many bookies as the
    write quorum, as in both configurations, nobody can replace a bookie.
    """

    bookies: BookieCount = 3
    write_quorum: WriteQuorum = 3
    ack_quorum: AckQuorum = 2
    send_limit: SendLimit = 1
    recovery_reads_fence: Annotated[int, flag("do recovery reads fence (mends defect 1)")] = 0
    lac_from_fragment: Annotated[
        int, flag("does recovery start no earlier than the last fragment (mends defect 2)")
    ] = 1
    max_lost_messages: MaxLostMessages = NO_LIMIT
    ensemble_choice: EnsembleChoice = "smallest"
    count_from_lac: CountFromLac = 0
    close_overrides_recovery: CloseOverridesRecovery = 0


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


SomeWriter = Named("w1", "w2")
"""Who sent a message and gets the answer: w1's adds are refused when fenced, w2's are not."""

W1, W2 = 0, 1
"""Where each client's adds stand in `messages.adds`."""

READ, PENDING_READ_RESPONSE, WRITE = 2, 3, 4
"""The phases of recovery after FENCING. All reads before all writes give fewer states than both
mixed."""


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


def init(s, c):
    """There is no ledger."""
    return TAKEN
