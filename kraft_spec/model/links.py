"""The links between servers, and which of them work.

A link is a pair of servers, numbered so that more servers only add numbers: 1 is the link of 1
and 2, 2 and 3 those of server 3 with 1 and 2, 4 to 6 those of server 4, and so on.
"""

from kraft_spec.model.names import DEAD_NO_STATE
from protocol_lab import contains, nodes_up_to


def pair(one, other) -> int:
    """The number of the link between two different servers."""
    low, high = min(one, other), max(one, other)
    return (high - 1) * (high - 2) // 2 + low


def all_pairs(c) -> int:
    """All links, including those of servers that are not started yet."""
    return nodes_up_to(c.max_spawned_servers * (c.max_spawned_servers - 1) // 2)


def pairs_of(c, server) -> int:
    """The links of one server."""
    links = 0
    for other in range(1, c.max_spawned_servers + 1):
        if other != server:
            links |= 1 << pair(server, other)
    return links


def pairs_of_the_dead(s, c) -> int:
    """The links of the servers that have lost their disks: always down."""
    links = 0
    for server in range(1, c.max_spawned_servers + 1):
        if s.state[server] == DEAD_NO_STATE:
            links |= pairs_of(c, server)
    return links


def down_pairs(s, c) -> int:
    """The links that are down."""
    return all_pairs(c) & ~s.net_connectivity


def is_connected(s, one, other) -> bool:
    """Can the two exchange messages?"""
    return one == other or contains(s.net_connectivity, pair(one, other))


def are_connected_by(links, one, other) -> bool:
    """Is the link between two different servers among these?"""
    return one != other and contains(links, pair(one, other))
