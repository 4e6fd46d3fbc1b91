"""An election: votes and terms, so that no term has two leaders.

What it models: servers that stand as candidates in ever new terms, ask the others for votes, and
lead if a majority votes for them. Messages arrive in any order, late, or never. A server that
restarts has only what it wrote to its disk. Each server has a log that does not change here; a
record that a majority holds is committed, so whoever leads must have it.

What breaks: nothing is written yet. Write `stand`, `answer`, `count` and `may_lead`, then
`recover`; README.md says what is asked of each.

Left out: what a leader does, and how it learns that it was deposed before it is asked for a vote.

    python3 lab.py check election.py
"""

from typing import Annotated, NamedTuple

from protocol_lab import *  # the language of specs: all that your functions may call
from protocol_lab.drawing import Cluster, Entry, Lane, Message, Messages, Text, drawing_of

# --- Given: the state ------------------------------------------------------------------------


class Constants(NamedTuple):
    servers: Annotated[int, Limits(1, 4, "servers")] = 3
    candidates: Annotated[int, Limits(1, "servers", "servers that may stand, from number 1")] = 1
    terms: Annotated[int, Limits(1, 3, "terms in which somebody may stand")] = 1
    restarts: Annotated[int, Limits(0, 3, "restarts in total")] = 0
    logs: Annotated[int, flag("the logs differ: some servers lack a committed record")] = 0


Server = Node("servers")


class Ballot(Struct):
    """What a server must not forget, in memory and on disk."""

    term: Int8
    voted_for: Server  # in this term


class Envelope(Struct):
    """A request for a vote, or a vote, of a term."""

    kind: Named("request", "vote")
    term: Int8
    source: Server
    dest: Server
    records: Int8  # in the log of whoever sent it


class State(Struct):
    role: Per(Server, Named("follower", "candidate", "leader"))
    memory: Per(Server, Ballot)
    disk: Per(Server, Ballot)
    votes: Per(Server, NodeSet(Server))  # who has voted for the server in its term
    records: Per(Server, Int8)  # how many records the server's log has
    has_led: Per(Server, Int8)  # the last term in which the server came to lead
    messages: Bag(Envelope, "2 * servers * servers * terms")
    restarted: Int8


spec = Spec("election", State, Constants, __doc__)
spec.messages("messages", source="source", dest="dest")


def is_majority(votes: NodeSet(Server), c) -> bool:
    """Are these more than half of all servers?"""
    return 2 * len(votes) > c.servers


@spec.init
def start(s: State, c: Constants, short: Range(0, "servers")):
    """Nobody leads. Where logs differ, one server lacks a record that all others have."""
    if short > 0 and not c.logs:
        return "the logs do not differ"
    for n in range(1, c.servers + 1):
        s.records[n] = 1 if n == short else 2
    return TAKEN


# --- Given: what happens ---------------------------------------------------------------------


@spec.action
def time_out(s: State, c: Constants, server: Server):
    """A server that may stand hears of no leader, and stands in the next term."""
    if server > c.candidates:
        return "the server never stands"
    if s.role[server] == "leader":
        return "the server leads"
    if s.memory[server].term >= c.terms:
        return "there were enough terms"
    stand(s, c, server)
    return TAKEN


@spec.action
def lead(s: State, c: Constants, server: Server):
    """A server leads, as soon as it may."""
    if s.role[server] == "leader":
        return "the server leads already"
    reason = may_lead(s, c, server)
    if reason:
        return reason
    s.role[server] = "leader"
    s.has_led[server] = s.memory[server].term
    return TAKEN


@spec.action
def restart(s: State, c: Constants, server: Server):
    """A server restarts: it is a follower, and knows what `recover` reads from its disk."""
    if s.restarted >= c.restarts:
        return "there were enough restarts"
    s.restarted += 1
    s.role[server] = "follower"
    s.memory[server] = Ballot()
    s.votes[server] = nodes_up_to(0)
    recover(s, c, server)
    return TAKEN


# --- Yours -----------------------------------------------------------------------------------


def stand(s: State, c: Constants, server):
    """The server begins a term, votes for itself, and asks all others for their votes."""
    s.memory[server].term += 1


@spec.action
def answer(s: State, c: Constants, message: Member("messages")):
    """A server gets a request for its vote, and grants it or does not."""
    return "not written yet"


@spec.action
def count(s: State, c: Constants, message: Member("messages")):
    """A candidate gets a vote."""
    return "not written yet"


def may_lead(s: State, c: Constants, server):
    """TAKEN if a server may lead, or why it may not."""
    return "not written yet"


def recover(s: State, c: Constants, server):
    """A server that restarts reads its disk."""
    s.votes[server] = nodes_up_to(0)


# --- Given: what is promised -----------------------------------------------------------------


@spec.invariant
def one_leader_a_term(s: State, c: Constants):
    """No two servers lead in the same term."""
    for one in range(1, c.servers + 1):
        for other in range(1, one):
            if s.has_led[one] != 0 and s.has_led[one] == s.has_led[other]:
                return "two servers have led in the same term"
    return HOLDS


@spec.invariant
def leaders_have_what_is_committed(s: State, c: Constants):
    """Whoever leads has the records that a majority has."""
    for one in range(1, c.servers + 1):
        if s.role[one] == "leader":
            longer = sum(1 for n in range(1, c.servers + 1) if s.records[n] > s.records[one])
            if 2 * longer > c.servers:
                return "a leader lacks a record that a majority has"
    return HOLDS


@spec.situation(expected=True)
def somebody_leads(s: State, c: Constants):
    """Somebody leads."""
    return any(s.role[n] == "leader" for n in range(1, c.servers + 1))


def is_led(s: State, c: Constants):
    """A server leads in the highest term that anybody knows."""
    for one in range(1, c.servers + 1):
        if s.role[one] == "leader" and all(
            s.memory[n].term <= s.memory[one].term for n in range(1, c.servers + 1)
        ):
            return True
    return False


@spec.property
def somebody_leads_for_good():
    """If only one server ever stands, it eventually leads and is not deposed."""
    return eventually_always(is_led)


spec.weakly_fair(lead, each="server")
spec.weakly_fair(time_out, each="server")
spec.weakly_fair(answer, count, each="message.source")

# --- Given: the picture ----------------------------------------------------------------------


def lane(s: State, n):
    """The picture of one server."""
    ballot, saved = s.memory[n], s.disk[n]
    lines = [
        [Text(f"Server {n}", bold=True)],
        [Text(str(s.role[n]))],
        [Text(f"term {ballot.term}")],
    ]
    lines.append([Text(f"voted for {ballot.voted_for or 'nobody'}")])
    notes = [Text(f"disk: term {saved.term}, voted for {saved.voted_for or 'nobody'}")]
    notes.append(Text(f"votes: {', '.join(map(str, s.votes[n])) or 'none'}"))
    boxes = [Entry(k, f"record {k}") for k in range(s.records[n])]
    return Lane(lines, boxes, notes=notes, badge="crown" if s.role[n] == "leader" else "")


def describe(s: State, c: Constants):
    """The picture of one state, as plain values."""
    sent = [Message(f"{m.kind} {m.source} to {m.dest}", f"term {m.term}") for m in s.messages]
    return Cluster(
        lanes=[lane(s, n) for n in range(1, c.servers + 1)],
        messages=[Messages("Messages", sent)],
        columns=2,
    )


spec.draw = drawing_of(describe)
