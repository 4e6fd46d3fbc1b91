"""What happens in a step besides messages that come and go, as the sequence diagram tells it.

Told by what the step did to the servers and not by the action's name, so that a variant needs
nothing more.
"""

from collections.abc import Iterator
from typing import Any

from kraft_spec.draw.wording import (
    ADMINISTRATOR,
    begin_quorum_label,
    end_quorum_label,
    entry_with_epoch,
    fetch_request_label,
    fetch_response_label,
    join_request_label,
    join_response_label,
    remove_request_label,
    remove_response_label,
    set_text,
    vote_request_label,
    vote_response_label,
)
from kraft_spec.model.links import is_connected
from kraft_spec.model.names import (
    CANDIDATE,
    DEAD_NO_STATE,
    FOLLOWER,
    ILLEGAL_STATE,
    LEADER,
    OBSERVER,
    RESIGNED,
    UNATTACHED,
    VOTED,
    VOTER,
    Server,
)
from kraft_spec.model.state import has_started
from protocol_lab.semantics.step_text import Step
from protocol_lab.spec.channels import lifeline
from protocol_lab.spec.node_sets import members
from protocol_lab.spec.spec import Spec
from protocol_lab.traces.events import CRASH, EVERYBODY, LOST, RESTART, Arrow, Event, Note

LOSING = ("change_network_connectivity", "crash_lose_state")
"""The actions that drop what is under way across a link."""


def declare_messages(spec: Spec) -> None:
    """Say where messages are under way, and what each kind is called."""
    for bag, label in (
        ("vote_requests", vote_request_label),
        ("vote_responses", vote_response_label),
        ("begin_quorum_requests", begin_quorum_label),
        ("fetch_requests", fetch_request_label),
        ("fetch_responses", fetch_response_label),
    ):
        path = f"net_messages.{bag}"
        spec.messages(path, source="source", dest="dest", lost_by=LOSING, label=label)
    for bag, source, dest, label in (
        ("join_requests", "source", "dest", join_request_label),
        ("join_responses", "source", "dest", join_response_label),
        ("remove_requests", ADMINISTRATOR, "dest", remove_request_label),
        ("remove_responses", "source", ADMINISTRATOR, remove_response_label),
    ):
        spec.messages(
            f"membership.{bag}",
            source=source,
            dest=dest,
            lost_by=LOSING,
            label=label,
            where="membership_requests",
        )
    spec.messages(
        "end_quorum_requests",
        source="source",
        dest="dest",
        lost_by=LOSING,
        label=end_quorum_label,
        where="end_quorum_epoch",
    )


def server_events(before: Any, after: Any, c: Any, step: Step) -> list[Event] | None:
    """Messages that a link lost at once, then what became of each server; None if nothing did."""
    found: list[Event] = list(_lost_pleas(before, after, c, step))
    if before.net_connectivity != after.net_connectivity and step.action == LOSING[0]:
        found.append(Note(EVERYBODY, _links(after, c)))
    for server in range(1, c.max_spawned_servers + 1):
        if step.action == "restart_with_state" and step.args["server"] == server:
            found.append(Note(lifeline(Server, server), "restarts", RESTART))
        if after.state[server] == DEAD_NO_STATE != before.state[server]:
            found.append(Note(lifeline(Server, server), "loses its disk", CRASH))
        elif text := ", ".join(_changes(before, after, server)):
            found.append(Note(lifeline(Server, server), text))
    return found or None


def _lost_pleas(before: Any, after: Any, c: Any, step: Step) -> Iterator[Event]:
    """The requests for votes that a candidate could not even send."""
    if step.action != "send_request_vote":
        return
    server = step.args["server"]
    for peer in members(after.config[server].members):
        if not is_connected(after, server, peer):
            label = f"vote? e{after.current_epoch[server]}"
            yield Arrow(LOST, lifeline(Server, server), lifeline(Server, peer), label)


def _links(after: Any, c: Any) -> str:
    down = [
        f"{one}–{other}"
        for other in range(2, c.max_spawned_servers + 1)
        for one in range(1, other)
        if not is_connected(after, one, other)
    ]
    return f"down: {', '.join(down)}" if down else "all links work"


def _changes(before: Any, after: Any, server: int) -> Iterator[str]:
    """What a server is now that it was not, and what happened to its log."""
    if not has_started(before, server) and has_started(after, server):
        yield "starts as an observer"
        return
    if before.state[server] == DEAD_NO_STATE:
        yield "is back with an empty disk"
        return
    if _belief(before, server) != _belief(after, server):
        yield _state(after, server)
    if before.role[server] != after.role[server]:
        yield {VOTER: "voter now", OBSERVER: "observer now"}.get(after.role[server], "no role")
    old, new = before.log[server].length, after.log[server].length
    if new > old:
        yield f"appends {entry_with_epoch(after.log[server].items[new - 1])}"
    elif new < old:
        yield f"truncates to offset {new}"
    if before.hwm[server] != after.hwm[server]:
        yield f"hw {after.hwm[server]}"
    if before.votes_recv[server] != after.votes_recv[server] and after.votes_recv[server]:
        yield f"votes {set_text(after.votes_recv[server])}"


def _belief(s: Any, server: int) -> tuple[int, int, int]:
    return s.state[server], s.current_epoch[server], s.leader[server]


def _state(s: Any, server: int) -> str:
    """Its state and epoch, shortly."""
    named = {
        UNATTACHED: "unattached",
        CANDIDATE: "candidate",
        LEADER: "leads",
        VOTED: f"votes for {s.voted_for[server]}",
        RESIGNED: "resigned",
        FOLLOWER: f"follows {s.leader[server]}" if s.leader[server] else "follower",
        ILLEGAL_STATE: "ILLEGAL STATE",
    }[s.state[server]]
    return f"{named} e{s.current_epoch[server]}"
