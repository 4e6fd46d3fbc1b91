"""An addition: a server that lost its disk comes back on its host, with an empty one.

A server's identity is its host and the id of its disk. Who starts without a disk's content makes
a new disk id, so that it is not who it was: it is an observer, no configuration has it, and it
becomes a voter only by being added. The old identity never comes back, and has to be removed. So
nobody counts on what the lost disk had promised: its votes, and the entries that it had.

In the original a new server takes a new number, and is started wherever the model likes; here it
is the lost server's own host that comes back. The number is the identity: with a new one, requests
to the old are requests to nobody, and peers count the new one among the observers.

With identity_ignored, which is what Kafka was before KIP-853, the host alone is the identity: a
server comes back under its old number, and all take it for the voter that it was. It has
forgotten whom it voted for and what it held; so an acknowledged value can be lost.

Source: the prose of kraft_kip_853, "Server identity"; KIP-853, "Disk Failure Recovery".
"""

from kraft_spec.constants import Constants
from kraft_spec.network import pairs_of, pairs_of_the_dead
from kraft_spec.reconfiguration import started_servers
from kraft_spec.types import (
    DEAD_NO_STATE,
    OBSERVER,
    UNATTACHED,
    Server,
    State,
    has_started,
    is_alive,
)
from protocol_lab import HOLDS, TAKEN, Spec


def runs_on_host_of(s, c, server) -> bool:
    """Does another server run on the host of a server that has lost its disk?"""
    host = s.server_ids[server].host
    return any(
        is_alive(s, other) and s.server_ids[other].host == host
        for other in range(1, c.max_spawned_servers + 1)
    )


def restart_without_state(s: State, c: Constants, server: Server):
    """A server whose disk was lost comes back as an observer with an empty one, and its links.

    It is another server by that, with the next number. With identity_ignored it is who it was.
    """
    if s.aux_ctrs.empty_restart_ctr >= c.max_empty_restarts:
        return "there were restarts without a disk enough"
    if not has_started(s, server):
        return "the server was never started"
    if s.state[server] != DEAD_NO_STATE:
        return "the server has its disk"
    if runs_on_host_of(s, c, server):
        return "another server runs on its host"
    back = server if c.identity_ignored else started_servers(s, c) + 1
    if back > c.max_spawned_servers:
        return "all servers are started"
    s.aux_disk_id_gen += 1
    s.server_ids[back].host = s.server_ids[server].host
    s.server_ids[back].disk_id = s.aux_disk_id_gen
    s.role[back] = OBSERVER
    s.state[back] = UNATTACHED
    s.net_connectivity = (s.net_connectivity | pairs_of(c, back)) & ~pairs_of_the_dead(s, c)
    s.aux_ctrs.empty_restart_ctr += 1
    return TAKEN


# --- What is claimed -----------------------------------------------------------------------------


def identities_differ(s: State, c: Constants):
    """No two servers have the same host and the same disk."""
    for server in range(1, c.max_spawned_servers + 1):
        for other in range(1, server):
            if has_started(s, server) and s.server_ids[server] == s.server_ids[other]:
                return "two servers have the same identity"
    return HOLDS


def a_lost_server_stays_lost(before: State, after: State, c: Constants):
    """Who has lost its disk never takes part again: its host may, as another server."""
    for server in range(1, c.max_spawned_servers + 1):
        if before.state[server] == DEAD_NO_STATE != after.state[server]:
            return "a server that lost its disk is taken for who it was"
    return HOLDS


def a_host_is_back(s: State, c: Constants):
    """A server that came back without its disk has fetched something."""
    for server in range(1, c.max_spawned_servers + 1):
        if (
            s.aux_ctrs.empty_restart_ctr > 0
            and s.server_ids[server].disk_id > 0
            and s.log[server].length > 0
        ):
            return HOLDS
    return "no server that came back without its disk has fetched anything"


def declare_identity(spec: Spec) -> None:
    """Register the action and the claims, to be there with max_empty_restarts."""
    where = "max_empty_restarts"
    spec.action(restart_without_state, where=where)
    spec.invariant(identities_differ, where=where)
    spec.step_invariant(a_lost_server_stays_lost, by_default=False, where=where)
    spec.sometimes(a_host_is_back, where=where)
