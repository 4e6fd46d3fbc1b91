"""The events of a step of the Kafka specs, for sequence diagrams.

They are derived from how the step changed the state, not from the action's name, so they also work
for a learner's own variant.
"""

from typing import Any

from protocol_lab.drawing import letter, or_none, set_text
from protocol_lab.model.layout import NONE
from protocol_lab.model.node_sets import members
from protocol_lab.model.step_text import Step
from protocol_lab.traces.events import (
    AT_ONCE,
    CRASH,
    DELIVERED,
    EVERYBODY,
    RESTART,
    SENT,
    Arrow,
    Event,
    Note,
)

CONTROLLER = "controller"


def broker_name(replica: int) -> str:
    """A broker's lifeline."""
    return f"broker {replica}"


# --- Logs without a protocol -------------------------------------------------------------------


def log_events(before, after, c, step: Step) -> list[Event]:
    """What was appended, copied and cut off, and which records nobody holds any more."""
    found: list[Event] = []
    for replica in range(1, c.replicas + 1):
        old, new = before.logs[replica], after.logs[replica]
        if new.end_offset > old.end_offset:
            record = letter(new.records[old.end_offset])
            source = step.args.get("source")
            if source:
                found.append(Arrow(AT_ONCE, broker_name(source), broker_name(replica), record))
            else:
                found.append(Note(broker_name(replica), f"writes {record}"))
        elif new.end_offset < old.end_offset:
            lost = old.end_offset - new.end_offset
            text = f"cuts off {lost} {'record' if lost == 1 else 'records'}"
            found.append(Note(broker_name(replica), text))
    gone = sorted(_held(before, c) - _held(after, c))
    return found + [Note(EVERYBODY, f"nobody holds {letter(each)} any more") for each in gone]


def _held(s, c) -> set[int]:
    """The records that stand in some log."""
    logs = [s.logs[replica] for replica in range(1, c.replicas + 1)]
    return {log.records[offset] for log in logs for offset in range(log.end_offset)}


# --- The truncation variants -------------------------------------------------------------------


def replication_events(before, after, c, step: Step) -> list[Event]:
    """Decisions on their way to the replicas, fetches, questions to the leader, ISR changes."""
    args = step.args
    if "request" in args:
        return _decision_arrives(before, after, step)
    if after.leader_and_isr_requests.length > before.leader_and_isr_requests.length:
        request = after.leader_and_isr_requests.items[before.leader_and_isr_requests.length]
        shown = or_none(request.leader), set_text(request.isr)
        return [_decision(SENT, EVERYBODY, request.leader_epoch, *shown)]
    if after.quorum_state.isr != before.quorum_state.isr:
        isr = f"ISR {set_text(after.quorum_state.isr)}"
        return [Arrow(AT_ONCE, broker_name(args["leader"]), CONTROLLER, isr)]
    if "follower" in args:
        return [_fetched(before, after, args["follower"], args["leader"])]
    return [
        Note(broker_name(replica), _local_change(before, after, replica))
        for replica in (args.get("replica") or args.get("leader"),)
        if replica
    ]


def _decision(kind: str, dest: str, epoch: int, leader: str, isr: str) -> Arrow:
    label = f"epoch {epoch}: leader {leader}, ISR {isr}"
    return Arrow(kind, CONTROLLER, dest, label, ("decision", epoch))


def _decision_arrives(before, after, step: Step) -> list[Event]:
    request = step.args["request"]
    replica = step.args.get("follower", request["leader"])
    isr = "{" + ", ".join(map(str, request["isr"])) + "}"
    arrived = _decision(
        DELIVERED, broker_name(replica), request["leader_epoch"], or_none(request["leader"]), isr
    )
    cut = _truncated(before.replica_log[replica], after.replica_log[replica])
    return [arrived, *([Note(broker_name(replica), cut)] if cut else [])]


def _fetched(before, after, follower: int, leader: int) -> Event:
    """A fetch and its answer, or the answer that the logs differ."""
    log = after.replica_log[follower]
    cut = _truncated(before.replica_log[follower], log)
    if cut or log.end_offset == before.replica_log[follower].end_offset:
        return Arrow(
            AT_ONCE, broker_name(leader), broker_name(follower), cut or "nothing to change"
        )
    record = log.records[log.end_offset - 1]
    text = f"{letter(record.id + 1)} e{record.epoch}, hw {after.replica_state[follower].hw}"
    return Arrow(AT_ONCE, broker_name(leader), broker_name(follower), text)


def _local_change(before, after, replica: int) -> str:
    old, new = before.replica_log[replica], after.replica_log[replica]
    if new.end_offset > old.end_offset:
        record = new.records[new.end_offset - 1]
        return f"writes {letter(record.id + 1)} e{record.epoch}"
    if after.replica_state[replica].hw != before.replica_state[replica].hw:
        return f"hw {after.replica_state[replica].hw}"
    return _truncated(old, new) or "changes nothing"


def _truncated(old, new) -> str:
    if new.end_offset >= old.end_offset:
        return ""
    return f"truncates to offset {new.end_offset}"


# --- The talk ----------------------------------------------------------------------------------


def unclean_election_events(before, after, c, step: Step) -> list[Event]:
    """Produce requests and their answers, fetches, deaths, elections, and changes of the ISR."""
    old, new = before.zk_state, after.zk_state
    found: list[Event] = []
    if "producer" in step.args:
        found.append(_produced(after, step))
    else:
        found += _fetched_messages(before, after, c)
    died = set(members(old.alive_replicas)) - set(members(new.alive_replicas))
    back = set(members(new.alive_replicas)) - set(members(old.alive_replicas))
    found += [Note(broker_name(replica), "dies", CRASH) for replica in sorted(died)]
    found += [Note(broker_name(replica), "is back", RESTART) for replica in sorted(back)]
    if new.leader_epoch != old.leader_epoch:
        lead = f"lead in epoch {new.leader_epoch - 1}"
        found.append(Arrow(AT_ONCE, CONTROLLER, broker_name(new.leader), lead))
    if new.isrs != old.isrs and not died and new.leader == old.leader:
        isr = f"ISR {set_text(new.isrs)}"
        found.append(Arrow(AT_ONCE, broker_name(new.leader), CONTROLLER, isr))
    elif new.isrs != old.isrs:
        found.append(Note(CONTROLLER, f"ISR {set_text(new.isrs)}"))
    if new.preferred_leader != old.preferred_leader:
        found.append(Note(CONTROLLER, f"prefers broker {new.preferred_leader}"))
    return found + _acknowledged(before, after)


def _produced(after, step: Step) -> Event:
    replica, producer = step.args["replica"], step.args["producer"]
    log = after.replica_states[replica].local_log
    epoch = log.items[log.length - 1].leader_epoch - 1
    text = f"{letter(producer)} e{epoch}, offset {log.length - 1}"
    return Arrow(AT_ONCE, f"producer {producer}", broker_name(replica), text)


def _fetched_messages(before, after, c) -> list[Event]:
    """What followers fetched or cut off, and that they follow now."""
    found: list[Event] = []
    leader = after.zk_state.leader
    for replica in range(1, c.replicas + 1):
        old, new = before.replica_states[replica], after.replica_states[replica]
        first, last = old.local_log.length, new.local_log.length - 1
        if last >= first:
            offsets = f"offset {first}" if first == last else f"offsets {first} to {last}"
            found.append(Arrow(AT_ONCE, broker_name(leader), broker_name(replica), offsets))
        elif new.local_log.length < old.local_log.length:
            text = f"follows broker {leader}, truncates to offset {new.local_log.length}"
            found.append(Note(broker_name(replica), text))
        elif new.ready_to_fetch and not old.ready_to_fetch:
            found.append(Note(broker_name(replica), f"follows broker {leader}"))
    return found


def _acknowledged(before, after) -> list[Event]:
    """The answers to producers whose messages are committed now."""
    leader = after.zk_state.leader
    answered = set(members(before.inflight_producers)) - set(members(after.inflight_producers))
    return [
        Arrow(AT_ONCE, broker_name(leader), f"producer {producer}", "committed")
        for producer in sorted(answered)
        if leader != NONE
    ]


# --- The asynchronous ISR ----------------------------------------------------------------------


def async_isr_leader(message: Any, c: Any) -> str:
    """The lifeline of the replica that leads."""
    return broker_name(c.leader)


def async_isr_events(before, after, c, step: Step) -> list[Event] | None:
    """Fetches and writes; requests and updates are declared as messages."""
    for replica in range(1, c.replicas + 1):
        end = after.leader_state.offsets[replica]
        if end > before.leader_state.offsets[replica]:
            if replica == c.leader:
                return [Note(broker_name(replica), f"writes offset {end - 1}")]
            text = f"offset {end - 1}"
            return [Arrow(AT_ONCE, broker_name(c.leader), broker_name(replica), text)]
    return None
