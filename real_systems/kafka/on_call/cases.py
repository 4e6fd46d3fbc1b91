"""The cases: what happened before the page, what the page says, and what the clock brings.

A history is written in the model's steps. Seed 0 is the story as it stands here, which a recorded
run of real brokers has where `run` names one; 1 is the same with brokers 2 and 3 exchanged. From 2
on what is true is drawn from all states of the model that an operator can't tell apart from it. Of
any night the case itself is drawn.
"""

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache

from protocol_lab.errors import LabError, unknown
from protocol_lab.model.layout import NONE
from protocol_lab.model.node_sets import members
from protocol_lab.model.step_text import parse
from real_systems.kafka.on_call.incident import (
    BROKERS,
    Desk,
    Event,
    Settings,
    World,
    public,
    started,
    state,
    stepped,
)

MOST_SEED = 9999
MOST_STATES = 20
"""In so many states an operator may be in a case that is drawn: with more the best play takes long
to find."""

Step = tuple[int, str]
"""A step of the model, and how many minutes after the page it happens."""


@dataclass(frozen=True)
class Case:
    """An incident. release: Kafka's, as it is shown. told: what the page and people say, a line
    each; {1}, {2}, {3} are brokers. lesson: what it teaches. run: a recorded run of it. due: when
    brokers come back; away: hosts that nobody can reach before. sends: when producers send. also:
    settings that an operator may take to be in force. futures: what may still happen; the first is
    the case's own. new_disks: disks that may have been replaced unseen. extra: commands that not
    every case has."""

    name: str
    title: str
    release: str
    settings: Settings
    told: tuple[str, ...]
    history: tuple[Step, ...]
    lesson: str
    notebook: str
    run: str = ""
    due: tuple[tuple[int, int], ...] = ()
    away: tuple[int, ...] = ()
    sends: tuple[int, ...] = ()
    also: tuple[Settings, ...] = ()
    futures: tuple[tuple[Step, ...], ...] = ((),)
    new_disks: int = 0
    extra: tuple[str, ...] = ()
    offline_since: int = 0
    says_min_isr: str = "min.insync.replicas 2"


_TO_ALL = "copy(follower=2)", "copy(follower=3)"


def _before(*steps: tuple[int, str]) -> tuple[Step, ...]:
    """A first record reaches all replicas; then these steps."""
    return tuple((-40, each) for each in ("send()", *_TO_ALL)) + steps


_LAST_ONE_LEFT = (
    (-19, "fall_behind(follower=3)"),
    (-15, "send()"),
    (-15, "copy(follower=2)"),
)

CASES = {
    each.name: each
    for each in (
        Case(
            "one_power_cut",
            "One power cut",
            "3.9.1",
            Settings("3.9"),
            (
                "PAGE  payments-17 has no leader, producers time out",
                "Host {1} lost its power, and has it again. Its file system is being checked; Kafka"
                " starts on its own at {at 1}.",
                "The deploy stopped broker {2}, and waits for a healthy cluster before it goes on."
                " Broker {3} has run all night; its disk was slow.",
            ),
            _before(
                *_LAST_ONE_LEFT,
                (-10, "stop(broker=2)"),
                (-9, "lose_power(broker=1, flushed=1)"),
            ),
            "Without ELR the last member of the ISR is elected, whatever its disk has lost. The"
            " replica that left when the ISR fell below min.insync.replicas has every acknowledged"
            " record: it has to lead, and only an unclean election lets it.",
            "kafka/01_one_power_cut",
            run="offline_runbook --release 3.9.1 --set first=leader",
            due=((2, 1),),
            offline_since=9,
        ),
        Case(
            "the_same_with_elr",
            "The same, with ELR",
            "4.3.1",
            Settings("4.3", elr=1),
            (
                "PAGE  payments-17 has no leader, producers time out",
                "Host {1} lost its power, and has it again. Kafka starts on its own at {at 1}.",
                "The deploy stopped host {2} for a new kernel. It is back at {at 2}, and nobody can"
                " start it before. Broker {3} has run all night; its disk was slow.",
            ),
            _before(
                *_LAST_ONE_LEFT,
                (-10, "stop(broker=2)"),
                (-9, "lose_power(broker=1, flushed=1)"),
            ),
            "With ELR the controller knows who has every acknowledged record, and takes out who"
            " came back uncleanly. Start the members of the ELR, and wait. An unclean election"
            " takes any broker that is alive.",
            "kafka/01_one_power_cut",
            run="offline_runbook --release 4.3.1 --set first=leader --set elr=on",
            due=((2, 1), (4, 2)),
            away=(2,),
            offline_since=9,
        ),
        Case(
            "killed_then_power_cut",
            "Killed, then a power cut elsewhere",
            "4.3.1",
            Settings("4.3", elr=1),
            (
                "PAGE  payments-17 has no leader, producers time out",
                "Host {1} lost its power, and has it again. Kafka starts on its own at {at 1}.",
                "The OOM killer on host {2} killed Kafka. It starts again at {at 2}."
                " Broker {3} has run all night; its disk was slow.",
            ),
            _before(
                *_LAST_ONE_LEFT,
                (-10, "kill(broker=2)"),
                (-9, "lose_power(broker=1, flushed=1)"),
            ),
            "When no member of the ELR comes back cleanly, the last known leader is elected, and"
            " its log may be the short one. A process that was killed has everything on its disk; a"
            " host that lost its power may not. Start the killed broker and elect it before the"
            " other is back.",
            "kafka/18_what_does_elr_still_lose",
            run="two_power_cuts --release 4.3.1",
            due=((5, 1), (9, 2)),
            offline_since=9,
        ),
        Case(
            "min_isr_after_the_upgrade",
            "After the upgrade",
            "4.3.1",
            Settings("4.3", min_isr=1, elr=1),
            (
                "PAGE  UnderReplicatedPartitions is 1: payments-17",
                "ELR was switched on during yesterday's upgrade. The files of all brokers say"
                " min.insync.replicas=2.",
                "Host {2} is being reinstalled, back at {at 2}, host {3} at {at 3}; nobody"
                " can start them before. Broker {1} leads. Payments come in all the time. Two hosts"
                " of this rack have lost their power this week.",
            ),
            _before((-30, "stop(broker=3)"), (-6, "stop(broker=2)")),
            "Switching ELR on writes a min.insync.replicas for the whole cluster, the controller's;"
            " the files of the brokers no longer count. With 1 a leader that is alone acknowledges"
            " records that exist once. An empty Elr beside an Isr of one broker says so: with 2 the"
            " brokers that left would be in it.",
            "kafka/18_what_does_elr_still_lose",
            run="upgrade --release 4.3.1",
            due=((9, 2), (25, 3)),
            away=(2, 3),
            sends=tuple(range(2, 30)),
            also=(Settings("4.3", min_isr=2, elr=1),),
            futures=(*tuple(((at, "lose_power(broker=1, flushed=1)"),) for at in (5, 3, 7, 8)), ()),
            extra=("config", "min_isr"),
            says_min_isr="min.insync.replicas 2 in server.properties",
        ),
        Case(
            "told_failed",
            "Told failed",
            "4.3.1",
            Settings("4.3"),
            (
                "PAGE  the payments service: TimeoutException, payment 7302 failed",
                "Host {1} lost its power while that payment was under way, and broker {2} was"
                " elected. Broker {1} is back at {at 1}, broker {3} at {at 3}.",
                "The payments team asks: shall we send it again? No consumer has seen it."
                " They will in ten minutes, unless you say no.",
            ),
            _before(
                (-30, "stop(broker=3)"),
                (-12, "send()"),
                (-12, "copy(follower=2)"),
                (-12, "lose_power(broker=1, flushed=1)"),
                (-10, "give_up(value=2)"),
            ),
            "A time-out says nothing about the record: it may be in the leader's log, not yet"
            " committed, and consumers read it as soon as the ISR is large enough. Read the log"
            " before somebody sends it again, or have producers that can tell.",
            "kafka/19_was_the_failed_send_written",
            run="told_failed --release 4.3.1",
            due=((7, 1), (25, 3)),
            away=(1, 3),
            sends=tuple(range(10, 40)),
            extra=("resend", "keep"),
            offline_since=12,
        ),
        Case(
            "a_new_disk",
            "A disk that looks healthy",
            "3.6.2",
            Settings("3.6"),
            (
                "PAGE  payments-17 has no leader, producers time out",
                "Broker {1} crashed at {since}. Hardware says: host {1} is fine, all disks are"
                " healthy, nothing in the RAID controller's log. Kafka starts there at {at 1}.",
                "The deploy stopped broker {2}, and waits for a healthy cluster before it goes on."
                " Broker {3} has run all night; its disk was slow.",
            ),
            _before(
                *_LAST_ONE_LEFT,
                (-10, "stop(broker=2)"),
                (-9, "kill(broker=1)"),
                (-4, "replace_disk(broker=1)"),
            ),
            "A broker on a new disk keeps its broker id, and the controller's record still says"
            " that it is the whole ISR. Without ELR an empty log leads, and all replicas follow it."
            " Look at the disk before the broker starts.",
            "kafka/01_one_power_cut",
            run="empty_disk --release 3.6.2",
            due=((2, 1),),
            new_disks=1,
            offline_since=9,
        ),
        Case(
            "nothing_is_wrong",
            "Nothing is wrong",
            "4.3.1",
            Settings("4.3", elr=1),
            (
                "PAGE  UnderReplicatedPartitions is 1: payments-17",
                "A rolling restart is under way. It stopped broker {2}, and starts it again at"
                " {at 2}. Broker {1} leads, brokers {1} and {3} are in sync.",
            ),
            _before(
                (-15, "send()"),
                (-15, "copy(follower=2)"),
                (-15, "copy(follower=3)"),
                (-2, "stop(broker=2)"),
            ),
            "An ISR that shrinks during a rolling restart, with min.insync.replicas still met, is"
            " what the ISR is for. Whatever you stop now takes the partition below it.",
            "kafka/04_your_cluster",
            due=((3, 2),),
        ),
    )
}

ANY_NIGHT = "any_night"
"""The name of the case that a seed makes."""


@dataclass(frozen=True)
class Start:
    """A case as a seed makes it. events: how it came about; beliefs: every world that an operator
    who has read the metadata log could be in, of which `world` is the true one."""

    case: Case
    world: World
    desk: Desk
    events: tuple[Event, ...]
    known: tuple[tuple[World, ...], ...] = field(repr=False)

    @property
    def beliefs(self) -> tuple[World, ...]:
        """The worlds that can't be told apart when the page comes."""
        return self.known[-1]


def _exchanged(case: Case) -> Case:
    """The case with brokers 2 and 3 exchanged."""
    other = {"2": "3", "3": "2"}

    def text(given: str) -> str:
        return re.sub(
            r"((?:broker|follower)=|\{(?:at )?)([23])", lambda m: m[1] + other[m[2]], given
        )

    def steps(given: tuple[Step, ...]) -> tuple[Step, ...]:
        return tuple((at, text(step)) for at, step in given)

    number = {2: 3, 3: 2}
    return replace(
        case,
        told=tuple(map(text, case.told)),
        history=steps(case.history),
        futures=tuple(map(steps, case.futures)),
        due=tuple((at, number.get(broker, broker)) for at, broker in case.due),
        away=tuple(number.get(broker, broker) for broker in case.away),
    )


@lru_cache(maxsize=64)
def begin(name: str, seed: int = 0) -> Start:
    """A case as it begins. Raises LabError for a case or a seed that there is not."""
    if not 0 <= seed <= MOST_SEED:
        raise LabError(f"{seed} is no seed: take a number from 0 to {MOST_SEED}.")
    is_drawn = name == ANY_NIGHT
    if not is_drawn and name not in CASES:
        raise unknown("case", name, [*CASES, ANY_NIGHT])
    case = night(seed) if is_drawn else CASES[name]
    if seed % 2 and not is_drawn:
        case = _exchanged(case)
    world, events = started(case.settings), []
    for minute, step in case.history:
        after = stepped(world, step)
        if after is None:
            raise LabError(f"The case {name} does not play: the model refuses {step}.")
        events.append(Event(minute, step, world, after))
        world = after
    world = world._replace(faults=case.futures[0])
    desk = Desk(due=case.due, sends=case.sends, away=frozenset(case.away))
    known = [*known_after(case, tuple(events))]
    true = state(world)
    last = [
        each
        for each in known[-1]
        if (state(each).acknowledged, state(each).failed) == (true.acknowledged, true.failed)
    ]
    last = [each._replace(faults=future) for each in last for future in case.futures]
    if seed >= 2 and not is_drawn:
        world = random.Random(seed).choice(last)
    return Start(case, world, desk, tuple(events), (*known[:-1], tuple(last)))


# --- What an operator could know ------------------------------------------------------------------


def known_after(case: Case, events: tuple[Event, ...]) -> Iterator[tuple[World, ...]]:
    """After each event: every world that agrees with the metadata log so far."""
    worlds = {started(each) for each in (case.settings, *case.also)}
    for event in events:
        if is_visible(event):
            worlds = {
                after
                for before in _unseen(case, worlds)
                for step in _alike(event.step)
                if (after := stepped(before, step)) and public(after) == public(event.after)
            }
        yield tuple(sorted(_unseen(case, worlds)))


def is_visible(event: Event) -> bool:
    """Does the metadata log, or a producer, say so?"""
    return public(event.before) != public(event.after) or event.step.startswith("give_up")


def _alike(step: str) -> list[str]:
    """The steps that nobody can tell apart from this one: what had been flushed is not seen."""
    name, arguments = parse(step)
    if name != "lose_power":
        return [step]
    broker = arguments["broker"]
    return [f"lose_power(broker={broker}, flushed={kept})" for kept in range(3)]


def _unseen(case: Case, worlds: set[World]) -> set[World]:
    """These worlds, and those into which they may have changed unseen."""
    found, ahead = set(worlds), list(worlds)
    while ahead:
        world = ahead.pop()
        s = state(world)
        steps = [f"copy(follower={each})" for each in BROKERS]
        steps += ["send()"] * (s.sent < 2)
        if len(s.disk_is_new) < case.new_disks:
            steps += [f"replace_disk(broker={each})" for each in BROKERS if each in s.dirty]
        for step in steps:
            after = stepped(world, step)
            if after is not None and after not in found and public(after) == public(world):
                found.add(after)
                ahead.append(after)
    return found


def acknowledged(world: World) -> tuple[int, ...]:
    """The records that producers were told are safe."""
    return tuple(members(state(world).acknowledged))


# --- Any night ------------------------------------------------------------------------------------

_MOST_STEPS, _MOST_FAULTS = 24, 4
_SETTINGS = ("3.9.1", 0), ("4.3.1", 1), ("4.3.1", 0)  # the release, and whether ELR is on
_TOLD = {
    "stop": "Broker {0} was stopped by the deploy",
    "kill": "The OOM killer on host {0} killed Kafka",
    "lose_power": "Host {0} lost its power, and has it again",
}
_LESSON = (
    "Who has every acknowledged record? A replica that was in the ISR when it fell below"
    " min.insync.replicas, and whose disk has lost nothing since. The metadata log has the order in"
    " which they left; a log that may be short is kept down until another leads."
)


@lru_cache(maxsize=64)
def night(seed: int) -> Case:
    """A case from a seed: a random walk of the model to a state in which the partition is offline.

    Any state in which nobody leads can come up that the model reaches with two acknowledged
    records, at most four faults, one of them a power cut, and one of three settings.
    """
    chance = random.Random(seed)
    while True:
        release, elr = chance.choice(_SETTINGS)
        settings = Settings(release[:3], elr=elr)
        events = _walk(chance, settings)
        if not events or not any("lose_power" in each.step for each in events):
            continue
        case = _case(chance, release, settings, events)
        if len([*known_after(case, events)][-1]) <= MOST_STATES:
            return case


def _walk(chance: random.Random, settings: Settings) -> tuple[Event, ...]:
    """Steps until nobody leads; none if that does not come."""
    world, events, faults = started(settings), [], 0
    for k in range(_MOST_STEPS):
        steps = ["send()"] * 12 * (state(world).sent < 2)
        if len(state(world).acknowledged) < 2:
            copies = [f"copy(follower={each})" for each in BROKERS]
            steps += copies * 12 + [f"rejoin(follower={each})" for each in BROKERS]
        if faults < _MOST_FAULTS:
            steps += [f"fall_behind(follower={each})" for each in BROKERS]
            steps += [f"{name}(broker={each})" for each in BROKERS for name in ("stop", "kill")]
            steps += [f"lose_power(broker={each}, flushed={n})" for each in BROKERS for n in (0, 1)]
        steps += [f"start(broker={each})" for each in BROKERS]
        possible = [(each, after) for each in steps if (after := stepped(world, each))]
        if not possible:
            return ()
        step, after = chance.choice(possible)
        faults += step.startswith(("fall", "stop", "kill", "lose"))
        events.append(Event(k - _MOST_STEPS - 5, step, world, after))
        world = after
        if state(world).leader == NONE:
            return tuple(events) if len(state(world).acknowledged) == 2 else ()
    return ()


def _case(
    chance: random.Random, release: str, settings: Settings, events: tuple[Event, ...]
) -> Case:
    running = [*members(state(events[-1].after).running)]
    causes = {}
    for event in events:
        name, arguments = parse(event.step)
        if name in _TOLD:
            causes[arguments["broker"]] = _TOLD[name]
    due = {each: chance.randint(2, 9) for each in BROKERS if each not in running}
    told = [
        f"{causes[each].format(each)}. Kafka starts there at {{at {each}}}." for each in due
    ] + [f"Broker {each} is up." for each in running]
    return Case(
        ANY_NIGHT,
        "Any night",
        release,
        settings,
        ("PAGE  payments-17 has no leader, producers time out", *told),
        tuple((each.minute, each.step) for each in events),
        _LESSON,
        "kafka/01_one_power_cut",
        due=tuple((minute, broker) for broker, minute in due.items()),
        offline_since=-events[-1].minute,
        extra=("elr",) if release == "4.3.1" and not settings.elr else (),
    )
