"""How often TLC takes a step: once for each disjunct, or each choice, that satisfies its guard.

Not part of the protocol: with these the numbers of generated states agree with TLC's.
"""

from kraft_spec.actions.failures import has_failed_fetch, has_lost_fetch
from kraft_spec.actions.logs import is_where_logs_agree
from kraft_spec.model.links import down_pairs, pairs_of
from kraft_spec.model.names import DEAD_NO_STATE, FOLLOWER
from protocol_lab import size


def of_connectivity(s, c, down) -> int:
    """Changes of the links: once for each pair that satisfies an "exists" of the guard.

    There is one for every link that goes down while their number stays the same, and for every dead
    server one for each of its links.
    """
    present, count = down_pairs(s, c), 1
    if size(present) == size(down):
        count = size(down & ~present)
    for server in range(1, c.max_spawned_servers + 1):
        if s.state[server] == DEAD_NO_STATE:
            count *= size(down & pairs_of(c, server))
    return count


def of_fetch_timeout(s, c, server) -> int:
    """Fetch timeouts: the guard is "a failed fetch, or a lost one", and both may be true."""
    if not c.test_liveness:
        return 1
    return has_failed_fetch(s, c, server) + has_lost_fetch(s, server)


def of_election(s, c, server) -> int:
    """Elections: a follower stands on a fetch timeout, which may have two causes."""
    return of_fetch_timeout(s, c, server) if s.state[server] == FOLLOWER else 1


def of_position(s, c, message) -> int:
    """Fetches: the guard is "at the start, or where the logs agree", and both may be true."""
    log = s.log[message.dest]
    return 1 + (message.fetch_offset == 1 and is_where_logs_agree(log, message))
