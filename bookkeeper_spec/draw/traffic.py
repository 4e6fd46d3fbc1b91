"""All messages that are or were under way between clients and bookies, as one letter for each
message and bookie.

The specs store messages by their contents, with three sets of bookies for each. Pictures and
sequence diagrams need them one by one: sender, receiver, content, and whether it was handled or
lost.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any

from protocol_lab import members
from protocol_lab.explain.wording import letter

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
"""The fate of every message that was ever sent."""


def bookie_name(bookie: int) -> str:
    return f"b{bookie}"


def client_name(client: int) -> str:
    return f"c{client}"


def entry_name(entry: int) -> str:
    """An entry's name is its id, from 0; the specifications count from 1."""
    return f"e{entry - 1}"


def lac_text(lac: int) -> str:
    """A LAC as a bookie writes it: the last entry's id, -1 for none."""
    return f"LAC {lac - 1}"


def lafr_text(lafr: int) -> str:
    """A LAFR in the same way."""
    return f"LAFR {lafr - 1}"


def with_its_id(entry: int, data: int) -> str:
    """What an entry is called: its id, since its data are the same number."""
    return entry_name(entry)


def value_name(c: Any, data: int) -> str:
    """What clients of an unbounded ledger write: values, and empty entries that truncate."""
    return letter(data) if data <= c.send_limit - c.clients + 1 else "empty"


def set_name(bookies: int) -> str:
    """A set of bookies, as in {b1, b2}."""
    return "{" + ", ".join(map(bookie_name, members(bookies))) + "}"


def names(bookies: int) -> str:
    """The names of bookies, as in b1, b2."""
    return ", ".join(map(bookie_name, members(bookies))) or "none"


def _mail(group: str, mail: Any, client: str, text: str, detail: str, answer: bool) -> Traffic:
    """The letters for one set of equal messages."""
    found = {}
    fates = ((UNDER_WAY, mail.waiting), (HANDLED, mail.handled), (LOST, mail.lost))
    for fate, bookies in fates:
        for bookie in members(bookies):
            source, dest = client, bookie_name(bookie)
            if answer:
                source, dest = dest, source
            found[Letter(group, source, dest, text, detail)] = fate
    return found


def _requests(group: str, mail: Any, client: str, text: str, detail: str = "") -> Traffic:
    return _mail(group, mail, client, text, detail, answer=False)


def _answers(group: str, mail: Any, client: str, text: str, detail: str = "") -> Traffic:
    return _mail(group, mail, client, text, detail, answer=True)


def adds(
    messages: Any,
    client: str,
    mark: Callable[[int], str] = lac_text,
    refused: str = "fenced",
    called: Callable[[int, int], str] = with_its_id,
) -> Iterator[Traffic]:
    """One client's adds and the answers.

    `mark` says what a request carries, `refused` why not, and `called` what an entry is called,
    from its id and its data.
    """
    for k in range(len(messages.of)):
        entry, name = messages.of[k], entry_name(k + 1)
        whole = called(k + 1, entry.data)
        value = whole.removeprefix(name).strip(" ()")
        for stamp in range(len(entry.requests)):
            yield _requests(ADDS, entry.requests[stamp], client, f"add {whole}", mark(stamp))
        yield _answers(ADDS, entry.confirmed, client, f"{name} stored", value)
        told = ", ".join(filter(None, (value, refused)))
        yield _answers(ADDS, entry.refused, client, f"{name} refused", told)


def fences(messages: Any, client: str) -> Iterator[Traffic]:
    """One client's requests to fence, and the answers with the bookies' LACs."""
    yield _requests(FENCING, messages.fence_requests, client, "fence")
    for lac in range(len(messages.fence_responses)):
        yield _answers(FENCING, messages.fence_responses[lac], client, lac_text(lac), "fenced")


def reads(
    messages: Any, client: str, called: Callable[[int, int], str] = with_its_id
) -> Iterator[Traffic]:
    """One client's recovery reads, and the answers: with the entry, or without it.

    A negative answer that does not say which entry was asked for is shown beside the reads.
    """
    for k in range(len(messages.reads)):
        each, name = messages.reads[k], entry_name(k + 1)
        yield _requests(READS, each.requests, client, f"read {name}")
        for data in range(len(each.responses)):
            text = f"has {called(k + 1, data + 1)}"
            yield _answers(READS, each.responses[data], client, text)
        if hasattr(each, "no_such_entry"):
            yield _answers(READS, each.no_such_entry, client, f"no {name}")
    if hasattr(messages, "no_such_entry"):
        yield _answers(READS, messages.no_such_entry, client, "no entry")
    if hasattr(messages, "unknown"):
        yield _answers(READS, messages.unknown, client, "unknown")


def _merged(parts: Iterable[Traffic]) -> Traffic:
    found: Traffic = {}
    for each in parts:
        found |= each
    return found


def of_v4_13(s: Any) -> Traffic:
    """The messages of v4_13, where only w2 recovers."""
    m = s.messages
    return _merged(
        chain(adds(m.adds[0], "w1"), adds(m.adds[1], "w2"), fences(m, "w2"), reads(m, "w2"))
    )


def of_stamped_clients(s: Any, c: Any) -> Traffic:
    """The same where a request carries a LAC and a LAFR."""

    return of_clients(s, _stamp(c))


def _stamp(c: Any) -> Callable[[int], str]:
    """What requests carry there, as a function of the number that stands for both."""

    def mark(stamp: int) -> str:
        lac, lafr = divmod(stamp, c.send_limit + 1)
        return f"{lac_text(lac)}, {lafr_text(lafr)}"

    return mark


def of_clients(s: Any, mark: Callable[[int], str] = lac_text) -> Traffic:
    """The messages of a protocol with any number of clients."""
    parts = (
        chain(adds(each.adds, client, mark), fences(each, client), reads(each, client))
        for client, each in ((client_name(k), s.messages[k]) for k in range(1, len(s.messages) + 1))
    )
    return _merged(chain.from_iterable(parts))


def of_terms(s: Any, c: Any) -> Traffic:
    """The messages where bookies fence by term, and may reject whatever they are asked."""

    mark = _stamp(c)

    def called(entry: int, data: int) -> str:
        return f"{entry_name(entry)} ({value_name(c, data)})"

    def letters(k: int) -> Iterator[Traffic]:
        client, each, term = client_name(k), s.messages[k], f"term {s.clients[k].term}"
        yield from adds(each.adds, client, mark, "its term is old", called)
        yield _requests(FENCING, each.fence_requests, client, f"begin {term}")
        for stamp in range(len(each.fence_responses)):
            yield _answers(FENCING, each.fence_responses[stamp], client, mark(stamp), term)
        yield _answers(FENCING, each.fence_refused, client, f"{term} is old")
        yield from reads(each, client, called)
        yield _answers(READS, each.read_refused, client, f"read refused: {term} is old")

    return _merged(chain.from_iterable(letters(k) for k in range(1, len(s.clients) + 1)))
