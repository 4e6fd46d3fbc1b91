"""What a cluster writes while the model takes its steps: its logs, and what its tools print.

A step of the model becomes the records and lines that Kafka wrote when it was seen to do the same.
The first record of the model stands at offset `FIRST`.
"""

from typing import Any

from protocol_lab.model.layout import NONE
from protocol_lab.model.node_sets import members
from protocol_lab.model.step_text import parse
from real_systems.kafka.logs.writing import Line, LogWriter, described, dumped
from real_systems.kafka.on_call.cases import Case
from real_systems.kafka.on_call.incident import (
    BROKERS,
    Command,
    Event,
    World,
    log_of,
    started,
    state,
)

TOPIC, INDEX = "payments", 17
TO = "--bootstrap-server kafka:9092"
PARTITION = f"{TOPIC}-{INDEX}"
FIRST = 8_812_454
KEY = 7300
"""The key of a payment is this and its number in the model."""
PAGE = 1_795_836_060_000
"""2026-11-28 03:21, when the page came, in milliseconds."""


def at(minute: int) -> int:
    """The time of a minute after the page."""
    return PAGE + 60_000 * minute


def hour(minute: int) -> str:
    """The same as a watch shows it."""
    return f"{3 + (21 + minute) // 60:02}:{(21 + minute) % 60:02}"


class Written:
    """The logs of a case, written event by event."""

    def __init__(self, case: Case):
        settings = case.settings
        upgraded = settings.min_isr == 1
        self.case = case
        self.writer = LogWriter(
            case.release,
            PARTITION,
            BROKERS,
            min_isr=None if upgraded else settings.min_isr,
            default_min_isr=1 if settings.elr else None,
            elr=bool(settings.elr),
        )
        self.writer.begin(at(-60), leader=1)
        self._recovers = False
        self.base = dict.fromkeys(BROKERS, FIRST)  # the offset of the model's first in each log
        self.epochs = {0: 0}  # Kafka's for the model's, which counts those with a leader only
        for broker in BROKERS:
            self._role(started(settings), broker, at(-59) + 100)

    def add(self, event: Event) -> list[Line]:
        """The lines of an event."""
        begun = len(self.writer.lines)
        name, arguments = parse(event.step)
        broker = arguments.get("broker", 0)
        before, after = state(event.before), state(event.after)
        time = at(event.minute) + 10 * (begun % 3000)
        if name == "start" and broker in before.disk_is_new:
            self.base[broker] = 0
        self._changes(event, name, broker, time)
        if before.leader != after.leader or before.leader_epoch != after.leader_epoch:
            for each in members(after.unfenced):
                self._role(event.after, each, time + 400)
        elif name == "start":
            self._role(event.after, broker, time + 400)
        if name == "copy":
            self._truncated(event, arguments["follower"], time)
        return self.writer.lines[begun:]

    def _changes(self, event: Event, name: str, broker: int, time: int) -> None:
        """What the controller decides, and what it hears of a broker."""
        writer, (old, new) = self.writer, (_record(event.before), _record(event.after))
        s = state(event.before)
        if name == "start":
            middle = dict(old)
            if event.before.settings.elr and broker in s.dirty:
                for each in ("isr", "eligibleLeaderReplicas"):
                    middle[each] = [one for one in old[each] if one != broker]
                if not middle["isr"]:
                    middle["lastKnownElr"] = [s.last_leader]
                if middle != old:
                    writer.line(broker, "unclean_shutdown", time)
                    writer.changes(time, **_difference(old, middle))
            if broker not in s.running:
                writer.registers(broker, time)
                self._loads(event.before, broker, time + 130)
            old, time = middle, time + 310
            writer.unfenced(broker, time)
        elif name == "elect_uncleanly":
            writer.line(
                0,
                "elects_uncleanly",
                time,
                leader=new["leader"],
                how="an unclean election",
                epoch=writer.epoch,
                isr=old["isr"],
                elr=old["eligibleLeaderReplicas"],
                last_known=old["lastKnownElr"],
            )
        changed = _difference(old, new)
        eligible = [*old["isr"], *old["eligibleLeaderReplicas"]]
        if changed.get("leader", -1) != -1 and new["leader"] not in eligible:
            changed["leaderRecoveryState"], self._recovers = 1, True
        elif self._recovers and len(new["isr"]) > len(old["isr"]):
            changed["leaderRecoveryState"], self._recovers = 0, False
        if changed:
            writer.changes(time, **changed)
        if name in ("stop", "kill", "lose_power", "pause"):
            writer.fenced(broker, time, cleanly=name == "stop")
        self.epochs[state(event.after).leader_epoch] = writer.epoch

    def _loads(self, world: World, broker: int, time: int) -> None:
        """What a broker says of its disk when it starts."""
        s, writer = state(world), self.writer
        if broker in s.disk_is_new:
            writer.line(broker, "came_back_empty", time)
            return
        kind = "came_back_unclean" if broker in s.dirty else "came_back_clean"
        writer.line(broker, kind, time)
        writer.line(broker, "loaded", time + 40, **self._ends(world, broker))

    def _role(self, world: World, broker: int, time: int) -> None:
        s = state(world)
        role = "leads" if s.leader == broker else "follows"
        leader = s.leader if s.leader != NONE else -1
        epoch = self.writer.epoch
        known = {"epoch": epoch, "previous": epoch - 1, "leader": leader}
        isr = f"[{','.join(map(str, members(s.isr)))}]"
        self.writer.line(broker, role, time, **known, isr=isr, **self._ends(world, broker))

    def _truncated(self, event: Event, follower: int, time: int) -> None:
        s, kept = state(event.after), kept_by(event, follower)
        self.base[follower] = self.base[s.leader]
        old = log_of(event.before, follower)
        if kept < len(old):
            epoch = self.epochs[old[kept - 1][1]] if kept else 0
            known = {"leader": s.leader, "epoch": epoch, "end": self.base[follower] + kept}
            self.writer.line(follower, "truncates", time, **known)

    def _ends(self, world: World, broker: int) -> dict[str, int]:
        held = min(state(world).high_watermark, len(log_of(world, broker)))
        first = self.base[broker]
        return {"end": first + len(log_of(world, broker)), "high_watermark": first + held}


def kept_by(event: Event, follower: int) -> int:
    """How many records of its log a follower keeps when it copies."""
    old, new = log_of(event.before, follower), log_of(event.after, follower)
    kept = min(len(old), len(new))
    return next((k for k in range(kept) if old[k] != new[k]), kept)


def _record(world: World) -> dict[str, Any]:
    """What the metadata log says of the partition, in its names."""
    s = state(world)
    elr, waits = world.settings.elr, s.leader == NONE
    return {
        "isr": list(members(s.isr)),
        "leader": -1 if waits else s.leader,
        "eligibleLeaderReplicas": list(members(s.elr)),
        "lastKnownElr": [s.last_leader] if elr and waits and not len(s.isr) else [],
    }


def _difference(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in new.items() if old[name] != value}


# --- What tools print -----------------------------------------------------------------------------


def describe(world: World, case: Case) -> str:
    """The partition, as kafka-topics --describe prints it."""
    s, record = state(world), _record(world)
    knows_elr = case.release >= "3.9"  # the tool of 3.9.1 prints it, empty
    return described(
        TOPIC,
        INDEX,
        s.leader if s.leader in s.unfenced else 0,
        BROKERS,
        record["isr"],
        record["eligibleLeaderReplicas"] if knows_elr else None,
        record["lastKnownElr"],
    )


def shown(command: Command, seen: Any, minute: int, written: Written) -> tuple[str, list[str]]:
    """A look, as a terminal has it: what was typed, and what it printed."""
    broker = command.broker
    if command.name == "disk":
        kept = [".kafka_cleanshutdown"] if seen == "clean" else []
        kept += [] if seen == "new" else [PARTITION, "recovery-point-offset-checkpoint"]
        return f"ls -A /kafka/data{broker}", [*kept[:1], "meta.properties", *kept[1:]]
    if command.name == "dump":
        first, epochs = written.base[broker], written.epochs
        batches = [(first + k, epochs.get(epoch, epoch)) for k, (_, epoch) in enumerate(seen)]
        lines = dumped(PARTITION, broker, batches, at(minute))[2:]
        files = f"/kafka/data{broker}/{PARTITION}/*.log"
        shell = f"kafka-dump-log.sh --print-data-log --files {files} | tail -4"
        printed = []
        for batch, (offset, _), (value, _) in zip(lines, batches, seen, strict=True):
            printed += [_short(batch), f"| offset: {offset} … key: {KEY + value} payload: …"]
        return shell, printed[-4:] or ["(empty)"]
    synonyms = ["DEFAULT_CONFIG:min.insync.replicas=1"]
    synonyms.insert(0, "STATIC_BROKER_CONFIG:min.insync.replicas=2")
    if seen == 1:
        synonyms.insert(0, "DYNAMIC_DEFAULT_BROKER_CONFIG:min.insync.replicas=1")
    listed = f"min.insync.replicas={seen} sensitive=false synonyms={{{', '.join(synonyms)}}}"
    shell = f"kafka-configs.sh {TO} --describe --all --topic {TOPIC} | grep min.insync"
    return shell, [listed]


def _short(batch: str) -> str:
    """A batch's line without what nobody needs here."""
    words = batch.split()
    kept = {"baseOffset:", "lastOffset:", "partitionLeaderEpoch:", "isvalid:"}
    pairs = zip(words[::2], words[1::2], strict=False)
    return " … ".join(f"{name} {value}" for name, value in pairs if name in kept)
