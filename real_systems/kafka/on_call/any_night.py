"""A case from a seed: a random walk of the model to a state in which the partition is offline.

Any state in which nobody leads can come up that the model reaches with two acknowledged records, at
most four faults, one of them a power cut, and one of three settings. Walks after which an operator
could be in more than `MOST_STATES` states are left out: there the best play takes long to find.
"""

import random
from functools import lru_cache

from protocol_lab.model.layout import NONE
from protocol_lab.model.node_sets import members
from protocol_lab.model.step_text import parse
from real_systems.kafka.on_call.cases import DRAWN, Case, known_after
from real_systems.kafka.on_call.incident import BROKERS, Event, Settings, started, state, stepped

NAME = "any_night"
MOST_STATES = 20
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
    """The case of this seed."""
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
        NAME,
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


DRAWN[NAME] = night
