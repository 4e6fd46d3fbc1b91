"""The groups of messages of a cluster: under its lanes, or beside them."""

from protocol_lab.drawing import palette
from protocol_lab.drawing.arrangement import current, kept_height, measures, type_size
from protocol_lab.drawing.cluster import Card, Cluster, Message, Messages, Text
from protocol_lab.drawing.cluster_picture.grid import (
    MARGIN,
    Grid,
    close_part,
    draw_tag,
    highlight,
    open_part,
    tag_width,
    words_width,
)
from protocol_lab.drawing.svg import Svg, total_width, wrap


def shown_messages(group: Messages) -> list[Message]:
    """The messages that are shown where there are more than the limit: the new ones, since the step
    was about them, and then the last ones; in their order."""
    order = sorted(range(len(group.items)), key=lambda k: (bool(group.items[k].mark), k))
    return [group.items[k] for k in sorted(order[-group.limit :])]


def draw_all_messages(svg: Svg, grid: Grid, groups: list[Messages], y: float) -> float:
    """The groups in rows, as many in one as there is room for. Returns where they end."""
    x, below, room = float(MARGIN), y, grid.width - MARGIN
    for group in groups:
        width = _group_width(group)
        if x > MARGIN and x + width > room:
            x, y = float(MARGIN), below
        end = draw_messages(svg, grid, group, y, x) + (0 if current().dense else 6)
        x, below = x + width + 24, max(below, end)
    return below


def _group_width(group: Messages) -> float:
    """The width of a group whose messages stand in one row."""
    shown = shown_messages(group)
    words = group.empty if not shown else "" if len(shown) == len(group.items) else group.folded
    head = words_width(group.name, bold=True) + words_width(words) + (90 if words else 10)
    return max(head, total_width(map(message_width, shown), 8))


def draw_messages(svg: Svg, grid: Grid, group: Messages, y: float, left: float = MARGIN) -> float:
    """Messages as boxes that flow from left to right; beyond the limit they are only counted."""
    svg.text(left, y + 13, group.name, bold=True)
    shown = shown_messages(group)
    folded = len(group.items) - len(shown)
    beside = f"{folded} {group.folded}, not shown" if folded else "" if shown else group.empty
    x = left + words_width(group.name, bold=True) + 10
    svg.text(x, y + 13, beside, fill=palette.MUTED)
    y += 18 if current().dense else 25
    if not shown:
        return y
    x, height = left, _message_height(shown)
    for item in shown:
        width = message_width(item)
        if x > left and x + width > grid.width - MARGIN:
            x, y = left, y + height + (6 if current().large else 8)
        open_part(svg, f"message {group.name} {item.name} {item.detail}", kind="message")
        _draw_message(svg, x, y, width, height, item)
        close_part(svg)
        x += width + 8
    return y + height + 4


def _message_height(items: list[Message]) -> float:
    """The height of the boxes of a group; for an audience they are as low as their words."""
    if not current().large:
        return measures().record
    return 36 if any(item.detail for item in items) else 22


def message_width(item: Message) -> float:
    """The width of a message's box."""
    mark = words_width(item.mark, bold=True) + 20 if item.mark else 0
    head = words_width(item.name, bold=True) + mark
    return max(head, words_width(item.detail)) + 20


def _draw_message(svg: Svg, x: float, y: float, width: float, height: float, item: Message) -> None:
    tone = palette.MUTED if item.faded else palette.INK
    border = {"stroke_dasharray": "2 3"} if item.faded else {}
    centre = y + height / 2
    svg.rect(x, y, width, height, rx=6, fill=palette.PANEL, stroke=palette.LINE, **border)
    name_at = centre + (4 if current().large and not item.detail else -3)
    svg.text(x + 10, name_at, item.name, bold=True, fill=tone)
    svg.text(x + 10, centre + 13, item.detail, fill=palette.MUTED)
    if item.mark:
        top = y - (3 if current().large else 6)  # lower where the group's name is close above it
        draw_tag(svg, x + width - tag_width(item.mark) - 6, top, item.mark, palette.ACCENT)


# --- Client cards ---------------------------------------------------------------------------------
#
# The clients of a cluster: beside its lanes, or under them.


def draw_cards(svg: Svg, grid: Grid, cluster: Cluster, top: float, bottom: float) -> float:
    """The clients, on both sides of the lanes; each as high as its text. Returns where they end."""
    if not cluster.cards:
        return top
    if not any(card.is_left for card in cluster.cards):
        svg.text(grid.cards + 2, top - 8, cluster.cards_name, fill=palette.MUTED)
    ends = [top]
    for x, is_left in ((MARGIN, True), (grid.cards, False)):
        cards = [each for each in cluster.cards if each.is_left is is_left]
        room = (bottom - top + measures().gap) / max(1, len(cards))
        y = top
        for card in cards:
            height = _draw_card(svg, x, y, card, cluster.card_width, room - measures().gap)
            y += max(height + measures().gap, room)
        ends.append(y - measures().gap)
    return max(ends)


def draw_cards_below(svg: Svg, grid: Grid, cluster: Cluster, y: float) -> float:
    """The clients under the lanes, from left to right. Returns where they end."""
    room = grid.width - 2 * MARGIN
    columns = min(len(cluster.cards), max(1, int((room + 8) // (cluster.card_width + 8))))
    width = (room + 8) / columns - 8
    for begin in range(0, len(cluster.cards), columns):
        row = cluster.cards[begin : begin + columns]
        y += 8 + max(
            _draw_card(svg, MARGIN + k * (width + 8), y, card, width) for k, card in enumerate(row)
        )
    return y - 8


def _draw_card(svg: Svg, x: float, y: float, card: Card, width: float, least: float = 0) -> float:
    """One client, of at least this height; returns its height."""
    lines = _card_lines(card, width)
    head = 20 if current().large else 26
    pitch = measures().line
    count = kept_height(f"lines of {card.name} at {width:.0f}", len(lines))
    height = max(least, head + pitch * count + (0 if current().large else 4))
    open_part(svg, f"card {card.name}")
    svg.rect(x, y, width, height, rx=10, fill=palette.PAPER, stroke=palette.LINE)
    name_at = y + head - (6 if current().large else 8)
    svg.text(x + 10, name_at, card.name, bold=True)
    for k, (line, text) in enumerate(lines):
        top, tone = y + head + pitch * k, text.tone
        if text.was is not None:
            highlight(svg, x + 6, top - 2, words_width(line) + 8, pitch, text)
            tone = "ink"
        svg.text(x + 10, top + pitch - 6, line, fill=palette.TONES[tone])
    close_part(svg)
    return height


def _card_lines(card: Card, width: float) -> list[tuple[str, Text]]:
    """The card's text in lines that fit, each with the text that it is part of."""
    return [
        (line, text) for text in card.lines for line in wrap(text.text, width - 20, type_size())
    ]
