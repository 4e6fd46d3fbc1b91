"""Marks the differences between two states in a picture, for drawing code that describes one state.

    def describe(s, c):
        return Cluster(lanes=[...])

    spec.draw = drawing_of(describe)

The same function also describes the previous state. What differs at the same place is marked: texts
with what they were, records as new, changed, truncated or just committed, messages and broken links
as new.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import Any

from protocol_lab.drawing.cluster import Bar, Card, Cluster, Entry, Lane, Message, Messages, Text
from protocol_lab.drawing.cluster_picture.placement import draw_cluster
from protocol_lab.errors import EvaluationError
from protocol_lab.language.kept_results import kept
from protocol_lab.semantics.transitions import evaluate
from protocol_lab.spec.spec import Model
from protocol_lab.spec.state_view import view


def drawing_of(describe: Callable[[Any, Any], Cluster]) -> Callable[..., str]:
    """The function for `spec.draw`, from a function (s, c) that describes a state.

    The title and the alarms (the default invariants that are broken) are added.
    """

    def draw(
        model: Model, row: bytes, previous: bytes | None = None, title: str | None = None
    ) -> str:
        def described(row: bytes) -> Cluster:
            key = describe, model.constants, row
            return kept(key, lambda: describe(view(model.layout, row), model.constants))

        cluster = described(row)
        if previous is not None:
            cluster = with_changes(cluster, described(previous))
        name = title or cluster.title or model.spec.name.replace("_", " ")
        return draw_cluster(
            replace(
                cluster,
                title=name,
                show_title=title is not None,
                alarms=[*cluster.alarms, *broken_invariants(model, row)],
            )
        )

    return draw


def broken_invariants(model: Model, row: bytes) -> list[str]:
    """The default invariants that a state breaks, or that can't be computed in it, each with its
    reason, for a picture's alarms."""
    found = []
    for each in model.spec.invariants:
        if not each.by_default:
            continue
        try:
            if reason := evaluate(model, row, each.function):
                found.append(f"{each.name} is broken: {reason}")
        except EvaluationError as error:
            found.append(f"{each.name} can't be computed: {error}")
    return found


def with_changes(now: Cluster, before: Cluster) -> Cluster:
    """The current picture with its differences from the previous one marked."""
    return replace(
        now,
        lanes=[_lane(*pair) for pair in _pairs(now.lanes, before.lanes)],
        bars=[_bar(*pair) for pair in _pairs(now.bars, before.bars)],
        cards=[_card(*pair) for pair in _pairs(now.cards, before.cards)],
        messages=[_messages(*pair) for pair in _pairs(now.messages, before.messages)],
        cut_links=[
            each if each in before.cut_links else replace(each, mark="new")
            for each in now.cut_links
        ],
    )


def _pairs(now: Sequence, before: Sequence) -> list[tuple[Any, Any]]:
    """Each part of the current picture with the previous one at its place, or None."""
    return list(zip_longest(now, before[: len(now)]))


def _text(now: Text, before: Text | None) -> Text:
    if before is None or now.was is not None or not before.text or now.text in ("", before.text):
        return now
    return replace(now, was=before.text)


def _lane(now: Lane, before: Lane | None) -> Lane:
    if before is None:
        return now
    lines = [
        [_text(*pair) for pair in _pairs(line, old or [])]
        for line, old in _pairs(now.lines, before.lines)
    ]
    return replace(now, lines=lines, entries=_entries(now.entries, before.entries))


def _entries(now: list[Entry], before: list[Entry]) -> list[Entry]:
    old = {each.offset: each for each in before if each.is_here}
    here = {each.offset for each in now}
    gone = [
        replace(each, mark="truncated", gone=f"{each.label} {each.short}".strip())
        for offset, each in old.items()
        if offset not in here
    ]
    return [_entry(each, old.get(each.offset)) for each in now] + gone


def _entry(now: Entry, before: Entry | None) -> Entry:
    if now.mark or now.gone:
        return now
    if before is None:
        return replace(now, mark="new")
    if (now.label, now.detail) != (before.label, before.detail):
        return replace(now, mark="changed", gone=f"{before.label} {before.short}".strip())
    return replace(now, mark="committed") if now.committed and not before.committed else now


def _bar(now: Bar, before: Bar | None) -> Bar:
    if before is None:
        return now
    old = {each.label: each.value for each in before.values}
    values = [replace(each, value=_text(each.value, old.get(each.label))) for each in now.values]
    return replace(now, values=values)


def _card(now: Card, before: Card | None) -> Card:
    old = before.lines if before else []
    topics = {each.topic: each for each in old}
    lines = [
        _text(line, topics.get(line.topic) if line.topic else at_its_place)
        for line, at_its_place in _pairs(now.lines, old)
    ]
    return replace(now, lines=lines)


def _messages(now: Messages, before: Messages | None) -> Messages:
    known = list(before.items) if before else list(now.items)
    items = []
    for each in now.items:
        if each in known:
            known.remove(each)
            items.append(each)
        else:
            items.append(each if each.mark else _as_new(each))
    return replace(now, items=items)


def _as_new(message: Message) -> Message:
    return replace(message, mark="new")
