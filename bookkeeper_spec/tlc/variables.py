"""Converts our state to those variables of the originals that have another shape there.

In the originals all messages are one function, from a message to the number of times that it can
still be delivered: 1 if it is in flight, 0 if it was handled, -1 if it was lost. The values are
plain lists, dicts and texts, as `protocol_lab.interchange.tlc_values` describes them.
"""

from collections.abc import Iterator
from typing import Any

from bookkeeper_spec.model import NOT_STARTED, Status
from protocol_lab import members

Messages = Iterator[tuple[dict[str, Any], int]]

ADD_REQUEST, ADD_RESPONSE = "AddEntryRequestMessage", "AddEntryResponseMessage"
FENCE_REQUEST, FENCE_RESPONSE = "FenceRequestMessage", "FenceResponseMessage"
READ_REQUEST, READ_RESPONSE = "ReadRequestMessage", "ReadResponseMessage"
OK, NO_SUCH_ENTRY, UNKNOWN = "OK", "NoSuchEntry", "Unknown"
INVALID_TERM = "InvalidTerm"


def status_name(status: int) -> str:
    """The original's model value; those for the states of a ledger begin with STATUS_."""
    name = Status.names[status]
    return f"STATUS_{name}" if name in ("open", "in_recovery", "closed", "invalid") else name


def meta_status(s: Any, c: Any) -> str:
    return status_name(s.meta_status)


def b_entries(s: Any, c: Any) -> list:
    """For each bookie the set of entries that it stores."""
    return [
        (
            bookie,
            [
                {"id": entry, "data": data}
                for entry in range(1, c.send_limit + 1)
                for data in members(s.b_entries[bookie].data[entry])
            ],
        )
        for bookie in range(1, c.bookies + 1)
    ]


def b_fenced(s: Any, c: Any) -> list:
    """For each bookie whether the ledger is fenced on it."""
    return _per_bookie(s.b_fenced, c)


def b_limbo(s: Any, c: Any) -> list:
    """For each bookie whether it is in limbo."""
    return _per_bookie(s.b_limbo, c)


def _per_bookie(bookies: int, c: Any) -> list:
    return [(bookie, bookies >> bookie & 1) for bookie in range(1, c.bookies + 1)]


# --- Messages ----------------------------------------------------------------------------------


def _mail(mail: Any, type: str, **fields: Any) -> Messages:
    """One message for each bookie, with its count."""
    for bookies, count in ((mail.waiting, 1), (mail.handled, 0), (mail.lost, -1)):
        for bookie in members(bookies):
            yield {"type": type, "bookie": bookie, **fields}, count


Marks = list[dict[str, int]]
"""What distinguishes the requests to add one entry: the LAC, or the LAC and the LAFR."""


def _lacs(c: Any) -> Marks:
    return [{"lac": lac} for lac in range(c.send_limit + 1)]


def _lacs_and_lafrs(c: Any) -> Marks:
    """By the stamp that the requests have."""
    up_to = range(c.send_limit + 1)
    return [{"lac": lac, "lafr": lafr} for lac in up_to for lafr in up_to]


def _adds(c: Any, messages: Any, marks: Marks, recovery: bool, **client: int) -> Messages:
    for k in range(c.send_limit):
        adds = messages.of[k]
        fields = {"entry": {"id": k + 1, "data": adds.data}, "recovery": recovery, **client}
        for requests, marked in zip(adds.requests, marks, strict=False):
            yield from _mail(requests, ADD_REQUEST, **marked, **fields)
        yield from _mail(adds.confirmed, ADD_RESPONSE, success=True, **fields)
        yield from _mail(adds.refused, ADD_RESPONSE, success=False, **fields)


def _fences(c: Any, messages: Any, told: str = "lac", **client: int) -> Messages:
    """A bookie answers with its LAC, or with its LAFR."""
    yield from _mail(messages.fence_requests, FENCE_REQUEST, **client)
    for k in range(c.send_limit + 1):
        yield from _mail(messages.fence_responses[k], FENCE_RESPONSE, **{told: k}, **client)


def _reads(c: Any, messages: Any, fence: bool, code: dict[str, str], **client: int) -> Messages:
    for k in range(c.send_limit + 1):
        requests, entry = messages.reads[k].requests, k + 1
        yield from _mail(requests, READ_REQUEST, entry_id=entry, fence=fence, **client)
        for data in range(1, c.send_limit + 1):
            yield from _mail(
                messages.reads[k].responses[data - 1],
                READ_RESPONSE,
                entry={"id": entry, "data": data},
                fence=fence,
                **code,
                **client,
            )


def messages_of_v4_13(s: Any, c: Any) -> list:
    """All messages of 4.13; only the `recovery` flag of an add tells its two clients apart."""
    messages, fence = s.messages, bool(c.recovery_reads_fence)
    found = [
        *_adds(c, messages.adds[0], _lacs(c), False),
        *_adds(c, messages.adds[1], _lacs(c), True),
    ]
    found += [*_fences(c, messages), *_reads(c, messages, fence, {})]
    return [*found, *_mail(messages.no_such_entry, READ_RESPONSE, entry=0, fence=fence)]


def _adds_of(s: Any, c: Any, client: int, marks: Marks) -> Messages:
    recovery = s.clients[client].recovery_phase != NOT_STARTED
    return _adds(c, s.messages[client].adds, marks, recovery, cid=client)


def _all_reads(c: Any, messages: Any, client: int) -> Messages:
    """Reads, and the answers to them, where a negative answer names the entry, too."""
    fence = bool(c.recovery_reads_fence)
    yield from _reads(c, messages, fence, {"code": OK}, cid=client)
    for k in range(c.send_limit + 1):
        none = {"entry": {"id": k + 1, "data": 0}, "code": NO_SUCH_ENTRY}
        answers = messages.reads[k].no_such_entry
        yield from _mail(answers, READ_RESPONSE, fence=fence, cid=client, **none)


def messages_of_protocol(s: Any, c: Any) -> list:
    """All messages of today's protocol: each names its client, a read's answer also the entry."""
    found = []
    for client in range(1, c.clients + 1):
        messages = s.messages[client]
        found += _adds_of(s, c, client, _lacs(c))
        found += _fences(c, messages, cid=client)
        found += _all_reads(c, messages, client)
    return found


def messages_of_write_quorum(s: Any, c: Any) -> list:
    """All messages with a guaranteed write quorum: adds carry the LAFR, a bookie tells its own."""
    found = []
    for client in range(1, c.clients + 1):
        messages = s.messages[client]
        found += _adds_of(s, c, client, _lacs_and_lafrs(c))
        found += _fences(c, messages, "lafr", cid=client)
        found += _all_reads(c, messages, client)
    return found


def messages_of_with_limbo(s: Any, c: Any) -> list:
    """All messages with limbo: each names its client; an answer without an entry has entry 0."""
    found = []
    for client in range(1, c.clients + 1):
        messages = s.messages[client]
        found += _adds_of(s, c, client, _lacs(c))
        found += _fences(c, messages, cid=client)
        found += _reads(c, messages, True, {"code": OK}, cid=client)
        for answers, code in ((messages.no_such_entry, NO_SUCH_ENTRY), (messages.unknown, UNKNOWN)):
            found += _mail(answers, READ_RESPONSE, entry=0, fence=True, code=code, cid=client)
    return found


# --- Clients -----------------------------------------------------------------------------------


def _set(bookies: int) -> list[int]:
    return list(members(bookies))


def _fragment(fragment: Any) -> dict[str, Any] | int:
    if fragment.id == 0:
        return 0
    return {
        "id": fragment.id,
        "ensemble": _set(fragment.ensemble),
        "first_entry_id": fragment.first_entry_id,
    }


def _entry(entry: Any) -> dict[str, int]:
    return {"id": entry.id, "data": entry.data}


def _writer(c: Any, writer: Any) -> dict[str, Any]:
    ops = [writer.pending_add_ops.items[k] for k in range(writer.pending_add_ops.size)]
    return {
        "meta_version": writer.meta_version,
        "status": status_name(writer.status),
        "curr_fragment": _fragment(writer.curr_fragment),
        "pending_add_ops": [
            {
                "entry": _entry(op.entry),
                "fragment_id": op.fragment_id,
                "ensemble": _set(op.ensemble),
            }
            for op in ops
        ],
        "lap": writer.lap,
        "lac": writer.lac,
        "confirmed": [_set(writer.confirmed[entry]) for entry in range(1, c.send_limit + 1)],
        "fenced": _set(writer.fenced),
        "recovery_phase": writer.recovery_phase,
    }


def _reader(c: Any, writer: Any) -> dict[str, Any]:
    """The record of a client that asks all bookies before it decides about an entry."""
    read = writer.curr_read_entry
    return _writer(c, writer) | {
        "curr_read_entry": _entry(read) if read.id else 0,
        "has_entry": _set(writer.has_entry),
        "no_such_entry": _set(writer.no_such_entry),
    }


def w1(s: Any, c: Any) -> dict[str, Any]:
    return _reader(c, s.w1)


def w2(s: Any, c: Any) -> dict[str, Any]:
    return _reader(c, s.w2)


def _known(mine: Any, client: int) -> dict[str, Any]:
    fragments = [_fragment(mine.fragments.items[k]) for k in range(mine.fragments.length)]
    return {"id": client, "fragments": fragments}


def clients_of_protocol(s: Any, c: Any) -> list:
    """Every client's record; the negative answers to the present read are whole messages."""
    found = []
    for client in range(1, c.clients + 1):
        mine = s.clients[client]
        entry, fence = mine.curr_read_entry, bool(c.recovery_reads_fence)
        answer = {
            "type": READ_RESPONSE,
            "cid": client,
            "entry": {"id": entry, "data": 0},
            "fence": fence,
            "code": NO_SUCH_ENTRY,
        }
        last = mine.last_recoverable_entry
        record = _writer(c, mine) | _known(mine, client)
        record |= {
            "recovery_ensemble": _set(mine.recovery_ensemble),
            "curr_read_entry": entry,
            "read_responses": [{**answer, "bookie": each} for each in members(mine.read_responses)],
            "last_recoverable_entry": "Nil" if last < 0 else last,
        }
        found.append((client, record))
    return found


def clients_of_write_quorum(s: Any, c: Any) -> list:
    """Every client's record, with its LAFR."""
    return [
        (client, record | {"lafr": s.clients[client].lafr})
        for client, record in clients_of_protocol(s, c)
    ]


def clients_of_with_limbo(s: Any, c: Any) -> list:
    """Every client's record."""
    return [
        (
            client,
            _reader(c, s.clients[client])
            | _known(s.clients[client], client)
            | {"is_unknown": _set(s.clients[client].is_unknown)},
        )
        for client in range(1, c.clients + 1)
    ]


# --- Unbounded ledgers -------------------------------------------------------------------------

# Here the data of entries are model values: v1, v2, ... and NoOp. They are compared by name.


def _value_name(c: Any, data: int) -> str:
    values = c.send_limit - c.clients + 1
    return f"v{data}" if data <= values else "NoOp"


def _values(c: Any, data: int) -> list[str]:
    return [_value_name(c, each) for each in members(data)]


def b_entries_of_values(s: Any, c: Any) -> list:
    """For every bookie the set of entries that it stores."""
    return [
        (
            bookie,
            [
                {"id": entry, "data": name}
                for entry in range(1, c.send_limit + 1)
                for name in _values(c, s.b_entries[bookie].data[entry])
            ],
        )
        for bookie in range(1, c.bookies + 1)
    ]


def sent_values(s: Any, c: Any) -> list[str]:
    return [_value_name(c, each) for each in range(1, s.sent_values + 1)]


def acked_values(s: Any, c: Any) -> list[str]:
    return _values(c, s.acked_values)


def messages_of_terms(s: Any, c: Any) -> list:
    """All messages: each names its client and term, and an answer whether the term was valid."""
    found = []
    for client in range(1, c.clients + 1):
        mine = {"cid": client, "term": s.clients[client].term}
        found += _adds_of_term(c, s.messages[client].adds, mine)
        found += _fences_of_term(c, s.messages[client], mine)
        found += _reads_of_term(c, s.messages[client], mine)
    return found


def _adds_of_term(c: Any, messages: Any, mine: dict[str, int]) -> Messages:
    for k in range(c.send_limit):
        adds = messages.of[k]
        fields = {"entry": {"id": k + 1, "data": _value_name(c, adds.data)}, **mine}
        for requests, marks in zip(adds.requests, _lacs_and_lafrs(c), strict=False):
            yield from _mail(requests, ADD_REQUEST, trunc=adds.trunc, **marks, **fields)
        yield from _mail(adds.confirmed, ADD_RESPONSE, code=OK, **fields)
        yield from _mail(adds.refused, ADD_RESPONSE, code=INVALID_TERM, **fields)


def _fences_of_term(c: Any, messages: Any, mine: dict[str, int]) -> Messages:
    yield from _mail(messages.fence_requests, FENCE_REQUEST, **mine)
    for answers, marks in zip(messages.fence_responses, _lacs_and_lafrs(c), strict=False):
        yield from _mail(answers, FENCE_RESPONSE, code=OK, **marks, **mine)
    yield from _mail(messages.fence_refused, FENCE_RESPONSE, code=INVALID_TERM, **mine)


def _reads_of_term(c: Any, messages: Any, mine: dict[str, int]) -> Messages:
    for k in range(c.send_limit + 1):
        reads, entry = messages.reads[k], k + 1
        yield from _mail(reads.requests, READ_REQUEST, entry_id=entry, **mine)
        none = {"id": entry, "data": 0}
        yield from _mail(reads.no_such_entry, READ_RESPONSE, entry=none, code=NO_SUCH_ENTRY, **mine)
        for data in range(1, c.send_limit + 1):
            value = {"id": entry, "data": _value_name(c, data)}
            yield from _mail(reads.responses[data - 1], READ_RESPONSE, entry=value, code=OK, **mine)
    yield from _mail(messages.read_refused, READ_RESPONSE, code=INVALID_TERM, **mine)


def clients_of_terms(s: Any, c: Any) -> list:
    """Every client's record; the negative answers to the present read are whole messages."""
    found = []
    for client in range(1, c.clients + 1):
        mine = s.clients[client]
        record = _writer(c, mine) | _known(mine, client)
        for op in record["pending_add_ops"]:
            op["entry"]["data"] = _value_name(c, op["entry"]["data"])
        answer = {
            "type": READ_RESPONSE,
            "cid": client,
            "term": mine.term,
            "entry": {"id": mine.curr_read_entry, "data": 0},
            "code": NO_SUCH_ENTRY,
        }
        record |= {
            "term": mine.term,
            "lafr": mine.lafr,
            "recovery_ensemble": _set(mine.recovery_ensemble),
            "recovery_lac": mine.recovery_lac,
            "recovery_lafr": mine.recovery_lafr,
            "curr_read_entry": mine.curr_read_entry,
            "read_responses": [{**answer, "bookie": each} for each in members(mine.read_responses)],
            "trunc_entry": mine.trunc_entry,
        }
        found.append((client, record))
    return found


OF_THE_LEDGER = {"meta_status": meta_status, "b_entries": b_entries, "b_fenced": b_fenced}

OF_V4_13 = {**OF_THE_LEDGER, "w1": w1, "w2": w2, "messages": messages_of_v4_13}

OF_PROTOCOL = {
    **OF_THE_LEDGER,
    "clients": clients_of_protocol,
    "messages": messages_of_protocol,
}

OF_WRITE_QUORUM = {
    **OF_THE_LEDGER,
    "clients": clients_of_write_quorum,
    "messages": messages_of_write_quorum,
}

OF_WITH_LIMBO = {
    **OF_THE_LEDGER,
    "b_limbo": b_limbo,
    "clients": clients_of_with_limbo,
    "messages": messages_of_with_limbo,
}

OF_UNBOUNDED_LEDGERS = {
    "meta_status": meta_status,
    "b_entries": b_entries_of_values,
    "clients": clients_of_terms,
    "messages": messages_of_terms,
    "sent_values": sent_values,
    "acked_values": acked_values,
}
