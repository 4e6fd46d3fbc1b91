"""Changes of the ledger's metadata, by compare-and-set on their version."""

from bookkeeper_spec.model.ledger import CLOSED, OPEN
from protocol_lab import TAKEN


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
