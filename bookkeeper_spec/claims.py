"""Who has said what about entry 1: what a writer and a recovery conclude from bookies' answers.

The writer acknowledges an entry that enough bookies have stored; a recovery leaves out an entry
that so many bookies deny that no ack quorum can have it. A bookie that has said yes to one and no
to the other takes the entry from both.
"""

from typing import Any

from bookkeeper_spec import protocol, v4_13, with_limbo
from bookkeeper_spec.model import NOT_STARTED
from protocol_lab.model.declarations import NOTHING, Cell, no, no_longer, on_its_way, yes

MAJORITY_OF_DENIALS = "write_quorum - ack_quorum + 1"
"""So many bookies are in every ack quorum of an ensemble, taken together."""

ACKNOWLEDGES = "the writer may tell its caller: e0 is written"
BEGINS_TO_READ = "the recovery may begin to read"
LEAVES_OUT = "the recovery may leave e0 out"


def _mail(mail: Any, bookie: int) -> str:
    """What became of one message to or from a bookie: "waiting", "handled", "lost" or ""."""
    return next(
        (each for each in ("waiting", "handled", "lost") if bookie in getattr(mail, each)), ""
    )


def _of_adds(s: Any, adds: Any, confirmed: Any, bookie: int) -> Cell:
    """What a bookie has said to the writer about entry 1."""
    if bookie in confirmed:
        return yes("stored")
    if _mail(adds.confirmed, bookie) == "waiting":
        return on_its_way("answer under way")
    if _mail(adds.refused, bookie):
        return no("refused: fenced")
    sent = [_mail(each, bookie) for each in adds.requests]
    if "waiting" in sent:
        return no_longer("fenced") if bookie in s.b_fenced else on_its_way("under way")
    return (
        no_longer("lost") if "lost" in sent or _mail(adds.confirmed, bookie) == "lost" else NOTHING
    )


def _of_fence(requests: Any, responses: Any, fenced: Any, bookie: int) -> Cell:
    """What a bookie has said to the recovery's fencing."""
    if bookie in fenced:
        return yes("fenced")
    if any(_mail(each, bookie) == "waiting" for each in responses):
        return on_its_way("answer under way")
    asked = _mail(requests, bookie)
    if asked == "waiting":
        return on_its_way("asked")
    lost = asked == "lost" or any(_mail(each, bookie) == "lost" for each in responses)
    return no_longer("lost") if lost else NOTHING


def _of_read(reads: Any, denial: Any, also_read: Any, bookie: int) -> Cell:
    """What a bookie has said to the recovery's read of entry 1. `denial`: the message by which it
    denies to have the entry; also_read: the reads of entry 2, if it may be about that one."""
    if any(_mail(each, bookie) for each in reads.responses):
        return no("has e0")
    asked = _mail(reads.requests, bookie)
    if asked == "waiting":
        return on_its_way("asked")
    about_another = also_read is not None and _mail(also_read.requests, bookie)
    answer = "" if about_another or asked != "handled" else _mail(denial, bookie)
    if answer == "handled":
        return yes("has no e0")
    if answer == "waiting":
        return on_its_way("answer under way")
    return no_longer("lost") if "lost" in (asked, answer) else NOTHING


def _first(cells: list[Cell]) -> Cell:
    """Of what a bookie has said to several clients the strongest."""
    kinds = ["yes", "on its way", "no", "can no longer", ""]
    return min(cells, key=lambda each: kinds.index(each.kind), default=NOTHING)


# --- 4.13: w1 writes, w2 recovers ----------------------------------------------------------------


@v4_13.spec.claim(ACKNOWLEDGES, needs="ack_quorum")
def acknowledges(s: Any, c: Any, bookie: int) -> Cell:
    """Has the bookie stored e0 for w1?"""
    return _of_adds(s, s.messages.adds[0].of[0], s.w1.confirmed[1], bookie)


@v4_13.spec.claim(BEGINS_TO_READ, needs=MAJORITY_OF_DENIALS)
def begins_to_read(s: Any, c: Any, bookie: int) -> Cell:
    """Has the bookie told w2 that it takes no adds any more?"""
    messages = s.messages
    return _of_fence(messages.fence_requests, messages.fence_responses, s.w2.fenced, bookie)


@v4_13.spec.claim(LEAVES_OUT, needs=MAJORITY_OF_DENIALS, excludes="acknowledges")
def leaves_out(s: Any, c: Any, bookie: int) -> Cell:
    """Has the bookie told w2 that it has no e0?"""
    reads = s.messages.reads
    return _of_read(reads[0], s.messages.no_such_entry, reads[1], bookie)


# --- Today's protocol, and the one with limbo: clients that write or recover ---------------------


def _clients(s: Any, c: Any, recovers: bool) -> list[int]:
    return [
        k
        for k in range(1, c.clients + 1)
        if (s.clients[k].recovery_phase != NOT_STARTED) == recovers
    ]


def _acknowledged(s: Any, c: Any, bookie: int) -> Cell:
    """Has the bookie stored e0 for the writer?"""
    writers = _clients(s, c, recovers=False)
    return _first(
        [_of_adds(s, s.messages[k].adds.of[0], s.clients[k].confirmed[1], bookie) for k in writers]
    )


def _fenced(s: Any, c: Any, bookie: int) -> Cell:
    """Has the bookie told a recovery that it takes no adds any more?"""
    return _first(
        [
            _of_fence(each.fence_requests, each.fence_responses, s.clients[k].fenced, bookie)
            for k in _clients(s, c, recovers=True)
            for each in [s.messages[k]]
        ]
    )


@protocol.spec.claim(LEAVES_OUT, needs=MAJORITY_OF_DENIALS, excludes="_acknowledged")
def _denied(s: Any, c: Any, bookie: int) -> Cell:
    """Has the bookie told a recovery that it has no e0?"""
    recoveries = _clients(s, c, recovers=True)
    reads = [s.messages[k].reads[0] for k in recoveries]
    return _first([_of_read(each, each.no_such_entry, None, bookie) for each in reads])


@with_limbo.spec.claim(LEAVES_OUT, needs=MAJORITY_OF_DENIALS, excludes="_acknowledged")
def _denied_in_limbo(s: Any, c: Any, bookie: int) -> Cell:
    """Has the bookie told a recovery that it has no e0? One in limbo says that it does not know."""
    cells = []
    for k in _clients(s, c, recovers=True):
        messages = s.messages[k]
        told = _of_read(messages.reads[0], messages.no_such_entry, messages.reads[1], bookie)
        cells.append(no("does not know") if _mail(messages.unknown, bookie) else told)
    return _first(cells)


for each in (protocol.spec, with_limbo.spec):
    each.claim(ACKNOWLEDGES, needs="ack_quorum")(_acknowledged)
    each.claim(BEGINS_TO_READ, needs=MAJORITY_OF_DENIALS)(_fenced)
