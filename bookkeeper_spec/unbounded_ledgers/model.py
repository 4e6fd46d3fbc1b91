"""The constants and the state of `bookkeeper.unbounded_ledgers`, which has terms.

What clients want to write are values: 1, 2, 3, ..., each of which is sent once. `sent_values` and
`acked_values` count them for the invariants.
"""

from typing import Annotated, NamedTuple

from bookkeeper_spec.model import state
from bookkeeper_spec.model.clients import Client, KnownLedger
from bookkeeper_spec.model.constants import (
    SMALLEST,
    AckQuorum,
    BookieCount,
    EnsembleChoice,
    IgnoreLateReads,
    InflightLimit,
    MaxLostMessages,
    WriteQuorum,
)
from bookkeeper_spec.model.ledger import Bookie, EntryId, Ledger
from bookkeeper_spec.model.messages import Mail
from protocol_lab import (
    NO_LIMIT,
    TAKEN,
    Array,
    Configuration,
    Int8,
    Limits,
    NodeSet,
    Per,
    Struct,
    flag,
)


class Constants(NamedTuple):
    """The size of the model, and what can be switched.

    The original has `Values`, and as many entry ids as values and terms after the first. Here the
    number of ids is given, as in the other protocols of a ledger: `values` follows from it.
    """

    bookies: BookieCount = 2
    clients: Annotated[int, Limits(1, 4, "clients, each of which may begin a term", (2, 3, 4))] = 2
    write_quorum: WriteQuorum = 2
    ack_quorum: AckQuorum = 1
    send_limit: Annotated[
        int,
        Limits(
            "clients", 6, "entry ids: one a value, and one a client but the first", (1, 2, 4, 6)
        ),
    ] = 2
    inflight_limit: InflightLimit = 1
    max_lost_messages: MaxLostMessages = NO_LIMIT
    ensemble_choice: EnsembleChoice = SMALLEST
    ignore_late_reads: IgnoreLateReads = 0
    count_from_lafr: Annotated[int, flag("does the LAFR rise from the LAFR, not from the LAC")] = 0


CONFIGURATIONS = (
    Configuration(
        "default",
        "one value, two clients and the smallest ensemble with a replica",
        "violated in 29 states, after 334,540 distinct states",
    ),
)


class TermAdds(Struct):
    """All messages between one client, in its term, and the bookies about adding one entry."""

    data: Int8
    trunc: Int8  # does the entry truncate: 1 or 0
    requests: Array(Mail, "(send_limit + 1) * (send_limit + 1)")  # by LAC and LAFR: see `stamp`
    confirmed: Mail
    refused: Mail  # the term is old


class TermAddMessages(Struct):
    """The adds of one client; entry 1 is the first item."""

    of: Array(TermAdds, "send_limit")


class ClientMessages(Struct):
    """All that is or was under way between one client and the bookies, in the client's term."""

    adds: TermAddMessages
    fence_requests: Mail
    fence_responses: Array(Mail, "(send_limit + 1) * (send_limit + 1)")  # the bookie's LAC and LAFR
    fence_refused: Mail
    reads: Array(state.Reads, "send_limit + 1")  # by the entry, from 1
    read_refused: Mail  # of whichever entry


class ClientState(KnownLedger):
    """A client. It has one term at most; what follows on the LAFR is for recovery."""

    term: Int8  # 0 for none
    lafr: Int8
    recovery_ensemble: NodeSet(Bookie)  # the last fragment's when recovery began: it is read from
    recovery_lac: Int8
    recovery_lafr: Int8
    curr_read_entry: Int8  # the entry that is being read; 0 for none
    read_responses: NodeSet(Bookie)  # who answered that it does not have that entry
    trunc_entry: Int8  # the empty entry that ends the recovery; 0 for none


class State(Ledger):
    """The ledger, its clients, the messages, and what was written: the last two are for checks."""

    meta_term: Int8
    b_term: Per(Bookie, Int8)
    b_lafr: Per(Bookie, Int8)
    clients: Per(Client, ClientState)
    messages: Per(Client, ClientMessages)
    sent_values: Int8  # so many values were sent, from 1 on
    acked_values: NodeSet(EntryId)


def init(s: State, c: Constants):
    """There is no ledger."""
    return TAKEN


def values(c) -> int:
    """How many values there are to be written: 1, 2, 3, ..."""
    return c.send_limit - c.clients + 1


def no_op(c) -> int:
    """The data of an empty entry. It is no value: no client but the first writes one."""
    return c.send_limit


def is_stale(s, bookie, client) -> bool:
    """Is the client's term older than the bookie's?"""
    return s.clients[client].term < s.b_term[bookie]
