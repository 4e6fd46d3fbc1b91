"""The picture of a compacted topic.

The spec modules import this one, so that it imports only what is below them.
"""

from collections.abc import Callable
from typing import Any

from protocol_lab.drawing import Bar, Card, Cluster, Entry, Flag, Lane, Text, Value, drawing_of
from protocol_lab.explain.wording import letter
from protocol_lab.model.layout import NONE
from pulsar_spec.draw.events import cursor_text, horizon_text, key_text, message_text, value_text

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
    "solid border: a consumer that connects now gets this message · ✓: it gets it from here"
    " · dashed: it does not get it · shade: the key, –: none"
    " · hatched: deleted just now · highlighted: changed just now"
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
    served = _from_topic(s) | _from_ledger(s)
    return Cluster(
        title="Pulsar · topic compaction",
        bars=[_compactor(s, c), _broker(s, c)],
        lanes=[
            _topic(s, served),
            *(_ledger(s, ledger, is_left_over(s, ledger), served) for ledger in ledgers),
        ],
        line=_horizon(s),
        cards=[_consumer(s, c)] if c.model_consumer and c.consumer_reads != "nothing" else [],
        columns=c.message_sent_limit or 1,
        axis="position",
        ticked="served",
        known="from here",
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
        f"k{key}: {letter(s.phase_one_result.latest_for_key[key])}"
        for key in range(1, c.key_space + 1)
        if s.phase_one_result.latest_for_key[key]
    ]
    position = s.phase_one_result.read_position
    return Bar(
        "Compactor",
        [
            Value("next", Text(NEXT_STEPS[s.compactor_state], "accent")),
            Value("has read up to", Text(letter(position) if position else "nothing yet")),
            Value("latest of each key", Text(", ".join(latest) or "none yet")),
        ],
    )


def _broker(s, c) -> Bar:
    cursor = s.cursor
    values = [
        Value("context", Text(_ledger_name(s.compacted_topic_context))),
        Value("horizon", Text(horizon_text(s.compaction_horizon))),
        *([Value("crashes", Text(str(s.crash_times)))] if c.max_crash_times else []),
        Value("cursor on disk", Text(cursor_text(s, "nothing"))),
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
    return Flag(
        s.compaction_horizon, Text(f"horizon {horizon_text(s.compaction_horizon)}", bold=True)
    )


# --- Topic and ledgers ---------------------------------------------------------------------------


def _from_topic(s) -> set[int]:
    """The ids of the messages that a consumer which connects now gets from the topic."""
    begins = s.compaction_horizon if s.compacted_topic_context != NONE else 0
    return {each.id for each in s.messages if each.id > max(begins, _trimmed(s))}


def _from_ledger(s) -> set[int]:
    """The ids of those that it gets from the context's ledger."""
    if s.compacted_topic_context == NONE:
        return set()
    return {each.id for each in s.compacted_ledgers[s.compacted_topic_context].messages}


def _topic(s, served: set[int]) -> Lane:
    marks: dict[int, list[str]] = {}
    if s.cursor.compacted_topic_context:
        marks.setdefault(s.cursor.compaction_horizon, []).append("cursor")
    if s.phase_one_result.read_position:
        marks.setdefault(s.phase_one_result.read_position, []).append("phase 1")
    sent = list(s.messages)
    from_here = _from_topic(s)
    return Lane(
        lines=[
            [Text("Topic", bold=True)],
            [Text(f"{len(sent)} message{'' if len(sent) == 1 else 's'}", "muted")],
            *([[Text(f"up to {letter(_trimmed(s))} deleted", "muted")]] if _trimmed(s) else []),
        ],
        entries=[_entry(each, served, from_here) for each in sent if each.id > _trimmed(s)],
        flags=[Flag(place, Text(" · ".join(names), "muted")) for place, names in marks.items()],
        empty="all deleted" if sent else "nothing sent yet",
    )


def _trimmed(s) -> int:
    """Up to which message the topic is deleted, in the variant where it is."""
    return getattr(s, "trimmed", 0)


def _ledger(s, ledger: int, is_left_over: bool, served: set[int]) -> Lane:
    here = s.compacted_ledgers[ledger]
    is_read = ledger == s.compacted_topic_context
    from_here = _from_ledger(s) if is_read else set()
    return Lane(
        lines=[[Text(f"Ledger {ledger}", bold=True)], *_standing(s, ledger, is_left_over)],
        entries=[_entry(message, served, from_here) for message in here.messages],
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
    keyless = [letter(each.id) for each in again if each.key == NULL]
    keyed = [letter(each.id) for each in again if each.key != NULL]
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


def _entry(message, served: set[int], from_here: set[int]) -> Entry:
    return Entry(
        message.id - 1,
        letter(message.id),
        f"{key_text(message, '–')} {value_text(message)}",
        value_text(message),
        shade=message.key if message.key != NULL else None,
        committed=message.id in served,
        known=message.id in from_here,
    )


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
        return f"reads ledger {me.ledger}, then from position {me.topic_position - 1}"
    if getattr(s, "consumer_stage", 0):
        return f"next position: {me.position - 1}, asks the {STAGES[s.consumer_stage]}"
    return f"next position: {me.position - 1}"


def _received(s, received: list[int]) -> Text:
    """The last of these messages, and what is wrong with its coming now."""
    latest = received[-1]
    message = s.messages[latest - 1]
    text = message_text(message)
    if latest in received[:-1]:
        return Text(f"{text} again", "bad" if message.key == NULL else "ink")
    if latest < max(received):
        return Text(f"{text} older")
    return Text(text)
