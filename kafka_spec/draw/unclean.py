"""The picture of unclean leader election."""

from kafka_spec.draw.shared import (
    LEGEND,
    Log,
    Shown,
    alarms,
    changed_width,
    compared,
    difference,
    entries_of,
    membership,
    offsets_text,
    or_none,
    set_text,
    views,
)
from protocol_lab.drawing import Bar, Card, Cluster, Flag, Lane, Text, Value, draw_cluster
from protocol_lab.layout import NONE
from protocol_lab.nodes import members, size
from protocol_lab.spec import Model


def draw_unclean_leader_election(
    model: Model, row: bytes, previous: bytes | None = None, title: str | None = None
) -> str:
    """ZooKeeper, the replicas' logs, what is committed, and what the producers were promised."""
    s, old = views(model, row, previous)
    c = model.constants
    replicas = range(1, c.replicas + 1)
    promised = _messages(s.committed_messages)
    committed = set(enumerate(promised))
    before = committed if old is None else set(enumerate(_messages(old.committed_messages)))
    leader = s.zk_state.leader
    lost = _lost_at_leader(promised, _local_log(s, leader)) if leader else {}
    lanes = [
        Lane(
            lines=[
                [
                    Text(f"Replica {r}", bold=True),
                    *([Text("unstable", "muted")] if r == c.unstable_replica else []),
                ],
                [compared(s, old, lambda at, r=r: _unclean_role(at, r), *_unclean_style(s, r))],
                [membership(s, old, r, lambda at: at.zk_state.isrs, "sync")],
                [compared(s, old, lambda at, r=r: _fetching(at, r), "muted")],
            ],
            entries=entries_of(
                _local_log(s, r),
                old and _local_log(old, r),
                committed,
                before,
                lost if r == leader else {},
            ),
            notes=difference(_local_log(s, r), _local_log(s, leader), leader, r, "the leader"),
            badge=_unclean_badge(s, r),
        )
        for r in replicas
    ]
    zookeeper = Bar(
        "ZooKeeper",
        [
            Value("leader epoch", compared(s, old, lambda at: str(at.zk_state.leader_epoch))),
            Value("leader", compared(s, old, lambda at: or_none(at.zk_state.leader))),
            Value("in sync", compared(s, old, lambda at: _in_sync(at, c.min_isr))),
            Value("alive", compared(s, old, lambda at: set_text(at.zk_state.alive_replicas))),
            Value(
                "preferred leader", compared(s, old, lambda at: str(at.zk_state.preferred_leader))
            ),
        ],
    )
    return draw_cluster(
        Cluster(
            title=title or model.spec.name,
            show_title=title is not None,
            bars=[zookeeper],
            lanes=lanes,
            line=Flag(
                len(promised),
                Text(
                    "committed up to here",
                    bold=True,
                    was=None if len(before) == len(promised) else f"before offset {len(before)}",
                ),
            ),
            cards=[_producer(s, old, p, lost) for p in range(1, c.producers + 1)],
            cards_name="Producers",
            alarms=alarms(model, row),
            columns=4,
            lane_width=changed_width("not ready to fetch", "catching up"),
            note_width=70,
            legend=LEGEND,
        )
    )


def _messages(sequence) -> Log:
    items = (sequence.items[k] for k in range(sequence.length))
    return [Shown(f"p{each.producer}", each.leader_epoch) for each in items]


def _local_log(s, r: int) -> Log:
    return _messages(s.replica_states[r].local_log)


def _is_alive(s, r: int) -> bool:
    return r in members(s.zk_state.alive_replicas)


def _unclean_role(s, r: int) -> str:
    if not _is_alive(s, r):
        return "dead" if s.replica_states[r].is_shutdown else "dead (session lost)"
    if s.zk_state.leader == NONE:
        return "waits for a leader"
    return "leader" if s.zk_state.leader == r else "follower"


def _unclean_style(s, r: int) -> tuple[str, bool]:
    if not _is_alive(s, r):
        return "bad", True
    return ("accent", True) if s.zk_state.leader == r else ("muted", False)


def _unclean_badge(s, r: int) -> str:
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


def _producer(s, old, producer: int, lost: dict[int, Shown]) -> Card:
    """What a producer waits for, what was acknowledged to it, and what of that is gone."""
    label = f"p{producer}"
    promised = _messages(s.committed_messages)
    acknowledged = [offset for offset, each in enumerate(promised) if each.label == label]
    broken = [offset for offset in acknowledged if offset in lost]
    lines = [compared(s, old, lambda at: _waiting(at, producer), _waiting_tone(s, producer))]
    if acknowledged:
        lines.append(Text(f"✓ promised {offsets_text(acknowledged)}", "good"))
    if broken:
        lines.append(Text(f"✗ lost {offsets_text(broken)}", "bad"))
    return Card(f"Producer {producer}", lines)


def _waiting_tone(s, producer: int) -> str:
    return "warning" if producer in members(s.inflight_producers) else "muted"


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
