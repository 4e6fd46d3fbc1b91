"""The picture of ledger chaining: the list, the ledgers, and what each client knows."""

from protocol_lab.drawing import Bar, Card, Cluster, Entry, Lane, Text, Value, drawing_of
from protocol_lab.explain.wording import words


def describe_chaining(s, c) -> Cluster:
    """The metadata store above, a lane of ledgers each for list, metadata and bookies, clients."""
    created = range(s.md_ledgers.length)
    listed = [s.md_llist.items[k] for k in range(s.md_llist.length)]
    stored = {each.id: each for each in (s.b_ledgers.items[k] for k in range(s.b_ledgers.size))}
    return Cluster(
        title="BookKeeper · ledger chaining",
        bars=[
            Bar(
                "Metadata store",
                [
                    Value("chosen leader", Text(f"client {s.md_leader}")),
                    Value("ledger list", Text(_list(listed))),
                    Value("version", Text(str(s.md_llist_version))),
                    Value("next", Text(f"L{s.md_next_lid}, e{s.next_entry_id}")),
                ],
            )
        ],
        lanes=[
            Lane(
                lines=[
                    [Text("Ledgers", bold=True)],
                    [Text("metadata of all", "muted")],
                    [Text("that were created", "muted")],
                ],
                entries=[_metadata(k, s.md_ledgers.items[k], listed) for k in created],
                empty="no ledger yet",
            ),
            Lane(
                lines=[
                    [Text("Bookies", bold=True)],
                    [Text("the entry of each", "muted")],
                    [Text("ledger, and fences", "muted")],
                ],
                entries=[_on_bookies(k, stored[k + 1]) for k in created if k + 1 in stored],
                empty="nothing is written",
            ),
        ],
        cards=[_client(s, client) for client in range(1, c.clients + 1)],
        cards_name="Clients",
        card_width=250,
        columns=min(c.ledger_limit - 1, c.ledger_slots, 4) or 1,
        axis="",
        legend="✓ solid border: in the ledger list, or with an entry · dashed: not"
        " · highlighted: changed just now",
    )


def _list(ledgers: list[int]) -> str:
    return ", ".join(f"L{each}" for each in ledgers) or "empty"


def _metadata(k: int, ledger, listed: list[int]) -> Entry:
    state = "open" if ledger.open else "closed"
    return Entry(
        k,
        f"L{ledger.id} v{ledger.version}",
        state,
        state,
        shade=2 if ledger.open else 7,
        committed=ledger.id in listed,
    )


def _on_bookies(k: int, ledger) -> Entry:
    fenced = "fenced" if ledger.fenced else ""
    return Entry(
        k,
        "empty" if ledger.entry < 0 else f"e{ledger.entry}",
        fenced,
        fenced,
        shade=1 if ledger.fenced else 0,
        committed=ledger.entry >= 0,
    )


def _client(s, client: int) -> Card:
    mine = s.c_state[client]
    role = "does not lead"
    if mine.leader:
        role = "leads" if s.md_leader == client else "believes that it leads"
    tone = "accent" if role == "leads" else "ink" if mine.leader else "muted"
    known = [mine.llist.items[k] for k in range(mine.llist.length)]
    lines = [Text(role, tone), Text(words(_STATUS[mine.status]))]
    if mine.llist_version >= 0:
        lines.append(Text(f"has read v{mine.llist_version}: {_list(known)}", "muted"))
    if mine.ledger.id:
        state = "open" if mine.ledger.open else "closed"
        lines.append(Text(f"its L{mine.ledger.id}: {state}, v{mine.ledger.version}", "muted"))
    return Card(f"Client {client}", lines)


_STATUS = (
    "waits",
    "has yet to read the metadata",
    "closes the last ledger",
    "creates a ledger",
    "appends its ledger to the list",
    "has an open ledger",
)

draw_ledger_chaining = drawing_of(describe_chaining)
