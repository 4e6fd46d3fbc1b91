"""One moment of a recorded run, drawn as the lessons draw theirs."""

from collections.abc import Collection, Iterable
from typing import Any

from protocol_lab.drawing import Bar, Cluster, Entry, Lane, Text, Value


def describe(seen: dict[str, Any]) -> Cluster:
    """What the controller has decided, and what lies in the replicas' logs on disk.

    seen: the fields of `PartitionState`; `copies`, for each broker the records' values and epochs;
    `away`, the brokers that are paused or dead; `acknowledged`, the values that were.
    """
    copies = {int(broker): records for broker, records in seen["copies"].items()}
    return Cluster(
        bars=[
            controller(
                seen["leader"] or None,
                seen["epoch"],
                seen["isr"],
                seen["elr"],
                seen["last_known"],
            )
        ],
        lanes=[_lane(broker, copies, seen) for broker in copies],
        columns=max([3, len(seen["acknowledged"]), *map(len, copies.values())]),
        ticked="acknowledged",
        removed="gone",
    )


def controller(
    leader: int | str | None,
    epoch: int | None,
    isr: Iterable[int] | None,
    elr: Collection[int],
    last_known: Collection[int],
) -> Bar:
    """What the controller has decided; `leader` is None if nobody leads, and 0 is a broker.

    leader: or words, if it is not known. epoch, isr: None if it is not known.
    """
    values = [Value("leader", Text("none" if leader is None else str(leader)))]
    if epoch is not None:
        values.append(Value("epoch", Text(str(epoch))))
    values.append(Value("ISR", Text("not said" if isr is None else brokers_text(isr))))
    if elr or last_known:
        values.append(Value("ELR", Text(brokers_text(elr))))
        values.append(Value("last known leader", Text(brokers_text(last_known))))
    return Bar("Controller", values)


def is_turn(before: dict[str, Any], after: dict[str, Any]) -> bool:
    """Has another broker, or none, come to lead, is a record gone from a log, or was one
    acknowledged?"""
    gone = any(
        records != after["copies"][broker][: len(records)]
        for broker, records in before["copies"].items()
    )
    return gone or any(before[name] != after[name] for name in ("leader", "acknowledged"))


def describe_quorum(seen: dict[str, Any]) -> Cluster:
    """Who leads the controllers, and which topics lie in their metadata logs on disk.

    seen: `leader`, `epoch` and `voters` of the quorum, as it was described last, the leader 0 if
    there is none; `topics`, for each controller the topics' names and epochs; `away`, the nodes
    that are paused or dead.
    """
    topics = {int(controller): records for controller, records in seen["topics"].items()}
    values = [Value("leader", Text(str(seen["leader"] or "none")))]
    if seen["leader"]:
        values.append(Value("epoch", Text(str(seen["epoch"]))))
        values.append(Value("voters", Text(brokers_text(seen["voters"]))))
    return Cluster(
        bars=[Bar("Quorum", values)],
        lanes=[_controller_lane(controller, each, seen) for controller, each in topics.items()],
        columns=max([1, *map(len, topics.values())]),
        axis="",
        removed="gone",
    )


def is_quorum_turn(before: dict[str, Any], after: dict[str, Any]) -> bool:
    """Has another controller, or none, come to lead, or has a log got or lost a topic?"""
    return any(before[name] != after[name] for name in ("leader", "topics"))


def _controller_lane(
    controller: int, records: list[tuple[str, int | None]], seen: dict[str, Any]
) -> Lane:
    role, tone, badge = _role(controller == seen["leader"], controller in seen["away"])
    if role == "follower" and not seen["leader"]:
        role = "follows nobody"
    vote = "voter" if controller in seen["voters"] else "no voter"
    return Lane(
        lines=[
            [Text(f"Controller {controller}", bold=True)],
            [Text(role, tone)],
            [Text(vote, "muted")],
        ],
        entries=[
            _entry(number, f"topic {name}", epoch, None)
            for number, (name, epoch) in enumerate(records)
        ],
        badge=badge,
        empty="no topic",
    )


def _entry(place: int, value: str, epoch: int | None, committed: bool | None) -> Entry:
    """A record, with its leader epoch, which it does not have before 0.11."""
    detail, short = ("", "") if epoch is None else (f"epoch {epoch}", f"e{epoch}")
    return Entry(place, value, detail=detail, short=short, shade=epoch, committed=committed)


Records = list[tuple[str, int | None]]


def _lane(broker: int, copies: dict[int, Records], seen: dict[str, Any]) -> Lane:
    entries = [
        _entry(offset, value, epoch, value in seen["acknowledged"])
        for offset, (value, epoch) in enumerate(copies[broker])
    ]
    entries += _lost(broker, copies, seen)
    leads, is_away = broker == seen["leader"], broker in seen["away"]
    has_replica = entries or leads or broker in {*seen["isr"], *seen["elr"], *seen["last_known"]}
    empty = "empty log" if has_replica else ""
    return replica_lane(
        broker, leads, is_away, seen["isr"], seen["elr"], entries=entries, empty=empty
    )


def replica_lane(
    broker: int,
    leads: bool,
    is_away: bool,
    isr: Collection[int] | None,
    elr: Collection[int],
    **more: Any,
) -> Lane:
    """A replica: what its broker is, and what it is to the partition. isr: None if it is not known;
    more: further fields of the lane."""
    role, tone, badge = _role(leads, is_away)
    member = "in the ISR" if broker in (isr or ()) else "not in the ISR"
    if isr is None:
        member = "ISR not said"
    if broker in elr:
        member = "in the ELR"
    lines = [[Text(f"Broker {broker}", bold=True)], [Text(role, tone)], [Text(member, "muted")]]
    return Lane(**({"lines": lines, "entries": [], "badge": badge} | more))


def _lost(broker: int, copies: dict[int, Records], seen: dict[str, Any]) -> list[Entry]:
    """The acknowledged records that the leader lacks, after its own: lost if no broker has them,
    else cut off."""
    if broker != seen["leader"]:
        return []
    held = {each: {value for value, _ in records} for each, records in copies.items()}
    lacking = [value for value in seen["acknowledged"] if value not in held[broker]]
    return [
        Entry(
            len(copies[broker]) + place,
            value,
            mark="lost",
            gone=value,
            word="cut off" if any(value in each for each in held.values()) else "lost",
        )
        for place, value in enumerate(lacking)
    ]


def _role(leads: bool, is_away: bool) -> tuple[str, str, str]:
    """A node's role, the tone of the word, and its badge."""
    if is_away:
        return ("leader, away" if leads else "away"), "bad", "ghost" if leads else "dead"
    return ("leader", "accent", "crown") if leads else ("follower", "muted", "")


def brokers_text(nodes: Iterable[int]) -> str:
    """A set of brokers as the lessons write it: {1, 2}."""
    return "{" + ", ".join(map(str, sorted(nodes))) + "}"
