"""The events of a step for the sequence diagram, besides the messages sent and delivered.

They are derived from what the step changed at the servers, not from the action's name, so that a
new action needs nothing here.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from kraft_spec.draw.servers import KINDS, Kind
from kraft_spec.draw.wording import *
from kraft_spec.model import Server, ServerState, has_started, is_connected
from protocol_lab import Spec
from protocol_lab.model.declarations import lifeline
from protocol_lab.model.step_text import Step
from protocol_lab.traces.events import CRASH, EVERYBODY, LOST, RESTART, Arrow, Event, Note

LOSING = ("change_network_connectivity", "crash_lose_state")
"""The actions by which messages in flight across a link are lost."""

ASKING = (
    "send_request_vote",
    "voter_fetch_timeout",
    "voter_election_timeout",
    "conclude_pre_vote",
)
"""The actions by which a server asks for votes."""


def declare_messages(spec: Spec, kinds: Iterable[Kind] = KINDS) -> None:
    """Declare where messages are in flight, and a label for each kind; they may be lost across a
    link."""
    for each in kinds:
        spec.messages(
            each.path, source=each.source, dest=each.dest, lost_by=LOSING, label=each.label
        )


def server_events(before: Any, after: Any, c: Any, step: Step) -> list[Event] | None:
    """Vote requests that were lost at once, then the changes of each server; None for none."""
    found: list[Event] = list(_lost_requests(before, after, c, step))
    if before.net_connectivity != after.net_connectivity and step.action == LOSING[0]:
        found.append(Note(EVERYBODY, _links(after, c)))
    for server in range(1, c.max_spawned_servers + 1):
        if step.action == "restart_with_state" and step.args["server"] == server:
            found.append(Note(lifeline(Server, server), "restarts", RESTART))
        if after.state[server] == "dead_no_state" and before.state[server] != "dead_no_state":
            found.append(Note(lifeline(Server, server), "loses its disk", CRASH))
        elif text := ", ".join(_changes(before, after, server)):
            found.append(Note(lifeline(Server, server), text))
    return found or None


def _lost_requests(before: Any, after: Any, c: Any, step: Step) -> Iterator[Event]:
    """The vote requests that were lost as a candidate sent them."""
    if step.action not in ASKING:
        return
    server = step.args["server"]
    if after.state[server] not in ("candidate", "prospective"):
        return
    asked = "pre-vote" if after.state[server] == "prospective" else "vote"
    for peer in after.config[server].members:
        if not is_connected(after, server, peer):
            label = f"{asked}? e{after.current_epoch[server]}"
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
    """What changed at a server: its state, its role, its log."""
    if not has_started(before, server) and has_started(after, server):
        yield "starts as an observer"
        return
    if before.state[server] == "dead_no_state":
        if after.state[server] != "dead_no_state":
            yield "is back with an empty disk"
        return
    if _belief(before, server) != _belief(after, server):
        yield _state(after, server)
    if before.role[server] != after.role[server]:
        yield "voter now" if after.role[server] == "voter" else "observer now"
    old, new = len(before.log[server]), len(after.log[server])
    if new > old:
        yield f"appends {entry_with_epoch(after.log[server][new - 1])}"
    elif new < old:
        yield f"truncates to offset {new}"
    if before.hwm[server] != after.hwm[server]:
        yield f"hw {after.hwm[server]}"
    if before.votes_recv[server] != after.votes_recv[server] and after.votes_recv[server]:
        yield f"votes {set_text(after.votes_recv[server])}"


def _belief(s: Any, server: int) -> tuple[int, int, int]:
    return s.state[server], s.current_epoch[server], s.leader[server]


def _state(s: Any, server: int) -> str:
    """Its state and epoch in a few words."""
    named = {
        "unattached": "unattached",
        "candidate": "candidate",
        "prospective": "prospective",
        "leader": "leads",
        "voted": f"votes for {s.voted_for[server]}",
        "resigned": "resigned",
        "follower": f"follows {s.leader[server]}" if s.leader[server] else "follower",
        "illegal_state": "ILLEGAL STATE",
    }[ServerState.names[s.state[server]]]
    return f"{named} e{s.current_epoch[server]}"
