"""Multiplicities of KRaft's actions: how often TLC counts one step as generated.

TLC counts a step once for each disjunct of the original's guard that is true, and each value that
satisfies an "exists". This is not part of the protocol: it makes the number of generated states
equal to TLC's. A function `of_ACTION` takes the action's arguments.
"""

from kraft_spec.actions.failures import has_failed_fetch, has_lost_fetch
from kraft_spec.actions.logs import is_where_logs_agree
from kraft_spec.model.links import down_pairs, pairs_of
from kraft_spec.model.names import DEAD_NO_STATE, FOLLOWER
from protocol_lab import size


def of_connectivity(s, c, down) -> int:
    """Of a change of the links: the number of pairs that satisfy the guard's "exists".

    If the number of links that are down stays the same, each link that goes down satisfies it; for
    a dead server, each of its links that is down does.
    """
    present, count = down_pairs(s, c), 1
    if size(present) == size(down):
        count = size(down & ~present)
    for server in range(1, c.max_spawned_servers + 1):
        if s.state[server] == DEAD_NO_STATE:
            count *= size(down & pairs_of(c, server))
    return count


def of_fetch_timeout(s, c, server) -> int:
    """Of a fetch timeout: both parts of the guard "a failed fetch, or a lost one" may be true."""
    if not c.test_liveness:
        return 1
    return has_failed_fetch(s, c, server) + has_lost_fetch(s, server)


def of_election(s, c, server) -> int:
    """Of an election: a follower begins one after a fetch timeout, which may have two causes."""
    return of_fetch_timeout(s, c, server) if s.state[server] == FOLLOWER else 1


def of_position(s, c, message) -> int:
    """Of a fetch: both parts of the guard "at the start, or where the logs agree" may be true."""
    log = s.log[message.dest]
    return 1 + (message.fetch_offset == 1 and is_where_logs_agree(log, message))
