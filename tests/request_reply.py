"""Requests and replies over a network that loses and delays: is a retried request executed once?

What it models: clients ask a server to add 1 to their accounts, one request at a time. Messages
are delivered in any order, or lost. A client that has no reply yet may send its request again.

What breaks: executed_at_most_once. If the server remembers nothing, a retry is executed as if it
were a new request: 4 steps, and nothing needs to be lost for it. If it remembers in memory which
request of each client came last, that is forgotten when it crashes: 5 steps. On disk it holds.

Left out: what the requests say, several servers, clients that crash.
"""

from typing import Annotated, NamedTuple

from protocol_lab import *
from protocol_lab.traces.events import CRASH, RESTART, Note

NOTHING, IN_MEMORY, ON_DISK = 0, 1, 2


class Constants(NamedTuple):
    clients: Annotated[int, Limits(1, 3, "clients of the server")] = 1
    requests: Annotated[int, Limits(1, 9, "requests that each client makes")] = 1
    retries: Annotated[int, Limits(0, 9, "times that each client may send again")] = 1
    crashes: Annotated[int, Limits(0, 9, "times that the server may crash")] = 1
    lossy: Annotated[int, flag("may messages be lost")] = 1
    remembers: Annotated[
        int, choice("nothing", "in_memory", "on_disk", meaning="how the server knows a retry")
    ] = NOTHING
    slots: Annotated[int, storage(1, 12, "messages on their way")] = 4


Client = Node("clients")


class Message(Struct):
    """A request of a client, or the reply to it; a client's requests are numbered from 1."""

    client: Client
    number: Int8


class ClientState(Struct):
    number: Int8  # of its last request; 0 before the first
    waiting: Bool
    retries: Int8


class ServerState(Struct):
    account: Per(Client, Int8)  # on disk: how many requests were executed
    last: Per(Client, Int8)  # the number of the last request that was executed


class State(Struct):
    client: Per(Client, ClientState)
    server: ServerState
    crashes: Int8
    requests: Bag(Message, "slots")
    replies: Bag(Message, "slots")


def events(before: State, after: State, c: Constants, step):
    """The crash is the server's; all else is told by the messages."""
    if step.action != "crash":
        return None
    return [Note("server", "crashes", CRASH), Note("server", "is back", RESTART)]


spec = Spec("toy.request_reply", State, Constants, __doc__, events=events)
spec.symmetric(Client)
spec.messages("requests", source="client", dest="server", lost_by=["lose_request"])
spec.messages("replies", source="server", dest="client", lost_by=["lose_reply"])
Request, Reply = Member("requests"), Member("replies")


@spec.init
def init(s: State, c: Constants):
    """Nobody has asked for anything."""
    return TAKEN


@spec.action
def send_request(s: State, c: Constants, client: Client):
    """A client asks for the next thing, and waits."""
    mine = s.client[client]
    if mine.waiting:
        return "the client waits for a reply"
    if mine.number >= c.requests:
        return "the client has made all its requests"
    mine.number += 1
    mine.waiting = True
    add(s.requests, Message(client=client, number=mine.number))
    return TAKEN


@spec.action
def retry(s: State, c: Constants, client: Client):
    """A client that waits sends its request once more, wherever the first one may be."""
    mine = s.client[client]
    if not mine.waiting:
        return "the client waits for nothing"
    if mine.retries >= c.retries:
        return "the client has used up its retries"
    mine.retries += 1
    add(s.requests, Message(client=client, number=mine.number))
    return TAKEN


def is_known(s, c, message) -> bool:
    """Does the server recognise a request that it has executed before?"""
    return c.remembers != NOTHING and message.number <= s.server.last[message.client]


@spec.action
def handle_request(s: State, c: Constants, message: Request):
    """The server executes a request, unless it knows it as a retry, and replies."""
    if not is_known(s, c, message):
        s.server.account[message.client] += 1
        s.server.last[message.client] = message.number
    add(s.replies, Message(client=message.client, number=message.number))
    take(s.requests, message)
    return TAKEN


@spec.action
def receive_reply(s: State, c: Constants, message: Reply):
    """A client has its answer; an answer to an earlier request is ignored."""
    mine = s.client[message.client]
    if message.number == mine.number:
        mine.waiting = False
    take(s.replies, message)
    return TAKEN


@spec.action
def lose_request(s: State, c: Constants, message: Request):
    """The network loses a request."""
    if not c.lossy:
        return "the network loses nothing"
    take(s.requests, message)
    return TAKEN


@spec.action
def lose_reply(s: State, c: Constants, message: Reply):
    """The network loses a reply."""
    if not c.lossy:
        return "the network loses nothing"
    take(s.replies, message)
    return TAKEN


@spec.action
def crash(s: State, c: Constants):
    """The server crashes and is back at once, without what it had in memory."""
    if s.crashes >= c.crashes:
        return "the server has crashed often enough"
    s.crashes += 1
    if c.remembers != ON_DISK:
        for client in range(1, c.clients + 1):
            s.server.last[client] = 0
    return TAKEN


@spec.invariant
def executed_at_most_once(s: State, c: Constants):
    """The server has done no more for a client than the client has asked for."""
    if all(s.server.account[k] <= s.client[k].number for k in range(1, c.clients + 1)):
        return HOLDS
    return "a request was executed twice"


@spec.invariant
def answered_is_executed(s: State, c: Constants):
    """Whatever a client has an answer to was done."""
    for client in range(1, c.clients + 1):
        mine = s.client[client]
        if s.server.account[client] < mine.number - mine.waiting:
            return "a client has an answer to what was never done"
    return HOLDS


@spec.situation(expected=True)
def everything_is_answered(s: State, c: Constants):
    """All clients have made all their requests, and have all the answers."""
    return all(
        not s.client[client].waiting and s.client[client].number == c.requests
        for client in range(1, c.clients + 1)
    )
