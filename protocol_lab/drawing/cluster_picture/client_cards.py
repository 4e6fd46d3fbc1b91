"""The clients of a cluster: beside its lanes, or under them."""

from protocol_lab.drawing import palette
from protocol_lab.drawing.arrangement import current, kept_height, measures, type_size
from protocol_lab.drawing.cluster import Card, Cluster, Text
from protocol_lab.drawing.cluster_picture.grid import MARGIN, Grid
from protocol_lab.drawing.cluster_picture.picture_text import close_part, highlight, open_part
from protocol_lab.drawing.svg import Svg, text_width, wrap


def draw_cards(svg: Svg, grid: Grid, cluster: Cluster, top: float, bottom: float) -> float:
    """The clients, on both sides of the lanes; each as high as its text. Returns where they end."""
    if not cluster.cards:
        return top
    if not any(card.is_left for card in cluster.cards):
        svg.text(grid.cards + 2, top - 8, cluster.cards_name, size=type_size(), fill=palette.MUTED)
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
    room = (grid.aside or grid.width) - 2 * MARGIN  # messages beside the lanes may reach below them
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
    svg.text(x + 10, name_at, card.name, size=type_size(), bold=True)
    for k, (line, text) in enumerate(lines):
        if text.was is not None:
            marked = text_width(line, type_size()) + 8
            highlight(svg, x + 6, y + head - 2 + pitch * k, marked, pitch, text)
        svg.text(
            x + 10,
            y + head + pitch - 6 + pitch * k,
            line,
            size=type_size(),
            fill=palette.TONES[text.tone if text.was is None else "ink"],
        )
    close_part(svg)
    return height


def _card_lines(card: Card, width: float) -> list[tuple[str, Text]]:
    """The card's text in lines that fit, each with the text that it is part of."""
    return [
        (line, text) for text in card.lines for line in wrap(text.text, width - 20, type_size())
    ]
