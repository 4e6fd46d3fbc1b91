"""The history of each partition as brokers and controllers tell it in their own logs.

Each decision about a partition raises its version by 1 (zkVersion, since 3.3 partition epoch).
Lines that name the same version speak of one moment, whichever node wrote them, and a version that
no line names is a gap. Lines of releases that name no version are placed by their leader epoch.
"""

from collections.abc import Iterable
from dataclasses import replace

from real_systems.kafka.logs.moments import NOTHING_KNOWN, UNKNOWN, UNSAID, Moment
from real_systems.kafka.logs.reading.broker_lines import Said

STATING = {"told", "decided", "leads", "follows", "isr_updated", "elects_uncleanly"}
"""The kinds of lines that state what a partition is like."""


def histories_in(said: Iterable[Said]) -> tuple[dict[str, list[Moment]], dict[str, str]]:
    """For each partition its moments in order; and for some a sentence on lines that contradict
    each other. said: by time."""
    lives: dict[str, _Life] = {}
    assigned: dict[str, tuple[int, ...]] = {}
    for each in said:
        if each.kind == "assigned":
            assigned[each.partition] = tuple(each.fields["replicas"])
        if (
            each.kind not in STATING
            or not each.partition
            or not {"epoch", "version"} & {*each.fields}
        ):
            continue
        life = lives.get(each.partition)
        if life is None or life.is_over(each):
            life = lives[each.partition] = _Life(assigned.get(each.partition, ()))
        life.take(each)
    return (
        {partition: life.moments() for partition, life in lives.items()},
        {partition: life.conflict for partition, life in lives.items() if life.conflict},
    )


class _Life:
    """A partition from its creation until another one of its name is created."""

    def __init__(self, replicas: tuple[int, ...]):
        self.conflict = ""
        self._replicas = replicas
        self._topic = None
        self._versions: dict[int, Moment] = {}
        self._others: list[Moment] = []

    def is_over(self, said: Said) -> bool:
        """Does this line begin the life of another partition with this name?"""
        topic = said.fields.get("topic_id")
        if topic and self._topic and topic != self._topic:
            return True
        return said.fields.get("state") == "NewPartition" and max(self._versions, default=0) > 0

    def take(self, said: Said) -> None:
        """Take in what a line states."""
        self._topic = said.fields.get("topic_id", self._topic)
        moment = _stated(said)
        self._replicas = moment.replicas or self._replicas
        if moment.version == UNKNOWN:
            self._others.append(moment)
        elif moment.version not in self._versions:
            self._versions[moment.version] = moment
        else:
            self._versions[moment.version] = self._both(self._versions[moment.version], moment)

    def _both(self, one: Moment, other: Moment) -> Moment:
        """What two lines state of one version."""
        if not _agree(one, other):
            self.conflict = (
                f"{one.place} and {other.place} contradict each other on its partition epoch"
                f" {one.version}"
            )
        said, unsaid = vars(one), vars(NOTHING_KNOWN)
        return replace(
            other, **{name: value for name, value in said.items() if value != unsaid[name]}
        )

    def moments(self) -> list[Moment]:
        """The moments in order. Who has a replica is taken from the lines around."""
        found: list[Moment] = []
        for _, moment in sorted(self._versions.items()):
            if moment.epoch == UNKNOWN and found and found[-1].leader == moment.leader:
                moment = replace(moment, epoch=found[-1].epoch)  # the leader changed its ISR
            found.append(moment)
        for moment in self._others:
            if not any(each.epoch == moment.epoch and _agree(each, moment) for each in found):
                found.insert(_place_for(moment, found), moment)
        replicas = self._replicas
        for k in reversed(range(len(found))):
            replicas = found[k].replicas or replicas
            found[k] = replace(found[k], replicas=replicas)
        return found


def _stated(said: Said) -> Moment:
    fields = said.fields
    leader = fields.get("leader")
    if leader is None:
        leader = said.entry.node if said.kind == "leads" else None
    return Moment(
        said.entry.time,
        said.entry.place,
        tuple(fields.get("replicas", ())),
        UNSAID if leader is None else leader,
        fields.get("epoch", UNKNOWN),
        fields.get("version", UNKNOWN),
        tuple(fields["isr"]) if "isr" in fields else None,
        tuple(fields.get("elr", ())),
        tuple(fields.get("last_known", ())),
        fields.get("recovery") == "RECOVERING",
    )


def _agree(one: Moment, other: Moment) -> bool:
    """May both be said of one decision?"""
    return (
        (UNSAID in (one.leader, other.leader) or one.leader == other.leader)
        and (UNKNOWN in (one.epoch, other.epoch) or one.epoch == other.epoch)
        and (None in (one.isr, other.isr) or {*one.isr} == {*other.isr})
    )


def _place_for(moment: Moment, found: list[Moment]) -> int:
    """Where a moment without a version stands: by its epoch, then by its time."""
    earlier = [
        k
        for k, each in enumerate(found)
        if each.epoch < moment.epoch or (each.epoch == moment.epoch and each.time <= moment.time)
    ]
    return earlier[-1] + 1 if earlier else 0
