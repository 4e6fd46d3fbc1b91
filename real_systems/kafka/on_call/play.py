"""A play as it is shown: what stands on the screen, what can be chosen, and the rewind.

`view` is a function of a case, a seed and the commands that were given. A widget and a page show
what it returns (`protocol_lab/teaching/js/incident.js`).
"""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from protocol_lab.errors import LabError
from protocol_lab.model.layout import NONE
from protocol_lab.model.step_text import parse
from real_systems.kafka.on_call import best_play, quorum
from real_systems.kafka.on_call.cases import ANY_NIGHT, CASES, Case, acknowledged, begin, is_visible
from real_systems.kafka.on_call.incident import (
    BROKERS,
    LOOKS,
    MINUTES,
    Command,
    Desk,
    Event,
    World,
    commands,
    done,
    log_of,
    lost,
    not_sent_again,
    public,
    state,
    takes_writes,
    written_twice,
    wrong,
)
from real_systems.kafka.on_call.written_lines import (
    FIRST,
    INDEX,
    PARTITION,
    TO,
    TOPIC,
    Line,
    Written,
    describe,
    hour,
    kept_by,
    shown,
)

_STEPS = {
    "send": "a payment is sent",
    "copy": "",
    "rejoin": "broker {follower} joins the ISR",
    "fall_behind": "broker {follower} falls behind, and leaves the ISR",
    "stop": "broker {broker} is stopped cleanly",
    "kill": "Kafka on broker {broker} is killed",
    "lose_power": "host {broker} loses its power",
    "replace_disk": "host {broker} gets a new disk",
    "give_up": "a producer is told that its record failed",
    "start": "broker {broker} is back",
    "elect_uncleanly": "an unclean election",
}
_TYPED = {
    "hold": "ssh broker{broker} systemctl disable --now kafka",
    "start": "ssh broker{broker} systemctl start kafka",
    "stop": "ssh broker{broker} systemctl stop kafka",
    "unclean": f"kafka-leader-election.sh {TO} --election-type unclean --topic {TOPIC}"
    f" --partition {INDEX}",
    "wait": "sleep 120",
    "min_isr": f"kafka-configs.sh {TO} --alter --topic {TOPIC} --add-config min.insync.replicas=2",
    "elr": f"kafka-features.sh {TO} upgrade --feature eligible.leader.replicas.version=1",
    "resend": "(to the payments team: yes, send it again)",
    "keep": "(to the payments team: no, don't send it again)",
    "close": "(the incident is closed)",
}
_CHOICES = {
    "start": ("Start Kafka on broker {broker}", "{role}"),
    "hold": ("Keep broker {broker} down", "or it starts at {due}"),
    "stop": ("Stop broker {broker}", "cleanly; it stays down"),
    "unclean": ("Unclean election", "the first alive of 1, 2, 3 leads, whatever its log has"),
    "wait": ("Wait", "and watch"),
    "min_isr": ("Set min.insync.replicas=2", "for the topic"),
    "elr": ("Switch ELR on", "for the cluster"),
    "resend": ("Have the payment sent again", "the team waits for your answer"),
    "keep": ("Tell the team not to send it again", "the team waits for your answer"),
    "close": ("Nothing more to do", "close the incident; it is watched for 30 minutes"),
    "disk": ("Look at broker {broker}’s disk", "ls, before it starts"),
    "dump": ("Read broker {broker}’s log", "kafka-dump-log.sh; it reads whole segments"),
    "config": ("Read what is in force", "kafka-configs.sh --describe --all"),
}


Logged = tuple[tuple[Any, ...], ...]
"""What logs had to say so far, in its order."""


class Play:
    """A case with the commands that were given so far. Raises LabError for one that can't be."""

    def __init__(self, name: str, seed: int = 0, keys: Sequence[str] = ()):
        self.start = begin(name, seed)
        self.case = self.start.case
        self.offline = 0
        self.world, self.desk = self.start.world, self.start.desk
        self.beliefs = self.start.beliefs
        self.written = Written(self.case)
        self.screen: list[dict[str, str]] = []
        self.moments: list[dict[str, Any]] = []
        self.had: dict[int, set[int]] = {each: set() for each in BROKERS}
        self._begin()
        for key in keys:
            self.give(key)

    # --- Playing ----------------------------------------------------------------------------------

    def _begin(self) -> None:
        """What is known when the page comes."""
        lines: list[Line] = []
        for k, event in enumerate(self.start.events):
            new = self.written.add(event)
            lines += new
            if is_visible(event):
                name, arguments = parse(event.step)
                said = [_short(each) for each in new if '"PARTITION_CHANGE' in each.text]
                self._remember(
                    event.minute,
                    _STEPS[name].format(**arguments),
                    event.after,
                    self.start.known[k],
                    said[-1] if said else "",
                )
        for told in self.case.told:
            self._show("told", self._told(told))
        self._describe()
        self._typed("kafka-dump-log.sh --cluster-metadata-decoder --files … | grep PARTITION_")
        for each in lines:
            if '"PARTITION_' in each.text:
                self._show("out", _short(each))
        self._typed("tail -f controller.log server.log …")
        self._remember(0, "the page comes", self.world, self.beliefs, "")

    def _told(self, text: str) -> str:
        due = {broker: minute for minute, broker in self.desk.due}
        for broker in BROKERS:
            text = text.replace(f"{{{broker}}}", str(broker))
            text = text.replace(f"{{at {broker}}}", hour(due.get(broker, 0)))
        return text.replace("{since}", hour(-self.case.offline_since))

    def give(self, key: str) -> None:
        """Give a command, and see what comes of it."""
        every = {each.key: each for each in self.commands()}
        if key not in every:
            raise LabError(f"{key!r} can't be done here: choose one of {', '.join(every) or '-'}.")
        command = every[key]
        outcome = done(self.world, self.desk, command)
        text = f"you: {_choice(command, self.world, self.desk)[0]}"
        self._remember(self.desk.clock, text, self.world, self.beliefs, "")
        others = [(each, done(each, self.desk, command)) for each in self.beliefs]
        paths = [_path(each, after.events) for each, after in others]
        logged = [*_path(self.world, outcome.events)][-1]
        self.beliefs = tuple(
            {
                after.world
                for (_, after), path in zip(others, paths, strict=True)
                if (after.desk, after.seen) == (outcome.desk, outcome.seen) and logged in path
            }
        )
        self.world, self.desk = outcome.world, outcome.desk
        self.offline += outcome.offline
        self._tell(command, outcome.events, outcome.seen[1], paths)
        last = self.moments[-1]
        if command.name == "close":
            self._remember(self.desk.clock, "the watch ends", self.world, self.beliefs, "")
        elif (last["world"], {*last["beliefs"]}) != (self.world, {*self.beliefs}):
            self._remember(self.desk.clock, "the command is done", self.world, self.beliefs, "")

    def commands(self) -> list[Command]:
        """What can be done now."""
        return commands(self.world, self.desk, self.case.extra)

    def _tell(
        self,
        command: Command,
        events: tuple[Event, ...],
        seen: Any,
        paths: list[dict[Logged, World]],
    ) -> None:
        """What stands on the screen after a command. paths: of all worlds that could be."""
        if command.name in LOOKS:
            typed, printed = shown(command, seen, self.written)
            self._typed(typed)
            for each in printed:
                self._show("out", each)
        else:
            self._typed(_TYPED[command.name].format(broker=command.broker))
        if command.name == "unclean":
            said = f"leader election (UNCLEAN) for partitions {PARTITION}"
            self._show("out", f"Successfully completed {said}" if events else "(nobody is alive)")
        logged: Logged = ()
        for event in events:
            logged += _logged(event)
            lines = [each for each in self.written.add(event) if _is_shown(each)]
            name, arguments = parse(event.step)
            text = _STEPS[name].format(**arguments)
            if name == "lose_power":
                self._show("told", f"{hour(event.minute)}  {text}")
            for each in lines:
                self._show("log", _short(each))
            self._had(event.before)
            self._had(event.after)
            if lines:
                line = _short(lines[-1])
                beliefs = tuple({path[logged] for path in paths if logged in path})
                self._remember(event.minute, text or "followers copy", event.after, beliefs, line)
        if command.name != "close":
            self._describe()

    def _describe(self) -> None:
        """Ask for the partition, as `kafka-topics` prints it."""
        self._typed(f"kafka-topics.sh {TO} --describe --topic {TOPIC} | grep 'Partition: {INDEX}'")
        self._show("out", describe(self.world, self.case))

    def _typed(self, text: str) -> None:
        self._show("shell", f"$ {text}")

    def _show(self, kind: str, text: str) -> None:
        self.screen.append({"kind": kind, "text": text})

    # --- The view ---------------------------------------------------------------------------------

    def view(self) -> dict[str, Any]:
        """What is shown of this case, as plain values; `offered` are the commands."""
        case = self.case
        return {
            "of": "no writes",
            "title": case.title,
            "clock": hour(self.desk.clock),
            "about": f"Kafka {case.release} · RF 3, {case.says_min_isr}, acks=all{self._elr()}",
            "offline": case.offline_since + self.offline,
            "screen": self.screen,
            "offered": [self._offered(each) for each in self.commands()],
            "rewind": self._rewind() if self.desk.closed else None,
        }

    def _elr(self) -> str:
        """Is ELR on? Releases before 4.0 don't have it."""
        if self.case.release < "4":
            return ""
        return ", ELR on" if self.world.settings.elr else ", ELR off"

    def _offered(self, command: Command) -> dict[str, Any]:
        text, more = _choice(command, self.world, self.desk)
        return {
            "key": command.key,
            "text": text,
            "more": more,
            "minutes": MINUTES[command.name],
            "look": command.name in LOOKS,
        }

    # --- The rewind -------------------------------------------------------------------------------

    def _remember(
        self, minute: int, text: str, world: World, beliefs: tuple[World, ...], line: str
    ) -> None:
        self._had(world)
        self.moments.append(
            {
                "minute": minute,
                "text": text,
                "world": world,
                "beliefs": beliefs,
                "line": line,
                "had": {each: {*had} for each, had in self.had.items()},
            }
        )

    def _had(self, world: World) -> None:
        """Which records each broker has had."""
        for broker in BROKERS:
            self.had[broker] |= {value for value, _ in log_of(world, broker)}

    def _rewind(self) -> dict[str, Any]:
        start, case = self.start, self.case
        best, outcomes = zip(*best_play.played(start), strict=True)
        par = outcomes[-1].world, case.offline_since + sum(each.offline for each in outcomes)
        own = self.world, case.offline_since + self.offline
        return {
            "yours": _result(*own, case),
            "par": _result(*par, case),
            "better": (wrong(own[0]), own[1]) < (wrong(par[0]), par[1]),
            "lost": len(lost(self.world)),
            "bad": bool(wrong(self.world)),
            "best": [_choice(each, start.world, start.desk)[0] for each in best],
            "best_keys": [each.key for each in best],
            "is_par": wrong(own[0]) <= wrong(par[0]) and own[1] <= par[1],
            "green": takes_writes(self.world) and len(state(self.world).isr) == len(BROKERS),
            "first": self._first_told(),
            "ways": len(start.beliefs),
            "lesson": case.lesson,
            "notebook": case.notebook,
            "run": case.run,
            "moments": [*self._shown_moments()],
        }

    def _shown_moments(self) -> Iterator[dict[str, Any]]:
        for each in self.moments:
            world, safe = each["world"], acknowledged(each["world"])
            rows = []
            for broker in BROKERS:
                log = [value for value, _ in log_of(world, broker)]
                boxes = [
                    {
                        "text": f"…{(FIRST + value - 1) % 1000}",
                        "there": value in log,
                        "gone": value not in log and value in each["had"][broker],
                        "safe": value in safe,
                    }
                    for value in range(1, state(world).sent + 1)
                ]
                known = _known_of(broker, each["beliefs"])
                rows.append(
                    {"broker": broker, "role": _role(world, broker), "boxes": boxes, "known": known}
                )
            yield {
                "time": hour(each["minute"]),
                "text": each["text"],
                "line": each["line"],
                "rows": rows,
            }

    def _first_told(self) -> dict[str, str] | None:
        """The first line from which on it was certain who has every acknowledged record."""
        safe = acknowledged(self.start.world)
        if len(safe) < 2:
            return None
        certain = [
            each for each in BROKERS if all(_has(each, world, safe) for world in self.start.beliefs)
        ]
        if not certain or len(certain) == len(BROKERS):
            return None
        broker = certain[-1]
        told = None
        for each in self.moments:
            if each["minute"] > 0 or each["text"].startswith("you:"):
                break
            sure = all(_has(broker, world, acknowledged(world)) for world in each["beliefs"])
            if not sure:
                told = None
            elif not takes_writes(each["world"]):
                told = told or each
        if told is None:
            return None
        return {
            "line": told["line"] or told["text"],
            "text": f"From here on nothing more is acknowledged, and broker {broker} has all that"
            " was, in every state that agrees with the metadata log. Others may lack a record.",
        }


def _choice(command: Command, world: World, desk: Desk) -> tuple[str, str]:
    text, more = _CHOICES[command.name]
    due = {broker: minute for minute, broker in desk.due}
    known = {
        "broker": command.broker,
        "due": hour(due.get(command.broker, 0)),
        "role": _standing(world, command.broker) if command.broker else "",
    }
    return text.format(**known), more.format(**known)


def _standing(world: World, broker: int) -> str:
    """What a broker that is down is to the controller."""
    s = state(world)
    if broker in s.isr:
        alone = "it is the whole ISR: a clean election"
        return alone if len(s.isr) == 1 and s.leader == NONE else "it is in the ISR"
    if broker in s.elr:
        return "it is an eligible leader replica"
    return "it is outside the ISR"


def _role(world: World, broker: int) -> str:
    s = state(world)
    if broker not in s.running:
        return "new disk" if broker in s.disk_is_new else "down"
    return "leads" if s.leader == broker else "follows" if s.leader != NONE else "up"


def _has(broker: int, world: World, values: Sequence[int]) -> bool:
    return {*values} <= {value for value, _ in log_of(world, broker)}


def _known_of(broker: int, beliefs: tuple[World, ...]) -> str:
    """What could be said of a broker's log."""
    having = sum(_has(broker, world, acknowledged(world)) for world in beliefs)
    if having == len(beliefs):
        return "has every acknowledged record"
    if not having:
        return "lacks an acknowledged record"
    few = f"{len(beliefs) - having} of {len(beliefs)}"
    return f"may lack a record (in {few} possible histories)"


def _logged(event: Event) -> Logged:
    """What the logs say of an event: the metadata log, who truncates, and how a broker starts."""
    name, arguments = parse(event.step)
    changed = public(event.after) if public(event.before) != public(event.after) else None
    said = None
    if name == "copy":
        kept = kept_by(event, arguments["follower"])
        if kept < len(log_of(event.before, arguments["follower"])):
            said = arguments["follower"], kept
    elif name == "start":
        s = state(event.before)
        said = arguments["broker"] in s.dirty, arguments["broker"] in s.disk_is_new
    return () if changed is said is None else ((event.minute, changed, said),)


def _path(world: World, events: Sequence[Event]) -> dict[Logged, World]:
    """The world whenever the logs had something new to say, by what they had said until then."""
    logged: Logged = ()
    found = {logged: world}
    for event in events:
        logged += _logged(event)
        found.setdefault(logged, event.after)
    return found


def _result(world: World, offline: int, case: Case) -> str:
    gone = len(lost(world))
    parts = []
    if gone and case.new_disks and gone == len(acknowledged(world)):
        parts.append("all records of the partition are lost")
    elif gone:
        parts.append(f"{gone} acknowledged record{'s' * (gone > 1)} lost")
    if written_twice(world):
        parts.append("a payment was written twice")
    if not_sent_again(world):
        parts.append("a payment is missing that nobody sent again")
    told = ", ".join(parts) or "nothing lost"
    outage = f"no writes for {offline} minute{'s' * (offline != 1)}" if offline else "no outage"
    return f"{told[0].upper()}{told[1:]}, {outage}"


def _is_shown(line: Line) -> bool:
    """Would somebody who follows these logs look up?"""
    words = ("shutdown", "session has timed out", "Setting new leader", "Truncating to", "No logs")
    return '"PARTITION_' in line.text or any(each in line.text for each in words)


def _short(line: Line) -> str:
    """A line without its date, its logger, and ids that nobody reads."""
    time = str(Line(line.time, line.node, "", ""))[12:20]
    if line.file == "dump-metadata.txt":
        data = json.loads(line.text[line.text.index("payload: ") + 9 :])
        left_out = {"partitionId", "topicId", "removingReplicas", "addingReplicas"}
        kept = {name: value for name, value in data["data"].items() if name not in left_out}
        return f"{time} {data['type']} {json.dumps(kept, separators=(',', ':'))[1:-1]}"
    text = line.text.partition(" (org.apache.")[0].partition(" (kafka.")[0]
    return f"{time} {text.removeprefix('INFO ')}"


# --- What a page asks -----------------------------------------------------------------------------


def view(name: str, seed: int = 0, keys: Sequence[str] = ()) -> dict[str, Any]:
    """A play as plain values; `error` alone if it can't be."""
    named = [{"name": each.name, "title": each.title} for each in CASES.values()]
    named.insert(-1, {"name": quorum.NAME, "title": quorum.TITLE})
    named.append({"name": ANY_NIGHT, "title": "Any night"})
    try:
        is_quorum = name == quorum.NAME
        shown = quorum.view(seed, tuple(keys)) if is_quorum else Play(name, seed, keys).view()
    except LabError as error:
        return {"error": str(error)}
    offered = shown.pop("offered")
    return {
        **shown,
        "case": name,
        "seed": seed,
        "keys": [*keys],
        "choices": [each for each in offered if not each["look"]],
        "looks": [each for each in offered if each["look"]],
        "over": shown["rewind"] is not None,
        "link": f"{name}~{seed}~{'.'.join(keys)}",
        "cases": named,
    }


async def answer(asked: str, _search: Any = None) -> str:
    """The view of the play that a page asks for, as JSON."""
    wanted = json.loads(asked)
    return json.dumps(view(wanted["case"], wanted["seed"], wanted["keys"]))
