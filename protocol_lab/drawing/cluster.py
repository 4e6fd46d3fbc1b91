"""The content of a cluster's picture, as plain values; `cluster_picture` places and draws it.

Everything is given as text and numbers. What differs from the previous state has its previous text
(`was`) or the kind of difference (`mark`), so that a difference can be read and not only seen.
"""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Text:
    """A piece of text. tone: ink, muted (also for what is dead, out of sync or waits), accent
    (leads), good (a kept promise) or bad (a broken promise, and nothing else).

    `was`: the text before. `short`: the text as the `was` of a
    later picture says it, such as "3" for "epoch 3".

    topic: what a line of a card is about, for cards that do not always have the same lines: it is
    compared with the previous line of the same topic, otherwise with the one at the same place. The
    labels of flags are compared only by topic.
    """

    text: str
    tone: str = "ink"
    bold: bool = False
    was: str | None = None
    topic: str = ""
    short: str = ""


@dataclass(frozen=True)
class Value:
    """A label and its value in an information bar."""

    label: str
    value: Text


@dataclass(frozen=True)
class Bar:
    """One line of values above the lanes, such as the controller's state."""

    name: str
    values: list[Value]


@dataclass(frozen=True)
class Entry:
    """One record of a log, at its offset.

    `detail` is its second line and `short` the same for narrow boxes; `shade` is the number (epoch,
    term, ballot) that chooses the fill. committed: None for a box of which that can't be said;
    `known`: does this node know that it is? Its border says the former, its ✓ the latter.
    mark: "" or "new"; "committed" or "known" if it was just committed, or this was just learned;
    "changed" if another record was here; "truncated" or "lost" for one that is not here any more.
    `gone` names the other record, which was here or was lost; `word` is what is said of a lost
    one: another if it is kept elsewhere.
    """

    offset: int
    label: str
    detail: str = ""
    short: str = ""
    shade: int | None = None
    committed: bool | None = False
    known: bool = True
    mark: str = ""
    gone: str = ""
    word: str = "lost"

    @property
    def is_ticked(self) -> bool:
        return bool(self.committed) and self.known

    @property
    def is_here(self) -> bool:
        return self.mark not in ("truncated", "lost")


@dataclass(frozen=True)
class Flag:
    """A line before an offset, such as a high watermark."""

    offset: int
    label: Text


@dataclass(frozen=True)
class Lane:
    """One node: who it is, what it believes, and its log.

    The first line of `lines` is its name. badge: "", "crown" (leads), "ghost" (believes that it
    leads) or "dead"; `lines` say the same in words. `notes` are shown beside the log. `removed`, if
    given, is this lane's word for a record that is gone.
    """

    lines: list[list[Text]]
    entries: list[Entry] = field(default_factory=list)
    flags: list[Flag] = field(default_factory=list)
    notes: list[Text] = field(default_factory=list)
    badge: str = ""
    empty: str = "empty log"
    removed: str = ""

    @property
    def name(self) -> str:
        return self.lines[0][0].text


@dataclass(frozen=True)
class Card:
    """A client beside the lanes, on their right or left, and what was promised to it."""

    name: str
    lines: list[Text]
    is_left: bool = False

    @property
    def node(self) -> str:
        """Its name as messages have it: that of "w1, the writer" is "w1"."""
        return self.name.partition(",")[0]


@dataclass(frozen=True)
class Message:
    """A message in flight or a pending decision. mark: "" or "new"; `faded`: has no effect.
    `topic`: which one it is, if its texts change while it waits.

    `ends` are the names of sender and receiver, lanes or clients: if both are in the picture, it is
    drawn between them, with `short` as its label, and not in the list.
    """

    name: str
    detail: str = ""
    mark: str = ""
    faded: bool = False
    ends: tuple[str, str] | None = None
    short: str = ""
    topic: str = ""


@dataclass(frozen=True)
class Messages:
    """A named group of messages; beyond `limit` the first that are not new are only counted, as
    `folded` says. `flies`: if all have a place in the picture, there is no list of the others."""

    name: str
    items: list[Message]
    empty: str = "none"
    limit: int = 12
    folded: str = "older"
    flies: bool = False


@dataclass(frozen=True)
class Cluster:
    """One state of a protocol, ready to be laid out.

    `columns` is how many offsets have a place (more if a record or flag needs it); `axis` says what
    they count ("" for no numbers), and `first` is the number of the first one. `ticked`, `known`
    and `removed` are the words for a committed record, for one with a ✓, and for one that is gone;
    `line` is a watermark across all lanes. `alarms` say which promises are broken. `card_width` is
    that of the clients beside the lanes, in pixels; in a dense picture what a node says takes
    `lane_width`.
    """

    title: str = ""
    lanes: list[Lane] = field(default_factory=list)
    bars: list[Bar] = field(default_factory=list)
    line: Flag | None = None
    cards: list[Card] = field(default_factory=list)
    cards_name: str = ""
    messages: list[Messages] = field(default_factory=list)
    alarms: list[str] = field(default_factory=list)
    columns: int = 1
    axis: str = "offset"
    first: int = 0
    ticked: str = "committed"
    known: str = "known here"
    removed: str = "truncated"
    lane_width: float = 120
    card_width: float = 174
    legend: str = ""
