"""The picture of a compacted topic.

The spec modules import this one, so that it imports only what is below them.
"""

from collections.abc import Callable
from typing import Any

from protocol_lab.drawing import Bar, Card, Cluster, Entry, Flag, Lane, Text, Value, drawing_of
from protocol_lab.model.layout import NONE

NEXT_STEPS = (
    "phase 1, read the topic",
    "phase 2, write a ledger",
    "phase 2, update the context",
    "phase 2, update the horizon",
    "phase 2, persist the cursor",
    "phase 2, delete the old ledger",
)
HAS_WRITTEN = 2
"""From this phase on the largest ledger is that of the compaction under way."""

STAGES = ("", "ledger", "topic")
"""Whom a consumer that reads in two stages has asked, by its stage."""

READ, LEFT_OVER = "● consumers read it", "✗ nobody will delete it"
MOST_RECEIVED = 8
NULL = 0

LEGEND = (
    "✓ solid border: served to a consumer that connects now · dashed: not served"
    " · shade: the key · hatched: deleted just now · highlighted: changed just now"
)


def is_never_deleted(s, ledger: int) -> bool:
    """Will no compaction ever delete this ledger? Each deletes the last but one, at its end."""
    latest = _latest(s)
    spared = latest - 1 if s.compactor_state >= HAS_WRITTEN else latest
    return ledger < spared


def is_not_named(s, ledger: int) -> bool:
    """The same where the cursor names all ledgers: is this one not among them?"""
    return ledger not in s.cursor.ledgers


def describe(s, c, is_left_over: Callable[[Any, int], bool]) -> Cluster:
    """Compactor, broker and cursor above; topic and ledgers; the consumer, if one reads."""
    ledgers = range(1, c.compaction_times_limit + 1)
    return Cluster(
        title="Pulsar · topic compaction",
        bars=[_compactor(s, c), _broker(s, c)],
        lanes=[_topic(s), *(_ledger(s, ledger, is_left_over(s, ledger)) for ledger in ledgers)],
        line=_horizon(s),
        cards=[_consumer(s, c)] if c.model_consumer and c.consumer_reads != "nothing" else [],
        columns=c.message_sent_limit or 1,
        axis="message",
        first=1,
        ticked="served",
        removed="deleted",
        lane_width=291,
        legend=LEGEND,
    )


def is_unused(s, c, ledger: int) -> bool:
    """The same where the previous context's ledger may be deleted: does nothing name this one?"""
    if not c.deletes_previous_context:
        return is_never_deleted(s, ledger)
    named = {s.compacted_topic_context, s.previous_context, s.cursor.compacted_topic_context}
    if s.compactor_state >= HAS_WRITTEN:
        named.add(s.last_ledger)
    return ledger not in named


draw_compaction = drawing_of(lambda s, c: describe(s, c, is_never_deleted))
draw_compaction_with_named_ledgers = drawing_of(lambda s, c: describe(s, c, is_not_named))
draw_compaction_v4_2 = drawing_of(
    lambda s, c: describe(s, c, lambda s, ledger: is_unused(s, c, ledger))
)


# --- Who knows what ------------------------------------------------------------------------------


def _compactor(s, c) -> Bar:
    latest = [
        f"k{key}: {s.phase_one_result.latest_for_key[key]}"
        for key in range(1, c.key_space + 1)
        if s.phase_one_result.latest_for_key[key]
    ]
    return Bar(
        "Compactor",
        [
            Value("next", Text(NEXT_STEPS[s.compactor_state], "accent")),
            Value("has read up to", Text(str(s.phase_one_result.read_position or "nothing yet"))),
            Value("latest of each key", Text(", ".join(latest) or "none yet")),
        ],
    )


def _broker(s, c) -> Bar:
    cursor = s.cursor
    on_disk = f"ledger {cursor.compacted_topic_context}, horizon {cursor.compaction_horizon}"
    values = [
        Value("context", Text(_ledger_name(s.compacted_topic_context))),
        Value("horizon", Text(str(s.compaction_horizon))),
        *([Value("crashes", Text(str(s.crash_times)))] if c.max_crash_times else []),
        Value("cursor on disk", Text(on_disk if cursor.compacted_topic_context else "nothing")),
    ]
    if hasattr(cursor, "ledgers"):
        names = ", ".join(str(each) for each in cursor.ledgers)
        values.append(Value("named in it", Text(f"ledgers {names}" if names else "no ledger")))
    return Bar("Broker", values)


def _ledger_name(ledger: int) -> str:
    return f"ledger {ledger}" if ledger != NONE else "none"


def _horizon(s) -> Flag | None:
    if s.compacted_topic_context == NONE:
        return None
    return Flag(s.compaction_horizon, Text(f"horizon {s.compaction_horizon}", bold=True))


# --- Topic and ledgers ---------------------------------------------------------------------------


def _topic(s) -> Lane:
    marks: dict[int, list[str]] = {}
    if s.cursor.compacted_topic_context:
        marks.setdefault(s.cursor.compaction_horizon, []).append("cursor")
    if s.phase_one_result.read_position:
        marks.setdefault(s.phase_one_result.read_position, []).append("phase 1")
    sent = list(s.messages)
    begins = s.compaction_horizon if s.compacted_topic_context else 0
    return Lane(
        lines=[
            [Text("Topic", bold=True)],
            [Text(f"{len(sent)} message{'' if len(sent) == 1 else 's'}", "muted")],
            *([[Text(f"up to {_trimmed(s)} deleted", "muted")]] if _trimmed(s) else []),
        ],
        entries=[_entry(each, each.id > begins) for each in sent if each.id > _trimmed(s)],
        flags=[Flag(place, Text(" · ".join(names), "muted")) for place, names in marks.items()],
        empty="all of it is deleted" if sent else "nothing sent yet",
    )


def _trimmed(s) -> int:
    """Up to which message the topic is deleted, in the variant where it is."""
    return getattr(s, "trimmed", 0)


def _ledger(s, ledger: int, is_left_over: bool) -> Lane:
    here = s.compacted_ledgers[ledger]
    is_read = ledger == s.compacted_topic_context
    return Lane(
        lines=[[Text(f"Ledger {ledger}", bold=True)], *_standing(s, ledger, is_left_over)],
        entries=[_entry(message, is_read) for message in here.messages],
        notes=_served_again(s, ledger),
        badge="dead" if here.exists and is_left_over and not is_read else "",
        empty="empty ledger" if here.exists else "",
    )


def _served_again(s, ledger: int) -> list[Text]:
    """Which messages of the context's ledger are also served from the topic, after the horizon."""
    if ledger != s.compacted_topic_context:
        return []
    messages = s.compacted_ledgers[ledger].messages
    again = [each for each in messages if each.id > s.compaction_horizon]
    keyless = [str(each.id) for each in again if each.key == NULL]
    keyed = [str(each.id) for each in again if each.key != NULL]
    return [
        *([Text(f"✗ served again from the topic: {', '.join(keyless)}", "bad")] if keyless else []),
        *([Text(f"served again from the topic: {', '.join(keyed)}")] if keyed else []),
    ]


def _standing(s, ledger: int, is_left_over: bool) -> list[list[Text]]:
    """What becomes of a ledger, in one line or two."""
    if not s.compacted_ledgers[ledger].exists:
        named = s.compacted_topic_context, s.cursor.compacted_topic_context, s.consumer.ledger
        was_there = ledger < _latest(s) or ledger in named
        return [[Text("deleted" if was_there else "not there", "muted")]]
    lines = []
    if ledger == s.compacted_topic_context:
        lines.append([Text(READ, "good")])
    elif not is_left_over and ledger == _latest(s):
        lines.append([Text("○ not known yet", "muted")])
    if is_left_over:
        lines.append([Text(LEFT_OVER, bold=True)])
    elif ledger < _latest(s):
        lines.append([Text("will be deleted", "muted")])
    return lines


def _latest(s) -> int:
    """The largest ledger that exists."""
    return max(
        (
            ledger
            for ledger in range(1, len(s.compacted_ledgers) + 1)
            if s.compacted_ledgers[ledger].exists
        ),
        default=0,
    )


def _entry(message, is_read: bool) -> Entry:
    return Entry(
        message.id - 1,
        _key(message.key),
        f"value {message.value}" if message.value != NULL else "null",
        f"v{message.value}" if message.value != NULL else "null",
        shade=message.key if message.key != NULL else None,
        committed=is_read,
    )


def _key(key: int) -> str:
    return f"k{key}" if key != NULL else "no key"


# --- The consumer --------------------------------------------------------------------------------


def _consumer(s, c) -> Card:
    """Where the consumer is, and what it has received, the latest last."""
    me = s.consumer
    received = list(me.received)
    lines = [
        Text(_place(s), "accent" if me.connected else "muted"),
        Text(f"{s.consume_times} reading{'' if s.consume_times == 1 else 's'} done", "muted"),
    ]
    if me.ledger != NONE and not s.compacted_ledgers[me.ledger].exists:
        lines.append(Text("✗ its ledger was deleted", "bad"))
    if len(received) > MOST_RECEIVED:
        lines.append(Text(f"{len(received) - MOST_RECEIVED} earlier ones", "muted"))
    for k in range(max(0, len(received) - MOST_RECEIVED), len(received)):
        lines.append(_received(s, received[: k + 1]))
    return Card("Consumer", lines)


def _place(s) -> str:
    me = s.consumer
    if not me.connected:
        return "not connected"
    if me.ledger != NONE:
        return f"reads ledger {me.ledger}, then from {me.topic_position}"
    if getattr(s, "consumer_stage", 0):
        return f"next message: {me.position}, asks the {STAGES[s.consumer_stage]}"
    return f"next message: {me.position}"


def _received(s, received: list[int]) -> Text:
    """The last of these messages, and what is wrong with its coming now."""
    latest = received[-1]
    message = s.messages[latest - 1]
    value = f"value {message.value}" if message.value != NULL else "null"
    text = f"{latest}: {_key(message.key)} {value}"
    if latest in received[:-1]:
        return Text(f"{text} again", "bad" if message.key == NULL else "ink")
    if latest < max(received):
        return Text(f"{text} older")
    return Text(text)
