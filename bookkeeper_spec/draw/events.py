"""The events of a step for sequence diagrams: clients, bookies, and the metadata store.

They are derived from how the step changed the state: messages that were sent, arrived or were lost,
and what was written to the metadata. The participants' names are those of the protocol's own
diagrams.
"""

from typing import Any

from bookkeeper_spec.draw.ledger import last_acknowledged
from bookkeeper_spec.draw.traffic import *
from protocol_lab.model.step_text import Step
from protocol_lab.traces import events as telling
from protocol_lab.traces.events import AT_ONCE, CRASH, DELIVERED, SENT, Arrow, Event, Note

METADATA_STORE = "zk"


def bookie_names(c: Any) -> list[str]:
    """The bookies' lifelines."""
    return [bookie_name(bookie) for bookie in range(1, c.bookies + 1)]


# --- Messages --------------------------------------------------------------------------------


def message_events(before: Traffic, after: Traffic) -> list[Event]:
    """Deliveries come first, since they cause what is sent in the same step."""
    arrived = [
        Arrow(DELIVERED, each.source, each.dest, each.text, each)
        for each, fate in after.items()
        if before.get(each) == UNDER_WAY and fate == HANDLED
    ]
    sent = [
        Arrow(
            telling.LOST if fate == LOST else SENT,
            each.source,
            each.dest,
            each.text,
            None if fate == LOST else each,
        )
        for each, fate in after.items()
        if each not in before
    ]
    return [*arrived, *sent]


# --- The metadata ----------------------------------------------------------------------------


def metadata_events(before: Any, after: Any, client: str) -> list[Event]:
    """What a client wrote to the metadata store, if it did."""
    if after.meta_version == before.meta_version:
        return []
    return [Arrow(AT_ONCE, client, METADATA_STORE, _metadata_text(before, after))]


def _metadata_text(before: Any, after: Any) -> str:
    last = after.meta_fragments.items[after.meta_fragments.length - 1]
    if before.meta_status == "nil":
        return f"create ledger on {set_name(last.ensemble)}"
    if after.meta_status == "closed" and before.meta_status != "closed":
        end = after.meta_last_entry
        return f"close ledger at {entry_name(end)}" if end else "close ledger as empty"
    if after.meta_status == "open" and before.meta_status == "in_recovery":
        return f"open term {after.meta_term}"
    if after.meta_status == "in_recovery" and _fragments(before) == _fragments(after):
        return "mark as in recovery"
    if after.meta_fragments.length == before.meta_fragments.length:
        return f"fragment {last.id} is now on {set_name(last.ensemble)}"
    return f"add fragment from {entry_name(last.first_entry_id)} on {set_name(last.ensemble)}"


def _fragments(s: Any) -> list[tuple[int, int]]:
    items = (s.meta_fragments.items[k] for k in range(s.meta_fragments.length))
    return [(each.first_entry_id, each.ensemble) for each in items]


# --- Clients ---------------------------------------------------------------------------------


def acknowledgement(before: int, after: int, client: str) -> list[Event]:
    """A writer tells its own caller of the entries that have just been confirmed."""
    return [
        Note(client, f"acknowledges {entry_name(entry)} to its caller")
        for entry in range(before + 1, after + 1)
    ]


# --- Protocols with any number of clients ------------------------------------------------------


def client_lifelines(c: Any) -> list[str]:
    """The clients, the bookies and the metadata store."""
    clients = [client_name(client) for client in range(1, c.clients + 1)]
    return [*clients, *bookie_names(c), METADATA_STORE]


def client_events(before: Any, after: Any, c: Any, step: Step) -> list[Event]:
    """A step of a protocol with any number of clients."""
    client = client_name(step.args.get("client", 0))
    told = metadata_events(before, after, client)
    told += message_events(of_clients(before), of_clients(after))
    told += acknowledgement(last_acknowledged(before), last_acknowledged(after), client)
    if step.action.startswith("bookie_crashes"):
        told += [Note(bookie_name(step.args["bookie"]), "crashes, loses its entries", CRASH)]
    return told or [Note(client, step.action.replace("client_", "").replace("_", " "))]


def unbounded_events(before: Any, after: Any, c: Any, step: Step) -> list[Event]:
    """A step of the protocol whose ledgers are taken over, term by term."""
    client = client_name(step.args.get("client", 0))
    told = metadata_events(before, after, client)
    told += message_events(of_terms(before, c), of_terms(after, c))
    if after.acked_values != before.acked_values:
        told.append(Note(client, f"acknowledges {entry_name(step.args['entry'])} to its caller"))
    return told or [Note(client, step.action.replace("client_", "").replace("_", " "))]


# --- v4_13 -----------------------------------------------------------------------------------


def v4_13_lifelines(c: Any) -> list[str]:
    """Writer, recoverer, bookies and the metadata store, as in the diagrams of the defects."""
    return ["w1", "w2", *bookie_names(c), METADATA_STORE]


def v4_13_events(before: Any, after: Any, c: Any, step: Step) -> list[Event]:
    """A step of v4_13."""
    client = "w2" if step.action.startswith("w2") else "w1"
    told = metadata_events(before, after, client)
    told += message_events(of_v4_13(before), of_v4_13(after))
    told += acknowledgement(before.w1.lac, after.w1.lac, "w1")
    for name in ("w1", "w2"):
        was, now = getattr(before, name), getattr(after, name)
        if now.status == "invalid" and was.status != "invalid":
            told.append(Note(name, f"fragment from {entry_name(now.lac + 1)}: invalid"))
    if after.w2.recovery_phase > 1 and not before.w2.recovery_phase > 1:
        told.insert(0, Note("w2", f"fenced enough: {set_name(before.w2.fenced)}"))
    return told or [Note(client, step.action.removeprefix(f"{client}_").replace("_", " "))]
