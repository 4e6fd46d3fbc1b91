"""One moment of a recorded run, drawn as the lessons draw theirs.

What lies on a bookie can only be asked when it runs, so only the last picture has it.
"""

from typing import Any

from protocol_lab.drawing import Bar, Card, Cluster, Entry, Lane, Text, Value


def describe(seen: dict[str, Any]) -> Cluster:
    """What the metadata say, which bookies run, and what the writer was promised."""
    last = [] if seen["last"] < 0 and seen["state"] != "CLOSED" else [str(seen["last"])]
    values = [Value("state", Text(seen["state"].lower().replace("_", " ")))]
    values += [Value("last entry", Text(each)) for each in last]
    promised = [
        Text(f"{each} is acknowledged", "good", topic=each) for each in seen["acknowledged"]
    ]
    refused = [Text(f"{each} failed", "bad", topic=each) for each in seen["failed"]]
    return Cluster(
        bars=[Bar("Ledger's metadata", values)],
        lanes=[_lane(bookie, seen) for bookie in seen["ensemble"]],
        cards=[Card("Writer A", promised + refused or [Text("nothing yet", "muted")])],
        cards_name="Clients",
        ticked="acknowledged",
        columns=3,
        axis="entry",
    )


def is_turn(before: dict[str, Any], after: dict[str, Any]) -> bool:
    """Has the ledger's state or its end changed, or what was promised?"""
    return any(before[name] != after[name] for name in ("state", "last", "acknowledged", "failed"))


def _lane(bookie: str, seen: dict[str, Any]) -> Lane:
    is_away = bookie in seen["away"]
    entries = seen["copies"].get(bookie, [])
    role = Text("away", "muted") if is_away else Text("there", "muted")
    return Lane(
        lines=[[Text(f"Bookie {bookie}", bold=True)], [role]],
        entries=[
            Entry(int(each[1:]), each, committed=each in seen["acknowledged"]) for each in entries
        ],
        badge="dead" if is_away else "",
        empty="no entries" if seen["copies"] else "",
    )
