"""May I restart broker 2 now? What each next fault would cost, from the state in which logs end.

The logs say who leads, who is in sync, and which brokers are away. They don't say everything: a
broker that is away may be paused, or down with all of its records or with none. So all of these
are searched, and a promise is kept only if it is kept in each of them. A replica outside ISR and
ELR counts as one that lacks the record.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, reduce
from itertools import product
from typing import Any

from kafka_spec import settings as model
from protocol_lab.checker.result import Verdict
from protocol_lab.errors import LabError
from protocol_lab.explain.wording import choice_sentence
from protocol_lab.explore import explore
from protocol_lab.model.spec import Model
from protocol_lab.model.state_view import view
from protocol_lab.model.step_text import find_step
from protocol_lab.model.transitions import attempts, evaluate, initial
from real_systems.kafka.cluster_settings import (
    NO_FAULTS,
    PRICE,
    PROMISES,
    WITH_ELR,
    Settings,
    read,
    release_of,
)
from real_systems.kafka.logs.answers import facts
from real_systems.kafka.logs.broker_events import away_at, events_of_brokers
from real_systems.kafka.logs.histories import Cluster
from real_systems.kafka.logs.moments import NONE, UNSAID, Moment, isr_text, leader_text
from real_systems.kafka.logs.report import Report
from real_systems.kafka.logs.report import read as read_logs

NEXT = {
    "": ("as it is", ""),
    "stop": ("a clean restart", "stops"),
    "kill": ("a crash", "kills"),
    "pause": ("a pause", "pauses"),
    "lose_power": ("a power cut", "power_cuts"),
    "replace_disk": ("a new disk", "new_disks"),
    "lose_machine": ("loss for good", "machines"),
}
"""The next fault, by the action that it begins with, or ends with; and the constant that has how
often the model may take this action."""
_COSTS = {
    "needs_no_operator": "operator",
    "is_online": "offline",
    "takes_writes": "no writes",
}
LIMITS = (
    "LOST: a record that was acknowledged, or read, may not be there afterwards. offline, no"
    " writes: until the broker is back. nothing: nothing more than as it is, in every state that"
    " this one fault leads to, by the rules of the release as the model kafka.settings has them. It"
    " does not mean safe. A replica outside ISR and ELR counts as one that lacks the record."
)


@dataclass(frozen=True)
class Place:
    """A partition at the end of the logs; brokers count from 1, in the order of its replicas.

    stopped: down after a clean shutdown; away: out of reach, nobody knows how.
    """

    settings: Settings
    leader: int
    isr: frozenset[int]
    elr: frozenset[int]
    last_leader: int
    stopped: frozenset[int]
    away: frozenset[int]


@dataclass(frozen=True)
class Cost:
    """What a fault may cost: the promises and the parts of PRICE that it breaks, the worst first;
    and the steps of the shortest loss, in words."""

    broken: tuple[str, ...]
    steps: tuple[str, ...] = ()

    def __str__(self) -> str:
        if any(name in PROMISES for name in self.broken):
            return "LOST"
        return next((_COSTS[name] for name in PRICE if name in self.broken), "nothing")


@dataclass
class Outlook:
    """The answer: for each partition its place, and what each next fault at each broker costs.

    unknown: sentences on what the logs don't say.
    """

    report: Report
    places: dict[str, Place]
    unknown: list[str]

    def costs(self, partition: str) -> dict[tuple[str, int], Cost]:
        """What each next fault costs, by the action and the broker's number in the cluster."""
        place = self.places[partition]
        numbers = self.report.partitions[partition][-1].replicas
        return {
            (action, numbers[broker - 1]): _cost(place, action, broker)
            for action in NEXT
            for broker in range(1, len(numbers) + 1)
        }

    @property
    def verdict(self) -> str:
        """VIOLATED: some single fault loses a record. HOLDS: none does, and the logs said enough.
        Else UNDECIDED."""
        if any(str(cost) == "LOST" for name in self.places for cost in self.costs(name).values()):
            return Verdict.VIOLATED
        return Verdict.UNDECIDED if self.unknown else Verdict.HOLDS

    def as_json(self) -> dict[str, Any]:
        """The same for other programs."""
        return {
            "verdict": str(self.verdict),
            "unknown": self.unknown,
            "partitions": {
                name: [
                    {"fault": action or "none", "broker": broker, "costs": str(cost),
                     "steps": list(cost.steps)}
                    for (action, broker), cost in self.costs(name).items()
                ]
                for name in self.places
            },
        }  # fmt: skip

    def __str__(self) -> str:
        lines = []
        for names, partition in self._alike():
            lines += [*self._table(names, partition), ""]
        if self.unknown:
            lines += ["Can't tell everything, because:", *(f"  {each}" for each in self.unknown)]
        elif self.verdict == Verdict.HOLDS:
            lines.append("No single fault loses a record, and the logs said enough to tell.")
        return "\n".join([*lines, LIMITS])

    def _alike(self) -> Iterator[tuple[list[str], str]]:
        """Partitions with the same replicas in the same place, and one of them."""
        found: dict[Any, list[str]] = {}
        for name, place in self.places.items():
            found.setdefault((self.report.partitions[name][-1].replicas, place), []).append(name)
        return ((names, names[0]) for names in found.values())

    def _table(self, names: list[str], partition: str) -> Iterator[str]:
        moment, place = self.report.partitions[partition][-1], self.places[partition]
        more = f" and {len(names) - 1} more like it" if len(names) > 1 else ""
        now = f"leader {leader_text(moment.leader)}, {isr_text(moment.isr)}"
        values = place.settings.values
        rules = [
            Settings.phrase(name, values[name])
            for name in values
            if name not in ("replicas", "racks")
        ]
        yield f"{partition}{more}: {now}; {', '.join(rules)}"
        costs = self.costs(partition)
        yield " " * 20 + "".join(f"{f'broker {each}':14}" for each in moment.replicas).rstrip()
        for action, (text, _) in NEXT.items():
            cells = [str(costs[action, each]) for each in moment.replicas]
            if not action:
                if cells[0] == "nothing":
                    continue
                cells = cells[:1]
            yield f"  {text:18}" + "".join(f"{each:14}" for each in cells).rstrip()
        lost = [(key, cost) for key, cost in costs.items() if str(cost) == "LOST"]
        if lost:
            (action, broker), cost = min(lost, key=lambda each: len(each[1].steps))
            at = f" of broker {broker}" if action else ""
            yield f"  For instance, {NEXT[action][0]}{at}, with brokers numbered as above from 1:"
            yield from (f"    {number}. {step}" for number, step in enumerate(cost.steps, 1))


def outlook(folders: Sequence[str], end: str | None = None, **given: Any) -> Outlook:
    """The answer for logs, up to a time if one is given. given: settings, which outrank what the
    logs say. Raises LabError."""
    report = read_logs(folders, end=end)
    unknown = [*report.answer.unread]
    places = {}
    for name, moments in report.partitions.items():
        until = report.period[1] if end else None
        place = _place(report.cluster, name, moments[-1], given, until)
        if isinstance(place, str):
            unknown.append(f"{name}: {place}")
        else:
            places[name] = place
    if not report.partitions:
        unknown.append("no partition is named: add the metadata log, or kafka-topics --describe.")
    return Outlook(report, places, unknown)


def _place(
    cluster: Cluster, name: str, moment: Moment, given: dict[str, Any], until: int | None
) -> Place | str:
    """Where a partition is, or a sentence on what is missing. until: the time that is asked about,
    if it is not that of the logs' end."""
    if cluster.system == "ZooKeeper":
        return "this cluster has ZooKeeper, and the model has the rules of KRaft, from 3.6 on."
    if not cluster.described.get(name) and until is None and (missing := facts.metadata(cluster)):
        return missing
    if moment.leader == UNSAID or moment.isr is None or not moment.replicas:
        return "nothing says who leads it, or who is in sync. Add kafka-topics --describe."
    said = {key: value for key, value in given.items() if value is not None}
    said.setdefault("replicas", len(moment.replicas))
    if "release" not in said:
        found = {release_of(each) for each in cluster.releases}
        if len(found) != 1:
            return f"the logs name {len(found) or 'no'} releases: give --release."
        said["release"] = found.pop()
    if "min_isr" not in said:
        said["min_isr"] = cluster.min_isr_at(name, moment.time)
        if said["min_isr"] is None:
            return "min.insync.replicas is not said: give --min-isr, or kafka-topics --describe."
    if "elr" not in said and release_of(said["release"]) in WITH_ELR:
        if not cluster.has_metadata:
            return "nothing says whether ELR is on: give --elr on or --elr off."
        said["elr"] = "on" if cluster.elr_since is not None else "off"
    if "unclean" not in said:
        said["unclean"] = "true" if _elects_uncleanly(cluster, name) else "false"
    try:
        settings = read([], **said)
    except LabError as error:
        return str(error)
    numbers = {broker: place for place, broker in enumerate(moment.replicas, 1)}
    if settings.replicas != len(numbers):
        return f"it has {len(numbers)} replicas, and {settings.replicas} were asked for."

    def of(brokers: Sequence[int]) -> frozenset[int]:
        return frozenset(numbers[each] for each in brokers if each in numbers)

    events = events_of_brokers(cluster)
    events = [each for each in events if until is None or each.time <= until]
    away = away_at(events, max((each.time for each in events), default=0))
    last = {each.broker: each.text for each in events}
    stopped = {each for each in away if last[each] == "has shut down"}
    if moment.leader == NONE:
        away |= set(moment.isr)
    return Place(
        replace(settings, said={}),
        numbers.get(moment.leader, 0),
        of(moment.isr),
        of(moment.elr),
        numbers.get(next(iter(moment.last_known), NONE), 0),
        of(sorted(stopped)),
        of(sorted(away - stopped - {moment.leader})),
    )


def _elects_uncleanly(cluster: Cluster, name: str) -> bool:
    """Are unclean elections on, by the metadata log or a properties file?"""
    topic = name.rpartition("-")[0]
    for each in reversed(cluster.records):
        data = each.data
        is_of_it = each.type == "CONFIG_RECORD" and data["resourceName"] in ("", topic)
        if is_of_it and data["name"] == "unclean.leader.election.enable" and data.get("value"):
            return data["value"] == "true"
    return True in cluster.static_unclean.values()


# --- The search ----------------------------------------------------------------------------------


@cache
def _cost(place: Place, action: str, broker: int) -> Cost:
    """What a fault costs that comes now, or just after one more record was sent."""
    is_down = broker in place.away | place.stopped
    faults = ["stop", action] if action == "replace_disk" and not is_down else [action]
    faults = faults if action else []
    budget = {NEXT[each][1]: 1 for each in faults}
    bound = model.spec.bind(**{**NO_FAULTS, **budget, **place.settings.values, "values": 2})
    ways = [way for now in _truths(bound, place) for way in _struck(bound, now, faults, broker)]
    before = () if not action else _cost(place, "", 1).broken
    judged = [name for name in [*PROMISES, *PRICE] if name not in before]
    if not ways or not judged:
        return Cost(())
    starts = dict(ways)
    found = explore(bound, invariants=judged, starts=list(starts), to_the_end=True, progress=False)
    broken = tuple(
        name
        for name in judged
        if found.violating[name] or (name == "takes_writes" and _too_small(bound, starts))
    )
    lost = [name for name in broken if name in PROMISES]
    if not lost:
        return Cost(broken)
    for row, steps in starts.items():
        found = explore(bound, invariants=lost, starts=[row], progress=False)
        if found.violated:
            return Cost(broken, (*steps, *_told(bound, row, found)))
    return Cost(broken)


def _too_small(bound: Model, starts: Iterable[bytes]) -> bool:
    """Is the ISR too small for writes at once, whoever may join it later?"""
    c = bound.constants
    states = [view(bound.layout, row) for row in starts]
    return c.acks == "all" and any(len(s.isr) < model.smallest_isr(c) for s in states if s.leader)


_AWAY = {
    "paused": "is paused, or cut off",
    "down": "is down, and its disk has everything",
    "empty": "is down, and what it had not flushed is gone",
}
"""What a broker may be that is away."""

_Way = tuple[bytes, tuple[str, ...]]
"""A state, and the steps to it in words."""


def _truths(bound: Model, place: Place) -> Iterator[_Way]:
    """The states that the partition may be in, as the brokers that are away may be anything."""
    [first] = initial(bound)
    away = sorted(place.away)
    for kinds in product(_AWAY, repeat=len(away)):
        row = bytearray(first.row)
        s = view(bound.layout, row)
        kind_of = dict(zip(away, kinds, strict=True))
        down = {each for each, kind in kind_of.items() if kind != "paused"}
        empty = {each for each, kind in kind_of.items() if kind == "empty"}
        everybody = set(range(1, place.settings.replicas + 1))
        in_reach = everybody - place.away - place.stopped
        s.leader, s.last_leader = place.leader, place.last_leader
        sets = {
            "isr": place.isr,
            "elr": place.elr,
            "unfenced": in_reach,
            "running": everybody - down - place.stopped,
            "dirty": down,
            "follows": in_reach & place.isr if place.leader else frozenset(),
        }
        for name, brokers in sets.items():
            setattr(s, name, reduce(model.with_node, sorted(brokers), model.nodes_up_to(0)))
        for broker in (place.isr | place.elr) - empty:
            model.append(s.log[broker], model.Record(value=1, epoch=0))
        s.high_watermark = s.sent = 1
        s.acknowledged = s.read = model.only(1)
        told = tuple(f"Broker {each} {_AWAY[kind]}" for each, kind in kind_of.items())
        yield bytes(row), told


def _struck(bound: Model, now: _Way, faults: list[str], broker: int) -> list[_Way]:
    """The states after these faults of a broker: now, or just after one more record was sent."""
    ways = [now, *_taken(bound, now, "send", {})]
    for name in faults:
        ways = [way for each in ways for way in _taken(bound, each, name, {"broker": broker})]
    return ways


def _taken(bound: Model, now: _Way, name: str, wanted: dict[str, int]) -> list[_Way]:
    """The states after each choice of an action that has these parameters."""
    row, steps = now
    return [
        (each.row, (*steps, choice_sentence(bound, row, each.action, each.args)))
        for each in attempts(bound, row, [each for each in bound.spec.actions if each.name == name])
        if each.taken and wanted.items() <= each.args.items()
    ]


def _told(bound: Model, row: bytes, found: Any) -> Iterator[str]:
    """The steps of a search's trace in words, and what is broken then."""
    for step in found.trace:
        taken = find_step(bound, row, step.text)
        yield choice_sentence(bound, row, taken.action, taken.args)
        row = taken.row
    [broken] = [each for each in bound.spec.invariants if each.name == found.violated]
    if broken.name == "acknowledged_is_on_a_disk":  # of one that is stopped nothing is known
        yield "Then nobody who was in the ISR or the ELR has an acknowledged record any more"
    else:
        yield f"Then {evaluate(bound, row, broken.function)}"
