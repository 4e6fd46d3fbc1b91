"""The metadata log as the controller's steps: is what it says of a partition a run of the rules?

A mapping for `real_systems.logged_runs`: records to steps of `controller_part`, and
their fields to what is visible of its states. Each record that speaks of the partition, of a broker
with a replica of it, or of a configuration or feature that the rules look at is a record of the
run; others are passed over.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from protocol_lab.checker.result import Verdict
from protocol_lab.interchange.effort import Effort
from protocol_lab.model.spec import Model
from protocol_lab.model.state_view import encode_plain, plain, view
from protocol_lab.model.transitions import initial
from real_systems.kafka.logs.answers.facts import ADD_A_DUMP, begins_late
from real_systems.kafka.logs.controller_part import spec
from real_systems.kafka.logs.histories import Cluster
from real_systems.kafka.logs.moments import NONE, NOT_YET, Moment, decided
from real_systems.kafka.logs.reading.metadata_log import (
    BROKER,
    FENCED,
    MIN_ISR,
    REGISTERS,
    SHUTS_DOWN,
    TOPIC,
    UNFENCED,
    UNREGISTERED,
    MetadataRecord,
    registrations,
)
from real_systems.logged_runs import LogAnswer, LogMapping, LogRecord, Shown, check_log, shown_text

_MOST_BROKERS, _MOST_MIN_ISR = 15, 99
"""A larger min.insync.replicas is as large as all the replicas that the rules have room for."""

_TIME = re.compile(r"^\[[^\]]*\] ")
_ONLY_DISKS = {"partitionId", "topicId", "directories"}
_FEATURES = {"eligible.leader.replicas.version": "elr", "metadata.version": "metadata_version"}

_SETTINGS = {
    "set_min_isr": MIN_ISR,
    "set_unclean": "unclean.leader.election.enable",
}
_OF_BROKERS = {
    "fence_broker": FENCED,
    "unfence_broker": UNFENCED,
    "begin_controlled_shutdown": SHUTS_DOWN,
    "unregister_broker": UNREGISTERED,
}
"""Actions, and what their records say."""

_SETS = ("isr", "elr", "adding", "removing")
"""Sets of brokers that moments and the spec's partition have under one name."""

_STEPS = {text: name for name, text in _OF_BROKERS.items()}

_LEAVING = [
    ("fence_broker", {}),
    ("register_broker", {"shutdown": "unclean"}),
    ("unregister_broker", {}),
]
"""The steps that write a change of the partition before what they say of the broker."""


def check_partition(
    cluster: Cluster, partition: str, eligible: str = "log", effort: Effort | None = None
) -> LogAnswer:
    """Is what the metadata log says of this partition a run of the controller's rules?

    eligible: whether there are eligible leader replicas, "on", "off", or as the log itself says.
    """
    reader = _Reader(cluster.about([partition]), partition)
    model = spec.bind(
        broker_count=max(min(len(reader.brokers), _MOST_BROKERS), 1),
        static_min_isr=_static(cluster, cluster.static_min_isr, 1),
        static_unclean=int(_static(cluster, cluster.static_unclean, False)),
        eligible=eligible,
    )
    missing = _missing(cluster, reader)
    if missing:
        return LogAnswer(model, Verdict.UNDECIDED, missing=missing)
    starts = reader.starts(model) if cluster.snapshot else ()
    mapping = LogMapping(model, reader.writes, starts=starts)
    gaps = ""
    if cluster.gap:
        one, other = cluster.gap
        gaps = (
            f"the records that are there are explained, but those between offsets {one} and {other}"
            " are missing. Add them."
        )
    return check_log(mapping, reader.records(), effort, gaps)


def _static(cluster: Cluster, known: dict[int, Any], otherwise: Any) -> Any:
    """What the controllers' own files say; if there are none, what any file does."""
    brokers = {
        each.data["brokerId"]
        for each in (*cluster.before, *cluster.records)
        if each.type == "REGISTER_BROKER_RECORD"
    }
    of_controllers = [value for node, value in known.items() if node not in brokers]
    return next(iter(of_controllers or known.values()), otherwise)


def _missing(cluster: Cluster, reader: "_Reader") -> str:
    if not cluster.has_metadata:
        return f"there is no metadata log. {ADD_A_DUMP}"
    if late := begins_late(cluster):
        return late
    if not reader.is_created:
        return f"the metadata log has no record that creates {reader.name}."
    if len(reader.brokers) > _MOST_BROKERS:
        return f"its replicas were on more than {_MOST_BROKERS} brokers."
    return ""


class _Reader:
    """Reads the metadata log for one partition.

    brokers: the ids of those that ever had a replica; the spec's broker k is the k-th of them.
    """

    def __init__(self, cluster: Cluster, name: str):
        self.name = name
        self._records = cluster.records
        self._before = cluster.before
        self._topic_name, _, index = name.rpartition("-")
        self._index = int(index)
        topics = [topic for topic, its in cluster.topics.items() if its == self._topic_name]
        self.topic = topics[-1] if topics else ""
        own = [each for each in [*self._before, *cluster.records] if self._is_own(each)]
        self.is_created = bool(own) and own[0].type == "PARTITION_RECORD"
        ids = {broker for each in own for broker in each.data.get("replicas") or ()}
        self.brokers = sorted(ids)
        self._moment: Moment | None = None
        self._registered: dict[int, int] = {}
        self._told = _told(cluster, name)

    def _is_own(self, record: MetadataRecord) -> bool:
        data = record.data
        return data.get("topicId") == self.topic and data.get("partitionId") == self._index

    def starts(self, model: Model) -> list[bytes]:
        """The states that the controller may be in behind the snapshot.

        All that the rules look at is in it, but for one thing: whether min.insync.replicas was
        changed and the ELR not yet cleared.
        """
        (initially,) = initial(model)
        state = plain(view(model.layout, initially.row))
        for record in self._before:
            self._restore(state, record)
        if model.constants.eligible != "log":
            state["elr"] = model.constants.eligible == "on"
        return [
            encode_plain(model.layout, state | {"may_clear": each}).ljust(model.layout.size, b"\0")
            for each in (False, True)
        ]

    def _restore(self, state: dict[str, Any], record: MetadataRecord) -> None:
        """Take in what a record of the snapshot says."""
        data = record.data
        match record.type:
            case "PARTITION_RECORD" if self._is_own(record):
                self._moment = now = decided(NOT_YET, record, 0, "")
                sets = {name: set(self._nodes(getattr(now, name))) for name in _SETS}
                state["con_partition_metadata"] |= sets | {
                    "replicas": set(self._nodes(now.replicas)),
                    "last_known_elr": set(self._nodes(now.last_known)),
                    "leader": next(iter(self._nodes([now.leader])), 0),
                }
                state |= {"exists": True, "order": self._nodes(now.replicas)}
                state["recovering"] = now.recovering
            case "REGISTER_BROKER_RECORD" if data["brokerId"] in self.brokers:
                self._registered[data["brokerId"]] = data.get("brokerEpoch", -1)
                node = {self._node(data["brokerId"])["broker"]}
                state["con_registered"] |= node
                state["con_unfenced"] |= set() if data.get("fenced", True) else node
                state["shutting_down"] |= node if data.get("inControlledShutdown") else set()
            case "FEATURE_LEVEL_RECORD" if data["name"] in _FEATURES:
                state[_FEATURES[data["name"]]] = data["featureLevel"]
            case "CONFIG_RECORD":
                for step in self._configuration("", data):
                    ((name, args),) = step.steps
                    state[f"{args['scope']}_{name.removeprefix('set_')}"] = args["value"]

    # --- What a step writes ----------------------------------------------------------------------

    def writes(self, before: Any, action: str, args: dict[str, Any], after: Any) -> list[Shown]:
        """The records that a step of the controller writes."""
        match action:
            case "create_partition":
                return [{"record": "partition", **self._seen(after), "new leader epoch": False}]
            case "set_min_isr" | "set_unclean":
                return [_config(_SETTINGS[action], args["scope"], args["value"])]
            case "set_feature":
                return [{"record": "feature", "name": args["feature"], "level": args["level"]}]
            case "clear_elr":
                return [{"record": "ELR cleared"}]
        seen, has_new_epoch = self._seen(after), after.con_partition_metadata.leader_epoch > 0
        changes = [{"record": "partition", **seen, "new leader epoch": has_new_epoch}]
        if not has_new_epoch and seen == self._seen(before):
            changes = []
        if "broker" not in args:
            return changes
        broker = {"broker": self.brokers[args["broker"] - 1]}
        if action in ("register_broker", "register_again"):
            is_fenced = action == "register_broker"
            return [*changes, {"record": REGISTERS, **broker, "fenced": is_fenced}]
        said = {"record": _OF_BROKERS[action], **broker}
        if action == "unregister_broker":
            return [*changes, said]
        said["known epoch"] = True
        return [*changes, said] if action == "fence_broker" else [said, *changes]

    def _seen(self, s: Any) -> Shown:
        partition = s.con_partition_metadata

        def ids(nodes: Any) -> tuple[int, ...]:
            return tuple(self.brokers[node - 1] for node in nodes)

        return _shown(
            replace(
                NOT_YET,
                replicas=ids(s.order),
                leader=self.brokers[partition.leader - 1] if partition.leader else NONE,
                last_known=ids(partition.last_known_elr),
                recovering=bool(s.recovering),
                **{name: ids(getattr(partition, name)) for name in _SETS},
            )
        )

    # --- What the log has ------------------------------------------------------------------------

    def records(self) -> Iterator[LogRecord]:
        """The records of the metadata log that speak of the partition, its brokers, and rules."""
        for record in self._records:
            place, data = record.place, record.data
            match record.type:
                case "PARTITION_RECORD" | "PARTITION_CHANGE_RECORD" if self._is_own(record):
                    yield from self._partition(place, record)
                case "CONFIG_RECORD":
                    yield from self._configuration(place, data)
                case "FEATURE_LEVEL_RECORD" if data["name"] in _FEATURES:
                    name, level = _FEATURES[data["name"]], data["featureLevel"]
                    shows = {"record": "feature", "name": name, "level": level}
                    step = ("set_feature", {"feature": name, "level": level})
                    yield LogRecord(place, shows, [step])
                case "CLEAR_ELR_RECORD" if data.get("topicName") in (self._topic_name, "", None):
                    if self._moment:
                        self._moment = replace(self._moment, elr=(), last_known=())
                    yield LogRecord(place, {"record": "ELR cleared"}, [("clear_elr", {})])
                case "REMOVE_TOPIC_RECORD" if data["topicId"] == self.topic:
                    return
            for broker, text in registrations(record):
                if broker in self.brokers:
                    yield self._of_broker(place, broker, text, data)

    def _node(self, broker: int) -> dict[str, int]:
        return {"broker": self.brokers.index(broker) + 1}

    def _nodes(self, brokers: Sequence[int]) -> list[int]:
        return [self.brokers.index(each) + 1 for each in brokers if each in self.brokers]

    def _partition(self, place: str, record: MetadataRecord) -> Iterator[LogRecord]:
        """Nothing for a replica that only changes its disk, as the rules know of no disks."""
        data, created = record.data, record.type == "PARTITION_RECORD"
        before = NOT_YET if created else self._moment or NOT_YET
        self._moment = after = decided(before, record, 0, place)
        changed = {name for name, value in data.items() if value is not None}
        if not created and changed <= _ONLY_DISKS:
            return
        view, old = _shown(after), _shown(before)
        has_new_epoch = not created and after.epoch > before.epoch
        shows = {"record": "partition", **view, "new leader epoch": has_new_epoch}
        order = self._nodes(after.replicas)
        creation = [("create_partition", {"count": len(order), "order": order})]
        steps = creation if created else self._changes(old, view)
        yield LogRecord(place, shows, steps, self._contradiction(after), _changes_text(old, view))

    def _changes(self, before: Shown, view: Shown) -> list[tuple[str, dict[str, Any]]]:
        steps = [
            *_LEAVING,
            ("alter_partition", {"isr": self._nodes(sorted(view["ISR"]))}),
            ("alter_partition", {"isr": self._nodes(sorted(view["ISR"] | before["removing"]))}),
            ("elect_preferred", {}),
            ("elect_uncleanly", {}),
        ]
        if view["replicas"] != before["replicas"] or view["removing"] != before["removing"]:
            target = self._nodes([b for b in view["replicas"] if b not in view["removing"]])
            steps.append(("reassign", {"count": len(target), "order": target}))
        return [each for k, each in enumerate(steps) if each not in steps[:k]]

    def _contradiction(self, now: Moment) -> str:
        """What a broker's own log says of this version of the partition, if that is otherwise."""
        for said in self._told.get(now.version, []):
            fields, node = said.fields, said.entry.node
            leader = node if said.kind == "leads" else fields["leader"]
            isr = {*fields.get("isr", now.isr)}
            if (leader, fields["epoch"], isr) != (now.leader, now.epoch, {*now.isr}):
                return (
                    f"Broker {node}'s own log has partition epoch {now.version} otherwise"
                    f" ({said.entry.place}): {_TIME.sub('', said.entry.text)[:200]}"
                )
        return ""

    def _of_broker(self, place: str, broker: int, text: str, data: dict[str, Any]) -> LogRecord:
        """What a record says of a broker."""
        shows, node = {"record": text, "broker": broker}, self._node(broker)
        if text == REGISTERS:
            shows["fenced"] = bool(data.get("fenced", True))
            self._registered[broker] = data.get("brokerEpoch", -1)
            name = "register_broker" if shows["fenced"] else "register_again"
            return LogRecord(place, shows, [(name, node)])
        steps = [(_STEPS[text], node)]
        if text == UNREGISTERED:
            return LogRecord(place, shows, [*steps, *_LEAVING])
        epoch = data.get("brokerEpoch", data.get("epoch"))
        shows["known epoch"] = epoch in (None, self._registered.get(broker))
        return LogRecord(place, shows, steps)

    def _configuration(self, place: str, data: dict[str, Any]) -> Iterator[LogRecord]:
        scopes = {(TOPIC, self._topic_name): "topic", (BROKER, ""): "cluster"}
        scope = scopes.get((data["resourceType"], data["resourceName"]))
        name, value = data["name"], data.get("value")
        if scope is None:
            return
        if name == MIN_ISR and (value is None or str(value).isdecimal()):
            number = min(int(value or 0), _MOST_MIN_ISR)
            step = ("set_min_isr", {"scope": scope, "value": number})
            yield LogRecord(place, _config(name, scope, number), [step])
        if name == "unclean.leader.election.enable":
            setting = "unset" if value is None else str(value).lower()
            if setting in ("unset", "false", "true"):
                step = ("set_unclean", {"scope": scope, "value": setting})
                yield LogRecord(place, _config(name, scope, setting), [step])


def _shown(now: Moment) -> Shown:
    """What is visible of a partition."""
    return {
        "replicas": list(now.replicas),
        "adding": {*now.adding},
        "removing": {*now.removing},
        "ISR": {*now.isr},
        "ELR": {*now.elr},
        "leader": now.leader,
        "last known leader": {*now.last_known},
        "may lack records": now.recovering,
    }


def _changes_text(before: Shown, view: Shown) -> str:
    """What a record changes, in words."""
    changed = [name for name in view if view[name] != before[name]]
    return shown_text(view, changed) if changed else "a change that changes nothing"


def _config(name: str, scope: Any, value: Any) -> Shown:
    return {"record": "configuration", "of the": scope, "name": name, "value": value}


def _told(cluster: Cluster, partition: str) -> dict[int, list]:
    """For each partition epoch what brokers say of it when they adopt it."""
    found: dict[int, list] = {}
    for kind in ("leads", "follows"):
        for said in cluster.said_of(kind, partition):
            if "version" in said.fields:
                found.setdefault(said.fields["version"], []).append(said)
    return found
