"""The picture of one ledger: its metadata, its bookies, its clients, and what is under way.

Entry ids are those of the specifications, from 1. An entry's border is solid once it was
acknowledged to the writer's own caller; that is the promise. If the ledger is closed before such
an entry, the entry is lost, whoever still stores it.
"""

from dataclasses import dataclass
from typing import Any

from bookkeeper_spec.draw.traffic import (
    ADDS,
    FENCING,
    LOST,
    READS,
    UNDER_WAY,
    Traffic,
    bookie_name,
    entry_name,
    of_v4_13,
    set_name,
)
from bookkeeper_spec.ledger import (
    CLOSED,
    IN_RECOVERY,
    INVALID,
    NIL,
    OPEN,
    WITHDRAWN,
    fragment_of_entry,
    has_entry,
)
from bookkeeper_spec.writing import needs_resend
from protocol_lab.declaring.nodes import contains, members
from protocol_lab.drawing import (
    Bar,
    Card,
    Cluster,
    Entry,
    Flag,
    Lane,
    Message,
    Messages,
    Text,
    Value,
    drawing_of,
)

LEGEND = (
    "✓ solid border: acknowledged to the writer's caller · dashed: not · cut off: beyond the end of"
    " the closed ledger · highlighted: changed just now"
)

STATUS = {
    NIL: "takes no part",
    OPEN: "writes",
    IN_RECOVERY: "recovers",
    CLOSED: "closed the ledger",
    INVALID: "stuck: invalid fragment",
    WITHDRAWN: "withdrawn",
}
META_STATUS = {NIL: "none", OPEN: "open", IN_RECOVERY: "in recovery", CLOSED: "closed"}


@dataclass(frozen=True)
class Client:
    """A client as it is drawn: its name, its record, what it does, and its further lines."""

    name: str
    record: Any
    does: str
    lines: list[Text]


# --- The ledger ------------------------------------------------------------------------------


def describe_ledger(
    s: Any, c: Any, title: str, clients: list[Client], acknowledged: int, traffic: Traffic
) -> Cluster:
    """A ledger's state. `acknowledged` is the last entry that was acknowledged to a caller."""
    return Cluster(
        title=title,
        bars=[_metadata(s)],
        lanes=[_bookie(s, c, bookie, acknowledged) for bookie in range(1, c.bookies + 1)],
        line=_end(s),
        cards=[Card(each.name, [*_known(each), *each.lines]) for each in clients],
        cards_name="Clients",
        messages=[_messages(group, traffic) for group in (ADDS, FENCING, READS)],
        columns=c.send_limit,
        axis="entry",
        first=1,
        lane_width=120,
        card_width=250,
        legend=LEGEND,
    )


def _metadata(s: Any) -> Bar:
    fragments = [s.meta_fragments.items[k] for k in range(s.meta_fragments.length)]
    shown = [f"from e{each.first_entry_id} on {set_name(each.ensemble)}" for each in fragments] or [
        "none"
    ]
    last = f"e{s.meta_last_entry}" if s.meta_last_entry else "none: empty"
    return Bar(
        "Metadata (zk)",
        [
            Value("ledger", Text(META_STATUS[s.meta_status])),
            Value("last entry", Text(last if s.meta_status == CLOSED else "not known yet")),
            Value("version", Text(str(s.meta_version))),
            *(
                Value(
                    f"fragment {number}",
                    Text(text),
                )
                for number, text in enumerate(shown, 1)
            ),
        ],
    )


def _end(s: Any) -> Flag | None:
    if s.meta_status != CLOSED:
        return None
    return Flag(s.meta_last_entry, Text("the ledger ends here", bold=True))


def _bookie(s: Any, c: Any, bookie: int, acknowledged: int) -> Lane:
    numbers = [
        str(k + 1)
        for k in range(s.meta_fragments.length)
        if contains(s.meta_fragments.items[k].ensemble, bookie)
    ]
    home = f"in fragment {' and '.join(numbers)}" if numbers else "in no fragment"
    fenced = contains(s.b_fenced, bookie)
    return Lane(
        lines=[
            [Text(bookie_name(bookie), bold=True)],
            [Text(home, "ink" if numbers else "muted")],
            [Text("fenced" if fenced else "takes adds", "warning" if fenced else "muted")],
            [Text(f"LAC {s.b_lac[bookie]}", "muted")],
        ],
        entries=[
            _entry(s, bookie, entry, acknowledged)
            for entry in range(1, c.send_limit + 1)
            if has_entry(s, bookie, entry)
        ],
        empty="no entries",
    )


def _entry(s: Any, bookie: int, entry: int, acknowledged: int) -> Entry:
    is_cut_off = s.meta_status == CLOSED and entry > s.meta_last_entry
    promised = entry <= acknowledged
    data = [each for each in members(s.b_entries[bookie].data[entry]) if each != entry]
    detail = f"data {data[0]}" if data else "cut off" if is_cut_off else ""
    return Entry(
        entry - 1,
        entry_name(entry),
        detail,
        detail,
        shade=None if is_cut_off else fragment_of_entry(s.meta_fragments, entry),
        committed=promised,
        gone=entry_name(entry) if is_cut_off and promised else "",
    )


# --- Clients ---------------------------------------------------------------------------------


def _known(client: Client) -> list[Text]:
    """What every client has: what it does, and how far it is."""
    w = client.record
    tones = {OPEN: "accent", IN_RECOVERY: "warning", INVALID: "bad"}
    lines = [Text(client.does, tones.get(w.status, "muted"), bold=w.status in tones)]
    if w.curr_fragment.id == 0:
        return lines
    known = f"metadata of version {w.meta_version}" if w.meta_version else "metadata out of date"
    lines.append(Text(known, "muted"))
    lines.append(Text(f"pushed (LAP): {_up_to(w.lap)} · confirmed (LAC): {_up_to(w.lac)}"))
    lines.append(
        Text(
            f"writes to fragment {w.curr_fragment.id}: {set_name(w.curr_fragment.ensemble)}",
            "muted",
        )
    )
    pending = {w.pending_add_ops.items[k].entry.id for k in range(w.pending_add_ops.size)}
    for entry in range(1, len(w.confirmed)):
        if entry in pending or w.confirmed[entry]:
            state = "pending" if entry in pending else "done"
            text = f"{entry_name(entry)} {state}: confirmed by {_whom(w.confirmed[entry])}"
            lines.append(Text(text, "muted"))
    for k in range(w.pending_add_ops.size):
        op = w.pending_add_ops.items[k]
        if needs_resend(op, w.curr_fragment):
            text = f"{entry_name(op.entry.id)} was sent to {set_name(op.ensemble)}: send again"
            lines.append(Text(text, "warning"))
    return lines


def _up_to(entry: int) -> str:
    return entry_name(entry) if entry else "none"


def _whom(bookies: int) -> str:
    return set_name(bookies) if bookies else "none"


def acknowledged_text(entry: int) -> Text:
    """What a writer has told its own caller."""
    if entry == 0:
        return Text("nothing acknowledged yet", "muted")
    names = entry_name(1) if entry == 1 else f"{entry_name(1)} to {entry_name(entry)}"
    return Text(f"✓ acknowledged to its caller: {names}", "good", bold=True)


# --- Messages --------------------------------------------------------------------------------


def _messages(group: str, traffic: Traffic) -> Messages:
    items = [
        Message(
            f"{letter.source} → {letter.dest}: {letter.text}",
            " · ".join(filter(None, (letter.detail, "✗ lost" if fate == LOST else fate))),
            faded=fate == LOST,
        )
        for letter, fate in traffic.items()
        if letter.group == group and fate in (UNDER_WAY, LOST)
    ]
    return Messages(group, items, empty="none under way", limit=16)


# --- v4_13 -----------------------------------------------------------------------------------

PHASES = ("", "fences", "is about to read", "waits for answers to its read", "writes back")


def describe_v4_13(s: Any, c: Any) -> Cluster:
    """The writer w1 and the recoverer w2."""
    w2 = s.w2
    does = PHASES[w2.recovery_phase] if w2.status == IN_RECOVERY else STATUS[w2.status]
    lines = []
    if w2.status == IN_RECOVERY:
        lines.append(Text(f"fenced: {_whom(w2.fenced)}"))
        if w2.has_entry or w2.no_such_entry:
            lines.append(Text(f"has {entry_name(w2.lap + 1)}: {_whom(w2.has_entry)}"))
            lines.append(Text(f"has it not: {_whom(w2.no_such_entry)}"))
    does_w1 = STATUS[s.w1.status]
    if s.w1.status == NIL and s.w1.lap:
        does_w1 = "stopped: was refused"
    clients = [
        Client("w1, the writer", s.w1, does_w1, [acknowledged_text(s.w1.lac)]),
        Client("w2, the recoverer", w2, does, lines),
    ]
    return describe_ledger(s, c, "BookKeeper · 4.13", clients, s.w1.lac, of_v4_13(s))


draw_v4_13 = drawing_of(describe_v4_13)
