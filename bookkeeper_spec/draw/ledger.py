"""The picture of one ledger: its metadata, its bookies, its clients, and what is under way.

An entry's border is solid once it was acknowledged to the writer's own caller; that is the promise.
It has a tick where the bookie knows that, from a LAC. If the ledger is closed before such an entry,
the entry is lost, whoever still stores it.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from bookkeeper_spec.draw.traffic import *
from bookkeeper_spec.model import FENCING as PHASE_FENCING
from bookkeeper_spec.model import NOT_STARTED, Status, fragment_of_entry, has_entry, needs_resend
from protocol_lab import smallest
from protocol_lab.drawing import *

LEGEND = (
    "solid border: acknowledged to the writer's caller · ✓: this bookie knows it, from a LAC"
    " · dashed: not acknowledged · cut off: beyond the end of"
    " the closed ledger · highlighted: changed just now"
)

STATUS = (
    "takes no part",
    "writes",
    "recovers",
    "closed the ledger",
    "stuck: invalid fragment",
    "withdrawn",
    "gave its recovery up",
)
"""What a client does, by its status."""

META_STATUS = ("none", "open", "in recovery", "closed")


@dataclass(frozen=True)
class Client:
    """A client in the picture: its name, its record, what it does, and further lines."""

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
        cards=[
            Card(each.name, [*_known(s, each), *each.lines], is_left=each is clients[0])
            for each in clients
        ],
        cards_name="Clients",
        messages=[_messages(group, traffic) for group in (ADDS, FENCING, READS)],
        columns=c.send_limit,
        axis="entry",
        removed="truncated" if hasattr(s, "b_term") else "lost",  # only terms truncate
        card_width=165,
        legend=LEGEND,
    )


def _metadata(s: Any) -> Bar:
    fragments = [s.meta_fragments.items[k] for k in range(s.meta_fragments.length)]
    shown = [
        f"from {entry_name(each.first_entry_id)}: {names(each.ensemble)}" for each in fragments
    ]
    last = entry_name(s.meta_last_entry) if s.meta_last_entry else "none: empty"
    return Bar(
        "Metadata (zk)",
        [
            Value("ledger", Text(META_STATUS[s.meta_status])),
            Value("last entry", Text(last if s.meta_status == "closed" else "not known yet")),
            Value("version", Text(str(s.meta_version))),
            *(
                Value(
                    f"fragment {number}",
                    Text(text),
                )
                for number, text in enumerate(shown or ["none"], 1)
            ),
        ],
    )


def _end(s: Any) -> Flag | None:
    if s.meta_status != "closed":
        return None
    return Flag(s.meta_last_entry, Text("the ledger ends here", bold=True))


def _bookie(s: Any, c: Any, bookie: int, acknowledged: int) -> Lane:
    return Lane(
        lines=[
            [Text(bookie_name(bookie), bold=True)],
            [_fencing(s, bookie)],
            [Text(lac_text(s.b_lac[bookie]), "muted"), *_limbo(s, bookie)],
            *_home(s, bookie),
        ],
        entries=[
            _entry(s, c, bookie, entry, acknowledged)
            for entry in range(1, c.send_limit + 1)
            if has_entry(s, bookie, entry)
        ],
        empty="no entries",
    )


def _home(s: Any, bookie: int) -> list[list[Text]]:
    """Where the bookie is, if new entries are not for it."""
    numbers = [
        str(k + 1)
        for k in range(s.meta_fragments.length)
        if bookie in s.meta_fragments.items[k].ensemble
    ]
    if str(s.meta_fragments.length) in numbers:
        return []
    return [
        [Text(f"in fragment {' and '.join(numbers)}" if numbers else "in no fragment", "muted")]
    ]


def _fencing(s: Any, bookie: int) -> Text:
    """Whether the bookie is fenced; or its term, in the protocol that fences by term."""
    if hasattr(s, "b_term"):
        return Text(f"term {s.b_term[bookie]}", "muted")
    fenced = bookie in s.b_fenced
    return Text("fenced" if fenced else "takes adds", "ink" if fenced else "muted")


def _limbo(s: Any, bookie: int) -> list[Text]:
    """Whether the bookie may have lost entries, in the protocol that has limbo."""
    if not hasattr(s, "b_limbo"):
        return []
    return [Text("in limbo", "muted", bold=True) if bookie in s.b_limbo else Text("")]


def _entry(s: Any, c: Any, bookie: int, entry: int, acknowledged: int) -> Entry:
    is_cut_off = s.meta_status == "closed" and entry > s.meta_last_entry
    promised = entry <= acknowledged
    detail = _data(s, c, bookie, entry) or ("cut off" if is_cut_off else "")
    return Entry(
        entry - 1,
        entry_name(entry),
        detail,
        detail,
        shade=None if is_cut_off else fragment_of_entry(s.meta_fragments, entry),
        committed=promised,
        known=entry <= s.b_lac[bookie],
        gone=entry_name(entry) if is_cut_off and promised else "",
    )


def _data(s: Any, c: Any, bookie: int, entry: int) -> str:
    """The data where they are not the entry's id: a value, or a mix-up."""
    data = smallest(s.b_entries[bookie].data[entry])
    if hasattr(s, "acked_values"):
        return value_name(c, data)
    return f"data {entry_name(data)}" if data != entry else ""


# --- Clients ---------------------------------------------------------------------------------


def _known(s: Any, client: Client) -> list[Text]:
    """The lines that every client has: what it does, its LAP and LAC, and where it is behind the
    metadata."""
    w = client.record
    tones = {"open": "accent", "in_recovery": "ink", "invalid": "muted"}
    status = Status.names[w.status]
    lines = [Text(client.does, tones.get(status, "muted"), status in tones, topic="does")]
    if w.curr_fragment.id == 0:
        return lines
    lines.append(Text(f"LAP {w.lap - 1} · {lac_text(w.lac)}", topic="marks"))
    if w.meta_version != s.meta_version:
        known = f"knows version {w.meta_version}" if w.meta_version else "old metadata"
        lines.append(Text(known, "muted", topic="metadata"))
    if w.curr_fragment.id != s.meta_fragments.length:
        text = f"fragment {w.curr_fragment.id}: {names(w.curr_fragment.ensemble)}"
        lines.append(Text(text, "muted", topic="fragment"))
    pending = {w.pending_add_ops.items[k].entry.id for k in range(w.pending_add_ops.size)}
    for entry in range(1, len(w.confirmed) + 1):
        if entry in pending or w.confirmed[entry]:
            text = f"{entry_name(entry)} confirmed: {names(w.confirmed[entry])}"
            lines.append(Text(text, "muted", topic=f"confirmed {entry}"))
    for k in range(w.pending_add_ops.size):
        op = w.pending_add_ops.items[k]
        if needs_resend(op, w.curr_fragment):
            text = f"{entry_name(op.entry.id)} was sent to {names(op.ensemble)}: send again"
            lines.append(Text(text, "muted", topic=f"again {op.entry.id}"))
    return lines


def _up_to(entry: int) -> str:
    return entry_name(entry) if entry else "none"


def _fenced(mine: Any) -> Text:
    return Text(f"fenced: {names(mine.fenced)}", topic="fenced")


def _where(mine: Any) -> list[Text]:
    """The fragments that a recovery would store, and the bookies that it reads from, unless they
    are those of the only fragment."""
    own = [mine.fragments.items[k] for k in range(mine.fragments.length)]
    told = []
    if len(own) > 1:
        shown = "; ".join(
            f"from {entry_name(each.first_entry_id)}: {names(each.ensemble)}" for each in own
        )
        told.append(Text(f"its fragments: {shown}", "muted", topic="fragments"))
    asked = mine.recovery_ensemble if hasattr(mine, "recovery_ensemble") else 0
    if asked and [asked] != [each.ensemble for each in own]:
        told.append(Text(f"reads from {names(asked)}", "muted", topic="reads"))
    return told


def acknowledged_text(entry: int) -> Text:
    """What a writer has told its own caller."""
    if entry == 0:
        return Text("acknowledged: none", "muted", topic="acknowledged")
    whole = entry_name(1) if entry == 1 else f"{entry_name(1)} to {entry_name(entry)}"
    return Text(f"✓ acknowledged: {whole}", "good", True, topic="acknowledged")


def _reading(record: Any) -> list[Text]:
    """What a recovery that waits for all answers has heard so far."""
    answers = [(record.has_entry, "has"), (record.no_such_entry, "has no")]
    if hasattr(record, "is_unknown"):
        answers.append((record.is_unknown, "does not know of"))
    name = entry_name(record.lap + 1)
    return [Text(f"{names(who)}: {verb} {name}", topic=verb) for who, verb in answers if who]


# --- Messages --------------------------------------------------------------------------------


def _messages(group: str, traffic: Traffic) -> Messages:
    items = [
        Message(
            f"{letter.source} → {letter.dest}: {letter.text}",
            " · ".join(filter(None, (letter.detail, "✗ lost" if fate == LOST else fate))),
            faded=fate == LOST,
            ends=(letter.source, letter.dest),
            short=letter.text,
        )
        for letter, fate in traffic.items()
        if letter.group == group and fate in (UNDER_WAY, LOST)
    ]
    return Messages(group, items, empty="none under way", limit=16, flies=True)


# --- v4_13 -----------------------------------------------------------------------------------

PHASES = ("", "fences", "is about to read", "waits for answers to its read", "writes back")


def describe_v4_13(s: Any, c: Any) -> Cluster:
    """The writer w1 and the recoverer w2."""
    w2 = s.w2
    does = PHASES[w2.recovery_phase] if w2.status == "in_recovery" else STATUS[w2.status]
    lines = []
    if w2.status == "in_recovery":
        lines.append(_fenced(w2))
        lines += _reading(w2)
    does_w1 = STATUS[s.w1.status]
    if s.w1.status == "nil" and s.w1.lap:
        does_w1 = "stopped: was refused"
    clients = [
        Client("w1, the writer", s.w1, does_w1, [acknowledged_text(s.w1.lac)]),
        Client("w2, the recoverer", w2, does, lines),
    ]
    return describe_ledger(s, c, "BookKeeper · 4.13", clients, s.w1.lac, of_v4_13(s))


draw_v4_13 = drawing_of(describe_v4_13)


# --- Protocols with any number of clients ------------------------------------------------------


def last_acknowledged(s: Any) -> int:
    """The last entry that a writer has acknowledged; what a recovery confirms is nobody's."""
    lacs = (s.clients[k].lac for k in range(1, len(s.clients) + 1) if not _recovers(s.clients[k]))
    return max(lacs, default=0)


def _recovers(record: Any) -> bool:
    return record.recovery_phase != NOT_STARTED


def describe_clients(
    s: Any,
    c: Any,
    title: str,
    recovery: Callable[[Any], tuple[str, list[Text]]],
    traffic: Traffic | None = None,
) -> Cluster:
    """Any number of clients; `recovery` says what a recovering one does, and what it knows."""
    clients = []
    for k in range(1, c.clients + 1):
        mine = s.clients[k]
        if _recovers(mine):
            phase, lines = recovery(mine)
            does = phase if mine.status == "in_recovery" else STATUS[mine.status]
            clients.append(Client(f"{client_name(k)}, a recoverer", mine, does, lines))
            continue
        name = f"{client_name(k)}, the writer" if mine.meta_version or mine.lap else client_name(k)
        lines = [acknowledged_text(mine.lac)] if mine.curr_fragment.id else []
        clients.append(Client(name, mine, STATUS[mine.status], lines))
    return describe_ledger(s, c, title, clients, last_acknowledged(s), traffic or of_clients(s))


def _protocol_recovery(mine: Any) -> tuple[str, list[Text]]:
    lines = [_fenced(mine)] if mine.recovery_phase == PHASE_FENCING else []
    lines += _where(mine)
    if mine.read_responses:
        name = entry_name(mine.curr_read_entry)
        lines.append(Text(f"{names(mine.read_responses)}: has no {name}", topic="has no"))
    if mine.last_recoverable_entry >= 0:
        last = _up_to(mine.last_recoverable_entry)
        lines.append(Text(f"last recoverable entry: {last}", topic="last"))
    if mine.recovery_phase == PHASE_FENCING:
        return "fences", lines
    if mine.curr_read_entry:
        return f"reads {entry_name(mine.curr_read_entry)}, writes back", lines
    return "is about to read" if mine.last_recoverable_entry < 0 else "writes back", lines


def _limbo_recovery(mine: Any) -> tuple[str, list[Text]]:
    lines = [
        _fenced(mine),
        *_where(mine),
        *_reading(mine),
    ]
    return PHASES[mine.recovery_phase], lines


def describe_protocol(s: Any, c: Any) -> Cluster:
    """Today's protocol."""
    return describe_clients(s, c, "BookKeeper · protocol", _protocol_recovery)


def describe_with_limbo(s: Any, c: Any) -> Cluster:
    """The protocol without the journal."""
    cluster = describe_clients(s, c, "BookKeeper · with limbo", _limbo_recovery)
    crashes = Value("crashes", Text(str(s.crashes)))
    return replace(
        cluster, bars=[replace(each, values=[*each.values, crashes]) for each in cluster.bars]
    )


draw_protocol = drawing_of(describe_protocol)
draw_with_limbo = drawing_of(describe_with_limbo)


# --- The proposal of a guaranteed write quorum -------------------------------------------------


def describe_guaranteed_write_quorum(s: Any, c: Any) -> Cluster:
    """Today's protocol with a LAFR beside every LAC."""
    title = "BookKeeper · guaranteed write quorum"
    return _with_lafr(
        s, describe_clients(s, c, title, _protocol_recovery, of_stamped_clients(s, c))
    )


def _with_lafr(s: Any, cluster: Cluster) -> Cluster:
    """Adds the LAFR to every bookie and client."""
    lanes = [
        replace(lane, lines=[*lane.lines, [Text(lafr_text(s.b_lafr[bookie]), "muted")]])
        for bookie, lane in enumerate(cluster.lanes, 1)
    ]
    cards = [
        replace(card, lines=[*card.lines, Text(lafr_text(s.clients[k].lafr), topic="lafr")])
        for k, card in enumerate(cluster.cards, 1)
    ]
    return replace(cluster, lanes=lanes, cards=cards)


draw_guaranteed_write_quorum = drawing_of(describe_guaranteed_write_quorum)


# --- The proposal of ledgers without an end ----------------------------------------------------


def _term_recovery(mine: Any) -> tuple[str, list[Text]]:
    lines = _where(mine)
    if mine.recovery_phase == PHASE_FENCING:
        return "fences", [Text(f"has its term: {names(mine.fenced)}", topic="fenced"), *lines]
    if mine.read_responses:
        name = entry_name(mine.curr_read_entry)
        lines.append(Text(f"{names(mine.read_responses)}: has no {name}", topic="has no"))
    if mine.curr_read_entry:
        return f"reads {entry_name(mine.curr_read_entry)}, writes back", lines
    if mine.trunc_entry:
        lines.append(Text(f"truncates after {entry_name(mine.trunc_entry)}", topic="truncates"))
        return "writes back", lines
    return "is about to read", lines


def describe_unbounded_ledgers(s: Any, c: Any) -> Cluster:
    """A ledger with terms."""
    title = "BookKeeper · unbounded ledgers"
    cluster = _with_lafr(s, describe_clients(s, c, title, _term_recovery, of_terms(s, c)))
    cards = [
        replace(card, lines=[*card.lines, Text(f"term {s.clients[k].term}", "muted", topic="term")])
        for k, card in enumerate(cluster.cards, 1)
    ]
    term = Value("term", Text(str(s.meta_term)))
    bars = [replace(each, values=[*each.values, term]) for each in cluster.bars]
    return replace(cluster, cards=cards, bars=bars)


draw_unbounded_ledgers = drawing_of(describe_unbounded_ledgers)
