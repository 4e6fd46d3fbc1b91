"""The picture of `settings`: the controller's record, the brokers' logs, what clients know."""

from kafka_spec.draw import LEGEND
from protocol_lab.drawing import *
from protocol_lab.model.layout import NONE
from protocol_lab.model.node_sets import members


def describe(s, c) -> Cluster:
    """The controller, a lane for each broker, and cards for producers and consumers."""
    lost = _lost(s)
    return Cluster(
        bars=[_controller(s, c)],
        lanes=[_lane(s, c, broker, lost) for broker in range(1, c.replicas + 1)],
        line=Flag(
            s.high_watermark,
            Text("high watermark", bold=True, topic="hw", short=f"HW {s.high_watermark}"),
        ),
        cards=[_producers(s, lost), _consumers(s, lost)],
        cards_name="Clients",
        columns=2,
        lane_width=206,
        legend=LEGEND,
    )


draw_settings = drawing_of(describe)


def _controller(s, c) -> Bar:
    isr = set_text(s.isr)
    if len(s.isr) < c.min_isr:
        isr += f", {c.min_isr} needed"
    values = [
        Value("leader", Text(or_none(s.leader))),
        Value("leader epoch", Text(str(s.leader_epoch))),
        Value("ISR", Text(isr)),
    ]
    if c.elr:
        values.append(Value("ELR", Text(set_text(s.elr))))
        if s.leader == NONE:
            values.append(Value("last known leader", Text(or_none(s.last_leader))))
    return Bar("Controller", values)


def _lane(s, c, broker: int, lost: dict[int, Shown]) -> Lane:
    log = _log(s, broker)
    committed = {(offset, each) for offset, each in enumerate(log) if _is_read(s, each)}
    name = [Text(f"Broker {broker}", bold=True)]
    if c.racks < c.replicas:
        name.append(Text(f"rack {(broker - 1) % c.racks + 1}", "muted"))
    return Lane(
        lines=[
            name,
            [_role(s, broker)],
            [membership(broker in s.isr, "in the ISR", "out of the ISR")],
            [Text("eligible (ELR)" if broker in s.elr else "", "muted")],
        ],
        entries=entries_of(
            log,
            committed,
            lost if broker == s.leader else {},
            s.high_watermark,
            lambda offset, record: _is_somewhere(s, c, record),
        ),
        notes=difference(log, _log(s, s.leader), s.leader, broker, "the leader"),
        badge="dead" if broker not in s.running else "crown" if s.leader == broker else "",
        removed=_removed(s, broker),
    )


def _removed(s, broker: int) -> str:
    """The word for a record that is gone from this broker, unless the broker truncated it."""
    if broker in s.running:
        return ""
    return "gone" if broker in s.disk_is_new else "not flushed"


def _log(s, broker: int) -> Log:
    if broker == NONE:
        return []
    return [Shown(letter(each.value), each.epoch) for each in s.log[broker]]


def _is_read(s, record: Shown) -> bool:
    """Consumers read what is committed, as soon as it is."""
    return record.label in map(letter, members(s.read))


def _is_somewhere(s, c, record: Shown) -> bool:
    return any(
        letter(each.value) == record.label
        for broker in range(1, c.replicas + 1)
        for each in s.log[broker]
    )


def _role(s, broker: int) -> Text:
    if broker not in s.running:
        if broker in s.disk_is_new:
            return Text("down, new disk", "muted", bold=True)
        return Text("down, not cleanly" if broker in s.dirty else "stopped", "muted", bold=True)
    if broker not in s.unfenced:
        return Text("paused", "muted", bold=True)
    if s.leader == broker:
        return Text("leader", "accent", bold=True)
    return Text("without a leader" if s.leader == NONE else "follower", "muted")


def _lost(s) -> dict[int, Shown]:
    """What the leader lacks of what was promised, at the offset where it would stand."""
    if s.leader == NONE:
        return {}
    held = {each.value for each in s.log[s.leader]}
    promised = sorted({*members(s.acknowledged), *members(s.read)} - held)
    return {value - 1: Shown(letter(value)) for value in promised}


def _producers(s, lost: dict[int, Shown]) -> Card:
    lines = [
        Text(
            f"sent {list_text(map(letter, range(1, s.sent + 1)))}" if s.sent else "nothing sent",
            "muted",
        )
    ]
    acknowledged = list(members(s.acknowledged))
    if acknowledged:
        lines.append(Text(f"✓ acknowledged: {list_text(map(letter, acknowledged))}", "good"))
    failed = list_text(map(letter, members(s.failed)))
    if failed:
        lines.append(Text(f"told failed: {failed}", "muted"))
    gone = [value for value in acknowledged if value - 1 in lost]
    if gone:
        lines.append(Text(f"✗ the leader lacks {list_text(map(letter, gone))}", "bad"))
    return Card("Producers", lines)


def _consumers(s, lost: dict[int, Shown]) -> Card:
    seen = list(members(s.read))
    text = f"read {list_text(map(letter, seen))}" if seen else "nothing read"
    lines = [Text(text, "muted")]
    gone = [value for value in seen if value - 1 in lost]
    if gone:
        lines.append(Text(f"✗ can't read {list_text(map(letter, gone))} again", "bad"))
    return Card("Consumers", lines)
