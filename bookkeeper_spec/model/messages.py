"""Messages between clients and bookies: which are under way, handled, or lost.

A client sends the same request to several bookies, so a request is stored as three sets of bookies:
those to which it is still under way, those that have handled it, and those for which it was lost.
(For an answer they are the bookies that it is from.) Nothing is ever sent twice: a message that was
sent stays in one of the three sets.

Whether a message is lost is decided when it is sent, by the parameter `lost` of the action that
sends it. The client notices a loss as a time-out, at any time later. Once it has acted upon the
time-out, the message counts as handled.

Requests to add the same entry with different LACs are different messages. In today's protocol the
LAC is their `stamp`, which distinguishes the requests for one entry; in other variants the stamp
has more parts.

Messages may overtake each other, but one client's adds to one bookie are handled in the order of
their entries, and so are the answers to them. No other order is guaranteed.
"""

from bookkeeper_spec.model.ledger import Bookie
from protocol_lab import (
    TAKEN,
    Array,
    Int8,
    NodeSet,
    Struct,
    contains,
    only,
    with_node,
    without_node,
)


class Mail(Struct):
    """One message to, or from, several bookies."""

    waiting: NodeSet(Bookie)  # under way
    handled: NodeSet(Bookie)  # processed, or lost and the time-out acted upon
    lost: NodeSet(Bookie)  # lost, and nobody has acted upon it


class Adds(Struct):
    """All messages between one client and the bookies about adding one entry."""

    data: Int8  # of the entry; the same in all these messages
    requests: Array(Mail, "send_limit + 1")  # by their stamp, the LAC
    confirmed: Mail
    refused: Mail  # because the ledger is fenced there


class AddMessages(Struct):
    """The adds of one client; entry 1 is the first item."""

    of: Array(Adds, "send_limit")


class WriteAndFenceMessages(Struct):
    """The messages between one client and the bookies, but for reads."""

    adds: AddMessages
    fence_requests: Mail
    fence_responses: Array(Mail, "send_limit + 1")  # by the bookie's LAC


# --- One message ---------------------------------------------------------------------------------


def its_own(bookie) -> int:
    """The bookie whose answer may be lost: the only one that answers in a step."""
    return only(bookie)


def sent(mail) -> int:
    """The bookies to or from which the message was ever sent."""
    return mail.waiting | mail.handled | mail.lost


def send(mail, bookies, lost) -> None:
    """Send a message to, or from, some bookies, of which some messages are lost."""
    mail.waiting |= bookies & ~lost
    mail.lost |= bookies & lost


def handle(mail, bookie) -> None:
    """Mark a message that was under way as handled."""
    mail.waiting = without_node(mail.waiting, bookie)
    mail.handled = with_node(mail.handled, bookie)


def reply_to(request, reply, bookie, lost) -> str:
    """A bookie answers a request that is under way to it. It sends no answer twice."""
    if contains(sent(reply), bookie):
        return "the bookie has sent this answer before"
    handle(request, bookie)
    send(reply, only(bookie), lost)
    return TAKEN


def act_upon_losses(mail, bookies) -> None:
    """Mark what was lost from and to these bookies as handled: the client has timed out."""
    mail.handled |= mail.lost & bookies
    mail.lost &= ~bookies


def ignore(mail, bookies) -> None:
    """Mark what is still under way from or to these bookies as handled: nobody will look at it."""
    mail.handled |= mail.waiting & bookies
    mail.waiting &= ~bookies


# --- Adds ----------------------------------------------------------------------------------------


def is_request_under_way(c, adds, bookie) -> bool:
    """Is a request to add this entry under way to the bookie, with any LAC?"""
    return any(contains(adds.requests[k].waiting, bookie) for k in range(len(adds.requests)))


def is_earliest_request(c, messages, entry, bookie) -> bool:
    """Is there no request of the client for an earlier entry under way to this bookie?"""
    return not any(
        is_request_under_way(c, messages.of[earlier - 1], bookie) for earlier in range(1, entry)
    )


def is_earliest_answer(messages, entry, bookie) -> bool:
    """Is there no answer about an earlier entry under way from this bookie to the client?"""
    return not any(
        contains(messages.of[k].confirmed.waiting | messages.of[k].refused.waiting, bookie)
        for k in range(entry - 1)
    )


def why_not_handle_add(c, messages, entry, stamp, bookie) -> str:
    """Why a bookie can't handle this request to add an entry; "" if it can."""
    if not contains(messages.of[entry - 1].requests[stamp].waiting, bookie):
        return "no such request is under way to this bookie"
    if not is_earliest_request(c, messages, entry, bookie):
        return "a request for an earlier entry is under way to this bookie"
    return TAKEN


def why_not_hear_refusal(messages, entry, bookie) -> str:
    """Why a client can't receive this bookie's refusal of an entry; "" if it can."""
    if not contains(messages.of[entry - 1].refused.waiting, bookie):
        return "no refusal of this entry is under way from this bookie"
    if not is_earliest_answer(messages, entry, bookie):
        return "an answer about an earlier entry is under way from this bookie"
    return TAKEN


def add_time_outs(c, messages) -> int:
    """The bookies of which the client has lost a request to add an entry, or an answer to one."""
    bookies = 0
    for k in range(c.send_limit):
        adds = messages.of[k]
        bookies |= adds.confirmed.lost | adds.refused.lost
        for stamp in range(len(adds.requests)):
            bookies |= adds.requests[stamp].lost
    return bookies


def act_upon_add_time_outs(c, messages, bookies) -> None:
    """The client has replaced these bookies."""
    for k in range(c.send_limit):
        act_upon_losses(messages.of[k].confirmed, bookies)
        act_upon_losses(messages.of[k].refused, bookies)
        for stamp in range(len(messages.of[k].requests)):
            act_upon_losses(messages.of[k].requests[stamp], bookies)


def was_add_sent(c, adds) -> bool:
    """Was any request to add this entry ever sent?"""
    return any(sent(adds.requests[stamp]) != 0 for stamp in range(len(adds.requests)))


def were_adds_sent(adds, stamp, bookies) -> bool:
    """Was this very request to add an entry sent to one of these bookies before?"""
    return sent(adds.requests[stamp]) & bookies != 0
