"""A client asks a server to add 1 to an account, over a network that loses and delays.

What it models: one client with one request at a time, which it may send again while it waits for
the reply. Messages are delivered in any order, or lost.

What breaks: with remembers=false a request that was sent twice is executed twice. That is the
defect to be found; a server that remembers which request it executed last does not have it.

Left out: crashes, several clients, what is in the account.
"""

from typing import Annotated, NamedTuple

from my_protocol_drawing import describe

from protocol_lab import *
from protocol_lab.drawing import drawing_of


class Constants(NamedTuple):
    requests: Annotated[int, Limits(1, 9, "requests that the client makes")] = 2
    retries: Annotated[int, Limits(0, 9, "times that it may send one again")] = 1
    remembers: Annotated[int, flag("the server knows a request that it has executed")] = 0


class Message(Struct):
    number: Int8  # of the request, from 1


class State(Struct):
    asked: Int8  # the client's last request
    waiting: Bool  # for the reply to it
    retries: Int8
    executed: Int8  # how many requests the server has executed
    last: Int8  # the last one of them
    requests: Bag(Message, "requests + retries")
    replies: Bag(Message, "requests + retries")


spec = Spec("my_protocol", State, Constants, __doc__)
spec.messages("requests", source="client", dest="server", lost_by=["lose_request"])
spec.messages("replies", source="server", dest="client", lost_by=["lose_reply"])
spec.draw = drawing_of(describe)


@spec.init
def start(s: State, c: Constants):
    """Nothing was asked."""
    return TAKEN


@spec.action
def send(s: State, c: Constants):
    """The client makes its next request."""
    if s.waiting:
        return "the client waits for a reply"
    if s.asked >= c.requests:
        return "the client has made all its requests"
    s.asked += 1
    s.waiting = True
    add(s.requests, Message(number=s.asked))
    return TAKEN


@spec.action
def send_again(s: State, c: Constants):
    """The client gives up waiting, and sends its request once more."""
    if not s.waiting:
        return "the client waits for nothing"
    if s.retries >= c.retries:
        return "the client has used up its retries"
    s.retries += 1
    add(s.requests, Message(number=s.asked))
    return TAKEN


@spec.action
def execute(s: State, c: Constants, request: Member("requests")):
    """The server executes a request, unless it knows it, and replies."""
    if not c.remembers or request.number > s.last:
        s.executed += 1
        s.last = request.number
    add(s.replies, Message(number=request.number))
    take(s.requests, request)
    return TAKEN


@spec.action
def receive(s: State, c: Constants, reply: Member("replies")):
    """The client gets a reply; one to an earlier request tells it nothing."""
    if reply.number == s.asked:
        s.waiting = False
    take(s.replies, reply)
    return TAKEN


@spec.action
def lose_request(s: State, c: Constants, request: Member("requests")):
    """The network loses a request."""
    take(s.requests, request)
    return TAKEN


@spec.action
def lose_reply(s: State, c: Constants, reply: Member("replies")):
    """The network loses a reply."""
    take(s.replies, reply)
    return TAKEN


@spec.invariant
def executed_at_most_once(s: State, c: Constants):
    """The server has executed no more than the client has asked for."""
    return HOLDS if s.executed <= s.asked else "a request was executed twice"


@spec.situation(expected=True)
def everything_is_answered(s: State, c: Constants):
    """The client has made all its requests, and has all the replies."""
    return s.asked == c.requests and not s.waiting
