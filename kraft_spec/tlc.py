"""How often TLC counts a step as generated, for comparisons with its counts.

TLC counts a step as generated once for each disjunct of the original's guard that is true, and each
value that satisfies an "exists". A function `of_ACTION` takes the action's arguments and gives that
number, so that ours is equal to TLC's.
"""

from kraft_spec.actions import cluster, elections, replication
from kraft_spec.actions.replication import has_failed_fetch, has_lost_fetch, is_where_logs_agree
from kraft_spec.model import Pair, down_pairs, pairs_of
from protocol_lab import NodeSet


def of_connectivity(s, c, down: NodeSet(Pair)) -> int:
    """Of a change of the links: the number of pairs that satisfy the guard's "exists".

    If the number of links that are down stays the same, each link that goes down satisfies it; for
    a dead server, each of its links that is down does.
    """
    present, count = down_pairs(s, c), 1
    if len(present) == len(down):
        count = len(down & ~present)
    for server in range(1, c.max_spawned_servers + 1):
        if s.state[server] == "dead_no_state":
            count *= len(down & pairs_of(c, server))
    return count


def of_fetch_timeout(s, c, server) -> int:
    """Of a fetch timeout: both parts of the guard "a failed fetch, or a lost one" may be true."""
    if not c.test_liveness:
        return 1
    return has_failed_fetch(s, c, server) + has_lost_fetch(s, server)


def of_election(s, c, server) -> int:
    """Of an election: a follower begins one after a fetch timeout, which may have two causes."""
    return of_fetch_timeout(s, c, server) if s.state[server] == "follower" else 1


def of_position(s, c, message) -> int:
    """Of a fetch: both parts of the guard "at the start, or where the logs agree" may be true."""
    log = s.log[message.dest]
    return 1 + (message.fetch_offset == 1 and is_where_logs_agree(log, message))


MULTIPLICITIES = {
    cluster.change_network_connectivity: of_connectivity,
    elections.send_request_vote: of_election,
    elections.observer_fetch_timeout: of_fetch_timeout,
    replication.accept_fetch_request_from_voter: of_position,
    replication.accept_fetch_request_from_observer: of_position,
}
