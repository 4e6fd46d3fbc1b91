"""Marks the differences between two states in a picture, for drawing code that describes one state.

    def describe(s, c):
        return Cluster(lanes=[...])

    spec.draw = drawing_of(describe)

The same function also describes the previous state. What differs at the same place is marked: texts
with what they were, records as new, changed, truncated or just committed, messages and broken links
as new. Flags and the watermark are compared if their labels have a topic.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import zip_longest
from typing import Any

from protocol_lab.drawing.cluster import Bar, Card, Cluster, Entry, Flag, Lane, Messages, Text
from protocol_lab.drawing.cluster_picture.placement import draw_cluster
from protocol_lab.errors import EvaluationError
from protocol_lab.explain.wording import spec_title
from protocol_lab.model.evaluation import kept
from protocol_lab.model.spec import Model
from protocol_lab.model.state_view import view
from protocol_lab.model.transitions import evaluate


def drawing_of(describe: Callable[[Any, Any], Cluster]) -> Callable[..., str]:
    """The function for `spec.draw`, from a function (s, c) that describes a state.

    The title and the alarms (the default invariants that are broken) are added.
    """

    def draw(model: Model, row: bytes, previous: bytes | None = None) -> str:
        def described(row: bytes) -> Cluster:
            key = describe, model.constants, row
            return kept(key, lambda: describe(view(model.layout, row), model.constants))

        cluster = described(row)
        if previous is not None:
            key = with_changes, describe, model.constants, row, previous
            before = described(previous)
            cluster = kept(key, partial(with_changes, cluster, before))
        title = cluster.title or spec_title(model.spec.name)
        alarms = broken_invariants(model, row)
        if alarms and previous is not None and not broken_invariants(model, previous):
            cluster = without_yellow(cluster)
        return draw_cluster(replace(cluster, title=title, alarms=alarms))

    return draw


def broken_invariants(model: Model, row: bytes) -> list[str]:
    """The default invariants that a state breaks, or that can't be computed in it, each with its
    reason, for a picture's alarms."""
    found = []
    for each in model.spec.invariants:
        if not each.by_default:
            continue
        try:
            key = evaluate, each.function, model.constants, row
            if reason := kept(key, partial(evaluate, model, row, each.function)):
                found.append(f"{each.name} is broken: {reason}")
        except EvaluationError as error:
            found.append(f"{each.name} can't be computed: {error}")
    return found


def with_changes(now: Cluster, before: Cluster) -> Cluster:
    """The current picture with its differences from the previous one marked."""
    shift = before.first - now.first  # of the columns, if the picture shows another part of a log
    return replace(
        now,
        lanes=[_lane(*pair, shift) for pair in _pairs(now.lanes, before.lanes)],
        line=_line(now.line, before.line),
        bars=[_bar(*pair) for pair in _pairs(now.bars, before.bars)],
        cards=[_card(*pair) for pair in _pairs(now.cards, before.cards)],
        messages=[_messages(*pair) for pair in _pairs(now.messages, before.messages)],
    )


def without_yellow(cluster: Cluster) -> Cluster:
    """A picture in which a promise breaks: of what has changed only the leader stays marked, so
    that the red is alone."""

    def quiet(text: Text) -> Text:
        return replace(text, was=None)

    def lane(lane: Lane) -> Lane:
        changed = [each for line in lane.lines for each in line if each.was is not None]
        stays = changed[:1] if lane.badge == "crown" else []
        lines = [[each if each in stays else quiet(each) for each in line] for line in lane.lines]
        return replace(lane, lines=lines, entries=[record(each) for each in lane.entries])

    def record(entry: Entry) -> Entry:
        if entry.mark == "changed":
            return replace(entry, mark="", gone="")
        return replace(entry, mark="") if entry.mark in ("new", "committed", "known") else entry

    def bar(bar: Bar) -> Bar:
        return replace(bar, values=[replace(each, value=quiet(each.value)) for each in bar.values])

    return replace(
        cluster,
        lanes=[lane(each) for each in cluster.lanes],
        bars=[bar(each) for each in cluster.bars],
        cards=[replace(each, lines=[quiet(line) for line in each.lines]) for each in cluster.cards],
    )


def _pairs(now: Sequence, before: Sequence) -> list[tuple[Any, Any]]:
    """Each part of the current picture with the previous one at its place, or None."""
    return list(zip_longest(now, before[: len(now)]))


def _text(now: Text, before: Text | None) -> Text:
    if before is None or now.was is not None or not before.text or not now.text:
        return now
    if (now.text, now.short) == (before.text, before.short):
        return now
    return replace(now, was=before.short or before.text)


def _line(now: Flag | None, before: Flag | None) -> Flag | None:
    return now and _flags([now], [before] if before else [])[0]


def _flags(now: list[Flag], before: list[Flag]) -> list[Flag]:
    topics = {each.label.topic: each.label for each in before if each.label.topic}
    return [replace(each, label=_text(each.label, topics.get(each.label.topic))) for each in now]


def _lane(now: Lane, before: Lane | None, shift: int) -> Lane:
    if before is None:
        return now
    lines = [
        [_text(*pair) for pair in _pairs(line, old or [])]
        for line, old in _pairs(now.lines, before.lines)
    ]
    return replace(
        now,
        lines=lines,
        entries=_entries(now.entries, before.entries, shift),
        flags=_flags(now.flags, before.flags),
    )


def _entries(now: list[Entry], before: list[Entry], shift: int) -> list[Entry]:
    moved = [replace(each, offset=each.offset + shift) for each in before if each.is_here]
    old = {each.offset: each for each in moved if each.offset >= 0}
    here = {each.offset for each in now}
    gone = [
        replace(each, mark="truncated", gone=f"{each.label} {each.short}".strip())
        for offset, each in old.items()
        if offset not in here
    ]
    return [_entry(each, old.get(each.offset)) for each in now] + gone


def _entry(now: Entry, before: Entry | None) -> Entry:
    if now.mark:
        return now
    if before is None:
        return replace(now, mark="new")
    if now.gone:
        return now
    if (now.label, now.detail) != (before.label, before.detail):
        return replace(now, mark="changed", gone=f"{before.label} {before.short}".strip())
    if now.committed and not before.committed:
        return replace(now, mark="committed")
    return replace(now, mark="known") if now.is_ticked and not before.is_ticked else now


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
    known = [each.topic or each for each in (before or now).items]
    items = []
    for each in now.items:
        if (each.topic or each) in known:
            known.remove(each.topic or each)
            items.append(each)
        else:
            items.append(replace(each, mark=each.mark or "new"))
    return replace(now, items=items)
