"""The metadata log as the controller's steps: is what it says of a partition a run of the rules?

A mapping for `real_systems.logged_runs`: records to steps of `controller_part`, and
their fields to what is visible of its states. Each record that speaks of the partition, of a broker
with a replica of it, or of a configuration or feature that the rules look at is a record of the
run; others are passed over.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from protocol_lab.checker.result import Verdict
from protocol_lab.interchange.effort import Effort
from protocol_lab.model.spec import Model
from protocol_lab.model.state_view import encode_plain, plain, view
from protocol_lab.model.transitions import initial
from real_systems.kafka.logs.answers.facts import ADD_A_DUMP, begins_late
from real_systems.kafka.logs.controller_part import spec
from real_systems.kafka.logs.histories import Cluster
from real_systems.kafka.logs.moments import NONE
from real_systems.kafka.logs.reading.metadata_log import MetadataRecord
from real_systems.logged_runs import LogAnswer, LogMapping, LogRecord, Shown, check_log, shown_text

_TOPIC, _BROKER = 2, 4
"""A configuration's resource types."""

_MOST_BROKERS, _MOST_MIN_ISR = 15, 99
"""A larger min.insync.replicas is as large as all the replicas that the rules have room for."""

_ONLY_DISKS = {"partitionId", "topicId", "directories"}
_FEATURES = {"eligible.leader.replicas.version": "elr", "metadata.version": "metadata_version"}

_FENCED, _UNFENCED, _SHUTS_DOWN = "is fenced", "is unfenced", "begins a controlled shutdown"


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
    return check_log(mapping, reader.records(), effort, gaps=_gap_text(cluster))


def _static(cluster: Cluster, known: dict[int, Any], otherwise: Any) -> Any:
    """What the controllers' own files say; if there are none, what any file does."""
    before = cluster.snapshot.records if cluster.snapshot else []
    brokers = {
        each.data["brokerId"]
        for each in [*before, *cluster.records]
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


def _gap_text(cluster: Cluster) -> str:
    if cluster.gap is None:
        return ""
    one, other = cluster.gap
    return (
        f"the records that are there are explained, but those between offsets {one} and {other} are"
        " missing. Add them."
    )


class _Reader:
    """Reads the metadata log for one partition.

    brokers: the ids of those that ever had a replica; the spec's broker k is the k-th of them.
    """

    def __init__(self, cluster: Cluster, name: str):
        self.name = name
        self._records = cluster.records
        self._before = cluster.snapshot.records if cluster.snapshot else []
        self._topic_name, _, index = name.rpartition("-")
        self._index = int(index)
        topics = [topic for topic, its in cluster.topics.items() if its == self._topic_name]
        self.topic = topics[-1] if topics else ""
        own = [each for each in [*self._before, *cluster.records] if self._is_own(each)]
        self.is_created = bool(own) and own[0].type == "PARTITION_RECORD"
        ids = {broker for each in own for broker in each.data.get("replicas") or ()}
        self.brokers = sorted(ids)
        self._view: Shown = {}
        self._version = 0
        self._epoch = 0
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
                (restored,) = self._partition("", record)
                shows = restored.shows
                names = {
                    "isr": "ISR",
                    "elr": "ELR",
                    "last_known_elr": "last known leader",
                    "adding": "adding",
                    "removing": "removing",
                }
                sets = {name: set(self._nodes(shows[shown])) for name, shown in names.items()}
                order = self._nodes(shows["replicas"])
                leader = next(iter(self._nodes([shows["leader"]])), 0)
                partition = sets | {"replicas": set(order), "leader": leader}
                state |= {"exists": True, "order": order, "recovering": shows["may lack records"]}
                state["con_partition_metadata"] |= partition
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
            case "set_min_isr":
                return [_config("min.insync.replicas", args["scope"], args["value"])]
            case "set_unclean":
                value = args["value"]
                return [_config("unclean.leader.election.enable", args["scope"], value)]
            case "set_feature":
                return [{"record": "feature", "name": args["feature"], "level": args["level"]}]
            case "clear_elr":
                return [{"record": "ELR cleared"}]
        changes = self._change(before, after)
        if "broker" not in args:
            return changes
        broker = {"broker": self.brokers[args["broker"] - 1]}
        match action:
            case "fence_broker":
                return [*changes, {"record": _FENCED, **broker, "known epoch": True}]
            case "begin_controlled_shutdown":
                return [{"record": _SHUTS_DOWN, **broker, "known epoch": True}, *changes]
            case "unfence_broker":
                return [{"record": _UNFENCED, **broker, "known epoch": True}, *changes]
            case "register_broker":
                return [*changes, {"record": "registers", **broker, "fenced": True}]
            case "register_again":
                return [*changes, {"record": "registers", **broker, "fenced": False}]
        return [*changes, {"record": "is unregistered", **broker}]

    def _change(self, before: Any, after: Any) -> list[Shown]:
        seen, bumped = self._seen(after), after.con_partition_metadata.leader_epoch > 0
        if not bumped and seen == self._seen(before):
            return []
        return [{"record": "partition", **seen, "new leader epoch": bumped}]

    def _seen(self, s: Any) -> Shown:
        partition = s.con_partition_metadata

        def ids(nodes: Any) -> set[int]:
            return {self.brokers[node - 1] for node in nodes}

        return {
            "replicas": [self.brokers[node - 1] for node in s.order],
            "adding": ids(partition.adding),
            "removing": ids(partition.removing),
            "ISR": ids(partition.isr),
            "ELR": ids(partition.elr),
            "leader": self.brokers[partition.leader - 1] if partition.leader else NONE,
            "last known leader": ids(partition.last_known_elr),
            "may lack records": bool(s.recovering),
        }

    # --- What the log has ------------------------------------------------------------------------

    def records(self) -> Iterator[LogRecord]:
        """The records of the metadata log that speak of the partition, its brokers, and rules."""
        for record in self._records:
            place, data = f"metadata offset {record.offset}", record.data
            match record.type:
                case "PARTITION_RECORD" | "PARTITION_CHANGE_RECORD" if self._is_own(record):
                    yield from self._partition(place, record)
                case "REGISTER_BROKER_RECORD" if data["brokerId"] in self.brokers:
                    yield self._registration(place, data)
                case "BROKER_REGISTRATION_CHANGE_RECORD" if data["brokerId"] in self.brokers:
                    yield from self._registration_changes(place, data)
                case "FENCE_BROKER_RECORD" if data["id"] in self.brokers:
                    yield self._of_broker(place, _FENCED, data["id"], data.get("epoch"))
                case "UNFENCE_BROKER_RECORD" if data["id"] in self.brokers:
                    yield self._of_broker(place, _UNFENCED, data["id"], data.get("epoch"))
                case "UNREGISTER_BROKER_RECORD" if data["brokerId"] in self.brokers:
                    shows = {"record": "is unregistered", "broker": data["brokerId"]}
                    step = ("unregister_broker", self._node(data["brokerId"]))
                    yield LogRecord(place, shows, [step, *self._leaving()])
                case "CONFIG_RECORD":
                    yield from self._configuration(place, data)
                case "FEATURE_LEVEL_RECORD" if data["name"] in _FEATURES:
                    name, level = _FEATURES[data["name"]], data["featureLevel"]
                    shows = {"record": "feature", "name": name, "level": level}
                    step = ("set_feature", {"feature": name, "level": level})
                    yield LogRecord(place, shows, [step])
                case "CLEAR_ELR_RECORD" if data.get("topicName") in (self._topic_name, "", None):
                    if self._view:
                        self._view |= {"ELR": set(), "last known leader": set()}
                    yield LogRecord(place, {"record": "ELR cleared"}, [("clear_elr", {})])
                case "REMOVE_TOPIC_RECORD" if data["topicId"] == self.topic:
                    return

    def _node(self, broker: int) -> dict[str, int]:
        return {"broker": self.brokers.index(broker) + 1}

    def _nodes(self, brokers: Sequence[int]) -> list[int]:
        return [self.brokers.index(each) + 1 for each in brokers if each in self.brokers]

    def _partition(self, place: str, record: MetadataRecord) -> Iterator[LogRecord]:
        """Nothing for a replica that only changes its disk, as the rules know of no disks."""
        data = record.data
        created = record.type == "PARTITION_RECORD"
        leader = data.get("leader", -2)
        named = leader not in (None, -2) and not created
        if created:
            self._view = {
                "replicas": [],
                **{name: set() for name in ("adding", "removing", "ISR", "ELR")},
                "leader": NONE,
                "last known leader": set(),
                "may lack records": False,
            }
            self._version, self._epoch = data["partitionEpoch"], data["leaderEpoch"]
        else:
            self._version += 1
            self._epoch += named
            if _ONLY_DISKS.issuperset(name for name, value in data.items() if value is not None):
                return
        before, view = self._view, dict(self._view)
        for name, key in (
            ("addingReplicas", "adding"),
            ("removingReplicas", "removing"),
            ("isr", "ISR"),
            ("eligibleLeaderReplicas", "ELR"),
            ("lastKnownElr", "last known leader"),
        ):
            if data.get(name) is not None:
                view[key] = set(data[name])
        if data.get("replicas") is not None:
            view["replicas"] = list(data["replicas"])
        if named or created:
            view["leader"] = leader
        if data.get("leaderRecoveryState") not in (None, -1):
            view["may lack records"] = data["leaderRecoveryState"] == 1
        self._view = view
        shows = {"record": "partition", **view, "new leader epoch": named}
        steps = self._creation(view) if created else self._changes(before, view)
        yield LogRecord(place, shows, steps, self._contradiction(view), _changes_text(before, view))

    def _creation(self, view: Shown) -> list[tuple[str, dict[str, Any]]]:
        order = self._nodes(view["replicas"])
        return [("create_partition", {"count": len(order), "order": order})]

    def _changes(self, before: Shown, view: Shown) -> list[tuple[str, dict[str, Any]]]:
        steps = [
            *self._leaving(),
            ("alter_partition", {"isr": self._nodes(sorted(view["ISR"]))}),
            ("alter_partition", {"isr": self._nodes(sorted(view["ISR"] | before["removing"]))}),
            ("elect_preferred", {}),
            ("elect_uncleanly", {}),
        ]
        if view["replicas"] != before["replicas"] or view["removing"] != before["removing"]:
            target = self._nodes([b for b in view["replicas"] if b not in view["removing"]])
            steps.append(("reassign", {"count": len(target), "order": target}))
        return [each for k, each in enumerate(steps) if each not in steps[:k]]

    def _leaving(self) -> list[tuple[str, dict[str, Any]]]:
        """The steps that write a change before what they say of the broker."""
        return [
            ("fence_broker", {}),
            ("register_broker", {"shutdown": "unclean"}),
            ("unregister_broker", {}),
        ]

    def _contradiction(self, view: Shown) -> str:
        """What a broker's own log says of this version of the partition, if that is otherwise."""
        for said in self._told.get(self._version, []):
            fields, node = said.fields, said.entry.node
            leader = node if said.kind == "leads" else fields["leader"]
            isr = set(fields["isr"]) if "isr" in fields else view["ISR"]
            if (leader, fields["epoch"], isr) != (view["leader"], self._epoch, view["ISR"]):
                return (
                    f"Broker {node}'s own log has partition epoch {self._version} otherwise"
                    f" ({said.entry.place}): {_line(said.entry.text)}"
                )
        return ""

    def _registration(self, place: str, data: dict[str, Any]) -> LogRecord:
        broker, fenced = data["brokerId"], bool(data.get("fenced", True))
        self._registered[broker] = data.get("brokerEpoch", -1)
        shows = {"record": "registers", "broker": broker, "fenced": fenced}
        name = "register_broker" if fenced else "register_again"
        return LogRecord(place, shows, [(name, self._node(broker))])

    def _registration_changes(self, place: str, data: dict[str, Any]) -> Iterator[LogRecord]:
        """A record may say several things; other fields, such as directories, say nothing here."""
        broker, epoch = data["brokerId"], data.get("brokerEpoch")
        if data.get("fenced"):
            what = _FENCED if data["fenced"] == 1 else _UNFENCED
            yield self._of_broker(place, what, broker, epoch)
        if data.get("inControlledShutdown") == 1:
            yield self._of_broker(place, _SHUTS_DOWN, broker, epoch)

    def _of_broker(self, place: str, what: str, broker: int, epoch: int | None) -> LogRecord:
        known = self._registered.get(broker)
        shows = {"record": what, "broker": broker, "known epoch": epoch in (None, known)}
        action = {
            _FENCED: "fence_broker",
            _UNFENCED: "unfence_broker",
            _SHUTS_DOWN: "begin_controlled_shutdown",
        }[what]
        return LogRecord(place, shows, [(action, self._node(broker))])

    def _configuration(self, place: str, data: dict[str, Any]) -> Iterator[LogRecord]:
        scopes = {(_TOPIC, self._topic_name): "topic", (_BROKER, ""): "cluster"}
        scope = scopes.get((data["resourceType"], data["resourceName"]))
        name, value = data["name"], data.get("value")
        if scope is None:
            return
        if name == "min.insync.replicas" and (value is None or str(value).isdecimal()):
            number = min(int(value or 0), _MOST_MIN_ISR)
            step = ("set_min_isr", {"scope": scope, "value": number})
            yield LogRecord(place, _config(name, scope, number), [step])
        if name == "unclean.leader.election.enable":
            setting = "unset" if value is None else str(value).lower()
            if setting in ("unset", "false", "true"):
                step = ("set_unclean", {"scope": scope, "value": setting})
                yield LogRecord(place, _config(name, scope, setting), [step])


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


def _line(text: str) -> str:
    return re.sub(r"^\[[^\]]*\] ", "", text)[:200]
