"""Situations that are worth finding in KRaft with pre-vote."""

from kraft_spec.pre_vote.model import *
from kraft_spec.situations import a_later_leader, nobody_leads
from protocol_lab import *


def a_server_asks_first(s: State, c: Constants) -> bool:
    """A server has timed out, and asks whether it would be elected."""
    return any(s.state[server] == "prospective" for server in range(1, c.max_spawned_servers + 1))


def a_follower_would_vote(s: State, c: Constants) -> bool:
    """A follower has not yet fetched from its leader: until then it grants pre-votes."""
    return any(
        s.state[server] == "follower"
        and s.role[server] == "voter"
        and not s.has_fetch_success[server]
        for server in range(1, c.max_spawned_servers + 1)
    )


def two_servers_ask_first(s: State, c: Constants) -> bool:
    """Two servers ask whether they would be elected: each grants the other's request."""
    return any(
        s.state[server] == "prospective" and s.state[other] == "prospective"
        for server in range(1, c.max_spawned_servers + 1)
        for other in range(1, server)
    )


def who_asks_knows_a_leader(s: State, c: Constants) -> bool:
    """A server asks whether it would be elected, and its leader still leads."""
    return any(
        s.state[server] == "prospective"
        and s.leader[server] != NONE
        and s.state[s.leader[server]] == "leader"
        for server in range(1, c.max_spawned_servers + 1)
    )


def declare_situations(spec: Spec) -> None:
    """Register them."""
    spec.situation(a_server_asks_first, expected=True)
    spec.situation(a_later_leader, expected=True)
    spec.situation(a_follower_would_vote)
    spec.situation(two_servers_ask_first)
    spec.situation(who_asks_knows_a_leader)
    spec.situation(nobody_leads)
