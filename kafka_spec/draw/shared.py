"""What the pictures of the Kafka specs share: records as boxes, and texts that mark a change."""

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import Any

from protocol_lab.drawing import Cluster, Entry, Text, Value, draw_cluster
from protocol_lab.drawing.changes import broken_invariants
from protocol_lab.drawing.svg import text_width
from protocol_lab.explain.wording import spec_title
from protocol_lab.language.node_sets import members
from protocol_lab.spec.layout import NONE
from protocol_lab.spec.spec import Model
from protocol_lab.spec.state_view import view

LEGEND = (
    "✓ solid border: committed · dashed: not committed · hatched: truncated just now"
    " · highlighted: changed just now"
)


@dataclass(frozen=True)
class Shown:
    """One record as it is drawn; equal records are drawn alike."""

    label: str
    epoch: int | None = None
    shade: int | None = None

    @property
    def short(self) -> str:
        return "" if self.epoch is None else f"e{self.epoch}"

    def __str__(self) -> str:
        return f"{self.label} {self.short}".strip()


Log = list[Shown]


class States:
    """The state to draw, and the previous one that it is compared with, if there is one."""

    def __init__(self, model: Model, row: bytes, previous: bytes | None):
        self.model, self.row, self.c = model, row, model.constants
        self.s = view(model.layout, row)
        self.old = None if previous is None else view(model.layout, previous)

    def before(self, shown: Callable[[Any], Any]) -> Any:
        """Something about the previous state; None without one."""
        return None if self.old is None else shown(self.old)

    def text(
        self, shown: Callable[[Any], Any], tone: str = "ink", bold: bool = False, name: str = ""
    ) -> Text:
        """Something about the state, after its name, marked with what it was before."""
        now, before = str(shown(self.s)), self.before(shown)
        was = str(before) if before not in (None, "") and now and str(before) != now else None
        return Text(name + now, tone, bold, was)

    def value(self, label: str, shown: Callable[[Any], Any]) -> Value:
        """The same for an information bar."""
        return Value(label, self.text(shown))

    def membership(self, r: int, isr: Callable[[Any], int], inside: str, outside: str) -> Text:
        """Is the replica in this set? In words, with a mark and a colour."""
        is_in = r in members(isr(self.s))
        was_in = self.before(lambda at: r in members(isr(at)))
        was = None if was_in in (None, is_in) else "in" if was_in else "out"
        return Text(f"● {inside}" if is_in else f"○ {outside}", "good" if is_in else "bad", was=was)

    def draw(self, title: str | None, **parts: Any) -> str:
        """The picture with these parts, the title and the alarms."""
        return draw_cluster(
            Cluster(
                title=title or spec_title(self.model.spec.name),
                show_title=title is not None,
                alarms=broken_invariants(self.model, self.row),
                **parts,
            )
        )


def entries_of(
    log: Log,
    before: Log | None,
    committed: Collection[tuple[int, Shown]],
    committed_before: Collection[tuple[int, Shown]],
    lost: dict[int, Shown],
) -> list[Entry]:
    """A log's boxes: records here, truncated since before, and lost although committed."""
    entries = []
    for offset in range(max(len(log), len(before or []), *(k + 1 for k in lost), 0)):
        old = before[offset] if before and offset < len(before) else None
        missing = lost.get(offset)
        if offset >= len(log):
            gone = missing or old
            if gone:
                mark = "lost" if missing else "truncated"
                entries.append(_entry(offset, gone, mark=mark, gone=str(gone)))
            continue
        here = log[offset]
        is_committed = (offset, here) in committed
        mark, gone = "", missing
        if before is not None and old is None:
            mark = "new"
        elif old is not None and old != here:
            mark, gone = ("", missing) if missing else ("changed", old)
        elif is_committed and (offset, here) not in committed_before:
            mark = "committed"
        entries.append(_entry(offset, here, is_committed, mark, str(gone) if gone else ""))
    return entries


def _entry(offset: int, shown: Shown, committed: bool = False, mark: str = "", gone: str = ""):
    detail = "" if shown.epoch is None else f"epoch {shown.epoch}"
    shade = shown.shade if shown.epoch is None else shown.epoch
    return Entry(offset, shown.label, detail, shown.short, shade, committed, mark, gone)


def difference(log: Log, leaders: Log, leader: int, r: int, name: str = "") -> list[Text]:
    """The first offset at which a follower's log differs from its leader's, if there is one."""
    if leader in (NONE, r):
        return []
    name = name or f"replica {leader}"
    for offset, record in enumerate(log):
        if offset >= len(leaders):
            return [Text(f"has offset {offset}, which {name} lacks", "warning")]
        if leaders[offset] != record:
            return [Text(f"differs from {name} at offset {offset}", "warning")]
    return []


def changed_width(text: str, before: str) -> float:
    """The width, in pixels, of a text that has just changed."""
    return text_width(text) + text_width(f"was {before}", 10) + 13


def widest_isr_change(name: str, replicas: int) -> float:
    """The width of an ISR that has just changed, after its name."""
    everyone = "{" + list_text(range(1, replicas + 1)) + "}"
    return changed_width(name + everyone, everyone)


def set_text(nodes: int) -> str:
    return "{" + list_text(members(nodes)) + "}"


def list_text(nodes: Iterable[int]) -> str:
    return ", ".join(str(node) for node in nodes)


def or_none(number: int, nothing: int = NONE) -> str:
    return "none" if number == nothing else str(number)


def offsets_text(offsets: list[int]) -> str:
    return f"offset{'s' if len(offsets) > 1 else ''} {list_text(offsets)}"
