"""Lamport's distributed mutual exclusion, the first example of his logical clocks (1978).

What it models: processes that ask each other for a critical section, with timestamps of logical
clocks. Between each two processes there is a channel in each direction that keeps the order of its
messages and loses none. A process enters when all have acknowledged its request and it knows of no
earlier one.

What breaks: nothing; there is never more than one process in the critical section, and never more
than 3 messages in a channel. With `keeps_order=false` a channel may deliver any of its messages
first, and there are two: an acknowledgement overtakes a request that was sent before it.

Source: LamportMutex.tla in specifications/lamport_mutex of github.com/tlaplus/Examples, by Stephan
Merz. The manifest has for 3 processes with clocks up to 6 724,274 distinct states, 2,729,079
states generated and depth 61.

    python3 lab.py check examples/lamport_mutex.py --set max_clock=6
    python3 lab.py check examples/lamport_mutex.py --set keeps_order=false
"""

from typing import Annotated, NamedTuple

from protocol_lab import *


class Constants(NamedTuple):
    n: Annotated[int, Limits(1, 5, "processes")] = 3
    max_clock: Annotated[int, Limits(1, 99, "bound on the clocks")] = 4
    keeps_order: Annotated[int, flag("a channel delivers in the order of sending")] = 1
    slots: Annotated[int, storage(3, 9, "messages in a channel")] = 4


Process = Node("n", noun="process")


class Message(Struct):
    kind: Named("req", "ack", "rel")
    clock: Int8  # of a request


class State(Struct):
    clock: Per(Process, Int8)
    req: Per(Process, Per(Process, Int8))  # req[p][q]: the clock of q's request at p, 0 if none
    ack: Per(Process, NodeSet(Process))  # ack[p]: who has acknowledged p's request
    network: Per(Process, Per(Process, Seq(Message, "slots")))  # network[p][q]: from p to q
    crit: NodeSet(Process)


spec = Spec("lamport_mutex", State, Constants, __doc__)
spec.messages("network")


@spec.init
def init(s: State, c: Constants):
    """All clocks are 1, and nobody has asked."""
    for p in range(1, c.n + 1):
        s.clock[p] = 1
    return TAKEN


def broadcast(s: State, c: Constants, p, message) -> None:
    """Send a message to all other processes."""
    for q in range(1, c.n + 1):
        if q != p:
            append(s.network[p][q], message)


def beats(s: State, p, q) -> bool:
    """Does p believe that its request comes before q's?"""
    mine, theirs = s.req[p][p], s.req[p][q]
    return theirs == 0 or mine < theirs or (mine == theirs and p < q)


@spec.action
def request(s: State, c: Constants, p: Process):
    """A process asks all others for the critical section."""
    if s.req[p][p] != 0:
        return "the process has asked already"
    s.req[p][p] = s.clock[p]
    s.ack[p] = only(p)
    broadcast(s, c, p, Message(kind="req", clock=s.clock[p]))
    return TAKEN


@spec.action
def enter(s: State, c: Constants, p: Process):
    """A process enters the critical section."""
    if s.ack[p] != nodes_up_to(c.n):
        return "somebody has not acknowledged the request"
    for q in range(1, c.n + 1):
        if q != p and not beats(s, p, q):
            return "another request comes first"
    s.crit = with_node(s.crit, p)
    return TAKEN


@spec.action
def exit(s: State, c: Constants, p: Process):
    """A process leaves the critical section, and says so."""
    if p not in s.crit:
        return "the process is not in the critical section"
    s.crit = without_node(s.crit, p)
    s.req[p][p] = 0
    s.ack[p] = nodes_up_to(0)
    broadcast(s, c, p, Message(kind="rel"))
    return TAKEN


def last_place(s: State, c: Constants, p, q) -> int:
    """The last place in the channel from q to p that may be delivered; -1 if it is empty."""
    waiting = len(s.network[q][p])
    return min(waiting, 1) - 1 if c.keeps_order else waiting - 1


@spec.action
def receive_request(s: State, c: Constants, p: Process, q: Process, place: Range(0, last_place)):
    """A process receives another one's request, and acknowledges it."""
    channel = s.network[q][p]
    message = channel[place]
    if message.kind != "req":
        return "this is no request"
    s.req[p][q] = message.clock
    s.clock[p] = max(message.clock, s.clock[p]) + 1
    remove_at(channel, place)
    append(s.network[p][q], Message(kind="ack"))
    return TAKEN


@spec.action
def receive_ack(s: State, c: Constants, p: Process, q: Process, place: Range(0, last_place)):
    """A process receives an acknowledgement."""
    channel = s.network[q][p]
    if channel[place].kind != "ack":
        return "this is no acknowledgement"
    s.ack[p] = with_node(s.ack[p], q)
    remove_at(channel, place)
    return TAKEN


@spec.action
def receive_release(s: State, c: Constants, p: Process, q: Process, place: Range(0, last_place)):
    """A process receives that another one has left the critical section."""
    channel = s.network[q][p]
    if channel[place].kind != "rel":
        return "this is no release"
    s.req[p][q] = 0
    remove_at(channel, place)
    return TAKEN


@spec.constraint
def clock_constraint(s: State, c: Constants):
    """Clocks grow without end; the TLC model bounds them with this constraint."""
    for p in range(1, c.n + 1):
        if s.clock[p] > c.max_clock:
            return "a clock is beyond its bound"
    return HOLDS


@spec.invariant
def mutex(s: State, c: Constants):
    """At most one process is in the critical section."""
    return HOLDS if len(s.crit) <= 1 else "two processes are in the critical section"


@spec.invariant
def bounded_network(s: State, c: Constants):
    """There are never more than 3 messages in a channel."""
    for p in range(1, c.n + 1):
        for q in range(1, c.n + 1):
            if s.network[p][q].length > 3:
                return "there are 4 messages in a channel"
    return HOLDS


@spec.situation(expected=True)
def everybody_waits(s: State, c: Constants):
    """All processes have asked."""
    return all(s.req[p][p] != 0 for p in range(1, c.n + 1))
