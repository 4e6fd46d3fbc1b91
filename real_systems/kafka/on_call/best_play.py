"""The best play: what an operator should do who knows the model, and sees what an operator sees.

A search over information sets. An information set is the desk and all worlds that agree with what
was seen so far: the metadata log, and what was paid for. A command takes each of these worlds on;
what is seen then divides them, and a plan has a branch for each thing that can be seen, and nothing
else to go by. Worlds count as equally likely. A play costs `RECORD` for each record that is lost,
written twice or not sent again, and one for each minute without writes, to the end of the watch;
the best play found has the least expected cost, then the fewest commands.

Exact: what each command does, all that may be seen, every order of commands up to the depth.
Approximate: all worlds of the start weigh the same, though some happen more often; plans have at
most `DEPTH` commands, the one that closes the incident included; a look whose answer is known and a
wait for nothing are left out; of what may still happen only the case's own futures are foreseen,
and where there are any a plan has one command less, lest it is made for their very minutes.
"""

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

from real_systems.kafka.on_call.cases import Start
from real_systems.kafka.on_call.incident import (
    LOOKS,
    Command,
    Desk,
    Outcome,
    World,
    commands,
    done,
    wrong,
)

RECORD = 1000
DEPTH = 6


class Plan(NamedTuple):
    """What to do, and for each thing that is seen then how to go on. cost: expected."""

    cost: float
    length: int
    command: Command
    then: tuple[tuple[Any, "Plan"], ...] = ()

    def after(self, seen: Any) -> "Plan | None":
        """How to go on when this was seen; None at the end."""
        return dict(self.then).get(seen)


def best(worlds: tuple[World, ...], desk: Desk, extra: tuple[str, ...], depth: int = DEPTH) -> Plan:
    """The best play of an operator who can tell no more than that it is one of these worlds."""
    return _best(tuple(sorted(worlds)), desk, extra, depth)


@lru_cache(maxsize=100_000)
def _best(worlds: tuple[World, ...], desk: Desk, extra: tuple[str, ...], depth: int) -> Plan:
    closing = Command("close")
    outcomes = [done(each, desk, closing) for each in worlds]
    cost = sum(RECORD * wrong(each.world) + each.offline for each in outcomes) / len(worlds)
    found = Plan(cost, 1, closing)
    if depth == 1 or cost == 0:
        return found
    for command in commands(worlds[0], desk, extra):
        if command == closing or (command.name == "wait" and not (desk.due or desk.sends)):
            continue
        plan = _with(command, worlds, desk, extra, depth, found.cost)
        if plan is not None and plan[:2] < found[:2]:
            found = plan
    return found


def _with(
    command: Command,
    worlds: tuple[World, ...],
    desk: Desk,
    extra: tuple[str, ...],
    depth: int,
    bound: float,
) -> Plan | None:
    """The best play that begins with this command; None if it can't cost less than the bound."""
    outcomes = [done(each, desk, command) for each in worlds]
    divided: dict[Any, list[World]] = {}
    for each in outcomes:
        divided.setdefault((each.seen, each.desk), []).append(each.world)
    if command.name in LOOKS and len({each.seen[1] for each in outcomes}) == 1:
        return None
    cost = sum(each.offline for each in outcomes) / len(worlds)
    then, length = [], 1
    for (seen, now), rest in divided.items():
        if cost > bound:
            return None
        plan = _best(tuple(sorted(set(rest))), now, extra, depth - 1)
        cost += plan.cost * len(rest) / len(worlds)
        length = max(length, 1 + plan.length)
        then.append(((seen, now), plan))
    return Plan(cost, length, command, tuple(then))


def played(start: Start) -> Iterator[tuple[Command, Outcome]]:
    """The commands of the best play in a start, and what each comes to in what is true there."""
    world, desk = start.world, start.desk
    depth = DEPTH - (len(start.case.futures) > 1)
    plan = best(start.beliefs, desk, start.case.extra, depth)
    while plan is not None:
        outcome = done(world, desk, plan.command)
        yield plan.command, outcome
        world, desk, plan = outcome.world, outcome.desk, plan.after((outcome.seen, outcome.desk))
