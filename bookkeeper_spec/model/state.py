"""The state of `bookkeeper.protocol`: the ledger, its clients, and all messages."""

from bookkeeper_spec.model.clients import NO_ENTRY, Client, KnownLedger
from bookkeeper_spec.model.constants import Constants
from bookkeeper_spec.model.ledger import Bookie, FencedLedger
from bookkeeper_spec.model.messages import Mail, WriteAndFenceMessages
from protocol_lab import TAKEN, Array, Int8, NodeSet, Per, Struct


class ClientState(KnownLedger):
    """A client; what follows is for recovery."""

    recovery_ensemble: NodeSet(Bookie)  # the last fragment's when recovery began: it is read from
    curr_read_entry: Int8  # the entry that is being read; 0 for none
    read_responses: NodeSet(Bookie)  # who answered that it does not have that entry
    last_recoverable_entry: Int8


class Reads(Struct):
    """Requests for one entry, and the answers: its data, or "no such entry"."""

    requests: Mail
    responses: Array(Mail, "send_limit")  # by the data, from 1
    no_such_entry: Mail


class ClientMessages(WriteAndFenceMessages):
    """All that is or was under way between one client and the bookies."""

    reads: Array(Reads, "send_limit + 1")  # by the entry, from 1


class State(FencedLedger):
    """The ledger, its clients, and the messages between each of them and the bookies."""

    clients: Per(Client, ClientState)
    messages: Per(Client, ClientMessages)


def init(s: State, c: Constants):
    """There is no ledger."""
    for client in range(1, c.clients + 1):
        s.clients[client].last_recoverable_entry = NO_ENTRY
    return TAKEN
