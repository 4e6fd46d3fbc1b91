"""The text alternative of a picture: one paragraph for screen readers."""

from dataclasses import replace

from protocol_lab.drawing.cluster import Bar, Card, Cluster, Entry, Lane, Messages, Text


def describe(cluster: Cluster) -> str:
    """Everything that the picture shows, in order, as sentences."""
    parts = [f"Broken: {alarm}." for alarm in cluster.alarms]
    parts += [_bar(bar) for bar in cluster.bars]
    parts += [_lane(lane, cluster) for lane in cluster.lanes]
    if cluster.line:
        parts.append(f"{_text(cluster.line.label)}: before {place(cluster.line.offset, cluster)}.")
    parts += [_card(card) for card in cluster.cards]
    parts += [_messages(group) for group in cluster.messages]
    return " ".join(parts) or "There is nothing to see."


def place(offset: int, cluster: Cluster) -> str:
    """A column in words: "offset 2"."""
    return f"{cluster.axis or 'place'} {cluster.first + offset}"


def entry_text(entry: Entry, cluster: Cluster) -> str:
    """One record in words."""
    where = place(entry.offset, cluster)
    what = " ".join(part for part in (entry.label, entry.detail) if part)
    if entry.mark == "lost":
        return f"{where}: {entry.word} {entry.gone or what}"
    if entry.mark == "truncated":
        return f"{where}: {cluster.removed}, was {entry.gone or what}"
    words = [what]
    if entry.committed is not None:
        words.append(cluster.ticked if entry.committed else f"not {cluster.ticked}")
    if entry.committed and not entry.known:
        words.append(f"not {cluster.known}")
    if entry.mark == "new":
        words.append("new")
    if entry.mark == "committed":
        words[1] = f"{cluster.ticked} just now"
    if entry.mark == "known":
        words.append(f"{cluster.known} since this step")
    if entry.mark == "changed":
        words.append(f"was {entry.gone}")
    elif entry.gone:
        words.append(f"{entry.word} here: {entry.gone}")
    return f"{where}: {', '.join(words)}"


def _bar(bar: Bar) -> str:
    values = ", ".join(f"{each.label} {_text(each.value)}".strip() for each in bar.values)
    return f"{bar.name}: {values}."


def _lane(lane: Lane, cluster: Cluster) -> str:
    head, *more = [" ".join(_text(piece) for piece in line) for line in lane.lines]
    parts = [f"{head}: {', '.join(line for line in more if line)}."]
    if lane.removed:
        cluster = replace(cluster, removed=lane.removed)
    if lane.entries:
        parts.append("; ".join(entry_text(entry, cluster) for entry in lane.entries) + ".")
    elif lane.empty:
        parts.append(f"{lane.empty}.".capitalize())
    parts += [f"{_text(each)}." for each in [*(flag.label for flag in lane.flags), *lane.notes]]
    return " ".join(parts)


def _card(card: Card) -> str:
    return f"{card.name}: {', '.join(_text(line) for line in card.lines)}."


def _messages(group: Messages) -> str:
    items = "; ".join(
        " ".join(part for part in (item.name, item.detail, item.mark) if part)
        for item in group.items
    )
    return f"{group.name}: {items or group.empty}."


def _text(text: Text) -> str:
    return text.text if text.was is None else f"{text.text} (was {text.was})"
