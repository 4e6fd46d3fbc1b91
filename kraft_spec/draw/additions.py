"""What the variants that add to KIP-853 add to its picture and its sequence diagram."""

from typing import Any

from kraft_spec.draw.events import declare_kind
from kraft_spec.draw.servers import Added, Kind, describe_servers, is_stale_call
from kraft_spec.draw.wording import *
from kraft_spec.model import has_started
from protocol_lab import Spec
from protocol_lab.drawing import Cluster, Message, drawing_of

# --- Announced resignations ----------------------------------------------------------------------


def describe_with_end_quorum(s: Any, c: Any) -> Cluster:
    """With the announcements that are in flight."""
    kind = Kind(
        "end quorum", s.end_quorum_requests, end_quorum_label, begin_quorum_detail, is_stale_call
    )
    return describe_servers(s, c, Added(kinds=[kind]))


def draw_end_quorum(spec: Spec) -> None:
    """Declare where they are."""
    declare_kind(spec, "end_quorum_requests", end_quorum_label)


# --- Requests ------------------------------------------------------------------------------------


def _requests(s: Any, c: Any, counters: Any = ()) -> Added:
    asked = s.membership
    return Added(
        kinds=[
            Kind("request", asked.join_requests, join_request_label),
            Kind("answer", asked.join_responses, join_response_label, answer_detail),
        ],
        messages=_of_administrator(asked),
        doing={
            server: f"asks {asked.asked[server]} to join"
            for server in range(1, c.max_spawned_servers + 1)
            if has_started(s, server) and asked.asked[server]
        },
        counters=counters,
    )


def _of_administrator(asked: Any) -> list[Message]:
    """An administrator's requests, and the answers to them."""
    return [
        *(
            Message(f"{ADMINISTRATOR} → {request.dest}: {remove_request_label(request)}")
            for request in asked.remove_requests
        ),
        *(
            Message(
                f"{answer.source} → {ADMINISTRATOR}: {remove_response_label(answer)}",
                answer_detail(answer),
            )
            for answer in asked.remove_responses
        ),
    ]


def describe_with_requests(s: Any, c: Any) -> Cluster:
    """With the requests and answers that are in flight, and who waits for an answer."""
    return describe_servers(s, c, _requests(s, c))


def draw_requests(spec: Spec) -> None:
    """Declare where they are."""
    declare_kind(spec, "membership.join_requests", join_request_label)
    declare_kind(spec, "membership.join_responses", join_response_label)
    declare_kind(spec, "membership.remove_requests", remove_request_label, source=ADMINISTRATOR)
    declare_kind(spec, "membership.remove_responses", remove_response_label, dest=ADMINISTRATOR)


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
