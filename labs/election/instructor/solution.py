"""The instructor's solution: the functions that a learner writes, and helpers of ours.

The grader puts them into the skeleton, which defines all other names that they use.
"""

from protocol_lab import TAKEN, add_once, only, take, with_node


def stand(s, c, server):
    """The server begins a term, votes for itself, and asks all others for their votes."""
    s.memory[server].term += 1
    s.memory[server].voted_for = server
    s.disk[server] = s.memory[server]
    s.role[server] = "candidate"
    s.votes[server] = only(server)
    for other in range(1, c.servers + 1):
        if other != server:
            request = Envelope(kind="request", source=server, dest=other)
            request.term = s.memory[server].term
            request.records = s.records[server]
            add_once(s.messages, request)


def answer(s, c, message):
    """A server gets a request for its vote, and grants it or does not."""
    if message.kind != "request":
        return "this is no request"
    me = message.dest
    if message.term < s.memory[me].term:
        return "the request is of an earlier term"
    if message.records < s.records[me]:
        return "the candidate lacks a record"
    if message.term == s.memory[me].term and s.memory[me].voted_for != message.source:
        return "the server has voted for another candidate"
    if message.term > s.memory[me].term:
        s.role[me] = "follower"
        s.votes[me] = nodes_up_to(0)
    s.memory[me] = Ballot(term=message.term, voted_for=message.source)
    s.disk[me] = s.memory[me]
    vote = Envelope(kind="vote", term=message.term, source=me, dest=message.source)
    add_once(s.messages, vote)
    take(s.messages, message)
    return TAKEN


def count(s, c, message):
    """A candidate gets a vote."""
    if message.kind != "vote":
        return "this is no vote"
    me = message.dest
    if s.role[me] != "candidate" or message.term != s.memory[me].term:
        return "the server is no candidate of this term"
    s.votes[me] = with_node(s.votes[me], message.source)
    take(s.messages, message)
    return TAKEN


def may_lead(s, c, server):
    """TAKEN if a server may lead, or why it may not."""
    if s.role[server] != "candidate":
        return "the server is no candidate"
    if not is_majority(s.votes[server], c):
        return "a majority has not voted for it"
    return TAKEN


def recover(s, c, server):
    """A server that restarts reads its disk."""
    s.memory[server] = s.disk[server]
