"""The picture of unclean leader election."""

from kafka_spec.draw.shared import (
    LEGEND,
    Log,
    Shown,
    States,
    changed_width,
    difference,
    entries_of,
    offsets_text,
    or_none,
    set_text,
)
from protocol_lab.drawing import Bar, Card, Entry, Flag, Lane, Text
from protocol_lab.language.node_sets import members, size
from protocol_lab.spec.constants import show
from protocol_lab.spec.layout import NONE
from protocol_lab.spec.spec import Model


def draw_unclean_leader_election(
    model: Model, row: bytes, previous: bytes | None = None, title: str | None = None
) -> str:
    """ZooKeeper, the replicas' logs, what is committed, and what the producers were promised."""
    states = States(model, row, previous)
    s, c, leader = states.s, states.c, states.s.zk_state.leader
    promised = _messages(s.committed_messages)
    before = states.before(lambda at: _messages(at.committed_messages))
    before = promised if before is None else before
    lost = _lost_at_leader(promised, _local_log(s, leader)) if leader else {}
    return states.draw(
        title,
        bars=[_zookeeper(states)],
        lanes=[
            _lane(
                states,
                r,
                entries_of(
                    _local_log(s, r),
                    states.before(lambda at, r=r: _local_log(at, r)),
                    set(enumerate(promised)),
                    set(enumerate(before)),
                    lost if r == leader else {},
                ),
            )
            for r in range(1, c.replicas + 1)
        ],
        line=Flag(
            len(promised),
            Text(
                "committed up to here",
                bold=True,
                was=None if len(before) == len(promised) else f"before offset {len(before)}",
            ),
        ),
        cards=[_producer(states, producer, lost) for producer in range(1, c.producers + 1)],
        cards_name="Producers",
        columns=4,
        lane_width=changed_width("not ready to fetch", "catching up"),
        note_width=70,
        legend=LEGEND,
    )


def _zookeeper(states: States) -> Bar:
    c = states.c
    values = [
        states.value("leader epoch", lambda at: at.zk_state.leader_epoch),
        states.value("leader", lambda at: or_none(at.zk_state.leader)),
        states.value("in sync", lambda at: _in_sync(at, c.min_isr)),
        states.value("alive", lambda at: set_text(at.zk_state.alive_replicas)),
        states.value("preferred leader", lambda at: at.zk_state.preferred_leader),
    ]
    if show(c)["election_rule"] == "eligible_leader_replicas":
        values.append(states.value("eligible", lambda at: set_text(at.zk_state.eligible)))
    return Bar("ZooKeeper", values)


def _lane(states: States, r: int, entries: list[Entry]) -> Lane:
    s, leader = states.s, states.s.zk_state.leader
    name = [Text(f"Replica {r}", bold=True)]
    if r == states.c.unstable_replica:
        name.append(Text("unstable", "muted"))
    return Lane(
        lines=[
            name,
            [states.text(lambda at: _role(at, r), *_role_style(s, r))],
            [states.membership(r, lambda at: at.zk_state.isrs, "in sync", "out of sync")],
            [states.text(lambda at: _fetching(at, r), "muted")],
        ],
        entries=entries,
        notes=difference(_local_log(s, r), _local_log(s, leader), leader, r, "the leader"),
        badge=_badge(s, r),
    )


def _messages(sequence) -> Log:
    items = (sequence.items[k] for k in range(sequence.length))
    return [Shown(f"p{each.producer}", each.leader_epoch) for each in items]


def _local_log(s, r: int) -> Log:
    """What a replica has; nothing for NONE, as where there is no leader."""
    if r == NONE:
        return []
    return _messages(s.replica_states[r].local_log)


def _is_alive(s, r: int) -> bool:
    return r in members(s.zk_state.alive_replicas)


def _role(s, r: int) -> str:
    if not _is_alive(s, r):
        return "dead" if s.replica_states[r].is_shutdown else "dead (session lost)"
    if s.zk_state.leader == NONE:
        return "waits for a leader"
    return "leader" if s.zk_state.leader == r else "follower"


def _role_style(s, r: int) -> tuple[str, bool]:
    if not _is_alive(s, r):
        return "bad", True
    return ("accent", True) if s.zk_state.leader == r else ("muted", False)


def _badge(s, r: int) -> str:
    if not _is_alive(s, r):
        return "dead"
    return "crown" if s.zk_state.leader == r else ""


def _fetching(s, r: int) -> str:
    leader = s.zk_state.leader
    if leader in (NONE, r) or not _is_alive(s, r):
        return ""
    if not s.replica_states[r].ready_to_fetch:
        return "not ready to fetch"
    is_behind = s.replica_states[r].local_log.length < s.replica_states[leader].local_log.length
    return "catching up" if is_behind else "caught up"


def _in_sync(s, min_isr: int) -> str:
    """The ISR, and what min.insync.replicas asks for where that is more."""
    isr = s.zk_state.isrs
    return set_text(isr) + (f", needs {min_isr} to commit" if size(isr) < min_isr else "")


def _lost_at_leader(promised: Log, log: Log) -> dict[int, Shown]:
    return {
        offset: record
        for offset, record in enumerate(promised)
        if offset >= len(log) or log[offset] != record
    }


def _producer(states: States, producer: int, lost: dict[int, Shown]) -> Card:
    """What a producer waits for, what was acknowledged to it, and what of that is gone."""
    promised = _messages(states.s.committed_messages)
    acknowledged = [offset for offset, each in enumerate(promised) if each.label == f"p{producer}"]
    broken = [offset for offset in acknowledged if offset in lost]
    tone = "warning" if producer in members(states.s.inflight_producers) else "muted"
    lines = [states.text(lambda at: _waiting(at, producer), tone)]
    if acknowledged:
        lines.append(Text(f"✓ promised {offsets_text(acknowledged)}", "good"))
    if broken:
        lines.append(Text(f"✗ lost {offsets_text(broken)}", "bad"))
    return Card(f"Producer {producer}", lines)


def _waiting(s, producer: int) -> str:
    if producer not in members(s.inflight_producers):
        return "may send"
    label = f"p{producer}"
    promised = _messages(s.committed_messages)
    logs = [_local_log(s, r) for r in range(1, len(s.replica_states))]
    places = [
        (record.epoch, offset)
        for log in logs
        for offset, record in enumerate(log)
        if record.label == label and (offset >= len(promised) or promised[offset] != record)
    ]
    return f"waits for offset {max(places)[1]}" if places else "waits; its record is gone"
