"""The picture of the five truncation variants."""

from collections.abc import Iterable

from kafka_spec.bounded_log import has_offset, has_same_record
from kafka_spec.draw.shared import (
    LEGEND,
    Log,
    Shown,
    States,
    changed_width,
    difference,
    entries_of,
    list_text,
    or_none,
    set_text,
    widest_isr_change,
)
from kafka_spec.replication.model import NO_EPOCH, is_true_leader, presumes_leadership
from protocol_lab.drawing import Bar, Entry, Flag, Lane, Message, Messages, Text
from protocol_lab.language.node_sets import members
from protocol_lab.spec.layout import NONE
from protocol_lab.spec.spec import Model

UNUSED, PAST = "nobody acts on it", "past for everybody"
WIDEST_CHANGE = max(
    changed_width("follows replica 1", "believes it leads"),
    changed_width("epoch 10", "none") + 8 + changed_width("○ not in ISR", "in"),
)


def draw_replication(
    model: Model, row: bytes, previous: bytes | None = None, title: str | None = None
) -> str:
    """The controller, the replicas with logs and beliefs, and the requests on their way.

    A record is marked as committed if any replica that believes it leads regards it so. It is
    marked as lost at a replica of that leader's ISR, or of the controller's, that lacks it.
    """
    states = States(model, row, previous)
    c, replicas = states.c, range(1, states.c.replicas + 1)
    committed = _committed(states.s, replicas)
    before = states.before(lambda at: _committed(at, replicas))
    lost = _lost_in_isr(states.s, replicas)
    return states.draw(
        title,
        bars=[_controller(states)],
        lanes=[
            _lane(
                states,
                r,
                entries_of(
                    _replica_log(states.s, r),
                    states.before(lambda at, r=r: _replica_log(at, r)),
                    committed,
                    committed if before is None else before,
                    lost.get(r, {}),
                ),
            )
            for r in replicas
        ],
        messages=[_requests(states.s, states.old, replicas)],
        columns=c.log_size,
        lane_width=max(widest_isr_change("its ISR ", c.replicas), WIDEST_CHANGE),
        note_width=130,
        legend=LEGEND,
    )


def _controller(states: States) -> Bar:
    c = states.c
    return Bar(
        "Controller",
        [
            states.value(
                "leader epoch", lambda at: or_none(at.quorum_state.leader_epoch, NO_EPOCH)
            ),
            states.value("leader", lambda at: or_none(at.quorum_state.leader)),
            states.value("ISR", lambda at: set_text(at.quorum_state.isr)),
            states.value(
                "decisions left", lambda at: c.max_leader_epoch + 1 - at.next_leader_epoch
            ),
            states.value("records left", lambda at: c.max_records - at.next_record_id),
        ],
    )


def _lane(states: States, r: int, entries: list[Entry]) -> Lane:
    s, mine = states.s, states.s.replica_state[r]
    return Lane(
        lines=[
            [Text(f"Replica {r}", bold=True)],
            [states.text(lambda at: _role(at, r), *_role_style(s, r))],
            [
                _epoch(states, r),
                states.membership(r, lambda at: at.quorum_state.isr, "in ISR", "not in ISR"),
            ],
            [states.text(lambda at: set_text(at.replica_state[r].isr), "muted", name="its ISR ")],
        ],
        entries=entries,
        flags=[Flag(mine.hw, states.text(lambda at: at.replica_state[r].hw, name="hw "))],
        notes=difference(_replica_log(s, r), _replica_log(s, mine.leader), mine.leader, r),
        badge=_badge(s, r),
    )


def _role(s, r: int) -> str:
    if is_true_leader(s, r):
        return "leader"
    if presumes_leadership(s, r):
        return "believes it leads"
    leader = s.replica_state[r].leader
    return "knows no leader" if leader == NONE else f"follows replica {leader}"


def _role_style(s, r: int) -> tuple[str, bool]:
    if is_true_leader(s, r):
        return "accent", True
    return ("warning", True) if presumes_leadership(s, r) else ("muted", False)


def _badge(s, r: int) -> str:
    if is_true_leader(s, r):
        return "crown"
    return "ghost" if presumes_leadership(s, r) else ""


def _epoch(states: States, r: int) -> Text:
    if states.s.replica_state[r].leader_epoch == NO_EPOCH:
        return Text("no epoch", "muted")
    return states.text(
        lambda at: or_none(at.replica_state[r].leader_epoch, NO_EPOCH), name="epoch "
    )


def _replica_log(s, r: int) -> Log:
    """What a replica has; nothing for NONE, as where there is no leader."""
    if r == NONE:
        return []
    log = s.replica_log[r]
    return [_record(log.records[offset]) for offset in range(log.end_offset)]


def _record(record) -> Shown:
    return Shown(f"id {record.id}", record.epoch)


def _committed(s, replicas: Iterable[int]) -> set[tuple[int, Shown]]:
    """The (offset, record) below the high watermark of any replica that believes it leads."""
    return {
        (offset, record)
        for leader in replicas
        if presumes_leadership(s, leader)
        for offset, record in enumerate(_replica_log(s, leader)[: s.replica_state[leader].hw])
    }


def _lost_in_isr(s, replicas: Iterable[int]) -> dict[int, dict[int, Shown]]:
    """By replica and offset, the committed records that members of an ISR lack."""
    lost: dict[int, dict[int, Shown]] = {}
    for leader in replicas:
        if presumes_leadership(s, leader):
            mine = s.replica_log[leader]
            for r in members(s.replica_state[leader].isr | s.quorum_state.isr):
                for offset in range(s.replica_state[leader].hw):
                    if has_offset(mine, offset) and not has_same_record(
                        mine, s.replica_log[r], offset
                    ):
                        lost.setdefault(r, {})[offset] = _record(mine.records[offset])
    return lost


def _requests(s, old, replicas: Iterable[int]) -> Messages:
    requests = s.leader_and_isr_requests
    sent_before = requests.length if old is None else old.leader_and_isr_requests.length
    items = []
    for k in range(requests.length):
        request = requests.items[k]
        fate = _fate(s, request, replicas)
        items.append(
            Message(
                f"epoch {request.leader_epoch}: leader {or_none(request.leader)}",
                f"ISR {set_text(request.isr)} · {fate}",
                mark="new" if k >= sent_before else "",
                faded=fate in (UNUSED, PAST),
            )
        )
    return Messages("LeaderAndIsr requests", items, empty="none sent yet")


def _fate(s, request, replicas: Iterable[int]) -> str:
    """Which replicas are in this request's epoch, or whether any may still pick it."""
    if request.leader == NONE:
        return UNUSED
    epochs = {r: s.replica_state[r].leader_epoch for r in replicas}
    at_it = [r for r, epoch in epochs.items() if epoch == request.leader_epoch]
    if at_it:
        return f"current at {list_text(at_it)}"
    return PAST if min(epochs.values()) > request.leader_epoch else "may still be picked"
