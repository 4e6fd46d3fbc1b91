"""The picture of the five truncation variants."""

from collections.abc import Iterable
from functools import partial

from kafka_spec.draw import LEGEND
from kafka_spec.model import (
    NO_EPOCH,
    has_offset,
    has_same_record,
    is_true_leader,
    presumes_leadership,
)
from protocol_lab.drawing import *
from protocol_lab.model.layout import NONE
from protocol_lab.model.node_sets import members

UNUSED, PAST = "nobody acts on it", "past for everybody"


def describe(s, c) -> Cluster:
    """The controller, the replicas with logs and beliefs, and the requests on their way.

    A record is committed if a replica that believes it leads regards it so, or, where there is none
    that does, any replica. At a replica of that leader's ISR, or of the controller's, that lacks
    it, it is marked as lost, or as cut off if a replica that can still be elected has it.
    """
    replicas = range(1, c.replicas + 1)
    committed, lost = _committed(s, replicas), _lost_in_isr(s, replicas)
    return Cluster(
        bars=[_controller(s)],
        lanes=[
            _lane(
                s,
                r,
                entries_of(
                    _replica_log(s, r),
                    committed,
                    lost.get(r),
                    s.replica_state[r].hw,
                    partial(_can_still_lead, s),
                ),
            )
            for r in replicas
        ],
        messages=[_requests(s, replicas)],
        columns=c.log_size,
        lane_width=250,
        legend=LEGEND,
    )


draw_replication = drawing_of(describe)


def _controller(s) -> Bar:
    quorum = s.quorum_state
    return Bar(
        "Controller",
        [
            Value("leader epoch", Text(or_none(quorum.leader_epoch, NO_EPOCH))),
            Value("leader", Text(or_none(quorum.leader))),
            Value("ISR", Text(set_text(quorum.isr))),
        ],
    )


def _lane(s, r: int, entries: list) -> Lane:
    mine = s.replica_state[r]
    return Lane(
        lines=[
            [Text(f"Broker {r}", bold=True)],
            [_role(s, r)],
            [
                named("epoch", mine.leader_epoch)
                if mine.leader_epoch != NO_EPOCH
                else Text("no epoch", "muted", short="none"),
                membership(r in s.quorum_state.isr, "in ISR", "not in ISR"),
            ],
            [_own_isr(mine)],
        ],
        entries=entries,
        flags=[Flag(mine.hw, named("hw", mine.hw, topic="hw"))],
        notes=difference(
            _replica_log(s, r),
            _replica_log(s, mine.leader),
            mine.leader,
            r,
            f"broker {mine.leader}",
        ),
        badge=_badge(s, r),
    )


def _own_isr(mine) -> Text:
    """Said once it knows of one."""
    if mine.leader_epoch == NO_EPOCH:
        return Text("")
    return named("its ISR", set_text(mine.isr), "muted")


def _role(s, r: int) -> Text:
    if is_true_leader(s, r):
        return Text("leader", "accent", bold=True)
    if presumes_leadership(s, r):
        return Text("believes it leads", "ink", bold=True)
    leader = s.replica_state[r].leader
    return Text("knows no leader" if leader == NONE else f"follows broker {leader}", "muted")


def _badge(s, r: int) -> str:
    if is_true_leader(s, r):
        return "crown"
    return "ghost" if presumes_leadership(s, r) else ""


def _replica_log(s, r: int) -> Log:
    """What a replica has; nothing for NONE, as where there is no leader."""
    if r == NONE:
        return []
    log = s.replica_log[r]
    return [_record(log.records[offset]) for offset in range(log.end_offset)]


def _record(record) -> Shown:
    return Shown(letter(record.id + 1), record.epoch)


def _committed(s, replicas: Iterable[int]) -> set[tuple[int, Shown]]:
    """The (offset, record) below the high watermark of any replica that believes it leads, and,
    at other offsets, below that of any replica."""
    below = {r: set(enumerate(_replica_log(s, r)[: s.replica_state[r].hw])) for r in replicas}
    of_leaders = {each for r in replicas if presumes_leadership(s, r) for each in below[r]}
    offsets = {offset for offset, _ in of_leaders}
    return of_leaders | {each for r in replicas for each in below[r] if each[0] not in offsets}


def _lost_in_isr(s, replicas: Iterable[int]) -> dict[int, dict[int, Shown]]:
    """By replica and offset, the committed records that members of an ISR lack."""
    lost: dict[int, dict[int, Shown]] = {}
    for leader in replicas:
        if presumes_leadership(s, leader):
            mine = s.replica_log[leader]
            for r in s.replica_state[leader].isr | s.quorum_state.isr:
                for offset in range(s.replica_state[leader].hw):
                    if has_offset(mine, offset) and not has_same_record(
                        mine, s.replica_log[r], offset
                    ):
                        lost.setdefault(r, {})[offset] = _record(mine.records[offset])
    return lost | _lost_at_the_leader(s, replicas)


def _lost_at_the_leader(s, replicas: Iterable[int]) -> dict[int, dict[int, Shown]]:
    """The records that the leader lacks and that a follower of it knows to be committed, by the
    leader and offset."""
    leader = s.quorum_state.leader
    lost = {
        offset: record
        for r in replicas
        if leader != NONE and s.replica_state[r].leader == leader and not presumes_leadership(s, r)
        for offset, record in enumerate(_replica_log(s, r)[: s.replica_state[r].hw])
        if (offset, record) not in enumerate(_replica_log(s, leader))
    }
    return {leader: lost} if lost else {}


def _can_still_lead(s, offset: int, record: Shown) -> bool:
    """Does the controller's leader, or a member of its ISR, have this record?"""
    electable = [r for r in (s.quorum_state.leader, *members(s.quorum_state.isr)) if r != NONE]
    return any((offset, record) in enumerate(_replica_log(s, r)) for r in electable)


def _requests(s, replicas: Iterable[int]) -> Messages:
    items = []
    for request in s.leader_and_isr_requests:
        fate = _fate(s, request, replicas)
        items.append(
            Message(
                f"epoch {request.leader_epoch}: leader {or_none(request.leader)}",
                f"ISR {set_text(request.isr)} · {fate}",
                faded=fate in (UNUSED, PAST),
                topic=str(request.leader_epoch),
            )
        )
    return Messages("LeaderAndIsr requests", items, empty="none sent yet")


def _fate(s, request, replicas: Iterable[int]) -> str:
    """Which replicas are in this request's epoch, or whether any may still pick it up."""
    if request.leader == NONE:
        return UNUSED
    epochs = {r: s.replica_state[r].leader_epoch for r in replicas}
    at_it = [r for r, epoch in epochs.items() if epoch == request.leader_epoch]
    if at_it:
        return f"current at {list_text(at_it)}"
    return PAST if min(epochs.values()) > request.leader_epoch else "may be picked up"
