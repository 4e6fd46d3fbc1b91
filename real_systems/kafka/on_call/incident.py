"""The game: what is true, what the clock brings, what an operator sees, and what commands do.

What is true is a state of `kafka_spec.settings` and its settings, with the faults that are still to
come (`World`). What the operator controls and can't forget is the `Desk`. Both change minute by
minute: brokers come back when they are due, faults strike, producers send, followers copy. A
command takes minutes. Everything is a function of world, desk and command, so that a link with a
seed and the commands gives the same play, and a search can ask what else could have been.

Beyond the model's actions there are three commands of an operator: an unclean election, which takes
the model's own candidates as if `unclean.leader.election.enable` were on, and two settings that
change.
"""

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

from kafka_spec import settings as model_of
from kafka_spec.settings import spec
from protocol_lab.model.layout import NONE
from protocol_lab.model.node_sets import members, nodes_up_to
from protocol_lab.model.spec import TAKEN, Model
from protocol_lab.model.state_view import view
from protocol_lab.model.step_text import parse
from protocol_lab.model.transitions import initial

BROKERS = (1, 2, 3)
_FAULTS = dict.fromkeys(
    ("lags", "give_ups", "stops", "pauses", "kills", "power_cuts", "new_disks"), 9
)
RECORDS = 3
"""The records that a partition has room for here: two before the page, one that is sent later."""

UNTIL = 30
"""Minutes after the operator has closed the incident until which the partition is watched."""

RELIEVED = 10
"""Minutes after which somebody starts what the operator left down."""


class Settings(NamedTuple):
    """What is in force, which an operator may take for something else."""

    release: str
    min_isr: int = 2
    elr: int = 0


class World(NamedTuple):
    """One way things can be. faults: the minute and the step of each that is still to come."""

    settings: Settings
    row: bytes
    faults: tuple[tuple[int, str], ...] = ()


class Desk(NamedTuple):
    """What the operator knows for certain. due: when brokers come back unless they are held; sends:
    when producers send; away: hosts that
    nobody can reach before they are due; looked: what was read since it last changed."""

    clock: int = 0
    due: tuple[tuple[int, int], ...] = ()
    sends: tuple[int, ...] = ()
    away: frozenset[int] = frozenset()
    looked: frozenset[str] = frozenset()
    closed: bool = False


class Command(NamedTuple):
    """What an operator can do. name: as in `COMMANDS`; broker: 0 for none."""

    name: str
    broker: int = 0

    @property
    def key(self) -> str:
        """The command in a link, as in hold1."""
        return f"{self.name}{self.broker or ''}"


class Event(NamedTuple):
    """A step of the model at a minute, with the worlds before and after it."""

    minute: int
    step: str
    before: World
    after: World


class Outcome(NamedTuple):
    """What a command came to. offline: minutes in which no write was taken; seen: what was read."""

    world: World
    desk: Desk
    events: tuple[Event, ...]
    offline: int
    seen: Any


MINUTES = {
    "disk": 1,
    "dump": 4,
    "config": 1,
    "hold": 1,
    "start": 2,
    "stop": 1,
    "unclean": 1,
    "wait": 2,
    "min_isr": 1,
    "elr": 1,
    "resend": 1,
    "keep": 0,
    "close": 0,
}
LOOKS = ("disk", "dump", "config")
_SET = {"min_isr": 2, "elr": 1}
"""Commands that change a setting, and what it is then."""


# --- The model ------------------------------------------------------------------------------------


@lru_cache(maxsize=64)
def model(settings: Settings, unclean: int = 0) -> Model:
    """The model with these settings, and room for whatever happens."""
    return spec.bind(**settings._asdict(), unclean=unclean, values=RECORDS, **_FAULTS)


def state(world: World) -> Any:
    """What is true, to be read."""
    return view(model(world.settings).layout, world.row)


@lru_cache(maxsize=200_000)
def stepped(world: World, step: str) -> World | None:
    """The world after a step of the model; None if it refuses. How often each fault happened is
    forgotten, since nobody sees it and nothing depends on it."""
    bound = model(world.settings)
    row = bytearray(world.row)
    s = view(bound.layout, row)
    name, arguments = parse(step)
    if name == "elect_uncleanly":
        release = max(world.settings.release, "3.9")  # the command works on older ones, too
        rules = model(world.settings._replace(release=release), unclean=1)
        model_of.elect(s, rules.constants)
        s.elr = nodes_up_to(0)
        taken = bytes(row) != world.row
    else:
        taken = bound.action(name).function(s, bound.constants, **arguments) == TAKEN
    if not taken:
        return None
    for fault in _FAULTS:
        setattr(s, f"{fault}_so_far", 0)
    return world._replace(row=bytes(row))


@lru_cache(maxsize=8)
def started(settings: Settings) -> World:
    """All brokers run and are in sync."""
    return World(settings, next(initial(model(settings))).row)


def public(world: World) -> tuple[Any, ...]:
    """What the metadata log says of the partition and its brokers, and monitoring of the hosts."""
    s = state(world)
    return (
        s.leader,
        s.leader_epoch,
        tuple(members(s.isr)),
        tuple(members(s.elr)),
        s.last_leader,
        tuple(members(s.unfenced)),
        tuple(members(s.running)),
    )


@lru_cache(maxsize=100_000)
def takes_writes(world: World) -> bool:
    """Are producers with acks=all served?"""
    s = state(world)
    return s.leader in s.unfenced and len(s.isr) >= world.settings.min_isr


@lru_cache(maxsize=100_000)
def lost(world: World) -> tuple[int, ...]:
    """The acknowledged records that the leader lacks; without a leader, those that no disk has."""
    return tuple(each for each in members(state(world).acknowledged) if not _is_there(world, each))


def _is_there(world: World, value: int) -> bool:
    """Does the leader have a record, or without a leader any disk?"""
    s = state(world)
    holders = BROKERS if s.leader == NONE else [s.leader]
    return any(model_of.has(s, broker, value) for broker in holders)


@lru_cache(maxsize=100_000)
def written_twice(world: World) -> bool:
    """Was a record read whose producer was told that it failed, and sent again all the same?"""
    s = state(world)
    return s.sent == RECORDS and bool(s.read & s.failed)


@lru_cache(maxsize=100_000)
def not_sent_again(world: World) -> bool:
    """Is a record missing whose producer was told that it failed, and that nobody sent again?"""
    s = state(world)
    return s.sent < RECORDS and not all(_is_there(world, each) for each in members(s.failed))


def wrong(world: World) -> int:
    """How many records are not as their producers were told."""
    return len(lost(world)) + written_twice(world) + not_sent_again(world)


@lru_cache(maxsize=100_000)
def log_of(world: World, broker: int) -> tuple[tuple[int, int], ...]:
    """A broker's log: the record and the epoch at each offset."""
    return tuple((each.value, each.epoch) for each in state(world).log[broker])


# --- The clock ------------------------------------------------------------------------------------


def settle(world: World, minute: int) -> Iterator[Event]:
    """Followers copy, and join the ISR again, until they have everything."""
    moved = True
    while moved:
        moved = False
        for broker in BROKERS:
            for action in ("copy", "rejoin"):
                step = f"{action}(follower={broker})"
                after = stepped(world, step)
                if after is not None:
                    yield Event(minute, step, world, after)
                    world, moved = after, True


def _minute(world: World, desk: Desk) -> tuple[World, Desk, list[Event]]:
    """What the next minute brings."""
    now = desk.clock + 1
    steps = [f"start(broker={broker})" for at, broker in desk.due if at == now]
    steps += [step for at, step in world.faults if at == now]
    steps += ["send()"] * (now in desk.sends)
    world = world._replace(faults=tuple(each for each in world.faults if each[0] > now))
    desk = desk._replace(clock=now, due=tuple(each for each in desk.due if each[0] > now))
    events: list[Event] = []
    for step in [*steps, ""]:
        after = stepped(world, step) if step else None
        if after is not None:
            events.append(Event(now, step, world, after))
            world = after
            if step.startswith("lose_power"):  # the power is back after a minute
                desk = desk._replace(due=(*desk.due, (now + 1, parse(step)[1]["broker"])))
        for event in settle(world, now):
            events.append(event)
            world = event.after
    return world, desk, events


@lru_cache(maxsize=200_000)
def passed(world: World, desk: Desk, minutes: int) -> tuple[World, Desk, tuple[Event, ...], int]:
    """So many minutes later; and those in which no write was taken."""
    events: list[Event] = []
    offline = 0
    for _ in range(minutes):
        offline += not takes_writes(world)
        world, desk, new = _minute(world, desk)
        events += new
    return world, desk, tuple(events), offline


# --- Commands -------------------------------------------------------------------------------------


def commands(world: World, desk: Desk, extra: tuple[str, ...]) -> list[Command]:
    """What can be done now; it depends on nothing that the operator does not see.

    extra: the commands that not every case has.
    """
    if desk.closed:
        return []
    s = state(world)
    down = [each for each in BROKERS if each not in s.running and each not in s.gone]
    due = {broker: at for at, broker in desk.due}
    here = [each for each in down if each not in desk.away]
    found = [Command("start", each) for each in here]
    found += [Command("hold", each) for each in here if each in due]
    found += [Command("stop", each) for each in members(s.unfenced)]
    if s.leader == NONE:
        found.append(Command("unclean"))
    found += [Command(each) for each in extra if each not in LOOKS and each not in desk.looked]
    found += [Command("wait"), Command("close")]
    looks = [Command("disk", each) for each in here]
    looks += [Command("dump", each) for each in BROKERS if each in s.running or each in here]
    looks += [Command(each) for each in extra if each in LOOKS]
    return found + [each for each in looks if each.key not in desk.looked]


@lru_cache(maxsize=200_000)
def done(world: World, desk: Desk, command: Command) -> Outcome:
    """The command, and the minutes that it takes; what was seen counts from the end of these."""
    name, broker = command
    if name == "close":
        return _closed(world, desk)
    others = tuple(each for each in desk.due if each[1] != broker)
    if name == "hold":  # at once: the service is disabled before the minute is over
        desk = desk._replace(due=others)
    elif name == "start":
        desk = desk._replace(due=(*others, (desk.clock + MINUTES[name], broker)))
    elif name in ("resend", "keep"):
        until_taken = range(desk.clock + 1, desk.clock + UNTIL) if name == "resend" else ()
        desk = desk._replace(sends=tuple(until_taken), looked=desk.looked | {"resend", "keep"})
    elif name in _SET:
        world = world._replace(settings=world.settings._replace(**{name: _SET[name]}))
        desk = desk._replace(looked=desk.looked | {name})
    step = {"stop": f"stop(broker={broker})", "unclean": "elect_uncleanly()"}.get(name)
    after = stepped(world, step) if step else None
    first: tuple[Event, ...] = ()
    if after is not None:
        first = (Event(desk.clock, step, world, after),)
        world = after
    world, desk, events, offline = passed(world, desk, MINUTES[name])
    events = first + events
    looked, seen = desk.looked, None
    if name not in LOOKS:  # a log that was read may have grown
        looked = frozenset(each for each in looked if not each.startswith("dump"))
    if name in LOOKS:
        looked |= {command.key}
        seen = _read(world, command)
    desk = desk._replace(looked=looked)
    return Outcome(world, desk, events, offline, (public(world), seen))


def _read(world: World, command: Command) -> Any:
    s = state(world)
    if command.name == "dump":
        return log_of(world, command.broker)
    if command.name == "config":
        return world.settings.min_isr
    if command.broker in s.running:
        return "running"
    if command.broker in s.disk_is_new:
        return "new"
    return "unclean" if command.broker in s.dirty else "clean"


def _closed(world: World, desk: Desk) -> Outcome:
    """The operator goes back to bed: what is due comes, and somebody starts what is left down."""
    s = state(world)
    due = {broker: at for at, broker in desk.due}
    left = [each for each in BROKERS if each not in s.running and each not in due]
    later = tuple((desk.clock + RELIEVED, broker) for broker in left)
    desk = desk._replace(due=(*desk.due, *later))
    world, desk, events, offline = passed(world, desk, UNTIL)
    return Outcome(world, desk._replace(closed=True), events, offline, (public(world), None))
