"""The picture of unclean leader election."""

from kafka_spec.draw import LEGEND
from protocol_lab.drawing import *
from protocol_lab.model.layout import NONE


def describe(s, c) -> Cluster:
    """The controller, the logs, what is committed, and what the producers were promised."""
    leader, promised = s.zk_state.leader, _messages(s.committed_messages)
    lost = _lost_at_leader(promised, _local_log(s, leader)) if leader != NONE else {}
    committed = set(enumerate(promised))
    end = len(promised)
    return Cluster(
        bars=[_controller(s, c)],
        lanes=[_lane(s, c, r, committed, lost) for r in range(1, c.replicas + 1)],
        line=Flag(
            end,
            Text(
                f"high watermark {end}",
                bold=True,
                topic="high watermark",
                short=str(end),
            ),
        ),
        cards=[_producer(s, producer, lost) for producer in range(1, c.producers + 1)],
        cards_name="Producers",
        columns=3,
        lane_width=213,
        legend=LEGEND,
    )


draw_unclean_leader_election = drawing_of(describe)


def _controller(s, c) -> Bar:
    zk = s.zk_state
    values = [
        Value("leader epoch", Text(str(zk.leader_epoch - 1))),
        Value("leader", Text(or_none(zk.leader))),
        Value("in sync", Text(_in_sync(s, c.min_isr))),
        Value("alive", Text(set_text(zk.alive_replicas))),
        Value("preferred", Text(str(zk.preferred_leader))),
    ]
    if c.election_rule == "eligible_leader_replicas":
        values.append(Value("eligible", Text(set_text(zk.eligible))))
    return Bar("Controller", values)


def _lane(s, c, r: int, committed: set[tuple[int, Shown]], lost: dict[int, Shown]) -> Lane:
    leader = s.zk_state.leader
    name = [Text(f"Broker {r}", bold=True)]
    if r == c.unstable_replica:
        name.append(Text("unstable", "muted"))
    return Lane(
        lines=[
            name,
            [_role(s, r)],
            [membership(r in s.zk_state.isrs, "in sync", "out of sync")],
            [Text(_fetching(s, r), "muted")],
        ],
        entries=entries_of(_local_log(s, r), committed, lost if r == leader else {}),
        notes=difference(_local_log(s, r), _local_log(s, leader), leader, r, "the leader"),
        badge=_badge(s, r),
    )


def _messages(sequence) -> Log:
    """Records in the words of the picture: those of producer 1 are A; epochs count from 0."""
    return [Shown(letter(message.producer), message.leader_epoch - 1) for message in sequence]


def _local_log(s, r: int) -> Log:
    """What a replica has; nothing for NONE, as where there is no leader."""
    return [] if r == NONE else _messages(s.replica_states[r].local_log)


def _role(s, r: int) -> Text:
    if r not in s.zk_state.alive_replicas:
        has_died = s.replica_states[r].is_shutdown
        return Text("dead" if has_died else "dead (session lost)", "muted", bold=True)
    if s.zk_state.leader == r:
        return Text("leader", "accent", bold=True)
    return Text("without a leader" if s.zk_state.leader == NONE else "follower", "muted")


def _badge(s, r: int) -> str:
    if r not in s.zk_state.alive_replicas:
        return "dead"
    return "crown" if s.zk_state.leader == r else ""


def _fetching(s, r: int) -> str:
    leader = s.zk_state.leader
    if leader in (NONE, r) or r not in s.zk_state.alive_replicas:
        return ""
    if not s.replica_states[r].ready_to_fetch:
        return "not ready to fetch"
    is_behind = len(s.replica_states[r].local_log) < len(s.replica_states[leader].local_log)
    return "catching up" if is_behind else "caught up"


def _in_sync(s, min_isr: int) -> str:
    """The ISR, and what min.insync.replicas asks for where that is more."""
    isr = s.zk_state.isrs
    return set_text(isr) + (f", {min_isr} needed" if len(isr) < min_isr else "")


def _lost_at_leader(promised: Log, log: Log) -> dict[int, Shown]:
    return {
        offset: record
        for offset, record in enumerate(promised)
        if offset >= len(log) or log[offset] != record
    }


def _producer(s, producer: int, lost: dict[int, Shown]) -> Card:
    """What a producer waits for, what was acknowledged to it, and what of that is gone."""
    promised = _messages(s.committed_messages)
    acknowledged = [
        offset for offset, each in enumerate(promised) if each.label == letter(producer)
    ]
    broken = [offset for offset in acknowledged if offset in lost]
    lines = [_waiting(s, producer)]
    if acknowledged:
        text = f"✓ promised: {list_text(acknowledged)}"
        lines.append(Text(text, "good", topic=text))
    if broken:
        text = f"✗ lost: {list_text(broken)}"
        lines.append(Text(text, "bad", topic=text))
    return Card(f"Producer {producer} · {letter(producer)}", lines)


def _waiting(s, producer: int) -> Text:
    if producer not in s.inflight_producers:
        return Text("may send", "muted")
    promised = _messages(s.committed_messages)
    places = [
        (record.epoch, offset)
        for states in s.replica_states
        for offset, record in enumerate(_messages(states.local_log))
        if record.label == letter(producer)
        and (offset >= len(promised) or promised[offset] != record)
    ]
    if not places:
        return Text("waits; its record is gone", "muted")
    return Text(f"waits for offset {max(places)[1]}", "muted")
