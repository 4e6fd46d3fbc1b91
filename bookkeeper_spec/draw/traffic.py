"""All that is or was under way between clients and bookies, one letter a message and bookie.

The specs keep messages by their contents, as three sets of bookies each. Pictures and sequence
diagrams want them one by one: who wrote to whom, what it says, and what became of it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from protocol_lab.declaring.nodes import members

UNDER_WAY, HANDLED, LOST = "under way", "handled", "lost"
ADDS, FENCING, READS = "Adds", "Fencing", "Recovery reads"


@dataclass(frozen=True)
class Letter:
    """One message: in which group it is shown, from whom to whom, and what it says."""

    group: str
    source: str
    dest: str
    text: str
    detail: str = ""


Traffic = dict[Letter, str]
"""What became of every message that was ever sent."""


def bookie_name(bookie: int) -> str:
    return f"b{bookie}"


def entry_name(entry: int) -> str:
    return f"e{entry}"


def set_name(bookies: int) -> str:
    """A set of bookies, as in {b1, b2}."""
    return "{" + ", ".join(bookie_name(each) for each in members(bookies)) + "}"


def _mail(group: str, mail: Any, client: str, text: str, detail: str, answer: bool) -> Traffic:
    """The letters that one set of equal messages stands for."""
    found = {}
    fates = ((UNDER_WAY, mail.waiting), (HANDLED, mail.handled), (LOST, mail.lost))
    for fate, bookies in fates:
        for bookie in members(bookies):
            ends = (client, bookie_name(bookie))
            found[Letter(group, *(ends[::-1] if answer else ends), text, detail)] = fate
    return found


def _requests(group: str, mail: Any, client: str, text: str, detail: str = "") -> Traffic:
    return _mail(group, mail, client, text, detail, answer=False)


def _answers(group: str, mail: Any, client: str, text: str, detail: str = "") -> Traffic:
    return _mail(group, mail, client, text, detail, answer=True)


def adds(messages: Any, client: str) -> Iterator[Traffic]:
    """One client's adds and the answers to them."""
    for k in range(len(messages.of)):
        entry, name = messages.of[k], entry_name(k + 1)
        for lac in range(len(entry.requests)):
            yield _requests(ADDS, entry.requests[lac], client, f"add {name}", f"LAC {lac}")
        yield _answers(ADDS, entry.confirmed, client, f"{name} written")
        yield _answers(ADDS, entry.refused, client, f"{name} refused", "fenced")


def of_v4_13(s: Any) -> Traffic:
    """The messages of v4_13, whose w2 alone recovers."""
    messages, found = s.messages, {}
    for k, client in enumerate(("w1", "w2")):
        for each in adds(messages.adds[k], client):
            found |= each
    found |= _requests(FENCING, messages.fence_requests, "w2", "fence")
    for lac in range(len(messages.fence_responses)):
        found |= _answers(FENCING, messages.fence_responses[lac], "w2", f"LAC {lac}", "fenced")
    for k in range(len(messages.reads)):
        name = entry_name(k + 1)
        found |= _requests(READS, messages.reads[k].requests, "w2", f"read {name}")
        for data in range(len(messages.reads[k].responses)):
            found |= _answers(READS, messages.reads[k].responses[data], "w2", f"has {name}")
    return found | _answers(READS, messages.no_such_entry, "w2", "no such entry")
