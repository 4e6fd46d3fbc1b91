"""The picture of `kraft.kip_853`, and in addition who has heard from its leader."""

from typing import Any

from kraft_spec.draw.servers import Added, describe_servers
from protocol_lab import NONE
from protocol_lab.drawing import Cluster, drawing_of


def describe_with_pre_vote(s: Any, c: Any) -> Cluster:
    """With what decides on a pre-vote, and the timeouts that need no reason."""
    limit = c.max_disruptive_election_triggers
    return describe_servers(
        s,
        c,
        Added(
            title="KRaft · KIP-996",
            crashes="max_perm_crashes",
            remarks={
                server: text
                for server in range(1, c.max_spawned_servers + 1)
                if (text := _remark(s, server))
            },
            counters=[("timeouts without a reason", s.aux_ctrs.disruptive_ctr, limit)],
        ),
    )


def _remark(s: Any, server: int) -> str:
    """Whether a follower has fetched, and which leader a prospective still knows."""
    if s.state[server] == "follower":
        return "has fetched" if s.has_fetch_success[server] else "has not fetched yet"
    if s.state[server] == "prospective" and s.leader[server] != NONE:
        return f"knows leader {s.leader[server]}"
    return ""


draw_with_pre_vote = drawing_of(describe_with_pre_vote)
