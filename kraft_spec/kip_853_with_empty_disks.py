"""KIP-853 with empty disks: a server that lost its disk comes back on its host, with an empty one.

What it adds to `kraft.kip_853`: a server's identity is its host and the id of its disk. A server
that starts with an empty disk makes a new disk id, so it is another server: an observer that is in
no configuration, and that becomes a voter only by being added. The old identity never comes back,
and has to be removed. So nobody counts on what the lost disk held: its vote, and its entries.

In the original a new server is started on whatever host the model chooses; here the lost server's
own host comes back. The server's number is its identity: with a new number, requests to the old
one reach nobody, and the other servers take the new one for an observer.

What breaks: with identity_ignored the host alone is the identity, as in Kafka before KIP-853: a
server comes back under its old number, and all take it for the voter that it was. It has forgotten
its vote and its entries, so an acknowledged value can be lost (scenario empty_server_votes).

Left out: what `kraft.kip_853` leaves out.

Source: Jack Vanlightly's README of kip_853, "Server identity"
(https://github.com/Vanlightly/kafka-tlaplus, kraft/kip_853/README.md); KIP-853, "Disk Failure
Recovery".
"""

from typing import Annotated, NamedTuple

from kraft_spec import constants, model
from kraft_spec.actions.cluster import started_servers
from kraft_spec.draw.additions import draw_with_empty_disks
from kraft_spec.kip_853 import kip_853_spec
from kraft_spec.model import *
from protocol_lab import *


@extends(constants.Constants)
class Constants(NamedTuple):
    """Those of `kraft.kip_853`, and:"""

    max_empty_restarts: Annotated[
        int, Limits(0, 9, "servers that lost their disk and come back with an empty one")
    ] = 1
    identity_ignored: Annotated[
        int, flag("a server that comes back with an empty disk is taken for the one that it was")
    ] = 0


class Counters(model.Counters):
    """Those of `kraft.kip_853`, and the restarts with an empty disk."""

    empty_restart_ctr: Int8


class State(model.State):
    """As in `kraft.kip_853`, with one more counter."""

    aux_ctrs: Counters


def runs_on_host_of(s, c, server) -> bool:
    """Does another server run on the host of a server that has lost its disk?"""
    host = s.server_ids[server].host
    return any(
        is_alive(s, other) and s.server_ids[other].host == host
        for other in range(1, c.max_spawned_servers + 1)
    )


def restart_without_state(s: State, c: Constants, server: Server):
    """A server whose disk was lost comes back, with its links, as an observer with an empty disk.

    It is another server, with the next number; with identity_ignored it keeps its number.
    """
    if s.aux_ctrs.empty_restart_ctr >= c.max_empty_restarts:
        return "no restart with an empty disk is left (max_empty_restarts)"
    if not has_started(s, server):
        return "the server was never started"
    if s.state[server] != "dead_no_state":
        return "the server has its disk"
    if runs_on_host_of(s, c, server):
        return "another server runs on its host"
    back = server if c.identity_ignored else started_servers(s, c) + 1
    if back > c.max_spawned_servers:
        return "no server is left to be started (max_spawned_servers)"
    s.aux_disk_id_gen += 1
    s.server_ids[back].host = s.server_ids[server].host
    s.server_ids[back].disk_id = s.aux_disk_id_gen
    s.role[back] = "observer"
    s.state[back] = "unattached"
    s.net_connectivity = (s.net_connectivity | pairs_of(c, back)) & ~pairs_of_the_dead(s, c)
    s.aux_ctrs.empty_restart_ctr += 1
    return TAKEN


# --- Properties ----------------------------------------------------------------------------------


def identities_differ(s: State, c: Constants):
    """No two servers have the same host and the same disk."""
    for server in range(1, c.max_spawned_servers + 1):
        for other in range(1, server):
            if has_started(s, server) and s.server_ids[server] == s.server_ids[other]:
                return "two servers have the same identity"
    return HOLDS


def a_lost_server_stays_lost(before: State, after: State, c: Constants):
    """A server that has lost its disk never takes part again; its host may, as another server."""
    for server in range(1, c.max_spawned_servers + 1):
        was_lost = before.state[server] == "dead_no_state"
        if was_lost and after.state[server] != "dead_no_state":
            return "a server that lost its disk is taken for the one that it was"
    return HOLDS


def a_host_is_back(s: State, c: Constants) -> bool:
    """A server that came back without its disk has fetched something."""
    return s.aux_ctrs.empty_restart_ctr > 0 and any(
        s.server_ids[server].disk_id > 0 and len(s.log[server]) > 0
        for server in range(1, c.max_spawned_servers + 1)
    )


def a_host_has_two_identities(s: State, c: Constants) -> bool:
    """A lost server's host runs as another server, and some server still counts the lost one."""
    return any(
        s.state[lost] == "dead_no_state"
        and is_alive(s, back)
        and s.server_ids[back].host == s.server_ids[lost].host
        and has_started(s, server)
        and is_member(s, lost, server)
        for lost in range(1, c.max_spawned_servers + 1)
        for back in range(1, c.max_spawned_servers + 1)
        for server in range(1, c.max_spawned_servers + 1)
    )


def declare_empty_disks(spec: Spec) -> None:
    """Register the action and the properties of this variant."""
    spec.action(restart_without_state)
    spec.invariant(identities_differ)
    spec.step_invariant(a_lost_server_stays_lost, by_default=False)
    spec.situation(a_host_is_back, expected=True)
    spec.situation(a_host_has_two_identities)


CONFIGURATIONS = (
    Configuration("default", "as kraft.kip_853, and no disk is lost", "11,852 distinct states"),
    Configuration(
        "identity_ignored",
        "one of two servers comes back as who it was",
        "violated in 6 states, after 135 distinct states",
        {
            "max_cluster_size": 2,
            "hosts": 2,
            "max_values_per_epoch": 0,
            "max_crashes": 1,
            "max_disconnected_pairs": 1,
            "identity_ignored": True,
        },
    ),
)


spec = kip_853_spec(
    "kip_853_with_empty_disks",
    __doc__,
    state=State,
    constants=Constants,
    draw=draw_with_empty_disks,
    configurations=CONFIGURATIONS,
)
declare_empty_disks(spec)
