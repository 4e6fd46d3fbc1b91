"""What pictures of replicated logs share: logs as boxes, and texts about nodes and their sets."""

from collections.abc import Callable, Collection, Iterable
from dataclasses import replace
from typing import NamedTuple

from protocol_lab.drawing.cluster import Bar, Entry, Text, Value
from protocol_lab.model.layout import NONE
from protocol_lab.model.node_sets import members


class Shown(NamedTuple):
    """One record as it is drawn; equal records are drawn alike."""

    label: str
    epoch: int | None = None
    shade: int | None = None

    def box(self, offset: int, committed: bool = False, known: bool = True) -> Entry:
        """The record's box at an offset."""
        detail, short, shade = "", "", self.shade
        if self.epoch is not None:
            detail, short, shade = f"epoch {self.epoch}", f"e{self.epoch}", self.epoch
        return Entry(offset, self.label, detail, short, shade, committed, known)

    def __str__(self) -> str:
        return self.label if self.epoch is None else f"{self.label} e{self.epoch}"


Log = list[Shown]


def nowhere(offset: int, record: Shown) -> bool:
    """Nobody who can lead has it."""
    return False


def entries_of(
    log: Log,
    committed: Collection[tuple[int, Shown]] = (),
    lacking: dict[int, Shown] | None = None,
    hw: int | None = None,
    is_kept: Callable[[int, Shown], bool] = nowhere,
) -> list[Entry]:
    """A log's boxes: the records here, and the committed ones that are lacking here.

    hw: how many records are committed as far as this node knows; None: it knows of all. Lacking
    ones are lost only if nobody who can lead has them, as is_kept(offset, record) says; the others
    are cut off.
    """
    entries, lacking = [], lacking or {}
    for offset, record in enumerate(log):
        box = record.box(offset, (offset, record) in committed, hw is None or offset < hw)
        if offset in lacking:
            box = replace(box, gone=str(lacking[offset]))
        entries.append(box)
    for offset, record in lacking.items():
        if offset >= len(log):
            entries.append(replace(record.box(offset), mark="lost", gone=str(record)))
    return [
        replace(each, word="cut off")
        if each.gone and is_kept(each.offset, lacking[each.offset])
        else each
        for each in entries
    ]


def difference(log: Log, leaders: Log, leader: int, node: int, name: str) -> list[Text]:
    """The first offset at which a node's log differs from that of its leader, which has this name;
    nothing if there is no such offset, or no such leader."""
    if leader in (NONE, node):
        return []
    for offset, record in enumerate(log):
        if offset >= len(leaders):
            return [Text(f"has offset {offset}, which {name} lacks", "muted")]
        if leaders[offset] != record:
            return [Text(f"differs from {name} at offset {offset}", "muted")]
    return []


def membership(is_in: bool, inside: str, outside: str) -> Text:
    """Is a node in a set? In words, with a mark and a colour."""
    if is_in:
        return Text(f"● {inside}", "good", short="in")
    return Text(f"○ {outside}", "muted", short="out")


def named(name: str, value: object, tone: str = "ink", topic: str = "") -> Text:
    """A value after its name."""
    return Text(f"{name} {value}", tone, topic=topic, short=str(value))


def set_text(nodes: int) -> str:
    """A set of nodes: {1, 2}."""
    return "{" + list_text(members(nodes)) + "}"


def list_text(nodes: Iterable[object]) -> str:
    """Nodes, or whatever else, with commas between them."""
    return ", ".join(str(node) for node in nodes)


def or_none(number: int, nothing: int = NONE) -> str:
    """A number, or "none" for the one that means nothing."""
    return "none" if number == nothing else str(number)


def bounds_left(counters: Iterable[tuple[str, int, int]]) -> list[Bar]:
    """What the search's bounds limit, and how often each may still happen; from its name, how often
    it has happened, and the limit."""
    values = [
        Value(f"{name} left", Text(str(limit - count)))
        for name, count, limit in counters
        if limit > 0
    ]
    return [Bar("Bounds of the search", values)] if values else []
