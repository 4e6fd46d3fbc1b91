"""The picture: the controller, brokers with their logs and beliefs, and messages in flight.

A record is marked as committed below the high watermark of any broker that believes it leads, and
in all logs if its producer was told so. The controller's leader shows what it lacks of that.
"""

from functools import partial
from typing import Any

from kafka_spec.draw import LEGEND
from kafka_spec.kip_966.events import (
    alter_answer,
    alter_request,
    fetch_answer,
    fetch_request,
    register_answer,
    register_request,
)
from kafka_spec.kip_966.model import BrokerStatus, is_offline
from protocol_lab.drawing import *
from protocol_lab.model.layout import NONE
from protocol_lab.model.node_sets import members


def describe_kip_966(s: Any, c: Any) -> Cluster:
    """The controller's partition and what was promised; a lane for each broker; the messages."""
    brokers = range(1, c.broker_count + 1)
    committed = _committed(s, brokers)
    return Cluster(
        title="Kafka · KIP-966",
        bars=[_controller(s), _promised(s), *_left(s, c)],
        lanes=[_lane(s, c, broker, committed) for broker in brokers],
        messages=[_messages_in_flight(s)],
        columns=max(c.values, 2),
        lane_width=296,
        legend=LEGEND,
    )


draw_kip_966 = drawing_of(describe_kip_966)


# --- The controller ------------------------------------------------------------------------------


def _controller(s: Any) -> Bar:
    partition = s.con_partition_metadata
    values = [
        Value("leader", Text(or_none(partition.leader))),
        Value("leader epoch", Text(str(partition.leader_epoch - 1))),
        Value("ISR", Text(set_text(partition.isr))),
        Value("ELR", Text(set_text(partition.elr))),
        Value("last known ELR", Text(set_text(partition.last_known_elr))),
        Value("partition epoch", Text(str(partition.partition_epoch - 1))),
    ]
    if partition.adding or partition.removing:
        values.append(Value("adding", Text(set_text(partition.adding))))
        values.append(Value("removing", Text(set_text(partition.removing))))
    return Bar("Controller", values)


def _promised(s: Any) -> Bar:
    """What producers were told of their values."""
    waiting = [
        value for value in members(s.inv_sent) if value not in s.inv_pos_acked | s.inv_neg_acked
    ]
    return Bar(
        "Producers",
        [
            Value("waiting", Text(_values(waiting))),
            Value("acknowledged", Text(_values(members(s.inv_pos_acked)), "good")),
            Value("told failed", Text(_values(members(s.inv_neg_acked)), "muted")),
        ],
    )


def _values(values: Any) -> str:
    return ", ".join(map(letter, values)) or "none"


def _left(s: Any, c: Any) -> list[Bar]:
    """What the search's bounds limit, and how often it may still happen."""
    done = s.aux_ctrs
    return bounds_left(
        [
            ("lost logs", done.data_loss_shutdown_ctr, c.data_loss_shutdown_limit),
            ("other shutdowns", done.no_data_loss_shutdown_ctr, c.no_data_loss_shutdown_limit),
            ("expired sessions", done.fence_broker_ctr, c.fence_broker_limit),
            ("shrinks", done.leader_shrink_isr_ctr, c.leader_shrink_isr_limit),
            ("reassignments", done.reassignment_ctr, c.reassignment_limit),
        ]
    )


# --- Brokers -------------------------------------------------------------------------------------


def _lane(s: Any, c: Any, broker: int, committed: set[tuple[int, Shown]]) -> Lane:
    own, log = s.partition_metadata[broker], _log(s, broker)
    lost = _lost(s, broker)
    return Lane(
        lines=[
            [Text(f"Broker {broker}", bold=True), _epoch(s, broker)],
            [_life(s, broker) or _role(s, broker), *_fenced(s, broker)],
            [_membership(s, broker), *_asked(s, broker)],
            [_own_isr(s, broker), Text(_fetching(s, c, broker), "muted")],
        ],
        entries=entries_of(log, committed, lost, s.hwm[broker] - 1, partial(_can_still_lead, s)),
        flags=[Flag(s.hwm[broker] - 1, named("hw", s.hwm[broker] - 1, topic="hw"))],
        notes=difference(log, _log(s, own.leader), own.leader, broker, f"broker {own.leader}"),
        badge=_badge(s, broker),
    )


def _log(s: Any, broker: int) -> Log:
    """What a broker has; nothing for NONE, as where there is no leader."""
    if broker == NONE:
        return []
    return [Shown(letter(record.value), record.epoch - 1) for record in s.log[broker]]


def _epoch(s: Any, broker: int) -> Text:
    epoch = s.broker_state[broker].broker_epoch
    if epoch == 0:
        return Text("no clean-shutdown file", "muted", short="none")
    return Text(f"broker epoch {epoch}", "muted", short=str(epoch))


def _life(s: Any, broker: int) -> Text | None:
    """Said of a broker that does not run, which neither leads nor follows."""
    status: str = BrokerStatus.names[s.broker_state[broker].status]
    if status == "running":
        return None
    told = {"offline_clean": "down", "offline_dirty": "down: its log is lost"}.get(status, status)
    return Text(told, "muted" if is_offline(s, broker) else "ink", bold=is_offline(s, broker))


def _fenced(s: Any, broker: int) -> list[Text]:
    return [] if broker in s.con_unfenced else [Text("fenced")]


def _is_true_leader(s: Any, broker: int) -> bool:
    partition = s.con_partition_metadata
    return partition.leader == broker and (
        s.partition_metadata[broker].leader_epoch == partition.leader_epoch
    )


def _role(s: Any, broker: int) -> Text:
    epoch = s.partition_metadata[broker].leader_epoch - 1
    if s.partition_status[broker] == "leader":
        is_true = _is_true_leader(s, broker)
        text = "leader" if is_true else "believes it leads"
        return Text(f"{text}, epoch {epoch}", "accent" if is_true else "ink", bold=True)
    if s.partition_status[broker] == "follower":
        return Text(f"follows {s.partition_metadata[broker].leader}, epoch {epoch}", "muted")
    return Text("no leader known", "muted")


def _badge(s: Any, broker: int) -> str:
    if is_offline(s, broker):
        return "dead"
    if s.partition_status[broker] != "leader":
        return ""
    return "crown" if _is_true_leader(s, broker) else "ghost"


def _membership(s: Any, broker: int) -> Text:
    partition = s.con_partition_metadata
    if broker in partition.isr & partition.elr:
        return Text("● in ISR and ELR", "bad", short="in both")
    if broker in partition.elr:
        return Text("◐ eligible (ELR)", "accent", short="eligible")
    return membership(broker in partition.isr, "in ISR", "not in ISR")


def _own_isr(s: Any, broker: int) -> Text:
    """Said where it is not the controller's."""
    own = s.partition_metadata[broker].isr
    is_known = own == s.con_partition_metadata.isr
    return Text("") if is_known else named("its ISR", set_text(own), "muted")


def _asked(s: Any, broker: int) -> list[Text]:
    """What a leader waits for."""
    pending = s.partition_pending_ap[broker]
    return [Text(f"asks for {set_text(pending.request.isr)}", "muted")] if pending.epoch else []


def _fetching(s: Any, c: Any, broker: int) -> str:
    """What a leader knows of the others' logs, or from whom a follower waits for an answer."""
    others = [each for each in range(1, c.broker_count + 1) if each != broker]
    if s.partition_status[broker] == "leader":
        known = s.partition_replica_state[broker]
        ends = [f"{each} ends at {known[each].leo - 1}" for each in others if known[each].leo > 0]
        return "knows: " + ", ".join(ends) if ends else ""
    waits = [each for each in others if s.broker_fetchers[broker][each].pending_response]
    return f"fetches from {list_text(waits)}" if waits else ""


def _committed(s: Any, brokers: range) -> set[tuple[int, Shown]]:
    """The (position, record) below the high watermark of whoever believes that it leads."""
    found = {
        (position, record)
        for broker in brokers
        if s.partition_status[broker] == "leader"
        for position, record in enumerate(_log(s, broker)[: s.hwm[broker] - 1])
    }
    consumed = [Shown(letter(record.value), record.epoch - 1) for record in s.inv_consumed]
    return found | set(enumerate(consumed))


def _lost(s: Any, broker: int) -> dict[int, Shown]:
    """What the controller's leader lacks of what consumers have read; nothing for the others."""
    if s.con_partition_metadata.leader != broker:
        return {}
    log = _log(s, broker)
    consumed = [Shown(letter(record.value), record.epoch - 1) for record in s.inv_consumed]
    return {
        position: record
        for position, record in enumerate(consumed)
        if position >= len(log) or log[position] != record
    }


def _can_still_lead(s: Any, offset: int, record: Shown) -> bool:
    """Does a broker that can be elected without a loss have this record?"""
    partition = s.con_partition_metadata
    return any(
        (offset, record) in enumerate(_log(s, broker))
        for broker in members(partition.isr | partition.elr)
    )


# --- Messages ------------------------------------------------------------------------------------


def _messages_in_flight(s: Any) -> Messages:
    """Between brokers, and to and from the controller, which has no lane."""
    m = s.messages
    items = [
        *(
            Message(f"{each.source} → controller: {register_request(each)}")
            for each in m.register_requests
        ),
        *(
            Message(f"controller → {each.dest}: {register_answer(each)}")
            for each in m.register_responses
        ),
        *(
            Message(f"{each.source} → controller: {alter_request(each)}")
            for each in m.alter_requests
        ),
        *(Message(f"controller → {each.dest}: {alter_answer(each)}") for each in m.alter_responses),
    ]
    for bag, label in ((m.fetch_requests, fetch_request), (m.fetch_responses, fetch_answer)):
        for each in bag:
            ends = (f"Broker {each.source}", f"Broker {each.dest}")
            name = f"{each.source} → {each.dest}: {label(each)}"
            items.append(
                Message(name, f"epoch {each.leader_epoch - 1}", ends=ends, short=label(each))
            )
    return Messages("Messages in flight", items, limit=16, folded="more", flies=True)
