"""A partition at one moment: who leads it, who is in sync, and where that is said."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from real_systems.kafka.logs.reading.entries import clock
from real_systems.kafka.logs.reading.metadata_log import MetadataRecord
from real_systems.kafka.picture import brokers_text

NONE = -1
"""A partition that has no leader."""
UNSAID = -2
"""A leader that nothing names."""
UNKNOWN = -1
"""An epoch or a version that nothing says."""


@dataclass(frozen=True)
class Moment:
    """A partition as it is from a record or a line on.

    time: milliseconds since 1970; 0 if it is not said. place: where it is said, as in "metadata
    offset 45". leader: NONE for nobody, UNSAID if nothing names it. version: of the partition's
    state, which each decision raises by 1 (zkVersion or partition epoch). isr, elr, last_known:
    brokers; isr is None where it is not said; elr and last_known are empty without ELR. recovering:
    whether its leader was elected though it may lack records (leaderRecoveryState 1). adding,
    removing: the replicas that a reassignment brings and takes, as far as the metadata log has it.
    """

    time: int
    place: str
    replicas: tuple[int, ...]
    leader: int
    epoch: int
    version: int
    isr: tuple[int, ...] | None
    elr: tuple[int, ...] = ()
    last_known: tuple[int, ...] = ()
    recovering: bool = False
    adding: tuple[int, ...] = ()
    removing: tuple[int, ...] = ()


NOTHING_KNOWN = Moment(0, "", (), UNSAID, UNKNOWN, UNKNOWN, None)


NOT_YET = Moment(0, "", (), NONE, 0, 0, ())
"""A partition that was not created."""


def decided(before: Moment, record: MetadataRecord, time: int, place: str) -> Moment:
    """A partition behind a record of it in the metadata log. What a change leaves out stays; one
    that names a leader begins another epoch."""
    data, is_created = record.data, record.type == "PARTITION_RECORD"
    if is_created:
        before = replace(NOT_YET, epoch=data["leaderEpoch"], version=data["partitionEpoch"])

    def brokers(name: str, unchanged: tuple[int, ...] | None) -> tuple[int, ...] | None:
        return tuple(data[name]) if data.get(name) is not None else unchanged

    def next_of(known: int, is_next: bool) -> int:
        return known if known == UNKNOWN else known + (is_next and not is_created)

    has_leader = data.get("leader") not in (None, -2)
    is_recovery_said = data.get("leaderRecoveryState") not in (None, -1)
    return Moment(
        time,
        place,
        brokers("replicas", before.replicas),
        data["leader"] if has_leader else before.leader,
        next_of(before.epoch, has_leader),
        next_of(before.version, True),
        brokers("isr", before.isr),
        brokers("eligibleLeaderReplicas", before.elr),
        brokers("lastKnownElr", before.last_known),
        data["leaderRecoveryState"] == 1 if is_recovery_said else before.recovering,
        brokers("addingReplicas", before.adding),
        brokers("removingReplicas", before.removing),
    )


def moment_text(moment: Moment) -> str:
    """A moment in one line."""
    epoch = "not said" if moment.epoch == UNKNOWN else str(moment.epoch)
    parts = [f"leader {leader_text(moment.leader)}", f"epoch {epoch}", isr_text(moment.isr)]
    if moment.elr:
        parts.append(f"ELR {brokers_text(moment.elr)}")
    if moment.last_known:
        parts.append(f"last known leader {brokers_text(moment.last_known)}")
    if moment.recovering:
        parts.append("may lack records")
    time = clock(moment.time) if moment.time else "at some time"
    return f"{time}  {', '.join(parts)}  ({moment.place})"


def leader_text(leader: int) -> str:
    """A leader in words."""
    return {NONE: "none", UNSAID: "not said"}.get(leader, str(leader))


def isr_text(isr: Iterable[int] | None) -> str:
    """An ISR in words."""
    return "ISR not said" if isr is None else f"ISR {brokers_text(isr)}"


def follows_at_once(before: Moment, after: Moment) -> bool:
    """Is it certain that nothing was decided between these?"""
    return UNKNOWN != before.version == after.version - 1


def most_in_sync(moments: Iterable[Moment]) -> Iterator[set[int] | None]:
    """For each moment all brokers that can have been in the ISR or the ELR just before; None if
    nothing tells.

    An ISR that is not said can only have shrunk if the leader epoch changed with it: a leader adds
    members within its epoch, and only an unclean election adds one with a new epoch.
    """
    known, before = None, None
    for moment in moments:
        at_once = before is not None and follows_at_once(before, moment)
        yield known if at_once else None
        if moment.isr is not None:
            known = {*moment.isr, *moment.elr}
        elif not at_once or UNKNOWN in (before.epoch, moment.epoch) or before.epoch == moment.epoch:
            known = None
        before = moment
