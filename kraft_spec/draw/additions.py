"""What the variants that add to KIP-853 add to its picture and its sequence diagram."""

from typing import Any

from kraft_spec.draw.servers import Added, Kind, describe_servers, is_stale_call
from kraft_spec.draw.wording import *
from kraft_spec.model import has_started
from protocol_lab.drawing import Cluster, drawing_of

# --- Announced resignations ----------------------------------------------------------------------


END_QUORUM = (
    Kind("end quorum", "end_quorum_requests", end_quorum_label, begin_quorum_detail, is_stale_call),
)


def describe_with_end_quorum(s: Any, c: Any) -> Cluster:
    """With the announcements that are in flight."""
    return describe_servers(s, c, Added(kinds=END_QUORUM))


# --- Requests ------------------------------------------------------------------------------------

REQUESTS = (
    Kind("request", "membership.join_requests", join_request_label),
    Kind("answer", "membership.join_responses", join_response_label, answer_detail),
    Kind("request", "membership.remove_requests", remove_request_label, source=ADMINISTRATOR),
    Kind(
        "answer",
        "membership.remove_responses",
        remove_response_label,
        answer_detail,
        dest=ADMINISTRATOR,
    ),
)


def _requests(s: Any, c: Any, counters: Any = ()) -> Added:
    """Those in flight, and who waits for an answer."""
    asked = s.membership.asked
    return Added(
        kinds=REQUESTS,
        doing={
            server: f"asks {asked[server]} to join"
            for server in range(1, c.max_spawned_servers + 1)
            if has_started(s, server) and asked[server]
        },
        counters=counters,
    )


def describe_with_requests(s: Any, c: Any) -> Cluster:
    """With the requests and answers that are in flight, and who waits for an answer."""
    return describe_servers(s, c, _requests(s, c))


# --- Empty disks ---------------------------------------------------------------------------------


def _empty_restarts(s: Any, c: Any) -> list[tuple[str, int, int]]:
    done = s.aux_ctrs.empty_restart_ctr
    return [("restarts with an empty disk", done, c.max_empty_restarts)]


def describe_with_empty_disks(s: Any, c: Any) -> Cluster:
    """With the restarts that are left."""
    return describe_servers(s, c, Added(counters=_empty_restarts(s, c)))


def describe_disk_replacement(s: Any, c: Any) -> Cluster:
    """With both."""
    return describe_servers(s, c, _requests(s, c, _empty_restarts(s, c)))


draw_with_end_quorum = drawing_of(describe_with_end_quorum)
draw_with_requests = drawing_of(describe_with_requests)
draw_with_empty_disks = drawing_of(describe_with_empty_disks)
draw_disk_replacement = drawing_of(describe_disk_replacement)
