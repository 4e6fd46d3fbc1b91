"""What the protocols with any number of clients share: who they are, and what they remember.

Whichever client comes first creates the ledger; every other may recover it. A client does one or
the other, once: so who has begun a recovery sends adds that are accepted although the ledger is
fenced, and nobody else does.
"""

from bookkeeper_spec.ledger import CLOSED, OPEN, Fragment
from bookkeeper_spec.messages import AddMessages, Mail
from bookkeeper_spec.writing import Writer
from protocol_lab import TAKEN, Array, Node, Seq, Struct

Client = Node("clients")

NOT_STARTED, FENCING = 0, 1
"""The first phases of a recovery."""


class KnownLedger(Writer):
    """What every client has of the ledger."""

    fragments: Seq(Fragment, "send_limit + 1")  # a recoverer's may be ahead of the metadata's


class WriteAndFenceMessages(Struct):
    """The messages between one client and the bookies, but for reads."""

    adds: AddMessages
    fence_requests: Mail
    fence_responses: Array(Mail, "send_limit + 1")  # by the bookie's LAC


def recovers(s, client) -> bool:
    """Has the client begun to recover the ledger, rather than created it?"""
    return s.clients[client].recovery_phase != NOT_STARTED


# --- Changes of the metadata -------------------------------------------------------------------


def why_not_change_metadata(s, mine) -> str:
    """Why the writer can't change the metadata: somebody else has. "" if it can."""
    if mine.status != OPEN or s.meta_status != OPEN:
        return "the client has no open ledger, or somebody recovers it"
    if mine.meta_version != s.meta_version:
        return "the metadata have changed since the client read them"
    return TAKEN


def publish_fragments(s, mine) -> None:
    """Write the client's fragments to the metadata."""
    s.meta_version += 1
    s.meta_fragments = mine.fragments
    mine.meta_version = s.meta_version


def close_ledger(s, mine, last_entry) -> None:
    """Close the ledger at an entry."""
    s.meta_version += 1
    s.meta_status = CLOSED
    s.meta_last_entry = last_entry
    mine.meta_version = s.meta_version
    mine.status = CLOSED
