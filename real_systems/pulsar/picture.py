"""One moment of a recorded run, drawn as the lessons draw theirs."""

from typing import Any

from protocol_lab.drawing import Bar, Cluster, Entry, Lane, Text, Value


def describe(seen: dict[str, Any]) -> Cluster:
    """What the cursor names, which ledgers compactions wrote, and who is served what.

    seen: `sent`, key and value of each message; `kept_from`, the number of the first that the topic
    still has; `acknowledged`; `served`, what a reader of the compacted topic got last, None if none
    has read yet; `named`, the ledger that the cursor names; `ledgers`, the id and state of each.
    """
    return Cluster(
        bars=[
            Bar("Compaction", [Value("the cursor names", _ledger(seen["named"])), *_states(seen)])
        ],
        lanes=[_topic(seen), _reader(seen)],
        columns=max(3, len(seen["sent"])),
        axis="message",
        first=1,
        ticked="promised",
        removed="gone",
    )


def is_turn(before: dict[str, Any], after: dict[str, Any]) -> bool:
    """Has a ledger come, gone or been named, is the topic trimmed, or is a reader served others?"""
    return any(before[name] != after[name] for name in ("named", "ledgers", "kept_from", "served"))


def _ledger(named: int | None) -> Text:
    return Text("nothing", "muted") if named is None else Text(f"ledger {named}", bold=True)


def _states(seen: dict[str, Any]) -> list[Value]:
    known = [Value(f"ledger {number}", Text(state.lower())) for number, state in seen["ledgers"]]
    if seen["named"] is not None and seen["named"] not in dict(seen["ledgers"]):
        known.append(Value(f"ledger {seen['named']}", Text("deleted", "bad")))
    return known


def _topic(seen: dict[str, Any]) -> Lane:
    return Lane(
        lines=[[Text("The topic", bold=True)]],
        entries=[
            Entry(
                number,
                value,
                detail=f"key {key}" if key else "no key",
                committed=value in seen["acknowledged"],
            )
            for number, (key, value) in enumerate(seen["sent"])
            if number >= seen["kept_from"] - 1
        ],
        empty="trimmed: no messages",
    )


def _reader(seen: dict[str, Any]) -> Lane:
    numbers = {value: number for number, (_, value) in enumerate(seen["sent"])}
    served = seen["served"]
    return Lane(
        lines=[[Text("Compacted reader", bold=True)]],
        entries=[
            Entry(numbers[value], value, committed=value in seen["acknowledged"])
            for value in served or []
        ],
        empty="has not read yet" if served is None else "gets nothing",
    )
